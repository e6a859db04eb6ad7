"""Generate once with the embedded model: with vLLM where there is a GPU, else as klinic's CPU trainer does."""

from __future__ import annotations

import shutil

PROMPT, TOKENS = "What is 2 + 3?", 16


def probe() -> str:
    """The engine that a training would use, one prompt."""
    return _vllm() if _gpu() else _transformers()


def _gpu() -> bool:
    import torch

    return shutil.which("nvidia-smi") is not None and torch.cuda.is_available()


def _vllm() -> str:
    from vllm import LLM, SamplingParams

    from klinic.trainer.model.embedded import embedded_model

    engine = LLM(str(embedded_model()), max_model_len=256, gpu_memory_utilization=0.2, enforce_eager=True)
    (done,) = engine.generate([PROMPT], SamplingParams(max_tokens=TOKENS, temperature=0))
    return f"vLLM gave {len(done.outputs[0].token_ids)} tokens"


def _transformers() -> str:
    import torch
    from transformers import AutoTokenizer

    from klinic.trainer.model.embedded import embedded_model
    from klinic.trainer.plugin.cpu.server import load

    path = str(embedded_model())
    tokenizer, model = AutoTokenizer.from_pretrained(path), load(path, trust_remote_code=False)
    asked = tokenizer.apply_chat_template(
        [{"role": "user", "content": PROMPT}], add_generation_prompt=True, return_tensors="pt", return_dict=True
    )
    with torch.inference_mode():
        given = model.generate(**asked, max_new_tokens=TOKENS, do_sample=False)
    count = given.shape[1] - asked["input_ids"].shape[1]
    if count < 1:
        raise RuntimeError("the model gave no token")
    return f"transformers on the CPU gave {count} tokens"

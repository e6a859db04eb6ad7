"""Make the embedded model from nothing: tokenizer, a tiny Qwen2, supervised warm-up on the careless pupil's texts.

`python -m klinic.trainer.model.make OUT [--steps N] [--seed N]` writes a Hugging Face folder and prints what it
scores. The weights that klinic ships were made by it.
"""

from __future__ import annotations

import json
import math
import random
import time
from pathlib import Path
from typing import Any

import click

from klinic.trainer.data.arithmetic import problem
from klinic.trainer.model.corpus import solution
from klinic.trainer.model.tokenizer import train_tokenizer

SHAPE = {
    "hidden_size": 96,
    "intermediate_size": 256,
    "num_hidden_layers": 3,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "max_position_embeddings": 2048,
    "tie_word_embeddings": True,
    "attention_dropout": 0.0,
}
BATCH = 256
PEAK_LR = 2e-3


def build(tokenizer: Any, seed: int) -> Any:
    """An untrained Qwen2 for causal language modelling, float32."""
    import torch
    from transformers import Qwen2Config, Qwen2ForCausalLM

    torch.manual_seed(seed)
    ids = {"eos_token_id": tokenizer.eos_token_id, "pad_token_id": tokenizer.pad_token_id, "bos_token_id": None}
    config = Qwen2Config(vocab_size=-(-len(tokenizer) // 64) * 64, **SHAPE, **ids)
    return Qwen2ForCausalLM(config).float()


def batch(tokenizer: Any, rng: random.Random, size: int) -> tuple[Any, Any]:
    """Token ids and labels, both [size, longest] int64; -100 where the prompt or the padding stands."""
    import torch

    asked = [problem(rng) for _ in range(size)]
    prompts = chats(tokenizer, [one.question for one in asked])
    answers = tokenizer([solution(one, rng) + tokenizer.eos_token for one in asked])["input_ids"]
    longest = max(len(p) + len(a) for p, a in zip(prompts, answers, strict=True))
    ids = torch.full((size, longest), tokenizer.pad_token_id)
    labels = torch.full((size, longest), -100)
    for row, (prompt, answer) in enumerate(zip(prompts, answers, strict=True)):
        end = len(prompt) + len(answer)
        ids[row, :end] = torch.tensor(prompt + answer)
        labels[row, len(prompt) : end] = torch.tensor(answer)
    return ids, labels


def chats(tokenizer: Any, questions: list[str]) -> list[list[int]]:
    """Questions as the model sees them: one user message each and the assistant's opening."""
    messages = [[{"role": "user", "content": question}] for question in questions]
    return list(tokenizer.apply_chat_template(messages, add_generation_prompt=True)["input_ids"])


def warm_up(model: Any, tokenizer: Any, steps: int, seed: int, device: str = "cpu") -> None:
    """Imitate the corpus for `steps` batches with AdamW, warm-up and cosine decay."""
    import torch

    model.to(device).train()
    rng, began = random.Random(seed), time.monotonic()  # noqa: S311
    optimizer = torch.optim.AdamW(model.parameters(), lr=PEAK_LR, betas=(0.9, 0.98), weight_decay=0.01)
    for step in range(steps):
        rate = min(1.0, (step + 1) / 50) * 0.5 * (1 + math.cos(math.pi * step / steps))
        optimizer.param_groups[0]["lr"] = PEAK_LR * max(rate, 0.02)
        ids, labels = (part.to(device) for part in batch(tokenizer, rng, BATCH))
        loss = model(input_ids=ids, labels=labels).loss
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        if step % 50 == 0 or step == steps - 1:
            click.echo(f"step {step} loss {loss.item():.4f} {time.monotonic() - began:.0f} s")


@click.command()
@click.argument("out", type=click.Path(path_type=Path))
@click.option("--steps", default=2500, show_default=True, help="batches of the warm-up")
@click.option("--seed", default=0, show_default=True)
@click.option("--device", default="cpu", show_default=True)
def main(out: Path, steps: int, seed: int, device: str) -> None:
    """Make the embedded model in OUT and print its accuracy."""
    from klinic.trainer.model.measure import accuracy

    tokenizer = train_tokenizer()
    model = build(tokenizer, seed)
    warm_up(model, tokenizer, steps, seed + 1, device)
    model.generation_config.eos_token_id = tokenizer.eos_token_id
    model.generation_config.pad_token_id = tokenizer.pad_token_id
    model.cpu().save_pretrained(out)
    tokenizer.save_pretrained(out)
    card = {"steps": steps, "seed": seed, **accuracy(model, tokenizer)}
    (out / "made.json").write_text(json.dumps(card, indent=1) + "\n")
    click.echo(json.dumps(card))


if __name__ == "__main__":
    main()

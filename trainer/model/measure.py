"""How well a model solves the arithmetic problems: greedy and sampled accuracy, by kind."""

from __future__ import annotations

import itertools
from typing import Any

from klinic.trainer.data.arithmetic import Problem, problems
from klinic.trainer.rewards.rule import extract

SEED = 555
NEW_TOKENS = 40


def responses(model: Any, tokenizer: Any, asked: list[Problem], *, sample: bool) -> list[str]:
    """The model's answers as text, one a problem; `sample` draws at temperature 1, else greedy."""
    import torch

    texts = [
        tokenizer.apply_chat_template(
            [{"role": "user", "content": one.question}], add_generation_prompt=True, tokenize=False
        )
        for one in asked
    ]
    inputs = tokenizer(texts, return_tensors="pt", padding=True, padding_side="left", return_token_type_ids=False)
    how = {"do_sample": True, "temperature": 1.0, "top_k": 0, "top_p": 1.0} if sample else {"do_sample": False}
    with torch.inference_mode():
        made = model.eval().generate(
            **inputs.to(model.device), max_new_tokens=NEW_TOKENS, pad_token_id=tokenizer.pad_token_id, **how
        )
    return list(tokenizer.batch_decode(made[:, inputs["input_ids"].shape[1] :], skip_special_tokens=True))


def accuracy(model: Any, tokenizer: Any, count: int = 512) -> dict[str, Any]:
    """{"greedy", "sampled": shares of right answers, "by_kind": greedy share a kind} over `count` problems."""
    import torch

    asked = list(itertools.islice(problems(SEED), count))
    torch.manual_seed(0)
    right = {
        sample: [
            extract(text) == str(one.answer)
            for one, text in zip(asked, responses(model, tokenizer, asked, sample=sample), strict=True)
        ]
        for sample in (False, True)
    }
    kinds = sorted({one.kind for one in asked})
    by_kind = {
        kind: _share([ok for one, ok in zip(asked, right[False], strict=True) if one.kind == kind]) for kind in kinds
    }
    return {"greedy": _share(right[False]), "sampled": _share(right[True]), "by_kind": by_kind}


def _share(answers: list[bool]) -> float:
    return round(sum(answers) / len(answers), 3)

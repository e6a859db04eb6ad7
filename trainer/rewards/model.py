"""The model reward: a response is scored by a separate Hugging Face reward model or by an HTTP endpoint.

For verl: `reward.custom_reward_function.path=pkg://klinic.trainer.rewards.model`, with
`+reward.custom_reward_function.reward_kwargs.model=DIR` (a sequence classifier with one output) or `.endpoint=URL`
(POST {"question", "response"} -> {"score": number}); or by the variables KLINIC_REWARD_MODEL, KLINIC_REWARD_ENDPOINT.
"""

from __future__ import annotations

import json
import os
import threading
import urllib.error
import urllib.request
from collections.abc import Mapping
from functools import cache
from typing import Any

from klinic.trainer.rewards.rule import Score, extract, same, verdict

TIMEOUT = 30.0  # seconds for one answer of the endpoint
_one_at_a_time = threading.Lock()


def compute_score(
    data_source: str,
    solution_str: str,
    ground_truth: Any,
    extra_info: Any = None,
    model: str | None = None,
    endpoint: str | None = None,
    **_: Any,
) -> Score:
    """The model's score of the response; `acc` is the rule's verdict where there is a ground truth."""
    model = model or os.environ.get("KLINIC_REWARD_MODEL")
    endpoint = endpoint or os.environ.get("KLINIC_REWARD_ENDPOINT")
    question = str((extra_info or {}).get("question") or "") if isinstance(extra_info, Mapping) else ""
    if endpoint:
        score = asked(endpoint, question, solution_str)
    elif model:
        score = scored(model, question, solution_str)
    else:
        raise ValueError("the model reward has no model: set KLINIC_REWARD_MODEL=DIR or KLINIC_REWARD_ENDPOINT=URL")
    return verdict(score, same(extract(solution_str), str(ground_truth)))


def asked(endpoint: str, question: str, response: str) -> float:
    """The score that an HTTP endpoint gives. Raises ValueError with what it answered instead."""
    if not endpoint.startswith(("http://", "https://")):
        raise ValueError(f"{endpoint}: a reward endpoint is an http(s) address")
    body = json.dumps({"question": question, "response": response}).encode()
    request = urllib.request.Request(endpoint, body, {"Content-Type": "application/json"})  # noqa: S310
    try:
        with urllib.request.urlopen(request, timeout=TIMEOUT) as answer:  # noqa: S310
            return float(json.load(answer)["score"])
    except urllib.error.URLError as error:
        raise ValueError(f"{endpoint}: no answer ({error.reason}); is the reward server up?") from None
    except (ValueError, KeyError, TypeError, OSError) as error:
        raise ValueError(f'{endpoint}: the answer is no {{"score": number}} ({error})') from None


def scored(model: str, question: str, response: str) -> float:
    """The single output of a sequence classifier, loaded once a process."""
    import torch

    tokenizer, classifier = _loaded(model)
    text = _conversation(tokenizer, question, response)
    inputs = tokenizer(text, return_tensors="pt", truncation=True, return_token_type_ids=False)
    with _one_at_a_time, torch.inference_mode():
        return float(classifier(**inputs).logits.float().reshape(-1)[0])


@cache
def _loaded(model: str) -> tuple[Any, Any]:
    from transformers import AutoModelForSequenceClassification, AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(model)
    classifier = AutoModelForSequenceClassification.from_pretrained(model).eval()
    if classifier.config.num_labels != 1:
        raise ValueError(f"{model}: a reward model has one output, this one has {classifier.config.num_labels}")
    return tokenizer, classifier


def _conversation(tokenizer: Any, question: str, response: str) -> str:
    if not getattr(tokenizer, "chat_template", None):
        return f"{question}\n{response}"
    turns = [{"role": "user", "content": question}, {"role": "assistant", "content": response}]
    return str(tokenizer.apply_chat_template(turns, tokenize=False))

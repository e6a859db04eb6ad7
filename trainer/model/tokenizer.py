"""The embedded model's tokenizer: byte-level BPE in ChatML, single digits, a newline of one token."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any

from klinic.trainer.data.arithmetic import problem
from klinic.trainer.model.corpus import solution

VOCABULARY = 640
SPECIAL = ("<|endoftext|>", "<|im_start|>", "<|im_end|>")
CHAT_TEMPLATE = (
    "{% for m in messages %}{{ '<|im_start|>' + m['role'] + '\n' + m['content'] + '<|im_end|>' + '\n' }}"
    "{% endfor %}{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif %}"
)


def train_tokenizer(seed: int = 7, texts: int = 6000) -> Any:
    """A `PreTrainedTokenizerFast` trained on problems and solutions of a seed; any UTF-8 text can be encoded."""
    from tokenizers import Regex, Tokenizer, decoders, models, pre_tokenizers, trainers
    from transformers import PreTrainedTokenizerFast

    bare = Tokenizer(models.BPE())
    bare.pre_tokenizer = pre_tokenizers.Sequence(
        [
            pre_tokenizers.Split(Regex(r"\d|\n"), "isolated"),
            pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=True),
        ]
    )
    bare.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=VOCABULARY,
        special_tokens=list(SPECIAL),
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    bare.train_from_iterator(_texts(seed, texts), trainer)
    made = PreTrainedTokenizerFast(
        tokenizer_object=bare, eos_token=SPECIAL[2], pad_token=SPECIAL[0], model_max_length=2048
    )
    made.chat_template = CHAT_TEMPLATE
    return made


def _texts(seed: int, count: int) -> Iterator[str]:
    rng = random.Random(seed)  # noqa: S311
    for _ in range(count):
        made = problem(rng)
        yield f"system\nuser\n{made.question}"
        yield f"assistant\n{solution(made, rng)}"

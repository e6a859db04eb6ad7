"""What counts the tokens of a prompt. What holds no tokenizer is told before transformers is imported, which takes
seconds, and a hub that does not answer is not asked again and again."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

from klinic.diagnostics.files.home import expanded

HUB_S = 5  # of one question to the hub
# Each tokenizer that transformers loads comes with one of these.
FILES = (
    "tokenizer.json",
    "tokenizer_config.json",
    "tokenizer.model",
    "tekken.json",
    "vocab.json",
    "vocab.txt",
    "sentencepiece.bpe.model",
    "spiece.model",
)


class NoTokenizerError(Exception):
    """There is none, or it cannot be loaded; with the reason, one line."""


def counter(model: str) -> Callable[[list[dict[str, Any]]], int]:
    """How many tokens the messages of a prompt are, by the tokenizer of a folder or of a hub's model.

    Raises NoTokenizerError where there is none, what it gives does too where the tokenizer, loaded on first use, is
    broken.
    """
    name, here = _place(model)

    @cache
    def tokenizer() -> Any:
        from transformers import AutoTokenizer

        try:
            return AutoTokenizer.from_pretrained(name, local_files_only=here)
        except Exception as error:  # of transformers, the hub, or what reads the files
            raise NoTokenizerError(next(iter(str(error).splitlines()), type(error).__name__)) from error

    return lambda messages: len(
        tokenizer().apply_chat_template(messages, add_generation_prompt=True, return_dict=False)
    )


def _place(model: str) -> tuple[str, bool]:
    """What transformers is to load, and whether that is on this machine."""
    folder = expanded(model)
    if folder.is_dir() and not any((folder / name).is_file() for name in FILES):
        raise NoTokenizerError(f"the folder holds none of {', '.join(FILES)}")
    if folder.exists() and not folder.is_dir():
        raise NoTokenizerError("it is no folder; name the one that holds tokenizer.json")
    return (str(folder), True) if folder.is_dir() else (model, not _at_hub(model))


def _at_hub(model: str) -> bool:
    """Whether the hub has a model; False where it does not say so and the model was fetched before."""
    from huggingface_hub import HfApi, try_to_load_from_cache
    from huggingface_hub.errors import HFValidationError, RepositoryNotFoundError

    try:
        HfApi().model_info(model, timeout=HUB_S)
        return True
    except HFValidationError:
        raise NoTokenizerError("no such folder, and no model of a hub has such a name") from None
    except RepositoryNotFoundError:
        reason = "no such folder, and the hub has no such model"
    except Exception as error:  # of whatever the hub's client speaks HTTP with
        reason = f"no such folder, and the hub cannot be asked ({next(iter(str(error).splitlines()), error)})"
    if not any(isinstance(try_to_load_from_cache(model, name), str) for name in FILES):
        raise NoTokenizerError(reason)
    return False

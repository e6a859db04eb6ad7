"""Where the embedded model lies, and what it scored when it was made."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent / "weights"
NEEDED = ("config.json", "generation_config.json", "model.safetensors", "tokenizer.json", "tokenizer_config.json")


def embedded_model() -> Path:
    """Folder of the embedded model in Hugging Face's layout. Raises FileNotFoundError where a file is missing."""
    if missing := [name for name in NEEDED if not (FOLDER / name).is_file()]:
        raise FileNotFoundError(f"{FOLDER}: the embedded model lacks {', '.join(missing)}; install klinic again")
    return FOLDER


def made() -> dict[str, Any]:
    """How the embedded model was made and its accuracy: greedy, sampled, by kind of problem."""
    card: dict[str, Any] = json.loads((FOLDER / "made.json").read_text("utf-8"))
    return card

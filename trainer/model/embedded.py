"""Where the embedded model lies."""

from __future__ import annotations

from pathlib import Path

FOLDER = Path(__file__).parent / "weights"
NEEDED = ("config.json", "generation_config.json", "model.safetensors", "tokenizer.json", "tokenizer_config.json")


def embedded_model() -> Path:
    """Folder of the embedded model in Hugging Face's layout. Raises FileNotFoundError where a file is missing."""
    if missing := [name for name in NEEDED if not (FOLDER / name).is_file()]:
        raise FileNotFoundError(f"{FOLDER}: the embedded model lacks {', '.join(missing)}; install klinic again")
    return FOLDER

"""Fixtures of the trainer's tests."""

import json
import os
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest


@pytest.fixture
def model(tmp_path):
    """A folder with the config.json of a model of this size."""

    def made(hidden, layers, vocab=1000):
        config = {"hidden_size": hidden, "num_hidden_layers": layers, "num_attention_heads": hidden // 64,
                  "intermediate_size": 4 * hidden, "vocab_size": vocab}  # fmt: skip
        folder = tmp_path / f"m{hidden}x{layers}"
        folder.mkdir()
        (folder / "config.json").write_text(json.dumps(config))
        return folder

    return made


@pytest.fixture(scope="session")
def repo():
    """The repository's root."""
    return Path(__file__).resolve().parents[2]


@pytest.fixture(scope="session")
def model_with_tokenizer():
    """A folder with config, tokenizer and weights: the embedded model."""
    from klinic.trainer.model.embedded import embedded_model

    return embedded_model()


@pytest.fixture(scope="session")
def python():
    """Run code in a fresh interpreter and give what it printed: hooks on verl cannot be taken back in this one."""

    def ran(code, folder=None, **environment):
        done = subprocess.run(
            [sys.executable, "-W", "ignore", "-c", textwrap.dedent(code)],
            env={**os.environ, **environment},
            cwd=folder,
            capture_output=True,
            text=True,
            timeout=280,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    return ran

"""What the judging of one file needs is all that is imported for it: a start is most of what a short log costs."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

WEB, MEMORY = ("urllib.request", "http.client", "ssl"), ("sqlite3", "zstandard")
SAYS = "import sys; from klinic.diagnostics.cli import main\ntry: main()\nfinally: print(*sys.modules)"


def test_one_file_imports_neither_web_nor_memory(tmp_path: Path) -> None:
    log = tmp_path / "run.log"
    log.write_text("".join(f"step:{step} - actor/pg_loss:0.5 - critic/score/mean:0.25\n" for step in range(1, 30)))
    command = [sys.executable, "-c", SAYS, "diagnose", str(log), "--format", "list"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    imported = done.stdout.splitlines()[-1].split()
    assert "klinic.diagnostics.survey.survey" in imported
    assert not {*WEB, *MEMORY} & set(imported)

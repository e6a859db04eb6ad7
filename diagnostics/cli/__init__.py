"""The command line: `main`, a group whose commands are entry points and are imported on use only."""

from __future__ import annotations

import sys

from klinic.diagnostics.cli.group import Klinic

main = Klinic(
    name="klinic",
    help="Says what is wrong with an RL post-training run, why, since which step, and which override cures it.",
    epilog="Start with: klinic diagnose run.log",
)

if __name__ == "__main__":
    sys.exit(main())

"""Keep how a run was launched beside it, so that another run can start from the same."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from klinic.diagnostics.verlconfig.overrides import override
from klinic.trainer.plan.make import Plan, PlanError

FILE = "launch.json"
OF_ONE_RUN = (
    "trainer.project_name",
    "trainer.experiment_name",
    "trainer.default_local_dir",
    "trainer.resume_mode",
    "trainer.resume_from_path",
    "hydra.run.dir",
    "hydra.output_subdir",
)


def keep(plan: Plan) -> None:
    """Write launch.json: the recipe, the user's words, and each filled value with its reason."""
    record = {
        "recipe": plan.recipe.name if plan.recipe else None,
        "platform": "cpu" if plan.cpu else "gpu",
        "user": list(plan.user),
        "filled": [{"key": e.key, "value": e.value, "reason": e.reason} for e in plan.filled],
    }
    (plan.run_dir / FILE).write_text(json.dumps(record, indent=1, ensure_ascii=False) + "\n", "utf-8")


def taken_from(run: Path) -> tuple[str | None, list[str]]:
    """Recipe and user's overrides of another run, without what belongs to that run alone. Raises PlanError.

    A run that klinic did not launch gives all the overrides of its manifest.
    """
    launched = _json(run / FILE)
    if launched:
        recipe = launched.get("recipe")
        return (str(recipe) if recipe else None), _lasting(launched.get("user"))
    manifest = _json(run / "run.json")
    if not manifest.get("overrides"):
        raise PlanError(f"{run}: neither launch.json nor run.json there says how it was launched")
    return None, _lasting(manifest["overrides"])


def _json(file: Path) -> dict[str, Any]:
    try:
        found = json.loads(file.read_text("utf-8"))
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def _lasting(words: Any) -> list[str]:
    texts = [str(word) for word in words] if isinstance(words, list) else []
    return [text for text in texts if (one := override(text)) is None or one.key not in OF_ONE_RUN]

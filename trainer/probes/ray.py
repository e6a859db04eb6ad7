"""Start Ray on this machine, run one task, stop it."""

from __future__ import annotations


def probe() -> str:
    """A cluster of its own with one CPU, never one that is there."""
    import os

    os.environ.pop("RAY_ADDRESS", None)
    import ray

    ray.init(address="local", num_cpus=1, include_dashboard=False, logging_level="ERROR", log_to_driver=False)
    try:
        task = ray.remote(lambda: sum(range(10)))
        answer = ray.get(task.remote(), timeout=120)
    finally:
        ray.shutdown()
    if answer != 45:
        raise RuntimeError(f"a task gave {answer} in place of 45")
    return f"Ray {ray.__version__} ran a task"

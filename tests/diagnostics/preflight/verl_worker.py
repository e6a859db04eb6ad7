"""Runs apart from the tests, verl imported once: a list of override lists from stdin, verl's verdict on each."""

import contextlib
import json
import sys
import warnings

warnings.simplefilter("ignore")


def verdict(overrides: list[str]) -> str | None:
    from klinic.diagnostics.verlconfig.compose import verl_verdict

    try:
        return verl_verdict(overrides)
    except Exception as trouble:  # a refusal to compose is an answer too
        return f"{type(trouble).__name__}: {trouble}"


if __name__ == "__main__":
    with contextlib.redirect_stdout(sys.stderr):
        answers = [verdict(overrides) for overrides in json.load(sys.stdin)]
    json.dump(answers, sys.stdout)

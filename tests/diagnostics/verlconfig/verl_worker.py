"""Runs apart from the tests, with verl imported once: reads a JSON request from stdin, writes a JSON answer."""

import contextlib
import json
import sys
import warnings

warnings.simplefilter("ignore")


def answer(request: dict) -> dict:
    from hydra.core.override_parser.overrides_parser import OverridesParser

    from klinic.diagnostics.verlconfig import generate
    from klinic.diagnostics.verlconfig.compose import compose, tree, verl_verdict

    parser = OverridesParser.create()
    return {
        "table": generate.table(),
        "verdicts": [verl_verdict(tree(overrides)) for overrides in request["verdicts"]],
        "composed": [
            {"values": done.values, "refused": [one.text for one in done.refused]}
            for done in (compose(overrides, "hydra") for overrides in request["compose"])
        ],
        "parsed": [parser.parse_override(f"a={text}").value() for text in request["parse"]],
    }


if __name__ == "__main__":
    with contextlib.redirect_stdout(sys.stderr):
        result = answer(json.load(sys.stdin))
    json.dump(result, sys.stdout, default=str)

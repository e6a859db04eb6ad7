"""The language of cards and requirements: parse, compile, and evaluate it block by block (docs/grammar.md)."""

from klinic.diagnostics.signals.block import Block, Facts, PlainFacts
from klinic.diagnostics.signals.compile import compile_text
from klinic.diagnostics.signals.evaluate import Evaluator, evaluate
from klinic.diagnostics.signals.node import Node
from klinic.diagnostics.signals.parse import ExpressionError
from klinic.diagnostics.signals.requirement import Requirement, parse_requirement
from klinic.diagnostics.signals.scope import Scope

__all__ = [
    "Block",
    "Evaluator",
    "ExpressionError",
    "Facts",
    "Node",
    "PlainFacts",
    "Requirement",
    "Scope",
    "compile_text",
    "evaluate",
    "parse_requirement",
]

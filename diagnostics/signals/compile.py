"""Turn a checked syntax tree into nodes."""

from __future__ import annotations

import ast
import inspect
from dataclasses import replace
from typing import Any

from klinic.diagnostics.signals import operators
from klinic.diagnostics.signals.node import Constant, Metric, Node
from klinic.diagnostics.signals.parse import fail, parse
from klinic.diagnostics.signals.registry import Names, Signal, Template, annotation, signals
from klinic.diagnostics.signals.scope import BARE, Scope, demand, literal, literals
from klinic.diagnostics.suggest import closest


def compile_text(text: str, scope: Scope | None = None, kind: str = "") -> Node:
    """Node of an expression. `kind` ("truth" or "number") is demanded where given.

    Raises ExpressionError with line and column within `text`.
    """
    tree = parse(text)
    node = compile_tree(tree, scope or Scope())
    return demand(tree, node, kind) if kind else node


def compile_tree(tree: ast.expr, scope: Scope) -> Node:
    """Node of a syntax tree that has passed `parse`."""
    node: Node = _HANDLERS[type(tree)](tree, scope)
    return node


def _constant(tree: ast.Constant, scope: Scope) -> Node:
    if isinstance(tree.value, str):
        return Metric(tree.value)
    if isinstance(tree.value, bool) or tree.value is None:
        return Constant(tree.value)
    return Constant(float(tree.value))  # type: ignore[arg-type]  # parse lets numbers through only


def _name(tree: ast.Name, scope: Scope) -> Node:
    name = tree.id
    if name == "it" and scope.it is not None:
        return Metric(scope.it)
    if name in scope.lets:
        scope.used.add(name)
        return _let(name, tree, scope)
    if name in scope.thresholds:
        scope.used.add(name)
        value = scope.thresholds[name]
        return Constant(float(value) if isinstance(value, int | float) and not isinstance(value, bool) else value)
    if name in BARE:
        return signals()[name].build()
    raise fail(tree, _unknown_name(name), closest(name, [*scope.known(), *signals()]))


def _unknown_name(name: str) -> str:
    if name in signals():
        return f"{name!r} is a signal: write {signals()[name].usage}"
    return f"unknown name {name!r}: metrics stand in quotes"


def _let(name: str, tree: ast.Name, scope: Scope) -> Node:
    if known := scope.made.get((name, scope.it)):
        return known
    earlier = dict(list(scope.lets.items())[: list(scope.lets).index(name)])
    try:
        node = compile_tree(parse(scope.lets[name]), replace(scope, lets=earlier))
    except ValueError as error:
        raise fail(tree, f"in let {name}: {error}") from None
    scope.made[name, scope.it] = node
    return node


def _bool(tree: ast.BoolOp, scope: Scope) -> Node:
    parts = [demand(part, compile_tree(part, scope), "truth") for part in tree.values]
    return operators.logic("and" if isinstance(tree.op, ast.And) else "or", parts)


def _unary(tree: ast.UnaryOp, scope: Scope) -> Node:
    inner = compile_tree(tree.operand, scope)
    if isinstance(tree.op, ast.Not):
        return operators.negation(demand(tree.operand, inner, "truth"))
    inner = demand(tree.operand, inner, "number")
    return operators.minus(inner) if isinstance(tree.op, ast.USub) else inner


def _binary(tree: ast.BinOp, scope: Scope) -> Node:
    left, right = (demand(part, compile_tree(part, scope), "number") for part in (tree.left, tree.right))
    return operators.arithmetic(operators.SYMBOLS[type(tree.op)], left, right)


def _compare(tree: ast.Compare, scope: Scope) -> Node:
    sides = [tree.left, *tree.comparators]
    pairs = [_pair(sides[i], op, sides[i + 1], scope) for i, op in enumerate(tree.ops)]
    return pairs[0] if len(pairs) == 1 else operators.logic("and", pairs)


def _pair(left: ast.expr, op: ast.cmpop, right: ast.expr, scope: Scope) -> Node:
    if isinstance(op, ast.In | ast.NotIn):
        member = operators.membership(compile_tree(left, scope), literals(right))
        return operators.negation(member) if isinstance(op, ast.NotIn) else member
    nodes = [compile_tree(left, scope), compile_tree(right, scope)]
    symbol = operators.SYMBOLS[type(op)]
    loose = [n.kind in ("text", "scalar") for n in nodes]
    if symbol in ("==", "!=") and any(loose):  # beside a config value, a quoted word is a text and no metric
        sides = [_as_text(tree, node) for tree, node in zip((left, right), nodes, strict=True)]
        return operators.equality(symbol, *sides)
    if "truth" in (nodes[0].kind, nodes[1].kind) and symbol in ("==", "!="):
        return operators.equality(symbol, *nodes)
    return operators.comparison(symbol, *(demand(t, n, "number") for t, n in zip((left, right), nodes, strict=True)))


def _as_text(tree: ast.expr, node: Node) -> Node:
    return Constant(tree.value) if isinstance(tree, ast.Constant) else node


def _ifexp(tree: ast.IfExp, scope: Scope) -> Node:
    test = demand(tree.test, compile_tree(tree.test, scope), "truth")
    return operators.choice(test, compile_tree(tree.body, scope), compile_tree(tree.orelse, scope))


def _list(tree: ast.List | ast.Tuple, scope: Scope) -> Node:
    raise fail(tree, "a list stands after `in` or as the first argument of any_of and all_of only")


def _call(tree: ast.Call, scope: Scope) -> Node:
    name = tree.func.id  # type: ignore[attr-defined]  # parse lets calls of plain names through only
    found = signals().get(name)
    if found is None or name in BARE:
        raise fail(tree, f"unknown signal {name!r}", closest(name, signals()))
    if scope.it is None and name not in _WHOLE and any(_asks_outcome(arg) for arg in tree.args):
        return _over_outcome(tree, scope)
    return _build(found, _bind(tree, found), tree, scope)


# Signals in which `outcome()` is no metric to be watched on its own.
_WHOLE = ("outcome", "any_of", "all_of")


def _asks_outcome(tree: ast.AST) -> bool:
    return not isinstance(tree, ast.Constant | ast.Name) and any(
        isinstance(n, ast.Call) and getattr(n.func, "id", "") == "outcome" for n in ast.walk(tree)
    )


def _over_outcome(tree: ast.Call, scope: Scope) -> Node:
    """A signal of the outcome is that signal of each metric that may be it; scales never mix in a window."""
    renamed = _Renamed().visit(ast.parse(ast.unparse(tree), mode="eval").body)
    return signals()["outcome_of"].build(_template(renamed, scope))


class _Renamed(ast.NodeTransformer):
    def visit_Call(self, node: ast.Call) -> ast.AST:
        """`outcome()` becomes `it`."""
        if getattr(node.func, "id", "") == "outcome":
            return ast.copy_location(ast.Name("it", ast.Load()), node)
        return self.generic_visit(node)


def _bind(tree: ast.Call, found: Signal) -> inspect.BoundArguments:
    keywords = {word.arg: word.value for word in tree.keywords if word.arg}
    names = [parameter.name for parameter in found.parameters]
    for word in tree.keywords:
        if word.arg not in names:
            raise fail(word, f"{found.usage} has no {word.arg!r}", closest(word.arg or "", names))
    try:
        return inspect.Signature(found.parameters).bind(*tree.args, **keywords)
    except TypeError as error:
        raise fail(tree, f"{found.usage}: {error}") from None


def _build(found: Signal, bound: inspect.BoundArguments, tree: ast.Call, scope: Scope) -> Node:
    args: list[Any] = []
    keywords: dict[str, Any] = {}
    for name, value in bound.arguments.items():
        parameter = next(p for p in found.parameters if p.name == name)
        if parameter.kind is parameter.VAR_POSITIONAL:
            args.extend(_argument(parameter, part, scope) for part in value)
        else:
            keywords[name] = _argument(parameter, value, scope)
    try:
        return found.build(*args, **keywords)
    except ValueError as error:
        raise error if hasattr(error, "column") else fail(tree, str(error)) from None


def _argument(parameter: inspect.Parameter, tree: ast.expr, scope: Scope) -> Any:
    kind = annotation(parameter)
    if kind in ("Num", "Truth"):
        return demand(tree, compile_tree(tree, scope), "truth" if kind == "Truth" else "number")
    if kind == "Any_":
        return compile_tree(tree, scope)
    return _READERS[kind](tree, scope)


def _window(tree: ast.expr, scope: Scope) -> int | None:
    if isinstance(tree, ast.Name) and tree.id == "run":
        return None
    return _count(tree, scope)


def _count(tree: ast.expr, scope: Scope) -> int:
    value = _number(tree, scope)
    if value is None or value != int(value) or not 1 <= value <= 10_000:
        raise fail(tree, f"a window is a whole number from 1 to 10000 or `run`, not `{ast.unparse(tree)}`")
    return int(value)


def _number(tree: ast.expr, scope: Scope) -> float | None:
    node = operators.folded(compile_tree(tree, scope))
    if not isinstance(node, Constant) or isinstance(node.value, str | bool | list):
        raise fail(tree, f"`{ast.unparse(tree)}` is not a constant number")
    return None if node.value is None else float(node.value)


def _text(tree: ast.expr, scope: Scope) -> str:
    if isinstance(tree, ast.Name) and tree.id == "it" and scope.it:
        return scope.it
    if not isinstance(tree, ast.Constant) or not isinstance(tree.value, str):
        raise fail(tree, f"`{ast.unparse(tree)}` is not a name in quotes")
    return tree.value


def _default(tree: ast.expr, scope: Scope) -> Any:
    return literal(tree)


def _names(tree: ast.expr, scope: Scope) -> Names:
    if isinstance(tree, ast.List | ast.Tuple):
        return Names(fixed=tuple(_text(part, scope) for part in tree.elts))
    word = _text(tree, scope)
    return Names(pattern=word) if "*" in word else Names(fixed=(word,))


def _template(tree: ast.expr, scope: Scope) -> Template:
    probe = compile_tree(tree, replace(scope, it="it"))  # errors surface now, not at the first row
    return Template(probe.key, probe.kind, lambda name: compile_tree(tree, replace(scope, it=name)))


_READERS = {
    "Window": _window, "Count": _count, "Bound": _number, "Text": _text, "Names": _names, "Template": _template,
    "Default": _default,
}  # fmt: skip
_HANDLERS: dict[type[ast.expr], Any] = {
    ast.Constant: _constant, ast.Name: _name, ast.BoolOp: _bool, ast.UnaryOp: _unary, ast.BinOp: _binary,
    ast.Compare: _compare, ast.IfExp: _ifexp, ast.Call: _call, ast.List: _list, ast.Tuple: _list,
}  # fmt: skip

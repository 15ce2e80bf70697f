"""A Python list of calls: `[name(key="text", other=[1, 2]), other()]`."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy
from support.fold import Folded

from readers.grammar import NAMES, Call, Output, Plan, Tool, dump, edged, number, plans, prose, texts
from readers.values import joined

# No Python keyword among them: Python itself reads the list here.
_KEYS = ("city", "k_1", "name", "größe", "a", "date", "line")
_WRAP = ("<|python_start|>", "<|python_end|>")


@dataclass(frozen=True)
class PythonCalls:
    """A dialect: whether the list may stand between markers. No text in front has an opening bracket."""

    wrapped: bool = False

    def read(self, raw: str, tools: list[Tool]) -> Folded:
        before, bracket, rest = raw.partition("[")
        if not bracket:
            return Folded(None, raw or None, [])
        source, after = _list("[" + rest)
        tree = ast.parse(source, mode="eval").body
        assert isinstance(tree, ast.List)
        calls = [_call(source, call) for call in tree.elts]
        pieces = [before.removesuffix(_WRAP[0]), after.removeprefix(_WRAP[1])]
        return Folded(None, joined(pieces, beside_calls=True), calls)

    def outputs(self, quoted: tuple[str, ...] = ()) -> SearchStrategy[Output]:
        return _outputs(self, quoted)


def _list(text: str) -> tuple[str, str]:
    """The shortest piece from the start that is Python, and what follows it."""
    at = 0
    while (at := text.find("]", at) + 1) > 0:
        try:
            ast.parse(text[:at], mode="eval")
        except (SyntaxError, ValueError):
            continue
        return text[:at], text[at:]
    raise AssertionError(f"no list in {text!r}")


def _call(source: str, call: ast.expr) -> tuple[str, dict[str, Any], bool]:
    assert isinstance(call, ast.Call)
    arguments = {str(keyword.arg): _value(source, keyword.value) for keyword in call.keywords}
    return ast.unparse(call.func), arguments, True


def _value(source: str, node: ast.expr) -> Any:
    match node:
        case ast.List(elts=items) | ast.Tuple(elts=items):
            return [_value(source, item) for item in items]
        case ast.Dict(keys=keys, values=values):
            pairs = zip(keys, values, strict=True)
            return {_value(source, key): _value(source, value) for key, value in pairs if key}
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return -_value(source, operand)
        case ast.Name(id=word):
            return {"true": True, "false": False, "null": None}[word]
        case ast.Constant(value=float()):
            return Decimal(str(ast.get_source_segment(source, node)))
        case ast.Constant(value=value):
            return value
    raise AssertionError(ast.dump(node))


@st.composite
def _outputs(draw: DrawFn, dialect: PythonCalls, quoted: tuple[str, ...]) -> Output:
    # Python folds compatibility characters of names, so names and keys are plain here.
    plan: Plan = draw(
        plans(
            content=edged(prose(("[", *_WRAP), quoted)).map(lambda text: text + "\n"),
            after=edged(prose(_WRAP, quoted)),
            value_text=texts((), quoted),
            typed=True,
            names=(*NAMES, "math.sum", "a.b.c"),
            keys=_KEYS,
        )
    )
    raw = plan.before
    if plan.calls:
        opening, closing = draw(st.sampled_from([_WRAP, ("", "")])) if dialect.wrapped else ("", "")
        written = ", ".join(f"{call.name}({_arguments(draw, call)})" for call in plan.calls)
        raw += f"{opening}[{written}]{closing}"
    return plan.output(raw + plan.after, quoted)


def _arguments(draw: DrawFn, call: Call) -> str:
    comma, equals = draw(st.sampled_from([(", ", "="), (",", "="), (" , ", " = ")]))
    return comma.join(f"{key}{equals}{_written(draw, value)}" for key, value in call.arguments.items())


def _written(draw: DrawFn, value: Any) -> str:
    if isinstance(value, str):
        return draw(st.sampled_from([repr(value), dump(value)]))
    if isinstance(value, dict):
        inner = (f"{_written(draw, key)}: {_written(draw, item)}" for key, item in value.items())
        return "{" + ", ".join(inner) + "}"
    if isinstance(value, list):
        items = [_written(draw, item) for item in value]
        if len(items) > 1 and draw(st.booleans()):
            return "(" + ", ".join(items) + ")"
        return "[" + ", ".join(items) + "]"
    if value is None or isinstance(value, bool):
        return draw(st.sampled_from([repr(value), dump(value)]))
    return number(value) if isinstance(value, Decimal) else str(value)

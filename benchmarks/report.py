"""Results as records, and as tables."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from rich.table import Table


@dataclass(frozen=True)
class Result:
    """One contender over one stream.

    ``best`` and ``median`` are CPU seconds of the whole stream, None where nothing ran to be timed.
    ``over``: it was given up at the time limit, with ``done`` of the stream read. ``reads``: do its messages
    say what the output says (None: not known)?
    """

    pair: str
    shape: str
    size: int
    contender: str
    tokens: int
    deltas: int
    best: float | None
    median: float | None
    over: bool = False
    done: float = 1.0
    error: str = ""
    reads: bool | None = None

    @property
    def per_token(self) -> float | None:
        """Microseconds a token; of a run that was given up, over the part that it read."""
        return None if self.best is None else self.best * 1e6 / (self.tokens * self.done)


@dataclass(frozen=True)
class Row:
    """All contenders on one shape of one pair, over all sizes."""

    pair: str
    shape: str
    results: dict[str, list[Result]]  # by contender, sizes rising

    def ratio(self, over: str, under: str) -> tuple[float, bool] | None:
        """Of the costs a token, at the largest size that both have; and whether it is only a lower bound."""
        pairs = zip(self.results[over], self.results[under], strict=True)
        both = [(a.per_token / b.per_token, a.over) for a, b in pairs if a.per_token and b.per_token]
        return both[-1] if both else None

    def exponent(self, contender: str) -> float | None:
        """The slope of log(total cost) over log(tokens). 1 is linear. Needs two sizes read to the end."""
        found = [(r.tokens, r.best) for r in self.results[contender] if r.best and not r.over]
        if len(found) < 2:
            return None
        xs = [math.log(tokens) for tokens, _ in found]
        ys = [math.log(seconds) for _, seconds in found]
        mean_x, mean_y = sum(xs) / len(xs), sum(ys) / len(ys)
        across = sum((x - mean_x) * (y - mean_y) for x, y in zip(xs, ys, strict=True))
        return across / sum((x - mean_x) ** 2 for x in xs)


def rows(results: Iterable[Result]) -> list[Row]:
    """The results by pair and shape, in the order in which they came."""
    found: dict[tuple[str, str], Row] = {}
    for result in results:
        row = found.setdefault((result.pair, result.shape), Row(result.pair, result.shape, {}))
        row.results.setdefault(result.contender, []).append(result)
    return list(found.values())


def records(results: Iterable[Result]) -> list[dict[str, Any]]:
    """For JSON."""
    return [asdict(result) | {"microseconds_per_token": result.per_token} for result in results]


def table(pair: str, found: Sequence[Row], contenders: Sequence[str]) -> Table:
    """One pair: a line a shape, the costs of all sizes side by side."""
    made = Table(title=f"[bold]{pair}", title_justify="left", caption_justify="left")
    sizes = [result.size for result in found[0].results[contenders[0]]]
    heads = [f"{c}\nµs/token\n{' / '.join(f'{size:,}' for size in sizes)}" for c in contenders]
    ratios = [(a, b) for a, b in RATIOS if a in contenders and b in contenders]
    for head in ("shape", *heads, *(f"growth\n{c}" for c in contenders if c != "floor")):
        made.add_column(head, justify="left" if head == "shape" else "right", no_wrap=True)
    for over, under in ratios:
        made.add_column(f"{over} /\n{under}", justify="right", style="bold")
    for row in found:
        made.add_row(
            row.shape,
            *(" / ".join(_cost(result) for result in row.results[c]) for c in contenders),
            *(_number(row.exponent(c), 2) for c in contenders if c != "floor"),
            *(_ratio(row, over, under) for over, under in ratios),
        )
    return made


#: The ratios shown, each of the costs a token at the largest size.
RATIOS = (("vllm", "direct"), ("vllm", "adapters"), ("core", "floor"), ("direct", "floor"))
LEGEND = (
    "growth: slope of log(total cost) over log(tokens), 1 is linear. Ratios: at the largest size that both "
    "read. >: over the time limit, cost of the part read; not run on larger streams. *: the messages do not "
    "say what the output says. -: fails, or none."
)


def _cost(result: Result) -> str:
    if result.per_token is None:
        return ">" if result.over else "-"
    misread = "*" if result.reads is False else ""
    return (">" if result.over else "") + _number(result.per_token, 1) + misread


def _ratio(row: Row, over: str, under: str) -> str:
    found = row.ratio(over, under)
    if found is None:
        return "-"
    ratio, at_least = found
    text = ">" * at_least + _number(ratio, 1 if ratio < 100 else 0)
    return f"[red]{text}[/]" if over == "vllm" and ratio < 1 else text


def _number(value: float | None, digits: int) -> str:
    return "-" if value is None else f"{value:,.{digits}f}"


def summary(found: Sequence[Row]) -> list[str]:
    """What does not meet the aims: no faster than vLLM's own, growth over 1.05, over 1.4 times the floor."""
    lines = []
    for row in found:
        where = f"{row.pair}, {row.shape}"
        for ours in ("direct", "adapters"):
            faster = row.ratio("vllm", ours) if {"vllm", ours} <= row.results.keys() else None
            if faster is not None and faster[0] <= 1 and not faster[1]:
                lines.append(f"{where}: {ours} not faster than vLLM's own ({faster[0]:.2f} times)")
        above = row.ratio("direct", "floor") if {"direct", "floor"} <= row.results.keys() else None
        if above is not None and above[0] > 1.4:
            lines.append(f"{where}: direct takes {above[0]:.2f} times the floor")
        for contender in ("direct", "adapters", "core"):
            exponent = row.exponent(contender) if contender in row.results else None
            if exponent is not None and exponent > 1.05:
                lines.append(f"{where}: {contender} grows with exponent {exponent:.2f}")
    return lines

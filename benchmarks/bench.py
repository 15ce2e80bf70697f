"""The benchmark's options, and its run over pairs, shapes and sizes."""

from __future__ import annotations

import json
import logging
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import typer
from contenders import (
    ADAPTERS,
    CONTENDERS,
    CORE,
    DIRECT,
    FLOOR,
    VLLM,
    Composed,
    Maker,
    compose,
    composition,
    core,
    floor,
    reads_as,
)
from report import LEGEND, Result, records, rows, summary, table
from rich.console import Console
from rich.progress import track
from streams import PAIRS, SHAPES, Pair, Stream, stream
from timing import Timing, messages, take_turns
from tokenizing import BenchTokenizer, tokenizer_for

from unified_parser import get_parser_class

#: The pairs of a run without options, which takes about two minutes.
QUICK = "kimi_k2,qwen3+qwen3_coder,hermes,deepseek_v3+deepseek_v31,glm47,llama3_json"
ALL = "all"
#: The largest stream, in tokens, on which vLLM's own messages are looked at: that run has no limit.
_CHECKED = 1500


def main(
    names: Annotated[str, typer.Option(help="Pairs, or parser names, comma-separated; or 'all'.")] = QUICK,
    shapes: Annotated[str, typer.Option(help="Shapes, comma-separated; or 'all'.")] = ALL,
    sizes: Annotated[str, typer.Option(help="Tokens a stream, comma-separated.")] = "1000,4000",
    contenders: Annotated[str, typer.Option(help="Who runs, comma-separated; or 'all'.")] = ALL,
    tokens_per_delta: Annotated[int, typer.Option(min=1)] = 1,
    repeats: Annotated[int, typer.Option(min=1, help="Runs of the largest stream; shorter: more.")] = 2,
    limit: Annotated[float, typer.Option(help="CPU seconds after which a run is given up.")] = 0.5,
    json_file: Annotated[Path | None, typer.Option("--json", help="Write all results here.")] = None,
) -> None:
    """Prints a table a pair: microseconds a token, growth, ratios."""
    pairs = [pair for pair in PAIRS if names == ALL or {pair.name, pair.tool} & set(names.split(","))]
    unknown = set() if names == ALL else set(names.split(",")) - {n for p in pairs for n in (p.name, p.tool)}
    chosen = _chosen(shapes, list(SHAPES))
    running = _chosen(contenders, list(CONTENDERS))
    if unknown or not pairs:
        raise typer.BadParameter(f"no such pair: {', '.join(sorted(unknown))}. There are: " + _listed(PAIRS))
    numbers = sorted(int(size) for size in sizes.split(","))
    console = Console(width=None if sys.stdout.isatty() else 170)
    logging.getLogger("vllm").setLevel(logging.ERROR)
    composed = compose(pairs)
    results: list[Result] = []
    for pair in track(pairs, console=Console(stderr=True), transient=True):
        bench = _Bench(pair, composed[pair.name], running, tokens_per_delta, repeats, limit)
        found = [result for shape in bench.shapes(chosen) for result in bench.results(shape, numbers)]
        results += found
        if found:
            console.print(table(pair.name, rows(found), running))
    console.print(LEGEND, style="dim")
    for line in summary(rows(results)):
        console.print(line, markup=False)
    for line in sorted({f"{r.pair}, {r.shape}: {r.contender} fails: {r.error}" for r in results if r.error}):
        console.print(line, markup=False)
    if json_file is not None:
        json_file.write_text(json.dumps(records(results), indent=1) + "\n", encoding="utf-8")


def _chosen(option: str, known: list[str]) -> list[str]:
    found = known if option == ALL else [name.strip() for name in option.split(",")]
    if wrong := [name for name in found if name not in known]:
        raise typer.BadParameter(f"unknown: {', '.join(wrong)}. There are: {', '.join(known)}")
    return found


def _listed(pairs: tuple[Pair, ...]) -> str:
    return ", ".join(pair.name for pair in pairs)


class _Bench:
    """The streams of one pair."""

    def __init__(
        self, pair: Pair, composed: Composed, running: list[str], per_delta: int, repeats: int, limit: float
    ) -> None:
        self.pair = pair
        self.composed = composed
        self.running = running
        self.per_delta = per_delta
        self.repeats = repeats
        self.limit = limit
        parser_class = get_parser_class(pair.tool, pair.reasoning if pair.reasoning != pair.tool else None)
        form = parser_class.format
        self.markers = [spelling for marker in form.markers() for spelling in marker.spellings]
        special = {*parser_class.marker_literals(), *form.start.boundaries}
        self.tokenizer: BenchTokenizer = tokenizer_for(special, prefer=pair.tool)

    def shapes(self, chosen: list[str]) -> list[str]:
        """The shapes that the pair can write."""
        return [shape for shape in chosen if self.pair.reasoning or shape != "reasoning"]

    def results(self, shape: str, sizes: list[int]) -> Iterator[Result]:
        """The results of all sizes. Who was over the limit is not given a larger stream."""
        over: set[str] = set()
        for size in sizes:
            made = stream(self.pair, shape, size, self.tokenizer, self.markers, self.per_delta)
            makers, reads = self._makers(made, skip=over)
            repeats = self.repeats * min(3, sizes[-1] // size)  # short runs are the noisier ones
            timings = take_turns(makers, made.deltas, repeats, self.limit)
            for contender in self.running:
                timing = timings.get(contender) or Timing(over=contender in over)
                if timing.over:
                    over.add(contender)
                yield self._result(shape, size, contender, made, timing, reads.get(contender))

    def _result(
        self, shape: str, size: int, contender: str, made: Stream, timing: Timing, reads: bool | None
    ) -> Result:
        ran = bool(timing.seconds) and not timing.error
        return Result(
            pair=self.pair.name,
            shape=shape,
            size=size,
            contender=contender,
            tokens=made.tokens,
            deltas=len(made.deltas),
            best=timing.best if ran else None,
            median=timing.median if ran else None,
            over=timing.over,
            done=timing.done,
            error=timing.error,
            reads=reads,
        )

    def _makers(self, made: Stream, skip: set[str]) -> tuple[dict[str, Maker], dict[str, bool]]:
        """Who runs on this stream, and who reads it as it is meant."""
        ours = {
            name: composition(parser_class, self.pair, made, self.tokenizer)
            for name, parser_class in ((DIRECT, self.composed.direct), (ADAPTERS, self.composed.adapters))
        }
        sent = {name: messages(make, made.deltas) for name, make in ours.items()}
        makers: dict[str, Maker] = {}
        reads = {name: reads_as(said, made.output) for name, said in sent.items()}
        if self.composed.vllm is not None and VLLM not in skip:
            makers[VLLM] = composition(self.composed.vllm, self.pair, made, self.tokenizer)
            if made.tokens <= _CHECKED:
                try:
                    reads[VLLM] = reads_as(messages(makers[VLLM], made.deltas), made.output)
                except Exception:  # reported by the timed run
                    reads[VLLM] = False
        makers |= ours
        makers |= {CORE: core(self.pair, made, self.tokenizer), FLOOR: floor(sent[DIRECT])}
        running = {name: make for name, make in makers.items() if name in self.running and name not in skip}
        return running, reads

"""The commands."""

from __future__ import annotations

from typing import Annotated

import typer

from .. import __version__
from ..events import Event
from ..message import MessageBuilder
from ..registry import families as all_families
from ..registry import get_parser_class
from . import options as given
from .chunks import Delta, read_chunks
from .console import make_console
from .errors import say, user_errors
from .facts import facts
from .families import family_page, markdown_table, table
from .inputs import STDIN, Record, arriving, read_outputs, read_tokenizer
from .replay import read_arguments, replay_files, show, summary
from .request import Request, make_request
from .shapes import event_lines, flaws, message_json, print_json
from .trace import draw

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    help="Take what a language model wrote apart: reasoning, content and tool calls.",
)


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(__version__)
        raise typer.Exit


@app.callback()
def _common(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version and exit.")
    ] = False,
) -> None:
    pass


@app.command()
def families(
    name: Annotated[
        str | None, typer.Argument(metavar="NAME", help="Show all about one family.", show_default=False)
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="As JSON.")] = False,
    markdown: Annotated[bool, typer.Option("--markdown", help="The table in Markdown.")] = False,
) -> None:
    """List the model families, or show one family's format."""
    with user_errors():
        if name is not None:
            parser_class = get_parser_class(name)
            if json:
                print_json(facts(parser_class), indent=2)
            else:
                make_console().print(family_page(parser_class))
            return
        known = [family.parser_class for family in all_families()]
        if json:
            print_json([facts(parser_class) for parser_class in known], indent=2)
        elif markdown:
            typer.echo(markdown_table(known))
        else:
            make_console().print(table(known))


@app.command()
def parse(
    name: given.Name,
    file: given.File = STDIN,
    tools: given.Tools = None,
    thinking: given.Thinking = None,
    reasoning: given.Reasoning = None,
    prompt: given.Prompt = None,
    prompt_file: given.PromptFile = None,
    kwarg: given.Kwarg = None,
    finish_reason: given.FinishReason = None,
    tokenizer: given.Tokenizer = None,
    chunk: given.Chunk = None,
    atomic: given.Atomic = False,
    keep_incomplete: Annotated[
        bool, typer.Option("--keep-incomplete", help="Keep the calls that were cut off.")
    ] = False,
    openai: Annotated[
        bool,
        typer.Option("--openai", help="In the shape of OpenAI's chat completions (deltas with --stream)."),
    ] = False,
    stream: Annotated[
        bool, typer.Option("--stream", help="Print the events, one a line, as the output comes.")
    ] = False,
    strict: Annotated[
        bool, typer.Option("--strict", help="Exit with 1 if a call is incomplete or text was discarded.")
    ] = False,
) -> None:
    """Parse a recorded output and print the message as JSON; of a .jsonl file, one message a line."""
    with user_errors():
        request = make_request(
            name,
            reasoning=reasoning,
            tools=tools,
            thinking=thinking,
            prompt=prompt,
            prompt_file=prompt_file,
            kwargs=kwarg or (),
            atomic=atomic,
            chunks=read_chunks(chunk),
            tokenizer=tokenizer,
            finish_reason=finish_reason,
        )
        flawed = False
        live = stream and file == STDIN and chunk is None and tokenizer is None
        for record in [Record("")] if live else read_outputs(file):
            pieces = map(Delta, arriving()) if live else request.deltas(record)
            events: list[Event] = []
            for _, found in request.run(request.parser(record), pieces, record):
                events += found
                if stream:
                    _print_events(found, record, openai=openai)
            if not stream:
                builder = MessageBuilder(keep_incomplete=keep_incomplete)
                builder.add(events)
                message = message_json(builder.build(), openai=openai)
                print_json(message, indent=2 if record.line is None else None)
            if strict:
                flawed = _report_flaws(events, file, record) or flawed
        if flawed:
            raise typer.Exit(1)


def _print_events(events: list[Event], record: Record, *, openai: bool) -> None:
    place = {} if record.line is None else {"line": record.line}
    for line in event_lines(events, openai=openai):
        print_json(place | line)


def _report_flaws(events: list[Event], file: str, record: Record) -> bool:
    """Names the flaws of an output; were there any?"""
    where = "standard input" if file == STDIN else file
    if record.line is not None:
        where += f":{record.line}"
    found = list(flaws(events))
    for flaw in found:
        say(f"{where}: {flaw}.")
    return bool(found)


@app.command()
def trace(
    name: given.Name,
    file: given.File = STDIN,
    tools: given.Tools = None,
    thinking: given.Thinking = None,
    reasoning: given.Reasoning = None,
    prompt: given.Prompt = None,
    prompt_file: given.PromptFile = None,
    kwarg: given.Kwarg = None,
    finish_reason: given.FinishReason = None,
    tokenizer: given.Tokenizer = None,
    chunk: given.Chunk = "1",
    atomic: given.Atomic = False,
) -> None:
    """Draw how an output is read: its parts by channel, then what each delta holds back and gives."""
    with user_errors():
        request = make_request(
            name,
            reasoning=reasoning,
            tools=tools,
            thinking=thinking,
            prompt=prompt,
            prompt_file=prompt_file,
            kwargs=kwarg or (),
            atomic=atomic,
            chunks=read_chunks(chunk),
            tokenizer=tokenizer,
            finish_reason=finish_reason,
        )
        console = make_console()
        for record in read_outputs(file):
            if record.line is not None:
                console.rule(f"{file}:{record.line}")
            console.print(draw(_steps(request, record)))


def _steps(request: Request, record: Record) -> list[tuple[Delta, list[Event]]]:
    return list(request.run(request.parser(record, trace=True), request.deltas(record), record))


@app.command()
def replay(
    arguments: Annotated[
        list[str],
        typer.Argument(
            metavar="FILE... [NAME]",
            help="Files of responses that a server recorded, or their directory; then perhaps the family "
            "to parse them with, in place of the recorded one.",
            show_default=False,
        ),
    ],
    tokenizer: given.Tokenizer = None,
    json: Annotated[bool, typer.Option("--json", help="As JSON, one response a line.")] = False,
) -> None:
    """Parse recorded responses again and show what differs; exit with 1 if anything does."""
    with user_errors():
        files, name = read_arguments(arguments)
        known = None if tokenizer is None else read_tokenizer(tokenizer)
        console = make_console()
        total = different = skipped = 0
        for response in replay_files(files, name, known):
            total += 1
            different += not response.same
            skipped += bool(response.skipped)
            if json:
                print_json(response.to_json())
            else:
                show(console, response)
        if not json:
            console.print(summary(total, different, skipped))
        if different:
            raise typer.Exit(1)

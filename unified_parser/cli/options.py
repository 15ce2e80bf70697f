"""The arguments and options that commands share."""

from __future__ import annotations

from typing import Annotated, TypeAlias

import typer

Name: TypeAlias = Annotated[str, typer.Argument(metavar="NAME", help="A family, by any of its names.")]
File: TypeAlias = Annotated[
    str,
    typer.Argument(
        metavar="FILE|-",
        help="A recorded output, or a .jsonl file of them: objects with the output under raw, text or "
        "output, and perhaps tools, thinking, chat_template_kwargs, prompt, finish_reason.",
        show_default=False,
    ),
]
Tools: TypeAlias = Annotated[
    str | None, typer.Option(metavar="FILE", help="The request's tools: a JSON list in OpenAI's format.")
]
Thinking: TypeAlias = Annotated[
    bool | None,
    typer.Option(
        "--thinking/--no-thinking", help="Whether thinking is switched on.", show_default="not said"
    ),
]
Reasoning: TypeAlias = Annotated[
    str | None, typer.Option(metavar="NAME", help="Another family, whose reasoning half is to be used.")
]
Prompt: TypeAlias = Annotated[
    str | None,
    typer.Option(metavar="TEXT", help="The end of the rendered prompt; it shows where the output starts."),
]
PromptFile: TypeAlias = Annotated[str | None, typer.Option(metavar="FILE", help="The same, in a file.")]
Kwarg: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(metavar="KEY=JSON", help="One of the request's chat_template_kwargs. May be repeated."),
]
Atomic: TypeAlias = Annotated[
    bool, typer.Option("--atomic", help="Hold each call back until it is complete.")
]
Tokenizer: TypeAlias = Annotated[
    str | None,
    typer.Option(
        metavar="PATH",
        help="A tokenizer.json, or a directory with one: token ids then tell markers from look-alikes.",
    ),
]
FinishReason: TypeAlias = Annotated[
    str | None, typer.Option(metavar="REASON", help="The server's finish reason: stop, length, ...")
]
Chunk: TypeAlias = Annotated[
    str | None,
    typer.Option(
        metavar="SIZE",
        help="Feed the output in deltas of this size: a number of tokens (characters without --tokenizer), "
        "char for single characters, random:SEED for a random size each.",
    ),
]

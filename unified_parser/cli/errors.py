"""What the user can mend: one message on the standard error, exit code 2."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import typer

from ..format import FormatError
from ..registry import UnknownFamilyError
from ..schema import ToolSchemaError


class UserError(Exception):
    """Something that the user gave and can mend. The text says what, where, and what to do."""


@contextmanager
def user_errors() -> Iterator[None]:
    """Turns the errors that a user can mend into a message and exit code 2."""
    try:
        yield
    except (UserError, UnknownFamilyError, ToolSchemaError, FormatError) as error:
        problem = str(error)
    except ImportError as error:  # of a family that another distribution brings
        problem = (
            f"a family's module cannot be loaded: {error}. Mend or uninstall the package that brings it."
        )
    else:
        return
    say(problem)
    raise typer.Exit(2)


def say(text: str) -> None:
    """A line on the standard error."""
    typer.echo(f"unified-parser: {text}", err=True)

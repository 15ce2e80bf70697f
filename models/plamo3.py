"""PLaMo 3 (Preferred Networks): each marker is three tokens, nothing stands between them."""

from unified_parser.calls.headered import HeaderedCall
from unified_parser.format import Content, Drop, Marker, OutputFormat, Reasoning, Start, Tools
from unified_parser.parser import UnifiedParser


def begin(name: str) -> str:
    """A begin tag."""
    return f"<|plamo:begin_{name}:plamo|>"


def end(name: str) -> str:
    """An end tag."""
    return f"<|plamo:end_{name}:plamo|>"


def opening(*spellings: str) -> Marker:
    """A marker that begins with the token of begin tags."""
    return Marker(spellings[0], spellings[1:], token="<|plamo:begin_")


def closing(*spellings: str) -> Marker:
    """A marker that begins with the token of end tags."""
    return Marker(spellings[0], spellings[1:], token="<|plamo:end_")


NAME_TO_ARGUMENTS = end("tool_name") + begin("tool_arguments")
CALL = HeaderedCall(
    begin=opening(begin("tool_request") + begin("tool_name")),
    arguments_begin=(
        closing(
            f"{NAME_TO_ARGUMENTS}<|plamo:constrain|>json<|plamo:msg|>",
            f"{NAME_TO_ARGUMENTS}<|plamo:msg|>",  # some clients show this shorter one
        ),
    ),
    closers=(closing(end("tool_arguments")), closing(end("tool_request"))),
)
END_OF_TURN = "<|plamo:tag|>"


class Plamo3Parser(UnifiedParser):
    """PLaMo 3."""

    names = ("plamo3",)
    models = ("pfnet/plamo-3-nict-*", "pfnet/plamo-3.0-prime*")
    traps = ("The template was not seen: without an opener, and thinking on, the output is reasoning.",)
    format = OutputFormat(
        reasoning=Reasoning(opening(begin("think")), closing(end("think")), reopens=True),
        tools=(
            Tools(open=opening(begin("tool_requests")), close=closing(end("tool_requests")), calls=(CALL,)),
        ),
        content=Content(drops=(Drop(Marker(END_OF_TURN), in_reasoning=True, ends_output=True),)),
        start=Start(boundaries=(END_OF_TURN,), toggles={"enable_thinking": (False,)}),
    )

"""MiniCPM (OpenBMB): 5 calls with attribute tags; V writes as Qwen3-Coder does, and spells some newlines."""

import re
from collections.abc import Mapping

from unified_parser.calls.tagged import Parameter, TaggedCall
from unified_parser.format import Content, Drop, Marker, OutputFormat, Tools, replace, text_marker
from unified_parser.parser import UnifiedParser

from .qwen3 import CHAT_ML, THINK, XML


def declared_or_json(types: tuple[str, ...], attributes: Mapping[str, str]) -> tuple[str, ...]:
    """A value that the schema does not declare is JSON if it reads as such."""
    return types or ("json", "string")


CALL = TaggedCall(
    begin=Marker("<function", before=("\n",)),
    name_end=(text_marker(">", "><arguments>", ">\n<arguments>"),),  # a wrapper that some outputs have
    name_attribute="name",
    parameter=Parameter(
        open=Marker("<param"),
        key_end=text_marker(">"),
        key_attribute="name",
        raw=(text_marker("<![CDATA["), text_marker("]]>")),
        close=Marker("</param>"),
        typing=declared_or_json,
        recovery=(Marker("<param name=", token="<param"),),
    ),
    end=Marker("</function>", ("</arguments></function>", "</arguments>\n</function>"), token="</function>"),
    unwrap=("properties", "arguments"),
)


#: What opens a span of code or mathematics, in which nothing is changed, and what closes it.
SPANS = {"```": "```", "`": "`", "$$": "$$", "$": "$", r"\(": r"\)", r"\[": r"\]"}


def _searches(wanted: str, *unsure: str) -> tuple[re.Pattern[str], re.Pattern[str]]:
    """The search where an unsure end may still grow into what is wanted, and that where the text is over."""
    return re.compile(rf"(?P<wait>{'|'.join(unsure) or '(?!)'})\Z|{wanted}"), re.compile(wanted)


def _search_close(closer: str) -> tuple[re.Pattern[str], re.Pattern[str]]:
    prefixes = (re.escape(closer[:length]) for length in range(1, len(closer)))
    return _searches(f"(?P<close>{re.escape(closer)})", *prefixes)


#: By the closer of the span that is open. An escaped backslash escapes nothing else.
_SEARCHES = {closer: _search_close(closer) for closer in SPANS.values()} | {
    "": _searches(
        rf"\\\\|(?P<newline>\\r\\n|\\[nr])|(?P<open>{'|'.join(map(re.escape, SPANS))})",
        *(r"\\(?:r\\?)?", "`{1,2}", r"\$"),
    )
}


class NewlineRecovery:
    """Makes newlines of those that the tokenizer spells with a backslash, outside of code and mathematics."""

    def __init__(self) -> None:
        self._closer = ""  # of the span that is open
        self._held = ""

    def __call__(self, text: str, is_last: bool) -> str:
        text = self._held + text
        self._held = ""
        out: list[str] = []
        done = 0
        while True:
            match = _SEARCHES[self._closer][is_last].search(text, done)
            if match is None:
                return "".join([*out, text[done:]])
            out.append(text[done : match.start()])
            done = match.end()
            match match.lastgroup:
                case "wait":
                    self._held = match[0]
                    return "".join(out)
                case "newline":
                    out.append("\n")
                    continue
                case "open":
                    self._closer = SPANS[match[0]]
                case "close":
                    self._closer = ""
            out.append(match[0])


#: Marks that are never shown, as tokens and spelled as text; and the end of the turn, if it was left in.
RESERVED = tuple(
    marker
    for number in range(12, 16)
    for marker in (Marker(f"<|reserved_{number}|>"), text_marker(f"<reserved_{number}>"))
)
SHOWN = Content(
    drops=(
        *(Drop(marker, in_reasoning=True) for marker in RESERVED),
        Drop(Marker("<|im_end|>"), ends_reasoning=True, ends_output=True),
    )
)


class MiniCPM5Parser(UnifiedParser):
    """MiniCPM5."""

    names = ("minicpm5",)
    models = ("openbmb/MiniCPM5-*",)
    traps = ("Values are taken as written: entities such as `&lt;` are not decoded.",)
    format = OutputFormat(reasoning=THINK, tools=(Tools(calls=(CALL,)),), start=CHAT_ML)


class MiniCPMVParser(UnifiedParser):
    """MiniCPM-V 4.5 and later. What it thinks although thinking is off, is no content either."""

    names = ("minicpmv",)
    models = ("openbmb/MiniCPM-V-4.5*", "openbmb/MiniCPM-V-4_5*", "openbmb/MiniCPM-V-4.6*")
    traps = (
        "Backslash and `n` in a text become a newline, but not in code or mathematics, nor in arguments.",
        "The template of 4.5 has thinking off by default, later ones on: the prompt decides.",
    )
    format = replace(
        XML,
        reasoning=replace(THINK, reopens=True, off_text=False),
        content=SHOWN,
        tools=(replace(XML.tools[0], open=Marker("<tool_call>", before=("\n",))),),
        text_filter=NewlineRecovery,
    )

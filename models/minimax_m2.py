"""MiniMax M2: attribute tags in a block; the prompt always opens the thinking."""

from collections.abc import Sequence
from functools import cached_property

from unified_parser.calls.tagged import Parameter, TaggedCall
from unified_parser.format import Content, Marker, OutputFormat, Reasoning, Start, Tools, replace, text_marker
from unified_parser.parser import UnifiedParser

INVOKE = TaggedCall(
    begin=text_marker("<invoke"),
    name_end=(text_marker(">"),),
    name_attribute="name",
    parameter=Parameter(
        open=text_marker("<parameter"),
        key_end=text_marker(">"),
        key_attribute="name",
        close=text_marker("</parameter>"),
        recovery=(text_marker("<parameter name=", "\n<parameter name="),),
    ),
    end=text_marker("</invoke>"),
)
THINK = Reasoning(
    Marker("<think>", after=("\n",)),
    Marker("</think>", before=("\n",), after=("\n\n",)),
)
M2 = OutputFormat(
    reasoning=THINK,
    tools=(
        Tools(
            open=Marker("<minimax:tool_call>", before=("\n",)),
            close=Marker("</minimax:tool_call>"),
            calls=(INVOKE,),
            bare=True,
        ),
    ),
    start=Start(boundaries=("]~b]", "[e~[")),
)


class MiniMaxM2Parser(UnifiedParser):
    """MiniMax M2 to M2.7."""

    names = ("minimax_m2", "minimax-m2", "minimax")
    models = ("MiniMaxAI/MiniMax-M2", "MiniMaxAI/MiniMax-M2.*")
    traps = ("The stock template always opens the thinking; `enable_thinking` does nothing.",)
    format = M2


class MiniMaxM2AppendThinkParser(UnifiedParser):
    """MiniMax M2 with its thinking left in the content, the prompt's opener put back before it."""

    names = ("minimax_m2_append_think", "minimax-append-think")
    models = MiniMaxM2Parser.models
    traps = (
        "There is no reasoning: thoughts and their tags are content, structured output waits for `</think>`.",
        "A block that is quoted in the thinking is a call.",
    )
    format = replace(M2, reasoning=None, content=Content(lead=THINK.open.text))

    @cached_property
    def _thinking(self) -> MiniMaxM2Parser:
        """Tells where thinking ends: what is constrained begins behind it, shown or not."""
        return MiniMaxM2Parser(tokenizer=self.tokenizer)

    def is_reasoning_end(self, ids: Sequence[int]) -> bool:
        return self._thinking.is_reasoning_end(ids)

    def is_reasoning_end_streaming(self, ids: Sequence[int], delta_ids: Sequence[int]) -> bool:
        return self._thinking.is_reasoning_end_streaming(ids, delta_ids)

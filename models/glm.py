"""GLM (Z.ai): a call is a name and key/value pairs; 4.5 frames all with newlines, 4.7 nothing."""

from unified_parser.calls.tagged import Parameter, TaggedCall
from unified_parser.format import (
    THINKING_TOGGLES,
    Marker,
    OutputFormat,
    Reasoning,
    Start,
    Tools,
    replace,
    text_marker,
)
from unified_parser.parser import UnifiedParser


def pairs(suffix: str = "") -> TaggedCall:
    """A name, then ``arg_key`` / ``arg_value`` pairs; the call ends with its block."""
    return TaggedCall(
        name_end=(text_marker("\n"),),
        name_is_closed=False,
        parameter=Parameter(
            open=Marker(f"<arg_key{suffix}>"),
            key_end=Marker(f"</arg_key{suffix}>"),
            value_begin=Marker(f"<arg_value{suffix}>"),
            close=Marker(f"</arg_value{suffix}>"),
        ),
    )


GLM47 = OutputFormat(
    reasoning=Reasoning(Marker("<think>"), Marker("</think>"), reopens=True),
    tools=(Tools(open=Marker("<tool_call>"), close=Marker("</tool_call>"), calls=(pairs(),)),),
    start=Start(
        boundaries=("<|system|>", "<|user|>", "<|assistant|>", "<|observation|>"),
        toggles=THINKING_TOGGLES,
    ),
)
GLM45 = replace(
    GLM47,
    reasoning=Reasoning(
        Marker("<think>", before=("\n",)),
        Marker("</think>", after=("\n",)),
        reopens=True,
    ),
    tools=(replace(GLM47.tools[0], open=Marker("<tool_call>", before=("\n",))),),
    start=replace(GLM47.start, undecided="content", off_frames=("\n",)),
)

REOPENS_TRAP = "`<think>` in the content opens reasoning again, a quoted one too if no ids tell."


class Glm45Parser(UnifiedParser):
    """GLM-4.5 and 4.6."""

    names = ("glm45", "glm")
    models = ("zai-org/GLM-4.5", "zai-org/GLM-4.5-Air", "zai-org/GLM-4.6")
    traps = (
        "A prompt with thinking on shows no opener: an answer that does not begin with one is content.",
        REOPENS_TRAP,
    )
    format = GLM45


class Glm47Parser(UnifiedParser):
    """GLM-4.7, GLM-5 and later."""

    names = ("glm47",)
    models = ("zai-org/GLM-4.7", "zai-org/GLM-5*")
    traps = (
        "GLM-5.3 has no switch and always thinks: give the prompt, which shows it.",
        REOPENS_TRAP,
    )
    format = GLM47

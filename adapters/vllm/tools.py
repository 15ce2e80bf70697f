"""The tool half of vLLM's two-parser composition."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from vllm.entrypoints.generate.base.protocol import DeltaMessage, ExtractedToolCallInformation
from vllm.parser.engine.adapters import ParserEngineToolAdapter
from vllm.tool_parsers.abstract_tool_parser import ToolParser

from unified_parser.parser import UnifiedParser
from unified_parser.structural_tag import covers_reasoning
from unified_parser.variants import without_reasoning

from .deltas import delta_message, extracted_calls
from .forced_json import ForcedCalls, forced_calls
from .requests import build_parser, forced_tool, keep_special_tokens
from .structural_tags import constrain_from_start, is_constrained_from_start, request_tag


class ToolAdapter(ParserEngineToolAdapter):
    """A family's parser as a vLLM tool parser; a subclass names the family's ``parser_class``.

    It starts in content, behind the reasoning that the other half has taken off, and still recognises
    reasoning that comes later. It subclasses vLLM's engine adapter because only such a class is given the
    request's ``chat_template_kwargs``; it has no engine.

    ``tool_choice`` "required", a named function, strict tools: vLLM asks for a structural tag, which is made
    from the format (``structural_tags``). Where a format has none, vLLM's JSON schema is installed as the
    grammar of a required or named call, and the JSON that comes of it is read here (``forced_json``): vLLM's
    own reader (``supports_required_and_named``) fails with an engine-based pair.
    """

    parser_class: ClassVar[type[UnifiedParser]]
    engine_based_streaming = True
    supports_required_and_named = False
    structural_tag_model = "unified_parser"  # vLLM asks only where there is a name; it is looked up nowhere

    def __init__(
        self,
        tokenizer: Any,
        tools: list[Any] | None = None,
        *,
        model_config: Any = None,
        chat_template_kwargs: Mapping[str, Any] | None = None,
        **_: Any,
    ) -> None:
        ToolParser.__init__(self, tokenizer, tools)
        self._offered = tools
        self._model_config = model_config
        self._template_kwargs = chat_template_kwargs
        self._skip_reasoning = False
        self._stream: UnifiedParser | ForcedCalls | None = None
        self._reasoning_held = ""
        self._covers_reasoning = False
        parser = build_parser(self.parser_class, tokenizer)  # the format may depend on the tokenizer
        self._form = parser.format_in_use
        self._needs_special_tokens = parser.needs_special_tokens

    @property
    def skip_reasoning_parsing(self) -> bool:
        """Whether reasoning markup is plain content: vLLM sets it where no reasoning parser is configured."""
        return self._skip_reasoning

    @skip_reasoning_parsing.setter
    def skip_reasoning_parsing(self, value: bool) -> None:
        self._skip_reasoning = value

    def _new_parser(self, request: Any) -> UnifiedParser | ForcedCalls:
        """What reads the output of this request: the family's parser, or the reader of forced JSON."""
        kwargs = self._template_kwargs
        if kwargs is None:  # vLLM 0.30 gives a tool parser none
            kwargs = getattr(request, "chat_template_kwargs", None)
        native = build_parser(
            without_reasoning(self.parser_class) if self._skip_reasoning else self.parser_class,
            self.model_tokenizer,
            self._offered or getattr(request, "tools", None),
            chat_template_kwargs=kwargs or {},
            phase="answer",
        )
        return forced_calls(request, native, self._model_config) or native

    def get_structural_tag(self, request: Any, *, reasoning: bool = False, strict_level: Any = None) -> Any:
        """The grammar of the request's calls. ``reasoning`` is vLLM's own and always False."""
        tag = request_tag(self._form, request, strict_level)
        self._covers_reasoning = tag is not None and covers_reasoning(self._form)
        return tag

    def adjust_request(self, request: Any) -> Any:
        if self._covers_reasoning:
            constrain_from_start(request)
        if forced_tool(request)[0] and not is_constrained_from_start(self._form):
            # A plain tool parser installs the schema; this class's own base would not, or only in 0.30.
            request = ToolParser(self.model_tokenizer, self._offered).adjust_request(request)
        return keep_special_tokens(request) if self._needs_special_tokens else request

    def extract_tool_calls(self, model_output: str, request: Any) -> ExtractedToolCallInformation:
        return extracted_calls(self._new_parser(request).parse(model_output))

    def extract_tool_calls_streaming(
        self,
        previous_text: str,
        current_text: str,
        delta_text: str,
        previous_token_ids: Sequence[int],
        current_token_ids: Sequence[int],
        delta_token_ids: Sequence[int],
        request: Any,
    ) -> DeltaMessage | None:
        first = self._stream is None
        if self._stream is None:
            self._stream = self._new_parser(request)
        message = delta_message(self._stream.feed(delta_text, delta_token_ids))
        return self._hold_reasoning(message) if first else self._with_held_reasoning(message)

    def _hold_reasoning(self, message: DeltaMessage | None) -> DeltaMessage | None:
        """Keeps the first step's reasoning for the next: vLLM would put it in place of the other half's."""
        if message is None or not message.reasoning:
            return message
        self._reasoning_held = message.reasoning
        said = {"content": message.content, "tool_calls": message.tool_calls}
        said = {name: value for name, value in said.items() if value}
        return DeltaMessage(**said) if said else None

    def _with_held_reasoning(self, message: DeltaMessage | None) -> DeltaMessage | None:
        if self._reasoning_held:
            message = message or DeltaMessage()
            message.reasoning = self._reasoning_held + (message.reasoning or "")
            self._reasoning_held = ""
        return message

    def finish_streaming(self) -> DeltaMessage | None:
        events = [] if self._stream is None else self._stream.finish()
        return self._with_held_reasoning(delta_message(events))

    def get_remaining_unstreamed_args(self) -> str:
        """Nothing: a step's arguments are always sent with that step."""
        return ""

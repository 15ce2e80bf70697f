"""Llama 3 and 4 (Meta) in JSON mode: calls are JSON objects standing in the text."""

from unified_parser.calls.json_calls import JsonObject
from unified_parser.format import Marker, OutputFormat, Reasoning, Start, Tools, text_marker
from unified_parser.parser import UnifiedParser

TURNS = ("<|start_header_id|>", "<|eot_id|>", "<|eom_id|>", "<|header_start|>", "<|eot|>", "<|eom|>")
CALL = JsonObject(
    begin=text_marker("{", before=("; ", ";", " ; ", ";\n")),
    arguments=("parameters", "arguments"),
    only=("type", "name", "id"),
    needs_arguments=True,
)


class LlamaJsonParser(UnifiedParser):
    """Llama 3.1 to 3.3 and Llama 4 Instruct; thinking only in distilled models, with bare tags."""

    names = ("llama3_json", "llama4_json", "llama3")
    models = ("meta-llama/Llama-3.*-Instruct", "meta-llama/Llama-4-*-Instruct")
    traps = (
        "A JSON object of `name` and `parameters` is a call wherever it stands, asked for or not.",
        "A `{` in the answer is held back until the object's keys show whether it is a call.",
    )
    format = OutputFormat(
        reasoning=Reasoning(Marker("<think>", after=("\n",)), Marker("</think>")),
        tools=(Tools(open=Marker("<|python_tag|>"), calls=(CALL,), bare=True, in_reasoning="text"),),
        start=Start(boundaries=TURNS, undecided="content"),
    )

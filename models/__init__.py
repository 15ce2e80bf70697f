"""The model families: one module each, its output format as data.

``FAMILIES`` is the index by name, so that a module is imported only when its family is wanted.
"""

FAMILIES: dict[str, str] = {
    name: f"unified_parser.models.{target}"
    for target, names in {
        "cohere_command:CohereCommand3Parser": ("cohere_command3",),
        "cohere_command:CohereCommand4Parser": ("cohere_command4",),
        "deepseek:DeepSeekR1Parser": ("deepseek_r1",),
        "deepseek:DeepSeekV31Parser": ("deepseek_v31",),
        "deepseek:DeepSeekV32Parser": ("deepseek_v32",),
        "deepseek:DeepSeekV3Parser": ("deepseek_v3",),
        "deepseek:DeepSeekV41Parser": ("deepseek_v41",),
        "deepseek:DeepSeekV4Parser": ("deepseek_v4",),
        "deepseek:Holo2Parser": ("holo2",),
        "functiongemma:FunctionGemmaParser": ("functiongemma",),
        "gemma4:Gemma4Parser": ("gemma4",),
        "glm:Glm45Parser": ("glm45",),
        "glm:Glm47Parser": ("glm47",),
        "granite:Granite3Parser": ("granite",),
        "granite:Granite4Parser": ("granite4",),
        "granite:GraniteFunctionCallingParser": ("granite-20b-fc",),
        "granite:GraniteThinkingParser": ("granite_thinking_parser",),
        "harmony:HarmonyParser": ("openai_gptoss", "openai", "gpt_oss"),
        "hunyuan:HunyuanA13BParser": ("hunyuan_a13b",),
        "hunyuan:Hy3Parser": ("hy_v3",),
        "hunyuan:Hy4Parser": ("hy_v4",),
        "iquest:IQuestParser": ("iquest_q1",),
        "kimi_k2:KimiK2Parser": ("kimi_k2",),
        "ling3:Ling3Parser": ("ling3",),
        "llama3_json:LlamaJsonParser": ("llama3_json", "llama4_json"),
        "longcat:LongCatParser": ("longcat",),
        "mimo:MiMoParser": ("mimo",),
        "mistral:MistralParser": ("mistral",),
        "nemotron:NemotronV3Parser": ("nemotron_v3", "nemotron_3"),
        "poolside:PoolsideParser": ("poolside_v1",),
        "pythonic:Llama4PythonicParser": ("llama4_pythonic",),
        "pythonic:PythonicParser": ("pythonic",),
        "qwen3:HermesParser": ("hermes",),
        "qwen3:Qwen3JsonParser": ("qwen3_json",),
        "qwen3:Qwen3Parser": ("qwen3", "qwen3_coder", "qwen3_xml"),
        "seed_oss:SeedOssParser": ("seed_oss",),
        "spark:Spark25Parser": ("spark25",),
        "step3:Step35Parser": ("step3p5",),
        "step3:Step3Parser": ("step3",),
        "step3:Step5Parser": ("step5",),
    }.items()
    for name in names
}

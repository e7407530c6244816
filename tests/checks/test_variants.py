"""Invented answers of every kind of failure, each refuted by the check that names it, and right answers beside them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import pytest

from seatrial.checks import judge_row
from seatrial.verdicts import Verdict


def tool(name: str, properties: dict[str, Any], *required: str, **schema: Any) -> dict[str, Any]:
    parameters = {"type": "object", "properties": properties, "required": list(required), **schema}
    return {"type": "function", "function": {"name": name, "parameters": parameters}}


TEXT, WHOLE = {"type": "string"}, {"type": "integer"}
WEATHER = tool("get_weather", {"city": TEXT, "unit": {"type": "string", "enum": ["c", "f"]}, "days": WHOLE}, "city")
SHELL = tool("run_shell", {"command": TEXT, "description": TEXT}, "command")
WRITE = tool("write_file", {"path": TEXT, "content": TEXT}, "path", "content")
READ = tool("read_file", {"path": TEXT, "start_line": WHOLE}, "path")
BOOK = tool("book_room", {"room": TEXT, "date": TEXT, "seats": WHOLE}, "room", "date")
TAG = tool("tag_items", {"ids": {"type": "array", "items": WHOLE}, "note": TEXT}, "ids")
ROOMS = tool("list_rooms", {})
ROLL = tool("roll_die", {})
SEARCH = tool(
    "search",
    {
        "query": TEXT,
        "filters": {
            "type": "object",
            "properties": {"tags": {"type": "array", "items": TEXT}, "open": {"type": "boolean"}},
        },
        "limit": {"type": "number"},
    },
    "query",
)
TOOLS = [WEATHER, SHELL, WRITE, READ, BOOK, TAG, ROOMS, ROLL, SEARCH]

TURKU = "Weather in Turku for three days?"
FORECAST = '{"city": "Turku", "days": 3}'


def call(name: str | None, arguments: Any, identity: str | None = "call_a1") -> dict[str, Any]:
    text = arguments if isinstance(arguments, str) else json.dumps(arguments)
    return {"id": identity, "type": "function", "function": {"name": name, "arguments": text}}


def row(
    prompt: str,
    *calls: dict[str, Any],
    content: Any = None,
    reasoning: Any = None,
    finish: str | None = None,
    choice: Any = "auto",
    tools: Sequence[dict[str, Any]] = TOOLS,
    usage: Any = (310, 60, 370),
    expected: Any = None,
    **request: Any,
) -> dict[str, Any]:
    message = {
        "role": "assistant",
        "content": content,
        "reasoning_content": reasoning,
        "tool_calls": list(calls) or None,
    }
    made: dict[str, Any] = {
        "id": "x",
        "request": {"user": prompt, "tools": list(tools), "tool_choice": choice, "stream": False, **request},
        "response": {
            "object": "chat.completion",
            "choices": [
                {"index": 0, "message": message, "finish_reason": finish or ("tool_calls" if calls else "stop")}
            ],
        },
    }
    if usage is not None:
        keys = ("prompt_tokens", "completion_tokens", "total_tokens")
        made["response"]["usage"] = dict(zip(keys, usage, strict=True)) if isinstance(usage, tuple) else usage
    if expected is not None:
        made["expected_arguments"] = expected
    return made


def part(index: Any = 0, *, name: Any = None, arguments: Any = None, identity: Any = None) -> dict[str, Any]:
    return {"tool_calls": [{"index": index, "id": identity, "function": {"name": name, "arguments": arguments}}]}


def stream(
    prompt: str, *deltas: dict[str, Any], finish: str | None = "tool_calls", done: bool = True, **keys: Any
) -> Any:
    choices = [{"index": 0, "delta": delta, "finish_reason": None} for delta in ({"role": "assistant"}, *deltas)]
    if finish is not None:
        choices.append({"index": 0, "delta": {}, "finish_reason": finish})
    lines = [f"data: {json.dumps({'choices': [choice]})}" for choice in choices]
    request = {"user": prompt, "tools": TOOLS, "tool_choice": "auto", "stream": True, **keys.pop("request", {})}
    return {"id": "x", "request": request, "sse": [*lines, *(["data: [DONE]"] if done else [])], **keys}


def error(message: str, code: int | None = 400, **request: Any) -> dict[str, Any]:
    body = {"object": "error", "message": message, "type": "BadRequestError", "param": None, "code": code}
    return {"id": "x", "request": {"user": "(turn 2)", "tools": TOOLS, **request}, "response": body}


def loop(text: str, times: int = 300) -> str:
    return text * times


OPEN = part(identity="call_a1", name="get_weather", arguments="")

WRONG: list[tuple[str, dict[str, Any]]] = [
    # --- calls that are due and do not come
    ("call_made", row(TURKU, content="It is cold there.", choice="required")),
    ("call_made", row(TURKU, content="It is cold.", choice={"type": "function", "function": {"name": "get_weather"}})),
    ("call_made", row(TURKU, content="Three degrees.", expected={"city": "Turku"})),
    ("call_made", row(TURKU, content="", reasoning="I should call it.", choice="required")),
    ("call_made", row(TURKU, content="I'll call get_weather for Turku now.")),
    ("call_made", stream(TURKU, {"content": "It is cold."}, finish="stop", request={"tool_choice": "required"})),
    # --- calls that must not come
    ("call_withheld", row("Hello!", call("get_weather", FORECAST), choice="none")),
    ("call_withheld", row("Hello!", call("get_weather", FORECAST), tools=[])),
    ("call_withheld", row("Hello!", call("list_rooms", "{}"), expected=[])),
    (
        "call_count_allowed",
        row(
            "Weather in Turku and Oulu?",
            call("get_weather", {"city": "Turku"}),
            call("get_weather", {"city": "Oulu"}, "b"),
            parallel_tool_calls=False,
        ),
    ),
    # --- names
    ("call_names_known", row(TURKU, call("getWeather", FORECAST))),
    ("call_names_known", row(TURKU, call("", FORECAST))),
    ("call_names_known", row(TURKU, call(None, FORECAST))),
    ("call_names_known", row(TURKU, call("functions.get_weather", FORECAST))),
    ("call_names_known", row(TURKU, call("get_weatherget_weather", FORECAST))),
    ("call_names_known", row(TURKU, call("get_weather ", FORECAST))),
    ("call_names_known", row(TURKU, call('get_weather(city="Turku")', ""))),
    ("call_names_known", row(TURKU, call("get_weather<|channel|>commentary", FORECAST))),
    (
        "call_names_known",
        row(
            TURKU, call("run_shell", {"command": "x"}), choice={"type": "function", "function": {"name": "get_weather"}}
        ),
    ),
    # --- ids
    ("call_ids_unique", row(TURKU, call("get_weather", FORECAST, None))),
    ("call_ids_unique", row(TURKU, call("get_weather", FORECAST, ""))),
    (
        "call_ids_unique",
        row("Turku and Oulu?", call("get_weather", {"city": "Turku"}), call("get_weather", {"city": "Oulu"})),
    ),
    ("call_ids_unique", stream("Turku?", part(name="get_weather", arguments='{"city": "Turku"}'))),
    # --- repetition
    ("calls_differ", row(TURKU, *(call("get_weather", FORECAST, f"c{i}") for i in range(12)))),
    (
        "calls_differ",
        row(TURKU, call("get_weather", FORECAST, "a"), call("get_weather", '{"days":3,"city":"Turku"}', "b")),
    ),
    ("calls_differ", row("Which rooms exist?", *(call("list_rooms", "{}", f"c{i}") for i in range(40)))),
    # --- arguments that do not parse
    ("arguments_parse", row(TURKU, call("get_weather", ""))),
    ("arguments_parse", row("Which rooms exist?", call("list_rooms", ""))),
    ("arguments_parse", row(TURKU, call("get_weather", '{"city": "Turk'))),
    ("arguments_parse", row(TURKU, call("get_weather", '{"city": "Turk'), finish="length")),
    ("arguments_parse", row(TURKU, call("get_weather", '{"city": "Turku"}{"city": "Turku"}'))),
    ("arguments_parse", row(TURKU, call("get_weather", '{"city": "Turku"}}'))),
    ("arguments_parse", row(TURKU, call("get_weather", '{"city": "Turku"}</tool_call>'))),
    ("arguments_parse", row(TURKU, call("get_weather", "{'city': 'Turku', 'days': 3}"))),
    ("arguments_parse", row(TURKU, call("get_weather", '{"city": "Turku", "days": 3,}'))),
    ("arguments_parse", row(TURKU, call("get_weather", json.dumps(FORECAST)))),
    ("arguments_parse", row(TURKU, call("get_weather", "null"))),
    ("arguments_parse", row(TURKU, call("get_weather", '["Turku", 3]'))),
    ("arguments_parse", row(TURKU, call("get_weather", '{"city": "Turku", "days": NaN}'))),
    ("arguments_parse", row(TURKU, call("get_weather", 'city="Turku"'))),
    ("arguments_parse", row(TURKU, call("get_weather", "```json\n" + FORECAST + "\n```"))),
    ("arguments_parse", row("Write a.py", call("write_file", '{"path": "a.py", "content": "a\nb"}'))),
    ("arguments_parse", row("Write a.py", call("write_file", '{"path": "a.py", "content": "re.compile("\\d")"}'))),
    ("arguments_parse", row(TURKU, call("get_weather", '{"city":' + "\t" * 900 + '"Turku"}'))),
    ("arguments_parse", row(TURKU, call("get_weather", '{"a":' * 90000))),
    ("arguments_parse", row(TURKU, call("get_weather", "[" * 500 + "]" * 500))),
    ("arguments_parse", stream(TURKU, OPEN, part(arguments='{"city"'), part(arguments='{"city": "Turku"}'))),
    ("arguments_parse", stream(TURKU, OPEN)),
    (
        "answer_well_formed",
        row(TURKU, {**call("get_weather", ""), "function": {"name": "get_weather", "arguments": {"city": "Turku"}}}),
    ),
    ("answer_well_formed", row(TURKU, content=["It", "is"])),
    # --- arguments that do not match the schema
    ("arguments_match_schema", row("Run echo hi", call("run_shell", "{}"))),
    (
        "arguments_match_schema",
        row("Book K2 for 6 on 2031-01-15.", call("book_room", {"room": "K2", "date": "2031-01-15", "seats": "6"})),
    ),
    ("arguments_match_schema", row("Tag 4 and 8.", call("tag_items", {"ids": "[4, 8]"}))),
    ("arguments_match_schema", row("Tag 4 and 8.", call("tag_items", {"ids": ["4", "8"]}))),
    ("arguments_match_schema", row(TURKU, call("get_weather", {"city": "Turku", "unit": "celsius"}))),
    ("arguments_match_schema", row(TURKU, call("get_weather", {"city": None}))),
    ("arguments_match_schema", row("Find bugs", call("search", {"query": "bugs", "filters": '{"open": true}'}))),
    ("arguments_match_schema", row("Find bugs", call("search", {"query": "bugs", "filters": {"open": "True"}}))),
    ("arguments_match_schema", row("Find bugs", call("search", {"query": "bugs", "filters": {"tags": "a, b"}}))),
    ("arguments_match_schema", row("Read 3.10", call("read_file", {"path": 3.1}))),
    ("arguments_declared", row(TURKU, call("get_weather", {"city": "Turku", "town": "Turku"}))),
    ("arguments_declared", row("Which rooms exist?", call("list_rooms", {"kwargs": "{}"}))),
    ("arguments_declared", row("Run echo hi", call("run_shell", {"command": "echo hi", "parameter=description": "x"}))),
    # --- arguments that are not what was expected
    ("arguments_as_expected", row("Tag 4, 8.", call("tag_items", {"ids": [4]}), expected={"ids": [4, 8]})),
    ("arguments_as_expected", row("Tag 4, 8.", call("tag_items", {"ids": [8, 4]}), expected={"ids": [4, 8]})),
    (
        "arguments_as_expected",
        row(TURKU, call("get_weather", {"city": "turku", "days": 3}), expected={"city": "Turku"}),
    ),
    (
        "arguments_as_expected",
        row(TURKU, call("get_weather", {"city": "Turku"}), expected={"city": "Turku", "days": 3}),
    ),
    ("arguments_as_expected", row("Find", call("search", {"query": "a", "limit": True}), expected={"limit": 1})),
    (
        "arguments_as_expected",
        row("Turku and Oulu?", call("get_weather", {"city": "Turku"}), expected=[{"city": "Turku"}, {"city": "Oulu"}]),
    ),
    (
        "arguments_as_expected",
        row(
            "Turku?",
            call("get_weather", {"city": "Turku"}),
            expected=[{"name": "read_file", "arguments": {"path": "a"}}],
        ),
    ),
    # --- arguments that are not what the prompt dictates
    ("arguments_as_dictated", row(TURKU, call("get_weather", {"city": "Turk", "days": 3}))),
    ("arguments_as_dictated", row("Weather in Tampere?", call("get_weather", {"city": "Tampeer"}))),
    ("arguments_as_dictated", row("What is the weather in Rovaniemi?", call("get_weather", {"city": "rovaniemi"}))),
    ("arguments_as_dictated", row("Weather for Jyväskylä today?", call("get_weather", {"city": "JyvÃ¤skylÃ¤"}))),
    (
        "arguments_as_dictated",
        row("Weather for Jyväskylä today?", call("get_weather", {"city": "Jyv\\u00e4skyl\\u00e4"})),
    ),
    ("arguments_as_dictated", row(TURKU, call("get_weather", {"city": "\nTurku\n", "days": 3}))),
    ("arguments_as_dictated", row(TURKU, call("get_weather", {"city": '"Turku"', "days": 3}))),
    ("arguments_as_dictated", row(TURKU, call("get_weather", {"city": "Turku", "days": 7}))),
    ("arguments_as_dictated", row("Tag items 4, 8, 15 and 16.", call("tag_items", {"ids": [4], "note": "8, 15, 16]"}))),
    ("arguments_as_dictated", row("Tag items 1, 2 and 3.", call("tag_items", {"ids": [1, 3]}))),
    (
        "arguments_as_dictated",
        row("Count files with: awk '$1 < 10' sizes.txt | wc -l", call("run_shell", {"command": "awk '$1 "})),
    ),
    (
        "arguments_as_dictated",
        row(
            "Count files with: awk '$1 < 10' sizes.txt | wc -l",
            call("run_shell", {"command": "awk '$1 &lt; 10' sizes.txt | wc -l"}),
        ),
    ),
    (
        "arguments_as_dictated",
        row("Run `git log --format='%h' -n 3` please.", call("run_shell", {"command": "git log --format="})),
    ),
    (
        "arguments_as_dictated",
        row('Run this command: echo "a > b" | tee out.txt', call("run_shell", {"command": 'echo "a'})),
    ),
    (
        "arguments_as_dictated",
        row(
            "Write doc.md with the line: Close each value with </parameter> and a newline.",
            call("write_file", {"path": "doc.md", "content": "Close each value with "}),
        ),
    ),
    (
        "arguments_as_dictated",
        row(
            "Write doc.md with the line: Close each value with </parameter> and a newline.",
            call("write_file", {"path": "doc.md", "content": "Close each value with"}),
        ),
    ),
    (
        "arguments_as_dictated",
        row(
            "Write retry.py with exactly these three lines: import time / import random / print('ok')",
            call("write_file", {"path": "retry.py", "content": "import time"}),
        ),
    ),
    (
        "arguments_as_dictated",
        row(
            "Write retry.py with exactly these three lines: import time / import random / print('ok')",
            call("write_file", {"path": "retry.py", "content": "import time\\nimport random\\nprint('ok')"}),
        ),
    ),
    (
        "arguments_as_dictated",
        row("Write n.txt with these two lines: alpha / beta", call("write_file", {"path": "n.txt", "content": "beta"})),
    ),
    (
        "arguments_as_dictated",
        row(
            "Write n.txt with these 3 lines:\none\n  two\nthree",
            call("write_file", {"path": "n.txt", "content": "one\ntwo\nthree"}),
        ),
    ),
    (
        "arguments_as_dictated",
        row("Write n.txt with these 3 lines:\none\n  two\nthree", call("write_file", {"path": "n.txt", "content": ""})),
    ),
    ("arguments_as_dictated", row("Read config.yaml", call("read_file", {"path": "config.ya"}))),
    # --- calls as text in the content
    *(
        ("no_markup_in_content", row(TURKU, content=text))
        for text in (
            '<tool_call>\n{"name": "get_weather", "arguments": {"city": "Turku"}}\n</tool_call>',
            "<tool_call>\n<function=get_weather>\n<parameter=city>\nTurku\n</parameter>\n</function>\n</tool_call>",
            "I'll look.\n\n<function=get_weather>\n<parameter=city>Turku</parameter>",
            '<|python_tag|>{"name": "get_weather", "parameters": {"city": "Turku"}}',
            '{"name": "get_weather", "parameters": {"city": "Turku"}}',
            '{"type": "function", "function": "get_weather", "parameters": {"city": "Turku"}}',
            '```json\n{"name": "get_weather", "arguments": {"city": "Turku"}}\n```',
            '[TOOL_CALLS][{"name": "get_weather", "arguments": {"city": "Turku"}}]',
            '[TOOL_CALLS]get_weather[ARGS]{"city": "Turku"}',
            '<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>get_weather\n```json\n{"city": "Turku"}\n```<｜tool▁call▁end｜>',
            '<｜DSML｜function_calls>\n<｜DSML｜invoke name="get_weather">\n</｜DSML｜invoke>',
            '<minimax:tool_call>\n<invoke name="get_weather">\n<parameter name="city">Turku</parameter>\n</invoke>\n</minimax:tool_call>',
            "<tool_call>get_weather\n<arg_key>city</arg_key>\n<arg_value>Turku</arg_value>\n</tool_call>",
            '<|tool_calls_section_begin|><|tool_call_begin|>functions.get_weather:0<|tool_call_argument_begin|>{"city": "Turku"}<|tool_call_end|>',
            '<steptml:invoke name="get_weather"><steptml:parameter name="city">Turku</steptml:parameter></steptml:invoke>',
            '<|channel|>commentary to=functions.get_weather <|constrain|>json<|message|>{"city":"Turku"}<|call|>',
            '<|tool_call|>[{"name": "get_weather", "arguments": {"city": "Turku"}}]',
            "<start_function_call>call:get_weather{city:<escape>Turku<escape>}<end_function_call>",
            '<|tool_call>call:get_weather{city:<|"|>Turku<|"|>}<tool_call|>',
            '<|tool_call_start|>[get_weather(city="Turku")]<|tool_call_end|>',
            '<TOOLCALL>[{"name": "get_weather", "arguments": {"city": "Turku"}}]</TOOLCALL>',
            "<seed:tool_call><function=get_weather></function></seed:tool_call>",
            '[get_weather(city="Turku", days=3)]',
            'get_weather(city="Turku")',
            "```tool_code\nprint(get_weather(city='Turku'))\n```",
            "```python\nget_weather('Turku')\n```",
            "```xml\n<get_weather>\n<city>Turku</city>\n</get_weather>\n```",
            '<get_weather city="Turku"/>',
            "get_weather\nTurku\n3",
            "get_weather Turku 3",
            "**get_weather**\ncity: Turku",
            'get_weather\n{"city": "Turku"}',
            'get_weather{"city": "Turku"}',
            'functions.get_weather:0 {"city": "Turku"}',
            'Action: get_weather\nAction Input: {"city": "Turku"}',
            "Tool call: get_weather, city Turku",
            '{"action": "get_weather", "action_input": {"city": "Turku"}}',
            '{"tool_calls": [{"function": {"name": "get_weather", "arguments": "{}"}}]}',
            '{"get_weather": {"city": "Turku"}}',
            '{"name": "weather_lookup", "arguments": {"city": "Turku"}}',
            "{'name': 'get_weather', 'arguments': {'city': 'Turku'}}",
            '<tool_call>\n<plain>get_weather</param> {"param": "Turku"}\n</tool_call>',
            '<plain>get_weather</param> {"param": "Turku"}',
            "<function>get_weather</function><parameter>city</parameter>Turku",
            "</tool_call>",
            "Let me check.\n</function>\n</tool_call>",
            "<tools>\n</tools>\n<tool_call",
        )
    ),
    ("no_markup_in_content", row(TURKU, call("get_weather", FORECAST), content="</tool_call>")),
    ("no_markup_in_content", row(TURKU, call("get_weather", FORECAST), content='<tool_call>\n{"name": "get_weather"')),
    ("no_markup_in_content", row(TURKU, content="<|tool_call_begin|>get_weather", choice="none")),
    ("no_markup_in_content", row("Thanks!", content="<tool_call>\n</tool_call>", choice="none")),
    ("no_markup_in_content", row("Thanks!", content="<tool_call>\n</tool_call>", tools=[])),
    ("no_markup_in_content", row("Use the tool to show the weather.", content="<function=get_weather>\n</function>")),
    (
        "no_markup_in_content",
        row(
            "Write doc.md with the line: Close each value with </parameter> and a newline.",
            content="<tool_call>\n<function=write_file>\n<parameter=path>\ndoc.md\n</parameter>",
        ),
    ),
    (
        "no_markup_in_content",
        row("Explain what a tool call looks like.", content='<tool_call>{"name": "get_weather"}</tool_call>'),
    ),
    (
        "no_markup_in_content",
        stream(TURKU, {"content": "<tool"}, {"content": "_call>\n"}, {"content": "{}"}, finish="stop"),
    ),
    # --- calls in the reasoning
    (
        "no_markup_in_reasoning",
        row(
            TURKU,
            content="",
            reasoning="I need it.\n<tool_call>\n<function=get_weather>\n<parameter=city>\nTurku\n</parameter>\n</function>\n</tool_call>",
        ),
    ),
    (
        "no_markup_in_reasoning",
        row(
            TURKU,
            content="It is cold.",
            reasoning='Look.\n<tool_call>{"name": "get_weather", "arguments": {}}</tool_call>',
        ),
    ),
    (
        "no_markup_in_reasoning",
        row(TURKU, content="It is cold.", reasoning='Now:\n{"name": "get_weather", "arguments": {"city": "Turku"}}'),
    ),
    ("no_markup_in_reasoning", row(TURKU, reasoning="Hm. <|tool_call_begin|>functions.get_weather:0")),
    # --- markup left in values
    ("no_markup_in_arguments", row(TURKU, call("get_weather", {"city": "Turku\n</parameter>"}))),
    ("no_markup_in_arguments", row(TURKU, call("get_weather", {"city": "Turku\n</parameter>\n<parameter=days>\n3"}))),
    ("no_markup_in_arguments", row(TURKU, call("get_weather", {"city": "Turku</arg_value>"}))),
    ("no_markup_in_arguments", row("Run ls", call("run_shell", {"command": "ls</parameter></function></tool_call>"}))),
    # --- special tokens and think tags
    ("no_special_tokens", row("Hello", content="Hello!<|im_end|>")),
    ("no_special_tokens", row("Hello", content="Hello!<|im_end|>\n<|im_start|>user\nAnd you?")),
    ("no_special_tokens", row("Hello", content="Hello!<｜end▁of▁sentence｜>")),
    ("no_special_tokens", row("Hello", content="Hello!</s>")),
    ("no_special_tokens", row("Hello", content="[/INST] Hello")),
    ("no_special_tokens", row("Hello", content="Hello<end_of_turn>")),
    ("no_special_tokens", row(TURKU, call("get_weather", {"city": "Turku<|im_end|>", "days": 3}))),
    ("no_special_tokens", row("Hello", content="Hello!", reasoning="They greet.<|eot_id|>")),
    ("reasoning_kept_apart", row("Hello", content="<think>They greet.</think>Hello!")),
    ("reasoning_kept_apart", row("Hello", content="They greet me.\n</think>\n\nHello!")),
    ("reasoning_kept_apart", row("Hello", content="Hello!", reasoning="<think>They greet.")),
    ("reasoning_kept_apart", row("Hello", content="◁think▷They greet.◁/think▷Hello")),
    ("reasoning_kept_apart", row(TURKU, call("get_weather", FORECAST), content="</think>")),
    ("reasoning_kept_apart", row("Hello", content="[THINK]They greet.[/THINK]Hello")),
    (
        "reasoning_kept_apart",
        row(
            "Hello",
            content="The user greets me, so I greet back politely. Hello!",
            reasoning="The user greets me, so I greet back politely.",
        ),
    ),
    ("text_undamaged", row("Hello", content="Hyv\ufffd\ufffd p\ufffdiv\ufffd")),
    ("text_undamaged", row("Weather in Hyvinkää?", call("get_weather", {"city": "Hyvink\ufffd\ufffd"}))),
    ("text_undamaged", row("Hello", content="Hello,ĠhowĠareĠyouĠtoday?")),
    # --- arguments in the content
    (
        "no_arguments_in_content",
        row(
            "Create a.py",
            call("write_file", {"path": "a.py", "content": "a = 1\nprint(a)\n"}),
            content="a = 1\nprint(a)\n",
        ),
    ),
    (
        "no_arguments_in_content",
        row("Create a.py", call("write_file", {"path": "a.py", "content": "a = 1\nprint(a)\n"}), content="a = 1\n"),
    ),
    (
        "no_arguments_in_content",
        row("Create a.py", call("write_file", {"path": "a.py", "content": "a = 1\n"}), content="a.pya = 1\n"),
    ),
    ("no_arguments_in_content", row(TURKU, call("get_weather", FORECAST), content=FORECAST)),
    ("no_arguments_in_content", row(TURKU, call("get_weather", FORECAST), content='"days": 3}')),
    ("no_arguments_in_content", row(TURKU, call("get_weather", FORECAST), content='"}')),
    (
        "no_arguments_in_content",
        stream(
            TURKU, OPEN, {"content": "Tur"}, part(arguments='{"city": "Tur'), {"content": "ku"}, part(arguments='ku"}')
        ),
    ),
    # --- broken text
    (
        "not_degenerate",
        row("Write the plan.", call("run_shell", {"command": "cat <<E\n" + loop("do it again ") + "\nE"})),
    ),
    ("not_degenerate", row("Write the plan.", call("write_file", {"path": "a", "content": loop("!", 4000)}))),
    ("not_degenerate", row("Write a poem.", content=loop("the sea, the sea, "))),
    ("not_degenerate", row("Write a poem.", content="Here.", reasoning=loop("Wait, let me think again. "))),
    ("not_degenerate", row("Find", call("search", {"query": "a", "filters": {"tags": ["x", loop("tag, ")]}}))),
    ("not_degenerate", row(TURKU, call("get_weather", '{"city": ' + loop(" \n", 900)), finish="length")),
    # --- nothing
    ("answer_present", row(TURKU, content="")),
    ("answer_present", row(TURKU, content=None)),
    ("answer_present", row(TURKU, content=" \n\n ", usage=(310, 2, 312))),
    ("answer_present", row(TURKU, content="", reasoning="I think and think", finish="length")),
    ("answer_present", row(TURKU, content=None, finish="tool_calls")),
    ("answer_present", stream(TURKU, {"content": ""}, finish="stop")),
    # --- finish reason
    ("finish_reason_agrees", row(TURKU, call("get_weather", FORECAST), finish="stop")),
    ("finish_reason_agrees", row(TURKU, call("get_weather", FORECAST), finish="stop", choice="required")),
    ("finish_reason_agrees", row(TURKU, call("get_weather", FORECAST), finish="length")),
    ("finish_reason_agrees", row("Hello", content="Hello!", finish="tool_calls")),
    ("finish_reason_agrees", row("Hello", content="Hello!", finish="abort")),
    ("finish_reason_agrees", row("Hello", content="Hello!", finish="eos")),
    ("finish_reason_agrees", stream(TURKU, OPEN, part(arguments=FORECAST), finish="stop")),
    ("finish_reason_agrees", stream(TURKU, OPEN, part(arguments=FORECAST), finish=None)),
    # --- usage
    ("usage_adds_up", row("Hello", content="Hello!", usage=(310, 60, 60))),
    ("usage_adds_up", row("Hello", content="Hello!", usage=(310, 0, 310))),
    ("usage_adds_up", row("Hello", content="Hello!", usage=(0, 60, 60))),
    (
        "usage_adds_up",
        row(
            "Hello",
            content="Hello!",
            usage={"prompt_tokens": 9, "completion_tokens": 9, "total_tokens": 18, "reasoning_tokens": 20},
        ),
    ),
    ("usage_adds_up", row("Hello", content="Hello!", max_tokens=16)),
    # --- streams
    ("stream_rebuilds", stream(TURKU, OPEN, part(1, arguments=FORECAST))),
    ("stream_rebuilds", stream(TURKU, part(1, name="get_weather", identity="a", arguments=FORECAST))),
    ("stream_rebuilds", stream(TURKU, part(None, name="get_weather", identity="a", arguments=FORECAST))),
    ("stream_rebuilds", stream(TURKU, OPEN, part(name="get_weather", arguments=FORECAST))),
    ("stream_rebuilds", stream(TURKU, OPEN, part(identity="call_b2", arguments=FORECAST))),
    ("stream_rebuilds", stream(TURKU, OPEN, part(arguments={"city": "Turku"}))),
    ("answer_readable", stream(TURKU, OPEN, finish=None, done=False)),
    ("answer_readable", {**stream(TURKU, OPEN), "sse": ['data: {"choices": [{"delta": {}', "data: [DONE]"]}),
    ("answer_readable", {**stream(TURKU, OPEN), "sse": []}),
    ("answer_readable", {**stream(TURKU, OPEN), "sse": ["data: [DONE]"]}),
    (
        "stream_parity",
        {**row(TURKU, call("get_weather", FORECAST)), **stream(TURKU, OPEN, part(arguments='{"city": "Turku"}'))},
    ),
    (
        "stream_parity",
        {**row(TURKU, call("get_weather", FORECAST)), **stream(TURKU, {"content": "Cold."}, finish="stop")},
    ),
    # --- errors in place of answers
    ("request_accepted", error("Unterminated string starting at: line 1 column 38 (char 37)")),
    ("request_accepted", error("Expecting ',' delimiter: line 1 column 20 (char 19)")),
    ("request_accepted", error("Can only get item pairs from a mapping.", 400)),
    ("request_accepted", error("invalid literal for int() with base 10: 'six'", 500)),
    ("request_accepted", error("This model's maximum context length is 32768 tokens.")),
    ("request_accepted", {**error(""), "response": {"error": {"message": "bad", "code": "400"}}}),
    (
        "request_accepted",
        {**error(""), "response": {"detail": [{"loc": ["body"], "msg": "Input should be a valid string"}]}},
    ),
    (
        "request_accepted",
        {**stream(TURKU, OPEN), "sse": ['data: {"error": {"message": "parser failed", "code": 500}}']},
    ),
    ("answer_readable", {**error(""), "response": {"choices": []}}),
    ("answer_readable", {**error(""), "response": "<html>Bad gateway</html>"}),
    ("answer_readable", {**error(""), "response": None}),
    # --- a format that was asked for
    ("content_matches_format", row("Give JSON", content="Sure: {}", response_format={"type": "json_object"})),
    (
        "content_matches_format",
        row(
            "Give JSON",
            content='{"a": "1"}',
            response_format={
                "type": "json_schema",
                "json_schema": {"schema": {"properties": {"a": {"type": "integer"}}}},
            },
        ),
    ),
]

RIGHT: list[tuple[str, dict[str, Any]]] = [
    ("call", row(TURKU, call("get_weather", FORECAST))),
    ("call, spread out", row(TURKU, call("get_weather", json.dumps(json.loads(FORECAST), indent=4)))),
    (
        "call with a word before it",
        row(TURKU, call("get_weather", FORECAST), content="I'll check the weather in Turku."),
    ),
    ("call with line feeds before it", row(TURKU, call("get_weather", FORECAST), content="\n\n")),
    (
        "call with reasoning",
        row(TURKU, call("get_weather", FORECAST), content="", reasoning="I should call get_weather with city Turku."),
    ),
    (
        "reasoning names the markup",
        row(TURKU, call("get_weather", FORECAST), reasoning="I use get_weather inside `<tool_call>` tags."),
    ),
    (
        "reasoning drafts the JSON",
        row(TURKU, call("get_weather", FORECAST), reasoning='I send {"city": "Turku", "days": 3} to get_weather.'),
    ),
    (
        "named call ends with stop",
        row(
            TURKU,
            call("get_weather", FORECAST),
            finish="stop",
            choice={"type": "function", "function": {"name": "get_weather"}},
        ),
    ),
    ("no usage", row(TURKU, call("get_weather", FORECAST), usage=None)),
    (
        "two cities",
        row(
            "Weather in Turku and Oulu?",
            call("get_weather", {"city": "Turku"}, "a"),
            call("get_weather", {"city": "Oulu"}, "b"),
        ),
    ),
    ("two dice", row("Roll two dice.", call("roll_die", "{}", "a"), call("roll_die", "{}", "b"))),
    (
        "the same twice, as asked",
        row(
            "Run `date` twice.",
            call("run_shell", {"command": "date"}, "a"),
            call("run_shell", {"command": "date"}, "b"),
        ),
    ),
    ("no arguments", row("Which rooms exist?", call("list_rooms", "{}"))),
    ("no arguments, spaced", row("Which rooms exist?", call("list_rooms", "{ }"))),
    (
        "nested",
        row(
            "Find open bugs",
            call("search", {"query": "bugs", "filters": {"tags": ["a", "b"], "open": True}, "limit": 3}),
        ),
    ),
    (
        "whole float",
        row("Book K2 for 6 on 2031-01-15.", call("book_room", '{"room": "K2", "date": "2031-01-15", "seats": 6.0}')),
    ),
    (
        "expected in another order",
        row(
            "Turku and Oulu?",
            call("get_weather", {"city": "Oulu"}, "a"),
            call("get_weather", {"city": "Turku"}, "b"),
            expected=[{"city": "Turku"}, {"city": "Oulu"}],
        ),
    ),
    (
        "expected with more beside it",
        row(
            TURKU,
            call("get_weather", {"city": "Turku", "days": 3, "unit": "c"}),
            expected={"city": "Turku", "days": 3.0},
        ),
    ),
    (
        "name with accents left out by the user",
        row("Weather in Jyvaskyla?", call("get_weather", {"city": "Jyväskylä"})),
    ),
    ("name with its country", row("Weather in Turku?", call("get_weather", {"city": "Turku, Finland"}))),
    ("name in its own language", row("Weather in Cologne?", call("get_weather", {"city": "Köln"}))),
    ("user writes small letters", row("weather in turku?", call("get_weather", {"city": "Turku"}))),
    ("genitive", row("What's Turku's weather?", call("get_weather", {"city": "Turku"}))),
    ("adjective", row("How is Berliner weather?", call("get_weather", {"city": "Berlin"}))),
    ("other language", row("Millainen sää on Turussa?", call("get_weather", {"city": "Turku"}))),
    (
        "lines, as dictated",
        row(
            "Write retry.py with exactly these three lines: import time / import random / print('ok')",
            call("write_file", {"path": "retry.py", "content": "import time\nimport random\nprint('ok')\n"}),
        ),
    ),
    (
        "line, as dictated",
        row("Write n.txt with the line: Hello world.", call("write_file", {"path": "n.txt", "content": "Hello world"})),
    ),
    (
        "line, then more to do",
        row(
            "Write n.txt with the line: Hello world. Then approve it.",
            call("write_file", {"path": "n.txt", "content": "Hello world.\n"}),
        ),
    ),
    (
        "command with more after it",
        row("Run this command: ls and tell me what you see", call("run_shell", {"command": "ls"})),
    ),
    (
        "quotation that is only searched for in part",
        row('Find issues about "error handling in Go"', call("search", {"query": "error handling"})),
    ),
    (
        "ids, one call each",
        row(
            "Tag items 4, 8 and 15.",
            call("tag_items", {"ids": [4]}, "a"),
            call("tag_items", {"ids": [8]}, "b"),
            call("tag_items", {"ids": [15]}, "c"),
        ),
    ),
    (
        "markup as data",
        row(
            "Write doc.md with the line: A call starts with <tool_call>",
            call("write_file", {"path": "doc.md", "content": "A call starts with <tool_call>"}),
        ),
    ),
    (
        "markup as data, in code",
        row(
            "Write a parser for Qwen tool calls",
            call("write_file", {"path": "p.py", "content": 'END = "</parameter>"\nSTART = "<function="\n'}),
        ),
    ),
    (
        "special token as data",
        row("Write t.txt with the line: <|im_end|>", call("write_file", {"path": "t.txt", "content": "<|im_end|>"})),
    ),
    (
        "entities as data",
        row(
            "Write a.html with the line: <p>&lt;b&gt;</p>",
            call("write_file", {"path": "a.html", "content": "<p>&lt;b&gt;</p>"}),
        ),
    ),
    (
        "entities of the model's own",
        row(
            "Write a page that shows the tag <b> as text.",
            call("write_file", {"path": "a.html", "content": "<p>Use &lt;b&gt; for bold.</p>"}),
        ),
    ),
    (
        "code with backslashes",
        row("Write re.py", call("write_file", {"path": "re.py", "content": 'print(re.sub(r"\\d+\\n", "\\t", x))'})),
    ),
    (
        "explains the format",
        row(
            "Explain what the raw tool call format looks like.",
            content="A call looks like this:\n\n```\n<tool_call>\n<function=get_weather>\n</function>\n</tool_call>\n```",
            choice="none",
        ),
    ),
    (
        "explains the format under auto",
        row(
            "How does the tool call syntax work?",
            content='The model writes <tool_call>{"name": "get_weather", "arguments": {}}</tool_call> and the server parses it.',
        ),
    ),
    ("lists its tools", row("Which tools do you have?", content="get_weather\nrun_shell\nwrite_file")),
    (
        "names a tag in code",
        row(
            "Why does my log look odd?",
            content="Your server prints the raw `<tool_call>` tag because no parser is set.",
        ),
    ),
    (
        "repeats what the user wrote",
        row("What does </parameter> do in this text?", content="The tag </parameter> closes a value."),
    ),
    (
        "writes code that calls",
        row("Write Python code that calls get_weather.", content='```python\nget_weather("Turku")\n```'),
    ),
    (
        "writes HTML",
        row("Show a search form in HTML.", content='<form><input name="q"><search></search></form>', choice="none"),
    ),
    ("strikes through", row("Strike it through in HTML.", content="<s>old</s> new")),
    ("answers in JSON", row("Give me a person as JSON.", content='{"name": "Aino", "age": 31}')),
    (
        "answers in the format",
        row(
            "Give JSON",
            content='{"a": 1}',
            response_format={
                "type": "json_schema",
                "json_schema": {"schema": {"properties": {"a": {"type": "integer"}}}},
            },
        ),
    ),
    ("thanks", row("Thank you!", content="You are welcome.")),
    ("no tool for it", row("What is 17 + 25?", content="42")),
    ("asks back", row("What's the weather?", content="Which city do you mean?")),
    ("says that it may", row("Hello", content="Hello! Let me know if I should look something up.")),
    ("none asked for", row(TURKU, content="I may not look it up now, but it is often cold.", choice="none")),
    ("cut by length", row("Write a story.", content="Once upon a time", finish="length")),
    ("thinks about thinking", row("Hello", content="Hello!", reasoning="I could write <think> here, but need not.")),
    (
        "explains think tags",
        row("What are think tags?", content="Some models wrap their reasoning in <think> and </think>."),
    ),
    ("F# pipes", row("Show F# pipes.", content="let y = x |> f <| z")),
    ("emoji and other scripts", row("Hello", content="Hei 👩‍👩‍👧 – привет, 你好, שלום")),
    (
        "after a tool's result",
        {
            **row("x", content="It is 3 degrees in Turku."),
            "request": {
                "tools": TOOLS,
                "messages": [
                    {"role": "user", "content": TURKU},
                    {"role": "assistant", "tool_calls": [call("get_weather", FORECAST)]},
                    {"role": "tool", "tool_call_id": "call_a1", "content": "3"},
                ],
            },
        },
    ),
    ("stream", stream(TURKU, OPEN, part(arguments='{"city": "Tur'), part(arguments='ku", "days": 3}'))),
    ("stream, name repeated as empty", stream(TURKU, OPEN, part(name="", identity="", arguments=FORECAST))),
    (
        "stream, interleaved",
        stream(
            "Weather in Turku and Oulu?",
            part(0, identity="a", name="get_weather", arguments=""),
            part(1, identity="b", name="get_weather", arguments=""),
            part(1, arguments='{"city": '),
            part(0, arguments='{"city": "Turku"'),
            part(1, arguments='"Oulu"}'),
            part(0, arguments="}"),
        ),
    ),
    ("stream, no DONE", stream(TURKU, OPEN, part(arguments=FORECAST), done=False)),
    (
        "stream as text with blank lines and comments",
        {
            **stream(TURKU, OPEN),
            "sse": ": hello\n\n" + "\n\n".join(stream(TURKU, OPEN, part(arguments=FORECAST))["sse"]) + "\n\n",
        },
    ),
    (
        "stream and whole",
        {
            **row(TURKU, call("get_weather", FORECAST)),
            **stream(TURKU, OPEN, part(arguments='{"days":3,"city":"Turku"}')),
        },
    ),
]

UNKNOWN: list[tuple[str, dict[str, Any]]] = [
    ("call_made", row(TURKU, content="It is usually cold in Turku.")),
    ("call_made", row("Show git status.", content="Let me check that:")),
    ("call_made", row("Show git status.", content="```bash\ngit status\n```", tools=[SHELL])),
    ("request_accepted", error("The server is overloaded", 503)),
    ("request_accepted", error("Too many requests", 429)),
    ("arguments_match_schema", row("x", call("odd", {"a": 1}), tools=[tool("odd", {"a": {"type": "nonsense"}})])),
    (
        "arguments_match_schema",
        row("x", call("odd", {"a": 1}), tools=[tool("odd", {"a": {"$ref": "http://127.0.0.1:9/x"}})]),
    ),
]


@pytest.mark.parametrize(("check", "case"), WRONG)
def test_a_wrong_answer_is_refuted_by_the_check_that_names_what_is_wrong(check: str, case: dict[str, Any]):
    judgement = judge_row(case)

    assert judgement.verdict is Verdict.REFUTED
    assert check in {result.check for result in judgement.checks if result.verdict is Verdict.REFUTED}


@pytest.mark.parametrize("case", [pytest.param(case, id=name) for name, case in RIGHT])
def test_a_right_answer_is_proven(case: dict[str, Any]):
    judgement = judge_row(case)

    assert [result for result in judgement.checks if result.verdict is not Verdict.PROVEN] == []
    assert judgement.verdict is Verdict.PROVEN


@pytest.mark.parametrize(("check", "case"), UNKNOWN)
def test_what_can_not_be_told_is_unproven_with_the_reason(check: str, case: dict[str, Any]):
    judgement = judge_row(case)

    assert judgement.verdict is Verdict.UNPROVEN
    assert check in {result.check for result in judgement.checks if result.verdict is Verdict.UNPROVEN}

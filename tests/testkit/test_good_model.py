from __future__ import annotations

import json
from typing import Any

import jsonschema
import pytest

from seatrial.testkit import GoodModel, Reply
from seatrial.testkit.prose import prose

model = GoodModel()


def say(prompt: str, **body: Any) -> Reply:
    return model({"messages": [{"role": "user", "content": prompt}], **body})


def tool(name: str, description: str = "", required: tuple[str, ...] | None = None, **properties: Any) -> Any:
    parameters = {
        "type": "object",
        "properties": properties,
        "required": list(properties if required is None else required),
    }
    return {"type": "function", "function": {"name": name, "description": description, "parameters": parameters}}


TEXT, WHOLE, REAL, FLAG = ({"type": kind} for kind in ("string", "integer", "number", "boolean"))
WEATHER = tool(
    "get_weather",
    "Get the weather in a city",
    ("city",),
    city=TEXT,
    days=WHOLE,
    unit={"type": "string", "enum": ["c", "f"]},
)
READ = tool("read_file", "Read a file", ("path",), path=TEXT, start_line=WHOLE)
WRITE = tool("write_file", "Write a file", path=TEXT, content=TEXT)
SHELL = tool("run_shell", "Run a shell command", command=TEXT)
COMMENT = tool(
    "post_comment",
    "Post a review comment on a line of a file",
    file=TEXT,
    line=WHOLE,
    body=TEXT,
    severity={"type": "string", "enum": ["low", "high"]},
)
ROOMS = tool("list_rooms", "List the rooms")
BOOK = tool("book_room", "Book a room", ("room", "date"), room=TEXT, date=TEXT, seats=WHOLE)
TAG = tool("tag_items", "Tag items", ids={"type": "array", "items": WHOLE})


@pytest.mark.parametrize(
    ("prompt", "content"),
    [
        ("What is 2+2?", "2+2 = 4."),
        ("What is 17 * 23? Answer with the number only.", "391"),
        ("Calculate 12 divided by 8.", "12 / 8 = 1.5."),
        ("What is 1/0?", None),
        ("Reply with exactly: seaworthy", "seaworthy"),
        ('Say "hello there" and nothing else.', "hello there"),
        ("Answer with the single word PONG.", "PONG"),
        ("Count from 1 to 5.", "1, 2, 3, 4, 5"),
        ("What is the capital of France?", "The capital of France is Paris."),
        ("The pass phrase is BLUE-HERON-42. Remember it. What is the pass phrase?", "BLUE-HERON-42"),
    ],
)
def test_it_answers_what_a_rule_covers(prompt: str, content: str | None) -> None:
    said = say(prompt).content
    if content is None:
        assert len(said) > 50
    else:
        assert said == content


def test_it_recalls_what_stands_deep_in_a_long_prompt() -> None:
    prompt = f"{prose(3000, 1)}\nThe access code is 7Q-KILO.\n{prose(3000, 2)}\nWhat is the access code?"
    assert say(prompt).content == "7Q-KILO"


@pytest.mark.parametrize(
    ("prompt", "tools", "calls"),
    [
        ("Weather in Turku for three days?", [WEATHER], [("get_weather", {"city": "Turku", "days": 3})]),
        ("What is the weather in Oulu, in celsius?", [WEATHER], [("get_weather", {"city": "Oulu", "unit": "c"})]),
        (
            "Weather in Turku and Oulu?",
            [WEATHER],
            [("get_weather", {"city": "Turku"}), ("get_weather", {"city": "Oulu"})],
        ),
        (
            "Read a.txt and get the weather in Turku.",
            [WEATHER, READ],
            [("read_file", {"path": "a.txt"}), ("get_weather", {"city": "Turku"})],
        ),
        ("Read the file src/main.py.", [WEATHER, READ, WRITE], [("read_file", {"path": "src/main.py"})]),
        ("Run `echo hi` in the shell.", [SHELL], [("run_shell", {"command": "echo hi"})]),
        ("Which rooms exist?", [ROOMS, WEATHER], [("list_rooms", {})]),
        (
            "Book room K2 on 2031-01-15, seats=6.",
            [BOOK],
            [("book_room", {"room": "K2", "date": "2031-01-15", "seats": 6})],
        ),
        ("Tag items 4, 8, 15 and 16.", [TAG], [("tag_items", {"ids": [4, 8, 15, 16]})]),
        (
            'Write a file notes.md with the content "Close each value with </parameter>."',
            [WRITE],
            [("write_file", {"path": "notes.md", "content": "Close each value with </parameter>."})],
        ),
        (
            'Post a comment on line 42 of app/db.py: "This query is open to injection." Severity: high.',
            [COMMENT, READ],
            [
                (
                    "post_comment",
                    {
                        "file": "app/db.py",
                        "line": 42,
                        "body": "This query is open to injection.",
                        "severity": "high",
                    },
                )
            ],
        ),
    ],
)
def test_it_calls_the_tools_that_are_due(prompt: str, tools: list[Any], calls: list[tuple[str, Any]]) -> None:
    reply = say(prompt, tools=tools)
    assert [(call.name, json.loads(call.arguments)) for call in reply.tool_calls] == calls
    assert reply.content == ""
    for call in reply.tool_calls:
        schema = next(one["function"]["parameters"] for one in tools if one["function"]["name"] == call.name)
        jsonschema.validate(json.loads(call.arguments), schema)


@pytest.mark.parametrize(
    "prompt",
    [
        "What is 2+2?",
        "Write a poem about the sea.",
        "Explain how the weather comes about.",
        "What is the weather in Turku? Do not call any tool.",
    ],
)
def test_it_calls_nothing_when_nothing_is_due(prompt: str) -> None:
    reply = say(prompt, tools=[WEATHER, READ, SHELL])
    assert reply.tool_calls == ()
    assert reply.content


def test_it_obeys_tool_choice() -> None:
    named = {"type": "function", "function": {"name": "read_file"}}
    assert say("Weather in Turku?", tools=[WEATHER], tool_choice="none").tool_calls == ()
    assert [call.name for call in say("Hello!", tools=[WEATHER], tool_choice="required").tool_calls] == ["get_weather"]
    chosen = say("Weather in Turku?", tools=[WEATHER, READ], tool_choice=named)
    assert [call.name for call in chosen.tool_calls] == ["read_file"]


def test_it_makes_one_call_where_parallel_calls_are_off() -> None:
    reply = say("Weather in Turku and Oulu?", tools=[WEATHER], parallel_tool_calls=False)
    assert [json.loads(call.arguments) for call in reply.tool_calls] == [{"city": "Turku"}]


def test_it_fills_nested_arguments() -> None:
    order = tool(
        "create_order",
        "Create an order",
        ("customer", "paid"),
        customer={"type": "object", "properties": {"email": TEXT, "age": WHOLE}, "required": ["email", "age"]},
        paid=FLAG,
        price=REAL,
    )
    reply = say("Create an order for ann@example.org, age 31, paid=true, price 12.50.", tools=[order])
    assert json.loads(reply.tool_calls[0].arguments) == {
        "customer": {"email": "ann@example.org", "age": 31},
        "paid": True,
        "price": 12.5,
    }


def test_it_tells_the_result_of_a_tool() -> None:
    conversation = [
        {"role": "user", "content": "Weather in Turku?"},
        {"role": "assistant", "content": "", "tool_calls": [{"id": "call_1"}]},
        {"role": "tool", "tool_call_id": "call_1", "content": "11 degrees, light rain"},
    ]
    reply = model({"messages": conversation, "tools": [WEATHER]})
    assert reply.tool_calls == ()
    assert "11 degrees, light rain" in reply.content


def test_it_follows_a_json_schema() -> None:
    schema = {"type": "object", "properties": {"city": TEXT, "days": WHOLE}, "required": ["city", "days"]}
    form = {"type": "json_schema", "json_schema": {"name": "trip", "schema": schema}}
    assert json.loads(say("A trip to Turku for 4 days", response_format=form).content) == {"city": "Turku", "days": 4}


def test_it_thinks_unless_told_not_to() -> None:
    assert say("Hello").reasoning
    assert say("Hello", chat_template_kwargs={"enable_thinking": False}).reasoning is None
    assert say("Hello", reasoning_effort="none").reasoning is None
    assert GoodModel(thinks=False)({"messages": [{"role": "user", "content": "Hello"}]}).reasoning is None


@pytest.mark.parametrize("words", [100, 2_000])
def test_its_prose_has_the_length_asked_for_and_repeats_no_sentence(words: int) -> None:
    text = say(f"Write {words} words about harbours.").content
    sentences = text.replace("\n\n", " ").split(". ")
    assert words <= len(text.split()) < words + 40
    assert len(sentences) == len(set(sentences))


def test_the_same_request_gets_the_same_answer_and_another_another() -> None:
    assert say("Tell me a story.") == say("Tell me a story.")
    assert say("Tell me a story.").content != say("Tell me another story.").content
    assert say("Tell me a story.").content != say("Tell me a story.", seed=2).content

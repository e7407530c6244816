"""Whole answers and streams, sound and odd: what is wrong is kept in words, and nothing raises."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from seatrial.endpoint.answer import (
    ARGUMENTS,
    CONTENT,
    REASONING,
    Answer,
    Delta,
    StreamAssembler,
    ToolCall,
    Usage,
    parse_completion,
    parse_usage,
)


def completion(message: Any = None, **more: Any) -> dict[str, Any]:
    choice = {"index": 0, "message": {"role": "assistant", "content": "Hi"} if message is None else message}
    return {"model": "m", "choices": [{**choice, "finish_reason": "stop"}], **more}


def call(arguments: Any = "{}", name: Any = "f", identity: Any = "call_1", **more: Any) -> dict[str, Any]:
    return {"id": identity, "type": "function", "function": {"name": name, "arguments": arguments}, **more}


def assemble(*deltas: Any, finish_reason: Any = None) -> Answer:
    assembler = StreamAssembler()
    for delta in deltas:
        assembler.add({"model": "m", "choices": [{"index": 0, "delta": delta, "finish_reason": None}]})
    assembler.add({"choices": [{"index": 0, "delta": {}, "finish_reason": finish_reason}]})
    return assembler.answer()


def test_a_whole_answer() -> None:
    usage = {
        "prompt_tokens": 9,
        "completion_tokens": 5,
        "total_tokens": 14,
        "completion_tokens_details": {"reasoning_tokens": 2},
        "prompt_tokens_details": {"cached_tokens": 4},
    }
    message = {"content": "Hi", "reasoning_content": "Hm", "tool_calls": [call('{"a": 1}')]}
    assert parse_completion(completion(message, usage=usage)) == Answer(
        model="m",
        content="Hi",
        reasoning="Hm",
        tool_calls=(ToolCall("call_1", "f", '{"a": 1}', 0),),
        finish_reason="stop",
        usage=Usage(9, 5, 14, 2, 4),
    )


@pytest.mark.parametrize("key", ["reasoning_content", "reasoning"])
def test_reasoning_under_either_name(key: str) -> None:
    whole = parse_completion(completion({"content": None, key: "Hm"}))
    assert whole
    assert (whole.reasoning, whole.content) == ("Hm", None)
    assert assemble({key: "H"}, {key: "m"}).reasoning == "Hm"


@pytest.mark.parametrize(
    "body",
    [None, [], "text", 7, {}, {"choices": []}, {"choices": None}, {"choices": [7]}, {"choices": [{"message": "Hi"}]}],
)
def test_what_is_no_completion(body: Any) -> None:
    assert parse_completion(body) is None


@pytest.mark.parametrize(
    ("message", "defect"),
    [
        ({"content": 7}, "content is a number, not a string"),
        ({"content": ["Hi"]}, "content is a list, not a string"),
        ({"content": "", "reasoning_content": {}}, "reasoning_content is an object, not a string"),
        ({"tool_calls": {"id": 1}}, "tool_calls is an object, not a list"),
        ({"tool_calls": ["f"]}, "tool call 0 is a string, not an object"),
        ({"tool_calls": [{"id": "call_1"}]}, "tool call 0 has no function"),
        ({"tool_calls": [call({"a": 1})]}, "arguments are an object, not a string of JSON"),
        ({"tool_calls": [call(identity=7)]}, "id is a number, not a string"),
        ({"tool_calls": [call(name=None)]}, None),
    ],
)
def test_wrong_types_are_told_in_words(message: Any, defect: str | None) -> None:
    answer = parse_completion(completion(message))
    assert answer
    assert answer.defects == (() if defect is None else (defect,))


def test_arguments_that_are_an_object_are_kept_as_json() -> None:
    answer = parse_completion(completion({"tool_calls": [call({"city": "Hyvinkää"})]}))
    assert answer
    assert json.loads(answer.tool_calls[0].arguments) == {"city": "Hyvinkää"}


@pytest.mark.parametrize(
    ("usage", "expected"),
    [
        (None, None),
        ([], None),
        ({}, Usage()),
        ({"prompt_tokens": "9", "completion_tokens": True, "total_tokens": -1}, Usage()),
        ({"prompt_tokens": 0, "completion_tokens": 0, "total_tokens": 0}, Usage(0, 0, 0)),
        ({"reasoning_tokens": 3}, Usage(reasoning_tokens=3)),
        ({"reasoning_tokens": 0}, Usage(reasoning_tokens=0)),
        ({"completion_tokens_details": {"reasoning_tokens": 0}}, Usage(reasoning_tokens=0)),
        ({"completion_tokens_details": {"reasoning_tokens": 0}, "reasoning_tokens": 3}, Usage(reasoning_tokens=0)),
        ({"completion_tokens_details": 7, "prompt_tokens_details": None}, Usage()),
    ],
)
def test_usage(usage: Any, expected: Usage | None) -> None:
    assert parse_usage(usage) == expected


def test_texts_by_name_and_emptiness() -> None:
    answer = Answer(content="c", reasoning="r", tool_calls=(ToolCall("1", "f", "{}"), ToolCall("2", "g", "[]")))
    assert [answer.text_of(name) for name in (CONTENT, REASONING, ARGUMENTS)] == ["c", "r", "{}\n[]"]
    assert Answer(content=" \n", reasoning="").is_empty
    assert not Answer(tool_calls=(ToolCall(None, None, ""),)).is_empty


# --- streams


def test_a_stream_of_text() -> None:
    answer = assemble(
        {"role": "assistant", "content": "", "reasoning_content": None},
        {"reasoning_content": "H", "content": None},
        {"reasoning_content": "m", "content": None},
        {"content": "H", "reasoning_content": None},
        {"content": "i", "reasoning_content": None},
        finish_reason="stop",
    )
    assert answer == Answer(model="m", content="Hi", reasoning="Hm", finish_reason="stop")


def test_a_stream_without_content_is_not_one_with_empty_content() -> None:
    assert assemble({"role": "assistant"}).content is None
    assert assemble({"content": ""}).content == ""


def test_interleaved_calls_are_put_together_by_index() -> None:
    answer = assemble(
        {"tool_calls": [call("", "f", "call_1", index=0)]},
        {"tool_calls": [call("", "g", "call_2", index=1)]},
        {"tool_calls": [{"index": 0, "id": None, "function": {"name": None, "arguments": '{"a"'}}]},
        {
            "tool_calls": [
                {"index": 1, "function": {"arguments": "{}"}},
                {"index": 0, "function": {"arguments": ": 1}"}},
            ]
        },
        finish_reason="tool_calls",
    )
    assert answer.tool_calls == (ToolCall("call_1", "f", '{"a": 1}', 0), ToolCall("call_2", "g", "{}", 1))
    assert answer.defects == ()


def test_an_escape_may_be_split_over_chunks() -> None:
    parts = [{"tool_calls": [{"index": 0, "function": {"arguments": part}}]} for part in ('{"c": "\\u00', 'e4"}')]
    answer = assemble({"tool_calls": [call("", index=0)]}, *parts)
    assert json.loads(answer.tool_calls[0].arguments) == {"c": "ä"}


@pytest.mark.parametrize(
    ("deltas", "defect"),
    [
        ([{"tool_calls": [call()]}], "a streamed tool call has no index"),
        ([{"tool_calls": [call(index="0")]}], "a streamed tool call has no index"),
        ([{"tool_calls": {}}], "tool_calls is an object, not a list"),
        ([{"tool_calls": [7]}], "a tool call is a number, not an object"),
        ([{"content": {}}], "content is an object, not a string"),
        (
            [{"tool_calls": [call(index=0)]}, {"tool_calls": [call(index=0, identity="call_9", name=None)]}],
            "tool call 0 changes its id in mid-stream",
        ),
        (
            [{"tool_calls": [call(index=0)]}, {"tool_calls": [call(index=0, name="g")]}],
            "tool call 0 gives a name twice: 'f', then 'g'",
        ),
    ],
)
def test_what_is_wrong_in_a_stream_is_told_in_words(deltas: list[Any], defect: str) -> None:
    assert assemble(*deltas).defects == (defect,)


def test_a_chunk_that_is_no_object() -> None:
    assembler = StreamAssembler()
    assert assembler.add([1]) == []
    assert assembler.answer().defects == ("chunk 1 is a list, not an object",)


def test_usage_comes_in_the_last_chunk_without_choices() -> None:
    assembler = StreamAssembler()
    assembler.add({"choices": [], "usage": {"prompt_tokens": 3}})
    assembler.add({"choices": [], "usage": None})
    assert assembler.answer().usage == Usage(prompt_tokens=3)


def test_deltas_name_the_field_and_leave_out_what_is_empty() -> None:
    assembler = StreamAssembler()
    chunk = {"choices": [{"delta": {"content": "", "reasoning": "r", "tool_calls": [call('{"', index=0)]}}]}
    assert assembler.add(chunk) == [Delta(REASONING, "r"), Delta(ARGUMENTS, '{"')]
    assert assembler.add({"choices": [{"delta": {"content": "c"}}]}) == [Delta(CONTENT, "c")]


# --- anything at all

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner, max_size=4),
    max_leaves=8,
)


def maybe(shape: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return shape | JSON


def objects(**parts: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return maybe(st.fixed_dictionaries({}, optional={name: maybe(part) for name, part in parts.items()}))


TEXTS = st.text(max_size=5)
FUNCTIONS = objects(name=TEXTS, arguments=TEXTS)
CALLS = st.lists(objects(id=TEXTS, index=st.integers(-1, 3), function=FUNCTIONS), max_size=3)
MESSAGES = objects(content=TEXTS, reasoning_content=TEXTS, reasoning=TEXTS, tool_calls=CALLS)
USAGES = objects(prompt_tokens=st.integers(), completion_tokens_details=objects(), prompt_tokens_details=objects())
BODIES = objects(
    model=TEXTS,
    usage=USAGES,
    choices=st.lists(objects(message=MESSAGES, delta=MESSAGES, finish_reason=TEXTS), max_size=2),
)


@settings(max_examples=300)
@given(BODIES)
def test_no_body_raises(body: Any) -> None:
    answer = parse_completion(body)
    if answer is not None:
        typed(answer)


@settings(max_examples=300)
@given(st.lists(BODIES, max_size=6))
def test_no_stream_raises(chunks: list[Any]) -> None:
    assembler = StreamAssembler()
    deltas = [delta for chunk in chunks for delta in assembler.add(chunk)]
    answer = assembler.answer()
    typed(answer)
    for name in (CONTENT, REASONING):
        assert "".join(delta.text for delta in deltas if delta.field == name) == answer.text_of(name)
    assert assembler.chunks == len(chunks)


def typed(answer: Answer) -> None:
    assert all(text is None or isinstance(text, str) for text in (answer.content, answer.reasoning, answer.model))
    assert all(isinstance(one.arguments, str) and isinstance(one.name, str | None) for one in answer.tool_calls)
    assert isinstance(answer.is_empty, bool)
    assert isinstance(answer.text_of(ARGUMENTS), str)

"""What a chat template knows of, seen in its text."""

from __future__ import annotations

import pytest

from seatrial.facts.chat_template import pick_template, read_chat_template


@pytest.mark.parametrize(
    ("text", "style"),
    [
        ("{% if tools %}<tool_call><function=name>", "qwen3_coder"),
        ('{% if tools %}<tool_call>{"name": x}', "hermes"),
        ("{% if tools %}[TOOL_CALLS]", "mistral"),
        ("{% if tools %}<arg_key>", "glm"),
        ("{% if tools %}<|python_tag|>", "llama3_json"),
        ("{% if tools %}something new", None),
    ],
)
def test_the_style_of_a_call(text: str, style: str | None) -> None:
    found = read_chat_template(text)
    assert found is not None
    assert found.tools
    assert found.tool_call_style == style


def test_a_template_that_never_looks_at_tools_has_no_style() -> None:
    found = read_chat_template("{{ messages }}<tool_call>")
    assert found is not None
    assert (found.tools, found.tool_call_style) == (False, None)


def test_reasoning_and_how_it_is_turned_off() -> None:
    found = read_chat_template("{% if enable_thinking %}<think>{% endif %}")
    assert found is not None
    assert (found.reasoning, found.reasoning_style, found.thinking_toggle) == (True, "think", "enable_thinking")
    plain = read_chat_template("{{ messages }}")
    assert plain is not None
    assert not plain.reasoning


def test_no_template_is_not_an_empty_one() -> None:
    assert read_chat_template(None) is None
    assert read_chat_template("") is None


def test_of_several_named_templates_the_one_for_tools_is_taken() -> None:
    named = [{"name": "default", "template": "a"}, {"name": "tool_use", "template": "b"}]
    assert pick_template(named) == "b"
    assert pick_template(named[:1]) == "a"
    assert pick_template("c") == "c"
    assert pick_template(None) is None
    assert pick_template([1, {}]) is None

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from seatrial.testkit.tokens import Cut, count_prompt, cut_prompt, text_of, token_ids, tokenize


@given(st.text())
def test_joined_tokens_are_the_text(text: str) -> None:
    assert "".join(tokenize(text)) == text


def test_words_numbers_and_punctuation_are_tokens() -> None:
    assert tokenize("Hello, world 12345!") == ["Hello", ",", " world", " 123", "45", "!"]
    assert tokenize("extraordinarily") == ["extraordinar", "ily"]


def test_the_same_token_has_the_same_number() -> None:
    first, second, third = token_ids("one two one")[0], token_ids("one")[0], token_ids("two one")[1]
    assert first == second
    assert third != first  # a space belongs to its token


def test_a_prompt_counts_messages_tools_and_the_template() -> None:
    bare = count_prompt({"messages": [{"role": "user", "content": "one two three"}]})
    in_parts = count_prompt({"messages": [{"role": "user", "content": [{"type": "text", "text": "one two three"}]}]})
    with_tool = count_prompt({"messages": [{"role": "user", "content": "one two three"}], "tools": [{"a": "b"}]})
    assert bare == 3 + 4 + 3
    assert in_parts == bare
    assert with_tool > bare


@pytest.mark.parametrize(
    ("where", "kept"), [("head", "d e f g"), ("tail", "a b c d"), ("middle", "a b f g")], ids=["head", "tail", "middle"]
)
def test_a_cut_drops_what_it_says(where: str, kept: str) -> None:
    request: dict[str, Any] = {
        "model": "m",
        "messages": [{"role": "system", "content": "a b c"}, {"role": "user", "content": " d e f g"}],
    }
    cut = cut_prompt(request, count_prompt(request) - 3, Cut(where))
    assert "".join(text_of(message) for message in cut["messages"]).split() == kept.split()
    assert count_prompt(cut) == count_prompt(request) - 3
    assert cut["model"] == "m"
    assert request["messages"][0]["content"] == "a b c"  # the request itself stays as it was


def test_a_prompt_that_fits_is_not_cut() -> None:
    request = {"messages": [{"role": "user", "content": "a b"}]}
    assert cut_prompt(request, 100, Cut("head")) == request

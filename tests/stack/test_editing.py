"""Editing a stack file changes one value and nothing else."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from seatrial.errors import InputError
from seatrial.stack.editing import set_value
from seatrial.stack.reading import parse_stack

TEXT = """# head
name: review  # the name
model:
  repo: a/b   # which one
  # a remark
  revision: "main"
serve: {port: 30000}
"""


def test_a_value_changes_and_every_comment_stays() -> None:
    changed = set_value(TEXT, ("model", "repo"), "c/d", where="s")
    assert changed == TEXT.replace("a/b", "c/d")


def test_a_quoted_value_is_replaced_whole() -> None:
    assert set_value(TEXT, ("model", "revision"), "v1", where="s") == TEXT.replace('"main"', "v1")


def test_a_missing_key_is_put_in() -> None:
    changed = set_value(TEXT, ("model", "served_name"), "x", where="s")
    assert parse_stack(changed, where="s").model.served_name == "x"
    assert "# a remark" in changed
    changed = set_value(TEXT, ("engine", "image"), "sglang:v0.5.23", where="s")
    assert parse_stack(changed, where="s").engine.image == "sglang:v0.5.23"


def test_a_key_inside_an_inline_mapping_changes_too() -> None:
    assert "{port: 8000}" in set_value(TEXT, ("serve", "port"), 8000, where="s")


def test_none_takes_a_key_out() -> None:
    changed = set_value(TEXT, ("model", "revision"), None, where="s")
    assert "revision" not in changed
    assert parse_stack(changed, where="s").model.revision is None
    assert set_value(TEXT, ("model", "served_name"), None, where="s") == TEXT


@pytest.mark.parametrize("path", [("name", "x"), ("serve", "host")])
def test_what_can_not_be_edited_says_so(path: tuple[str, ...]) -> None:
    with pytest.raises(InputError):
        set_value(TEXT, path, "y", where="s")


@given(st.text(st.characters(exclude_categories=["Cs", "Cc"]), min_size=1, max_size=30))
def test_any_text_can_be_set(value: str) -> None:
    changed = set_value(TEXT, ("model", "repo"), value, where="s")
    assert parse_stack(changed, where="s").model.repo == value

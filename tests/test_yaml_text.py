"""YAML is read as Docker Compose reads it, with the line of everything, and nothing odd gives a traceback."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from seatrial.errors import InputError
from seatrial.yaml_text import plain, read_yaml


def test_words_that_only_yaml_1_1_takes_for_booleans_stay_text() -> None:
    assert read_yaml("a: [yes, on, off, no, True, ~]", where="f").value == {"a": ["yes", "on", "off", "no", True, None]}


def test_ports_are_no_numbers_in_base_sixty() -> None:
    assert read_yaml("ports: [22:22, 30000:30000]", where="f").value == {"ports": ["22:22", "30000:30000"]}


def test_every_key_and_item_knows_its_line() -> None:
    document = read_yaml("a:\n  - x\n  - b:\n      c: 1\n", where="f.yaml")
    assert document.place(("a", 0)) == "f.yaml:2"
    assert document.place(("a", 1, "b", "c")) == "f.yaml:4"


def test_a_path_that_is_not_there_gets_the_line_of_what_is_above_it() -> None:
    assert read_yaml("x: 1\na:\n  b: 1\n", where="f").place(("a", "missing", 3)) == "f:2"


def test_merged_keys_fill_in_and_never_replace() -> None:
    document = read_yaml("base: &b {x: 1, y: 2}\nuser:\n  <<: *b\n  y: 3\n", where="f")
    assert document.value["user"] == {"x": 1, "y": 3}


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("a: [1", "no valid YAML"),
        ("a: 1\na: 2", "second time"),
        ("&a [*a]", "alias inside itself"),
        ("a: &a\n  <<: *a", "alias inside itself"),
        ("x: !!python/object:os.system z", "unknown"),
        ("x: !mine z", "unknown"),
        ("? [1]\n: 2", "plain text"),
        ("\x00", "no valid YAML"),
        ("[" * 5000, "no valid YAML"),
    ],
)
def test_a_mistake_is_one_clear_line(text: str, what: str) -> None:
    with pytest.raises(InputError) as caught:
        read_yaml(text, where="f.yaml")
    assert "\n" not in str(caught.value)
    assert str(caught.value).startswith("f.yaml")
    assert what in str(caught.value)


def test_a_billion_laughs_are_refused() -> None:
    text = "a0: &a0 [x,x,x,x,x,x,x,x,x,x]\n" + "".join(
        f"a{n}: &a{n} [{','.join([f'*a{n - 1}'] * 10)}]\n" for n in range(1, 12)
    )
    with pytest.raises(InputError, match="unfolds"):
        read_yaml(text, where="f")


@given(st.text(max_size=200))
def test_any_text_is_read_or_refused(text: str) -> None:
    try:
        read_yaml(text, where="f")
    except InputError as error:
        assert error.problem  # noqa: PT017 - both ways out are right


@given(st.one_of(st.integers(-(10**20), 10**20), st.booleans(), st.floats(allow_nan=False)))
def test_numbers_and_booleans_come_back_as_they_were_written(value: object) -> None:
    written = str(value).lower() if isinstance(value, bool) else repr(value).replace("inf", ".inf")
    assert plain(written) == value

"""A stack file is read strictly, and each mistake is named with its line, its key and the nearest right spelling."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from seatrial.errors import InputError
from seatrial.stack.model import Engine
from seatrial.stack.reading import load_stack, parse_stack

SMALLEST = "name: review\nmodel:\n  repo: a/b\n"


def complaint(text: str) -> str:
    with pytest.raises(InputError) as caught:
        parse_stack(text, where="stack.yaml")
    return str(caught.value)


def test_name_and_model_are_enough() -> None:
    stack = parse_stack(SMALLEST, where="stack.yaml")
    assert (stack.name, stack.model.repo, stack.serve.host, stack.serve.port) == ("review", "a/b", "127.0.0.1", 30000)


def test_an_unknown_key_is_named_with_its_line_and_the_nearest_spelling() -> None:
    text = complaint(SMALLEST + "serve:\n  context_lenght: 4096\n")
    assert text.startswith("stack.yaml:5: ")
    assert "`serve.context_lenght`" in text
    assert "`context_length`" in text


def test_an_unknown_key_that_resembles_nothing_gets_the_list_of_known_ones() -> None:
    assert "tensor_parallel" in complaint(SMALLEST + "serve:\n  zzzzzz: 1\n")


def test_a_setting_without_a_reason_is_an_error() -> None:
    text = complaint(SMALLEST + "settings:\n  - flag: --tp-size\n    value: 2\n")
    assert "stack.yaml:5" in text
    assert "settings[0].why" in text


@pytest.mark.parametrize("entry", ["{why: because}", "{flag: --a, variable: B, why: because}"])
def test_a_setting_names_either_a_flag_or_a_variable(entry: str) -> None:
    assert "either a flag or a variable" in complaint(f"{SMALLEST}settings:\n  - {entry}\n")


def test_the_same_setting_twice_is_an_error() -> None:
    entry = "  - {flag: --a, value: 1, why: because}\n"
    assert "--a twice" in complaint(f"{SMALLEST}settings:\n{entry}{entry}")


def test_a_wrong_choice_gets_the_nearest_one() -> None:
    assert "`truncate`" in complaint(SMALLEST + "policy:\n  over_long_input: trunkate\n")


def test_numbers_in_quotes_are_not_taken_for_numbers() -> None:
    assert "serve.port" in complaint(SMALLEST + "serve:\n  port: '30000'\n")


def test_every_mistake_is_named_at_once() -> None:
    text = complaint("name: Bad Name\nmodel:\n  repo: a/b\n  revison: x\nserve:\n  port: 99999\n")
    assert text.count("stack.yaml:") == 3
    assert len(text.splitlines()) == 3


def test_a_missing_file_says_how_to_get_one(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="seatrial init"):
        load_stack(tmp_path / "stack.yaml")


def test_a_folder_a_binary_and_a_huge_file_are_one_line_each(tmp_path: Path) -> None:
    (tmp_path / "binary").write_bytes(b"\xff\xfe\x00")
    (tmp_path / "huge").write_bytes(b"#" * 2_000_000)
    for name in (".", "binary", "huge"):
        with pytest.raises(InputError) as caught:
            load_stack(tmp_path / name)
        assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("image", "version"),
    [
        ("lmsysorg/sglang:v0.5.16", "0.5.16"),
        ("lmsysorg/sglang:v0.5.16-cu130", "0.5.16"),
        ("host.example:5000/mine/sglang:0.5.16.post1", "0.5.16.post1"),
        ("lmsysorg/sglang:v0.5.23rc1@sha256:00", "0.5.23rc1"),
        ("lmsysorg/sglang:latest", None),
        ("host.example:5000/sglang", None),
        ("mine@sha256:0123", None),
    ],
)
def test_the_engine_version_is_read_from_the_tag(image: str, version: str | None) -> None:
    assert Engine(image=image).resolved_version == version


VALUES = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=12)),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(st.text(max_size=8), inner, max_size=3)),
    max_leaves=8,
)
KEYS = st.sampled_from(["name", "engine", "model", "serve", "store", "policy", "debug", "settings", "container", "x"])


@given(st.dictionaries(KEYS, VALUES, max_size=6))
def test_no_document_gives_a_traceback(document: dict[str, object]) -> None:
    import json

    text = json.dumps(document, allow_nan=False) if _is_json(document) else str(document)
    try:
        parse_stack(text, where="stack.yaml")
    except InputError as error:
        assert error.where  # noqa: PT017 - both ways out are right


def _is_json(document: object) -> bool:
    import json

    try:
        json.dumps(document, allow_nan=False)
    except ValueError:
        return False
    return True


@given(st.binary(max_size=80), st.integers(0, 200))
def test_no_damaged_file_gives_a_traceback(tmp_path_factory: pytest.TempPathFactory, noise: bytes, at: int) -> None:
    path = tmp_path_factory.mktemp("stack") / "stack.yaml"
    text = (SMALLEST + "serve: {port: 1, host: x}\nsettings:\n  - {flag: --a, why: because}\n").encode()
    path.write_bytes(text[:at] + noise + text[at:])
    try:
        load_stack(path)
    except InputError as error:
        assert str(path) in str(error)  # noqa: PT017 - both ways out are right

"""The catalogue knows every flag of each version, finds them by all their names, and says what each does."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from seatrial.engines.sglang.catalogue import Catalogue, Flag, Variable, help_texts, load, versions
from seatrial.engines.sglang.command_line import understand
from seatrial.engines.sglang.flag_checks import check_command, check_values

C16 = load("0.5.16")


@pytest.mark.parametrize("version", versions())
def test_every_flag_is_explained_in_a_sentence(version: str) -> None:
    flags = [name for name in load(version).names() if name.startswith("-")]
    assert len(flags) > 400
    assert [name for name in flags if len(help_texts().get(name, "")) < 8] == []


def test_no_help_is_about_a_flag_that_nobody_has() -> None:
    known = {name for version in versions() for name in load(version).names()}
    others = {"HF_HOME", "TRITON_CACHE_DIR", "HOME"}  # of the libraries that the engine uses
    assert set(help_texts()) - known == others


@pytest.mark.parametrize("name", ["--tp-size", "--tensor-parallel-size"])
def test_a_flag_is_found_by_each_of_its_names(name: str) -> None:
    found = C16.find(name)
    assert isinstance(found, Flag)
    assert (found.name, found.type, found.default) == ("--tp-size", "int", 1)


def test_a_variable_is_found_with_what_it_may_be() -> None:
    found = C16.find("SGLANG_MAMBA_CONV_DTYPE")
    assert isinstance(found, Variable)
    assert found.default == "bfloat16"
    assert "float16" in found.choices


def test_a_variable_that_is_read_without_being_declared_is_known() -> None:
    assert C16.find("SGLANG_HEALTH_CHECK_TIMEOUT") is not None


@pytest.mark.parametrize(
    ("wanted", "taken"),
    [
        ("0.5.16", "0.5.16"),
        ("0.5.23", "0.5.23"),
        ("0.5.20", "0.5.16"),
        ("0.4.0", "0.5.16"),
        ("9.9", "0.5.23"),
        ("", "0.5.23"),
    ],
)
def test_an_unknown_version_gets_the_nearest_older_one(wanted: str, taken: str) -> None:
    catalogue = load(wanted)
    assert catalogue.version == taken
    assert catalogue.exact is (wanted == taken)


@pytest.mark.parametrize(
    ("words", "finding", "setting"),
    [
        ("--mem-fraction-statik 0.8", "unknown-flag", "--mem-fraction-statik"),
        ("--tp 2", "abbreviated-flag", "--tp-size"),
        ("--enable-d", "ambiguous-flag", "--enable-d"),
        ("--tp-size two", "wrong-type", "--tp-size"),
        ("--tp-size", "wrong-type", "--tp-size"),
        ("--dtype fp16", "bad-choice", "--dtype"),
        ("--mamba-scheduler-strategy auto", "deprecated-flag", "--mamba-scheduler-strategy"),
        ("--mamba-full-memory-ratio 0.90", "no-op", "--mamba-full-memory-ratio"),
        ("--tp-size 2 --tp-size 4", "repeated-flag", "--tp-size"),
        ("--disable-radix-cache=true", "needless-value", "--disable-radix-cache"),
        ("--disable-radix-cache true", "stray-word", None),
        ("--context-length 256k", "decimal-size", "--context-length"),
        ("--dtype 'float16'", "quoting", "--dtype"),
        ("--dtype =float16", "quoting", "--dtype"),
        ("--json-model-override-args {a:1}", "quoting", "--json-model-override-args"),
        ("--model-path $MODEL", "quoting", "--model-path"),
        ("--served-model-name a:b", "colon-in-served-name", "--served-model-name"),
        (
            "--disable-radix-cache --mamba-radix-cache-strategy no_buffer",
            "strategy-without-radix-cache",
            "--disable-radix-cache",
        ),
        ("--log-requests-level 3", "log-level-of-requests-without-log", "--log-requests-level"),
    ],
)
def test_each_mistake_on_a_command_line_is_a_finding(words: str, finding: str, setting: str | None) -> None:
    command = understand(["python3", "-m", "sglang.launch_server", *words.split(" ")], C16)
    found = {(one.id, one.setting) for one in check_command(command, {}, C16)}
    assert (finding, setting) in found


@pytest.mark.parametrize(
    "words",
    [
        "--tp-size 2 --dtype float16 --mem-fraction-static=0.85",
        "--chunked-prefill-size -1",
        "--cuda-graph-bs-decode 1 2 4 8 --port 8000",
        "--context-length 256Ki",
        '--cuda-graph-config {"decode":{"max_bs":8}}',
    ],
)
def test_a_right_command_line_has_no_error(words: str) -> None:
    command = understand(["python3", "-m", "sglang.launch_server", *words.split(" ")], C16)
    assert [one for one in check_command(command, {}, C16) if one.level != "note"] == []


def test_a_flag_that_was_removed_says_what_takes_its_place() -> None:
    (found,) = (one for one in check_values({"--cuda-graph-max-bs": 8}, load("0.5.23")) if one.level == "error")
    assert found.id == "removed-flag"
    assert "--cuda-graph-max-bs-decode" in found.advice


def test_a_variable_with_a_silently_ignored_value_is_an_error() -> None:
    ids = {one.id for one in check_values({"SGLANG_MAMBA_CONV_DTYPE": "fp16", "SGLANG_MAMBA_KONV_DTYPE": "x"}, C16)}
    assert {"bad-choice", "unknown-variable"} <= ids


def test_serve_takes_its_model_by_position() -> None:
    assert understand(["sglang", "serve", "owner/name", "--tp-size", "2"], C16).values["--model-path"] == "owner/name"


@given(
    st.lists(
        st.text(max_size=12) | st.sampled_from(["--tp", "--dtype", "-1", "--config", "serve", "sglang"]), max_size=8
    )
)
def test_no_list_of_words_gives_a_traceback(words: list[str]) -> None:
    command = understand(words, C16)
    for finding in check_command(command, dict.fromkeys(words, "x"), C16):
        assert finding.message
    assert isinstance(C16, Catalogue)

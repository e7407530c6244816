"""The catalogue knows every flag of each version, finds them by all their names, and says what each does."""

from __future__ import annotations

import json
from importlib import resources

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

from seatrial.engines.sglang.catalogue import Catalogue, Flag, Variable, help_texts, load, versions
from seatrial.engines.sglang.command_line import understand
from seatrial.engines.sglang.contradictions import rows
from seatrial.engines.sglang.flag_checks import check_command, check_config, check_values, old_values

C16, C23 = load("0.5.16"), load("0.5.23")
DATA = resources.files("seatrial.engines.sglang") / "flags"


def ids(words: list[str], catalogue: Catalogue = C16, variables: dict[str, str | None] | None = None) -> set[str]:
    command = understand(["python3", "-m", "sglang.launch_server", *words], catalogue)
    return {one.id for one in check_command(command, variables or {}, catalogue)}


@pytest.mark.parametrize("version", versions())
def test_the_data_keeps_to_its_schema_and_names_only_flags_that_are_there(version: str) -> None:
    document = json.loads((DATA / f"{version}.json").read_text(encoding="utf-8"))
    jsonschema.validate(document, json.loads((DATA / "schema.json").read_text(encoding="utf-8")))
    names = [row["name"] for row in document["flags"]]
    assert names == sorted(set(names))
    for row in document["flags"]:
        assert set(row.get("instead", ())) <= set(names) | {row["name"]}
        assert row.get("sets", row["name"]) in names


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


@pytest.mark.parametrize(
    ("words", "finding"),
    [
        (["--dtype", ""], "quoting"),
        (["--tp-size=2 --port 80"], "quoting"),
        (["--tp-size 2"], "quoting"),
        (["--tp-size", "2 "], "quoting"),
        (["\u2014tp-size", "2"], "quoting"),
        (["--port", "80", "\\"], "quoting"),
        (["--default-chat-template-kwargs", "{enable_thinking: false}"], "quoting"),
        (["--help"], "help-asked"),
        (["--config=server.yaml"], "config-not-read"),
        (["--config", "a.yaml", "--config", "b.yaml"], "repeated-flag"),
        (["--cuda-graph-max-bs", "8", "--cuda-graph-max-bs-decode", "16"], "repeated-flag"),
        (["--lora-target-modules", "q_proj", "x_proj"], "bad-choice"),
        (["--chunked-prefill-size", "1000", "--page-size", "16"], "chunk-is-no-multiple-of-page"),
        (["--grpc-port", "30000", "--port", "30000"], "two-servers-on-one-port"),
        (["--tool-call-parser", "qwen25"], "deprecated-value"),
        (["--enable-session-radix-cache"], "session-cache-without-priority"),
        (["--ssl-keyfile", "k.pem"], "key-file-without-certificate"),
        (["--enable-hierarchical-cache", "--disable-radix-cache"], "hierarchical-without-radix-cache"),
        (["--kv-canary-sweep-interval", "8"], "canary-sweep-without-canary"),
    ],
)
def test_each_odd_word_is_a_finding(words: list[str], finding: str) -> None:
    assert finding in ids(words)


@pytest.mark.parametrize(
    "words",
    [
        ["--model-checksum", "--port", "80"],
        ["--lora-target-modules"],
        ["--chunked-prefill-size", "-1", "--page-size", "16"],
        ["--chunked-prefill-size", "2048", "--page-size", "16"],
        ['--default-chat-template-kwargs={"enable_thinking": false}'],
        ["--limit-mm-data-per-request", '{"image": 1}'],
        ["--enable-session-radix-cache", "--radix-eviction-policy", "priority"],
        ["--sidecar", "module", "--grpc-port", "9000"],
        ["--fastapi-root-path", ""],
    ],
)
def test_what_the_engine_takes_is_no_finding(words: list[str]) -> None:
    assert ids(words) <= {"no-op"}


@pytest.mark.parametrize("words", [["--cuda-graph-max-bs", "8"], ["--disable-piecewise-cuda-graph"]])
def test_a_removed_flag_is_told_from_the_beginning_of_two_others(words: list[str]) -> None:
    assert "deprecated-flag" in ids(words, C16)
    assert "removed-flag" in ids(words, C23)
    assert "ambiguous-flag" not in ids(words, C23)


def test_a_value_that_is_gone_says_what_to_use() -> None:
    words = ["--cuda-graph-backend-prefill", "tc_piecewise"]
    (found,) = (one for one in check_command(understand(words, C23), {}, C23) if one.id == "bad-choice")
    assert "breakable" in found.advice
    for name, values in old_values().items():
        for value, instead in values.items():
            choices = {version: load(version).flag(name) for version in versions()}
            assert any(flag and value in flag.choices for flag in choices.values())
            assert all(flag and instead in flag.choices for flag in choices.values())


def test_a_neighbouring_version_gives_no_certainty() -> None:
    words = ["--attn-dp-size", "2"]
    command = understand(words, load("0.5.20"))
    (found,) = (one for one in check_command(command, {}, load("0.5.20")) if one.id == "newer-flag")
    assert found.level == "warning"
    assert "0.5.20" in found.message


@pytest.mark.parametrize(
    ("name", "value", "finding"),
    [
        ("SGLANG_LOG_MS", "on", "wrong-type"),
        ("SGLANG_LOG_MS", "1", None),
        ("SGLANG_LOG_MS", "no", "no-op"),
        ("SGLANG_HEALTH_CHECK_TIMEOUTS", "20", "unknown-variable"),
        ("SGLANG_GC_LOG", "1", "deprecated-variable"),
        ("SGL_LOG_MS", "1", "deprecated-variable"),
        ("SGLANG_REQ_WAITING_TIMEOUT", "a minute", "wrong-type"),
        ("SGLANG_MAMBA_CONV_DTYPE", "fp16", "bad-choice"),
        ("SGLANG_MAMBA_CONV_DTYPE", "bfloat16", "no-op"),
        ("HF_TOKEN", "x", None),
        ("PATH", "/bin", None),
    ],
)
def test_each_mistake_in_a_variable_is_a_finding(name: str, value: str, finding: str | None) -> None:
    assert ids([], C16, {name: value}) == ({finding} if finding else set())


def test_what_a_config_file_can_not_hold_is_told() -> None:
    document = {"tp-size": 2, "tp_size": 2, "disable-cuda-graph": True, "cuda-graph-max-bs": 8, "dllm-fdfo": False}
    found = {(one.id, one.setting) for one in check_config(document, C16)}
    assert found == {
        ("unknown-flag", "--tp-size"),
        ("config-key-refused", "--disable-cuda-graph"),
        ("config-key-refused", "--cuda-graph-max-bs"),
        ("config-key-refused", "--dllm-fdfo"),
    }


def test_what_does_not_go_together_is_about_flags_that_there_are() -> None:
    known = {name for version in versions() for name in load(version).names()}
    for row in rows():
        assert {*row["when"], *row.get("unless", {})} <= known, row["id"]
        assert row["level"] in ("error", "warning", "note")
        assert row["message"]
        assert row["advice"].endswith(".")


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

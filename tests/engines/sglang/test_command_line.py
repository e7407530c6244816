"""A command line means to us what it means to SGLang's own parser (tests/sglang asks that one itself)."""

from __future__ import annotations

import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from seatrial.engines.sglang.catalogue import load
from seatrial.engines.sglang.command_line import understand

C16, C23 = load("0.5.16"), load("0.5.23")
LAUNCH = ("python3", "-m", "sglang.launch_server")


def values(*words: str) -> dict[str, object]:
    return dict(understand([*LAUNCH, *words], C16).values)


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (("--tp-size", "2"), {"--tp-size": 2}),
        (("--tp-size=2",), {"--tp-size": 2}),
        (("--tensor-parallel-size", "2"), {"--tp-size": 2}),
        (("--tp", "2"), {"--tp-size": 2}),
        (("--tp=2",), {"--tp-size": 2}),
        (("--tp-size", "2", "--tp-size", "4"), {"--tp-size": 4}),
        (("--chunked-prefill-size", "-1"), {"--chunked-prefill-size": -1}),
        (("--context-length", "256k"), {"--context-length": 256_000}),
        (("--context-length", "256Ki"), {"--context-length": 262_144}),
        (("--context-length", "1.5k"), {"--context-length": 1_500}),
        (
            ("--cuda-graph-bs-decode", "1", "2", "4", "--port", "80"),
            {"--cuda-graph-bs-decode": (1, 2, 4), "--port": 80},
        ),
        (("--no-dllm-fdfo",), {"--dllm-fdfo": False}),
        (("--no-dllm",), {"--dllm-fdfo": False}),
        (("--model-checksum", "--trust-remote-code"), {"--model-checksum": True, "--trust-remote-code": True}),
        (("--lora-target-modules",), {"--lora-target-modules": ()}),
        (("--json-model-override-args", '{"a": 1}'), {"--json-model-override-args": '{"a": 1}'}),
        (('--json-model-override-args={"a": 1, "b": 2}',), {"--json-model-override-args": '{"a": 1, "b": 2}'}),
    ],
)
def test_flags_are_read_as_argparse_reads_them(words: tuple[str, ...], expected: dict[str, object]) -> None:
    assert values(*words) == expected


@pytest.mark.parametrize(
    ("words", "setting", "value"),
    [
        (("--cuda-graph-max-bs", "32"), "--cuda-graph-max-bs-decode", 32),
        (("--mamba-scheduler-strategy", "no_buffer"), "--mamba-radix-cache-strategy", "no_buffer"),
        (("--disable-piecewise-cuda-graph",), "--cuda-graph-backend-prefill", "disabled"),
        (("--stream-output",), "--incremental-streaming-output", True),
    ],
)
def test_a_deprecated_flag_counts_for_what_it_sets(words: tuple[str, ...], setting: str, value: object) -> None:
    assert values(*words) == {setting: value}


def test_a_beginning_of_two_flags_stands_for_neither() -> None:
    (given_,) = understand([*LAUNCH, "--cuda-graph-max-bs", "8"], C23).flags
    assert given_.flag is None
    assert set(given_.candidates) == {"--cuda-graph-max-bs-decode", "--cuda-graph-max-bs-prefill"}


@pytest.mark.parametrize(
    ("words", "stray"),
    [
        (("--disable-radix-cache", "true"), ["true"]),
        (("--tp-size 2",), ["--tp-size 2"]),
        (("--tp-size", "2", "3"), ["3"]),
        (("--", "--tp-size"), ["--", "--tp-size"]),
    ],
)
def test_words_that_belong_to_no_flag_are_kept(words: tuple[str, ...], stray: list[str]) -> None:
    assert [word for _, word in understand([*LAUNCH, *words], C16).stray] == stray


@pytest.mark.parametrize(
    ("program", "model"),
    [
        (("sglang", "serve", "owner/name"), "owner/name"),
        (("/opt/bin/sglang", "serve", "--model-type", "llm", "owner/name"), "owner/name"),
        (("sglang", "serve", "--model-type=llm", "--model-path", "owner/name"), "owner/name"),
        (("numactl", "--interleave=all", *LAUNCH, "--model", "owner/name"), "owner/name"),
        (("python", "-u", "/sgl/sglang/launch_server.py", "--model-path=owner/name"), "owner/name"),
        (("--model-path", "owner/name"), "owner/name"),
    ],
)
def test_the_engine_is_found_however_it_is_started(program: tuple[str, ...], model: str) -> None:
    command = understand([*program, "--tp-size", "2"], C16)
    assert dict(command.values) == {"--model-path": model, "--tp-size": 2}
    assert command.stray == ()


def test_the_command_line_goes_before_the_file_that_it_names() -> None:
    words = [*LAUNCH, "--config", "server.yaml", "--tp-size", "4"]
    document = {
        "tp-size": 2,
        "log-requests": True,
        "trust-remote-code": False,
        "cuda-graph-bs-decode": [1, 2],
        "port": 80,
    }
    command = understand(words, C16, document)
    assert command.config == "server.yaml"
    assert dict(command.values) == {
        "--config": "server.yaml",
        "--tp-size": 4,
        "--log-requests": True,
        "--cuda-graph-bs-decode": (1, 2),
        "--port": 80,
    }
    assert {one.position for one in command.flags if one.from_config} == {words.index("--config")}


def test_a_key_with_underscores_names_no_flag() -> None:
    command = understand([*LAUNCH, "--config", "server.yaml"], C16, {"tp_size": 2})
    assert "--tp-size" not in command.values
    assert [one.name for one in command.flags if one.flag is None] == ["--tp_size"]


@pytest.mark.parametrize("word", ["--config=server.yaml", "--conf"])
def test_another_spelling_of_config_reads_no_file(word: str) -> None:
    assert understand([*LAUNCH, word, "server.yaml"], C16, {"tp-size": 2}).config is None


WORDS = st.text(max_size=12) | st.sampled_from(
    [
        "--tp",
        "--tp-size=2",
        "--dtype",
        "-1",
        "--config",
        "x.yaml",
        "serve",
        "sglang",
        "--",
        "-h",
        "--cuda-graph-bs-decode",
        "=",
    ]
)


@given(st.lists(WORDS, max_size=10))
def test_every_word_is_kept_exactly_once(words: list[str]) -> None:
    command = understand([*LAUNCH, *words], C16)
    positions = [position for position, _ in command.stray]
    for one in command.flags:
        positions += range(one.position, one.position + 1 + (0 if one.attached else len(one.words)))
    assert sorted(positions) == list(range(len(LAUNCH), len(LAUNCH) + len(words)))


@given(
    st.lists(WORDS, max_size=10),
    st.dictionaries(st.text(max_size=8) | st.integers(), st.none() | st.text() | st.booleans()),
)
def test_no_words_and_no_config_give_a_traceback(words: list[str], document: dict[Any, Any]) -> None:
    for catalogue in (C16, C23):
        assert understand([*LAUNCH, *words], catalogue, document).program == LAUNCH


def test_a_long_command_line_is_understood_at_once() -> None:
    words = ["--cuda-graph-bs-decode", *map(str, range(20_000)), *(["--tp-size", "2"] * 2_000)]
    begin = time.process_time()
    understand(words, C16)
    assert time.process_time() - begin < 5  # 20 times what it takes on two old cores; a quadratic reader takes minutes

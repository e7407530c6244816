"""The Compose file that the deployment notes describe: nothing is missing, and each row that is removed is missed."""

from __future__ import annotations

import pytest

from linting import DATA, Linter, model_of
from seatrial.findings import Level

FILES = {"35b": "compose-35b.yaml", "27b": "compose-27b.yaml"}
MISSING = {"missing-setting", "not-stated", "cannot-tell"}

ROWS = {
    "--dtype": ("- --dtype", "- float16"),
    "SGLANG_MAMBA_CONV_DTYPE": ("SGLANG_MAMBA_CONV_DTYPE: float16",),
    "--mamba-full-memory-ratio": ("- --mamba-full-memory-ratio", '- "0.9"'),
    "--mem-fraction-static": ("- --mem-fraction-static", '- "0.85"'),
    "--allow-auto-truncate": ("- --allow-auto-truncate",),
    "--disable-custom-all-reduce": ("- --disable-custom-all-reduce",),
    "--cuda-graph-backend-prefill": ("- --cuda-graph-backend-prefill=disabled",),
    "--reasoning-parser": ("- --reasoning-parser", "- qwen3"),
    "--tool-call-parser": ("- --tool-call-parser", "- qwen3_coder"),
    "--context-length": ("- --context-length", '- "262144"'),
    "--tp-size": ("- --tp-size", '- "2"'),
}
"""Every row of the table, and its lines in the file."""


def text_of(key: str) -> str:
    return (DATA / FILES[key]).read_text(encoding="utf-8")


def without(text: str, *lines: str) -> str:
    kept = [line for line in text.splitlines() if line.strip() not in lines]
    assert len(kept) == len(text.splitlines()) - len(lines)
    return "\n".join(kept)


@pytest.mark.parametrize("key", FILES)
def test_nothing_is_missing_and_nothing_is_wrong(linter: Linter, key: str) -> None:
    findings = linter(text_of(key), model_of(key)).lint.findings
    assert not [finding for finding in findings if finding.id in MISSING]
    assert not [finding for finding in findings if finding.level is Level.ERROR]


@pytest.mark.parametrize("key", FILES)
def test_the_ratio_is_said_to_change_nothing_and_truncation_to_be_silent(linter: Linter, key: str) -> None:
    kinds = linter(text_of(key), model_of(key)).kinds
    assert ("note", "no-op", "--mamba-full-memory-ratio") in kinds
    assert ("warning", "silent-truncation", "--allow-auto-truncate") in kinds


@pytest.mark.parametrize("key", FILES)
@pytest.mark.parametrize("row", ROWS)
def test_a_row_that_is_removed_is_missed_and_nothing_else(linter: Linter, key: str, row: str) -> None:
    whole = linter(text_of(key), model_of(key)).kinds
    removed = linter(without(text_of(key), *ROWS[row]), model_of(key)).kinds
    new = {kind for kind in removed - whole if kind[2] is not None}
    assert {setting for _level, _id, setting in new} == {row}


@pytest.mark.parametrize("row", ROWS)
def test_what_returns_without_a_row_is_said(linter: Linter, row: str) -> None:
    found = linter(without(text_of("35b"), *ROWS[row]), model_of("35b")).lint.findings
    (finding,) = (one for one in found if one.setting == row and one.id in {*MISSING, "over-long-input-is-refused"})
    assert len(finding.message) > 30
    assert len(finding.advice) > 30


def test_without_the_conv_dtype_the_death_at_the_first_request_is_foretold(linter: Linter) -> None:
    found = linter(without(text_of("35b"), *ROWS["SGLANG_MAMBA_CONV_DTYPE"]), model_of("35b")).lint.findings
    (finding,) = (one for one in found if one.setting == "SGLANG_MAMBA_CONV_DTYPE")
    assert finding.level is Level.ERROR
    assert "dies at the first request" in finding.advice


def test_on_an_unknown_machine_what_is_there_is_not_called_missing(linter: Linter) -> None:
    findings = linter(text_of("35b"), model_of("35b"), host=None).lint.findings
    assert not [finding for finding in findings if finding.id in MISSING]


def test_on_an_unknown_machine_what_is_not_there_can_not_be_told(linter: Linter) -> None:
    text = without(text_of("35b"), *ROWS["--disable-custom-all-reduce"])
    found = linter(text, model_of("35b"), host=None).lint.findings
    (finding,) = (one for one in found if one.setting == "--disable-custom-all-reduce")
    assert (finding.level, finding.id) == (Level.WARNING, "cannot-tell")
    assert "host.peer_access" in finding.message


def test_with_bfloat16_all_through_nothing_is_wrong_but_the_speed(linter: Linter) -> None:
    text = without(text_of("35b"), *ROWS["--dtype"], *ROWS["SGLANG_MAMBA_CONV_DTYPE"])
    findings = linter(text, model_of("35b")).lint.findings
    assert [(one.level, one.setting) for one in findings if one.id == "missing-setting"] == [(Level.WARNING, "--dtype")]


def test_a_state_in_another_dtype_than_the_computation_is_an_error(linter: Linter) -> None:
    text = text_of("35b").replace("- float16", "- bfloat16")
    found = {
        (one.level, one.setting) for one in linter(text, model_of("35b")).lint.findings if one.id == "against-rule"
    }
    assert (Level.ERROR, "SGLANG_MAMBA_CONV_DTYPE") in found or (Level.ERROR, "--dtype") in found


@pytest.mark.parametrize(
    ("change", "finding"),
    [
        (("lmsysorg/sglang:v0.5.16", "lmsysorg/sglang:latest"), "unpinned-image"),
        (("127.0.0.1:30000:30000", "30000:30000"), "open-port-without-key"),
        (("- --tp-size", "- --api-key\n      - sk-1234\n      - --tp-size"), "secret-in-the-open"),
        (("    ipc: host\n", ""), "small-shared-memory"),
        (("      start_period: 30m\n", ""), "short-start-period"),
        (("      start_period: 30m\n", "      start_period: 30s\n"), "short-start-period"),
        (("      - ../jit-cache:/root/.cache\n", ""), "caches-not-persisted"),
        (("HF_HOME: /hf-cache", "HF_HOME: /elsewhere"), "weights-not-persisted"),
        (("HF_HOME: /hf-cache", "HF_HOME: /hf-cache/hub"), "hf-home-is-the-hub"),
        (("../hf-cache:/hf-cache", "../hf-cache/hub:/hf-cache"), "hub-mounted-as-home"),
        (("QuantTrio/Qwen3.6-35B-A3B-AWQ", "QuantTrio/Qwen3.6-27B-AWQ"), "reported-broken"),
        (("count: 2", "count: 1"), "too-few-gpus-reserved"),
        (("localhost:30000", "localhost:8000"), "health-check-asks-elsewhere"),
        (("      - 0.0.0.0\n", "      - 127.0.0.1\n"), "against-rule"),
        (("HF_HOME: /hf-cache", "HF_HOME: /hf-cache\n      HF_TOKEN: hf_abcdef"), "secret-in-the-open"),
        (("- --tp-size", "- --tpsize"), "unknown-flag"),
        (("- --tp-size", "- --tp"), "abbreviated-flag"),
        (('- "2"', "- two"), "wrong-type"),
        (("- qwen3_coder", "- qwen3_codr"), "bad-choice"),
        (("- --tp-size", "- --mamba-scheduler-strategy\n      - auto\n      - --tp-size"), "deprecated-flag"),
        (('- --tp-size\n      - "2"', "- --tp-size 2"), "quoting"),
        (('      - "262144"', "      - 256k"), "decimal-size"),
        (("- --tp-size", "- –-tp-size"), "quoting"),
    ],
    ids=lambda value: value if isinstance(value, str) else None,
)
def test_each_mistake_around_it_is_found(linter: Linter, change: tuple[str, str], finding: str) -> None:
    text = text_of("35b")
    changed = text.replace(*change)
    assert changed != text
    assert finding in {one.id for one in linter(changed, model_of("35b")).lint.findings}
    assert finding not in {one.id for one in linter(text, model_of("35b")).lint.findings}

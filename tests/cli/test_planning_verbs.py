"""The planning verbs from the shell: they work without GPU, Docker or network, and no input gives a traceback."""

from __future__ import annotations

import json
import stat
from pathlib import Path

import pytest

from kit import CommandLine
from linting import DATA

GPUS = ("--gpus", "2x RTX 4090")
COMPOSE = DATA / "compose-35b.yaml"


@pytest.fixture
def stack(seatrial: CommandLine) -> Path:
    seatrial("init", "--example", "two-4090", expect=0)
    return seatrial.folder / "stack.yaml"


def test_init_writes_a_stack_file_that_plans_without_errors(seatrial: CommandLine, stack: Path) -> None:
    document = json.loads(seatrial("plan", stack, *GPUS, "--json", expect=0).stdout)
    assert not [finding for finding in document["findings"] if finding["level"] == "error"]
    flags = {setting.get("flag") or setting["variable"]: setting for setting in document["settings"]}
    assert flags["--dtype"]["value"] == "float16"
    assert flags["--dtype"]["class"] == "performance"
    assert flags["SGLANG_MAMBA_CONV_DTYPE"]["class"] == "correctness"
    assert all(setting["why"] and setting["evidence"] for setting in document["settings"])
    assert document["memory"]["kv_cache_tokens"] > 0
    assert document["memory"]["effective_input_tokens"] > 0


def test_init_never_replaces_a_stack_file_unasked(seatrial: CommandLine, stack: Path) -> None:
    before = stack.read_bytes()
    assert "exists already" in seatrial("init", "--example", "one-h100", expect=2).stderr
    assert stack.read_bytes() == before
    seatrial("init", "--example", "one-h100", "--force", expect=0)
    assert stack.read_bytes() != before


def test_the_schema_beside_the_stack_file_accepts_it(seatrial: CommandLine, stack: Path) -> None:
    import jsonschema

    from seatrial.yaml_text import read_yaml

    schema = json.loads((seatrial.folder / "stack.schema.json").read_text(encoding="utf-8"))
    assert schema == json.loads(seatrial("schema", expect=0).stdout)
    jsonschema.Draft202012Validator(schema).validate(read_yaml(stack.read_text(encoding="utf-8"), where="s").value)


def test_plan_shows_each_class_and_every_reason_on_request(seatrial: CommandLine, stack: Path) -> None:
    short = seatrial("plan", stack, *GPUS, expect=0).stdout
    whole = seatrial("plan", stack, *GPUS, "--why", expect=0).stdout
    for word in ("boot", "correctness", "performance", "policy", "memory", "KV cache"):
        assert word in short
    assert "Without it" not in short
    assert "Without it" in whole
    assert "engine-source" in whole


def test_facts_of_one_machine_plan_on_another(seatrial: CommandLine, stack: Path) -> None:
    facts = seatrial("facts", *GPUS, "--model", "QuantTrio/Qwen3.6-35B-A3B-AWQ", expect=0).stdout
    (seatrial.folder / "facts.yaml").write_text(facts, encoding="utf-8")
    from_file = json.loads(seatrial("plan", stack, "--facts", "facts.yaml", "--json", expect=0).stdout)
    described = json.loads(seatrial("plan", stack, *GPUS, "--json", expect=0).stdout)
    assert from_file["settings"] == described["settings"]
    assert from_file["memory"] == described["memory"]


def test_without_facts_the_plan_says_what_it_can_not_tell(seatrial: CommandLine, stack: Path) -> None:
    document = json.loads(seatrial("plan", stack, "--json", expect=0).stdout)
    if document["host"] is not None:
        pytest.skip("this machine has GPUs of its own")
    assert document["memory"] is None
    assert {finding["setting"] for finding in document["findings"] if finding["id"] == "cannot-tell"} >= {"--dtype"}


def test_a_goal_gets_a_table_of_what_reaches_it(seatrial: CommandLine, stack: Path) -> None:
    document = json.loads(seatrial("plan", stack, *GPUS, "--goal", "concurrency=64", "--json", expect=0).stdout)
    asis, *others = document["advice"]
    assert not asis["reaches"]
    assert all(trade["max_running_requests"] >= 64 for trade in others if trade["reaches"])
    assert any(trade["reaches"] for trade in others)


def test_diff_names_what_the_plan_would_change(seatrial: CommandLine, stack: Path) -> None:
    document = json.loads(seatrial("plan", stack, *GPUS, "--diff", COMPOSE, "--json", expect=0).stdout)
    changes = {change["name"]: (change["there"], change["planned"]) for change in document["changes"]}
    assert changes["--allow-auto-truncate"] == (True, None)
    assert changes["--enable-metrics"] == (None, True)
    assert "--dtype" not in changes


def test_lint_of_the_deployment_notes_ends_well_and_json_is_all_there_is(seatrial: CommandLine) -> None:
    done = seatrial("lint", COMPOSE, *GPUS, "--json", expect=0)
    document = json.loads(done.stdout)
    assert {"silent-truncation", "no-op"} <= {finding["id"] for finding in document["findings"]}


def test_lint_finds_errors_and_exits_with_1(seatrial: CommandLine) -> None:
    file = seatrial.folder / "compose.yaml"
    text = COMPOSE.read_text(encoding="utf-8").replace("SGLANG_MAMBA_CONV_DTYPE: float16", "OTHER: x")
    file.write_text(text, encoding="utf-8")
    done = seatrial("lint", *GPUS, expect=1)
    assert "SGLANG_MAMBA_CONV_DTYPE" in done.stdout
    assert "dies at the first request" in done.stdout


def test_lint_reads_a_command_line(seatrial: CommandLine) -> None:
    command = [
        "python",
        "-m",
        "sglang.launch_server",
        "--model-path",
        "Qwen/Qwen3.6-27B",
        "--tp",
        "2",
        "--dtype",
        "fp16",
    ]
    document = json.loads(seatrial("lint", *GPUS, "--json", "--", *command, expect=1).stdout)
    assert {("abbreviated-flag", "--tp-size"), ("bad-choice", "--dtype")} <= {
        (finding["id"], finding["setting"]) for finding in document["findings"]
    }


def test_adopt_writes_a_stack_and_keeps_secrets_to_their_owner(seatrial: CommandLine) -> None:
    text = COMPOSE.read_text(encoding="utf-8").replace(
        "- --tp-size", "- --api-key\n      - sk-hidden-123\n      - --tp-size"
    )
    (seatrial.folder / "compose.yaml").write_text(text, encoding="utf-8")
    done = seatrial("adopt", "compose.yaml", *GPUS, expect=0)
    written = (seatrial.folder / "stack.yaml").read_text(encoding="utf-8")
    key = seatrial.folder / "secrets" / "api_key"
    assert key.read_text(encoding="utf-8").strip() == "sk-hidden-123"
    assert stat.S_IMODE(key.stat().st_mode) == 0o600
    assert stat.S_IMODE(key.parent.stat().st_mode) == 0o700
    assert "sk-hidden-123" not in written + done.stdout + done.stderr
    assert "# The stack that the deployment notes describe" in written
    seatrial("plan", "stack.yaml", *GPUS, expect=0)


@pytest.mark.parametrize(
    "flag", ["--dtype", "dtype", "SGLANG_MAMBA_CONV_DTYPE", "--tp", "--tensor-parallel-size", "HF_HOME"]
)
def test_explain_knows_a_flag_by_all_its_names(seatrial: CommandLine, flag: str) -> None:
    document = json.loads(seatrial("explain", flag, "--json", expect=0).stdout)
    assert document["rules"]


def test_explain_says_why_a_plan_has_a_flag_or_not(seatrial: CommandLine, stack: Path) -> None:
    del stack
    there = json.loads(seatrial("explain", "--dtype", *GPUS, "--json", expect=0).stdout)
    not_there = json.loads(seatrial("explain", "--dtype", "--gpus", "1x H100", "--json", expect=0).stdout)
    assert there["setting"]["value"] == "float16"
    assert not_there["setting"] is None
    assert {rule["applies"] for rule in not_there["rules"]} == {False}
    assert "host.compute_capability at least 8.0 and below 9.0: it is 9.0" in " ".join(
        seatrial("explain", "--dtype", "--gpus", "1x H100", expect=0).stdout.split()
    )


def test_explain_proposes_the_nearest_spelling(seatrial: CommandLine) -> None:
    assert "--mem-fraction-static" in seatrial("explain", "--mem-fraction-statik", expect=2).stderr


def test_upgrade_shows_flags_and_rules_that_change(seatrial: CommandLine, stack: Path) -> None:
    text = stack.read_text(encoding="utf-8")
    text += "settings:\n  - flag: --mamba-scheduler-strategy\n    value: auto\n    why: an old habit\n"
    stack.write_text(text, encoding="utf-8")
    document = json.loads(seatrial("upgrade", "0.5.23", *GPUS, "--json", expect=1).stdout)
    gone = next(change for change in document["flags"] if change["name"] == "--mamba-scheduler-strategy")
    assert (gone["change"], gone["after"], gone["used"]) == ("removed", "--mamba-radix-cache-strategy", True)
    assert "removed-flag" in {finding["id"] for finding in document["new_findings"]}


BAD = [
    "",
    "\x00",
    "[",
    "name: 3",
    "- a",
    "name: x\nmodel: {repo: a/b}\nsettings: [{flag: --x}]",
    "a: &a [*a]",
    "{" * 500,
]


@pytest.mark.parametrize("text", BAD)
@pytest.mark.parametrize("verb", ["plan", "lint", "adopt"])
def test_a_broken_file_gets_one_clear_answer(seatrial: CommandLine, verb: str, text: str) -> None:
    (seatrial.folder / "file.yaml").write_bytes(text.encode())
    done = seatrial(verb, "file.yaml", expect=2)
    assert "file.yaml" in done.stderr
    assert not done.stdout


@pytest.mark.parametrize(
    "arguments",
    [
        ("plan", "missing.yaml"),
        ("plan", "stack.yaml", "--gpus", "3x Voodoo 2"),
        ("plan", "stack.yaml", "--facts", "missing.yaml"),
        ("plan", "stack.yaml", "--gpus", "h100", "--goal", "speed=fast"),
        ("plan", "stack.yaml", "--gpus", "h100", "--compare", "missing.log"),
        ("lint",),
        ("lint", "--"),
        ("lint", "stack.yaml"),
        ("upgrade", "newest"),
        ("explain",),
        ("init",),
        ("facts", "--model", "./missing"),
    ],
)
def test_wrong_usage_says_what_and_where(seatrial: CommandLine, stack: Path, arguments: tuple[str, ...]) -> None:
    del stack
    done = seatrial(*arguments, expect=2)
    assert done.stderr.startswith("seatrial: ")
    assert not done.stdout


def test_lint_reads_the_file_that_config_names(seatrial: CommandLine) -> None:
    key = "sk-lint-0123456789"
    (seatrial.folder / "engine.yaml").write_text(
        f"api-key: {key}\ncontext-length: 4096\nno-such-flag: 1\n", encoding="utf-8"
    )
    (seatrial.folder / "compose.yaml").write_text(
        "services:\n  engine:\n    image: lmsysorg/sglang:v0.5.16\n    volumes: ['./engine.yaml:/run/engine.yaml:ro']\n"
        "    command: [python3, -m, sglang.launch_server, --model-path, Qwen/Qwen3-8B, --config, /run/engine.yaml]\n",
        encoding="utf-8",
    )
    done = seatrial("lint", "compose.yaml", *GPUS, "--offline", "--json", expect=1)
    document = json.loads(done.stdout)
    assert document["given"]["--context-length"] == 4096
    assert any("no-such-flag" in finding["message"] for finding in document["findings"])
    assert key not in done.stdout + done.stderr
    (seatrial.folder / "engine.yaml").unlink()
    missing = seatrial("lint", "compose.yaml", *GPUS, "--offline", "--json")
    assert "config-not-read" in {finding["id"] for finding in json.loads(missing.stdout)["findings"]}

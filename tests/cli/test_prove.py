from __future__ import annotations

import json
import signal
import socket
import time
from dataclasses import replace
from pathlib import Path

import pytest

from kit import CommandLine
from seatrial.endpoint.address import Secret
from seatrial.testkit import LEGAL, Details, Fault, Script, fake_server
from seatrial.testkit.answer_sheet import AnswerSheet

KEY = "sk-3f9c-not-to-be-seen-7d1e"


def script(*faults: Fault, **parts: object) -> Script:
    return Script(faults=frozenset(faults), **parts)  # type: ignore[arg-type]


def prove_json(seatrial: CommandLine, url: str, expect: int, *more: str) -> dict[str, object]:
    done = seatrial("prove", "--url", url, "--max-tokens", "300", "--json", *more, expect=expect)
    document = json.loads(done.stdout)
    assert isinstance(document, dict)
    return document


def refuted_checks(document: dict[str, object]) -> set[str]:
    suite = document["suite"]
    assert isinstance(suite, dict)
    return {
        f"{trial['trial']}/{check['check']}"
        for trial in suite["trials"]
        for check in trial["checks"]
        if check["verdict"] == "refuted"
    }


def test_a_server_that_answers_perfectly_is_proven(seatrial: CommandLine) -> None:
    with fake_server() as server:
        done = seatrial("prove", "--url", server.base_url, expect=0)
    assert "fake-model" in done.stdout
    assert "proven" in done.stdout
    names = {path.name for path in seatrial.run_folder.iterdir()}
    assert names == {"run.json", "verdict.json", "requests.jsonl", "report.html", "seatrial.log"}
    assert json.loads((seatrial.run_folder / "run.json").read_text())["status"] == "finished"


@pytest.mark.parametrize("oddity", sorted(LEGAL - {Fault.NO_MODEL_LIST}))
def test_what_is_odd_but_legal_is_proven_all_the_same(seatrial: CommandLine, oddity: Fault) -> None:
    with fake_server(script(oddity)) as server:
        prove_json(seatrial, server.base_url, 0)


@pytest.mark.parametrize(
    ("fault", "checks"),
    [
        (Fault.LOOP_CONTENT, {"repetition/no_loops", "plain_answer/not_degenerate"}),
        (Fault.LOOP_REASONING, {"repetition/no_loops", "reasoning/not_degenerate"}),
        (Fault.LOOP_ARGUMENTS, {"tool_call/not_degenerate"}),
        (Fault.EMPTY_ANSWER, {"liveness/answers", "plain_answer/answer_present"}),
        (Fault.WRONG_ANSWER, {"plain_answer/is_right"}),
        (Fault.THINK_TAGS_IN_CONTENT, {"reasoning/reasoning_kept_apart"}),
        (Fault.TRUNCATE_TO_NOTHING, {"over_long_input/over_long_input", "over_long_input/over_long_input_streamed"}),
        (Fault.TRUNCATE_HEAD, {"over_long_input/over_long_input", "over_long_input/over_long_input_streamed"}),
        (Fault.TRUNCATE_TAIL, {"over_long_input/over_long_input", "over_long_input/over_long_input_streamed"}),
        (Fault.TRUNCATE_MIDDLE, {"over_long_input/over_long_input", "over_long_input/over_long_input_streamed"}),
        (Fault.IGNORE_TOOLS, {"tool_call/call_made"}),
        (Fault.CALL_IN_CONTENT, {"tool_call/call_made", "tool_call/no_markup_in_content"}),
        (Fault.CALL_IN_REASONING, {"tool_call/call_made", "tool_call/no_markup_in_reasoning"}),
        (Fault.WRONG_ARGUMENT_TYPES, {"tool_call/arguments_match_schema"}),
        (Fault.WRONG_ARGUMENT_VALUES, {"tool_call/arguments_as_expected"}),
        (Fault.MISSING_ARGUMENTS, {"tool_call/arguments_match_schema"}),
        (Fault.BROKEN_ARGUMENTS, {"tool_call/arguments_parse"}),
        (Fault.UNKNOWN_TOOL, {"tool_call/call_names_known"}),
        (Fault.MISSING_CALL_IDS, {"tool_call/call_ids_unique"}),
        (Fault.CALL_NOT_DUE, {"no_call/call_withheld"}),
        (Fault.ARGUMENTS_LOST_IN_STREAM, {"tool_call/arguments_parse"}),
        (Fault.WRONG_FINISH_REASON, {"tool_call/finish_reason_agrees"}),
        (Fault.WRONG_USAGE, {"plain_answer/usage_adds_up"}),
        (Fault.OTHER_MODEL, {"liveness/served_model"}),
    ],
)
def test_each_fault_is_refuted_by_the_check_that_is_meant_for_it(
    seatrial: CommandLine, fault: Fault, checks: set[str]
) -> None:
    with fake_server(script(fault)) as server:
        document = prove_json(seatrial, server.base_url, 1)
    assert document["verdict"] == "refuted"
    assert checks <= refuted_checks(document)


@pytest.mark.parametrize(
    "fault",
    [
        Fault.DIES_MID_STREAM,
        Fault.INVALID_JSON_BODY,
        Fault.INVALID_JSON_CHUNK,
        Fault.ERROR_EVENT,
        Fault.DEAD_BEHIND_HEALTH,
    ],
)
def test_a_server_that_breaks_off_is_unproven_and_that_is_told_apart(seatrial: CommandLine, fault: Fault) -> None:
    with fake_server(script(fault)) as server:
        document = prove_json(seatrial, server.base_url, 3)
    suite = document["suite"]
    assert isinstance(suite, dict)
    unproven = [check for trial in suite["trials"] for check in trial["checks"] if check["verdict"] == "unproven"]
    assert unproven
    assert all(check["infrastructure"] for check in unproven)


@pytest.mark.parametrize("fault", [Fault.NEVER_ANSWERS, Fault.NEVER_ENDS, Fault.LAG])
def test_a_server_that_takes_for_ever_is_unproven_within_the_limits(seatrial: CommandLine, fault: Fault) -> None:
    with fake_server(script(fault, details=Details(lag_seconds=600))) as server:
        began = time.monotonic()
        waits = ("--request-timeout", "1", "--silence-timeout", "1")
        document = prove_json(seatrial, server.base_url, 3, *waits)
    assert document["verdict"] == "unproven"
    assert time.monotonic() - began < 30


def test_a_loop_is_not_read_to_its_end(seatrial: CommandLine) -> None:
    with fake_server(script(Fault.LOOP_CONTENT)) as server:
        document = prove_json(seatrial, server.base_url, 1, "--max-tokens", "2000")
    rows = [json.loads(line) for line in (seatrial.run_folder / "requests.jsonl").read_text().splitlines()]
    streamed = [row for row in rows if row["request"].get("stream") and row["label"].startswith("repetition")]
    assert streamed
    assert all(row["stopped"] and len(row["answer"]["content"]) < 2000 for row in streamed)
    trials = {trial["trial"]: trial for trial in document["suite"]["trials"]}  # type: ignore[index]
    assert trials["repetition"]["figures"]["tokens_saved_at_most"] > 1000
    assert trials["repetition"]["checks"][0]["evidence"][0]["span"]["start"] in range(150, 250)


@pytest.mark.parametrize(
    ("fault", "words"),
    [
        (Fault.HTML_EVERYWHERE, "not an OpenAI-compatible API"),
        (Fault.STATUS_500, "HTTP 500"),
        (Fault.STATUS_503, "HTTP 503"),
    ],
)
def test_what_is_no_such_server_is_one_clear_line(seatrial: CommandLine, fault: Fault, words: str) -> None:
    with fake_server(script(fault)) as server:
        done = seatrial("prove", "--url", server.base_url, expect=3)
    assert words in done.stderr
    assert server.base_url in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1
    assert done.stdout == ""


def test_nothing_listening_is_one_clear_line(seatrial: CommandLine) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))  # bound, not listening
        port = taken.getsockname()[1]
        done = seatrial("prove", "--url", f"http://127.0.0.1:{port}", expect=3)
    assert "nothing listens on that port" in done.stderr
    assert f":{port}/v1" in done.stderr


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (("--url", "localhost:30000"), 2, "no URL of a server"),
        (("--url", "http://user:pass@host/v1"), 2, "--api-key-file"),
        (("--url", "http://127.0.0.1:1/v1", "--sampling", "warm"), 2, "JSON object"),
        (("--url", "http://127.0.0.1:1/v1", "--sampling", '{"stream": true}'), 2, "'stream'"),
        (("--url", "http://127.0.0.1:1/v1", "--suite", "huge"), 2, "huge"),
        (("--url", "http://127.0.0.1:1/v1", "--api-key-file", "absent"), 2, "absent"),
        ((), 2, "--url"),
    ],
)
def test_wrong_usage_ends_with_2_and_says_what_to_do(
    seatrial: CommandLine, arguments: tuple[str, ...], code: int, words: str
) -> None:
    done = seatrial("prove", *arguments, expect=code)
    assert words in done.stderr
    assert "user:pass" not in done.stderr
    assert not (seatrial.folder / "runs").exists()


def test_an_unknown_model_names_those_that_are_served(seatrial: CommandLine) -> None:
    with fake_server() as server:
        done = seatrial("prove", "--url", server.base_url, "--model", "fake-modle", expect=3)
    assert "it serves: fake-model" in done.stderr
    assert "--model fake-model?" in done.stderr


def test_a_wrong_key_is_one_clear_line_and_the_right_one_is_never_shown(seatrial: CommandLine) -> None:
    file = seatrial.folder / "key"
    file.write_text(KEY + "\n")
    file.chmod(0o600)
    with fake_server(script(api_key=Secret(KEY))) as server:
        refused = seatrial("prove", "--url", server.base_url, SEATRIAL_API_KEY="sk-another-one", expect=3)
        assert "refuses the key (HTTP 401)" in refused.stderr
        done = seatrial("prove", "--url", server.base_url, "--api-key-file", file, expect=0)
    written = "".join(path.read_text() for path in seatrial.run_folder.iterdir())
    assert KEY not in done.stdout + done.stderr + written


def test_a_key_that_others_can_read_is_refused(seatrial: CommandLine) -> None:
    file = seatrial.folder / "key"
    file.write_text(KEY)
    file.chmod(0o644)
    done = seatrial("prove", "--url", "http://127.0.0.1:1/v1", "--api-key-file", file, expect=2)
    assert f"chmod 600 {file}" in done.stderr


def wait_for(path: Path, seconds: float = 30) -> None:
    end = time.monotonic() + seconds
    while not path.exists():
        assert time.monotonic() < end, f"{path} did not appear"
        time.sleep(0.02)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_run_says_so_and_keeps_what_it_found(seatrial: CommandLine, number: signal.Signals) -> None:
    with fake_server(script(Fault.LAG, details=Details(lag_seconds=0.4))) as server:
        process = seatrial.start("prove", "--url", server.base_url, "--json")
        wait_for(seatrial.folder / "runs")
        requests = seatrial.run_folder / "requests.jsonl"
        while requests.read_text().count("\n") < 3:
            time.sleep(0.05)
        process.send_signal(number)
        stdout, stderr = process.communicate(timeout=20)
    assert process.returncode == 130
    assert stdout == ""
    assert "interrupted" in stderr
    assert "Traceback" not in stderr
    verdict = json.loads((seatrial.run_folder / "verdict.json").read_text())
    assert verdict["complete"] is False
    assert verdict["verdict"] == "unproven"
    assert json.loads((seatrial.run_folder / "run.json").read_text())["status"] == "interrupted"
    assert "interrupted" in (seatrial.run_folder / "report.html").read_text()


def test_a_run_is_compared_with_a_reference(seatrial: CommandLine) -> None:
    standard = ("--suite", "standard")
    with fake_server(Script(answer=AnswerSheet())) as server:
        prove_json(seatrial, server.base_url, 0, *standard)
        reference = seatrial.run_folder
        same = prove_json(seatrial, server.base_url, 0, *standard, "--reference", str(reference))
        server.script = replace(server.script, faults=frozenset({Fault.WRONG_ARGUMENT_VALUES}))
        worse = prove_json(seatrial, server.base_url, 1, *standard, "--reference", str(reference))
    assert "reference" in {trial["trial"] for trial in same["suite"]["trials"]}  # type: ignore[index]
    assert "reference/argument_match_as_reference" in refuted_checks(worse)


def test_a_reference_that_is_none_is_told(seatrial: CommandLine) -> None:
    done = seatrial("prove", "--url", "http://127.0.0.1:1/v1", "--reference", seatrial.folder, expect=2)
    assert "no finished run" in done.stderr

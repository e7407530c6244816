"""`seatrial judge`: rows in, JSON lines out, exit codes, and one clear line for what can't be read."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import typer
from typer.testing import CliRunner, Result

from seatrial.cli.judge import judge

app = typer.Typer(pretty_exceptions_enable=False)
app.command()(judge)

HANDED = Path(__file__).parent / "data" / "handed.jsonl"
RIGHT, WRONG, UNKNOWN = (
    {"id": identity, "request": {"user": "Hello"}, "response": response}
    for identity, response in (
        ("right", {"choices": [{"message": {"content": "Hello!"}, "finish_reason": "stop"}]}),
        ("wrong", {"choices": [{"message": {"content": ""}, "finish_reason": "stop"}]}),
        ("unknown", {"object": "error", "message": "overloaded", "code": 503}),
    )
)


def run(*arguments: str | Path, stdin: str | bytes | None = None) -> Result:
    return CliRunner().invoke(app, [str(argument) for argument in arguments], input=stdin)


def lines(*rows: Any) -> str:
    return "".join(f"{row if isinstance(row, str) else json.dumps(row)}\n" for row in rows)


def test_each_row_gives_one_json_line_with_its_checks() -> None:
    result = run(HANDED)
    judged = [json.loads(line) for line in result.stdout.splitlines()]

    assert [line["id"] for line in judged] == [
        json.loads(line)["id"] for line in HANDED.read_text("utf-8").splitlines()
    ]
    assert result.exit_code == 1
    for line in judged:
        assert set(line) == {"id", "verdict", "checks"}
        assert all(set(check) == {"check", "ok", "detail"} for check in line["checks"])
        assert (line["verdict"] == "refuted") == any(check["ok"] is False for check in line["checks"])


@pytest.mark.parametrize(
    ("rows", "exit_code"),
    [
        ([RIGHT], 0),
        ([RIGHT, WRONG], 1),
        ([RIGHT, UNKNOWN], 3),
        ([UNKNOWN, WRONG], 1),
        ([RIGHT, "{broken"], 2),
        ([WRONG, {"id": "x"}], 2),
        ([], 2),
    ],
)
@pytest.mark.parametrize("arguments", [(), ("-",)])
def test_the_exit_code_says_what_was_found(rows: list[Any], exit_code: int, arguments: tuple[str, ...]) -> None:
    assert run(*arguments, stdin=lines(*rows)).exit_code == exit_code


def test_an_unproven_check_is_null() -> None:
    result = run(stdin=lines(UNKNOWN))

    assert json.loads(result.stdout)["checks"][0]["ok"] is None


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("{broken", "not JSON"),
        ("[]", "a row is a JSON object"),
        ('{"request": {}}', 'no "id"'),
        ('{"id": "x"}', 'no "request"'),
        ('{"id": "x", "request": {}}', 'neither "response" nor "sse"'),
        ('{"id": "x", "request": {}, "sse": 3}', "no list of lines"),
        ('{"id": "x", "request": {}, "response": {}, "expected_arguments": 3}', "expected_arguments"),
        ("[" * 200_000, "can't be read"),
    ],
)
def test_a_line_that_can_not_be_read_is_named_and_the_others_are_judged(tmp_path: Path, line: str, words: str) -> None:
    file = tmp_path / "rows.jsonl"
    file.write_text(lines(RIGHT, line, RIGHT), encoding="utf-8")

    result = run(file)

    assert len(result.stdout.splitlines()) == 2
    assert result.stderr.count("\n") == 1
    assert f"{file}:2: " in result.stderr
    assert words in result.stderr


def test_a_file_that_is_missing_or_not_utf_8_is_named(tmp_path: Path) -> None:
    latin = tmp_path / "latin.jsonl"
    latin.write_bytes("ä\n".encode("latin-1"))

    result = run(tmp_path / "missing.jsonl", latin)

    assert result.exit_code == 2
    assert "missing.jsonl: the file can't be read (No such file or directory)" in result.stderr
    assert f"{latin}:1: the line is not UTF-8" in result.stderr


def test_several_files_a_byte_order_mark_and_blank_lines_are_read(tmp_path: Path) -> None:
    first, second = tmp_path / "a.jsonl", tmp_path / "b.jsonl"
    first.write_bytes(b"\xef\xbb\xbf" + lines(RIGHT, "", "  ").encode())
    second.write_text(lines(RIGHT).replace("\n", "\r\n"), encoding="utf-8")

    result = run(first, second)

    assert (result.exit_code, len(result.stdout.splitlines())) == (0, 2)


def test_lone_surrogates_in_an_answer_do_not_break_the_output() -> None:
    row = {
        **RIGHT,
        "id": "\ud800",
        "response": {"choices": [{"message": {"content": "<|im_end|>\udfff"}, "finish_reason": "stop"}]},
    }

    result = run(stdin=lines(row))

    assert json.loads(result.stdout)["verdict"] == "refuted"

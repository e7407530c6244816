"""`seatrial scan`: files and stdin in, JSON lines out, and an exit code that a script can use."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import typer
from typer.testing import CliRunner

from degeneration.prose import PROSE
from seatrial.cli.scan import scan

app = typer.Typer()
app.command()(scan)


def run(*arguments: str | Path, stdin: bytes | None = None) -> tuple[Any, list[dict[str, Any]]]:
    result = CliRunner().invoke(app, [str(argument) for argument in arguments], input=stdin)
    return result, [json.loads(line) for line in result.stdout.splitlines()]


def test_clean_text_exits_0_with_one_line(tmp_path: Path) -> None:
    file = tmp_path / "answer.txt"
    file.write_text(PROSE["english"], encoding="utf-8")
    result, rows = run(file)
    assert result.exit_code == 0
    assert rows == [
        {
            "id": str(file),
            "degenerate": False,
            "severity": None,
            "kind": None,
            "onset": None,
            "period": None,
            "needle": None,
            "field": "content",
            "why": None,
        }
    ]


def test_a_loop_exits_1_and_says_where() -> None:
    result, (row,) = run(stdin=("So it goes. " * 200).encode())
    assert result.exit_code == 1
    assert (row["id"], row["severity"], row["kind"], row["onset"], row["period"]) == (
        "stdin",
        "fail",
        "exact_period",
        0,
        12,
    )


def test_rows_of_json_lines_are_judged_one_by_one_with_their_prompts(tmp_path: Path) -> None:
    rows = [
        {"id": "a", "field": "reasoning_content", "text": "hm " * 300},
        {"id": 2, "text": "ha " * 200, "prompt": "Write ha 200 times"},
        {"text": "Fine."},
    ]
    file = tmp_path / "rows.jsonl"
    file.write_text("\n\n".join(map(json.dumps, rows)) + "\n", encoding="utf-8")
    result, found = run(file)
    assert result.exit_code == 1
    assert [row["id"] for row in found] == ["a", 2, f"{file}:5"]
    assert [row["degenerate"] for row in found] == [True, False, False]
    assert found[0]["field"] == "reasoning_content"


def test_json_lines_are_recognised_on_stdin_and_a_lone_json_text_is_text() -> None:
    _, (row,) = run("-", stdin=b'{"id": "x", "text": "ok"}\n')
    assert row["id"] == "x"
    _, (row,) = run("-", stdin=b'{"path": "a.py"}\n')
    assert row["id"] == "stdin"


def test_a_warning_alone_exits_0() -> None:
    result, (row,) = run(stdin=b"!")
    assert (result.exit_code, row["severity"], row["degenerate"]) == (0, "warn", True)


def test_a_bad_line_is_named_and_the_rest_is_judged(tmp_path: Path) -> None:
    file = tmp_path / "rows.jsonl"
    file.write_text('{"id": 1, "text": "ok"}\n{"id": 2, "text"\n[]\n{"id": 4, "text": "ok"}\n', encoding="utf-8")
    result, rows = run(file)
    assert result.exit_code == 2
    assert [row["id"] for row in rows] == [1, 4]
    lines = result.stderr.splitlines()
    assert len(lines) == 2
    assert f"{file}:2" in lines[0]
    assert f"{file}:3" in lines[1]


def test_a_missing_file_is_one_line_and_the_others_are_judged(tmp_path: Path) -> None:
    good = tmp_path / "good.txt"
    good.write_text("Fine.", encoding="utf-8")
    result, rows = run(tmp_path / "none.txt", good, tmp_path)
    assert result.exit_code == 2
    assert [row["id"] for row in rows] == [str(good)]
    assert len(result.stderr.splitlines()) == 2
    assert "Traceback" not in result.stderr


def test_invalid_bytes_are_replaced_and_characters_across_blocks_survive(tmp_path: Path) -> None:
    file = tmp_path / "answer.txt"
    file.write_bytes(b"x" + PROSE["chinese"].encode() * 3 + b"\xff\xfe" + "你".encode() * 50_000)
    result, (row,) = run(file)
    assert result.exit_code == 1
    assert row["needle"] == "你"


def test_an_empty_file_and_lone_surrogates_are_no_trouble(tmp_path: Path) -> None:
    file = tmp_path / "empty.txt"
    file.write_bytes(b"")
    result, (row,) = run(file)
    assert (result.exit_code, row["degenerate"]) == (0, False)
    result, (row,) = run(stdin=b'{"id": "\\ud800", "text": "' + b"\\udc80" * 600 + b'"}')
    assert (result.exit_code, row["id"]) == (1, "\ud800")


def test_the_format_can_be_forced(tmp_path: Path) -> None:
    file = tmp_path / "rows.jsonl"
    file.write_text('{"id": 1, "text": "ok"}\n', encoding="utf-8")
    _, (row,) = run(file, "--format", "text", "--field", "log")
    assert (row["id"], row["field"]) == (str(file), "log")

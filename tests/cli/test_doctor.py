"""`seatrial doctor` from the shell: the cause, the fix, and an exit code for scripts."""

from __future__ import annotations

import http.server
import json
import subprocess
import threading

from kit import CommandLine

DEAD = """[2031-01-01 10:00:00 TP0] Load weight end. elapsed=41.2 s, type=X, dtype=torch.float16, avail mem=12.10 GB
RuntimeError: Index put requires the source and destination dtypes match, got BFloat16 for the destination and \
Half for the source.
[2031-01-01 10:00:01] Received sigquit from a child process. It usually means the child failed.
"""
STRANGE = """[2031-01-01 10:00:00] server_args=ServerArgs(model_path='/home/alice/m', api_key='planted-key-77')
Traceback (most recent call last):
  File "/x/y.py", line 3, in f
ZeroDivisionError: nobody knows this with --api-key planted-key-77
"""
NO_MEMORY = """Load weight begin. avail mem=23.00 GB
Load weight end. avail mem=6.00 GB
Not enough memory. Please try to increase --mem-fraction-static.
"""


def test_a_dead_server_gets_its_cause_and_its_fix(seatrial: CommandLine) -> None:
    (seatrial.folder / "log").write_text(DEAD, encoding="utf-8")
    done = seatrial("doctor", "--log", "log", expect=1)
    assert "SGLANG_MAMBA_CONV_DTYPE" in done.stdout
    document = json.loads(seatrial("doctor", "--log", "log", "--json", expect=1).stdout)
    assert document["cause"]["id"] == document["id"] == "conv-state-dtype-mismatch"
    assert document["where"] == "log:2"
    assert document["cause"]["evidence"][0]["line"] == 2
    assert not document["ok"]
    assert not document["unknown"]


def test_a_healthy_log_is_fine_and_an_empty_one_too(seatrial: CommandLine) -> None:
    (seatrial.folder / "log").write_text("The server is fired up and ready to roll!\n", encoding="utf-8")
    (seatrial.folder / "empty").write_bytes(b"")
    seatrial("doctor", "--log", "log", expect=0)
    seatrial("doctor", "--log", "empty", expect=0)


def test_stdin_is_read_too(seatrial: CommandLine) -> None:
    done = subprocess.run(
        seatrial.command(["doctor", "--stdin", "--json"]), input=DEAD, capture_output=True, text=True, check=False
    )
    assert done.returncode == 1
    assert json.loads(done.stdout)["cause"]["level"] == "fatal-at-first-request"


def test_wrong_usage_is_one_clear_line(seatrial: CommandLine) -> None:
    assert "one log is wanted" in seatrial("doctor", expect=2).stderr
    assert "can't be read" in seatrial("doctor", "--log", "missing", expect=2).stderr
    (seatrial.folder / "log").write_text(DEAD, encoding="utf-8")
    assert "this is no plan" in seatrial("doctor", "--log", "log", "--plan", "log", expect=2).stderr
    assert "can't be read" in seatrial("doctor", "--log", "log", "--metrics", "missing", expect=2).stderr


def report_of(seatrial: CommandLine, *more: str) -> subprocess.CompletedProcess[str]:
    """Ask for a bundle; the log's traceback is shown, so the kit's own call (which allows none) can't be used."""
    (seatrial.folder / "log").write_text(STRANGE, encoding="utf-8")
    command = seatrial.command(["doctor", "--log", "log", "--bundle", "report.md", *more])
    return subprocess.run(
        command, cwd=seatrial.folder, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False
    )


def test_an_unknown_failure_ends_with_three_and_gives_a_redacted_bundle(seatrial: CommandLine) -> None:
    done = report_of(seatrial, "--yes")
    assert done.returncode == 3
    assert "unknown failure" in done.stdout
    report = (seatrial.folder / "report.md").read_text(encoding="utf-8")
    assert "ZeroDivisionError: nobody knows this" in report
    assert report.strip() in done.stdout
    assert "alice" not in report
    assert "planted-key-77" not in report + done.stdout + done.stderr


def test_a_bundle_is_not_written_where_nobody_can_be_asked(seatrial: CommandLine) -> None:
    done = report_of(seatrial)
    assert done.returncode == 2
    assert "Add --yes" in done.stderr
    assert not (seatrial.folder / "report.md").exists()


def test_silence_and_a_plan_and_a_misspelt_flag_are_understood(seatrial: CommandLine) -> None:
    (seatrial.folder / "log").write_text("[2031-01-01 10:00:00 TP0] Init torch distributed begin.\n", encoding="utf-8")
    assert "hang-distributed-init" in seatrial("doctor", "--log", "log", "--silent-for", "900", expect=1).stdout
    seatrial("doctor", "--log", "log", "--silent-for", "5", expect=0)
    (seatrial.folder / "log").write_text("x: error: unrecognized arguments: --contxt-length 5\n", encoding="utf-8")
    assert "--context-length" in seatrial("doctor", "--log", "log", expect=1).stdout
    plan = {"settings": [{"flag": "--mem-fraction-static", "value": 0.7}]}
    (seatrial.folder / "plan.json").write_text(json.dumps(plan), encoding="utf-8")
    (seatrial.folder / "log").write_text(NO_MEMORY, encoding="utf-8")
    done = seatrial("doctor", "--log", "log", "--plan", "plan.json", expect=1)
    assert "from 0.7 to 0.75" in done.stdout


def test_metrics_are_asked_of_a_server(seatrial: CommandLine) -> None:
    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200 if self.path == "/metrics" else 404)
            self.end_headers()
            self.wfile.write(b"sglang:num_queue_reqs 7\nsglang:num_running_reqs 3\n")

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        (seatrial.folder / "log").write_bytes(b"")
        url = f"http://127.0.0.1:{server.server_port}"
        assert "7 requests wait" in seatrial("doctor", "--log", "log", "--metrics", url, expect=0).stdout
    finally:
        server.shutdown()

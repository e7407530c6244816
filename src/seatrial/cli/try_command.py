"""`seatrial try`."""

from __future__ import annotations

from pathlib import Path

import typer

from seatrial.cli.options import Json, Runs


def try_(runs: Runs = Path("runs"), as_json: Json = False) -> None:
    """Start a small real model, prove it, measure it, show a report. Needs nothing: no GPU, no Docker.

    The small model loops at temperature 0, so its honest verdict is `refuted`: that is the point of the
    demonstration. The command itself ends with 0 when the demonstration worked.
    """
    import secrets

    from seatrial.cli.bench_output import print_bench
    from seatrial.cli.output import TerminalDisplay, console, print_json, print_verdict
    from seatrial.cli.running import run
    from seatrial.demonstration import Demonstration
    from seatrial.endpoint.address import Secret
    from seatrial.runs.folder import RunFolder
    from seatrial.runs.redaction import Redactor

    api_key = Secret(secrets.token_urlsafe(24))
    with RunFolder(runs, "try", Redactor([api_key])) as folder, TerminalDisplay() as display:
        proof = run(Demonstration().run(api_key, folder, display), folder)
    assert proof.suite is not None
    assert proof.bench is not None
    verdict = proof.suite.verdict
    if as_json:
        print_json(
            {
                "verdict": verdict,
                "prove_would_exit_with": int(verdict.exit_code),
                "run": folder.path,
                "report": folder.path / "report.html",
                "suite": proof.suite,
                "bench": proof.bench,
            }
        )
        return
    out = console()
    out.print()
    print_verdict(proof.suite)
    out.print()
    print_bench(proof.bench)
    out.print()
    out.print(f"{proof.endpoint.model} is {verdict.value}. {proof.remark}")
    out.print(
        f"`seatrial prove` would exit with {int(verdict.exit_code)}; this demonstration worked, so it exits with 0."
    )
    out.print("Your own server: seatrial prove --url http://127.0.0.1:30000/v1")
    typer.echo(f"Report: {folder.path / 'report.html'}")

"""Run a fake server by hand: `python -m seatrial.testkit --port 8000 --fault loop_reasoning`. Prints its URL."""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import sys
from pathlib import Path

from seatrial.endpoint.address import read_api_key
from seatrial.errors import SeatrialError
from seatrial.processes import end_with_input
from seatrial.testkit.faults import LEGAL, Fault
from seatrial.testkit.script import Pace, Script
from seatrial.testkit.server import FakeServer


def main(arguments: list[str] | None = None) -> int:
    """Serve until Ctrl-C."""
    options = _parser().parse_args(arguments)
    if options.list_faults:
        for fault in Fault:
            print(f"{fault.value}{'  (legal)' if fault in LEGAL else ''}")  # noqa: T201 - its output
        return 0
    try:
        script = _script(options)
    except SeatrialError as error:
        print(error, file=sys.stderr)  # noqa: T201 - its output
        return error.exit_code
    if options.end_with_input:
        end_with_input(sys.stdin)
    with contextlib.suppress(KeyboardInterrupt):
        asyncio.run(_serve(script, options.port))
    return 0


async def _serve(script: Script, port: int) -> None:
    async with FakeServer(script, port=port) as server:
        print(server.base_url, flush=True)  # noqa: T201 - its output
        await asyncio.Event().wait()


def _script(options: argparse.Namespace) -> Script:
    paced = options.tokens_per_second is not None or options.time_to_first_token is not None
    return Script(
        model=options.model,
        faults=frozenset(Fault(name) for name in options.fault),
        context_length=options.context_length,
        api_key=None if options.api_key_file is None else read_api_key(options.api_key_file),
        pace=Pace(options.time_to_first_token or 0.0, options.tokens_per_second or 50.0) if paced else None,
    )


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m seatrial.testkit", description="A fake OpenAI-compatible server on 127.0.0.1."
    )
    parser.add_argument("--port", type=int, default=8000, help="0 takes a free one (default: 8000)")
    parser.add_argument(
        "--fault",
        action="append",
        default=[],
        choices=[fault.value for fault in Fault],
        metavar="NAME",
        help="what it does wrong; may be given several times (see --list-faults)",
    )
    parser.add_argument("--list-faults", action="store_true", help="print the names of the faults, and end")
    parser.add_argument("--model", default="fake-model", help="the name that it serves (default: fake-model)")
    parser.add_argument("--context-length", type=int, default=32_768, metavar="TOKENS", help="(default: 32768)")
    parser.add_argument("--api-key-file", type=Path, metavar="FILE", help="the key that requests must carry")
    parser.add_argument("--time-to-first-token", type=float, metavar="SECONDS", help="pace of streams")
    parser.add_argument("--tokens-per-second", type=float, metavar="NUMBER", help="pace of each stream")
    parser.add_argument("--end-with-input", action="store_true", help="end when standard input does")
    return parser


if __name__ == "__main__":
    sys.exit(main())

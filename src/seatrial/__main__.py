"""The program's entry: `seatrial` and `python -m seatrial`."""

from __future__ import annotations

import os
import sys

from seatrial.errors import SeatrialError


def main() -> None:
    """Run the command line; a user's mistake is one line, never a traceback."""
    if (parent := os.environ.pop("SEATRIAL_END_WITH_PARENT", "")).isdigit():
        from seatrial.processes import end_with_parent  # noqa: PLC0415 - asyncio is heavy for --help

        end_with_parent(int(parent))
    from seatrial.cli.app import app  # noqa: PLC0415 - after the signal above is set

    try:
        app()
    except SeatrialError as error:
        sys.stderr.write(f"seatrial: {error}\n")
        sys.exit(error.exit_code)
    except BrokenPipeError:
        # The reader of our output went away (| head): nothing is wrong.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(0)


if __name__ == "__main__":
    main()

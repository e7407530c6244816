"""Asks SGLang's own parser what command lines mean; the interpreter that has SGLang runs it.

A list of words in JSON a line comes in; a line goes out for each: `error` (None where argparse takes it),
`unrecognized` (whether words are left over), `values` by the parser's fields.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import logging
import os
import sys
import warnings
from pathlib import Path
from typing import NoReturn

sys.path.insert(0, str(Path(__file__).parent.parent.parent / "scripts"))
from sglang_flags import StandInFinder


class Parser(argparse.ArgumentParser):
    """A parser that raises where it would end the program."""

    def error(self, message: str) -> NoReturn:
        raise ValueError(message)

    def exit(self, status: int = 0, message: str | None = None) -> NoReturn:
        raise ValueError(message or f"it ends with {status}")


def main() -> int:
    """Answer each line."""
    if "--site" in sys.argv:
        sys.path.insert(0, sys.argv[sys.argv.index("--site") + 1])
    os.environ.update(CUDA_VISIBLE_DEVICES="", SGLANG_USE_CPU_ENGINE="1")
    warnings.simplefilter("ignore")
    logging.disable(logging.CRITICAL)
    sys.meta_path.append(StandInFinder())
    with contextlib.redirect_stdout(io.StringIO()):
        from sglang.srt.server_args import ServerArgs  # type: ignore[import-not-found]

        parser = Parser()
        ServerArgs.add_cli_args(parser)
    for line in sys.stdin:
        print(json.dumps(answer(parser, json.loads(line))), flush=True)
    return 0


def answer(parser: Parser, words: list[str]) -> dict[str, object]:
    try:
        with contextlib.redirect_stdout(io.StringIO()):
            given, left = parser.parse_known_args(words)
    except ValueError as error:
        return {"error": str(error)}
    values = {name: value for name, value in vars(given).items() if is_plain(value)}
    return {"error": None, "unrecognized": bool(left), "values": values}


def is_plain(value: object) -> bool:
    try:
        json.dumps(value)
    except (TypeError, ValueError):
        return False
    return True


if __name__ == "__main__":
    sys.exit(main())

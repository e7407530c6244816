"""The recorded logs, and ways in which the same lines reach a reader."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

DATA = Path(__file__).parent / "data"


def rows(name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (DATA / name).read_text(encoding="utf-8").splitlines()]


def docker_json(lines: Sequence[str]) -> list[str]:
    return [json.dumps({"log": f"{line}\n", "stream": "stderr", "time": "2031-02-03T04:05:06.1Z"}) for line in lines]


WRAPPINGS: dict[str, Callable[[Sequence[str]], list[str]]] = {
    "compose": lambda lines: [f"sglang-1         | {line}" for line in lines],
    "compose with times": lambda lines: [f"sglang-1  | 2031-02-03T04:05:06.123456789Z {line}" for line in lines],
    "docker logs -t": lambda lines: [f"2031-02-03T04:05:06.123456789Z {line}" for line in lines],
    "docker json": docker_json,
    "kubernetes": lambda lines: [f"2031-02-03T04:05:06.123456789Z stderr F {line}" for line in lines],
    "journal": lambda lines: [f"Feb 03 04:05:06 node9 docker[812]: {line}" for line in lines],
    "colours": lambda lines: [f"\x1b[33m{line}\x1b[0m" for line in lines],
    "Windows line ends": lambda lines: [f"{line}\r\n" for line in lines],
}

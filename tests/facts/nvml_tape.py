"""Records what a machine's NVIDIA management library answers, and plays it back where there is none.

    python tests/facts/nvml_tape.py >machine.json     on a machine with NVIDIA GPUs

A tape is a list of questions with their answers, word for word; a question that is not on it is not supported there.
"""

from __future__ import annotations

import contextlib
import json
import sys
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pynvml  # type: ignore[import-untyped]

Tape = dict[str, Any]


class Player:
    """Stands where `pynvml` stands, and answers from a tape. Constants are the library's own."""

    NVMLError = pynvml.NVMLError

    def __init__(self, tape: Tape) -> None:
        self._answers = {question_key(name, arguments): answer for name, arguments, answer in tape["answers"]}

    def __getattr__(self, name: str) -> Any:
        if not name.startswith("nvml"):
            return getattr(pynvml, name)

        def ask(*arguments: Any) -> Any:
            answer = self._answers.get(question_key(name, arguments))
            if answer is None or (isinstance(answer, dict) and "error" in answer):
                raise pynvml.NVMLError(pynvml.NVML_ERROR_NOT_SUPPORTED if answer is None else answer["error"])
            return thawed(answer)

        return ask


def question_key(name: str, arguments: Any) -> str:
    return json.dumps([name, list(arguments)])


def thawed(answer: Any) -> Any:
    if isinstance(answer, dict):
        return SimpleNamespace(**{key: thawed(value) for key, value in answer.items()})
    return [thawed(one) for one in answer] if isinstance(answer, list) else answer


class Recorder:
    """Stands where `pynvml` stands, asks it, and keeps each answer. A card's handle becomes its number."""

    NVMLError = pynvml.NVMLError

    def __init__(self) -> None:
        self.answers: list[list[Any]] = []
        self._handles: dict[int, Any] = {}

    def __getattr__(self, name: str) -> Any:
        found = getattr(pynvml, name)
        return self._asking(name, found) if name.startswith("nvml") else found

    def _asking(self, name: str, function: Callable[..., Any]) -> Callable[..., Any]:
        cards = {"nvmlDeviceGetTopologyCommonAncestor": 2, "nvmlDeviceGetP2PStatus": 2}

        def ask(*arguments: Any) -> Any:
            many = cards.get(name, 0 if name.endswith("ByIndex") or not arguments else 1)
            real = [self._handles[one] if place < many else one for place, one in enumerate(arguments)]
            try:
                answer = function(*real)
            except pynvml.NVMLError as error:
                self.answers.append([name, list(arguments), {"error": error.value}])
                raise
            if name.endswith("HandleByIndex"):
                self._handles[arguments[0]] = answer
                answer = arguments[0]
            frozen_answer = frozen(answer)
            self.answers.append([name, list(arguments), frozen_answer])
            return thawed(frozen_answer)

        return ask


def frozen(answer: Any) -> Any:
    """Make plain values of an answer; a card's own numbers (UUID, serial) are no part of a tape."""
    if isinstance(answer, bytes):
        return answer.decode("utf-8", "replace")
    if isinstance(answer, list | tuple):
        return [frozen(one) for one in answer]
    if answer is None or isinstance(answer, int | float | str):
        return answer
    names = [name for name, *_ in getattr(answer, "_fields_", ())] or list(vars(answer))
    return {name: frozen(getattr(answer, name)) for name in names if not name.startswith("_")}


def main() -> None:
    """Record this machine."""
    import subprocess

    from seatrial.facts.probe import gpus

    recorder = Recorder()
    pynvml.nvmlInit()
    with contextlib.suppress(pynvml.NVMLError):
        gpus._found(recorder)
    topology = {}
    for name, words in (("topo -m", ["topo", "-m"]), ("topo -p2p r", ["topo", "-p2p", "r"])):
        done = subprocess.run(["nvidia-smi", *words], capture_output=True, text=True, check=False)
        topology[name] = done.stdout
    for entry in recorder.answers:
        if entry[0] == "nvmlDeviceGetUUID":
            entry[2] = f"GPU-{entry[1][0]:08d}-0000-0000-0000-000000000000"
    json.dump({"answers": recorder.answers, **topology}, sys.stdout, indent=None, separators=(",", ":"))


if __name__ == "__main__":
    main()

"""Stacks that run on real SGLang without a GPU."""

from __future__ import annotations

import json
import os
import socket
from contextlib import suppress
from pathlib import Path
from typing import Any

from kit import CommandLine
from seatrial.runtimes.process.local import RECORD, session_of
from seatrial.runtimes.snapshot import STATE_FOLDER
from seatrial.stack.model import Container, Engine, Model, Override, Policy, Serve, Stack
from seatrial.stack.writing import write_stack

KEY = "sk-life-0123456789abcdef"

ON_A_CPU: dict[str, object] = {
    "--device": "cpu",
    "--attention-backend": "torch_native",
    "--sampling-backend": "pytorch",
    "--disable-overlap-schedule": True,
    "--cuda-graph-backend-decode": "disabled",
    "--cuda-graph-backend-prefill": "disabled",
    "--max-total-tokens": 4096,
    "--max-running-requests": 8,
    "SGLANG_USE_CPU_ENGINE": "1",
}
"""What SGLang 0.5.16 needs where there is no GPU."""

ENVIRONMENT = {"HF_HUB_OFFLINE": "1", "CUDA_VISIBLE_DEVICES": "", "OMP_WAIT_POLICY": "PASSIVE"}
"""Two spinning OpenMP threads on two busy cores were seen to fall below 1 token/s, where sleeping ones make 14."""

PARSERS: dict[str, object] = {"--reasoning-parser": "qwen3", "--tool-call-parser": "qwen"}


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


class Server:
    """One stack in a folder of its own, on the real engine."""

    def __init__(self, folder: Path, environment: Path, model: str) -> None:
        self.folder, self.environment, self.model = folder, environment, model
        self.seatrial = CommandLine(folder)
        self.port = free_port()
        self.key = KEY

        self.up: dict[str, Any] = {}

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/v1"

    def write(self, settings: dict[str, object] | None = None, *, truncate: bool = False, keyed: bool = True) -> None:
        """Write the stack file, and the file of its key."""
        chosen = {**ON_A_CPU, **PARSERS, **(settings or {})}
        overrides = [
            Override.model_validate(
                {("flag" if name.startswith("-") else "variable"): name, "value": value, "why": "no GPU here"}
            )
            for name, value in chosen.items()
        ]
        stack = Stack(
            name="life",
            engine=Engine(environment=str(self.environment / "venv")),
            model=Model(repo=str(self.environment / "models" / self.model), served_name=self.model),
            serve=Serve(port=self.port, tensor_parallel=1, api_key_file="secrets/api_key" if keyed else None),
            store="store",
            jit_cache="jit-cache",
            ledger="ledger",
            policy=Policy(
                prove="quick",
                over_long_input="truncate" if truncate else "reject",
                over_long_input_owner="this test" if truncate else None,
            ),
            settings=overrides,
            container=Container(environment=ENVIRONMENT),
        )
        (self.folder / "stack.yaml").write_text(write_stack(stack), encoding="utf-8")
        secret = self.folder / "secrets" / "api_key"
        secret.parent.mkdir(mode=0o700, exist_ok=True)
        secret.write_text(KEY + "\n", encoding="utf-8")
        secret.chmod(0o600)

    @property
    def process(self) -> int | None:
        record = self.folder / STATE_FOLDER / "process" / RECORD
        if not record.is_file():
            return None
        return int(json.loads(record.read_text(encoding="utf-8"))["process_id"])

    def processes(self) -> list[int]:
        """The engine and everything that it started."""
        return session_of(self.process) if self.process else []

    def kill(self) -> None:
        """End it whatever it does."""
        for one in self.processes():
            with suppress(ProcessLookupError):
                os.kill(one, 9)

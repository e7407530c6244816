"""Where the agent runs: in this process, or behind SSH. Requests and answers are the same.

SSH is the machine's own `ssh`: its keys, agent, known hosts, jump hosts and aliases apply. Nothing is installed over
there; the agent's source is sent through the connection, and needs Python 3.9 or newer.
"""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from importlib import resources
from typing import IO, Any, Protocol

from seatrial.errors import InputError, StartError

MODULES = ("acl", "rules", "scanning", "accounts", "acting", "undoing", "serving")
"""The agent's modules, each after those that it imports."""
PACKAGE = "seatrial.host.agent"
BOOTSTRAP = """
import json, sys, types
sources = json.loads(sys.stdin.readline())
for name in ("seatrial", "seatrial.host", "seatrial.host.agent"):
    sys.modules[name] = types.ModuleType(name)
    sys.modules[name].__path__ = []
for name, text in sources.items():
    module = sys.modules[name] = types.ModuleType(name)
    exec(compile(text, name, "exec"), module.__dict__)
sys.modules["seatrial.host.agent.serving"].main()
"""
OLDEST_PYTHON = (3, 9)

Hear = Callable[[dict[str, Any]], None]


class Connection(Protocol):
    """Reaches the machine that is looked at."""

    @property
    def where(self) -> str:
        """Name the machine, for a sentence."""

    def ask(self, request: dict[str, Any], hear: Hear) -> None:
        """Let the agent serve a request; `hear` gets each line of its answer.

        Raises:
            StartError: the machine can't be reached, or the answer was cut.
        """


@dataclass(frozen=True, slots=True)
class Here:
    """This machine."""

    where: str = "this host"

    def ask(self, request: dict[str, Any], hear: Hear) -> None:
        """Let the agent serve a request in this process."""
        from seatrial.host.agent.serving import serve  # noqa: PLC0415 - the SSH way does not need it

        before = os.umask(0o022)
        try:
            serve(request, hear)
        except OSError as error:
            raise StartError(f"{error.filename or ''} {error.strerror or error}".strip(), where=self.where) from None
        finally:
            os.umask(before)


@dataclass(frozen=True, slots=True)
class OverSsh:
    """A machine behind SSH.

    Attributes:
        host: as `ssh` takes it: `user@name`, an alias.
        options: more words for `ssh`, e.g. `-p 2222`.
        sudo: become root over there with `sudo -n`.
    """

    host: str
    options: Sequence[str] = field(default=())
    sudo: bool = False

    def __post_init__(self) -> None:
        if not self.host or self.host.startswith("-"):
            raise InputError("this names no machine", where=f"--on {self.host!r}")

    @property
    def where(self) -> str:
        """The host as it was given."""
        return self.host

    @property
    def command(self) -> list[str]:
        """The command that runs the agent over there."""
        remote = [*(["sudo", "-n"] if self.sudo else []), "python3", "-I", "-c", BOOTSTRAP]
        return ["ssh", "-o", "BatchMode=yes", "-T", *self.options, "--", self.host, shlex.join(remote)]

    def ask(self, request: dict[str, Any], hear: Hear) -> None:
        """Send the agent and the request; hear its answer line by line.

        Raises:
            StartError: the machine can't be reached, has no such Python, or the connection broke off.
        """
        with tempfile.TemporaryFile("w+", errors="replace") as said:
            ended, status = self._converse(request, hear, said)
            said.seek(0)
            problem = said.read()
        if not ended:
            raise StartError(_ssh_problem(problem, status), where=self.host, advice=_ssh_advice(problem))

    def _converse(self, request: dict[str, Any], hear: Hear, errors: IO[str]) -> tuple[bool, int]:
        try:
            process = subprocess.Popen(
                self.command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=errors, text=True
            )
        except FileNotFoundError:
            raise StartError("ssh is not installed", where=self.host, advice="Install the OpenSSH client.") from None
        assert process.stdin is not None
        assert process.stdout is not None
        ended = False
        try:
            try:
                process.stdin.write(json.dumps(sources()) + "\n" + json.dumps(request) + "\n")
                process.stdin.close()
            except BrokenPipeError:
                pass
            for line in process.stdout:
                answer = _parsed(line)
                if answer is None:
                    continue  # a banner of the shell over there
                ended = ended or answer["event"] == "end"
                hear(answer)
            return ended, process.wait()
        finally:
            if process.poll() is None:
                process.terminate()
                process.wait()


def sources() -> dict[str, str]:
    """Read the agent's source, by module name."""
    folder = resources.files(PACKAGE)
    return {f"{PACKAGE}.{name}": (folder / f"{name}.py").read_text(encoding="utf-8") for name in MODULES}


def _parsed(line: str) -> dict[str, Any] | None:
    try:
        answer = json.loads(line)
    except ValueError:
        return None
    return answer if isinstance(answer, dict) and "event" in answer else None


def _ssh_problem(said: str, status: int) -> str:
    lines = [line for line in said.strip().splitlines() if line.strip()]
    return f"the agent did not come to its end: {lines[-1][:300] if lines else f'ssh ended with status {status}'}"


def _ssh_advice(said: str) -> str:
    if "a password is required" in said or "sudo:" in said:
        return "`sudo -n` must work over there without a password, or connect as root."
    if "python3" in said and "not found" in said:
        return "The agent needs python3 (3.9 or newer) over there."
    return "Try the same with ssh by hand: it must work without asking."

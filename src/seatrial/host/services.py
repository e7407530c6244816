"""systemd units: the stack at boot, and a weekly re-proof. Off by default, written by `host apply --service`. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from seatrial.host.accounts import DOCKER, Declared
from seatrial.host.difference import Action
from seatrial.host.observed import Observed

FOLDER = "/etc/systemd/system"
REPROOF_CALENDAR = "Sun *-*-* 04:00:00"
"""When the re-proof runs, in the machine's own time; up to an hour later, so that machines don't do it together."""

HEAD = "# Written by `seatrial host apply --service`. A change by hand is shown before it is replaced."


@dataclass(frozen=True, slots=True)
class Unit:
    """One file of systemd.

    Attributes:
        name: of the file.
        text: what it holds.
        enabled: it is to be enabled.
    """

    name: str
    text: str
    enabled: bool

    @property
    def path(self) -> str:
        """Where it lies."""
        return f"{FOLDER}/{self.name}"


def units(declared: Declared, program: str) -> tuple[Unit, ...]:
    """Write the units.

    Args:
        declared: whose stack it is.
        program: path of `seatrial` on that machine.
    """
    base = f"seatrial-{declared.service}"
    stack = f"{declared.root}/{DOCKER}/stack.yaml"
    docker = "After=docker.service network-online.target\nWants=network-online.target\nRequires=docker.service\n"
    account = (
        f"User={declared.service}\nGroup={declared.group}\nUMask=0022\nWorkingDirectory={declared.root}/{DOCKER}\n"
        "NoNewPrivileges=yes\n"
    )
    return (
        Unit(
            f"{base}.service",
            f"""{HEAD}
[Unit]
Description=The LLM server's stack of {stack}
{docker if declared.container else ""}ConditionPathExists={stack}

[Service]
Type=oneshot
RemainAfterExit=yes
{account}# `up` follows the engine's own log and ends on silence or a fatal line; a cold one compiles for half an hour.
TimeoutStartSec=infinity
ExecStart={program} up --stack {stack}
# SIGTERM, then the engine's grace period: a kill leaves GPU memory and sockets behind.
TimeoutStopSec=15min
ExecStop={program} stop --stack {stack}

[Install]
WantedBy=multi-user.target
""",
            enabled=True,
        ),
        Unit(
            f"{base}-reproof.service",
            f"""{HEAD}
[Unit]
Description=A proof that the stack of {stack} still answers correctly
After={base}.service
ConditionPathExists={stack}

[Service]
Type=oneshot
{account}TimeoutStartSec=2h
# Its verdict goes into the ledger; refuted (1) and unproven (3) make the unit fail, so `systemctl --failed` shows it.
ExecStart={program} host reprove --stack {stack} --suite quick
""",
            enabled=False,
        ),
        Unit(
            f"{base}-reproof.timer",
            f"""{HEAD}
[Unit]
Description=A weekly proof that the stack of {stack} still answers correctly

[Timer]
OnCalendar={REPROOF_CALENDAR}
RandomizedDelaySec=1h
Persistent=true

[Install]
WantedBy=timers.target
""",
            enabled=True,
        ),
    )


def unit_actions(wanted: tuple[Unit, ...], observed: Observed) -> Iterator[Action]:
    """Say what has to be written and enabled; nothing where all of it is there already."""
    needs_root = not observed.me.is_root
    changed = [unit for unit in wanted if observed.files.get(unit.path) != unit.text]
    for unit in changed:
        was = observed.files.get(unit.path)
        yield Action(
            "write-file",
            f"write {unit.path}",
            "start at boot, and a weekly re-proof",
            (*_diff(was or "", unit.text, unit.path),),
            needs_root,
            body={"path": unit.path, "text": unit.text, "mode": 0o644},
        )
    if changed and observed.systemd:
        yield _systemctl(["daemon-reload"], "let systemd read its units", undo=["daemon-reload"], needs_root=needs_root)
    if changed and observed.tools.get("systemctl"):
        for unit in wanted:
            if unit.enabled:
                now = ["--now"] if observed.systemd and unit.name.endswith(".timer") else []
                yield _systemctl(
                    ["enable", *now, unit.name],
                    f"enable {unit.name}",
                    undo=["disable", *now, unit.name],
                    needs_root=needs_root,
                )


def _systemctl(words: list[str], summary: str, *, undo: list[str], needs_root: bool) -> Action:
    taken_back = {"kind": "command", "summary": f"take back: {summary}", "command": ["systemctl", *undo]}
    body = {"command": ["systemctl", *words], "undo": taken_back}
    return Action("run", summary, "systemd must know", (f"+ systemctl {' '.join(words)}",), needs_root, body=body)


def _diff(was: str, will: str, path: str) -> Iterator[str]:
    import difflib  # noqa: PLC0415 - only where a unit changes

    if not was:
        yield f"+ {path} ({len(will.splitlines())} lines)"
        return
    yield from (
        line.rstrip("\n")
        for line in difflib.unified_diff(
            was.splitlines(), will.splitlines(), fromfile=path, tofile=path, lineterm="", n=0
        )
    )

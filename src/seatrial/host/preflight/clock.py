"""The system's clock: TLS, the Hub's tokens and the ledger go by it. Pure."""

from __future__ import annotations

from collections.abc import Iterator

from seatrial.findings import Finding, Level
from seatrial.host.situation import Situation


def check(situation: Situation) -> Iterator[Finding]:
    """Say when nothing keeps the clock right."""
    host = situation.host
    if host is not None and host.clock_synchronized is False:
        yield Finding(
            Level.NOTE,
            "clock-not-synchronized",
            "no time server keeps this host's clock right: when it is off, TLS to the Hub fails and verdicts "
            "get wrong dates",
            "timedatectl set-ntp true (or chrony).",
        )

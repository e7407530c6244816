"""What a layer of the detector saw: a finding whose end may still grow while the text streams on."""

from __future__ import annotations

from dataclasses import dataclass

from seatrial.degeneration.model import Degeneration, Kind, Severity, shorten


@dataclass(slots=True)
class Sighting:
    """A finding in the making; positions are absolute.

    Attributes:
        claim: what was seen; `{copies}` and `{chars}` stand for the numbers known when it is reported.
        copies: how often the unit stands in the span, where no exact period says so.
    """

    severity: Severity
    kind: Kind
    start: int
    end: int
    period: int | None
    needle: str
    claim: str
    copies: int | None = None

    def report(self, total: int, field: str) -> Degeneration:
        """Make the finding for a text of `total` characters so far."""
        chars = self.end - self.start
        copies = self.copies if self.copies is not None else chars // (self.period or max(chars, 1))
        claim = self.claim.replace("{copies}", f"{copies:,}").replace("{chars}", f"{chars:,}")
        return Degeneration(
            severity=self.severity,
            kind=self.kind,
            onset=self.start,
            end=self.end,
            period=self.period,
            needle=shorten(self.needle),
            coverage=chars / total if total else 0.0,
            field=field,
            why=f"From character {self.start:,} to {self.end:,} of {total:,}: {claim}.",
        )

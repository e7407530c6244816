"""Compiled kernels: kept from the last start, for this very image, card and driver, or to be compiled again. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from seatrial.findings import Finding, Level
from seatrial.host.situation import Caches, Situation

USUAL_COLD = "a large model takes 10 to 30 minutes"


def check(situation: Situation) -> Iterator[Finding]:
    """Say whether the next start is cold or warm, and how long such starts took here."""
    caches = situation.caches
    if caches is None:
        return
    if caches.made_for and caches.wanted and dict(caches.made_for) != dict(caches.wanted):
        yield Finding(
            Level.WARNING,
            "caches-of-another",
            f"the kernels in {caches.path} were compiled for {_differs(caches.made_for, caches.wanted)}: this "
            f"start is cold "
            f"({_cold(caches)})",
            "Give each image a folder of its own (jit_cache: ../jit-cache/NAME), so that going back is warm.",
            where=caches.path,
        )
    elif not caches.entries:
        yield Finding(
            Level.NOTE,
            "caches-cold",
            f"{caches.path} is empty: this start is cold, kernels are compiled ({_cold(caches)})",
            "Nothing: the start is followed by its own log, not by a fixed time. The folder keeps them for the "
            "next one.",
            where=caches.path,
        )
    else:
        usual = f"; it usually takes {caches.warm_seconds:.0f} s" if caches.warm_seconds else ""
        sure = "" if caches.made_for else ", if they are for this image, card and driver: nobody wrote that down"
        yield Finding(Level.NOTE, "caches-warm", f"kernels are kept in {caches.path}: this start is warm{sure}{usual}")


def _cold(caches: Caches) -> str:
    return f"it took {caches.cold_seconds:.0f} s before" if caches.cold_seconds else USUAL_COLD


def _differs(made_for: Mapping[str, str], wanted: Mapping[str, str]) -> str:
    parts = [
        f"{name} {made_for.get(name, 'unknown')[:19]} (now {wanted.get(name, 'unknown')[:19]})"
        for name in dict.fromkeys([*made_for, *wanted])
        if made_for.get(name) != wanted.get(name)
    ]
    return ", ".join(parts)

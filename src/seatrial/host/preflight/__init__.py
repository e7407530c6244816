"""Preflight: what would fail, or cost, at the next start. One file a subject; each takes the situation, pure."""

from __future__ import annotations

from seatrial.findings import Finding, by_weight
from seatrial.host.preflight import (
    caches,
    clock,
    containers,
    docker,
    driver,
    gpus,
    image,
    leftovers,
    links,
    offline,
    packages,
    ports,
    space,
    store,
)
from seatrial.host.situation import Situation

CHECKS = (
    docker.check,
    driver.check,
    gpus.check,
    links.check,
    image.check,
    packages.check,
    store.check,
    space.check,
    offline.check,
    containers.check,
    leftovers.check,
    ports.check,
    caches.check,
    clock.check,
)


def preflight(situation: Situation) -> tuple[Finding, ...]:
    """Make every check, and sort what they find, the heaviest first."""
    return by_weight(finding for check in CHECKS for finding in check(situation))

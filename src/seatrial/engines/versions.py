"""Engine versions, compared as PEP 440 says."""

from __future__ import annotations

from functools import cache

from packaging.specifiers import SpecifierSet
from packaging.version import InvalidVersion, Version


@cache
def in_range(version: str, versions: str) -> bool:
    """Whether `version` lies in a range such as `>=0.5.12,<0.5.23`; an empty range holds every version.

    A release candidate or development build counts as what it leads to. What is none (`nightly`) is taken for newest.
    """
    if not versions:
        return True
    parsed = parse_version(version)
    ranges = SpecifierSet(versions)
    return True if parsed is None else ranges.contains(parsed.base_version if parsed.is_prerelease else parsed)


def parse_version(version: str) -> Version | None:
    """Read a version; None where it is none."""
    try:
        return Version(version)
    except InvalidVersion:
        return None

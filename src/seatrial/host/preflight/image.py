"""The image: what its tag means now, whether that is what ran before, and its account. Pure."""

from __future__ import annotations

from collections.abc import Iterator

from seatrial.findings import Finding, Level
from seatrial.host.situation import Image, Inside, Situation


def check(situation: Situation) -> Iterator[Finding]:
    """Look at the image and at what a container of it said."""
    image = situation.image
    if image is not None:
        yield from _tag(image, situation)
    inside = situation.inside
    if inside is not None:
        yield from _account(inside)


def short(digest: str) -> str:
    """Shorten a digest to what people compare."""
    return digest[: len("sha256:") + 12]


def _tag(image: Image, situation: Situation) -> Iterator[Finding]:
    version = situation.plan.version if situation.plan else None
    if image.id is None:
        yield from _not_here(image)
        return
    if image.locked and image.locked != image.id:
        way_back = (
            f"The image that was proven is still here: docker tag {short(image.locked)} {image.name}."
            if image.locked_is_here
            else "The image that was proven is not here any more: prove anew (`seatrial switch`)."
        )
        yield Finding(
            Level.ERROR,
            "image-moved",
            f"{image.name} is {short(image.id)} now, and the last good start ran on {short(image.locked)}: the "
            f"tag moved",
            f"{way_back} Or, to stay with the new one on purpose, prove it with `seatrial switch`.",
        )
    yield Finding(
        Level.NOTE,
        "image-resolved",
        f"{image.name} is {_named(image)}" + (f", engine version {version}" if version else ""),
    )


def _named(image: Image) -> str:
    registry = next((digest.partition("@")[2] for digest in image.digests), "")
    assert image.id is not None
    return f"{short(image.id)}" + (f" (registry digest {short(registry)})" if registry else " (no registry's digest)")


def _not_here(image: Image) -> Iterator[Finding]:
    still = ""
    if image.locked and image.locked_is_here:
        still = f" The local image {short(image.locked)}, which ran before, is still here: docker tag "
        f"{short(image.locked)} {image.name}."
    if image.in_registry is False:
        yield Finding(
            Level.ERROR,
            "image-tag-gone",
            f"{image.name} is not on this machine, and its tag no longer exists in the registry",
            still.strip() or "Set engine.image to a release that exists; nightly and dev tags are deleted after weeks.",
        )
        return
    yield Finding(
        Level.WARNING if still else Level.NOTE,
        "image-not-here",
        f"{image.name} is not on this machine: the start will pull it"
        + ("" if image.in_registry else ", if the registry still has it"),
        (still.strip() or f"docker pull {image.name}") + (" Pulling may bring something else." if still else ""),
    )


def _account(inside: Inside) -> Iterator[Finding]:
    if inside.problem:
        yield Finding(
            Level.WARNING,
            "container-not-tried",
            f"no container of the image could be tried: {inside.problem}",
            "So nothing is known about its rights and packages; the start will show.",
        )
        return
    if inside.user is None and inside.uid is not None:
        yield Finding(
            Level.ERROR,
            "uid-without-name",
            f"uid {inside.uid} has no entry in the image's /etc/passwd ({inside.user_problem}): the engine dies at an "
            "import (`KeyError: getpwuid(): uid not found`)",
            "Give the container USER, LOGNAME and HOME as variables, HOME and the caches on a writable mount; "
            "TORCHINDUCTOR_CACHE_DIR alone is not enough.",
            "container.non_root",
        )

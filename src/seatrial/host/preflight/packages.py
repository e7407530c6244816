"""Versions inside the image or the environment: they must agree with each other and with the stack. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from seatrial.findings import Finding, Level
from seatrial.host.knowledge import cuda_knowledge
from seatrial.host.situation import Situation


def check(situation: Situation) -> Iterator[Finding]:
    """Compare versions, where somebody could look at them."""
    versions = situation.environment
    where = "the environment"
    if versions is None and situation.inside is not None:
        versions, where = situation.inside.versions, "the image"
    if not versions:
        return
    yield from _together(versions, where)
    plan = situation.plan
    if plan is None:
        return
    installed = versions.get(plan.stack.engine.kind)
    if installed and base(installed) != base(plan.version):
        yield Finding(
            Level.ERROR,
            "engine-version-differs",
            f"{where} holds {plan.stack.engine.kind} {installed}, and the plan is made for {plan.version}: its "
            f"flags may not exist",
            f"Set engine.version to {base(installed)}, or take the image of {plan.version}.",
        )
        return
    build = cuda_knowledge().build_of(plan.version)
    for name, wanted in (build.packages if build else {}).items():
        found = versions.get(name)
        if found and base(found) != wanted:
            yield Finding(
                Level.ERROR,
                "engine-package-differs",
                f"{where} holds {name} {found}; {plan.stack.engine.kind} {plan.version} is pinned to {wanted} "
                f"and asserts it "
                "at its start",
                f"pip install {name}=={wanted}, in {where}; or the release's own image.",
            )


def _together(versions: Mapping[str, str], where: str) -> Iterator[Finding]:
    for group in cuda_knowledge().together:
        found = {name: versions[name] for name in group if name in versions}
        if len({base(version) for version in found.values()}) > 1:
            named = ", ".join(f"{name} {version}" for name, version in found.items())
            first = next(iter(found))
            yield Finding(
                Level.ERROR,
                "flashinfer-versions-differ",
                f"{where} holds {named}: the engine refuses to start while they differ",
                f"Pin all of them to the version of {first}: {base(found[first])}.",
            )


def base(version: str) -> str:
    """Leave out a local label: `0.6.14+cu130` is 0.6.14."""
    return version.partition("+")[0].removeprefix("v")

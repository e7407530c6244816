"""Looks at a machine before a start, and makes the situation that `preflight` judges. Changes nothing that stays."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from seatrial.facts.host import HostFacts
from seatrial.facts.probe import probe_host
from seatrial.facts.probe.system import free_mib
from seatrial.host.looking.caches import look_at_caches
from seatrial.host.looking.containers import look_at_containers
from seatrial.host.looking.image import look_at_image
from seatrial.host.looking.inside import PACKAGES, look_inside
from seatrial.host.looking.leftovers import engine_processes, unused_shared_memory
from seatrial.host.looking.packages import package_versions
from seatrial.host.looking.ports import listener_on
from seatrial.host.looking.store import look_at_store
from seatrial.host.situation import Image, Person, Situation, Space
from seatrial.planning.plan import Plan
from seatrial.progress import Display

MIB = 1 << 20
GIB = 1 << 30
IMAGE_BYTES = 60 * GIB
"""An engine's image with its layers while it is unpacked: the official ones are 15 to 25 GB packed."""
TEMPORARY_BYTES = 2 * GIB
"""Compilers, and sockets of the exchange between ranks."""


def look(
    plan: Plan | None,
    folder: Path | None,
    display: Display,
    *,
    host: HostFacts | None = None,
    online: bool = False,
    containers: bool = True,
) -> Situation:
    """Find out all that a preflight wants to know.

    Args:
        plan: what is to be started; None for the machine alone.
        folder: the stack's folder, which the plan's paths are relative to.
        display: told what is looked at.
        host: facts, where somebody has them already; of another machine nothing else is looked at.
        online: ask the registry whether it still has the image's tag.
        containers: start a container of the image for some seconds, to try its rights and see its packages.
    """
    if host is not None and host.source != "this host":
        return Situation(host=host, plan=plan)
    display.phase("Looking at this host")
    store = folder / plan.stack.store if plan and folder else None
    host = host or probe_host(store=store)
    situation = Situation(
        host=host,
        plan=plan,
        person=person(),
        containers=look_at_containers(host),
        leftovers=engine_processes(),
        shared_memory=unused_shared_memory(),
        folder=str(folder.resolve()) if folder else "",
    )
    return (
        situation
        if plan is None or folder is None
        else _for_plan(situation, plan, folder, display, online=online, containers=containers)
    )


def _for_plan(
    situation: Situation, plan: Plan, folder: Path, display: Display, *, online: bool, containers: bool
) -> Situation:
    host = situation.host
    image, inside = None, None
    if plan.stack.engine.environment is None and host is not None and host.docker and host.docker.reachable:
        image = look_at_image(plan.stack.engine.image, folder, online=online)
        if image.id is not None and containers:
            display.phase(f"Trying a container of {image.name}")
            inside = look_inside(plan, folder, gpus=bool(host.gpus))
    versions = None
    if plan.stack.engine.environment is not None:
        versions = package_versions(folder / Path(plan.stack.engine.environment).expanduser(), PACKAGES)
    return replace(
        situation,
        image=image,
        inside=inside,
        store=look_at_store(plan, folder),
        spaces=_spaces(situation.host, image),
        listener=listener_on(plan.stack.serve.reachable_host, plan.stack.serve.port),
        caches=look_at_caches(plan, folder, image.id if image else None, host),
        environment=versions,
    )


def person() -> Person:
    """Say who asks."""
    from seatrial.host.agent.accounts import me  # noqa: PLC0415 - one function needs it

    found = me()
    return Person(found["uid"], found["name"], tuple(found["groups"]), tuple(found["new_login"]))


def _spaces(host: HostFacts | None, image: Image | None) -> tuple[Space, ...]:
    """Measure what a start fills besides the store."""
    found = [_space("/tmp", "compiling kernels", TEMPORARY_BYTES)]  # noqa: S108 - its free space
    if host and host.docker and host.docker.root and image is not None and image.id is None:
        found.append(_space(host.docker.root, "unpacking the engine's image", IMAGE_BYTES))
    return tuple(found)


def _space(path: str, what: str, needed: int) -> Space:
    free = free_mib(Path(path))
    return Space(path, what, None if free is None else free * MIB, needed)

"""All that a preflight judges: host, plan, image, store, containers, processes. Pure values, made by `looking/`.

None means that nobody looked, or that it could not be found out: a check that needs it says so, or says nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from seatrial.facts.host import GpuProcess, HostFacts
from seatrial.planning.plan import Plan


@dataclass(frozen=True, slots=True)
class Person:
    """The account that asks.

    Attributes:
        groups: that this process has.
        new_login: groups that the account is in by now, and this process is not.
    """

    uid: int
    name: str
    groups: tuple[str, ...] = ()
    new_login: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Image:
    """The engine's image, as it lies on this machine.

    Attributes:
        name: as the stack has it.
        id: digest of what the name means now; None where it is not here.
        digests: names with a digest, as a registry knows it.
        cuda: the CUDA that it was built with, e.g. `13.0.1`.
        user: that it runs as by itself; empty for root.
        in_registry: whether the registry has the name; None where nobody could ask.
        locked: digest that the last good start ran on; None where there was none.
        locked_is_here: that one is still on this machine, under whatever name.
    """

    name: str
    id: str | None = None
    digests: tuple[str, ...] = ()
    cuda: str | None = None
    user: str = ""
    in_registry: bool | None = None
    locked: str | None = None
    locked_is_here: bool | None = None


@dataclass(frozen=True, slots=True)
class Written:
    """A test of writing: touch, rename, unlink.

    Attributes:
        path: where.
        problem: why it can't be written; empty where it can.
        mounted: it lies on a mount, so that it outlives the container.
    """

    path: str
    problem: str = ""
    mounted: bool | None = None


@dataclass(frozen=True, slots=True)
class Inside:
    """What a container of the image said, started with the plan's account, mounts and variables.

    Attributes:
        problem: why no container could be started, or why it said nothing; empty where all went well.
        uid: that it ran as.
        user: its name there; None where there is none (`getpass.getuser()` fails).
        user_problem: what Python says about that.
        hub: whether the Hub's folder can be written.
        hub_variable: what decided where that is: HF_HOME, HF_HUB_CACHE, or empty for the default.
        caches: whether the folder of compiled kernels can be written.
        versions: installed packages, by name.
        gpus: names of the GPUs that it saw; None where none were asked for.
        gpu_problem: what Docker said when GPUs were asked for.
        seconds: how long all of it took.
    """

    problem: str = ""
    uid: int | None = None
    user: str | None = None
    user_problem: str = ""
    hub: Written | None = None
    hub_variable: str = ""
    caches: Written | None = None
    versions: Mapping[str, str] | None = None
    gpus: tuple[str, ...] | None = None
    gpu_problem: str = ""
    seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class OwnedFolder:
    """A model's folder in the store.

    Attributes:
        owners: uids of those who own something in it.
        groups: gids likewise.
        writable: all of it is its group's to write.
    """

    name: str
    owners: frozenset[int]
    groups: frozenset[int] = frozenset()
    writable: bool = False


@dataclass(frozen=True, slots=True)
class Snapshot:
    """The plan's checkpoint in the store.

    Attributes:
        revision: as it was asked for.
        folder: it has a folder at all.
        reference: `refs/REVISION` is there (or the revision is a commit itself).
        commit: that it leads to.
        missing: files that the index names and that are not there.
        unfinished: downloads that were broken off.
    """

    revision: str
    folder: bool
    reference: bool
    commit: str | None = None
    missing: tuple[str, ...] = ()
    unfinished: tuple[str, ...] = ()

    @property
    def is_whole(self) -> bool:
        """Whether it can be served without asking the Hub."""
        return self.reference and self.commit is not None and not self.missing


@dataclass(frozen=True, slots=True)
class Store:
    """The model store on this machine.

    Attributes:
        path: of it.
        exists: it is there.
        here: whether this account can write there.
        models: model folders with their owners.
        owner: uid of the store itself.
        group: gid of the store itself.
        free_bytes: free where it really lies.
        needed_bytes: that a download of the checkpoint would still take; None where unknown.
        snapshot: the plan's checkpoint in it; None without a plan.
    """

    path: str
    exists: bool
    here: Written | None = None
    models: tuple[OwnedFolder, ...] = ()
    owner: int | None = None
    group: int | None = None
    free_bytes: int | None = None
    needed_bytes: int | None = None
    snapshot: Snapshot | None = None


@dataclass(frozen=True, slots=True)
class Space:
    """Free space of one more place that fills up: /tmp, Docker's own folder."""

    path: str
    what: str
    free_bytes: int | None
    needed_bytes: int


@dataclass(frozen=True, slots=True)
class Container:
    """A container of this machine.

    Attributes:
        id: twelve digits of its id.
        state: created, running, restarting, exited …
        stack: that seatrial started it for; None for somebody else's.
        folder: of the Compose project that it belongs to; empty where none is known.
        exit_code: of one that ended.
        gpus: it was given GPUs.
        looked_after: that folder is still there with its files, so that somebody can stop it by them.
    """

    id: str
    name: str
    state: str
    image: str = ""
    stack: str | None = None
    folder: str = ""
    exit_code: int | None = None
    oom_killed: bool = False
    gpus: bool = False
    looked_after: bool = False

    @property
    def is_alive(self) -> bool:
        """Whether it runs, or will again by itself."""
        return self.state in ("running", "restarting", "paused")


@dataclass(frozen=True, slots=True)
class Listener:
    """Who listens on the stack's port."""

    port: int
    pid: int | None = None
    name: str | None = None
    container: str | None = None


@dataclass(frozen=True, slots=True)
class SharedMemory:
    """Something that an engine left in /dev/shm, or among the System V segments, that no process uses any more."""

    name: str
    size_bytes: int
    age_seconds: float


@dataclass(frozen=True, slots=True)
class Caches:
    """The folder of compiled kernels.

    Attributes:
        path: of it.
        entries: there is something in it.
        made_for: what it was compiled for, as the last good start wrote it down; None where nobody did.
        wanted: what this start would compile for; None where that is not known.
        cold_seconds: how long starts took that had to compile; None where none was recorded.
        warm_seconds: likewise of starts that had not.
    """

    path: str
    entries: bool
    made_for: Mapping[str, str] | None = None
    wanted: Mapping[str, str] | None = None
    cold_seconds: float | None = None
    warm_seconds: float | None = None


@dataclass(frozen=True, slots=True)
class Situation:
    """One machine before a start.

    Attributes:
        leftovers: engine processes that no container of this stack, and no launcher, looks after.
        environment: packages of the engine's environment, by name, where no container is used.
    """

    host: HostFacts | None = None
    plan: Plan | None = None
    person: Person | None = None
    image: Image | None = None
    inside: Inside | None = None
    store: Store | None = None
    spaces: tuple[Space, ...] = ()
    containers: tuple[Container, ...] | None = None
    listener: Listener | None = None
    leftovers: tuple[GpuProcess, ...] = ()
    shared_memory: tuple[SharedMemory, ...] = ()
    caches: Caches | None = None
    environment: Mapping[str, str] | None = None
    folder: str = ""

"""The account model of the deployment notes, as declared state: accounts, groups, and what each part of the tree is.

One system account owns the tree and runs the stack; admins are in its group. What they may write is split by risk: in
the model cache a mistake costs a download, in `docker/` it changes what production runs.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import PurePosixPath

from seatrial.errors import InputError
from seatrial.host.agent.rules import PRIVATE, Rule

DEFAULT_ROOT = "/opt/sglang"
DEFAULT_SERVICE = "sglang"
NO_SHELLS = ("/usr/sbin/nologin", "/sbin/nologin", "/bin/false", "/usr/bin/false")
NO_SHELL = NO_SHELLS[0]
SYSTEM_FOLDERS = frozenset(
    ["bin", "boot", "dev", "etc", "lib", "lib32", "lib64", "proc", "root", "run", "sbin", "sys", "usr"]
)
MODEL_CACHE = "hf-cache"
DOCKER = "docker"
SECRETS = "docker/secrets"

SECRET_NAMES = ("*.key", "*.pem", "*api_key", "*api-key", "*id_rsa", "*id_ed25519", "*.netrc", "*.token", "engine.yaml")
"""Files of `docker/` that hold secrets, wherever they lie there."""
TOKEN_NAMES = ("token", "stored_tokens")
"""Where the Hub's login keeps its tokens: in HF_HOME itself, so in the shared folder."""


@dataclass(frozen=True, slots=True)
class Folder:
    """A folder that must be there.

    Attributes:
        path: relative to the root; empty for the root.
        mode: permission bits of a new one.
        shared: it gets a default ACL, so that files made in it are the group's to write.
        why: what it is for, and why it is like that.
    """

    path: str
    mode: int
    shared: bool
    why: str


FOLDERS = (
    Folder("", 0o755, shared=False, why="the service account's home: whoever may write here could replace all below"),
    Folder(DOCKER, 0o755, shared=False, why="what runs in production: edited as the service account only"),
    Folder(SECRETS, 0o700, shared=False, why="keys, for the service account alone"),
    Folder(MODEL_CACHE, 0o2775, shared=True, why="models (HF_HOME): the worst case of a mistake is another download"),
    Folder("hf-cache/hub", 0o2775, shared=True, why="the only place where weights live"),
    Folder(
        "jit-cache", 0o755, shared=False, why="compiled kernels: code that the engine runs, so not the group's to write"
    ),
    Folder("ledger", 0o755, shared=False, why="verdicts and runs: evidence"),
)

RULES = (
    Rule(""),
    Rule(DOCKER),
    Rule(SECRETS, forbidden=PRIVATE),
    Rule(MODEL_CACHE, shared=True, forbidden=0o002),
    Rule("jit-cache"),
    Rule("ledger"),
    Rule(DOCKER, forbidden=PRIVATE, names=SECRET_NAMES),
    Rule(DOCKER, forbidden=0o027, names=(".env", "*/.env")),
    Rule(MODEL_CACHE, forbidden=PRIVATE, names=TOKEN_NAMES, members=True),
)
"""Bits that nobody may have, part by part. The group may read `.env`, for `docker compose ps` needs it."""


@dataclass(frozen=True, slots=True)
class Declared:
    """What a host should be like.

    Attributes:
        service: the account that owns the tree and runs the stack; its first group has the same name.
        root: the tree, which is the account's home too.
        admins: accounts that get into the service's group.
        container: the stack runs in a container, so the account must be in Docker's group.
    """

    service: str = DEFAULT_SERVICE
    root: str = DEFAULT_ROOT
    admins: tuple[str, ...] = ()
    container: bool = True

    def __post_init__(self) -> None:
        for name in (self.service, *self.admins):
            if not name or name.startswith("-") or not all(sign.isalnum() or sign in "._-" for sign in name):
                raise InputError("this is no account's name", where=repr(name))
        path = PurePosixPath(self.root)
        if path.parts[1:2] and path.parts[1] in SYSTEM_FOLDERS:
            raise InputError(
                f"/{path.parts[1]} belongs to the system: nothing there is given to another owner",
                where=f"--root {self.root}",
                advice=f"E.g. --root {DEFAULT_ROOT}.",
            )
        if not path.is_absolute() or len(path.parts) < 3 or ".." in path.parts:
            raise InputError(
                "the tree must be an absolute path, at least two folders deep",
                where=f"--root {self.root}",
                advice=f"E.g. --root {DEFAULT_ROOT}.",
            )

    @property
    def group(self) -> str:
        """The group that admins get into: the service account's own."""
        return self.service

    @property
    def folders(self) -> tuple[Folder, ...]:
        """Folders that must be there, outer ones first."""
        return FOLDERS

    @property
    def rules(self) -> tuple[Rule, ...]:
        """What each part of the tree must be like."""
        return RULES

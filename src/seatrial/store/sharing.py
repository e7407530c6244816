"""Who may read and write what is put into a shared store: the group may, whatever the umask of the moment says.

The mode is set on each file and folder that is made, never through the process's umask: that is one for all threads.
"""

from __future__ import annotations

import contextlib
import os
import stat
from dataclasses import dataclass
from pathlib import Path

PART = ".part"


@dataclass(frozen=True, slots=True)
class Sharing:
    """How new files and folders of a store are shared.

    Attributes:
        owner: user id that they get; None to leave it: only root can give files away.
        group: group id that they get; None to leave it.
        others: what the store's own folder lets everybody else do: its read and execute bits.
    """

    owner: int | None
    group: int | None
    others: int

    @staticmethod
    def of(hub: Path) -> Sharing:
        """Read it from the hub folder, or from the nearest folder above that is there.

        As root, new files get the folder's owner and group, so that no root-owned files end up in somebody's cache.
        Anybody else gives them the folder's group where the account is in it.
        """
        folder = hub
        while not folder.exists() and folder != folder.parent:
            folder = folder.parent
        facts = folder.stat()
        root = os.geteuid() == 0
        member = root or facts.st_gid in {*os.getgroups(), os.getegid()}
        return Sharing(facts.st_uid if root else None, facts.st_gid if member else None, facts.st_mode & 0o005)

    @property
    def file_mode(self) -> int:
        """Mode of a file: owner and group read and write."""
        return 0o660 | (self.others & 0o004)

    @property
    def folder_mode(self) -> int:
        """Mode of a folder: owner and group write, and what is made in it keeps the group."""
        return 0o770 | stat.S_ISGID | self.others

    def make_folder(self, path: Path) -> None:
        """Make a folder and those above it that are missing, each shared.

        Raises:
            OSError: one can't be made.
        """
        if path.is_dir():
            return
        self.make_folder(path.parent)
        try:
            path.mkdir(mode=0o770)
        except FileExistsError:  # another pull was faster
            return
        self._give(path)
        with contextlib.suppress(OSError):
            path.chmod(self.folder_mode)

    def open_file(self, path: Path, flags: int) -> int:
        """Open a file, made where it is missing; return its descriptor.

        Raises:
            OSError: it can't be opened.
        """
        try:
            descriptor = os.open(path, flags | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o660)
        except FileExistsError:
            return os.open(path, flags | os.O_NOFOLLOW)
        self.share(descriptor)
        return descriptor

    def share(self, file: int | Path) -> None:
        """Give a file its mode, group and owner; what is somebody else's is left as it is."""
        self._give(file)
        with contextlib.suppress(OSError):
            os.chmod(file, self.file_mode)  # noqa: PTH101 - a descriptor, too

    def write_text(self, path: Path, text: str, aside: Path) -> None:
        """Write a small file whole or not at all, shared.

        Args:
            path: the file.
            text: what it will hold.
            aside: a folder on the same disk where the part grows, so that a kill leaves nothing beside the file.

        Raises:
            OSError: it can't be written.
        """
        self.make_folder(aside)
        part = aside / f"{path.name}.{os.getpid()}{PART}"
        try:
            with os.fdopen(self.open_file(part, os.O_WRONLY | os.O_TRUNC), "w", encoding="utf-8") as file:
                file.write(text)
                file.flush()
                os.fsync(file.fileno())
            part.replace(path)
        except OSError:
            part.unlink(missing_ok=True)
            raise

    def _give(self, file: int | Path) -> None:
        if self.owner is None and self.group is None:
            return
        with contextlib.suppress(OSError):
            os.chown(
                file,
                -1 if self.owner is None else self.owner,
                -1 if self.group is None else self.group,
            )

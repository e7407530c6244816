"""Which processes have files of the store open or mapped, or name a model in their command. Reads /proc.

Files are compared by device and inode: a process in a container sees other paths, and the same files.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from pathlib import Path

from seatrial.store.references import Known, Use, UseKind, mentions

Inode = tuple[int, int]
PROC = Path("/proc")


@dataclass(frozen=True, slots=True)
class Process:
    """One process.

    Attributes:
        number: its id.
        words: its command.
    """

    number: int
    words: tuple[str, ...]

    @property
    def name(self) -> str:
        """What people call it: its program, never its arguments, for a key may be among them."""
        program, *rest = self.words or ("?",)
        shown = Path(program).name
        if rest[:1] == ["-m"] and len(rest) > 1:
            shown += f" -m {rest[1]}"
        elif rest and not rest[0].startswith("-") and len(rest[0]) < 100 and rest[0].endswith((".py", ".sh")):
            shown += f" {Path(rest[0]).name}"
        return f"{self.number} ({shown[:60]})"


def inode(path: Path) -> Inode | None:
    """Find a file's device and inode; None where it is not there."""
    try:
        facts = path.stat()
    except OSError:
        return None
    return facts.st_dev, facts.st_ino


def processes() -> Iterator[Process]:
    """List the processes of this machine but for this one and those that it was started by."""
    skipped = ancestors()
    for entry in PROC.iterdir() if PROC.is_dir() else ():
        if not entry.name.isdigit() or int(entry.name) in skipped:
            continue
        try:
            raw = (entry / "cmdline").read_bytes()
        except OSError:
            continue
        if raw:  # a thread of the kernel has no command
            words = tuple(word.decode("utf-8", "replace") for word in raw.rstrip(b"\0").split(b"\0"))
            yield Process(int(entry.name), words)


def ancestors() -> AbstractSet[int]:
    """List this process and those that it was started by: a shell's command names the model, too."""
    found: set[int] = set()
    number = os.getpid()
    while number > 0 and number not in found:
        found.add(number)
        try:
            text = (PROC / str(number) / "stat").read_text(encoding="utf-8", errors="replace")
        except OSError:
            break
        number = int(text.rpartition(")")[2].split()[1])
    return found


def process_uses(repos: Iterable[str], files: Mapping[Inode, str]) -> Known:
    """Find processes that use models.

    Args:
        repos: the models of the store.
        files: device and inode of each of their files -> the model.

    Returns:
        The uses; a note says how many processes did not let themselves be looked into.
    """
    repos = tuple(repos)
    uses: list[Use] = []
    closed = 0
    for process in processes():
        held: set[str] = set()
        try:
            held = {files[key] for key in _open(process.number) if key in files}
        except PermissionError:
            closed += 1
        except OSError:
            continue  # it has ended
        uses += [Use(UseKind.PROCESS, process.name, repo, None, "has its files open") for repo in sorted(held)]
        for word in process.words:
            if any(mark in word for mark in " \n\t;") and "models--" not in word:
                continue  # a script's text, not a name
            named = {found.repo for found in mentions(word.rpartition("=")[2], repos)} - held
            uses += [Use(UseKind.PROCESS, process.name, repo, None, "its command names it") for repo in sorted(named)]
            held |= named
    notes = (f"{closed} processes of other accounts do not say which files they have open",) if closed else ()
    return Known(tuple(uses), (), notes)


def holders(files: Iterable[Path]) -> tuple[Process, ...]:
    """List the processes that have one of these files open or mapped, as far as they let themselves be looked into."""
    wanted = {key for path in files if (key := inode(path)) is not None}
    found = []
    for process in processes():
        try:
            if any(key in wanted for key in _open(process.number)):
                found.append(process)
        except OSError:
            continue
    return tuple(found)


def _open(number: int) -> Iterator[Inode]:
    """List what a process has open or mapped.

    Raises:
        OSError: it has ended, or may not be looked into.
    """
    folder = PROC / str(number)
    for descriptor in os.scandir(folder / "fd"):
        try:
            facts = os.stat(descriptor.path)  # noqa: PTH116 - the file behind the link, by a path that is a text
        except OSError:
            continue
        yield facts.st_dev, facts.st_ino
    with (folder / "maps").open(encoding="utf-8", errors="replace") as lines:
        for line in lines:
            parts = line.split(maxsplit=5)
            if len(parts) == 6 and parts[4] != "0":
                major, _, minor = parts[3].partition(":")
                yield os.makedev(int(major, 16), int(minor, 16)), int(parts[4])

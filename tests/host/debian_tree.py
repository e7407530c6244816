"""A real Debian to change: this machine's own files under an overlay in a mount namespace, with its own /etc and /opt.

Accounts are made by the real useradd, files belong to them, and their commands run as them. When the namespace ends,
all of it is gone.
"""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from host.tools import CACHE

CHECKOUT = Path(__file__).parents[2]
UNPACKED = CACHE / "root"

SCRIPT = """
set -e
base=$1; shift
mount -t tmpfs -o mode=755 tmpfs "$base"
mkdir "$base/upper" "$base/work" "$base/root"
mount -t overlay overlay -o "lowerdir=/,upperdir=$base/upper,workdir=$base/work" "$base/root"
for name in proc sys dev; do mount --rbind "/$name" "$base/root/$name"; done
for name in tmp run; do mount -t tmpfs -o mode=1777 tmpfs "$base/root/$name"; done
for path in "$@"; do mkdir -p "$base/root$path"; mount --rbind "$path" "$base/root$path"; done
rm -rf "$base/root/opt/sglang" "$base/root/var/lib/seatrial"
echo ready
exec sleep infinity
"""


def missing() -> str:
    """Say why no such tree can be made here; empty where it can."""
    if os.geteuid() != 0:
        return "only root can make a mount namespace with an overlay"
    for program in ("unshare", "nsenter", "chroot", "useradd", "runuser"):
        if not shutil.which(program):
            return f"{program} is not installed"
    return ""


def require_tools(*programs: str) -> None:
    """Skip loudly where the tree would lack a program; fail where the tests were promised one."""
    lacking = [name for name in programs if not shutil.which(name) and not list(UNPACKED.glob(f"**/*bin/{name}"))]
    if lacking:
        _miss(f"{', '.join(lacking)} (python3 tests/host/tools.py fetches it)")


def _miss(what: str) -> None:
    if os.environ.get("SEATRIAL_TESTS_NEED_HOST_TOOLS"):
        pytest.fail(f"these tests were promised a machine for the whole suite: {what}")
    pytest.skip(f"no Debian tree to change: {what}")


class DebianTree:
    """One such machine."""

    def __init__(self, process: int, root: Path) -> None:
        self.process = process
        self.root = root

    def command(self, words: list[str], *, user: str = "root") -> list[str]:
        """Write the command that runs `words` in it, as a user."""
        enter = ["nsenter", "--target", str(self.process), "--mount", "--", "chroot", str(self.root)]
        place = ["env", "-i", f"PATH={self.path}", "LC_ALL=C", f"HOME={'/root' if user == 'root' else f'/home/{user}'}"]
        become = [] if user == "root" else ["runuser", "-u", user, "--"]
        return [*enter, *place, *become, *words]

    @property
    def path(self) -> str:
        return "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

    def run(self, *words: str, user: str = "root", stdin: str | None = None) -> subprocess.CompletedProcess[str]:
        """Run a command in it."""
        return subprocess.run(
            self.command(list(words), user=user), input=stdin, capture_output=True, text=True, timeout=120, check=False
        )

    def shell(self, text: str, *, user: str = "root", fails: bool = False) -> str:
        """Run shell text in it; its output."""
        done = self.run("sh", "-c", f"umask 022; cd /\n{text}", user=user)
        assert (done.returncode != 0) is fails, f"{text}: {done.stdout}{done.stderr}"
        return (done.stdout + (done.stderr if fails else "")).strip()

    def seatrial(self, *words: str, user: str = "root", expect: int | None = 0) -> subprocess.CompletedProcess[str]:
        """Run the real program in it."""
        done = self.run(*self.seatrial_words(*words), user=user)
        assert "Traceback" not in done.stdout + done.stderr, done.stdout + done.stderr
        if expect is not None:
            assert done.returncode == expect, f"{shlex.join(words)}: {done.returncode}\n{done.stdout}{done.stderr}"
        return done

    def seatrial_words(self, *words: str) -> list[str]:
        """Write the command that is the real program."""
        packages = next(path for path in sys.path if path.endswith("site-packages"))
        path = f"PYTHONPATH={CHECKOUT / 'src'}:{packages}"
        python = str(Path(sys.executable).resolve())
        return ["env", path, "PYTHONDONTWRITEBYTECODE=1", python, "-m", "seatrial", *words]


@contextmanager
def debian_tree(base: Path) -> Iterator[DebianTree]:
    """Make a machine with the people alice, bob and mallory, and Docker's group."""
    if problem := missing():
        _miss(problem)
    base.mkdir(exist_ok=True)
    device = Path("/").stat().st_dev
    apart = {CHECKOUT, Path(sys.prefix), Path(sys.base_prefix)}
    hidden = (Path("/tmp"), Path("/run"))  # the tree gets empty ones of its own
    more = [
        str(path)
        for path in sorted(apart)
        if path.stat().st_dev != device or any(folder in path.parents for folder in hidden)
    ]
    with subprocess.Popen(
        ["unshare", "--mount", "--propagation", "private", "sh", "-c", SCRIPT, "sh", str(base), *more],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=_die_with_parent,
    ) as process:
        try:
            assert process.stdout is not None
            assert process.stderr is not None
            if process.stdout.readline().strip() != "ready":
                process.wait()
                pytest.skip(f"this kernel lets no overlay be mounted: {process.stderr.read().strip()[-200:]}")
            tree = DebianTree(process.pid, base / "root")
            if UNPACKED.is_dir():
                inside = shlex.quote(str(UNPACKED))
                tree.shell(
                    f"for part in usr etc; do cp -a --no-clobber {inside}/$part/. /$part/; done; cp -a "
                    f"{inside}/bin/. /usr/bin/"
                )
            tree.shell("getent group docker >/dev/null || groupadd -r docker")
            tree.shell("getent passwd sglang >/dev/null && userdel sglang || true")
            for path in {CHECKOUT, Path(sys.base_prefix), Path(sys.prefix)}:
                for folder in path.parents:
                    tree.shell(f"chmod o+x {shlex.quote(str(folder))}")  # in the overlay only: people run the program
            for person in ("alice", "bob", "mallory"):
                tree.shell(f"useradd -m -s /bin/sh {person}")
            yield tree
        finally:
            process.kill()


def _die_with_parent() -> None:
    from seatrial.processes import end_with_parent

    end_with_parent()

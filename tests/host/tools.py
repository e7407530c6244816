"""Fetches programs that the tests of the host use (getfacl, sshd, sudo), without installing them on this machine.

    python3 tests/host/tools.py     download Debian packages that are not installed; unpack them into a cache folder

Standard library only; needs apt and dpkg, and root for apt's lists. The tests lay the unpacked files over their own
copy of this machine (see debian_tree.py).
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

PACKAGES = ("acl", "openssh-server", "openssh-client", "sudo")
CACHE = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "seatrial-tests" / "host-tools"


def main() -> int:
    """Fetch what is missing."""
    archives = CACHE / "archives"
    (archives / "partial").mkdir(parents=True, exist_ok=True)
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    download = ["apt-get", "install", "-y", "-qq", "--download-only", "--no-install-recommends"]
    for command in (["apt-get", "update", "-qq"], [*download, "-o", f"Dir::Cache::archives={archives}", *PACKAGES]):
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
        if done.returncode:
            print(f"{' '.join(command[:2])} failed: {done.stderr.strip()[-300:]}", file=sys.stderr)
            return 1
    root = CACHE / "root"
    root.mkdir(exist_ok=True)
    for package in sorted(archives.glob("*.deb")):
        subprocess.run(["dpkg-deb", "-x", package, root], check=True)
        print(f"unpacked {package.name}")
    print(f"the tests' tools are in {root}")
    return 0


if __name__ == "__main__":
    sys.exit(main())

"""How long an audit of a large tree takes, and what a test of the container takes where there is one to try.

    python benchmarks/host_audit.py [--entries 100000] [--folder FOLDER]

Makes a model store of so many files and folders (as the Hub's cache has them: blobs, snapshots with links), audits it
through the real program's own functions, once with nothing wrong and once with every entry owned by another group or
not the group's to write, and prints seconds and entries a second.
"""

from __future__ import annotations

import argparse
import grp
import os
import pwd
import shutil
import statistics
import tempfile
import time
from pathlib import Path

from seatrial.host.accounts import Declared
from seatrial.host.agent.rules import Ids, Rules
from seatrial.host.agent.scanning import Scan
from seatrial.host.audit import audit
from seatrial.host.connection import Here
from seatrial.host.managing import look

FILES = 40
"""Files of one model: shards, configs, and a link to each."""


def make_tree(root: Path, entries: int) -> int:
    """Make a store; how many entries it has."""
    made = 0
    number = 0
    while made < entries:
        model = root / "hf-cache" / "hub" / f"models--owner--model-{number}"
        snapshot = model / "snapshots" / "c0ffee"
        (model / "blobs").mkdir(parents=True)
        snapshot.mkdir(parents=True)
        for file in range(FILES):
            (model / "blobs" / f"{file:064x}").touch()
            (snapshot / f"model-{file:05}-of-{FILES:05}.safetensors").symlink_to(f"../../blobs/{file:064x}")
        made += 4 + 2 * FILES
        number += 1
    return made


def main() -> None:
    """Measure, and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--entries", type=int, default=100_000)
    parser.add_argument("--folder", type=Path, help="where the tree is made; default: a temporary folder")
    parser.add_argument("--repeat", type=int, default=5)
    asked = parser.parse_args()
    folder = Path(tempfile.mkdtemp(prefix="seatrial-audit-", dir=asked.folder))
    try:
        root = folder / "tree"
        print(f"making {make_tree(root, asked.entries):,} entries in {root}")
        account = pwd.getpwuid(os.geteuid()).pw_name
        declared = Declared(account, str(root))
        times = []
        for _ in range(asked.repeat):
            began = time.perf_counter()
            observed = look(Here(), declared)
            findings = audit(declared, observed)
            times.append(time.perf_counter() - began)
        wrong = len(observed.tree.deviations)
        report(
            f"every entry looked at, {wrong:,} not as declared, {len(findings)} findings", times, observed.tree.entries
        )
        ids = Ids(os.geteuid(), grp.getgrgid(os.getegid()).gr_gid)
        fine = folder / "fine"
        shutil.copytree(root / "hf-cache", fine / "ledger", symlinks=True)
        times = []
        for _ in range(asked.repeat):
            began = time.perf_counter()
            found = Scan(str(fine), Rules(list(declared.rules)), ids).run()
            times.append(time.perf_counter() - began)
        report(f"every entry looked at, {len(found['deviations'])} not as declared", times, found["entries"])
    finally:
        shutil.rmtree(folder)


def report(what: str, times: list[float], entries: int) -> None:
    """Print one line of figures."""
    middle = statistics.median(times)
    print(
        f"{what}: {entries:,} entries, median {middle:.2f} s, worst {max(times):.2f} s of {len(times)}, "
        f"{entries / middle:,.0f} entries/s"
    )


if __name__ == "__main__":
    main()

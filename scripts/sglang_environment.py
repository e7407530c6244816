"""Make the environment of the SGLang lane: SGLang on the CPU, once, outside the checkout; print its folder.

Standard library only:

    python3 scripts/sglang_environment.py            builds it where it is missing, and prints its folder
    python3 scripts/sglang_environment.py --where    prints where it is or would be

It lies in the user's cache folder under a name made of what it is built from (requirements/sglang-cpu.txt, other
versions, the Python that runs this), so a changed lock makes a new one. SEATRIAL_SGLANG_ENVIRONMENT names another
folder to keep these in. In it:

    venv/            SGLang, torch and all that a server on the CPU needs; venv/bin/python starts it
    sglang-VERSION/  other versions, unpacked without what they need: enough to read their command line
    models/          small models that scripts/sglang_models.py makes

Safe to kill at any moment: the stamp is written last, and without it the next run starts afresh. Two runs wait for each
other.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import shutil
import sys
from pathlib import Path

from environment import OLDEST_PYTHON, end_with_parent, fail, last_line, run

VARIABLE = "SEATRIAL_SGLANG_ENVIRONMENT"
HERE = Path(__file__).resolve().parent
PINS = HERE.parent / "requirements" / "sglang-cpu.txt"
STAND_INS = HERE / "sglang_cpu"
OTHER_VERSIONS = ("0.5.23",)
"""Versions whose flags are in the catalogue, beside the one that runs."""
STAMP = "ready.json"


def main() -> int:
    """Build the environment where it is missing, and print its folder."""
    if sys.version_info < OLDEST_PYTHON:
        return fail(f"Python {sys.version.split()[0]} is too old: 3.11 or newer is needed")
    end_with_parent(os.environ.get("SEATRIAL_END_WITH_PARENT", ""))
    key = fingerprint()
    folder = home() / key
    if "--where" in sys.argv[1:]:
        print(folder)
        return 0
    if sys.argv[1:]:
        return fail("usage: sglang_environment.py [--where]")
    try:
        home().mkdir(parents=True, exist_ok=True)
        with (home() / f"{key}.lock").open("w") as held:
            fcntl.flock(held, fcntl.LOCK_EX)
            code = 0 if is_ready(folder, key) else build(folder, key)
            if not code:
                add_stand_ins(folder)
    except OSError as error:
        return fail(f"{error.filename}: {error.strerror}. Set {VARIABLE} to a folder that can be written to.")
    if not code:
        print(folder)
    return code


def home() -> Path:
    """Name the folder that environments are kept in."""
    if named := os.environ.get(VARIABLE):
        return Path(named).expanduser().absolute()
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches" / "seatrial" / "sglang"
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "seatrial" / "sglang"


def fingerprint() -> str:
    """Make a name of everything that an environment is built from."""
    digest = hashlib.sha256()
    for part in (PINS.read_text(encoding="utf-8"), *OTHER_VERSIONS, sys.version, sys.base_prefix):
        digest.update(f"{part}\0".encode())
    return digest.hexdigest()[:16]


def is_ready(folder: Path, key: str) -> bool:
    """Whether an environment was built to its end."""
    try:
        return bool(json.loads((folder / STAMP).read_text(encoding="utf-8")).get("key") == key)
    except (OSError, ValueError, AttributeError):
        return False


def build(folder: Path, key: str) -> int:
    """Install everything into a fresh folder; the stamp comes last."""
    pins = [line.strip() for line in PINS.read_text(encoding="utf-8").splitlines() if line.strip()[:1] not in ("", "#")]
    torch = next(pin for pin in pins if pin.startswith("torch=="))
    others = [pin for pin in pins if pin != torch]
    say(f"Setting up SGLang on the CPU in {folder} (once; several GB are fetched) …")
    shutil.rmtree(folder, ignore_errors=True)
    (folder / "models").mkdir(parents=True)
    python = folder / "venv" / "bin" / "python"
    pip = [str(python), "-m", "pip", "--disable-pip-version-check", "install", "--quiet", "--only-binary", ":all:"]
    steps: list[tuple[str, list[str]]] = [
        ("an empty environment", [sys.executable, "-m", "venv", str(folder / "venv")]),
        ("torch", [*pip, torch]),
        (f"SGLang and {len(others) - 1} others", [*pip, "--no-deps", *others]),
        *(
            (
                f"SGLang {version} beside it",
                [*pip, "--no-deps", "--target", str(beside(folder, version)), f"sglang=={version}"],
            )
            for version in OTHER_VERSIONS
        ),
    ]
    for what, command in steps:
        say(f"  {what}")
        done = run(command)
        if done.returncode:
            log = folder / "setup.log"
            log.write_text(done.stdout, encoding="utf-8")
            return fail(
                f"{what} could not be installed: {last_line(done.stdout)} (all of it: {log}). "
                "The first set-up needs the package index; run the command again once it can be reached."
            )
    part = folder / f"{STAMP}.part"
    part.write_text(json.dumps({"key": key, "python": sys.version.split()[0]}), encoding="utf-8")
    part.replace(folder / STAMP)
    return 0


def add_stand_ins(folder: Path) -> None:
    """Put the stand-ins among the packages, each file that is not there yet or is another one."""
    site = next((folder / "venv" / "lib").glob("python3*")) / "site-packages"
    for file in STAND_INS.rglob("*"):
        copy = site / file.relative_to(STAND_INS)
        if not file.is_file() or file.suffix == ".pyc" or (copy.is_file() and copy.read_bytes() == file.read_bytes()):
            continue
        copy.parent.mkdir(parents=True, exist_ok=True)
        part = copy.with_name(f"{copy.name}.part")
        part.write_bytes(file.read_bytes())
        part.replace(copy)


def beside(folder: Path, version: str) -> Path:
    """Name the folder of a version that is only unpacked."""
    return folder / f"sglang-{version}"


def say(message: str) -> None:
    """Tell progress on stderr: stdout is for the folder."""
    print(message, file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())

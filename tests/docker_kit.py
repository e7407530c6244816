"""A real Docker Engine for tests: an image that is built here, with SGLang's command line in it."""

from __future__ import annotations

import io
import os
import shutil
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest

IMAGE = "lmsysorg/sglang:v0.5.16-seatrial-test"
TREE = Path(__file__).parent / "runtimes" / "compose" / "image"
CHECKOUT = Path(__file__).parent.parent
LINKS = {"bin": "usr/bin", "lib": "usr/lib", "lib64": "usr/lib64", "sbin": "usr/sbin"}


def docker_missing() -> str:
    """Say why there is no Docker to test on; empty where there is one."""
    if not shutil.which("docker"):
        return "docker is not installed"
    for command in (["docker", "info", "--format", "{{.ServerVersion}}"], ["docker", "compose", "version"]):
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=30, check=False)
        except subprocess.TimeoutExpired:
            return "docker does not answer"
        if done.returncode:
            return (done.stderr or done.stdout).strip().splitlines()[-1][:200]
    return ""


def require_docker() -> None:
    """Skip loudly without Docker; fail where the tests were promised one."""
    missing = docker_missing()
    if missing and os.environ.get("SEATRIAL_TESTS_NEED_DOCKER"):
        pytest.fail(f"these tests were promised a Docker Engine: {missing}")
    if missing:
        pytest.skip(f"no Docker Engine: {missing} (python3 scripts/docker_engine.py makes one ready)")


def build_image() -> None:
    """Make the test image: empty but for links, so that the host's own programs can be mounted into it."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as archive:
        for name, target in LINKS.items():
            link = tarfile.TarInfo(name)
            link.type, link.linkname = tarfile.SYMTYPE, target
            archive.addfile(link)
        accounts = b"root:x:0:0:root:/root:/bin/sh\n"
        passwd = tarfile.TarInfo("etc/passwd")
        passwd.size = len(accounts)
        archive.addfile(passwd, io.BytesIO(accounts))
        for name in ("usr", "tmp", "root", "etc", "proc", "sys", "dev"):
            folder = tarfile.TarInfo(name)
            folder.type, folder.mode = tarfile.DIRTYPE, 0o755
            archive.addfile(folder)
    subprocess.run(["docker", "import", "-", IMAGE], input=buffer.getvalue(), capture_output=True, check=True)


def stack_text(
    name: str, port: int, model: str, *, weights: Path | None = None, non_root: bool = False, **more: str
) -> str:
    """Write a stack file for the test image; `weights` is the real small model, for `owner/smollm2`."""
    python = Path(sys.executable).resolve()
    packages = next(path for path in sys.path if path.endswith("site-packages"))
    prefix = Path(sys.base_prefix)
    mounts = ["/usr:/usr:ro", "/etc/ssl:/etc/ssl:ro", f"{CHECKOUT}:{CHECKOUT}:ro", f"{packages}:{packages}:ro"]
    if not str(prefix).startswith("/usr"):
        mounts.append(f"{prefix}:{prefix}:ro")
    if weights is not None:
        mounts.append(f"{weights.parent}:/weights:ro")
    real = "" if weights is None else f"    SMOLLM2: /weights/{weights.name}\n"
    volumes = "".join(f"      - {mount}\n" for mount in mounts)
    serve = "".join(f"  {key}: {value}\n" for key, value in more.items())
    return f"""name: {name}
engine:
  image: {IMAGE}
model:
  repo: owner/{model}
  served_name: reviewer
serve:
  port: {port}
  context_length: 8192
  tensor_parallel: 1
{serve}store: ./hf-cache
jit_cache: ./jit-cache
ledger: ./ledger
policy:
  prove: quick
container:
  non_root: {str(non_root).lower()}
  environment:
{real}    PATH: {python.parent}:/usr/bin:/bin
    PYTHONPATH: {TREE}:{CHECKOUT / "src"}:{packages}
    PYTHONDONTWRITEBYTECODE: "1"
  extra:
    deploy: {{}}
    restart: "no"
    stop_grace_period: 1s
    volumes:
{volumes}"""


def remove(name: str) -> None:
    """Remove whatever a test left of a project."""
    label = f"label=com.docker.compose.project={name}"
    ids = subprocess.run(
        ["docker", "ps", "-aq", "--filter", label], capture_output=True, text=True, check=False
    ).stdout.split()
    if ids:
        subprocess.run(["docker", "rm", "-f", *ids], capture_output=True, check=False)
    subprocess.run(["docker", "network", "rm", f"{name}_default"], capture_output=True, check=False)

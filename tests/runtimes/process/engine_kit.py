"""An environment that looks like one with SGLang: its interpreter is ours, its engine that of the test image."""

from __future__ import annotations

import sys
from pathlib import Path

CHECKOUT = Path(__file__).parent.parent.parent.parent
ENGINE = CHECKOUT / "tests" / "runtimes" / "compose" / "image"


def make_environment(folder: Path, *, version: str = "0.5.16", engine: Path = ENGINE) -> Path:
    """Make one; `engine` is the folder that holds the package `sglang`."""
    packages = folder / "lib" / "python3.11" / "site-packages"
    (packages / f"sglang-{version}.dist-info").mkdir(parents=True)
    python = folder / "bin" / "python"
    python.parent.mkdir()
    ours = next(path for path in sys.path if path.endswith("site-packages"))
    path = f"{engine}:{CHECKOUT / 'src'}:{ours}"
    python.write_text(f'#!/bin/sh\nPYTHONPATH="{path}" exec "{sys.executable}" "$@"\n', encoding="utf-8")
    python.chmod(0o755)
    return folder


def stack_text(name: str, environment: Path, port: int, model: str, **serve: str) -> str:
    """Write a stack file for it."""
    more = "".join(f"  {key}: {value}\n" for key, value in serve.items())
    return f"""name: {name}
engine:
  environment: {environment}
model:
  repo: owner/{model}
  served_name: reviewer
serve:
  port: {port}
  context_length: 8192
  tensor_parallel: 1
{more}store: ./hf-cache
jit_cache: ./jit-cache
ledger: ./ledger
policy:
  prove: quick
settings:
  - {{flag: --device, value: cpu, why: the fake engine needs no GPU}}
"""

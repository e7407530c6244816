"""Three public estimators on the same models, each in its own process and from a local folder.

They are looked for in the environment variable SEATRIAL_PEERS, a virtual environment made with
`python -m venv DIR && DIR/bin/pip install hf-mem vramcalc hf-vram-calc`; one that is missing is skipped and said so.
"""

from __future__ import annotations

import json
import os
import struct
import subprocess
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from seatrial.engines.sglang.memory.modules import modules
from seatrial.engines.sglang.memory.parallel import Parallel
from seatrial.facts.model import ModelFacts

TOKENS = 8192
GIB = 1 << 30
DRIVER = Path(__file__).with_name("hf_mem_driver.py")


@dataclass(frozen=True)
class Estimate:
    """What a peer says: GiB of weights, bytes of cache for one token; or why it says nothing."""

    weights_gib: float | None = None
    bytes_per_token: float | None = None
    why: str = ""


def estimates(config: Mapping[str, object], model: ModelFacts) -> dict[str, Estimate]:
    """Ask every peer about one model."""
    home = os.environ.get("SEATRIAL_PEERS")
    if not home or not (Path(home) / "bin" / "python").exists():
        return {name: Estimate(why="not installed (SEATRIAL_PEERS)") for name in PEERS}
    with tempfile.TemporaryDirectory() as folder:
        _checkpoint(Path(folder), config, model)
        return {name: ask(Path(home) / "bin", Path(folder)) for name, ask in PEERS.items()}


def _checkpoint(folder: Path, config: Mapping[str, object], model: ModelFacts) -> None:
    """Write a config and a safetensors header with the model's tensors; there are no weights behind it."""
    (folder / "config.json").write_text(json.dumps(config), encoding="utf-8")
    header: dict[str, Any] = {}
    end = 0
    for module in modules(model, Parallel()):
        if module.name.endswith((".w_kc", ".w_vc")):  # the engine's own copies: no checkpoint has them
            continue
        size = (module.elements + module.bias) * (module.bytes_per_element or 2)
        dtype = "F32" if module.bytes_per_element == 4 else "BF16"
        shape = [module.elements + module.bias]
        header[f"{module.name}.weight"] = {"dtype": dtype, "shape": shape, "data_offsets": [end, end + size]}
        end += size
    text = json.dumps(header).encode()
    (folder / "model.safetensors").write_bytes(struct.pack("<Q", len(text)) + text)


def _run(command: list[str | Path]) -> tuple[str, str]:
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True, timeout=120, check=False)
    return done.stdout, (done.stderr.strip().splitlines() or [""])[-1][:90]


def _hf_mem(home: Path, folder: Path) -> Estimate:
    out, problem = _run([home / "python", "-W", "ignore", DRIVER, folder, str(TOKENS)])
    try:
        said = json.loads(out.strip().splitlines()[-1])
    except (ValueError, IndexError):
        return Estimate(why=problem or "no answer")
    cache = said["cache_bytes"]
    return Estimate(said["weights_bytes"] / GIB, None if cache is None else cache / TOKENS)


def _vramcalc(home: Path, folder: Path) -> Estimate:
    if not (home / "vramcalc").exists():
        return Estimate(why="not installed")
    out, problem = _run([home / "vramcalc", "estimate", folder, "--batch", "1", "--seq", str(TOKENS), "--json"])
    try:
        said = json.loads(out)["estimate"]
    except (ValueError, KeyError):
        return Estimate(why=problem or "no answer")
    return Estimate(said["weights"] / GIB, said["kv_cache"] / TOKENS)


def _hf_vram_calc(home: Path, folder: Path) -> Estimate:
    if not (home / "hf-vram-calc").exists():
        return Estimate(why="not installed")
    answer = folder / "answer.json"
    command: list[str | Path] = [home / "hf-vram-calc", "--model", "local/model", "--model_path", folder]
    out, problem = _run([*command, "--dtype", "bf16", "--max_seq_len", str(TOKENS), "--output_json", answer])
    try:
        said = json.loads(answer.read_text(encoding="utf-8"))["memory_requirements"][0]
    except (OSError, ValueError, KeyError, IndexError):
        return Estimate(why=problem or (out.strip().splitlines() or ["no answer"])[-1][:90])
    return Estimate(said["model_size_gib"], said["kv_cache_size_gib"] * GIB / TOKENS)


PEERS: dict[str, Callable[[Path, Path], Estimate]] = {
    "hf-mem": _hf_mem,
    "vramcalc": _vramcalc,
    "hf-vram-calc": _hf_vram_calc,
}

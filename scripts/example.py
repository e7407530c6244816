"""Writes examples/opt-sglang/: the deployment notes' own, as the program writes it. `--check` only compares.

    python scripts/example.py

Two RTX 4090s, the production model and the one it is compared with. What a person edits is `docker/stack.yaml`.
"""

from __future__ import annotations

import sys
from pathlib import Path

FOLDER = Path(__file__).parent.parent / "examples" / "opt-sglang"
GPUS = "2x RTX 4090"
MODELS = {
    "stack.yaml": (
        "QuantTrio/Qwen3.6-35B-A3B-AWQ",
        "qwen3.6-35b",
        "Production: a 4-bit mixture of experts on two RTX 4090s.",
    ),
    "stack-27b.yaml": ("cyankiwi/Qwen3.6-27B-AWQ-INT4", "qwen3.6-27b", "Quality comparison: the dense model, 4-bit."),
}
OWNER = (999, 999)
"""A system account's usual numbers; `seatrial up` writes those of the account that runs it."""


def files() -> dict[str, str]:
    """Make every file of the example, by its path."""
    from seatrial.cli.install_scripts import scripts
    from seatrial.engines.sglang.catalogue import load
    from seatrial.facts.example_hosts import host_from_spec
    from seatrial.facts.known_models import known_model
    from seatrial.planning.initial import initial_stack
    from seatrial.planning.plan import make_plan
    from seatrial.runtimes.compose.rendering import Places, render_compose, render_env
    from seatrial.stack.writing import write_stack

    host = host_from_spec(GPUS)
    made = {"docker/.env": render_env(*OWNER)}
    for name, (repo, served, says) in MODELS.items():
        model = known_model(repo)
        stack = initial_stack("sglang", repo, served_name=served, model=model, host=host)
        made[f"docker/{name}"] = write_stack(stack, head=[says])
        if name == "stack.yaml":
            plan = make_plan(stack, model=model, host=host, catalogue=load("0.5.16"))
            made["docker/compose.yaml"] = render_compose(plan, Places(stack.store, stack.jit_cache))
            root = Path("/opt/sglang")
            made |= scripts(stack, root / "docker" / "stack.yaml", root)
    return made


def main() -> int:
    """Write the example, or say where it is not current."""
    wanted = files()
    if "--check" in sys.argv[1:]:
        stale = [
            name
            for name, text in wanted.items()
            if not (FOLDER / name).is_file() or (FOLDER / name).read_text(encoding="utf-8") != text
        ]
        for name in stale:
            print(f"not current: {name}")
        return 1 if stale else 0
    for name, text in wanted.items():
        path = FOLDER / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        if name.endswith(".sh"):
            path.chmod(0o755)
    return 0


if __name__ == "__main__":
    sys.exit(main())

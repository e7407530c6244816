"""Run the product on a machine with an NVIDIA GPU and an installed SGLang; keep figures and logs.

    python scripts/gpu_acceptance.py ENVIRONMENT OUT [--flag=--attention-backend=triton …] [--only NAME …]

No weights are needed: the models have real shapes and are filled with random numbers (`--load-format dummy`). Every
step goes through the program's own verbs. Written into OUT: `results.json`, the log of each start as `NAME.log` (only
lines that carry a figure or a fault), and what each verb printed in `transcript.log`.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
PORT = 28_900
CONV_DTYPE = "SGLANG_MAMBA_CONV_DTYPE"
KEPT = re.compile(
    r"Load weight|KV Cache|Mamba Cache|Memory pool|max_total_num_tokens|Init torch|cuda graph|CUDA graph|fired up|"
    r"rror|xception|Traceback|Truncat|sigquit|Decode batch",
)
"""Lines of an engine's log that carry a figure or a fault."""
MOST_LINES = 400
LEVELS = "1,8,32"
ANSWER_TOKENS = 256


@dataclass
class Acceptance:
    """One run: where it works, what it found so far."""

    environment: Path
    out: Path
    flags: dict[str, object]
    work: Path
    results: dict[str, Any] = field(default_factory=dict)
    began: float = field(default_factory=time.monotonic)

    def run(self, *words: str, where: Path) -> tuple[int, dict[str, Any], float]:
        """Run a verb; return its exit code, its JSON and how long it took."""
        began = time.monotonic()
        done = subprocess.run(
            [sys.executable, "-m", "seatrial", *words, "--json"], cwd=where, capture_output=True, text=True, check=False
        )
        seconds = time.monotonic() - began
        with (self.out / "transcript.log").open("a", encoding="utf-8") as file:
            shown = done.stdout if len(done.stdout) < 3_000 else done.stdout[:3_000] + " …"
            file.write(
                f"$ seatrial {' '.join(words)}   [{seconds:.1f} s, exit {done.returncode}]\n{done.stderr}{shown}\n"
            )
        try:
            document = json.loads(done.stdout)
        except ValueError:
            document = {}
        return done.returncode, document if isinstance(document, dict) else {}, seconds

    def run_plain(self, *words: str, where: Path) -> None:
        """Run a verb that reports nothing."""
        subprocess.run([sys.executable, "-m", "seatrial", *words], cwd=where, capture_output=True, check=False)

    def note(self, name: str, **figures: Any) -> None:
        """Keep figures, and show them."""
        self.results.setdefault(name, {}).update(figures)
        print(f"[{time.monotonic() - self.began:5.0f} s] {name}: {json.dumps(figures)[:400]}", flush=True)
        text = json.dumps(self.results, indent=1) + "\n"
        (self.out / "results.json").write_text(text, encoding="utf-8")


@dataclass
class Server:
    """One stack of the acceptance."""

    acceptance: Acceptance
    name: str
    model: str
    settings: dict[str, object]
    omit: tuple[str, ...] = ()
    context: int = 32_768
    truncate: bool = False
    home: str = "home"

    @property
    def folder(self) -> Path:
        """The stack's."""
        return self.acceptance.work / self.name

    @property
    def url(self) -> str:
        """Where it answers."""
        return f"http://127.0.0.1:{PORT}/v1"

    @property
    def log(self) -> Path:
        """The engine's own."""
        return self.folder / ".seatrial" / "process" / "engine.log"

    def write(self) -> None:
        """Write its stack file."""
        self.folder.mkdir(parents=True, exist_ok=True)
        chosen = {"--load-format": "dummy", **self.acceptance.flags, **self.settings}
        rows = [_override(name, {"value": value}) for name, value in chosen.items()]
        rows += [_override(name, {"omit": True}) for name in self.omit]
        home = self.acceptance.work / self.home
        home.mkdir(exist_ok=True)
        stack = {
            "name": "acceptance",
            "engine": {"environment": str(self.acceptance.environment)},
            "model": {"repo": str(self.acceptance.work / "models" / self.model), "served_name": self.model},
            "serve": {"port": PORT, "context_length": self.context, "tensor_parallel": 1},
            "store": "../store",
            "jit_cache": "../jit-cache",
            "ledger": "ledger",
            "policy": {
                "prove": "quick",
                **({"over_long_input": "truncate", "over_long_input_owner": "the acceptance"} if self.truncate else {}),
            },
            "settings": rows,
            # A home of its own: whether kernels were compiled before is then known.
            "container": {"environment": {"HF_HUB_OFFLINE": "1", "HOME": str(home)}},
        }
        (self.folder / "stack.yaml").write_text(json.dumps(stack, indent=1), encoding="utf-8")  # JSON is YAML

    def up(self) -> bool:
        """Start it; keep seconds, phases and the memory plan beside the boot."""
        code, document, seconds = self.acceptance.run("up", "--force", where=self.folder)
        memory = {
            figure: {**both, "off_percent": round(100 * (both["actual"] / both["planned"] - 1), 3)}
            for figure, both in (document.get("memory") or {}).items()
            if both["planned"]
        }
        started = round(document.get("seconds", seconds), 1)
        phases = {phase: round(taken, 1) for phase, taken in (document.get("phases") or {}).items()}
        self.acceptance.note(self.name, up=code == 0, start_seconds=started, phases=phases, memory=memory)
        return code == 0

    def prove(self, label: str, *more: str, max_tokens: int = ANSWER_TOKENS) -> dict[str, Any]:
        """Prove it; keep the verdict, what refuted it first, and what that cost."""
        words = ("prove", "--url", self.url, "--max-tokens", str(max_tokens), *more)
        _, document, seconds = self.acceptance.run(*words, where=self.folder)
        trials = (document.get("suite") or {}).get("trials") or []
        refuted = [
            f"{trial['trial']}/{check['check']}: {check['detail']}"
            for trial in trials
            for check in trial["checks"]
            if check["verdict"] == "refuted"
        ]
        made = [trial for trial in trials if trial["requests"]]
        before, reached = 0, None
        for trial in made:
            before += trial["output_tokens"]
            if reached is None and any(check["verdict"] == "refuted" for check in trial["checks"]):
                reached = before
        figures = {
            "verdict": document.get("verdict"),
            "seconds": round(seconds, 1),
            "requests": sum(trial["requests"] for trial in made),
            "output_tokens": sum(trial["output_tokens"] for trial in made),
            "tokens_until_refuted": reached,
            "refuted": refuted[:6],
        }
        self.acceptance.note(self.name, **{label: figures})
        return figures

    def bench(self) -> None:
        """Measure it at 1, 8 and 32 requests at once; the first contact with each batch size is not counted."""
        words = ("bench", "--url", self.url, "--concurrency", LEVELS, "--max-tokens", str(ANSWER_TOKENS))
        _, document, _ = self.acceptance.run(*words, where=self.folder)
        levels = (document.get("bench") or {}).get("levels") or []
        found = {str(level["concurrency"]): round(level["output_token_throughput"], 1) for level in levels}
        self.acceptance.note(self.name, output_tokens_per_second=found)

    def doctor(self) -> None:
        """Ask the doctor about its log."""
        _, document, _ = self.acceptance.run("doctor", "--log", str(self.log), where=self.folder)
        cause = document.get("cause") or {}
        self.acceptance.note(self.name, doctor={key: cause.get(key) for key in ("id", "level", "cause", "fix")})

    @contextmanager
    def running(self) -> Iterator[bool]:
        """Run it for the length of a block; whatever happens inside, it ends, and its log is kept."""
        self.write()
        try:
            yield self.up()
        finally:
            self.acceptance.run_plain("stop", where=self.folder)
            self.keep_log()

    def keep_log(self) -> None:
        """Keep the lines that say something."""
        if not self.log.is_file():
            return
        lines = [line for line in self.log.read_text("utf-8", errors="replace").splitlines() if KEPT.search(line)]
        shown = [*lines[: MOST_LINES // 2], *lines[-MOST_LINES // 2 :]] if len(lines) > MOST_LINES else lines
        text = "\n".join(line[:600] for line in shown)
        text = text.replace(str(self.acceptance.work), "WORK").replace(str(self.acceptance.environment), "ENVIRONMENT")
        (self.acceptance.out / f"{self.name}.log").write_text(text + "\n", encoding="utf-8")


def _override(name: str, more: dict[str, object]) -> dict[str, object]:
    return {("flag" if name.startswith("-") else "variable"): name, "why": "the acceptance", **more}


def awq_as_planned(run: Acceptance) -> None:
    """AWQ in float16 as the plan has it: the memory, the garbage, and what an early end of the proof saves."""
    server = Server(run, "awq-as-planned", "hybrid-awq", {"--disable-cuda-graph": True})
    with server.running() as up:
        if not up:
            return
        _, plan, _ = run.run("plan", where=server.folder)
        conv: dict[str, Any] = next((row for row in plan["settings"] if row.get("variable") == CONV_DTYPE), {})
        run.note(server.name, conv_dtype=conv.get("value"), conv_dtype_why=conv.get("why"))
        server.prove("first_contact", "--fail-fast")  # compiles kernels
        server.prove("fail_fast", "--fail-fast")
        server.prove("early_abort")
        server.prove("no_early_abort", "--no-early-abort")


def awq_without_conv(run: Acceptance) -> None:
    """The same without the dtype of the convolution's state: what lint says, the death, its proof and its cause."""
    # Without the engine's own warm-up, which would meet the error first.
    settings: dict[str, object] = {"--disable-cuda-graph": True, "--skip-server-warmup": True}
    server = Server(run, "awq-without-conv", "hybrid-awq", settings, omit=(CONV_DTYPE,))
    server.write()
    _, plan, _ = run.run("plan", where=server.folder)
    command = ["python3", "-m", "sglang.launch_server", *plan["command"]]
    lint = subprocess.run(
        [
            sys.executable,
            "-m",
            "seatrial",
            "lint",
            "--engine-version",
            plan["engine"]["version"],
            "--json",
            "--",
            *command,
        ],
        cwd=server.folder,
        capture_output=True,
        text=True,
        check=False,
    )
    found = [row for row in json.loads(lint.stdout)["findings"] if row["setting"] == CONV_DTYPE]
    run.note(server.name, lint=[{key: row[key] for key in ("level", "id", "message")} for row in found])
    with server.running() as up:
        if up:
            server.prove("proof")
    server.doctor()


def hybrid_bf16(run: Acceptance) -> None:
    """The real shape in 16 bits with CUDA graphs, from an empty cache: memory, start, throughput."""
    server = Server(run, "hybrid-bf16", "hybrid", {"--cuda-graph-max-bs": 32}, context=262_144)
    with server.running() as up:
        if up:
            server.bench()


def truncation(run: Acceptance) -> None:
    """Over-long input where it is cut: HTTP 200, and nothing in the answer."""
    settings: dict[str, object] = {"--disable-cuda-graph": True, "--mem-fraction-static": 0.3}
    server = Server(run, "truncation", "dense", settings, context=4_096, truncate=True)
    with server.running() as up:
        if up:
            server.prove("fail_fast", "--fail-fast")
            server.prove("proof")
            server.prove("no_early_abort", "--no-early-abort")


def variant(name: str, settings: dict[str, object], *, cold: bool = False) -> Callable[[Acceptance], None]:
    """Make a step that measures the dense shape with other settings; a cold one finds no compiled kernels."""

    def step(run: Acceptance) -> None:
        server = Server(run, name, "dense", {"--cuda-graph-max-bs": 32, **settings}, home="dense-home")
        if cold:
            shutil.rmtree(run.work / server.home, ignore_errors=True)
        with server.running() as up:
            if up:
                server.bench()

    return step


STEPS: dict[str, Callable[[Acceptance], None]] = {
    "awq-without-conv": awq_without_conv,
    "awq-as-planned": awq_as_planned,
    "hybrid-bf16": hybrid_bf16,
    "truncation": truncation,
    "dense-cold": variant("dense-cold", {}, cold=True),
    "dense-warm": variant("dense-warm", {}),
    "dense-no-decode-graphs": variant("dense-no-decode-graphs", {"--cuda-graph-backend-decode": "disabled"}),
    "dense-no-prefill-graphs": variant("dense-no-prefill-graphs", {"--cuda-graph-backend-prefill": "disabled"}),
    "dense-fp8-cache": variant("dense-fp8-cache", {"--kv-cache-dtype": "fp8_e5m2"}),
    "dense-small-pool": variant("dense-small-pool", {"--mem-fraction-static": 0.2}),
}
"""What must be shown comes first; the variants after it can be left out where time is short."""


def main() -> int:
    """Run the steps."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("environment", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--flag", action="append", default=[], help="--NAME=VALUE for every start")
    parser.add_argument("--only", nargs="*", choices=list(STEPS), help="these steps alone")
    parser.add_argument("--work", type=Path, default=Path("/tmp/seatrial-acceptance"))  # noqa: S108 - said in the help
    given = parser.parse_args()
    given.out.mkdir(parents=True, exist_ok=True)
    given.work.mkdir(parents=True, exist_ok=True)
    for folder in given.work.iterdir():
        if not folder.name.endswith("home"):  # compiled kernels are kept for the next run
            shutil.rmtree(folder)
    flags: dict[str, object] = {name: value for name, _, value in (text.partition("=") for text in given.flag)}
    run = Acceptance(given.environment.absolute(), given.out.absolute(), flags, given.work.absolute())
    made = [run.environment / "bin" / "python", HERE / "gpu_models.py", run.work / "models"]
    subprocess.run(made, check=True)
    _, facts, _ = run.run("facts", where=run.work)
    run.note("machine", date=datetime.now(UTC).isoformat(timespec="seconds"), facts=facts.get("host"))
    for name in given.only or STEPS:
        try:
            STEPS[name](run)
        except (OSError, ValueError, KeyError, TypeError) as error:
            run.note(name, failed=f"{type(error).__name__}: {error}")
    run.note("whole", seconds=round(time.monotonic() - run.began, 1))
    return 0


if __name__ == "__main__":
    os.environ.setdefault("PYTHONUNBUFFERED", "1")
    sys.exit(main())

"""How exact is `seatrial bench`, and how much can it read, beside the load clients that people use?

    python benchmarks/bench_client.py                  everything: 10 to 20 minutes
    python benchmarks/bench_client.py --only accuracy  one part: accuracy, rate, memory
    python benchmarks/bench_client.py --rounds 1       quicker, and rougher

Peers, each by its own command line and its own output files: the newest `guidellm` and `aiperf` from PyPI (installed
once into environments of their own in the user's cache folder), and SGLang's `bench_serving` from the environment that
`scripts/sglang_environment.py` builds, where it is there (the data set library that it needs is guidellm's).

All of them ask the same fake server (`seatrial.testkit.metronome`, a process of its own), which writes each token at
an exact moment and records when it did: 64 streams, the first token after 200 ms, then one every 20 ms. The server
stays on the first processor, every client on all others. An error is |reported - true|. For inter-chunk latency the
truth is when the server really wrote: a stream is set beside that of the server's streams which is nearest to it, for
every tool alike (this can only make an error smaller). For all else the truth is what was planned; the server's own
lateness is printed.

    accuracy   median error of time to first token, of inter-chunk latency (where a tool reports it) and of time per
               output token; how long from the start of the program to the server's first request
    rate       tokens per second of each stream are raised until a client lags: the median duration of an answer is off
               by more than 2%, from sending on and from the first token on, or requests are missing. The highest
               aggregate chunk rate before that
    memory     seatrial alone: the largest resident size during 10,000 and during 100,000 requests
"""

from __future__ import annotations

import argparse
import importlib.metadata
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from statistics import median
from urllib.request import Request, urlopen

import platformdirs
import psutil

from seatrial.bench.rows import read_rows
from seatrial.testkit.metronome import MODEL, Tempo, metronome_process

STREAMS = 64
TEMPO = Tempo(time_to_first_token=0.2, tokens_per_second=50.0)
TOKENS = 100
RATES = (50.0, 100.0, 150.0, 200.0, 300.0, 400.0, 550.0, 750.0, 1000.0, 1300.0, 1600.0, 2000.0, 2500.0)
"""Tokens per second of each stream."""
RATE_SECONDS = 2.0
LAG_SHARE = 0.02
SERVER_LATE_SECONDS = 0.01
"""A server that is later than this (99th percentile) says nothing about a client."""
FEW, MANY = 10_000, 100_000
PEERS = ("guidellm", "aiperf")
CACHE = platformdirs.user_cache_path("seatrial") / "bench-peers"
HERE = Path(__file__).resolve().parent
TIMEOUT_SECONDS = 240.0


@dataclass(frozen=True, slots=True)
class Reported:
    """What a tool says about its requests, in seconds; `gaps` is None where it reports no inter-chunk latency."""

    first: list[float]
    end_to_end: list[float]
    per_token: list[float]
    gaps: list[list[float]] | None


@dataclass(frozen=True, slots=True)
class Work:
    """What a tool is to do: where, how many tokens an answer has, and a folder for its files."""

    base_url: str
    tokens: int
    folder: Path

    @property
    def origin(self) -> str:
        """The server without `/v1`."""
        return self.base_url.removesuffix("/v1")


Tool = Callable[[Work], Reported]


# --- the tools, each by its command line


def run_seatrial(work: Work) -> Reported:
    """Measure with `seatrial bench`."""
    prompts = work.folder / "chat.jsonl"
    command = [sys.executable, "-m", "seatrial", "bench", "--url", work.base_url, "--prompts", str(prompts)]
    command += ["--concurrency", str(STREAMS), "--requests", "1", "--warm-up", "0", "--prefix-cache", "allow"]
    command += ["--runs", str(work.folder / "runs"), "--json"]
    run(command, work.folder)
    (folder,) = (work.folder / "runs").iterdir()
    rows = [row for row in read_rows(folder) if row.failure is None]
    return Reported(
        [row.time_to_first_token or 0.0 for row in rows],
        [row.end_to_end_latency or 0.0 for row in rows],
        [row.time_per_output_token or 0.0 for row in rows],
        [[gap / 1e6 for gap in row.gaps_us] for row in rows],
    )


def run_guidellm(work: Work) -> Reported:
    """Measure with guidellm; it reports no inter-chunk latency, only a mean for each request."""
    out = work.folder / "guidellm.json"
    backend = f"kind=openai_http,target={work.origin},model={MODEL},request_format=/v1/chat/completions"
    command = [str(CACHE / "guidellm" / "bin" / "guidellm"), "run", "--backend", backend]
    command += ["--profile", f"kind=concurrent,streams={STREAMS}", "--constraint", f"kind=max_requests,count={STREAMS}"]
    command += ["--data", f"kind=json_file,path={work.folder / 'guidellm.jsonl'}"]
    command += ["--tokenizer", f"kind=huggingface_auto,model={work.folder / 'tokenizer'}"]
    command += ["--output", f"kind=json,path={out}", "--disable-console-interactive"]
    run(command, work.folder)
    (found,) = json.loads(out.read_text())["benchmarks"]
    rows = found["requests"]["successful"]
    return Reported(
        [row["time_to_first_token_ms"] / 1000 for row in rows],
        [row["request_latency"] for row in rows],
        [row["inter_token_latency_ms"] / 1000 for row in rows],
        None,
    )


def run_aiperf(work: Work) -> Reported:
    """Measure with AIPerf."""
    out = work.folder / "aiperf"
    command = [str(CACHE / "aiperf" / "bin" / "aiperf"), "profile", "--model", MODEL, "--url", work.origin]
    command += ["--endpoint-type", "chat", "--streaming", "--concurrency", str(STREAMS)]
    command += ["--request-count", str(STREAMS), "--input-file", str(work.folder / "aiperf.jsonl")]
    command += ["--custom-dataset-type", "single_turn", "--extra-inputs", f"max_tokens:{work.tokens}"]
    command += ["--use-server-token-count", "--tokenizer", str(work.folder / "tokenizer"), "--ui", "none"]
    command += ["--artifact-dir", str(out), "--no-server-metrics", "--no-gpu-telemetry"]
    run(command, work.folder)
    lines = (out / "profile_export.jsonl").read_text().splitlines()
    rows = [json.loads(line)["metrics"] for line in lines]
    return Reported(
        [row["time_to_first_token"]["value"] / 1000 for row in rows],
        [row["request_latency"]["value"] / 1000 for row in rows],
        [row["inter_token_latency"]["value"] / 1000 for row in rows],
        [[gap / 1000 for gap in row["inter_chunk_latency"]["value"]] for row in rows],
    )


def run_sglang(work: Work) -> Reported:
    """Measure with SGLang's bench_serving."""
    environment = sglang_environment()
    assert environment is not None
    out = work.folder / "sglang.jsonl"
    (site,) = (CACHE / "guidellm" / "lib").glob("python3*/site-packages")
    start = "import runpy, sys; sys.path.append(sys.argv.pop(1)); "
    start += "runpy.run_module('sglang.bench_serving', run_name='__main__', alter_sys=True)"
    command = [str(environment / "venv" / "bin" / "python"), "-c", start, str(site)]
    command += ["--backend", "sglang-oai-chat", "--base-url", work.origin, "--model", MODEL]
    command += ["--dataset-name", "openai", "--dataset-path", str(work.folder / "chat.jsonl")]
    command += ["--tokenizer", str(work.folder / "tokenizer"), "--num-prompts", str(STREAMS)]
    command += ["--max-concurrency", str(STREAMS), "--output-file", str(out), "--output-details", "--disable-tqdm"]
    command += ["--warmup-requests", "0"]
    run(command, work.folder)
    row = json.loads(out.read_text().splitlines()[-1])
    kept = [number for number, error in enumerate(row["errors"]) if not error and row["ttfts"][number]]
    first = [row["ttfts"][number] for number in kept]
    gaps = [row["itls"][number] for number in kept]
    end_to_end = [one + sum(some) for one, some in zip(first, gaps, strict=True)]
    per_token = [sum(some) / max(row["output_lens"][at] - 1, 1) for some, at in zip(gaps, kept, strict=True)]
    return Reported(first, end_to_end, per_token, gaps)


def run(command: Sequence[str], folder: Path) -> None:
    """Run a tool on all processors but the first; its output goes to a file, shown when it fails."""
    cpus = client_cpus()
    with (folder / "output.txt").open("w") as output:
        done = subprocess.run(
            command,
            cwd=folder,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            check=False,
            timeout=TIMEOUT_SECONDS,
            preexec_fn=lambda: os.sched_setaffinity(0, cpus),
        )
    if done.returncode:
        tail = (folder / "output.txt").read_text()[-1500:]
        raise RuntimeError(f"{command[0]} ended with status {done.returncode}:\n{tail}")


def client_cpus() -> set[int]:
    """All processors but the first, where there are several."""
    cpus = sorted(os.sched_getaffinity(0))
    return set(cpus[1:] or cpus)


# --- what they need


def install_peers() -> dict[str, str]:
    """Install the newest peers that can be had; return their versions."""
    found = {}
    for name in PEERS:
        python = CACHE / name / "bin" / "python"
        if not python.exists():
            print(f"installing {name} into {CACHE / name} …", file=sys.stderr)
            subprocess.run([sys.executable, "-m", "venv", CACHE / name], check=True)
        pip: list[str | Path] = [python, "-m", "pip", "install", "--quiet", "--upgrade", name]
        if (
            subprocess.run(pip, capture_output=True, check=False).returncode
            and not (CACHE / name / "bin" / name).exists()
        ):
            print(f"{name} can't be installed: it is left out", file=sys.stderr)
            continue
        code = f"import importlib.metadata; print(importlib.metadata.version('{name}'))"
        found[name] = subprocess.run([python, "-c", code], capture_output=True, text=True, check=True).stdout.strip()
    return found


def sglang_environment() -> Path | None:
    """Return the environment of the SGLang lane, where it was built."""
    script = HERE.parent / "scripts" / "sglang_environment.py"
    where = subprocess.run([sys.executable, script, "--where"], capture_output=True, text=True, check=False)
    folder = Path(where.stdout.strip())
    return folder if where.returncode == 0 and (folder / "ready.json").is_file() else None


def tools() -> dict[str, tuple[Tool, str]]:
    """Return what is compared, with its version."""
    from seatrial import __version__

    found: dict[str, tuple[Tool, str]] = {"seatrial": (run_seatrial, __version__)}
    peers = install_peers()
    if "guidellm" in peers:
        found["guidellm"] = (run_guidellm, peers["guidellm"])
    if "aiperf" in peers:
        found["aiperf"] = (run_aiperf, peers["aiperf"])
    environment = sglang_environment()
    if environment is not None and "guidellm" in peers:
        code = "import importlib.metadata; print(importlib.metadata.version('sglang'))"
        python = environment / "venv" / "bin" / "python"
        version = subprocess.run([python, "-c", code], capture_output=True, text=True, check=True).stdout.strip()
        found["bench_serving"] = (run_sglang, f"sglang {version}")
    else:
        print("SGLang's bench_serving is left out: build its environment first (make test-sglang)", file=sys.stderr)
    return found


def write_inputs(folder: Path, tokens: int) -> None:
    """Write the prompts in each tool's form, and a tokenizer that needs no download."""
    texts = [f"stream {number:06d} tell me about the sea" for number in range(STREAMS)]
    chats = [{"messages": [{"role": "user", "content": text}], "max_tokens": tokens} for text in texts]
    for name, rows in (
        ("chat.jsonl", chats),
        ("aiperf.jsonl", [{"text": text} for text in texts]),
        ("guidellm.jsonl", [{"prompt": text, "output_tokens_count": tokens} for text in texts]),
    ):
        (folder / name).write_text("".join(json.dumps(row) + "\n" for row in rows))
    words = ["[UNK]", *("stream", "tell", "me", "about", "the", "sea")]
    unknown = {"id": 0, "content": "[UNK]", "special": True}
    flags = dict.fromkeys(("single_word", "lstrip", "rstrip", "normalized"), False)
    tokenizer = {
        "version": "1.0",
        "added_tokens": [unknown | flags],
        "pre_tokenizer": {"type": "Whitespace"},
        "model": {"type": "WordLevel", "vocab": {word: at for at, word in enumerate(words)}, "unk_token": "[UNK]"},
    } | dict.fromkeys(("truncation", "padding", "normalizer", "post_processor", "decoder"))
    template = "{% for message in messages %}{{ message['content'] }} {% endfor %}"
    settings = {"tokenizer_class": "PreTrainedTokenizerFast", "unk_token": "[UNK]", "eos_token": "[UNK]"}
    (folder / "tokenizer").mkdir()
    (folder / "tokenizer" / "tokenizer.json").write_text(json.dumps(tokenizer))
    (folder / "tokenizer" / "tokenizer_config.json").write_text(json.dumps(settings | {"chat_template": template}))


# --- the measurements


@dataclass(frozen=True, slots=True)
class Measured:
    """One run of one tool, seconds; `lateness` is the server's own (99th percentile)."""

    reported: Reported
    to_first_request: float
    lateness: float
    written: list[list[float]]
    tempo: Tempo
    tokens: int

    @property
    def first(self) -> float:
        """Median error of time to first token."""
        return median(abs(value - self.tempo.time_to_first_token) for value in self.reported.first)

    @property
    def gap(self) -> float | None:
        """Median error of inter-chunk latency; None where the tool reports none."""
        if self.reported.gaps is None:
            return None
        true = [[later - earlier for earlier, later in pairwise(moments)] for moments in self.written]
        return median(error for gaps in self.reported.gaps for error in nearest(gaps, true))

    @property
    def per_token(self) -> float:
        """Median error of time per output token."""
        return median(abs(value - 1 / self.tempo.tokens_per_second) for value in self.reported.per_token)

    @property
    def off_by(self) -> float:
        """How far off the median duration of an answer is, as a share: from sending or from the first token on."""
        whole, first = self.tempo.due_of(self.tokens), self.tempo.time_to_first_token
        spans = zip(self.reported.first, self.reported.end_to_end, strict=True)
        decoding = median(end - begin for begin, end in spans)
        shares = (median(self.reported.end_to_end) - whole) / whole, (decoding - whole + first) / (whole - first)
        return min(abs(share) for share in shares)


def measure(tool: Tool, tempo: Tempo, tokens: int) -> Measured:
    """Run one tool once."""
    with scratch() as folder, metronome_process(tempo, cpus={min(os.sched_getaffinity(0))}) as base_url:
        write_inputs(folder, tokens)
        began = time.monotonic()
        reported = tool(Work(base_url, tokens, folder))
        with urlopen(Request(f"{base_url.removesuffix('/v1')}/metronome"), timeout=60) as response:  # noqa: S310
            rows = json.load(response)
    if len(reported.first) < STREAMS:
        raise RuntimeError(f"{len(reported.first)} of {STREAMS} requests have an answer")
    first = min(row["received"] for row in rows) - began
    late = sorted(
        moment - row["due"] - tempo.due_of(number + 1) for row in rows for number, moment in enumerate(row["written"])
    )
    written = [row["written"] for row in rows]
    return Measured(reported, first, late[int(0.99 * (len(late) - 1))], written, tempo, tokens)


def nearest(gaps: list[float], true: list[list[float]]) -> list[float]:
    """Return the errors of one stream's gaps, set beside those of the server's streams that they fit best.

    A client that took two pieces for one has fewer gaps: then no piece has a partner, and the plan is the truth.
    """
    partners = [some for some in true if len(some) == len(gaps)]
    if not partners:
        return [abs(gap - 1 / TEMPO.tokens_per_second) for gap in gaps]
    errors = ([abs(seen - one) for seen, one in zip(gaps, some, strict=True)] for some in partners)
    return min(errors, key=sum)


@contextmanager
def scratch() -> Iterator[Path]:
    """Make a folder for one run's files."""
    with tempfile.TemporaryDirectory(prefix="seatrial-bench-") as name:
        yield Path(name)


def accuracy(found: dict[str, tuple[Tool, str]], rounds: int) -> None:
    """Compare errors."""
    runs: dict[str, list[Measured]] = {name: [] for name in found}
    for number in range(rounds):
        for name, (tool, _) in found.items():
            progress(f"accuracy: round {number + 1} of {rounds}, {name}")
            runs[name].append(measure(tool, TEMPO, TOKENS))
    progress("")
    rows = {
        name: (
            median(one.first for one in some),
            None if some[0].gap is None else median(one.gap or 0.0 for one in some),
            median(one.per_token for one in some),
            median(one.to_first_request for one in some),
        )
        for name, some in runs.items()
    }
    print(f"\naccuracy: {STREAMS} streams, {TEMPO.tokens_per_second:g} tokens/s each, time to first token 200 ms;")
    print(f"median errors, medians of {rounds} rounds. The server's own lateness (p99): ", end="")
    print(f"{median(one.lateness for some in runs.values() for one in some) * 1e6:.0f} µs")
    print(f"{'tool':<15}{'version':<16}{'TTFT':>10}{'inter-chunk':>13}{'per token':>11}{'first request after':>21}")
    for name, (first, gap, per_token, start) in rows.items():
        shown = "–" if gap is None else f"{gap * 1e6:.1f} µs"
        line = (
            f"{name:<15}{found[name][1]:<16}{first * 1e6:>7.0f} µs{shown:>13}{per_token * 1e6:>8.1f} µs{start:>19.2f} s"
        )
        print(line)
    for index, what in enumerate(("time to first token", "inter-chunk latency")):
        others = [row[index] for name, row in rows.items() if name != "seatrial" and row[index] is not None]
        if others:
            ours, best = rows["seatrial"][index] or 0.0, min(value or 0.0 for value in others)
            print(f"{what}: seatrial's median error is {ours / best:.2f} of the best peer's", end="")
            print(f" ({ours * 1e3:.3f} ms; wanted: at most 0.50, and at most 1 ms)")
    print(f"start to first request: {rows['seatrial'][3]:.2f} s (wanted: under 1 s)")


def rate(found: dict[str, tuple[Tool, str]]) -> None:
    """Compare the highest chunk rates."""
    highest: dict[str, float] = {}
    limited: set[str] = set()
    for name, (tool, _) in found.items():
        for speed in RATES:
            progress(f"rate: {name} at {STREAMS * speed:,.0f} chunks/s")
            kept = keeps_up(tool, Tempo(TEMPO.time_to_first_token, speed))
            if kept is None:
                limited.add(name)
            if not kept:
                break
            highest[name] = STREAMS * speed
    progress("")
    print(f"\nhighest aggregate chunk rate before the client lags ({STREAMS} streams, processors {client_cpus()}):")
    best = max((value for name, value in highest.items() if name != "seatrial"), default=0.0)
    for name in found:
        value = highest.get(name, 0.0)
        ratio = f"{value / best:.2f} of the best peer's" if best else ""
        note = "  (beyond, the server itself was late)" if name in limited else ""
        print(f"{name:<15}{value:>12,.0f} chunks/s   {ratio}{note}")
    if best:
        print(f"ratio: {highest.get('seatrial', 0.0) / best:.2f} (wanted: at least 1.50)")


def keeps_up(tool: Tool, tempo: Tempo) -> bool | None:
    """Whether a client reads so many chunks without lagging, in one of two tries.

    A try in which the server itself was late (other work on its processor) does not count; None where all were such.
    """
    lagged = 0
    for _ in range(5):
        try:
            found = measure(tool, tempo, int(tempo.tokens_per_second * RATE_SECONDS))
        except (RuntimeError, subprocess.TimeoutExpired) as error:
            print(f"\n{error}", file=sys.stderr)
            return False
        if found.off_by <= LAG_SHARE:
            return True
        lagged += found.lateness <= SERVER_LATE_SECONDS
        if lagged == 2:
            return False
    return False if lagged else None


def memory() -> None:
    """Measure seatrial's largest resident size during few and during many requests."""
    sizes = {}
    for count in (FEW, MANY):
        progress(f"memory: {count:,} requests")
        sizes[count] = largest_resident(count)
    progress("")
    few, many = sizes[FEW], sizes[MANY]
    print(f"\nlargest resident size: {few / 2**20:.1f} MiB over {FEW:,} requests, {many / 2**20:.1f} MiB over {MANY:,}")
    print(
        f"{(many - few) / (MANY - FEW):.0f} bytes for each further request, {many / few:.2f} times as much: flat is 1"
    )


def largest_resident(requests: int) -> int:
    """Return the largest resident size of `seatrial bench` during so many requests, bytes."""
    tempo = Tempo(time_to_first_token=0.001, tokens_per_second=4000.0)
    with scratch() as folder, metronome_process(tempo, cpus={min(os.sched_getaffinity(0))}) as base_url:
        command = [sys.executable, "-m", "seatrial", "bench", "--url", base_url, "--concurrency", "32"]
        command += ["--requests", str(requests // 32), "--max-tokens", "8", "--runs", str(folder), "--json"]
        with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
            watched, largest = psutil.Process(process.pid), 0
            while process.poll() is None:
                try:
                    largest = max(largest, watched.memory_info().rss)
                except psutil.NoSuchProcess:
                    break
                time.sleep(0.05)
        (run_folder,) = folder.iterdir()
        done = json.loads((run_folder / "bench.json").read_text())["levels"][0]["completed"]
        if done < requests * 0.99:
            raise RuntimeError(f"{done} of {requests} requests were completed")
    return largest


def progress(text: str) -> None:
    """Show what is being done, on a terminal's own line."""
    print(f"\r{text:<70}\r", end="", file=sys.stderr, flush=True)


def main() -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("--only", choices=["accuracy", "rate", "memory"], action="append")
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    parts = options.only or ["accuracy", "rate", "memory"]
    print(
        f"Python {sys.version.split()[0]}, {os.cpu_count()} processors, aiohttp {importlib.metadata.version('aiohttp')}"
    )
    found = tools() if {"accuracy", "rate"} & set(parts) else {}
    if "accuracy" in parts:
        accuracy(found, options.rounds)
    if "rate" in parts:
        rate(found)
    if "memory" in parts:
        memory()
    return 0


if __name__ == "__main__":
    sys.exit(main())

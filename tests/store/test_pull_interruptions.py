"""An interrupted pull goes on where it was and ends byte for byte as one that nobody interrupted: 50 of 50."""

from __future__ import annotations

import random
import signal
import subprocess
import threading
from pathlib import Path

import pytest

from checkpoint_kit import plain_model, tree
from hub_kit import LARGE_BYTES, Hub, git_name, local_hub, noise, sha256
from kit import CommandLine

TRIALS = 50
FILES = plain_model() | {
    "model-big.safetensors": noise(700_000, seed=5),
    "model-other.safetensors": noise(400_000, seed=6),
}
BLOCKS = sum(-(-len(data) // 16_384) for data in FILES.values() if len(data) > 1_000)


class Interruption:
    """Ends the process that pulls when the server has sent so many blocks; or cuts its connections."""

    def __init__(self, hub: Hub, seed: int) -> None:
        dice = random.Random(seed)
        self.hub = hub
        self.kind = ("kill", "ctrl-c", "cut")[seed % 3]
        self.at = dice.randrange(1, BLOCKS)
        self.blocks = 0
        self.process: subprocess.Popen[str] | None = None
        self.done = threading.Event()
        self.started = threading.Event()
        self._lock = threading.Lock()
        if self.kind == "cut":
            hub.cut_after = dice.randrange(20_000, 300_000)
        hub.before_block = self.before_block

    def before_block(self) -> None:
        if self.kind == "cut":
            return
        with self._lock:
            self.blocks += 1
            due = self.blocks == self.at
        if due and self.started.wait(30):
            assert self.process is not None
            self.process.send_signal(signal.SIGKILL if self.kind == "kill" else signal.SIGINT)
            self.done.set()


def environment(run: CommandLine, hub: Hub) -> dict[str, str]:
    kept = {name: value for name, value in run.environment.items() if not name.startswith(("HF_", "HUGGING"))}
    return kept | {"HF_ENDPOINT": hub.url, "HF_HOME": str(run.folder / "home")}


@pytest.mark.timeout(600)
def test_fifty_interrupted_pulls_end_byte_identical(seatrial: CommandLine) -> None:
    resumed = interrupted = 0
    with local_hub() as hub:
        hub.add("owner/name", FILES)
        whole = seatrial.folder / "whole"
        pulled(seatrial, hub, whole)
        expected = tree(whole)
        for seed in range(TRIALS):
            hub.cut_after, hub.before_block = None, lambda: None
            hub.requests.clear()
            store = seatrial.folder / f"store-{seed}"
            interruption = Interruption(hub, seed)
            interruption.process = seatrial.start(*arguments(store))
            interruption.started.set()
            interruption.process.communicate(timeout=120)
            code = interruption.process.returncode
            assert code in (0, -signal.SIGKILL, 130), f"seed {seed}: status {code}"
            interrupted += code != 0 or interruption.kind == "cut"
            hub.before_block = lambda: None
            pulled(seatrial, hub, store)
            assert tree(store) == expected, f"seed {seed} ({interruption.kind})"
            assert not list(store.rglob("*.incomplete")), f"seed {seed}"
            resumed += any(asked and not asked.startswith("bytes=0-") for _, _, asked, _ in hub.requests)
    print(f"{interrupted} of {TRIALS} were interrupted, {resumed} went on within a file, all ended byte-identical")
    assert interrupted == TRIALS
    assert resumed >= TRIALS // 2, "the test would say nothing if no file was interrupted in its midst"


def arguments(store: Path) -> tuple[str | Path, ...]:
    return ("models", "pull", "owner/name", "--store", store, "--json")


def pulled(run: CommandLine, hub: Hub, store: Path) -> None:
    run.environment = environment(run, hub)
    run(*arguments(store), expect=0)


def test_what_came_before_a_kill_is_never_lost(seatrial: CommandLine) -> None:
    """Each attempt ends a little later; what is on disk only grows, and the last one asks only for the rest."""
    with local_hub() as hub:
        hub.add("owner/name", FILES)
        seatrial.environment = environment(seatrial, hub)
        hub.bytes_per_second = 2_000_000  # what is sent is also received before the process is ended
        store, there = seatrial.folder / "store", 0
        for attempt in range(4):
            interruption = Interruption(hub, 0)
            interruption.at = 12 + 6 * attempt
            interruption.process = seatrial.start(*arguments(store))
            interruption.started.set()
            said = interruption.process.communicate(timeout=120)
            assert interruption.process.returncode == -signal.SIGKILL, said
            now = sum(path.stat().st_size for path in store.glob("hub/models--*/blobs/*"))
            assert now >= there
            there = now
        assert there > 0
        hub.bytes_per_second, hub.before_block = None, lambda: None
        hub.requests.clear()
        halves = {path.name.removesuffix(".incomplete"): path.stat().st_size for path in store.rglob("*.incomplete")}
        whole = {path.name for path in store.glob("hub/models--*/blobs/*") if path.suffix != ".incomplete"}
        pulled(seatrial, hub, store)
        for name, data in FILES.items():
            etag = sha256(data) if len(data) >= LARGE_BYTES else git_name(data)
            asked = [header for _, path, header, _ in hub.requests if path.endswith(f"/{name}")]
            if etag in whole:
                assert asked == [], name
            elif halves.get(etag):
                assert asked in ([f"bytes={halves[etag]}-{len(data) - 1}"], []), name

"""A switch promotes what is proven, returns from what is not, and survives being killed at any step."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from seatrial.errors import InputError, StartError
from seatrial.ledger.entry import Kind
from seatrial.release.journal import journal_path, read_journal
from seatrial.release.switch import PROVEN, Judgement, recover, switch
from seatrial.runtimes.snapshot import STATE_FOLDER, Snapshot
from seatrial.verdicts import Verdict

OLD = Snapshot({"stack.yaml": "old\n", "compose.yaml": "old compose\n"})
GOOD = Snapshot({"stack.yaml": "good\n", "compose.yaml": "good compose\n"})
LOOPING = Snapshot({"stack.yaml": "looping\n", "compose.yaml": "looping compose\n"})
DEAD = Snapshot({"stack.yaml": "dead\n", "compose.yaml": "dead compose\n"})


@dataclass
class DiskStage:
    """A server that is a file: what it says is what serves. It outlives the program, as a container does."""

    folder: Path
    kill_at: int = -1
    count: int = 0
    file_names: tuple[str, ...] = ("stack.yaml", "compose.yaml")

    def _moment(self) -> None:
        self.count += 1
        if self.count == self.kill_at:
            os.kill(os.getpid(), signal.SIGKILL)

    @property
    def server(self) -> Path:
        return self.folder / "server"

    def serves(self) -> str | None:
        return self.server.read_text(encoding="utf-8") if self.server.exists() else None

    def is_running(self) -> bool:
        return self.server.exists()

    def start(self) -> None:
        self._moment()
        wanted = (self.folder / "stack.yaml").read_text(encoding="utf-8")
        if wanted == "dead\n":
            raise StartError("it died", where="log")
        part = self.server.with_suffix(".part")
        part.write_text(wanted, encoding="utf-8")
        self._moment()
        part.replace(self.server)
        self._moment()

    def stop(self) -> None:
        self._moment()
        self.server.unlink(missing_ok=True)
        self._moment()

    def prove(self) -> Judgement:
        self._moment()
        if self.serves() == "looping\n":
            return Judgement(Verdict.REFUTED, "reasoning loops")
        return Judgement(Verdict.PROVEN, "")

    def record(self, kind: Kind, judgement: Judgement | None, note: str) -> None:
        self._moment()
        with (self.folder / "ledger").open("a", encoding="utf-8") as file:
            file.write(json.dumps([kind.value, judgement.verdict.value if judgement else None, note]) + "\n")
        self._moment()

    def say(self, text: str) -> None:
        self._moment()


@pytest.fixture
def stage(tmp_path: Path) -> DiskStage:
    OLD.put(tmp_path)
    made = DiskStage(tmp_path)
    made.start()
    OLD.save(tmp_path / STATE_FOLDER / PROVEN)
    return made


def records(stage: DiskStage) -> list[list[str]]:
    path = stage.folder / "ledger"
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()] if path.exists() else []


def test_a_proven_candidate_is_promoted(stage: DiskStage) -> None:
    outcome = switch(stage, GOOD, "good")
    assert outcome.promoted
    assert stage.serves() == "good\n"
    assert Snapshot.load(stage.folder / STATE_FOLDER / PROVEN) == GOOD
    assert [kind for kind, *_ in records(stage)] == ["promotion"]
    assert read_journal(stage.folder) is None


@pytest.mark.parametrize("candidate", [LOOPING, DEAD])
def test_what_is_refuted_or_does_not_start_is_rolled_back_and_the_old_one_answers(
    stage: DiskStage, candidate: Snapshot
) -> None:
    outcome = switch(stage, candidate, "candidate")
    assert not outcome.promoted
    assert outcome.restored is True
    assert stage.serves() == "old\n"
    assert Snapshot.take(stage.folder, stage.file_names) == OLD
    assert Snapshot.load(stage.folder / STATE_FOLDER / PROVEN) == OLD
    assert [kind for kind, *_ in records(stage)] == ["roll-back"]
    assert outcome.why in records(stage)[0][2]


def test_without_a_proven_stack_the_way_back_is_what_was_there(tmp_path: Path) -> None:
    OLD.put(tmp_path)
    stage = DiskStage(tmp_path)
    stage.start()
    assert switch(stage, LOOPING, "looping").restored is True
    assert stage.serves() == "old\n"


def test_a_first_stack_that_is_refuted_leaves_nothing_running(tmp_path: Path) -> None:
    stage = DiskStage(tmp_path)
    outcome = switch(stage, LOOPING, "looping")
    assert (outcome.promoted, outcome.restored) == (False, None)
    assert stage.serves() is None
    assert not (tmp_path / "compose.yaml").exists()


def test_what_did_not_serve_before_is_not_started_by_a_roll_back(stage: DiskStage) -> None:
    stage.stop()
    assert switch(stage, LOOPING, "looping").restored is None
    assert stage.serves() is None
    assert Snapshot.take(stage.folder, stage.file_names) == OLD


def test_a_reason_for_forcing_is_kept(stage: DiskStage) -> None:
    switch(stage, GOOD, "good", forced="the report is about another engine")
    assert records(stage)[0][2] == "the report is about another engine"


def test_an_unreadable_journal_is_never_guessed_about(stage: DiskStage) -> None:
    journal_path(stage.folder).write_text("{", encoding="utf-8")
    with pytest.raises(InputError, match="remove the file"):
        switch(stage, GOOD, "good")
    assert stage.serves() == "old\n"


CHILD = """
import sys
from pathlib import Path
sys.path.insert(0, sys.argv[1])
from test_switch import DiskStage, GOOD, LOOPING, DEAD
from seatrial.release.switch import recover, switch
stage = DiskStage(Path(sys.argv[2]), kill_at=int(sys.argv[4]))
if sys.argv[3] == "recover":
    recover(stage)
else:
    switch(stage, {"good": GOOD, "looping": LOOPING, "dead": DEAD}[sys.argv[3]], sys.argv[3])
"""


def killed_child(folder: Path, what: str, kill_at: int) -> int:
    command = [sys.executable, "-c", CHILD, str(Path(__file__).parent), str(folder), what, str(kill_at)]
    return subprocess.run(command, check=False, capture_output=True, timeout=60).returncode


def check(stage: DiskStage, candidate: str) -> None:
    """Whatever happened: a whole stack serves, its files are its own, and what is not proven is not what serves."""
    serves = stage.serves()
    assert serves in ({"old\n", "good\n"} if candidate == "good" else {"old\n"})
    files = Snapshot.take(stage.folder, stage.file_names)
    assert files == (GOOD if serves == "good\n" else OLD)
    assert Snapshot.load(stage.folder / STATE_FOLDER / PROVEN) == files
    assert read_journal(stage.folder) is None


@pytest.mark.parametrize("candidate", ["good", "looping", "dead"])
def test_a_switch_that_is_killed_at_any_step_is_finished_or_undone_by_the_next_command(
    tmp_path: Path, candidate: str
) -> None:
    for kill_at in range(1, 40):
        folder = tmp_path / str(kill_at)
        folder.mkdir()
        OLD.put(folder)
        stage = DiskStage(folder)
        stage.start()
        OLD.save(folder / STATE_FOLDER / PROVEN)
        code = killed_child(folder, candidate, kill_at)
        recover(DiskStage(folder))
        check(DiskStage(folder), candidate)
        if code == 0:  # it ended before it could be killed: every step has had its turn
            return
    pytest.fail("the switch has more steps than were tried")


def test_recovery_that_is_killed_itself_is_taken_up_again(tmp_path: Path) -> None:
    random.seed(20310101)
    for number in range(12):
        folder = tmp_path / str(number)
        folder.mkdir()
        OLD.put(folder)
        stage = DiskStage(folder)
        stage.start()
        OLD.save(folder / STATE_FOLDER / PROVEN)
        candidate = random.choice(["good", "looping", "dead"])
        killed_child(folder, candidate, random.randint(1, 14))
        for _ in range(3):
            killed_child(folder, "recover", random.randint(1, 9))
        recover(DiskStage(folder))
        check(DiskStage(folder), candidate)

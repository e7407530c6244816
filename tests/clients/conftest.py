"""What the tests of real clients share: a server that knows the answers, and the real engine."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import pytest

from seatrial.runtimes.embedded import EmbeddedPlan, EmbeddedRuntime, EmbeddedServer, running
from seatrial.store import demonstration
from seatrial.testkit import FakeServer, Script, fake_server
from seatrial.testkit.reviewer import Reviewer
from seatrial.trials.tool_cases import tool_groups


@pytest.fixture(autouse=True)
def no_tracing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep clients from telling anybody else what is asked here."""
    for name in ("LANGSMITH_TRACING", "LANGCHAIN_TRACING_V2"):
        monkeypatch.setenv(name, "false")
    for name in ("OPENAI_BASE_URL", "OPENAI_API_BASE", "OPENAI_ORG_ID", "OPENAI_PROJECT_ID", "OPENAI_PROXY"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def server() -> Iterator[FakeServer]:
    with fake_server(Script(answer=Reviewer())) as started:
        yield started


@pytest.fixture
async def engine(small_model: Path, tmp_path: Path) -> AsyncIterator[EmbeddedServer]:
    plan = EmbeddedPlan(small_model, demonstration.SERVED_NAME, demonstration.chat_template())
    async with running(EmbeddedRuntime(plan), tmp_path / "engine.log", lambda _phase: None) as started:
        yield started


@pytest.fixture
def weather() -> dict[str, Any]:
    """The tool that the small model calls well."""
    (case,) = tool_groups()["tool_call"].cases
    (tool,) = case.tools
    return dict(tool)

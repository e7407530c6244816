from __future__ import annotations

from typing import Any

import pytest
from langchain_core.messages import AIMessage, ToolMessage
from langchain_core.tools import BaseTool, tool
from langchain_openai import ChatOpenAI
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.prebuilt import ToolNode, tools_condition
from pydantic import SecretStr

from seatrial.runtimes.embedded import EmbeddedServer
from seatrial.testkit import FakeServer, Script
from seatrial.testkit.reviewer import Flaw, Reviewer
from seatrial.trials.review_cases import Review, Workspace, all_reviews
from seatrial.trials.review_claims import CLAIMS, Ending, FinishedReview
from seatrial.verdicts import Verdict

MOST_STEPS = 16
"""Nodes of the graph that one run may walk through."""


def model_of(base_url: str, model: str, key: str = "unused", **more: Any) -> ChatOpenAI:
    return ChatOpenAI(base_url=base_url, model=model, api_key=SecretStr(key), max_retries=0, timeout=60, **more)


def agent_of(model: ChatOpenAI, tools: list[BaseTool], offered: list[dict[str, Any]] | None = None) -> Any:
    """Build the usual loop: the model, then its calls, then the model again, until it makes none.

    What is offered to the model has the schemas of the tools, or those that are given: a small model is easily
    thrown by a word more or less.
    """
    with_tools = model.bind_tools(offered or tools)

    async def think(state: MessagesState) -> dict[str, Any]:
        return {"messages": [await with_tools.ainvoke(state["messages"])]}

    graph = StateGraph(MessagesState)
    graph.add_node("think", think)
    graph.add_node("tools", ToolNode(tools))
    graph.add_edge(START, "think")
    graph.add_conditional_edges("think", tools_condition)
    graph.add_edge("tools", "think")
    return graph.compile()


def tools_of(workspace: Workspace) -> list[BaseTool]:
    """Give the workspace's tools as LangChain's: their schemas come from these signatures."""

    @tool
    def post_comment(file: str, line: int, body: str, severity: str) -> str:
        """Post a comment about a defect on a line of the new version of a file."""
        return workspace.execute("post_comment", {"file": file, "line": line, "body": body, "severity": severity})

    @tool
    def approve(summary: str) -> str:
        """Approve the merge request."""
        return workspace.execute("approve", {"summary": summary})

    @tool
    def request_changes(summary: str) -> str:
        """Send the merge request back."""
        return workspace.execute("request_changes", {"summary": summary})

    @tool
    def read_file(path: str) -> str:
        """Read a file of the repository."""
        return workspace.execute("read_file", {"path": path})

    return [post_comment, approve, request_changes, read_file]


async def make_review(server: FakeServer, review: Review, **more: Any) -> tuple[FinishedReview, list[Any]]:
    workspace = Workspace(review)
    agent = agent_of(model_of(server.base_url, "fake-model", **more), tools_of(workspace))
    state = await agent.ainvoke({"messages": review.messages()}, {"recursion_limit": MOST_STEPS})
    ending = Ending.DECISION if workspace.decisions else Ending.WORDS
    return FinishedReview.of(workspace, ending), state["messages"]


def refuted(done: FinishedReview) -> set[str]:
    results = [result for claim in CLAIMS if (result := claim.judge(done)) is not None]
    return {result.check for result in results if result.verdict is Verdict.REFUTED}


@pytest.mark.parametrize("streamed", [False, True], ids=["whole", "streamed"])
async def test_an_agent_reviews_a_merge_request_end_to_end(server: FakeServer, *, streamed: bool) -> None:
    review = all_reviews()[0]
    assert review.defect is not None
    done, messages = await make_review(server, review, streaming=streamed)
    assert refuted(done) == set()
    assert done.decisions == ("request_changes",)
    assert [(comment.file, comment.line) for comment in done.comments] == [(review.defect.file, review.defect.first)]
    results = [message.content for message in messages if isinstance(message, ToolMessage)]
    assert results[0] == review.files["library/catalogue.py"]
    assert results[1] == f"Posted on {review.defect.file}, line {review.defect.first}."
    sent = server.chats[-1].body["messages"]
    assert [message["content"] for message in sent if message["role"] == "tool"] == results
    assert isinstance(messages[-1], AIMessage)
    assert messages[-1].content == "That was my review."


async def test_an_agent_approves_a_clean_merge_request(server: FakeServer) -> None:
    done, _ = await make_review(server, all_reviews()[2])
    assert refuted(done) == set()
    assert done.decisions == ("approve",)


async def test_what_an_agent_does_wrong_is_seen_by_the_same_claims(server: FakeServer) -> None:
    server.script = Script(answer=Reviewer(flaw=Flaw.INVENTS_FILE))
    done, messages = await make_review(server, all_reviews()[0])
    assert refuted(done) == {"nothing_invented"}
    assert any("error: there is no file" in str(message.content) for message in messages)


@pytest.mark.engine
async def test_an_agent_calls_a_tool_of_the_real_engine_and_reads_its_result(
    engine: EmbeddedServer, weather: dict[str, Any]
) -> None:
    endpoint = engine.endpoint
    assert endpoint.api_key is not None
    asked_for: list[str] = []

    @tool
    def get_weather(city: str) -> str:
        """Get the current weather of a city."""
        asked_for.append(city)
        return "4 degrees, light rain"

    model = model_of(endpoint.base_url, endpoint.model, endpoint.api_key.reveal(), temperature=0, max_tokens=60)
    state = await agent_of(model, [get_weather], [weather]).ainvoke(
        {"messages": [("user", "What is the weather in Turku?")]}, {"recursion_limit": MOST_STEPS}
    )
    assert asked_for == ["Turku"]
    kinds = [message.type for message in state["messages"]]
    assert kinds == ["human", "ai", "tool", "ai"]
    assert "rain" in str(state["messages"][-1].content)

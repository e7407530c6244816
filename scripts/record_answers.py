"""Ask the embedded engine a file of questions again, greedily, and print its raw answers as JSON lines.

    python scripts/record_answers.py [QUESTIONS] >answers.jsonl

QUESTIONS has rows `{"id", "prompt", "max_tokens", "tools"?}`; by default it is the labelled set of the tests.
Temperature 0, one slot, no cache of prompts: on one machine the same bytes come again. Where a row has a `text`
already, standard error says whether the new one is the same. It needs the model of `seatrial try` (fetched if it isn't
there) and about ten minutes.
"""

from __future__ import annotations

import asyncio
import importlib.metadata
import json
import sys
import tempfile
from pathlib import Path
from typing import Any

from seatrial.endpoint.answer import Answer
from seatrial.endpoint.client import Client
from seatrial.runtimes.embedded import EmbeddedPlan, EmbeddedRuntime, running
from seatrial.store import demonstration

LABELLED = Path(__file__).parent.parent / "tests" / "degeneration" / "data" / "smollm2_greedy.jsonl"


async def record(questions: list[dict[str, Any]]) -> None:
    """Ask all questions, one after the other."""
    plan = EmbeddedPlan(await demonstration.fetch(), demonstration.SERVED_NAME, demonstration.chat_template())
    say(f"sha256 of the model {demonstration.SHA256}, xllamacpp {importlib.metadata.version('xllamacpp')}")
    same = known = 0
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder) / "engine.log"
        async with running(EmbeddedRuntime(plan), log, say) as server, Client(server.endpoint) as client:
            for question in questions:
                exchange = await client.chat(request(question), label=question["id"])
                if exchange.answer is None:
                    raise SystemExit(f"{question['id']}: {exchange.failure}")
                row = {**question, **raw(exchange.answer)}
                print(json.dumps(row, ensure_ascii=False), flush=True)
                if "text" in question:
                    known += 1
                    same += question["text"] == row["text"]
    if known:
        say(f"{same} of {known} answers are the same as before")


def request(question: dict[str, Any]) -> dict[str, Any]:
    """Make the body of one request."""
    return {
        "messages": [{"role": "user", "content": question["prompt"]}],
        "max_tokens": question["max_tokens"],
        "temperature": 0,
        "cache_prompt": False,
        "stream": True,
        **({"tools": question["tools"]} if "tools" in question else {}),
    }


def raw(answer: Answer) -> dict[str, Any]:
    """Keep what is labelled: the content, or in its place the arguments of the calls, one a line."""
    arguments = "\n".join(call.arguments for call in answer.tool_calls)
    return {
        "field": "content" if answer.content or not arguments else "arguments",
        "text": answer.content or arguments,
        "finish_reason": answer.finish_reason,
    }


def say(line: str) -> None:
    """Tell the person at the terminal."""
    print(line, file=sys.stderr, flush=True)


def main() -> int:
    """Read the questions, record the answers."""
    file = Path(sys.argv[1]) if len(sys.argv) > 1 else LABELLED
    asyncio.run(record([json.loads(line) for line in file.read_text("utf-8").splitlines()]))
    return 0


if __name__ == "__main__":
    sys.exit(main())

"""Ask the embedded engine a file of questions again, greedily, and print its raw answers as JSON lines.

    python scripts/record_answers.py [--max-tokens N] [QUESTIONS] >answers.jsonl

QUESTIONS has rows `{"id", "prompt", "max_tokens", "tools"?}`; by default it is the labelled set of the tests.
Temperature 0, one slot, no cache of prompts: on one machine the same text comes again. Where a row has a `text`
already, standard error says how many of the new ones begin with it. It needs the model of `seatrial try` (fetched if it
isn't there) and about ten minutes. `seatrial scan` reads what comes out.
"""

from __future__ import annotations

import argparse
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
ASKED = ("id", "prompt", "max_tokens", "tools")


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
                asked = {key: question[key] for key in ASKED if key in question}
                row = {**asked, **raw(exchange.answer)}
                print(json.dumps(row, ensure_ascii=False), flush=True)
                if "text" in question:
                    known += 1
                    same += row["text"].startswith(question["text"])
    if known:
        say(f"{same} of {known} answers begin with the text of before")


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
    parser = argparse.ArgumentParser(description="Record greedy answers of the embedded model.")
    parser.add_argument("questions", nargs="?", type=Path, default=LABELLED)
    parser.add_argument("--max-tokens", type=int, help="in place of each row's own")
    options = parser.parse_args()
    questions = [json.loads(line) for line in options.questions.read_text("utf-8").splitlines()]
    if options.max_tokens:
        questions = [{**question, "max_tokens": options.max_tokens} for question in questions]
    asyncio.run(record(questions))
    return 0


if __name__ == "__main__":
    sys.exit(main())

"""What is served, as the JSON of the OpenAI protocol in SGLang's form: one body, or the chunks of a stream. Pure."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from seatrial.testkit.faults import Fault
from seatrial.testkit.script import Script
from seatrial.testkit.serving import Served
from seatrial.testkit.tokens import tokenize


@dataclass(frozen=True, slots=True)
class Chunk:
    """One event of a stream; `token` is the number of the token in it, None for what comes with no token."""

    document: Mapping[str, Any]
    token: int | None = None


class Wire:
    """Writes one served reply as JSON."""

    def __init__(self, served: Served, script: Script, faults: frozenset[Fault], number: int) -> None:
        self._served = served
        self._script = script
        self._faults = faults
        self._number = number
        self._chunk_head = self._head("chat.completion.chunk")
        self._reasoning_key = "reasoning" if Fault.VLLM_REASONING in faults else "reasoning_content"

    def whole(self) -> dict[str, Any]:
        """Return the body of an answer that is not streamed."""
        reply = self._served.reply
        calls = [
            {
                "id": self._call_id(at),
                "index": at,
                "type": "function",
                "function": {"name": call.name, "arguments": self._whole_arguments(call.arguments)},
            }
            for at, call in enumerate(reply.tool_calls)
        ]
        message = {
            "role": "assistant",
            "content": reply.content,
            self._reasoning_key: reply.reasoning,
            "tool_calls": calls or None,
        }
        choice = {"index": 0, "message": message, "logprobs": None, **self._end()}
        body = {**self._head("chat.completion"), "choices": [choice]}
        if Fault.MISSING_USAGE not in self._faults:
            body["usage"] = self._usage()
        return {**body, "metadata": {"weight_version": "default"}}

    def chunks(self, *, include_usage: bool) -> Iterator[Chunk]:
        """Yield the chunks of a stream, without `[DONE]`."""
        reply, token = self._served.reply, 0
        yield self._chunk({"role": "assistant", "content": "", self._reasoning_key: None}, token=0)
        for piece in tokenize(reply.reasoning or ""):
            yield self._chunk({self._reasoning_key: piece, "content": None}, token)
            token += 1
        for piece in tokenize(reply.content):
            yield self._chunk({"content": piece, self._reasoning_key: None}, token)
            token += 1
        for at, call in enumerate(reply.tool_calls):
            function: dict[str, Any] = {"name": call.name, "arguments": ""}
            yield self._call_chunk(at, {"id": self._call_id(at), "type": "function", "function": function}, token)
            if Fault.ARGUMENTS_LOST_IN_STREAM in self._faults:
                continue
            place = at + 1 if Fault.ARGUMENTS_AT_WRONG_INDEX in self._faults else at
            for piece in self._streamed_arguments(call.arguments):
                function = {"name": None, "arguments": piece}
                yield self._call_chunk(place, {"id": None, "type": "function", "function": function}, token)
                token += 1
        # The token that ends the turn counts, and takes its time; a reply that was cut has none.
        yield self._chunk({}, None if self._served.was_cut else token, self._end())
        if include_usage and Fault.MISSING_USAGE not in self._faults:
            yield Chunk({**self._chunk_head, "choices": [], "usage": self._usage()})

    def _head(self, kind: str) -> dict[str, Any]:
        other = Fault.OTHER_MODEL in self._faults
        return {
            "id": f"chatcmpl-{self._number:024x}",
            "object": kind,
            "created": self._script.created,
            "model": self._script.details.other_model if other else self._script.model,
        }

    def _chunk(self, delta: Mapping[str, Any], token: int | None = None, end: Mapping[str, Any] | None = None) -> Chunk:
        end = end or {"finish_reason": None, "matched_stop": None}
        choice = {"index": 0, "delta": delta, "logprobs": None, **end}
        return Chunk({**self._chunk_head, "choices": [choice], "usage": None}, token)

    def _call_chunk(self, at: int, call: dict[str, Any], token: int) -> Chunk:
        placed = call if Fault.INDEX_MISSING_IN_STREAM in self._faults else {"index": at, **call}
        return self._chunk({"tool_calls": [placed]}, token)

    def _end(self) -> dict[str, Any]:
        missing = Fault.MISSING_FINISH_REASON in self._faults
        return {
            "finish_reason": None if missing else self._served.finish_reason,
            "matched_stop": self._served.matched_stop,
        }

    def _usage(self) -> dict[str, Any]:
        prompt, completion = self._served.prompt_tokens, self._served.completion_tokens
        total = prompt + completion
        if Fault.WRONG_USAGE in self._faults:
            completion, total = completion * 3 + 17, total + 5
        return {
            "prompt_tokens": prompt,
            "completion_tokens": completion,
            "total_tokens": total,
            "reasoning_tokens": self._served.reasoning_tokens,
            "prompt_tokens_details": None,
        }

    def _call_id(self, at: int) -> str | None:
        if Fault.MISSING_CALL_IDS in self._faults:
            return None
        if Fault.DUPLICATE_CALL_IDS in self._faults:
            return f"call_{0:024x}"
        return f"call_{self._number * 256 + at + 1:024x}"

    def _whole_arguments(self, arguments: str) -> Any:
        return _parsed(arguments) if Fault.ARGUMENTS_AS_OBJECT in self._faults else arguments

    def _streamed_arguments(self, arguments: str) -> list[Any]:
        return [_parsed(arguments)] if Fault.ARGUMENTS_AS_OBJECT in self._faults else tokenize(arguments)


def _parsed(arguments: str) -> Any:
    try:
        return json.loads(arguments)
    except ValueError:
        return arguments

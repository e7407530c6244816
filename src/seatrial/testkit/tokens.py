"""A tokenizer that anybody can check by hand: words of up to 12 letters, numbers of up to 3 digits, punctuation.

A token carries the space before it, so the joined tokens are the text. Letters outside the Latin script count one
each, as they roughly do in real vocabularies.
"""

from __future__ import annotations

import json
import re
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

TOKENS_PER_MESSAGE = 4
"""What the chat template adds around each message."""
TOKENS_PER_PROMPT = 3
"""What the template adds to open the answer."""
VOCABULARY_SIZE = 151_936

_TOKEN = re.compile(r" ?[A-Za-zÀ-ɏ]{1,12}| ?\d{1,3}| ?[^\s]|\s+")


def tokenize(text: str) -> list[str]:
    """Cut a text into tokens; joined, they are the text again."""
    return _TOKEN.findall(text)


def token_ids(text: str) -> list[int]:
    """Number the tokens of a text: the same token always has the same number."""
    return [zlib.crc32(token.encode("utf-8", errors="replace")) % VOCABULARY_SIZE for token in tokenize(text)]


def count_prompt(request: Mapping[str, Any]) -> int:
    """Count the prompt tokens of a chat request: messages, tools, and what the template adds."""
    total = TOKENS_PER_PROMPT
    for message in request.get("messages", ()):
        total += TOKENS_PER_MESSAGE + len(tokenize(text_of(message)))
        if message.get("tool_calls"):
            total += len(tokenize(json.dumps(message["tool_calls"])))
    if request.get("tools"):
        total += len(tokenize(json.dumps(request["tools"])))
    return total


def text_of(message: Mapping[str, Any]) -> str:
    """Return a message's text, also where it comes in parts."""
    content = message.get("content")
    if isinstance(content, str):
        return content
    if isinstance(content, list):
        return "\n".join(str(part.get("text", "")) for part in content if isinstance(part, Mapping))
    return ""


def prompt_of(request: Mapping[str, Any]) -> str:
    """Return the last thing that the user said."""
    users = (message for message in reversed(request.get("messages", ())) if message.get("role") == "user")
    return next((text_of(message) for message in users), "")


@dataclass(frozen=True, slots=True)
class Cut:
    """Which part of an over-long input is thrown away: a share of the excess at the head, the rest at the tail.

    Attributes:
        where: `head`, `tail` or `middle`.
    """

    where: str

    def kept(self, total: int, limit: int) -> Iterator[range]:
        """Yield the positions of the tokens that stay, of `total` tokens, `limit` in all."""
        if self.where == "head":
            yield range(total - limit, total)
        elif self.where == "tail":
            yield range(limit)
        else:
            yield range(limit // 2)
            yield range(total - (limit - limit // 2), total)


def cut_prompt(request: Mapping[str, Any], limit: int, cut: Cut) -> Mapping[str, Any]:
    """Return the request with the text of its messages cut down so that the prompt has about `limit` tokens."""
    messages: Sequence[Mapping[str, Any]] = request["messages"]
    pieces = [(number, token) for number, message in enumerate(messages) for token in tokenize(text_of(message))]
    room = max(limit - (count_prompt(request) - len(pieces)), 0)
    if room >= len(pieces):
        return request
    texts = ["" for _ in messages]
    for positions in cut.kept(len(pieces), room):
        for position in positions:
            number, token = pieces[position]
            texts[number] += token
    return {**request, "messages": [{**message, "content": texts[at]} for at, message in enumerate(messages)]}

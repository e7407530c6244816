"""Rules on what happens to characters on the way: escapes, encodings, padding. Pure."""

from __future__ import annotations

import html
import re
from collections.abc import Callable, Sequence

from seatrial.checks.asked import Asked
from seatrial.checks.dictated.values import FREE_KEYS, PATH_KEYS, Miss, Value
from seatrial.checks.finding import shown

_MARKUP_FILE = re.compile(r"\.(?:x?html?|xml|svg|vue|[jt]sx|md|rss|plist)\b|\b(?:html|xml|svg)\b", re.IGNORECASE)


def converted(asked: Asked, values: Sequence[Value]) -> Miss:
    """A text was escaped once too often, or its bytes were read in the wrong encoding."""
    prompt = asked.material
    paths = [value.text for value in values if PATH_KEYS.search(value.key)]
    conversions: tuple[tuple[str, Callable[[str], str | None]], ...] = (
        ("HTML entities in place of characters", _unescape_html),
        ("UTF-8 read as Latin-1", _repair_mojibake),
        ("escapes in place of characters (escaped twice)", _unescape),
    )
    for value in values:
        if value.text in prompt:
            continue
        for what, convert in conversions:
            if convert is _unescape_html and any(_MARKUP_FILE.search(text) for text in (prompt, *paths)):
                continue
            right = convert(value.text)
            if right is not None and right != value.text and _stands_in(right, value.text, prompt):
                return value.position, f"{shown(value.key)} has {what}: {shown(value.text)}"
    return None


def _stands_in(right: str, wrong: str, prompt: str) -> bool:
    if right in prompt:
        return True
    # Longer values: the part around the first changed character must be the user's own words.
    at = next((i for i, (a, b) in enumerate(zip(right, wrong, strict=False)) if a != b), len(right))
    part = right[max(0, at - 4) : at + 5]
    return (
        len(part.strip()) >= 6 and "\n" not in part and part in prompt and wrong[max(0, at - 4) : at + 5] not in prompt
    )


def _unescape_html(text: str) -> str | None:
    return html.unescape(text) if re.search(r"&(?:lt|gt|amp|quot|apos|#x?[0-9a-fA-F]+);", text) else None


def _repair_mojibake(text: str) -> str | None:
    for encoding in ("cp1252", "latin-1"):
        try:
            return text.encode(encoding).decode("utf-8")
        except UnicodeError:
            continue
    return None


def _unescape(text: str) -> str | None:
    if not re.search(r"\\(?:u[0-9a-fA-F]{4}|n|t|\")", text):
        return None
    simple = {"n": "\n", "t": "\t", '"': '"'}
    return re.sub(
        r"\\(?:u([0-9a-fA-F]{4})|([nt\"]))",
        lambda match: chr(int(match[1], 16)) if match[1] else simple[match[2]],
        text,
    )


def letters_lost(asked: Asked, values: Sequence[Value]) -> Miss:
    """Letters beyond ASCII are missing, or have become question marks."""
    words = {word for word in re.findall(r"[^\W\d_]{3,60}", asked.prompt) if not word.isascii()}
    damaged = {re.sub(r"[^\x00-\x7f]", mark, word): word for word in words for mark in ("", "?")}
    for value in values:
        text = value.text
        word = damaged.get(text.strip())
        if word is not None and text not in asked.prompt:
            return value.position, f"{shown(value.key)} should be {shown(word)} as in the prompt, got {shown(text)}"
        if "?" in text and text.isascii() and 5 <= len(text) <= 500 and text not in asked.prompt:
            pattern = re.escape(text).replace(r"\?", r"(?:\?|[^\x00-\x7f])")
            match = re.search(pattern, asked.prompt)
            if match is not None:
                return value.position, f"{shown(value.key)} has '?' in place of letters of {shown(match.group())}"
    return None


def padded(asked: Asked, values: Sequence[Value]) -> Miss:
    """A line feed or a bracket stands around a value that the prompt gives without."""
    for value in values:
        core = value.text.strip()
        if not core or "\n" in core or len(core) > 80 or value.text in asked.material:
            continue
        if value.text.startswith("\n") and core in asked.material:
            return value.position, f"{shown(value.key)} starts with a line feed: {shown(value.text)}"
        if FREE_KEYS.search(value.key):
            continue
        if core != value.text and core in asked.material and "\n" in value.text:
            return value.position, f"{shown(value.key)} has line feeds around it: {shown(value.text)}"
        inner = core.strip("\"'{}[],` ")
        if len(inner) >= 3 and inner != core and core not in asked.material and _is_word_of(inner, asked.material):
            return (
                value.position,
                f"{shown(value.key)} has characters around it that the prompt has not: {shown(value.text)}",
            )
    return None


def _is_word_of(text: str, prompt: str) -> bool:
    return re.search(rf"(?<!\w){re.escape(text)}(?!\w)", prompt) is not None

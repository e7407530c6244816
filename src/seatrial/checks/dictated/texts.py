"""Rules on dictated text: lines that are missing, values that break off. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import islice

from seatrial.checks.asked import Asked
from seatrial.checks.dictated.values import FREE_KEYS, NUMBER, Miss, Value, read_number
from seatrial.checks.finding import shown

_LINES = re.compile(
    rf"\b(?:these|the following|exactly|with)\b[^:\n]{{0,30}}?(?:\b(?P<count>{NUMBER})\s+)?(?:\w+\s+)?lines\b"
    r"[^:\n]{0,20}:[ \t]*(?P<rest>.+)\Z",
    re.IGNORECASE | re.DOTALL,
)
_ONE_LINE = re.compile(
    r"\b(?:the|this|one|a single) (?:\w+ )?(?:line|text|content|sentence|command|body|message)\s*:\s*(?P<rest>[^\n]+)",
    re.IGNORECASE,
)
_AFTER_COLON = re.compile(r"\A[^:\n]{3,80}:\s+(?P<rest>[^\n]+)\Z")
_QUOTED = re.compile(r"`([^`\n]{4,400})`|\"([^\"\n]{4,400})\"|“([^”\n]{4,400})”|«([^»\n]{4,400})»")
_STUMBLES = frozenset("<>&\"'\\{}\n")


def dictated_lines(prompt: str) -> list[str]:
    """Return the lines that a prompt dictates (`with exactly these three lines: a / b / c`), or none."""
    match = _LINES.search(prompt)
    if match is None:
        return []
    rest = match["rest"].strip("\n")
    if "\n" in rest:
        fenced = re.match(r"\s*```[^\n]*\n(.*?)\n```", rest, re.DOTALL)
        block = fenced[1] if fenced else re.split(r"\n\s*\n", rest, maxsplit=1)[0]
        lines = block.split("\n")
    else:
        lines = re.split(r"\s+/\s+", rest.strip())
    count = read_number(match["count"])
    certain = len(lines) == count if count is not None else len(lines) > 1
    return lines if certain else []


def lines_missing(asked: Asked, values: Sequence[Value]) -> Miss:
    """Of the lines that the prompt dictates some are there and some are not."""
    lines = dictated_lines(asked.prompt)
    if not lines:
        return None
    wanted = [line.rstrip() for line in lines]
    near: Miss = None
    for value in values:
        got = [line.rstrip() for line in value.text.split("\n")]
        found = [line for line in wanted if line in got or line.rstrip(".") in got]
        if len(found) == len(wanted):
            return None
        if all(line in value.text for line in wanted):
            if len(got) >= len(wanted):
                return None  # the same lines as a list, say, or indented
            found = wanted
        touches = found or (len(value.text) >= 3 and wanted[0].startswith(value.text.strip() or "\0"))
        if touches or (not value.text and FREE_KEYS.search(value.key)):
            missing = next((line for line in wanted if line not in got and line.rstrip(".") not in got), wanted[0])
            number = wanted.index(missing) + 1
            near = near or (
                value.position,
                (
                    f"{shown(value.key)} lacks line {number} of the {len(wanted)} that the prompt dictates: "
                    f"{shown(missing)}"
                ),
            )
    return near


def text_cut(asked: Asked, values: Sequence[Value]) -> Miss:
    """A dictated text breaks off where no writer would stop."""
    for text, explicit in _dictated_texts(asked.prompt):
        if any(text in value.text or text.rstrip(".") in value.text for value in values):
            continue
        for value in values:
            kept = value.text.strip()
            if len(kept) < 3 or not text.startswith(kept) or kept == text.rstrip(".!?;, "):
                continue
            if _is_broken_off(text, value.text, explicit=explicit):
                return value.position, f"{shown(value.key)} is {shown(value.text)}: it breaks off in {shown(text, 100)}"
    return None


def cut_from_prompt(asked: Asked, values: Sequence[Value]) -> Miss:
    """A value of several words that stands in the prompt, but never ends there as it ends here."""
    for value in values:
        kept = value.text.strip()
        if len(kept) < 3 or len(kept) > 2000 or " " not in kept:
            continue
        ends = [match.end() for match in islice(re.finditer(re.escape(kept), asked.prompt), 20)]
        rests = [asked.prompt[end : end + 40] for end in ends]
        if rests and all(rest.strip() and _goes_on(kept, rest) for rest in rests):
            return value.position, f"{shown(value.key)} is {shown(value.text)}, which goes on in the prompt"
    return None


def _goes_on(kept: str, rest: str) -> bool:
    inside_word = kept[-1].isalnum() and rest[0].isalnum()
    return inside_word or (kept[-1] in "=+*/([{<|&" and not rest.startswith(("`", '"', "'")))


def _dictated_texts(prompt: str) -> list[tuple[str, bool]]:
    texts = [(next(filter(None, match.groups())), False) for match in _QUOTED.finditer(prompt)]
    texts += [(match["rest"].strip(), True) for match in _ONE_LINE.finditer(prompt)]
    if (colon := _AFTER_COLON.match(prompt.strip())) is not None:
        texts.append((colon["rest"].strip(), False))
    return [(text, explicit) for text, explicit in texts if len(text) >= 4][:20]


def _is_broken_off(text: str, value: str, *, explicit: bool) -> bool:
    kept = value.strip()
    rest = text[len(kept) :]
    following = rest.lstrip()
    if kept[-1:].isalnum() and rest[:1].isalnum():
        return True
    if rest[:1] in _STUMBLES or (following[:1] in _STUMBLES and (following[:1] in "<>&" or value != kept or explicit)):
        return True
    if any(kept.count(mark) % 2 and text.count(mark) % 2 == 0 for mark in ("'", '"')):
        return True
    ends_sentence = kept[-1:] in ".!?"
    goes_on = re.match(r"[,;.!?)\"']|(?:and|then|or|but|please|in|to|into|as)\b", following)
    return explicit and not ends_sentence and goes_on is None and len(following.split()) >= 2

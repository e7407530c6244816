"""Checks on what must not stand in an answer's texts: calls as text, special tokens, think tags, arguments. Pure.

What the user asked to see is no leak: markup that stands in the conversation, and markup in an explanation of it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from itertools import islice

from seatrial.checks.arguments import parse_arguments
from seatrial.checks.asked import Asked
from seatrial.checks.finding import call_place, place, proven, refuted, shown, strings_in
from seatrial.checks.markup import (
    NARRATION,
    Finding,
    arguments_alone,
    fences,
    find_calls,
    find_markers,
    inline_code_spans,
    json_call_without_name,
    prose_words,
)
from seatrial.endpoint.answer import CONTENT, REASONING, Answer
from seatrial.verdicts import CheckResult, Evidence

MIN_PROSE_WORDS = 2
"""Words beside the markup that make a text an explanation of it."""

_SPECIAL = re.compile(
    r"<[|｜][A-Za-z0-9_▁.:/-](?:[A-Za-z0-9_▁ .:/-]{0,40}[A-Za-z0-9_▁.:/-])?[|｜]>"
    r"|\[/?(?:INST|SYSTEM_PROMPT|BOS|EOS|UNK|IMG|gMASK|CLS|SEP)\]"
    r"|</?(?:start|end)_of_(?:turn|image|audio|text)>|</?(?:bos|eos|pad|unk|sop|eop|eod)>"
    r"|<unused\d+>|<extra_id_\d+>|<0x[0-9A-Fa-f]{2}>|<reserved_\d+>|<s>(?![^<\n]*</s>)|(?<!\S)</s>|</s>\s*\Z"
    r"|<<SYS>>|<</SYS>>|\]<\]\w+\[>\[|<\|\"\|>"
)
_THINK = re.compile(
    r"</?(?:think|thinking|mm:think|seed:think|thought|longcat_think|antml:thinking|scratchpad|reasoning)>"
    r"|◁/?think▷|\[/?THINK\]|<\|(?:begin|end)_of_thought\|>|<\|(?:START|END)_THINKING\|>|<\|/?think\|>"
)
_GLUED_CHANNELS = re.compile(r"\A\s*analysis(?=[A-Z ]).{0,20000}?assistant(?:final|commentary)", re.DOTALL)
_ROLE_LINE = re.compile(r"\A\s*(?:assistant|model|system|user|ipython|tool)\n")
_PARAMETER_OPEN = re.compile(
    r"<parameter\s?=\s?([^<>\n]{1,80})>|<parameter\s+name=[\"']([^\"'<>\n]{1,80})[\"']|<arg_key>\s*([^<>\n]{1,80})<"
)
_VALUE_TAIL = re.compile(
    r"(?:</(?:parameter|function|tool_call|arg_value|invoke|steptml:parameter)>?\s*|<\|?tool_call_?(?:end)?\|>?\s*)+\Z"
)


def no_markup_in_content(asked: Asked, answer: Answer) -> CheckResult | None:
    """No call is written into the content as text, in any family's markup or in none."""
    text = answer.content or ""
    if not text.strip():
        return None
    check = "no_markup_in_content"
    found = [finding for finding in leaked_calls(asked, text) if not (answer.tool_calls and finding.form == NARRATION)]
    if not found:
        return proven(check, "the content holds no call markup that the user did not ask for")
    first = found[0]
    beside = "" if answer.tool_calls else ", and tool_calls is empty"
    fenced = " inside a code fence" if text.count("```", 0, first.start) % 2 else ""
    return refuted(
        check,
        f"the content holds {first.form}{fenced} ({shown(first.text, 50)}){beside}",
        place(asked, CONTENT, text, first.start, first.end),
    )


def no_markup_in_reasoning(asked: Asked, answer: Answer) -> CheckResult | None:
    """No call is made inside the reasoning; that the model names markup or a tool there in passing is no call."""
    text = answer.reasoning or ""
    if not text.strip():
        return None
    check = "no_markup_in_reasoning"
    found = _calls_in_reasoning(asked, answer, text)
    if not found:
        return proven(check, "no call is made inside the reasoning")
    first = found[0]
    beside = "" if answer.tool_calls else ", and tool_calls is empty"
    return refuted(
        check,
        f"the reasoning holds {first.form} ({shown(first.text, 50)}){beside}",
        place(asked, REASONING, text, first.start, first.end),
    )


def no_markup_in_arguments(asked: Asked, answer: Answer) -> CheckResult | None:
    """No markup of the call itself is left in the values of its arguments.

    Markup as data is right there: only what a parser must have left behind counts (a closing tag at the very end, a
    declared parameter's opening tag), and nothing that the conversation holds.
    """
    if not answer.tool_calls:
        return None
    check = "no_markup_in_arguments"
    for position, call in enumerate(answer.tool_calls):
        tool = asked.tool(call.name)
        keys = frozenset(tool.properties) if tool else frozenset()
        for path, value in strings_in(parse_arguments(call.arguments).value or {}):
            left = _left_in_value(asked, value, keys)
            if left is not None:
                return refuted(
                    check,
                    f"call {position + 1} ({shown(call.name)}): {shown(path)} holds {shown(left, 60)}, "
                    "which belongs to the markup of the call",
                    call_place(asked, answer, position),
                )
    return proven(check, "the values hold no markup of the call")


def no_special_tokens(asked: Asked, answer: Answer) -> CheckResult | None:
    """No special token of a tokenizer (`<|im_end|>`, `</s>`) shows in a text, a value, a name or an id."""
    seen = False
    if (role := _ROLE_LINE.search(answer.content or "")) is not None:
        return refuted(
            "no_special_tokens",
            f"the content starts with the role of a chat template ({shown(role.group().strip())})",
            place(asked, CONTENT, answer.content or "", *role.span()),
        )
    for text, locate in _texts(asked, answer):
        seen = True
        markers = [(finding.start, finding.end) for finding in find_markers(text)]
        for match in islice(_SPECIAL.finditer(text), 200):
            is_call_markup = any(start <= match.start() < end for start, end in markers)
            if is_call_markup or _THINK.fullmatch(match.group()) or _excused(asked, text, match):
                continue
            return refuted(
                "no_special_tokens", f"the special token {shown(match.group())} shows", locate(*match.span())
            )
    return proven("no_special_tokens", "no special token shows") if seen else None


def reasoning_kept_apart(asked: Asked, answer: Answer) -> CheckResult | None:
    """Reasoning stays in its own field: no think tags anywhere, and no copy of it in the content."""
    check, seen = "reasoning_kept_apart", False
    if (glued := _GLUED_CHANNELS.search(answer.content or "")) is not None:
        return refuted(
            check,
            "the channels of Harmony stand in the content without their tokens (analysis…assistantfinal)",
            place(asked, CONTENT, answer.content or "", *glued.span()),
        )
    for text, locate in _texts(asked, answer):
        seen = True
        for match in islice(_THINK.finditer(text), 200):
            in_reasoning = text is answer.reasoning
            weak = match.group().strip("</>") in {"thought", "reasoning", "scratchpad"}
            at_edge = not text[: match.start()].strip() or not text[match.end() :].strip()
            on_own_line = _line_around(text, match) == match.group()
            if (in_reasoning or weak) and not at_edge and not (on_own_line and not weak):
                continue
            if not _excused(
                asked, text, match, re.compile(r"\bthink(?:ing)?\b[ -](?:tags?|tokens?|blocks?|markup)", re.IGNORECASE)
            ):
                return refuted(check, f"the think tag {shown(match.group())} shows", locate(*match.span()))
    content, reasoning = (answer.content or "").strip(), (answer.reasoning or "").strip()
    if len(reasoning) >= 40 and reasoning in content:
        start = (answer.content or "").find(reasoning)
        evidence = place(asked, CONTENT, answer.content or "", start, start + len(reasoning))
        return refuted(check, "the content repeats the whole reasoning", evidence)
    return proven(check, "no think tag shows") if seen else None


def no_arguments_in_content(asked: Asked, answer: Answer) -> CheckResult | None:
    """The content does not repeat what the calls carry: the JSON of their arguments, or the text of a value."""
    content = answer.content or ""
    text = content.strip()
    if not text or not answer.tool_calls:
        return None
    check = "no_arguments_in_content"
    evidence = place(asked, CONTENT, content, 0, len(content))
    if not re.search(r"\w", text) and re.search(r"[\[\]{}\"`<>|]", text):
        return refuted(check, f"the content is {shown(text)}: punctuation that is left over from a call", evidence)
    for position, call in enumerate(answer.tool_calls):
        raw = call.arguments.strip()
        if len(raw) > 4 and (raw in content or (len(text) >= 6 and text in raw and _has_json(text))):
            return refuted(check, f"the content repeats the JSON of the arguments of call {position + 1}", evidence)
        values = [value for _, value in strings_in(parse_arguments(call.arguments).value or {}) if value.strip()]
        for value in values:
            if text == value.strip() and len(text) >= 3:
                return refuted(check, f"the content equals the text of a value of call {position + 1}", evidence)
            if text in value and len(text) >= 4 and (len(text.split()) >= 2 or "\n" in content):
                return refuted(check, f"the content is a part of a value of call {position + 1}", evidence)
        if _left_without(text, values) == "" and len(values) > 1:
            return refuted(check, f"the content is nothing but values of call {position + 1}", evidence)
    return proven(check, "the content does not repeat the arguments")


def text_undamaged(asked: Asked, answer: Answer) -> CheckResult | None:
    """No character was lost between tokens and text: no U+FFFD, no bytes read in the wrong encoding."""
    check, seen = "text_undamaged", False
    for text, locate in _texts(asked, answer):
        seen = True
        at = text.find("\ufffd")
        if at >= 0 and "\ufffd" not in asked.material:
            return refuted(
                check, "the replacement character U+FFFD shows: bytes of a character were lost", locate(at, at + 1)
            )
        raw = re.search(r"[a-z,.]Ġ[a-zA-Z].*[a-z,.]Ġ[a-zA-Z]", text)
        if raw is not None and "Ġ" not in asked.material:
            return refuted(check, "raw byte-level tokens show (Ġ in place of spaces)", locate(*raw.span()))
    return proven(check, "no character is damaged") if seen else None


def leaked_calls(asked: Asked, text: str) -> list[Finding]:
    """Find the calls and call markup in a content that the user did not ask to see."""
    if asked.is_about_calls and (prose_words(text) >= MIN_PROSE_WORDS or _is_all_code(text)):
        return []
    code = inline_code_spans(text) if prose_words(text) >= MIN_PROSE_WORDS else []
    markers = [
        finding
        for finding in find_markers(text)
        if finding.text not in asked.material and not any(start <= finding.start < end for start, end in code)
    ]
    calls = [] if asked.response_format else find_calls(text, asked)
    calls = [
        finding
        for finding in calls
        if finding.text not in asked.material and not _is_code_that_was_asked_for(asked, finding)
    ]
    if not calls and asked.tools and not asked.response_format:
        alone = (json_call_without_name(text), arguments_alone(text, asked))
        calls = [finding for finding in alone if finding is not None and finding.text not in asked.material]
    return sorted([*markers, *calls], key=lambda finding: finding.start)


_Locate = Callable[[int, int], Evidence]


def _texts(asked: Asked, answer: Answer) -> Iterator[tuple[str, _Locate]]:
    """Yield every text of an answer with a function that points into it; values, not the JSON around them."""
    for field, text in ((CONTENT, answer.content), (REASONING, answer.reasoning)):
        if text:
            yield text, _pointer(asked, field, text)
    for position, call in enumerate(answer.tool_calls):
        evidence = call_place(asked, answer, position)
        value = parse_arguments(call.arguments).value
        texts = [call.arguments] if value is None else [text for _, text in strings_in(value)]
        for text in [*texts, call.name or "", call.id or ""]:
            if text:
                yield text, lambda _start, _end, evidence=evidence: evidence  # type: ignore[misc]


def _pointer(asked: Asked, field: str, text: str) -> _Locate:
    return lambda start, end: place(asked, field, text, start, end)


def _excused(asked: Asked, text: str, match: re.Match[str], about: re.Pattern[str] | None = None) -> bool:
    if match.group() in asked.material:
        return True
    if asked.is_about_calls or (about is not None and about.search(asked.prompt)):
        return prose_words(text) >= MIN_PROSE_WORDS or _is_all_code(text)
    if prose_words(text) < MIN_PROSE_WORDS:
        return False
    return any(start <= match.start() < end for start, end in inline_code_spans(text))


def _is_all_code(text: str) -> bool:
    stripped = text.strip()
    return stripped.startswith("```") and len(fences(stripped)) == 1


def _is_code_that_was_asked_for(asked: Asked, finding: Finding) -> bool:
    return finding.form in {"a call as code", "a call in a code fence"} and bool(
        re.search(
            r"\b(?:code|script|snippet|python|javascript|example|test|function|program)\b", asked.prompt, re.IGNORECASE
        )
    )


def _calls_in_reasoning(asked: Asked, answer: Answer, text: str) -> list[Finding]:
    if asked.is_about_calls:
        return []
    code = inline_code_spans(text)
    markers = [
        finding
        for finding in find_markers(text)
        if finding.text not in asked.material and not any(start <= finding.start < end for start, end in code)
    ]
    tokens = [finding for finding in markers if finding.text.startswith(("<|", "<｜", "["))]
    if tokens:
        return tokens
    if len(markers) >= 2:
        name = asked.tool_names_pattern
        around = text[markers[0].start : markers[-1].end + 300]
        if re.search(r"[\"']name[\"']\s*:", around) or (name is not None and re.search(name, around)):
            return markers
    if not answer.tool_calls:
        calls = find_calls(text, asked)
        last_line = len(text.rstrip()) - len(text.rstrip().rsplit("\n", 1)[-1])
        return [
            finding for finding in calls if finding.form == "JSON of a call" and _ends_text(text, finding, last_line)
        ]
    return []


def _ends_text(text: str, finding: Finding, last_line: int) -> bool:
    opens_line = not text[text.rfind("\n", 0, finding.start) + 1 : finding.start].strip()
    return opens_line and (finding.start >= last_line or text.rstrip().endswith(("}", "]", "```", "}]")))


def _left_in_value(asked: Asked, value: str, keys: Iterable[str]) -> str | None:
    if asked.is_about_calls:
        return None
    tail = _VALUE_TAIL.search(value, max(0, len(value) - 500))
    if tail is not None and tail.group().strip() not in asked.material:
        return tail.group().strip()
    for match in islice(_PARAMETER_OPEN.finditer(value), 50):
        name = next(group for group in match.groups() if group is not None).strip()
        if name in keys and match.group() not in asked.material:
            return match.group()
    return None


def _line_around(text: str, match: re.Match[str]) -> str:
    start = text.rfind("\n", 0, match.start()) + 1
    end = text.find("\n", match.end())
    return text[start : end if end >= 0 else len(text)].strip()


def _has_json(text: str) -> bool:
    return '"' in text and any(character in text for character in "{}:")


def _left_without(text: str, values: Iterable[str]) -> str:
    for value in sorted((value.strip() for value in values), key=len, reverse=True):
        if len(value) >= 3:
            text = text.replace(value, " ")
    return re.sub(r"[\s,;:.]+", "", text)

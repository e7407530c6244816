"""Finds calls that are written out as text: every model family's markup, bare JSON, fences, plain lines. Pure.

The forms are those of the families' chat templates and of the parsers of SGLang, vLLM and llama.cpp. A finding says
where it stands and whose form it is; whether it is a fault is decided in `leaks`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice

from seatrial.checks.asked import Asked

MAX_FINDINGS = 50
"""Findings in one text that are looked at: a text that loops has thousands."""


NARRATION = "a call told in words"
"""The form of `Calling get_weather for Turku`: right beside the call itself, wrong in its place."""


@dataclass(frozen=True, slots=True)
class Finding:
    """A piece of text that looks like (a part of) a call.

    Attributes:
        form: whose form it is, in words.
        start: its first character.
        end: the character after it.
        text: what stands there.
    """

    form: str
    start: int
    end: int
    text: str


_BAR = "[|｜]"
_GAP = "[_▁ ]"

_FORMS: tuple[tuple[str, str], ...] = (
    (
        "DeepSeek or Kimi tool tokens",
        (
            rf"<{_BAR}tool{_GAP}(?:calls?|outputs?|call{_GAP}argument|calls?{_GAP}section){_GAP}(?:begin|end){_BAR}>"
            rf"|<{_BAR}tool{_GAP}sep{_BAR}>"
        ),
    ),
    ("DeepSeek DSML", rf"</?{_BAR}DSML{_BAR}[^<>\n]{{0,80}}>?"),
    ("Llama python tag", r"<\|python_(?:tag|start|end)\|>"),
    (
        "Mistral tool token",
        r"\[(?:TOOL_CALLS|TOOL_RESULTS|/TOOL_RESULTS|AVAILABLE_TOOLS|/AVAILABLE_TOOLS|CALL_ID|ARGS)\]",
    ),
    ("MiniMax markup", r"</?minimax:tool_call>"),
    ("Step markup", r"</?steptml:[a-z_]+[^<>\n]{0,120}>"),
    (
        "vendor markup",
        r"</?(?:seed|longcat|mm|ling|ns|antml|xml|qwen|glm|kimi)[:_](?:tool_call|function_calls|invoke|parameter|function|toolcall)s?\b[^<>\n]{0,120}>",
    ),
    (
        "Gemma markup",
        r"</?(?:start|end)_function_(?:call|response|declaration)>|<\|?tool_(?:call|response)\|>|<\|tool_(?:call|response)>",
    ),
    (
        "tool token",
        r"<\|/?(?:tool_calls?|tool_call_(?:start|end)|tool_list_(?:start|end)|tools?_(?:prefix|suffix)|action_(?:start|end)|plugin|interpreter|function_call|START_ACTION|END_ACTION|tool_use|tool)\|>",
    ),
    (
        "Harmony channel",
        r"<\|(?:channel|start)\|>[^<>\n]{0,60}to=functions\.|\bto=functions\.[A-Za-z_]\w*|<\|(?:constrain|call)\|>",
    ),
    ("Nemotron markup", r"</?TOOL_?CALLS?>"),
    ("GLM markup", r"</?arg_(?:key|value)>"),
    (
        "Hermes or Qwen markup",
        r"<\s?/?\s?(?:tool_calls?|toolcall|function_calls?|function_call_begin|tool_use|tool_code|tool_request)\b\s?/?>?",
    ),
    ("Qwen-coder XML", r"<\s?(?:function|parameter)\s?=\s?[^<>\n]{0,80}>?|</(?:function|parameter)>"),
    ("invoke XML", r"<(?:invoke|parameter|function|tool)\s+name\s?=\s?[\"'][^<>\n]{0,80}>?|</invoke>"),
)
_MARKERS = tuple((form, re.compile(pattern)) for form, pattern in _FORMS)

# Tags that are also ordinary HTML: a tool named `table` must not make HTML a call.
_HTML = frozenset(
    re.findall(
        r"\w+",
        "a abbr address article aside audio b blockquote body br button canvas caption cite code col data "
        "details dialog div dl dt em embed fieldset figure footer form h1 h2 h3 h4 head header hr html i "
        "iframe img input ins label legend li link main map mark menu meta meter nav object ol option output "
        "p param picture pre progress q s script search section select slot small source span strong style "
        "sub summary sup svg table tbody td template textarea tfoot th thead time title tr track u ul var "
        "video ",
    )
)

_NAME_KEYS = r"(?:name|tool|tool_name|function|function_name|action|recipient_name|tool_call|call)"
_VALUE_KEYS = r"(?:arguments|parameters|args|input|action_input|tool_input|params|kwargs|parameter|tool_args)"
_NEAR = 400

_FENCE = re.compile(r"^[ \t]*+(`{3,}+|~{3,}+)[^\n]*+\n(?P<body>.*?)(?:^[ \t]*+\1[ \t]*+$|\Z)", re.MULTILINE | re.DOTALL)
_INLINE_CODE = re.compile(r"(?<!`)`[^`\n]{1,200}`(?!`)")


def find_markers(text: str) -> list[Finding]:
    """Find the markup of every known form, in the order in which it stands."""
    found = [
        Finding(form, match.start(), match.end(), match.group())
        for form, pattern in _MARKERS
        for match in islice(pattern.finditer(text), MAX_FINDINGS)
    ]
    return sorted(found, key=lambda finding: (finding.start, -finding.end))


def find_calls(text: str, asked: Asked) -> list[Finding]:
    """Find calls of an offered tool that are written without any family's markup."""
    tool = asked.tool_names_pattern
    if tool is None:
        return []
    found = [*_json_calls(text, tool), *_named_tags(text, asked, tool), *_plain_calls(text, asked, tool)]
    return sorted(found, key=lambda finding: finding.start)


def json_call_without_name(text: str) -> Finding | None:
    """Find out whether a text is nothing but a JSON object with the keys of a call, whatever it names."""
    inner = _unfenced(text).strip()
    named = re.match(
        rf"[\[{{\s]*[\"']{_NAME_KEYS}[\"']\s*:\s*[\"'][\w.:-]+[\"']\s*,\s*[\"']{_VALUE_KEYS}[\"']\s*:\s*\{{", inner
    )
    if named is None:
        return None
    start = text.find(inner)
    return Finding("bare JSON", start, start + len(inner), inner)


def arguments_alone(text: str, asked: Asked) -> Finding | None:
    """Find out whether a text is nothing but a JSON object that one offered tool would take, or that names one."""
    inner = _unfenced(text).strip()
    if not inner.startswith("{") or len(inner) > 100_000 or re.search(r"\bjson\b", asked.prompt, re.IGNORECASE):
        return None
    try:
        value = json.loads(inner)
    except (ValueError, RecursionError):
        return None
    if not isinstance(value, dict) or not value:
        return None
    start = text.find(inner)
    for tool in asked.tools:
        required = (tool.parameters or {}).get("required")
        keys = set(tool.properties)
        takes = keys and set(value) <= keys and isinstance(required, list) and all(key in value for key in required)
        if takes or tool.name in [item for item in value.values() if isinstance(item, str)]:
            return Finding(f"the JSON of a call of {tool.name!r}", start, start + len(inner), inner)
    return None


def inline_code_spans(text: str) -> list[tuple[int, int]]:
    """Return where inline code (in single backticks) stands."""
    return [match.span() for match in islice(_INLINE_CODE.finditer(text), 500)]


def fences(text: str) -> list[re.Match[str]]:
    """Return the fenced blocks of a Markdown text, each with its `body`; the last may lack its end."""
    return list(islice(_FENCE.finditer(text), 100))


def prose_words(text: str) -> int:
    """Count the words that stand outside of fences, tags and JSON."""
    bare = _FENCE.sub(" ", text)
    bare = re.sub(r"<[^<>\n]{1,120}>|\{[^{}]*\}|\[[A-Z_]+\]", " ", bare)
    return len(re.findall(r"[^\W\d_]{2,}", bare))


def _json_calls(text: str, tool: str) -> Iterator[Finding]:
    name = re.compile(rf"[\"']{_NAME_KEYS}[\"']\s*:\s*[\"'](?:functions?\.)?{tool}(?::\d+)?[\"']")
    values = re.compile(rf"[\"']{_VALUE_KEYS}[\"']\s*:")
    for match in islice(name.finditer(text), MAX_FINDINGS):
        if values.search(text, max(0, match.start() - _NEAR), match.end() + _NEAR):
            start = max(text.rfind("{", 0, match.start() + 1), 0)
            yield Finding("JSON of a call", start, match.end(), text[start : match.end()])
    for pattern in (
        r"[\"']tool_calls[\"']\s*:\s*\[\s*\{",
        rf"[\[{{]\s*[\"']{tool}[\"']\s*:\s*\{{",
        rf"\b(?:functions?\.)?{tool}\b(?::\d+)?[\"'`*:]{{0,3}}\s*(?:\n\s*)?\{{\s*[\"'}}\\]",
        rf"\b{tool}\b[\"'`]?\s*</[^<>\n]{{1,40}}>\s*\{{",
    ):
        for match in islice(re.finditer(pattern, text), MAX_FINDINGS):
            yield Finding("JSON of a call", match.start(), match.end(), match.group())


def _named_tags(text: str, asked: Asked, tool: str) -> Iterator[Finding]:
    # <get_weather>, <get_weather city="Turku"/>, and a made-up tag around a name: <plain>write_file</param>
    for match in islice(re.finditer(rf"</?({tool})(?:\s[^<>\n]{{0,200}})?/?>", text), MAX_FINDINGS):
        if match.group(1).lower() not in _HTML:
            yield Finding("XML named after a tool", match.start(), match.end(), match.group())
    for match in islice(re.finditer(rf"<[^<>\n]{{1,40}}>\s*{tool}\s*</?[^<>\n]{{1,40}}>", text), MAX_FINDINGS):
        yield Finding("XML around a tool's name", match.start(), match.end(), match.group())
    keys = {key for offered in asked.tools for key in offered.properties}
    for match in islice(re.finditer(r"<(?:parameter|param|arg|argument)>\s*([\w-]+)\s*</", text), MAX_FINDINGS):
        if match.group(1) in keys:
            yield Finding("XML around a parameter's name", match.start(), match.end(), match.group())


def _plain_calls(text: str, asked: Asked, tool: str) -> Iterator[Finding]:
    body = _unfenced(text)
    offset = text.find(body) if body else 0
    for form, pattern in _plain_forms(tool, asked.telling_names_pattern):
        for match in islice(re.finditer(pattern, body, re.MULTILINE), MAX_FINDINGS):
            yield Finding(form, offset + match.start(), offset + match.end(), match.group())
    for fence in fences(text):
        first = re.match(rf"\s*(?:functions?\.)?{tool}\b[ \t]*(?:\n|\Z|\(|[ \t]+[^\s=.])", fence["body"])
        if first is not None:
            start = fence.start("body")
            yield Finding("a call in a code fence", start, start + first.end(), first.group())


def _plain_forms(tool: str, telling: str | None) -> Iterator[tuple[str, str]]:
    alone = r"[*_`\"'>#\[-]{0,3}[ \t]?(?:functions?\.)?%s[`\"'*_\]]{0,3}:?[ \t]*(?:\([ \t]*\))?[ \t]*$"
    label = r"(?i:tool|action|function|call|tool[_ ](?:name|call|use|to use))[`\"'*_]{0,3}\s?(?:[:=>\]]|[`\"'*])+\s*"
    saying = r"(?i:calling|called|invoke|invoking)\s+[`\"'*_]{0,3}"
    yield "a tool's name on a line of its own", r"\A\s*" + alone % tool
    yield (
        "a call as code",
        rf"^\W{{0,12}}(?:print\(|await\s+)?(?:functions?\.|default_api\.)?{tool}\s*\([^\n]*\)?[\])}};`\s]*$",
    )
    yield "a call as a labelled line", rf"^(?:_|[^\w\n]){{0,8}}{label}(?:functions?\.)?{tool}\b"
    if telling is not None:
        verbs = "is|was|are|can|could|will|would|has|have|does|did|returns?|needs?|takes?|failed|and|or|to|should"
        stop = rf"(?!(?:{verbs})\b)"
        yield "a tool's name on a line of its own", "^" + alone % telling
        yield "a call as a line", rf"\A\s*{telling}[ \t]+{stop}(?=[^\n]*\S)"
        yield "a call as a line", rf"\A\s*{telling}:[ \t]*\S"
        yield NARRATION, rf"^(?:_|[^\w\n]){{0,8}}{saying}(?:functions?\.)?{telling}\b"


def _unfenced(text: str) -> str:
    """Return the inside of a text that is nothing but one fence; any other text as it is."""
    stripped = text.strip()
    only = _FENCE.fullmatch(stripped)
    return only["body"] if only is not None and "```" not in only["body"] else text

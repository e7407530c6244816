"""Merge requests to review, with their right answers (data, in `data/reviews/`), and the reviewer's tools.

Pure once read. To add a review, add a file: `docs/merge-request-review.md` says what stands in it.
"""

from __future__ import annotations

import functools
import importlib.resources
import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

TURNS = 6
"""Most requests of one review; the reference reviewer needs three."""

LINE_TOLERANCE = 2
"""A comment may stand this many lines above or below the defect. Line numbers are in the prompt: nobody must count."""


@dataclass(frozen=True, slots=True)
class Defect:
    """What is wrong in a merge request, and where: lines of the new version, both included."""

    kind: str
    file: str
    first: int
    last: int
    why: str
    comment: str

    def is_named_by(self, comment: Comment) -> bool:
        """Whether a comment stands where the defect is."""
        near = self.first - LINE_TOLERANCE <= comment.line <= self.last + LINE_TOLERANCE
        return comment.file == self.file and near


@dataclass(frozen=True, slots=True)
class DiffLine:
    """One line of a hunk: `+`, `-` or a space, its text, and its number in the new version (None where removed)."""

    sign: str
    text: str
    number: int | None


@dataclass(frozen=True, slots=True)
class Hunk:
    """A part of a file's diff."""

    header: str
    lines: tuple[DiffLine, ...]


@dataclass(frozen=True, slots=True)
class Review:
    """A merge request to review.

    Attributes:
        id: the name of its data file.
        title: what its author calls it.
        description: what its author says about it.
        language: of the files.
        diff: the hunks of each changed file.
        files: the repository with the change in it, as far as `read_file` shows it.
        defect: what is wrong; None for a clean one.
    """

    id: str
    title: str
    description: str
    language: str
    diff: Mapping[str, tuple[Hunk, ...]]
    files: Mapping[str, str]
    defect: Defect | None

    def messages(self) -> list[dict[str, Any]]:
        """Return the conversation with which its review begins."""
        return [{"role": "system", "content": INSTRUCTIONS}, {"role": "user", "content": self.prompt}]

    @property
    def prompt(self) -> str:
        """What the user says: the merge request, each line with its number in the new version."""
        parts = [f"Merge request: {self.title}", "", self.description, ""]
        for path, hunks in self.diff.items():
            parts.append(f"File: {path}")
            for hunk in hunks:
                parts.append(hunk.header)
                parts += [f"{line.number or '':>5} {line.sign} {line.text}".rstrip() for line in hunk.lines]
            parts.append("")
        return "\n".join(parts)

    def has_line(self, path: str, number: int) -> bool:
        """Whether a file of the diff or of the repository has such a line, as far as is shown."""
        in_diff = any(line.number == number for hunk in self.diff.get(path, ()) for line in hunk.lines)
        return in_diff or 1 <= number <= len(self.files.get(path, "").splitlines())


@functools.cache
def all_reviews() -> tuple[Review, ...]:
    """Read all reviews, in the order of their file names: clean ones stand between the others."""
    folder = importlib.resources.files("seatrial.trials").joinpath("data/reviews")
    files = sorted((file for file in folder.iterdir() if file.name.endswith(".toml")), key=lambda file: file.name)
    return tuple(parse_review(file.name.removesuffix(".toml"), file.read_text("utf-8")) for file in files)


def parse_review(identity: str, text: str) -> Review:
    """Read one data file; a diff that contradicts itself is a ValueError."""
    document = tomllib.loads(text)
    return Review(
        id=identity,
        title=document["title"],
        description=document["description"],
        language=document["language"],
        diff=parse_diff(document["diff"]),
        files=document["files"],
        defect=_defect(document["defect"]) if "defect" in document else None,
    )


def _defect(table: Mapping[str, Any]) -> Defect:
    first, last = table["lines"]
    return Defect(table["kind"], table["file"], first, last, table["why"], table["comment"])


_HUNK = re.compile(r"@@ -\d+(?:,(\d+))? \+(\d+)(?:,(\d+))? @@")


def parse_diff(text: str) -> dict[str, tuple[Hunk, ...]]:
    """Read a unified diff: for each file its hunks. An empty line counts as an empty line of context.

    Raises:
        ValueError: a hunk has other lines than its header says.
    """
    files: dict[str, tuple[Hunk, ...]] = {}
    path, lines = "", iter(text.splitlines())
    for line in lines:
        if line.startswith("+++ "):
            path = line.removeprefix("+++ ").removeprefix("b/")
        elif (header := _HUNK.match(line)) is not None:
            files[path] = (*files.get(path, ()), _hunk(line, header, lines))
    return files


def _hunk(text: str, header: re.Match[str], lines: Iterator[str]) -> Hunk:
    removed, added = int(header[1] or 1), int(header[3] or 1)
    number, found = int(header[2]), []
    while removed > 0 or added > 0:
        line = next(lines, None)
        sign = (line or " ")[0]
        if line is None or sign not in " +-":
            raise ValueError(f"{text}: {removed} old and {added} new lines are missing")
        found.append(DiffLine(sign, line[1:], None if sign == "-" else number))
        number += sign != "-"
        added -= sign != "-"
        removed -= sign != "+"
    if removed or added:
        raise ValueError(f"{text}: more lines than the header says")
    return Hunk(text, tuple(found))


def _tool(name: str, description: str, **properties: Mapping[str, Any]) -> dict[str, Any]:
    parameters = {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }
    return {"type": "function", "function": {"name": name, "description": description, "parameters": parameters}}


_TEXT: Mapping[str, Any] = {"type": "string"}
SEVERITIES = ("minor", "major", "critical")
DECISIONS = ("approve", "request_changes")

TOOLS: tuple[Mapping[str, Any], ...] = (
    _tool(
        "post_comment",
        "Post a comment about a defect on a line of the new version of a file",
        file={**_TEXT, "description": "Path of the file, as in the diff"},
        line={"type": "integer", "description": "Number of the line in the new version, as printed in the diff"},
        body={**_TEXT, "description": "What is wrong, and how to mend it"},
        severity={**_TEXT, "enum": list(SEVERITIES)},
    ),
    _tool("approve", "Approve the merge request: it has no defect. Ends the review", summary=_TEXT),
    _tool("request_changes", "Send the merge request back: it has a defect. Ends the review", summary=_TEXT),
    _tool("read_file", "Read a file of the repository with the merge request applied", path=_TEXT),
)

INSTRUCTIONS = """\
You review merge requests. You see a diff; the number at the left of a line is its number in the new version of the \
file. Look for defects that the change brings in: what will fail, lose or leak data or resources, or can be attacked.
Post one comment for each defect, on the line where it is. Do not comment on style, names, tests or documentation, \
and post nothing about what is only a matter of taste or a guess. When you need more than the diff shows, read the file.
End every review with one call: request_changes when you posted a comment, approve when there is no defect."""


@dataclass(frozen=True, slots=True)
class Comment:
    """A comment that a reviewer posted."""

    file: str
    line: int
    body: str = ""
    severity: str = "major"
    exchange: str = ""


@dataclass(slots=True)
class Workspace:
    """What the tools of one review act on; also for agents of other frameworks."""

    review: Review
    comments: list[Comment] = field(default_factory=list)
    decisions: list[str] = field(default_factory=list)
    absent: list[str] = field(default_factory=list)
    """Paths that the reviewer tried to read and that are not there: a question, not a claim."""

    def execute(self, name: str, arguments: Mapping[str, Any], *, exchange: str = "") -> str:
        """Do what a call says, and return its result; what can't be done is told as the tools of a forge tell it."""
        if name == "read_file":
            return self._read(_path(arguments.get("path")))
        if name in DECISIONS:
            self.decisions.append(name)
            return "The review has ended."
        if name != "post_comment":
            return f"error: there is no tool {name!r}"
        line = arguments.get("line")
        comment = Comment(
            _path(arguments.get("file")),
            line if isinstance(line, int) else 0,
            str(arguments.get("body", "")),
            str(arguments.get("severity", "")),
            exchange,
        )
        self.comments.append(comment)
        if invented(self.review, comment):
            return f"error: {invented(self.review, comment)}"
        return f"Posted on {comment.file}, line {comment.line}."

    def _read(self, path: str) -> str:
        text = self.review.files.get(path)
        if text is not None:
            return text
        self.absent.append(path)
        return f"error: there is no file {path!r}; there are: {', '.join(sorted(self.review.files))}"


def _path(value: Any) -> str:
    """Take a path as the reviewer means it: `./x`, `/x` and the `a/x`, `b/x` of diffs are x."""
    return re.sub(r"\A(?:\./|/|[ab]/(?=\S))", "", str(value or "").strip())


def invented(review: Review, comment: Comment) -> str | None:
    """Say what a comment is about that is not there; None where nothing is made up."""
    if comment.file not in review.diff and comment.file not in review.files:
        return f"there is no file {comment.file!r}; the merge request changes {', '.join(review.diff)}"
    if not review.has_line(comment.file, comment.line):
        return f"{comment.file} has no line {comment.line}"
    return None

"""What a detector reports: one finding, its severity and its kind. Values only."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum

NEEDLE_LENGTH = 80
"""Characters of the repeated text that a report shows."""


class Severity(StrEnum):
    """How sure a finding is."""

    FAIL = "fail"
    """Surely broken: the stream may be aborted and the answer must not be used."""
    WARN = "warn"
    """Suspicious: a person should look; alone it refutes nothing."""


class Kind(StrEnum):
    """What is wrong with the text."""

    EXACT_PERIOD = "exact_period"
    """The same characters again and again, with any period up to 8,192 characters."""
    DRIFTING_PERIOD = "drifting_period"
    """The same wording again and again while digits, dates, case or punctuation change."""
    CHARACTER_RUN = "character_run"
    """One character without end."""
    WHITESPACE_FLOOD = "whitespace_flood"
    """Nothing but white space or line feeds."""
    EMPTY_ENUMERATION = "empty_enumeration"
    """List markers that count on with nothing after them."""
    GROWING_RUNS = "growing_runs"
    """Words or numbers that are runs of one character, longer and longer."""
    ENDLESS_COUNT = "endless_count"
    """Numbers or dates that count on with nothing else, far past what anyone reads."""
    LOW_NOVELTY = "low_novelty"
    """A handful of words, characters or sentences, shuffled without end."""
    TOKEN_SALAD = "token_salad"  # noqa: S105 - a kind of broken text, no secret
    """Words that don't belong together: scripts mixed, tokens doubled or cut, grammar out of order."""
    REPEATED_TOOL_CALL = "repeated_tool_call"
    """The same tool call, byte for byte, over several turns."""
    LENGTH_WITHOUT_ANSWER = "length_without_answer"
    """The token budget ended before any answer: reasoning full, content empty."""
    PLACEHOLDER_ONLY = "placeholder_only"
    """The whole answer is `!`, the token with id 0 of many vocabularies."""


@dataclass(frozen=True, slots=True)
class Degeneration:
    """One finding about one text; None in its place means that nothing degenerate was seen.

    Attributes:
        severity: fail (surely broken) or warn (a person should look).
        kind: what is wrong.
        onset: character index of the first degenerate character. For a loop this is the start of its first copy.
        end: character index after the last degenerate character seen so far.
        period: length of the repeated unit in characters; None where nothing repeats exactly. For drifting text it
            is the mean length of a copy.
        needle: the repeated text, shortened to 80 characters.
        coverage: share of the text that lies in the span, 0 to 1.
        field: which part of the answer the text is, as given by the caller.
        why: one sentence that a person can check against the text.
    """

    severity: Severity
    kind: Kind
    onset: int
    end: int
    period: int | None
    needle: str
    coverage: float
    field: str
    why: str

    def shifted(self, offset: int) -> Degeneration:
        """Return the same finding for a text that stands `offset` characters later in a longer one."""
        return replace(self, onset=self.onset + offset, end=self.end + offset)


def shorten(text: str, length: int = NEEDLE_LENGTH) -> str:
    """Return the text, cut to `length` characters with an ellipsis at the cut."""
    return text if len(text) <= length else text[: length - 1] + "…"

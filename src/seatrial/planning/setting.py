"""A setting: one flag or environment variable of a plan, and why it is there. Pure values."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

Value = str | int | float | bool | tuple[str | int | float, ...]
"""What a flag or variable is set to; True for a flag that takes no value."""


class SettingClass(StrEnum):
    """What is at stake."""

    BOOT = "boot"
    """Without it the server does not start, or nobody reaches it."""
    CORRECTNESS = "correctness"
    """Without it answers are wrong, or the server dies at a request."""
    PERFORMANCE = "performance"
    """Without it the same answers cost more."""
    POLICY = "policy"
    """Somebody decided it."""


class EvidenceKind(StrEnum):
    """Where something is known from."""

    SEED = "seed"
    """The deployment notes that this project began with: diagnosed on two RTX 4090s."""
    ENGINE_SOURCE = "engine-source"
    """Read in the engine's source, with its version."""
    DOCUMENTATION = "documentation"
    REPORT = "report"
    """A public report."""
    MEASURED = "measured"
    """Our own measurement."""
    STACK = "stack"
    """The stack file says so."""


@dataclass(frozen=True, slots=True)
class Source:
    """One piece of evidence: its kind, and what it says or where it stands."""

    kind: EvidenceKind
    says: str


@dataclass(frozen=True, slots=True)
class Setting:
    """One decided flag or variable.

    Attributes:
        name: canonical: `--dtype`, or `SGLANG_MAMBA_CONV_DTYPE`.
        value: what it is set to.
        setting_class: what is at stake.
        why: one or two sentences.
        without: what returns when it is taken away; empty where the stack file decided.
        evidence: where that is known from.
        rules: ids of the rules that ask for it; empty where only the stack file does.
        overrides: the value that the rules would have given, where the stack file decided otherwise.
        off_word: the flag's own spelling for False, if it has one (`--no-…`); other flags are off by being left out.
    """

    name: str
    value: Value
    setting_class: SettingClass
    why: str
    without: str = ""
    evidence: tuple[Source, ...] = ()
    rules: tuple[str, ...] = ()
    overrides: Value | None = None
    off_word: str = ""

    @property
    def is_flag(self) -> bool:
        """Whether it goes on the command line; else it is an environment variable."""
        return self.name.startswith("-")

    def arguments(self) -> tuple[str, ...]:
        """Its words on a command line; none for a variable, and for a flag that is switched off."""
        if not self.is_flag:
            return ()
        if self.value is False:
            return (self.off_word,) if self.off_word else ()
        if self.value is True:
            return (self.name,)
        if isinstance(self.value, tuple):
            return (self.name, *map(text_of, self.value))
        return (self.name, text_of(self.value))


def text_of(value: Value) -> str:
    """Write a value as a command line or an environment variable holds it."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, tuple):
        return " ".join(map(text_of, value))
    if isinstance(value, float):
        return repr(value)
    return str(value)


def same_value(one: Value | None, other: Value | None) -> bool:
    """Whether two values mean the same to the engine: 0.90 and 0.9 do, and "2" and 2."""
    if one is None or other is None:
        return one is other
    if isinstance(one, bool) or isinstance(other, bool):
        return text_of(one) == text_of(other)
    if isinstance(one, int | float) and isinstance(other, int | float):
        return one == other
    return text_of(one) == text_of(other)

"""Typed reading of one `config.json`: whole numbers, words and lists by key, with one clear error for a wrong type."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from seatrial.errors import InputError


@dataclass(frozen=True, slots=True)
class Fields:
    """One JSON object of a config, and where it was read from."""

    values: Mapping[str, object]
    where: str

    def has(self, *keys: str) -> bool:
        """Whether one of the keys is there with a value."""
        return any(self.values.get(key) is not None for key in keys)

    def whole(self, *keys: str) -> int | None:
        """Read a whole number under the first key that is there; None without any."""
        for key in keys:
            value = self.values.get(key)
            if value is None:
                continue
            if isinstance(value, bool) or not isinstance(value, int | float) or value != int(value) or value < 0:
                raise InputError(f"`{key}` is {value!r}, not a whole number", where=self.where)
            return int(value)
        return None

    def need(self, *keys: str) -> int:
        """Read a whole number that must be there and be more than zero."""
        value = self.whole(*keys)
        if not value:
            raise InputError(
                f"no `{keys[0]}`",
                where=self.where,
                advice="It must be the `config.json` of a language model.",
            )
        return value

    def number(self, key: str) -> float | None:
        """Read a number; None where it is missing."""
        value = self.values.get(key)
        if value is None:
            return None
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise InputError(f"`{key}` is {value!r}, not a number", where=self.where)
        return float(value)

    def word(self, *keys: str) -> str | None:
        """Read a text under the first key that has one; None without any."""
        for key in keys:
            value = self.values.get(key)
            if isinstance(value, str) and value:
                return value
        return None

    def flag(self, key: str, default: bool = False) -> bool:
        """Read a yes or no."""
        value = self.values.get(key)
        return default if value is None else bool(value)

    def words(self, key: str) -> tuple[str, ...]:
        """Read a list of texts; empty where it is missing."""
        return tuple(str(item) for item in self._items(key, str, "names"))

    def wholes(self, key: str) -> tuple[int, ...]:
        """Read a list of whole numbers; empty where it is missing."""
        return tuple(int(item) for item in self._items(key, int, "whole numbers"))

    def _items(self, key: str, kind: type, called: str) -> Sequence[Any]:
        value = self.values.get(key)
        if value is None:
            return ()
        if (
            not isinstance(value, Sequence)
            or isinstance(value, str)
            or not all(isinstance(item, kind) for item in value)
        ):
            raise InputError(f"`{key}` is not a list of {called}", where=self.where)
        return value

    def part(self, *keys: str) -> Fields | None:
        """Read an object inside this one; None where it is missing."""
        for key in keys:
            value = self.values.get(key)
            if isinstance(value, Mapping):
                return Fields(value, f"{self.where}: {key}")
        return None

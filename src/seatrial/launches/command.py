"""Reads a bare command: `-- HF_HOME=/x python3 -m sglang.launch_server …`, or one text as for a shell."""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence

from seatrial.errors import InputError
from seatrial.launches.launch import Launch, Variable, Word

ASSIGNMENT = re.compile(r"([A-Za-z_][A-Za-z0-9_]*)=(.*)\Z", re.DOTALL)
SHELLS = frozenset({"sh", "bash", "dash", "zsh", "ash"})
WHERE = "command line"


def read_command(words: Sequence[str]) -> Launch:
    """Read a command from its words, variables in front included.

    Raises:
        InputError: nothing is left to start.
    """
    if len(words) == 1 and " " in words[0]:
        words = split_words(words[0], where=WHERE)
    variables: dict[str, Variable] = {}
    rest = list(words)
    if rest[:1] == ["env"]:
        rest = rest[1:]
    while rest and (found := ASSIGNMENT.match(rest[0])):
        variables[found[1]] = Variable(found[2], WHERE)
        rest = rest[1:]
    if not rest:
        raise InputError(
            "there is no command", where="--", advice="E.g.: seatrial lint -- python3 -m sglang.launch_server …"
        )
    return Launch(WHERE, unwrapped([Word(word, WHERE) for word in rest]), variables)


def split_words(text: str, *, where: str) -> list[str]:
    """Take a command apart as a shell would; line continuations and comments at the end of a line go.

    Raises:
        InputError: a quote is not closed.
    """
    try:
        return shlex.split(text.replace("\\\n", " "), comments=True)
    except ValueError as error:
        raise InputError(
            f"the command can't be taken apart ({str(error).lower()})", where=where, advice="Close the quote."
        ) from None


def unwrapped(words: Sequence[Word]) -> tuple[Word, ...]:
    """Look into `bash -c "…"`: what it runs is the command."""
    if len(words) >= 3 and words[0].text.rsplit("/", 1)[-1] in SHELLS:
        for index, word in enumerate(words[1:-1], 1):
            if re.fullmatch(r"-[a-z]*c", word.text):
                script = words[index + 1]
                inner = [Word(part, script.where) for part in split_words(script.text, where=script.where)]
                if inner and inner[0].text == "exec":
                    inner = inner[1:]
                return tuple(inner)
    return tuple(words)

"""What each kind of drift in the tree would break: sentences for a finding. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from seatrial.findings import Level
from seatrial.host.accounts import DOCKER, MODEL_CACHE
from seatrial.host.observed import Deviation


def meaning(part: str, kind: str, found: Sequence[Deviation]) -> tuple[Level, str, str]:
    """Say how grave a kind of drift is in a part, what it is, and what it breaks."""
    group_can = all("not-group-writable" not in one.why and "group" not in one.why for one in found)
    shared = part == MODEL_CACHE
    match kind:
        case "owner-root" if shared and group_can:
            return Level.NOTE, "root owns it, as containers leave it", "the group can use and delete it all the same"
        case "owner-root" if shared:
            return (
                Level.WARNING,
                "root owns it, as containers leave it",
                "the next download or clean-up by an admin ends with `Permission denied`",
            )
        case "owner-root":
            return (
                Level.WARNING,
                "root owns it, as containers leave it",
                "the service account can't change or remove it, and a container without root can't write there",
            )
        case "owner":
            return (
                Level.WARNING,
                "somebody else owns it",
                "its owner may change it at will, and loses it with the account",
            )
        case "group" if shared:
            return Level.WARNING, "it is another group's", "other admins can't update or delete the model"
        case "group":
            return Level.WARNING, "it is another group's", "that group gets the rights that are meant for the admins"
        case "not-group-writable":
            return (
                Level.WARNING,
                "the group may not write it",
                "other admins can't update or delete the model; setgid keeps the group, not the mode",
            )
        case "no-setgid":
            return (
                Level.WARNING,
                "the folder has no setgid",
                "what an admin makes there is of their own first group, not the admins'",
            )
        case "no-default-acl":
            return (
                Level.WARNING,
                "the folder has no default ACL",
                "what an admin makes there gets its mode from the umask (0644), and no other admin can change it",
            )
        case "group-write" | "others-write" if part == DOCKER:
            who = "everybody" if kind == "others-write" else "the whole group"
            return (
                Level.ERROR,
                f"{who} may write it",
                "it decides what runs in production, as root in a container; a casual edit goes live at the next start",
            )
        case "group-write" | "others-write":
            who = "everybody" if kind == "others-write" else "the group"
            return Level.ERROR, f"{who} may write it", _written_by_others(part)
        case "others-read" | "group-read":
            who = "everybody on this host" if kind == "others-read" else "the whole group"
            return Level.ERROR, f"{who} may read it", "whoever has the key uses the server, or the account, as you"
        case "setuid":
            return Level.ERROR, "it is setuid or setgid", "it runs with its owner's rights, and nothing here needs that"
        case "access-acl":
            return (
                Level.ERROR,
                "an ACL gives it to named others",
                "the mode looks right and others have it all the same",
            )
        case _:
            return (
                Level.ERROR,
                "its default ACL gives new files to others",
                "the next file written there is theirs to change",
            )


def _written_by_others(part: str) -> str:
    if part == MODEL_CACHE:
        return "anybody with an account may replace a model, or the Python code that it brings"
    if part == "jit-cache":
        return "it holds compiled code that the engine runs, as root in its container"
    if part == "ledger":
        return "verdicts are evidence, and could be made up"
    return "whoever may write a folder can replace everything in it, docker/ too"

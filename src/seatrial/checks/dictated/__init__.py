"""Check of argument values against what the prompt dictates: one file a kind of rule."""

from seatrial.checks.dictated.check import arguments_as_dictated
from seatrial.checks.dictated.texts import dictated_lines

__all__ = ["arguments_as_dictated", "dictated_lines"]

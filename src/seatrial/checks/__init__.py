"""Checks on answers: pure functions over a request and its answer, each with a verdict and a reason.

`judge` runs all that are due; `judge_row` replays a recorded case. Every check can also be called alone.
"""

from seatrial.checks.asked import Asked, Tool, ToolChoice
from seatrial.checks.judging import judge
from seatrial.checks.rows import Judgement, judge_row, row_problem
from seatrial.checks.stream import stream_parity

__all__ = ["Asked", "Judgement", "Tool", "ToolChoice", "judge", "judge_row", "row_problem", "stream_parity"]

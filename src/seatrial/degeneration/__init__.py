"""Detectors of broken text: loops, floods, shuffles and salad, in any language. Pure functions over text, no I/O.

`scan` judges a whole text, `StreamDetector` one that streams, `scan_answer` all parts of an answer, and
`scan_tool_calls` the calls of a conversation. None means that nothing degenerate was seen.
"""

from seatrial.degeneration.answer import scan_answer
from seatrial.degeneration.model import Degeneration, Kind, Severity
from seatrial.degeneration.stream import StreamDetector, scan
from seatrial.degeneration.tool_calls import scan_tool_calls

__all__ = [
    "Degeneration",
    "Kind",
    "Severity",
    "StreamDetector",
    "scan",
    "scan_answer",
    "scan_tool_calls",
]

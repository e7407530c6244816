"""A fake OpenAI-compatible server whose every answer, and every fault, is known: what clients and trials are proven on.

    async with FakeServer(Script(faults=frozenset({Fault.LOOP_REASONING}))) as server:
        ...  # ask server.base_url

    with fake_server(Script()) as server:  # the same from a thread
        ...

By hand: `python -m seatrial.testkit --fault loop_reasoning`.
"""

from seatrial.testkit.faults import LEGAL, Details, Fault
from seatrial.testkit.good_model import GoodModel
from seatrial.testkit.in_thread import fake_server, fake_server_process
from seatrial.testkit.reply import Answer, Call, Reply
from seatrial.testkit.script import Pace, Script, Seen
from seatrial.testkit.server import FakeServer

__all__ = [
    "LEGAL",
    "Answer",
    "Call",
    "Details",
    "FakeServer",
    "Fault",
    "GoodModel",
    "Pace",
    "Reply",
    "Script",
    "Seen",
    "fake_server",
    "fake_server_process",
]

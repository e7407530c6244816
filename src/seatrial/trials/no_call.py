"""Tools are offered and none is due: the model answers in words."""

from __future__ import annotations

from seatrial.trials.interface import Case, Check, DeclaredTrial
from seatrial.trials.responses import judge_answers
from seatrial.trials.tool_call import WEATHER

REQUEST = {
    "messages": [{"role": "user", "content": "Thank you, that was very helpful! Have a nice evening."}],
    "tools": [WEATHER],
}

TRIAL = DeclaredTrial(
    name="no_call",
    title="No tool is called when none is due",
    cases=(Case("thanks", REQUEST),),
    checks=(Check("no_call_is_made", ("thanks",), judge_answers),),
)

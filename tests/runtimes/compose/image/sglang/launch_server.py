"""`python3 -m sglang.launch_server …` in the test image: SGLang's flags and log lines, another engine behind them.

The model's name decides what it does. `owner/smollm2` is a real model on the embedded engine, and
`owner/smollm2-greedy` the same without sampling, which makes it loop. Of the fake server: `owner/good`,
`owner/loops`, `owner/no-memory`, `owner/silent`, `owner/slow`, `owner/writes`, `owner/dies`.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import sys
import threading
import time
from pathlib import Path

from seatrial.endpoint.address import Secret
from seatrial.testkit import FakeServer, Fault, Script

OUT_OF_MEMORY = """[2031-01-01 10:00:02] Scheduler hit an exception: Traceback (most recent call last):
  File "/sgl-workspace/sglang/python/sglang/srt/managers/scheduler.py", line 3000, in run_scheduler_process
    scheduler = Scheduler(server_args, port_args)
RuntimeError: Not enough memory. Please try to increase --mem-fraction-static. Current value: mem_fraction_static=0.5

[2031-01-01 10:00:02] Received sigquit from a child process. It usually means the child failed.
"""


WRONG_DTYPE = """[2031-01-01 10:03:11] Scheduler hit an exception: Traceback (most recent call last):
  File "/sgl-workspace/sglang/python/sglang/srt/managers/scheduler.py", line 3120, in run_scheduler_process
    scheduler.event_loop_overlap()
RuntimeError: Index put requires the source and destination dtypes match, got BFloat16 for the destination and Half \
for the source.

[2031-01-01 10:03:11] Received sigquit from a child process. It usually means the child failed.
"""
FAULTS = {"loops": Fault.LOOP_REASONING, "dies": Fault.DIES_AT_REQUEST}


def say(text: str) -> None:
    """Write a line of log."""
    print(time.strftime("[%Y-%m-%d %H:%M:%S]"), text, flush=True)


def main() -> int:
    """Start as SGLang does, and serve."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--model-path", required=True)
    parser.add_argument("--served-model-name")
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=30000)
    parser.add_argument("--context-length", type=int, default=8192)
    parser.add_argument("--config")
    known, _ = parser.parse_known_args()
    key = None
    if known.config:
        key = Path(known.config).read_text(encoding="utf-8").partition("api-key:")[2].strip().strip('"')
    say(f"server_args=ServerArgs(model_path='{known.model_path}', host='{known.host}', api_key='{key}')")
    kind = known.model_path.rsplit("/", 1)[-1]
    say("Init torch distributed begin.")
    say("Init torch distributed ends. elapsed=0.10 s, mem usage=0.10 GB")
    say("Load weight begin. avail mem=23.00 GB")
    time.sleep(0.3)
    if kind == "silent":
        time.sleep(3600)
    say("Load weight end. elapsed=0.30 s, type=Fake, dtype=torch.float16, avail mem=12.00 GB, mem usage=11.00 GB.")
    if kind == "no-memory":
        sys.stderr.write(OUT_OF_MEMORY)
        sys.stderr.flush()
        return 137
    say("KV Cache is allocated. dtype: torch.float16, #tokens: 450000, K size: 2.20 GB, V size: 2.20 GB")
    say(
        f"max_total_num_tokens=450000, chunked_prefill_size=2048, max_prefill_tokens=16384, max_running_requests=26, "
        f"context_len={known.context_length}, available_gpu_mem=3.10 GB"
    )
    if kind.startswith("smollm2"):
        return serve_real_model(known, key, greedy=kind.endswith("greedy"))
    script = Script(
        model=known.served_model_name or known.model_path,
        faults=frozenset(fault for name, fault in FAULTS.items() if name == kind),
        context_length=known.context_length,
        api_key=Secret(key) if key else None,
    )
    if kind == "writes":
        for folder in (os.environ["HF_HOME"], f"{os.environ['HOME']}/.cache"):
            Path(folder, "written-by-the-engine").touch()
            say(f"wrote to {folder} as user {os.getuid()}, group {os.getgid()}")
    if kind == "slow":
        time.sleep(8)
    asyncio.run(serve(script, known.host, known.port))
    return 0


def serve_real_model(known: argparse.Namespace, key: str | None, *, greedy: bool) -> int:
    """Serve SmolLM2 with llama.cpp, until the container ends."""
    import xllamacpp

    from seatrial.store.demonstration import chat_template

    parameters = xllamacpp.CommonParams()
    parameters.model.path = os.environ["SMOLLM2"]
    parameters.model_alias = {known.served_model_name}
    parameters.n_ctx = known.context_length
    parameters.n_parallel = 1
    parameters.cpuparams.n_threads = parameters.cpuparams_batch.n_threads = 1
    parameters.hostnames, parameters.port = [known.host], known.port
    parameters.api_keys = [key] if key else []
    parameters.endpoint_metrics = parameters.endpoint_props = parameters.use_jinja = True
    parameters.ui = False
    parameters.chat_template = chat_template()
    parameters.default_template_kwargs = {"enable_thinking": "false"}
    parameters.sampling.seed = 7
    if greedy:
        parameters.sampling.temp = 0
    server = xllamacpp.Server(parameters)
    say(f"listening at {server.listening_address}")
    say("The server is fired up and ready to roll!")
    threading.Event().wait()
    return 0


async def serve(script: Script, host: str, port: int) -> None:
    """Serve until the container ends, or the engine dies at its first request as SGLang does."""
    async with FakeServer(script, host=host, port=port) as server:
        say("The server is fired up and ready to roll!")
        while Fault.DIES_AT_REQUEST not in script.faults or not server.chats:  # noqa: ASYNC110 - nobody tells
            await asyncio.sleep(0.05)
        sys.stderr.write(WRONG_DTYPE)


if __name__ == "__main__":
    sys.exit(main())

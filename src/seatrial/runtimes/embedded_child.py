"""The child process of the embedded engine: reads its configuration, starts the server, says where it listens.

Standard input: one line of JSON, then nothing until it ends, which ends this process.
Standard output: one line of JSON, `{"listening": URL}` or `{"error": MESSAGE}`.
Standard error: llama.cpp's log.
"""

from __future__ import annotations

import json
import signal
import sys
import threading
from typing import Any

from seatrial.processes import end_with_input, end_with_parent


def main() -> int:
    """Serve until the parent is gone."""
    end_with_parent()
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C in a terminal reaches us too: the parent ends us in order
    configuration = json.loads(sys.stdin.readline())
    end_with_input(sys.stdin)
    try:
        server = start(configuration)
    except Exception as error:  # noqa: BLE001 - whatever the engine raises is what the parent must be told
        say({"error": f"{error}" or type(error).__name__})
        return 1
    say({"listening": server.listening_address})
    threading.Event().wait()
    return 0


def start(configuration: dict[str, Any]) -> Any:
    """Start llama.cpp's HTTP server on a free loopback port."""
    import xllamacpp  # noqa: PLC0415 - so that a missing system library is reported like any other error

    parameters = xllamacpp.CommonParams()
    parameters.model.path = configuration["model"]
    parameters.model_alias = {configuration["served_name"]}
    parameters.n_ctx = configuration["context_length"]
    parameters.n_parallel = configuration["parallel"]
    parameters.kv_unified = configuration["parallel"] > 1
    parameters.cpuparams.n_threads = configuration["threads"]
    parameters.cpuparams_batch.n_threads = configuration["threads"]
    parameters.hostnames = ["127.0.0.1"]
    parameters.port = 0
    # Without a key llama.cpp's server lets every web page of a browser on this host talk to it.
    parameters.api_keys = [configuration["api_key"]]
    parameters.endpoint_metrics = True
    parameters.endpoint_props = True
    parameters.ui = False
    parameters.use_jinja = True
    if configuration["chat_template"] is not None:
        parameters.chat_template = configuration["chat_template"]
    # Reasoning is there for requests that ask for it (chat_template_kwargs), as on engines that separate it.
    parameters.default_template_kwargs = {"enable_thinking": "false"}
    parameters.sampling.reasoning_budget_tokens = configuration["reasoning_budget"]
    return xllamacpp.Server(parameters)


def say(message: dict[str, Any]) -> None:
    """Tell the parent one thing."""
    sys.stdout.write(json.dumps(message) + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())

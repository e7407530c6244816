"""Runs hf-mem's estimate for a local folder: `python hf_mem_driver.py FOLDER TOKENS`, in an environment that has it.

hf-mem asks the Hub and nothing else. Its HTTP client is handed a transport that answers from the folder; its arithmetic
is not touched.
"""

from __future__ import annotations

import asyncio
import functools
import importlib
import json
import sys
from pathlib import Path
from typing import Any
from unittest.mock import patch


def main(folder: Path, tokens: int) -> None:
    """Print hf-mem's bytes for weights and for the cache of one sequence."""
    httpx2 = importlib.import_module("httpx2")
    run = importlib.import_module("hf_mem.run")

    def answer(request: Any) -> Any:
        path = request.url.path
        if path.startswith("/api/models/"):
            return httpx2.Response(200, json=[{"type": "file", "path": file.name} for file in folder.iterdir()])
        file = folder / path.rsplit("/", 1)[-1]
        if not file.exists():
            return httpx2.Response(404)
        data = file.read_bytes()
        wanted = request.headers.get("range")
        if not wanted:
            return httpx2.Response(200, content=data)
        first, _, last = wanted.removeprefix("bytes=").partition("-")
        end = min(int(last or len(data) - 1), len(data) - 1)
        part = data[int(first) : end + 1]
        return httpx2.Response(206, content=part, headers={"content-range": f"bytes {first}-{end}/{len(data)}"})

    client = functools.partial(httpx2.AsyncClient, transport=httpx2.MockTransport(answer))
    with patch.object(httpx2, "AsyncClient", client):
        found = asyncio.run(run.arun(model_id="local/model", experimental=True, max_model_len=tokens, batch_size=1))
    print(json.dumps({"weights_bytes": found.memory, "cache_bytes": found.kv_cache}))


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]))

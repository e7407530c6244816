"""Reading what a server says about its memory while it starts: logs of several ranks, boots and versions; JSON."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from seatrial.engines.sglang.boot_log import BootRecord, read_boot_log
from seatrial.errors import InputError

TWO_RANKS = """\
[2026-05-01 10:00:00] server_args=ServerArgs(model_path='/models/m', api_key='sk-secret', tp_size=2, mem_fraction_static=0.85, odd=<object at 0x7f>, dtype='float16')
[2026-05-01 10:00:01 TP0] Init torch distributed begin.
[2026-05-01 10:00:01 TP1] Init torch distributed begin.
[2026-05-01 10:00:03 TP0] Init torch distributed ends. elapsed=0.26 s, mem usage=0.19 GB
[2026-05-01 10:00:04 TP1] Load weight begin. avail mem=22.80 GB
[2026-05-01 10:00:04 TP0] Load weight begin. avail mem=22.79 GB
[2026-05-01 10:00:44 TP0] Load weight end. elapsed=40.00 s, type=Qwen3_5ForConditionalGeneration, quant=awq, bits=4, avail mem=13.71 GB, mem usage=9.08 GB.
[2026-05-01 10:00:45 TP1] Load weight end. elapsed=41.00 s, type=Qwen3_5ForConditionalGeneration, quant=awq, bits=4, avail mem=13.70 GB, mem usage=9.10 GB.
[2026-05-01 10:00:46 TP1] Mamba Cache is allocated. max_mamba_cache_size: 130, conv_state size: 0.06GB, ssm_state size: 2.01GB
[2026-05-01 10:00:46 TP0] Mamba Cache is allocated. max_mamba_cache_size: 130, conv_state size: 0.06GB, ssm_state size: 2.01GB
[2026-05-01 10:00:46 TP0] KV Cache is allocated. dtype: torch.float16, #tokens: 456000, K size: 2.17 GB, V size: 2.17 GB
[2026-05-01 10:00:46 TP1] KV Cache is allocated. dtype: torch.float16, #tokens: 456000, K size: 2.17 GB, V size: 2.17 GB
[2026-05-01 10:00:46 TP0] Memory pool end. avail mem=3.30 GB
[2026-05-01 10:00:46 TP1] Memory pool end. avail mem=3.28 GB
[2026-05-01 10:00:47 TP0] Capture target decode CUDA graph begin. backend=full, num_tokens_per_req=1, bs=[1, 2, 4, 8], avail mem=3.20 GB
[2026-05-01 10:00:59 TP0] Capture target decode CUDA graph end. elapsed=12.00 s, mem usage=0.21 GB, avail mem=2.99 GB.
[2026-05-01 10:01:00 TP0] max_total_num_tokens=456000, chunked_prefill_size=2048, max_prefill_tokens=16384, max_running_requests=26, context_len=262144, available_gpu_mem=2.99 GB
[2026-05-01 10:01:02] The server is fired up and ready to roll!
"""  # noqa: E501

EXPECTED = {
    "begin_gib": 22.79,
    "end_gib": 13.70,
    "weights_gib": 9.10,
    "mamba_slots": 130,
    "conv_state_gib": 0.06,
    "ssm_state_gib": 2.01,
    "kv_cache_tokens": 456000,
    "kv_cache_gib": 4.34,
    "kv_dtype": "torch.float16",
    "pools_end_gib": 3.28,
    "decode_graphs_gib": 0.21,
    "decode_graph_sizes": (1, 2, 4, 8),
    "max_running_requests": 26,
    "context_length": 262144,
    "chunked_prefill_size": 2048,
    "available_gib": 2.99,
}


def figures(record: BootRecord) -> dict[str, object]:
    return {name: getattr(record, name) for name in EXPECTED}


def test_the_least_free_memory_of_all_ranks_counts_as_it_does_for_the_engine() -> None:
    assert figures(read_boot_log(TWO_RANKS)) == EXPECTED


def test_settings_are_read_and_secrets_are_not() -> None:
    record = read_boot_log(TWO_RANKS)
    assert record.settings["mem_fraction_static"] == 0.85
    assert record.settings["tp_size"] == 2
    assert "sk-secret" not in repr(record)


@pytest.mark.parametrize(
    "dressed",
    [
        TWO_RANKS.replace("\n", "\r\n"),
        "".join(f"sglang-1  | {line}\n" for line in TWO_RANKS.splitlines()),
        "".join(f"2026-05-01T10:00:00.123456789Z {line}\n" for line in TWO_RANKS.splitlines()),
        "".join(f"\x1b[32m{line}\x1b[0m\n" for line in TWO_RANKS.splitlines()),
        'INFO:     1.2.3.4:567 - "POST /v1/chat/completions HTTP/1.1" 200 OK\n' + TWO_RANKS,
    ],
    ids=["carriage-returns", "compose", "docker-timestamps", "colours", "other-lines"],
)
def test_a_log_is_read_however_it_was_collected(dressed: str) -> None:
    assert figures(read_boot_log(dressed)) == EXPECTED


def test_only_the_last_boot_of_a_log_counts() -> None:
    earlier = TWO_RANKS.replace("456000", "111111").replace("13.70", "1.11")
    assert figures(read_boot_log(earlier + TWO_RANKS)) == EXPECTED
    cut = "\n".join(line for line in (earlier + TWO_RANKS).splitlines() if "server_args" not in line)
    assert figures(read_boot_log(cut)) == EXPECTED


def test_a_draft_is_told_apart_from_its_target() -> None:
    record = read_boot_log(
        """\
[2026-05-01 10:00:04] Load weight begin. avail mem=139.11 GB
[2026-05-01 10:00:44] Load weight end. elapsed=1.0 s, type=Qwen3NextForCausalLM, avail mem=74.48 GB, mem usage=64.62 GB.
[2026-05-01 10:00:50] Load weight begin. avail mem=74.40 GB
[2026-05-01 10:00:51] Load weight end. elapsed=1.0 s, type=Qwen3NextMTP, avail mem=72.40 GB, mem usage=2.00 GB.
[2026-05-01 10:00:52] Mamba Cache is allocated. max_mamba_cache_size: 9, conv_state size: 0.1GB, ssm_state size: 0.2GB intermediate_ssm_state_cache size: 0.30GB intermediate_conv_window_cache size: 0.40GB
[2026-05-01 10:00:53] KV Cache is allocated. dtype: torch.bfloat16, #tokens: 1000, K size: 1.00 GB, V size: 1.00 GB
[2026-05-01 10:00:53] KV Cache is allocated. dtype: torch.bfloat16, #tokens: 1000, K size: 0.10 GB, V size: 0.10 GB
"""  # noqa: E501
    )
    assert (record.begin_gib, record.end_gib) == (139.11, 72.40)
    assert (record.weights_gib, record.draft_weights_gib) == (66.62, 2.0)
    assert (record.kv_cache_gib, record.draft_kv_cache_gib) == (2.0, 0.2)
    assert record.intermediate_gib == 0.7


def test_latent_and_sliding_pools_are_read() -> None:
    latent = read_boot_log("[x] KV Cache is allocated. dtype: torch.bfloat16, #tokens: 1000, KV size: 5.25 GB\n")
    assert (latent.kv_cache_tokens, latent.kv_cache_gib) == (1000, 5.25)
    sliding = read_boot_log("[x] Use sliding window memory pool. full_layer_tokens=2000, swa_layer_tokens=1600\n")
    assert (sliding.kv_cache_tokens, sliding.swa_cache_tokens) == (2000, 1600)


def test_the_error_of_a_boot_that_failed_is_kept_once() -> None:
    error = "RuntimeError: Not enough memory. Please try to increase --mem-fraction-static."
    record = read_boot_log(f"[2026-05-01 10:00:04 TP0] Load weight begin. avail mem=1.00 GB\n{error}\n{error}\n")
    assert record.errors == (error,)


def test_the_servers_own_json_is_read() -> None:
    answer = {
        "model_path": "/models/m",
        "api_key": "sk-secret",
        "mem_fraction_static": 0.85,
        "context_length": 262144,
        "max_total_num_tokens": 456000,
        "version": "0.5.16",
        "internal_states": [
            {
                "effective_max_running_requests_per_dp": 26,
                "memory_usage": {"weight": 9.1, "kvcache": 4.34, "graph": 0.21, "token_capacity": 456000},
            }
        ],
    }
    record = read_boot_log(json.dumps(answer))
    assert record.kv_cache_tokens == 456000
    assert record.max_running_requests == 26
    assert record.weights_gib == 9.1
    assert record.version == "0.5.16"
    assert record.settings["mem_fraction_static"] == 0.85
    assert "sk-secret" not in repr(record)


@pytest.mark.parametrize("text", ["", "hello", "{}", "{", "[1, 2]", "INFO: started\n" * 3])
def test_what_is_no_server_log_is_refused_in_one_line(text: str) -> None:
    with pytest.raises(InputError) as caught:
        read_boot_log(text, where="my.log")
    assert "my.log" in str(caught.value)


@given(st.text(max_size=400))
def test_no_text_breaks_the_reader(text: str) -> None:
    try:
        read_boot_log(text)
    except InputError:
        return


@given(st.integers(0, len(TWO_RANKS)))
def test_a_log_that_ends_anywhere_gives_what_it_has(end: int) -> None:
    try:
        record = read_boot_log(TWO_RANKS[:end])
    except InputError:
        return
    assert record.weights_gib in (None, 9.08, 9.1)
    assert record.mamba_slots in (None, 130)

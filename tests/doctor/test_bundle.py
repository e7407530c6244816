"""The bug report: it says what happened, and nothing that a stranger must not read."""

from __future__ import annotations

import random
import string
from collections.abc import Callable

from hypothesis import given, settings
from hypothesis import strategies as st

from doctor.logs import WRAPPINGS, rows
from seatrial.doctor import Watcher, judge
from seatrial.doctor.bundle import LONGEST_REPORT, make_bundle
from seatrial.doctor.redacting import ReportRedactor

LETTERS = string.ascii_lowercase
MIXED = string.ascii_letters + string.digits
HEX = "0123456789abcdef"


def word(chance: random.Random, letters: str, length: int) -> str:
    return "".join(chance.choices(letters, k=length))


def name(chance: random.Random) -> str:
    return f"q{word(chance, LETTERS, 6)}"


def domain(chance: random.Random) -> str:
    return f"{name(chance)}.{name(chance)}.{chance.choice(['internal', 'corp', 'com', 'example', 'lan'])}"


def card(chance: random.Random) -> str:
    return "GPU-" + "-".join(word(chance, HEX, length) for length in (8, 4, 4, 4, 12))


KINDS: dict[str, tuple[Callable[[random.Random], str], tuple[str, ...]]] = {
    "api key": (
        lambda chance: word(chance, MIXED, 18),
        (
            "server_args=ServerArgs(model_path='x', api_key='{}', admin_api_key=None, max_total_tokens=4096)",
            "python -m sglang.launch_server --api-key {} --port 30000",
            "Authorization: Bearer {}",
            'curl -H "Authorization: Bearer {}" http://127.0.0.1:30000/v1/models',
            '{{"x-api-key": "{}"}}',
            "OPENAI_API_KEY={}",
            "environment: SGLANG_API_KEY: {}",
            "GET /v1/models?api_key={}&x=1",
        ),
    ),
    "hub token": (
        lambda chance: f"hf_{word(chance, MIXED, 30)}",
        ("using token {}", "HF_TOKEN={}", "401 for {} at the hub", "'HUGGING_FACE_HUB_TOKEN': '{}'"),
    ),
    "cloud key": (
        lambda chance: f"AKIA{word(chance, string.ascii_uppercase + string.digits, 16)}",
        ("AWS_ACCESS_KEY_ID={}", "signed with {}", "aws_access_key_id: '{}'"),
    ),
    "password": (
        lambda chance: word(chance, MIXED + "!%", 12),
        ("postgres password: '{}'", "DB_PASSWORD={}", "https://builder:{}@git.example.com/x", '"password": "{}"'),
    ),
    "web token": (
        lambda chance: f"eyJ{word(chance, MIXED, 20)}.{word(chance, MIXED, 30)}.{word(chance, MIXED, 20)}",
        ("got {}", "session_token={}"),
    ),
    "host": (
        lambda chance: f"{name(chance)}-{chance.randrange(100)}",
        (
            "{}:118:220 [1] NCCL INFO NET/IB : No device found.",
            "server_args=ServerArgs(dist_init_addr='{}:5000', tp_size=2)",
            "Feb 03 04:05:06 {} docker[812]: hello",
            "hostname: {}",
            "tcp://{}:29500 refused",
        ),
    ),
    "domain": (domain, ("connecting to {} now", "http://{}:8000/v1", "lookup {}: no such host", "host='{}'")),
    "user": (
        name,
        ("/home/{}/models/x", "user={}", "uid=1000({})", "PermissionError: '/Users/{}/.cache'", "logname: {}"),
    ),
    "mail": (lambda chance: f"{name(chance)}@{name(chance)}.org", ("owner {}", "mail to <{}>")),
    "address": (
        lambda chance: ".".join(str(chance.randrange(1, 127)) for _ in range(4)).replace("127.", "12."),
        ('INFO:     {}:5122 - "POST /v1/completions HTTP/1.1" 200 OK', "bind {} failed", "nccl socket {}<0>"),
    ),
    "long address": (
        lambda chance: ":".join(f"{chance.randrange(0x1000, 0x10000):x}" for _ in range(8)),
        ("listen on [{}]:30000", "peer {} left"),
    ),
    "card": (card, ("on {}",)),
    "hardware address": (
        lambda chance: ":".join(f"{chance.randrange(16, 256):02x}" for _ in range(6)),
        ("link {} up",),
    ),
    "prompt": (
        lambda chance: " ".join(word(chance, LETTERS, 7) for _ in range(6)),
        (
            "Receive: obj=GenerateReqInput(rid='1', text='{}', sampling_params={{}})",
            "Finish: obj=GenerateReqInput(rid='1'), out={{'text': '{}', 'meta_info': {{}}}}",
            '{{"messages": [{{"role": "user", "content": "{}"}}], "max_tokens": 5}}',
            "Received request cmpl-1: prompt: '{}', params: SamplingParams()",
        ),
    ),
}


@settings(deadline=None, max_examples=60)
@given(st.integers(0, 2**32), st.sampled_from(["plain", *WRAPPINGS]))
def test_none_of_fifty_planted_secrets_is_in_a_bundle(seed: int, wrapping: str) -> None:
    chance = random.Random(seed)
    planted, lines = [], []
    for _ in range(50):
        kind = chance.choice(list(KINDS))
        make, templates = KINDS[kind]
        secret = make(chance)
        planted.append((kind, secret))
        lines.append(chance.choice(templates).format(secret))
    lines += ["Traceback (most recent call last):", '  File "/x.py", line 1, in f', "ZeroDivisionError: new"]
    watcher = Watcher()
    watcher.feed_all(line.encode() for line in (lines if wrapping == "plain" else WRAPPINGS[wrapping](lines)))
    text = make_bundle(judge(watcher, ended=True), watcher, redact=ReportRedactor())
    leaked = [(kind, secret) for kind, secret in planted if secret in text]
    assert not leaked, (leaked, [line for line in lines if leaked[0][1] in line])
    assert "ZeroDivisionError: new" in text


def test_what_was_learned_in_one_line_is_removed_from_all() -> None:
    redact = ReportRedactor(secrets=["planted-in-the-environment"], hosts=["thishost"], users=["alice"])
    for line in ("api_key='zebra-stripes-1'", "gpu7:1:2 [0] NCCL INFO x", "/home/bob/x"):
        redact.learn(line)
    text = redact("zebra-stripes-1 of bob on gpu7 and thishost, alice, planted-in-the-environment")
    assert not any(known in text for known in ("zebra", "bob", "gpu7", "thishost", "alice", "planted"))


def test_what_a_maintainer_needs_is_kept() -> None:
    redact = ReportRedactor()
    kept = (
        "[2031-02-03 04:05:06 TP0] Load weight end. type=Qwen3_5MoeForConditionalGeneration, avail mem=12.10 GB",
        '  File "/usr/lib/python3.12/site-packages/sglang/srt/managers/scheduler.py", line 4623, in run_scheduler',
        "Decode batch, #running-req: 1, #token: 90210, token usage: 0.01, gen throughput (token/s): 20.10",
        "RuntimeError: CUDA error: an illegal memory access was encountered",
        "torch.distributed.DistBackendError: NCCL error in: ProcessGroupNCCL.cpp:317",
        "Uvicorn running on http://127.0.0.1:30000 (Press CTRL+C to quit)",
        "eos_token_id=151645, max_total_tokens=4096, tokenizer_mode='auto', is_token=True",
        "https://huggingface.co/Qwen/Qwen3-8B is gated",
        "Parameter model.layers.0.mlp.experts.w13_qzeros not found in params_dict",
    )
    for line in kept:
        redact.learn(line)
    assert [redact(line) for line in kept] == list(kept)


def test_the_report_says_what_happened_and_can_be_pasted() -> None:
    for row in rows("real_sglang_cpu.jsonl"):
        watcher = Watcher()
        watcher.feed_all(line.encode() for line in row["lines"])
        found = judge(watcher, ended=True)
        plan = {"settings": [{"flag": "--api-key-file", "value": "secrets/api_key"}]}
        text = make_bundle(found, watcher, redact=ReportRedactor(), versions={"sglang": "0.5.16"}, plan=plan)
        assert row["cause"] in text
        assert "sglang: 0.5.16" in text
        assert "planted-key" not in text
        assert len(text) < LONGEST_REPORT + 200
        assert text.count("```") % 2 == 0


def test_a_huge_log_gives_a_report_that_is_still_short() -> None:
    watcher = Watcher()
    watcher.feed_all(b"x %d" % number * 300 for number in range(10_000))
    text = make_bundle(judge(watcher), watcher, redact=ReportRedactor())
    assert len(text) < LONGEST_REPORT + 200


@settings(deadline=None)
@given(st.text(max_size=500))
def test_any_text_can_be_redacted(text: str) -> None:
    redact = ReportRedactor()
    redact.learn(text)
    assert isinstance(redact(text), str)

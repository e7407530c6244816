from __future__ import annotations

import asyncio
import itertools
import json
import ssl
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from seatrial.bench.load import LoadRun
from seatrial.bench.plan import Arrivals, Level, LoadPlan, Ramp
from seatrial.bench.result import BenchResult, RequestRow
from seatrial.bench.rows import RowWriter, read_rows
from seatrial.bench.self_check import errors_of, measure_client
from seatrial.bench.workload import builtin
from seatrial.endpoint.address import Endpoint, Secret
from seatrial.endpoint.client import Limits
from seatrial.endpoint.exchange import Exchange
from seatrial.testkit import Fault, Pace, Reply, Script, fake_server
from seatrial.testkit.metronome import MODEL, Tempo, metronome_process

PACE = Pace(time_to_first_token=0.1, tokens_per_second=100)


class Ran:
    """A load run with all that it told."""

    def __init__(self, run: LoadRun) -> None:
        self.run = run
        self.rows: list[RequestRow] = []
        self.exchanges: list[Exchange] = []
        run.on_row, run.on_exchange = self.rows.append, self.exchanges.append

    @property
    def measured(self) -> list[RequestRow]:
        return [row for row in self.rows if row.level >= 0]

    async def result(self) -> BenchResult:
        await self.run.make()
        return self.run.result()


def load(
    url: str,
    *levels: Level,
    tokens: int = 20,
    model: str = "fake-model",
    limits: Limits | None = None,
    key: Secret | None = None,
    **plan: object,
) -> Ran:
    made = replace(LoadPlan(levels, warm_up=0), **plan)  # type: ignore[arg-type]
    return Ran(LoadRun(Endpoint(url, model, key), limits or Limits(), builtin("chat", tokens), made))


async def test_a_closed_loop_keeps_so_many_requests_under_way_and_measures_known_timing() -> None:
    with fake_server(Script(pace=PACE)) as server:
        ran = load(server.base_url, Level(4, requests=12), warm_up=2)
        result = await ran.result()
        in_flight = [seen.in_flight for seen in server.chats[2:]]
    (level,) = result.levels
    assert max(in_flight) == 4
    assert (level.completed, level.failed, len(ran.rows)) == (12, 0, 14)
    # The machine may be busy: late is possible, early is not.
    assert level.distributions["time_to_first_token"].p50 >= 0.1
    assert level.distributions["time_per_output_token"].p50 >= 0.009
    assert level.output_tokens == sum(row.output_tokens for row in ran.measured) > 0
    for row in ran.measured:
        assert row.sent is not None
        assert row.scheduled <= row.started <= row.sent <= (row.first_byte or 0) <= row.ended
        assert len(row.gaps_us) == row.chunks - 1


async def test_warm_up_counts_in_no_figure() -> None:
    with fake_server(Script(pace=PACE)) as server:
        ran = load(server.base_url, Level(1, requests=2), warm_up=3)
        result = await ran.result()
    assert [row.phase for row in ran.rows] == ["warm-up"] * 3 + ["measured"] * 2
    assert result.levels[0].completed == 2


async def test_an_open_loop_sends_on_schedule_whatever_the_server_does() -> None:
    slow = Pace(time_to_first_token=1.0, tokens_per_second=100)
    with fake_server(Script(pace=slow)) as server:
        level = Level(rate=20, arrivals=Arrivals.CONSTANT, requests=10)
        ran = load(server.base_url, level, tokens=4)
        result = await ran.result()
    scheduled = sorted(row.scheduled for row in ran.rows)
    gaps = [later - earlier for earlier, later in itertools.pairwise(scheduled)]
    assert gaps == pytest.approx([0.05] * 9, abs=1e-5)
    assert all(row.started >= row.scheduled for row in ran.rows)
    first_answer = min(row.first_token or 0 for row in ran.rows)
    assert sum((row.sent or 0) < first_answer for row in ran.rows) == 10, "no request waited for an answer"
    assert result.load.kind == "open"


async def test_a_duration_ends_a_level() -> None:
    with fake_server(Script(pace=PACE)) as server:
        ran = load(server.base_url, Level(2, seconds=0.5), tokens=4)
        result = await ran.result()
    began = result.levels[0].began
    assert result.levels[0].completed >= 4
    assert all(row.scheduled <= began + 0.5 for row in ran.rows)


@pytest.mark.parametrize(
    ("fault", "said"),
    [
        (Fault.STATUS_503, "queue is full"),
        (Fault.HTML_EVERYWHERE, "not JSON"),
        (Fault.REDIRECT, "redirects"),
        (Fault.DIES_MID_STREAM, "broke off in mid-answer"),
        (Fault.ERROR_EVENT, "CUDA error"),
        (Fault.INVALID_JSON_CHUNK, "not JSON"),
        (Fault.MISSING_FINISH_REASON, ""),
        (Fault.NEVER_ANSWERS, "no answer within"),
    ],
)
async def test_whatever_a_server_does_is_a_row_with_the_reason(fault: Fault, said: str) -> None:
    with fake_server(Script(faults=frozenset({fault}))) as server:
        ran = load(server.base_url, Level(2, requests=3), limits=Limits(1, 1.0, 0.6))
        result = await ran.result()
    (level,) = result.levels
    if not said:
        assert level.completed == 3
        return
    assert level.failed == 3
    assert all(said in (row.failure or "") for row in ran.rows), [row.failure for row in ran.rows]
    assert result.void == "no request was completed"


@pytest.mark.parametrize("fault", [Fault.CRLF, Fault.SPLIT_BYTES, Fault.COMMENTS, Fault.STALE_KEEP_ALIVE])
async def test_legal_oddities_are_understood(fault: Fault) -> None:
    with fake_server(Script(faults=frozenset({fault}))) as server:
        ran = load(server.base_url, Level(2, requests=6))
        result = await ran.result()
    assert result.levels[0].completed == 6, result.levels[0].errors
    assert result.levels[0].degenerate == 0


async def test_the_load_client_understands_an_answer_as_the_client_of_trials_does() -> None:
    from seatrial.endpoint.client import Client

    script = Script(pace=Pace(0.0, 2000))
    with fake_server(script) as server:
        ran = load(server.base_url, Level(1, requests=3), tokens=60)
        await ran.result()
        async with Client(Endpoint(server.base_url, "fake-model")) as client:
            for ours in ran.exchanges:
                body = {name: value for name, value in ours.request.items() if name != "model"}
                theirs = await client.chat(body, label="same")
                assert theirs.answer == ours.answer
                assert len(theirs.timing.arrivals) == len(ours.timing.arrivals)


async def test_reasoning_comes_before_the_first_answer_token() -> None:
    def think(_request: object) -> Reply:
        return Reply("The answer.", "I think about it for a while.")

    with fake_server(Script(answer=think, pace=PACE)) as server:
        ran = load(server.base_url, Level(1, requests=1), tokens=50)
        await ran.result()
    (row,) = ran.rows
    assert row.time_to_first_token is not None
    assert row.time_to_first_answer_token is not None
    assert row.time_to_first_answer_token >= row.time_to_first_token + 0.05


async def test_a_looping_server_is_fast_and_void() -> None:
    with fake_server(Script(faults=frozenset({Fault.LOOP_CONTENT}))) as server:
        result = await load(server.base_url, Level(1, requests=2), tokens=400).result()
    assert "broken text" in (result.void or "")
    assert result.levels[0].clean_output_token_throughput == 0
    assert result.levels[0].output_token_throughput > 0


async def test_a_share_of_broken_answers_may_be_allowed() -> None:
    with fake_server(Script(faults=frozenset({Fault.LOOP_CONTENT}))) as server:
        allowing = load(server.base_url, Level(1, requests=2), tokens=400, allowed_degenerate=1.0)
        result = await allowing.result()
    assert "broken text" not in (result.void or "")
    assert result.levels[0].degenerate == 2


async def test_a_ramp_names_the_knee_of_a_server_with_four_places() -> None:
    with metronome_process(Tempo(0.02, 200, slots=4)) as url:
        plan = LoadPlan(ramp=Ramp(largest=64), ramp_requests=lambda level: max(6 * level, 16), warm_up=0)
        ran = Ran(LoadRun(Endpoint(url, MODEL), Limits(), builtin("chat", 20), plan))
        result = await ran.result()
    assert result.knee is not None
    assert result.knee.saturated
    assert result.knee.concurrency == 4, [(one.name, one.clean_output_token_throughput) for one in result.levels]
    assert [level.concurrency for level in result.levels] == [1, 2, 4, 8, 16]


async def test_a_dead_server_is_not_asked_for_ever() -> None:
    ran = load("http://127.0.0.1:9/v1", Level(2, requests=10_000))
    result = await ran.result()
    assert len(ran.rows) < 100
    assert result.levels[0].errors.keys() == {"nothing listens on that port"}


async def test_an_interruption_keeps_the_levels_that_had_ended() -> None:
    with fake_server(Script(pace=PACE)) as server:
        ran = load(server.base_url, Level(1, requests=1), Level(2, requests=10_000))
        task = asyncio.create_task(ran.run.make())
        async with asyncio.timeout(30):
            await wait_until(lambda: len(server.chats) > 10)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
    result = ran.run.result(complete=False)
    assert [level.name for level in result.levels] == ["1 at once"]
    assert not result.complete
    assert any(row.level == 1 for row in ran.rows), "what had ended of the second level has its rows"


async def wait_until(is_so: Callable[[], bool]) -> None:
    while not is_so():  # noqa: ASYNC110 - it is about another thread
        await asyncio.sleep(0.05)


async def test_the_key_is_sent_and_appears_nowhere(tmp_path: Path) -> None:
    key = Secret("a-very-secret-key-123")
    with fake_server(Script(api_key=key)) as server, RowWriter(tmp_path) as writer:
        ran = load(server.base_url, Level(1, requests=1), key=key)
        ran.run.on_row = writer.write
        result = await ran.result()
    assert result.levels[0].completed == 1
    (row,) = read_rows(tmp_path)
    assert row.status == 200
    assert key.reveal() not in json.dumps([repr(exchange) for exchange in ran.exchanges])


async def test_servers_metrics_stand_beside_the_clients() -> None:
    with fake_server() as server, metrics_beside(server.base_url) as url:
        result = await load(url, Level(1, requests=2)).result()
    (level,) = result.levels
    assert level.server is not None
    assert level.server.source == "sglang"
    assert "output_tokens" in level.server.figures
    assert any("output tokens, the client" in note for note in level.notes)


@contextmanager
def metrics_beside(base_url: str) -> Iterator[str]:
    """Put /metrics beside a fake server: a tiny proxy in a thread whose counter grows by 1000 each time."""
    import http.server
    import threading
    import urllib.request

    readings = itertools.count(1)
    origin = base_url.removesuffix("/v1")

    class Proxy(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            text = f"sglang:generation_tokens_total {1000 * next(readings)}\n".encode()
            self.send_response(200)
            self.send_header("Content-Length", str(len(text)))
            self.end_headers()
            self.wfile.write(text)

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            request = urllib.request.Request(origin + self.path, body, {"Content-Type": "application/json"})
            with urllib.request.urlopen(request, timeout=30) as response:
                data = response.read()
            self.send_response(200)
            self.send_header("Content-Type", "text/event-stream")
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the base class's name
            pass

    proxy = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Proxy)
    thread = threading.Thread(target=proxy.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{proxy.server_address[1]}/v1"
    finally:
        proxy.shutdown()
        thread.join()
        proxy.server_close()


@pytest.fixture
def certificate(tmp_path: Path) -> Path:
    """A certificate of its own for localhost; the key stands beside it."""
    file = tmp_path / "certificate.pem"
    names = ["-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost"]
    files = ["-keyout", str(tmp_path / "key.pem"), "-out", str(file)]
    command = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "1", *names, *files]
    subprocess.run(command, check=True, capture_output=True)
    return file


async def test_tls_is_spoken_and_an_unknown_certificate_is_told(
    certificate: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(certificate, certificate.with_name("key.pem"))
    with fake_server(Script(pace=PACE)) as server:
        inner = server.base_url.removesuffix("/v1").rpartition(":")[2]

        async def forward(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            to, out = await asyncio.open_connection("127.0.0.1", int(inner))

            async def pump(source: asyncio.StreamReader, sink: asyncio.StreamWriter) -> None:
                while data := await source.read(65_536):
                    sink.write(data)
                sink.close()

            await asyncio.gather(pump(reader, out), pump(to, writer), return_exceptions=True)

        outer = await asyncio.start_server(forward, "127.0.0.1", 0, ssl=context)
        url = f"https://localhost:{outer.sockets[0].getsockname()[1]}/v1"
        distrusting = await load(url, Level(1, requests=1)).result()
        monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
        trusting = await load(url, Level(2, requests=4)).result()
        outer.close()
    assert "no TLS connection" in next(iter(distrusting.levels[0].errors))
    assert trusting.levels[0].completed == 4, trusting.levels[0].errors


async def test_the_client_is_measured_against_a_server_that_keeps_time() -> None:
    errors, _ = await measure_client(Tempo(0.1, 100), 8, 30)
    assert errors["time_to_first_token"].count == 8
    assert errors["inter_chunk_latency"].count <= 8 * 29
    assert errors["time_to_first_token"].median < 0.1, "on a busy machine it may be off, but it is about the truth"


def test_an_error_is_the_difference_between_what_was_written_and_what_was_seen() -> None:
    row = RequestRow(
        "b1",
        0,
        "measured",
        0.0,
        0.0,
        sent=1.0,
        first_token=1.203,
        ended=1.225,
        output_tokens=3,
        gaps_us=(11_000, 11_000),
        chunks=3,
    )
    written = [{"prompt": "p", "received": 50.0, "due": 50.0, "written": [50.2, 50.21, 50.222]}]
    errors, late = errors_of([row], {"b1": "p"}, written, Tempo(0.2, 100))
    assert errors["time_to_first_token"].median == pytest.approx(0.003)
    assert errors["inter_chunk_latency"].median == pytest.approx(0.001)
    assert errors["end_to_end_latency"].median == pytest.approx(0.003)
    assert late == pytest.approx(0.0, abs=1e-9)

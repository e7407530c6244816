from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from seatrial.bench.framing import Framing, NotHttp

HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"


def chunked(*parts: bytes, trailers: bytes = b"") -> bytes:
    body = b"".join(b"%x\r\n%b\r\n" % (len(part), part) for part in parts)
    return HEAD + body + b"0\r\n" + trailers + b"\r\n"


def body_of(framing: Framing, data: bytes) -> bytes:
    return b"".join(data[start:stop] for start, stop in framing.body(data))


@given(
    st.lists(st.binary(min_size=1, max_size=40), max_size=6),
    st.lists(st.integers(1, 30), min_size=1, max_size=40),
    st.sampled_from([b"", b"X-Sum: 1\r\n"]),
)
def test_a_chunked_body_is_found_whatever_it_holds_and_however_it_is_cut(
    parts: list[bytes], cuts: list[int], trailers: bytes
) -> None:
    whole = chunked(*parts, trailers=trailers)
    framing, came = Framing(), bytearray()
    ended_at = None
    sizes = itertools.cycle(cuts)
    while len(came) < len(whole):
        came += whole[len(came) : len(came) + next(sizes)]
        if framing.is_over(came):
            ended_at = len(came)
            break
    assert ended_at == len(whole)
    assert framing.status == 200
    assert body_of(framing, bytes(came)) == b"".join(parts)
    assert framing.keeps_alive


def test_a_body_with_a_length_ends_there() -> None:
    data = b"HTTP/1.1 503 Busy\r\ncontent-length: 4\r\nConnection: close\r\n\r\nbusy"
    framing = Framing()
    assert not framing.is_over(data[:-1])
    assert framing.is_over(data)
    assert (framing.status, body_of(framing, data), framing.keeps_alive) == (503, b"busy", False)


def test_a_body_without_a_length_ends_with_the_connection() -> None:
    data = b"HTTP/1.0 200 OK\r\n\r\nall of it"
    framing = Framing()
    assert not framing.is_over(data)
    assert framing.close(data)
    assert body_of(framing, data) == b"all of it"
    assert not framing.keeps_alive


def test_a_chunked_body_that_breaks_off_is_not_whole() -> None:
    framing = Framing()
    data = HEAD + b"5\r\nhello\r\n"
    assert not framing.is_over(data)
    assert not framing.close(data)
    assert body_of(framing, data) == b"hello"


def test_interim_responses_are_passed_over() -> None:
    data = b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 204 No Content\r\n\r\n"
    framing = Framing()
    assert framing.is_over(data)
    assert framing.status == 204


@pytest.mark.parametrize(
    "data",
    [
        b"SSH-2.0-OpenSSH_9.2\r\n",
        b"HTTP/1.1 abc\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n",
        HEAD + b"zz\r\n\r\n",
    ],
)
def test_what_is_not_http_is_told(data: bytes) -> None:
    with pytest.raises(NotHttp):
        Framing().is_over(data)

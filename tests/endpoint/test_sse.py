"""The WHATWG standard's cases ("Interpreting an event stream"), and any split of the bytes."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from seatrial.endpoint.sse import EventStream, ServerSentEvent


def parse(*chunks: bytes) -> list[ServerSentEvent]:
    stream = EventStream()
    return [event for chunk in chunks for event in stream.feed(chunk)]


def data_of(*chunks: bytes) -> list[str]:
    return [event.data for event in parse(*chunks)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (b"data: YHOO\ndata: +2\ndata: 10\n\n", ["YHOO\n+2\n10"]),
        (b": test stream\n\ndata: first event\nid: 1\n\ndata:second event\nid\n\ndata:  third\n\n",
         ["first event", "second event", " third"]),
        (b"data\n\ndata\ndata\n\ndata:", ["", "\n"]),
        (b"data:test\n\ndata: test\n\n", ["test", "test"]),
        (b"data: one\r\n\r\ndata: two\r\rdata: three\n\n", ["one", "two", "three"]),
        (b"\xef\xbb\xbfdata: after a mark\n\n", ["after a mark"]),
        (b"\xef\xbb\xbf\xef\xbb\xbfdata: a second mark is part of the name\n\n", []),
        (b"event: ping\n\ndata: x\n\n", ["x"]),
        (b"Data: names are case sensitive\n\n", []),
        (b"retry: 10\nunknown: x\ndata: y\n\n", ["y"]),
        (b"data: a: b\n\n", ["a: b"]),
        (b"\n\n\ndata: x\n\n\n\n", ["x"]),
        (b"data: cut off", []),
        (b"data: cut off\n", []),
        (b"data: bad \xff\xfe bytes\n\n", ["bad \ufffd\ufffd bytes"]),
        (b"", []),
    ],
)  # fmt: skip
def test_the_standards_cases(text: bytes, expected: list[str]) -> None:
    assert data_of(text) == expected


def test_an_event_has_its_name_and_the_next_one_has_not() -> None:
    events = parse(b"event: error\ndata: bad\n\ndata: good\n\n")
    assert events == [ServerSentEvent("bad", "error"), ServerSentEvent("good", "message")]


def test_a_name_without_data_is_forgotten() -> None:
    assert parse(b"event: error\n\ndata: good\n\n") == [ServerSentEvent("good", "message")]


def test_a_cr_at_the_end_of_a_chunk_is_one_line_end_with_the_lf_after_it() -> None:
    assert data_of(b"data: a\r", b"\ndata: b\r", b"\n\r", b"\n") == ["a\nb"]


def test_a_cr_alone_ends_a_line_at_once() -> None:
    assert data_of(b"data: a\r\r") == ["a"]


def test_a_chunk_may_end_inside_a_character() -> None:
    text = "data: Hyvinkää 東京 🚢\n\n".encode()
    assert data_of(*(bytes([byte]) for byte in text)) == ["Hyvinkää 東京 🚢"]


@pytest.mark.parametrize(
    ("text", "left"),
    [
        (b"data: x\n\n", None),
        (b"data: x\n", "x"),
        (b"data: x", "x"),
        (b"data: a\ndata: b", "a\nb"),
        (b": comment", None),
        (b"data: \xe6\x9d", "\ufffd"),
        (b"", None),
    ],
)
def test_finish_gives_what_has_no_end(text: bytes, left: str | None) -> None:
    stream = EventStream()
    stream.feed(text)
    rest = stream.finish()
    assert (rest and rest.data) == left


LINES = st.one_of(
    st.text(max_size=20).map(lambda text: f"data: {text}"),
    st.sampled_from(["", "", ": comment", "data", "data:", "event: error", "id: 7", "retry: 1", "data:é", "data: 🚢"]),
)
STREAMS = st.lists(st.tuples(LINES, st.sampled_from(["\n", "\r\n", "\r"]))).map(
    lambda lines: "".join(line + end for line, end in lines).encode("utf-8", errors="replace")
)


@given(STREAMS | st.binary(max_size=200), st.data())
def test_any_split_of_the_bytes_gives_the_same_events(text: bytes, data: st.DataObject) -> None:
    cuts = sorted(data.draw(st.sets(st.integers(0, len(text)), max_size=30)))
    pieces = [text[start:end] for start, end in zip([0, *cuts], [*cuts, len(text)], strict=True)]

    def whole(chunks: list[bytes]) -> tuple[list[ServerSentEvent], ServerSentEvent | None]:
        stream = EventStream()
        return [event for chunk in chunks for event in stream.feed(chunk)], stream.finish()

    assert whole(pieces) == whole([text])


@given(st.lists(st.text(st.characters(exclude_characters="\r\n", exclude_categories=["Cs"])), max_size=10))
def test_what_was_sent_is_what_comes(texts: list[str]) -> None:
    sent = "".join(f"data: {text}\n\n" for text in texts).encode()
    assert data_of(sent) == texts


def test_a_huge_line_takes_time_in_proportion() -> None:
    stream = EventStream()
    stream.feed(b"data: ")
    for _ in range(2_000):
        assert stream.feed(b"x" * 1_000) == []
    (event,) = stream.feed(b"\n\n")
    assert len(event.data) == 2_000_000

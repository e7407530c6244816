from __future__ import annotations

from pathlib import Path

import pytest

from seatrial.endpoint.address import API_KEY_VARIABLE, Endpoint, Secret, parse_base_url, read_api_key
from seatrial.errors import InputError


@pytest.mark.parametrize(
    ("text", "url"),
    [
        ("http://127.0.0.1:30000/v1", "http://127.0.0.1:30000/v1"),
        ("http://127.0.0.1:30000", "http://127.0.0.1:30000/v1"),
        ("http://127.0.0.1:30000/", "http://127.0.0.1:30000/v1"),
        (" https://llm.example.org/api/v1/ ", "https://llm.example.org/api/v1"),
        ("http://h/v1/chat/completions", "http://h/v1"),
        ("HTTP://h/v1", "http://h/v1"),
        ("http://[::1]:8000/v1", "http://[::1]:8000/v1"),
    ],
)
def test_base_urls_have_one_form(text: str, url: str) -> None:
    assert parse_base_url(text) == url


@pytest.mark.parametrize(
    "text",
    [
        "",
        "localhost:8000",
        "127.0.0.1:8000/v1",
        "ftp://h/v1",
        "http://",
        "http:///v1",
        "http://h:notaport/v1",
        "http://h:99999/v1",
        "http://h:0/v1",
        "http://[::1/v1",
        "http://h/v1?x=1",
        "http://h/v1#x",
        "http://ho st/v1",
    ],
)
def test_what_is_no_base_url_is_one_line_with_advice(text: str) -> None:
    with pytest.raises(InputError) as caught:
        parse_base_url(text)
    assert "\n" not in str(caught.value)
    assert "--url" in str(caught.value)


@pytest.mark.parametrize(
    "text",
    [
        "http://user:hunter22@h/v1",
        "http://user:hunter22@h:bad/v1",
        "http://hunter22@h/v1",
        "ftp://user:hun@ter22@h",
        "http://h/v1?api_key=hunter22",
        "http://h/v1#hunter22",
    ],
)
def test_a_secret_in_a_url_is_not_repeated(text: str) -> None:
    with pytest.raises(InputError) as caught:
        parse_base_url(text)
    assert "ter22" not in str(caught.value)


def test_the_origin_is_the_server_without_the_apis_path() -> None:
    assert Endpoint("http://127.0.0.1:30000/api/v1", "m").origin == "http://127.0.0.1:30000"


def test_a_secret_shows_itself_to_nobody() -> None:
    secret = Secret("hunter22")
    endpoint = Endpoint("http://h/v1", "m", secret)
    for shown in (repr(secret), str(secret), f"{secret}", f"{secret!r}", repr(endpoint), repr([secret])):
        assert "hunter22" not in shown
    assert secret.reveal() == "hunter22"


# --- keys


@pytest.fixture(autouse=True)
def _no_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(API_KEY_VARIABLE, raising=False)


def key_file(folder: Path, text: str | bytes, mode: int = 0o600) -> Path:
    file = folder / "key"
    file.write_bytes(text.encode() if isinstance(text, str) else text)
    file.chmod(mode)
    return file


def test_a_key_comes_from_a_file(tmp_path: Path) -> None:
    key = read_api_key(key_file(tmp_path, "sk-hunter22\n"))
    assert key
    assert key.reveal() == "sk-hunter22"


def test_a_key_comes_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(API_KEY_VARIABLE, " sk-hunter22\n")
    key = read_api_key(None)
    assert key
    assert key.reveal() == "sk-hunter22"


def test_a_file_goes_before_the_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(API_KEY_VARIABLE, "from-the-environment")
    key = read_api_key(key_file(tmp_path, "from-the-file"))
    assert key
    assert key.reveal() == "from-the-file"


@pytest.mark.parametrize("value", ["", "  "])
def test_no_key_is_none(value: str, monkeypatch: pytest.MonkeyPatch) -> None:
    assert read_api_key(None) is None
    monkeypatch.setenv(API_KEY_VARIABLE, value)
    assert read_api_key(None) is None


@pytest.mark.parametrize(
    ("text", "mode", "problem"),
    [
        ("", 0o600, "does not hold one key"),
        ("two words", 0o600, "does not hold one key"),
        ("two\nlines", 0o600, "does not hold one key"),
        ("nul\x00inside", 0o600, "does not hold one key"),
        (b"\xff\xfe", 0o600, "not UTF-8"),
        ("sk-hunter22", 0o644, "others on this host can read"),
        ("sk-hunter22", 0o660, "others on this host can read"),
    ],
)
def test_a_bad_key_file_is_one_line_without_the_key(tmp_path: Path, text: str | bytes, mode: int, problem: str) -> None:
    with pytest.raises(InputError, match=problem) as caught:
        read_api_key(key_file(tmp_path, text, mode))
    assert "hunter22" not in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_missing_key_file_is_one_line(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="No such file"):
        read_api_key(tmp_path / "absent")
    with pytest.raises(InputError, match="directory"):
        read_api_key(tmp_path)


@pytest.mark.parametrize("value", ["two words", "two\nlines", "esc\x1b[0m"])
def test_a_bad_key_in_the_environment_is_one_line_without_the_key(value: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(API_KEY_VARIABLE, value)
    with pytest.raises(InputError, match=API_KEY_VARIABLE) as caught:
        read_api_key(None)
    assert value not in str(caught.value)

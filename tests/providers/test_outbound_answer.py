"""Reading answers: what is HTTP, however it is cut into pieces, and what is not."""

import contextlib
import time
from email.utils import formatdate

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.domain.webhooks.poster import PostError
from app.providers.outbound.answer import Answer, AnswerReader, read_retry_after
from app.providers.outbound.failure import ExchangeFailed

CHUNKED = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"

# What comes, and the status, body and reuse that it means.
good = {
    b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok": (200, b"ok", True),
    b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n": (200, b"", True),
    b"HTTP/1.1 204 No Content\r\n\r\n": (204, b"", True),
    b"HTTP/1.1 304 Not Modified\r\ncontent-length: 7\r\n\r\n": (304, b"", True),
    b"HTTP/1.1 200\r\ncontent-length: 0\r\n\r\n": (200, b"", True),
    b"HTTP/1.1 299 \r\nCONTENT-LENGTH:2\r\n\r\nok": (299, b"ok", True),
    b"HTTP/1.1 999 Odd\r\ncontent-length: 0\r\n\r\n": (999, b"", True),
    CHUNKED + b"2\r\nok\r\n0\r\n\r\n": (200, b"ok", True),
    CHUNKED + b"1;name=value\r\no\r\n1\r\nk\r\n0\r\nx-trailer: 1\r\n\r\n": (200, b"ok", True),
    b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok": (200, b"ok", True),
    b"HTTP/1.1 103 Early\r\nlink: x\r\n\r\n" * 3 + b"HTTP/1.1 500 No\r\ncontent-length: 0\r\n\r\n": (500, b"", True),
    b"HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: 2\r\n\r\nok": (200, b"ok", False),
    b"HTTP/1.0 200 OK\r\ncontent-length: 2\r\n\r\nok": (200, b"ok", False),
    b"HTTP/1.0 200 OK\r\nconnection: keep-alive\r\ncontent-length: 2\r\n\r\nok": (200, b"ok", True),
    b"HTTP/1.1 200 OK\r\ncontent-length: 16384\r\n\r\n" + b"a" * 16384: (200, b"a" * 2048, True),
    CHUNKED + b"1\r\na\r\n" * 3000 + b"0\r\n\r\n": (200, b"a" * 2048, True),
}

long = [
    b"HTTP/1.1 200 OK\r\ncontent-length: 20000\r\n\r\n" + b"a" * 16385,
    b"HTTP/1.1 200 OK\r\n\r\n" + b"a" * 16385,
    CHUNKED + b"5000\r\n" + b"a" * 16385,
    CHUNKED + b"1\r\na\r\n" * 16385,
    CHUNKED + b"1;" + b"x" * 81920,
    CHUNKED + b"0\r\nx: " + b"y" * 81920,
]

# Answers that last until the connection ends.
open_ended = {
    b"HTTP/1.1 200 OK\r\n\r\nok": (200, b"ok", False),
    b"HTTP/1.0 404 Not Found\r\n\r\n": (404, b"", False),
    b"HTTP/1.1 200 OK\r\ntransfer-encoding: gzip\r\n\r\nok": (200, b"ok", False),
}

unfinished = [
    b"",
    b"HTTP/1.1 200 OK\r\n",
    b"HTTP/1.1 200 OK\r\ncontent-length: 3\r\n\r\nok",
    CHUNKED + b"2\r\nok\r\n",
    CHUNKED + b"2\r\nok\r\n0\r\n",
    b"HTTP/1.1 100 Continue\r\n\r\n",
]

not_http = [
    b"\x16\x03\x01\x02\x00",
    b"SSH-2.0-OpenSSH_9.6\r\n",
    b"220 mail.example.com ESMTP\r\n",
    b"<html>",
    b"GET / HTTP/1.1\r\n\r\n",
    b"HTTP/1.1 20 OK\r\n\r\n",
    b"HTTP/1.1 2000 OK\r\n\r\n",
    b"HTTP/1.1 abc OK\r\n\r\n",
    b"HTTP/9.9 200 OK\r\n\r\n",
    b"HTTP/1.1 200 OK\nContent-Length: 0\n\n",
    b"HTTP/1.1 200 OK\r\nno colon\r\n\r\n",
    b"HTTP/1.1 200 OK\r\nbad name: 1\r\n\r\n",
    b"HTTP/1.1 200 OK\r\nx: a\x00b\r\n\r\n",
    b"HTTP/1.1 200 OK\r\ncontent-length: -1\r\n\r\n",
    b"HTTP/1.1 200 OK\r\ncontent-length: 1x\r\n\r\n",
    b"HTTP/1.1 200 OK\r\ncontent-length: 99999999999999999999\r\n\r\n",
    b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\ncontent-length: 3\r\n\r\n",
    b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\ntransfer-encoding: chunked\r\n\r\n",
    CHUNKED + b"zz\r\n",
    CHUNKED + b"ffffffffffffffffff\r\n",
    CHUNKED + b"2\r\nokay\r\n",
    b"HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: h2c\r\n\r\n",
]


def read(*parts: bytes) -> Answer | None:
    reader = AnswerReader()
    for part in parts:
        if reader.feed(part):
            return reader.answer()
    return None


def summary(answer: Answer | None) -> tuple[int, bytes, bool] | None:
    return answer and (answer.status, answer.body, answer.is_reusable)


@pytest.mark.parametrize(("raw", "expected"), good.items())
def test_an_answer_is_read_in_one_piece(raw: bytes, expected: tuple[int, bytes, bool]) -> None:
    assert summary(read(raw)) == expected


@pytest.mark.parametrize(("raw", "expected"), good.items())
def test_an_answer_is_read_byte_by_byte(raw: bytes, expected: tuple[int, bytes, bool]) -> None:
    assert summary(read(*(raw[place : place + 1] for place in range(len(raw))))) == expected


@pytest.mark.parametrize(("raw", "expected"), open_ended.items())
def test_an_answer_without_a_length_is_complete_when_the_connection_ends(
    raw: bytes, expected: tuple[int, bytes, bool]
) -> None:
    reader = AnswerReader()

    assert not reader.feed(raw)
    assert reader.end()
    assert summary(reader.answer()) == expected


@pytest.mark.parametrize("raw", unfinished)
def test_the_end_of_the_connection_completes_no_unfinished_answer(raw: bytes) -> None:
    reader = AnswerReader()

    assert not reader.feed(raw)
    assert not reader.end()


@pytest.mark.parametrize("raw", not_http)
def test_an_answer_that_is_not_http_fails(raw: bytes) -> None:
    with pytest.raises(ExchangeFailed) as failed:
        read(raw)

    assert failed.value.error is PostError.protocol


@pytest.mark.parametrize("surplus", [b"x", b"\r\n\r\n!", b"HTTP/1.1 200 OK\r\ncontent-length: 4\r\n\r\nmore"])
def test_bytes_after_an_answer_are_dropped_with_the_connection(surplus: bytes) -> None:
    answer = read(b"HTTP/1.1 201 Created\r\ncontent-length: 2\r\n\r\nok" + surplus)

    assert summary(answer) == (201, b"ok", False)


def test_a_reader_reads_one_answer_after_another() -> None:
    reader = AnswerReader()

    for raw, expected in good.items():
        reader.start()
        assert reader.feed(raw)
        assert summary(reader.answer()) == expected
        if not expected[2]:
            reader = AnswerReader()


def test_header_names_are_lower_case_and_repeated_headers_are_joined() -> None:
    answer = read(b"HTTP/1.1 204 No\r\nX-One: a\r\nx-two:\r\nX-ONE:  b \r\nX-Caf: \xe9\r\n\r\n")

    assert answer is not None
    assert answer.headers == {"x-one": "a, b", "x-two": "", "x-caf": "é"}


def test_thirty_headers_of_256_characters_are_kept() -> None:
    lines = b"".join(b"x-%d: %s\r\n" % (number, b"v" * 300) for number in range(40))

    answer = read(b"HTTP/1.1 200 OK\r\n" + lines + b"content-length: 2\r\n\r\nok")

    assert answer is not None
    assert answer.headers == {f"x-{number}": "v" * 256 for number in range(30)}
    assert summary(answer) == (200, b"ok", True)


def test_headers_of_interim_answers_and_trailers_are_dropped() -> None:
    answer = read(b"HTTP/1.1 103 Early\r\nlink: a\r\n\r\n" + CHUNKED + b"0\r\nx-trailer: 1\r\n\r\n")

    assert answer is not None
    assert answer.headers == {"transfer-encoding": "chunked"}


def test_a_length_of_an_interim_answer_says_nothing_of_the_final_one() -> None:
    reader = AnswerReader()

    assert not reader.feed(b"HTTP/1.1 103 Early\r\ncontent-length: 0\r\n\r\nHTTP/1.1 200 OK\r\n\r\nok")
    assert reader.end()


@pytest.mark.parametrize(
    ("start", "flood"),
    [
        (b"", b"HTTP/1.1 100 Continue\r\n\r\n"),
        (b"HTTP/1.1 200 OK\r\n", b"x: y\r\n"),
        (b"HTTP/1.1 200 OK\r\nx: ", b"y" * 100),
        (b"HTTP/1.1 200 ", b"O" * 100),
        (b"HTTP/1.1 200 OK\r\n", b"y" * 100),
    ],
)
def test_a_flood_of_headers_is_too_large(start: bytes, flood: bytes) -> None:
    reader = AnswerReader()
    reader.feed(start)

    with pytest.raises(ExchangeFailed) as failed:
        any(reader.feed(flood) for _ in range(64 * 1024))

    assert failed.value.error is PostError.too_large


@pytest.mark.parametrize("raw", long)
def test_a_body_that_is_long_is_cut_with_the_connection(raw: bytes) -> None:
    answer = read(raw)

    assert answer is not None
    assert (answer.status, answer.is_reusable) == (200, False)
    assert len(answer.body) <= 2048


def test_a_body_is_not_cut_before_16_kib() -> None:
    assert read(long[0][:-1]) is None


@pytest.mark.parametrize(
    ("value", "limit"), [("timeout=5", 5.0), ("max=100, Timeout=30", 30.0), ("max=100", None), ("timeout=x", None)]
)
def test_a_peer_may_say_how_long_it_keeps_the_connection(value: str, limit: float | None) -> None:
    answer = read(f"HTTP/1.1 204 No\r\nkeep-alive: {value}\r\n\r\n".encode())

    assert answer is not None
    assert answer.idle_limit == limit


pieces = st.sampled_from(
    [
        *good,
        *open_ended,
        *unfinished,
        *not_http,
        b"HTTP/1.1 ",
        b"200 OK",
        b"\r\n",
        b"\r\n\r\n",
        b"content-length: ",
        b"transfer-encoding: chunked\r\n",
        b"connection: upgrade\r\nupgrade: x\r\n",
        b"5\r\nhello\r\n",
        b"0\r\n\r\n",
    ]
)


@given(st.lists(st.binary() | pieces, max_size=8))
def test_anything_that_comes_is_an_answer_or_fails(parts: list[bytes]) -> None:
    reader = AnswerReader()
    with contextlib.suppress(ExchangeFailed):
        if any(reader.feed(part) for part in parts) or reader.end():
            answer = reader.answer()

            assert 200 <= answer.status <= 999
            assert len(answer.body) <= 2048
            assert len(answer.headers) <= 30
            assert "\x00" not in "".join(answer.headers.values())


@pytest.mark.parametrize(
    ("value", "seconds"),
    [
        ("0", 0.0),
        ("120", 120.0),
        ("36001", 36000.0),
        ("9" * 250, 36000.0),
        ("Wed, 21 Oct 2015 07:28:00 GMT", 0.0),
        ("Fri, 31 Dec 9998 23:59:59 GMT", 36000.0),
        ("-1", None),
        ("1.5", None),
        ("²", None),
        ("soon", None),
        ("", None),
        ("Fri, 31 Dec 99999 23:59:59 GMT", None),
    ],
)
def test_retry_after_is_read(value: str, seconds: float | None) -> None:
    assert read_retry_after(value) == seconds


def test_retry_after_may_be_a_date() -> None:
    at = time.time() + 600

    assert read_retry_after(formatdate(at, usegmt=True)) == pytest.approx(600, abs=60)
    assert read_retry_after(formatdate(at, localtime=True)) == pytest.approx(600, abs=60)


words = st.sampled_from(
    ["Fri,", "31", "Dec", "9999", "0001", "23:59:59", "24:60", "GMT", "-2400", "+9999", "-0000", ":", "-"]
)


@given(st.text() | st.lists(words, max_size=7).map(" ".join))
def test_any_retry_after_is_read_or_ignored(value: str) -> None:
    seconds = read_retry_after(value)

    assert seconds is None or 0 <= seconds <= 36000

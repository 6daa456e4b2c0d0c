"""Servers that break HTTP itself: both clients end in time, with one line, and keep nothing."""

from __future__ import annotations

import asyncio
import json
import threading
import time
from concurrent.futures import Future
from contextlib import contextmanager

import pytest
from test_chat import asked, contexts

import stead_sym as st
from stead_sym.agents.recorded import Asking
from stead_sym.models.connection import Address, Talk, Temporary

SECONDS = 0.3
OK = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
CHUNKED = OK + b"Transfer-Encoding: chunked\r\n\r\n"
BODY = json.dumps({"choices": [{"message": {"content": "No."}}]}).encode()
ENDLESS = {
    "headers": (OK, b"X-More: and more\r\n"),
    "a header": (OK + b"X: ", b"x" * 4096),
    "a status": (b"HTTP/1.1 200 ", b"x" * 4096),
    "interim answers": (b"", b"HTTP/1.1 100 Continue\r\n\r\n"),
    "chunks": (CHUNKED, b"1\r\n \r\n" * 1000),
    "the extension of a chunk": (CHUNKED + b"1;", b"x" * 4096),
    "trailers": (CHUNKED + b"%x\r\n%s\r\n0\r\n" % (len(BODY), BODY), b"X-More: and more\r\n"),
    "a stalled head": (OK, b""),
    "a body that stops": (OK + b"Content-Length: 1000\r\n\r\n" + BODY, b""),
    "a body that goes on": (OK + b"Content-Length: 20\r\n\r\n", BODY),
}


@contextmanager
def sending(first, more):
    """The address of a server that answers whatever it is asked with the first bytes, and then with more for
    ever, or, where there are no more, with silence."""
    begun = Future()

    async def answer(reader, writer):
        try:
            await reader.readuntil(b"\r\n\r\n")
            writer.write(first)
            while True:
                writer.write(more)
                await writer.drain()
                await asyncio.sleep(0 if more else SECONDS)
        except (OSError, EOFError):  # whoever asked has gone
            writer.close()

    async def serve():
        ending = asyncio.Event()
        async with await asyncio.start_server(answer, "127.0.0.1", 0) as server:
            begun.set_result((asyncio.get_running_loop(), ending, server.sockets[0].getsockname()[1]))
            await ending.wait()

    thread = threading.Thread(target=asyncio.run, args=(serve(),), daemon=True)
    thread.start()
    loop, ending, port = begun.result()
    try:
        yield f"127.0.0.1:{port}"
    finally:
        loop.call_soon_threadsafe(ending.set)
        thread.join()


def assert_ends_in_time(ask, *errors):
    started = time.monotonic()
    with pytest.raises(errors) as caught:
        ask()
    assert time.monotonic() - started < SECONDS + 60  # a busy machine takes a while
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 600


@pytest.mark.parametrize("kind", ENDLESS)
def test_what_breaks_http_ends_in_time(kind, tmp_path, monkeypatch):
    monkeypatch.setattr("stead_sym.agents.recorded._PAUSE", 0.001)
    path = tmp_path / "store"
    asking = Asking(concurrency=2, tries=2, deadline=SECONDS, probe=False)
    with sending(*ENDLESS[kind]) as url, st.Store(path) as store, Talk("server", 1.0) as talk:
        agent = asked(f"{url}/v1", store, asking)
        assert_ends_in_time(lambda: agent.select(contexts(2)), st.AgentError)
        work = talk.ask(Address.of(f"http://{url}"), "/v1/completions", b"{}", seconds=SECONDS)
        assert_ends_in_time(lambda: talk.wait(work), Temporary, st.errors.ModelError)
    assert path.stat().st_size < 1 << 20

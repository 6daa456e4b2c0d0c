"""A server with `/v1/chat/completions` that answers as a test wants it to, well or badly."""

from __future__ import annotations

import json
import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class Reply:
    """An answer of the server: a status, headers, and a body, or pieces of one."""

    def __init__(self, status, body, headers=()):
        self.status = status
        self.headers = dict(headers)
        self.pieces = [body] if isinstance(body, bytes) else body


def completion(message, **more):
    """A chat completion with one choice."""
    choice = {"index": 0, "message": {"role": "assistant", "content": None, **message}, **more}
    data = {"id": "c", "object": "chat.completion", "created": 0, "model": "m", "choices": [choice]}
    return Reply(200, json.dumps(data).encode(), {"Content-Type": "application/json"})


def calling(name, arguments, **message):
    """A completion that calls one function."""
    arguments = arguments if isinstance(arguments, str) else json.dumps(arguments)
    function = {"name": name, "arguments": arguments}
    return completion({"tool_calls": [{"id": "1", "type": "function", "function": function}], **message})


def error(status, text="", **headers):
    """An error in the words of such servers."""
    body = json.dumps({"error": {"message": text}}).encode()
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return Reply(status, body, {"Content-Type": "application/json", **named})


def first_call(request):
    """A call of the first function with the first of all its arguments."""
    function = request["tools"][0]["function"]
    properties = function["parameters"]["properties"]
    return calling(function["name"], {name: column["enum"][0] for name, column in properties.items()})


class ChatServer:
    """``reply`` gets (request, how many came before); ``requests`` and ``headers`` are what came."""

    def __init__(self, reply):
        self.reply = reply
        self.requests = []
        self.headers = []
        self.paths = []
        self.together = self.most = 0
        self.lock = threading.Lock()

    def answer(self, path, request, headers):
        with self.lock:
            number = len(self.requests)
            self.requests.append(request)
            self.headers.append(headers)
            self.paths.append(path)
            self.together += 1
            self.most = max(self.most, self.together)
        try:
            return self.reply(request, number)
        finally:
            with self.lock:
                self.together -= 1


@contextmanager
def serving(reply):
    """The address of a server, and the server."""
    server = ChatServer(reply)

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True  # or each body waits 40 ms for the headers to be acknowledged

        def handle_any(self):
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            said = server.answer(
                self.path,
                json.loads(body) if body else None,
                {name.lower(): value for name, value in self.headers.items()},
            )
            if said is None:
                self.close_connection = True
                return
            self.send_response(said.status)
            for name, value in said.headers.items():
                self.send_header(name, value)
            if isinstance(said.pieces, list):
                self.send_header("Content-Length", str(sum(map(len, said.pieces))))
            else:
                self.close_connection = True
            self.end_headers()
            try:
                for piece in said.pieces:
                    self.wfile.write(piece)
                    self.wfile.flush()
            except OSError:  # whoever asked has gone
                self.close_connection = True

        do_GET = do_POST = handle_any  # noqa: N815

        def log_message(self, *args):
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as httpd:
        httpd.daemon_threads = True
        thread = threading.Thread(target=httpd.serve_forever, args=(0.02,), daemon=True)
        thread.start()
        try:
            yield f"127.0.0.1:{httpd.server_address[1]}/v1", server
        finally:
            httpd.shutdown()
            thread.join()

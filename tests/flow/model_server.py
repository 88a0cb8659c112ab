"""A language model's server for tests: the Messages protocol on a local port, with replies that a test
prepares. Each request gets the next one, and the requests are recorded.
"""

import http.server
import json
import socket
import threading
import time

KEY = "sk-test-4711"


def message(text, stop="end_turn"):
    return json.dumps({"id": "msg_1", "type": "message", "role": "assistant", "model": "test-model",
                       "content": [{"type": "text", "text": text}], "stop_reason": stop,
                       "stop_sequence": None, "usage": {"input_tokens": 1, "output_tokens": 1}})


def error(kind, text):
    return json.dumps({"type": "error", "error": {"type": kind, "message": text}})


def lua(code):
    return Answer(message(f"```lua\n{code}\n```"))


class Answer:
    """What a request gets. `act` does something else than answering, with the handler."""

    def __init__(self, body="", status=200, headers=None, kind="application/json", act=None):
        self.body, self.status, self.kind, self.act = body, status, kind, act
        self.headers = headers or {}


def silent(seconds):
    def act(handler):
        handler.server.released.wait(seconds)
    return Answer(act=act)


def cut():
    """Half an answer, and then nothing more."""
    def act(handler):
        handler.wfile.write(b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n"
                            b"content-length: 5000\r\n\r\n{\"type\":\"mess")
        handler.wfile.flush()
        handler.connection.shutdown(socket.SHUT_RDWR)
    return Answer(act=act)


def drip(seconds):
    """A byte now and then: never silent, never done."""
    def act(handler):
        handler.wfile.write(b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n"
                            b"content-length: 100000\r\n\r\n")
        end = time.monotonic() + seconds
        try:
            while time.monotonic() < end and not handler.server.released.wait(0.1):
                handler.wfile.write(b" ")
                handler.wfile.flush()
        except OSError:
            pass
    return Answer(act=act)


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *arguments):
        pass

    def do_GET(self):
        self.server.seen.append({"method": "GET", "path": self.path})
        self.send_error(404)

    def do_POST(self):
        body = self.rfile.read(int(self.headers["content-length"]))
        self.server.seen.append({"method": "POST", "path": self.path, "headers": dict(self.headers),
                                 "body": json.loads(body), "bytes": body,
                                 "time": time.monotonic()})
        with self.server.lock:
            answers = self.server.answers
            answer = answers.pop(0) if len(answers) > 1 else answers[0]
        self.close_connection = True
        if answer.act:
            answer.act(self)
            return
        data = answer.body.encode() if isinstance(answer.body, str) else answer.body
        self.send_response(answer.status)
        self.send_header("content-type", answer.kind)
        self.send_header("content-length", str(len(data)))
        for name, value in answer.headers.items():
            self.send_header(name, value)
        self.end_headers()
        try:
            self.wfile.write(data)
        except OSError:
            pass


class ModelServer:
    """The last answer stays for all requests after it."""

    def __init__(self, *answers):
        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.server.lock, self.server.seen = threading.Lock(), []
        self.server.released = threading.Event()
        self.server.answers = list(answers)
        self.port = self.server.server_address[1]
        self.url = f"http://127.0.0.1:{self.port}/v1/messages"
        threading.Thread(target=self.server.serve_forever, args=(0.05,), daemon=True).start()

    @property
    def seen(self):
        return self.server.seen

    def say(self, *answers):
        with self.server.lock:
            self.server.answers = list(answers)

    def close(self):
        self.server.released.set()
        self.server.shutdown()
        self.server.server_close()

    def __enter__(self):
        return self

    def __exit__(self, *arguments):
        self.close()

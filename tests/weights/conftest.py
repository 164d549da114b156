"""The small index of package_index.py, running."""

import base64
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from package_index import ARCHIVE, Server


@pytest.fixture
def server():
    state = Server()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):
            state.asked.append((self.path, self.headers.get("Range")))
            wanted = state.login and "Basic " + base64.b64encode(state.login.encode()).decode()
            if wanted and self.headers.get("Authorization") != wanted:
                self.send_error(401)
            elif self.path == "/simple/carrier/":
                page = f'<a href="../../files/other.whl">x</a><a href="../../files/{ARCHIVE}#sha256=0">{ARCHIVE}</a>'
                self.answer(200, page.encode())
            elif self.path == f"/files/{ARCHIVE}":
                start = self.headers.get("Range")
                start = int(start[6:-1]) if start and state.ranges else 0
                if start >= len(state.data):
                    self.send_error(416)
                else:
                    self.answer(206 if start else 200, state.data[start:])
            else:
                self.send_error(404)

        def answer(self, code, body):
            self.send_response(code)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body if self.path.endswith("/") else body[: state.stop_after])

        def log_message(self, *words):
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as http:
        threading.Thread(target=http.serve_forever, daemon=True).start()
        state.address = f"http://127.0.0.1:{http.server_port}/simple"
        yield state
        http.shutdown()

"""Rows of the matrix for signing in at an issuer. The matrix asks how endpoints answer, so its issuer
has nothing but a discovery document; test_issuer.py signs in at a real one."""

import http.server
import json
import threading

from matrix import Ask

COSTLY = "too costly to try here: it needs people at an issuer, as test_issuer.py has them"


class Discovery:
    def __init__(self):
        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                url = f"http://127.0.0.1:{self.server.server_port}"
                body = json.dumps({"issuer": url, "authorization_endpoint": f"{url}/auth",
                                   "token_endpoint": f"{url}/token", "jwks_uri": f"{url}/jwks",
                                   "end_session_endpoint": f"{url}/end"}).encode()
                self.send_response(200)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()


GOOD = {
    "GET /login/issuer": lambda server: Ask(status=303),
    "GET /login/issuer/callback": lambda server: Ask(status=400),  # nobody began it
    "GET /logout/issuer": lambda server: Ask(status=303),
    "GET /api/account/issuer": lambda server: Ask("account"),
    "POST /api/account/issuer/unlink": lambda server: Ask("account"),
}
CONFLICT = {
    "GET /login/issuer/callback": COSTLY,
    "POST /api/account/issuer/unlink": COSTLY,
}

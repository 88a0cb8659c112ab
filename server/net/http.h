// The HTTP server: libmicrohttpd behind a small face. Routes are a table; a handler gets a request
// and fills a response, or takes the socket over (WebSocket). Handlers run on the server's own
// threads and must not block; what blocks goes to a worker and is answered later.
//
// Every response has the security headers; every error is {"error":{"code","message"}}. Bodies,
// headers, connections and time are bounded. A GET that is answered with 200 and no encoding may
// ask for a range of the bytes, and what has a tag is not sent to who has it; handlers need not
// know. (What is no HTTP at all is answered by libmicrohttpd itself.)
#pragma once

#include "core/base/bytes.h"
#include "core/base/status.h"
#include "server/net/http_rules.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct HttpServer HttpServer;
typedef struct HttpRequest HttpRequest;

// A body that is read while it is sent, so that its size costs no memory. `read` fills at most
// `bytes` bytes from that place on, at least one; 0 or less ends the connection, and the client
// knows that it was not all. `end` is called once, whether it was sent or not. Both on the server's
// thread.
typedef struct HttpStream {
    int64_t (*read)(void *user, uint64_t at, void *out, size_t bytes); // NULL: no stream
    void (*end)(void *user);
    void *user;
} HttpStream;

typedef struct HttpResponse {
    uint32_t status;          // 200
    const char *content_type; // "application/json"
    const uint8_t *body;      // copied unless body_is_static
    size_t bytes;
    bool body_is_static;                 // outlives the server
    HttpStream stream;                   // in place of a body, of `bytes` bytes
    bool is_attachment;                  // a stranger's file: never shown as a page
    const char *cache;                   // Cache-Control; NULL: "no-store"
    const char *content_security_policy; // NULL: the strict default
    const char *location;
    const char *content_encoding; // NULL: the body is as it is
    bool varies_by_encoding;      // another Accept-Encoding may get another body
    const char *tag;              // ETag of just these bytes, with its quotes; NULL: none
} HttpResponse;

typedef void (*HttpHandler)(void *user, HttpRequest *request, HttpResponse *response);

typedef struct HttpRoute {
    const char *method; // "GET"; HEAD comes with it
    const char *path;   // "/blob/*": a star takes one segment, two take the rest
    HttpHandler handler;
    size_t body_max; // 0: no body
} HttpRoute;

typedef struct HttpConfig {
    const char *address;     // "127.0.0.1", "::"
    uint16_t port;           // 0: any, see http_port
    const HttpRoute *routes; // kept
    uint32_t route_count;
    void *user;                           // for handlers
    uint32_t connections_per_address_max; // 0: no limit; loopback may be without one
    bool loopback_unlimited;
    uint32_t connection_max; // 0: 1,024
    uint32_t timeout_ms;     // for a whole request, and of silence; 0: 15 s
    // The folder of the page, or NULL: none. Only paths that no route has, see http_file.h.
    const char *web_root;
    // Origins that may upgrade; ends with NULL. A request without Origin is no browser.
    const char *const *origins;
    // The Origin's host is the Host header's, and an address or localhost: development.
    bool origin_same_host;
} HttpConfig;

MUST_USE Status http_start(const HttpConfig *config, HttpServer **out);
uint16_t http_port(const HttpServer *server);
void http_stop(HttpServer *server);

void *http_user(const HttpRequest *request);                           // of the config
const char *http_path_part(const HttpRequest *request, uint32_t star); // NULL: none
const char *http_query(const HttpRequest *request, const char *name);
const char *http_header(const HttpRequest *request, const char *name);
bool http_prefers_coding(const HttpRequest *request, HttpCoding coding); // to the plain bytes
const uint8_t *http_body(const HttpRequest *request, size_t *bytes);
bool http_is_loopback(const HttpRequest *request);
// A number for where it comes from (IPv6: for its first 64 bits); 0: unknown.
uint64_t http_address(const HttpRequest *request);
// Does it say that it was passed on? Behind a proxy on the same machine everybody comes from a
// loopback address. HTTP/1.0 counts: nginx speaks it unless it is told otherwise, and adds nothing.
bool http_is_forwarded(const HttpRequest *request);
// The rule for upgrades, for other requests that no stranger's page shall make.
bool http_origin_is_allowed(const HttpRequest *request);
void http_fail(HttpRequest *request, HttpResponse *response, uint32_t status, const char *code,
               const char *message);

// Turns the request into a WebSocket: checks version, key, subprotocol and Origin, answers 101, and
// calls `take` with the socket and the bytes already read, on the server's thread. The socket is
// the taker's from then on. On failure the response is filled with the error. A taker whose user is
// the request may still ask what the request said.
typedef void (*HttpTake)(void *user, int socket, const uint8_t *already, size_t bytes, bool json);
void http_upgrade(HttpRequest *request, HttpResponse *response, HttpTake take, void *take_user);

// The HTTP server: libmicrohttpd behind a small face. Routes are a table; a handler gets a request
// and fills a response, takes the socket over (WebSocket), or answers later. Handlers run on the
// server's own threads and must not block: a route that says so has its handler on a pool of
// threads (http_work), and whoever waits for something else takes a handle (http_defer) and answers
// from any thread (http_complete). How many may wait is bounded; more are answered 503.
//
// Memory that a handler needs until its answer is sent comes from the request (http_arena).
// Handlers use no static buffers, since several of them may run at once.
//
// Every response has the security headers; every error is {"error":{"code","message"}}. Bodies,
// headers, connections and time are bounded. A GET that is answered with 200 and no encoding may
// ask for a range of the bytes, and what has a tag is not sent to who has it; handlers need not
// know. (What is no HTTP at all is answered by libmicrohttpd itself.)
#pragma once

#include "core/base/arena.h"
#include "core/base/bytes.h"
#include "core/base/status.h"
#include "server/net/http_rules.h"
#include "server/sys/work_pool.h"

#include "server/net/http_client.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define HTTP_KEPT_MAX         4
#define HTTP_REQUEST_ID_BYTES 17
#define HTTP_FRAMES_BYTES     (16 * HTTP_SITE_BYTES + 16) // sites that may show a page in theirs
#define HTTP_POLICY_BYTES     (1024 + HTTP_FRAMES_BYTES)
#define HTTP_NONCE_BYTES      33 // hex, and a zero

typedef struct HttpServer HttpServer;
typedef struct HttpRequest HttpRequest;
typedef struct HttpDeferred HttpDeferred; // a request that is answered later

// A body that is read while it is sent, so that its size costs no memory. `read` fills at most
// `bytes` bytes from that place on, at least one; 0 or less ends the connection, and the client
// knows that it was not all. `end` is called once, whether it was sent or not: on the server's
// thread, or in http_complete when nobody waits any more. `read` is on the server's thread.
typedef struct HttpStream {
    int64_t (*read)(void *user, uint64_t at, void *out, size_t bytes); // NULL: no stream
    void (*end)(void *user);
    void *user;
    // Nobody knows how long it gets: `read` gives 0 at its end, or HTTP_STREAM_WAIT, and is called
    // again after http_stream_go_on. A client that does not take what was given within the time of
    // a request is cut off.
    bool is_open;
    // In place of `read`: a file that never changes, from its first byte on, which the kernel
    // sends. The descriptor is the response's.
    bool is_file;
    int file;
} HttpStream;

#define HTTP_STREAM_WAIT INT64_MIN

typedef struct HttpResponse {
    uint32_t status;          // 200
    const char *content_type; // "application/json"
    const uint8_t *body;      // copied, unless body_is_static or from the request's arena
    size_t bytes;
    bool body_is_static;                 // stays until it was sent: constant, or see http_keep
    HttpStream stream;                   // in place of a body, of `bytes` bytes
    bool is_attachment;                  // a stranger's file: never shown as a page
    const char *cache;                   // Cache-Control; NULL: "no-store"
    const char *content_security_policy; // NULL: the strict default
    const char *location;
    const char *set_cookie;        // Set-Cookie; NULL: none
    const char *set_device_cookie; // a second one
    const char *set_issuer_cookie; // a third one
    const char *content_encoding;  // NULL: the body is as it is
    bool varies_by_encoding;       // another Accept-Encoding may get another body
    uint32_t retry_after_s;        // of a 429 or 503; 0: a few seconds
    const char *tag;               // ETag of just these bytes, with its quotes; NULL: none
    bool is_for_all_sites;         // pages of other sites may read it; it depends on no sign-in
} HttpResponse;

typedef void (*HttpHandler)(void *user, HttpRequest *request, HttpResponse *response);

// A body that is taken as it arrives, so that its size costs no memory. The limit is the route's
// body_max, counted as bytes come. Nothing here may block.
typedef enum HttpBodyStep {
    HTTP_BODY_MORE,
    HTTP_BODY_STOP, // it is of no use: the response says why, and the connection ends
} HttpBodyStep;

#define HTTP_BODY_UNKNOWN UINT64_MAX

typedef struct HttpBody {
    // The headers are there; so many bytes shall come (HTTP_BODY_UNKNOWN: chunked). Whoever takes
    // them; NULL: nobody does, and the response says why. It cannot answer later.
    void *(*begin)(void *user, HttpRequest *request, uint64_t declared, HttpResponse *response);
    HttpBodyStep (*data)(void *taker, HttpRequest *request, const uint8_t *bytes, size_t count,
                         HttpResponse *response);
    // The taker is not needed: the body was never whole, or the handler did not take it.
    void (*cancel)(void *taker);
} HttpBody;

typedef struct HttpRoute {
    const char *method; // "GET"; HEAD comes with it
    const char *path;   // "/blob/*": a star takes one segment, two take the rest
    HttpHandler handler;
    size_t body_max;            // 0: none is needed; but for GET, up to 1,024 bytes are ignored
    const HttpBody *body_taker; // NULL: it is collected, see http_body
    bool blocks;                // the handler runs on the pool, see http_work
    bool is_slow;               // on the pool of its own for what takes long
    size_t arena_bytes;         // for http_arena; 0: HTTP_ARENA_BYTES, at most HTTP_ARENA_BYTES_MAX
    uint8_t access;             // who may ask, for HttpConfig.enter: its owner's number
    bool is_form;               // a form without JavaScript may send it
    // For the description of the API (openapi.h): what it does, in a line; the members of the JSON
    // objects that it takes and gives ("username? password", where ? may be left out, and a type
    // other than text follows a colon: "limit?:integer"); and how it can fail: "401 403 404".
    const char *summary, *takes, *gives, *fails;
    const char *query; // beside a body: members of the query, as in `takes`
    const char *names; // of its stars, "number sha256"; see openapi.h
} HttpRoute;

// A request that is over, for a log. It has nothing in it that may be a secret: of the address only
// the route's path ("/blob/*"), or the first name of one that no route has, and no query.
typedef struct HttpAnswered {
    const char *request_id; // as the client got it in X-Request-Id
    const char *method, *path;
    uint32_t status;   // 499: the client left before the answer
    uint64_t us;       // from the first line to the end of the answer
    const char *error; // the code of http_fail, or ""
} HttpAnswered;

typedef struct HttpConfig {
    const char *address;     // "127.0.0.1", "::"
    uint16_t port;           // 0: any, see http_port
    const HttpRoute *routes; // kept
    uint32_t route_count;
    void *user; // for handlers
    // Asked before the handler of a route, on the server's thread, when the whole body is there; if
    // the body is taken as it arrives, also before its first byte. What was found out the second
    // time counts. False: the response says why not. May be NULL.
    bool (*enter)(void *user, const HttpRoute *route, HttpRequest *request, HttpResponse *response);
    // Called once for each request, on the server's thread that had it. NULL: nobody is told.
    void (*answered)(void *user, const HttpAnswered *answered);
    uint32_t connections_per_address_max; // 0: no limit; loopback may be without one
    bool loopback_unlimited;
    uint32_t connection_max; // 0: 1,024
    uint32_t timeout_ms;     // for headers, the first part of a body, and silence; 0: 15 s
    uint32_t rate_min;       // bytes a second of a body afterwards; 0: HTTP_RATE_MIN
    uint32_t thread_count;   // 0: 1
    // For routes that block, and http_work; destroyed after http_stop. NULL: they block the server.
    WorkPool *pool, *slow_pool; // NULL: slow work is done on the first one
    uint32_t waiting_max;       // requests that are answered later; 0: HTTP_WAITING_MAX
    // The folder of the page, or NULL: none. Only paths that no route has, see http_file.h.
    const char *web_root;
    // Addresses of pages ("/play/*"), if there is a web_root: as routes, but neither asked to enter
    // nor counted one by one. Kept; may be NULL.
    const HttpRoute *pages;
    uint32_t page_count;
    // The page for people at an address that nothing has: who asks for text/html gets it instead of
    // an error as JSON, except below /api and /admin. Its handler says 404. Kept; may be NULL.
    const HttpRoute *lost_page;
    // Origins that may upgrade; ends with NULL. A request without Origin is no browser.
    const char *const *origins;
    // The Origin's host is the Host header's, and an address or localhost: development.
    bool origin_same_host;
    // Where players reach this server, "https://play.example": its host is an accepted Host, and
    // its origin an allowed Origin. NULL: only addresses and localhost are accepted as Host.
    const char *public_url;
    // Where players reach this one of several servers with that public URL: also an accepted Host
    // and an allowed Origin, and pages may connect to its siblings (other names of its domain) and
    // to no other WebSocket. NULL: there is no other name.
    const char *host_url;
    // Whether pages of this origin may connect too, though no list has it; from any thread. May be
    // NULL.
    bool (*origin_is_known)(void *user, const char *origin);
    // Another site from which our pages may fetch, "https://cdn.example". NULL: none.
    const char *fetch_site;
    // Addresses or ranges ("10.0.0.0/8") of proxies whose X-Forwarded-For is believed; ends with
    // NULL. At most HTTP_TRUSTED_PROXIES_MAX.
    const char *const *trusted_proxies;
    // WebSockets of one address that were passed on and are not over (http_socket_over); 0: no
    // limit.
    uint32_t sockets_per_address_max;
} HttpConfig;

// RANGE: the address, the public URL or a proxy is invalid. BLOCKED: the port is taken.
MUST_USE Status http_start(const HttpConfig *config, HttpServer **out);
uint16_t http_port(const HttpServer *server);
// Requests that wait for http_complete are cut off; completing them later is fine, and frees them.
void http_stop(HttpServer *server);

typedef struct HttpStats {
    uint64_t requests;
    uint64_t deferred;              // answered later, or waiting for it
    uint32_t waiting, waiting_peak; // now, and at most
    uint64_t waiting_refused;       // 503: too many waited, or the pool was full
    uint64_t bodies_too_large;      // 413
    uint64_t too_slow;              // connections that were cut because they took too long
    uint64_t misdirected;           // 421
    uint32_t sockets;               // passed on, and not over
    uint64_t sockets_refused;       // 429: the address had too many
} HttpStats;

HttpStats http_stats(HttpServer *server);
// How many answers a route has given, by its place in the table (the table's length: what no route
// has), with a status of 100 (class 0) to 599 (class 4).
#define HTTP_STATUS_CLASSES 5
uint64_t http_answer_count(const HttpServer *server, uint32_t route, uint32_t class);

void *http_user(const HttpRequest *request); // of the config
// Which request this thread is busy with, for whoever logs something: its id, or "". Handlers have
// that said for them; who answers later, on a thread of its own, says it (NULL: with none).
const char *http_thread_request_id(void);
void http_thread_serves(const HttpRequest *request);
const HttpRoute *http_route(const HttpRequest *request);               // of a handler's request
const char *http_path_part(const HttpRequest *request, uint32_t star); // NULL: none
const char *http_query(const HttpRequest *request, const char *name);
const char *http_header(const HttpRequest *request, const char *name);
// The value of a cookie. False: there is none of that name, or several (somebody who can write
// cookies for a whole domain has added one), or it does not fit.
bool http_cookie(const HttpRequest *request, const char *name, char *out, size_t bytes);
bool http_prefers_coding(const HttpRequest *request, HttpCoding coding); // to the plain bytes
const uint8_t *http_body(const HttpRequest *request, size_t *bytes);
// In the handler of a route with a taker: the taker, whose body is whole, once; it is the caller's.
void *http_body_take(HttpRequest *request);
// Memory until the answer is sent; arena_alloc gives NULL when it is used up.
Arena *http_arena(HttpRequest *request);
// What HttpConfig.enter found out about it, for the handler; NULL: nothing. It lives as long as the
// request.
void http_set_note(HttpRequest *request, const void *note);
const void *http_note(const HttpRequest *request);
// Memory from malloc becomes the request's: it is freed once the answer is sent. NULL is fine; at
// most HTTP_KEPT_MAX blocks.
void http_keep(HttpRequest *request, void *memory);
// Who asks: the connection's other end, or behind a trusted proxy the client that the proxy names.
bool http_is_loopback(const HttpRequest *request);
// A number for where it comes from (IPv6: for its first 64 bits); 0: unknown.
uint64_t http_address(const HttpRequest *request);
HttpPeer http_peer(const HttpRequest *request);      // the whole address; zeros: unknown
bool http_socket_wanted(const HttpRequest *request); // it asks for an upgrade
// Does it say that it was passed on? Behind a proxy on the same machine everybody comes from a
// loopback address. HTTP/1.0 counts: nginx speaks it unless it is told otherwise, and adds nothing.
bool http_is_forwarded(const HttpRequest *request);
// The rule for upgrades, for other requests that no stranger's page shall make.
bool http_origin_is_allowed(const HttpRequest *request);
void http_fail(HttpRequest *request, HttpResponse *response, uint32_t status, const char *code,
               const char *message);

// The strict policy, for a page whose <style nonce="…"> count too. The nonce is another one each
// time, and nobody can guess it. `frames` are up to 16 checked origins whose pages may show this
// one inside theirs, up to a NULL; NULL: none.
void http_policy_nonce(const HttpRequest *request, const char nonce[HTTP_NONCE_BYTES],
                       const char *const *frames, char out[HTTP_POLICY_BYTES]);

// As a handler gets it: 200, JSON, no body.
HttpResponse http_response_default(void);

// In a handler: the answer comes later, and what the handler does with its response is ignored.
// Until then the request is the handle's: it may be asked everything, on one thread at a time.
// NULL: too many wait already, and the response says so (503).
HttpDeferred *http_defer(HttpRequest *request, HttpResponse *response);
HttpRequest *http_deferred_request(HttpDeferred *deferred);
// From any thread, exactly once; the handle and the request are gone afterwards. What the response
// points at is copied. A client that left, or a server that stopped, is no error.
void http_complete(HttpDeferred *deferred, const HttpResponse *response);
// For the request of an open stream, from any thread, until `end` was called: there is more to
// read.
void http_stream_go_on(HttpRequest *request);
// Has the client gone while the stream waits? It is noticed otherwise when something is sent.
bool http_stream_is_gone(HttpRequest *request);
// In a handler: lets `work` answer on a thread of the pool, where it may block. 503 when the pool
// is full. `work` itself cannot answer later.
void http_work(HttpRequest *request, HttpResponse *response, HttpHandler work);
void http_work_slowly(HttpRequest *request, HttpResponse *response, HttpHandler work);

// Turns the request into a WebSocket: checks version, key, subprotocol and Origin, answers 101, and
// calls `take` with the socket and the bytes already read, on the server's thread. The socket is
// the taker's from then on. On failure the response is filled with the error. A taker whose user is
// the request may still ask what the request said.
// http_count_for before it: the socket is one of at most HTTP_SOCKETS_PER_ACCOUNT_MAX of this
// account, and not of its address.
void http_count_for(HttpRequest *request, uint64_t account);
typedef void (*HttpTake)(void *user, int socket, const uint8_t *already, size_t bytes, bool json);
void http_upgrade(HttpRequest *request, HttpResponse *response, HttpTake take, void *take_user);
// The same with a subprotocol of its own, which must be offered and stays valid; `json` is false.
void http_upgrade_to(HttpRequest *request, HttpResponse *response, const char *protocol,
                     HttpTake take, void *take_user);

// How many WebSockets an address has, after they left the server. A socket that is taken has a
// number (0: it is not counted), at first for owner 0. Passed on to a process, it is that owner's;
// whoever has it says when it is closed. These are called from any thread, before http_stop; a
// number that is unknown or another owner's changes nothing, so it may come from a stranger. NULL
// is a server that does not run yet.
uint64_t http_socket_number(const HttpRequest *request);
void http_socket_pass(HttpServer *server, uint64_t number, uint64_t owner);
void http_socket_over(HttpServer *server, uint64_t number, uint64_t owner);
void http_socket_over_all(HttpServer *server, uint64_t owner); // the process has ended
// Every socket that was passed on and comes from this range (IPv6: whose first 64 bits may). The
// sink must not call the server.
typedef void (*HttpSocketSink)(void *user, uint64_t number, uint64_t owner);
void http_sockets_of(HttpServer *server, const HttpPeerRange *range, HttpSocketSink sink,
                     void *user);

// The inside of the HTTP server, for the files of server/net alone.
//
//   http.c         the server: routes, requests as they arrive, start and stop
//   http_ask.c     what a handler asks of its request
//   http_answer.c  responses, files of the web root, upgrades
//   http_defer.c   answers that come later, from other threads
//   http_body.c    where a request ends, and its body
//   http_watch.c   deadlines and the count of connections
//   http_socket.c  the count of WebSockets, which have left the server
//
// A request belongs to the server's thread that reads it. Between http_defer and http_complete it
// belongs to whoever holds the handle: its connection is suspended, and no thread of the server
// touches it. Only the fields under "later" are shared, with the server's lock.
#pragma once

#include "core/base/arena.h"
#include "core/base/limits.h"
#include "server/net/http.h"
#include "server/net/http_client.h"
#include "server/net/http_rules.h"
#include "server/net/http_socket.h"
#include "server/net/http_watch.h"

#include <microhttpd.h>
#include <pthread.h>
#include <stdatomic.h>

#define HTTP_ERROR_BYTES       1024
#define HTTP_LOG_PATH_BYTES    48
#define HTTP_TOO_LARGE         "the body is larger than this may take"
#define HTTP_LINE_BYTES        256          // of a header that we make
#define HTTP_IGNORED_BYTES_MAX 1024u        // of a body that nobody needs
#define HTTP_DRAIN_BYTES_MAX   (256u << 10) // of a body that is read only to be polite

struct HttpDeferred {
    HttpRequest *request;
    HttpDeferred *before, *after; // in the server's list
};

struct HttpServer {
    HttpConfig config;
    HttpSite site, own; // by the public URL, and by the host URL
    HttpPeerRange trusted[HTTP_TRUSTED_PROXIES_MAX];
    uint32_t trusted_count;
    struct MHD_Daemon *daemon;
    HttpWatch *watch;
    HttpSockets *sockets; // NULL: they are not counted
    uint16_t port;
    char policy[HTTP_POLICY_BYTES]; // Content-Security-Policy, unless an answer has its own
    // The list of the deferred, what they hold, and who uses the server: itself, and each of them.
    pthread_mutex_t lock;
    uint32_t reference_count;
    atomic_uint_fast64_t request_number; // of the last request; from a random beginning
    bool is_stopping;
    HttpDeferred *deferred;
    HttpDeferred *paused; // open streams that wait
    HttpStats stats;
    atomic_ullong *answers; // of each route and of none, by class of status
};

// A header or an argument of the address, kept for as long as the request is.
typedef struct HttpField {
    enum MHD_ValueKind kind;
    const char *name, *value;
} HttpField;

// One request while it is being read and answered.
struct HttpRequest {
    HttpServer *server;
    struct MHD_Connection *connection;
    const HttpRoute *route;  // NULL: none
    bool path_is_known;      // to a route of some method
    const char *address_end; // where the address of the first line ends in memory
    bool has_bad_address;
    // For the log.
    char request_id[HTTP_REQUEST_ID_BYTES];
    char method[16], path[HTTP_LOG_PATH_BYTES], error_code[32];
    uint64_t begin_ns;
    uint32_t status; // of the answer; 0: none yet
    bool has_begun;  // its headers are there
    bool is_get;     // HEAD is not
    bool http_1_0;
    bool must_close; // after the answer
    bool has_reply;  // it was given to libmicrohttpd
    HttpParts parts;
    uint64_t client; // its address, as http_address gives it
    HttpPeer peer;   // the same, whole
    bool is_loopback;
    uint8_t *body;
    size_t body_bytes, body_capacity;
    uint64_t body_came, body_dropped; // bytes on the wire, and those that nobody took
    bool body_too_large;
    bool body_is_refused; // the answer is sent already
    void *taker;          // of its route's HttpBody
    char error_text[HTTP_ERROR_BYTES];
    char allow[HTTP_LINE_BYTES];
    char protocols[HTTP_LINE_BYTES];
    Arena arena;               // base is NULL until somebody asks for it
    void *kept[HTTP_KEPT_MAX]; // what it frees
    uint32_t kept_count;
    const void *note;
    bool has_entered; // HttpConfig.enter was asked, and let it in
    // Copies, once it is deferred: the connection may be gone before the handle is.
    const HttpField *fields;
    uint32_t field_count;
    // An upgrade that was granted.
    uint64_t account; // whose socket it is; 0: the address counts
    uint64_t socket;  // its number; 0: not counted
    bool is_taken;
    HttpTake take;
    void *take_user;
    HttpUpgrade upgrade;
    // Later.
    HttpDeferred deferred;
    HttpHandler work; // on the pool
    // The connection, and a handle. Not behind the server's lock: libmicrohttpd tells the end of an
    // upgraded connection with a lock held that it also takes to resume one, which we ask of it
    // with ours held.
    atomic_uint reference_count;
    bool is_deferred; // there is a handle
    bool is_suspended;
    bool is_complete; // `later` is the answer
    bool is_answered; // with it
    bool is_over;     // the server stops: nobody waits for an answer any more
    // An open stream that waits for http_stream_go_on.
    HttpDeferred pause;
    bool is_paused;
    bool has_gone_on; // before it waited
    HttpResponse later;
    uint8_t *later_body; // a copy
};

// --- http.c -------------------------------------------------------------------------------------
HttpWatched *http_watched(struct MHD_Connection *connection);
// Does this point into memory that stays until the answer was sent?
bool http_request_owns(const HttpRequest *request, const void *at);
void http_stream_end(const HttpStream *stream); // it is not sent, or not all of it
// One user less of each; the last one frees it. With the server's lock not held.
void http_request_release(HttpRequest *request);
void http_server_release(HttpServer *server);

// Asks HttpConfig.enter, unless it has let this request in already. False: the response says why
// not.
bool http_request_enter(HttpRequest *request, HttpResponse *response);

// --- http_ask.c ---------------------------------------------------------------------------------
void http_find_client(HttpRequest *request);
typedef enum MHD_Result (*HttpEach)(void *user, enum MHD_ValueKind kind, const char *name,
                                    const char *value);
void http_each_header(const HttpRequest *request, HttpEach each, void *user);
HttpAccept http_accept(const HttpRequest *request);
HttpOriginRule http_origin_rule(const HttpRequest *request);

// --- http_answer.c ------------------------------------------------------------------------------
// Writes the policy of pages and errors: everything is of our own site.
void http_policy_write(HttpServer *server);
enum MHD_Result http_answer(HttpRequest *request, const HttpResponse *response);
enum MHD_Result http_answer_upgrade(HttpRequest *request);
enum MHD_Result http_answer_fail(HttpRequest *request, uint32_t status, const char *code,
                                 const char *message);
// False: there is no such file.
bool http_answer_file(HttpRequest *request, const char *method, const char *path,
                      enum MHD_Result *queued);

// Before the body was whole, when libmicrohttpd takes no answer: writes one to the socket.
void http_answer_early(HttpRequest *request, const HttpResponse *response);

// --- http_defer.c -------------------------------------------------------------------------------
// After a handler that deferred: waits for the answer, or gives it if it is there already.
enum MHD_Result http_defer_wait(HttpRequest *request);
// The connection goes on: gives the answer.
enum MHD_Result http_defer_answer(HttpRequest *request);
// An open stream has nothing to give now.
typedef enum HttpStreamStep {
    HTTP_STREAM_WAITS, // the connection is suspended until http_stream_go_on
    HTTP_STREAM_AGAIN, // that was called already
    HTTP_STREAM_STOPS, // the server stops
} HttpStreamStep;
HttpStreamStep http_defer_stream(HttpRequest *request);
// Lets go of everybody who waits. Nothing can be deferred any more.
void http_defer_stop(HttpServer *server);

// --- http_body.c --------------------------------------------------------------------------------
size_t http_body_max(const HttpRequest *request);
// How large the body will be, as far as the headers say; NULL, or what is wrong with them. The
// method and the version are those that libmicrohttpd gave, in its memory.
const char *http_body_declared(const HttpRequest *request, const char *method, const char *version,
                               uint64_t *out);
// The headers are there: finds who takes the body. False: nobody, and the response says why.
bool http_body_begin(HttpRequest *request, uint64_t declared, HttpResponse *response);
// False: so much came that nobody wants that the connection shall end.
bool http_body_receive(HttpRequest *request, const char *data, size_t bytes);

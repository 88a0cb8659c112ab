// What the files of HTTP answers share.
#pragma once

#include "server/control/account.h"
#include "server/serve/http/access.h"
#include "server/serve/serve_inside.h"

#define SERVE_BODY_BYTES 4096
#define SERVE_TEXT_BYTES (32u << 20)

// The table of all routes.
const HttpRoute *serve_routes(uint32_t *count);

// A JSON answer in the request's memory, or, if it is large, in memory of its own.
typedef struct ServeAnswer {
    HttpRequest *request;
    uint8_t *text;
    ByteWriter writer;
    JsonWriter json;
    bool is_large;
} ServeAnswer;
void serve_answer_begin(ServeAnswer *answer, HttpRequest *request);
void serve_answer_begin_large(ServeAnswer *answer, HttpRequest *request, size_t bytes);
// Nothing needs to be checked before: if there was no memory, or too little, the response says so.
void serve_answer_end(ServeAnswer *answer, HttpResponse *response);
// A body that is read from a file while it is sent. The file is the response's from now on.
HttpStream serve_stream_file(int file);
// A member of an object: a text, or null for NULL.
void serve_write_member(JsonWriter *json, const char *name, const char *text);
void serve_write_number(JsonWriter *json, const char *name, uint64_t number);
void serve_write_time(JsonWriter *json, const char *name, uint64_t unix_ms); // RFC 3339

// A number of the query, unchanged if it is not there; false: it is no number up to `high`.
bool serve_query_number(const HttpRequest *request, const char *name, uint64_t high, uint64_t *out);
// An account as the API writes it, "user_1f", "guest_1f"; also read as a decimal number.
void serve_account_text(uint64_t account, bool is_guest, char out[32]);
bool serve_account_read(const char *text, uint64_t *account);
// A member with the name of an account for operators to read: the account name, or what a guest is
// called; null if there is none any more. Reads the database.
void serve_write_name(const Serve *serve, JsonWriter *json, const char *member, uint64_t account);
const char *serve_state_name(HostWorldState state);

// Writes into the audit that this is asked, by whom and with what. On the pool. False: it could
// not, and the response says so.
MUST_USE bool serve_record(Serve *serve, const char *action, HttpRequest *request,
                           HttpResponse *response);
// The same, and then lets the main thread do it.
void serve_act(Serve *serve, const char *action, MailHandler handler, HttpRequest *request,
               HttpResponse *response);

// Development: everybody on this machine may do nearly everything.
bool serve_is_development(const Serve *serve, const HttpRequest *request);
// A world in development believes whoever asks, so it answers this machine alone. True: the request
// came through a proxy, and the response says so.
bool serve_refuse_forwarded(const Serve *serve, HttpRequest *request, HttpResponse *response);
// For every route that stores what somebody sends, with the folder it goes to: below
// DISK_LOW_PERCENT of free room uploads stop, so that worlds can go on saving. True: the response
// says so (507).
bool serve_refuse_upload(const Serve *serve, const char *folder, HttpRequest *request,
                         HttpResponse *response);
// Blobs are kept elsewhere, and that did not answer when it was last asked? True: the response says
// so. serve_fail_blob: a blob could not be put, because of that or of the disk.
bool serve_refuse_without_blobs(const Serve *serve, HttpRequest *request, HttpResponse *response);
void serve_fail_blob(const Serve *serve, HttpRequest *request, HttpResponse *response);
// Where blobs are kept, for people: "s3://club/sandlot", without its options.
#define SERVE_BLOBS_NAME_BYTES 320
void serve_blobs_name(const Serve *serve, char out[SERVE_BLOBS_NAME_BYTES]);
// While a world does not run because the disk takes no writes, nobody is let in: a ticket would be
// worth nothing, and a socket would wait for ever. True: the response says so.
bool serve_refuse_without_disk(const Serve *serve, HttpRequest *request, HttpResponse *response);

// A number for where a request comes from, which tells addresses apart and no more; 0: nobody on
// this machine is counted in development.
uint64_t serve_address_key(const Serve *serve, const HttpRequest *request);
// Somebody asked for a room: misses are counted, and after too many of them private rooms are not
// found either. True: the response says so.
bool serve_refuse_guess(const Serve *serve, HttpRequest *request, HttpResponse *response,
                        bool is_there, bool is_secret);
void serve_refuse_join(HttpRequest *request, HttpResponse *response, const Serve *serve,
                       HostRefusal refusal);
// Development on this machine, asked by our own page. True: it is not, and the response says so.
bool serve_refuse_stranger(const Serve *serve, HttpRequest *request, HttpResponse *response);
uint8_t *serve_text(Serve *serve); // of large answers, SERVE_TEXT_BYTES; the main thread's
void serve_text_answer(const Serve *serve, const JsonWriter *json, const ByteWriter *writer,
                       HttpRequest *request, HttpResponse *response);

// http_world.c
void serve_write_world(JsonWriter *json, const StoreWorld *row); // as POST /api/worlds answers
bool serve_owns(const Identity *who, const StoreWorld *row);     // or is an operator
// May they know of it? Waits for the disk.
bool serve_sees_world(const Serve *serve, const Identity *who, const StoreWorld *row);
// http_scripts.c: may they see what its scripts cost, and how they fail? Waits for the disk.
bool serve_owns_scripts(const Serve *serve, const Identity *who, const StoreWorld *row);
// The world that the path names, for its owner and operators; false: the response says why not.
// Waits for the disk.
bool serve_find_own(Serve *serve, HttpRequest *request, HttpResponse *response, StoreWorld *out);

// Where this client reaches us, "ws://…": the public URL, if it came by that name or through a
// proxy, or the address that it used; else our own.
void serve_server_name(const Serve *serve, const HttpRequest *request, char *out, size_t bytes);

// http_person.c
// Whoever is in a world with this account leaves it, soon. The reason is a constant.
void serve_kick_soon(Serve *serve, uint64_t account, const char *reason);
// With everything that is stored about them. Waits for the disk.
AccountResult serve_delete_person(Serve *serve, uint64_t account);

// http_join.c
void serve_get_socket(void *user, HttpRequest *request, HttpResponse *response);
void serve_get_session(void *user, HttpRequest *request, HttpResponse *response);
void serve_post_login(void *user, HttpRequest *request, HttpResponse *response);
void serve_post_join(void *user, HttpRequest *request, HttpResponse *response);

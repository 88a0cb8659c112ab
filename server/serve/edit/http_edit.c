// See http_edit.h.
#define _GNU_SOURCE
#include "server/serve/edit/http_edit.h"

#include "core/edit/session_message.h"
#include "server/serve/edit/edit_draft.h"
#include "server/serve/http/body.h"
#include "server/serve/http/http_routes.h"
#include "server/serve/people/http_class.h"
#include "server/serve/publish/http_place.h"
#include "server/store/place/store_edit.h"
#include "server/store/place/store_upload.h"
#include "server/sys/clock.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define SEND_BUFFER (64 << 10) // a page that stopped reading costs so much of the kernel's memory
#define OPS_MAX     200
_Static_assert(STORE_EDIT_BEGIN_BYTES >= EDIT_TOLD_BEGIN_BYTES, "a row says what it takes back");

// --- who may ------------------------------------------------------------------------------------

// The draft that the path names. Without accounts it is the folder that is developed, for this
// machine. False: the response says why not.
typedef struct EditAsk {
    char place_id[65];
    bool can_write;
} EditAsk;

static bool enter_folder(Serve *serve, HttpRequest *request, HttpResponse *response, EditAsk *out)
{
    const char *place_id = http_path_part(request, 0);
    if (serve->edits == NULL || place_id == NULL || strcmp(place_id, serve->default_place) != 0) {
        http_fail(request, response, 404, "not_found", "there is no such place");
        return false;
    }
    if (serve_refuse_stranger(serve, request, response)) {
        return false;
    }
    snprintf(out->place_id, sizeof out->place_id, "%s", place_id);
    out->can_write = true;
    return true;
}

static bool enter(Serve *serve, HttpRequest *request, HttpResponse *response, bool writes,
                  EditAsk *out)
{
    PlaceAsk ask;
    if (serve->control == NULL) {
        return enter_folder(serve, request, response, out);
    }
    if (!place_enter(serve, request, response, RIGHT_DRAFT, &ask)) {
        return false;
    }
    const char *place_id = ask.package.package_id;
    snprintf(out->place_id, sizeof out->place_id, "%s", place_id);
    out->can_write = edit_can_write(serve, serve_who(request), &ask.package, ask.rights);
    if (writes && !out->can_write) {
        http_fail(request, response, 403, "denied", "this is for those who work on it");
        return false;
    }
    if (!draft_exists(serve->drafts, place_id)) {
        http_fail(request, response, 404, "not_found", "this place has no draft");
        return false;
    }
    return out->can_write || class_record_reading(serve, request, response, place_id);
}

bool serve_hold_draft(Serve *serve, HttpRequest *request, HttpResponse *response,
                      const char *place_id, EditHold **out)
{
    Status status;
    *out = edit_hold(serve, place_id, &status);
    if (status != STATUS_OK) {
        http_fail(request, response, 503, "busy",
                  "this draft is being edited, and its editor does not answer; try again");
    }
    return status == STATUS_OK;
}

// --- the ticket and the socket ------------------------------------------------------------------

static void refuse_open(HttpRequest *request, HttpResponse *response, Status status,
                        const EditFailure *failure)
{
    char text[CHANNEL_REASON_BYTES + 128];
    if (status == STATUS_MALFORMED) {
        snprintf(text, sizeof text, "%s line %u: %s", failure->file, (unsigned)failure->line,
                 failure->message);
        http_fail(request, response, 409, "unreadable", text);
    } else {
        http_fail(request, response, 503, "unavailable", failure->message);
    }
}

void serve_post_edit(void *user, HttpRequest *request, HttpResponse *response)
{
    Serve *serve = user;
    EditAsk ask;
    EditFailure failure;
    char ticket[EDIT_TICKET_BYTES], address[128 + EDIT_TICKET_BYTES];
    if (!enter(serve, request, response, false, &ask)) {
        return;
    }
    const Identity *who = serve->control != NULL ? serve_who(request) : NULL;
    const Status status =
        edit_draft_open(serve, ask.place_id, who != NULL ? who->account : 0, &failure);
    if (status != STATUS_OK) {
        refuse_open(request, response, status, &failure);
        return;
    }
    if (edit_ticket_make(serve, ask.place_id, who, ask.can_write, ticket) != STATUS_OK) {
        http_fail(request, response, 503, "busy", "too many tickets wait; try again");
        return;
    }
    ServeAnswer answer;
    snprintf(address, sizeof address, "/api/places/%s/edit?ticket=%s", ask.place_id, ticket);
    serve_answer_begin(&answer, request);
    json_write_object_begin(&answer.json);
    serve_write_member(&answer.json, "ticket", ticket);
    serve_write_member(&answer.json, "address", address);
    json_write_name(&answer.json, "can_write");
    json_write_bool(&answer.json, ask.can_write);
    json_write_object_end(&answer.json);
    serve_answer_end(&answer, response);
}

// On an HTTP thread. The kernel's buffer is made small here: the process sets no options.
static void take_socket(void *user, int descriptor, const uint8_t *already, size_t bytes, bool json)
{
    (void)json;
    const HttpRequest *request = user;
    Serve *serve = http_user(request);
    const int send_buffer = SEND_BUFFER;
    (void)setsockopt(descriptor, SOL_SOCKET, SO_SNDBUF, &send_buffer, sizeof send_buffer);
    (void)fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) | O_NONBLOCK);
    if (edit_draft_socket(serve, http_path_part(request, 0), descriptor,
                          http_socket_number(request), already, bytes) != STATUS_OK) {
        close(descriptor); // it was closed meanwhile; the page asks for a ticket again
        http_socket_over(serve->http, http_socket_number(request), 0);
    }
}

// Without a ticket of this place nobody learns whether its draft is open, nor whether there is such
// a place. The first message takes the ticket; here it is only looked at.
void serve_get_edit(void *user, HttpRequest *request, HttpResponse *response)
{
    Serve *serve = user;
    const Identity *who = serve->control != NULL ? serve_who(request) : NULL;
    const char *place_id = http_path_part(request, 0);
    if (serve->control == NULL && serve_refuse_stranger(serve, request, response)) {
        return;
    }
    const char *ticket = http_query(request, "ticket");
    if (serve->edits == NULL || place_id == NULL || ticket == NULL ||
        !edit_ticket_is_good(serve, place_id, ticket) || !edit_draft_is_open(serve, place_id)) {
        http_fail(request, response, 404, "not_found",
                  "POST to this address opens a draft, and gives the address of its socket");
        return;
    }
    http_count_for(request, who != NULL && !who->is_guest ? who->account : 0);
    http_upgrade_to(request, response, EDIT_PROTOCOL, take_socket, request);
}

// --- contents of files --------------------------------------------------------------------------

static bool read_path_hash(HttpRequest *request, HttpResponse *response, uint8_t hash[SHA256_BYTES])
{
    const char *text = http_path_part(request, 1);
    if (text == NULL || blob_parse(text, strlen(text), hash) != STATUS_OK) {
        http_fail(request, response, 404, "not_found", "a content is named by 64 hex digits");
        return false;
    }
    return true;
}

static void put_blob(Serve *serve, HttpRequest *request, HttpResponse *response, const void *data,
                     size_t bytes)
{
    EditAsk ask;
    uint8_t wanted[SHA256_BYTES], hash[SHA256_BYTES];
    char reason[WORKER_REASON_BYTES] = "", hex[2 * SHA256_BYTES + 1];
    if (!read_path_hash(request, response, wanted) ||
        !enter(serve, request, response, true, &ask) ||
        serve_refuse_upload(serve, serve->data, request, response)) {
        return;
    }
    sha256_of(data != NULL ? data : "", bytes, hash);
    if (memcmp(hash, wanted, sizeof hash) != 0) {
        http_fail(request, response, 400, "mismatch", "the body has another hash");
        return;
    }
    if (serve->drafts != NULL &&
        draft_has_room(serve->drafts, ask.place_id, bytes, reason) == STATUS_LIMIT) {
        http_fail(request, response, 413, "quota", reason);
        return;
    }
    Status status = blob_put(serve->blobs, data != NULL ? data : "", bytes, hash);
    if (status == STATUS_OK && serve->drafts != NULL) {
        status = store_upload_put(serve->store, ask.place_id, hash, bytes, clock_unix_ms(),
                                  serve_account_bytes_max(serve));
    }
    if (status == STATUS_LIMIT) { // another upload took the room meanwhile
        draft_tell_no_room(serve->drafts, ask.place_id, reason);
        http_fail(request, response, 413, "quota", reason);
        return;
    }
    if (status == STATUS_NOT_FOUND) {
        http_fail(request, response, 404, "not_found", "there is no such place any more");
        return;
    }
    if (status != STATUS_OK) {
        http_fail(request, response, 503, "unavailable", "it cannot be stored now; try again");
        return;
    }
    ServeAnswer answer;
    sha256_hex(hash, hex);
    serve_answer_begin(&answer, request);
    json_write_object_begin(&answer.json);
    serve_write_member(&answer.json, "hash", hex);
    serve_write_number(&answer.json, "bytes", bytes);
    json_write_object_end(&answer.json);
    serve_answer_end(&answer, response);
}

void serve_put_edit_blob(void *user, HttpRequest *request, HttpResponse *response)
{
    const void *data;
    size_t bytes;
    ServeUpload *upload = serve_upload_take(request, &data, &bytes);
    put_blob(user, request, response, data, bytes);
    serve_upload_end(upload);
}

void serve_get_edit_blob(void *user, HttpRequest *request, HttpResponse *response)
{
    Serve *serve = user;
    EditAsk ask;
    uint8_t hash[SHA256_BYTES];
    if (!read_path_hash(request, response, hash) || !enter(serve, request, response, false, &ask)) {
        return;
    }
    if (serve->drafts != NULL && !store_edit_has_blob(serve->store, ask.place_id, hash)) {
        http_fail(request, response, 404, "not_found", "no file of this draft has that content");
        return;
    }
    if (place_put_blob(serve, request, response, hash)) {
        response->cache = SERVE_BLOB_PRIVATE;
    }
}

// --- what was done ------------------------------------------------------------------------------

// Whose name is known already: one person makes many steps in a row.
typedef struct OpMaker {
    uint64_t account_id; // 0: nobody yet
    char name[EDIT_LINK_NAME_BYTES];
} OpMaker;

static void find_maker(Serve *serve, const char *place_id, uint64_t account_id, OpMaker *maker)
{
    StoreAccount account;
    if (maker->account_id == account_id) {
        return;
    }
    *maker = (OpMaker){.account_id = account_id};
    if (account_id != 0 && store_account_find(serve->store, account_id, &account) == STATUS_OK) {
        Identity who = {.account = account_id, .roles = account.roles};
        snprintf(who.name, sizeof who.name, "%s", account.name);
        snprintf(who.shown_name, sizeof who.shown_name, "%s", account.shown_name);
        edit_name_editor(serve, place_id, &who, maker->name);
    }
}

static void write_op(JsonWriter *json, const StoreEditRow *row, const OpMaker *maker)
{
    char account[32];
    serve_account_text(row->maker_id, false, account);
    json_write_object_begin(json);
    serve_write_number(json, "seq", row->seq);
    serve_write_number(json, "editor", row->editor);
    serve_write_member(json, "by", row->maker_id != 0 ? account : NULL);
    serve_write_member(json, "name", maker->name[0] != '\0' ? maker->name : NULL);
    serve_write_member(json, "label", row->label);
    serve_write_time(json, "time", row->unix_ms);
    serve_write_number(json, "undone", edit_told_undone(row->begin, row->begin_bytes));
    json_write_object_end(json);
}

void serve_get_edit_ops(void *user, HttpRequest *request, HttpResponse *response)
{
    Serve *serve = user;
    EditAsk ask;
    uint64_t from = 0, limit = OPS_MAX;
    uint32_t count = 0;
    if (!enter(serve, request, response, false, &ask)) {
        return;
    }
    if (!serve_query_number(request, "from", INT64_MAX, &from) ||
        !serve_query_number(request, "limit", OPS_MAX, &limit) || limit == 0) {
        http_fail(request, response, 400, "malformed",
                  "from and limit are numbers, limit from 1 to 200");
        return;
    }
    StoreEditRow *rows = calloc(OPS_MAX, sizeof *rows);
    const Status status = rows != NULL ? store_edit_rows(serve->store, ask.place_id, from, rows,
                                                         (uint32_t)limit, &count)
                                       : STATUS_LIMIT;
    if (status != STATUS_OK) {
        place_refuse_store(request, response, status);
        free(rows);
        return;
    }
    ServeAnswer answer;
    serve_answer_begin_large(&answer, request, 64u << 10);
    json_write_object_begin(&answer.json);
    json_write_name(&answer.json, "ops");
    json_write_array_begin(&answer.json);
    OpMaker maker = {0};
    for (uint32_t i = 0; i < count; i++) {
        find_maker(serve, ask.place_id, rows[i].maker_id, &maker);
        write_op(&answer.json, &rows[i], &maker);
    }
    json_write_array_end(&answer.json);
    json_write_name(&answer.json, "next");
    if (count == limit) {
        json_write_integer(&answer.json, (int64_t)rows[count - 1].seq);
    } else {
        json_write_null(&answer.json);
    }
    json_write_object_end(&answer.json);
    serve_answer_end(&answer, response);
    free(rows);
}

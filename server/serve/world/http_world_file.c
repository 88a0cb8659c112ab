// Worlds as files over HTTP: export, import, deletion. Bodies go through a file without a name in
// the data folder, in both directions, so that their size costs no memory; all of this runs on the
// pool, but for the bytes of an import as they come, which the page cache takes.
#define _GNU_SOURCE
#include "core/base/limits.h"
#include "server/control/order/rights.h"
#include "server/serve/http/http_routes.h"
#include "server/serve/http/upload.h"
#include "server/serve/order/http_order.h"
#include "server/serve/place/places.h"
#include "server/serve/world/http_world.h"
#include "server/serve/world/world_file.h"
#include "server/store/store_import.h"
#include "server/sys/clock.h"
#include "server/sys/entropy.h"

#include <errno.h>
#include <stdio.h>
#include <unistd.h>

static void refuse_busy(HttpRequest *request, HttpResponse *response)
{
    http_fail(request, response, 503, "unavailable",
              "the world could not be stored or read now; try again");
}

// --- export -------------------------------------------------------------------------------------

// For the chunks: a worker for each file, so that one person's never meet another's.
static Status make_worker(const Serve *serve, Worker **out)
{
    WorkerConfig config = worker_config_default();
    config.allow_weak_jail = serve->config.allow_weak_jail;
    return worker_create(&config, out);
}

static void export(Serve *serve, HttpRequest *request, HttpResponse *response, bool is_export)
{
    StoreWorld row;
    if (!serve_find_own(serve, request, response, &row)) {
        return;
    }
    const int file = serve_nameless_file(serve);
    Worker *worker = NULL;
    Status status = file >= 0 ? make_worker(serve, &worker) : STATUS_BLOCKED;
    if (status == STATUS_OK) {
        status = world_file_write(serve->store, worker, &row, file);
    }
    worker_destroy(worker);
    const off_t bytes = file >= 0 ? lseek(file, 0, SEEK_END) : -1;
    if (status != STATUS_OK || bytes < 0) {
        if (file >= 0) {
            close(file);
        }
        if (status == STATUS_MALFORMED) {
            http_fail(request, response, 500, "damaged", "what is stored of this world is damaged");
        } else {
            refuse_busy(request, response);
        }
        return;
    }
    response->bytes = (size_t)bytes;
    response->is_attachment = is_export;
    response->stream = serve_stream_file(file);
}

void serve_get_world(void *user, HttpRequest *request, HttpResponse *response)
{
    export(user, request, response, false);
}

void serve_export_world(void *user, HttpRequest *request, HttpResponse *response)
{
    export(user, request, response, true);
}

// --- import -------------------------------------------------------------------------------------

// One that they may play; it need not be open now.
static bool has_place(const Serve *serve, const Identity *who, const char *place_id)
{
    char package_id[PLACE_KEY_BYTES];
    StorePackage package;
    uint32_t rights = 0;
    const uint32_t needs = place_channel_rights(place_id_channel(place_id));
    place_id_package(place_id, package_id);
    return rights_find(serve->store, package_id, who, &package, &rights) == STATUS_OK &&
           (rights & needs) == needs;
}

// On the main thread: a row that the pool has written.
static void replace_world(void *user, void *what)
{
    const Serve *serve = user;
    StoreWorld *row = what;
    HostWorld *world = host_world(serve->host, row->world_id);
    if (world != NULL || host_add_world(serve->host, row, &world) == STATUS_OK) {
        host_world_replace(world, row);
    }
    free(row);
}

// Tells the main thread; without memory it hears of it at the next start.
static void post_world(Serve *serve, MailRun run, const StoreWorld *row)
{
    StoreWorld *copy = malloc(sizeof *copy);
    if (copy != NULL) {
        *copy = *row;
        if (mailbox_post(serve->mailbox, run, copy) != STATUS_OK) {
            free(copy);
        }
    }
}

static void let_go(void *user, void *what)
{
    const Serve *serve = user;
    StoreWorld *row = what;
    HostWorld *world = host_world(serve->host, row->world_id);
    if (world != NULL) {
        (void)host_world_let_go(world);
    }
    free(row);
}

static void refuse_running(Serve *serve, HttpRequest *request, HttpResponse *response,
                           const StoreWorld *row)
{
    post_world(serve, let_go, row);
    http_fail(request, response, 409, "running",
              "this world runs; if nobody is in it, it stops now: try again in a few seconds");
}

// What is in the row of a world whose file was read: of one that is there, all but its name and the
// form of its place stays.
static bool make_row(Serve *serve, HttpRequest *request, HttpResponse *response,
                     const WorldFile *file, StoreWorld *row)
{
    const char *world_id = http_path_part(request, 0);
    const Identity *who = serve_who(request);
    const Status status = store_world_find(serve->store, world_id, row);
    if (status == STATUS_OK && !serve_owns(who, row)) {
        http_fail(request, response, 403, "denied",
                  "this is for the owner of the world, and for operators");
        return false;
    }
    if (status == STATUS_OK && strcmp(row->place_id, file->world.place_id) != 0) {
        http_fail(request, response, 409, "other_place",
                  "this file is of a world of another place");
        return false;
    }
    if (status != STATUS_OK && status != STATUS_NOT_FOUND) {
        refuse_busy(request, response);
        return false;
    }
    if (!has_place(serve, who, file->world.place_id)) {
        http_fail(request, response, 404, "not_found", "the place of this world is not here");
        return false;
    }
    if (status == STATUS_NOT_FOUND) {
        uint8_t random[ROOM_CODE_RANDOM];
        entropy_fill(random, sizeof random);
        *row = (StoreWorld){.owner_id = who->account, .maker_id = who->account, .is_named = true};
        snprintf(row->world_id, sizeof row->world_id, "%s", world_id);
        room_code_from(random, sizeof random, row->room_code);
        row->created_unix_ms = file->world.created_unix_ms;
        memcpy(row->place_id, file->world.place_id, sizeof row->place_id);
    }
    if (!name_is_plain_line(file->world.name)) {
        http_fail(request, response, 400, "invalid_name",
                  "metadata.name has characters that show nothing or turn the direction of text");
        return false;
    }
    if (serve_refuse_words(serve, request, response, "metadata.name", file->world.name)) {
        return false;
    }
    memcpy(row->name, file->world.name, sizeof row->name);
    memcpy(row->place_hash, file->world.place_hash, sizeof row->place_hash);
    return true;
}

static void import(Serve *serve, HttpRequest *request, HttpResponse *response,
                   const WorldFile *file)
{
    StoreWorld row;
    const Identity *who = serve_who(request);
    if (!make_row(serve, request, response, file, &row)) {
        return;
    }
    const uint32_t owned_max = who->is_guest ? 1 : WORLDS_PER_ACCOUNT_MAX;
    const bool is_operator = (who->roles & ROLE_OPERATOR) != 0;
    const Status status = store_world_import(serve->store, &row, file->rows, file->bytes,
                                             is_operator ? 0 : owned_max);
    if (status == STATUS_EXISTS) {
        refuse_running(serve, request, response, &row);
    } else if (status == STATUS_LIMIT) {
        serve_refuse_join(request, response, serve, REFUSED_QUOTA);
    } else if (status == STATUS_MALFORMED) {
        http_fail(request, response, 400, "malformed",
                  "a world's id has 1 to 64 letters, digits, _ and - only");
    } else if (status != STATUS_OK) {
        refuse_busy(request, response);
    } else {
        ServeAnswer answer;
        post_world(serve, replace_world, &row);
        serve_answer_begin(&answer, request);
        serve_write_world(&answer.json, &row);
        serve_answer_end(&answer, response);
    }
}

static void read_and_import(Serve *serve, HttpRequest *request, HttpResponse *response,
                            const char *text, size_t bytes)
{
    char reason[WORLD_FILE_REASON_BYTES];
    WorldFile file;
    Worker *worker = NULL;
    Status status = make_worker(serve, &worker);
    if (status == STATUS_OK) {
        status = world_file_read(worker, text, bytes, &file, reason);
    }
    worker_destroy(worker);
    if (status == STATUS_OK) {
        import(serve, request, response, &file);
        world_file_free(&file);
    } else if (status == STATUS_MALFORMED || status == STATUS_LIMIT) {
        http_fail(request, response, 400, "malformed", reason);
    } else {
        refuse_busy(request, response);
    }
}

void serve_post_world(void *user, HttpRequest *request, HttpResponse *response)
{
    Serve *serve = user;
    const void *text;
    size_t bytes;
    ServeUpload *upload = serve_upload_take(request, &text, &bytes);
    if (serve->control == NULL) {
        http_fail(request, response, 404, "not_found", "there are no accounts here");
    } else if (text == NULL) {
        http_fail(request, response, 400, "malformed", "the body is no JSON object");
    } else {
        read_and_import(serve, request, response, text, bytes);
    }
    serve_upload_end(upload);
}

// --- the end of a world -------------------------------------------------------------------------

static void forget_world(void *user, void *what)
{
    const Serve *serve = user;
    StoreWorld *row = what;
    HostWorld *world = host_world(serve->host, row->world_id);
    if (world != NULL) {
        host_world_forget(world);
    }
    free(row);
}

void serve_delete_world(void *user, HttpRequest *request, HttpResponse *response)
{
    Serve *serve = user;
    StoreWorld row;
    if (!serve_find_own(serve, request, response, &row)) {
        return;
    }
    const Status status = store_world_remove(serve->store, row.world_id);
    if (status == STATUS_EXISTS) {
        refuse_running(serve, request, response, &row);
    } else if (status != STATUS_OK) {
        refuse_busy(request, response);
    } else {
        ServeAnswer answer;
        post_world(serve, forget_world, &row);
        serve_answer_begin(&answer, request);
        json_write_object_begin(&answer.json);
        serve_write_member(&answer.json, "world_id", row.world_id);
        json_write_object_end(&answer.json);
        serve_answer_end(&answer, response);
    }
}

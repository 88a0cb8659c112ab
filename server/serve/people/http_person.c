// Everything about a person over HTTP: to delete it, or to get it. See docs/HTTP.md, "Accounts".
// The deletion is in the log of deletions first, so that a restored backup repeats it.
#define _GNU_SOURCE
#include "server/control/deletion_log.h"
#include "server/control/password.h"
#include "server/serve/edit/edit_drafts.h"
#include "server/serve/people/http_account.h"
#include "server/serve/people/http_account_body.h"
#include "server/serve/place/places.h"
#include "server/serve/remote/remote_worlds.h"
#include "server/store/people/store_person.h"
#include "server/sys/clock.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

// --- deleting -----------------------------------------------------------------------------------

typedef struct Kick {
    uint64_t account;
    const char *reason;
} Kick;

// On the main thread: whoever is in a world leaves it, and no resume token leads back.
static void kick(void *user, void *what)
{
    Serve *serve = user;
    const Kick *order = what;
    (void)serve_kick(serve, order->account, "", order->reason);
    free(what);
}

void serve_kick_soon(Serve *serve, uint64_t account, const char *reason)
{
    Kick *what = malloc(sizeof *what);
    if (what == NULL) {
        return; // without a sign-in they do not come again
    }
    *what = (Kick){account, reason};
    if (mailbox_post(serve->mailbox, kick, what) != STATUS_OK) {
        free(what);
    }
}

// Their places: worlds of those that go with them stop. NULL: no memory, or none.
static StorePackage *find_places(Serve *serve, uint64_t account, uint32_t *count)
{
    StorePackage *packages = malloc(PACKAGES_PER_ACCOUNT_MAX * sizeof *packages);
    *count = 0;
    if (packages != NULL && store_packages_of(serve->store, account, "", packages,
                                              PACKAGES_PER_ACCOUNT_MAX, count) != STATUS_OK) {
        *count = 0; // then they run until nobody is there
    }
    return packages;
}

// The folder of a place that went with its owner. One that others play is in the trash for a while.
static void remove_draft(Serve *serve, const char *place_id)
{
    StorePackage package;
    if (serve->drafts != NULL &&
        store_package_find(serve->store, place_id, &package) == STATUS_NOT_FOUND) {
        status_ignore(draft_remove(serve->drafts, place_id)); // or with the next sweep
    }
}

AccountResult serve_delete_person(Serve *serve, uint64_t account)
{
    if (account <= STORE_BUILT_IN_ACCOUNT) {
        return ACCOUNT_NOT_FOUND;
    }
    StoreAccount row;
    Status status = store_account_find(serve->store, account, &row);
    if (status == STATUS_OK) {
        // The role goes first: the transaction that takes it knows whether it is the last one.
        const bool is_operator = (row.roles & ROLE_OPERATOR) != 0;
        const AccountResult result =
            is_operator
                ? account_set_roles(serve->control, row.name, row.roles & ~(uint32_t)ROLE_OPERATOR)
                : ACCOUNT_OK;
        if (result != ACCOUNT_OK) {
            return result;
        }
    }
    uint32_t count = 0;
    StorePackage *places = find_places(serve, account, &count);
    for (uint32_t i = 0; i < count; i++) { // nothing is on its way to the store then
        if (places[i].owner_id == account) {
            edit_draft_end(serve, places[i].package_id);
        }
    }
    status = deletion_log_append(serve->data, account, clock_unix_ms());
    status = status == STATUS_OK ? control_delete_person(serve->control, account) : status;
    for (uint32_t i = 0; i < count && status == STATUS_OK; i++) {
        if (places[i].owner_id == account) {
            remove_draft(serve, places[i].package_id);
            serve_place_changed(serve, places[i].package_id);
        }
    }
    free(places);
    if (status != STATUS_OK) {
        return ACCOUNT_UNAVAILABLE;
    }
    serve_kick_soon(serve, account, "this account was deleted");
    return ACCOUNT_OK;
}

void serve_person_open(Serve *serve)
{
    char path[SERVE_PATH_BYTES];
    DeletionLog log = {0};
    if (!serve_join_path(path, serve->data, DELETION_LOG_NAME) ||
        deletion_log_read(path, &log) != STATUS_OK) {
        return; // nobody was ever deleted, or restoring says what is wrong with it
    }
    for (size_t i = 0; i < log.count; i++) {
        control_note_deleted(serve->control, log.entries[i].account, log.entries[i].unix_ms);
    }
    free(log.entries);
}

void serve_person_delete(void *user, HttpRequest *request, HttpResponse *response)
{
    Serve *serve = user;
    AccountBody body;
    AccountGiven given = {0};
    if (!serve_account_body(request, response, &body)) {
        return;
    }
    const char *password = serve_account_member(&body, "password", PASSWORD_BYTES_MAX);
    if (serve_account_refuse_bad(request, response, &body)) {
        return;
    }
    const AccountAsk ask = serve_account_ask(serve, request);
    AccountResult result =
        ask.who->is_guest ? ACCOUNT_OK : account_confirm(serve->control, password, &ask, &given);
    result = result == ACCOUNT_OK ? serve_delete_person(serve, ask.who->account) : result;
    if (result != ACCOUNT_OK) {
        serve_account_failed(request, response, &body, result, given.wait_s, "");
        return;
    }
    serve_account_done(request, response);
    if (body.is_browser) {
        serve_account_cookie(request, response, "");
    }
}

// --- exporting ----------------------------------------------------------------------------------

typedef struct ExportFile {
    int descriptor;
} ExportFile;

static int64_t read_export(void *user, uint64_t at, void *out, size_t bytes)
{
    const ExportFile *file = user;
    return pread(file->descriptor, out, bytes, (off_t)at);
}

static void end_export(void *user)
{
    ExportFile *file = user;
    close(file->descriptor);
    free(file);
}

// A file without a name in the data folder: its size costs no memory, and it goes with the process.
static FILE *open_export(const Serve *serve)
{
    const int descriptor = open(serve->data, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    FILE *out = descriptor >= 0 ? fdopen(descriptor, "w+") : NULL;
    if (out == NULL && descriptor >= 0) {
        close(descriptor);
    }
    return out;
}

static Status export_person(const Serve *serve, uint64_t account, HttpResponse *response)
{
    FILE *out = open_export(serve);
    ExportFile *file = malloc(sizeof *file);
    Status status = out != NULL && file != NULL ? STATUS_OK : STATUS_BLOCKED;
    status = status == STATUS_OK ? store_person_export(serve->store, account, out) : status;
    if (status == STATUS_OK && fflush(out) != 0) {
        status = STATUS_BLOCKED;
    }
    if (status == STATUS_OK) {
        file->descriptor = fcntl(fileno(out), F_DUPFD_CLOEXEC, 3);
        const off_t bytes = lseek(fileno(out), 0, SEEK_END);
        status = file->descriptor >= 0 && bytes > 0 ? STATUS_OK : STATUS_BLOCKED;
        response->bytes = status == STATUS_OK ? (size_t)bytes : 0;
    }
    if (out != NULL) {
        (void)fclose(out);
    }
    if (status != STATUS_OK) {
        free(file);
        return status;
    }
    response->stream = (HttpStream){.read = read_export, .end = end_export, .user = file};
    response->is_attachment = true;
    return STATUS_OK;
}

static void answer_export(HttpRequest *request, HttpResponse *response, uint64_t account)
{
    const Serve *serve = http_user(request);
    const AccountBody body = {0};
    const Status status = export_person(serve, account, response);
    if (status != STATUS_OK) {
        serve_account_failed(request, response, &body,
                             status == STATUS_NOT_FOUND ? ACCOUNT_NOT_FOUND : ACCOUNT_UNAVAILABLE,
                             0, "");
    }
}

void serve_person_export(void *user, HttpRequest *request, HttpResponse *response)
{
    (void)user;
    if (!serve_account_refuse(request, response)) {
        answer_export(request, response, serve_who(request)->account);
    }
}

// --- by an operator -----------------------------------------------------------------------------

void serve_person_delete_other(void *user, HttpRequest *request, HttpResponse *response)
{
    Serve *serve = user;
    const AccountBody body = {0};
    if (serve_account_refuse(request, response)) {
        return;
    }
    const uint64_t account = serve_account_find(serve, http_path_part(request, 0));
    AccountResult result = ACCOUNT_NOT_FOUND;
    if (account != 0) {
        if (!serve_account_record(request, response, "account.delete", account, "")) {
            return;
        }
        result = serve_delete_person(serve, account);
    }
    if (result == ACCOUNT_OK) {
        serve_account_done(request, response);
    } else {
        serve_account_failed(request, response, &body, result, 0, "");
    }
}

void serve_person_export_other(void *user, HttpRequest *request, HttpResponse *response)
{
    Serve *serve = user;
    if (serve_account_refuse(request, response)) {
        return;
    }
    const uint64_t account = serve_account_find(serve, http_path_part(request, 0));
    if (account == 0 || serve_account_record(request, response, "account.export", account, "")) {
        answer_export(request, response, account);
    }
}

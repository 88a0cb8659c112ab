// See http_operate.h.
#define _GNU_SOURCE
#include "server/serve/operate/http_operate.h"

#include "core/base/byte_values.h"
#include "server/serve/order/http_order.h"
#include "server/serve/people/http_account.h"
#include "server/serve/place/place_build.h"
#include "server/store/place/store_package.h"
#include "server/sys/disk.h"

#include <stdio.h>
#include <stdlib.h>

#define JOBS_SHOWN_MAX    100
#define JOBS_BYTES        (8u << 20)
#define STORAGE_SHOWN_MAX 200
#define STORAGE_BYTES     (128u << 10)

// --- builds -------------------------------------------------------------------------------------

// Which place it builds, if it builds a revision of one.
static void write_job_of(const Serve *serve, const JobBrief *job, ByteWriter *writer)
{
    StoreRevision revision;
    char account[32], id[REVISION_ID_BYTES] = "";
    const bool has_revision = serve->control != NULL &&
                              store_revision_by_job(serve->store, job->id, &revision) == STATUS_OK;
    JsonWriter json = json_writer(writer, 0);
    if (has_revision) {
        revision_id_write(revision.revision, id);
    }
    serve_account_text(job->account, false, account);
    json_write_object_begin(&json);
    serve_write_member(&json, "account", job->account != 0 ? account : NULL);
    serve_write_name(serve, &json, "name", job->account);
    serve_write_member(&json, "place_id", has_revision ? revision.package_id : NULL);
    serve_write_member(&json, "revision_id", has_revision ? id : NULL);
    serve_write_time(&json, "queued", job->queued_unix_ms);
    if (job->ended_unix_ms != 0) {
        serve_write_time(&json, "ended", job->ended_unix_ms);
    } else {
        serve_write_member(&json, "ended", NULL);
    }
    json_write_object_end(&json);
}

// {"about":{…},"job":{…}}: the job is as GET /api/jobs/<id> gives it. False: it is gone meanwhile.
static bool write_job(Serve *serve, JobQueue *queue, const JobBrief *brief, JobStatus *status,
                      bool is_first, ByteWriter *writer)
{
    Buffer text = buffer_of(64u << 10);
    const bool is_there = job_status(queue, brief->id, status) == STATUS_OK;
    if (is_there) {
        job_status_json(status, &text);
    }
    const bool is_written = is_there && text.status == STATUS_OK;
    if (is_written) {
        byte_write_chars(writer, is_first ? "{\"about\":" : ",{\"about\":");
        write_job_of(serve, brief, writer);
        byte_write_chars(writer, ",\"job\":");
        byte_write_bytes(writer, text.data, text.bytes);
        byte_write_chars(writer, "}");
    }
    buffer_free(&text);
    return is_written;
}

void serve_admin_get_jobs(void *user, HttpRequest *request, HttpResponse *response)
{
    Serve *serve = user;
    uint64_t limit = 30;
    if (!serve_query_number(request, "limit", JOBS_SHOWN_MAX, &limit) || limit == 0) {
        http_fail(request, response, 400, "malformed", "limit is 1 to 100");
        return;
    }
    JobQueue *queue = serve_jobs(serve);
    JobBrief *jobs = malloc(JOBS_KEPT_MAX * sizeof *jobs);
    JobStatus *status = malloc(sizeof *status);
    uint8_t *text = malloc(JOBS_BYTES);
    http_keep(request, jobs);
    http_keep(request, status);
    http_keep(request, text);
    if (queue == NULL || jobs == NULL || status == NULL || text == NULL) {
        http_fail(request, response, 503, "busy", "out of memory; try again");
        return;
    }
    const uint32_t count = job_list(queue, jobs);
    ByteWriter writer = byte_writer(text, JOBS_BYTES);
    bool is_first = true;
    byte_write_chars(&writer, "{\"jobs\":[");
    for (uint32_t i = 0; i < count && i < limit; i++) {
        is_first = !write_job(serve, queue, &jobs[i], status, is_first, &writer) && is_first;
    }
    byte_write_chars(&writer, "]}");
    if (writer.status != STATUS_OK) {
        http_fail(request, response, 500, "too_large", "the answer does not fit; ask for fewer");
        return;
    }
    response->body = text;
    response->bytes = writer.at;
    response->body_is_static = true;
}

// --- who stores how much ------------------------------------------------------------------------

static void write_use(Serve *serve, JsonWriter *json, const StoreUse *use)
{
    StoreAccount account;
    char id[32];
    const bool is_known = store_account_find(serve->store, use->account_id, &account) == STATUS_OK;
    const bool is_guest = is_known && account.name[0] == '\0';
    serve_account_text(use->account_id, is_guest, id);
    json_write_object_begin(json);
    serve_write_member(json, "account", id);
    serve_write_member(json, "username", is_known && !is_guest ? account.name : NULL);
    serve_write_member(json, "shown_name", is_known ? account.shown_name : NULL);
    serve_write_number(json, "places", use->packages);
    serve_write_number(json, "bytes", use->bytes);
    json_write_object_end(json);
}

void serve_admin_get_storage(void *user, HttpRequest *request, HttpResponse *response)
{
    Serve *serve = user;
    uint64_t limit = 50;
    uint32_t count = 0;
    DiskSpace disk = {0};
    if (serve_refuse_without_accounts(serve, request, response)) {
        return;
    }
    if (!serve_query_number(request, "limit", STORAGE_SHOWN_MAX, &limit) || limit == 0) {
        http_fail(request, response, 400, "malformed", "limit is 1 to 200");
        return;
    }
    StoreUse *uses = malloc(limit * sizeof *uses);
    http_keep(request, uses);
    if (uses == NULL || store_uses(serve->store, uses, (uint32_t)limit, &count) != STATUS_OK) {
        http_fail(request, response, 503, "unavailable", "it cannot be read; try again");
        return;
    }
    status_ignore(disk_space(serve->data, &disk)); // unknown: 0 bytes
    ServeAnswer answer;
    serve_answer_begin_large(&answer, request, STORAGE_BYTES);
    JsonWriter *json = &answer.json;
    json_write_object_begin(json);
    json_write_name(json, "accounts");
    json_write_array_begin(json);
    for (uint32_t i = 0; i < count; i++) {
        write_use(serve, json, &uses[i]);
    }
    json_write_array_end(json);
    serve_write_number(json, "account_bytes_max", serve_account_bytes_max(serve));
    serve_write_number(json, "disk_free_bytes", disk.free_bytes);
    serve_write_number(json, "disk_total_bytes", disk.total_bytes);
    json_write_object_end(json);
    serve_answer_end(&answer, response);
}

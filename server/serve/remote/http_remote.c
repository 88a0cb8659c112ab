// See http_remote.h. Of each host the last batch is known: its jobs while they are in the store,
// then its reply. A batch that comes again gets the reply of the first time.
#define _GNU_SOURCE
#include "server/serve/remote/http_remote.h"

#include "core/base/sha256.h"
#include "server/host/host_reload.h"
#include "server/serve/http/access.h"
#include "server/serve/place/places.h"
#include "server/serve/remote/remote_worlds.h"
#include "server/sys/clock.h"

#include <stdio.h>

typedef struct RemoteHost RemoteHost;

typedef struct BatchJob {
    RemoteAsk ask; // first
    RemoteHost *host;
    RemoteAnswer answer;
    uint8_t *bytes, *rows; // what the answer points to, ours
} BatchJob;

struct RemoteHost {
    Serve *serve;
    char host_id[65]; // "": free
    uint8_t boot[STORE_BOOT_BYTES];
    char world_id[65];
    uint64_t used_ns;
    uint64_t number;        // of the last batch
    HttpDeferred *deferred; // who waits for its reply; NULL: nobody
    BatchJob jobs[REMOTE_JOBS_MAX];
    uint32_t job_count;
    uint32_t waiting; // jobs that the store has not answered
    uint8_t *reply;   // NULL: not all are answered yet
    size_t reply_bytes;
    ServePlace *form; // of the place, that its last batch named; a reference; NULL: none
};

struct RemoteHosts {
    RemoteHost *items[REMOTE_HOSTS_MAX]; // from malloc: their jobs stay where they are
    struct {
        const RemoteAsk *ask;
        HttpDeferred *deferred;
    } asks[REMOTE_ASKS_MAX];
    uint32_t ask_count;
    RemoteJob jobs[REMOTE_JOBS_MAX]; // of the batch that is read
};

// --- what the store is asked --------------------------------------------------------------------

uint64_t remote_ask_tag(RemoteAsk *ask)
{
    return host_outside_tag((uint64_t)(uintptr_t)ask);
}

void serve_hosts_stored(void *user, StoreCompletion *done)
{
    (void)user;
    const uint64_t number = done->tag & ((1ull << HOST_OUTSIDE_BITS) - 1);
    RemoteAsk *ask = (RemoteAsk *)(uintptr_t)number; // NOLINT: it was one in remote_ask_tag
    ask->answer(ask, done);
}

bool remote_ask_begin(Serve *serve, RemoteAsk *ask, HttpDeferred *deferred)
{
    RemoteHosts *hosts = serve->hosts;
    if (hosts->ask_count == REMOTE_ASKS_MAX) {
        return false;
    }
    hosts->asks[hosts->ask_count].ask = ask;
    hosts->asks[hosts->ask_count++].deferred = deferred;
    return true;
}

void remote_ask_end(Serve *serve, const RemoteAsk *ask)
{
    RemoteHosts *hosts = serve->hosts;
    for (uint32_t i = 0; i < hosts->ask_count; i++) {
        if (hosts->asks[i].ask == ask) {
            hosts->asks[i] = hosts->asks[--hosts->ask_count];
            return;
        }
    }
}

// --- hosts --------------------------------------------------------------------------------------

void remote_host_id(const StoreHostKey *key, const char *world_id, char out[65])
{
    uint8_t hash[SHA256_BYTES];
    char id[STORE_HOST_KEY_ID_BYTES], hex[2 * SHA256_BYTES + 1];
    store_host_key_id(key->key_hash, id);
    sha256_of(world_id, strlen(world_id), hash);
    sha256_hex(hash, hex);
    snprintf(out, 65, "%s%.16s", id, hex);
}

Status remote_hosts_create(RemoteHosts **out)
{
    *out = calloc(1, sizeof **out);
    return *out != NULL ? STATUS_OK : STATUS_LIMIT;
}

static void forget_batch(RemoteHost *host)
{
    for (uint32_t i = 0; i < host->job_count; i++) {
        free(host->jobs[i].bytes);
        free(host->jobs[i].rows);
        host->jobs[i] = (BatchJob){.host = host};
    }
    free(host->reply);
    host->reply = NULL;
    host->reply_bytes = 0;
    host->job_count = 0;
}

static void refuse_batch(HttpDeferred *deferred, uint32_t status, const char *code,
                         const char *message)
{
    if (deferred != NULL) {
        HttpResponse response = http_response_default();
        http_fail(http_deferred_request(deferred), &response, status, code, message);
        http_complete(deferred, &response);
    }
}

void remote_hosts_destroy(RemoteHosts *hosts)
{
    if (hosts == NULL) {
        return;
    }
    for (uint32_t i = 0; i < hosts->ask_count; i++) {
        refuse_batch(hosts->asks[i].deferred, 503, "stopping", "this server is going down");
    }
    for (uint32_t i = 0; i < REMOTE_HOSTS_MAX; i++) {
        if (hosts->items[i] != NULL) {
            // It may be stored all the same, so this is no 503.
            refuse_batch(hosts->items[i]->deferred, 500, "stopping", "this server is going down");
            forget_batch(hosts->items[i]);
            serve_place_release(hosts->items[i]->form);
            free(hosts->items[i]);
        }
    }
    free(hosts);
}

// The host's own slot, a free one, or that of the host that was quiet for the longest time. NULL:
// all are busy.
static RemoteHost *find_slot(Serve *serve, const char *host_id)
{
    RemoteHosts *hosts = serve->hosts;
    RemoteHost **best = NULL;
    for (uint32_t i = 0; i < REMOTE_HOSTS_MAX; i++) {
        RemoteHost *host = hosts->items[i];
        if (host != NULL && strcmp(host->host_id, host_id) == 0) {
            return host;
        }
        const bool is_better =
            best == NULL || (*best != NULL && (host == NULL || host->used_ns < (*best)->used_ns));
        if ((host == NULL || host->waiting == 0) && is_better) {
            best = &hosts->items[i];
        }
    }
    if (best == NULL) {
        return NULL;
    }
    if (*best == NULL) {
        *best = calloc(1, sizeof **best);
    }
    if (*best != NULL) {
        forget_batch(*best);
        serve_place_release((*best)->form);
        (*best)->form = NULL;
        (*best)->serve = serve;
        (*best)->number = 0;
        (*best)->world_id[0] = '\0';
        snprintf((*best)->host_id, sizeof(*best)->host_id, "%s", host_id);
    }
    return *best;
}

// --- replies ------------------------------------------------------------------------------------

static void send_reply(RemoteHost *host)
{
    if (host->deferred == NULL) {
        return;
    }
    HttpResponse response = http_response_default();
    response.content_type = "application/octet-stream";
    response.body = host->reply; // copied
    response.bytes = host->reply_bytes;
    HttpDeferred *deferred = host->deferred;
    host->deferred = NULL;
    http_complete(deferred, &response);
}

static void write_reply(const RemoteHost *host, ByteWriter *writer)
{
    const RemoteReply reply = {.number = host->number,
                               .unix_ms = clock_unix_ms(),
                               .disk = store_stats(host->serve->store).disk,
                               .answer_count = host->job_count};
    remote_reply_write(&reply, writer);
    for (uint32_t i = 0; i < host->job_count; i++) {
        remote_answer_write(&host->jobs[i].answer, writer);
    }
}

// All are answered.
static void finish_batch(RemoteHost *host)
{
    ByteWriter counter = byte_counter();
    write_reply(host, &counter);
    host->reply = counter.at <= REMOTE_REPLY_BYTES_MAX ? malloc(counter.at) : NULL;
    if (host->reply == NULL) { // the world is too large to travel
        for (uint32_t i = 0; i < host->job_count; i++) {
            BatchJob *job = &host->jobs[i];
            if (job->answer.row_bytes > 0) {
                job->answer = (RemoteAnswer){.type = job->answer.type, .status = STATUS_LIMIT};
            }
        }
        counter = byte_counter();
        write_reply(host, &counter);
        host->reply = malloc(counter.at);
    }
    if (host->reply == NULL) {
        refuse_batch(host->deferred, 500, "busy", "out of memory; try again");
        host->deferred = NULL;
        return;
    }
    ByteWriter writer = byte_writer(host->reply, counter.at);
    write_reply(host, &writer);
    ASSERT(writer.status == STATUS_OK);
    host->reply_bytes = writer.at;
    for (uint32_t i = 0; i < host->job_count; i++) {
        free(host->jobs[i].bytes);
        free(host->jobs[i].rows);
        host->jobs[i].bytes = host->jobs[i].rows = NULL;
    }
    send_reply(host);
}

// --- answers of the store -----------------------------------------------------------------------

static void keep_bytes(BatchJob *job, const uint8_t *bytes, size_t count)
{
    job->bytes = count > 0 ? malloc(count) : NULL;
    if (job->bytes != NULL) {
        memcpy(job->bytes, bytes, count);
        job->answer.bytes = job->bytes;
        job->answer.byte_count = count;
    }
}

// A world that a host takes comes with manifests that are signed here: a host has no key.
static void sign_world(BatchJob *job)
{
    Serve *serve = job->host->serve;
    HostWorld *world = host_world(serve->host, job->host->world_id);
    HostManifests manifests = {0};
    Buffer bytes = buffer_of(REMOTE_REPLY_BYTES_MAX);
    Status status = STATUS_NOT_FOUND;
    if (world != NULL && job->host->form != NULL) {
        status = host_world_sign_rows(world, job->host->form->place, job->rows,
                                      job->answer.row_bytes, &manifests);
    }
    if (status == STATUS_OK) {
        host_manifests_write(&manifests, &bytes);
        host_manifests_free(&manifests);
        status = bytes.status;
    }
    if (status == STATUS_OK) {
        job->bytes = bytes.data;
        job->answer.bytes = bytes.data;
        job->answer.byte_count = bytes.bytes;
        return;
    }
    buffer_free(&bytes);
    serve_log(LOG_ERROR, "host", "world %s cannot be given to a host: %s", job->host->world_id,
              status_text(status));
    job->answer = (RemoteAnswer){.type = REMOTE_TAKE, .status = STATUS_BLOCKED};
}

static void answered(RemoteAsk *ask, StoreCompletion *done)
{
    BatchJob *job = (BatchJob *)ask;
    RemoteHost *host = job->host;
    job->answer.status = done->status;
    job->answer.ok = done->ok;
    job->answer.damaged = done->damaged;
    job->answer.epoch = done->epoch;
    if (job->answer.type == REMOTE_TAKE && done->status == STATUS_OK) {
        job->rows = done->rows; // ours from here on
        done->rows = NULL;
        job->answer.rows = job->rows;
        job->answer.row_bytes = done->row_bytes;
        sign_world(job);
    } else {
        keep_bytes(job, done->bytes, done->byte_count);
    }
    if (job->answer.type == REMOTE_TAKE && done->status == STATUS_EXISTS) {
        HostWorld *world = host_world(host->serve->host, host->world_id);
        if (world != NULL) { // perhaps it is ours
            host_world_yield(world);
        }
    }
    if (done->status == STATUS_OK && job->answer.type == REMOTE_TAKE) {
        HostWorld *world = host_world(host->serve->host, host->world_id);
        if (world != NULL) {
            host_world_taken_elsewhere(world);
        }
        StoreHolder holder = {0};
        memcpy(holder.host_id, host->host_id, sizeof holder.host_id);
        memcpy(holder.boot, host->boot, sizeof holder.boot);
        remote_world_taken(host->serve, host->world_id, &holder, host->form);
    } else if (done->status == STATUS_OK && job->answer.type == REMOTE_RELEASE) {
        remote_world_end(host->serve, host->world_id); // what was reported is over
    }
    ASSERT(host->waiting > 0);
    host->waiting -= 1;
    if (host->waiting == 0) {
        finish_batch(host);
    }
}

// --- batches ------------------------------------------------------------------------------------

static StoreHost host_row(const RemoteHost *host, const RemoteJob *job)
{
    StoreHost row = {.draining = job->draining};
    memcpy(row.host_id, host->host_id, sizeof row.host_id);
    memcpy(row.boot, host->boot, sizeof row.boot);
    if (job->address.bytes > 0) {
        memcpy(row.address, job->address.data, job->address.bytes);
    }
    return row;
}

// What a host runs, compared with what players get here now. A world that runs goes on with an old
// revision, as it does here, and begins with the new one.
// But one whose new scripts failed begins with the last good ones, which differ in nothing else.
typedef enum RemotePlace {
    REMOTE_PLACE_GONE,
    REMOTE_PLACE_OLD,
    REMOTE_PLACE_SCRIPTS, // its scripts are old
    REMOTE_PLACE_NOW
} RemotePlace;

typedef struct PlaceOfBatch {
    const char *place_id;
    const uint8_t *revision;
} PlaceOfBatch;

static bool is_of_batch(void *user, const ServePlace *place)
{
    const PlaceOfBatch *wanted = user;
    return strcmp(place->place->place_id, wanted->place_id) == 0 &&
           memcmp(place->revision, wanted->revision, sizeof place->revision) == 0;
}

static bool is_old_in_scripts(const Serve *serve, const ServePlace *place)
{
    const HostPlace *now = host_place(serve->host, place->place->place_id);
    return now != NULL && host_place_is_same_but_scripts(now, place->place);
}

// *out is a reference, or NULL.
static RemotePlace place_of_batch(const Serve *serve, const RemoteBatch *batch, ServePlace **out)
{
    const HostWorld *world = host_world(serve->host, batch->world_id);
    *out = NULL;
    if (world == NULL) {
        return REMOTE_PLACE_GONE;
    }
    PlaceOfBatch wanted = {host_world_view(world).row->place_id, batch->revision};
    ServePlace *place = places_find(serve, is_of_batch, &wanted);
    *out = place;
    return place == NULL                     ? REMOTE_PLACE_GONE
           : !place->is_retired              ? REMOTE_PLACE_NOW
           : is_old_in_scripts(serve, place) ? REMOTE_PLACE_SCRIPTS
                                             : REMOTE_PLACE_OLD;
}

// A server that drains starts no worlds; one that runs on that machine may begin again.
static bool may_start(const RemoteHost *host)
{
    const HostWorld *world = host_world(host->serve->host, host->world_id);
    return !host_is_draining(host->serve->host) ||
           (world != NULL && remote_world_report(host->serve, world) != NULL);
}

// Gives one job to the store. Times are ours: the host's clock does not count.
static Status submit(RemoteHost *host, const RemoteJob *job, bool is_again, RemotePlace place,
                     uint64_t tag)
{
    Store *store = host->serve->store;
    StoreHolder holder = {.is_again = is_again};
    memcpy(holder.host_id, host->host_id, sizeof holder.host_id);
    memcpy(holder.boot, host->boot, sizeof holder.boot);
    StoreHost row;
    switch (job->type) {
    case REMOTE_RENEW:
        row = host_row(host, job);
        return place >= REMOTE_PLACE_OLD || remote_world_stops(host->serve, host->world_id)
                   ? store_host_keep(store, &row, clock_unix_ms(), job->duration_ms, tag)
                   : STATUS_DENIED; // it runs what players do not get here any more
    case REMOTE_TAKE:
        if (place >= REMOTE_PLACE_SCRIPTS && !may_start(host)) {
            return STATUS_BLOCKED; // it tries again
        }
        return place >= REMOTE_PLACE_SCRIPTS
                   ? store_world_take(store, host->world_id, host->host_id, host->boot,
                                      clock_unix_ms(), tag)
                   : STATUS_MISMATCH;
    case REMOTE_RELEASE:
        return store_world_release_for(store, &holder, host->world_id, job->epoch, tag);
    case REMOTE_SAVE:
        return store_save_for(store, &holder, host->world_id, job->epoch, job->seq, job->rows,
                              job->row_bytes, tag);
    default:
        // Nobody knows whether it was done, so it is not done again.
        if (is_again && !store_request_is_read(&job->request)) {
            return STATUS_BLOCKED;
        }
        return store_request_for(store, &holder, host->world_id, job->epoch, &job->request, tag);
    }
}

static void run_batch(RemoteHost *host, const RemoteBatch *batch, const RemoteJob *jobs)
{
    const Serve *serve = host->serve;
    serve_place_release(host->form);
    const RemotePlace place = place_of_batch(serve, batch, &host->form);
    forget_batch(host);
    host->number = batch->number;
    memcpy(host->boot, batch->boot, sizeof host->boot);
    memcpy(host->world_id, batch->world_id, sizeof host->world_id);
    host->job_count = batch->job_count;
    host->waiting = 1; // until all are submitted
    for (uint32_t i = 0; i < batch->job_count; i++) {
        BatchJob *job = &host->jobs[i];
        *job = (BatchJob){.ask = {answered}, .host = host, .answer = {.type = jobs[i].type}};
        const Status status =
            submit(host, &jobs[i], batch->is_again, place, remote_ask_tag(&job->ask));
        host->waiting += status == STATUS_OK;
        job->answer.status = status == STATUS_LIMIT ? STATUS_BLOCKED : status;
    }
    host->waiting -= 1;
    if (host->waiting == 0) {
        finish_batch(host);
    }
}

// True: it was asked before, and whoever waits for its answer is this one now.
static bool is_repeated(RemoteHost *host, const RemoteBatch *batch, HttpDeferred *deferred)
{
    const bool is_same = batch->is_again && host->number == batch->number &&
                         host->job_count == batch->job_count &&
                         strcmp(host->world_id, batch->world_id) == 0 &&
                         memcmp(host->boot, batch->boot, sizeof host->boot) == 0;
    if (!is_same || (host->waiting == 0 && host->reply == NULL)) {
        return false;
    }
    refuse_batch(host->deferred, 409, "again", "this batch was sent again");
    host->deferred = deferred;
    if (host->waiting == 0) {
        send_reply(host);
    }
    return true;
}

// On the main thread, with the place of its world open, or gone.
static bool take_batch(Serve *serve, HttpDeferred *deferred, HttpResponse *response)
{
    HttpRequest *request = http_deferred_request(deferred);
    size_t bytes = 0;
    const uint8_t *body = http_body(request, &bytes);
    RemoteBatch batch;
    char host_id[65];
    const Status status = remote_batch_read(body, bytes, &batch, serve->hosts->jobs);
    ASSERT(status == STATUS_OK); // it was read before
    remote_host_id(serve_host_key(request), batch.world_id, host_id);
    RemoteHost *host = find_slot(serve, host_id);
    if (host == NULL) {
        http_fail(request, response, 503, "busy", "too many hosts ask at once; try again");
        return true;
    }
    host->used_ns = clock_ns();
    if (is_repeated(host, &batch, deferred)) {
        return false;
    }
    if (host->waiting > 0) {
        http_fail(request, response, 503, "busy", "the batch before this one is not stored yet");
        return true;
    }
    host->deferred = deferred;
    run_batch(host, &batch, serve->hosts->jobs);
    return false;
}

typedef struct BatchWish {
    PlaceWish wish; // first
    HttpDeferred *deferred;
} BatchWish;

static void place_is_open(PlaceWish *wish)
{
    HttpDeferred *deferred = ((BatchWish *)wish)->deferred;
    HttpResponse response = http_response_default();
    if (wish->refusal == PLACE_BUSY || wish->refusal == PLACE_FULL ||
        wish->refusal == PLACE_STOPPING) {
        places_refuse(http_deferred_request(deferred), &response, wish->refusal, false);
    } else if (!take_batch(wish->serve, deferred, &response)) {
        return;
    }
    http_complete(deferred, &response);
}

// After a restart of this server a host goes on with its world: its place is opened first.
bool remote_hosts_batch(void *user, HttpDeferred *deferred, HttpResponse *response)
{
    Serve *serve = user;
    HttpRequest *request = http_deferred_request(deferred);
    size_t bytes = 0;
    const uint8_t *body = http_body(request, &bytes);
    RemoteBatch batch;
    if (remote_batch_read(body, bytes, &batch, serve->hosts->jobs) != STATUS_OK ||
        batch.world_id[0] == '\0') {
        http_fail(request, response, 400, "malformed", "this is no batch");
        return true;
    }
    const HostWorld *world = host_world(serve->host, batch.world_id);
    if (world == NULL || host_world_view(world).place != NULL) {
        return take_batch(serve, deferred, response);
    }
    BatchWish *wait = arena_alloc(http_arena(request), sizeof *wait);
    if (wait == NULL) {
        http_fail(request, response, 503, "busy", "out of memory; try again");
        return true;
    }
    *wait =
        (BatchWish){.wish = {.has_every_right = true, .then = place_is_open}, .deferred = deferred};
    memcpy(wait->wish.place_id, host_world_view(world).row->place_id, sizeof wait->wish.place_id);
    places_wish(serve, &wait->wish);
    return false;
}

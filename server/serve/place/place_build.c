// See place_build.h.
#define _GNU_SOURCE
#include "server/serve/place/place_build.h"

#include "core/base/utf8.h"
#include "core/script/vm/vm.h"
#include "server/build/place/place_file.h"
#include "server/control/order/bans.h"
#include "server/control/order/chat.h"
#include "server/control/order/rights.h"
#include "server/serve/place/place_reload.h"
#include "server/serve/place/revision_folder.h"
#include "server/serve/publish/spell_bundle.h"
#include "server/serve/publish/spell_use.h"
#include "server/store/people/store_audit.h"
#include "server/store/place/store_publish.h"
#include "server/sys/clock.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define RECOVERED_MAX 200 // of one start; there are at most JOBS_WAIT_MAX and those that ran

// --- ids of revisions ---------------------------------------------------------------------------

void revision_id_write(uint32_t revision, char out[REVISION_ID_BYTES])
{
    snprintf(out, REVISION_ID_BYTES, "r%u", revision);
}

bool revision_id_read(const char *text, uint32_t *revision)
{
    char again[REVISION_ID_BYTES];
    if (text == NULL || text[0] != 'r' || strlen(text) >= REVISION_ID_BYTES) {
        return false;
    }
    const unsigned long number = strtoul(text + 1, NULL, 10);
    if (number == 0 || number >= UINT32_MAX) {
        return false;
    }
    revision_id_write((uint32_t)number, again);
    *revision = (uint32_t)number;
    return strcmp(again, text) == 0;
}

void place_build_record(Serve *serve, uint64_t account, const char *place_id, const char *channel,
                        uint32_t number)
{
    StoreAudit row = {.unix_ms = clock_unix_ms(), .account_id = account};
    snprintf(row.action, sizeof row.action, "channel");
    snprintf(row.detail, sizeof row.detail, "place_id=%s channel=%s revision=%u", place_id, channel,
             number);
    if (store_audit_add(serve->store, &row) != STATUS_OK) {
        serve_log(LOG_WARN, "places", "not in the audit: %s", row.detail);
    }
}

// --- the work of a job --------------------------------------------------------------------------

typedef struct Work {
    Serve *serve;
    StoreRevision revision;
    bool is_spell;
    bool is_refused; // its package
    SpellRecord spells;
    uint64_t begin_ns, ready_ns;
} Work;

static Status prepare(void *user, const atomic_bool *cancel, char folder[PATH_MAX],
                      char spells[PATH_MAX], char reason[WORKER_REASON_BYTES])
{
    Work *work = user;
    StorePackage package;
    _Static_assert(SERVE_PATH_BYTES <= PATH_MAX, "the folder fits");
    work->begin_ns = clock_ns();
    Status status = revision_folder_make(work->serve, &work->revision, cancel, folder, reason);
    work->is_refused = status == STATUS_MALFORMED;
    if (status == STATUS_OK) {
        status = store_package_find(work->serve->store, work->revision.package_id, &package);
        work->is_spell = status == STATUS_OK && package.kind == STORE_SPELL;
    }
    if (status == STATUS_OK && !work->is_spell) {
        status =
            spell_use_revision(work->serve, &work->revision, folder, &work->spells, spells, reason);
    }
    work->ready_ns = clock_ns();
    return status;
}

static Status keep_blob(Serve *serve, StoreBuilt *built, StoreBlobPurpose purpose, const void *data,
                        size_t bytes)
{
    StoreBlobRef *blob = &built->blobs[built->blob_count];
    if (data == NULL || bytes == 0) {
        return STATUS_OK;
    }
    const Status status = blob_put(serve->blobs, data, bytes, blob->hash);
    if (status == STATUS_OK) {
        blob->purpose = purpose;
        blob->bytes = bytes;
        built->blob_count += 1;
    }
    return status;
}

// The Lua of a module: what was made of its .soul, or the file itself, which the caller frees.
static Status read_module(const char *folder, const BuildRune *rune, char **text, size_t *bytes)
{
    char path[SCRIPT_PATH_BYTES + 8];
    if (rune->lua != NULL) {
        *text = malloc(rune->lua_bytes + 1);
        *bytes = rune->lua_bytes;
        return *text != NULL ? (memcpy(*text, rune->lua, *bytes), STATUS_OK) : STATUS_LIMIT;
    }
    snprintf(path, sizeof path, "%s.lua", rune->path);
    return place_file_read(folder, path, VM_SOURCE_BYTES_MAX, (uint8_t **)text, bytes);
}

// All modules of a spell, the one of its own name first.
static Status read_modules(const char *spell_id, const char *folder, const BuildResult *result,
                           SpellBundle *out)
{
    char first[SPELL_PATH_BYTES];
    Status status = STATUS_OK;
    spell_module_path(spell_id, "", "", first);
    const size_t bytes = strlen(first) - 1; // without the "."
    for (uint32_t i = 0; i < result->rune_count && status == STATUS_OK; i++) {
        const BuildRune *rune = &result->runes[i];
        if (strncmp(rune->path, first, bytes) != 0 || out->count == SPELL_MODULES_MAX) {
            continue; // the library of TypeScript
        }
        SpellModule *module = &out->modules[out->count++];
        char *text = NULL;
        status = read_module(folder, rune, &text, &module->bytes);
        module->text = text;
        snprintf(module->name, sizeof module->name, "%s",
                 rune->path[bytes] == '/' ? rune->path + bytes + 1 : "");
    }
    return out->count > 0 && out->modules[0].name[0] != '\0' ? STATUS_MALFORMED : status;
}

static Status keep_module(Serve *serve, StoreBuilt *built, const BuildResult *result)
{
    char folder[SERVE_PATH_BYTES], reason[WORKER_REASON_BYTES];
    Buffer text = buffer_of(SPELL_BUNDLE_BYTES_MAX);
    SpellBundle *bundle = calloc(1, sizeof *bundle);
    StoreRevision revision;
    Status status = store_revision_find(serve->store, built->package_id, built->number, &revision);
    status = bundle == NULL ? STATUS_LIMIT : status;
    if (status == STATUS_OK) {
        status = revision_folder_open(serve, &revision, folder, reason);
    }
    if (status == STATUS_OK) {
        status = read_modules(built->package_id, folder, result, bundle);
    }
    if (status == STATUS_OK) {
        spell_bundle_write(bundle, &text);
        status = text.status;
    }
    if (status == STATUS_OK) {
        status = keep_blob(serve, built, STORE_BLOB_MODULE, text.data, text.bytes);
    }
    for (uint32_t i = 0; bundle != NULL && i < bundle->count; i++) {
        free((void *)bundle->modules[i].text); // NOLINT: ours
    }
    free(bundle);
    buffer_free(&text);
    return status;
}

static Status keep_blobs(const Work *work, StoreBuilt *built, const BuildResult *result)
{
    Serve *serve = work->serve;
    Status status =
        keep_blob(serve, built, STORE_BLOB_MANIFEST, result->manifest, result->manifest_bytes);
    if (status == STATUS_OK) {
        status = keep_blob(serve, built, STORE_BLOB_CLIENT_MANIFEST, result->client_manifest,
                           result->client_manifest_bytes);
    }
    if (status == STATUS_OK) {
        status = keep_blob(serve, built, STORE_BLOB_THUMBNAIL, result->thumbnail,
                           result->thumbnail_bytes);
    }
    if (status == STATUS_OK && work->is_spell) {
        return keep_module(serve, built, result);
    }
    spell_use_keep(&work->spells, built);
    return status;
}

// Why it failed, with the errors of its scripts: file, line and message, one in a line.
static void write_reason(const JobStatus *status, char out[STORE_NOTES_BYTES])
{
    size_t at = (size_t)snprintf(out, STORE_NOTES_BYTES, "%s", status->reason);
    for (uint32_t i = 0; i < status->log_count && at < STORE_NOTES_BYTES; i++) {
        if (strstr(status->log[i], ": error: ") != NULL &&
            strlen(status->log[i]) + 1 < STORE_NOTES_BYTES - at) {
            at += (size_t)snprintf(out + at, STORE_NOTES_BYTES - at, "\n%s", status->log[i]);
        }
    }
    utf8_clean(out);
}

static void log_end(const Work *work, const JobStatus *status, uint64_t built_ns)
{
    const uint64_t ms = 1000000;
    serve_log(LOG_INFO, "build", "%s r%u %s: unpacked in %u ms, built in %u ms, stored in %u ms",
              work->revision.package_id, work->revision.revision,
              status->state == JOB_DONE ? "is ready" : "has failed",
              (unsigned)((work->ready_ns - work->begin_ns) / ms),
              (unsigned)((built_ns - work->ready_ns) / ms),
              (unsigned)((clock_ns() - built_ns) / ms));
}

// Players read the name of place.json in the game, and it is the title of a place that was uploaded
// without one: the operator's words hold for it as they do for titles. False: the reason says so.
static bool may_be_called(const Work *work, const BuildResult *result, char text[STORE_NOTES_BYTES],
                          char reason[WORKER_REASON_BYTES])
{
    if (result == NULL || !control_has_word(work->serve->control, result->facts.name)) {
        return true;
    }
    snprintf(reason, WORKER_REASON_BYTES,
             "place.json: $.name has a word that is not allowed here; choose another name");
    snprintf(text, STORE_NOTES_BYTES, "%s", reason);
    return false;
}

// A build takes long enough for whoever began it to lose the right to publish: asked again before a
// channel names it.
static bool may_publish(Serve *serve, const StoreRevision *revision)
{
    StorePackage package;
    StoreAccount maker;
    StoreBan ban;
    uint32_t rights = 0;
    if (control_find_ban(serve->control, revision->maker_id, "", BAN_ENTER, &ban) ||
        store_account_find(serve->store, revision->maker_id, &maker) != STATUS_OK) {
        return false;
    }
    const Identity who = {.account = maker.account_id, .roles = maker.roles};
    return rights_find(serve->store, revision->package_id, &who, &package, &rights) == STATUS_OK &&
           (rights & RIGHT_EDIT) != 0;
}

// Worlds may run what the channel named before: the job says what becomes of them (place_reload.h).
static void await_reload(const Work *work, const char *channel)
{
    char place_id[PLACE_KEY_BYTES + sizeof PLACE_DRAFT_ENDING];
    const bool is_beta = strcmp(channel, place_channel_name(PLACE_BETA)) == 0;
    snprintf(place_id, sizeof place_id, "%.64s%s", work->revision.package_id,
             place_channel_ending(is_beta ? PLACE_BETA : PLACE_LIVE));
    ServePlace *place = channel[0] != '\0' ? places_find_id(work->serve, place_id) : NULL;
    if (place != NULL) {
        const JobReload waiting = {.state = JOB_RELOAD_WAITING};
        job_set_reload(serve_jobs(work->serve), work->revision.job_id, &waiting);
    }
    serve_place_release(place);
}

static Status ended(void *user, const JobStatus *status, const BuildResult *result,
                    char reason[WORKER_REASON_BYTES])
{
    Work *work = user;
    Serve *serve = work->serve;
    char text[STORE_NOTES_BYTES] = "";
    const uint64_t built_ns = clock_ns();
    StoreBuilt built = {.package_id = work->revision.package_id,
                        .number = work->revision.revision,
                        .state = status->state == JOB_DONE ? STORE_REVISION_READY
                                                           : STORE_REVISION_FAILED,
                        .reason = text,
                        .title = result != NULL ? result->facts.name : NULL,
                        .drops_package = work->is_refused,
                        .now_unix_ms = clock_unix_ms()};
    const bool is_refused = !may_be_called(work, result, text, reason);
    if (status->state != JOB_DONE) {
        write_reason(status, text);
    } else if (is_refused) {
        built.state = STORE_REVISION_FAILED;
    } else if (work->revision.reason[0] != '\0' && !may_publish(serve, &work->revision)) {
        built.keeps_channels = true;
        snprintf(reason, WORKER_REASON_BYTES,
                 "it is built, but %.4s stays as it is: whoever began this may not publish here "
                 "any more",
                 work->revision.reason);
        snprintf(text, sizeof text, "%s", reason);
    }
    Status stored = result != NULL && !is_refused ? keep_blobs(work, &built, result) : STATUS_OK;
    if (stored == STATUS_OK) {
        stored = store_revision_built(serve->store, &built);
    }
    if (stored != STATUS_OK) {
        snprintf(reason, WORKER_REASON_BYTES, "%s",
                 stored == STATUS_NOT_FOUND ? "the place was deleted meanwhile"
                                            : "the result could not be stored");
        return stored;
    }
    if (is_refused) {
        return STATUS_DENIED;
    }
    log_end(work, status, built_ns);
    if (built.channel[0] != '\0') {
        place_build_record(serve, work->revision.maker_id, work->revision.package_id, built.channel,
                           work->revision.revision);
    }
    if (built.state == STORE_REVISION_READY && !work->is_spell) { // live or beta may name it now
        await_reload(work, built.channel);
        serve_place_changed(serve, work->revision.package_id);
    }
    return STATUS_OK;
}

static void release(void *user)
{
    free(user);
}

// --- the queue ----------------------------------------------------------------------------------

// Whoever saved is told without the paths of this machine; who runs it wants them.
static void log_failure(void *user, const char *reason)
{
    (void)user;
    serve_log(LOG_ERROR, "build", "a build failed: %s", reason);
}

JobQueue *serve_jobs(Serve *serve)
{
    pthread_mutex_lock(&serve->build_lock);
    if (serve->jobs == NULL) {
        const BuildConfig config = serve_build_config(serve);
        // With one place one at a time: only one build of it runs anyway.
        const uint32_t at_a_time = serve->config.many ? JOBS_AT_A_TIME : 1;
        if (job_queue_create(&config, at_a_time, &serve->jobs) == STATUS_OK) {
            job_queue_listen(serve->jobs, log_failure, NULL);
            job_queue_built(serve->jobs, place_reload_built, serve);
            if (serve->config.dev) { // somebody waits for each of them
                job_queue_keep_priority(serve->jobs);
            }
            if (serve->control != NULL) {
                job_queue_spells(serve->jobs, spell_use_draft, serve);
                job_queue_hide_cache(serve->jobs);
            }
        }
    }
    JobQueue *queue = serve->jobs;
    pthread_mutex_unlock(&serve->build_lock);
    return queue;
}

void serve_jobs_stop(Serve *serve)
{
    job_queue_destroy(serve->jobs);
    serve->jobs = NULL;
}

bool place_build_reserve(Serve *serve, uint64_t account, char id[JOB_ID_BYTES],
                         HttpRequest *request, HttpResponse *response)
{
    JobQueue *queue = serve_jobs(serve);
    id[0] = '\0';
    const Status status =
        queue != NULL ? job_reserve(queue, account, JOBS_PER_ACCOUNT_MAX, id) : STATUS_LIMIT;
    if (status == STATUS_DENIED) {
        http_fail(request, response, 429, "too_many_builds",
                  "so many builds of yours wait or run already; try again when one has ended");
        response->retry_after_s = 10;
    } else if (status != STATUS_OK) {
        http_fail(request, response, 503, "too_many_builds",
                  "too many builds wait on this server; try again later");
        response->retry_after_s = 30;
    }
    return status == STATUS_OK;
}

void place_build_begin(Serve *serve, const StoreRevision *revision)
{
    char id[REVISION_ID_BYTES];
    JobQueue *queue = serve_jobs(serve);
    Work *work = calloc(1, sizeof *work);
    revision_id_write(revision->revision, id);
    if (work == NULL) { // the next start builds it
        job_drop(queue, revision->job_id);
        return;
    }
    *work = (Work){.serve = serve, .revision = *revision};
    const JobWork given = {prepare, ended, release, work};
    job_begin(queue, revision->job_id, id, &given);
}

// --- the next life ------------------------------------------------------------------------------

typedef struct Recovery {
    StoreRevision *revisions;
    uint32_t count;
} Recovery;

static void collect(void *user, const StoreRevision *revision)
{
    Recovery *recovery = user;
    if (recovery->count < RECOVERED_MAX) {
        recovery->revisions[recovery->count++] = *revision;
    }
}

void place_build_recover(Serve *serve)
{
    Recovery recovery = {.revisions = calloc(RECOVERED_MAX, sizeof(StoreRevision))};
    if (serve->control == NULL || recovery.revisions == NULL ||
        store_revisions_building(serve->store, collect, &recovery) != STATUS_OK) {
        free(recovery.revisions);
        return;
    }
    for (uint32_t i = 0; i < recovery.count; i++) {
        StoreRevision *revision = &recovery.revisions[i];
        JobQueue *queue = serve_jobs(serve);
        if (queue != NULL && strlen(revision->job_id) == JOB_ID_BYTES - 1 &&
            job_reserve(queue, revision->maker_id, 0, revision->job_id) == STATUS_OK) {
            serve_log(LOG_INFO, "build", "%s r%u is built again", revision->package_id,
                      revision->revision);
            place_build_begin(serve, revision);
        }
    }
    free(recovery.revisions);
}

// --- asking -------------------------------------------------------------------------------------

void place_build_status(Serve *serve, const StoreRevision *revision, JobStatus *out)
{
    JobQueue *queue = serve_jobs(serve);
    if (queue != NULL && job_status(queue, revision->job_id, out) == STATUS_OK) {
        return;
    }
    *out = (JobStatus){.state = revision->state == STORE_REVISION_READY    ? JOB_DONE
                                : revision->state == STORE_REVISION_FAILED ? JOB_FAILED
                                                                           : JOB_WAITING,
                       .queued_unix_ms = revision->created_unix_ms};
    out->stage = out->state == JOB_DONE ? BUILD_DONE : BUILD_READ;
    out->hides_cache = true;
    snprintf(out->id, sizeof out->id, "%s", revision->job_id);
    revision_id_write(revision->revision, out->result_id);
    if (out->state != JOB_WAITING) { // until then it is the channel
        snprintf(out->reason, sizeof out->reason, "%.*s", (int)sizeof out->reason - 1,
                 revision->reason);
        utf8_clean(out->reason);
    }
}

// See place_reload.h. The main thread alone changes what is here; HTTP threads read it under the
// lock of places.
#define _GNU_SOURCE
#include "server/serve/place/place_reload.h"

#include "core/base/utf8.h"
#include "server/host/host_reload.h"
#include "server/serve/http/http_routes.h"
#include "server/serve/http/time_text.h"
#include "server/serve/place/dev.h"
#include "server/serve/place/place_build.h"
#include "server/serve/place/places_inside.h"
#include "server/serve/remote/remote_worlds.h"
#include "server/serve/remote/serve_remote.h"
#include "server/sys/clock.h"

#include <stdio.h>
#include <stdlib.h>

#define RESTART_REASON "the place was changed; it starts again at once"

// --- what became of them ------------------------------------------------------------------------

// The one that was begun with that tag; NULL: it is forgotten, or the tag is 0, which is nobody's.
static PlaceReload *find_tag(const Serve *serve, uint64_t tag)
{
    struct Places *places = serve->places;
    PlaceReload *reload = &places->reloads[tag % PLACE_RELOADS_MAX];
    return tag != 0 && reload->tag == tag ? reload : NULL;
}

static void tell_job(Serve *serve, const PlaceReload *reload)
{
    if (reload->job_id[0] != '\0') {
        job_set_reload(serve_jobs(serve), reload->job_id, &reload->result);
    }
}

// Its job, the log, and who watches.
static void report_reload(Serve *serve, const PlaceReload *reload)
{
    const JobReload *result = &reload->result;
    tell_job(serve, reload);
    if (result->state != JOB_RELOAD_NONE && result->state != JOB_RELOAD_WAITING) {
        const bool is_bad = result->state == JOB_RELOAD_REFUSED || result->state == JOB_ROLLED_BACK;
        serve_log(is_bad ? LOG_WARN : LOG_INFO, "places", "%s: %s: %u %s, manifest %u%s%s",
                  reload->place_id, job_reload_name(result->state), result->worlds,
                  result->worlds == 1 ? "world" : "worlds", result->manifest_version,
                  is_bad ? ": " : "", result->reason);
    }
    dev_reloaded(serve, reload);
}

static PlaceReload *make_reload(Serve *serve, const char *place_id, const char *job_id,
                                uint64_t since_ns)
{
    struct Places *places = serve->places;
    const uint64_t tag = ++places->reload_tag;
    PlaceReload *reload = &places->reloads[tag % PLACE_RELOADS_MAX];
    pthread_mutex_lock(&places->mutex);
    *reload = (PlaceReload){.tag = tag, .since_ns = since_ns, .unix_ms = clock_unix_ms()};
    snprintf(reload->place_id, sizeof reload->place_id, "%s", place_id);
    snprintf(reload->job_id, sizeof reload->job_id, "%s", job_id);
    pthread_mutex_unlock(&places->mutex);
    return reload;
}

// The worse of two: several worlds may answer differently.
static JobReloadState worse(JobReloadState a, JobReloadState b)
{
    return a > b ? a : b;
}

static void note_world(JobReload *now, const char *world_id, JobReloadState state,
                       const char *reason)
{
    uint32_t at = 0;
    while (at < now->each_count && strcmp(now->each[at].world_id, world_id) != 0) {
        at += 1;
    }
    if (at == JOB_RELOAD_WORLDS) {
        return; // they are counted
    }
    JobReloadWorld *world = &now->each[at];
    now->each_count += at == now->each_count;
    snprintf(world->world_id, sizeof world->world_id, "%s", world_id);
    world->state = state;
    if (reason[0] != '\0') {
        snprintf(world->reason, sizeof world->reason, "%s", reason);
        world->reason[utf8_cut(world->reason, strlen(world->reason), sizeof world->reason - 1)] =
            '\0';
    }
}

static bool is_settled(const PlaceReload *reload)
{
    return reload->is_begun && reload->waiting == 0 && reload->tried == 0;
}

static void note(PlaceReload *reload, const char *world_id, HostReloadResult result,
                 uint32_t version, const char *reason)
{
    static const JobReloadState states[HOST_RELOAD_RESULT_COUNT] = {
        [HOST_RELOAD_SWITCHED] = JOB_RELOADED,      [HOST_RELOAD_GOOD] = JOB_RELOADED,
        [HOST_RELOAD_REFUSED] = JOB_RELOAD_REFUSED, [HOST_RELOAD_REPLACED] = JOB_RELOAD_REFUSED,
        [HOST_RELOAD_FAILED] = JOB_ROLLED_BACK,     [HOST_RELOAD_RESTORED] = JOB_ROLLED_BACK};
    JobReload *now = &reload->result;
    const bool is_first = result <= HOST_RELOAD_GOOD || states[result] == JOB_RELOAD_REFUSED;
    reload->waiting -= is_first && reload->waiting > 0;
    reload->tried += result == HOST_RELOAD_SWITCHED;
    reload->tried -= result == HOST_RELOAD_FAILED && reload->tried > 0;
    now->state = worse(now->state, states[result]);
    now->worlds += result == HOST_RELOAD_SWITCHED;
    now->worlds -= result == HOST_RELOAD_FAILED && now->worlds > 0;
    now->manifest_version = version > now->manifest_version ? version : now->manifest_version;
    if (result == HOST_RELOAD_REPLACED) {
        reason = "a newer one took its place";
    }
    if (reason[0] != '\0') {
        snprintf(now->reason, sizeof now->reason, "%s", reason);
    }
    note_world(now, world_id, states[result], reason);
    now->is_settled = is_settled(reload);
}

// It was tried for long enough.
static void found_good(Serve *serve, PlaceReload *reload)
{
    pthread_mutex_lock(&serve->places->mutex);
    reload->tried -= reload->tried > 0;
    reload->result.is_settled = is_settled(reload);
    pthread_mutex_unlock(&serve->places->mutex);
    tell_job(serve, reload);
}

void serve_reloaded(void *user, uint64_t tag, const HostWorld *world, HostReloadResult result,
                    uint32_t version, const char *reason)
{
    Serve *serve = user;
    PlaceReload *reload = find_tag(serve, tag);
    if (serve->remote != NULL) {
        serve_remote_replaced(serve);
    }
    const bool is_replaced = result == HOST_RELOAD_REPLACED;
    if (reload != NULL && result == HOST_RELOAD_GOOD && reload->tried > 0) {
        found_good(serve, reload);
    }
    if (reload == NULL || result == HOST_RELOAD_GOOD || (is_replaced && reload->waiting == 0)) {
        return; // what was switched to has been told, also if a newer one has followed
    }
    pthread_mutex_lock(&serve->places->mutex);
    note(reload, host_world_view(world).row->world_id, result, version, reason);
    pthread_mutex_unlock(&serve->places->mutex);
    if (result == HOST_RELOAD_RESTORED) {
        tell_job(serve, reload); // the others know since it failed
    } else if (reload->waiting == 0 && reload->is_begun) {
        report_reload(serve, reload);
    }
}

// --- the worlds ---------------------------------------------------------------------------------

bool place_reload_starts_again(const Serve *serve, const StoreWorld *row)
{
    if (serve->remote != NULL) { // what its row says is known to the control plane
        return serve_reload_is_now(serve);
    }
    return row->is_named || row->is_private || serve->config.dev ||
           place_id_channel(row->place_id) == PLACE_DRAFT;
}

static bool is_same_text(const void *a, size_t a_bytes, const void *b, size_t b_bytes)
{
    return a_bytes == b_bytes && (a_bytes == 0 || memcmp(a, b, a_bytes) == 0);
}

// What a world and its players have of it besides scripts is the same. Which assets there are is
// told to players when they come in.
static bool is_same_but_scripts(const HostPlace *running, const HostPlace *place)
{
    const BuildResult *a = &running->built, *b = &place->built;
    return host_place_is_same_but_scripts(running, place) &&
           is_same_text(a->asset_list, a->asset_list_bytes, b->asset_list, b->asset_list_bytes);
}

static void note_restart(PlaceReload *reload, const char *world_id)
{
    reload->result.worlds += 1;
    reload->result.state = worse(reload->result.state, JOB_RESTARTED);
    note_world(&reload->result, world_id, JOB_RESTARTED, "");
}

void place_reload_restarted(Serve *serve, uint64_t tag, const char *world_id)
{
    PlaceReload *reload = find_tag(serve, tag);
    if (reload == NULL) {
        return;
    }
    pthread_mutex_lock(&serve->places->mutex);
    note_restart(reload, world_id);
    reload->waiting -= reload->waiting > 0;
    reload->result.is_settled = is_settled(reload);
    pthread_mutex_unlock(&serve->places->mutex);
    if (reload->waiting == 0 && reload->is_begun) {
        report_reload(serve, reload);
    }
}

static void bring(Serve *serve, HostWorld *world, HostPlace *place, PlaceReload *reload)
{
    pthread_mutex_t *mutex = &serve->places->mutex;
    const HostWorldView view = host_world_view(world);
    if (view.state == WORLD_RUNNING && is_same_but_scripts(view.place, place)) {
        pthread_mutex_lock(mutex);
        reload->waiting += 1;
        reload->result.state =
            reload->result.state == JOB_RELOAD_NONE ? JOB_RELOAD_WAITING : reload->result.state;
        pthread_mutex_unlock(mutex);
        host_world_reload(world, place, reload->tag);
    } else if (view.state == WORLD_STARTING || place_reload_starts_again(serve, view.row)) {
        // In one that has only begun to start there is nobody yet.
        pthread_mutex_lock(mutex);
        note_restart(reload, view.row->world_id);
        pthread_mutex_unlock(mutex);
        host_world_restart(world, RESTART_REASON);
    }
}

static bool is_up(const HostWorldView *view)
{
    return view->state == WORLD_STARTING || view->state == WORLD_RUNNING;
}

// On another machine. The answer of one that goes on with its old form until it is empty is not
// waited for.
static void bring_elsewhere(Serve *serve, const HostWorld *world, PlaceReload *reload)
{
    const ServePlace *place = places_current(serve, reload->place_id);
    if (place != NULL && remote_world_reload(serve, world, place, reload->tag)) {
        pthread_mutex_lock(&serve->places->mutex);
        reload->waiting += 1;
        reload->result.state = worse(reload->result.state, JOB_RELOAD_WAITING);
        pthread_mutex_unlock(&serve->places->mutex);
    }
}

uint64_t place_reload_begin(Serve *serve, HostPlace *place, const char *job_id, uint64_t since_ns)
{
    PlaceReload *reload = make_reload(serve, place->place_id, job_id, since_ns);
    reload->build_ms = (uint32_t)place->built.took_ms;
    for (uint32_t i = 0; i < host_world_count(serve->host); i++) {
        HostWorld *world = host_world_at(serve->host, i);
        const HostWorldView view = host_world_view(world);
        if (strcmp(view.row->place_id, place->place_id) == 0 && is_up(&view) &&
            view.place != place) {
            bring(serve, world, place, reload);
        } else if (strcmp(view.row->place_id, place->place_id) == 0 && !is_up(&view)) {
            bring_elsewhere(serve, world, reload);
        }
    }
    pthread_mutex_lock(&serve->places->mutex);
    reload->is_begun = true;
    reload->result.is_settled = is_settled(reload);
    pthread_mutex_unlock(&serve->places->mutex);
    if (reload->waiting == 0) { // else the last world that answers does
        report_reload(serve, reload);
    }
    return reload->tag;
}

bool place_reload_result(const Serve *serve, uint64_t tag, JobReload *out)
{
    const PlaceReload *reload = find_tag(serve, tag);
    if (reload != NULL) {
        *out = reload->result;
    }
    return reload != NULL;
}

// --- what was built -----------------------------------------------------------------------------

// A place from the queue of builds, on its way to the main thread.
struct PlaceBuilt {
    PlaceBuilt *next;
    ServePlace *place;
    char job_id[JOB_ID_BYTES];
    uint64_t since_ns;
};

static bool is_same_rune(const BuildRune *a, const BuildRune *b)
{
    return strcmp(a->path, b->path) == 0 && memcmp(a->hash, b->hash, sizeof a->hash) == 0 &&
           a->context == b->context && a->replicate == b->replicate && a->language == b->language;
}

// Nothing that a world or a player gets has changed.
static bool is_same(const BuildResult *a, const BuildResult *b)
{
    bool same =
        a->rune_count == b->rune_count &&
        is_same_text(a->whole, a->whole_bytes, b->whole, b->whole_bytes) &&
        is_same_text(a->asset_list, a->asset_list_bytes, b->asset_list, b->asset_list_bytes);
    for (uint32_t i = 0; i < a->rune_count && same; i++) {
        same = is_same_rune(&a->runes[i], &b->runes[i]);
    }
    return same;
}

static JobReload refused(const char *reason)
{
    JobReload reload = {.state = JOB_RELOAD_REFUSED, .is_settled = true};
    snprintf(reload.reason, sizeof reload.reason, "%s", reason);
    return reload;
}

void place_reload_broken(Serve *serve, const char *job_id, const char *reason)
{
    if (job_id[0] != '\0' && serve_jobs(serve) != NULL) {
        const JobReload result = refused(reason);
        job_set_reload(serve_jobs(serve), job_id, &result);
    }
}

// When it was changed, as a time of clock_ns.
static uint64_t since_of(const JobStatus *status)
{
    const uint64_t now_ms = clock_unix_ms(), ms = 1000000;
    return clock_ns() -
           (now_ms > status->queued_unix_ms ? (now_ms - status->queued_unix_ms) * ms : 0);
}

// The place under this id, if what was built is to replace it.
static JobReload give_to_host(Serve *serve, const char *place_id, uint32_t number,
                              const char *folder, const JobStatus *status, BuildResult *result)
{
    struct Places *places = serve->places;
    char reason[WORKER_REASON_BYTES] = "";
    const HostPlaceConfig config = {.place_id = place_id,
                                    .folder = folder,
                                    .player_max = serve->config.player_max,
                                    .development = serve->development};
    PlaceBuilt *built = calloc(1, sizeof *built);
    HostPlace *place = NULL;
    Status made = built != NULL ? host_place_create(&config, result, &place, reason, sizeof reason)
                                : STATUS_LIMIT;
    if (made == STATUS_OK) {
        made = serve_place_create(serve, place, number, &built->place);
    }
    if (made != STATUS_OK) {
        free(built);
        return refused(reason[0] != '\0' ? reason : status_text(made));
    }
    built->since_ns = since_of(status);
    memcpy(built->job_id, status->id, sizeof built->job_id);
    pthread_mutex_lock(&places->mutex);
    PlaceBuilt **last = &places->built;
    while (*last != NULL) {
        last = &(*last)->next;
    }
    *last = built; // the newest comes last
    pthread_mutex_unlock(&places->mutex);
    places_wake(serve);
    return (JobReload){.state = JOB_RELOAD_WAITING};
}

JobReload place_reload_built(void *user, const char *folder, const JobStatus *status,
                             BuildResult *result)
{
    Serve *serve = user;
    char place_id[PLACE_KEY_BYTES + sizeof PLACE_DRAFT_ENDING];
    const uint32_t number = serve->config.dev ? 0 : PLACE_DRAFT_NUMBER;
    const bool is_done = status->state == JOB_DONE;
    if (serve->config.dev) {
        snprintf(place_id, sizeof place_id, "%s", serve->default_place);
    } else if (serve->control != NULL) { // the folder of a draft has the name of its place
        const char *name = strrchr(folder, '/');
        snprintf(place_id, sizeof place_id, "%.64s" PLACE_DRAFT_ENDING,
                 name != NULL ? name + 1 : folder);
    } else {
        return (JobReload){0};
    }
    ServePlace *now = places_find_id(serve, place_id);
    const bool is_wanted = now != NULL && !(is_done && is_same(&now->place->built, result));
    serve_place_release(now);
    if (serve->config.dev && is_wanted && dev_is_stale(status)) {
        return (JobReload){0};
    }
    if (serve->config.dev && is_wanted) {
        dev_built(serve, status, result);
    }
    return is_wanted && is_done ? give_to_host(serve, place_id, number, folder, status, result)
                                : (JobReload){0};
}

void place_reload_draft(Serve *serve, const char *package_id, uint64_t account,
                        char job_id[JOB_ID_BYTES])
{
    char place_id[PLACE_KEY_BYTES + sizeof PLACE_DRAFT_ENDING], folder[DRAFT_PATH_BYTES];
    bool joined = false;
    job_id[0] = '\0';
    snprintf(place_id, sizeof place_id, "%.64s" PLACE_DRAFT_ENDING, package_id);
    ServePlace *place = places_find_id(serve, place_id);
    JobQueue *queue = place != NULL ? serve_jobs(serve) : NULL;
    serve_place_release(place);
    if (queue != NULL && draft_folder(serve->drafts, package_id, folder) == STATUS_OK) {
        const JobWish wish = {.place = folder, .writes = true, .account = account};
        status_ignore(job_start_for(queue, &wish, job_id, &joined)); // a later write builds it
    }
}

uint64_t place_reload_take(Serve *serve, ServePlace *fresh, const char *job_id, uint64_t since_ns)
{
    HostPlace *place = fresh->place;
    const ServePlace *old = places_current(serve, place->place_id);
    if (old == NULL) { // it was closed meanwhile
        serve_place_release(fresh);
        return 0;
    }
    place->needs_ticket = old->place->needs_ticket;
    place->is_hidden = old->place->is_hidden;
    atomic_store(&fresh->is_private, atomic_load(&old->is_private));
    host_add_place(serve->host, host_place_hold(place));
    places_put(serve, fresh);
    return place_reload_begin(serve, place, job_id, since_ns);
}

void place_reload_step(Serve *serve)
{
    struct Places *places = serve->places;
    pthread_mutex_lock(&places->mutex);
    PlaceBuilt *all = places->built;
    places->built = NULL;
    pthread_mutex_unlock(&places->mutex);
    for (PlaceBuilt *built = all, *next; built != NULL; built = next) {
        next = built->next;
        (void)place_reload_take(serve, built->place, built->job_id, built->since_ns);
        free(built);
    }
}

void place_reload_end(Serve *serve)
{
    struct Places *places = serve->places;
    for (PlaceBuilt *built = places->built, *next; built != NULL; built = next) {
        next = built->next;
        serve_place_release(built->place);
        free(built);
    }
    places->built = NULL;
}

// --- for those who work on it -------------------------------------------------------------------

static void write_one(const PlaceReload *reload, JsonWriter *json)
{
    json_write_object_begin(json);
    serve_write_member(json, "channel", place_channel_name(place_id_channel(reload->place_id)));
    serve_write_member(json, "reload", job_reload_name(reload->result.state));
    serve_write_number(json, "reloaded_worlds", reload->result.worlds);
    serve_write_number(json, "manifest_version", reload->result.manifest_version);
    serve_write_member(json, "reload_reason", reload->result.reason);
    serve_write_time(json, "at", reload->unix_ms);
    json_write_object_end(json);
}

uint64_t place_reload_write(Serve *serve, const char *package_id, JsonWriter *json)
{
    struct Places *places = serve->places;
    bool is_there[PLACE_CHANNEL_COUNT] = {false};
    char package[PLACE_KEY_BYTES];
    uint64_t stamp = 0;
    json_write_name(json, "reloads");
    json_write_array_begin(json);
    pthread_mutex_lock(&places->mutex);
    for (uint64_t i = 0; i < PLACE_RELOADS_MAX && i < places->reload_tag; i++) {
        const PlaceReload *reload = find_tag(serve, places->reload_tag - i); // newest first
        const PlaceChannel channel = place_id_channel(reload->place_id);
        place_id_package(reload->place_id, package);
        if (strcmp(package, package_id) == 0 && reload->result.state != JOB_RELOAD_NONE &&
            !is_there[channel]) {
            is_there[channel] = true;
            stamp ^= reload->unix_ms << 8 ^ reload->result.state << 4 ^ reload->result.worlds;
            write_one(reload, json);
        }
    }
    pthread_mutex_unlock(&places->mutex);
    json_write_array_end(json);
    return stamp;
}

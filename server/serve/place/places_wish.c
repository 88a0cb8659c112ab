// See places.h: who wants to play a place, opening it, and what becomes of it when its package
// changes. A change is told after the store has it (change_count rises first): what a pool thread
// read before that is read again, so nobody is led to a revision that was taken back, or into a
// place that is gone.
#define _GNU_SOURCE
#include "core/base/limits.h"
#include "server/control/order/rights.h"
#include "server/serve/edit/edit_drafts.h"
#include "server/serve/place/place_build.h"
#include "server/serve/place/place_reload.h"
#include "server/serve/place/places_inside.h"
#include "server/serve/remote/remote_worlds.h"
#include "server/sys/clock.h"

#include <stdio.h>

#define WISH_TRIES_MAX 16 // changes that a wish may meet on its way
#define SWEEP_MS       1000u
#define KEPT_OUT_MAX   1024
#define BLOCKED_MS     1000u // it can be opened once something else works again
#define KEPT_OUT       "the team of this place does not let you in"

// A revision on its way into memory.
struct PlaceOpening {
    PlaceOpening *next;      // of the thread's queue, or of `opened`
    PlaceOpening *next_open; // of all; the main thread's
    Serve *serve;
    char place_id[PLACE_KEY_BYTES];
    StoreRevision revision;    // package_id, revision and package_hash alone
    char job_id[JOB_ID_BYTES]; // of a draft: what builds it, in place of the thread
    PlaceWish *waiters;        // the main thread's
    bool is_stale;             // the package has changed since: it is looked at once more
    Status status;
    char reason[WORKER_REASON_BYTES];
    ServePlace *place;
};

// What the store says of a package that has changed.
struct PackageLook {
    PackageLook *next;
    Serve *serve;
    uint64_t change_count;
    char package_id[PLACE_KEY_BYTES];
    Status status;
    StorePackage package;
    uint32_t numbers[PLACE_CHANNEL_COUNT];   // what the channels name; 0: nothing
    uint8_t hashes[PLACE_CHANNEL_COUNT][32]; // of it
    bool is_paused;                          // its class is
    uint64_t kept_out[KEPT_OUT_MAX];         // accounts
    uint32_t kept_out_count;
};

static void nothing(void *user, void *what)
{
    (void)user, (void)what;
}

// The main thread looks by itself at least every few milliseconds; this makes it look now.
void places_wake(const Serve *serve)
{
    if (serve->mailbox == NULL) {
        return; // it does not run yet
    }
    status_ignore(mailbox_post(serve->mailbox, nothing, NULL));
}

static void finish_wish(PlaceWish *wish, PlaceRefusal refusal)
{
    wish->refusal = refusal;
    wish->next = NULL;
    wish->then(wish);
}

// --- what the store says; on the pool -----------------------------------------------------------

static bool is_paused(Store *store, const StorePackage *package)
{
    StoreClass class;
    return (package->flags & STORE_PACKAGE_CLASS) != 0 &&
           store_class_of(store, package->package_id, &class) == STATUS_OK && class.is_paused;
}

static PlaceRefusal refusal_of(Store *store, const StorePackage *package, uint32_t rights,
                               PlaceChannel channel)
{
    const uint32_t needs = place_channel_rights(channel);
    if ((rights & needs) == needs) {
        return PLACE_FINE;
    }
    if (package->trashed_unix_ms != 0) {
        return PLACE_TRASHED;
    }
    if ((package->flags & STORE_PACKAGE_REMOVED) != 0) {
        return PLACE_REMOVED;
    }
    if (is_paused(store, package)) {
        return PLACE_PAUSED;
    }
    return (rights & RIGHT_PLAY) == 0 ? PLACE_KEPT_OUT
           : channel == PLACE_BETA    ? PLACE_BETA_DENIED
                                      : PLACE_DRAFT_DENIED;
}

// A draft that is not open yet is built by the queue of builds, as every save of it is.
static PlaceRefusal ask_draft(PlaceWish *wish, const char *package_id)
{
    Serve *serve = wish->serve;
    char folder[DRAFT_PATH_BYTES];
    bool joined = false;
    wish->number = PLACE_DRAFT_NUMBER;
    if (!draft_exists(serve->drafts, package_id) ||
        draft_folder(serve->drafts, package_id, folder) != STATUS_OK) {
        return PLACE_NO_DRAFT;
    }
    ServePlace *open = places_find_id(serve, wish->place_id);
    serve_place_release(open);
    if (open != NULL) {
        return PLACE_FINE;
    }
    JobQueue *queue = serve_jobs(serve);
    const JobWish job = {
        .place = folder, .writes = true, .account = wish->who != NULL ? wish->who->account : 0};
    return queue != NULL && job_start_for(queue, &job, wish->job_id, &joined) == STATUS_OK
               ? PLACE_FINE
               : PLACE_BUSY;
}

static PlaceRefusal ask_store(PlaceWish *wish)
{
    Store *store = wish->serve->store;
    const PlaceChannel channel = place_id_channel(wish->place_id);
    char package_id[PLACE_KEY_BYTES];
    StorePackage package;
    StoreRevision revision;
    uint32_t rights = 0;
    place_id_package(wish->place_id, package_id);
    Status status = wish->has_every_right
                        ? store_package_find(store, package_id, &package)
                        : rights_find(store, package_id, wish->who, &package, &rights);
    if (status == STATUS_OK && wish->has_every_right) {
        const bool is_gone = package.trashed_unix_ms != 0 ||
                             (package.flags & STORE_PACKAGE_REMOVED) != 0 ||
                             is_paused(store, &package);
        rights = is_gone ? RIGHT_SEE : RIGHTS_ALL;
    }
    if (status != STATUS_OK || package.kind != STORE_PLACE) {
        return status == STATUS_OK || status == STATUS_NOT_FOUND || status == STATUS_MALFORMED
                   ? PLACE_NONE
                   : PLACE_BUSY;
    }
    const PlaceRefusal refusal = refusal_of(store, &package, rights, channel);
    wish->number = channel == PLACE_BETA ? package.beta : package.live;
    wish->job_id[0] = '\0';
    if (refusal != PLACE_FINE || wish->is_only_asking) {
        return refusal;
    }
    if (channel == PLACE_DRAFT) {
        return ask_draft(wish, package_id);
    }
    if (wish->number == 0) {
        return PLACE_UNPUBLISHED;
    }
    status = store_revision_find(store, package_id, wish->number, &revision);
    if (status != STATUS_OK) {
        return PLACE_BUSY;
    }
    memcpy(wish->package_hash, revision.package_hash, sizeof wish->package_hash);
    return PLACE_FINE;
}

static void look_up(void *user, bool is_cancelled)
{
    PlaceWish *wish = user;
    struct Places *places = wish->serve->places;
    wish->refusal = is_cancelled ? PLACE_STOPPING : ask_store(wish);
    pthread_mutex_lock(&places->mutex);
    wish->next = places->arrived;
    places->arrived = wish;
    pthread_mutex_unlock(&places->mutex);
    if (!is_cancelled) {
        places_wake(wish->serve);
    }
}

static void submit(PlaceWish *wish)
{
    const Serve *serve = wish->serve;
    wish->change_count = atomic_load(&serve->places->change_count);
    if (wish->tries++ >= WISH_TRIES_MAX ||
        work_pool_submit(serve->pool, look_up, wish) != STATUS_OK) {
        finish_wish(wish, PLACE_BUSY);
    }
}

void places_wish(Serve *serve, PlaceWish *wish)
{
    wish->serve = serve;
    wish->tries = 0;
    if (serve->control == NULL) { // its places are its folders
        finish_wish(wish,
                    host_place(serve->host, wish->place_id) != NULL ? PLACE_FINE : PLACE_NONE);
        return;
    }
    submit(wish);
}

// --- the thread that opens ----------------------------------------------------------------------

static void open_one(PlaceOpening *opening)
{
    Serve *serve = opening->serve;
    opening->status = place_open(serve, &opening->revision, opening->place_id,
                                 &serve->places->cancel, &opening->place, opening->reason);
    StoreRevision row;
    if (store_revision_find(serve->store, opening->revision.package_id, opening->revision.revision,
                            &row) == STATUS_OK) {
        memcpy(opening->revision.job_id, row.job_id, sizeof row.job_id); // who built it is told
    }
}

static void *run_thread(void *user)
{
    Serve *serve = user;
    struct Places *places = serve->places;
    work_pool_lower_priority();
    pthread_mutex_lock(&places->mutex);
    while (!places->ends) {
        PlaceOpening *opening = places->first;
        if (opening == NULL) {
            pthread_cond_wait(&places->wake, &places->mutex);
            continue;
        }
        places->first = opening->next;
        pthread_mutex_unlock(&places->mutex);
        open_one(opening);
        pthread_mutex_lock(&places->mutex);
        opening->next = places->opened;
        places->opened = opening;
        places_wake(serve);
    }
    pthread_mutex_unlock(&places->mutex);
    return NULL;
}

static bool has_thread(Serve *serve)
{
    struct Places *places = serve->places;
    if (!places->has_thread) {
        places->has_thread = pthread_create(&places->thread, NULL, run_thread, serve) == 0;
    }
    return places->has_thread;
}

static void enqueue(struct Places *places, PlaceOpening *opening)
{
    opening->next_open = places->openings;
    places->openings = opening;
    pthread_mutex_lock(&places->mutex);
    opening->next = NULL;
    if (places->first == NULL) {
        places->first = opening;
    } else {
        places->last->next = opening;
    }
    places->last = opening;
    pthread_cond_signal(&places->wake);
    pthread_mutex_unlock(&places->mutex);
}

// --- closing ------------------------------------------------------------------------------------

static void look_at_loaded(Serve *serve, const char *package_id);

static void count_uses(Serve *serve)
{
    const struct Places *places = serve->places;
    for (uint32_t i = 0; i < places->count; i++) {
        places->all[i]->place->use_count = 0;
    }
    host_count_uses(serve->host);
}

static uint64_t unused_ms(const ServePlace *place)
{
    const uint64_t now = clock_ns(), used = atomic_load(&place->used_ns);
    return place->place->use_count > 0 || now < used ? 0 : (now - used) / HOST_MS_NS;
}

static bool may_close(const Serve *serve, const ServePlace *place)
{
    return place->is_retired ||
           (place->number != 0 && strcmp(place->place->place_id, serve->default_place) != 0);
}

// Nobody runs it, or whoever does is told the reason.
// Worlds on other machines end as those here do. One that cannot be told ends when its host renews
// its lease.
static void stop_elsewhere(Serve *serve, const char *place_id, const char *reason)
{
    for (uint32_t i = 0; i < host_world_count(serve->host); i++) {
        const HostWorld *world = host_world_at(serve->host, i);
        if (strcmp(host_world_view(world).row->place_id, place_id) == 0) {
            status_ignore(remote_world_stop(serve, world, reason));
        }
    }
}

static void close_place(Serve *serve, ServePlace *place, const char *reason)
{
    if (!place->is_retired) {
        if (reason != NULL) { // else no world of it runs
            stop_elsewhere(serve, place->place->place_id, reason);
        }
        host_remove_place(serve->host, place->place->place_id, reason);
    }
    places_remove(serve, place);
}

static void sweep(Serve *serve)
{
    struct Places *places = serve->places;
    const uint64_t now = clock_ns();
    if (now - places->swept_ns < SWEEP_MS * HOST_MS_NS) {
        return;
    }
    places->swept_ns = now;
    if (places->looks_again) {
        places->looks_again = false;
        look_at_loaded(serve, NULL);
    }
    count_uses(serve);
    for (uint32_t i = places->count; i > 0; i--) {
        ServePlace *place = places->all[i - 1];
        const uint64_t limit_ms =
            place->is_retired ? PLACE_RETIRED_MS : 1000ull * serve->config.idle_place_s;
        if (!may_close(serve, place) || unused_ms(place) <= limit_ms) {
            continue;
        }
        if (!place->is_retired) {
            serve_log(LOG_INFO, "places", "%s is closed: nobody plays it", place->place->place_id);
        }
        close_place(serve, place, NULL);
    }
}

// Room for one more, perhaps because the one that nobody has used for longest is closed.
static bool make_room(Serve *serve)
{
    const struct Places *places = serve->places;
    uint32_t coming = 0;
    for (const PlaceOpening *at = places->openings; at != NULL; at = at->next_open) {
        coming += host_place(serve->host, at->place_id) == NULL;
    }
    if (host_place_count(serve->host) + coming < HOST_PLACES_MAX) {
        return true;
    }
    count_uses(serve);
    ServePlace *oldest = NULL;
    for (uint32_t i = 0; i < places->count; i++) {
        ServePlace *place = places->all[i];
        if (!place->is_retired && may_close(serve, place) && place->place->use_count == 0 &&
            (oldest == NULL || unused_ms(place) > unused_ms(oldest))) {
            oldest = place;
        }
    }
    if (oldest != NULL) {
        close_place(serve, oldest, NULL);
    }
    return oldest != NULL;
}

// --- opening ------------------------------------------------------------------------------------

static PlaceOpening *find_opening(const Serve *serve, const char *place_id)
{
    PlaceOpening *at = serve->places->openings;
    while (at != NULL && (at->is_stale || strcmp(at->place_id, place_id) != 0)) {
        at = at->next_open;
    }
    return at;
}

// NULL: why says why not.
static PlaceOpening *begin_opening(Serve *serve, const char *place_id, uint32_t number,
                                   const uint8_t package_hash[32], PlaceRefusal *why)
{
    struct Places *places = serve->places;
    for (uint32_t i = 0; i < PLACES_BROKEN_MAX; i++) {
        const PlaceBroken *broken = &places->broken[i];
        if (clock_ns() < broken->until_ns &&
            memcmp(broken->package_hash, package_hash, sizeof broken->package_hash) == 0) {
            *why = broken->refusal;
            return NULL;
        }
    }
    *why = PLACE_BUSY;
    uint32_t count = 0;
    for (const PlaceOpening *at = places->openings; at != NULL; at = at->next_open) {
        count += 1;
    }
    if (count >= PLACE_OPENINGS_MAX || !has_thread(serve)) {
        return NULL;
    }
    if (host_place(serve->host, place_id) == NULL && !make_room(serve)) {
        *why = PLACE_FULL;
        return NULL;
    }
    PlaceOpening *opening = calloc(1, sizeof *opening);
    if (opening != NULL) {
        opening->serve = serve;
        snprintf(opening->place_id, sizeof opening->place_id, "%s", place_id);
        place_id_package(place_id, opening->revision.package_id);
        opening->revision.revision = number;
        memcpy(opening->revision.package_hash, package_hash, 32);
        enqueue(places, opening);
    }
    return opening;
}

static PlaceOpening *begin_draft(Serve *serve, const PlaceWish *wish, PlaceRefusal *why)
{
    struct Places *places = serve->places;
    if (!make_room(serve)) {
        *why = PLACE_FULL;
        return NULL;
    }
    PlaceOpening *opening = calloc(1, sizeof *opening);
    if (opening != NULL) {
        opening->serve = serve;
        snprintf(opening->place_id, sizeof opening->place_id, "%s", wish->place_id);
        place_id_package(wish->place_id, opening->revision.package_id);
        opening->revision.revision = PLACE_DRAFT_NUMBER;
        memcpy(opening->job_id, wish->job_id, sizeof opening->job_id);
        opening->next_open = places->openings;
        places->openings = opening;
    }
    return opening;
}

static void wait_for(PlaceWish *wish)
{
    Serve *serve = wish->serve;
    PlaceRefusal why = PLACE_BUSY;
    PlaceOpening *opening = find_opening(serve, wish->place_id);
    const bool is_draft = wish->number == PLACE_DRAFT_NUMBER;
    if (opening == NULL && is_draft && wish->job_id[0] == '\0') {
        submit(wish); // it was open a moment ago
        return;
    }
    if (opening == NULL && is_draft) {
        opening = begin_draft(serve, wish, &why);
    } else if (opening == NULL) {
        opening = begin_opening(serve, wish->place_id, wish->number, wish->package_hash, &why);
    }
    if (opening == NULL) {
        finish_wish(wish, why);
        return;
    }
    wish->next = opening->waiters;
    opening->waiters = wish;
}

static void arrive(PlaceWish *wish)
{
    Serve *serve = wish->serve;
    if (wish->refusal != PLACE_STOPPING &&
        wish->change_count != atomic_load(&serve->places->change_count)) {
        submit(wish); // what the store said may not hold any more
        return;
    }
    if (wish->refusal != PLACE_FINE || wish->is_only_asking) {
        finish_wish(wish, wish->refusal);
        return;
    }
    ServePlace *place = places_current(serve, wish->place_id);
    if (place == NULL || place->number != wish->number) {
        wait_for(wish);
        return;
    }
    atomic_store(&place->used_ns, clock_ns());
    finish_wish(wish, PLACE_FINE);
}

static void begin_look(Serve *serve, const char *package_id);

// Until the store has said who may come in, nobody comes in without a ticket.
static void install(Serve *serve, PlaceOpening *opening)
{
    HostPlace *place = opening->place->place;
    const ServePlace *old = places_current(serve, place->place_id);
    place->needs_ticket = old == NULL || old->place->needs_ticket;
    atomic_store(&opening->place->is_private, old == NULL || atomic_load(&old->is_private));
    place->is_hidden = old == NULL || old->place->is_hidden;
    if (opening->job_id[0] != '\0') {
        serve_log(LOG_INFO, "places", "%s is open", place->place_id);
    } else {
        serve_log(LOG_INFO, "places", "%s: revision %u is open", place->place_id,
                  opening->place->number);
    }
    host_add_place(serve->host, host_place_hold(place));
    places_put(serve, opening->place);
    opening->place = NULL;
    const bool is_draft = opening->job_id[0] != '\0';
    place_reload_begin(serve, place, is_draft ? opening->job_id : opening->revision.job_id,
                       clock_ns());
    begin_look(serve, opening->revision.package_id);
}

static PlaceRefusal note_broken(Serve *serve, const PlaceOpening *opening)
{
    struct Places *places = serve->places;
    const bool is_broken = opening->status == STATUS_MALFORMED;
    if (opening->job_id[0] != '\0') { // its job says why
        return is_broken ? PLACE_DRAFT_BROKEN : PLACE_BUSY;
    }
    serve_log(LOG_ERROR, "places", "%s: revision %u cannot be opened: %s", opening->place_id,
              opening->revision.revision,
              opening->reason[0] != '\0' ? opening->reason : status_text(opening->status));
    place_reload_broken(serve, opening->revision.job_id,
                        opening->reason[0] != '\0' ? opening->reason
                                                   : status_text(opening->status));
    PlaceBroken *broken = &places->broken[places->broken_next++ % PLACES_BROKEN_MAX];
    const uint64_t wait_ms = opening->status == STATUS_BLOCKED ? BLOCKED_MS : PLACE_BROKEN_MS;
    *broken = (PlaceBroken){.until_ns = clock_ns() + wait_ms * HOST_MS_NS,
                            .refusal = is_broken ? PLACE_BROKEN : PLACE_BUSY};
    memcpy(broken->package_hash, opening->revision.package_hash, sizeof broken->package_hash);
    return broken->refusal;
}

static void take_opened(Serve *serve, PlaceOpening *opening)
{
    struct Places *places = serve->places;
    PlaceOpening **at = &places->openings;
    while (*at != opening) {
        at = &(*at)->next_open;
    }
    *at = opening->next_open;
    PlaceRefusal refusal = PLACE_FINE;
    if (opening->is_stale) {
        begin_look(serve, opening->revision.package_id);
    } else if (opening->status == STATUS_OK) {
        install(serve, opening);
    } else {
        refusal = note_broken(serve, opening);
    }
    for (PlaceWish *wish = opening->waiters, *next; wish != NULL; wish = next) {
        next = wish->next;
        if (opening->is_stale) {
            submit(wish);
        } else if (refusal != PLACE_FINE) {
            finish_wish(wish, refusal);
        } else {
            arrive(wish);
        }
    }
    serve_place_release(opening->place);
    free(opening);
}

// --- changes ------------------------------------------------------------------------------------

void serve_place_changed(Serve *serve, const char *place_id)
{
    struct Places *places = serve->places;
    atomic_fetch_add(&places->change_count, 1);
    pthread_mutex_lock(&places->mutex);
    if (places->changed_count < PLACES_CHANGED_MAX) {
        snprintf(places->changed[places->changed_count++], PLACE_KEY_BYTES, "%s", place_id);
    } else {
        places->all_changed = true;
    }
    pthread_mutex_unlock(&places->mutex);
    places_wake(serve);
    edit_draft_check(serve, place_id);
}

static bool is_of(const char *place_id, const char *package_id)
{
    char package[PLACE_KEY_BYTES];
    place_id_package(place_id, package);
    return package_id == NULL || strcmp(package, package_id) == 0;
}

static void read_kept_out(Store *store, PackageLook *look)
{
    StorePackagePerson *people = malloc(KEPT_OUT_MAX * sizeof *people);
    uint32_t count = 0;
    look->status = people == NULL ? STATUS_LIMIT
                                  : store_package_people(store, look->package_id, people,
                                                         KEPT_OUT_MAX, &count);
    for (uint32_t i = 0; i < count && look->status == STATUS_OK; i++) {
        if (people[i].role == STORE_BLOCKED) {
            look->kept_out[look->kept_out_count++] = people[i].account_id;
        }
    }
    free(people);
}

static void read_package_hash(Store *store, PackageLook *look, uint32_t number, uint8_t out[32])
{
    StoreRevision revision;
    if (number == 0 || look->status != STATUS_OK) {
        return;
    }
    look->status = store_revision_find(store, look->package_id, number, &revision);
    if (look->status == STATUS_OK) {
        memcpy(out, revision.package_hash, 32);
    }
}

static void look_at(void *user, bool is_cancelled)
{
    PackageLook *look = user;
    struct Places *places = look->serve->places;
    look->kept_out_count = 0;
    if (!is_cancelled) {
        look->status = store_package_find(look->serve->store, look->package_id, &look->package);
        if (look->status == STATUS_OK) {
            look->is_paused = is_paused(look->serve->store, &look->package);
            read_kept_out(look->serve->store, look);
            look->numbers[PLACE_LIVE] = look->package.live;
            look->numbers[PLACE_BETA] = look->package.beta;
            look->numbers[PLACE_DRAFT] =
                draft_exists(look->serve->drafts, look->package_id) ? PLACE_DRAFT_NUMBER : 0;
            read_package_hash(look->serve->store, look, look->package.live,
                              look->hashes[PLACE_LIVE]);
            read_package_hash(look->serve->store, look, look->package.beta,
                              look->hashes[PLACE_BETA]);
        }
    }
    pthread_mutex_lock(&places->mutex);
    look->next = places->looked;
    places->looked = look;
    pthread_mutex_unlock(&places->mutex);
    if (!is_cancelled) {
        places_wake(look->serve);
    }
}

static void submit_look(PackageLook *look)
{
    const Serve *serve = look->serve;
    look->change_count = atomic_load(&serve->places->change_count);
    if (work_pool_submit(serve->pool, look_at, look) != STATUS_OK) {
        serve->places->looks_again = true;
        free(look);
    }
}

static void begin_look(Serve *serve, const char *package_id)
{
    PackageLook *look = calloc(1, sizeof *look);
    if (look == NULL) {
        serve->places->looks_again = true;
        return;
    }
    look->serve = serve;
    snprintf(look->package_id, sizeof look->package_id, "%s", package_id);
    submit_look(look);
}

// NULL: of any package.
static void look_at_loaded(Serve *serve, const char *package_id)
{
    const struct Places *places = serve->places;
    for (uint32_t i = 0; i < places->count; i++) {
        const ServePlace *place = places->all[i];
        if (place->number != 0 && !place->is_retired && is_of(place->place->place_id, package_id)) {
            char package[PLACE_KEY_BYTES];
            place_id_package(place->place->place_id, package);
            begin_look(serve, package);
        }
    }
}

static void take_change(Serve *serve, const char *package_id)
{
    for (PlaceOpening *at = serve->places->openings; at != NULL; at = at->next_open) {
        at->is_stale = at->is_stale || is_of(at->place_id, package_id);
    }
    look_at_loaded(serve, package_id);
}

static void kick_kept_out(Serve *serve, const char *place_id, const PackageLook *look)
{
    for (uint32_t k = 0; k < look->kept_out_count; k++) {
        serve_kick_from_place(serve, look->kept_out[k], place_id, KEPT_OUT);
    }
}

typedef struct Leaving {
    char package_id[PLACE_KEY_BYTES];
    uint64_t account;
    StorePackageRole role;
    bool is_private;
} Leaving;

static bool may_stay(const Leaving *leaving, PlaceChannel channel)
{
    const bool is_closed = channel != PLACE_LIVE || leaving->is_private;
    return leaving->role == STORE_EDITOR || leaving->role == STORE_TESTER ||
           (leaving->role == STORE_NOBODY && !is_closed);
}

static void leave_place(void *user, void *what)
{
    const Leaving *leaving = what;
    for (PlaceChannel channel = 0; channel < PLACE_CHANNEL_COUNT; channel++) {
        char place_id[PLACE_KEY_BYTES + sizeof PLACE_DRAFT_ENDING];
        snprintf(place_id, sizeof place_id, "%s%s", leaving->package_id,
                 place_channel_ending(channel));
        if (!may_stay(leaving, channel)) {
            serve_kick_from_place(user, leaving->account, place_id,
                                  leaving->role == STORE_BLOCKED
                                      ? KEPT_OUT
                                      : "you do not work on this place any more");
        }
    }
    free(what);
}

void serve_place_left(Serve *serve, const StorePackage *package, uint64_t account,
                      StorePackageRole role)
{
    Leaving *leaving = malloc(sizeof *leaving);
    if (leaving == NULL) {
        return; // they get no other ticket
    }
    *leaving = (Leaving){
        .account = account, .role = role, .is_private = package->visibility == STORE_PRIVATE};
    snprintf(leaving->package_id, sizeof leaving->package_id, "%.64s", package->package_id);
    if (mailbox_post(serve->mailbox, leave_place, leaving) != STATUS_OK) {
        free(leaving);
    }
}

// A revision that replaces the loaded one; until it is open, the loaded one goes on.
static void open_next(Serve *serve, const char *place_id, uint32_t number, const uint8_t hash[32])
{
    PlaceRefusal why;
    if (find_opening(serve, place_id) == NULL &&
        begin_opening(serve, place_id, number, hash, &why) == NULL) {
        // Whoever wants to play tries again, and is told why if that fails too.
        serve_log(LOG_WARN, "places", "%s: revision %u is not opened yet", place_id, number);
    }
}

static void apply_look(Serve *serve, const PackageLook *look, PlaceChannel channel)
{
    char place_id[PLACE_KEY_BYTES + sizeof PLACE_DRAFT_ENDING];
    snprintf(place_id, sizeof place_id, "%s%s", look->package_id, place_channel_ending(channel));
    ServePlace *place = places_current(serve, place_id);
    if (place == NULL || place->number == 0) {
        return;
    }
    const StorePackage *package = &look->package;
    const bool is_there = look->status == STATUS_OK;
    const bool is_removed = is_there && (package->flags & STORE_PACKAGE_REMOVED) != 0;
    const bool is_trashed = is_there && package->trashed_unix_ms != 0;
    const bool is_paused_now = is_there && look->is_paused;
    const uint32_t number = is_there ? look->numbers[channel] : 0;
    if (is_removed || is_trashed || is_paused_now || number == 0) {
        serve_log(LOG_INFO, "places", "%s is closed: it was %s", place_id,
                  is_removed      ? "removed"
                  : is_trashed    ? "thrown away"
                  : is_paused_now ? "paused with its class"
                                  : "taken back");
        close_place(serve, place,
                    is_removed      ? "this place was removed"
                    : is_paused_now ? "your class pauses"
                                    : "this place was closed");
        return;
    }
    const bool is_closed = channel != PLACE_LIVE || package->visibility == STORE_PRIVATE ||
                           (package->flags & STORE_PACKAGE_CLASS) != 0;
    place->place->needs_ticket = is_closed || look->kept_out_count > 0;
    if (atomic_exchange(&place->is_private, is_closed) != is_closed && is_closed) {
        places_closed(serve, place_id);
    }
    place->place->is_hidden = is_closed || package->visibility != STORE_LISTED ||
                              (package->flags & STORE_PACKAGE_UNLISTED) != 0;
    kick_kept_out(serve, place_id, look);
    if (number != place->number) {
        open_next(serve, place_id, number, look->hashes[channel]);
    }
}

static void take_look(Serve *serve, PackageLook *look)
{
    if (look->change_count != atomic_load(&serve->places->change_count)) {
        submit_look(look); // it has changed again
        return;
    }
    if (look->status == STATUS_OK || look->status == STATUS_NOT_FOUND) {
        for (PlaceChannel channel = 0; channel < PLACE_CHANNEL_COUNT; channel++) {
            apply_look(serve, look, channel);
        }
    } else {
        serve_log(LOG_ERROR, "places", "the package %s cannot be read: %s", look->package_id,
                  status_text(look->status));
        serve->places->looks_again = true;
    }
    free(look);
}

// --- drafts -------------------------------------------------------------------------------------

// What the job of an opening has built, if it has ended. The queue keeps few results: one that is
// gone is built again.
static bool take_draft(Serve *serve, PlaceOpening *opening)
{
    JobQueue *queue = serve_jobs(serve);
    JobStatus *job = malloc(sizeof *job);
    BuildResult built = {0};
    HostPlace *place = NULL;
    char folder[DRAFT_PATH_BYTES];
    Status status = job != NULL ? job_status(queue, opening->job_id, job) : STATUS_LIMIT;
    const bool runs =
        status == STATUS_OK && (job->state == JOB_WAITING || job->state == JOB_RUNNING);
    if (status == STATUS_OK && !runs) {
        status = job->state == JOB_DONE ? job_take_result(queue, opening->job_id, &built)
                 : job->error_count > 0 ? STATUS_MALFORMED
                                        : STATUS_BLOCKED;
    }
    free(job);
    if (runs) {
        return false;
    }
    if (status == STATUS_OK) {
        status = draft_folder(serve->drafts, opening->revision.package_id, folder);
    }
    if (status == STATUS_OK) {
        const HostPlaceConfig config = {.place_id = opening->place_id,
                                        .folder = folder,
                                        .player_max = serve->config.player_max,
                                        .development = serve->development};
        status =
            host_place_create(&config, &built, &place, opening->reason, sizeof opening->reason);
    }
    if (status == STATUS_OK) {
        status = serve_place_create(serve, place, PLACE_DRAFT_NUMBER, &opening->place);
    }
    opening->is_stale = opening->is_stale || status == STATUS_NOT_FOUND;
    opening->status = status;
    build_result_free(&built);
    return true;
}

static void take_drafts(Serve *serve)
{
    for (PlaceOpening *opening = serve->places->openings, *next; opening != NULL; opening = next) {
        next = opening->next_open;
        if (opening->job_id[0] != '\0' && take_draft(serve, opening)) {
            take_opened(serve, opening);
        }
    }
}

// --- the step -----------------------------------------------------------------------------------

static void take_changes(Serve *serve)
{
    struct Places *places = serve->places;
    char changed[PLACES_CHANGED_MAX][PLACE_KEY_BYTES];
    pthread_mutex_lock(&places->mutex);
    const uint32_t count = places->changed_count;
    const bool all = places->all_changed;
    memcpy(changed, places->changed, count * sizeof changed[0]);
    places->changed_count = 0;
    places->all_changed = false;
    pthread_mutex_unlock(&places->mutex);
    for (uint32_t i = 0; i < count && !all; i++) {
        take_change(serve, changed[i]);
    }
    if (all) {
        take_change(serve, NULL);
    }
}

void places_step(Serve *serve)
{
    struct Places *places = serve->places;
    place_reload_step(serve);
    if (serve->control == NULL) {
        sweep(serve); // forms that were replaced
        return;
    }
    take_changes(serve); // first: what arrives is compared with them
    pthread_mutex_lock(&places->mutex);
    PlaceOpening *opened = places->opened;
    PlaceWish *arrived = places->arrived;
    PackageLook *looked = places->looked;
    places->opened = NULL;
    places->arrived = NULL;
    places->looked = NULL;
    pthread_mutex_unlock(&places->mutex);
    for (PackageLook *look = looked, *next; look != NULL; look = next) {
        next = look->next;
        take_look(serve, look);
    }
    for (PlaceOpening *opening = opened, *next; opening != NULL; opening = next) {
        next = opening->next;
        take_opened(serve, opening);
    }
    take_drafts(serve);
    for (PlaceWish *wish = arrived, *next; wish != NULL; wish = next) {
        next = wish->next;
        arrive(wish);
    }
    sweep(serve);
}

// --- the end ------------------------------------------------------------------------------------

static void stop_thread(struct Places *places)
{
    if (places->has_thread) {
        atomic_store(&places->cancel, true);
        pthread_mutex_lock(&places->mutex);
        places->ends = true;
        pthread_cond_signal(&places->wake);
        pthread_mutex_unlock(&places->mutex);
        pthread_join(places->thread, NULL);
        places->has_thread = false;
    }
}

void places_wishes_end(Serve *serve)
{
    struct Places *places = serve->places;
    stop_thread(places);
    for (PlaceOpening *opening = places->openings, *next; opening != NULL; opening = next) {
        next = opening->next_open;
        for (PlaceWish *wish = opening->waiters, *after; wish != NULL; wish = after) {
            after = wish->next;
            finish_wish(wish, PLACE_STOPPING);
        }
        serve_place_release(opening->place);
        free(opening);
    }
    for (PlaceWish *wish = places->arrived, *next; wish != NULL; wish = next) {
        next = wish->next;
        finish_wish(wish, PLACE_STOPPING);
    }
    for (PackageLook *look = places->looked, *next; look != NULL; look = next) {
        next = look->next;
        free(look);
    }
    places->openings = NULL;
    places->arrived = NULL;
    places->looked = NULL;
}

// See listing_feed.h.
#define _GNU_SOURCE
#include "server/serve/listing/listing_feed.h"

#include "core/base/check.h"
#include "core/base/limits.h"
#include "server/store/place/store_listing.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LOOK_NS        1000000000ull
#define FLUSH_NS       3000000000ull
#define LOOK_MS_MAX    5000 // of time between two looks: a stopped process played nothing
#define COST_TICKS_MIN 20   // that an average is made of

// What one place was played since it was last written. Sorted by id.
typedef struct Tally {
    char place_id[65];
    uint64_t played_ms;
    uint64_t now, peak; // players: in this look, and at most
    uint64_t cost_us, cost_players;
    bool is_active; // since it was last written
} Tally;

// The counters of a world when its cost was last computed.
typedef struct Clocked {
    uint64_t life, work_us, ticks;
} Clocked;

struct ListingFeed {
    Store *store;
    uint64_t looked_ns, flushed_ns;
    StoreVisit *visits; // VISITS_WAITING_MAX
    uint32_t visit_count;
    Tally *tallies;
    uint32_t tally_count, tally_capacity;
    Clocked *clocked; // by number of the world, HOST_WORLDS_MAX
    atomic_ullong visits_seen, visits_lost;
    pthread_mutex_t lock; // what follows: sorted by place and room code
    LiveWorld *live;
    uint32_t live_count;
};

Status listing_feed_create(Store *store, ListingFeed **out)
{
    ListingFeed *feed = calloc(1, sizeof *feed);
    if (feed == NULL) {
        return STATUS_LIMIT;
    }
    feed->store = store;
    feed->visits = malloc(VISITS_WAITING_MAX * sizeof *feed->visits);
    feed->clocked = calloc(HOST_WORLDS_MAX, sizeof *feed->clocked);
    pthread_mutex_init(&feed->lock, NULL);
    if (feed->visits == NULL || feed->clocked == NULL) {
        listing_feed_destroy(feed, 0);
        return STATUS_LIMIT;
    }
    *out = feed;
    return STATUS_OK;
}

// --- writing ------------------------------------------------------------------------------------

typedef struct Flush {
    ListingFeed *feed;
    StorePlayBatch batch;
    StoreVisit *visits;
    StorePlayed *played;
} Flush;

static void flush_free(Flush *flush)
{
    if (flush != NULL) {
        free(flush->visits);
        free(flush->played);
        free(flush);
    }
}

// Also when the pool ends: the store is still there.
static void flush_run(void *user, bool is_cancelled)
{
    (void)is_cancelled;
    Flush *flush = user;
    if (store_plays_add(flush->feed->store, &flush->batch) != STATUS_OK) {
        atomic_fetch_add(&flush->feed->visits_lost, flush->batch.visit_count);
    }
    flush_free(flush);
}

static Flush *flush_make(ListingFeed *feed, uint64_t unix_ms)
{
    Flush *flush = calloc(1, sizeof *flush);
    if (flush == NULL) {
        return NULL;
    }
    flush->feed = feed;
    flush->visits = malloc((feed->visit_count + 1) * sizeof *flush->visits);
    flush->played = calloc(feed->tally_count + 1, sizeof *flush->played);
    if (flush->visits == NULL || flush->played == NULL) {
        flush_free(flush);
        return NULL;
    }
    memcpy(flush->visits, feed->visits, feed->visit_count * sizeof *flush->visits);
    uint32_t count = 0;
    for (uint32_t i = 0; i < feed->tally_count; i++) {
        const Tally *tally = &feed->tallies[i];
        if (tally->is_active) {
            StorePlayed *played = &flush->played[count++];
            memcpy(played->package_id, tally->place_id, sizeof played->package_id);
            played->seconds = tally->played_ms / 1000;
            played->peak = tally->peak;
            played->cost_us = tally->cost_us;
            played->cost_players = tally->cost_players;
        }
    }
    flush->batch = (StorePlayBatch){.visits = flush->visits,
                                    .visit_count = feed->visit_count,
                                    .played = flush->played,
                                    .played_count = count,
                                    .unix_ms = unix_ms};
    return flush;
}

// It was taken: what does not make a whole second stays for the next time.
static void flush_taken(ListingFeed *feed)
{
    uint32_t kept = 0;
    feed->visit_count = 0;
    for (uint32_t i = 0; i < feed->tally_count; i++) {
        Tally tally = feed->tallies[i];
        if (tally.is_active) {
            tally.played_ms %= 1000;
            tally.peak = tally.cost_us = tally.cost_players = 0;
            tally.is_active = false;
            feed->tallies[kept++] = tally;
        }
    }
    feed->tally_count = kept;
}

static bool has_something(const ListingFeed *feed)
{
    bool is_active = feed->visit_count > 0;
    for (uint32_t i = 0; i < feed->tally_count && !is_active; i++) {
        is_active = feed->tallies[i].is_active;
    }
    return is_active;
}

// If the pool is full, everything waits for the next look.
static void flush(ListingFeed *feed, WorkPool *pool, uint64_t unix_ms)
{
    Flush *made = has_something(feed) ? flush_make(feed, unix_ms) : NULL;
    if (made != NULL && work_pool_submit(pool, flush_run, made) != STATUS_OK) {
        flush_free(made);
    } else if (made != NULL) {
        flush_taken(feed);
    }
}

void listing_feed_destroy(ListingFeed *feed, uint64_t unix_ms)
{
    if (feed == NULL) {
        return;
    }
    Flush *last = has_something(feed) ? flush_make(feed, unix_ms) : NULL;
    if (last != NULL) {
        flush_run(last, false);
    }
    pthread_mutex_destroy(&feed->lock);
    free(feed->visits);
    free(feed->tallies);
    free(feed->clocked);
    free(feed->live);
    free(feed);
}

// --- looking ------------------------------------------------------------------------------------

void listing_feed_enter(ListingFeed *feed, const char *place_id, uint64_t account, uint64_t unix_ms)
{
    if (feed->visit_count == VISITS_WAITING_MAX) {
        atomic_fetch_add(&feed->visits_lost, 1);
        return;
    }
    StoreVisit *visit = &feed->visits[feed->visit_count++];
    snprintf(visit->package_id, sizeof visit->package_id, "%s", place_id);
    visit->account = account;
    visit->unix_ms = unix_ms;
    atomic_fetch_add(&feed->visits_seen, 1);
}

// NULL: no memory.
static Tally *tally_of(ListingFeed *feed, const char *place_id)
{
    uint32_t low = 0, high = feed->tally_count;
    while (low < high) {
        const uint32_t middle = (low + high) / 2;
        if (strcmp(feed->tallies[middle].place_id, place_id) < 0) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    if (low < feed->tally_count && strcmp(feed->tallies[low].place_id, place_id) == 0) {
        return &feed->tallies[low];
    }
    if (feed->tally_count == feed->tally_capacity) {
        const uint32_t capacity = feed->tally_capacity > 0 ? feed->tally_capacity * 2 : 64;
        Tally *more = realloc(feed->tallies, capacity * sizeof *more);
        if (more == NULL) {
            return NULL;
        }
        feed->tallies = more;
        feed->tally_capacity = capacity;
    }
    memmove(&feed->tallies[low + 1], &feed->tallies[low],
            (feed->tally_count - low) * sizeof *feed->tallies);
    feed->tally_count += 1;
    feed->tallies[low] = (Tally){0};
    snprintf(feed->tallies[low].place_id, sizeof feed->tallies[low].place_id, "%s", place_id);
    return &feed->tallies[low];
}

// What a tick has cost since it was last computed, of the world that most are in.
static void note_cost(ListingFeed *feed, Tally *tally, const HostWorld *world, uint32_t number,
                      uint32_t players)
{
    const HostStats *stats = host_world_view(world).stats;
    Clocked *last = &feed->clocked[number];
    const bool is_same = last->life == host_world_life(world) && stats->ticks >= last->ticks &&
                         stats->work_us >= last->work_us;
    const uint64_t ticks = is_same ? stats->ticks - last->ticks : 0;
    if (is_same && ticks < COST_TICKS_MIN) {
        return;
    }
    if (is_same && players > 0 && players >= tally->cost_players) {
        tally->cost_us = (stats->work_us - last->work_us) / ticks;
        tally->cost_players = players;
    }
    *last = (Clocked){host_world_life(world), stats->work_us, stats->ticks};
}

void listing_live_of(const HostWorld *world, LiveWorld *out)
{
    const HostWorldView view = host_world_view(world);
    *out = (LiveWorld){.player_max = view.player_max,
                       .created_unix_ms = view.row->created_unix_ms,
                       .up_s = view.up_ns / 1000000000ull,
                       .is_private = view.row->is_private};
    snprintf(out->place_id, sizeof out->place_id, "%s", view.row->place_id);
    snprintf(out->room_code, sizeof out->room_code, "%s", view.row->room_code);
    snprintf(out->world_id, sizeof out->world_id, "%s", view.row->world_id);
    snprintf(out->name, sizeof out->name, "%s", view.row->name);
}

// NULL: nobody is there.
static Tally *note_players(ListingFeed *feed, const LiveWorld *live, uint64_t passed_ms)
{
    Tally *tally = live->players > 0 ? tally_of(feed, live->place_id) : NULL;
    if (tally != NULL) {
        tally->is_active = true;
        tally->now += live->players;
        tally->played_ms += live->players * passed_ms;
    }
    return tally;
}

static void look_at(ListingFeed *feed, const HostWorld *world, uint32_t number, uint64_t passed_ms,
                    LiveWorld *live)
{
    const HostWorldView view = host_world_view(world);
    listing_live_of(world, live);
    live->players = view.players < view.player_max ? view.players : view.player_max;
    Tally *tally = note_players(feed, live, passed_ms);
    if (tally != NULL) {
        note_cost(feed, tally, world, number, live->players);
    }
}

static int by_place(const void *a, const void *b)
{
    const LiveWorld *first = a, *second = b;
    const int place = strcmp(first->place_id, second->place_id);
    return place != 0 ? place : strcmp(first->room_code, second->room_code);
}

static void show(ListingFeed *feed, LiveWorld *live, uint32_t count)
{
    qsort(live, count, sizeof *live, by_place);
    pthread_mutex_lock(&feed->lock);
    LiveWorld *old = feed->live;
    feed->live = live;
    feed->live_count = count;
    pthread_mutex_unlock(&feed->lock);
    free(old);
}

static void look(ListingFeed *feed, Host *host, const LiveWorld *others, uint32_t other_count,
                 uint64_t passed_ms)
{
    uint32_t running = 0, count = 0;
    for (uint32_t i = 0; i < host_world_count(host); i++) {
        running += host_world_is_ready(host_world_at(host, i));
    }
    LiveWorld *live = malloc((running + other_count + 1) * sizeof *live);
    if (live == NULL) {
        return; // what was there a second ago stays
    }
    for (uint32_t i = 0; i < host_world_count(host) && count < running; i++) {
        const HostWorld *world = host_world_at(host, i);
        if (host_world_is_ready(world)) {
            look_at(feed, world, i, passed_ms, &live[count++]);
        }
    }
    for (uint32_t i = 0; i < other_count; i++) {
        live[count++] = others[i];
        (void)note_players(feed, &others[i], passed_ms);
    }
    for (uint32_t i = 0; i < feed->tally_count; i++) {
        Tally *tally = &feed->tallies[i];
        tally->peak = tally->now > tally->peak ? tally->now : tally->peak;
        tally->now = 0;
    }
    show(feed, live, count);
}

bool listing_feed_is_due(const ListingFeed *feed, uint64_t now_ns)
{
    return now_ns - feed->looked_ns >= LOOK_NS;
}

void listing_feed_look(ListingFeed *feed, Host *host, const LiveWorld *others, uint32_t other_count,
                       uint64_t now_ns)
{
    const uint64_t passed_ms = feed->looked_ns == 0 ? 0 : (now_ns - feed->looked_ns) / 1000000;
    feed->looked_ns = now_ns;
    look(feed, host, others, other_count, passed_ms < LOOK_MS_MAX ? passed_ms : LOOK_MS_MAX);
}

void listing_feed_flush(ListingFeed *feed, WorkPool *pool, uint64_t now_ns, uint64_t unix_ms)
{
    if (now_ns - feed->flushed_ns >= FLUSH_NS) {
        feed->flushed_ns = now_ns;
        flush(feed, pool, unix_ms);
    }
}

// --- asking -------------------------------------------------------------------------------------

// The first one of the place whose code is behind that one. The lock is held.
static uint32_t first_of(const ListingFeed *feed, const char *place_id, const char *after)
{
    uint32_t low = 0, high = feed->live_count;
    while (low < high) {
        const uint32_t middle = (low + high) / 2;
        const LiveWorld *world = &feed->live[middle];
        const int place = strcmp(world->place_id, place_id);
        if (place < 0 || (place == 0 && strcmp(world->room_code, after) <= 0)) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

uint32_t listing_feed_players(ListingFeed *feed, const char *place_id)
{
    uint32_t players = 0;
    pthread_mutex_lock(&feed->lock);
    for (uint32_t i = first_of(feed, place_id, "");
         i < feed->live_count && strcmp(feed->live[i].place_id, place_id) == 0; i++) {
        players += feed->live[i].players;
    }
    pthread_mutex_unlock(&feed->lock);
    return players;
}

uint32_t listing_feed_worlds(ListingFeed *feed, const char *place_id, const char *after,
                             LiveWorld *out, uint32_t max)
{
    uint32_t count = 0;
    pthread_mutex_lock(&feed->lock);
    for (uint32_t i = first_of(feed, place_id, after);
         i < feed->live_count && count < max && strcmp(feed->live[i].place_id, place_id) == 0;
         i++) {
        const LiveWorld *world = &feed->live[i];
        if (!world->is_private && world->players < world->player_max) {
            out[count++] = *world;
        }
    }
    pthread_mutex_unlock(&feed->lock);
    return count;
}

ListingFeedStats listing_feed_stats(ListingFeed *feed)
{
    return (ListingFeedStats){.visits = atomic_load(&feed->visits_seen),
                              .visits_lost = atomic_load(&feed->visits_lost)};
}

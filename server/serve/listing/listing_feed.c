// See listing_feed.h.
#define _GNU_SOURCE
#include "server/serve/listing/listing_feed.h"

#include "core/base/check.h"
#include "core/base/hash.h"
#include "core/base/limits.h"
#include "server/store/place/store_listing.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LOOK_NS        1000000000ull
#define FLUSH_NS       3000000000ull
#define LOOK_MS_MAX    5000  // of time between two looks: a stopped process played nothing
#define COST_TICKS_MIN 20    // that an average is made of
#define PRESENT_MAX    8192  // players whose time is being counted
#define ADDRESSES      16384 // slots, by account: of guests, from where they joined
#define SEEN           65536 // slots: addresses of guests that have counted today, by place

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

// Somebody who plays, until their time is enough for a vote, or they leave.
typedef struct Present {
    char place_id[65], world_id[65];
    uint64_t account, played_ms;
    bool is_over;
} Present;

typedef struct From {
    uint64_t account, address;
} From;

struct ListingFeed {
    Store *store;
    uint32_t time_max_s;
    Present *present; // PRESENT_MAX
    uint32_t present_count;
    uint64_t *seen; // SEEN: hashes of place and address; 0: free
    uint64_t seen_day;
    uint32_t seen_count;
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
    From *from; // ADDRESSES
};

Status listing_feed_create(Store *store, uint32_t time_max_s, ListingFeed **out)
{
    ListingFeed *feed = calloc(1, sizeof *feed);
    if (feed == NULL) {
        return STATUS_LIMIT;
    }
    feed->store = store;
    feed->time_max_s = time_max_s;
    feed->present = malloc(PRESENT_MAX * sizeof *feed->present);
    feed->seen = calloc(SEEN, sizeof *feed->seen);
    feed->from = calloc(ADDRESSES, sizeof *feed->from);
    feed->visits = malloc(VISITS_WAITING_MAX * sizeof *feed->visits);
    feed->clocked = calloc(HOST_WORLDS_MAX, sizeof *feed->clocked);
    pthread_mutex_init(&feed->lock, NULL);
    if (feed->visits == NULL || feed->clocked == NULL || feed->present == NULL ||
        feed->seen == NULL || feed->from == NULL) {
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
    StorePlayTime *times;
    StorePlayed *played;
} Flush;

static void flush_free(Flush *flush)
{
    if (flush != NULL) {
        free(flush->visits);
        free(flush->times);
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
    flush->times = malloc((feed->present_count + 1) * sizeof *flush->times);
    if (flush->visits == NULL || flush->played == NULL || flush->times == NULL) {
        flush_free(flush);
        return NULL;
    }
    for (uint32_t i = 0; i < feed->present_count; i++) {
        const Present *present = &feed->present[i];
        if (present->is_over) {
            StorePlayTime *time = &flush->times[flush->batch.time_count++];
            memcpy(time->package_id, present->place_id, sizeof time->package_id);
            time->account = present->account;
            time->seconds = present->played_ms / 1000;
        }
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
    flush->batch = (StorePlayBatch){.times = flush->times,
                                    .time_count = flush->batch.time_count,
                                    .visits = flush->visits,
                                    .visit_count = feed->visit_count,
                                    .played = flush->played,
                                    .played_count = count,
                                    .unix_ms = unix_ms};
    return flush;
}

// It was taken: what does not make a whole second stays for the next time.
static void flush_taken(ListingFeed *feed)
{
    uint32_t kept = 0, still = 0;
    feed->visit_count = 0;
    for (uint32_t i = 0; i < feed->present_count; i++) {
        if (!feed->present[i].is_over) {
            feed->present[still++] = feed->present[i];
        }
    }
    feed->present_count = still;
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
    for (uint32_t i = 0; i < feed->present_count && !is_active; i++) {
        is_active = feed->present[i].is_over;
    }
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
    for (uint32_t i = 0; i < feed->present_count; i++) {
        feed->present[i].is_over = true;
    }
    Flush *last = has_something(feed) ? flush_make(feed, unix_ms) : NULL;
    if (last != NULL) {
        flush_run(last, false);
    }
    pthread_mutex_destroy(&feed->lock);
    free(feed->present);
    free(feed->seen);
    free(feed->from);
    free(feed->visits);
    free(feed->tallies);
    free(feed->clocked);
    free(feed->live);
    free(feed);
}

// --- looking ------------------------------------------------------------------------------------

static From *from_slot(const ListingFeed *feed, uint64_t account)
{
    return &feed->from[(account * 0x9e3779b97f4a7c15ull) >> 40 & (ADDRESSES - 1)];
}

void listing_feed_from(ListingFeed *feed, uint64_t account, uint64_t address)
{
    pthread_mutex_lock(&feed->lock);
    *from_slot(feed, account) = (From){account, address};
    pthread_mutex_unlock(&feed->lock);
}

// Has a guest of this address visited the place today? Nothing of it is stored: after a restart
// each counts once more. Guests whose address is not known are one, and so is everybody when too
// many addresses have come.
static bool see_address(ListingFeed *feed, const FeedVisit *visit)
{
    const uint64_t day = visit->unix_ms / LISTING_DAY_MS;
    Hash64 hash = HASH64_INIT;
    pthread_mutex_lock(&feed->lock);
    const From from = *from_slot(feed, visit->account);
    pthread_mutex_unlock(&feed->lock);
    hash_bytes(&hash, visit->place_id, strlen(visit->place_id));
    hash_u64(&hash, from.account == visit->account ? from.address : 0);
    if (feed->seen_day != day) {
        memset(feed->seen, 0, SEEN * sizeof *feed->seen);
        feed->seen_day = day;
        feed->seen_count = 0;
    }
    const uint64_t key = hash.state | 1;
    uint32_t at = (uint32_t)(key >> 32) & (SEEN - 1);
    while (feed->seen[at] != 0 && feed->seen[at] != key) {
        at = (at + 1) & (SEEN - 1);
    }
    if (feed->seen[at] == key || feed->seen_count >= SEEN / 4 * 3) {
        return true;
    }
    feed->seen[at] = key;
    feed->seen_count += 1;
    return false;
}

static void begin_time(ListingFeed *feed, const FeedVisit *visit)
{
    listing_feed_leave(feed, visit->world_id, visit->account); // a second connection
    if (feed->present_count < PRESENT_MAX) {
        Present *present = &feed->present[feed->present_count++];
        *present = (Present){.account = visit->account};
        snprintf(present->place_id, sizeof present->place_id, "%s", visit->place_id);
        snprintf(present->world_id, sizeof present->world_id, "%s", visit->world_id);
    }
}

void listing_feed_leave(ListingFeed *feed, const char *world_id, uint64_t account)
{
    for (uint32_t i = 0; i < feed->present_count; i++) {
        Present *present = &feed->present[i];
        if (present->account == account && strcmp(present->world_id, world_id) == 0) {
            present->is_over = true;
        }
    }
}

// Of worlds on other machines nobody says here when somebody leaves.
static void count_time(ListingFeed *feed, Host *host, uint64_t passed_ms)
{
    for (uint32_t i = 0; i < feed->present_count; i++) {
        Present *present = &feed->present[i];
        const HostWorld *world = host_world(host, present->world_id);
        if (world == NULL || (host_world_link(world) != NULL && !host_world_is_ready(world))) {
            present->is_over = true;
        }
        if (!present->is_over) {
            present->played_ms += passed_ms;
            present->is_over = present->played_ms >= feed->time_max_s * 1000ull;
        }
    }
}

void listing_feed_enter(ListingFeed *feed, const FeedVisit *from)
{
    begin_time(feed, from);
    if (feed->visit_count == VISITS_WAITING_MAX) {
        atomic_fetch_add(&feed->visits_lost, 1);
        return;
    }
    StoreVisit *visit = &feed->visits[feed->visit_count++];
    snprintf(visit->package_id, sizeof visit->package_id, "%s", from->place_id);
    visit->account = from->account;
    visit->unix_ms = from->unix_ms;
    visit->is_same_address = from->is_guest && see_address(feed, from);
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
    Tally *tally =
        live->players > 0 && !live->is_counted_there ? tally_of(feed, live->place_id) : NULL;
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
    count_time(feed, host, passed_ms < LOOK_MS_MAX ? passed_ms : LOOK_MS_MAX);
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

// What the listing learns from running worlds, and what it shows of them. The main thread notes who
// comes in, and looks at the worlds once a second; every few seconds a thread of the pool writes
// what came together into the store (store_plays_add), so the main thread never waits. A process
// that is killed loses what it had not written yet: a few seconds.
//
// HTTP threads ask how many play a place, and which of its worlds have room: as of the last second.
//
// Of worlds on other machines it knows what their hosts report, and of those of other hosts on the
// same store what they say; who comes into them is counted when
// they are led there, because a host might say that anybody came.
#pragma once

#include "server/host/host.h"
#include "server/host/host_world.h"
#include "server/sys/work_pool.h"

typedef struct ListingFeed ListingFeed;

typedef struct LiveWorld {
    char place_id[65];
    char room_code[17], world_id[65], name[129];
    uint32_t players, player_max;
    uint64_t created_unix_ms, up_s;
    bool is_private;
    bool is_counted_there; // another host counts what is played in it
} LiveWorld;

typedef struct ListingFeedStats {
    uint64_t visits, visits_lost; // lost: too many waited, or the disk refused
} ListingFeedStats;

// time_max_s: how long somebody's play is counted, in one visit.
MUST_USE Status listing_feed_create(Store *store, uint32_t time_max_s, ListingFeed **out);
// Writes what is left; the pool is gone by then. NULL is allowed.
void listing_feed_destroy(ListingFeed *feed, uint64_t unix_ms);

// --- on the main thread -------------------------------------------------------------------------
typedef struct FeedVisit {
    const char *place_id, *world_id;
    uint64_t account, unix_ms;
    bool is_guest;
} FeedVisit;
void listing_feed_enter(ListingFeed *feed, const FeedVisit *visit);
void listing_feed_leave(ListingFeed *feed, const char *world_id, uint64_t account);
// True: a second has passed. Then the worlds of this process are looked at, with those of other
// machines.
bool listing_feed_is_due(const ListingFeed *feed, uint64_t now_ns);
void listing_feed_look(ListingFeed *feed, Host *host, const LiveWorld *others, uint32_t other_count,
                       uint64_t now_ns);
// Lets the pool write what came together, every few seconds.
void listing_feed_flush(ListingFeed *feed, WorkPool *pool, uint64_t now_ns, uint64_t unix_ms);
void listing_live_of(const HostWorld *world, LiveWorld *out); // but for its players

// --- on any thread ------------------------------------------------------------------------------
uint32_t listing_feed_players(ListingFeed *feed, const char *place_id);
// Public worlds of the place with room for more, by room code, from behind that one on.
uint32_t listing_feed_worlds(ListingFeed *feed, const char *place_id, const char *after,
                             LiveWorld *out, uint32_t max);
// From which address a guest joins, as a number that says nothing else (serve_address_key).
void listing_feed_from(ListingFeed *feed, uint64_t account, uint64_t address);
ListingFeedStats listing_feed_stats(ListingFeed *feed);

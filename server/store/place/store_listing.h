// The listing: places in order of how popular or how new they are, found by words, tags and
// creators; the operator's collections; votes and favourites; who played what, and how much a place
// is played. docs/LISTING.md says what the numbers mean.
//
// Every place has a row in it, which follows the package whenever that is written (store_package.c
// calls listing_follow in the same transaction), so nobody has to remember to do it. Only what is
// shown has words. These wait for the disk; they are for a pool's threads and the command line.
#pragma once

#include "core/base/limits.h"
#include "server/store/people/store_account.h"
#include "server/store/place/store_package.h"

#define LISTING_SUMMARY_BYTES 241
#define LISTING_TAGS_BYTES    (TAGS_PER_PLACE_MAX * (TAG_LETTERS_MAX + 1) + 1)
#define LISTING_CURSOR_BYTES  128
#define COLLECTION_NAME_BYTES 33
#define LISTING_DAY_MS        (24ull * 3600 * 1000)
#define LISTING_VISIT_GAP_MS  (10ull * 60 * 1000) // coming back within it is the same visit
#define LISTING_COST_STALE_MS (24ull * 3600 * 1000)

// How much a place is played.
typedef struct StoreCounts {
    uint64_t visits, players, seconds, peak; // players: different ones; peak: at the same time
    uint64_t votes_up, votes_down, favourites;
    uint64_t cost_us, cost_players, cost_unix_ms; // of a tick with so many players; 0: unknown
} StoreCounts;

typedef struct StoreListing {
    char package_id[65];
    bool is_shown, is_open;
    uint64_t owner_id;
    char title[STORE_TITLE_BYTES];
    char summary[LISTING_SUMMARY_BYTES]; // how the description begins
    char tags[LISTING_TAGS_BYTES];       // with spaces between
    uint64_t text_hash;                  // of what its words are made from
    uint64_t heat, score;                // popularity.h
    uint64_t published_unix_ms;          // when it was shown first; 0: never
    uint64_t updated_unix_ms;
    StoreCounts counts;
    // What other tables say.
    char creator[STORE_SHOWN_BYTES]; // "": unknown
    bool has_thumbnail;
    uint8_t thumbnail[32];
} StoreListing;

// Is it in the listing? The one place that says so.
bool listing_shows(const StorePackage *package, bool needs_approval);
// Whether places must be approved by an operator to be shown. All are looked at again if that
// changes.
MUST_USE Status store_listing_require_approval(Store *store, bool is_needed);
// A number that changes with everything that the listing shows, but for counts of players.
uint64_t store_listing_generation(Store *store);
void store_listing_touch(Store *store); // another process has changed something

// --- lists --------------------------------------------------------------------------------------
typedef enum StoreListSort { STORE_POPULAR, STORE_NEW } StoreListSort;

typedef struct StoreListQuery {
    StoreListSort sort;
    const char *words;   // NULL or "": all; more than SEARCH_TERMS_MAX are not looked at
    const char *tag;     // NULL: all
    uint64_t creator_id; // 0: all
    const char *after;   // a cursor; NULL or "": from the first
    uint32_t limit;      // 1 to LISTING_PAGE_MAX
} StoreListQuery;

// `next` is "" at the end. A query that looks at many places to find a few gives those and a
// cursor, so a page may be short before the end. STATUS_MALFORMED: the cursor is none of ours.
MUST_USE Status store_listing(Store *store, const StoreListQuery *query, StoreListing *out,
                              uint32_t *count, char next[LISTING_CURSOR_BYTES]);
MUST_USE Status store_listing_find(Store *store, const char *package_id, StoreListing *out);
// Newest first; also places that are not shown: the caller asks who may see them.
MUST_USE Status store_favourites(Store *store, uint64_t account, const char *after, uint32_t limit,
                                 StoreListing *out, uint32_t *count,
                                 char next[LISTING_CURSOR_BYTES]);
MUST_USE Status store_recent(Store *store, uint64_t account, const char *after, uint32_t limit,
                             StoreListing *out, uint32_t *count, char next[LISTING_CURSOR_BYTES]);

typedef struct StoreTagCount {
    char tag[TAG_LETTERS_MAX + 1];
    uint64_t places;
} StoreTagCount;
MUST_USE Status store_tag_counts(Store *store, StoreTagCount *out, uint32_t max, uint32_t *count);

// --- collections --------------------------------------------------------------------------------
typedef struct StoreCollection {
    char name[COLLECTION_NAME_BYTES];
    char title[STORE_TITLE_BYTES];
    uint64_t places; // that are shown
} StoreCollection;
bool store_collection_name_is_valid(const char *name); // a-z, 0-9 and -, 1 to 32 of them
// In place of what it had; without places it is gone. STATUS_NOT_FOUND: *unknown is the number of a
// place that is none. STATUS_LIMIT: too many collections.
MUST_USE Status store_collection_put(Store *store, const char *name, const char *title,
                                     const char (*places)[65], uint32_t count, uint32_t *unknown);
MUST_USE Status store_collections(Store *store, StoreCollection *out, uint32_t max,
                                  uint32_t *count);
MUST_USE Status store_collection(Store *store, const char *name, const char *after, uint32_t limit,
                                 StoreListing *out, uint32_t *count,
                                 char next[LISTING_CURSOR_BYTES]);

// --- what people say of a place -----------------------------------------------------------------
bool store_tag_is_valid(const char *tag);
// Valid ones, at most TAGS_PER_PLACE_MAX; the same one twice counts once.
MUST_USE Status store_tags_put(Store *store, const char *package_id, const char *const *tags,
                               uint32_t count);
// STATUS_LIMIT: the account has FAVOURITES_PER_PERSON_MAX.
MUST_USE Status store_favourite_put(Store *store, const char *package_id, uint64_t account,
                                    bool is_favourite);
// 1, -1, or 0: none. STATUS_DENIED: they have not played it for so long.
MUST_USE Status store_vote_put(Store *store, const char *package_id, uint64_t account, int vote,
                               uint64_t seconds_min);
typedef struct StoreOpinion {
    bool has_played, is_favourite;
    int vote;
} StoreOpinion;
MUST_USE Status store_opinion(Store *store, const char *package_id, uint64_t account,
                              StoreOpinion *out);

// --- how much it is played ----------------------------------------------------------------------
typedef struct StoreVisit {
    char package_id[65];
    uint64_t account, unix_ms;
    bool is_same_address; // of a guest: the address has visited this place today
} StoreVisit;

// For how long somebody played since it was last told.
typedef struct StorePlayTime {
    char package_id[65];
    uint64_t account, seconds;
} StorePlayTime;

// Of a package since it was last told.
typedef struct StorePlayed {
    char package_id[65];
    uint64_t seconds, peak;         // peak: players at the same time
    uint64_t cost_us, cost_players; // cost_players 0: unknown
} StorePlayed;

typedef struct StorePlayBatch {
    const StoreVisit *visits;
    uint32_t visit_count;
    const StorePlayTime *times;
    uint32_t time_count;
    const StorePlayed *played;
    uint32_t played_count;
    uint64_t unix_ms; // of what was played
} StorePlayBatch;
// Packages and accounts that are not there (any more) are left out.
MUST_USE Status store_plays_add(Store *store, const StorePlayBatch *batch);

typedef struct StoreDay {
    uint64_t day;                                      // since 1970-01-01 UTC
    uint64_t visits, players, returned, seconds, peak; // returned: had played on an earlier day
} StoreDay;
// Those after that day, in order.
MUST_USE Status store_days(Store *store, const char *package_id, uint64_t after_day, StoreDay *out,
                           uint32_t max, uint32_t *count);

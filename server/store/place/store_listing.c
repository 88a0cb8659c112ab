// Rows of the listing and how they follow packages; tags and collections. See store_listing.h.
#define _GNU_SOURCE
#include "server/store/place/store_listing.h"

#include "core/base/hash.h"
#include "core/base/text.h"
#include "core/base/utf8.h"
#include "server/store/people/store_class.h"
#include "server/store/place/popularity.h"
#include "server/store/place/search_words.h"
#include "server/store/place/store_package_inside.h"
#include "server/store/store_inside.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// What a word is worth by where it stands; twice that, and one for a whole word, is a place's rank.
#define WEIGHT_TITLE   4
#define WEIGHT_TAG     3
#define WEIGHT_CREATOR 2
#define WEIGHT_TEXT    1
#define WEIGHT_EXACT   0 // "#tag" and "@owner"

#define RULE_APPROVAL  "approval"          // places must be approved
#define RULE_FOLLOWED  "approval_followed" // and all rows say so
#define PLACES_AT_ONCE 100                 // that are looked at in one transaction

// --- rows ---------------------------------------------------------------------------------------

static void take_counts(SqlRow *row, StoreCounts *out)
{
    out->visits = sql_take_u64(row);
    out->players = sql_take_u64(row);
    out->seconds = sql_take_u64(row);
    out->peak = sql_take_u64(row);
    out->votes_up = sql_take_u64(row);
    out->votes_down = sql_take_u64(row);
    out->favourites = sql_take_u64(row);
    out->cost_us = sql_take_u64(row);
    out->cost_players = sql_take_u64(row);
    out->cost_unix_ms = sql_take_u64(row);
}

static void take_others(SqlRow *row, StoreListing *out)
{
    size_t bytes = 0;
    if (!sql_take_null(row)) {
        world_take_string(row, out->creator, sizeof out->creator);
        if (out->creator[0] == '\0') {
            store_pupil_alias(out->owner_id, out->creator);
        }
    }
    if (!sql_take_null(row)) {
        const uint8_t *hash = sql_take_bytes(row, sizeof out->thumbnail, &bytes);
        memcpy(out->thumbnail, hash, bytes);
        out->has_thumbnail = bytes == sizeof out->thumbnail;
    }
}

bool listing_take(SqlRow *row, StoreListing *out)
{
    char counted_id[sizeof out->package_id];
    memset(out, 0, sizeof *out);
    sql_take_table(row, TABLE_LISTING);
    world_take_string(row, out->package_id, sizeof out->package_id);
    out->is_shown = sql_take_u64(row) != 0;
    out->is_open = sql_take_u64(row) != 0;
    out->owner_id = sql_take_u64(row);
    world_take_string(row, out->title, sizeof out->title);
    world_take_string(row, out->summary, sizeof out->summary);
    world_take_string(row, out->tags, sizeof out->tags);
    out->text_hash = sql_take_u64(row);
    out->heat = sql_take_u64(row);
    out->score = sql_take_u64(row);
    out->published_unix_ms = sql_take_u64(row);
    out->updated_unix_ms = sql_take_u64(row);
    const bool is_whole = sql_take_checksum(row);
    sql_take_table(row, TABLE_PLACE_COUNTS);
    world_take_string(row, counted_id, sizeof counted_id);
    take_counts(row, &out->counts);
    const bool is_counted = sql_take_checksum(row);
    take_others(row, out);
    return is_whole && is_counted;
}

void listing_write(Sql *sql, const StoreListing *listing)
{
    SqlRow row = sql_open(sql, SQL_LISTING_PUT, TABLE_LISTING);
    sql_put_string(&row, listing->package_id);
    sql_put_u64(&row, listing->is_shown);
    sql_put_u64(&row, listing->is_open);
    sql_put_u64(&row, listing->owner_id);
    sql_put_string(&row, listing->title);
    sql_put_string(&row, listing->summary);
    sql_put_string(&row, listing->tags);
    sql_put_u64(&row, listing->text_hash);
    sql_put_u64(&row, listing->heat);
    sql_put_u64(&row, listing->score);
    sql_put_u64(&row, listing->published_unix_ms);
    sql_put_u64(&row, listing->updated_unix_ms);
    sql_put_checksum(&row);
    (void)sql_run(&row);
}

void listing_write_counts_row(Sql *sql, const char *package_id, const StoreCounts *counts)
{
    SqlRow row = sql_open(sql, SQL_COUNTS_PUT, TABLE_PLACE_COUNTS);
    sql_put_string(&row, package_id);
    sql_put_u64(&row, counts->visits);
    sql_put_u64(&row, counts->players);
    sql_put_u64(&row, counts->seconds);
    sql_put_u64(&row, counts->peak);
    sql_put_u64(&row, counts->votes_up);
    sql_put_u64(&row, counts->votes_down);
    sql_put_u64(&row, counts->favourites);
    sql_put_u64(&row, counts->cost_us);
    sql_put_u64(&row, counts->cost_players);
    sql_put_u64(&row, counts->cost_unix_ms);
    sql_put_checksum(&row);
    (void)sql_run(&row);
}

Status listing_by_id(Sql *sql, const char *package_id, StoreListing *out)
{
    Status status = STATUS_NOT_FOUND;
    SqlRow row = sql_open(sql, SQL_LISTING_FIND, TABLE_NONE);
    sql_put_string(&row, package_id);
    if (sql_next(&row)) {
        status = listing_take(&row, out) ? STATUS_OK : STATUS_MALFORMED;
        sql_close(&row);
    }
    return sql_status(sql) != STATUS_OK ? sql_status(sql) : status;
}

static void run_with_text(Sql *sql, SqlName name, const char *text)
{
    SqlRow row = sql_open(sql, name, TABLE_NONE);
    sql_put_string(&row, text);
    (void)sql_run(&row);
}

void store_listing_touch(Store *store)
{
    atomic_fetch_add(&store->listing_generation, 1);
}

uint64_t store_listing_generation(Store *store)
{
    return atomic_load(&store->listing_generation);
}

// --- rules --------------------------------------------------------------------------------------

bool listing_shows(const StorePackage *package, bool needs_approval)
{
    const uint32_t hidden = STORE_PACKAGE_REMOVED | STORE_PACKAGE_UNLISTED | STORE_PACKAGE_CLASS;
    return package->kind == STORE_PLACE && package->visibility == STORE_LISTED &&
           (package->flags & hidden) == 0 && package->trashed_unix_ms == 0 && package->live != 0 &&
           (!needs_approval || (package->flags & STORE_PACKAGE_APPROVED) != 0);
}

static bool rule(Sql *sql, const char *name)
{
    char found[33];
    bool value = false;
    SqlRow row = sql_open(sql, SQL_RULE_FIND, TABLE_NONE);
    sql_put_string(&row, name);
    if (sql_next(&row)) {
        sql_take_table(&row, TABLE_LISTING_RULES);
        world_take_string(&row, found, sizeof found);
        value = sql_take_u64(&row) != 0;
        value = !sql_take_checksum(&row) || value; // a damaged one shows nothing unapproved
        sql_close(&row);
    }
    return value;
}

static void rule_put(Sql *sql, const char *name, bool value)
{
    SqlRow row = sql_open(sql, SQL_RULE_PUT, TABLE_LISTING_RULES);
    sql_put_string(&row, name);
    sql_put_u64(&row, value);
    sql_put_checksum(&row);
    (void)sql_run(&row);
}

// --- words --------------------------------------------------------------------------------------

// Each tag as it is, for `tag=`, and its words.
static void add_tags(SearchWords *words, const char *tags)
{
    char exact[SEARCH_WORD_BYTES + 2];
    for (const char *at = tags; *at != '\0';) {
        const size_t bytes = strcspn(at, " ");
        snprintf(exact, sizeof exact, "#%.*s", (int)bytes, at);
        search_words_add_one(words, exact, strlen(exact), WEIGHT_EXACT);
        at += bytes + (at[bytes] == ' ');
    }
    search_words_add(words, tags, WEIGHT_TAG);
}

static void write_words(Sql *sql, const char *package_id, const SearchWords *words)
{
    for (uint32_t i = 0; i < words->count; i++) {
        SqlRow row = sql_open(sql, SQL_WORD_PUT, TABLE_LISTING_WORDS);
        sql_put_string(&row, words->items[i].text);
        sql_put_string(&row, package_id);
        sql_put_u64(&row, words->items[i].weight);
        sql_put_checksum(&row);
        (void)sql_run(&row);
    }
}

static uint64_t hash_of(const StoreListing *listing, const StorePackage *package)
{
    Hash64 hash = HASH64_INIT;
    hash_u64(&hash, listing->is_shown);
    hash_u64(&hash, listing->owner_id);
    const char *const texts[] = {package->title, listing->tags, listing->creator,
                                 package->description};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        hash_u64(&hash, strlen(texts[i]));
        hash_bytes(&hash, texts[i], strlen(texts[i]));
    }
    return hash.state >> 1; // 0 to INT64_MAX
}

static void index_words(Sql *sql, const StoreListing *listing, const StorePackage *package)
{
    SearchWords words = {.max = SEARCH_WORDS_PER_PLACE};
    char owner[24];
    run_with_text(sql, SQL_WORDS_DELETE, listing->package_id);
    if (!listing->is_shown) {
        return;
    }
    snprintf(owner, sizeof owner, "@%" PRIx64, listing->owner_id);
    search_words_add_one(&words, owner, strlen(owner), WEIGHT_EXACT);
    add_tags(&words, listing->tags);
    search_words_add(&words, package->title, WEIGHT_TITLE);
    search_words_add(&words, listing->creator, WEIGHT_CREATOR);
    search_words_add(&words, package->description, WEIGHT_TEXT);
    write_words(sql, listing->package_id, &words);
}

// --- following packages -------------------------------------------------------------------------

static void fill(Sql *sql, const StorePackage *package, StoreListing *listing)
{
    StoreAccount owner;
    listing->owner_id = package->owner_id;
    listing->is_open = (package->flags & STORE_PACKAGE_OPEN) != 0;
    listing->updated_unix_ms = package->updated_unix_ms;
    memcpy(listing->title, package->title, sizeof listing->title);
    const size_t bytes = text_clean(package->description, strlen(package->description),
                                    listing->summary, sizeof listing->summary - 1);
    listing->summary[bytes] = '\0';
    const bool is_known = account_by_id(sql, package->owner_id, &owner) == STATUS_OK;
    // A pupil's name is not in the listing, and nobody finds a place by it, whatever the class
    // says.
    if (is_known &&
        ((owner.roles & STORE_ROLE_PUPIL) != 0 || class_has_pupil(sql, owner.account_id))) {
        store_pupil_alias(owner.account_id, owner.shown_name);
    }
    snprintf(listing->creator, sizeof listing->creator, "%s", is_known ? owner.shown_name : "");
}

void listing_follow(Sql *sql, const StorePackage *package)
{
    StoreListing listing;
    if (package->kind != STORE_PLACE) {
        return;
    }
    const bool is_new = listing_by_id(sql, package->package_id, &listing) != STATUS_OK;
    if (is_new) { // or damaged: what was counted cannot be believed
        memset(&listing, 0, sizeof listing);
        memcpy(listing.package_id, package->package_id, sizeof listing.package_id);
        listing_write_counts_row(sql, listing.package_id, &listing.counts);
    }
    fill(sql, package, &listing);
    listing.is_shown = listing_shows(package, rule(sql, RULE_APPROVAL));
    if (listing.is_shown && listing.published_unix_ms == 0) {
        listing.published_unix_ms = sql->unix_ms;
        listing.heat = popularity_heat_add(listing.heat, sql->unix_ms, POPULARITY_ACCOUNT);
    }
    listing.score =
        popularity_score(listing.heat, listing.counts.votes_up, listing.counts.votes_down);
    const uint64_t hash = hash_of(&listing, package);
    if (is_new || hash != listing.text_hash) {
        listing.text_hash = hash;
        index_words(sql, &listing, package);
    }
    listing_write(sql, &listing);
    sql->touches_listing = true;
}

void listing_forget(Sql *sql, const char *package_id)
{
    static const SqlName names[] = {SQL_WORDS_DELETE,      SQL_COUNTS_DELETE, SQL_COLLECTION_FORGET,
                                    SQL_FAVOURITES_FORGET, SQL_VOTES_FORGET,  SQL_PLAYS_FORGET,
                                    SQL_PLAY_TIMES_FORGET, SQL_DAYS_FORGET,   SQL_LISTING_DELETE};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        run_with_text(sql, names[i], package_id);
    }
    sql->touches_listing = true;
}

// The next id of a statement that gives one.
static bool next_id(SqlRow *row, char id[65])
{
    const bool is_there = sql_next(row);
    if (is_there) {
        world_take_string(row, id, 65);
        sql_close(row);
    }
    return is_there;
}

void listing_renamed(Sql *sql, uint64_t account)
{
    char id[65] = "", after[65];
    StorePackage package;
    for (bool is_more = true; is_more && sql_status(sql) == STATUS_OK;) {
        memcpy(after, id, sizeof after);
        SqlRow row = sql_open(sql, SQL_LISTING_OWNED, TABLE_NONE);
        sql_put_u64(&row, account);
        sql_put_string(&row, after);
        is_more = next_id(&row, id);
        if (is_more && package_by_id(sql, id, &package) == STATUS_OK) {
            listing_follow(sql, &package);
        }
    }
}

// --- approval -----------------------------------------------------------------------------------

typedef struct ApprovalCall {
    bool is_needed, is_done;
    char after[65];
} ApprovalCall;

static Status approval_begin(Store *store, Sql *sql, void *user)
{
    (void)store;
    ApprovalCall *call = user;
    call->is_done =
        rule(sql, RULE_APPROVAL) == call->is_needed && rule(sql, RULE_FOLLOWED) == call->is_needed;
    if (!call->is_done) {
        rule_put(sql, RULE_APPROVAL, call->is_needed);
    }
    return STATUS_OK;
}

static Status approval_follow(Store *store, Sql *sql, void *user)
{
    (void)store;
    ApprovalCall *call = user;
    char ids[PLACES_AT_ONCE][65];
    uint32_t count = 0;
    StorePackage package;
    SqlRow row = sql_open(sql, SQL_LISTING_IDS, TABLE_NONE);
    sql_put_string(&row, call->after);
    sql_put_u64(&row, PLACES_AT_ONCE);
    while (sql_next(&row)) {
        world_take_string(&row, ids[count++], 65);
    }
    for (uint32_t i = 0; i < count; i++) {
        if (package_by_id(sql, ids[i], &package) == STATUS_OK) {
            listing_follow(sql, &package);
        }
    }
    call->is_done = count < PLACES_AT_ONCE;
    if (call->is_done) {
        rule_put(sql, RULE_FOLLOWED, call->is_needed);
    } else {
        memcpy(call->after, ids[count - 1], sizeof call->after);
    }
    return STATUS_OK;
}

Status store_listing_require_approval(Store *store, bool is_needed)
{
    ApprovalCall call = {.is_needed = is_needed};
    pthread_mutex_lock(&store->read_lock); // mostly nothing is to be written
    const bool is_so = rule(store->reader, RULE_APPROVAL) == is_needed &&
                       rule(store->reader, RULE_FOLLOWED) == is_needed;
    Status status = sql_status(store->reader);
    sql_clear(store->reader);
    pthread_mutex_unlock(&store->read_lock);
    if (status != STATUS_OK || is_so) {
        return status;
    }
    status = store_call(store, approval_begin, &call);
    while (status == STATUS_OK && !call.is_done) {
        status = store_call(store, approval_follow, &call);
    }
    return status;
}

// --- tags ---------------------------------------------------------------------------------------

static bool is_slug(const char *text, size_t letters_max)
{
    const size_t bytes = strspn(text, "abcdefghijklmnopqrstuvwxyz0123456789-");
    return bytes >= 1 && bytes <= letters_max && text[bytes] == '\0';
}

bool store_tag_is_valid(const char *tag)
{
    // "#" and the tag are a word.
    _Static_assert(TAG_LETTERS_MAX < SEARCH_WORD_BYTES, "a word has room for # and a tag");
    return is_slug(tag, TAG_LETTERS_MAX);
}

typedef struct TagsCall {
    const char *package_id;
    char tags[LISTING_TAGS_BYTES];
} TagsCall;

static bool has_tag(const char *tags, const char *tag)
{
    const size_t bytes = strlen(tag);
    for (const char *at = tags; *at != '\0';) {
        const size_t length = strcspn(at, " ");
        if (length == bytes && memcmp(at, tag, bytes) == 0) {
            return true;
        }
        at += length + (at[length] == ' ');
    }
    return false;
}

static Status tags_put(Store *store, Sql *sql, void *user)
{
    (void)store;
    const TagsCall *call = user;
    StorePackage package;
    StoreListing listing;
    Status status = package_by_id(sql, call->package_id, &package);
    status = status == STATUS_OK ? listing_by_id(sql, call->package_id, &listing) : status;
    if (status != STATUS_OK) {
        return status;
    }
    const bool is_same = strcmp(listing.tags, call->tags) == 0;
    memcpy(listing.tags, call->tags, sizeof listing.tags);
    listing_write(sql, &listing);
    if (is_same) {
        listing_follow(sql, &package);
        return STATUS_OK;
    }
    package.version += 1;
    package_unapprove(sql, &package);
    package_row_write(sql, &package);
    return STATUS_OK;
}

Status store_tags_put(Store *store, const char *package_id, const char *const *tags, uint32_t count)
{
    TagsCall call = {.package_id = package_id};
    size_t at = 0;
    if (count > TAGS_PER_PLACE_MAX) {
        return STATUS_LIMIT;
    }
    for (uint32_t i = 0; i < count; i++) {
        if (!store_tag_is_valid(tags[i])) {
            return STATUS_MALFORMED;
        }
        if (!has_tag(call.tags, tags[i])) {
            at += (size_t)snprintf(call.tags + at, sizeof call.tags - at, "%s%s", at > 0 ? " " : "",
                                   tags[i]);
        }
    }
    return store_call(store, tags_put, &call);
}

// --- collections --------------------------------------------------------------------------------

bool store_collection_name_is_valid(const char *name)
{
    return is_slug(name, COLLECTION_NAME_BYTES - 1);
}

typedef struct CollectionCall {
    const char *name, *title;
    const char (*places)[65];
    uint32_t count, unknown;
} CollectionCall;

static uint64_t take_one_number(SqlRow *row)
{
    uint64_t number = 0;
    if (sql_next(row)) {
        number = sql_take_u64(row);
        sql_close(row);
    }
    return number;
}

static bool is_too_many(Sql *sql, const char *name)
{
    SqlRow has = sql_open(sql, SQL_COLLECTION_HAS, TABLE_NONE);
    sql_put_string(&has, name);
    if (take_one_number(&has) > 0) {
        return false;
    }
    SqlRow all = sql_open(sql, SQL_COLLECTION_NAMES, TABLE_NONE);
    return take_one_number(&all) >= COLLECTIONS_MAX;
}

static Status collection_put(Store *store, Sql *sql, void *user)
{
    (void)store;
    CollectionCall *call = user;
    StoreListing listing;
    for (uint32_t i = 0; i < call->count; i++) {
        const Status status = listing_by_id(sql, call->places[i], &listing);
        if (status != STATUS_OK) {
            call->unknown = i;
            return status;
        }
    }
    if (call->count > 0 && is_too_many(sql, call->name)) {
        return STATUS_LIMIT;
    }
    run_with_text(sql, SQL_COLLECTION_DELETE, call->name);
    for (uint32_t i = 0; i < call->count; i++) {
        SqlRow row = sql_open(sql, SQL_COLLECTION_PUT, TABLE_COLLECTIONS);
        sql_put_string(&row, call->name);
        sql_put_u64(&row, i + 1);
        sql_put_string(&row, call->places[i]);
        sql_put_string(&row, call->title);
        sql_put_checksum(&row);
        (void)sql_run(&row);
    }
    sql->touches_listing = true;
    return STATUS_OK;
}

Status store_collection_put(Store *store, const char *name, const char *title,
                            const char (*places)[65], uint32_t count, uint32_t *unknown)
{
    CollectionCall call = {name, title, places, count, 0};
    if (!store_collection_name_is_valid(name) || count > COLLECTION_PLACES_MAX ||
        strlen(title) >= STORE_TITLE_BYTES || !text_is_valid(title, strlen(title))) {
        return STATUS_MALFORMED;
    }
    const Status status = store_call(store, collection_put, &call);
    *unknown = call.unknown;
    return status;
}

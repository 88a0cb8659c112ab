// Favourites, votes, and how much places are played. See store_listing.h.
#define _GNU_SOURCE
#include "server/store/place/popularity.h"
#include "server/store/place/store_listing.h"
#include "server/store/store_inside.h"

#include <string.h>

// --- rows ---------------------------------------------------------------------------------------

typedef struct Play {
    uint64_t first_day, last_day, visits, last_unix_ms;
} Play;

// Of two columns; false: there is none, or it is damaged.
static bool find_play(Sql *sql, const char *package_id, uint64_t account, Play *out)
{
    char id[65];
    bool is_whole = false;
    SqlRow row = sql_open(sql, SQL_PLAY_FIND, TABLE_NONE);
    sql_put_string(&row, package_id);
    sql_put_u64(&row, account);
    if (sql_next(&row)) {
        sql_take_table(&row, TABLE_PLAYS);
        world_take_string(&row, id, sizeof id);
        (void)sql_take_u64(&row);
        out->first_day = sql_take_u64(&row);
        out->last_day = sql_take_u64(&row);
        out->visits = sql_take_u64(&row);
        out->last_unix_ms = sql_take_u64(&row);
        is_whole = sql_take_checksum(&row);
        sql_close(&row);
    }
    return is_whole;
}

static void write_play(Sql *sql, const char *package_id, uint64_t account, const Play *play)
{
    SqlRow row = sql_open(sql, SQL_PLAY_PUT, TABLE_PLAYS);
    sql_put_string(&row, package_id);
    sql_put_u64(&row, account);
    sql_put_u64(&row, play->first_day);
    sql_put_u64(&row, play->last_day);
    sql_put_u64(&row, play->visits);
    sql_put_u64(&row, play->last_unix_ms);
    sql_put_checksum(&row);
    (void)sql_run(&row);
}

// How long somebody has played, as far as that was counted.
static uint64_t find_time(Sql *sql, const char *package_id, uint64_t account)
{
    char id[65];
    uint64_t seconds = 0;
    SqlRow row = sql_open(sql, SQL_PLAY_TIME_FIND, TABLE_NONE);
    sql_put_string(&row, package_id);
    sql_put_u64(&row, account);
    if (sql_next(&row)) {
        sql_take_table(&row, TABLE_PLAY_TIMES);
        world_take_string(&row, id, sizeof id);
        (void)sql_take_u64(&row);
        seconds = sql_take_u64(&row);
        seconds = sql_take_checksum(&row) ? seconds : 0;
        sql_close(&row);
    }
    return seconds;
}

static void add_time(Sql *sql, const StorePlayTime *time)
{
    StoreAccount account;
    StorePackage package;
    if (account_by_id(sql, time->account, &account) != STATUS_OK ||
        package_by_id(sql, time->package_id, &package) != STATUS_OK) {
        return; // they are gone
    }
    const uint64_t seconds = find_time(sql, time->package_id, time->account) + time->seconds;
    SqlRow row = sql_open(sql, SQL_PLAY_TIME_PUT, TABLE_PLAY_TIMES);
    sql_put_string(&row, time->package_id);
    sql_put_u64(&row, time->account);
    sql_put_u64(&row, seconds);
    sql_put_checksum(&row);
    (void)sql_run(&row);
}

static bool take_day(SqlRow *row, StoreDay *out)
{
    char id[65];
    sql_take_table(row, TABLE_PLACE_DAYS);
    world_take_string(row, id, sizeof id);
    out->day = sql_take_u64(row);
    out->visits = sql_take_u64(row);
    out->players = sql_take_u64(row);
    out->returned = sql_take_u64(row);
    out->seconds = sql_take_u64(row);
    out->peak = sql_take_u64(row);
    return sql_take_checksum(row);
}

static StoreDay find_day(Sql *sql, const char *package_id, uint64_t number)
{
    StoreDay day = {.day = number};
    SqlRow row = sql_open(sql, SQL_DAY_FIND, TABLE_NONE);
    sql_put_string(&row, package_id);
    sql_put_u64(&row, number);
    if (sql_next(&row)) {
        if (!take_day(&row, &day)) {
            day = (StoreDay){.day = number};
        }
        sql_close(&row);
    }
    return day;
}

static void write_day(Sql *sql, const char *package_id, const StoreDay *day)
{
    SqlRow row = sql_open(sql, SQL_DAY_PUT, TABLE_PLACE_DAYS);
    sql_put_string(&row, package_id);
    sql_put_u64(&row, day->day);
    sql_put_u64(&row, day->visits);
    sql_put_u64(&row, day->players);
    sql_put_u64(&row, day->returned);
    sql_put_u64(&row, day->seconds);
    sql_put_u64(&row, day->peak);
    sql_put_checksum(&row);
    (void)sql_run(&row);
}

// -1, 0 or 1, and whether there is such a row.
static int find_vote(Sql *sql, const char *package_id, uint64_t account)
{
    char id[65];
    int vote = 0;
    SqlRow row = sql_open(sql, SQL_VOTE_FIND, TABLE_NONE);
    sql_put_string(&row, package_id);
    sql_put_u64(&row, account);
    if (sql_next(&row)) {
        sql_take_table(&row, TABLE_VOTES);
        world_take_string(&row, id, sizeof id);
        (void)sql_take_u64(&row);
        vote = (int64_t)sql_take_u64(&row) > 0 ? 1 : -1;
        sql_close(&row);
    }
    return vote;
}

static bool find_favourite(Sql *sql, const char *package_id, uint64_t account)
{
    SqlRow row = sql_open(sql, SQL_FAVOURITE_FIND, TABLE_NONE);
    sql_put_u64(&row, account);
    sql_put_string(&row, package_id);
    const bool is_there = sql_next(&row);
    if (is_there) {
        sql_close(&row);
    }
    return is_there;
}

// --- votes --------------------------------------------------------------------------------------

typedef struct OpinionCall {
    const char *package_id;
    uint64_t account;
    int vote;
    uint64_t seconds_min;
    bool is_favourite;
} OpinionCall;

static void count_vote(StoreCounts *counts, int vote, bool is_added)
{
    uint64_t *count = vote > 0 ? &counts->votes_up : &counts->votes_down;
    *count = is_added ? *count + 1 : *count > 0 ? *count - 1 : 0;
}

static void write_vote(Sql *sql, const OpinionCall *call)
{
    if (call->vote == 0) {
        SqlRow row = sql_open(sql, SQL_VOTE_DELETE, TABLE_NONE);
        sql_put_string(&row, call->package_id);
        sql_put_u64(&row, call->account);
        (void)sql_run(&row);
        return;
    }
    SqlRow row = sql_open(sql, SQL_VOTE_PUT, TABLE_VOTES);
    sql_put_string(&row, call->package_id);
    sql_put_u64(&row, call->account);
    sql_put_u64(&row, (uint64_t)(int64_t)call->vote);
    sql_put_u64(&row, sql->unix_ms);
    sql_put_checksum(&row);
    (void)sql_run(&row);
}

static void change_vote(Sql *sql, const OpinionCall *call, StoreListing *listing)
{
    const int before = find_vote(sql, call->package_id, call->account);
    if (before == call->vote) {
        return;
    }
    write_vote(sql, call);
    if (before != 0) {
        count_vote(&listing->counts, before, false);
    }
    if (call->vote != 0) {
        count_vote(&listing->counts, call->vote, true);
    }
    listing->score =
        popularity_score(listing->heat, listing->counts.votes_up, listing->counts.votes_down);
    listing_write_counts_row(sql, call->package_id, &listing->counts);
    listing_write(sql, listing);
    sql->touches_listing = true;
}

static Status vote_put(Store *store, Sql *sql, void *user)
{
    (void)store;
    const OpinionCall *call = user;
    StoreListing listing;
    Play play;
    const Status status = listing_by_id(sql, call->package_id, &listing);
    if (status != STATUS_OK) {
        return status;
    }
    if (call->vote != 0 && (!find_play(sql, call->package_id, call->account, &play) ||
                            find_time(sql, call->package_id, call->account) < call->seconds_min)) {
        return STATUS_DENIED;
    }
    change_vote(sql, call, &listing);
    return STATUS_OK;
}

Status store_vote_put(Store *store, const char *package_id, uint64_t account, int vote,
                      uint64_t seconds_min)
{
    OpinionCall call = {
        .package_id = package_id, .account = account, .vote = vote, .seconds_min = seconds_min};
    return account != 0 && vote >= -1 && vote <= 1 ? store_call(store, vote_put, &call)
                                                   : STATUS_MALFORMED;
}

// --- favourites ---------------------------------------------------------------------------------

static void change_favourite(Sql *sql, const OpinionCall *call, StoreCounts *counts)
{
    if (call->is_favourite) {
        SqlRow row = sql_open(sql, SQL_FAVOURITE_PUT, TABLE_FAVOURITES);
        sql_put_u64(&row, call->account);
        sql_put_string(&row, call->package_id);
        sql_put_u64(&row, sql->unix_ms);
        sql_put_checksum(&row);
        (void)sql_run(&row);
        counts->favourites += 1;
    } else {
        SqlRow row = sql_open(sql, SQL_FAVOURITE_DELETE, TABLE_NONE);
        sql_put_u64(&row, call->account);
        sql_put_string(&row, call->package_id);
        (void)sql_run(&row);
        counts->favourites -= counts->favourites > 0;
    }
    listing_write_counts_row(sql, call->package_id, counts);
    sql->touches_listing = true;
}

static Status favourite_put(Store *store, Sql *sql, void *user)
{
    (void)store;
    const OpinionCall *call = user;
    StoreListing listing;
    const Status status = listing_by_id(sql, call->package_id, &listing);
    if (status != STATUS_OK ||
        find_favourite(sql, call->package_id, call->account) == call->is_favourite) {
        return status;
    }
    SqlRow row = sql_open(sql, SQL_FAVOURITE_COUNT, TABLE_NONE);
    sql_put_u64(&row, call->account);
    uint64_t count = 0;
    if (sql_next(&row)) {
        count = sql_take_u64(&row);
        sql_close(&row);
    }
    if (call->is_favourite && count >= FAVOURITES_PER_PERSON_MAX) {
        return STATUS_LIMIT;
    }
    change_favourite(sql, call, &listing.counts);
    return STATUS_OK;
}

Status store_favourite_put(Store *store, const char *package_id, uint64_t account,
                           bool is_favourite)
{
    OpinionCall call = {.package_id = package_id, .account = account, .is_favourite = is_favourite};
    return account != 0 ? store_call(store, favourite_put, &call) : STATUS_MALFORMED;
}

Status store_opinion(Store *store, const char *package_id, uint64_t account, StoreOpinion *out)
{
    Play play;
    store_read_begin(store);
    const StoreOpinion opinion = {
        .has_played = find_play(store->reader, package_id, account, &play),
        .is_favourite = find_favourite(store->reader, package_id, account),
        .vote = find_vote(store->reader, package_id, account)};
    const Status status = sql_status(store->reader);
    sql_clear(store->reader);
    pthread_mutex_unlock(&store->read_lock);
    if (status == STATUS_OK) {
        *out = opinion;
    }
    return status;
}

// --- a person who is deleted --------------------------------------------------------------------

// The next package that the account has a row about in this table; the id is one of its columns.
static bool next_of_person(Sql *sql, SqlName name, SqlTable table, uint64_t account, char id[65])
{
    SqlRow row = sql_open(sql, name, TABLE_NONE);
    sql_put_u64(&row, account);
    const bool is_there = sql_next(&row);
    if (is_there) {
        sql_take_table(&row, table);
        if (table == TABLE_FAVOURITES) {
            (void)sql_take_u64(&row);
        }
        world_take_string(&row, id, 65);
        sql_close(&row);
    }
    return is_there && sql_status(sql) == STATUS_OK;
}

void play_forget_person(Sql *sql, uint64_t account)
{
    char id[65];
    StoreListing listing;
    OpinionCall call = {.package_id = id, .account = account};
    while (next_of_person(sql, SQL_PERSON_VOTES, TABLE_VOTES, account, id)) {
        if (listing_by_id(sql, id, &listing) == STATUS_OK) {
            change_vote(sql, &call, &listing);
        } else {
            write_vote(sql, &call);
        }
    }
    while (next_of_person(sql, SQL_PERSON_FAVOURITES, TABLE_FAVOURITES, account, id)) {
        if (listing_by_id(sql, id, &listing) != STATUS_OK) {
            listing.counts = (StoreCounts){0};
        }
        change_favourite(sql, &call, &listing.counts);
    }
    SqlRow row = sql_open(sql, SQL_PERSON_PLAYS_END, TABLE_NONE);
    sql_put_u64(&row, account);
    (void)sql_run(&row);
}

// --- visits -------------------------------------------------------------------------------------

// The first time on a day it is a player of that day, and makes the place more popular.
static void add_visit(Sql *sql, const StoreVisit *visit)
{
    StoreAccount account;
    StoreListing listing;
    Play play = {0};
    const uint64_t today = visit->unix_ms / LISTING_DAY_MS;
    if (account_by_id(sql, visit->account, &account) != STATUS_OK ||
        listing_by_id(sql, visit->package_id, &listing) != STATUS_OK) {
        return;
    }
    const bool has_played = find_play(sql, visit->package_id, visit->account, &play);
    const bool is_first_today = !has_played || play.last_day < today;
    const bool is_visit = !has_played || visit->unix_ms >= play.last_unix_ms + LISTING_VISIT_GAP_MS;
    StoreDay day = find_day(sql, visit->package_id, today);
    day.visits += is_visit;
    day.players += is_first_today;
    day.returned += has_played && is_first_today;
    write_day(sql, visit->package_id, &day);
    listing.counts.visits += is_visit;
    listing.counts.players += !has_played;
    listing_write_counts_row(sql, visit->package_id, &listing.counts);
    // A guest whose address has counted today is nobody new.
    const bool is_guest = account.name[0] == '\0';
    if (is_first_today && !(is_guest && visit->is_same_address)) {
        listing.heat = popularity_heat_add(listing.heat, visit->unix_ms,
                                           is_guest ? POPULARITY_GUEST : POPULARITY_ACCOUNT);
        listing.score =
            popularity_score(listing.heat, listing.counts.votes_up, listing.counts.votes_down);
        listing_write(sql, &listing);
    }
    play.first_day = has_played ? play.first_day : today;
    play.last_day = today > play.last_day ? today : play.last_day;
    play.visits += is_visit;
    play.last_unix_ms = visit->unix_ms > play.last_unix_ms ? visit->unix_ms : play.last_unix_ms;
    write_play(sql, visit->package_id, visit->account, &play);
}

// A tick with more players says more; after a day any number does.
static void note_cost(StoreCounts *counts, const StorePlayed *played, uint64_t now)
{
    const bool is_stale = now >= counts->cost_unix_ms + LISTING_COST_STALE_MS;
    if (played->cost_players > 0 && (played->cost_players >= counts->cost_players || is_stale)) {
        counts->cost_us = played->cost_us;
        counts->cost_players = played->cost_players;
        counts->cost_unix_ms = now;
    }
}

static void add_played(Sql *sql, const StorePlayed *played, uint64_t now)
{
    StoreListing listing;
    if (listing_by_id(sql, played->package_id, &listing) != STATUS_OK) {
        return;
    }
    StoreDay day = find_day(sql, played->package_id, now / LISTING_DAY_MS);
    day.seconds += played->seconds;
    day.peak = played->peak > day.peak ? played->peak : day.peak;
    write_day(sql, played->package_id, &day);
    listing.counts.seconds += played->seconds;
    listing.counts.peak = played->peak > listing.counts.peak ? played->peak : listing.counts.peak;
    note_cost(&listing.counts, played, now);
    listing_write_counts_row(sql, played->package_id, &listing.counts);
}

static Status plays_add(Store *store, Sql *sql, void *user)
{
    (void)store;
    const StorePlayBatch *batch = user;
    for (uint32_t i = 0; i < batch->visit_count; i++) {
        add_visit(sql, &batch->visits[i]);
    }
    for (uint32_t i = 0; i < batch->time_count; i++) {
        add_time(sql, &batch->times[i]);
    }
    for (uint32_t i = 0; i < batch->played_count; i++) {
        add_played(sql, &batch->played[i], batch->unix_ms);
    }
    return STATUS_OK;
}

Status store_plays_add(Store *store, const StorePlayBatch *batch)
{
    StorePlayBatch call = *batch;
    return store_call(store, plays_add, &call);
}

Status store_days(Store *store, const char *package_id, uint64_t after_day, StoreDay *out,
                  uint32_t max, uint32_t *count)
{
    *count = 0;
    store_read_begin(store);
    SqlRow row = sql_open(store->reader, SQL_DAY_LIST, TABLE_NONE);
    sql_put_string(&row, package_id);
    sql_put_u64(&row, after_day);
    sql_put_u64(&row, max);
    while (sql_next(&row)) {
        *count += take_day(&row, &out[*count]);
    }
    const Status status = sql_status(store->reader);
    sql_clear(store->reader);
    pthread_mutex_unlock(&store->read_lock);
    return status;
}

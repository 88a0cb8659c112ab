// Lists of places: in an order, or by words. See store_listing.h.
//
// A query by words looks at no more than SEARCH_LOOKED_AT_MAX places. If one of its words is rare,
// all places that have it are taken, those without the other words dropped, and the rest ordered
// by how well they fit and how popular they are. If every word is common, places are gone through
// in the order of the list until enough are found that have all of them: most do.
#define _GNU_SOURCE
#include "server/store/place/store_listing.h"

#include "server/store/place/search_words.h"
#include "server/store/store_inside.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CURSOR_ORDER    'o' // behind a row of an order
#define CURSOR_RANKED   'r' // behind a place among those that a rare word has
#define STATEMENT_TERMS 2   // looked at by one statement for many places; others place by place
#define WALK_FIRST      32  // places; then twice as many, until SEARCH_LOOKED_AT_MAX

typedef struct Cursor {
    char mode;
    uint64_t rank, key;
    char id[65];
} Cursor;

// --- cursors ------------------------------------------------------------------------------------

static void cursor_write(const Cursor *cursor, char out[LISTING_CURSOR_BYTES])
{
    snprintf(out, LISTING_CURSOR_BYTES, "%c%" PRIx64 ".%" PRIx64 ".%s", cursor->mode, cursor->rank,
             cursor->key, cursor->id);
}

static bool read_hex(const char **at, uint64_t *out)
{
    char *end = NULL;
    if (!isxdigit((unsigned char)**at)) {
        return false;
    }
    *out = strtoull(*at, &end, 16);
    const bool is_good = *end == '.' && end - *at <= 16 && *out <= INT64_MAX;
    *at = end + 1;
    return is_good;
}

// One that stands before everything, or what the text says. False: it says nothing.
static bool cursor_read(const char *text, const char *modes, Cursor *out)
{
    *out = (Cursor){.mode = modes[0], .rank = INT64_MAX, .key = INT64_MAX, .id = "~"};
    if (text == NULL || text[0] == '\0') {
        return true;
    }
    const char *at = text + 1;
    out->mode = text[0];
    if (strchr(modes, text[0]) == NULL || !read_hex(&at, &out->rank) || !read_hex(&at, &out->key) ||
        !store_id_is_valid(at)) {
        return false;
    }
    memcpy(out->id, at, strlen(at) + 1);
    return true;
}

// --- reading ------------------------------------------------------------------------------------

typedef struct Page {
    Store *store;
    Sql *sql;
    StoreListing *rows;
    uint32_t limit, *count;
    uint64_t damaged;
} Page;

static Page page_begin(Store *store, StoreListing *rows, uint32_t limit, uint32_t *count)
{
    *count = 0;
    store_read_begin(store);
    return (Page){
        .store = store, .sql = store->reader, .rows = rows, .limit = limit, .count = count};
}

static Status page_end(const Page *page)
{
    Store *store = page->store;
    const Status status = sql_status(page->sql);
    sql_clear(page->sql);
    pthread_mutex_unlock(&store->read_lock);
    if (page->damaged > 0) {
        pthread_mutex_lock(&store->lock);
        store->stats.damaged += page->damaged;
        pthread_mutex_unlock(&store->lock);
    }
    return status;
}

static uint64_t order_key(const StoreListing *row, StoreListSort sort)
{
    return sort == STORE_NEW ? row->published_unix_ms : row->score;
}

// Rows of a statement that gives whole ones, as many as fit. True: there are more. With own_key the
// key of the cursor follows each row.
static bool page_fill(Page *page, SqlRow *row, StoreListSort sort, bool own_key, Cursor *last)
{
    StoreListing listing;
    while (sql_next(row)) {
        if (*page->count == page->limit) {
            sql_close(row);
            return true;
        }
        if (!listing_take(row, &listing)) {
            page->damaged += 1;
            continue;
        }
        last->key = own_key ? sql_take_u64(row) : order_key(&listing, sort);
        memcpy(last->id, listing.package_id, sizeof last->id);
        page->rows[(*page->count)++] = listing;
    }
    return false;
}

static void page_next(bool is_more, Cursor *last, char next[LISTING_CURSOR_BYTES])
{
    next[0] = '\0';
    if (is_more) {
        last->rank = 0;
        cursor_write(last, next);
    }
}

// --- in an order --------------------------------------------------------------------------------

static void list_all(Page *page, const StoreListQuery *query, Cursor *cursor,
                     char next[LISTING_CURSOR_BYTES])
{
    const Cursor from = *cursor;
    SqlRow row = sql_open(
        page->sql, query->sort == STORE_NEW ? SQL_LISTING_NEW : SQL_LISTING_POPULAR, TABLE_NONE);
    sql_put_u64(&row, from.key);
    sql_put_string(&row, from.id);
    sql_put_u64(&row, page->limit + 1);
    page_next(page_fill(page, &row, query->sort, false, cursor), cursor, next);
}

Status store_collection(Store *store, const char *name, const char *after, uint32_t limit,
                        StoreListing *out, uint32_t *count, char next[LISTING_CURSOR_BYTES])
{
    Cursor cursor;
    if (!cursor_read(after, "o", &cursor)) {
        return STATUS_MALFORMED;
    }
    const bool is_first = after == NULL || after[0] == '\0';
    Page page = page_begin(store, out, limit, count);
    SqlRow row = sql_open(page.sql, SQL_LISTING_COLLECTION, TABLE_NONE);
    sql_put_string(&row, name);
    sql_put_u64(&row, is_first ? 0 : cursor.key);
    sql_put_u64(&row, limit + 1);
    page_next(page_fill(&page, &row, STORE_POPULAR, true, &cursor), &cursor, next);
    return page_end(&page);
}

static Status list_of_person(Store *store, SqlName name, uint64_t account, const char *after,
                             Page *page, char next[LISTING_CURSOR_BYTES])
{
    Cursor cursor;
    if (!cursor_read(after, "o", &cursor)) {
        return STATUS_MALFORMED;
    }
    const Cursor from = cursor;
    *page = page_begin(store, page->rows, page->limit, page->count);
    SqlRow row = sql_open(page->sql, name, TABLE_NONE);
    sql_put_u64(&row, account);
    sql_put_u64(&row, from.key);
    sql_put_string(&row, from.id);
    sql_put_u64(&row, page->limit + 1);
    page_next(page_fill(page, &row, STORE_POPULAR, true, &cursor), &cursor, next);
    return page_end(page);
}

Status store_favourites(Store *store, uint64_t account, const char *after, uint32_t limit,
                        StoreListing *out, uint32_t *count, char next[LISTING_CURSOR_BYTES])
{
    Page page = {.rows = out, .limit = limit, .count = count};
    return list_of_person(store, SQL_LISTING_FAVOURITES, account, after, &page, next);
}

Status store_recent(Store *store, uint64_t account, const char *after, uint32_t limit,
                    StoreListing *out, uint32_t *count, char next[LISTING_CURSOR_BYTES])
{
    Page page = {.rows = out, .limit = limit, .count = count};
    return list_of_person(store, SQL_LISTING_RECENT, account, after, &page, next);
}

// --- by words -----------------------------------------------------------------------------------

// Words that are at least `low` and less than `high` are meant.
typedef struct Term {
    char low[SEARCH_WORD_BYTES + 2], high[SEARCH_WORD_BYTES + 3];
    size_t low_bytes, high_bytes;
    uint64_t count; // of rows, or more than SEARCH_LOOKED_AT_MAX
} Term;

typedef struct Found {
    char id[65];
    uint64_t rank, key;
} Found;

typedef struct Search {
    Term terms[SEARCH_TERMS_MAX + 2];
    uint32_t term_count;
    bool is_ranked; // by how well they fit, before the order of the list
    StoreListSort sort;
    Found found[SEARCH_LOOKED_AT_MAX];
    uint32_t found_count;
} Search;

static void term_add(Search *search, const char *word, bool is_whole)
{
    Term *term = &search->terms[search->term_count++];
    term->low_bytes = strlen(word);
    memcpy(term->low, word, term->low_bytes);
    memcpy(term->high, word, term->low_bytes);
    term->high[term->low_bytes] = is_whole ? '\0' : (char)0xff; // no word has either
    term->high_bytes = term->low_bytes + 1;
}

// False: there are words, and none that could be found.
static bool terms_read(const StoreListQuery *query, Search *search)
{
    SearchWords words = {.max = SEARCH_TERMS_MAX};
    char exact[SEARCH_WORD_BYTES + 2];
    const bool has_words = query->words != NULL && query->words[0] != '\0';
    if (has_words) {
        search_words_add(&words, query->words, 1);
    }
    for (uint32_t i = 0; i < words.count; i++) {
        term_add(search, words.items[i].text, false);
    }
    if (query->tag != NULL) {
        snprintf(exact, sizeof exact, "#%.*s", SEARCH_WORD_BYTES - 1, query->tag);
        term_add(search, exact, true);
    }
    if (query->creator_id != 0) {
        snprintf(exact, sizeof exact, "@%" PRIx64, query->creator_id);
        term_add(search, exact, true);
    }
    search->sort = query->sort;
    search->is_ranked = has_words && query->sort == STORE_POPULAR;
    return !has_words || words.count > 0;
}

static void put_range(SqlRow *row, const Term *term)
{
    sql_put_bytes(row, term->low, term->low_bytes);
    sql_put_bytes(row, term->high, term->high_bytes);
}

static int by_count(const void *a, const void *b)
{
    const Term *first = a, *second = b;
    return (first->count > second->count) - (first->count < second->count);
}

// The rarest first: most places are dropped by it.
static void terms_sort(Sql *sql, Search *search)
{
    for (uint32_t i = 0; i < search->term_count; i++) {
        SqlRow row = sql_open(sql, SQL_WORD_COUNT, TABLE_NONE);
        put_range(&row, &search->terms[i]);
        sql_put_u64(&row, SEARCH_LOOKED_AT_MAX + 1);
        if (sql_next(&row)) {
            search->terms[i].count = sql_take_u64(&row);
            sql_close(&row);
        }
    }
    qsort(search->terms, search->term_count, sizeof search->terms[0], by_count);
}

// Adds how well the place fits the terms from that one on; false: it lacks one.
static bool terms_fit(Sql *sql, const Search *search, uint32_t from, const char *id, uint64_t *rank)
{
    for (uint32_t i = from; i < search->term_count; i++) {
        const Term *term = &search->terms[i];
        bool has = false;
        SqlRow row = sql_open(sql, SQL_WORD_IN, TABLE_NONE);
        sql_put_bytes(&row, term->low, term->low_bytes);
        sql_put_string(&row, id);
        sql_put_bytes(&row, term->high, term->high_bytes);
        if (sql_next(&row)) {
            has = !sql_take_null(&row);
            *rank += has ? sql_take_u64(&row) : 0;
            sql_close(&row);
        }
        if (!has) {
            return false;
        }
    }
    return true;
}

static int by_rank(const void *a, const void *b)
{
    const Found *first = a, *second = b;
    if (first->rank != second->rank) {
        return first->rank < second->rank ? 1 : -1;
    }
    if (first->key != second->key) {
        return first->key < second->key ? 1 : -1;
    }
    return strcmp(second->id, first->id);
}

static bool is_behind(const Found *found, const Cursor *cursor)
{
    Found at = {.rank = cursor->rank, .key = cursor->key};
    memcpy(at.id, cursor->id, sizeof at.id);
    return by_rank(found, &at) > 0;
}

// The second of the rarest terms, which statements look at together with the first; the same again
// if there is one alone.
static const Term *second_term(const Search *search)
{
    return &search->terms[search->term_count > 1 ? 1 : 0];
}

// All places with the two rarest words.
static void read_places(Sql *sql, Search *search)
{
    SqlRow row = sql_open(sql, SQL_WORD_PLACES, TABLE_NONE);
    const Term *first = &search->terms[0];
    sql_put_bytes(&row, first->low, first->low_bytes);
    put_range(&row, second_term(search));
    sql_put_bytes(&row, first->high, first->high_bytes);
    sql_put_u64(&row, SEARCH_LOOKED_AT_MAX);
    while (sql_next(&row)) {
        Found *found = &search->found[search->found_count];
        world_take_string(&row, found->id, sizeof found->id);
        found->rank = sql_take_u64(&row);
        const uint64_t score = sql_take_u64(&row), published = sql_take_u64(&row);
        const bool has_second = !sql_take_null(&row);
        const uint64_t second = has_second ? sql_take_u64(&row) : 0;
        found->rank += search->term_count > 1 ? second : 0;
        found->key = search->sort == STORE_NEW ? published : score;
        search->found_count += has_second;
    }
}

static void page_add(Page *page, const char *id)
{
    const Status status = listing_by_id(page->sql, id, &page->rows[*page->count]);
    *page->count += status == STATUS_OK && page->rows[*page->count].is_shown;
    page->damaged += status == STATUS_MALFORMED;
}

static void search_ranked(Page *page, Search *search, const Cursor *from,
                          char next[LISTING_CURSOR_BYTES])
{
    uint32_t kept = 0;
    read_places(page->sql, search);
    for (uint32_t i = 0; i < search->found_count; i++) {
        Found found = search->found[i];
        if (terms_fit(page->sql, search, STATEMENT_TERMS, found.id, &found.rank)) {
            found.rank = search->is_ranked ? found.rank : 0;
            search->found[kept++] = found;
        }
    }
    qsort(search->found, kept, sizeof search->found[0], by_rank);
    for (uint32_t i = 0; i < kept; i++) {
        const Found *found = &search->found[i];
        if (!is_behind(found, from)) {
            continue;
        }
        page_add(page, found->id);
        if (*page->count == page->limit && i + 1 < kept) {
            Cursor last = {.mode = CURSOR_RANKED, .rank = found->rank, .key = found->key};
            memcpy(last.id, found->id, sizeof last.id);
            cursor_write(&last, next);
            return;
        }
        if (*page->count == page->limit) {
            return;
        }
    }
}

// The next places of the order, few at first: common words are found at once. Those that have the
// two rarest words have rank 1.
static void walk(Sql *sql, Search *search, const Cursor *from, uint32_t count)
{
    const SqlName name = search->sort == STORE_NEW ? SQL_WALK_NEW : SQL_WALK_POPULAR;
    search->found_count = 0;
    SqlRow row = sql_open(sql, name, TABLE_NONE);
    put_range(&row, &search->terms[0]);
    put_range(&row, second_term(search));
    sql_put_u64(&row, from->key);
    sql_put_string(&row, from->id);
    sql_put_u64(&row, count);
    while (sql_next(&row)) {
        Found *found = &search->found[search->found_count++];
        world_take_string(&row, found->id, sizeof found->id);
        found->key = sql_take_u64(&row);
        found->rank = sql_take_u64(&row);
    }
}

// Adds those that have all words, as many as fit; `last` is the last one that was looked at.
static void add_walked(Page *page, const Search *search, Cursor *last)
{
    for (uint32_t i = 0; i < search->found_count && *page->count < page->limit; i++) {
        const Found *found = &search->found[i];
        uint64_t rank = 0;
        last->key = found->key;
        memcpy(last->id, found->id, sizeof last->id);
        if (found->rank > 0 && terms_fit(page->sql, search, STATEMENT_TERMS, found->id, &rank)) {
            page_add(page, found->id);
        }
    }
}

static void search_in_order(Page *page, Search *search, const Cursor *from,
                            char next[LISTING_CURSOR_BYTES])
{
    Cursor last = *from;
    bool is_over = false;
    uint32_t looked_at = 0, count = WALK_FIRST;
    while (!is_over && *page->count < page->limit && looked_at + count <= SEARCH_LOOKED_AT_MAX) {
        const Cursor after = last;
        walk(page->sql, search, &after, count);
        add_walked(page, search, &last);
        is_over = search->found_count < count;
        looked_at += count;
        count *= 2;
    }
    // A page that is full at the last place has an empty one behind it.
    if (!is_over || *page->count == page->limit) {
        last.mode = CURSOR_ORDER;
        last.rank = 0;
        cursor_write(&last, next);
    }
}

static void search_run(Page *page, const StoreListQuery *query, Search *search, Cursor *cursor,
                       char next[LISTING_CURSOR_BYTES])
{
    terms_sort(page->sql, search);
    const uint64_t least = search->terms[0].count;
    const bool is_first = query->after == NULL || query->after[0] == '\0';
    if (least == 0) {
        return;
    }
    const bool is_rare = is_first ? least <= SEARCH_LOOKED_AT_MAX : cursor->mode == CURSOR_RANKED;
    if (is_rare) {
        search_ranked(page, search, cursor, next);
    } else {
        search_in_order(page, search, cursor, next);
    }
}

Status store_listing(Store *store, const StoreListQuery *query, StoreListing *out, uint32_t *count,
                     char next[LISTING_CURSOR_BYTES])
{
    Cursor cursor;
    Search *search = calloc(1, sizeof *search);
    *count = 0;
    next[0] = '\0';
    if (search == NULL) {
        return STATUS_LIMIT;
    }
    const bool can_find = terms_read(query, search);
    const bool is_plain = search->term_count == 0;
    Status status =
        cursor_read(query->after, is_plain ? "o" : "or", &cursor) ? STATUS_OK : STATUS_MALFORMED;
    if (status == STATUS_OK && can_find) {
        Page page = page_begin(store, out, query->limit, count);
        if (is_plain) {
            list_all(&page, query, &cursor, next);
        } else {
            search_run(&page, query, search, &cursor, next);
        }
        status = page_end(&page);
    }
    free(search);
    return status;
}

Status store_listing_find(Store *store, const char *package_id, StoreListing *out)
{
    uint32_t count = 0;
    Page page = page_begin(store, out, 1, &count);
    const Status status = listing_by_id(page.sql, package_id, out);
    page.damaged = status == STATUS_MALFORMED;
    const Status error = page_end(&page);
    return error != STATUS_OK ? error : status;
}

// --- tags and collections -----------------------------------------------------------------------

Status store_tag_counts(Store *store, StoreTagCount *out, uint32_t max, uint32_t *count)
{
    Page page = page_begin(store, NULL, 0, count);
    SqlRow row = sql_open(page.sql, SQL_TAG_COUNTS, TABLE_NONE);
    sql_put_string(&row, "#");
    sql_put_string(&row, "$");
    sql_put_u64(&row, max);
    while (sql_next(&row)) {
        char word[SEARCH_WORD_BYTES + 1];
        world_take_string(&row, word, sizeof word);
        memcpy(out[*count].tag, word + 1, sizeof word - 1);
        out[(*count)++].places = sql_take_u64(&row);
    }
    return page_end(&page);
}

Status store_collections(Store *store, StoreCollection *out, uint32_t max, uint32_t *count)
{
    Page page = page_begin(store, NULL, 0, count);
    SqlRow row = sql_open(page.sql, SQL_COLLECTION_LIST, TABLE_NONE);
    while (*count < max && sql_next(&row)) {
        StoreCollection *collection = &out[(*count)++];
        world_take_string(&row, collection->name, sizeof collection->name);
        world_take_string(&row, collection->title, sizeof collection->title);
        collection->places = sql_take_u64(&row);
    }
    sql_close(&row);
    return page_end(&page);
}

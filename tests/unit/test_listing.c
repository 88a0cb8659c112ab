// The listing in the store: what is shown, in which order, search, votes, favourites, and how much
// places are played.
#define _GNU_SOURCE
#include "server/store/people/store_person.h"
#include "server/store/place/popularity.h"
#include "server/store/place/search_words.h"
#include "server/store/place/store_listing.h"
#include "server/store/place/store_publish.h"

#include "core/base/rng.h"
#include "tests/support/test.h"
#include "tests/unit/store_fixture.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DAY      LISTING_DAY_MS
#define BEGIN_MS (20000 * DAY) // of the clock, in 2024
#define BO       7
#define ANN      8
#define NEXT     LISTING_CURSOR_BYTES

// --- fixtures -----------------------------------------------------------------------------------

static uint64_t now_ms;

static uint64_t test_clock(void *user)
{
    (void)user;
    return now_ms;
}

static StoreDatabase *memory;

static bool begin_file(StoreFixture *fixture)
{
    now_ms = BEGIN_MS;
    if (!fixture_begin(fixture)) {
        return false;
    }
    fixture_close(fixture);
    fixture->config.unix_ms = test_clock;
    return fixture_open(fixture) == STATUS_OK;
}

// In memory: thousands of changes wait for no disk.
static bool begin(StoreFixture *fixture)
{
    now_ms = BEGIN_MS;
    memset(fixture, 0, sizeof *fixture);
    fixture->config = store_config_default();
    fixture->config.unix_ms = test_clock;
    fixture->config.manual = true;
    memory = NULL;
    if (fixture_is_server()) {
        fixture->config.path = fixture->path;
        return fixture_server_begin(fixture) && fixture_open(fixture) == STATUS_OK;
    }
    const Status status = store_database_open(&memory);
    fixture->config.database = memory;
    return status == STATUS_OK && fixture_open(fixture) == STATUS_OK;
}

static void end(StoreFixture *fixture)
{
    fixture_close(fixture);
    store_database_close(memory);
    fixture_server_end(fixture);
}

static void account(StoreFixture *fixture, uint64_t id, const char *name)
{
    StoreAccount row = {.account_id = id, .created_unix_ms = 1, .seen_unix_ms = 1};
    snprintf(row.name, sizeof row.name, "%s", name);
    snprintf(row.shown_name, sizeof row.shown_name, "%s", name);
    CHECK_OK(store_account_put(fixture->store, &row, NULL));
}

static StorePackage package_of(const char *id, const char *title, const char *description)
{
    StorePackage package = {.kind = STORE_PLACE, .owner_id = BO, .visibility = STORE_LISTED};
    snprintf(package.package_id, sizeof package.package_id, "%s", id);
    snprintf(package.title, sizeof package.title, "%s", title);
    snprintf(package.description, sizeof package.description, "%s", description);
    return package;
}

static void publish(StoreFixture *fixture, const char *id)
{
    StoreRevision revision = {
        .maker_id = BO, .state = STORE_REVISION_READY, .package_bytes = 9, .package_hash = {9}};
    snprintf(revision.package_id, sizeof revision.package_id, "%s", id);
    CHECK_OK(store_revision_add(fixture->store, &revision, UINT64_MAX));
    CHECK_OK(store_channel_set(fixture->store, id, STORE_LIVE, revision.revision, now_ms, NULL));
}

// A place that is shown.
static void place(StoreFixture *fixture, const char *id, const char *title, const char *description)
{
    StorePackage package = package_of(id, title, description);
    CHECK_OK(store_package_make(fixture->store, &package, UINT32_MAX));
    publish(fixture, id);
}

static StorePackage find(StoreFixture *fixture, const char *id)
{
    StorePackage package = {0};
    CHECK_OK(store_package_find(fixture->store, id, &package));
    return package;
}

static void change(StoreFixture *fixture, StorePackage *package)
{
    CHECK_OK(store_package_change(fixture->store, package));
}

// The ids of a list, with commas between.
static const char *ids(StoreFixture *fixture, StoreListQuery query)
{
    static StoreListing rows[LISTING_PAGE_MAX];
    static char text[8192];
    char next[NEXT];
    uint32_t count = 0;
    query.limit = query.limit > 0 ? query.limit : LISTING_PAGE_MAX;
    CHECK_OK(store_listing(fixture->store, &query, rows, &count, next));
    size_t at = 0;
    text[0] = '\0';
    for (uint32_t i = 0; i < count; i++) {
        at += (size_t)snprintf(text + at, sizeof text - at, "%s%s", i > 0 ? "," : "",
                               rows[i].package_id);
    }
    return text;
}

static uint32_t count_all(StoreFixture *fixture)
{
    static StoreListing rows[LISTING_PAGE_MAX];
    char next[NEXT] = "", after[NEXT];
    uint32_t count = 0, total = 0, pages = 0;
    do {
        memcpy(after, next, sizeof after);
        const StoreListQuery query = {.after = after, .limit = LISTING_PAGE_MAX};
        CHECK_OK(store_listing(fixture->store, &query, rows, &count, next));
        total += count;
    } while (next[0] != '\0' && ++pages < 100);
    return total;
}

static void visit(StoreFixture *fixture, const char *id, uint64_t who)
{
    StoreVisit visits[1] = {{.account = who, .unix_ms = now_ms}};
    snprintf(visits[0].package_id, sizeof visits[0].package_id, "%s", id);
    const StorePlayBatch batch = {.visits = visits, .visit_count = 1, .unix_ms = now_ms};
    CHECK_OK(store_plays_add(fixture->store, &batch));
}

static StoreListing listing(StoreFixture *fixture, const char *id)
{
    StoreListing row = {0};
    CHECK_OK(store_listing_find(fixture->store, id, &row));
    return row;
}

// --- popularity ---------------------------------------------------------------------------------

// As docs/LISTING.md says it, computed anew.
static double plain_score(const uint64_t *times, uint32_t count, uint64_t up, uint64_t down,
                          uint64_t now)
{
    double players = 0;
    for (uint32_t i = 0; i < count; i++) {
        players += exp2(-((double)now - (double)times[i]) / (double)POPULARITY_HALF_LIFE_MS);
    }
    return players * 2 * ((double)up + 5) / ((double)up + (double)down + 10);
}

static double shown_score(uint64_t score, uint64_t now)
{
    return exp2((double)score / (double)POPULARITY_ONE -
                (double)now / (double)POPULARITY_HALF_LIFE_MS);
}

TEST(the_score_is_the_published_formula_without_being_rewritten)
{
    enum { PLACES = 40, PLAYERS = 60 };
    Rng rng = rng_make(5, 1);
    uint64_t scores[PLACES];
    double plain[PLACES];
    const uint64_t now = BEGIN_MS + 200 * DAY;
    for (uint32_t i = 0; i < PLACES; i++) {
        uint64_t heat = 0, times[PLAYERS];
        const uint32_t count = 1 + rng_below(&rng, PLAYERS);
        const uint64_t up = rng_below(&rng, 50), down = rng_below(&rng, 50);
        for (uint32_t j = 0; j < count; j++) { // in any order: players of several hosts
            times[j] = BEGIN_MS + (uint64_t)rng_below(&rng, 200) * DAY;
            heat = popularity_heat_add(heat, times[j], POPULARITY_ACCOUNT);
        }
        scores[i] = popularity_score(heat, up, down);
        plain[i] = plain_score(times, count, up, down, now);
        CHECK(fabs(shown_score(scores[i], now) / plain[i] - 1) < 1e-6);
    }
    for (uint32_t i = 0; i + 1 < PLACES; i++) {
        const bool is_clear = fabs(plain[i] / plain[i + 1] - 1) > 1e-6;
        CHECK(!is_clear || (plain[i] > plain[i + 1]) == (scores[i] > scores[i + 1]));
    }
    // A player of a week ago counts half of one of today.
    const uint64_t old =
        popularity_heat_add(popularity_heat_add(0, now - 7 * DAY, 1), now - 7 * DAY, 1);
    const uint64_t fresh = popularity_heat_add(0, now, 1);
    uint64_t guests = 0;
    for (uint32_t i = 0; i < 4; i++) {
        guests = popularity_heat_add(guests, now, POPULARITY_GUEST);
    }
    CHECK(guests > fresh - 9 && guests < fresh + 9); // four of them count as one account
    CHECK(fabs(shown_score(old, now) / shown_score(fresh, now) - 1) < 1e-6);
}

// --- what is shown ------------------------------------------------------------------------------

TEST(only_what_everybody_may_find_is_listed)
{
    StoreFixture fixture;
    REQUIRE(begin_file(&fixture));
    const StoreListQuery all = {.sort = STORE_NEW};
    StorePackage package = package_of("lava", "Lava", ""), spell = package_of("fire", "Fire", "");
    spell.kind = STORE_SPELL;
    CHECK_OK(store_package_make(fixture.store, &package, 9));
    CHECK_OK(store_package_make(fixture.store, &spell, 9));
    CHECK_TEXT(ids(&fixture, all), ""); // nothing to play yet
    publish(&fixture, "lava");
    publish(&fixture, "fire");
    CHECK_TEXT(ids(&fixture, all), "lava");
    static const uint32_t flags[] = {STORE_PACKAGE_REMOVED, STORE_PACKAGE_UNLISTED};
    for (uint32_t i = 0; i < 2; i++) {
        package = find(&fixture, "lava");
        package.flags = flags[i];
        change(&fixture, &package);
        CHECK_TEXT(ids(&fixture, all), "");
        CHECK_TEXT(ids(&fixture, (StoreListQuery){.words = "lava"}), "");
    }
    package.flags = 0;
    package.visibility = STORE_UNLISTED;
    change(&fixture, &package);
    CHECK_TEXT(ids(&fixture, all), "");
    package.visibility = STORE_LISTED;
    package.trashed_unix_ms = 5;
    change(&fixture, &package);
    CHECK_TEXT(ids(&fixture, all), "");
    package.trashed_unix_ms = 0;
    const uint64_t generation = store_listing_generation(fixture.store);
    change(&fixture, &package);
    CHECK_TEXT(ids(&fixture, all), "lava");
    CHECK(store_listing_generation(fixture.store) > generation);
    CHECK_OK(store_package_delete(fixture.store, "lava"));
    CHECK_TEXT(ids(&fixture, all), "");
    CHECK_INT(fixture_number(&fixture, "SELECT count(*) FROM listing_words "
                                       "WHERE length(word) > 0"),
              0);
    fixture_end(&fixture);
}

TEST(where_approval_is_needed_only_approved_places_are_listed)
{
    StoreFixture fixture;
    REQUIRE(begin(&fixture));
    const StoreListQuery all = {.sort = STORE_NEW};
    char id[16];
    for (uint32_t i = 0; i < 250; i++) {
        snprintf(id, sizeof id, "place-%03u", i);
        place(&fixture, id, "Maze", "");
    }
    StorePackage package = find(&fixture, "place-003");
    package.flags |= STORE_PACKAGE_APPROVED;
    change(&fixture, &package);
    CHECK_OK(store_listing_require_approval(fixture.store, true));
    CHECK_TEXT(ids(&fixture, all), "place-003");
    place(&fixture, "later", "Later", "");
    CHECK_TEXT(ids(&fixture, all), "place-003");
    CHECK_OK(store_listing_require_approval(fixture.store, false));
    CHECK_INT(count_all(&fixture), 251);
    end(&fixture);
}

static bool is_approved(StoreFixture *fixture, const char *id)
{
    return (find(fixture, id).flags & STORE_PACKAGE_APPROVED) != 0;
}

static void approve(StoreFixture *fixture, const char *id)
{
    StorePackage package = find(fixture, id);
    package.flags |= STORE_PACKAGE_APPROVED;
    change(fixture, &package);
    CHECK(is_approved(fixture, id));
}

TEST(what_was_approved_and_changes_waits_again)
{
    StoreFixture fixture;
    REQUIRE(begin(&fixture));
    const StoreListQuery all = {.sort = STORE_NEW};
    const uint8_t picture[32] = {1};
    const char *const tags[] = {"fun"};
    account(&fixture, BO, "bo");
    place(&fixture, "maze", "Maze", "");
    CHECK_OK(store_listing_require_approval(fixture.store, true));
    approve(&fixture, "maze");
    CHECK_TEXT(ids(&fixture, all), "maze");
    StorePackage package = find(&fixture, "maze");
    package.flags |= STORE_PACKAGE_OPEN; // what nobody sees needs no approval
    change(&fixture, &package);
    CHECK(is_approved(&fixture, "maze"));
    snprintf(package.title, sizeof package.title, "Something else");
    change(&fixture, &package);
    CHECK(!is_approved(&fixture, "maze"));
    CHECK_TEXT(ids(&fixture, all), "");
    approve(&fixture, "maze");
    CHECK_OK(store_picture_set(fixture.store, "maze", 1, picture, 10, UINT32_MAX));
    CHECK(!is_approved(&fixture, "maze"));
    approve(&fixture, "maze");
    CHECK_OK(store_tags_put(fixture.store, "maze", tags, 1));
    CHECK(!is_approved(&fixture, "maze"));
    approve(&fixture, "maze");
    CHECK_OK(store_tags_put(fixture.store, "maze", tags, 1)); // the same
    CHECK(is_approved(&fixture, "maze"));
    CHECK_OK(store_channel_set(fixture.store, "maze", STORE_LIVE, 0, now_ms, NULL));
    CHECK(!is_approved(&fixture, "maze"));
    StoreAccount owner;
    CHECK_OK(store_account_find(fixture.store, package.owner_id, &owner));
    StoreAccount was = owner;
    owner.roles |= STORE_ROLES_TRUSTED;
    StoreAccountChange wish = {.account = &owner, .was = &was};
    CHECK_OK(store_account_change(fixture.store, &wish));
    approve(&fixture, "maze");
    CHECK_OK(store_channel_set(fixture.store, "maze", STORE_LIVE, 1, now_ms, NULL));
    CHECK(is_approved(&fixture, "maze")); // an operator trusts them
    end(&fixture);
}

TEST(pages_follow_each_other_without_gaps)
{
    StoreFixture fixture;
    REQUIRE(begin(&fixture));
    char id[16], next[NEXT] = "";
    for (uint32_t i = 0; i < 25; i++) {
        snprintf(id, sizeof id, "place-%02u", i);
        now_ms += i % 3 == 0 ? 1000 : 0; // some at the same time
        place(&fixture, id, "Maze", "");
    }
    for (StoreListSort sort = STORE_POPULAR; sort <= STORE_NEW; sort++) {
        static StoreListing rows[10];
        bool seen[25] = {false};
        uint32_t total = 0, pages = 0;
        uint64_t last = UINT64_MAX;
        next[0] = '\0';
        do {
            char after[NEXT];
            uint32_t count = 0;
            memcpy(after, next, sizeof after);
            const StoreListQuery query = {.sort = sort, .after = after, .limit = 10};
            CHECK_OK(store_listing(fixture.store, &query, rows, &count, next));
            for (uint32_t i = 0; i < count; i++) {
                const uint64_t key = sort == STORE_NEW ? rows[i].published_unix_ms : rows[i].score;
                CHECK(key <= last);
                last = key;
                const uint32_t number = (uint32_t)atoi(rows[i].package_id + 6);
                CHECK(!seen[number]);
                seen[number] = true;
            }
            total += count;
        } while (next[0] != '\0' && ++pages < 9);
        CHECK_INT(total, 25);
    }
    static StoreListing rows[1];
    static const char *const bad[] = {
        "x", "o1", "o1.2.", "o1.2.../x", "q1.2.a", "o-1.2.a", "offffffffffffffff.0.a"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        uint32_t count = 0;
        const StoreListQuery query = {.after = bad[i], .limit = 1};
        CHECK_INT(store_listing(fixture.store, &query, rows, &count, next), STATUS_MALFORMED);
    }
    end(&fixture);
}

// --- search -------------------------------------------------------------------------------------

TEST(words_are_folded)
{
    SearchWords words = {.max = SEARCH_WORDS_PER_PLACE};
    search_words_add(&words, "Café-ÉCLAIR  x2 «Ångström» Привет 日本 cafe", 1);
    static const char *const expected[] = {"cafe",   "eclair", "x2", "angstrom",
                                           "привет", "日",     "本"};
    REQUIRE(words.count == 7);
    for (uint32_t i = 0; i < 7; i++) {
        CHECK_TEXT(words.items[i].text, expected[i]);
    }
    SearchWords few = {.max = 2};
    search_words_add(&few, "a b c averyveryveryverylongwordindeed", 1);
    CHECK_INT(few.count, 2);
    SearchWords cut = {.max = 2};
    search_words_add(&cut, "éééééééééééééééééééééééééééééééééé日", 1);
    CHECK_INT(strlen(cut.items[0].text), SEARCH_WORD_BYTES);
}

TEST(search_finds_beginnings_of_words_in_title_tags_creator_and_description)
{
    StoreFixture fixture;
    REQUIRE(begin(&fixture));
    account(&fixture, BO, "Bőrnike");
    place(&fixture, "a-title", "The Volcano Race", "run");
    place(&fixture, "b-text", "Something", "a race with volcanoes and lava");
    place(&fixture, "c-tag", "Other", "nothing");
    place(&fixture, "d-none", "Quiet", "sea");
    const char *const tags[] = {"volcano", "co-op", "volcano"};
    CHECK_OK(store_tags_put(fixture.store, "c-tag", tags, 3));
    CHECK_TEXT(listing(&fixture, "c-tag").tags, "volcano co-op");
    CHECK_TEXT(ids(&fixture, (StoreListQuery){.words = "VOLCANO"}), "a-title,c-tag,b-text");
    CHECK_TEXT(ids(&fixture, (StoreListQuery){.words = "volc"}), "a-title,c-tag,b-text");
    CHECK_TEXT(ids(&fixture, (StoreListQuery){.words = "volc race"}), "a-title,b-text");
    CHECK_TEXT(ids(&fixture, (StoreListQuery){.words = "volcanoes"}), "b-text");
    // Each word counts by where it is found.
    place(&fixture, "e-both", "Fox Den", "");
    place(&fixture, "f-half", "Fox", "den");
    CHECK_TEXT(ids(&fixture, (StoreListQuery){.words = "fox den"}), "e-both,f-half");
    CHECK_TEXT(ids(&fixture, (StoreListQuery){.words = "fox den bornike"}), "e-both,f-half");
    CHECK_TEXT(ids(&fixture, (StoreListQuery){.words = "olcano"}), "");
    CHECK_TEXT(ids(&fixture, (StoreListQuery){.words = "volcano quiet"}), "");
    CHECK_TEXT(ids(&fixture, (StoreListQuery){.words = "!?"}), "");
    CHECK_TEXT(ids(&fixture, (StoreListQuery){.words = "bornike quiet"}), "d-none");
    CHECK_TEXT(ids(&fixture, (StoreListQuery){.tag = "volcano"}), "c-tag");
    CHECK_TEXT(ids(&fixture, (StoreListQuery){.tag = "co"}), ""); // a tag is whole
    CHECK_TEXT(ids(&fixture, (StoreListQuery){.words = "oth", .tag = "co-op"}), "c-tag");
    CHECK_TEXT(ids(&fixture, (StoreListQuery){.creator_id = BO, .words = "sea"}), "d-none");
    CHECK_TEXT(ids(&fixture, (StoreListQuery){.creator_id = ANN}), "");
    StoreTagCount counts[4];
    uint32_t count = 0;
    CHECK_OK(store_tag_counts(fixture.store, counts, 4, &count));
    CHECK_INT(count, 2);
    CHECK_TEXT(counts[0].tag, "co-op");
    CHECK_INT(counts[0].places, 1);
    // A place that is renamed is found by its new name alone, and so is its creator.
    StorePackage package = find(&fixture, "d-none");
    snprintf(package.title, sizeof package.title, "Loud");
    change(&fixture, &package);
    CHECK_TEXT(ids(&fixture, (StoreListQuery){.words = "quiet"}), "");
    CHECK_TEXT(ids(&fixture, (StoreListQuery){.words = "loud"}), "d-none");
    StoreAccount was, bo;
    CHECK_OK(store_account_find(fixture.store, BO, &was));
    bo = was;
    snprintf(bo.shown_name, sizeof bo.shown_name, "Zorro");
    const StoreAccountChange renamed = {.account = &bo, .was = &was, .now_unix_ms = now_ms};
    CHECK_OK(store_account_change(fixture.store, &renamed));
    CHECK_TEXT(ids(&fixture, (StoreListQuery){.words = "bornike"}), "");
    CHECK_TEXT(ids(&fixture, (StoreListQuery){.words = "zorro loud"}), "d-none");
    CHECK_TEXT(listing(&fixture, "d-none").creator, "Zorro");
    const char *const wrong[] = {"Upper", "", "with space", "aaaaaaaaaaaaaaaaaaaaaaaaa"};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        CHECK_INT(store_tags_put(fixture.store, "d-none", &wrong[i], 1), STATUS_MALFORMED);
    }
    end(&fixture);
}

// As many as a plain scan over all titles finds, by pages, however common the words are.
TEST(search_over_many_places_finds_all_and_looks_at_few_at_a_time)
{
    enum { PLACES = 1000 };
    static const char *const nouns[] = {"maze", "race", "tower", "sea", "cave"};
    StoreFixture fixture;
    REQUIRE(begin(&fixture));
    char id[16], title[64];
    for (uint32_t i = 0; i < PLACES; i++) {
        snprintf(id, sizeof id, "place-%04u", i);
        snprintf(title, sizeof title, "Amazing %s %s", nouns[i % 5], i % 100 == 7 ? "gold" : "");
        place(&fixture, id, title, i % 3 == 0 ? "" : "deep water");
    }
    const struct {
        const char *words;
        uint32_t expected;
    } queries[] = {{"a", PLACES},         {"maze", PLACES / 5},        {"gold", PLACES / 100},
                   {"amazing g", 10},     {"a r", PLACES / 5},         {"race gold", 0},
                   {"tower gold", 10},    {"amazing", PLACES},         {"amazing deep", 666},
                   {"deep amazing", 666}, {"amazing deep water", 666}, {"a deep tower", 134}};
    for (size_t i = 0; i < sizeof queries / sizeof queries[0]; i++) {
        static StoreListing rows[LISTING_PAGE_MAX];
        static bool seen[PLACES];
        char next[NEXT] = "";
        uint32_t total = 0, pages = 0;
        memset(seen, 0, sizeof seen);
        do {
            char after[NEXT];
            uint32_t count = 0;
            memcpy(after, next, sizeof after);
            const StoreListQuery query = {
                .words = queries[i].words, .after = after, .limit = LISTING_PAGE_MAX};
            CHECK_OK(store_listing(fixture.store, &query, rows, &count, next));
            for (uint32_t j = 0; j < count; j++) {
                const uint32_t number = (uint32_t)atoi(rows[j].package_id + 6);
                total += !seen[number];
                CHECK(!seen[number]);
                seen[number] = true;
            }
        } while (next[0] != '\0' && ++pages < 40);
        CHECK_INT(total, queries[i].expected);
    }
    end(&fixture);
}

// --- collections --------------------------------------------------------------------------------

TEST(collections_keep_the_operators_order)
{
    StoreFixture fixture;
    REQUIRE(begin(&fixture));
    place(&fixture, "a", "A", "");
    place(&fixture, "b", "B", "");
    place(&fixture, "c", "C", "");
    static const char chosen[][65] = {"c", "a", "b"}, wrong[][65] = {"a", "zzz"};
    uint32_t unknown = 0, count = 0;
    CHECK_OK(store_collection_put(fixture.store, "featured", "Best", chosen, 3, &unknown));
    CHECK_INT(store_collection_put(fixture.store, "more", "", wrong, 2, &unknown),
              STATUS_NOT_FOUND);
    CHECK_INT(unknown, 1);
    CHECK_INT(store_collection_put(fixture.store, "Not A Name", "", chosen, 1, &unknown),
              STATUS_MALFORMED);
    StorePackage hidden = find(&fixture, "a");
    hidden.visibility = STORE_PRIVATE;
    change(&fixture, &hidden);
    static StoreListing rows[3];
    char next[NEXT], after[NEXT];
    CHECK_OK(store_collection(fixture.store, "featured", NULL, 1, rows, &count, next));
    CHECK_INT(count, 1);
    CHECK_TEXT(rows[0].package_id, "c");
    memcpy(after, next, sizeof after);
    CHECK_OK(store_collection(fixture.store, "featured", after, 3, rows, &count, next));
    CHECK_INT(count, 1); // "a" is not for everybody
    CHECK_TEXT(rows[0].package_id, "b");
    CHECK_TEXT(next, "");
    StoreCollection collections[2];
    CHECK_OK(store_collections(fixture.store, collections, 2, &count));
    CHECK_INT(count, 1);
    CHECK_TEXT(collections[0].title, "Best");
    CHECK_INT(collections[0].places, 2);
    CHECK_OK(store_collection_put(fixture.store, "featured", "", chosen, 0, &unknown));
    CHECK_OK(store_collections(fixture.store, collections, 2, &count));
    CHECK_INT(count, 0);
    char name[16];
    for (uint32_t i = 0; i < COLLECTIONS_MAX; i++) {
        snprintf(name, sizeof name, "c%u", i);
        CHECK_OK(store_collection_put(fixture.store, name, "", chosen, 1, &unknown));
    }
    CHECK_INT(store_collection_put(fixture.store, "more", "", chosen, 1, &unknown), STATUS_LIMIT);
    CHECK_OK(store_collection_put(fixture.store, "c3", "x", chosen, 2, &unknown));
    end(&fixture);
}

// --- what people say and play -------------------------------------------------------------------

TEST(visits_players_and_days_are_counted)
{
    StoreFixture fixture;
    REQUIRE(begin(&fixture));
    account(&fixture, BO, "bobby");
    account(&fixture, ANN, "annie");
    place(&fixture, "lava", "Lava", "");
    visit(&fixture, "lava", BO);
    now_ms += LISTING_VISIT_GAP_MS - 1;
    visit(&fixture, "lava", BO); // was away for a moment
    now_ms += LISTING_VISIT_GAP_MS;
    visit(&fixture, "lava", BO);
    visit(&fixture, "lava", ANN);
    visit(&fixture, "lava", 99);    // nobody
    visit(&fixture, "no-lava", BO); // nothing
    CHECK_INT(listing(&fixture, "lava").counts.visits, 3);
    CHECK_INT(listing(&fixture, "lava").counts.players, 2);
    const uint64_t score = listing(&fixture, "lava").score;
    now_ms += DAY;
    visit(&fixture, "lava", BO);
    CHECK(listing(&fixture, "lava").score > score);
    const StorePlayed played = {"lava", .seconds = 70, .peak = 3, .cost_us = 900,
                                .cost_players = 3};
    const StorePlayed fewer = {"lava", .seconds = 5, .peak = 1, .cost_us = 100, .cost_players = 1};
    StorePlayBatch batch = {.played = &played, .played_count = 1, .unix_ms = now_ms};
    CHECK_OK(store_plays_add(fixture.store, &batch));
    batch.played = &fewer;
    CHECK_OK(store_plays_add(fixture.store, &batch));
    StoreCounts counts = listing(&fixture, "lava").counts;
    CHECK_INT(counts.visits, 4);
    CHECK_INT(counts.players, 2);
    CHECK_INT(counts.seconds, 75);
    CHECK_INT(counts.peak, 3);
    CHECK_INT(counts.cost_us, 900);
    batch.unix_ms += LISTING_COST_STALE_MS;
    CHECK_OK(store_plays_add(fixture.store, &batch));
    counts = listing(&fixture, "lava").counts;
    CHECK_INT(counts.cost_us, 100);
    CHECK_INT(counts.cost_players, 1);
    StoreDay days[4];
    uint32_t count = 0;
    CHECK_OK(store_days(fixture.store, "lava", 0, days, 4, &count));
    REQUIRE(count == 3);
    CHECK_INT(days[0].visits, 3);
    CHECK_INT(days[0].players, 2);
    CHECK_INT(days[0].returned, 0);
    CHECK_INT(days[1].day, days[0].day + 1);
    CHECK_INT(days[1].visits, 1);
    CHECK_INT(days[1].players, 1);
    CHECK_INT(days[1].returned, 1);
    CHECK_INT(days[1].seconds, 75);
    CHECK_INT(days[1].peak, 3);
    end(&fixture);
}

TEST(who_has_played_may_vote_once)
{
    StoreFixture fixture;
    REQUIRE(begin(&fixture));
    account(&fixture, BO, "bobby");
    account(&fixture, ANN, "annie");
    place(&fixture, "lava", "Lava", "");
    place(&fixture, "maze", "Maze", "");
    CHECK_INT(store_vote_put(fixture.store, "lava", BO, 1, 0), STATUS_DENIED);
    visit(&fixture, "lava", BO);
    visit(&fixture, "maze", BO);
    visit(&fixture, "lava", ANN);
    const uint64_t before = listing(&fixture, "lava").score;
    CHECK_OK(store_vote_put(fixture.store, "lava", BO, 1, 0));
    CHECK_OK(store_vote_put(fixture.store, "lava", BO, 1, 0));
    CHECK_INT(listing(&fixture, "lava").counts.votes_up, 1);
    CHECK(listing(&fixture, "lava").score > before);
    CHECK_OK(store_vote_put(fixture.store, "lava", BO, -1, 0));
    CHECK_OK(store_vote_put(fixture.store, "lava", ANN, -1, 0));
    CHECK_INT(listing(&fixture, "lava").counts.votes_up, 0);
    CHECK_INT(listing(&fixture, "lava").counts.votes_down, 2);
    CHECK(listing(&fixture, "lava").score < before);
    CHECK_OK(store_vote_put(fixture.store, "lava", ANN, 0, 0));
    CHECK_INT(listing(&fixture, "lava").counts.votes_down, 1);
    CHECK_INT(store_vote_put(fixture.store, "lava", BO, 2, 0), STATUS_MALFORMED);
    CHECK_INT(store_vote_put(fixture.store, "none", BO, 1, 0), STATUS_NOT_FOUND);
    StoreOpinion opinion;
    CHECK_OK(store_opinion(fixture.store, "lava", BO, &opinion));
    CHECK(opinion.has_played && opinion.vote == -1 && !opinion.is_favourite);
    // Whoever changes the package does not take votes and heat back.
    StorePackage package = find(&fixture, "lava");
    change(&fixture, &package);
    CHECK_INT(listing(&fixture, "lava").counts.votes_down, 1);
    end(&fixture);
}

static void play(StoreFixture *fixture, const char *id, uint64_t who, uint64_t seconds)
{
    StorePlayTime time = {.account = who, .seconds = seconds};
    snprintf(time.package_id, sizeof time.package_id, "%s", id);
    const StorePlayBatch batch = {.times = &time, .time_count = 1, .unix_ms = now_ms};
    CHECK_OK(store_plays_add(fixture->store, &batch));
}

TEST(a_vote_needs_some_time_of_play)
{
    StoreFixture fixture;
    REQUIRE(begin_file(&fixture));
    account(&fixture, BO, "bobby");
    place(&fixture, "lava", "Lava", "");
    visit(&fixture, "lava", BO);
    CHECK_INT(store_vote_put(fixture.store, "lava", BO, 1, 120), STATUS_DENIED);
    play(&fixture, "lava", BO, 60);
    CHECK_INT(store_vote_put(fixture.store, "lava", BO, 1, 120), STATUS_DENIED);
    play(&fixture, "lava", BO, 60); // in all
    CHECK_OK(store_vote_put(fixture.store, "lava", BO, 1, 120));
    play(&fixture, "none", BO, 60);
    play(&fixture, "lava", ANN, 60); // who is not there
    CHECK_INT(fixture_number(&fixture, "SELECT count(*) FROM play_times WHERE account_id <> 0"), 1);
    fixture_end(&fixture);
}

TEST(guests_count_less_and_once_for_an_address)
{
    StoreFixture fixture;
    REQUIRE(begin(&fixture));
    account(&fixture, BO, "bobby");
    account(&fixture, ANN, "");
    place(&fixture, "lava", "Lava", "");
    place(&fixture, "maze", "Maze", "");
    place(&fixture, "race", "Race", "");
    const uint64_t before = listing(&fixture, "lava").heat;
    StoreVisit guest = {.package_id = "lava", .account = ANN, .unix_ms = now_ms};
    StorePlayBatch batch = {.visits = &guest, .visit_count = 1, .unix_ms = now_ms};
    guest.is_same_address = true;
    CHECK_OK(store_plays_add(fixture.store, &batch));
    CHECK_INT(listing(&fixture, "lava").heat, before);
    CHECK_INT(listing(&fixture, "lava").counts.visits, 1); // visits are what they were
    guest = (StoreVisit){.package_id = "maze", .account = ANN, .unix_ms = now_ms};
    CHECK_OK(store_plays_add(fixture.store, &batch));
    visit(&fixture, "race", BO);
    CHECK(listing(&fixture, "maze").heat > before);
    CHECK(listing(&fixture, "race").heat > listing(&fixture, "maze").heat);
    end(&fixture);
}

TEST(what_somebody_likes_and_played_goes_with_them)
{
    StoreFixture fixture;
    REQUIRE(begin_file(&fixture));
    account(&fixture, BO, "bobby");
    account(&fixture, ANN, "annie");
    place(&fixture, "lava", "Lava", "");
    place(&fixture, "maze", "Maze", "");
    visit(&fixture, "lava", ANN);
    now_ms += 1000;
    visit(&fixture, "maze", ANN);
    CHECK_OK(store_favourite_put(fixture.store, "lava", ANN, true));
    CHECK_OK(store_favourite_put(fixture.store, "lava", ANN, true));
    now_ms += 1000;
    CHECK_OK(store_favourite_put(fixture.store, "maze", ANN, true));
    CHECK_OK(store_vote_put(fixture.store, "lava", ANN, 1, 0));
    CHECK_INT(listing(&fixture, "lava").counts.favourites, 1);
    static StoreListing rows[4];
    char next[NEXT], after[NEXT];
    uint32_t count = 0;
    CHECK_OK(store_favourites(fixture.store, ANN, NULL, 1, rows, &count, next));
    CHECK_TEXT(rows[0].package_id, "maze");
    memcpy(after, next, sizeof after);
    CHECK_OK(store_favourites(fixture.store, ANN, after, 4, rows, &count, next));
    CHECK_INT(count, 1);
    CHECK_TEXT(rows[0].package_id, "lava");
    CHECK_OK(store_recent(fixture.store, ANN, NULL, 4, rows, &count, next));
    CHECK_INT(count, 2);
    CHECK_TEXT(rows[0].package_id, "maze");
    char text[8192] = "";
    FILE *file = fmemopen(text, sizeof text - 1, "w");
    REQUIRE(file != NULL);
    CHECK_OK(store_person_export(fixture.store, ANN, file));
    fclose(file);
    CHECK(strstr(text, "\"favourites\":[\n{\"account_id\":8,\"package_id\":\"lava\"") != NULL);
    CHECK(strstr(text, "\"votes\":[\n{\"package_id\":\"lava\"") != NULL);
    CHECK(strstr(text, "\"played\":[\n{\"package_id\":\"lava\"") != NULL);
    CHECK_OK(store_person_delete(fixture.store, ANN));
    CHECK_INT(listing(&fixture, "lava").counts.favourites, 0);
    CHECK_INT(listing(&fixture, "lava").counts.votes_up, 0);
    CHECK_INT(listing(&fixture, "lava").counts.visits, 1); // a number that says nothing of anybody
    static const char *const tables[] = {"favourites", "votes", "plays"};
    for (size_t i = 0; i < sizeof tables / sizeof tables[0]; i++) {
        char sql[96];
        snprintf(sql, sizeof sql, "SELECT count(*) FROM %s WHERE account_id = 8", tables[i]);
        CHECK_INT(fixture_number(&fixture, sql), 0);
    }
    fixture_end(&fixture);
}

TEST(favourites_are_bounded)
{
    StoreFixture fixture;
    REQUIRE(begin(&fixture));
    place(&fixture, "lava", "Lava", "");
    char id[16];
    for (uint32_t i = 0; i < FAVOURITES_PER_PERSON_MAX; i++) {
        snprintf(id, sizeof id, "p%u", i);
        StorePackage package = package_of(id, "", "");
        CHECK_OK(store_package_make(fixture.store, &package, UINT32_MAX));
        CHECK_OK(store_favourite_put(fixture.store, id, BO, true));
    }
    CHECK_INT(store_favourite_put(fixture.store, "lava", BO, true), STATUS_LIMIT);
    end(&fixture);
}

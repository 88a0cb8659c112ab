// DataStore requests to the store and to core/script/trial/memory_store.c: the same sequence gives
// the same replies byte for byte, and the data survives a restart.
#define _GNU_SOURCE
#include "tests/unit/store_fixture.h"

#include "core/base/check.h"
#include "core/script/trial/memory_store.h"
#include "server/store/people/store_audit.h"
#include "server/store/sql/sql.h"
#include "tests/support/test.h"

#include <math.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static atomic_uint_least64_t clock_ms;

static uint64_t clock_read(void *user)
{
    (void)user;
    return atomic_load(&clock_ms);
}

#define QUEUE_MAX 32

typedef struct Asked {
    bool ok;
    size_t bytes;
    uint8_t answer[STORE_ANSWER_MAX];
} Asked;

typedef struct Pair {
    StoreFixture fixture;
    Heap heap;
    MemoryStore *memory;
    uint64_t epoch;
    Asked asked[QUEUE_MAX];
    uint32_t count;
} Pair;

static bool pair_begin(Pair *pair, uint32_t keys, size_t bytes, size_t old_bytes)
{
    memset(pair, 0, sizeof *pair);
    if (!fixture_begin(&pair->fixture)) {
        return false;
    }
    fixture_close(&pair->fixture);
    pair->fixture.config.unix_ms = clock_read;
    pair->fixture.config.data_keys_max = keys;
    pair->fixture.config.data_bytes_max = bytes;
    pair->fixture.config.data_old_bytes_max = old_bytes;
    if (fixture_open(&pair->fixture) != STATUS_OK) {
        test_fail(__FILE__, __LINE__, "%s", pair->fixture.reason);
        return false;
    }
    pair->heap = heap_make(64u << 20);
    MemoryStoreConfig config = memory_store_config_default();
    config.key_max = keys;
    config.bytes_max = bytes;
    config.old_bytes_max = old_bytes;
    pair->epoch = fixture_world(&pair->fixture, "w1");
    return memory_store_create(&pair->heap, &config, &pair->memory) == STATUS_OK;
}

static void pair_end(Pair *pair)
{
    memory_store_destroy(&pair->heap, pair->memory);
    fixture_end(&pair->fixture);
}

// Another store with all that this one has takes its place, as for a world that is made anew. Bytes
// that were cut are refused, and leave an empty store.
static void move_to_another(Pair *pair)
{
    MemoryStoreConfig config = memory_store_config_default();
    config.key_max = pair->fixture.config.data_keys_max;
    config.bytes_max = pair->fixture.config.data_bytes_max;
    config.old_bytes_max = pair->fixture.config.data_old_bytes_max;
    ByteWriter counter = byte_counter();
    memory_store_write(pair->memory, &counter);
    uint8_t *bytes = heap_alloc(&pair->heap, counter.at);
    MemoryStore *next = NULL;
    ASSERT(bytes != NULL && memory_store_create(&pair->heap, &config, &next) == STATUS_OK);
    ByteWriter writer = byte_writer(bytes, counter.at);
    memory_store_write(pair->memory, &writer);
    ByteReader cut = byte_reader(bytes, counter.at - 1);
    CHECK(memory_store_read(next, &cut) != STATUS_OK);
    ByteReader reader = byte_reader(bytes, counter.at);
    CHECK_OK(memory_store_read(next, &reader));
    heap_free(&pair->heap, bytes);
    memory_store_destroy(&pair->heap, pair->memory);
    pair->memory = next;
}

static void ask(Pair *pair, const StoreRequest *request)
{
    ASSERT(pair->count < QUEUE_MAX);
    if (pair->count % 16 == 5) {
        move_to_another(pair);
    }
    Asked *asked = &pair->asked[pair->count];
    ByteWriter writer = byte_writer(asked->answer, sizeof asked->answer);
    asked->ok = memory_store_run(pair->memory, request, (double)(clock_read(NULL) / 1000), &writer);
    asked->bytes = writer.at;
    CHECK_OK(store_request(pair->fixture.store, "w1", pair->epoch, request, pair->count));
    pair->count += 1;
}

static void compare(Pair *pair)
{
    for (uint32_t i = 0; i < pair->count; i++) {
        StoreCompletion got;
        if (!fixture_wait(&pair->fixture, &got)) {
            break;
        }
        const Asked *want = &pair->asked[i];
        CHECK_INT(got.tag, i);
        CHECK_OK(got.status);
        CHECK_INT(got.ok, want->ok);
        CHECK_INT(got.byte_count, want->bytes);
        if (got.byte_count == want->bytes) {
            CHECK_BYTES(got.bytes, want->answer, want->bytes);
        }
    }
    pair->count = 0;
}

// --- random requests ----------------------------------------------------------------------------

static const char *const keys[] = {"a", "b", "key", "Zoë", "'; --", "zz", "ab", "B", "", "\xff"};

static Text random_key(Rng *rng)
{
    static char longest[STORE_KEY_BYTES_MAX + 1];
    memset(longest, 'k', sizeof longest);
    switch (rng_below(rng, 16)) {
    case 0:
        return (Text){longest, STORE_KEY_BYTES_MAX};
    case 1:
        return (Text){longest, STORE_KEY_BYTES_MAX + 1};
    case 2:
        return (Text){"nul\0in it", 9};
    default: {
        const char *key = keys[rng_below(rng, rng_below(rng, 8) == 0 ? 10 : 8)];
        return (Text){key, strlen(key)};
    }
    }
}

// A list with one value, mostly; now and then something that cannot be stored.
static size_t random_value(Rng *rng, uint8_t *bytes, size_t max)
{
    ByteWriter writer = byte_writer(bytes, max);
    const uint32_t kind = rng_below(rng, 12);
    byte_write_u8(&writer, 6);
    byte_write_varint(&writer, kind == 0 ? 2 : 1);
    if (kind < 6) {
        byte_write_u8(&writer, 3);
        byte_write_varint(&writer, kind == 5 ? rng_u64(rng) : rng_below(rng, 9));
    } else if (kind == 6) {
        byte_write_u8(&writer, 0);
    } else if (kind == 7) {
        byte_write_u8(&writer, 77);
    } else {
        static const uint8_t text[3000];
        const uint32_t length = rng_below(rng, 4) == 0 ? rng_below(rng, sizeof text) : 5;
        byte_write_u8(&writer, 5);
        byte_write_varint(&writer, length);
        byte_write_bytes(&writer, text, length);
    }
    return writer.at;
}

// Of a page: the least number, the greatest, and the one after which it begins.
static size_t random_range(Rng *rng, uint8_t *bytes, size_t max, bool has_after)
{
    static const uint64_t numbers[] = {0, 2, 4, 7, 8, 14, 17, UINT64_MAX, UINT64_MAX - 1};
    ByteWriter writer = byte_writer(bytes, max);
    if (!has_after && rng_below(rng, 4) == 0) {
        return 0;
    }
    byte_write_u8(&writer, 6);
    byte_write_varint(&writer, rng_below(rng, 16) == 0 ? 2 : 3);
    for (int i = 0; i < 3; i++) {
        const bool given = i == 2 ? has_after : rng_below(rng, 2) == 0;
        byte_write_u8(&writer, rng_below(rng, 64) == 0 ? 5 : given ? 3 : 0);
        if (given) {
            byte_write_varint(&writer, numbers[rng_below(rng, 9)]);
        }
    }
    return writer.at;
}

static double random_number(Rng *rng)
{
    static const double numbers[] = {1, -1, 0, 100, 5, 1.5, 9007199254740992.0, -1e300, 101, 0.5};
    const uint32_t which = rng_below(rng, 11);
    return which == 10 ? (double)NAN : numbers[which];
}

static void random_request(Pair *pair, Rng *rng)
{
    static const char *const stores[] = {"coins", "Zoë's", ""};
    uint8_t value[4096];
    const char *store = stores[rng_below(rng, rng_below(rng, 16) == 0 ? 3 : 2)];
    StoreRequest request = {.operation = (StoreOperation)rng_below(rng, STORE_OPERATION_END)};
    request.ordered = rng_below(rng, 2) == 0;
    request.store = (Text){store, strlen(store)};
    request.key = random_key(rng);
    request.value = value;
    request.value_bytes = random_value(rng, value, sizeof value);
    request.number = random_number(rng);
    request.ascending = rng_below(rng, 2) == 0;
    request.version = rng_below(rng, rng_below(rng, 2) == 0 ? 6 : 300);
    if (request.operation == STORE_SORTED && rng_below(rng, 8) > 0) {
        request.key.bytes = rng_below(rng, 3) == 0 ? request.key.bytes : 0;
        request.value_bytes = random_range(rng, value, sizeof value, request.key.bytes > 0);
    }
    ask(pair, &request);
}

// The old values have room for some hundred: in the end the oldest give way all the time.
static void compare_many(size_t old_bytes)
{
    Pair *pair = malloc(sizeof *pair);
    REQUIRE(pair != NULL);
    Rng rng = rng_make(test_seed(), 5);
    if (pair_begin(pair, 1024, 4u << 20, old_bytes)) {
        for (uint32_t round = 0; round < 250 && test_is_passing(); round++) {
            atomic_store(&clock_ms, 1000ull * (1700000000u + round));
            const uint32_t count = 1 + rng_below(&rng, QUEUE_MAX - 1);
            for (uint32_t i = 0; i < count; i++) {
                random_request(pair, &rng);
            }
            compare(pair);
            if (round % 50 == 49) {
                fixture_close(&pair->fixture);
                REQUIRE(fixture_open(&pair->fixture) == STATUS_OK);
            }
        }
        pair_end(pair);
    }
    free(pair);
}

TEST(the_same_answers_as_the_store_in_memory)
{
    compare_many(1u << 20);
}

TEST(old_values_give_way_in_the_same_order)
{
    compare_many(4000);
}

static StoreRequest simple(StoreOperation operation, const char *key, const uint8_t *value,
                           size_t bytes)
{
    return (StoreRequest){.operation = operation,
                          .store = {"s", 1},
                          .key = {key, strlen(key)},
                          .value = value,
                          .value_bytes = bytes};
}

TEST(caps_are_errors_that_the_script_sees)
{
    Pair *pair = malloc(sizeof *pair);
    REQUIRE(pair != NULL);
    static const uint8_t five[] = {6, 1, 3, 10};
    static const uint8_t large[2 + 3 + 1196] = {6, 1, 5, 0xac, 9}; // a text of 1,196 bytes
    if (pair_begin(pair, 3, 2000, 2000)) {
        static const char *const names[] = {"a", "b", "c", "d"};
        for (size_t i = 0; i < 4; i++) {
            const StoreRequest set = simple(STORE_SET, names[i], five, sizeof five);
            ask(pair, &set); // the fourth has no room
        }
        CHECK(!pair->asked[3].ok);
        compare(pair);
        const StoreRequest remove = simple(STORE_REMOVE, "b", NULL, 0);
        const StoreRequest again = simple(STORE_SET, "d", five, sizeof five);
        const StoreRequest gone = simple(STORE_GET, "b", NULL, 0);
        const StoreRequest versions = simple(STORE_VERSIONS, "b", NULL, 0);
        ask(pair, &remove);
        ask(pair, &again); // takes the place of b
        CHECK(pair->asked[1].ok);
        ask(pair, &gone);
        ask(pair, &versions);
        compare(pair);
        const StoreRequest big = simple(STORE_SET, "a", large, sizeof large);
        const StoreRequest bigger = simple(STORE_SET, "c", large, sizeof large);
        const StoreRequest kept = simple(STORE_GET, "c", NULL, 0);
        ask(pair, &big);
        ask(pair, &bigger);
        CHECK(pair->asked[0].ok && !pair->asked[1].ok);
        ask(pair, &kept);
        compare(pair);
        pair_end(pair);
    }
    free(pair);
}

TEST(a_fenced_world_gets_no_answer)
{
    StoreFixture fixture;
    static const uint8_t five[] = {6, 1, 3, 10};
    if (!fixture_begin(&fixture)) {
        return;
    }
    const uint64_t old = fixture_world(&fixture, "w1");
    const uint64_t epoch = fixture_world(&fixture, "w1");
    const uint64_t other = fixture_world(&fixture, "w2");
    const StoreRequest set = simple(STORE_SET, "k", five, sizeof five);
    const StoreRequest get = simple(STORE_GET, "k", NULL, 0);
    StoreCompletion got;
    CHECK_OK(store_request(fixture.store, "w1", old, &set, 1));
    REQUIRE(fixture_wait(&fixture, &got));
    CHECK_INT(got.status, STATUS_DENIED);
    CHECK_INT(got.byte_count, 0);
    CHECK_OK(store_request(fixture.store, "w1", epoch, &set, 2));
    REQUIRE(fixture_wait(&fixture, &got));
    CHECK(got.status == STATUS_OK && got.ok);
    // Another world has its own.
    CHECK_OK(store_request(fixture.store, "w2", other, &get, 3));
    REQUIRE(fixture_wait(&fixture, &got));
    const uint8_t nothing[] = {6, 2, 0, 3, 0};
    CHECK(got.ok && got.byte_count == sizeof nothing);
    CHECK_BYTES(got.bytes, nothing, sizeof nothing);
    CHECK_INT(store_request(fixture.store, "no/", epoch, &get, 4), STATUS_MALFORMED);
    StoreRequest huge = get;
    huge.value = five;
    huge.value_bytes = (size_t)1 << 40;
    CHECK_INT(store_request(fixture.store, "w1", epoch, &huge, 4), STATUS_LIMIT);
    // A row that was changed behind our back is an error, not a value.
    CHECK(fixture_sql(&fixture, "UPDATE datastore SET value = x'0308'"));
    CHECK_OK(store_request(fixture.store, "w1", epoch, &get, 5));
    REQUIRE(fixture_wait(&fixture, &got));
    CHECK(got.status == STATUS_OK && !got.ok && got.byte_count > 0);
    CHECK_INT(store_stats(fixture.store).damaged, 1);
    fixture_end(&fixture);
}

// --- versions and pages -------------------------------------------------------------------------

static StoreRequest get_version(const char *key, uint64_t version)
{
    StoreRequest request = simple(STORE_GET_VERSION, key, NULL, 0);
    request.version = version;
    return request;
}

// Sets a key to the integers from..to; they are even numbers in the bytes.
static void set_numbers(Pair *pair, const char *key, uint8_t from, uint8_t to)
{
    for (uint8_t i = from; i <= to && test_is_passing(); i++) {
        const uint8_t value[] = {6, 1, 3, (uint8_t)(2 * i)};
        const StoreRequest set = simple(STORE_SET, key, value, sizeof value);
        ask(pair, &set);
        CHECK(pair->asked[0].ok);
        compare(pair);
    }
}

static void check_version(Pair *pair, const char *key, uint64_t version, int number)
{
    const StoreRequest get = get_version(key, version);
    ask(pair, &get);
    const Asked *asked = &pair->asked[0];
    const uint8_t value[] = {6, 1, 3, (uint8_t)(2 * number)}, nothing[] = {6, 1, 0};
    CHECK(asked->ok);
    CHECK_INT(asked->bytes, number < 0 ? sizeof nothing : sizeof value);
    CHECK_BYTES(asked->answer, number < 0 ? nothing : value, asked->bytes);
    compare(pair);
}

TEST(versions_hold_the_values_they_had)
{
    Pair *pair = malloc(sizeof *pair);
    REQUIRE(pair != NULL);
    if (pair_begin(pair, 10, 1000, 1000)) {
        set_numbers(pair, "k", 1, 20);
        check_version(pair, "k", 20, 20); // the newest
        check_version(pair, "k", 5, 5);   // the last of sixteen
        check_version(pair, "k", 4, -1);
        check_version(pair, "k", 21, -1);
        check_version(pair, "k", UINT64_MAX, -1);
        check_version(pair, "never", 1, -1);
        const StoreRequest remove = simple(STORE_REMOVE, "k", NULL, 0);
        ask(pair, &remove);
        compare(pair);
        check_version(pair, "k", 20, 20); // what RemoveAsync took away
        check_version(pair, "k", 21, -1);
        fixture_close(&pair->fixture);
        REQUIRE(fixture_open(&pair->fixture) == STATUS_OK);
        check_version(pair, "k", 19, 19);
        CHECK_INT(fixture_number(&pair->fixture, "SELECT count(*) FROM datastore_values WHERE "
                                                 "length(place_id) > 0"),
                  15);
        CHECK_INT(fixture_number(&pair->fixture, "SELECT bytes FROM datastore_values_use WHERE "
                                                 "length(place_id) > 0"),
                  30);
        pair_end(pair);
    }
    free(pair);
}

TEST(old_values_have_room_of_their_own)
{
    Pair *pair = malloc(sizeof *pair);
    REQUIRE(pair != NULL);
    if (pair_begin(pair, 10, 1000, 8)) { // four old values of two bytes
        set_numbers(pair, "a", 1, 4);    // 1, 2 and 3 are old
        atomic_fetch_add(&clock_ms, 1000);
        set_numbers(pair, "b", 1, 3); // takes the room of the first two of a
        check_version(pair, "a", 1, -1);
        check_version(pair, "a", 2, 2);
        check_version(pair, "b", 1, 1);
        check_version(pair, "b", 2, 2);
        // A large value is not kept when it is replaced, and drops nothing.
        static const uint8_t large[] = {6, 1, 5, 9, 'l', 'a', 'r', 'g', 'e', 't', 'e', 'x', 't'};
        const StoreRequest set = simple(STORE_SET, "c", large, sizeof large);
        ask(pair, &set);
        compare(pair);
        set_numbers(pair, "c", 7, 7);
        check_version(pair, "c", 1, -1);
        check_version(pair, "a", 2, 2);
        CHECK_INT(fixture_number(&pair->fixture, "SELECT sum(bytes) FROM datastore_values_use"), 8);
        pair_end(pair);
    }
    free(pair);
}

TEST(old_values_go_after_thirty_days)
{
    Pair *pair = malloc(sizeof *pair);
    REQUIRE(pair != NULL);
    if (pair_begin(pair, 10, 1000, 1000)) {
        const uint64_t day = 86400000;
        StoreSwept swept;
        atomic_store(&clock_ms, 1000 * day);
        set_numbers(pair, "a", 1, 3); // 1 and 2 were replaced now
        atomic_store(&clock_ms, 1020 * day);
        set_numbers(pair, "a", 4, 4); // and 3 later
        CHECK_OK(store_sweep(pair->fixture.store, 1029 * day, 0, &swept));
        check_version(pair, "a", 1, 1);
        CHECK_OK(store_sweep(pair->fixture.store, 1031 * day, 0, &swept));
        CHECK_INT(fixture_number(&pair->fixture, "SELECT count(*) FROM datastore_values WHERE "
                                                 "length(place_id) > 0"),
                  1);
        CHECK_INT(fixture_number(&pair->fixture, "SELECT bytes FROM datastore_values_use WHERE "
                                                 "length(place_id) > 0"),
                  2);
        pair_end(pair);
    }
    free(pair);
}

// Damage is said, and hurts nothing else.
TEST(a_damaged_old_value_is_an_error)
{
    Pair *pair = malloc(sizeof *pair);
    REQUIRE(pair != NULL);
    if (pair_begin(pair, 10, 1000, 1000)) {
        set_numbers(pair, "a", 1, 3);
        CHECK(fixture_sql(&pair->fixture,
                          "UPDATE datastore_values SET value = x'0308' WHERE version = 1"));
        const StoreRequest first = get_version("a", 1);
        StoreCompletion got;
        CHECK_OK(store_request(pair->fixture.store, "w1", pair->epoch, &first, 1));
        REQUIRE(fixture_wait(&pair->fixture, &got));
        CHECK(got.status == STATUS_OK && !got.ok && got.damaged);
        check_version(pair, "a", 2, 2);
        pair_end(pair);
    }
    free(pair);
}

TEST(a_database_of_version_7_keeps_old_values_from_now_on)
{
    if (fixture_is_server()) {
        return; // it is about SQLite's file
    }
    Pair *pair = malloc(sizeof *pair);
    REQUIRE(pair != NULL);
    if (pair_begin(pair, 10, 1000, 1000)) {
        set_numbers(pair, "a", 1, 1);
        fixture_close(&pair->fixture);
        Sql sql;
        char reason[256];
        REQUIRE(sql_connect(&sql, pair->fixture.path, reason, sizeof reason) == STATUS_OK);
        sql_exec(&sql, "DROP TABLE datastore_values; DROP TABLE datastore_values_use; "
                       "PRAGMA user_version = 7");
        CHECK_OK(sql_status(&sql));
        sql_disconnect(&sql);
        REQUIRE(fixture_open(&pair->fixture) == STATUS_OK);
        check_version(pair, "a", 1, 1);
        set_numbers(pair, "a", 2, 2);
        check_version(pair, "a", 1, 1);
        pair_end(pair);
    }
    free(pair);
}

// --- two worlds, a hundred writers --------------------------------------------------------------
// What UpdateAsync and IncrementAsync send, of fifty coroutines in each of two worlds of one place:
// a writer waits for its answer before it goes on, and answers come in whatever batches the thread
// of the store makes. Its own key and one that all share are raised by reading and writing what is
// still that version; a third is incremented.
#define WRITERS 100
#define ROUNDS  6

typedef enum WriterStep { READ_OWN, WRITE_OWN, READ_SHARED, WRITE_SHARED, ADD } WriterStep;

typedef struct StoreWriter {
    WriterStep step;
    uint32_t rounds;
    char key[16];
    uint64_t version;
    int64_t value;
} StoreWriter;

typedef struct Writers {
    StoreFixture fixture;
    uint64_t epochs[2];
    StoreWriter all[WRITERS];
    uint32_t done, conflicts;
} Writers;

static const char *const world_ids[2] = {"a1", "a2"};

static bool writers_begin(Writers *writers)
{
    memset(writers, 0, sizeof *writers);
    if (!fixture_begin(&writers->fixture)) {
        return false;
    }
    for (uint32_t i = 0; i < 2; i++) {
        StoreWorld world = {.place_id = "arena"};
        memcpy(world.world_id, world_ids[i], 3);
        CHECK_OK(store_world_put(writers->fixture.store, &world));
        CHECK_OK(fixture_renew(&writers->fixture, "host", 1, FIXTURE_FOREVER, FIXTURE_FOREVER));
        CHECK_OK(fixture_take(&writers->fixture, world_ids[i], "host", 1, FIXTURE_FOREVER,
                              &writers->epochs[i]));
    }
    for (uint32_t i = 0; i < WRITERS; i++) {
        snprintf(writers->all[i].key, sizeof writers->all[i].key, "%u", 1000 + i);
    }
    return true;
}

static size_t integer_list(int64_t value, uint8_t *bytes, size_t max)
{
    ByteWriter writer = byte_writer(bytes, max);
    store_answer_list(&writer, 1);
    store_answer_integer(&writer, value);
    return writer.at;
}

static void writer_ask(Writers *writers, uint32_t number)
{
    const StoreWriter *writer = &writers->all[number];
    const bool is_own = writer->step <= WRITE_OWN;
    const char *key = is_own ? writer->key : writer->step == ADD ? "added" : "shared";
    uint8_t value[16] = {0};
    StoreRequest request = simple(STORE_GET, key, value, 0);
    request.ordered = true;
    request.store = (Text){"board", 5};
    if (writer->step == WRITE_OWN || writer->step == WRITE_SHARED) {
        request.operation = STORE_COMPARE_AND_SET;
        request.version = writer->version;
        // Own keys rise by their number, so that every value is known in the end.
        const int64_t step = is_own ? (int64_t)(number % 10) : 1;
        request.value_bytes = integer_list(writer->value + step, value, sizeof value);
    } else if (writer->step == ADD) {
        request.operation = STORE_INCREMENT;
        request.number = 3;
    }
    const uint32_t world = number % 2;
    CHECK_OK(store_request(writers->fixture.store, world_ids[world], writers->epochs[world],
                           &request, number));
}

// Reads (value or nil, version), or (whether it was written, version).
static void writer_hear(Writers *writers, const StoreCompletion *got)
{
    StoreWriter *writer = &writers->all[got->tag];
    CHECK(got->status == STATUS_OK && got->ok);
    ByteReader reader = byte_reader(got->bytes, got->byte_count);
    (void)byte_read_u16(&reader); // a list, of one or two
    const uint8_t tag = byte_read_u8(&reader);
    if (writer->step == READ_OWN || writer->step == READ_SHARED) {
        const uint64_t raw = tag == STORE_TAG_INTEGER ? byte_read_varint(&reader) : 0;
        writer->value = (int64_t)(raw >> 1);
        (void)byte_read_u8(&reader);
        writer->version = byte_read_varint(&reader) >> 1;
        writer->step += 1;
    } else if (writer->step != ADD && tag != STORE_TAG_TRUE) {
        writer->step -= 1; // somebody else wrote in between: read again
        writers->conflicts += 1;
    } else if (writer->step == ADD) {
        writer->rounds += 1;
        writer->step = READ_OWN;
        writers->done += writer->rounds == ROUNDS;
    } else {
        // Of the key that all want, one gets on in a batch: so each of them wants it once.
        writer->step = writer->step == WRITE_OWN && writer->rounds > 0 ? ADD : writer->step + 1;
    }
    if (writer->rounds < ROUNDS) {
        writer_ask(writers, (uint32_t)got->tag);
    }
}

static int64_t board_number(Writers *writers, const char *what)
{
    char text[160];
    snprintf(text, sizeof text, "SELECT number FROM datastore WHERE key = CAST('%s' AS BLOB)",
             what);
    return fixture_number(&writers->fixture, text);
}

// All pages of the ascending order: each key once, with what its writer wrote.
static void check_board(Writers *writers)
{
    uint8_t range[32] = {0};
    StoreRequest request = simple(STORE_SORTED, "", range, 0);
    char after[STORE_KEY_BYTES_MAX];
    int64_t last = INT64_MIN;
    uint32_t found = 0;
    request.ordered = true;
    request.ascending = true;
    request.store = (Text){"board", 5};
    request.number = 7;
    for (uint32_t page = 0; page < WRITERS && test_is_passing(); page++) {
        StoreCompletion got;
        CHECK_OK(store_request(writers->fixture.store, "a1", writers->epochs[0], &request, page));
        REQUIRE(fixture_wait(&writers->fixture, &got) && got.ok);
        ByteReader reader = byte_reader(got.bytes, got.byte_count);
        (void)byte_read_u16(&reader);
        (void)byte_read_u8(&reader);
        const uint64_t count = byte_read_varint(&reader);
        for (uint64_t i = 0; i < count; i++) {
            (void)byte_read_bytes(&reader, 2 + 5 + 1); // a map of two, "key", a text
            const size_t bytes = (size_t)byte_read_varint(&reader);
            REQUIRE(bytes < sizeof after);
            memcpy(after, byte_read_bytes(&reader, bytes), bytes);
            after[bytes] = 0;
            (void)byte_read_bytes(&reader, 7 + 1); // "value", an integer
            const int64_t value = (int64_t)(byte_read_varint(&reader) >> 1);
            const uint32_t number = (uint32_t)strtoul(after, NULL, 10) - 1000;
            if (number < WRITERS) {
                CHECK_INT(value, ROUNDS * (number % 10));
                found += 1;
            }
            CHECK(value >= last);
            last = value;
        }
        CHECK_OK(byte_reader_finish(&reader));
        if (count == 0) {
            break;
        }
        ByteWriter writer = byte_writer(range, sizeof range);
        store_answer_list(&writer, 3);
        byte_write_u16(&writer, 0); // neither min nor max
        store_answer_integer(&writer, last);
        request.value_bytes = writer.at;
        request.key = (Text){after, strlen(after)};
    }
    CHECK_INT(found, WRITERS);
}

TEST(two_worlds_with_a_hundred_writers_lose_nothing)
{
    Writers *writers = malloc(sizeof *writers);
    REQUIRE(writers != NULL);
    if (writers_begin(writers)) {
        for (uint32_t i = 0; i < WRITERS; i++) {
            writer_ask(writers, i);
        }
        StoreCompletion got;
        while (writers->done < WRITERS && test_is_passing() &&
               fixture_wait(&writers->fixture, &got)) {
            writer_hear(writers, &got);
        }
        CHECK_INT(writers->done, WRITERS);
        CHECK(writers->conflicts > 0); // they did meet
        CHECK_INT(board_number(writers, "shared"), WRITERS);
        CHECK_INT(board_number(writers, "added"), 3 * WRITERS * ROUNDS);
        check_board(writers);
        fixture_end(&writers->fixture);
    }
    free(writers);
}

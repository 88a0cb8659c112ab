// Entries and journals as bytes: what is written can be read, and any other bytes give an error
// status.
#include "tests/unit/world_fixture.h"

#include "core/base/rng.h"
#include "tests/support/test.h"

#include <string.h>

static const Entry samples[] = {
    {.type = ENTRY_TICK, .number = 1700000000123u},
    {.type = ENTRY_CONNECT, .flags = ENTRY_JSON, .connection = 1},
    {.type = ENTRY_MESSAGE, .connection = 300, .bytes = (const uint8_t *)"abc", .byte_count = 3},
    {.type = ENTRY_DISCONNECT, .connection = UINT64_MAX},
    {.type = ENTRY_AUTH,
     .flags = ENTRY_OK | ENTRY_GUEST | ENTRY_OPERATOR,
     .connection = 5,
     .number = UINT64_MAX,
     .name = "Bo",
     .name_bytes = 2},
    {.type = ENTRY_STORED, .number = 9, .flags = ENTRY_OK},
    {.type = ENTRY_ROW, .bytes = (const uint8_t *)"r", .byte_count = 1},
    {.type = ENTRY_SCRIPT,
     .flags = ENTRY_SOURCE | ENTRY_REPLICATE,
     .name = "Workspace/Door",
     .name_bytes = 14,
     .bytes = (const uint8_t *)"return 1",
     .byte_count = 8},
    {.type = ENTRY_RELOAD, .number = 2},
    {.type = ENTRY_ADMIN, .name = "save", .name_bytes = 4},
};
#define SAMPLE_COUNT (sizeof samples / sizeof samples[0])

static void check_equal(const Entry *got, const Entry *want)
{
    CHECK_INT(got->type, want->type);
    CHECK_INT(got->flags, want->flags);
    CHECK(got->connection == want->connection);
    CHECK(got->number == want->number);
    CHECK_INT(got->name_bytes, want->name_bytes);
    CHECK_INT(got->byte_count, want->byte_count);
    if (got->name_bytes == want->name_bytes && want->name_bytes > 0) {
        CHECK_BYTES(got->name, want->name, want->name_bytes);
    }
    if (got->byte_count == want->byte_count && want->byte_count > 0) {
        CHECK_BYTES(got->bytes, want->bytes, want->byte_count);
    }
}

TEST(entries_come_back)
{
    uint8_t bytes[1024];
    ByteWriter writer = byte_writer(bytes, sizeof bytes);
    for (size_t i = 0; i < SAMPLE_COUNT; i++) {
        entry_write(&samples[i], &writer);
    }
    CHECK_OK(writer.status);
    ByteReader reader = byte_reader(bytes, writer.at);
    for (size_t i = 0; i < SAMPLE_COUNT; i++) {
        Entry entry;
        CHECK_OK(journal_next(&reader, &entry));
        check_equal(&entry, &samples[i]);
    }
    Entry entry;
    CHECK_INT(journal_next(&reader, &entry), STATUS_NOT_FOUND);
}

TEST(every_cut_is_a_status)
{
    uint8_t bytes[256];
    for (size_t i = 0; i < SAMPLE_COUNT; i++) {
        ByteWriter writer = byte_writer(bytes, sizeof bytes);
        entry_write(&samples[i], &writer);
        for (size_t cut = 0; cut < writer.at; cut++) {
            ByteReader reader = byte_reader(bytes, cut);
            Entry entry = {.type = ENTRY_NONE};
            CHECK_INT(entry_read(&reader, &entry), STATUS_TRUNCATED);
            CHECK_INT(entry.type, ENTRY_NONE);
        }
    }
}

TEST(wrong_numbers_are_refused)
{
    static const struct {
        uint8_t bytes[8];
        size_t count;
        Status want;
    } cases[] = {
        {{ENTRY_NONE, 0, 0, 0, 0, 0}, 6, STATUS_MALFORMED},
        {{ENTRY_TYPE_COUNT, 0, 0, 0, 0, 0}, 6, STATUS_MALFORMED},
        {{ENTRY_TICK, 0x80, 0, 0, 0, 0}, 6, STATUS_MALFORMED},
        {{ENTRY_TICK, 0, 0x80, 0, 0, 0, 0}, 7, STATUS_MALFORMED}, // not the shortest form
        {{ENTRY_TICK, 0, 0, 0, 0x81, 0x01, 0}, 7, STATUS_RANGE},  // name of 129 bytes
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        ByteReader reader = byte_reader(cases[i].bytes, cases[i].count);
        Entry entry;
        CHECK_INT(entry_read(&reader, &entry), cases[i].want);
    }
}

TEST(headers_come_back)
{
    FixturePlace place;
    fixture_place_open(&place, 60, 20);
    WorldConfig config = fixture_config(&place);
    config.epoch = 12;
    config.seed = 99;
    config.body_kept_ms = 1234;
    uint8_t bytes[JOURNAL_HEADER_BYTES];
    ByteWriter writer = byte_writer(bytes, sizeof bytes);
    journal_write_header(&config, &writer);
    REQUIRE(writer.status == STATUS_OK);
    WorldConfig read = world_config_default();
    read.place = config.place;
    read.stripped = config.stripped;
    read.stripped_bytes = config.stripped_bytes;
    ByteReader reader = byte_reader(bytes, writer.at);
    CHECK_OK(journal_read_header(&reader, &read));
    CHECK_INT(byte_reader_left(&reader), 0);
    CHECK_TEXT(read.world_id, config.world_id);
    CHECK_TEXT(read.room_code, config.room_code);
    CHECK_INT(read.epoch, 12);
    CHECK_INT(read.seed, 99);
    CHECK_INT(read.body_kept_ms, 1234);
    CHECK_INT(read.player_max, config.player_max);
    CHECK_INT(read.development, true);
    CHECK_BYTES(read.secret, config.secret, sizeof config.secret);
    for (size_t cut = 0; cut < writer.at; cut++) {
        reader = byte_reader(bytes, cut);
        CHECK(journal_read_header(&reader, &read) != STATUS_OK);
    }
    place.stripped[0] ^= 1;
    reader = byte_reader(bytes, writer.at);
    CHECK_INT(journal_read_header(&reader, &read), STATUS_MISMATCH);
    bytes[8] = 2;
    reader = byte_reader(bytes, writer.at);
    CHECK_INT(journal_read_header(&reader, &read), STATUS_UNSUPPORTED);
    bytes[0] = 'x';
    reader = byte_reader(bytes, writer.at);
    CHECK_INT(journal_read_header(&reader, &read), STATUS_MALFORMED);
    fixture_place_close(&place);
}

TEST(random_bytes_never_read_too_far)
{
    Rng rng = rng_make(test_seed(), 1);
    for (uint32_t round = 0; round < 20000; round++) {
        uint8_t bytes[40];
        for (size_t i = 0; i < sizeof bytes; i++) {
            bytes[i] = (uint8_t)(rng_u32(&rng) >> (rng_u32(&rng) % 4 * 8));
        }
        ByteReader reader = byte_reader(bytes, sizeof bytes);
        Entry entry;
        if (entry_read(&reader, &entry) == STATUS_OK) {
            uint8_t again[64];
            ByteWriter writer = byte_writer(again, sizeof again);
            entry_write(&entry, &writer);
            CHECK_INT(writer.at, reader.at);
            CHECK_BYTES(again, bytes, writer.at);
        }
    }
}

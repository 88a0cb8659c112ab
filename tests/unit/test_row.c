// Stored rows: what is written can be read, and any other bytes are rejected.
#include "core/base/rng.h"
#include "core/world/save/row.h"
#include "tests/support/test.h"

#include <string.h>

static Row read_one(const uint8_t *bytes, size_t count)
{
    ByteReader reader = byte_reader(bytes, count);
    Row row = {0};
    CHECK_OK(row_read(&reader, &row));
    CHECK_OK(byte_reader_finish(&reader));
    return row;
}

TEST(meta)
{
    uint8_t bytes[128];
    ByteWriter writer = byte_writer(bytes, sizeof bytes);
    const RowMeta meta = {.next_net_id = 70000, .next_player = 9, .tick = 5, .manifest_version = 3};
    row_put_meta(&meta, &writer);
    const Row row = read_one(bytes, writer.at);
    RowMeta got;
    CHECK_OK(row_meta(&row, &got));
    CHECK_INT(got.next_net_id, 70000);
    CHECK_INT(got.next_player, 9);
    CHECK_INT(got.tick, 5);
    CHECK_INT(got.manifest_version, 3);
    RowPlayer player;
    CHECK_INT(row_player(&row, &player), STATUS_MISMATCH);
}

TEST(players)
{
    uint8_t bytes[512];
    ByteWriter writer = byte_writer(bytes, sizeof bytes);
    RowPlayer player = {.account = 77,
                        .player = 4,
                        .entity = 99,
                        .position = {1, 2, 3},
                        .velocity = {-1, 0, 5},
                        .yaw = 1.5f,
                        .health = 80,
                        .name = text_from("ann"),
                        .team = text_from("red"),
                        .present = true};
    row_put_player(&player, &writer);
    const Row row = read_one(bytes, writer.at);
    RowPlayer got;
    CHECK_OK(row_player(&row, &got));
    CHECK_INT(got.account, 77);
    CHECK_INT(got.player, 4);
    CHECK_INT(got.entity, 99);
    CHECK(vec3_equal(got.position, player.position) && vec3_equal(got.velocity, player.velocity));
    CHECK_NEAR(got.yaw, 1.5, 0);
    CHECK(text_equal(got.name, player.name) && text_equal(got.team, player.team));
    CHECK(got.present);
    // Outside the world, or nobody.
    const struct {
        float x, health;
        uint64_t number;
    } bad[] = {{20000, 80, 4}, {1, -1, 4}, {1, 80, 0}};
    for (uint32_t i = 0; i < 3; i++) {
        player.position.x = bad[i].x;
        player.health = bad[i].health;
        player.player = bad[i].number;
        writer = byte_writer(bytes, sizeof bytes);
        row_put_player(&player, &writer);
        const Row broken = read_one(bytes, writer.at);
        CHECK_INT(row_player(&broken, &got), STATUS_RANGE);
    }
}

TEST(structures_chunks_resumes)
{
    uint8_t bytes[512];
    ByteWriter writer = byte_writer(bytes, sizeof bytes);
    const RowStructure structure = {
        .desc = {.net_id = 12, .owner_id = 3, .piece = 7, .cell = {-5, 0, 16000}, .turn = 3},
        .health = 12.5f};
    row_put_structure(&structure, &writer);
    Row row = read_one(bytes, writer.at);
    RowStructure got;
    CHECK_OK(row_structure(&row, &got));
    CHECK_INT(got.desc.net_id, 12);
    CHECK_INT(got.desc.cell.x, -5);
    CHECK_INT(got.desc.cell.z, 16000);
    CHECK_INT(got.desc.turn, 3);
    CHECK_NEAR(got.health, 12.5, 0);
    writer = byte_writer(bytes, sizeof bytes);
    row_delete_structure(12, &writer);
    const Row gone = read_one(bytes, writer.at);
    CHECK_INT(gone.key_bytes, row.key_bytes);
    CHECK_BYTES(gone.key, row.key, row.key_bytes); // the same key
    CHECK_INT(row_structure(&gone, &got), STATUS_NOT_FOUND);

    writer = byte_writer(bytes, sizeof bytes);
    const uint8_t difference[] = {9, 8, 7};
    row_put_chunk((ChunkCoord){-512, 0, 511}, difference, sizeof difference, &writer);
    row = read_one(bytes, writer.at);
    ChunkCoord at;
    const uint8_t *found = NULL;
    size_t count = 0;
    CHECK_OK(row_chunk(&row, &at, &found, &count));
    CHECK_INT(at.x, -512);
    CHECK_INT(at.z, 511);
    CHECK_INT(count, 3);
    CHECK_BYTES(found, difference, 3);
    writer = byte_writer(bytes, sizeof bytes);
    row_put_chunk((ChunkCoord){512, 0, 0}, difference, sizeof difference, &writer);
    row = read_one(bytes, writer.at);
    CHECK_INT(row_chunk(&row, &at, &found, &count), STATUS_RANGE);

    writer = byte_writer(bytes, sizeof bytes);
    RowResume resume = {.account = 5,
                        .player = 6,
                        .expires_unix_ms = 1700000000000u,
                        .roles = ROW_GUEST | ROW_DEBUG};
    memset(resume.token_hash, 0xab, sizeof resume.token_hash);
    row_put_resume(&resume, &writer);
    row = read_one(bytes, writer.at);
    RowResume back;
    CHECK_OK(row_resume(&row, &back));
    CHECK_BYTES(back.token_hash, resume.token_hash, 32);
    CHECK_INT(back.expires_unix_ms, 1700000000000u);
    CHECK_INT(back.roles, ROW_GUEST | ROW_DEBUG);
    writer = byte_writer(bytes, sizeof bytes);
    resume.roles = ROW_ROLES_ALL + 1; // a role that does not exist
    row_put_resume(&resume, &writer);
    row = read_one(bytes, writer.at);
    CHECK_INT(row_resume(&row, &back), STATUS_RANGE);
}

TEST(attributes)
{
    uint8_t attributes[256];
    ByteWriter inner = byte_writer(attributes, sizeof attributes);
    net_attributes_write_name(&inner, text_from(""));
    const NetValue value = {.type = NET_VALUE_NUMBER, .number = 4};
    net_attributes_write_one(&inner, text_from("gold"), &value);
    net_attributes_write_end(&inner);
    net_attributes_write_end(&inner);
    uint8_t bytes[512];
    for (uint32_t form = 0; form < 3; form++) {
        const bool by_name = form == 1;
        const uint64_t number = form == 2 ? ROW_SCENE_ID | UINT32_MAX : 17;
        ByteWriter writer = byte_writer(bytes, sizeof bytes);
        row_put_attributes(by_name ? text_from("Vault") : text_from(""), number, attributes,
                           inner.at, &writer);
        const Row row = read_one(bytes, writer.at);
        Text name;
        uint64_t net_id = 0;
        const uint8_t *found = NULL;
        size_t count = 0;
        CHECK_OK(row_attributes(&row, &name, &net_id, &found, &count));
        CHECK(net_id == (by_name ? 0 : number));
        CHECK(text_equal(name, by_name ? text_from("Vault") : text_from("")));
        CHECK_INT(count, inner.at);
        CHECK_BYTES(found, attributes, inner.at);
    }
    ByteWriter writer = byte_writer(bytes, sizeof bytes);
    row_put_attributes(text_from("Vault"), 0, (const uint8_t *)"\xff\xff", 2, &writer);
    const Row broken = read_one(bytes, writer.at);
    Text name;
    uint64_t net_id = 0;
    const uint8_t *found = NULL;
    size_t count = 0;
    CHECK(row_attributes(&broken, &name, &net_id, &found, &count) != STATUS_OK);
    // A key of no entity: a scene's id of 0, one that is too long, another letter.
    static const struct {
        uint8_t data[9];
        uint32_t bytes;
    } keys[] = {{"s\0\0\0\0", 5}, {"s\1\0\0\0\0", 6}, {"s\1\0\0", 4}, {"t\1\0\0\0", 5}};
    for (uint32_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
        Row row = {.type = ROW_ATTRIBUTE, .key_bytes = keys[i].bytes};
        memcpy(row.key, keys[i].data, keys[i].bytes);
        CHECK(row_attribute_key(&row, &name, &net_id) != STATUS_OK);
    }
}

static WireProfile profile(const char *id, const char *name)
{
    return (WireProfile){.character_id = text_from(id), .name = text_from(name), .body = 2};
}

TEST(profiles_and_their_repair)
{
    RowProfiles profiles = {.account = 3, .active = text_from("b"), .count = 2};
    profiles.profiles[0] = profile("default", "ann");
    profiles.profiles[1] = profile("b", "bee");
    CHECK(!row_repair(&profiles, text_from("x")));
    uint8_t bytes[4096];
    ByteWriter writer = byte_writer(bytes, sizeof bytes);
    row_put_profiles(&profiles, &writer);
    const Row row = read_one(bytes, writer.at);
    RowProfiles got;
    CHECK_OK(row_profiles(&row, &got));
    CHECK_INT(got.count, 2);
    CHECK(text_equal(got.active, text_from("b")));
    CHECK(text_equal(got.profiles[1].name, text_from("bee")));

    // Nothing at all.
    RowProfiles none = {.account = 3};
    CHECK(row_repair(&none, text_from("ann")));
    CHECK_INT(none.count, 1);
    CHECK(text_equal(none.active, text_from("default")));
    CHECK(text_equal(none.profiles[0].name, text_from("ann")));
    CHECK(!row_repair(&none, text_from("ann")));

    // Everything wrong at once, and full.
    RowProfiles bad = {.account = 3, .active = text_from("gone"), .count = PROFILES_MAX};
    static char ids[PROFILES_MAX][3];
    for (uint32_t i = 0; i < PROFILES_MAX; i++) {
        ids[i][0] = 'c';
        ids[i][1] = (char)('a' + (int)i);
        bad.profiles[i] = profile(ids[i], i == 3 ? "\n" : "ok");
    }
    CHECK(row_repair(&bad, text_from("\x01")));
    CHECK_INT(bad.count, PROFILES_MAX);
    CHECK(text_equal(bad.profiles[0].character_id, text_from("default")));
    CHECK(text_equal(bad.profiles[4].name, text_from("Player")));
    CHECK(text_equal(bad.active, text_from("default")));
    bad.profiles[5] = bad.profiles[4];
    bad.profiles[6] = profile("no spaces", "x");
    CHECK(row_repair(&bad, text_from("x")));
    CHECK_INT(bad.count, PROFILES_MAX - 2);
}

// Whatever is changed in a row, reading it ends in a row that makes sense or in a status.
TEST(changed_bytes)
{
    Rng rng = rng_make(test_seed(), 1);
    RowProfiles profiles = {.account = 3};
    (void)row_repair(&profiles, text_from("ann"));
    uint8_t bytes[1024], changed[1024];
    ByteWriter writer = byte_writer(bytes, sizeof bytes);
    row_put_profiles(&profiles, &writer);
    for (uint32_t i = 0; i < 20000; i++) {
        memcpy(changed, bytes, writer.at);
        const uint32_t at = rng_below(&rng, (uint32_t)writer.at);
        changed[at] = (uint8_t)rng_below(&rng, 256);
        const size_t count =
            rng_below(&rng, 4) == 0 ? rng_below(&rng, (uint32_t)writer.at + 1) : writer.at;
        ByteReader reader = byte_reader(changed, count);
        Row row;
        RowProfiles got;
        if (row_read(&reader, &row) == STATUS_OK && row_profiles(&row, &got) == STATUS_OK) {
            (void)row_repair(&got, text_from("ann"));
            CHECK(got.count >= 1 && got.count <= PROFILES_MAX);
            CHECK(!row_repair(&got, text_from("ann")));
        }
    }
}

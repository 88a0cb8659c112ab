// Which world somebody gets, who is kept out, slots that tickets keep, and what a world may say.
#include "server/host/host_inside.h"

#include "core/world/save/row.h"
#include "tests/support/test.h"
#include "tests/unit/store_fixture.h"

#include <stdio.h>

#define BANNED 7

typedef struct WorldsFixture {
    StoreFixture store;
    SigningKey key;
    Host *host;
    HostPlace *place;
    HostLink link;
    uint64_t now_ms;
    HostJoinAnswer answer; // the last one
    uint32_t answers;
} WorldsFixture;

static WorldsFixture fixture;
static Entry told; // the last entry that a world was sent
static char told_name[64], told_text[256];

static Status fake_put(HostLink *link, ChannelType type, const void *bytes, size_t count,
                       int descriptor)
{
    (void)link, (void)descriptor;
    ByteReader reader = byte_reader(bytes, count);
    if (type == CHANNEL_ENTRY && entry_read(&reader, &told) == STATUS_OK) {
        snprintf(told_name, sizeof told_name, "%.*s", (int)told.name_bytes, told.name);
        snprintf(told_text, sizeof told_text, "%.*s", (int)told.byte_count,
                 (const char *)told.bytes);
    }
    return STATUS_OK;
}

static void fake_nothing(HostLink *link)
{
    (void)link;
}

static const HostLinkFace face = {.put = fake_put,
                                  .flush = fake_nothing,
                                  .close = fake_nothing,
                                  .kill = fake_nothing,
                                  .free = fake_nothing};

static uint64_t fake_now(void *user)
{
    (void)user;
    return fixture.now_ms * HOST_MS_NS;
}

static uint64_t fake_unix(void *user)
{
    (void)user;
    return fixture.now_ms;
}

static void fake_log(void *user, LogLevel level, const char *area, const char *text)
{
    (void)user, (void)level, (void)area, (void)text;
}

static void fake_random(void *user, void *out, size_t bytes)
{
    static uint8_t next;
    (void)user;
    for (size_t i = 0; i < bytes; i++) {
        ((uint8_t *)out)[i] = ++next;
    }
}

static void fake_joined(void *user, uint64_t tag, const HostJoinAnswer *answer)
{
    (void)user, (void)tag;
    fixture.answer = *answer;
    fixture.answers += 1;
}

static void fake_rules(void *user, uint64_t account, const char *world_id, HostRules *out)
{
    (void)user, (void)world_id;
    if (account == BANNED) {
        out->banned_until_unix_ms = 1000000000;
        snprintf(out->ban_reason, sizeof out->ban_reason, "spam");
    }
}

static HostWorld *add_world(const char *world_id, const char *code, bool runs)
{
    HostWorld *world = NULL;
    StoreWorld row = {.created_unix_ms = 1};
    snprintf(row.world_id, sizeof row.world_id, "%s", world_id);
    snprintf(row.room_code, sizeof row.room_code, "%s", code);
    snprintf(row.place_id, sizeof row.place_id, "island");
    CHECK_OK(host_add_world(fixture.host, &row, &world));
    if (runs) {
        world->epoch = 1;
        world->state = WORLD_RUNNING;
        world->wanted = true;
        world->link = &fixture.link;
        fixture.host->is_busy[world->number] = true;
    }
    return world;
}

static void begin(uint32_t world_max, uint32_t player_max)
{
    fixture = (WorldsFixture){.link = {&face}, .now_ms = 1000000};
    CHECK(fixture_begin(&fixture.store));
    char path[512];
    snprintf(path, sizeof path, "%s.key", fixture.store.path);
    CHECK_OK(signing_key_open(path, &fixture.key));
    (void)remove(path);
    const HostConfig config = {.outside = {.now_ns = fake_now,
                                           .unix_ms = fake_unix,
                                           .log = fake_log,
                                           .random = fake_random,
                                           .joined = fake_joined,
                                           .rules = fake_rules},
                               .store = fixture.store.store,
                               .key = &fixture.key,
                               .account_profiles = true,
                               .world_max = world_max};
    CHECK_OK(host_create(&config, &fixture.host));
    fixture.place = calloc(1, sizeof *fixture.place);
    REQUIRE(fixture.place != NULL);
    snprintf(fixture.place->place_id, sizeof fixture.place->place_id, "island");
    fixture.place->numbers.player_max = player_max;
    host_add_place(fixture.host, fixture.place);
}

static void end(void)
{
    host_destroy(fixture.host);
    fixture_end(&fixture.store);
}

static HostRefusal join(const char *world, uint64_t account)
{
    HostJoin wish = {.tag = 1, .who = {.account = account, .name = "bo"}};
    const uint32_t before = fixture.answers;
    snprintf(wish.world, sizeof wish.world, "%s", world);
    host_join(fixture.host, &wish);
    return fixture.answers > before ? fixture.answer.refusal : REFUSED_COUNT; // it waits
}

TEST(a_banned_player_is_kept_out_at_every_door)
{
    begin(4, 8);
    HostWorld *world = add_world("world_a", "AAAAAA", true);
    CHECK_INT(join("world_a", BANNED), REFUSED_BANNED);
    CHECK_TEXT(fixture.answer.rules.ban_reason, "spam");
    CHECK_INT(join("", BANNED), REFUSED_BANNED);
    CHECK_INT(host_world_count(fixture.host), 1); // nothing was made for them
    CHECK_INT(join("world_a", 8), REFUSED_NOT);
    CHECK(hosted_refuse_banned(world, 5, BANNED)); // by a ticket or a sign-in
    CHECK_INT(told.type, ENTRY_AUTH);
    CHECK_TEXT(told_name, "banned");
    CHECK(strstr(told_text, "spam") != NULL);
    CHECK(!hosted_refuse_banned(world, 6, 8));
    hosted_tell_rules(world, 0, BANNED); // by a resume token
    CHECK_TEXT(told_name, "remove");
    end();
}

TEST(an_empty_world_gives_way_and_an_abandoned_ticket_holds_no_slot)
{
    begin(1, 1);
    HostWorld *first = add_world("world_a", "AAAAAA", true);
    HostWorld *second = add_world("world_b", "BBBBBB", false);
    CHECK_INT(join("world_a", 1), REFUSED_NOT);
    CHECK_INT(hosted_invited(first), 1);
    CHECK_INT(join("aaaaaa", 2), REFUSED_WORLD_FULL);
    CHECK_INT(join("world_b", 2), REFUSED_FULL); // somebody is on the way into the other one
    fixture.now_ms += 20000;
    CHECK_INT(join("world_a", 2), REFUSED_WORLD_FULL);
    fixture.now_ms += 12000; // nobody came
    CHECK_INT(hosted_invited(first), 0);
    CHECK_INT(join("world_a", 2), REFUSED_NOT);
    fixture.now_ms += 32000;
    first->empty_ns = 1;
    CHECK_INT(join("world_b", 3), REFUSED_COUNT);
    CHECK(first->gives_way && first->state == WORLD_STOPPING && second->wanted);
    end();
}

TEST(a_world_speaks_of_those_who_are_in_it)
{
    begin(4, 8);
    HostWorld *world = add_world("world_a", "AAAAAA", true);
    uint8_t bytes[1024];
    ByteWriter writer = byte_writer(bytes, sizeof bytes);
    RowProfiles profiles = {.account = 5, .active = {"default", 7}, .count = 1};
    profiles.profiles[0] = (WireProfile){.character_id = {"default", 7}, .name = {"Ann", 3}};
    row_put_meta(&(RowMeta){.next_net_id = 1, .next_player = 1}, &writer);
    row_put_profiles(&profiles, &writer);
    const size_t good = writer.at;
    profiles.account = 6;
    row_put_profiles(&profiles, &writer);
    host_account_note(world, 5);
    CHECK_INT(hosted_filter_profiles(world, bytes, writer.at), good);
    CHECK_INT(host_counts(fixture.host)->profiles_refused, 1);
    end();
}

TEST(private_worlds_are_for_those_who_know_or_are_invited)
{
    begin(4, 8);
    HostWorld *world = add_world("world_a", "SECRETCODE", true);
    world->row.is_private = true;
    world->row.owner_id = 1;
    CHECK_INT(join("world_a", 2), REFUSED_FORBIDDEN);
    CHECK_INT(join("secretcode", 2), REFUSED_NOT);
    CHECK_INT(join("world_a", 1), REFUSED_NOT);
    CHECK_OK(host_world_invite(world, 2, true));
    CHECK_INT(join("world_a", 2), REFUSED_NOT);
    CHECK_OK(host_world_invite(world, 2, false));
    CHECK_INT(join("world_a", 2), REFUSED_FORBIDDEN);
    CHECK_INT(join("world_z", 2), REFUSED_NO_WORLD);
    end();
}

TEST(worlds_are_found_and_listed_in_order)
{
    begin(4, 8);
    char id[32], code[17];
    for (uint32_t i = 0; i < 300; i++) {
        snprintf(id, sizeof id, "w%03u", (i * 7) % 300);
        snprintf(code, sizeof code, "C%03u", (i * 11) % 300);
        (void)add_world(id, code, false);
    }
    uint32_t seen = 0;
    for (uint32_t at = host_world_after(fixture.host, ""); at != UINT32_MAX;
         at = host_world_next(fixture.host, at)) {
        snprintf(id, sizeof id, "w%03u", seen++);
        CHECK_TEXT(host_world_in_order(fixture.host, at)->row.world_id, id);
    }
    CHECK_INT(seen, 300);
    HostWorld *gone = host_world(fixture.host, "w123");
    REQUIRE(gone != NULL);
    CHECK(host_world(fixture.host, gone->row.room_code) == gone);
    host_world_forget(gone);
    CHECK(host_world(fixture.host, "w123") == NULL);
    const uint32_t after = host_world_after(fixture.host, "w122");
    CHECK_TEXT(host_world_in_order(fixture.host, after)->row.world_id, "w124");
    CHECK(host_world(fixture.host, "") == NULL);
    end();
}

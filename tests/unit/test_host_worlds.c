// Which world somebody gets, who is kept out, slots that tickets keep, and what a world may say.
#include "server/host/host_inside.h"

#include "core/world/save/row.h"
#include "server/store/store_inside.h"
#include "server/sys/clock.h"
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

static uint32_t flushes;

static void fake_flush(HostLink *link)
{
    (void)link;
    flushes += 1;
}

static bool fake_has_ended(HostLink *link, int *code)
{
    (void)link, (void)code;
    return false;
}

static void fake_nothing(HostLink *link)
{
    (void)link;
}

static const HostLinkFace face = {.put = fake_put,
                                  .flush = fake_flush,
                                  .has_ended = fake_has_ended,
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

static uint32_t rows_ended; // as logged

static void fake_log(void *user, LogLevel level, const char *area, const char *text)
{
    (void)user, (void)level, (void)area;
    rows_ended += strstr(text, "its row is ended") != NULL;
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
        fixture.host->look_ns[world->number] = 0;
    }
    return world;
}

static void begin(uint32_t world_max, uint32_t player_max)
{
    fixture = (WorldsFixture){.link = {&face}, .now_ms = 1000000};
    CHECK(fixture_begin(&fixture.store));
    char path[sizeof fixture.store.path + 8];
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

TEST(a_ticket_from_before_a_removal_is_good_no_more)
{
    begin(4, 8);
    HostWorld *world = add_world("world_a", "AAAAAA", true);
    HostWorld *other = add_world("world_b", "BBBBBB", true);
    const uint64_t given = host_unix_ms(fixture.host);
    CHECK_INT(join("world_a", 8), REFUSED_NOT);
    fixture.now_ms += 10;
    (void)host_kick(fixture.host, 8, "aaaaaa", "go");
    CHECK(hosted_has_ended(world, 8, given));
    CHECK(!hosted_has_ended(other, 8, given) && !hosted_has_ended(world, 9, given));
    CHECK(!hosted_take_given(world, 8)); // by the sign-in of who got it
    const Ticket ticket = {.account = 8, .name = "bo", .expires_unix_ms = given + TICKET_MS};
    const uint64_t refused = host_counts(fixture.host)->tickets_refused;
    hosted_send_auth(world, 5, &ticket, NULL, 0); // who waited for their characters meanwhile
    CHECK_INT(told.type, ENTRY_AUTH);
    CHECK_INT(told.flags & ENTRY_OK, 0);
    CHECK_INT(host_counts(fixture.host)->tickets_refused, refused + 1);
    fixture.now_ms += 10;
    CHECK(!hosted_has_ended(world, 8, host_unix_ms(fixture.host)));
    CHECK_INT(join("world_a", 8), REFUSED_NOT);
    CHECK(hosted_take_given(world, 8));
    (void)host_kick(fixture.host, 9, "", "go");
    CHECK(hosted_has_ended(world, 9, given) && hosted_has_ended(other, 9, given));
    end();
}

TEST(who_is_removed_while_a_join_waits_gets_no_ticket)
{
    begin(4, 8);
    HostWorld *world = add_world("world_a", "AAAAAA", false);
    CHECK_INT(join("world_a", 8), REFUSED_COUNT);
    CHECK_INT(join("world_a", 9), REFUSED_COUNT);
    fixture.now_ms += 10;
    (void)host_kick_from_place(fixture.host, 8, world->row.place_id, "go");
    fixture.now_ms += 10;
    const uint64_t tickets = host_counts(fixture.host)->tickets_given;
    host_joins_answer(world);
    CHECK_INT(host_counts(fixture.host)->tickets_given, tickets + 1);
    CHECK_INT(host_counts(fixture.host)->joins_refused[REFUSED_FORBIDDEN], 1);
    end();
}

TEST(however_many_are_removed_none_of_them_is_forgotten)
{
    begin(4, 8);
    HostWorld *world = add_world("world_a", "AAAAAA", true);
    const uint64_t given = host_unix_ms(fixture.host);
    for (uint64_t account = 1; account <= 2 * HOST_ENDED_SLOTS; account++) {
        host_end_tickets(fixture.host, account, "world_a");
    }
    uint32_t slipped = 0;
    for (uint64_t account = 1; account <= 2 * HOST_ENDED_SLOTS; account++) {
        slipped += !hosted_has_ended(world, account, given);
    }
    CHECK_INT(slipped, 0);
    fixture.now_ms += TICKET_MS + HOST_JOIN_MS; // and then nobody has a ticket that is so old
    CHECK(!hosted_has_ended(world, 1, given));
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

static uint32_t flushes_of(uint32_t steps)
{
    const uint32_t before = flushes;
    for (uint32_t i = 0; i < steps; i++) {
        fixture.now_ms += HOST_STEP_MS;
        host_step(fixture.host);
    }
    return flushes - before;
}

TEST(a_paused_world_is_looked_after_seldom_until_something_happens)
{
    begin(4, 8);
    HostWorld *world = add_world("world_a", "AAAAAA", true);
    CHECK_INT(flushes_of(50), 50);
    world->stats.paused = 1;
    const uint32_t count = flushes_of(51);
    CHECK(count >= 5 && count <= 6);
    (void)flushes_of(1);
    hosted_send_entry(world, &(Entry){.type = ENTRY_DISCONNECT, .connection = 1});
    CHECK_INT(flushes_of(1), 1); // and is told at once
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

// --- places that come and go --------------------------------------------------------------------

static HostPlace *make_place(const char *place_id, uint8_t scene)
{
    HostPlace *place = calloc(1, sizeof *place);
    ASSERT(place != NULL);
    snprintf(place->place_id, sizeof place->place_id, "%s", place_id);
    place->scene_hash[0] = scene;
    place->numbers.player_max = 8;
    return place;
}

static HostRefusal join_place(const char *place, uint64_t account)
{
    HostJoin wish = {.tag = 1, .who = {.account = account, .name = "bo"}};
    const uint32_t before = fixture.answers;
    snprintf(wish.place, sizeof wish.place, "%s", place);
    host_join(fixture.host, &wish);
    return fixture.answers > before ? fixture.answer.refusal : REFUSED_COUNT; // it waits
}

// Its process has ended, and all that it had saved is stored.
static void end_process(HostWorld *world)
{
    world->link = NULL;
    world->stats.sessions = 0;
    world->wanted = false;
    world->state = WORLD_STOPPED;
    hosted_renew_place(world);
}

TEST(a_new_revision_leaves_running_worlds_as_they_are)
{
    begin(8, 8);
    HostWorld *open = add_world("world_a", "AAAAAA", true);
    HostWorld *named = add_world("world_b", "BBBBBB", true);
    HostWorld *stopped = add_world("world_c", "CCCCCC", false);
    named->row.is_named = true;
    open->stats.sessions = open->stats.players = 1;
    named->stats.sessions = named->stats.players = 1;
    CHECK_INT(join_place("island", 1), REFUSED_NOT);
    CHECK(fixture.answer.world == open || fixture.answer.world == named);
    HostPlace *second = make_place("island", 2);
    host_add_place(fixture.host, second);
    CHECK_INT(host_place_count(fixture.host), 1);
    CHECK(host_place(fixture.host, "island") == second && host_place(fixture.host, "") == second);
    CHECK(open->place == fixture.place && named->place == fixture.place);
    CHECK(stopped->place == second && host_world_has_other_place(stopped));
    CHECK(!host_world_has_other_place(open));
    // Who asks for the place gets the new one, who names a world that runs gets that.
    CHECK_INT(join_place("island", 2), REFUSED_COUNT);
    CHECK(stopped->wanted && stopped->waiting == 1);
    CHECK_INT(join("AAAAAA", 3), REFUSED_NOT);
    CHECK(fixture.answer.world == open);
    // An old one ends once it is empty, a named one stays, and both begin again with the new place.
    fixture.now_ms += 60000;
    open->stats.sessions = open->stats.players = 0;
    open->admitted[0] = open->admitted[1] = 0;
    named->stats.sessions = named->stats.players = 0;
    hosted_step(open);
    hosted_step(named);
    CHECK_INT(open->state, WORLD_RUNNING);
    fixture.now_ms += 11000;
    hosted_step(open);
    hosted_step(named);
    CHECK_INT(open->state, WORLD_STOPPING);
    CHECK_TEXT(told_name, "stop");
    CHECK_INT(named->state, WORLD_RUNNING);
    second->use_count = fixture.place->use_count = 0;
    host_count_uses(fixture.host);
    CHECK_INT(fixture.place->use_count, 2);
    CHECK_INT(second->use_count, 1);
    end_process(open);
    CHECK(open->place == second && host_world_has_other_place(open));
    end_process(named); // the last one that used the first revision: it is freed
    CHECK(named->place == second);
    end();
}

static void fake_ask(void *user, const StoreHost *peer, const HostPeerAsk *ask)
{
    (void)user, (void)peer, (void)ask;
}

// After an outage worlds of others are left alone for 6 s of a lease of 30 s.
TEST(only_a_world_of_its_own_begins_again_right_after_an_outage)
{
    begin(8, 8);
    Host *host = fixture.host;
    host->config.outside.peer_ask = fake_ask;
    host->config.lease_ms = 30000;
    snprintf(host->config.host_id, sizeof host->config.host_id, "host0");
    host->has_row = host->peers_known = true;
    host->peer_count = 1;
    host->writable_ns = host->renewed_ns = host_now(host);
    HostWorld *own = add_world("world_a", "AAAAAA", false);
    HostWorld *fenced = add_world("world_b", "BBBBBB", false);
    HostWorld *other = add_world("world_c", "CCCCCC", false);
    HostWorld *all[] = {own, fenced, other};
    own->has_lease = fenced->has_lease = fenced->fenced = true;
    for (uint32_t i = 0; i < 3; i++) {
        all[i]->wanted = true;
        all[i]->state = WORLD_WAITING;
        all[i]->deadline_ns = 1;
        hosted_step(all[i]);
    }
    CHECK_INT(own->state, WORLD_TAKING);
    CHECK_INT(fenced->state, WORLD_WAITING);
    CHECK_INT(other->state, WORLD_WAITING);
    fixture.now_ms += 6001;
    hosted_step(other);
    CHECK_INT(other->state, WORLD_TAKING);
    host->peer_count = 0;
    end();
}

static void set_disk(StoreDisk disk)
{
    Store *store = fixture.store.store;
    pthread_mutex_lock(&store->lock);
    store->stats.disk = disk;
    pthread_mutex_unlock(&store->lock);
}

static void refuse_take(HostWorld *world, StoreDisk disk)
{
    CHECK_INT(world->state, WORLD_TAKING);
    set_disk(disk);
    hosted_answer(world, TAG_TAKE, &(StoreCompletion){.status = STATUS_BLOCKED});
    CHECK_INT(world->state, WORLD_WAITING);
    fixture.now_ms += 600;
    hosted_step(world);
}

// What it saved waits for the database, and it begins again as soon as that is back.
TEST(a_world_that_ends_while_the_database_is_away_loses_no_save)
{
    begin(8, 8);
    Host *host = fixture.host;
    snprintf(host->config.host_id, sizeof host->config.host_id, "host0");
    host->has_row = true;
    HostWorld *world = add_world("world_a", "AAAAAA", false);
    world->epoch = 1;
    world->has_lease = world->wanted = true;
    world->saves.count = 1;
    world->saves.seq = 1;
    world->saves.all[0] = (HostSave){.state = SAVE_SENT, .seq = 1};
    world->state = WORLD_DRAINING;
    world->deadline_ns = host_now(host) + 3 * HOST_SECOND_NS;
    set_disk(STORE_DISK_AWAY);
    fixture.now_ms += 10000;
    hosted_step(world);
    CHECK_INT(world->state, WORLD_DRAINING);
    CHECK_INT(host->counts.saves_lost, 0);
    set_disk(STORE_DISK_FINE);
    hosted_save_answer(world, 0, &(StoreCompletion){.status = STATUS_OK});
    hosted_step(world);
    refuse_take(world, STORE_DISK_AWAY);
    refuse_take(world, STORE_DISK_FULL);
    CHECK_INT(world->state, WORLD_WAITING); // a disk of its own is asked seldom
    fixture.now_ms += 5000;
    hosted_step(world);
    CHECK_INT(world->state, WORLD_TAKING);
    // On a disk that is full nothing waits for ever.
    world->state = WORLD_DRAINING;
    world->deadline_ns = host_now(host);
    world->saves.count = 1;
    world->saves.all[world->saves.first] = (HostSave){.state = SAVE_SENT, .seq = 1};
    hosted_step(world);
    CHECK_INT(host->counts.saves_lost, 1);
    end();
}

// Somebody restores the database while the host runs.
TEST(a_world_of_a_database_that_was_set_back_is_taken_again)
{
    begin(8, 8);
    HostWorld *world = add_world("world_a", "AAAAAA", false);
    world->epoch = 7;
    world->wanted = true;
    for (uint64_t epoch = 6; epoch <= 7; epoch++) {
        world->state = WORLD_TAKING;
        const StoreCompletion done = {.status = STATUS_OK, .epoch = epoch};
        hosted_answer(world, TAG_TAKE, &done);
        CHECK_INT(world->state, WORLD_WAITING);
        CHECK(!world->has_lease);
        CHECK_INT(world->epoch, 7);
    }
    end();
}

// What a probe of that peer is answered.
static void answer_probe(Host *host, HostRefusal refusal)
{
    HostAsk *ask = &host->asks[0];
    *ask = (HostAsk){.is_open = true, .kind = PEER_PROBE, .tag = 1u << 16};
    memcpy(ask->boot, host->peers[0].row.boot, sizeof ask->boot);
    HostPeerAnswer answer = {.result = PEER_ANSWERED, .refusal = refusal};
    memcpy(answer.boot, ask->boot, sizeof answer.boot);
    host_peer_answer(host, ask->tag, &answer);
}

// It is tried again with each probe while the database is away, and said once.
TEST(the_end_of_a_peers_row_is_logged_once)
{
    begin(8, 8);
    Host *host = fixture.host;
    host->config.outside.peer_ask = fake_ask;
    host->has_row = host->peers_known = true;
    host->peers = calloc(1, sizeof *host->peers);
    ASSERT(host->peers != NULL);
    host->peer_count = 1;
    snprintf(host->peers[0].row.host_id, sizeof host->peers[0].row.host_id, "host1");
    host->peers[0].row.boot[0] = 1;
    rows_ended = 0;
    for (int i = 0; i < 3; i++) {
        answer_probe(host, REFUSED_ENDING);
    }
    CHECK_INT(rows_ended, 1);
    CHECK_INT(host->counts.peers_ended, 3);
    answer_probe(host, REFUSED_NOT);
    answer_probe(host, REFUSED_ENDING);
    CHECK_INT(rows_ended, 2);
    host->peer_count = 0;
    end();
}

// Nobody is in it, as when a creator looks at the terminal alone: a reload in place stays one.
TEST(an_empty_world_that_takes_new_scripts_does_not_start_again)
{
    begin(1, 8);
    fixture.host->config.one_world = true;
    HostWorld *world = add_world("world_a", "AAAAAA", true);
    hosted_step(world);
    fixture.now_ms += 60000;
    hosted_step(world); // for a minute nobody has been in it
    HostPlace *second = make_place("island", 2);
    host_add_place(fixture.host, second);
    world->reload.place = host_place_hold(second); // on its way
    world->reload.is_sent = true;
    world->reload.deadline_ns = UINT64_MAX;
    hosted_step(world);
    CHECK_INT(world->state, WORLD_RUNNING);
    // Had it been refused, the world would run what was replaced: then it starts again.
    world->reload.place = NULL;
    host_place_release(second);
    hosted_step(world);
    CHECK_INT(world->state, WORLD_STOPPING);
    CHECK(world->wanted);
    end_process(world);
    end();
}

TEST(a_place_that_is_removed_takes_its_worlds_along)
{
    begin(8, 8);
    host_add_place(fixture.host, make_place("other", 1));
    HostWorld *world = add_world("world_a", "AAAAAA", true);
    HostWorld *waited = add_world("world_b", "BBBBBB", false);
    world->stats.sessions = 1;
    CHECK_INT(join("BBBBBB", 1), REFUSED_COUNT);
    host_remove_place(fixture.host, "island", "the place was removed");
    CHECK_INT(fixture.answer.refusal, REFUSED_NO_PLACE); // who waited is told
    CHECK_INT(waited->waiting, 0);
    CHECK(!waited->wanted && waited->place == NULL);
    CHECK_TEXT(told_name, "stop");
    CHECK_TEXT(told_text, "the place was removed");
    CHECK(world->place == fixture.place); // until its process has ended
    CHECK_INT(join("AAAAAA", 1), REFUSED_NO_WORLD);
    CHECK(!world->wanted);
    CHECK_INT(join_place("island", 1), REFUSED_NO_PLACE);
    CHECK_INT(join_place("", 1), REFUSED_NO_PLACE); // it was the default place
    CHECK_INT(join("BBBBBB", 1), REFUSED_NO_WORLD);
    end_process(world);
    CHECK(world->place == NULL);
    CHECK_INT(join("AAAAAA", 1), REFUSED_NO_WORLD);
    host_remove_place(fixture.host, "island", NULL); // once more is no error
    host_add_place(fixture.host, make_place("island", 1));
    CHECK(world->place != NULL && waited->place == world->place);
    CHECK_INT(join("AAAAAA", 1), REFUSED_COUNT); // it starts
    end();
}

TEST(a_place_goes_while_a_world_of_it_is_made)
{
    begin(8, 8);
    CHECK_INT(join_place("island", 1), REFUSED_COUNT);
    HostWorld *made = host_world_at(fixture.host, 0);
    CHECK_INT(made->state, WORLD_MAKING);
    host_remove_place(fixture.host, "island", "the place was removed");
    CHECK_INT(fixture.answer.refusal, REFUSED_NO_PLACE);
    for (uint32_t i = 0; i < 200 && made->state == WORLD_MAKING; i++) {
        clock_sleep_until(clock_ns() + 10 * HOST_MS_NS);
        fixture.now_ms += 10;
        host_step(fixture.host);
    }
    CHECK_INT(made->state, WORLD_STOPPED);
    CHECK(!made->wanted && made->place == NULL);
    end();
}

// --- evidence -----------------------------------------------------------------------------------

static void hear_line(HostWorld *world, uint64_t account, const char *text)
{
    hosted_heard(world, &(ChannelReport){.account = account,
                                         .heard = HEARD_SAID,
                                         .bytes = (const uint8_t *)text,
                                         .byte_count = strlen(text)});
}

typedef struct Lines {
    uint32_t count, known;
    size_t bytes;
    char first[8], last[8];
} Lines;

static void take_heard(void *user, const HostHeard *heard)
{
    Lines *lines = user;
    char *to = lines->count == 0 ? lines->first : lines->last;
    const size_t bytes = heard->text.bytes < 7 ? heard->text.bytes : 7;
    memcpy(to, heard->text.data, bytes);
    to[bytes] = '\0';
    lines->count += 1;
    lines->known += heard->is_known;
    lines->bytes += heard->text.bytes;
}

static Lines lines_of(HostWorld *world)
{
    Lines lines = {0};
    host_evidence(world, take_heard, &lines);
    return lines;
}

TEST(evidence_is_bounded_and_forgets)
{
    static char long_line[CHAT_BYTES_MAX + 1];
    begin(4, 8);
    HostWorld *world = add_world("world_a", "AAAAAA", true);
    HostWorld *other = add_world("world_b", "BBBBBB", true);
    host_account_note(world, 5);
    hear_line(world, 5, "one");
    hear_line(world, 6, "two\x1b"); // the world says so; nobody has let them in
    Lines lines = lines_of(world);
    CHECK(lines.count == 2 && lines.known == 1 && strcmp(lines.last, "two") == 0);
    CHECK_INT(lines_of(other).count, 0);
    fixture.now_ms += EVIDENCE_MS / 2;
    hear_line(world, 5, "three");
    fixture.now_ms += EVIDENCE_MS / 2 + 1;
    lines = lines_of(world);
    CHECK(lines.count == 1 && strcmp(lines.first, "three") == 0);
    memset(long_line, 'x', CHAT_BYTES_MAX);
    for (uint32_t i = 0; i < 4000; i++) {
        hear_line(world, 5, long_line);
    }
    hear_line(world, 5, "last");
    lines = lines_of(world);
    CHECK(lines.bytes <= EVIDENCE_BYTES_MAX && lines.bytes > EVIDENCE_BYTES_MAX / 2);
    CHECK_TEXT(lines.last, "last");
    CHECK_INT(fixture.host->evidence_bytes, EVIDENCE_BYTES_MAX);
    fixture.now_ms += 2 * EVIDENCE_MS;
    host_evidence_step(fixture.host);
    CHECK(world->evidence == NULL && fixture.host->evidence_bytes == 0);
    end();
}

static uint32_t reports_heard;
static void fake_reported(void *user, HostWorld *world, const HostReport *report)
{
    (void)user, (void)world;
    reports_heard += report->reporter == 5 && report->account == 9 &&
                     text_is(report->reason, "spam") && text_is(report->text, "a b");
}

static void say_report(HostWorld *world, uint64_t reporter, const char *text)
{
    hosted_reported(world, &(ChannelReport){.account = reporter,
                                            .other = 9,
                                            .bytes = (const uint8_t *)text,
                                            .byte_count = strlen(text)});
}

TEST(a_world_reports_for_those_who_are_in_it)
{
    begin(4, 8);
    HostWorld *world = add_world("world_a", "AAAAAA", true);
    fixture.host->config.outside.reported = fake_reported;
    host_account_note(world, 5);
    reports_heard = 0;
    say_report(world, 5, "spam\na\nb");
    CHECK_INT(reports_heard, 1);
    say_report(world, 6, "spam\na\nb"); // not here
    say_report(world, 5, "envy\na\nb"); // no reason
    say_report(world, 5, "spam");
    say_report(world, 5, "");
    CHECK_INT(reports_heard, 1);
    CHECK_INT(host_counts(fixture.host)->reports_refused, 4);
    end();
}

static uint64_t starved_ns;

static uint64_t fake_starved(HostLink *link)
{
    (void)link;
    return starved_ns;
}

// How many looks, a tenth of a second apart, until a world that says nothing is ended.
static uint32_t looks_until_ended(uint64_t starved_ms_per_look)
{
    HostLinkFace of_one = face;
    of_one.starved_ns = fake_starved;
    begin(4, 8);
    fixture.link.face = &of_one;
    HostWorld *world = add_world("world_a", "AAAAAA", true);
    world->looked_ns = fake_now(NULL);
    uint32_t looks = 0;
    for (; world->state == WORLD_RUNNING && looks < 10000; looks++) {
        fixture.now_ms += 100;
        starved_ns += starved_ms_per_look * HOST_MS_NS;
        hosted_watch(world);
    }
    CHECK_INT(fixture.host->counts.kills, 1);
    end();
    return looks;
}

TEST(a_world_that_gets_no_processor_is_not_stuck)
{
    const uint32_t stuck = looks_until_ended(0);
    CHECK(looks_until_ended(1) <= stuck + 1);
    CHECK(looks_until_ended(50) > stuck * 13 / 10); // of the second half, half does not count
    CHECK(looks_until_ended(100) > stuck * 9);
    CHECK(looks_until_ended(100) <= stuck * 10); // not for ever
}

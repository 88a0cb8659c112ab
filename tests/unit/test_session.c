// Sessions: who may join and how, who stays, and how each kind of end looks from both sides.
#include "core/base/limits.h"
#include "tests/unit/world_fixture.h"

#include "core/base/utf8.h"
#include "tests/support/test.h"

#include <stdio.h>
#include <string.h>

static Heard hear(Fixture *fixture, uint64_t connection)
{
    Heard heard = {0};
    fixture_hear(fixture, connection, NULL, &heard);
    return heard;
}

static uint64_t account_of_session(const Fixture *fixture, uint64_t connection)
{
    const Session *session = session_of_connection(fixture->world->sessions, connection);
    return session != NULL ? session->account : 0;
}

TEST(welcome_says_everything)
{
    Fixture fixture;
    fixture_open(&fixture);
    fixture_join(&fixture, 11, "ann");
    Heard heard = {0};
    fixture_hear(&fixture, 11, NULL, &heard);
    CHECK_INT(heard.welcomes, 1);
    CHECK_INT(heard.welcome.player, account_of_session(&fixture, 11)); // UserId, everywhere
    CHECK(heard.welcome.player <= SIM_NET_ID_MAX);
    CHECK_INT(heard.welcome.tick_rate, 60);
    CHECK_INT(heard.welcome.snapshot_rate, 20);
    CHECK_INT(heard.welcome.scene_bytes, 64);
    CHECK_INT(strlen(heard.token), 32);
    CHECK(!heard.welcome.resumed);
    uint64_t player = 0;
    uint64_t entity = 0;
    CHECK(world_player(fixture.world, 11, &player, &entity));
    CHECK_INT(heard.welcome.entity_id, entity);
    const Entity *body = sim_entity(world_sim(fixture.world), sim_find(fixture.world->sim, entity));
    REQUIRE(body != NULL);
    CHECK_INT(body->owner_id, player);
    CHECK_NEAR(body->position.x, 5, 0.01);
    fixture_close(&fixture);
}

TEST(handshake_comes_first)
{
    Fixture fixture;
    fixture_open(&fixture);
    CHECK_OK(fixture_connect(&fixture, 1, false));
    CHECK_OK(fixture_send(&fixture, 1, MESSAGE_PING, &(MessagePing){.nonce = 1}));
    fixture_tick(&fixture, 1);
    CHECK(!fixture_is_closing(&fixture, 1)); // its output is not taken yet
    const Heard heard = hear(&fixture, 1);
    CHECK_TEXT(heard.code, "handshake_first");
    CHECK(heard.fatal);
    CHECK(fixture_is_closing(&fixture, 1));
    CHECK(!fixture_is_closing(&fixture, 1)); // once
    CHECK_INT(fixture_send(&fixture, 1, MESSAGE_PING, &(MessagePing){0}), STATUS_NOT_FOUND);
    CHECK_OK(fixture_disconnect(&fixture, 1));
    CHECK_INT(fixture_disconnect(&fixture, 1), STATUS_NOT_FOUND);
    CHECK_INT(world_stats(fixture.world).sessions, 0);
    fixture_close(&fixture);
}

TEST(a_wrong_version_is_refused)
{
    Fixture fixture;
    fixture_open(&fixture);
    CHECK_OK(fixture_connect(&fixture, 1, false));
    CHECK_OK(fixture_send(&fixture, 1, MESSAGE_HANDSHAKE, &(MessageHandshake){.version = 1}));
    fixture_tick(&fixture, 1);
    CHECK_TEXT(hear(&fixture, 1).code, "unsupported_version");
    fixture_close(&fixture);
}

// Rows of another version of this program: no field behind the schema is looked at.
TEST(another_schema_is_refused)
{
    static const struct {
        uint8_t bytes[8];
        size_t count;
        const char *code;
    } rows[] = {
        {{MESSAGE_HANDSHAKE, 1, 0, 2, PROTOCOL_SCHEMA + 1, 0xff}, 6, "unsupported_version"},
        {{MESSAGE_HANDSHAKE, 1, 0, 2, 0}, 5, "unsupported_version"},
        {{MESSAGE_OLD_HANDSHAKE, 1, 0, 2}, 4, "unsupported_version"},
        {{MESSAGE_HANDSHAKE, 1, 0, 2, PROTOCOL_SCHEMA, 0xff}, 6, "malformed"},
        {{MESSAGE_HANDSHAKE, 1}, 2, "malformed"},
    };
    Fixture fixture;
    fixture_open(&fixture);
    for (uint32_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        CHECK_OK(fixture_connect(&fixture, i + 1, false));
        CHECK_OK(fixture_send_bytes(&fixture, i + 1, rows[i].bytes, rows[i].count));
        fixture_tick(&fixture, 1);
        CHECK_TEXT(hear(&fixture, i + 1).code, rows[i].code);
    }
    fixture_close(&fixture);
}

TEST(a_handshake_must_come_in_time)
{
    Fixture fixture;
    fixture_open(&fixture);
    CHECK_OK(fixture_connect(&fixture, 1, false));
    fixture_tick(&fixture, 600);
    CHECK_INT(hear(&fixture, 1).messages, 0);
    fixture_tick(&fixture, 2);
    CHECK_TEXT(hear(&fixture, 1).code, "handshake_timeout");
    CHECK(fixture_is_closing(&fixture, 1));
    // An owner that never enters DISCONNECT does not keep the slot.
    fixture_tick(&fixture, 700);
    CHECK_INT(world_stats(fixture.world).sessions, 0);
    fixture_close(&fixture);
}

TEST(names_and_ids_are_checked)
{
    static const char *const bad_names[] = {"  ", "a\nb", "a\u202e_", "bo\u200b", " bo"};
    static const char *const bad_ids[] = {"no good!", "bo\u200b", "\u202eob", "a.b"};
    Fixture fixture;
    fixture_open(&fixture);
    uint64_t connection = 0;
    for (uint32_t i = 0; i < sizeof bad_names / sizeof bad_names[0]; i++) {
        const MessageHandshake hello = {.version = 2,
                                        .schema = PROTOCOL_SCHEMA,
                                        .name = {bad_names[i], (uint32_t)strlen(bad_names[i])}};
        CHECK_OK(fixture_connect(&fixture, ++connection, false));
        CHECK_OK(fixture_send(&fixture, connection, MESSAGE_HANDSHAKE, &hello));
        fixture_tick(&fixture, 1);
        CHECK_TEXT(hear(&fixture, connection).code, "invalid_name");
    }
    for (uint32_t i = 0; i < sizeof bad_ids / sizeof bad_ids[0]; i++) {
        const MessageHandshake hello = {.version = 2,
                                        .schema = PROTOCOL_SCHEMA,
                                        .player_id = {bad_ids[i], (uint32_t)strlen(bad_ids[i])}};
        CHECK_OK(fixture_connect(&fixture, ++connection, false));
        CHECK_OK(fixture_send(&fixture, connection, MESSAGE_HANDSHAKE, &hello));
        fixture_tick(&fixture, 1);
        CHECK_TEXT(hear(&fixture, connection).code, "invalid_name");
    }
    CHECK_INT(world_stats(fixture.world).players, 0);
    // Without any, one is made.
    fixture_join(&fixture, 40, "");
    const Session *session = session_of_connection(fixture.world->sessions, 40);
    REQUIRE(session != NULL && session->state == SESSION_PLAYING);
    CHECK(strncmp(session->name, "Player ", 7) == 0);
    CHECK(strncmp(session->player_id, "p_", 2) == 0);
    CHECK_INT(session->account, 0);
    fixture_join(&fixture, 50, "zoe");
    CHECK_TEXT(session_of_connection(fixture.world->sessions, 50)->name, "zoe");
    fixture_close(&fixture);
}

TEST(a_full_world_says_so)
{
    Fixture fixture;
    fixture_open_with(&fixture, 60, 20, 2);
    fixture_join(&fixture, 1, "a");
    fixture_join(&fixture, 2, "b");
    fixture_join(&fixture, 3, "c");
    CHECK_TEXT(hear(&fixture, 3).code, "world_full");
    CHECK_INT(world_stats(fixture.world).players, 2);
    // The second connection of somebody who is here needs no room.
    fixture_join(&fixture, 4, "b");
    CHECK_INT(hear(&fixture, 4).welcomes, 1);
    // There are only so many slots for strangers.
    Status status = STATUS_OK;
    for (uint64_t i = 10; i < 40 && status == STATUS_OK; i++) {
        status = fixture_connect(&fixture, i, false);
    }
    CHECK_INT(status, STATUS_LIMIT);
    fixture_close(&fixture);
}

TEST(the_second_connection_takes_the_body_over)
{
    Fixture fixture;
    fixture_open(&fixture);
    fixture_join(&fixture, 1, "ann");
    uint64_t player = 0;
    uint64_t before = 0;
    CHECK(world_player(fixture.world, 1, &player, &before));
    fixture_join(&fixture, 2, "ann");
    Heard old = hear(&fixture, 1);
    CHECK_TEXT(old.code, "replaced");
    CHECK(old.fatal);
    CHECK(fixture_is_closing(&fixture, 1));
    uint64_t again = 0;
    uint64_t after = 0;
    CHECK(world_player(fixture.world, 2, &again, &after));
    CHECK_INT(again, player);
    CHECK_INT(after, before);
    CHECK(!world_player(fixture.world, 1, &again, &after));
    CHECK_OK(fixture_disconnect(&fixture, 1));
    fixture_tick(&fixture, 10);
    CHECK_INT(world_stats(fixture.world).players, 1);
    fixture_close(&fixture);
}

TEST(resume_in_the_same_world)
{
    Fixture fixture;
    fixture_open(&fixture);
    fixture_join(&fixture, 1, "ann");
    const Heard first = hear(&fixture, 1);
    uint64_t player = 0;
    uint64_t before = 0;
    CHECK(world_player(fixture.world, 1, &player, &before));
    CHECK_OK(fixture_disconnect(&fixture, 1));
    fixture_tick(&fixture, 120);
    CHECK(!handle_is_none(sim_find(fixture.world->sim, before)));
    CHECK_INT(world_stats(fixture.world).players, 1);
    // The token alone identifies the player.
    CHECK_OK(fixture_connect(&fixture, 2, false));
    CHECK_OK(fixture_handshake(&fixture, 2, "", first.token));
    fixture_tick(&fixture, 3);
    Merge merge;
    merge_reset(&merge, 60);
    Heard second = {0};
    fixture_hear(&fixture, 2, &merge, &second);
    CHECK_INT(second.welcomes, 1);
    CHECK(second.welcome.resumed);
    CHECK_INT(second.welcome.entity_id, before);
    CHECK(strcmp(second.token, first.token) != 0);
    CHECK(second.frames >= 1);
    CHECK(second.has_own);
    CHECK((second.own.causes & NET_CAUSE_SPAWN) != 0);
    CHECK_INT(world_stats(fixture.world).resumes, 1);
    // The old token is spent.
    CHECK_OK(fixture_connect(&fixture, 3, false));
    CHECK_OK(fixture_handshake(&fixture, 3, "eve", first.token));
    fixture_tick(&fixture, 1);
    const Heard third = hear(&fixture, 3);
    CHECK_INT(third.welcomes, 1);
    CHECK(!third.welcome.resumed);
    CHECK(third.welcome.entity_id != before);
    CHECK_INT(world_stats(fixture.world).players, 2);
    fixture_close(&fixture);
}

TEST(a_dropped_body_goes_after_a_while)
{
    Fixture fixture;
    fixture_open(&fixture);
    fixture_join(&fixture, 1, "ann");
    fixture_join(&fixture, 2, "bob");
    const Heard first = hear(&fixture, 1);
    uint64_t player = 0;
    uint64_t entity = 0;
    CHECK(world_player(fixture.world, 1, &player, &entity));
    CHECK_OK(fixture_disconnect(&fixture, 1));
    Merge merge;
    merge_reset(&merge, 60);
    Heard heard = {0};
    uint64_t frame = 0;
    for (uint32_t i = 0; i < 61 * 20; i++) {
        fixture_tick(&fixture, 3);
        fixture_hear(&fixture, 2, &merge, &heard);
        frame = heard.frame.seq;
        CHECK_OK(fixture_send(&fixture, 2, MESSAGE_INPUT_BATCH,
                              &(MessageInputBatch){.last_snapshot = frame}));
        if (i == 59 * 20) {
            CHECK_INT(heard.event_counts[MESSAGE_PLAYER_LEFT], 0);
        }
    }
    CHECK_INT(heard.event_counts[MESSAGE_PLAYER_LEFT], 1);
    CHECK(handle_is_none(sim_find(fixture.world->sim, entity)));
    CHECK_INT(world_stats(fixture.world).players, 1);
    // Its token is still valid: a new body, where the old one was.
    CHECK_OK(fixture_connect(&fixture, 3, false));
    CHECK_OK(fixture_handshake(&fixture, 3, "", first.token));
    fixture_tick(&fixture, 1);
    Heard back = {0};
    fixture_hear(&fixture, 3, NULL, &back);
    CHECK_INT(back.welcomes, 1);
    CHECK_INT(back.welcome.player, player);
    CHECK(back.welcome.entity_id != entity);
    fixture_close(&fixture);
}

TEST(leaving_takes_the_body_at_once)
{
    Fixture fixture;
    fixture_open(&fixture);
    fixture_join(&fixture, 1, "ann");
    uint64_t player = 0;
    uint64_t entity = 0;
    CHECK(world_player(fixture.world, 1, &player, &entity));
    const Vec3 somewhere = {-20, 0, -7};
    Sim *sim = world_sim(fixture.world);
    CHECK_OK(sim_set_position(sim, sim_find(sim, entity), somewhere));
    CHECK_OK(fixture_send(&fixture, 1, MESSAGE_LEAVE, &(MessageLeave){0}));
    fixture_tick(&fixture, 2);
    (void)hear(&fixture, 1);
    CHECK(fixture_is_closing(&fixture, 1));
    CHECK(handle_is_none(sim_find(fixture.world->sim, entity)));
    // It comes back where it left.
    fixture_join(&fixture, 9, "ann");
    uint64_t back = 0;
    CHECK(world_player(fixture.world, 9, &player, &back));
    const Entity *body = sim_entity(sim, sim_find(sim, back));
    REQUIRE(body != NULL);
    CHECK_NEAR(body->position.x, somewhere.x, 0.01);
    CHECK_NEAR(body->position.z, somewhere.z, 0.01);
    CHECK_OK(fixture_send(&fixture, 9, MESSAGE_LEAVE, &(MessageLeave){0}));
    fixture_tick(&fixture, 2);
    // Back in the same tick as it left: the number is still leaving, the body comes a tick later.
    fixture_join(&fixture, 2, "ann");
    CHECK_OK(fixture_send(&fixture, 2, MESSAGE_LEAVE, &(MessageLeave){0}));
    CHECK_OK(fixture_connect(&fixture, 3, false));
    CHECK_OK(fixture_handshake(&fixture, 3, "ann", ""));
    fixture_tick(&fixture, 3);
    const Heard again = hear(&fixture, 3);
    CHECK_INT(again.welcomes, 1);
    CHECK_INT(again.welcome.player, player);
    CHECK_INT(world_stats(fixture.world).players, 1);
    fixture_close(&fixture);
}

TEST(presence_is_told_to_everybody)
{
    Fixture fixture;
    fixture_open(&fixture);
    Merge merges[3];
    Heard heard[3] = {0};
    for (uint32_t i = 0; i < 3; i++) {
        merge_reset(&merges[i], 60);
        fixture_join(&fixture, i + 1, (const char *[]){"a", "b", "c"}[i]);
        fixture_tick(&fixture, 5);
        for (uint32_t j = 0; j <= i; j++) {
            fixture_hear(&fixture, j + 1, &merges[j], &heard[j]);
        }
    }
    CHECK_INT(heard[0].event_counts[MESSAGE_PLAYER_JOINED], 3);
    CHECK_INT(heard[1].event_counts[MESSAGE_PLAYER_JOINED], 3);
    CHECK_INT(heard[2].event_counts[MESSAGE_PLAYER_JOINED], 3);
    fixture_close(&fixture);
}

TEST(others_sign_in_through_the_owner)
{
    Fixture fixture;
    fixture_open(&fixture);
    fixture.world->config.development = false;
    CHECK_OK(fixture_connect(&fixture, 1, false));
    CHECK_OK(fixture_handshake(&fixture, 1, "ann", ""));
    fixture_tick(&fixture, 1);
    CHECK_TEXT(hear(&fixture, 1).code, "auth_required");

    CHECK_OK(fixture_connect(&fixture, 2, false));
    const MessageHandshake hello = {
        .version = 2, .schema = PROTOCOL_SCHEMA, .ticket = {"ticket", 6}};
    CHECK_OK(fixture_send(&fixture, 2, MESSAGE_HANDSHAKE, &hello));
    CHECK_OK(fixture_enter(&fixture, &(Entry){.type = ENTRY_TICK, .number = fixture.unix_ms}));
    uint32_t count = 0;
    const Command *commands = world_commands(fixture.world, &count);
    const Command *auth = NULL;
    for (uint32_t i = 0; i < count; i++) {
        auth = commands[i].type == COMMAND_AUTH ? &commands[i] : auth;
    }
    REQUIRE(auth != NULL);
    CHECK_INT(auth->connection, 2);
    CHECK_INT(auth->byte_count, 6);
    CHECK_BYTES(auth->bytes, "ticket", 6);
    world_commands_clear(fixture.world);
    const Entry answer = {.type = ENTRY_AUTH,
                          .flags = ENTRY_OK,
                          .connection = 2,
                          .number = 77,
                          .name = "Bo",
                          .name_bytes = 2};
    CHECK_OK(fixture_enter(&fixture, &answer));
    CHECK_INT(fixture_enter(&fixture, &answer), STATUS_MISMATCH);
    CHECK_INT(hear(&fixture, 2).welcomes, 1);
    CHECK_TEXT(session_of_connection(fixture.world->sessions, 2)->name, "Bo");

    CHECK_OK(fixture_connect(&fixture, 3, false));
    CHECK_OK(fixture_send(&fixture, 3, MESSAGE_HANDSHAKE, &hello));
    fixture_tick(&fixture, 1);
    CHECK_OK(fixture_enter(&fixture, &(Entry){.type = ENTRY_AUTH, .connection = 3}));
    CHECK_TEXT(hear(&fixture, 3).code, "auth_failed");

    CHECK_OK(fixture_connect(&fixture, 4, false));
    CHECK_OK(fixture_send(&fixture, 4, MESSAGE_HANDSHAKE, &hello));
    fixture_tick(&fixture, 605);
    CHECK_TEXT(hear(&fixture, 4).code, "handshake_timeout");
    fixture_close(&fixture);
}

// Comes in with that proof, which the owner accepts for that account; 0: rejects.
static Heard sign_in(Fixture *fixture, uint64_t connection, const MessageHandshake *hello,
                     uint64_t account)
{
    CHECK_OK(fixture_connect(fixture, connection, false));
    CHECK_OK(fixture_send(fixture, connection, MESSAGE_HANDSHAKE, hello));
    fixture_tick(fixture, 1);
    CHECK_INT(session_of_connection(fixture->world->sessions, connection)->state,
              SESSION_VERIFYING);
    CHECK_OK(fixture_enter(fixture, &(Entry){.type = ENTRY_AUTH,
                                             .flags = account != 0 ? ENTRY_OK | ENTRY_GUEST : 0,
                                             .connection = connection,
                                             .number = account,
                                             .name = "Bo",
                                             .name_bytes = 2}));
    fixture_tick(fixture, 1);
    return hear(fixture, connection);
}

TEST(a_session_token_counts_in_development_too)
{
    Fixture fixture;
    fixture_open(&fixture);
    CHECK(fixture.world->config.development);
    const MessageHandshake hello = {
        .version = 2, .schema = PROTOCOL_SCHEMA, .session_token = {"sign-in", 7}};
    CHECK_INT(sign_in(&fixture, 1, &hello, 77).welcomes, 1);
    CHECK_INT(session_of_connection(fixture.world->sessions, 1)->account, 77);
    CHECK_TEXT(session_of_connection(fixture.world->sessions, 1)->name, "Bo");
    CHECK_TEXT(sign_in(&fixture, 2, &hello, 0).code, "auth_failed");
    CHECK_INT(world_stats(fixture.world).players, 1);
    fixture_close(&fixture);
}

static MessageHandshake with_token(const char *proof, const char *token)
{
    return (MessageHandshake){.version = 2,
                              .schema = PROTOCOL_SCHEMA,
                              .ticket = {proof, (uint32_t)strlen(proof)},
                              .resume_token = {token, (uint32_t)strlen(token)}};
}

TEST(a_resume_token_is_for_its_own_account_alone)
{
    Fixture fixture;
    fixture_open(&fixture);
    MessageHandshake hello = with_token("ann", "");
    const Heard ann = sign_in(&fixture, 1, &hello, 71);
    uint64_t player = 0;
    uint64_t body = 0;
    CHECK(world_player(fixture.world, 1, &player, &body));
    // Eve's ticket and ann's token, while ann is here and while her body waits for her.
    hello = with_token("eve", ann.token);
    Heard eve = sign_in(&fixture, 2, &hello, 72);
    CHECK_INT(eve.welcomes, 1);
    CHECK(!eve.welcome.resumed);
    CHECK(eve.welcome.entity_id != body);
    CHECK_INT(session_of_connection(fixture.world->sessions, 2)->account, 72);
    CHECK_OK(fixture_disconnect(&fixture, 2));
    CHECK_OK(fixture_disconnect(&fixture, 1));
    fixture_tick(&fixture, 1);
    eve = sign_in(&fixture, 3, &hello, 72);
    CHECK(eve.welcome.entity_id != body);
    // And when nothing is left of her but the row.
    life_leave(fixture.world, session_of_account(fixture.world->sessions, 71));
    fixture_tick(&fixture, 2);
    CHECK_OK(fixture_disconnect(&fixture, 3));
    life_leave(fixture.world, session_of_account(fixture.world->sessions, 72));
    fixture_tick(&fixture, 2);
    eve = sign_in(&fixture, 4, &hello, 72);
    CHECK_INT(session_of_connection(fixture.world->sessions, 4)->account, 72);
    CHECK(!eve.welcome.resumed);
    // The token is still ann's, once.
    hello = with_token("ann again", ann.token);
    const Heard again = sign_in(&fixture, 5, &hello, 71);
    CHECK(again.welcome.resumed);
    CHECK_INT(session_of_connection(fixture.world->sessions, 5)->player, player);
    fixture_close(&fixture);
}

// They are in another world of the place now: neither a session that is being closed nor a row lets
// them in here by the token alone, which would give them two bodies.
TEST(a_resume_token_ends_with_leave)
{
    for (uint32_t cut = 0; cut < 2; cut++) {
        Fixture fixture;
        fixture_open(&fixture);
        MessageHandshake hello = with_token("ann", "");
        const Heard ann = sign_in(&fixture, 1, &hello, 71);
        if (cut == 1) {
            CHECK_OK(fixture_disconnect(&fixture, 1));
            fixture_tick(&fixture, 2);
        }
        const Entry leave = {.type = ENTRY_ADMIN,
                             .name = "leave",
                             .name_bytes = 5,
                             .bytes = (const uint8_t *)"71",
                             .byte_count = 2};
        CHECK_OK(fixture_enter(&fixture, &leave));
        CHECK_OK(fixture_connect(&fixture, 2, false));
        CHECK_OK(fixture_handshake(&fixture, 2, "", ann.token));
        fixture_tick(&fixture, 3);
        const Heard again = hear(&fixture, 2);
        CHECK(!again.welcome.resumed);
        CHECK(session_of_account(fixture.world->sessions, 71) == NULL);
        fixture_close(&fixture);
    }
}

TEST(a_new_ticket_says_what_one_may)
{
    Fixture fixture;
    fixture_open(&fixture);
    const MessageHandshake hello = with_token("ann", "");
    (void)sign_in(&fixture, 1, &hello, 71);
    session_of_connection(fixture.world->sessions, 1)->operator_role = true;
    CHECK_INT(sign_in(&fixture, 2, &hello, 71).welcomes, 1);
    CHECK(!session_of_connection(fixture.world->sessions, 2)->operator_role);
    fixture_close(&fixture);
}

TEST(one_who_comes_and_goes_fills_no_world)
{
    Fixture fixture;
    fixture_open_with(&fixture, 60, 20, 8);
    const MessageHandshake hello = with_token("ann", "");
    for (uint64_t i = 1; i <= 48; i++) {
        CHECK_INT(sign_in(&fixture, i, &hello, 71).welcomes, 1);
        CHECK_INT(world_stats(fixture.world).players, 1);
        CHECK_OK(fixture_disconnect(&fixture, i));
    }
    // Without a name each is somebody else, and those who are gone give way.
    for (uint64_t i = 101; i <= 148; i++) {
        fixture_join(&fixture, i, "");
        CHECK_INT(hear(&fixture, i).welcomes, 1);
        CHECK_OK(fixture_disconnect(&fixture, i));
    }
    CHECK_INT(world_stats(fixture.world).players, 8);
    CHECK_INT(world_stats(fixture.world).bodies_gave_way, 41);
    // Those who are here do not.
    for (uint64_t i = 201; i <= 208; i++) {
        fixture_join(&fixture, i, "");
        CHECK_INT(hear(&fixture, i).welcomes, 1);
    }
    fixture_join(&fixture, 209, "");
    CHECK_TEXT(hear(&fixture, 209).code, "world_full");
    fixture_tick(&fixture, 2);
    CHECK_INT(world_stats(fixture.world).players, 8);
    fixture_close(&fixture);
}

static Heard guest_from(Fixture *fixture, uint64_t connection, uint64_t address)
{
    CHECK_OK(fixture_enter(
        fixture, &(Entry){.type = ENTRY_CONNECT, .connection = connection, .number = address}));
    CHECK_OK(fixture_handshake(fixture, connection, "", ""));
    fixture_tick(fixture, 1);
    return hear(fixture, connection);
}

TEST(one_address_has_so_many_guests)
{
    Fixture fixture;
    fixture_open_with(&fixture, 60, 20, 100);
    for (uint64_t i = 1; i <= GUESTS_PER_ADDRESS_MAX; i++) {
        CHECK_INT(guest_from(&fixture, i, 5).welcomes, 1);
    }
    CHECK_TEXT(guest_from(&fixture, 70, 5).code, "address_full");
    CHECK_INT(guest_from(&fixture, 71, 6).welcomes, 1);
    CHECK_INT(guest_from(&fixture, 72, 0).welcomes, 1);
    // One of them is cut off; its body gives way to the next from there, and no other does.
    CHECK_OK(fixture_disconnect(&fixture, 71));
    CHECK_OK(fixture_disconnect(&fixture, 9));
    CHECK_INT(guest_from(&fixture, 73, 5).welcomes, 1);
    CHECK_TEXT(guest_from(&fixture, 74, 5).code, "address_full");
    CHECK_INT(world_stats(fixture.world).bodies_gave_way, 1);
    fixture_close(&fixture);
}

TEST(a_flood_ends_its_own_session_alone)
{
    Fixture fixture;
    fixture_open(&fixture);
    fixture_join(&fixture, 1, "ann");
    fixture_join(&fixture, 2, "bob");
    (void)hear(&fixture, 1);
    Status status = STATUS_OK;
    uint32_t sent = 0;
    while (status == STATUS_OK && sent < 1000) {
        status = fixture_send(&fixture, 1, MESSAGE_PING, &(MessagePing){.nonce = sent});
        sent += 1;
    }
    CHECK_INT(status, STATUS_LIMIT);
    CHECK_INT(sent, 257);
    CHECK_TEXT(hear(&fixture, 1).code, "flood");
    CHECK_OK(fixture_send(&fixture, 2, MESSAGE_PING, &(MessagePing){.nonce = 5}));
    fixture_tick(&fixture, 1);
    CHECK_INT(hear(&fixture, 2).pongs, 1);
    // By bytes.
    static uint8_t large[MESSAGE_BYTES_MAX];
    CHECK_OK(fixture_send_bytes(&fixture, 2, large, sizeof large));
    CHECK_INT(fixture_send_bytes(&fixture, 2, large, sizeof large), STATUS_LIMIT);
    fixture_close(&fixture);
}

TEST(malformed_messages_are_strikes)
{
    Fixture fixture;
    fixture_open(&fixture);
    fixture_join(&fixture, 1, "ann");
    (void)hear(&fixture, 1);
    for (uint32_t i = 0; i < 8; i++) {
        const uint8_t broken[] = {MESSAGE_PING, 0x80};
        CHECK_OK(fixture_send_bytes(&fixture, 1, broken, sizeof broken));
        fixture_tick(&fixture, 1);
        const Heard heard = hear(&fixture, 1);
        CHECK_INT(heard.errors, 1);
        CHECK_TEXT(heard.code, "malformed");
        CHECK_INT(heard.fatal, i == 7);
    }
    // What a later version may say is skipped.
    fixture_join(&fixture, 2, "bob");
    for (uint32_t i = 0; i < 20; i++) {
        const uint8_t unknown[] = {63, 1, 2, 3};
        CHECK_OK(fixture_send_bytes(&fixture, 2, unknown, sizeof unknown));
    }
    fixture_tick(&fixture, 1);
    CHECK_INT(hear(&fixture, 2).errors, 0);
    CHECK(world_stats(fixture.world).messages_refused >= 20);
    // Too large or empty ends it at once.
    static uint8_t large[MESSAGE_BYTES_MAX + 1];
    CHECK_INT(fixture_send_bytes(&fixture, 2, large, sizeof large), STATUS_MALFORMED);
    CHECK_TEXT(hear(&fixture, 2).code, "malformed");
    fixture_close(&fixture);
}

// The code of the error that a JSON session gets, or "" if it gets something else.
static void json_handshake(Fixture *fixture, uint64_t connection, const char *json, char code[65])
{
    const uint8_t *bytes = NULL;
    size_t count = 0;
    code[0] = 0;
    CHECK_OK(fixture_connect(fixture, connection, true));
    CHECK_OK(fixture_send_bytes(fixture, connection, json, strlen(json)));
    fixture_tick(fixture, 1);
    REQUIRE(world_output(fixture->world, connection, &bytes, &count));
    static const char before[] = "\"code\":\"";
    for (size_t i = 0; i + sizeof before + 64 < count; i++) {
        if (memcmp(bytes + i, before, sizeof before - 1) == 0) {
            const char *name = (const char *)bytes + i + sizeof before - 1;
            snprintf(code, 65, "%.*s", (int)strcspn(name, "\""), name);
        }
    }
}

#define JSON_HANDSHAKE                                                                          \
    "{\"v\":2,\"kind\":\"command\",\"seq\":1,\"feature\":\"session\",\"action\":\"handshake\"," \
    "\"payload\":{\"version\":2}}"

TEST(a_json_session_too_many_is_told_that_the_world_is_full)
{
    Fixture fixture;
    char code[65];
    fixture_open(&fixture);
    for (uint32_t i = 0; i < fixture.config.json_session_max; i++) {
        json_handshake(&fixture, i + 1, JSON_HANDSHAKE, code);
        CHECK_TEXT(code, "");
    }
    json_handshake(&fixture, 8, JSON_HANDSHAKE, code);
    CHECK_TEXT(code, "world_full");
    fixture_join(&fixture, 9, "binary"); // for whom there is room
    CHECK_INT(hear(&fixture, 9).welcomes, 1);
    CHECK_OK(fixture_disconnect(&fixture, 1));
    json_handshake(&fixture, 10, JSON_HANDSHAKE, code);
    CHECK_TEXT(code, "");
    fixture_close(&fixture);
}

TEST(what_is_not_known_is_no_handshake)
{
    Fixture fixture;
    char code[65];
    fixture_open(&fixture);
    json_handshake(&fixture, 1,
                   "{\"v\":2,\"kind\":\"command\",\"feature\":\"no\",\"action\":\"such\"}", code);
    CHECK_TEXT(code, "handshake_first");
    fixture_close(&fixture);
}

TEST(a_command_without_a_number_is_not_acknowledged)
{
    Fixture fixture;
    fixture_open(&fixture);
    fixture_join(&fixture, 1, "ann");
    for (uint32_t seq = 0; seq < 2; seq++) {
        uint8_t bytes[64];
        ByteWriter writer = byte_writer(bytes, sizeof bytes);
        const MessageChatSay say = {.text = {"hi", 2}};
        message_encode(&(Message){.number = MESSAGE_CHAT_SAY, .seq = seq, .body = &say}, &writer);
        CHECK_OK(writer.status);
        (void)hear(&fixture, 1);
        CHECK_OK(fixture_send_bytes(&fixture, 1, bytes, writer.at));
        fixture_tick(&fixture, 1);
        CHECK_INT(hear(&fixture, 1).acks, seq);
    }
    fixture_close(&fixture);
}

TEST(operators_kick_say_and_stop)
{
    Fixture fixture;
    fixture_open(&fixture);
    fixture_join(&fixture, 1, "ann");
    fixture_join(&fixture, 2, "bob");
    const Entry kick = {.type = ENTRY_ADMIN,
                        .name = "kick",
                        .name_bytes = 4,
                        .bytes = (const uint8_t *)"ann",
                        .byte_count = 3};
    CHECK_OK(fixture_enter(&fixture, &kick));
    CHECK_INT(fixture_enter(&fixture, &kick), STATUS_NOT_FOUND);
    CHECK_TEXT(hear(&fixture, 1).code, "kicked");
    CHECK_INT(world_stats(fixture.world).players, 1);
    const Entry say = {.type = ENTRY_ADMIN,
                       .name = "say",
                       .name_bytes = 3,
                       .bytes = (const uint8_t *)"hello",
                       .byte_count = 5};
    CHECK_OK(fixture_enter(&fixture, &say));
    Merge merge;
    merge_reset(&merge, 60);
    Heard heard = {0};
    fixture_tick(&fixture, 3);
    fixture_hear(&fixture, 2, &merge, &heard);
    CHECK_INT(heard.event_counts[MESSAGE_CHAT_SAID], 1);
    const Entry odd = {.type = ENTRY_ADMIN, .name = "dance", .name_bytes = 5};
    CHECK_INT(fixture_enter(&fixture, &odd), STATUS_UNSUPPORTED);
    const Entry stop = {.type = ENTRY_ADMIN,
                        .name = "stop",
                        .name_bytes = 4,
                        .bytes = (const uint8_t *)"update",
                        .byte_count = 6};
    CHECK_OK(fixture_enter(&fixture, &stop));
    CHECK_TEXT(hear(&fixture, 2).code, "stopped");
    CHECK_INT(fixture_connect(&fixture, 9, false), STATUS_LIMIT);
    uint32_t stops = 0;
    for (uint32_t i = 0; i < 10; i++) { // scripts see everybody leave first
        const Entry tick = {.type = ENTRY_TICK, .number = fixture.unix_ms += 16};
        CHECK_OK(fixture_enter(&fixture, &tick));
        uint32_t count = 0;
        const Command *commands = world_commands(fixture.world, &count);
        for (uint32_t j = 0; j < count; j++) {
            stops += commands[j].type == COMMAND_STOP;
        }
        world_commands_clear(fixture.world);
    }
    CHECK_INT(stops, 1);
    fixture_close(&fixture);
}

static Status order(Fixture *fixture, const char *name, const char *text)
{
    const Entry entry = {.type = ENTRY_ADMIN,
                         .name = name,
                         .name_bytes = (uint32_t)strlen(name),
                         .bytes = (const uint8_t *)text,
                         .byte_count = strlen(text)};
    return fixture_enter(fixture, &entry);
}

TEST(a_muted_player_is_refused_and_told_why_until_the_time_is_over)
{
    Fixture fixture;
    fixture_open(&fixture);
    fixture_join(&fixture, 1, "ann");
    char text[96];
    const unsigned long long account = account_of_session(&fixture, 1);
    snprintf(text, sizeof text, "%llu %llu too loud", account,
             (unsigned long long)fixture.unix_ms + 60000);
    const uint64_t before = world_hash(fixture.world);
    CHECK_OK(order(&fixture, "mute", text));
    CHECK(world_hash(fixture.world) != before);
    const MessageChatSay say = {.text = text_from("hello")};
    CHECK_OK(fixture_send(&fixture, 1, MESSAGE_CHAT_SAY, &say));
    fixture_tick(&fixture, 1);
    const Heard refused = hear(&fixture, 1);
    CHECK_TEXT(refused.code, "denied");
    CHECK(strstr(refused.text, "too loud") != NULL);
    fixture.unix_ms += 70000;
    CHECK_OK(fixture_send(&fixture, 1, MESSAGE_CHAT_SAY, &say));
    fixture_tick(&fixture, 2);
    CHECK_INT(hear(&fixture, 1).acks, 1);
    CHECK_INT(order(&fixture, "mute", "1234567 99 nobody"), STATUS_NOT_FOUND);
    CHECK_INT(order(&fixture, "mute", "x 99"), STATUS_MALFORMED);
    CHECK_INT(order(&fixture, "mute", "0 99"), STATUS_MALFORMED);
    CHECK_INT(order(&fixture, "mute", "12"), STATUS_MALFORMED);
    CHECK_INT(order(&fixture, "mute", ""), STATUS_MALFORMED);
    fixture_close(&fixture);
}

TEST(whoever_is_removed_is_told_why_and_no_token_brings_them_back)
{
    Fixture fixture;
    fixture_open(&fixture);
    fixture_join(&fixture, 1, "ann");
    char text[96];
    snprintf(text, sizeof text, "%llu enough for today",
             (unsigned long long)account_of_session(&fixture, 1));
    CHECK_OK(order(&fixture, "remove", text));
    const Heard last = hear(&fixture, 1);
    CHECK_TEXT(last.code, "kicked");
    CHECK(strstr(last.text, "enough for today") != NULL);
    CHECK_INT(world_stats(fixture.world).players, 0);
    CHECK_INT(order(&fixture, "remove", text), STATUS_NOT_FOUND);
    CHECK_INT(order(&fixture, "remove", "ann"), STATUS_MALFORMED);
    fixture_close(&fixture);
}

TEST(entries_that_make_no_sense)
{
    Fixture fixture;
    fixture_open(&fixture);
    CHECK_INT(fixture_connect(&fixture, 0, false), STATUS_RANGE);
    CHECK_OK(fixture_connect(&fixture, 1, false));
    CHECK_INT(fixture_connect(&fixture, 1, false), STATUS_EXISTS);
    CHECK_INT(fixture_disconnect(&fixture, 5), STATUS_NOT_FOUND);
    CHECK_INT(fixture_send(&fixture, 5, MESSAGE_PING, &(MessagePing){0}), STATUS_NOT_FOUND);
    CHECK_INT(fixture_enter(&fixture, &(Entry){.type = ENTRY_AUTH, .connection = 1}),
              STATUS_MISMATCH);
    CHECK_INT(world_enter(fixture.world, &(Entry){.type = ENTRY_NONE}), STATUS_MALFORMED);
    fixture_tick(&fixture, 1);
    CHECK_INT(fixture_enter(&fixture, &(Entry){.type = ENTRY_ROW}), STATUS_DENIED);
    fixture_close(&fixture);
}

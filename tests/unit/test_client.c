// A client against a server that the test simulates: joining, coming back, time and inputs, what it
// shows, terrain, events in tick order, limits, and invalid messages.
#include "core/base/rng.h"
#include "tests/support/test.h"
#include "tests/unit/fake_server.h"

#include <stdio.h>
#include <string.h>

static bool closed_with(const FakeServer *fake, const char *begin)
{
    const char *reason = client_closed_reason(fake->client);
    const bool fits =
        client_state(fake->client) == CLIENT_CLOSED && strncmp(reason, begin, strlen(begin)) == 0;
    if (!fits) {
        printf("state %d, reason \"%s\"\n", (int)client_state(fake->client), reason);
    }
    return fits;
}

// --- getting in ---------------------------------------------------------------------------------

TEST(handshake_and_welcome)
{
    ClientConfig config = client_config_default();
    snprintf(config.ticket, sizeof config.ticket, "the ticket");
    snprintf(config.name, sizeof config.name, "Ada");
    FakeServer *fake = fake_open(&config, true);
    CHECK_INT(client_state(fake->client), CLIENT_IDLE);
    CHECK(client_sim(fake->client) == NULL);
    fake_connect(fake);
    CHECK_INT(client_state(fake->client), CLIENT_CONNECTING);
    const Message up = fake_up(fake, MESSAGE_HANDSHAKE);
    REQUIRE(up.body != NULL);
    const MessageHandshake *handshake = up.body;
    CHECK_INT(up.seq, 1);
    CHECK_INT(handshake->version, 2);
    CHECK_INT(handshake->ticket.bytes, 10);
    CHECK_INT(handshake->name.bytes, 3);
    CHECK_INT(handshake->resume_token.bytes, 0);
    fake_welcome(fake, false);
    CHECK_INT(client_state(fake->client), CLIENT_PLAYING);
    CHECK(client_place(fake->client) == fake->place);
    const ClientEvent *event = client_event(fake->client);
    REQUIRE(event != NULL);
    CHECK_INT(event->message.number, MESSAGE_WELCOME);
    CHECK_INT(event->tick, 0);
    CHECK(client_event(fake->client) == NULL);
    fake_close(fake);
}

static void send_scene(FakeServer *fake, uint32_t from, uint32_t to, uint32_t piece)
{
    const uint32_t total = ((uint32_t)fake->scene.bytes + piece - 1) / piece;
    for (uint32_t i = from; i < to && i < total; i++) {
        const uint32_t left = (uint32_t)fake->scene.bytes - i * piece;
        MessageBlobChunk chunk = {
            .chunk_index = i,
            .total_chunks = total,
            .data = {fake->scene.data + i * piece, left < piece ? left : piece}};
        memcpy(chunk.hash.bytes, fake->place->hash, sizeof chunk.hash.bytes);
        fake_send(fake, MESSAGE_BLOB_CHUNK, &chunk);
    }
}

TEST(scene_comes_over_the_wire_and_goes_on_after_a_cut)
{
    FakeServer *fake = fake_open(NULL, false);
    fake_connect(fake);
    fake_welcome(fake, false);
    CHECK_INT(client_state(fake->client), CLIENT_FETCHING);
    CHECK_INT(((const MessageBlobRequest *)fake_up(fake, MESSAGE_BLOB_REQUEST).body)->from_chunk,
              0);
    const uint32_t piece = 20;
    send_scene(fake, 0, 3, piece);
    CHECK(client_progress(fake->client) > 0 && client_progress(fake->client) < 1);
    // Frames of the time before the scene are not lost: a part, a body.
    fake_body(fake, vec3(4, 0, 0));
    const NetState state = fake_state(vec3(2, 0, 2), VEC3_ZERO, fake->tick);
    fake_enter(fake, 3, NET_PLAYER, 500, &state, NULL, NULL, 0);
    fake_flush(fake);
    CHECK_INT(client_state(fake->client), CLIENT_FETCHING);
    // While it waits it acknowledges its frame.
    fake_run(fake, 12);
    CHECK(fake->up_count[MESSAGE_INPUT_BATCH] > 0);
    CHECK_INT(fake->input_frames, 0);
    client_disconnected(fake->client);
    CHECK_INT(client_state(fake->client), CLIENT_IDLE);
    fake_connect(fake);
    const MessageHandshake *handshake = fake_up(fake, MESSAGE_HANDSHAKE).body;
    CHECK_INT(handshake->resume_token.bytes, 9);
    fake_welcome(fake, true);
    CHECK_INT(((const MessageBlobRequest *)fake_up(fake, MESSAGE_BLOB_REQUEST).body)->from_chunk,
              3);
    fake_body(fake, vec3(4, 0, 0));
    fake_enter(fake, 3, NET_PLAYER, 500, &state, NULL, NULL, 0);
    fake_flush(fake);
    send_scene(fake, 3, UINT32_MAX, piece);
    CHECK_INT(client_state(fake->client), CLIENT_PLAYING);
    CHECK_INT(client_progress(fake->client) * 100, 100);
    CHECK(client_own(fake->client).present);
    CHECK(!handle_is_none(sim_find(client_sim(fake->client), 500)));
    fake_close(fake);
}

TEST(other_pieces_after_a_cut_begin_again)
{
    FakeServer *fake = fake_open(NULL, false);
    fake_connect(fake);
    fake_welcome(fake, false);
    send_scene(fake, 0, 3, 20);
    client_disconnected(fake->client);
    fake_connect(fake);
    fake_welcome(fake, true);
    (void)fake_up(fake, MESSAGE_BLOB_REQUEST);
    const uint32_t asked = fake->up_count[MESSAGE_BLOB_REQUEST];
    send_scene(fake, 3, 5, 16);
    CHECK_INT(client_state(fake->client), CLIENT_FETCHING);
    const MessageBlobRequest *request = fake_up(fake, MESSAGE_BLOB_REQUEST).body;
    CHECK_INT(request->from_chunk, 0);
    CHECK_INT(fake->up_count[MESSAGE_BLOB_REQUEST], asked + 1);
    send_scene(fake, 0, UINT32_MAX, 16);
    CHECK_INT(client_state(fake->client), CLIENT_PLAYING);
    fake_close(fake);
}

TEST(no_progress_and_refusals_ask_again)
{
    FakeServer *fake = fake_open(NULL, false);
    fake_connect(fake);
    fake_welcome(fake, false);
    const Message first = fake_up(fake, MESSAGE_BLOB_REQUEST);
    CHECK_INT(fake->up_count[MESSAGE_BLOB_REQUEST], 1);
    fake->now_ms += 4900;
    client_update(fake->client, fake->now_ms);
    (void)fake_up(fake, MESSAGE_BLOB_REQUEST);
    CHECK_INT(fake->up_count[MESSAGE_BLOB_REQUEST], 1);
    const MessageError error = {
        .code = fake_text("limit"), .message = fake_text("later"), .command_seq = first.seq};
    fake_send(fake, MESSAGE_ERROR, &error);
    fake->now_ms += 1100;
    client_update(fake->client, fake->now_ms);
    (void)fake_up(fake, MESSAGE_BLOB_REQUEST);
    CHECK_INT(fake->up_count[MESSAGE_BLOB_REQUEST], 2);
    fake->now_ms += 5100;
    client_update(fake->client, fake->now_ms);
    (void)fake_up(fake, MESSAGE_BLOB_REQUEST);
    CHECK_INT(fake->up_count[MESSAGE_BLOB_REQUEST], 3);
    fake_close(fake);
}

TEST(damaged_scene_closes)
{
    FakeServer *fake = fake_open(NULL, false);
    fake_connect(fake);
    fake_welcome(fake, false);
    fake->scene.data[fake->scene.bytes / 2] ^= 1;
    send_scene(fake, 0, UINT32_MAX, 20);
    CHECK(closed_with(fake, "protocol: the scene is not"));
    fake_close(fake);

    fake = fake_open(NULL, false);
    fake_connect(fake);
    fake_welcome(fake, false);
    send_scene(fake, 0, 1, 20);
    send_scene(fake, 2, 3, 20);
    CHECK(closed_with(fake, "protocol: chunk 2"));
    fake_close(fake);
}

TEST(owner_brings_the_scene)
{
    ClientConfig config = client_config_default();
    config.owner_fetches = true;
    FakeServer *fake = fake_open(&config, false);
    CHECK_INT(client_give(fake->client, fake->scene.data, fake->scene.bytes), STATUS_NOT_FOUND);
    fake_connect(fake);
    fake_welcome(fake, false);
    CHECK_INT(fake->up_count[MESSAGE_BLOB_REQUEST], 0);
    ClientWant want;
    REQUIRE(client_want(fake->client, 0, &want));
    CHECK(want.kind == CLIENT_WANT_SCENE);
    CHECK_INT(want.bytes, fake->scene.bytes);
    CHECK_BYTES(want.hash, fake->place->hash, 32);
    CHECK(!client_want(fake->client, 1, &want));
    fake->scene.data[9] ^= 1;
    CHECK_INT(client_give(fake->client, fake->scene.data, fake->scene.bytes), STATUS_MISMATCH);
    fake->scene.data[9] ^= 1;
    CHECK_OK(client_give(fake->client, fake->scene.data, fake->scene.bytes));
    CHECK_INT(client_state(fake->client), CLIENT_PLAYING);
    CHECK_INT(client_give(fake->client, fake->scene.data, fake->scene.bytes), STATUS_NOT_FOUND);
    fake_close(fake);
}

// A scene that a world has made is not at the host: this one alone comes over the socket.
TEST(the_scene_alone_is_fetched_over_the_wire)
{
    ClientConfig config = client_config_default();
    config.owner_fetches = true;
    FakeServer *fake = fake_open(&config, false);
    fake_connect(fake);
    fake_welcome(fake, false);
    ClientWant want;
    REQUIRE(client_want(fake->client, 0, &want));
    const uint8_t other[32] = {1};
    CHECK(!client_fetch_one_over_wire(fake->client, other));
    CHECK(client_fetch_one_over_wire(fake->client, want.hash));
    fake_run(fake, 1);
    CHECK_INT(fake->up_count[MESSAGE_BLOB_REQUEST], 1);
    CHECK(!client_fetch_one_over_wire(fake->client, want.hash)); // it is on its way
    fake_close(fake);
}

// --- time and inputs ----------------------------------------------------------------------------

TEST(inputs_go_up_thirty_times_a_second)
{
    FakeServer *fake = fake_open(NULL, true);
    fake_play(fake);
    fake_run(fake, 120);
    const uint32_t before = fake->up_count[MESSAGE_INPUT_BATCH];
    const uint64_t frames = fake->input_frames;
    fake_run(fake, 300);
    CHECK_NEAR(fake->up_count[MESSAGE_INPUT_BATCH] - before, 150, 9);
    CHECK_NEAR(fake->input_frames - frames, 300, 16);
    const MessageInputBatch *batch = fake_up(fake, MESSAGE_INPUT_BATCH).body;
    CHECK_INT(batch->inputs_count, 2);
    CHECK_INT(batch->state_seq, batch->inputs[1].seq);
    CHECK(batch->state_hash != 0);
    CHECK(batch->view_tick < fake->tick && batch->view_tick + 30 > fake->tick);
    CHECK(fake->last.seq - batch->last_snapshot <= 1);
    CHECK(fake->newest_input > (uint32_t)fake->tick);
    const ClientStats stats = client_stats(fake->client);
    CHECK_INT(stats.visible, 1);
    CHECK_NEAR(stats.snapshot_interval_p99_ms, 50, 1);
    CHECK_INT(stats.predict.corrections_without_cause, 0);
    CHECK_INT(stats.snapshots, fake->last.seq);
    CHECK(stats.bytes_up > 0 && stats.bytes_down > 0);
    CHECK(fake->up_count[MESSAGE_PING] >= 6 && fake->up_count[MESSAGE_PING] <= 8);
    fake_close(fake);
}

TEST(a_press_between_two_ticks_is_not_lost)
{
    FakeServer *fake = fake_open(NULL, true);
    fake_play(fake);
    fake_run(fake, 30);
    CHECK_INT(fake->buttons_seen, 0);
    client_set_input(fake->client, &(ClientInput){.buttons = INPUT_FIRE});
    client_set_input(fake->client, &(ClientInput){.buttons = 0});
    fake_run(fake, 6);
    CHECK_INT(fake->buttons_seen, INPUT_FIRE);
    fake->buttons_seen = 0;
    fake_run(fake, 30);
    CHECK_INT(fake->buttons_seen, 0);
    fake_close(fake);
}

TEST(pongs_measure_the_link)
{
    FakeServer *fake = fake_open(NULL, true);
    fake_play(fake);
    fake_run(fake, 2);
    const MessagePing *ping = fake_up(fake, MESSAGE_PING).body;
    REQUIRE(ping != NULL);
    const MessagePong stranger = {.nonce = ping->nonce + 5, .tick = fake->tick};
    const MessagePong pong = {.nonce = ping->nonce, .tick = fake->tick};
    fake_send(fake, MESSAGE_PONG, &stranger);
    CHECK_NEAR(client_stats(fake->client).clock.rtt_ms, 0, 0.001);
    fake->now_ms += 40;
    fake_send(fake, MESSAGE_PONG, &pong);
    CHECK(client_stats(fake->client).clock.rtt_ms >= 40);
    CHECK_INT(client_state(fake->client), CLIENT_PLAYING);
    fake_close(fake);
}

// Hours in a drawer: it is not to play through them tick by tick.
TEST(a_pause_is_caught_up_at_once)
{
    FakeServer *fake = fake_open(NULL, true);
    fake_play(fake);
    fake_run(fake, 60);
    fake->now_ms += 3000;
    fake->tick += 180;
    client_update(fake->client, fake->now_ms);
    fake->newest_input = 0;
    fake_flush(fake);
    fake_run(fake, 12);
    CHECK(fake->newest_input + 6 > (uint32_t)fake->tick);
    CHECK(fake->newest_input < (uint32_t)fake->tick + 60);
    fake_close(fake);
}

// --- what is seen -------------------------------------------------------------------------------

TEST(others_are_shown_in_the_past_and_stand_in_the_sim)
{
    FakeServer *fake = fake_open(NULL, true);
    fake_play(fake);
    const NetState state = fake_state(vec3(-10, 0, 5), vec3(3, 0, 0), fake->tick);
    fake_enter(fake, 9, NET_PLAYER, 77, &state, NULL, NULL, 0);
    fake_flush(fake);
    fake_run(fake, 120);
    CHECK_INT(client_stats(fake->client).visible, 2);
    uint32_t slot = client_next(fake->client, UINT32_MAX);
    CHECK_INT(slot, 0);
    slot = client_next(fake->client, slot);
    CHECK_INT(slot, 9);
    CHECK_INT(client_next(fake->client, slot), UINT32_MAX);
    const ClientEntity entity = client_entity(fake->client, 9);
    CHECK_INT(entity.net_id, 77);
    REQUIRE(entity.line != NULL);
    const double since = client_view_time(fake->client) - 600;
    CHECK_NEAR(entity.pose.position.x, -10 + 3 * since / 60, 0.02);
    const Sim *sim = client_sim(fake->client);
    const Handle puppet = sim_find(sim, 77);
    REQUIRE(!handle_is_none(puppet));
    CHECK_NEAR(sim_entity(sim, puppet)->position.x, entity.pose.position.x, 0.001);
    fake_leave(fake, 9);
    fake_run(fake, 6);
    CHECK_INT(client_stats(fake->client).visible, 1);
    CHECK(handle_is_none(sim_find(sim, 77)));
    CHECK(client_entity(fake->client, 9).line == NULL);
    fake_close(fake);
}

// More movers than it has room for are not shown; nothing else happens.
TEST(more_than_visible_max)
{
    ClientConfig config = client_config_default();
    config.visible_max = 4;
    FakeServer *fake = fake_open(&config, true);
    fake_play(fake);
    for (uint32_t i = 1; i < 20; i++) {
        const NetState state = fake_state(vec3((float)i, 0, 8), VEC3_ZERO, fake->tick);
        fake_enter(fake, i * 3, NET_NPC, 100 + i, &state, NULL, NULL, 0);
    }
    fake_flush(fake);
    fake_run(fake, 30);
    CHECK_INT(client_state(fake->client), CLIENT_PLAYING);
    CHECK_INT(client_stats(fake->client).visible, 20);
    for (uint32_t i = 1; i < 20; i++) {
        fake_leave(fake, i * 3);
    }
    fake_flush(fake);
    const NetState state = fake_state(vec3(3, 0, 8), VEC3_ZERO, fake->tick);
    fake_enter(fake, 1, NET_NPC, 300, &state, NULL, NULL, 0);
    fake_flush(fake);
    CHECK(client_entity(fake->client, 1).line != NULL);
    fake_close(fake);
}

TEST(coming_back_keeps_the_scene_and_forgets_the_rest)
{
    FakeServer *fake = fake_open(NULL, true);
    fake_play(fake);
    const NetState state = fake_state(vec3(-10, 0, 5), VEC3_ZERO, fake->tick);
    fake_enter(fake, 9, NET_PLAYER, 77, &state, NULL, NULL, 0);
    fake_flush(fake);
    fake_run(fake, 30);
    const Sim *sim = client_sim(fake->client);
    client_disconnected(fake->client);
    CHECK_INT(client_send(fake->client, MESSAGE_RESPAWN, &(MessageRespawn){0}), 0);
    client_update(fake->client, fake->now_ms += 500);
    fake->tick += 30;
    fake_connect(fake);
    fake_welcome(fake, true);
    CHECK_INT(client_state(fake->client), CLIENT_PLAYING);
    CHECK(client_sim(fake->client) == sim);
    fake_body(fake, vec3(4, 0, 0));
    const NetState own = fake_state(vec3(4, 0, 0), VEC3_ZERO, fake->tick);
    fake_enter(fake, 4, NET_PLAYER, FAKE_BODY, &own, NULL, NULL, 0);
    fake_flush(fake);
    CHECK_INT(client_stats(fake->client).visible, 1);
    CHECK(handle_is_none(sim_find(sim, 77)));
    CHECK(client_own(fake->client).present);
    fake_run(fake, 60);
    CHECK(fake->newest_input > (uint32_t)fake->tick);
    fake_close(fake);
}

// --- terrain ------------------------------------------------------------------------------------

static uint32_t version_of(const FakeServer *fake, ChunkCoord at)
{
    return terrain_chunk_version(sim_terrain_view(client_sim(fake->client)), at);
}

static VoxelKind voxel_of(const FakeServer *fake, VoxelCoord at)
{
    return terrain_voxel(sim_terrain_view(client_sim(fake->client)), at);
}

TEST(edits_that_follow_are_made_others_are_asked_for)
{
    FakeServer *fake = fake_open(NULL, true);
    fake_play(fake);
    const WireChunkVersion chunks[2] = {{{0, -1, 0}, 1}, {{-1, -1, 0}, 1}};
    MessageTerraformApplied edit = {.shape = 1,
                                    .min = {-2, -2, 3},
                                    .max = {2, -1, 4},
                                    .voxel_kind = 0,
                                    .chunks = chunks,
                                    .chunks_count = 2};
    fake_event(fake, 0, MESSAGE_TERRAFORM_APPLIED, &edit);
    CHECK_INT(voxel_of(fake, (VoxelCoord){0, -1, 3}), 1);
    fake_flush(fake);
    // At once, not when the view comes there.
    CHECK_INT(voxel_of(fake, (VoxelCoord){0, -1, 3}), 0);
    CHECK_INT(voxel_of(fake, (VoxelCoord){-2, -2, 4}), 0);
    CHECK_INT(version_of(fake, (ChunkCoord){-1, -1, 0}), 1);
    CHECK_INT(client_stats(fake->client).edits_applied, 1);
    // Two versions on: a piece is missing.
    const WireChunkVersion later = {{0, -1, 0}, 3};
    edit.chunks = &later;
    edit.chunks_count = 1;
    edit.voxel_kind = 2;
    fake_event(fake, 0, MESSAGE_TERRAFORM_APPLIED, &edit);
    fake_flush(fake);
    CHECK_INT(voxel_of(fake, (VoxelCoord){0, -1, 3}), 0);
    fake_run(fake, 1);
    const MessageChunkRequest *request = fake_up(fake, MESSAGE_CHUNK_REQUEST).body;
    REQUIRE(request != NULL);
    CHECK_INT(request->chunks_count, 1);
    CHECK_INT(request->chunks[0].version, 1);
    CHECK_INT(request->chunks[0].at.y, -1);
    // The answer: a terrain of the server, edited three times.
    Terrain *server = NULL;
    const TerrainConfig config = {.chunk_max = 8, .page_max = 64};
    CHECK_OK(terrain_create(&fake->heap, &config, fake->place->chunks, &server));
    for (VoxelKind kind = 0; kind < 3; kind++) {
        CHECK_OK(terrain_set(server, (VoxelCoord){0, -1, 3}, kind == 1 ? 3 : kind, NULL));
    }
    uint8_t bytes[CHUNK_BYTES_MAX];
    ByteWriter writer = byte_writer(bytes, sizeof bytes);
    terrain_write_difference(server, (ChunkCoord){0, -1, 0}, &writer);
    const MessageChunkData data = {.at = {0, -1, 0},
                                   .version = terrain_chunk_version(server, (ChunkCoord){0, -1, 0}),
                                   .data = {bytes, (uint32_t)writer.at}};
    CHECK_INT(data.version, 3);
    fake_send(fake, MESSAGE_CHUNK_DATA, &data);
    CHECK_INT(client_state(fake->client), CLIENT_PLAYING);
    CHECK_INT(voxel_of(fake, (VoxelCoord){0, -1, 3}), 2);
    CHECK_INT(version_of(fake, (ChunkCoord){0, -1, 0}), 3);
    CHECK_INT(client_stats(fake->client).chunks_applied, 1);
    // It was not requested again.
    fake_send(fake, MESSAGE_CHUNK_DATA, &data);
    CHECK_INT(client_stats(fake->client).chunks_applied, 1);
    terrain_destroy(&fake->heap, server);
    fake_close(fake);
}

TEST(chunks_are_asked_for_in_bounds_and_again)
{
    FakeServer *fake = fake_open(NULL, true);
    fake_play(fake);
    WireChunkVersion chunks[64];
    for (int32_t i = 0; i < 64; i++) {
        chunks[i] = (WireChunkVersion){{i - 32, 0, 1}, 2};
    }
    const MessageChunkVersions versions = {.chunks = chunks, .chunks_count = 64};
    fake_event(fake, 0, MESSAGE_CHUNK_VERSIONS, &versions);
    fake_event(fake, 0, MESSAGE_CHUNK_VERSIONS, &versions);
    fake_flush(fake);
    fake_run(fake, 30);
    CHECK_INT(fake->up_count[MESSAGE_CHUNK_REQUEST], 1);
    CHECK_INT(client_stats(fake->client).chunks_asked, 32);
    fake_run(fake, 120);
    CHECK_INT(fake->up_count[MESSAGE_CHUNK_REQUEST], 2);
    fake_close(fake);
}

// Terrain that does not fit: what is far away is given up for what is near.
TEST(a_full_terrain_gives_up_the_farthest)
{
    ClientConfig config = client_config_default();
    config.visible_max = 8;
    FakeServer *fake = fake_open(&config, true);
    fake_play(fake);
    const int32_t count = 48;
    for (int32_t i = count - 1; i >= 0; i--) {
        const WireChunkVersion chunk = {{i, 2, 0}, 1};
        const MessageTerraformApplied edit = {
            .min = {i * 32, 64, 0}, .voxel_kind = 1, .chunks = &chunk, .chunks_count = 1};
        fake_event(fake, 0, MESSAGE_TERRAFORM_APPLIED, &edit);
        fake_flush(fake);
    }
    CHECK_INT(client_state(fake->client), CLIENT_PLAYING);
    CHECK_INT(client_stats(fake->client).edits_applied, count);
    CHECK_INT(client_stats(fake->client).chunks_refused, 0);
    CHECK_INT(version_of(fake, (ChunkCoord){0, 2, 0}), 1);
    CHECK_INT(version_of(fake, (ChunkCoord){count - 1, 2, 0}), 0);
    CHECK_INT(voxel_of(fake, (VoxelCoord){(count - 1) * 32, 64, 0}), 0);
    // What is farther than all that is here does not fit.
    const WireChunkVersion far = {{100, 2, 0}, 1};
    const MessageTerraformApplied edit = {
        .min = {3200, 64, 0}, .voxel_kind = 1, .chunks = &far, .chunks_count = 1};
    fake_event(fake, 0, MESSAGE_TERRAFORM_APPLIED, &edit);
    fake_flush(fake);
    CHECK_INT(client_stats(fake->client).chunks_refused, 1);
    CHECK_INT(client_state(fake->client), CLIENT_PLAYING);
    fake_close(fake);
}

TEST(hostile_chunks_close)
{
    FakeServer *fake = fake_open(NULL, true);
    fake_play(fake);
    const WireChunkVersion chunk = {{1, 0, 1}, 2};
    const MessageChunkVersions versions = {.chunks = &chunk, .chunks_count = 1};
    fake_event(fake, 0, MESSAGE_CHUNK_VERSIONS, &versions);
    fake_flush(fake);
    const uint8_t junk[5] = {1, 2, 3, 4, 5};
    const MessageChunkData data = {.at = {1, 0, 1}, .version = 2, .data = {junk, 5}};
    fake_send(fake, MESSAGE_CHUNK_DATA, &data);
    CHECK(closed_with(fake, "protocol: a chunk cannot"));
    fake_close(fake);

    fake = fake_open(NULL, true);
    fake_play(fake);
    const WireChunkVersion outside = {{512, 0, 0}, 2};
    const MessageChunkVersions far = {.chunks = &outside, .chunks_count = 1};
    fake_event(fake, 0, MESSAGE_CHUNK_VERSIONS, &far);
    fake_flush(fake);
    CHECK(closed_with(fake, "protocol: a chunk outside"));
    fake_close(fake);
}

// --- events -------------------------------------------------------------------------------------

static const ClientEvent *skip_answers(FakeServer *fake)
{
    const ClientEvent *event = client_event(fake->client);
    while (event != NULL && event->tick == 0) {
        event = client_event(fake->client);
    }
    return event;
}

TEST(events_come_when_the_view_reaches_their_tick)
{
    FakeServer *fake = fake_open(NULL, true);
    fake_play(fake);
    fake_run(fake, 60);
    CHECK(skip_answers(fake) == NULL);
    const uint64_t tick = fake->tick;
    const MessageDied died = {.entity_id = 77, .cause = 3};
    const MessageChatSaid said = {.player = 2, .name = fake_text("Bo"), .text = fake_text("hi")};
    fake_event(fake, 2, MESSAGE_DIED, &died);
    fake_event(fake, 0, MESSAGE_CHAT_SAID, &said);
    fake_flush(fake);
    const MessageAck ack = {.command_seq = 5};
    fake_send(fake, MESSAGE_ACK, &ack);
    const ClientEvent *event = client_event(fake->client);
    REQUIRE(event != NULL);
    CHECK_INT(event->message.number, MESSAGE_ACK);
    CHECK(client_event(fake->client) == NULL);
    for (uint32_t i = 0; i < 60 && (event = client_event(fake->client)) == NULL; i++) {
        CHECK(client_view_tick(fake->client) < tick - 2);
        fake_run(fake, 1);
    }
    REQUIRE(event != NULL);
    CHECK_INT(event->message.number, MESSAGE_DIED);
    CHECK_INT(event->tick, tick - 2);
    CHECK_INT(((const MessageDied *)event->message.body)->entity_id, 77);
    CHECK(client_view_tick(fake->client) >= tick - 2);
    fake_run(fake, 6);
    event = client_event(fake->client);
    REQUIRE(event != NULL);
    CHECK_INT(event->message.number, MESSAGE_CHAT_SAID);
    CHECK_BYTES(((const MessageChatSaid *)event->message.body)->text.data, "hi", 2);
    CHECK(client_event(fake->client) == NULL);
    fake_close(fake);
}

// If nothing reads them, the oldest are dropped, and the newest are still there.
TEST(a_full_queue_of_events_gives_up_the_oldest)
{
    FakeServer *fake = fake_open(NULL, true);
    fake_play(fake);
    char text[400];
    memset(text, 'x', sizeof text);
    for (uint32_t i = 0; i < 200; i++) {
        const MessageChatSaid said = {.player = i + 1, .text = {text, sizeof text}};
        fake_event(fake, 0, MESSAGE_CHAT_SAID, &said);
        fake_flush(fake);
        fake_run(fake, 1);
    }
    fake_run(fake, 30);
    CHECK(client_stats(fake->client).events_dropped > 100);
    CHECK_INT(client_stats(fake->client).events, 201); // and the player's own name
    uint64_t newest = 0;
    const ClientEvent *event = NULL;
    while ((event = skip_answers(fake)) != NULL) {
        const uint64_t player = ((const MessageChatSaid *)event->message.body)->player;
        CHECK(newest == 0 || player == newest + 1);
        newest = player;
    }
    CHECK_INT(newest, 200);
    fake_close(fake);
}

TEST(output_is_bounded)
{
    FakeServer *fake = fake_open(NULL, true);
    fake_play(fake);
    char text[500];
    memset(text, 'y', sizeof text);
    const MessageChatSay say = {.text = {text, sizeof text}};
    uint32_t sent = 0;
    uint32_t last = 0;
    uint32_t seq = 0;
    while (sent < 1000 && (seq = client_send(fake->client, MESSAGE_CHAT_SAY, &say)) != 0) {
        CHECK(last == 0 || seq == last + 1);
        last = seq;
        sent += 1;
    }
    CHECK(sent > 20 && sent < 40);
    CHECK_INT(client_stats(fake->client).outputs_dropped, 1);
    const Message message = fake_up(fake, MESSAGE_CHAT_SAY);
    CHECK_INT(message.seq, last);
    CHECK(client_send(fake->client, MESSAGE_CHAT_SAY, &say) == last + 1);
    fake_close(fake);
}

// --- what makes no sense ------------------------------------------------------------------------

TEST(nothing_is_taken_before_the_welcome)
{
    const uint8_t numbers[] = {MESSAGE_ACK, MESSAGE_PONG, MESSAGE_CHUNK_DATA, MESSAGE_PROFILES};
    for (uint32_t i = 0; i < 4; i++) {
        FakeServer *fake = fake_open(NULL, true);
        fake_connect(fake);
        const uint8_t bytes[8] = {numbers[i], 1};
        client_receive(fake->client, fake->now_ms, bytes, sizeof bytes);
        CHECK(closed_with(fake, "protocol: "));
        fake_close(fake);
    }
    FakeServer *fake = fake_open(NULL, true);
    fake_connect(fake);
    fake_flush(fake);
    CHECK(closed_with(fake, "protocol: message 68"));
    fake_close(fake);
}

TEST(errors_end_the_session_when_they_say_so)
{
    FakeServer *fake = fake_open(NULL, true);
    fake_connect(fake);
    MessageError error = {.code = fake_text("unsupported_version"),
                          .message = fake_text("Update the client."),
                          .fatal = true};
    fake_send(fake, MESSAGE_ERROR, &error);
    CHECK_INT(client_state(fake->client), CLIENT_CLOSED);
    CHECK_TEXT(client_closed_reason(fake->client), "unsupported_version: Update the client.");
    CHECK(client_is_outdated(fake->client));
    client_disconnected(fake->client);
    CHECK_INT(client_state(fake->client), CLIENT_CLOSED);
    fake_connect(fake);
    CHECK_TEXT(client_closed_reason(fake->client), "");
    CHECK(!client_is_outdated(fake->client));
    fake_welcome(fake, false);
    error.fatal = false;
    fake_send(fake, MESSAGE_ERROR, &error);
    CHECK_INT(client_state(fake->client), CLIENT_PLAYING);
    fake_welcome(fake, false);
    CHECK(closed_with(fake, "protocol: message 78"));
    fake_close(fake);
}

// Whatever the other side is: it says so, and connecting again is not tried.
TEST(a_world_of_another_schema_is_told_apart)
{
    static const struct {
        uint8_t bytes[8];
        size_t count;
        bool is_outdated;
    } rows[] = {
        {{MESSAGE_WELCOME, 1, PROTOCOL_SCHEMA + 1}, 3, true}, // what follows may be anything
        {{MESSAGE_WELCOME, 1, PROTOCOL_SCHEMA - 1, 0xff, 0xff}, 5, true},
        {{MESSAGE_WELCOME, 1, PROTOCOL_SCHEMA, 0xff}, 4, false}, // ours, and cannot be read
        {{MESSAGE_WELCOME, 1}, 2, false},
        {{MESSAGE_OLD_WELCOME, 1, 0, 0}, 4, true},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        FakeServer *fake = fake_open(NULL, true);
        fake_connect(fake);
        client_receive(fake->client, fake->now_ms, rows[i].bytes, rows[i].count);
        CHECK_INT(client_state(fake->client), CLIENT_CLOSED);
        CHECK_INT(client_is_outdated(fake->client), rows[i].is_outdated);
        CHECK_INT(closed_with(fake, "unsupported_version: "), rows[i].is_outdated);
        fake_close(fake);
    }
    // A world from before there was a number does not know this handshake.
    FakeServer *fake = fake_open(NULL, true);
    fake_connect(fake);
    const MessageError error = {
        .code = fake_text("handshake_first"), .message = fake_text("say who"), .fatal = true};
    fake_send(fake, MESSAGE_ERROR, &error);
    CHECK(client_is_outdated(fake->client));
    fake_close(fake);
}

TEST(frames_that_do_not_follow_close)
{
    FakeServer *fake = fake_open(NULL, true);
    fake_play(fake);
    fake->last.seq += 1;
    fake_flush(fake);
    CHECK(closed_with(fake, "protocol: a frame"));
    const uint64_t hash = client_hash(fake->client);
    fake_flush(fake); // deaf now
    client_update(fake->client, fake->now_ms + 100);
    CHECK_INT(client_hash(fake->client) == hash, 1);
    fake_close(fake);
}

TEST(unknown_messages_are_skipped)
{
    FakeServer *fake = fake_open(NULL, true);
    fake_play(fake);
    const uint8_t later[4] = {200, 1, 2, 3};
    client_receive(fake->client, fake->now_ms, later, sizeof later);
    CHECK_INT(client_state(fake->client), CLIENT_PLAYING);
    client_receive(fake->client, fake->now_ms, later, 0);
    CHECK(closed_with(fake, "protocol: a message of 0"));
    fake_close(fake);
}

// Every byte of a whole session flipped once: it plays or closes, it never breaks.
TEST(any_flipped_byte_plays_or_closes)
{
    Rng rng = rng_make(test_seed(), 1);
    for (uint32_t round = 0; round < 60; round++) {
        FakeServer *fake = fake_open(NULL, true);
        fake_play(fake);
        const NetState state = fake_state(vec3(1, 0, 1), vec3(1, 0, 0), fake->tick);
        fake_enter(fake, 5, NET_NPC, 55, &state, NULL, NULL, 0);
        const MessageDied died = {.entity_id = 55};
        fake_event(fake, 0, MESSAGE_DIED, &died);
        fake_flush(fake);
        for (uint32_t i = 0; i < 20; i++) {
            fake->tick += 3;
            fake->now_ms += 50;
            uint8_t bytes[256];
            const size_t count = 2 + rng_below(&rng, 60);
            memcpy(bytes, fake->frame, count);
            bytes[rng_below(&rng, (uint32_t)count)] ^= (uint8_t)(1u << rng_below(&rng, 8));
            client_receive(fake->client, fake->now_ms, bytes, count);
            client_update(fake->client, fake->now_ms);
            while (client_event(fake->client) != NULL) {
            }
        }
        const ClientState end = client_state(fake->client);
        CHECK(end == CLIENT_CLOSED || end == CLIENT_PLAYING);
        fake_close(fake);
    }
}

// --- memory -------------------------------------------------------------------------------------

TEST(playing_takes_nothing_from_the_heap)
{
    FakeServer *fake = fake_open(NULL, true);
    fake_play(fake);
    const NetState state = fake_state(vec3(-10, 0, 5), vec3(3, 0, 0), fake->tick);
    fake_enter(fake, 9, NET_PLAYER, 77, &state, NULL, NULL, 0);
    fake_flush(fake);
    fake_run(fake, 30);
    heap_freeze(&fake->heap);
    for (uint32_t i = 0; i < 60; i++) {
        const float x = (float)i * 0.1f;
        const NetState next = fake_state(vec3(x, 0, 5), vec3(0, 0, 2), fake->tick);
        fake_change(fake, 9, &next);
        const MessageNpcEvent npc = {.entity_id = 77, .new_state = 1};
        fake_event(fake, 1, MESSAGE_NPC_EVENT, &npc);
        fake_flush(fake);
        client_set_input(fake->client, &(ClientInput){.move_z = 1, .yaw = x});
        fake_run(fake, 10);
        while (client_event(fake->client) != NULL) {
        }
    }
    heap_thaw(&fake->heap);
    CHECK_INT(client_state(fake->client), CLIENT_PLAYING);
    fake_close(fake);
}

// A thousand bots are to fit into one process: 64 visible, no scripts, the scene shared.
TEST(a_client_is_small)
{
    for (uint32_t visible = 64; visible <= 256; visible += 192) {
        ClientConfig config = client_config_default();
        config.visible_max = visible;
        FakeServer *fake = fake_open(&config, true);
        const uint64_t own = fake->heap.bytes_now;
        fake_play(fake);
        const uint64_t playing = fake->heap.bytes_now - own;
        client_destroy(&fake->heap, fake->client);
        fake->client = NULL;
        const uint64_t block = own - fake->heap.bytes_now;
        printf("%u visible: %llu KiB, and %llu KiB of prediction\n", visible,
               (unsigned long long)(block >> 10), (unsigned long long)(playing >> 10));
        CHECK(block + playing < (visible == 64 ? 720u << 10 : 6u << 20));
        fake_close(fake);
    }
}

TEST(the_same_messages_give_the_same_hash)
{
    uint64_t hashes[2];
    for (uint32_t round = 0; round < 2; round++) {
        FakeServer *fake = fake_open(NULL, true);
        fake_play(fake);
        client_set_input(fake->client, &(ClientInput){.move_z = 1});
        fake_run(fake, 90);
        hashes[round] = client_hash(fake->client);
        fake_run(fake, 3);
        CHECK(client_hash(fake->client) != hashes[round]);
        fake_close(fake);
    }
    CHECK(hashes[0] == hashes[1]);
}

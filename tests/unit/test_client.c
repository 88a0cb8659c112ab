// A client against a server that the test simulates: joining, coming back, time and inputs, what it
// shows, terrain, events in tick order, limits, and invalid messages.
#include "core/base/rng.h"
#include "tests/support/test.h"
#include "tests/unit/client_stage.h"

#include <stdio.h>
#include <string.h>

static bool closed_with(const Stage *stage, const char *begin)
{
    const char *reason = client_closed_reason(stage->client);
    const bool fits =
        client_state(stage->client) == CLIENT_CLOSED && strncmp(reason, begin, strlen(begin)) == 0;
    if (!fits) {
        printf("state %d, reason \"%s\"\n", (int)client_state(stage->client), reason);
    }
    return fits;
}

// --- getting in ---------------------------------------------------------------------------------

TEST(handshake_and_welcome)
{
    ClientConfig config = client_config_default();
    snprintf(config.ticket, sizeof config.ticket, "the ticket");
    snprintf(config.name, sizeof config.name, "Ada");
    Stage *stage = stage_open(&config, true);
    CHECK_INT(client_state(stage->client), CLIENT_IDLE);
    CHECK(client_sim(stage->client) == NULL);
    stage_connect(stage);
    CHECK_INT(client_state(stage->client), CLIENT_CONNECTING);
    const Message up = stage_up(stage, MESSAGE_HANDSHAKE);
    REQUIRE(up.body != NULL);
    const MessageHandshake *handshake = up.body;
    CHECK_INT(up.seq, 1);
    CHECK_INT(handshake->version, 2);
    CHECK_INT(handshake->ticket.bytes, 10);
    CHECK_INT(handshake->name.bytes, 3);
    CHECK_INT(handshake->resume_token.bytes, 0);
    stage_welcome(stage, false);
    CHECK_INT(client_state(stage->client), CLIENT_PLAYING);
    CHECK(client_place(stage->client) == stage->place);
    const ClientEvent *event = client_event(stage->client);
    REQUIRE(event != NULL);
    CHECK_INT(event->message.number, MESSAGE_WELCOME);
    CHECK_INT(event->tick, 0);
    CHECK(client_event(stage->client) == NULL);
    stage_close(stage);
}

static void send_scene(Stage *stage, uint32_t from, uint32_t to, uint32_t piece)
{
    const uint32_t total = ((uint32_t)stage->scene.bytes + piece - 1) / piece;
    for (uint32_t i = from; i < to && i < total; i++) {
        const uint32_t left = (uint32_t)stage->scene.bytes - i * piece;
        MessageBlobChunk chunk = {
            .chunk_index = i,
            .total_chunks = total,
            .data = {stage->scene.data + i * piece, left < piece ? left : piece}};
        memcpy(chunk.hash.bytes, stage->place->hash, sizeof chunk.hash.bytes);
        stage_send(stage, MESSAGE_BLOB_CHUNK, &chunk);
    }
}

TEST(scene_comes_over_the_wire_and_goes_on_after_a_cut)
{
    Stage *stage = stage_open(NULL, false);
    stage_connect(stage);
    stage_welcome(stage, false);
    CHECK_INT(client_state(stage->client), CLIENT_FETCHING);
    CHECK_INT(((const MessageBlobRequest *)stage_up(stage, MESSAGE_BLOB_REQUEST).body)->from_chunk,
              0);
    const uint32_t piece = 20;
    send_scene(stage, 0, 3, piece);
    CHECK(client_progress(stage->client) > 0 && client_progress(stage->client) < 1);
    // Frames of the time before the scene are not lost: a part, a body.
    stage_body(stage, vec3(4, 0, 0));
    const NetState state = stage_state(vec3(2, 0, 2), VEC3_ZERO, stage->tick);
    stage_enter(stage, 3, NET_PLAYER, 500, &state, NULL, NULL, 0);
    stage_flush(stage);
    CHECK_INT(client_state(stage->client), CLIENT_FETCHING);
    // While it waits it acknowledges its frame.
    stage_run(stage, 12);
    CHECK(stage->up_count[MESSAGE_INPUT_BATCH] > 0);
    CHECK_INT(stage->input_frames, 0);
    client_disconnected(stage->client);
    CHECK_INT(client_state(stage->client), CLIENT_IDLE);
    stage_connect(stage);
    const MessageHandshake *handshake = stage_up(stage, MESSAGE_HANDSHAKE).body;
    CHECK_INT(handshake->resume_token.bytes, 9);
    stage_welcome(stage, true);
    CHECK_INT(((const MessageBlobRequest *)stage_up(stage, MESSAGE_BLOB_REQUEST).body)->from_chunk,
              3);
    stage_body(stage, vec3(4, 0, 0));
    stage_enter(stage, 3, NET_PLAYER, 500, &state, NULL, NULL, 0);
    stage_flush(stage);
    send_scene(stage, 3, UINT32_MAX, piece);
    CHECK_INT(client_state(stage->client), CLIENT_PLAYING);
    CHECK_INT(client_progress(stage->client) * 100, 100);
    CHECK(client_own(stage->client).present);
    CHECK(!handle_is_none(sim_find(client_sim(stage->client), 500)));
    stage_close(stage);
}

TEST(other_pieces_after_a_cut_begin_again)
{
    Stage *stage = stage_open(NULL, false);
    stage_connect(stage);
    stage_welcome(stage, false);
    send_scene(stage, 0, 3, 20);
    client_disconnected(stage->client);
    stage_connect(stage);
    stage_welcome(stage, true);
    (void)stage_up(stage, MESSAGE_BLOB_REQUEST);
    const uint32_t asked = stage->up_count[MESSAGE_BLOB_REQUEST];
    send_scene(stage, 3, 5, 16);
    CHECK_INT(client_state(stage->client), CLIENT_FETCHING);
    const MessageBlobRequest *request = stage_up(stage, MESSAGE_BLOB_REQUEST).body;
    CHECK_INT(request->from_chunk, 0);
    CHECK_INT(stage->up_count[MESSAGE_BLOB_REQUEST], asked + 1);
    send_scene(stage, 0, UINT32_MAX, 16);
    CHECK_INT(client_state(stage->client), CLIENT_PLAYING);
    stage_close(stage);
}

TEST(no_progress_and_refusals_ask_again)
{
    Stage *stage = stage_open(NULL, false);
    stage_connect(stage);
    stage_welcome(stage, false);
    const Message first = stage_up(stage, MESSAGE_BLOB_REQUEST);
    CHECK_INT(stage->up_count[MESSAGE_BLOB_REQUEST], 1);
    stage->now_ms += 4900;
    client_update(stage->client, stage->now_ms);
    (void)stage_up(stage, MESSAGE_BLOB_REQUEST);
    CHECK_INT(stage->up_count[MESSAGE_BLOB_REQUEST], 1);
    const MessageError error = {
        .code = stage_text("limit"), .message = stage_text("later"), .command_seq = first.seq};
    stage_send(stage, MESSAGE_ERROR, &error);
    stage->now_ms += 1100;
    client_update(stage->client, stage->now_ms);
    (void)stage_up(stage, MESSAGE_BLOB_REQUEST);
    CHECK_INT(stage->up_count[MESSAGE_BLOB_REQUEST], 2);
    stage->now_ms += 5100;
    client_update(stage->client, stage->now_ms);
    (void)stage_up(stage, MESSAGE_BLOB_REQUEST);
    CHECK_INT(stage->up_count[MESSAGE_BLOB_REQUEST], 3);
    stage_close(stage);
}

TEST(damaged_scene_closes)
{
    Stage *stage = stage_open(NULL, false);
    stage_connect(stage);
    stage_welcome(stage, false);
    stage->scene.data[stage->scene.bytes / 2] ^= 1;
    send_scene(stage, 0, UINT32_MAX, 20);
    CHECK(closed_with(stage, "protocol: the scene is not"));
    stage_close(stage);

    stage = stage_open(NULL, false);
    stage_connect(stage);
    stage_welcome(stage, false);
    send_scene(stage, 0, 1, 20);
    send_scene(stage, 2, 3, 20);
    CHECK(closed_with(stage, "protocol: chunk 2"));
    stage_close(stage);
}

TEST(owner_brings_the_scene)
{
    ClientConfig config = client_config_default();
    config.owner_fetches = true;
    Stage *stage = stage_open(&config, false);
    CHECK_INT(client_give(stage->client, stage->scene.data, stage->scene.bytes), STATUS_NOT_FOUND);
    stage_connect(stage);
    stage_welcome(stage, false);
    CHECK_INT(stage->up_count[MESSAGE_BLOB_REQUEST], 0);
    ClientWant want;
    REQUIRE(client_want(stage->client, 0, &want));
    CHECK(want.kind == CLIENT_WANT_SCENE);
    CHECK_INT(want.bytes, stage->scene.bytes);
    CHECK_BYTES(want.hash, stage->place->hash, 32);
    CHECK(!client_want(stage->client, 1, &want));
    stage->scene.data[9] ^= 1;
    CHECK_INT(client_give(stage->client, stage->scene.data, stage->scene.bytes), STATUS_MISMATCH);
    stage->scene.data[9] ^= 1;
    CHECK_OK(client_give(stage->client, stage->scene.data, stage->scene.bytes));
    CHECK_INT(client_state(stage->client), CLIENT_PLAYING);
    CHECK_INT(client_give(stage->client, stage->scene.data, stage->scene.bytes), STATUS_NOT_FOUND);
    stage_close(stage);
}

// A scene that a world has made is not at the host: this one alone comes over the socket.
TEST(the_scene_alone_is_fetched_over_the_wire)
{
    ClientConfig config = client_config_default();
    config.owner_fetches = true;
    Stage *stage = stage_open(&config, false);
    stage_connect(stage);
    stage_welcome(stage, false);
    ClientWant want;
    REQUIRE(client_want(stage->client, 0, &want));
    const uint8_t other[32] = {1};
    CHECK(!client_fetch_one_over_wire(stage->client, other));
    CHECK(client_fetch_one_over_wire(stage->client, want.hash));
    stage_run(stage, 1);
    CHECK_INT(stage->up_count[MESSAGE_BLOB_REQUEST], 1);
    CHECK(!client_fetch_one_over_wire(stage->client, want.hash)); // it is on its way
    stage_close(stage);
}

// --- time and inputs ----------------------------------------------------------------------------

TEST(inputs_go_up_thirty_times_a_second)
{
    Stage *stage = stage_open(NULL, true);
    stage_play(stage);
    stage_run(stage, 120);
    const uint32_t before = stage->up_count[MESSAGE_INPUT_BATCH];
    const uint64_t frames = stage->input_frames;
    stage_run(stage, 300);
    CHECK_NEAR(stage->up_count[MESSAGE_INPUT_BATCH] - before, 150, 9);
    CHECK_NEAR(stage->input_frames - frames, 300, 16);
    const MessageInputBatch *batch = stage_up(stage, MESSAGE_INPUT_BATCH).body;
    CHECK_INT(batch->inputs_count, 2);
    CHECK_INT(batch->state_seq, batch->inputs[1].seq);
    CHECK(batch->state_hash != 0);
    CHECK(batch->view_tick < stage->tick && batch->view_tick + 30 > stage->tick);
    CHECK(stage->last.seq - batch->last_snapshot <= 1);
    CHECK(stage->newest_input > (uint32_t)stage->tick);
    const ClientStats stats = client_stats(stage->client);
    CHECK_INT(stats.visible, 1);
    CHECK_NEAR(stats.snapshot_interval_p99_ms, 50, 1);
    CHECK_INT(stats.predict.corrections_without_cause, 0);
    CHECK_INT(stats.snapshots, stage->last.seq);
    CHECK(stats.bytes_up > 0 && stats.bytes_down > 0);
    CHECK(stage->up_count[MESSAGE_PING] >= 6 && stage->up_count[MESSAGE_PING] <= 8);
    stage_close(stage);
}

TEST(a_press_between_two_ticks_is_not_lost)
{
    Stage *stage = stage_open(NULL, true);
    stage_play(stage);
    stage_run(stage, 30);
    CHECK_INT(stage->buttons_seen, 0);
    client_set_input(stage->client, &(ClientInput){.buttons = INPUT_FIRE});
    client_set_input(stage->client, &(ClientInput){.buttons = 0});
    stage_run(stage, 6);
    CHECK_INT(stage->buttons_seen, INPUT_FIRE);
    stage->buttons_seen = 0;
    stage_run(stage, 30);
    CHECK_INT(stage->buttons_seen, 0);
    stage_close(stage);
}

TEST(pongs_measure_the_link)
{
    Stage *stage = stage_open(NULL, true);
    stage_play(stage);
    stage_run(stage, 2);
    const MessagePing *ping = stage_up(stage, MESSAGE_PING).body;
    REQUIRE(ping != NULL);
    const MessagePong stranger = {.nonce = ping->nonce + 5, .tick = stage->tick};
    const MessagePong pong = {.nonce = ping->nonce, .tick = stage->tick};
    stage_send(stage, MESSAGE_PONG, &stranger);
    CHECK_NEAR(client_stats(stage->client).clock.rtt_ms, 0, 0.001);
    stage->now_ms += 40;
    stage_send(stage, MESSAGE_PONG, &pong);
    CHECK(client_stats(stage->client).clock.rtt_ms >= 40);
    CHECK_INT(client_state(stage->client), CLIENT_PLAYING);
    stage_close(stage);
}

// Hours in a drawer: it is not to play through them tick by tick.
TEST(a_pause_is_caught_up_at_once)
{
    Stage *stage = stage_open(NULL, true);
    stage_play(stage);
    stage_run(stage, 60);
    stage->now_ms += 3000;
    stage->tick += 180;
    client_update(stage->client, stage->now_ms);
    stage->newest_input = 0;
    stage_flush(stage);
    stage_run(stage, 12);
    CHECK(stage->newest_input + 6 > (uint32_t)stage->tick);
    CHECK(stage->newest_input < (uint32_t)stage->tick + 60);
    stage_close(stage);
}

// --- what is seen -------------------------------------------------------------------------------

TEST(others_are_shown_in_the_past_and_stand_in_the_sim)
{
    Stage *stage = stage_open(NULL, true);
    stage_play(stage);
    const NetState state = stage_state(vec3(-10, 0, 5), vec3(3, 0, 0), stage->tick);
    stage_enter(stage, 9, NET_PLAYER, 77, &state, NULL, NULL, 0);
    stage_flush(stage);
    stage_run(stage, 120);
    CHECK_INT(client_stats(stage->client).visible, 2);
    uint32_t slot = client_next(stage->client, UINT32_MAX);
    CHECK_INT(slot, 0);
    slot = client_next(stage->client, slot);
    CHECK_INT(slot, 9);
    CHECK_INT(client_next(stage->client, slot), UINT32_MAX);
    const ClientEntity entity = client_entity(stage->client, 9);
    CHECK_INT(entity.net_id, 77);
    REQUIRE(entity.line != NULL);
    const double since = client_view_time(stage->client) - 600;
    CHECK_NEAR(entity.pose.position.x, -10 + 3 * since / 60, 0.02);
    const Sim *sim = client_sim(stage->client);
    const Handle puppet = sim_find(sim, 77);
    REQUIRE(!handle_is_none(puppet));
    CHECK_NEAR(sim_entity(sim, puppet)->position.x, entity.pose.position.x, 0.001);
    stage_leave(stage, 9);
    stage_run(stage, 6);
    CHECK_INT(client_stats(stage->client).visible, 1);
    CHECK(handle_is_none(sim_find(sim, 77)));
    CHECK(client_entity(stage->client, 9).line == NULL);
    stage_close(stage);
}

// More movers than it has room for are not shown; nothing else happens.
TEST(more_than_visible_max)
{
    ClientConfig config = client_config_default();
    config.visible_max = 4;
    Stage *stage = stage_open(&config, true);
    stage_play(stage);
    for (uint32_t i = 1; i < 20; i++) {
        const NetState state = stage_state(vec3((float)i, 0, 8), VEC3_ZERO, stage->tick);
        stage_enter(stage, i * 3, NET_NPC, 100 + i, &state, NULL, NULL, 0);
    }
    stage_flush(stage);
    stage_run(stage, 30);
    CHECK_INT(client_state(stage->client), CLIENT_PLAYING);
    CHECK_INT(client_stats(stage->client).visible, 20);
    for (uint32_t i = 1; i < 20; i++) {
        stage_leave(stage, i * 3);
    }
    stage_flush(stage);
    const NetState state = stage_state(vec3(3, 0, 8), VEC3_ZERO, stage->tick);
    stage_enter(stage, 1, NET_NPC, 300, &state, NULL, NULL, 0);
    stage_flush(stage);
    CHECK(client_entity(stage->client, 1).line != NULL);
    stage_close(stage);
}

TEST(coming_back_keeps_the_scene_and_forgets_the_rest)
{
    Stage *stage = stage_open(NULL, true);
    stage_play(stage);
    const NetState state = stage_state(vec3(-10, 0, 5), VEC3_ZERO, stage->tick);
    stage_enter(stage, 9, NET_PLAYER, 77, &state, NULL, NULL, 0);
    stage_flush(stage);
    stage_run(stage, 30);
    const Sim *sim = client_sim(stage->client);
    client_disconnected(stage->client);
    CHECK_INT(client_send(stage->client, MESSAGE_RESPAWN, &(MessageRespawn){0}), 0);
    client_update(stage->client, stage->now_ms += 500);
    stage->tick += 30;
    stage_connect(stage);
    stage_welcome(stage, true);
    CHECK_INT(client_state(stage->client), CLIENT_PLAYING);
    CHECK(client_sim(stage->client) == sim);
    stage_body(stage, vec3(4, 0, 0));
    const NetState own = stage_state(vec3(4, 0, 0), VEC3_ZERO, stage->tick);
    stage_enter(stage, 4, NET_PLAYER, STAGE_BODY, &own, NULL, NULL, 0);
    stage_flush(stage);
    CHECK_INT(client_stats(stage->client).visible, 1);
    CHECK(handle_is_none(sim_find(sim, 77)));
    CHECK(client_own(stage->client).present);
    stage_run(stage, 60);
    CHECK(stage->newest_input > (uint32_t)stage->tick);
    stage_close(stage);
}

// --- terrain ------------------------------------------------------------------------------------

static uint32_t version_of(const Stage *stage, ChunkCoord at)
{
    return terrain_chunk_version(sim_terrain_view(client_sim(stage->client)), at);
}

static VoxelKind voxel_of(const Stage *stage, VoxelCoord at)
{
    return terrain_voxel(sim_terrain_view(client_sim(stage->client)), at);
}

TEST(edits_that_follow_are_made_others_are_asked_for)
{
    Stage *stage = stage_open(NULL, true);
    stage_play(stage);
    const WireChunkVersion chunks[2] = {{{0, -1, 0}, 1}, {{-1, -1, 0}, 1}};
    MessageTerraformApplied edit = {.shape = 1,
                                    .min = {-2, -2, 3},
                                    .max = {2, -1, 4},
                                    .voxel_kind = 0,
                                    .chunks = chunks,
                                    .chunks_count = 2};
    stage_event(stage, 0, MESSAGE_TERRAFORM_APPLIED, &edit);
    CHECK_INT(voxel_of(stage, (VoxelCoord){0, -1, 3}), 1);
    stage_flush(stage);
    // At once, not when the view comes there.
    CHECK_INT(voxel_of(stage, (VoxelCoord){0, -1, 3}), 0);
    CHECK_INT(voxel_of(stage, (VoxelCoord){-2, -2, 4}), 0);
    CHECK_INT(version_of(stage, (ChunkCoord){-1, -1, 0}), 1);
    CHECK_INT(client_stats(stage->client).edits_applied, 1);
    // Two versions on: a piece is missing.
    const WireChunkVersion later = {{0, -1, 0}, 3};
    edit.chunks = &later;
    edit.chunks_count = 1;
    edit.voxel_kind = 2;
    stage_event(stage, 0, MESSAGE_TERRAFORM_APPLIED, &edit);
    stage_flush(stage);
    CHECK_INT(voxel_of(stage, (VoxelCoord){0, -1, 3}), 0);
    stage_run(stage, 1);
    const MessageChunkRequest *request = stage_up(stage, MESSAGE_CHUNK_REQUEST).body;
    REQUIRE(request != NULL);
    CHECK_INT(request->chunks_count, 1);
    CHECK_INT(request->chunks[0].version, 1);
    CHECK_INT(request->chunks[0].at.y, -1);
    // The answer: a terrain of the server, edited three times.
    Terrain *server = NULL;
    const TerrainConfig config = {.chunk_max = 8, .page_max = 64};
    CHECK_OK(terrain_create(&stage->heap, &config, stage->place->chunks, &server));
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
    stage_send(stage, MESSAGE_CHUNK_DATA, &data);
    CHECK_INT(client_state(stage->client), CLIENT_PLAYING);
    CHECK_INT(voxel_of(stage, (VoxelCoord){0, -1, 3}), 2);
    CHECK_INT(version_of(stage, (ChunkCoord){0, -1, 0}), 3);
    CHECK_INT(client_stats(stage->client).chunks_applied, 1);
    // It was not requested again.
    stage_send(stage, MESSAGE_CHUNK_DATA, &data);
    CHECK_INT(client_stats(stage->client).chunks_applied, 1);
    terrain_destroy(&stage->heap, server);
    stage_close(stage);
}

TEST(chunks_are_asked_for_in_bounds_and_again)
{
    Stage *stage = stage_open(NULL, true);
    stage_play(stage);
    WireChunkVersion chunks[64];
    for (int32_t i = 0; i < 64; i++) {
        chunks[i] = (WireChunkVersion){{i - 32, 0, 1}, 2};
    }
    const MessageChunkVersions versions = {.chunks = chunks, .chunks_count = 64};
    stage_event(stage, 0, MESSAGE_CHUNK_VERSIONS, &versions);
    stage_event(stage, 0, MESSAGE_CHUNK_VERSIONS, &versions);
    stage_flush(stage);
    stage_run(stage, 30);
    CHECK_INT(stage->up_count[MESSAGE_CHUNK_REQUEST], 1);
    CHECK_INT(client_stats(stage->client).chunks_asked, 32);
    stage_run(stage, 120);
    CHECK_INT(stage->up_count[MESSAGE_CHUNK_REQUEST], 2);
    stage_close(stage);
}

// Terrain that does not fit: what is far away is given up for what is near.
TEST(a_full_terrain_gives_up_the_farthest)
{
    ClientConfig config = client_config_default();
    config.visible_max = 8;
    Stage *stage = stage_open(&config, true);
    stage_play(stage);
    const int32_t count = 48;
    for (int32_t i = count - 1; i >= 0; i--) {
        const WireChunkVersion chunk = {{i, 2, 0}, 1};
        const MessageTerraformApplied edit = {
            .min = {i * 32, 64, 0}, .voxel_kind = 1, .chunks = &chunk, .chunks_count = 1};
        stage_event(stage, 0, MESSAGE_TERRAFORM_APPLIED, &edit);
        stage_flush(stage);
    }
    CHECK_INT(client_state(stage->client), CLIENT_PLAYING);
    CHECK_INT(client_stats(stage->client).edits_applied, count);
    CHECK_INT(client_stats(stage->client).chunks_refused, 0);
    CHECK_INT(version_of(stage, (ChunkCoord){0, 2, 0}), 1);
    CHECK_INT(version_of(stage, (ChunkCoord){count - 1, 2, 0}), 0);
    CHECK_INT(voxel_of(stage, (VoxelCoord){(count - 1) * 32, 64, 0}), 0);
    // What is farther than all that is here does not fit.
    const WireChunkVersion far = {{100, 2, 0}, 1};
    const MessageTerraformApplied edit = {
        .min = {3200, 64, 0}, .voxel_kind = 1, .chunks = &far, .chunks_count = 1};
    stage_event(stage, 0, MESSAGE_TERRAFORM_APPLIED, &edit);
    stage_flush(stage);
    CHECK_INT(client_stats(stage->client).chunks_refused, 1);
    CHECK_INT(client_state(stage->client), CLIENT_PLAYING);
    stage_close(stage);
}

TEST(hostile_chunks_close)
{
    Stage *stage = stage_open(NULL, true);
    stage_play(stage);
    const WireChunkVersion chunk = {{1, 0, 1}, 2};
    const MessageChunkVersions versions = {.chunks = &chunk, .chunks_count = 1};
    stage_event(stage, 0, MESSAGE_CHUNK_VERSIONS, &versions);
    stage_flush(stage);
    const uint8_t junk[5] = {1, 2, 3, 4, 5};
    const MessageChunkData data = {.at = {1, 0, 1}, .version = 2, .data = {junk, 5}};
    stage_send(stage, MESSAGE_CHUNK_DATA, &data);
    CHECK(closed_with(stage, "protocol: a chunk cannot"));
    stage_close(stage);

    stage = stage_open(NULL, true);
    stage_play(stage);
    const WireChunkVersion outside = {{512, 0, 0}, 2};
    const MessageChunkVersions far = {.chunks = &outside, .chunks_count = 1};
    stage_event(stage, 0, MESSAGE_CHUNK_VERSIONS, &far);
    stage_flush(stage);
    CHECK(closed_with(stage, "protocol: a chunk outside"));
    stage_close(stage);
}

// --- events -------------------------------------------------------------------------------------

static const ClientEvent *skip_answers(Stage *stage)
{
    const ClientEvent *event = client_event(stage->client);
    while (event != NULL && event->tick == 0) {
        event = client_event(stage->client);
    }
    return event;
}

TEST(events_come_when_the_view_reaches_their_tick)
{
    Stage *stage = stage_open(NULL, true);
    stage_play(stage);
    stage_run(stage, 60);
    CHECK(skip_answers(stage) == NULL);
    const uint64_t tick = stage->tick;
    const MessageDied died = {.entity_id = 77, .cause = 3};
    const MessageChatSaid said = {.player = 2, .name = stage_text("Bo"), .text = stage_text("hi")};
    stage_event(stage, 2, MESSAGE_DIED, &died);
    stage_event(stage, 0, MESSAGE_CHAT_SAID, &said);
    stage_flush(stage);
    const MessageAck ack = {.command_seq = 5};
    stage_send(stage, MESSAGE_ACK, &ack);
    const ClientEvent *event = client_event(stage->client);
    REQUIRE(event != NULL);
    CHECK_INT(event->message.number, MESSAGE_ACK);
    CHECK(client_event(stage->client) == NULL);
    for (uint32_t i = 0; i < 60 && (event = client_event(stage->client)) == NULL; i++) {
        CHECK(client_view_tick(stage->client) < tick - 2);
        stage_run(stage, 1);
    }
    REQUIRE(event != NULL);
    CHECK_INT(event->message.number, MESSAGE_DIED);
    CHECK_INT(event->tick, tick - 2);
    CHECK_INT(((const MessageDied *)event->message.body)->entity_id, 77);
    CHECK(client_view_tick(stage->client) >= tick - 2);
    stage_run(stage, 6);
    event = client_event(stage->client);
    REQUIRE(event != NULL);
    CHECK_INT(event->message.number, MESSAGE_CHAT_SAID);
    CHECK_BYTES(((const MessageChatSaid *)event->message.body)->text.data, "hi", 2);
    CHECK(client_event(stage->client) == NULL);
    stage_close(stage);
}

// If nothing reads them, the oldest are dropped, and the newest are still there.
TEST(a_full_queue_of_events_gives_up_the_oldest)
{
    Stage *stage = stage_open(NULL, true);
    stage_play(stage);
    char text[400];
    memset(text, 'x', sizeof text);
    for (uint32_t i = 0; i < 200; i++) {
        const MessageChatSaid said = {.player = i + 1, .text = {text, sizeof text}};
        stage_event(stage, 0, MESSAGE_CHAT_SAID, &said);
        stage_flush(stage);
        stage_run(stage, 1);
    }
    stage_run(stage, 30);
    CHECK(client_stats(stage->client).events_dropped > 100);
    CHECK_INT(client_stats(stage->client).events, 201); // and the player's own name
    uint64_t newest = 0;
    const ClientEvent *event = NULL;
    while ((event = skip_answers(stage)) != NULL) {
        const uint64_t player = ((const MessageChatSaid *)event->message.body)->player;
        CHECK(newest == 0 || player == newest + 1);
        newest = player;
    }
    CHECK_INT(newest, 200);
    stage_close(stage);
}

TEST(output_is_bounded)
{
    Stage *stage = stage_open(NULL, true);
    stage_play(stage);
    char text[500];
    memset(text, 'y', sizeof text);
    const MessageChatSay say = {.text = {text, sizeof text}};
    uint32_t sent = 0;
    uint32_t last = 0;
    uint32_t seq = 0;
    while (sent < 1000 && (seq = client_send(stage->client, MESSAGE_CHAT_SAY, &say)) != 0) {
        CHECK(last == 0 || seq == last + 1);
        last = seq;
        sent += 1;
    }
    CHECK(sent > 20 && sent < 40);
    CHECK_INT(client_stats(stage->client).outputs_dropped, 1);
    const Message message = stage_up(stage, MESSAGE_CHAT_SAY);
    CHECK_INT(message.seq, last);
    CHECK(client_send(stage->client, MESSAGE_CHAT_SAY, &say) == last + 1);
    stage_close(stage);
}

// --- what makes no sense ------------------------------------------------------------------------

TEST(nothing_is_taken_before_the_welcome)
{
    const uint8_t numbers[] = {MESSAGE_ACK, MESSAGE_PONG, MESSAGE_CHUNK_DATA, MESSAGE_PROFILES};
    for (uint32_t i = 0; i < 4; i++) {
        Stage *stage = stage_open(NULL, true);
        stage_connect(stage);
        const uint8_t bytes[8] = {numbers[i], 1};
        client_receive(stage->client, stage->now_ms, bytes, sizeof bytes);
        CHECK(closed_with(stage, "protocol: "));
        stage_close(stage);
    }
    Stage *stage = stage_open(NULL, true);
    stage_connect(stage);
    stage_flush(stage);
    CHECK(closed_with(stage, "protocol: message 68"));
    stage_close(stage);
}

TEST(errors_end_the_session_when_they_say_so)
{
    Stage *stage = stage_open(NULL, true);
    stage_connect(stage);
    MessageError error = {.code = stage_text("unsupported_version"),
                          .message = stage_text("Update the client."),
                          .fatal = true};
    stage_send(stage, MESSAGE_ERROR, &error);
    CHECK_INT(client_state(stage->client), CLIENT_CLOSED);
    CHECK_TEXT(client_closed_reason(stage->client), "unsupported_version: Update the client.");
    CHECK(client_is_outdated(stage->client));
    client_disconnected(stage->client);
    CHECK_INT(client_state(stage->client), CLIENT_CLOSED);
    stage_connect(stage);
    CHECK_TEXT(client_closed_reason(stage->client), "");
    CHECK(!client_is_outdated(stage->client));
    stage_welcome(stage, false);
    error.fatal = false;
    stage_send(stage, MESSAGE_ERROR, &error);
    CHECK_INT(client_state(stage->client), CLIENT_PLAYING);
    stage_welcome(stage, false);
    CHECK(closed_with(stage, "protocol: message 78"));
    stage_close(stage);
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
        Stage *stage = stage_open(NULL, true);
        stage_connect(stage);
        client_receive(stage->client, stage->now_ms, rows[i].bytes, rows[i].count);
        CHECK_INT(client_state(stage->client), CLIENT_CLOSED);
        CHECK_INT(client_is_outdated(stage->client), rows[i].is_outdated);
        CHECK_INT(closed_with(stage, "unsupported_version: "), rows[i].is_outdated);
        stage_close(stage);
    }
    // A world from before there was a number does not know this handshake.
    Stage *stage = stage_open(NULL, true);
    stage_connect(stage);
    const MessageError error = {
        .code = stage_text("handshake_first"), .message = stage_text("say who"), .fatal = true};
    stage_send(stage, MESSAGE_ERROR, &error);
    CHECK(client_is_outdated(stage->client));
    stage_close(stage);
}

TEST(frames_that_do_not_follow_close)
{
    Stage *stage = stage_open(NULL, true);
    stage_play(stage);
    stage->last.seq += 1;
    stage_flush(stage);
    CHECK(closed_with(stage, "protocol: a frame"));
    const uint64_t hash = client_hash(stage->client);
    stage_flush(stage); // deaf now
    client_update(stage->client, stage->now_ms + 100);
    CHECK_INT(client_hash(stage->client) == hash, 1);
    stage_close(stage);
}

TEST(unknown_messages_are_skipped)
{
    Stage *stage = stage_open(NULL, true);
    stage_play(stage);
    const uint8_t later[4] = {200, 1, 2, 3};
    client_receive(stage->client, stage->now_ms, later, sizeof later);
    CHECK_INT(client_state(stage->client), CLIENT_PLAYING);
    client_receive(stage->client, stage->now_ms, later, 0);
    CHECK(closed_with(stage, "protocol: a message of 0"));
    stage_close(stage);
}

// Every byte of a whole session flipped once: it plays or closes, it never breaks.
TEST(any_flipped_byte_plays_or_closes)
{
    Rng rng = rng_make(test_seed(), 1);
    for (uint32_t round = 0; round < 60; round++) {
        Stage *stage = stage_open(NULL, true);
        stage_play(stage);
        const NetState state = stage_state(vec3(1, 0, 1), vec3(1, 0, 0), stage->tick);
        stage_enter(stage, 5, NET_NPC, 55, &state, NULL, NULL, 0);
        const MessageDied died = {.entity_id = 55};
        stage_event(stage, 0, MESSAGE_DIED, &died);
        stage_flush(stage);
        for (uint32_t i = 0; i < 20; i++) {
            stage->tick += 3;
            stage->now_ms += 50;
            uint8_t bytes[256];
            const size_t count = 2 + rng_below(&rng, 60);
            memcpy(bytes, stage->frame, count);
            bytes[rng_below(&rng, (uint32_t)count)] ^= (uint8_t)(1u << rng_below(&rng, 8));
            client_receive(stage->client, stage->now_ms, bytes, count);
            client_update(stage->client, stage->now_ms);
            while (client_event(stage->client) != NULL) {
            }
        }
        const ClientState end = client_state(stage->client);
        CHECK(end == CLIENT_CLOSED || end == CLIENT_PLAYING);
        stage_close(stage);
    }
}

// --- memory -------------------------------------------------------------------------------------

TEST(playing_takes_nothing_from_the_heap)
{
    Stage *stage = stage_open(NULL, true);
    stage_play(stage);
    const NetState state = stage_state(vec3(-10, 0, 5), vec3(3, 0, 0), stage->tick);
    stage_enter(stage, 9, NET_PLAYER, 77, &state, NULL, NULL, 0);
    stage_flush(stage);
    stage_run(stage, 30);
    heap_freeze(&stage->heap);
    for (uint32_t i = 0; i < 60; i++) {
        const float x = (float)i * 0.1f;
        const NetState next = stage_state(vec3(x, 0, 5), vec3(0, 0, 2), stage->tick);
        stage_change(stage, 9, &next);
        const MessageNpcEvent npc = {.entity_id = 77, .new_state = 1};
        stage_event(stage, 1, MESSAGE_NPC_EVENT, &npc);
        stage_flush(stage);
        client_set_input(stage->client, &(ClientInput){.move_z = 1, .yaw = x});
        stage_run(stage, 10);
        while (client_event(stage->client) != NULL) {
        }
    }
    heap_thaw(&stage->heap);
    CHECK_INT(client_state(stage->client), CLIENT_PLAYING);
    stage_close(stage);
}

// A thousand bots are to fit into one process: 64 visible, no scripts, the scene shared.
TEST(a_client_is_small)
{
    for (uint32_t visible = 64; visible <= 256; visible += 192) {
        ClientConfig config = client_config_default();
        config.visible_max = visible;
        Stage *stage = stage_open(&config, true);
        const uint64_t own = stage->heap.bytes_now;
        stage_play(stage);
        const uint64_t playing = stage->heap.bytes_now - own;
        client_destroy(&stage->heap, stage->client);
        stage->client = NULL;
        const uint64_t block = own - stage->heap.bytes_now;
        printf("%u visible: %llu KiB, and %llu KiB of prediction\n", visible,
               (unsigned long long)(block >> 10), (unsigned long long)(playing >> 10));
        CHECK(block + playing < (visible == 64 ? 720u << 10 : 6u << 20));
        stage_close(stage);
    }
}

TEST(the_same_messages_give_the_same_hash)
{
    uint64_t hashes[2];
    for (uint32_t round = 0; round < 2; round++) {
        Stage *stage = stage_open(NULL, true);
        stage_play(stage);
        client_set_input(stage->client, &(ClientInput){.move_z = 1});
        stage_run(stage, 90);
        hashes[round] = client_hash(stage->client);
        stage_run(stage, 3);
        CHECK(client_hash(stage->client) != hashes[round]);
        stage_close(stage);
    }
    CHECK(hashes[0] == hashes[1]);
}

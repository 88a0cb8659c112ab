// See local_stage.h.
#include "tests/support/local_stage.h"

#include "core/base/check.h"
#include "tests/support/test.h"

#include <stdio.h>
#include <string.h>

#define TICK_MS (1000.0 / 60)

PlaceFile place_file(const char *path, const char *text)
{
    return (PlaceFile){path, (const uint8_t *)text, strlen(text)};
}

void local_stage_open(LocalStage *stage, const PlaceFile *files, uint32_t count)
{
    const LocalHostConfig config = local_host_config_default();
    PlaceError error;
    *stage = (LocalStage){.heap = heap_make(1ull << 30)};
    const Status status =
        local_host_create(&stage->heap, &config, files, count, &stage->host, &error);
    if (status != STATUS_OK) {
        char text[512];
        place_error_text(&error, text, sizeof text);
        printf("%s\n", text);
    }
    ASSERT(status == STATUS_OK);
}

void local_stage_close(LocalStage *stage)
{
    for (uint32_t i = 0; i < stage->player_count; i++) {
        client_destroy(&stage->heap, stage->players[i].client);
    }
    local_host_destroy(stage->host);
    CHECK_INT(stage->heap.bytes_now, 0);
}

static Status enter(LocalStage *stage, EntryType type, uint64_t connection)
{
    const Entry entry = {.type = type, .connection = connection};
    return local_host_enter(stage->host, &entry);
}

void local_stage_connect(LocalStage *stage, StagePlayer *player)
{
    player->connection = ++stage->connections;
    CHECK_OK(enter(stage, ENTRY_CONNECT, player->connection));
    client_connect(player->client, stage->now_ms);
}

StagePlayer *local_stage_join(LocalStage *stage, const char *name)
{
    StagePlayer *player = &stage->players[stage->player_count++];
    ClientConfig config = client_config_default();
    snprintf(config.name, sizeof config.name, "%s", name);
    snprintf(config.player_id, sizeof config.player_id, "%s", name);
    config.owner_fetches = true;
    config.scripts = true;
    const Status status = client_create(&stage->heap, &config, &player->client);
    ASSERT(status == STATUS_OK);
    local_stage_connect(stage, player);
    return player;
}

// The scene is at hand, runes are not.
static void fetch(LocalStage *stage, StagePlayer *player)
{
    ClientWant want;
    while (client_want(player->client, 0, &want)) {
        if (want.kind != CLIENT_WANT_SCENE) {
            client_fetch_over_wire(player->client);
            return;
        }
        size_t bytes;
        const uint8_t *scene = local_host_scene(stage->host, &bytes);
        CHECK_OK(client_give(player->client, scene, bytes));
    }
}

static void send(LocalStage *stage, StagePlayer *player)
{
    const uint8_t *bytes;
    size_t count;
    client_set_input(player->client, &player->input);
    client_update(player->client, stage->now_ms);
    while (client_output(player->client, &bytes, &count)) {
        const Entry entry = {.type = ENTRY_MESSAGE,
                             .connection = player->connection,
                             .bytes = bytes,
                             .byte_count = count};
        CHECK_OK(local_host_enter(stage->host, &entry));
        client_output_take(player->client);
    }
}

static void receive(LocalStage *stage, StagePlayer *player)
{
    const uint8_t *bytes;
    size_t count;
    World *world = local_host_world(stage->host);
    while (world_output(world, player->connection, &bytes, &count)) {
        client_receive(player->client, stage->now_ms, bytes, count);
        world_output_take(world, player->connection);
    }
    fetch(stage, player);
    while (client_event(player->client) != NULL) {
    }
}

void local_stage_run(LocalStage *stage, uint32_t seconds)
{
    for (uint32_t tick = 0; tick < seconds * 60; tick++) {
        stage->now_ms += TICK_MS;
        for (uint32_t i = 0; i < stage->player_count; i++) {
            send(stage, &stage->players[i]);
        }
        const Entry entry = {.type = ENTRY_TICK,
                             .number = 1700000000000ull + (uint64_t)(stage->now_ms + 0.5)};
        CHECK_OK(local_host_enter(stage->host, &entry));
        for (uint32_t i = 0; i < stage->player_count; i++) {
            receive(stage, &stage->players[i]);
        }
    }
}

void local_stage_reconnect(LocalStage *stage)
{
    for (uint32_t i = 0; i < stage->player_count; i++) {
        client_disconnected(stage->players[i].client);
        local_stage_connect(stage, &stage->players[i]);
    }
}

bool local_stage_plays(const StagePlayer *player)
{
    const bool playing = client_state(player->client) == CLIENT_PLAYING;
    if (!playing) {
        printf("%s\n", client_closed_reason(player->client));
    }
    return playing;
}

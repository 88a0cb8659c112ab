// See local_game.h.
#include "tests/support/local_game.h"

#include "core/base/check.h"
#include "tests/support/test.h"

#include <stdio.h>
#include <string.h>

#define TICK_MS (1000.0 / 60)

PlaceFile place_file(const char *path, const char *text)
{
    return (PlaceFile){path, (const uint8_t *)text, strlen(text)};
}

void local_game_open(LocalGame *game, const PlaceFile *files, uint32_t count)
{
    const LocalHostConfig config = local_host_config_default();
    PlaceError error;
    *game = (LocalGame){.heap = heap_make(1ull << 30)};
    const Status status =
        local_host_create(&game->heap, &config, files, count, &game->host, &error);
    if (status != STATUS_OK) {
        char text[512];
        place_error_text(&error, text, sizeof text);
        printf("%s\n", text);
    }
    ASSERT(status == STATUS_OK);
}

void local_game_close(LocalGame *game)
{
    for (uint32_t i = 0; i < game->player_count; i++) {
        client_destroy(&game->heap, game->players[i].client);
    }
    local_host_destroy(game->host);
    CHECK_INT(game->heap.bytes_now, 0);
}

static Status enter(LocalGame *game, EntryType type, uint64_t connection)
{
    const Entry entry = {.type = type, .connection = connection};
    return local_host_enter(game->host, &entry);
}

void local_game_connect(LocalGame *game, GamePlayer *player)
{
    player->connection = ++game->connections;
    CHECK_OK(enter(game, ENTRY_CONNECT, player->connection));
    client_connect(player->client, game->now_ms);
}

GamePlayer *local_game_join(LocalGame *game, const char *name)
{
    GamePlayer *player = &game->players[game->player_count++];
    ClientConfig config = client_config_default();
    snprintf(config.name, sizeof config.name, "%s", name);
    snprintf(config.player_id, sizeof config.player_id, "%s", name);
    config.owner_fetches = true;
    config.scripts = true;
    const Status status = client_create(&game->heap, &config, &player->client);
    ASSERT(status == STATUS_OK);
    local_game_connect(game, player);
    return player;
}

// The scene is at hand, runes are not.
static void fetch(LocalGame *game, GamePlayer *player)
{
    ClientWant want;
    while (client_want(player->client, 0, &want)) {
        if (want.kind != CLIENT_WANT_SCENE) {
            client_fetch_over_wire(player->client);
            return;
        }
        size_t bytes;
        const uint8_t *scene = local_host_scene(game->host, &bytes);
        CHECK_OK(client_give(player->client, scene, bytes));
    }
}

static void send(LocalGame *game, GamePlayer *player)
{
    const uint8_t *bytes;
    size_t count;
    client_set_input(player->client, &player->input);
    client_update(player->client, game->now_ms);
    while (client_output(player->client, &bytes, &count)) {
        const Entry entry = {.type = ENTRY_MESSAGE,
                             .connection = player->connection,
                             .bytes = bytes,
                             .byte_count = count};
        CHECK_OK(local_host_enter(game->host, &entry));
        client_output_take(player->client);
    }
}

static void receive(LocalGame *game, GamePlayer *player)
{
    const uint8_t *bytes;
    size_t count;
    World *world = local_host_world(game->host);
    while (world_output(world, player->connection, &bytes, &count)) {
        client_receive(player->client, game->now_ms, bytes, count);
        world_output_take(world, player->connection);
    }
    fetch(game, player);
    while (client_event(player->client) != NULL) {
    }
}

void local_game_run(LocalGame *game, uint32_t seconds)
{
    for (uint32_t tick = 0; tick < seconds * 60; tick++) {
        game->now_ms += TICK_MS;
        for (uint32_t i = 0; i < game->player_count; i++) {
            send(game, &game->players[i]);
        }
        const Entry entry = {.type = ENTRY_TICK,
                             .number = 1700000000000ull + (uint64_t)(game->now_ms + 0.5)};
        CHECK_OK(local_host_enter(game->host, &entry));
        for (uint32_t i = 0; i < game->player_count; i++) {
            receive(game, &game->players[i]);
        }
    }
}

void local_game_reconnect(LocalGame *game)
{
    for (uint32_t i = 0; i < game->player_count; i++) {
        client_disconnected(game->players[i].client);
        local_game_connect(game, &game->players[i]);
    }
}

bool local_game_plays(const GamePlayer *player)
{
    const bool playing = client_state(player->client) == CLIENT_PLAYING;
    if (!playing) {
        printf("%s\n", client_closed_reason(player->client));
    }
    return playing;
}

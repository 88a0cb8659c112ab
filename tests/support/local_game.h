// A world whose owner is in the same process (core/world/local), with real clients and their clock:
// what one sends, the other has at once.
#pragma once

#include "core/client/client.h"
#include "core/world/local/local_host.h"

#define LOCAL_GAME_PLAYERS 2

typedef struct GamePlayer {
    Client *client;
    uint64_t connection;
    ClientInput input;
} GamePlayer;

typedef struct LocalGame {
    Heap heap;
    LocalHost *host;
    double now_ms;
    uint64_t connections;
    GamePlayer players[LOCAL_GAME_PLAYERS];
    uint32_t player_count;
} LocalGame;

PlaceFile place_file(const char *path, const char *text);
void local_game_open(LocalGame *game, const PlaceFile *files, uint32_t count);
void local_game_close(LocalGame *game); // checks that all memory was given back
GamePlayer *local_game_join(LocalGame *game, const char *name);
void local_game_connect(LocalGame *game, GamePlayer *player);
void local_game_reconnect(LocalGame *game); // all of them, after the world was made anew
void local_game_run(LocalGame *game, uint32_t seconds);
bool local_game_plays(const GamePlayer *player); // prints why not

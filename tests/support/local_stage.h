// A world whose owner is in the same process (core/world/local), with real clients and their clock:
// what one sends, the other has at once.
#pragma once

#include "core/client/client.h"
#include "core/world/local/local_host.h"

#define LOCAL_STAGE_PLAYERS 2

typedef struct StagePlayer {
    Client *client;
    uint64_t connection;
    ClientInput input;
} StagePlayer;

typedef struct LocalStage {
    Heap heap;
    LocalHost *host;
    double now_ms;
    uint64_t connections;
    StagePlayer players[LOCAL_STAGE_PLAYERS];
    uint32_t player_count;
} LocalStage;

PlaceFile place_file(const char *path, const char *text);
void local_stage_open(LocalStage *stage, const PlaceFile *files, uint32_t count);
void local_stage_close(LocalStage *stage); // checks that all memory was given back
StagePlayer *local_stage_join(LocalStage *stage, const char *name);
void local_stage_connect(LocalStage *stage, StagePlayer *player);
void local_stage_reconnect(LocalStage *stage); // all of them, after the world was made anew
void local_stage_run(LocalStage *stage, uint32_t seconds);
bool local_stage_plays(const StagePlayer *player); // prints why not

// A real world of the harness, inside: real_world.c is what a world process does around core/world,
// real_player.c are its players.
#pragma once

#include "core/client/client.h"
#include "core/world/world.h"
#include "tests/scenario/host/hosts.h"

#define REAL_PLAYERS_MAX  8
#define REAL_PENDING_MAX  8
#define REAL_REQUESTS_MAX 64

struct RealPlace {
    Heap heap;
    Place *whole, *stripped;
    uint8_t *whole_data, *stripped_data;
    size_t whole_bytes, stripped_bytes;
};

// A command that was sent and is not known to be durable yet.
typedef struct RealPending {
    uint32_t seq; // 0: free
    bool is_removal;
    uint64_t net_id; // 0: not known yet
} RealPending;

typedef struct RealPlayer {
    uint64_t connection; // 0: free
    uint64_t socket;
    Client *client;
    uint64_t update_us, command_us, leave_us;
    RealPending pending[REAL_PENDING_MAX];
    uint64_t built[REAL_PENDING_MAX]; // of its own
    uint32_t built_count;
} RealPlayer;

// A save, or an increment of the DataStore, that was sent and not answered.
typedef struct RealRequest {
    uint64_t request, sent_us;
    bool is_save;
    uint64_t highest; // of the numbers that were given when it was sent
} RealRequest;

struct RealWorld {
    Heap heap, client_heap;
    LogSink log;
    World *world;
    uint64_t tick_us; // of the next
    uint64_t beat_us;
    RealPlayer players[REAL_PLAYERS_MAX];
    RealRequest requests[REAL_REQUESTS_MAX];
    uint32_t request_count;
    bool was_checked; // after its first tick
    bool was_paused;
};

// --- real_player.c ------------------------------------------------------------------------------
// Somebody has a socket; what was read from it is the ticket.
void real_player_add(StubProcess *process, const StubMessage *message);
// After each step of time: what they say, what they are told, who goes.
void real_players_step(StubProcess *process);
void real_player_gone(StubProcess *process, RealPlayer *player); // for the world and the host too
void real_players_free(StubProcess *process);

// A real world of the harness, inside: real_world.c is what a world process does around core/world,
// real_player.c are its players.
#pragma once

#include "core/client/client.h"
#include "core/script/vm/vm.h"
#include "core/world/world.h"
#include "server/shell/rune_gate.h"
#include "tests/scenario/host/hosts.h"

#define REAL_PLAYERS_MAX  8
#define REAL_PENDING_MAX  8
#define REAL_REQUESTS_MAX 64

#define REAL_SETS_MAX 1024
#define REAL_VERSIONS 64 // of one life that are remembered
#define REAL_BROKEN   "a set that fails"

struct RealPlace {
    Heap heap;
    Vm *vm;                                       // compiles sets
    uint8_t keepers[REAL_SETS_MAX][SHA256_BYTES]; // by set: the rune that only it has
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
    // Its scripts.
    StubProcess *process;
    LogSink log;
    uint32_t hud_version; // of the manifest that Hud started with; 0: it has not
    uint64_t playing_us;  // since when; 0: it does not
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
    // Its scripts (real_sets.c).
    RuneGate gate;
    uint32_t staged_set, staged_version; // what came last
    uint32_t version;                    // what it has switched to
    uint64_t switched_us;                // when; 0: it began with it
    uint32_t sets[REAL_VERSIONS];        // by version
    uint32_t keeper_version, count_starts;
};

// --- real_player.c ------------------------------------------------------------------------------
// Somebody has a socket; what was read from it is the ticket.
void real_player_add(StubProcess *process, const StubMessage *message);
// After each step of time: what they say, what they are told, who goes.
void real_players_step(StubProcess *process);
void real_player_gone(StubProcess *process, RealPlayer *player); // for the world and the host too
void real_players_free(StubProcess *process);

// --- real_sets.c --------------------------------------------------------------------------------
void real_set_fill(RealPlace *place, uint32_t set, BuildResult *built); // its runes and manifest
uint32_t real_set_of(const RealPlace *place, const HostPlace *host_place);
// How a world begins: the gate, each entry before the world gets it, all are there.
void real_set_open(StubProcess *process, const HostBeginning *beginning);
MUST_USE Status real_set_check(StubProcess *process, const Entry *entry);
void real_set_begun(StubProcess *process);
void real_set_close(StubProcess *process);
// A reload: a piece of its manifest, an entry, and what the world says of it.
void real_set_piece(StubProcess *process, const StubMessage *message);
void real_set_entry(StubProcess *process, const Entry *entry);
void real_set_told(StubProcess *process, const Command *command);
// What scripts print, and whether a client is where it should be.
void real_set_server_log(StubProcess *process, const char *text);
void real_set_client_log(void *user, const LogEvent *event);
MUST_USE Status real_set_verify(void *user, const uint8_t *text, size_t bytes,
                                const uint8_t *signature);
void real_set_check_player(StubProcess *process, RealPlayer *player);

// One world: its row in the store, its lease, its process, and whoever waits for it. A state
// machine that never waits for anything itself:
//
//   MAKING ──▶ STOPPED ──wanted──▶ TAKING ──epoch, rows──▶ STARTING ──READY──▶ RUNNING
//                 ▲                  ▲  │ refused             │                  │ stop, or empty
//                 │             WAITING◀┘                     │ ended    ended   ▼
//                 │                  ▲                        ▼◀──────────── STOPPING
//              RELEASING ◀──────────────────────────────── ENDING ─▶ DRAINING
//
// TAKING asks the store for the next epoch and all rows. ENDING waits for the end of the process,
// DRAINING for what it had given to the store: then the world begins again (WAITING), or its lease
// is given back (RELEASING).
#pragma once

#include "server/channel/client_table.h"
#include "server/channel/script_table.h"
#include "server/host/host.h"

#define HOST_SAVES_MAX    16   // a world has at most 8 without an answer
#define HOST_REQUESTS_MAX 1024 // DataStore requests without an answer
#define HOST_SOCKETS_MAX  1024 // on their way to one world

typedef enum HostWorldState {
    WORLD_MAKING,
    WORLD_STOPPED,
    WORLD_WAITING,
    WORLD_TAKING,
    WORLD_STARTING,
    WORLD_RUNNING,
    WORLD_STOPPING,
    WORLD_ENDING,
    WORLD_DRAINING,
    WORLD_RELEASING,
    WORLD_STATE_COUNT
} HostWorldState;

// What anybody may know of a world.
typedef struct HostWorldView {
    const StoreWorld *row;
    const HostPlace *place; // NULL: this host does not have it
    HostWorldState state;
    uint64_t epoch;
    uint32_t players, player_max;
    uint64_t starts, crashes, kills;
    uint64_t up_ns; // since its process was started; 0: it has none
    const HostStats *stats;
} HostWorldView;
HostWorldView host_world_view(const HostWorld *world);
bool host_world_is_ready(const HostWorld *world);

uint64_t host_world_life(const HostWorld *world);  // a number for its process, never reused, not 0
HostLink *host_world_link(const HostWorld *world); // NULL: no process

// Whose account is that in this world? Its owner, an operator (by its flags), or somebody invited
// may come in without the code of a private one.
bool host_world_is_open_to(const HostWorld *world, const Ticket *who);
// STATUS_LIMIT: no memory.
MUST_USE Status host_world_invite(HostWorld *world, uint64_t account, bool is_invited);
// The store has it with this room code from now on.
void host_world_set_code(HostWorld *world, const char *room_code);
uint32_t host_world_guests(const HostWorld *world, const uint64_t **accounts);
// It does not run, and the store has it no more.
void host_world_forget(HostWorld *world);
bool host_world_is_stopped(const HostWorld *world);
// It does not run, or stops now because nobody is in it.
bool host_world_let_go(HostWorld *world);

void host_world_run(HostWorld *world); // it shall run
// Another host has taken it: what is known here of the one that held it before is wrong.
void host_world_taken_elsewhere(HostWorld *world);
// Another host asks for it: it stops here if nobody is in it.
void host_world_yield(HostWorld *world);
bool host_world_has_other_place(const HostWorld *world); // as below
// It shall not; whoever is in it is told why. The next join starts it again.
void host_world_stop(HostWorld *world, const char *reason);
// The same, and the pages of those who are told do not bring it back by themselves.
void host_world_shut(HostWorld *world, const char *reason);
// It stops and starts again at once, with the place as it is here now and all that is stored of it;
// whoever is in it is told why and comes back. One without a process starts so anyway.
void host_world_restart(HostWorld *world, const char *reason);
// What the store has of it was stored when it ran from another form of its place.
void host_world_set_other_place(HostWorld *world);
// What the store has of it was put there by somebody else while it did not run.
void host_world_replace(HostWorld *world, const StoreWorld *row);
const ScriptTable *host_world_scripts(const HostWorld *world); // NULL: it has told nothing yet
// Which scripts the client of that account has, as the world says (version 0: it was sent none);
// NULL: it does not play there, or the world has not said yet.
const ClientVerdicts *host_world_client(const HostWorld *world, uint64_t account);
uint64_t host_world_scripts_version(const HostWorld *world); // one more for each that it told
// Everything on its link.
void host_world_receive(HostWorld *world);

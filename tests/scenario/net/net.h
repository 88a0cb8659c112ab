// A whole system in one process and in simulated time, from one seed: one world, up to 64 real
// clients, the links between them with all their faults, a store that replies late, and bots that
// play. While it runs, spies read every frame that leaves the world, and once per second what each
// client shows is compared with the true state on the server. At the end all links become calm and
// all bots stand still, and after three seconds every client must know everything exactly.
//
// Nothing here reads a clock. A seed that fails is printed and can be repeated exactly.
#pragma once

#include "core/base/heap.h"
#include "core/base/rng.h"
#include "core/client/client.h"
#include "core/world/world.h"

#include <stdbool.h>
#include <stdint.h>

#define NET_CLIENTS_MAX 64

// --- links --------------------------------------------------------------------------------------
typedef struct LinkProfile {
    const char *name;
    uint32_t delay_us;    // one way
    uint32_t jitter_us;   // up to this much more, segment by segment; the order stays
    uint32_t bandwidth;   // bytes a second; 0: no cap
    uint32_t queue_bytes; // what the sender may have on its way before it must wait
    uint32_t stalls_a_minute;
    uint32_t stall_us;      // up to this long nothing arrives, then all of it at once
    uint32_t cuts_a_minute; // in the middle of whatever is on its way
    uint32_t reconnect_us;  // until the client tries again
} LinkProfile;
extern const LinkProfile link_clean, link_home, link_mobile, link_slow, link_stalling, link_cut;

// One direction: an ordered stream of bytes, in which messages have their length before them.
typedef struct Stream Stream;
Stream *stream_create(Heap *heap);
void stream_destroy(Heap *heap, Stream *stream);
void stream_clear(Stream *stream);
// False when the sender has to wait.
bool stream_has_room(const Stream *stream, const LinkProfile *profile, size_t bytes);
void stream_send(Stream *stream, const LinkProfile *profile, Rng *rng, uint64_t now_us,
                 const uint8_t *message, size_t bytes);
// A whole message that has arrived; valid until the next call. False: none.
bool stream_receive(Stream *stream, uint64_t now_us, const uint8_t **message, size_t *bytes);
// Bytes on their way: a cut loses them.
size_t stream_in_flight(const Stream *stream);
// The line is free from now on: what is on its way arrives within so long.
void stream_calm(Stream *stream, uint64_t now_us, uint32_t within_us);

// --- bots ---------------------------------------------------------------------------------------
typedef enum BotKind {
    BOT_WALK,  // somewhere else every few seconds, running, jumping
    BOT_CROWD, // everybody to one place
    BOT_FIGHT, // towards the nearest, shooting
    BOT_BUILD, // builds, digs, takes down
    BOT_RIDE,  // to the platforms, and stays on them
    BOT_STAND,
    BOT_CHURN,   // leaves and comes again
    BOT_HOSTILE, // sends what no client sends
    BOT_KIND_COUNT
} BotKind;

typedef struct Bot {
    BotKind kind;
    Rng rng;
    uint64_t next_us;    // when it changes its mind
    uint64_t command_us; // when it may command again
    Vec3 goal;
    bool run;
    uint64_t built[8]; // structures of its own
    uint32_t built_count;
} Bot;

// --- the whole ----------------------------------------------------------------------------------
typedef struct NetScenario {
    const char *name;
    const char *purpose;
    bool course;   // the place with stairs and platforms; else flat ground
    bool low_rate; // 30 steps, 10 snapshots
    bool scripts;
    bool reloads;          // scripts change all the time
    bool restart;          // the world is killed and comes back from what was stored
    bool clean;            // every link is clean: p99 of the position error is checked
    bool alone;            // prediction must be exact: there is nobody to push
    bool has_slow_links;   // what is shown may be old: no bound holds before the calm end
    uint32_t view_radius;  // 0: the place's own
    uint32_t budget_bytes; // of a frame; 0: the usual
    uint32_t json_count;   // further connections that speak JSON
    uint32_t clients_min, clients_max;
    uint32_t seconds;
    const LinkProfile *profiles[6]; // ends with NULL; one is drawn for each client
    BotKind bots[6];                // the same; bot_count of them
    uint32_t bot_count;
} NetScenario;
extern const NetScenario net_scenarios[]; // ends with an entry without a name

typedef struct NetClient NetClient;
typedef struct Net Net;

typedef struct NetResult {
    bool failed;
    char message[400]; // the first thing that was wrong
    uint64_t hash;     // of everything that happened
    uint64_t ticks, frames, bytes_down, corrections, checks;
    float error_p99_m, error_max_m;
    uint64_t corrections_by_cause[8];
} NetResult;
// Runs one seed. `verbose` prints what happens second by second.
NetResult net_run(const NetScenario *scenario, uint64_t seed, bool verbose);

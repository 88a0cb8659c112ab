// Bots: native players in one process, each a real core/client that decodes everything, predicts
// and interpolates, all on one epoll loop. They join over HTTP like anybody, play in one of a few
// ways, and measure what the server gives them.
//
//   scout ──scene is here──▶ ramp: everybody joins ──all play, or time is up──▶ measured ──▶ report
//
// The numbers mean something only if the bots themselves keep up: BotsReport.late says how often
// their own loop did not.
#pragma once

#include "core/base/status.h"
#include "server/bots/bots_fetch.h"

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

#define BOTS_MAX         4000
#define BOTS_REASONS_MAX 24

// X(NAME, "name", what they do)
#define BOTS_BEHAVIOURS(X)                                                       \
    X(WALK, "walk", "walks straight for one to three seconds, then turns")       \
    X(CROWD, "crowd", "all walk within the same few metres")                     \
    X(FIGHT, "fight", "follows the nearest player and shoots")                   \
    X(BUILD, "build", "builds, digs and removes, and remembers what was stored") \
    X(PLATFORMS, "platforms", "jumps onto moving platforms")                     \
    X(CHURN, "churn", "disconnects every few seconds and comes back")            \
    X(SLOW, "slow", "reads little, late, and sometimes nothing")                 \
    X(HOSTILE, "hostile", "violates the protocol in every known way")            \
    X(STAND, "stand", "stands still")                                            \
    X(MIXED, "mixed", "some of each, except hostile")

typedef enum BotsBehaviour {
#define BOTS_ENUM(name, text, what) BOTS_##name,
    BOTS_BEHAVIOURS(BOTS_ENUM)
#undef BOTS_ENUM
        BOTS_BEHAVIOUR_COUNT
} BotsBehaviour;

const char *bots_behaviour_name(BotsBehaviour behaviour);

typedef struct BotsReport BotsReport;

typedef struct BotsConfig {
    const char *server;
    const char *others[BOTS_SERVERS_MAX]; // of the same installation; ends with NULL
    const char *world;                    // NULL: the server's own choice
    const char *place;                    // of which any world will do; NULL: the default one
    const char *channel;                  // of the place; NULL: live
    const char *owner; // the sign-in of its owner, who lets the bots in; NULL: guests may play it
    uint32_t count;
    uint32_t seconds; // measured
    uint32_t ramp_seconds_max;
    BotsBehaviour behaviour;
    uint64_t seed;
    bool scripts; // run the client scripts; the process enters the jail and can open no files from
                  // then on
    bool allow_weak_jail;               // with scripts
    const char *cache;                  // with scripts: folder that keeps runes; NULL: none
    uint32_t debug_count;               // so many get exact positions, and compare
    uint32_t hostile_frames_per_second; // of each hostile one
    const char *ledger;                 // file for what the server reported as stored; NULL: none
    const char *check;                  // a ledger to check at the end; NULL: none
    const volatile sig_atomic_t *stop;  // set: the run ends early, with a report
    void (*progress)(void *user, const BotsReport *report); // once a second; may be NULL
    void *user;
} BotsConfig;
BotsConfig bots_config_default(void);

typedef struct BotsReason {
    char text[96];
    uint64_t count;
} BotsReason;

struct BotsReport {
    // Current values.
    double seconds; // since the start
    bool measuring;
    uint32_t bots, connected, playing;
    double snapshots_per_second_now, bytes_down_per_second_now;
    double gap_now_s; // the longest that one bot was without a snapshot, in the last second
    // Since the start.
    uint64_t connects, resumes, failures;
    BotsReason reasons[BOTS_REASONS_MAX]; // the last takes all that found no room
    uint32_t reason_count;
    // While measuring; per player who reads.
    double measured_seconds, client_seconds;
    double snapshots_per_second; // of one client
    double interarrival_p50_ms, interarrival_p99_ms, interarrival_max_ms;
    double gap_max_s; // the longest that one bot was without a snapshot, also between sessions
    double bytes_down_per_client_second, bytes_up_per_client_second;
    double position_error_p50_m, position_error_p99_m, position_error_max_m;
    uint64_t position_checks, position_missing;
    double shape_error_max_m; // of parts, props and structures, which are sent exactly
    uint64_t shape_checks;
    double corrections_per_second; // of one client
    uint64_t corrections_without_cause;
    double visible; // mean
    double rtt_ms;  // mean
    // Of the world process while measured.
    bool metrics_known;
    double cpu_ms_per_client_second, server_ticks, server_ticks_missed, server_resident_bytes;
    double server_starts;
    // Reported as stored; and what of a ledger was found.
    uint64_t durable, durable_checked, durable_lost;
    uint64_t hostile_frames;
    // With scripts: clients whose manifest was verified and runs, the newest version, what failed.
    uint32_t scripted, manifest_version;
    uint64_t script_faults;
    uint64_t runes_unpacked;            // came packed, and could be unpacked
    uint64_t runes_cached;              // were here already, from an earlier run
    uint64_t rows_fetched, rows_cached; // of manifests that fit no message; the same of these
    // The bots themselves.
    uint64_t loop_ticks, late; // ticks of their own loop; those that began a whole tick late
    double own_cpu_share;      // of one core
    uint64_t resident_bytes;
    bool starved; // the bots could not keep up, so the numbers are not valid
};

// STATUS_OK and a report, whatever happened to the bots; otherwise the reason says why they could
// not start.
MUST_USE Status bots_run(const BotsConfig *config, BotsReport *report, char *reason, size_t bytes);

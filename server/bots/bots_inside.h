// The inside of the bots, for the files of server/bots alone.
//
//   bots.c          creation, the loop, joining and coming back
//   bots_behaviour.c  what a player does
//   bots_hostile.c  what an attacker does
//   bots_measure.c  histograms, the truth, the report
//   bots_ledger.c   what the server said is stored
//   bots_fetch.c     HTTP, on its own thread          bots_link.c  one WebSocket
#pragma once

#include "core/base/limits.h"
#include "core/base/rng.h"
#include "core/client/client.h"
#include "core/wire/message.h"
#include "server/bots/bots.h"
#include "server/bots/bots_link.h"

#define BOTS_LOOP_RATE   120 // wake-ups a second; each updates a slice of the bots
#define BOTS_PENDING_MAX 32
#define BOTS_TRUTH_MAX   512
#define BOTS_LEDGER_MAX  65536
#define BOTS_SCRATCH     (128u << 10)
#define BOTS_WANTS_MAX   (MANIFEST_SCRIPTS_MAX + 2)
#define BOTS_MISSING_MAX 16384 // a rune that shares its place with another is only fetched

typedef enum BotState {
    BOT_RESTS, // until next_ms
    BOT_ASKS,  // for a ticket
    BOT_LINKS  // connecting, or connected
} BotState;

// A command whose answer is awaited.
typedef struct BotCommand {
    uint32_t seq;
    uint32_t bot;
    uint8_t number;
    uint64_t entity; // what it made, or takes down
    VoxelCoord voxel;
    VoxelKind kind;
    bool acked;
} BotCommand;

// The exact positions at a tick, kept until the client has the frame to compare with.
typedef struct BotTruth {
    uint64_t tick; // 0: none
    uint32_t count;
    uint64_t ids[BOTS_TRUTH_MAX];
    Vec3 positions[BOTS_TRUTH_MAX];
} BotTruth;

typedef struct Bot {
    uint32_t index;
    BotsBehaviour behaviour;
    BotState state;
    double next_ms; // of a rest
    uint32_t failures_in_row;
    Rng rng;
    Client *client;
    BotsLink link;
    bool in_epoll, epoll_reads, epoll_writes;
    bool registered;       // a ticket was asked for at least once
    uint32_t wants_change; // ClientProgress.change when its wants were last looked at
    uint32_t kept_version; // of the manifest whose runes were given to the keeper

    // The session.
    double playing_ms; // since when; 0: not
    uint64_t snapshot_ns;
    double heard_ms;  // when the last snapshot came, in any session; 0: none yet
    double linked_ms; // when something last came on this link, or it was begun
    bool was_playing;
    double end_ms; // churn: when this session ends
    BotTruth *truth;

    // The behaviour.
    Vec3 home, goal;
    bool has_home, run;
    float heading;
    double decide_ms, command_ms;
    double pause_ms; // slow: reads nothing until then
    BotCommand pending[BOTS_PENDING_MAX];
    uint32_t pending_count;
    uint32_t hostile_way;
    double hostile_debt; // frames that are still to be sent

    // Counts at the beginning of the measured time.
    uint64_t base_down, base_up, base_corrections;
    uint64_t truth_bytes, base_truth_bytes; // of the debug messages: not counted
    uint64_t snapshots;
} Bot;

typedef enum LedgerState {
    LEDGER_STORED, // must be there
    LEDGER_UNSURE, // requested, and no answer yet
    LEDGER_GONE    // must not be there
} LedgerState;

typedef struct LedgerItem {
    LedgerState state;
    bool is_structure;
    uint32_t bot; // whose structure
    uint64_t entity;
    VoxelCoord voxel;
    VoxelKind kind;
} LedgerItem;

typedef struct Ledger {
    LedgerItem *items;
    uint32_t count;
    uint64_t durable; // answers
} Ledger;

// A histogram with steps of equal size; larger values count in the last one.
#define HISTOGRAM_STEPS 20000
typedef struct Histogram {
    double step;
    uint64_t count;
    double max;
    uint32_t steps[HISTOGRAM_STEPS];
} Histogram;

typedef struct Bots {
    BotsConfig config;
    Heap heap;
    BotsFetcher *fetcher;
    BotsAddress address;
    char address_text[BOTS_ADDRESS_BYTES]; // that `address` was looked up from
    char server[BOTS_ADDRESS_BYTES];       // numeric, if scripts run
    uint8_t signing_key[32];               // of the host, from the newest ticket
    struct RuneUnpack *unpack;             // with scripts
    int keeper;                            // of runes; -1: none
    bool is_missing[BOTS_MISSING_MAX];     // by hash: the keeper does not have it
    ClientWant wants[BOTS_WANTS_MAX];      // scratch
    int epoll, timer;
    uint64_t start_ns;
    double now_ms;
    Bot *bots;
    uint8_t *scratch;
    uint32_t update_rate;
    uint32_t slice;

    // The scene, shared.
    uint8_t *scene;
    size_t scene_bytes;
    Place *place;
    bool scene_asked;

    // The rows of a manifest that fits no message, shared too.
    uint8_t *rows;
    size_t rows_bytes;
    uint8_t rows_hash[32]; // of those that are here, asked for, or cannot be fetched
    bool rows_asked, rows_failed;

    uint32_t asked_count; // bots that have requested a ticket
    uint32_t asking;      // at the moment
    double last_ask_ms;
    bool measuring, over;
    double ramp_end_ms, measure_ms, end_ms;
    double report_ms;
    BotsMetrics metrics_begin, metrics_end;
    bool metrics_begin_asked, metrics_end_asked, metrics_end_here;

    Ledger ledger, check;
    Histogram interarrival, error;
    double window_gap_s; // the longest gap that was seen since the last report
    uint64_t position_missing;
    uint64_t window_snapshots, window_bytes;
    uint64_t cpu_us_begin;
    uint64_t loop_ticks, late;
    BotsReport report;
    char failed[160]; // why the run cannot continue
} Bots;

// --- bots.c -------------------------------------------------------------------------------------
void bots_count_failure(Bots *bots, const char *reason);

// --- bots_behaviour.c
// --------------------------------------------------------------------------------
void behaviour_act(Bots *bots, Bot *bot);
void behaviour_take_answers(Bots *bots, Bot *bot); // acks and stored things

// --- bots_hostile.c -----------------------------------------------------------------------------
// The connection is open; draws what it is going to do.
void hostile_begin(Bots *bots, Bot *bot);
void hostile_play(Bots *bots, Bot *bot, double elapsed_s);
bool hostile_reads(const Bot *bot);
bool hostile_says_hello(const Bot *bot);

// --- bots_script.c ------------------------------------------------------------------------------
// Must be called before there is a second thread, a socket, or a byte of a script.
MUST_USE Status bots_script_lock_in(Bots *bots, char *reason, size_t reason_bytes);
void bots_script_configure(Bots *bots, ClientConfig *config);
void bots_script_fetch(Bots *bots, Bot *bot);
void bots_script_take_rows(Bots *bots, BotsFetched *fetched);
void bots_script_look(Bots *bots, Bot *bot); // faults
void bots_script_measure(Bots *bots);

// --- bots_measure.c -----------------------------------------------------------------------------
void histogram_add(Histogram *histogram, double value);
double histogram_at(const Histogram *histogram, double share); // the upper end of its step
void measure_snapshot(Bots *bots, Bot *bot, uint64_t now_ns);
void measure_truth(Bots *bots, Bot *bot, const uint8_t *bytes, size_t count);
void measure_truth_due(Bots *bots, Bot *bot);
void measure_begin(Bots *bots);
void measure_now(Bots *bots); // the current values of the report
void measure_end(Bots *bots);
void measure_server(Bots *bots); // when its last numbers have arrived

// --- bots_ledger.c ------------------------------------------------------------------------------
MUST_USE Status ledger_init(Ledger *ledger);
void ledger_deinit(Ledger *ledger);
LedgerItem *ledger_voxel(Ledger *ledger, VoxelCoord at); // NULL: none
// Nobody else may change it until there is an answer, because the order would be unknown.
void ledger_doubt_voxel(Ledger *ledger, VoxelCoord at);
LedgerItem *ledger_structure(Ledger *ledger, uint64_t entity);
void ledger_store(Ledger *ledger, const BotCommand *command); // it is durable
MUST_USE Status ledger_write(const Ledger *ledger, const char *path);
MUST_USE Status ledger_read(Ledger *ledger, const char *path);

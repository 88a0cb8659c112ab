// Internal header of the harness: net.c runs time, frame_check.c checks frames, positions.c
// compares what clients show with the truth, watch.c checks the messages, final_check.c the end
// state, store.c stores what the world saves, restart.c kills the world, reload.c changes its
// scripts, rune_caches.c is the cache of a client, json.c is a JSON client, bot.c plays.
#pragma once

#include "core/base/check.h"
#include "core/script/trial/memory_store.h"
#include "core/world/save/row.h"
#include "tests/scenario/net/net.h"
#include "tests/support/test_place.h"

#define POSITION_TICKS 128
#define NET_ENTITY_MAX 1024
#define DELIVERED_MAX  64
#define FRAME_MEMORY   2048 // messages of one connection that may be on their way
#define NET_WAITING    (192u << 10)

// --- what was true on the server ----------------------------------------------------------------
typedef struct PositionEntry {
    uint64_t net_id;
    Vec3 position;
    float health;
    bool jumped; // a teleport: nobody was between this tick and the one before
    bool pushed; // somebody stands in the way: nobody can predict that
} PositionEntry;

typedef struct Positions {
    uint64_t ticks[POSITION_TICKS];
    PositionEntry entries[POSITION_TICKS][NET_ENTITY_MAX + 1]; // by slot
} Positions;

void positions_record(Net *net);
const PositionEntry *positions_at(const Net *net, uint64_t tick,
                                  uint64_t net_id); // NULL: not known
// Once a second, for each client that plays.
void positions_check(Net *net, NetClient *client);

// --- what leaves the world ----------------------------------------------------------------------
typedef struct FrameCheck {
    Merge merge;
    bool live;
    uint32_t session;
    uint64_t own;
    uint64_t message_sent, message_delivered;
    uint64_t frame_ticks[FRAME_MEMORY];  // by number of the message; 0: no frame
    uint32_t frame_events[FRAME_MEMORY]; // the same
    uint64_t events_delivered;
    uint64_t delivered[DELIVERED_MAX]; // ticks of the frames that have arrived, a ring
    uint32_t delivered_count;
    uint64_t postponed_seen;
    uint32_t behind[NET_SLOTS_MAX];  // frames since a slot was up to date
    uint64_t entered[NET_SLOTS_MAX]; // tick of the frame
} FrameCheck;
void frame_check_open(FrameCheck *frames, uint32_t tick_rate);
void frame_check_sent(Net *net, NetClient *client, const uint8_t *message, size_t bytes);
void frame_check_delivered(FrameCheck *frames);
// The last frame that has arrived of a tick not after this one, and the first after it; 0: none.
void frame_check_around(const FrameCheck *frames, uint64_t tick, uint64_t *before, uint64_t *after);

// --- what is stored -----------------------------------------------------------------------------
#define STORE_ROWS  4096
#define STORE_QUEUE 256
typedef struct StoredRow {
    RowType type;
    uint8_t key[ROW_KEY_BYTES];
    uint32_t key_bytes;
    uint8_t *value;
    uint32_t value_bytes;
} StoredRow;

typedef struct StoreJob {
    uint64_t due_us;
    uint64_t request;
    uint8_t *bytes; // SAVE: the rows; STORE: the answer; AUTH: nothing
    size_t byte_count;
    bool is_save, is_auth, ok;
    uint64_t connection;
} StoreJob;

typedef struct Store {
    StoredRow rows[STORE_ROWS];
    uint32_t row_count;
    StoreJob jobs[STORE_QUEUE]; // a ring, in the order of their requests
    uint32_t first, count;
    uint64_t epoch, seq; // of the last save taken
    MemoryStore *data;
} Store;
void store_take(Net *net);   // the world's new commands
void store_answer(Net *net); // what is due
void store_lose(Net *net);   // everything that was not answered yet
void store_restore(Net *net);
void store_free(Net *net);

bool store_has_structure(Net *net, uint64_t net_id);
bool store_has_chunk(Net *net, ChunkCoord at);

// --- what goes to and fro -----------------------------------------------------------------------
#define WATCH_FRAMES 1024
#define WATCH_OWN    128
#define WATCH_INPUTS 512
#define WATCH_ROSTER 128
#define WATCH_MADE   32
#define WATCH_PAST   66 // ticks: more than a second

typedef struct WatchOwn {
    uint64_t tick;
    Vec3 position;
} WatchOwn;

typedef struct WatchMade {
    uint32_t seq; // of the command
    uint64_t net_id;
} WatchMade;

typedef struct Watch {
    // Frames of this connection.
    uint32_t frame_sent, frame_acked;
    uint64_t acked_tick;                // of the world, when that came
    uint64_t frame_ticks[WATCH_FRAMES]; // by number
    uint64_t rtt_ticks;                 // the longest so far
    uint64_t rtt_least;
    // Inputs of this connection.
    uint64_t input_tick; // that the newest is for
    uint64_t inputs, inputs_late, inputs_early;
    uint64_t in_time[WATCH_INPUTS]; // ticks of inputs that came before them
    uint32_t nonsense;              // malformed messages
    uint64_t trouble_us;            // when something last happened that it could not know
    uint64_t corrections, causes[8];
    // What its page received.
    bool is_welcome;
    uint64_t event_tick;
    uint64_t events_before; // as the client counts them
    uint64_t roster[WATCH_ROSTER];
    uint32_t roster_count;
    WatchOwn own[WATCH_OWN]; // predicted, by tick
    WatchMade made[WATCH_MADE];
    uint32_t made_count;
    // Before the connection was cut: who it was, and where it was when the world was killed.
    uint64_t player, entity;
    Vec3 past[WATCH_PAST];
    uint32_t past_count;
} Watch;

void watch_open(Net *net, NetClient *client);
void watch_cut(Net *net, NetClient *client);      // before the world is informed
void watch_killed(Net *net, NetClient *client);   // the world is about to be
void watch_welcomed(Net *net, NetClient *client); // it has its body
void watch_frame(Net *net, NetClient *client, const SnapshotHeader *header);
void watch_sent(Net *net, NetClient *client, const uint8_t *message, size_t bytes);
void watch_entered(Net *net, NetClient *client, const uint8_t *message, size_t bytes);
void watch_updated(Net *net, NetClient *client); // events and answers are read here
void watch_stepped(Net *net);
void watch_taken(Net *net, const NetClient *client); // the frames of a step
void watch_end(Net *net, const NetClient *client);

// --- the calm end -------------------------------------------------------------------------------
#define QUIET_US 3000000
void final_check_begin(Net *net);
void final_check_compare(Net *net);

// --- a restart ----------------------------------------------------------------------------------
#define KEPT_STRUCTURES NET_ENTITY_MAX
#define KEPT_CHUNKS     256
typedef struct KeptStructure {
    uint64_t net_id;
    uint16_t piece;
    uint8_t turn;
    VoxelCoord cell;
} KeptStructure;

typedef struct KeptChunk {
    ChunkCoord at;
    uint32_t version;
    uint64_t hash;
} KeptChunk;

// What stood at a moment.
typedef struct Kept {
    KeptStructure structures[KEPT_STRUCTURES];
    uint32_t structure_count;
    KeptChunk chunks[KEPT_CHUNKS];
    uint32_t chunk_count;
} Kept;
// When each structure was first and last seen, by net id.
#define STOOD_MAX 4093
typedef struct Stood {
    uint64_t net_id, first_us, last_us;
} Stood;
void restart_stepped(Net *net);
void restart_note(Net *net); // once a second
void restart_world(Net *net);
uint64_t restart_chunk_hash(const Terrain *terrain, ChunkCoord at);

// --- clients ------------------------------------------------------------------------------------
typedef struct DurableThing {
    bool is_chunk;
    uint64_t net_id;
    ChunkCoord at;
    uint32_t version;
} DurableThing;
#define DURABLE_MAX 256

typedef struct PendingCommand {
    uint32_t seq;
    bool is_chunk, is_removal;
    uint64_t net_id;
    ChunkCoord at;
} PendingCommand;

// A set of scripts that changes (reload.c).
typedef struct NetSet {
    uint32_t tools, hud;
    uint32_t light; // the parameter of Lamp
    bool is_broken;
} NetSet;
#define NET_SETS_MAX 512

typedef struct NetReload {
    Vm *vm; // compiles; NULL: nothing is reloaded
    NetSet set, good;
    NetSet sets[NET_SETS_MAX]; // by manifest version
    uint32_t version;
    bool waits;     // for the switch
    bool is_failed; // the last good set has to come back
    uint64_t next_us, switch_us;
    uint32_t switched, broken, restored, starts, lights;
    uint32_t kept_given, kept_damaged, anew; // from caches; pages that were loaded anew
} NetReload;

typedef struct NetKept NetKept;

struct NetClient {
    Net *net;
    NetKept *kept; // its cache of runes (rune_caches.c), or NULL
    LogSink script_log;
    uint32_t started_version, still_count; // of Hud; of Still
    uint32_t light;                        // that Lamp printed last
    uint32_t index;
    const LinkProfile *profile; // as drawn, until the calm end
    const LinkProfile *drawn;
    Rng rng; // of the link
    Bot bot;
    bool json;
    bool leaves;         // for good
    Client *client;      // NULL for JSON
    uint64_t connection; // 0: not connected
    Stream *up, *down;
    uint64_t frame_us, next_frame_us;
    uint64_t reconnect_us;
    uint64_t playing_us;  // since when; 0: does not play
    PredictStats settled; // when its clock had found its pace
    bool has_settled;
    uint8_t *waiting; // messages of the world that the link has no room for yet: u32 length, bytes
    size_t waiting_bytes;
    FrameCheck frames;
    Watch watch;
    PendingCommand pending[16];
    uint32_t pending_count;
    DurableThing durable[DURABLE_MAX];
    uint32_t durable_count;
    uint64_t json_messages, json_snapshots;
    uint32_t json_seq;
    uint64_t rejected; // hostile: how often it was thrown out
};

// What happened in the sim lately.
#define HAPPENED_MAX 4096
typedef struct Happened {
    uint64_t tick;
    SimEventType type;
    uint64_t subject;
} Happened;

#define NET_ERRORS_MAX 65536
struct Net {
    const NetScenario *scenario;
    bool verbose;
    Heap heap;
    Heap world_heap;
    Rng rng;
    uint64_t now_us;
    Place *whole, *stripped;
    TestPlaceBytes whole_bytes, stripped_bytes;
    WorldConfig config;
    World *world;
    uint64_t world_ticks; // entered in this life
    uint64_t next_tick_us, epoch_us;
    uint64_t next_connection;
    NetClient *clients;
    uint32_t client_count;
    Positions *positions;
    Store *store;
    uint8_t *journal;
    size_t journal_bytes, journal_max;
    uint64_t *tick_hashes;
    uint64_t tick_hash_max;
    float *errors;
    uint32_t error_count;
    uint64_t restart_us;
    bool is_ending;
    Happened happened[HAPPENED_MAX];
    uint32_t happened_count;
    uint64_t geometry_count, geometry_us; // when terrain or structures last changed
    Kept *kept; // [0] at the last whole second, [1] one before, [2] at the kill
    Stood stood[STOOD_MAX];
    NetReload reload;
    LogSink log;
    uint64_t script_answers, script_doubles, script_stored; // as scripts say
    NetResult result;
    Hash64 hash;
};

// --- reload.c -----------------------------------------------------------------------------------
extern const char reload_scene[]; // scene.json
void reload_open(Net *net);
void reload_close(Net *net);
void reload_step(Net *net, uint64_t end_us);
void reload_told(Net *net, const Command *command);
void reload_log(void *client, const LogEvent *event);
void reload_check(Net *net, bool is_end);

// --- rune_caches.c
// -------------------------------------------------------------------------------------
void rune_caches_open(Net *net, NetClient *client);
void rune_caches_close(Net *net, NetClient *client);
void rune_caches_update(Net *net, NetClient *client); // before each update of its client
void rune_caches_check(Net *net);

void net_fail(Net *net, const char *format, ...) __attribute__((format(printf, 2, 3)));
Status net_enter(Net *net, const Entry *entry);
bool net_is_server_only(const Net *net, uint64_t net_id);
void net_open_world(Net *net);
void net_step_world(Net *net);
void net_replay_journal(Net *net);
// Whatever was on its way is lost, in the middle of a message too.
void net_link_down(Net *net, NetClient *client, uint64_t reconnect_us);

// --- tools that speak JSON ----------------------------------------------------------------------
void json_receive(Net *net, NetClient *client, const uint8_t *bytes, size_t count);
void json_update(Net *net, NetClient *client);

// --- bots ---------------------------------------------------------------------------------------
void bot_init(Bot *bot, BotKind kind, uint64_t seed);
// Before each update of its client.
void bot_play(Net *net, NetClient *client);
// What a hostile client sends besides; false: nothing now.
bool bot_noise(Net *net, NetClient *client, uint8_t *out, size_t capacity, size_t *bytes);

// The inside of the harness, for its own files: net.c runs time, spy.c looks at frames, truth.c
// compares, store.c keeps what the world saves, bot.c plays.
#pragma once

#include "core/base/check.h"
#include "core/script/memory_store.h"
#include "core/world/row.h"
#include "tests/scenario/net/net.h"
#include "tests/support/test_place.h"

#define TRUTH_TICKS    128
#define NET_ENTITY_MAX 1024
#define DELIVERED_MAX  64
#define FRAME_MEMORY   2048 // messages of one connection that may be on their way
#define NET_WAITING    (192u << 10)

// --- what was true on the server ----------------------------------------------------------------
typedef struct TruthEntry {
    uint64_t net_id;
    Vec3 position;
    bool jumped; // a teleport: nobody was between this tick and the one before
} TruthEntry;

typedef struct Truth {
    uint64_t ticks[TRUTH_TICKS];
    TruthEntry entries[TRUTH_TICKS][NET_ENTITY_MAX + 1]; // by slot
} Truth;

void truth_record(Net *net);
const TruthEntry *truth_at(const Net *net, uint64_t tick, uint64_t net_id); // NULL: not known
// Once a second, for each client that plays.
void truth_check(Net *net, NetClient *client);

// --- what leaves the world ----------------------------------------------------------------------
typedef struct Spy {
    Merge merge;
    bool live;
    uint32_t session;
    uint64_t own;
    uint64_t message_sent, message_delivered;
    uint64_t frame_ticks[FRAME_MEMORY]; // by number of the message; 0: no frame
    uint64_t delivered[DELIVERED_MAX];  // ticks of the frames that have arrived, a ring
    uint32_t delivered_count;
    uint64_t postponed_seen;
} Spy;
void spy_open(Spy *spy, uint32_t tick_rate);
void spy_sent(Net *net, NetClient *client, const uint8_t *message, size_t bytes);
void spy_delivered(Spy *spy);
// The last frame that has arrived of a tick not after this one, and the first after it; 0: none.
void spy_around(const Spy *spy, uint64_t tick, uint64_t *before, uint64_t *after);

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
    bool is_chunk;
    uint64_t net_id;
    ChunkCoord at;
} PendingCommand;

struct NetClient {
    uint32_t index;
    const LinkProfile *profile;
    Rng rng; // of the link
    Bot bot;
    bool json;
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
    Spy spy;
    PendingCommand pending[16];
    uint32_t pending_count;
    DurableThing durable[DURABLE_MAX];
    uint32_t durable_count;
    uint64_t json_messages, json_snapshots;
    uint32_t json_seq;
    uint64_t rejected; // hostile: how often it was thrown out
};

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
    Truth *truth;
    Store *store;
    uint8_t *journal;
    size_t journal_bytes, journal_max;
    uint64_t *tick_hashes;
    uint64_t tick_hash_max;
    float *errors;
    uint32_t error_count;
    uint64_t restart_us;
    NetResult result;
    Hash64 hash;
};

void net_fail(Net *net, const char *format, ...) __attribute__((format(printf, 2, 3)));
Status net_enter(Net *net, const Entry *entry);

// --- bots ---------------------------------------------------------------------------------------
void bot_init(Bot *bot, BotKind kind, uint64_t seed);
// Before each update of its client.
void bot_play(Net *net, NetClient *client);
// What a hostile one says beside; false: nothing now.
bool bot_noise(Net *net, NetClient *client, uint8_t *out, size_t capacity, size_t *bytes);

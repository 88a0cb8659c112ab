// The inside of Saves, for save*.c and command.c alone.
//
// What must be stored is known by slot, never by bytes: a change queues the slot once, and the row
// is written from the state of the moment when a command has room. So waiting merges by itself, and
// no number of changes needs more memory than there are things.
//
//   change ──▶ queue of slots ──save_tick──▶ command (epoch, seq) ──▶ owner
//                                                │
//   DURABLE ◀── waiters whose rows are all in ◀── ENTRY_STORED
//
// How many commands are out is known from ENTRY_STORED alone, not from world_commands_clear: that
// is no entry, and a replay must come to the same state without it.
#pragma once

#include "core/base/arena.h"
#include "core/base/limits.h"
#include "core/base/pool.h"
#include "core/script/bridge/attribute_table.h"
#include "core/sim/puppet.h"
#include "core/world/save/save.h"

#define SAVES_OUT_MAX      8 // commands without an answer
#define SAVE_BYTES_MAX     (128 << 10)
#define STORES_OUT_MAX     256 // DataStore requests without an answer
#define STORES_BYTES_MAX   (1 << 20)
#define COMMAND_BYTES_MAX  (STORES_BYTES_MAX + (512 << 10))
#define NET_IDS_RESERVED   65536
#define PLAYERS_RESERVED   1024
#define ATTRIBUTE_ROWS_MAX 512
#define PROFILE_ROW_BYTES  2816

typedef enum SaveKind {
    SAVE_META,
    SAVE_STRUCTURE,
    SAVE_CHUNK,
    SAVE_ATTRIBUTE,
    SAVE_OLD_ATTRIBUTES,
    SAVE_PLAYER,
    SAVE_PROFILES,
    SAVE_RESUME
} SaveKind;

typedef struct SaveItem {
    uint8_t kind;
    uint32_t slot;
} SaveItem;

typedef struct SaveWaiter {
    uint64_t connection;
    uint32_t command_seq;
    uint64_t position; // durable when everything queued before this is
    uint64_t save_seq; // the command that holds the last of it; 0: still queued
} SaveWaiter;

typedef struct SavedStructure {
    uint64_t net_id;
    bool queued;
    bool stored;      // a row was given out or came in
    float health;     // in that row
    RowStructure row; // as it came in; only until save_start
    Status placed;    // during save_start
    bool is_adopted;  // the same: its owner has another number now
} SavedStructure;

typedef struct SavedChunk {
    ChunkCoord at;
    bool queued;
} SavedChunk;

typedef struct SavedAttributes {
    ShortName name;  // bytes 0: by number
    uint64_t number; // ROW_SCENE_ID and the scene's id; 0: by name
    bool queued;
    bool waits;     // came in, and its entity is not there yet
    bool was_old;   // came in by net id
    uint32_t maker; // the script that keeps something there first
    uint32_t byte_count;
    uint8_t bytes[NET_ATTRIBUTES_BYTES_MAX];
} SavedAttributes;

typedef struct SavedAccount {
    uint64_t account; // 0: free
    uint64_t touched_tick;
    bool has_player, player_queued, profiles_queued;
    RowPlayer player; // texts point to the two below
    char name[64], team[64];
    uint32_t profile_bytes; // 0: none; a whole row
    uint8_t profiles[PROFILE_ROW_BYTES];
} SavedAccount;

typedef struct SavedResume {
    RowResume row;
    bool queued;
    bool gone; // to be deleted
} SavedResume;

typedef struct StoreOut {
    uint64_t request;
    uint32_t bytes;
    uint32_t maker; // the script that asked
} StoreOut;

struct Saves {
    SaveConfig config;
    // The queue of what changed, each thing at most once.
    SaveItem *queue;
    uint32_t queue_mask;
    uint64_t queue_head, queue_tail;
    SaveWaiter *waiters; // a ring
    uint32_t waiter_max;
    uint64_t waiter_head, waiter_tail, waiter_sent; // those before `sent` are in a command
    uint64_t checkpoint_tick;

    // What is stored, or about to be.
    bool meta_queued;
    RowMeta meta;       // the last one given out
    uint64_t tick_base; // ticks of the world's earlier lives
    Pool structures;
    IdMap structure_map;
    uint32_t structure_live; // slots whose structure exists
    SavedChunk *chunks;
    uint32_t chunk_count, chunk_max;
    IdMap chunk_map;
    SavedAttributes *attributes;
    uint32_t attribute_count, attributes_waiting;
    IdMap attribute_map;
    // Net ids of rows that came in as older programs wrote them; their rows are deleted.
    uint64_t old_rows[ATTRIBUTE_ROWS_MAX];
    uint32_t old_row_count;
    bool old_rows_queued;
    bool same_place;             // of the row that is being read
    uint64_t attributes_version; // compared up to this version
    SavedAccount *accounts;
    uint32_t account_count, account_max;
    IdMap account_map;
    Pool resumes;
    IdMap resume_map;

    // Commands.
    uint8_t *save_bytes; // SAVES_OUT_MAX buffers, by seq
    uint64_t save_seq, save_acked;
    bool acked[SAVES_OUT_MAX]; // by seq: answered, but an earlier one is not
    StoreOut stores[STORES_OUT_MAX];
    uint32_t store_count;
    size_t store_bytes;
    Command *commands;
    uint32_t command_count, command_max;
    uint8_t *command_bytes;
    size_t command_bytes_used;

    uint8_t chunk_bytes[CHUNK_BYTES_MAX];
    uint8_t attributes_bytes[NET_ATTRIBUTES_BYTES_MAX];
    void *block; // the small arrays
    SaveCounters counters;
};

// save.c
void save_queue(Saves *saves, SaveKind kind, uint32_t slot, bool *queued);
// The session waits for the command that holds everything queued so far; NULL: nobody waits.
void save_ask(Saves *saves, const Session *waiting, uint32_t command_seq);

// save_rows.c
MUST_USE Status save_write_item(Saves *saves, SaveItem item, ByteWriter *writer);
void save_item_done(Saves *saves, SaveItem item);           // its row is in a command
SavedAccount *save_account(Saves *saves, uint64_t account); // makes one
void save_account_put(SavedAccount *account, const RowPlayer *row);
SavedStructure *save_structure_slot(Saves *saves, uint64_t net_id, uint32_t *slot); // NULL: full
uint32_t save_chunk_slot(Saves *saves, ChunkCoord at); // UINT32_MAX: full
// By name or by number; NULL when there is none and no room for one, or `make` is false.
SavedAttributes *save_attribute_slot(Saves *saves, Text name, uint64_t number, bool make);
MUST_USE Status save_put_resume(Saves *saves, const RowResume *row, uint32_t *slot);
void save_update_structures(Saves *saves, bool checkpoint);
void save_update_attributes(Saves *saves, bool checkpoint);
void save_update_resumes(Saves *saves);
// Applies the stored attributes to an entity.
void save_apply_attributes(Saves *saves, SavedAttributes *stored, uint64_t net_id);

// command.c
void command_put_save(Saves *saves, uint64_t seq, size_t bytes);

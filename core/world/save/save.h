// The room of saves: what outlives a run of the world goes out as rows inside commands, and comes
// back as rows before the first tick.
//
//   row.c        rows as bytes              save.c       the queue, and who waits for what
//   command.c    commands for the owner     save_rows.c  what is stored of each thing
//                                           save_start.c rows on their way back
//
// What always holds:
// - Commands of saves have (epoch, seq), and seq rises by one: the owner can tell a stale world.
// - A client is told DURABLE only when every row of what it asked for was stored.
// - Rows that come back are trusted no more than anything else from outside.
#pragma once

#include "core/place/place.h"
#include "core/world/save/command.h"
#include "core/world/save/row.h"
#include "core/world/session/session.h"

// Players without an account are numbered below this, anew in each world.
#define WORLD_PLAYER_NUMBERS (1ull << 32)

typedef struct Saves Saves;

typedef struct SaveConfig {
    Heap *heap; // all pointers are kept
    Sessions *sessions;
    Sim *sim;
    Authority *authority;
    const WorldClock *clock;
    WorldRun *run; // save_start raises its numbers; a rejected save stops the world
    WorldStats *stats;
    LogSink *log;
    uint64_t epoch;
    uint32_t checkpoint_ms;
    const Place *place;
} SaveConfig;

MUST_USE Status save_create(const SaveConfig *config, Saves **out);
void save_destroy(Saves *saves); // NULL is allowed

// --- coming back --------------------------------------------------------------------------------
MUST_USE Status save_row(Saves *saves, const Entry *entry); // ENTRY_ROW
void save_start(Saves *saves); // before the first tick: applies the stored rows
// The manifest version of the last run, before save_start; 0: none was stored.
uint64_t save_manifest_version(const Saves *saves);

// --- going out ----------------------------------------------------------------------------------
void save_tick(Saves *saves); // checkpoints when due; rows that changed become a command
// Everything that changed becomes a command, or as much as one has room for; when that is answered,
// the rest. For a world without a next tick. Players are saved as they leave.
void save_all(Saves *saves);
// ENTRY_STORED answers a save or a DataStore request, and the number says which.
bool save_is_store_request(uint64_t request);
MUST_USE Status save_stored(Saves *saves, const Entry *entry); // a save
void save_store_answered(Saves *saves, uint64_t request);      // a DataStore request
// Something durable changed; the session's command_seq gets a DURABLE when it is stored.
void save_structure(Saves *saves, uint64_t net_id, const Session *waiting, uint32_t command_seq);
void save_chunk(Saves *saves, ChunkCoord at, const Session *waiting, uint32_t command_seq);
// command_seq 0: nobody waits for it.
void save_profiles(Saves *saves, const Session *session, const RowProfiles *profiles,
                   uint32_t command_seq);
void save_player(Saves *saves, const Session *session, bool present);
void save_resume(Saves *saves, const RowResume *resume);
// Whether profiles of that account can be stored: STATUS_DENIED without an account, STATUS_LIMIT if
// there is no room for another.
MUST_USE Status save_profiles_check(Saves *saves, uint64_t account);
// What was stored of an account; false when nothing was.
bool save_find_player(const Saves *saves, uint64_t account, RowPlayer *out);
// What the account has now, from the owner, as a row (row.h). It is not stored again.
MUST_USE Status save_take_profiles(Saves *saves, uint64_t account, const uint8_t *bytes,
                                   size_t count);
bool save_find_profiles(const Saves *saves, uint64_t account, RowProfiles *out);
// Whether there is or was something stored of the entity with that name.
bool save_has_attributes(Saves *saves, Text name);
void save_forget_resumes(Saves *saves, uint64_t account); // its tokens are valid no more
bool save_find_resume(const Saves *saves, const uint8_t token_hash[32], RowResume *out);

// --- commands -----------------------------------------------------------------------------------
// Queues a command with a copy of its bytes and of the texts of its store request; STATUS_LIMIT
// when the owner is behind.
MUST_USE Status save_command(Saves *saves, const Command *command);
uint32_t save_requests_out(const Saves *saves); // DataStore requests without an answer
// The implementation of world_commands and world_commands_clear.
const Command *save_commands(const Saves *saves, uint32_t *count);
void save_commands_clear(Saves *saves);
void save_hash(const Saves *saves, Hash64 *hash);

typedef struct SaveCounters {
    uint64_t rows_refused;       // stored rows that made no sense
    uint64_t structures_unfit;   // stored structures that the place has no room for any more
    uint64_t structures_waiting; // looked at again later: too many wait for the owner
    uint64_t accounts_evicted;   // forgotten in this run, because others came; their rows stay
    uint64_t waiters_dropped;    // players who are not told that something is durable
    uint64_t attributes_refused; // persistent attributes without room for a row, or of no use
    uint64_t attributes_cut;     // that did not fit the row of their entity
    uint64_t old_rows_dropped;   // by net id, of another place
} SaveCounters;
SaveCounters save_counters(const Saves *saves);

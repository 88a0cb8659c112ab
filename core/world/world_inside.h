// The inside of a World, for the files of core/world alone. One file per job; each session is a
// slot with a generation, and its number is also its number at the replicator.
//
//   world.c      create, the door, the tick                 step.c       inputs, scripts, sim,
//   events session.c    states, handshake, resume, output          inbox.c      messages →
//   handlers, rates input.c      the input buffer of one player             save.c       rows out,
//   rows in act_*.c      one file per feature that players command  script_host.c  scripts,
//   remotes, reload replicate.c  what clients see (replicate.h)             journal.c    entries as
//   bytes
#pragma once

#include "core/base/arena.h"
#include "core/base/check.h"
#include "core/base/pool.h"
#include "core/script/authority.h"
#include "core/sim/puppet.h"
#include "core/wire/message.h"
#include "core/world/row.h"
#include "core/world/world.h"

// --- token buckets: so many at once, refilled so many a second ----------------------------------
typedef enum RateKind {
    RATE_MESSAGE,   // of any kind: 200/s
    RATE_INPUT,     // 60/s
    RATE_CHAT,      // 5 in 5 s
    RATE_REMOTE,    // 100/s
    RATE_BUILD,     // 10/s
    RATE_TERRAFORM, // 10/s
    RATE_CHUNK,     // 64 chunks/s
    RATE_PROFILE,   // 2/s
    RATE_SCRIPT,    // 32/s
    RATE_COUNT
} RateKind;
typedef struct RateBucket {
    uint32_t milli; // tokens left, in thousandths
} RateBucket;

// --- inputs of one player -----------------------------------------------------------------------
#define INPUT_BUFFER 64 // ticks
typedef struct InputBuffer {
    WireInputFrame frames[INPUT_BUFFER]; // by tick % INPUT_BUFFER
    bool present[INPUT_BUFFER];
    WireInputFrame last; // repeated when one is missing, without fire
    uint32_t repeated;   // ticks in a row; after half a second the player stands still
    uint32_t ack_seq;    // localAckSeq
    uint32_t waiting;    // buffered for coming ticks
    uint64_t view_tick;
    uint32_t hash_seq, hash; // what the client predicted
} InputBuffer;

typedef enum InputTaken { INPUT_TAKEN, INPUT_REPEATED, INPUT_NONE } InputTaken;
void input_reset(InputBuffer *buffer);
// A frame from a batch; `now` is the last tick stepped. Late, early and double ones are counted.
void input_put(World *world, InputBuffer *buffer, const WireInputFrame *frame, uint64_t now);
// The input for the step to `tick`.
InputTaken input_take(InputBuffer *buffer, uint64_t tick, WireInputFrame *out);

// --- sessions -----------------------------------------------------------------------------------
typedef enum SessionState {
    SESSION_FREE,
    SESSION_CONNECTED,
    SESSION_VERIFYING, // waits for ENTRY_AUTH
    SESSION_PLAYING,   // authenticated; with a body unless it is about to get one
    SESSION_DROPPED,   // no connection; the body is kept for a while
    SESSION_CLOSING    // its last messages go out
} SessionState;

typedef struct Session {
    SessionState state;
    uint64_t connection; // 0 while dropped
    bool json;
    bool guest, operator_role;
    uint64_t state_tick; // when it began
    uint64_t account;    // 0: none (development)
    uint64_t player;     // its number in this world
    uint64_t entity;     // its body; 0: none
    char player_id[65];
    char name[65];
    uint8_t resume_hash[32];
    RowProfiles profiles; // texts point into profile_text
    char profile_text[PROFILES_MAX][2][65];
    char active_text[65];
    RateBucket rates[RATE_COUNT];
    uint32_t strikes; // malformed messages; too many end the session
    InputBuffer input;
    // The own body: what the client should know of it.
    uint32_t causes; // NetCause since the last own state was sent
    bool own_wanted; // send it with the next frame
    uint64_t own_sent_tick;
    uint32_t state_hash_after; // character_state_hash when the last step was over
    uint64_t geometry_tick;    // something near it changed then
    // Flow.
    uint32_t seq; // of messages that are no snapshots
    uint32_t frame_sent, frame_acked;
    uint64_t frame_ticks[64]; // when each of the last frames was sent, by seq % 64
    uint32_t rtt_ticks;
    uint64_t behind_since; // 0: is not
    // Fire.
    uint64_t fire_tick; // may shoot again from then on
    // Previews.
    uint64_t preview_until[2]; // build, terraform; 0: none is shown
    // Terrain.
    ChunkCoord chunk_at; // of the eye, when versions were last told
    bool chunks_told;
    uint64_t respawn_tick;
    // Output: a ring of messages, u32 length before each.
    uint8_t *out;
    size_t out_capacity, out_begin, out_end, out_used;
    uint32_t out_count;
    struct Merge *merge; // JSON sessions only
} Session;

struct World {
    WorldConfig config;
    Heap *heap;
    Sim *sim;
    Authority *authority;
    ScriptSystem *scripts;
    Replicator *replicator;
    uint64_t tick;    // of the sim
    uint64_t unix_ms; // of the last tick
    uint32_t tick_rate, snapshot_ticks;
    Session *sessions; // numbered 0..session_count-1
    uint32_t session_count;
    uint64_t next_player;
    uint32_t manifest_version;
    WorldStats stats;
    Arena scratch;  // of one message or one job
    uint8_t *frame; // one snapshot or message being written
    size_t frame_capacity;
    struct Saves *saves;            // save.c
    struct ScriptHost *script_host; // script_host.c
    struct Inboxes *inboxes;        // inbox.c
    struct Voxels *voxels;          // act_voxel.c
    struct Transfers *transfers;    // transfer.c
    struct Remotes *remotes;        // act_remote.c
    bool started;                   // the first tick came
    bool stopping;
};

Session *world_session_at(World *world, uint32_t number);
Session *world_session_of_player(World *world, uint64_t player); // NULL: not here
Session *world_session_of_entity(World *world, uint64_t entity);

// --- session.c ----------------------------------------------------------------------------------
// Writes a DOWN message for a session; the session ends as `behind` when its output is full.
void session_send(World *world, Session *session, uint8_t number, const void *body);
void session_ack(World *world, Session *session, uint32_t command_seq, uint64_t entity_id);
// An error with a code for programs and a sentence for people. Fatal ones end the session.
void session_error(World *world, Session *session, uint32_t command_seq, bool fatal,
                   const char *code, const char *format, ...) __attribute__((format(printf, 6, 7)));
// A Status as an error: code "denied", "blocked", "limit", …
void session_refuse(World *world, Session *session, uint32_t command_seq, Status status,
                    const char *what);
uint32_t session_number(const World *world, const Session *session);
// How many bytes wait to be taken; transfers go on only when few do.
size_t session_waiting(const Session *session);

// --- event.c ------------------------------------------------------------------------------------
// Encodes a row of EVENT direction in world->frame and gives it to the replicator. `where` says
// whom it concerns (subject, other, position); NULL: everybody. Its tick is the world's.
void event_broadcast(World *world, uint8_t number, const void *body, const ReplicatorEvent *where);
MUST_USE Status event_send(World *world, const Session *session, uint8_t number, const void *body,
                           const ReplicatorEvent *where);

// --- inbox.c ------------------------------------------------------------------------------------
bool rate_take(World *world, Session *session, RateKind kind, uint32_t count);

// --- act_*.c: what a player may ask. Each checks reach, permission, rate and numbers itself and
// answers with an ack or an error.
void act_terraform(World *world, Session *session, uint32_t seq, const MessageTerraform *command);
void act_build_place(World *world, Session *session, uint32_t seq,
                     const MessageBuildPlace *command);
void act_build_remove(World *world, Session *session, uint32_t seq,
                      const MessageBuildRemove *command);
void act_build_preview(World *world, Session *session, uint32_t seq,
                       const MessageBuildPreview *command);
void act_chunk_request(World *world, Session *session, uint32_t seq,
                       const MessageChunkRequest *command);
void act_profile_list(World *world, Session *session, uint32_t seq);
void act_profile_select(World *world, Session *session, uint32_t seq,
                        const MessageProfileSelect *command);
void act_profile_save(World *world, Session *session, uint32_t seq,
                      const MessageProfileSave *command);
void act_profile_delete(World *world, Session *session, uint32_t seq,
                        const MessageProfileDelete *command);
// What is stored of the session's account, or a default one with the session's name; repaired.
// session.c calls it when a player comes in, before its body.
void profile_open(World *world, Session *session);
// PLAYER_JOINED with the looks of the active profile: to everybody, or to one session.
void profile_announce(World *world, const Session *about, const Session *to);
void act_chat(World *world, Session *session, uint32_t seq, const MessageChatSay *command);
void act_remote(World *world, Session *session, uint32_t seq, const MessageRemoteUp *command);
void act_script_request(World *world, Session *session, uint32_t seq,
                        const MessageScriptRequest *command);
void act_script_verify(World *world, Session *session, uint32_t seq,
                       const MessageScriptVerify *command);
void act_blob_request(World *world, Session *session, uint32_t seq,
                      const MessageBlobRequest *command);
void act_respawn(World *world, Session *session, uint32_t seq);
// The fire button in this tick's input: a projectile if the weapon is ready.
void act_fire(World *world, Session *session, const WireInputFrame *input);

// The features' own memory, after the sessions and the sim are there; destroy also after a create
// that failed.
MUST_USE Status act_create(World *world);
void act_destroy(World *world);
// The connection of a session is gone, or the session is about to be freed: previews end, transfers
// and unanswered calls are forgotten. Twice is harmless. `session->player` must still be right.
void act_forget(World *world, Session *session);

// --- what the features do once per tick ---------------------------------------------------------
void voxel_tick(World *world);    // versions of chunks for those who came near, after sim_step
void preview_tick(World *world);  // previews that are over
void transfer_tick(World *world); // blobs and runes, a chunk where there is room
void remote_tick(World *world);   // calls that got no answer in time

// --- script_host.c ------------------------------------------------------------------------------
// Makes world->scripts too (config.scripts), on world->authority.
MUST_USE Status script_host_create(World *world);
void script_host_destroy(World *world);
MUST_USE Status script_host_add(World *world, const Entry *entry);    // ENTRY_SCRIPT
MUST_USE Status script_host_reload(World *world, const Entry *entry); // ENTRY_RELOAD
void script_host_start(World *world);   // before the first tick: loads, binds, spawns' scripts
void script_host_run(World *world);     // the scripts phase
void script_host_events(World *world);  // the events phase: sim events → scripts
void script_host_effects(World *world); // effects → messages, chat, sounds, store requests
// A session came in: manifest, execute messages.
void script_host_welcome(World *world, Session *session);
void script_host_hash(const World *world, Hash64 *hash);

// --- save.c -------------------------------------------------------------------------------------
MUST_USE Status save_create(World *world);
void save_destroy(World *world);
MUST_USE Status save_row(World *world, const Entry *entry);    // ENTRY_ROW
MUST_USE Status save_stored(World *world, const Entry *entry); // ENTRY_STORED
void save_start(World *world); // before the first tick: what was stored takes effect
void save_tick(World *world);  // checkpoints when due; rows that changed become a command
// Something durable changed; command_seq of the session that asked gets a DURABLE when it is.
void save_structure(World *world, uint64_t net_id, Session *asker, uint32_t command_seq);
void save_structure_gone(World *world, uint64_t net_id, Session *asker, uint32_t command_seq);
void save_chunk(World *world, ChunkCoord at, Session *asker, uint32_t command_seq);
void save_profiles(World *world, Session *session, uint32_t command_seq);
void save_player(World *world, Session *session, bool present);
void save_resume(World *world, const RowResume *resume);
// What was stored of an account; false when nothing was.
bool save_find_player(World *world, uint64_t account, RowPlayer *out);
bool save_find_profiles(World *world, uint64_t account, RowProfiles *out);
bool save_find_resume(World *world, const uint8_t token_hash[32], RowResume *out);
// Queues a command with a copy of its bytes and of the texts of its store request; STATUS_LIMIT
// when the owner is behind.
MUST_USE Status save_command(World *world, const Command *command);
// What world_commands and world_commands_clear give and take.
const Command *save_commands(const World *world, uint32_t *count);
void save_commands_clear(World *world);
void save_hash(const World *world, Hash64 *hash);

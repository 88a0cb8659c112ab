// The inside of a World, for the files of core/world alone. One file per job; each session is a
// slot, and its number is also its number at the replicator.
//
//   world.c     create, the door, the tick             step.c         inputs, sim, events
//   session.c   slots and states, bodies               own.c          the own body: hash and causes
//   join.c      handshake, resume, welcome             flow.c         frames and acknowledgements
//   output.c    what goes out to a connection          inbox.c        messages to handlers, rates
//   input.c     the input buffer of one player         stage.c        what the place spawns
//   geometry.c  what changed near whom                 journal.c      entries as bytes
//   act_*.c     one file per feature that players command
//   save.c      rows out, rows in                      script_host.c  scripts, remotes, reload
//
// What has been taken from the output (world_output_take) is no entry, so no decision may depend
// on it: a replay takes nothing and must come to the same state. How far a client is, is known from
// its acknowledgements alone.
#pragma once

#include "core/base/arena.h"
#include "core/base/check.h"
#include "core/base/limits.h"
#include "core/base/pool.h"
#include "core/script/authority.h"
#include "core/script/id_map.h"
#include "core/sim/puppet.h"
#include "core/wire/error_code.h"
#include "core/wire/input_frame.h"
#include "core/wire/message.h"
#include "core/world/save/row.h"
#include "core/world/world.h"

// --- token buckets: so many at once, refilled so many a second ----------------------------------
typedef enum RateKind {
#define RATE_ENUM(NAME, most, per_second, text) RATE_##NAME,
    RATE_LIST(RATE_ENUM)
#undef RATE_ENUM
        RATE_COUNT
} RateKind;
typedef struct RateBucket {
    uint32_t milli; // tokens left, in thousandths
} RateBucket;

// --- inputs of one player -----------------------------------------------------------------------
#define INPUT_BUFFER INPUT_FRAMES_AHEAD // ticks
typedef struct InputBuffer {
    WireInputFrame frames[INPUT_BUFFER]; // by tick % INPUT_BUFFER
    bool present[INPUT_BUFFER];
    WireInputFrame last; // repeated when one is missing, without fire
    bool started;        // there was one
    uint32_t repeated;   // ticks in a row; after half a second the player stands still
    uint32_t ack_seq;    // localAckSeq
    uint32_t waiting;    // buffered for coming ticks
    uint64_t early_tick; // when one last came that was too early to keep; 0: never
    uint64_t view_tick;
} InputBuffer;

typedef enum InputTaken { INPUT_TAKEN, INPUT_REPEATED, INPUT_NONE } InputTaken;
void input_reset(InputBuffer *buffer);
// A frame from a batch; `now` is the last tick stepped. Late, early and double ones are counted.
void input_put(World *world, InputBuffer *buffer, const WireInputFrame *frame, uint64_t now);
// How many wait, as the client's clock has to know it: who is so far ahead that nothing can be kept
// must not believe that nothing came.
uint32_t input_waiting(const InputBuffer *buffer, uint64_t now, uint32_t snapshot_ticks);
// The input for the step to `tick`; after `patience` ticks without one the player stands still.
InputTaken input_take(InputBuffer *buffer, uint64_t tick, uint32_t patience, WireInputFrame *out);

// --- sessions -----------------------------------------------------------------------------------
typedef enum SessionState {
    SESSION_FREE,
    SESSION_CONNECTED,
    SESSION_VERIFYING, // waits for ENTRY_AUTH
    SESSION_PLAYING,   // authenticated; with a body unless it is about to get one
    SESSION_DROPPED,   // no connection; the body is kept for a while
    SESSION_CLOSING    // its last messages go out
} SessionState;

// What a client predicted for a tick, and what came out; by tick % INPUT_BUFFER.
typedef struct OwnCheck {
    uint32_t seq;   // of the input
    uint32_t hash;  // 0: none
    uint32_t frame; // the last one that the client had processed when it said so
} OwnCheck;

typedef struct Own {
    bool wanted;            // send the state with the next frame
    bool alive;             // after the last step
    uint64_t sent_tick;     // of the last state sent
    uint32_t frame;         // with the last correction: what was said before it arrived is stale
    uint32_t hash;          // character_state_hash when the last step was over; 0: no body
    uint64_t cause_tick[8]; // by bit of NetCause: when it last happened; 0: never
    uint64_t match_tick;    // after this step both agreed
    uint64_t match_known;   // and the client knew the world up to here
    OwnCheck predicted[INPUT_BUFFER];
    OwnCheck truth[INPUT_BUFFER];
} Own;

#define FLOW_FRAMES 64
typedef struct Flow {
    uint32_t sent, acked;        // sequence numbers of frames
    uint64_t ticks[FLOW_FRAMES]; // when each of the last frames was sent, by seq % FLOW_FRAMES
    uint64_t bytes[FLOW_FRAMES]; // written before and with it
    uint32_t rtt_eighths;        // of a tick; 0: not measured yet
    uint64_t behind_since;       // 0: is not
    uint64_t written;            // bytes, all messages
    uint64_t backlog;            // bytes that the client has not confirmed
} Flow;

typedef struct Session {
    SessionState state;
    uint64_t connection; // 0 while dropped
    bool json;
    bool guest, operator_role;
    bool debug;          // is told the truth once a second (truth.c)
    uint64_t state_tick; // when it began
    uint64_t account;    // 0: none (development)
    uint64_t player;     // its number in this world; 0: none yet
    uint64_t entity;     // its body; 0: none
    Handle body;         // where that was last found in the sim; session_handle looks again
    bool joining;        // has no body yet because its last one is still leaving
    bool resumed;
    char player_id[65];
    char name[65];
    uint64_t address;       // a number for where it comes from; 0: nobody counts it
    bool has_token;         // the handshake brought a resume token:
    uint8_t token_hash[32]; // its hash
    uint8_t resume_hash[32];
    uint64_t resume_tick;  // when its row was last stored
    uint32_t presence_at;  // the next session whose player it has to be told of
    uint32_t presence_end; // who came later is told to everybody
    RowProfiles profiles;  // texts point into profile_text
    char profile_text[PROFILES_MAX][2][65];
    char active_text[65];
    RateBucket rates[RATE_COUNT];
    uint64_t rated_tick; // when too many messages were last refused
    uint32_t strikes;    // malformed messages; too many end the session
    InputBuffer input;
    Own own;
    uint64_t geometry_tick; // something near it changed then
    Flow flow;
    uint32_t seq; // of messages that are no snapshots
    // Fire.
    uint64_t fire_tick; // may shoot again from then on
    // Previews.
    uint64_t preview_until[2]; // build, terraform; 0: none is shown
    uint64_t respawn_tick;
    // Output: a ring of messages, u32 length before each. Outside the state. Untouched pages cost
    // nothing, and a ring that is emptied begins anew.
    uint8_t *out;
    size_t out_capacity, out_begin, out_end, out_wrap;
    uint32_t out_count;
    bool out_lost;       // something did not fit: the owner ends the connection
    bool closing_told;   // by world_closing
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
    LogSink no_log; // where the owner wants to hear nothing
    Arena scratch;  // of one message or one job
    uint8_t *frame; // one snapshot or event being written
    size_t frame_capacity;
    uint8_t *message; // one message on its way into an output
    size_t message_capacity;
    uint8_t *outs; // the rings of all sessions, then those of the JSON sessions
    struct Merge *merges;
    bool *merge_used;
    uint32_t merge_count;
    uint32_t player_max;   // bodies; there are more sessions, for those who come in
    uint32_t session_high; // above the highest in use
    void *map_block;
    IdMap connections;    // to session number + 1
    IdMap players;        // the same
    uint64_t token_count; // resume tokens given
    uint32_t events_seen; // of the sim's, in this tick
    uint64_t *closed;     // connections that the world gave up before they were told
    uint32_t closed_count;
    uint32_t closing_count;         // sessions that world_closing has to look for
    uint8_t scene_hash[32];         // of the stripped form
    struct Stage *stage;            // stage.c
    struct Geometry *geometry;      // geometry.c
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

// --- output.c -----------------------------------------------------------------------------------
// Writes a DOWN message for a session.
void session_send(World *world, Session *session, uint8_t number, const void *body);
void session_ack(World *world, Session *session, uint32_t command_seq, uint64_t entity_id);
// An error with a code for programs and a sentence for people. It ends the session if the code is
// always fatal.
void session_error(World *world, Session *session, uint32_t command_seq, ErrorCode code,
                   const char *format, ...) __attribute__((format(printf, 5, 6)));
// ERROR_MALFORMED, the one code that may end the session or not.
void session_malformed(World *world, Session *session, uint32_t command_seq, bool fatal,
                       const char *why);
uint32_t session_number(const World *world, const Session *session);
// How many bytes the client has not confirmed; transfers go on only when few are.
size_t session_waiting(const Session *session);
void output_open(World *world, Session *session, uint8_t *ring, size_t capacity);
// A whole message, as it goes on the wire. Counted; when it does not fit the connection is lost.
void output_put(World *world, Session *session, const uint8_t *bytes, size_t count);
// The session is about to let go of its connection.
void output_close(World *world, Session *session);

// --- session.c ----------------------------------------------------------------------------------
MUST_USE Status session_connect(World *world, const Entry *entry);
MUST_USE Status session_disconnect(World *world, uint64_t connection);
Session *session_of_connection(World *world, uint64_t connection); // NULL: not here
// Ends a session once its output is out; its body is kept as after a cut.
void session_close(World *world, Session *session);
// Its player goes at once.
void session_leave(World *world, Session *session);
void session_tick(World *world); // time-outs, bodies that are over, new lives
// A new life for its body, at a spawn point.
MUST_USE Status session_respawn(World *world, Session *session);
// The body of one session goes on with another: a resume, or a second connection of an account.
void session_take_over(World *world, Session *from, Session *to);
Session *session_of_account(World *world, uint64_t account);           // with a body; NULL: none
Session *session_of_token(World *world, const uint8_t token_hash[32]); // the same
uint32_t session_player_count(const World *world);
uint32_t world_ticks(const World *world, uint64_t ms);                  // rounded up
Handle session_handle(const World *world, const Session *session);      // HANDLE_NONE: has none
const Entity *session_body(const World *world, const Session *session); // NULL: has none
static inline bool session_plays(const Session *session)
{
    return session->state == SESSION_PLAYING && session->entity != 0;
}
void session_hash(const World *world, Hash64 *hash);

// --- join.c -------------------------------------------------------------------------------------
void join_handshake(World *world, Session *session, uint32_t seq, const MessageHandshake *command);
MUST_USE Status join_auth(World *world, const Entry *entry);
void join_tick(World *world, Session *session); // who waits for a body, or to be told of others
// The row of its resume token, good from now on.
void join_keep_token(World *world, Session *session);

// --- own.c --------------------------------------------------------------------------------------
void own_reset(World *world, Session *session); // a new body, or a new client for it
void own_cause(World *world, Session *session, NetCause cause);
// The client said what it predicted after an input.
void own_predicted(World *world, Session *session, const MessageInputBatch *batch);
void own_before(World *world, Session *session); // the step
void own_after(World *world, Session *session);
// The state for the next frame, if it is to have one.
bool own_state(World *world, Session *session, NetOwn *out);

// --- flow.c -------------------------------------------------------------------------------------
void flow_ack(World *world, Session *session, uint64_t frame);
void flow_frames(World *world); // of a snapshot tick

// --- step.c -------------------------------------------------------------------------------------
void step_inputs(World *world);
void step_sim(World *world);    // the step, with what is compared before and after it
void step_events(World *world); // of the sim, since the last call

// --- stage.c ------------------------------------------------------------------------------------
MUST_USE Status stage_create(World *world);
void stage_destroy(World *world);
void stage_tick(World *world); // motions that begin again
void stage_hash(const World *world, Hash64 *hash);

// --- geometry.c ---------------------------------------------------------------------------------
MUST_USE Status geometry_create(World *world);
void geometry_destroy(World *world);
void geometry_tick(World *world);
// What we ourselves queued in time is no change.
void geometry_accept(World *world, Handle part);

// --- event.c ------------------------------------------------------------------------------------
// Encodes a row of EVENT direction in world->frame and gives it to the replicator. `where` says
// whom it concerns (subject, other, position); NULL: everybody. Its tick is the world's.
void event_broadcast(World *world, uint8_t number, const void *body, const ReplicatorEvent *where);
MUST_USE Status event_send(World *world, const Session *session, uint8_t number, const void *body,
                           const ReplicatorEvent *where);

// --- inbox.c ------------------------------------------------------------------------------------
bool rate_take(World *world, Session *session, RateKind kind, uint32_t count);
void rate_fill(Session *session); // all of them, for a new session
MUST_USE Status inbox_create(World *world);
void inbox_destroy(World *world);
void inbox_clear(World *world, const Session *session);
MUST_USE Status inbox_put(World *world, Session *session, const Entry *entry);
void inbox_tick(World *world);
void inbox_hash(const World *world, Hash64 *hash);

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
void act_hash(const World *world, Hash64 *hash);

// --- what the features do once per tick ---------------------------------------------------------
void voxel_tick(World *world);    // versions of chunks for those who came near, after sim_step
void preview_tick(World *world);  // previews that are over
void transfer_tick(World *world); // blobs and runes, a chunk where there is room
void truth_tick(World *world);    // exact positions, for those who may know them
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
// Whether profiles of that account can be stored at all: STATUS_DENIED without an account,
// STATUS_LIMIT when there is no room for another.
MUST_USE Status save_profiles_check(World *world, uint64_t account);
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

// The room of sessions: everybody who is connected or whose body is kept, and every way to tell
// them something. A session is a slot in a table; its number in the table is also its number at the
// replicator.
//
//   session.c           slots and states              inbox.c             messages as they came
//   output.c            what goes out                 rate.c              how often one may ask
//   event.c             events for many               input.c             inputs that wait
//   snapshot_send.c     frames, acknowledgements      prediction_check.c  was the prediction right?
//   turn.c              bodies that scripts turn
//   debug_truth.c       exact positions for tools
//
// What always holds:
// - The states of sessions change with entries and ticks only. That output was taken
//   (world_output_take) is no entry and decides nothing: a replay takes nothing and must come to
//   the same state. How far a client is, is known from its acknowledgements alone.
// - This room knows nothing of saves, scripts or what players may do. When a playing client goes,
//   it calls `client_gone`, and the owner of the table does the rest (core/world/life.c).
#pragma once

#include "core/base/check.h"
#include "core/base/heap.h"
#include "core/base/id_map.h"
#include "core/base/log.h"
#include "core/script/bridge/authority.h"
#include "core/wire/error_code.h"
#include "core/wire/message.h"
#include "core/wire/moderation.h"
#include "core/world/entry/entry.h"
#include "core/world/session/input.h"
#include "core/world/session/prediction_check.h"
#include "core/world/session/rate.h"
#include "core/world/session/snapshot_send.h"
#include "core/world/session/turn.h"

typedef enum SessionState {
    SESSION_FREE,
    SESSION_CONNECTED,
    SESSION_VERIFYING, // waits for ENTRY_AUTH
    SESSION_PLAYING,   // authenticated; with a body unless it is about to get one
    SESSION_DROPPED,   // no connection; the body is kept for a while
    SESSION_CLOSING    // its last messages go out
} SessionState;

#define SESSION_REASON_BYTES 97

typedef struct Session {
    SessionState state;
    uint64_t connection; // 0 while dropped
    bool json;
    bool guest, operator_role;
    bool fixed_name;     // others see `name`, whatever its characters are called
    bool debug;          // gets exact positions once a second (debug_truth.c)
    uint64_t state_tick; // when the state began
    uint64_t account;    // 0: none (development)
    uint64_t player;     // its number in this world; 0: none yet
    uint64_t entity;     // its body; 0: none
    Handle body;         // where that was last found in the sim; session_handle looks again
    bool joining;        // has no body yet because its last one is still leaving
    bool resumed;
    char player_id[65];
    char name[65];
    uint64_t muted_until_ms; // unix time until which it may not chat; 0: it may
    char mute_reason[SESSION_REASON_BYTES];
    ChatRule chat_rule; // of this player; that of the world may be stricter
    bool is_kicked;     // by a script: it ends with this tick
    char kick_reason[SESSION_REASON_BYTES];
    bool chat_waits;        // came in by a token alone: no chat until the owner has said what holds
    uint32_t block_count;   // of the list in act_chat.c
    uint64_t address;       // a number for where it comes from; 0: nobody counts it
    bool has_token;         // the handshake brought a resume token:
    uint8_t token_hash[32]; // its hash
    uint8_t resume_hash[32];
    uint64_t resume_tick;  // when its row was last stored
    uint32_t presence_at;  // the next session whose player it has to be told of
    uint32_t presence_end; // later players are announced to everybody
    RateBucket rates[RATE_COUNT];
    uint64_t rated_tick; // when too many messages were last refused
    uint32_t strikes;    // malformed messages; too many end the session
    InputBuffer input;
    SessionTurn turn;
    Prediction prediction;
    uint64_t geometry_tick; // something near it changed then
    SnapshotFlow flow;
    uint32_t seq; // of messages that are no snapshots
    // Fire.
    uint64_t fire_tick; // may shoot again from then on
    // Previews.
    uint64_t preview_until[2]; // build, terraform; 0: none is shown
    uint64_t respawn_tick;
    bool gives_up; // its body dies at the end of this step
    // Output: a ring of messages, u32 length before each. Outside the state. Untouched pages cost
    // nothing, and a ring that is emptied begins anew.
    uint8_t *out;
    size_t out_capacity, out_begin, out_end, out_wrap;
    uint32_t out_count;
    bool out_lost;       // something did not fit: the owner ends the connection
    bool closing_told;   // session_closing has returned it
    struct Merge *merge; // JSON sessions only
} Session;

typedef struct SessionsConfig {
    Heap *heap; // all that follows is kept
    Sim *sim;
    Replicator *replicator;
    const WorldClock *clock;
    const WorldRun *run;
    WorldStats *stats;
    LogSink *log;
    uint32_t session_count, json_session_max;
    size_t frame_bytes; // of the largest snapshot or event
    // A playing session is about to lose its client; its body stays.
    void (*client_gone)(void *user, Session *session);
    void *user;
} SessionsConfig;

typedef struct Sessions {
    SessionsConfig config;
    Session *all; // numbered 0..count-1
    uint32_t count;
    uint32_t high; // above the highest in use
    void *map_block;
    IdMap connections;     // to session number + 1
    IdMap players;         // the same
    struct Inbox *inboxes; // by session
    uint8_t *inbox_bytes;  // INBOX_BYTES_MAX each
    uint8_t *frame;        // one snapshot or event being written
    size_t frame_capacity;
    uint8_t *message; // one message on its way into an output
    size_t message_capacity;
    uint8_t *outs; // the rings of all sessions, then those of the JSON sessions
    struct Merge *merges;
    bool *merge_used;
    uint32_t merge_count;
    uint64_t *closed; // connections that the world closed before session_closing returned them
    uint32_t closed_count;
    uint32_t closing_count; // sessions that session_closing has to look for
} Sessions;

MUST_USE Status session_create(const SessionsConfig *config, Sessions **out);
void session_destroy(Sessions *sessions); // NULL is allowed

// --- finding ------------------------------------------------------------------------------------
Session *session_at(Sessions *sessions, uint32_t number);
uint32_t session_number(const Sessions *sessions, const Session *session);
Session *session_of_connection(Sessions *sessions, uint64_t connection); // NULL: not here
Session *session_of_player(Sessions *sessions, uint64_t player);
Session *session_of_entity(Sessions *sessions, uint64_t entity);
Session *session_of_account(Sessions *sessions, uint64_t account); // with a body; NULL: none
Session *session_of_token(Sessions *sessions, const uint8_t token_hash[32]); // the same
uint32_t session_player_count(const Sessions *sessions);
Handle session_handle(const Sim *sim, const Session *session);      // HANDLE_NONE: has no body
const Entity *session_body(const Sim *sim, const Session *session); // NULL: has none
static inline bool session_plays(const Session *session)
{
    return session->state == SESSION_PLAYING && session->entity != 0;
}

// --- slots and states ---------------------------------------------------------------------------
MUST_USE Status session_connect(Sessions *sessions, const Entry *entry);
// Ends a session once its output is sent; its body is kept as after a cut.
void session_close(Sessions *sessions, Session *session);
// The connection is gone or abandoned; the slot stays.
void session_detach(Sessions *sessions, Session *session);
void session_free(Sessions *sessions, Session *session); // its player must have ended
// A closing session has timed out: the owner is asked to close its connection.
void session_abort(Sessions *sessions, Session *session);
// Revives its body at a spawn point.
MUST_USE Status session_respawn(Authority *authority, Session *session);
void session_hash(const Sessions *sessions, Hash64 *hash);

// --- output.c: to one session -------------------------------------------------------------------
// Writes a DOWN message for a session.
void session_send(Sessions *sessions, Session *session, uint8_t number, const void *body);
void session_ack(Sessions *sessions, Session *session, uint32_t command_seq, uint64_t entity_id);
// An error with a code for programs and a sentence for people. It ends the session if the code is
// always fatal.
void session_error(Sessions *sessions, Session *session, uint32_t command_seq, ErrorCode code,
                   const char *format, ...) __attribute__((format(printf, 5, 6)));
// ERROR_MALFORMED, the one code that may end the session or not.
void session_malformed(Sessions *sessions, Session *session, uint32_t command_seq, bool fatal,
                       const char *why);
// Rejects a command: counted, and answered with the status as code and the sentence.
void session_deny(Sessions *sessions, Session *session, uint32_t seq, Status status,
                  const char *sentence);
// Takes a token from the bucket, or rejects the command.
bool session_rate(Sessions *sessions, Session *session, uint32_t seq, RateKind kind);
// The bytes that the client has not confirmed; transfers continue only if they are few.
size_t session_waiting(const Session *session);
void output_open(Session *session, uint8_t *ring, size_t capacity);
// Queues a whole message in wire format. Counted; if it does not fit the connection is lost.
void output_put(Sessions *sessions, Session *session, const uint8_t *bytes, size_t count);
// The session is about to release its connection.
void output_close(Sessions *sessions, Session *session);
// The owner's side; see world_output, world_output_take and world_closing.
bool output_next(const Sessions *sessions, uint64_t connection, const uint8_t **bytes,
                 size_t *count);
void output_take(Sessions *sessions, uint64_t connection);
uint64_t session_closing(Sessions *sessions);

// --- event.c: to all whom it concerns -----------------------------------------------------------
// Encodes a row of EVENT direction and gives it to the replicator. `where` says whom it concerns
// (subject, other, position); NULL: everybody. Its tick is the world's.
void event_broadcast(Sessions *sessions, uint8_t number, const void *body,
                     const ReplicatorEvent *where);
MUST_USE Status event_send(Sessions *sessions, const Session *session, uint8_t number,
                           const void *body, const ReplicatorEvent *where);

// --- inbox.c: messages as they came -------------------------------------------------------------
typedef void InboxHandler(void *user, Session *session, const uint8_t *bytes, size_t count);
MUST_USE Status inbox_put(Sessions *sessions, Session *session, const Entry *entry);
// Refills rates and gives every session's messages of the last tick to the handler, in session
// order, at most INBOX_PER_TICK each. The handler may end the session.
void inbox_tick(Sessions *sessions, InboxHandler *handler, void *user);
void inbox_clear(Sessions *sessions, const Session *session);
void inbox_hash(const Sessions *sessions, Hash64 *hash);
MUST_USE Status inbox_create(Sessions *sessions);
void inbox_destroy(Sessions *sessions);

// --- debug_truth.c ------------------------------------------------------------------------------
void debug_truth_tick(Sessions *sessions); // exact positions, for those who may know them

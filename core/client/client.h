// A client of a world, without sockets, screen or keyboard: the browser's worker and the bots use
// this same code. Messages go in and out as bytes, time as milliseconds from anywhere that only
// rises, input as plain values; what there is to see is read from it.
//
//   IDLE ──client_connect──▶ CONNECTING ──welcome──▶ FETCHING ──scene──▶ PLAYING
//     ▲                                  (with the scene at hand: straight on)    │
//     └───────────── client_disconnected (keeps its resume token) ◀──────────────┘
//   CLOSED: the server said so, or it made no sense; client_closed_reason
//
// Everything from the server is checked as if it were hostile: a message that makes no sense closes
// the session with a reason, and touches nothing outside.
#pragma once

#include "core/base/heap.h"
#include "core/client/clock.h"
#include "core/client/interpolate.h"
#include "core/client/predict.h"
#include "core/script/bridge/view.h"
#include "core/script/runtime/script.h"

typedef struct Client Client;

typedef enum ClientState {
    CLIENT_IDLE,
    CLIENT_CONNECTING,
    CLIENT_FETCHING,
    CLIENT_PLAYING,
    CLIENT_CLOSED
} ClientState;

typedef struct ClientConfig {
    const Place *place; // the stripped scene, if it is at hand and its hash is the server's; kept.
                        // NULL, or another hash: it is fetched, by the owner or over the wire
    char ticket[4097];
    char session_token[2049];
    char player_id[65];
    char name[65];
    char resume_token[65];
    uint32_t visible_max;
    uint32_t input_rate; // messages a second: 30
    bool owner_fetches;  // the owner brings scene and runes (over HTTP) by client_give_…
    bool scripts;        // run client scripts
    bool still_puppets;  // others are not moved inside client_sim: for owners that only use
                         // client_entity, and a third of the work with many in sight
    ScriptConfig script; // world and tick rate in it are not used
    ViewConfig view;     // sim, prefabs and names in it are not used
    LogSink *log;        // kept; may be NULL
    // Runes may come packed, in the one way whose number the owner names here; 0: only as they are.
    // What is unpacked fills `rune_bytes`, or there is no rune in it: then it is asked for again as
    // it is.
    uint32_t packing;
    Status (*unpack)(void *user, const char *path, const uint8_t *packed, size_t packed_bytes,
                     uint8_t *rune, size_t rune_bytes);
    void *unpack_user;
    // Whether the text is signed by the key that the owner has (64 bytes of Ed25519). With it, or
    // with owner_verifies, a manifest that is not signed by that key ends the session.
    Status (*verify)(void *user, const uint8_t *text, size_t bytes, const uint8_t *signature);
    void *verify_user;
    bool owner_verifies; // the owner checks client_proof and calls client_verified
    // Added to now_ms it is the Unix time in milliseconds, which os.time shows to scripts.
    double unix_offset_ms;
} ClientConfig;

ClientConfig client_config_default(void);
MUST_USE Status client_create(Heap *heap, const ClientConfig *config, Client **out);
void client_destroy(Heap *heap, Client *client);

// --- the link -----------------------------------------------------------------------------------
// The transport is up: the handshake is written, with the resume token if there is one.
void client_connect(Client *client, double now_ms);
// The ticket for the next client_connect: each is valid once. False if it is too long.
bool client_set_ticket(Client *client, const char *ticket);
// One whole message.
void client_receive(Client *client, double now_ms, const uint8_t *bytes, size_t count);
// The transport is gone. Client scripts and the view stay as they are until the next welcome.
void client_disconnected(Client *client);
bool client_output(const Client *client, const uint8_t **bytes, size_t *count);
void client_output_take(Client *client);

ClientState client_state(const Client *client);
const char *client_closed_reason(const Client *client); // code and message; "" while open
// What a client that takes this one's place brings along; "": none yet.
const char *client_resume_token(const Client *client);
// The session ended because client and world were built with different PROTOCOL_SCHEMAs (or
// versions): connecting again cannot help. A page loads itself again, once; a program says that it
// has to be updated.
bool client_is_outdated(const Client *client);

// --- what is fetched elsewhere ------------------------------------------------------------------
// Runes come by hash from anywhere: a cache of the owner, HTTP, or the world. How an owner with a
// cache (a page, a bot) works:
//
//   client_receive → client_wants: what is missing, the most urgent first → found in the cache or
//   fetched? client_give_for → client_update: the client asks the world for what is still missing
//   (without owner_fetches: for all of it; with it: only for what client_fetch_one_over_wire named)
//
// So whatever is given between client_receive and client_update is never asked for. What is wanted
// changes rarely: ClientProgress.change rises then, and only then must client_wants be read again.
typedef enum ClientWantKind {
    CLIENT_WANT_SCENE,
    CLIENT_WANT_MANIFEST, // the rows of one that fits no message
    CLIENT_WANT_RUNE
} ClientWantKind;

// How urgent a script is, from the manifest's `requires`.
typedef enum ClientPriority {
    CLIENT_FIRST,    // ReplicatedFirst and what it requires: runs before the world appears
    CLIENT_NEEDED,   // scripts that run, and what they require
    CLIENT_DEMANDED, // a running script waits for it in `require`
    CLIENT_LATER     // nothing needs it: it is not wanted
} ClientPriority;

typedef struct ClientWant {
    ClientWantKind kind;
    ClientPriority priority; // of a rune; the scene and a manifest are CLIENT_FIRST
    bool from_host;          // it came damaged: neither from a cache nor from a cdn
    uint8_t hash[32];
    uint32_t bytes;   // uncompressed
    const char *path; // of a rune, without the ending of its source; else ""
} ClientWant;
// What is missing, in the order in which it is needed: fills up to `most`, returns how many.
uint32_t client_wants(const Client *client, ClientWant *out, uint32_t most);
bool client_want(const Client *client, uint32_t index, ClientWant *out); // false past the last
// The owner brings something uncompressed for that hash. STATUS_MISMATCH: its hash is another one;
// the first time it is wanted once more (from_host), the second time a rune is refused for good and
// its script does not run. STATUS_NOT_FOUND: nothing that is missing has that hash, which is no
// mistake.
MUST_USE Status client_give_for(Client *client, const uint8_t hash[32], const uint8_t *bytes,
                                size_t count);
// The same without saying for which hash: STATUS_MISMATCH if nothing that is missing has its hash.
MUST_USE Status client_give(Client *client, const uint8_t *bytes, size_t count);
// The rune of that hash, packed as configured. STATUS_MALFORMED or STATUS_MISMATCH if it does not
// contain that rune: it may still be given uncompressed.
MUST_USE Status client_give_packed(Client *client, const uint8_t hash[32], const uint8_t *packed,
                                   size_t packed_bytes);
// The owner cannot fetch this one: the world is asked for it. False: nothing wanted has that hash.
bool client_fetch_one_over_wire(Client *client, const uint8_t hash[32]);
// How far the fetching is. Counts what is wanted: not modules that nothing requires.
typedef struct ClientProgress {
    uint64_t bytes_here, bytes_wanted; // scene, manifest and runes together
    uint32_t scripts_here, scripts_wanted;
    uint32_t scripts_later;   // modules that come on demand, and are not here
    uint32_t scripts_refused; // damaged twice, or not for clients: they do not run
    uint32_t in_flight;       // requests to the world without their answer
    bool first_is_running;    // ReplicatedFirst has begun: the world may appear
    const char *fetching;     // path of a rune, "scene" or "manifest"; "": nothing is missing
    uint32_t change;          // rises whenever client_wants would give something else
} ClientProgress;
ClientProgress client_fetch_progress(const Client *client);
uint32_t client_wants_change(const Client *client); // ClientProgress.change alone, at no cost
// A manifest that the owner has to verify; valid until the next call. False: there is none.
typedef struct ClientProof {
    uint32_t version;
    const uint8_t *text; // what must have been signed
    size_t text_bytes;
    const uint8_t *signature; // 64 bytes
} ClientProof;
bool client_proof(const Client *client, ClientProof *out);
// Ignored if another manifest has come since.
void client_verified(Client *client, uint32_t version, bool good);
// The owner cannot fetch it: from now on everything is requested over the wire.
void client_fetch_over_wire(Client *client);
// The runes that run, for an owner that keeps them for the next time: the index-th; false past the
// last. Valid until the next call that takes bytes or time.
typedef struct ClientRuneBytes {
    uint8_t hash[32];
    const uint8_t *bytes; // NULL: it is not here
    uint32_t count;
} ClientRuneBytes;
bool client_rune(const Client *client, uint32_t index, ClientRuneBytes *out);
// The same as one number, from 0 to 1.
float client_progress(const Client *client);

// --- time and input -----------------------------------------------------------------------------
typedef struct ClientInput {
    float move_x, move_z, yaw, pitch;
    uint32_t buttons; // InputButton; a press between two ticks is not lost
    double turn_seen; // the client_turn that is in this yaw already
} ClientInput;
// The buttons are keys for scripts too: "Jump", "Run", "Fire", "Use", "Crouch", and the place's
// actions.
void client_set_input(Client *client, const ClientInput *input);
// By how much scripts have turned the player so far, in radians. What the owner's yaw does not have
// in it yet (turn_seen) is added to it, so an owner that never asks is turned too.
double client_turn(const Client *client);
// Which of INPUT_FIRE and INPUT_USE do anything: a script here has asked whether the button is
// down, or listens to all keys, or, for INPUT_FIRE, the place has a weapon. A touch screen leaves
// out the others.
uint32_t client_buttons_used(const Client *client);
// A key of the keyboard, for scripts (view_key.c). Nothing happens while no script can run.
void client_set_key(Client *client, Text name, bool down);
// A widget of a tree that view_shown gave was used; `typed` is what stands in an input, without
// data for a button. A widget that is not there any more is nobody's.
void client_use_widget(Client *client, uint64_t owner, uint64_t entity, double handler, Text typed);
// Steps what is due, runs scripts, places the puppets, writes input messages.
void client_update(Client *client, double now_ms);

// Sends a command; it is answered by an ack or an error with this number. 0: could not be sent.
uint32_t client_send(Client *client, uint8_t number, const void *body);

// --- looking ------------------------------------------------------------------------------------
typedef struct ClientEntity {
    uint64_t net_id, owner_id;
    NetKind kind;
    InterpolatePose pose; // shapes: see client_sim
    NetState state;       // the newest, not the one shown
    const InterpolateLine *line;
} ClientEntity;
// Walks what is visible by slot, the own body as others see it included: start with UINT32_MAX,
// ends with UINT32_MAX.
uint32_t client_next(const Client *client, uint32_t after);
ClientEntity client_entity(const Client *client, uint32_t slot);
// How something looks on this client: as the server says, and over it what client scripts painted.
Paint client_paint(const Client *client, uint64_t net_id);
// A number that changes whenever client_painted may give something else.
uint64_t client_paint_version(const Client *client);
// Calls the sink for what the server has sent, for what client scripts have painted, and for their
// local entities; something may come twice. All else looks as the scene has it.
typedef void (*ClientPaintSink)(void *user, uint64_t net_id, const Paint *paint);
void client_painted(const Client *client, ClientPaintSink sink, void *user);
PredictView client_own(const Client *client);
const Sim *client_sim(const Client *client); // NULL before the scene is there
// How an anchored part looks now, if that is not as the scene has it. The number changes whenever
// one of them does.
bool client_part_paint(const Client *client, uint64_t net_id, Paint *out);
uint32_t client_paint_change(const Client *client);
const Place *client_place(const Client *client); // the same
// Keys, camera, UI, effects; NULL before the scene is there, and without scripts. Effects are
// valid until the next client_update, which clears them; messages among them are sent, and lines
// of chat come as events.
View *client_script_view(Client *client);
// What is to be drawn of trails, lights and emitters, as view_visuals, with their positions.
uint32_t client_visuals(const Client *client, ViewVisual *out, uint32_t max);
ScriptSystem *client_scripts(Client *client);     // NULL without scripts
uint64_t client_view_tick(const Client *client);  // what others' poses are of, rounded down
double client_view_time(const Client *client);    // the same with its fraction
uint64_t client_frame_tick(const Client *client); // of the newest frame; 0: none yet

// Events and answers for the page, in the order they are to be shown: an event of tick T comes when
// the view reaches T, answers (the welcome among them) at once. Remotes, and sounds where there is
// a view, go to the scripts and the view instead. Who does not read them loses the oldest. Valid
// until the next call of the client; NULL: no more.
typedef struct ClientEvent {
    uint64_t tick; // 0: an answer (ack, error, durable, profiles, …)
    Message message;
} ClientEvent;
const ClientEvent *client_event(Client *client);

typedef struct ClientStats {
    ClientState state;
    ClockStats clock;
    PredictStats predict;
    uint64_t server_tick; // of the newest snapshot
    uint32_t input_seq;   // of the newest input
    uint32_t pending_inputs;
    uint32_t visible;
    uint64_t bytes_down, bytes_up, messages_down, messages_up, snapshots, events, events_dropped,
        outputs_dropped, chunks_asked, chunks_applied, chunks_refused, edits_applied;
    // Changed parts of the scene: cells, rows and their bytes; refused: there was no room.
    uint64_t patches_asked, patches_applied, patches_refused, patch_rows, patch_bytes;
    double snapshot_interval_p99_ms;
    uint32_t manifest_version;         // of the scripts that run; 0: none yet
    uint32_t script_count, rune_count; // in the newest manifest; of these, here
    bool manifest_is_proven;           // its signature was verified
} ClientStats;
ClientStats client_stats(const Client *client);
// What decides the future of prediction and merge, for comparing builds.
uint64_t client_hash(const Client *client);

// The inside of a Client, for the files of core/client alone. One file per job:
//
//   client.c        create, time, looking              connect.c      handshake, welcome, scene
//   receive.c       messages and frames in             client_queue.c queues of bytes
//   client_event.c  events in tick order               chunk_cache.c  versions of terrain
//   patch_cache.c   changed parts of the scene
//   rune_cache.c    manifests: which runes there are   rune_fetch.c   how runes come
//   client_script.c  scripts and their world           manifest_proof.c  is a manifest signed
//   client_parameters.c  parameters that changed     client_paint.c  how things look
//
// Two lifetimes: what every session needs is one block from create; what depends on the scene
// (prediction, view, scripts) is made when the scene is there and kept across sessions with the
// same scene. Buffers of a transfer live as long as the transfer.
#pragma once

#include "core/base/arena.h"
#include "core/base/check.h"
#include "core/base/id_map.h"
#include "core/base/sha256.h"
#include "core/client/client.h"
#include "core/script/bridge/latest.h"
#include "core/wire/manifest.h"
#include "core/wire/merge.h"
#include "core/wire/message.h"
#include "core/wire/path_index.h"
#include "core/wire/script_path.h"

// --- a queue of byte strings, in one block ------------------------------------------------------
typedef struct ClientQueue {
    uint8_t *data;
    size_t capacity;
    size_t begin, end;
    size_t middle; // client_event.c: what lies before it was released
} ClientQueue;

typedef struct ClientQueueItem {
    uint64_t tick;
    const uint8_t *bytes;
    size_t count;
    size_t next; // where the item after it begins
} ClientQueueItem;

bool client_queue_push(ClientQueue *queue, uint64_t tick, const uint8_t *bytes, size_t count);
// Writes in place: the writer has all the room there is; closing it makes the item, or nothing if
// the writer failed.
ByteWriter client_queue_open(ClientQueue *queue);
bool client_queue_close(ClientQueue *queue, const ByteWriter *writer);
bool client_queue_at(const ClientQueue *queue, size_t at, ClientQueueItem *out);
void client_queue_pop(ClientQueue *queue);
void client_queue_clear(ClientQueue *queue);

// --- terrain that is asked for ------------------------------------------------------------------
#define CHUNK_WANTS_MAX   256
#define CHUNK_OUT_MAX     32     // requested at once
#define CHUNK_RETRY_MS    2000.0 // without an answer
#define CHUNK_REQUEST_MAX 32     // in one message

typedef struct ChunkWant {
    ChunkCoord at;
    uint32_t version;
    bool asked;
    double asked_ms;
} ChunkWant;

// --- changed parts of the scene -----------------------------------------------------------------
#define PATCH_WANTS_MAX   256
#define PATCH_OUT_MAX     64     // requested at once
#define PATCH_RETRY_MS    2000.0 // without an answer
#define PATCH_SETTLE_MS   500.0  // a part is still an entity that is seen: asked again after this
#define PATCH_REQUEST_MAX 32     // in one message
#define PATCH_CELLS_MAX   4096 // whose versions are known; of others everything is asked for again

typedef struct PatchWant {
    ChunkCoord at;
    uint64_t version; // that the server named
    bool asked;
    double asked_ms;
} PatchWant;

typedef struct PatchKnown {
    ChunkCoord at;
    uint64_t version;
} PatchKnown;

// What is known of the scene's parts beside the scene; made with the scene.
typedef struct PatchCache {
    void *block; // heap; NULL: no scene yet
    IdMap map;   // from the place of a cell to its number + 1
    PatchKnown *cells;
    uint32_t cell_count, cell_max;
    uint32_t part_count;
    uint64_t base_tick; // what changed up to this one is in the scene
    Paint *paints;      // by scene index
    uint64_t *painted;  // a bit for each: its paint is the one above, not the scene's
    uint64_t *labelled; // a bit for each: its attributes are not those of the scene
    uint32_t change;    // rises whenever a paint does
    PatchWant wants[PATCH_WANTS_MAX];
    uint32_t want_count;
} PatchCache;

// --- runes --------------------------------------------------------------------------------------
#define CLIENT_RETRY_MS     5000.0 // a transfer without progress is asked for again
#define CLIENT_REFUSED_MS   1000.0 // the same when the server said no
#define CLIENT_REQUEST_MAX  14     // runes in one request
#define CLIENT_REQUESTS_MAX 4      // requests, and runes that arrive, at the same time
_Static_assert(CLIENT_REQUESTS_MAX *CLIENT_REQUEST_MAX + 2 <= TRANSFERS_MAX,
               "the server keeps all of them, a scene and a manifest");

typedef struct ClientRune {
    char path[SCRIPT_PATH_BYTES]; // first, for the index
    uint8_t hash[SHA256_BYTES];
    uint32_t bytes;
    uint32_t offset; // in the manifest's store
    ScriptService service;
    RunContext context;
    ClientPriority priority;
    uint32_t require_first, require_count; // in the manifest's `requires`
    uint32_t request;                      // number of the request it is part of + 1; 0: none
    bool here;
    bool over_wire; // the owner cannot fetch it
    bool retried;   // it arrived damaged once: now it must come from the host
    bool refused;   // it arrived damaged twice: it never runs
    bool reported;  // the server was told that it is here
    bool told;      // the server said that it is to run
    bool loaded;    // the script system has loaded it
    uint32_t slot;  // of its one instance (all but SERVICE_REPLICATED_STORAGE and
                    // SERVICE_WORKSPACE); 0: none
    uint64_t execute_tick;
} ClientRune;

typedef struct Manifest {
    uint32_t version; // 0: none
    uint32_t count, here_count;
    ClientRune *runes;    // by service; heap, one block with the three after it
    PathIndex index;      // by path
    uint32_t *hash_slots; // by hash: number + 1; as many as the index has
    uint32_t *requires;   // numbers of runes
    uint8_t *store;       // all runes, one after the other; heap
    uint64_t store_bytes;
    uint64_t at_tick;    // switch when the state of this tick has been applied
    bool first_done;     // SERVICE_REPLICATED_FIRST is running already
    bool is_good;        // verified, or verification is off
    bool is_proven;      // verified
    bool knows_requires; // it is signed: `requires` names all that its scripts require by name
    bool waits_for_word; // it came on joining: each script runs when the server says so
} Manifest;

// A manifest whose signature has not been checked yet.
typedef struct ManifestProof {
    uint8_t *text; // heap; NULL: none
    size_t text_bytes;
    uint8_t signature[64];
    uint32_t version;
} ManifestProof;

// A blob or rune in transfer: chunks come in order.
typedef struct Transfer {
    uint8_t *data; // heap; NULL: none
    size_t capacity;
    size_t bytes;
    uint32_t next_chunk, total_chunks;
    uint32_t chunk_bytes; // of the first
    uint64_t encoding;
    uint32_t rune; // number in the set that is fetched
    uint32_t seq;  // of the request
    double asked_ms;
    bool again; // restart from the first chunk
} Transfer;

// A manifest whose rows fit no message: their text is fetched first. The rest came with the
// message.
typedef struct ManifestText {
    uint32_t version; // 0: none
    uint64_t server_tick;
    char cdn_base[513];
    size_t cdn_bytes;
    uint8_t signature[64];
    bool is_signed;
    uint32_t bytes; // of the rows
    uint8_t hash[SHA256_BYTES];
    bool over_wire; // the owner cannot fetch it
    bool retried;   // it was damaged once
    Transfer transfer;
} ManifestText;

typedef struct RuneRequest {
    uint32_t left; // runes that have not arrived; 0: free
    uint32_t seq;
    double asked_ms; // or when the last chunk came
} RuneRequest;

// What differs from the parameters of the scene, with one manifest (client_parameters.c).
typedef struct ClientParameter ClientParameter;
typedef struct ParameterSet {
    uint32_t version;       // of the manifest; 0: none
    ClientParameter *first; // heap, each of them
    size_t bytes;
} ParameterSet;

// The script of an entity that a creator added (client_bind.c).
typedef struct ClientBound ClientBound;

typedef struct RuneCache {
    Manifest current, staged;
    ParameterSet parameters, parameters_next;
    ClientBound *bound; // heap, each of them
    uint32_t bound_count;
    ManifestText text;
    Transfer transfers[CLIENT_REQUESTS_MAX];
    RuneRequest requests[CLIENT_REQUESTS_MAX];
    ManifestProof proof;
    uint32_t reload_version;
    uint64_t reload_tick;
    uint32_t change;        // rises whenever what is wanted changes
    uint32_t text_bytes;    // of the manifest that came as a text, for the progress
    bool late;              // something that a script waits for has come
    uint32_t refused_count; // runes that were damaged twice, and scripts of the wrong context
} RuneCache;

// --- scripts ------------------------------------------------------------------------------------
#define CLIENT_INVOKES_MAX    64
#define CLIENT_INVOKE_SECONDS 10
#define CLIENT_ROSTER_SECONDS 3 // after a resume, until missing players are removed

typedef struct ClientInvoke {
    uint64_t id;
    uint32_t seq; // of the message that carried it
    uint64_t due_tick;
} ClientInvoke;

typedef struct ClientScript {
    View *view;
    ScriptSystem *system;
    uint64_t tick; // ticks of the client, independent of the server's
    uint32_t effects_sent;
    uint64_t own_bound; // the character that StarterPlayer scripts are bound to; 0: none
    bool own_respawned;
    bool attributes_are_new;      // those that are set now are of an entity that just came
    bool bind_due[NET_SLOTS_MAX]; // entered; its script is bound after the next tick
    ClientInvoke invokes[CLIENT_INVOKES_MAX];
    uint32_t invoke_count;
    struct ClientCostState *costs; // client_cost.c
    Latest latest;                 // unreliable messages that wait for remote_milli
    uint32_t remote_milli;         // messages that may be sent now, in thousandths
    uint64_t remote_tick;          // when that was counted
} ClientScript;

// --- what is known of others before the scene is there ------------------------------------------
typedef struct EarlyState {
    NetOwn own;
    bool has_own;
    bool has_shape[NET_SLOTS_MAX];
    NetShape shapes[NET_SLOTS_MAX];
    uint16_t attributes_bytes[NET_SLOTS_MAX];
    uint8_t attributes[NET_SLOTS_MAX][NET_ATTRIBUTES_BYTES_MAX];
} EarlyState;

#define CLIENT_PINGS_MAX     16
#define CLIENT_PING_MS       1000.0
#define CLIENT_FETCH_ACK_MS  100.0
#define CLIENT_INTERVALS_MAX 256
#define CLIENT_BATCH_MAX     8
#define CLIENT_REASON_BYTES  320

typedef struct ClientPing {
    uint32_t nonce;
    bool waiting;
    double sent_ms;
} ClientPing;

struct Client {
    ClientConfig config;
    Heap *heap;
    ClientState state;
    char reason[CLIENT_REASON_BYTES];
    bool is_outdated; // it ended because the world speaks another schema

    // The session.
    uint64_t epoch; // which life of the world
    uint64_t player;
    uint64_t own_entity; // 0: no body
    uint32_t tick_rate, snapshot_rate;
    uint8_t scene_hash[SHA256_BYTES];
    uint32_t scene_bytes;
    uint32_t seq; // of the last message sent
    ClientQueue output;

    // The scene.
    const Place *place; // config.place or fetched; NULL: not there
    Place *fetched;
    Transfer scene;
    EarlyState *early;
    Predict *predict;

    // Frames.
    Clock clock;
    Merge merge;
    MergeSink sink;
    double now_ms;
    double update_ms;                  // of the last client_update
    uint64_t frame_tick, frame_before; // of the frame at hand and the one before
    uint64_t ids[NET_SLOTS_MAX];       // by slot; 0: free
    uint64_t paint_version;            // rises when the server's paint of anything changes
    uint64_t before[NET_SLOTS_MAX];    // the same before a full frame
    uint16_t line_of[NET_SLOTS_MAX];   // number of its line from 1; 0: none
    InterpolateLine *lines;
    uint16_t *lines_free;
    uint32_t lines_free_count;

    // Input.
    ClientInput input;
    double turn_total;    // that scripts have turned the player, in radians
    MessageTurned turned; // waits for the next frame, which confirms it; entity_id 0: none
    uint32_t pressed;     // buttons that went down since the last tick
    uint32_t batch_ticks;
    WireInputFrame batch[CLIENT_BATCH_MAX];
    uint32_t batch_count;
    double batch_ms; // while fetching: of the last acknowledgement
    double ping_ms;
    uint32_t ping_nonce;
    ClientPing pings[CLIENT_PINGS_MAX];

    ChunkWant wants[CHUNK_WANTS_MAX];
    uint32_t want_count;
    PatchCache patch;
    RuneCache runes;
    ClientScript script;

    ClientQueue events, answers;
    uint32_t old_events; // at the front of the queue, from before the last welcome
    ClientEvent event;
    Arena scratch;       // of one message that is received
    Arena event_scratch; // of one event that is released or shown
    float intervals_ms[CLIENT_INTERVALS_MAX];
    uint32_t interval_count;
    double snapshot_ms;
    ClientStats stats;
};

// --- client.c -----------------------------------------------------------------------------------
// The server sent something invalid: the session ends.
void client_fail(Client *client, const char *format, ...) __attribute__((format(printf, 2, 3)));
// A frame was applied: a turn that was announced before it takes effect.
void client_turned(Client *client);
void client_close(Client *client, const char *format, ...) __attribute__((format(printf, 2, 3)));
void client_line_give(Client *client, uint32_t slot);
InterpolateLine *client_line_take(Client *client, uint32_t slot); // NULL: no more
static inline bool client_is_open(const Client *client)
{
    return client->state == CLIENT_FETCHING || client->state == CLIENT_PLAYING;
}

// --- client_paint.c -----------------------------------------------------------------------------
Paint client_server_paint(void *client, uint64_t net_id);
void client_painted_by_server(Client *client, uint64_t net_id);
// The next anchored part that the server has painted, by net id; 0: no more (patch_cache.c).
uint64_t client_next_painted(const Client *client, uint64_t after);

// --- connect.c ----------------------------------------------------------------------------------
void connect_welcome(Client *client, const MessageWelcome *welcome);
void connect_outdated(Client *client); // ends the session: the world speaks another schema
void connect_blob_chunk(Client *client, const MessageBlobChunk *chunk);
MUST_USE Status connect_give_scene(Client *client, const uint8_t *bytes, size_t count);
void connect_ask_scene(Client *client); // over the wire, when it is due
// Another scene has what changed since the one that is being fetched.
void connect_scene_folded(Client *client, const MessageSceneFolded *folded);
// The owner cannot fetch the scene: a host does not have those that a world makes. False: it is not
// what is missing.
bool connect_scene_over_wire(Client *client, const uint8_t hash[SHA256_BYTES]);
void connect_over_wire(Client *client); // the owner no longer brings it
void connect_forget_scene(Client *client);
typedef enum TransferStep {
    TRANSFER_BAD,  // it is invalid
    TRANSFER_SKIP, // not needed; or the chunks have another size now, and it has to begin again
    TRANSFER_MORE,
    TRANSFER_DONE
} TransferStep;
TransferStep transfer_append(Transfer *transfer, uint64_t index, uint64_t total, WireBytes data);
void transfer_restart(Transfer *transfer, double now_ms); // requested again in a second
void transfer_free(Heap *heap, Transfer *transfer);
void connect_refused(Client *client, uint32_t seq); // the server rejected a message

// --- receive.c ----------------------------------------------------------------------------------
MergeSink receive_sink(Client *client);
// The scene is loaded: applies what earlier frames contained.
void receive_early(Client *client);

// --- client_event.c -----------------------------------------------------------------------------
// An event of a frame, checked already.
void client_event_push(Client *client, uint64_t tick, const uint8_t *bytes, size_t count);
// Scripts get everything up to that tick, and the page may show it.
void client_event_release(Client *client, uint64_t tick);
// Another session begins: waiting events are released, because their tick may never come in this
// one.
void client_event_restart(Client *client);
void client_event_own_line(Client *client, Text text);

// --- chunk_cache.c ------------------------------------------------------------------------------
bool client_chunk_coord(WireCoord at, ChunkCoord *out); // false: there is no such chunk
void chunk_cache_versions(Client *client, const WireChunkVersion *chunks, uint32_t count);
void chunk_cache_edit(Client *client, const MessageTerraformApplied *edit);
void chunk_cache_data(Client *client, const MessageChunkData *data);
void chunk_cache_ask(Client *client);     // sends requests that are due
void chunk_cache_restart(Client *client); // a new session: no requests are on their way

// --- patch_cache.c ------------------------------------------------------------------------------
bool client_has_entity(const Client *client, uint64_t net_id); // it is one of those that are sent
MUST_USE Status patch_cache_open(Client *client);              // the scene is there
void patch_cache_close(Client *client);
void patch_cache_versions(Client *client, const WirePatchVersion *cells, uint32_t count);
void patch_cache_data(Client *client, const MessagePatchData *data);
void patch_cache_ask(Client *client);     // sends requests that are due
void patch_cache_restart(Client *client); // a new session: no requests are on their way
void patch_cache_clear(Client *client);   // another run of the world: nothing is known

// --- rune_cache.c: which runes there are --------------------------------------------------------
void rune_cache_free(Client *client);
void rune_cache_manifest(Client *client, const MessageScriptManifest *manifest);
// The text of a manifest, whose hash is right.
void rune_cache_text(Client *client, const uint8_t *text, size_t bytes);
void rune_cache_execute(Client *client, const MessageScriptExecute *execute);
void rune_cache_reload(Client *client, const MessageScriptReload *reload);
ClientRune *rune_cache_find(const Manifest *manifest, const char *path);
ClientRune *rune_cache_find_text(const Manifest *manifest, Text path);
ClientRune *rune_cache_find_hash(const Manifest *manifest, const uint8_t hash[SHA256_BYTES]);
// The set whose runes are fetched: the staged one, or else the one that runs.
Manifest *rune_cache_fetched(Client *client);
// A rune that is not here, and is to be fetched.
static inline bool rune_is_wanted(const ClientRune *rune)
{
    return !rune->here && !rune->refused && rune->priority < CLIENT_LATER;
}
// A script requires a module that is not here. False: no manifest names it, or it was refused.
bool rune_cache_demand(Client *client, const char *path);
// The result of verifying the staged manifest.
void rune_cache_verified(Client *client, bool good);
// The staged manifest becomes the current one.
void rune_cache_switch(Client *client);
// Whether all runes of that priority and those before it are here, and their tick has come.
bool rune_cache_is_ready(const Client *client, const Manifest *manifest, ClientPriority last);

// The version of the newest manifest that was named; 0: none was.
uint32_t rune_cache_newest(const RuneCache *cache);

// --- client_parameters.c ------------------------------------------------------------------------
// SCRIPT_BOUND: the script of something that the scene does not have.
void client_bound_take(Client *client, const MessageScriptBound *message);
void client_bound_clear(Client *client); // another life of the world, or the end
void client_parameters_take(Client *client, const MessageScriptParameters *message);
void client_parameters_restart(Client *client); // a new session: what came half comes again
void client_parameters_free(Client *client);
// Whether some came for a manifest after that one: it is about to come, and replaces that one.
bool client_parameters_are_newer(const Client *client, uint32_t version);
// The scripts of this manifest take over now.
void client_parameters_switch(Client *client, uint32_t version);
Text client_parameters_of(const Client *client, uint64_t net_id, Text otherwise);
Text client_parameters_of_prefab(const Client *client, Text prefab, Text otherwise);

// --- rune_fetch.c: how they come ----------------------------------------------------------------
void rune_fetch_chunk(Client *client, const MessageScriptChunk *chunk);
// False: it is of another blob.
bool rune_fetch_text_chunk(Client *client, const MessageBlobChunk *chunk);
void rune_fetch_update(Client *client);    // sends requests and reports that are due
void rune_fetch_over_wire(Client *client); // the owner no longer fetches anything
void rune_fetch_restart(Client *client);   // a new session: no requests are on their way
void rune_fetch_refused(Client *client, uint32_t seq);
void rune_fetch_clear(Client *client); // another set is fetched now
// Tells the server that a script is not run, and why; shown on this side too.
void rune_fetch_report(Client *client, const ClientRune *rune, const uint8_t hash[SHA256_BYTES],
                       const char *reason);
// What the owner brought for that hash. STATUS_NOT_FOUND: nothing that is missing has it.
// STATUS_MISMATCH: it was damaged.
MUST_USE Status rune_fetch_give(Client *client, const uint8_t hash[SHA256_BYTES],
                                const uint8_t *bytes, size_t count);
// The same for a rune that is packed as the configuration says.
MUST_USE Status rune_fetch_give_packed(Client *client, const uint8_t hash[SHA256_BYTES],
                                       const uint8_t *packed, size_t packed_bytes);

// --- manifest_proof.c ---------------------------------------------------------------------------
#define PROOF_BAD_TEXT "the manifest of the scripts is not signed by this world's host"
typedef enum ProofState {
    PROOF_BAD, // the session has ended
    PROOF_WAITS,
    PROOF_GOOD
} ProofState;
// signature: 64 bytes, or NULL if there is none.
ProofState manifest_proof_begin(Client *client, const ManifestList *list, const uint8_t *signature);
void manifest_proof_free(Client *client);

// --- client_script.c ----------------------------------------------------------------------------
MUST_USE Status client_script_open(Client *client); // the scene is there
void client_script_close(Client *client);
void client_script_welcome(Client *client); // a session goes on
void client_script_step(Client *client);    // once per tick of the client
void client_script_buttons(Client *client, uint32_t before, uint32_t after); // client_key.c
// --- client_cost.c ------------------------------------------------------------------------------
MUST_USE Status client_cost_open(Client *client); // with the scripts
void client_cost_close(Client *client);
void client_cost_step(Client *client);      // after a tick of the scripts
void client_script_effects(Client *client); // messages are sent, lines of chat shown
void client_script_clear_effects(Client *client);
void client_script_enter(Client *client, uint32_t slot, uint64_t net_id, const uint8_t *attributes,
                         size_t attributes_bytes);
void client_script_attributes(Client *client, uint64_t net_id, const uint8_t *attributes,
                              size_t attributes_bytes);
// As the scene has them; for an anchored part of which the server says nothing more.
void client_script_restore(Client *client, uint64_t net_id);
void client_script_listen(Client *client); // scripts are told of changes from now on
void client_script_leave(Client *client, uint64_t net_id);
void client_script_part_gone(Client *client, uint64_t net_id); // a part of the scene
bool client_part_is_there(const Client *client, uint64_t net_id);
void client_bind_shown(Client *client); // parts that were gone are there again
void client_script_tell(Client *client, const Message *event); // an event whose tick has come
// The server rejected a message.
void client_script_refused(Client *client, uint32_t seq, Text message);

// The inside of a world's scripts, for the files of core/world/script alone.
#pragma once

#include "core/wire/manifest.h"
#include "core/wire/path_index.h"
#include "core/wire/script_path.h"
#include "core/world/script/script_host.h"

// Those that run and as many staged ones; clients get MANIFEST_SCRIPTS_MAX of them.
#define HOST_SCRIPTS_MAX (2 * MANIFEST_ROWS_MAX)
// Runes, the staged ones included, each also packed. It begins with BEGIN and grows until the world
// has started, always with as much again for a reload.
#define HOST_BYTES_BEGIN (4u << 20)
#define HOST_BYTES_MAX   (48u << 20)
// What a manifest may have as a message; the rows of one with more are fetched as a text.
#define MANIFEST_MESSAGE_ROWS     640
#define MANIFEST_MESSAGE_REQUIRES 4096
#define MANIFEST_BLOCK_BYTES      (8u << 20) // of one signed manifest: its text, and what was read

typedef struct Service {
    ScriptService kind;
    bool replicates;
    bool runs_here; // loaded on the server
    bool executes;  // clients execute it; modules run by require
    RunContext context;
} Service;

typedef struct HostScript {
    char path[SCRIPT_PATH_BYTES];
    const Service *service;
    RunContext context;        // the service's, or narrower
    size_t offset, byte_count; // of the rune; count 0: it is removed
    size_t packed_count;       // the same packed, right behind it; 0: there is none
    uint32_t packing; // the format; not used here: clients name the formats they can unpack
    uint8_t hash[32];
} HostScript;

// A manifest that the owner signed. The world does not check the signature (its owner has the key);
// it checks that the manifest names exactly the runes that clients will get.
typedef struct SignedManifest {
    uint8_t *block; // MANIFEST_BLOCK_BYTES; NULL: no manifest came yet
    Arena arena;
    ManifestList list;
    uint8_t signature[MANIFEST_SIGNATURE_BYTES];
    bool is_signed;
    const uint8_t *text; // the rows (manifest_write_rows), in the block; only if is_blob
    uint32_t text_bytes;
    uint8_t text_hash[32];
    bool is_blob; // they fit no message: clients fetch the text
    bool is_set;
} SignedManifest;

// Parameters of the place that a reload has replaced.
typedef struct ParameterRow {
    uint64_t net_id; // of an entity of the place; 0: of a prefab
    uint32_t prefab; // its number
    size_t offset, byte_count;
    bool is_sent; // clients are told of it
} ParameterRow;

typedef struct ScriptParameters {
    ParameterRow *rows; // those that hold, then those that are staged
    uint32_t count, staged_count;
    uint8_t *bytes, *spare; // of the rows, in order; the spare one is for the next switch
    size_t bytes_used;
    size_t sent_bytes; // of what clients will be told once the staged ones hold
} ScriptParameters;

// A set of scripts that has replaced another one in this run, until it is known to be good.
typedef struct ScriptTrial {
    bool is_on;
    bool switch_due, result_due; // the owner is to be told
    ReloadResult result;
    uint32_t version;
    uint64_t tick, until_tick; // of the switch; when it is good
    char reason[SCRIPT_FAULT_BYTES];
} ScriptTrial;

typedef struct VerdictList VerdictList;
typedef struct BoundScript BoundScript; // script_bound.c
typedef struct ScriptSounds ScriptSounds;

struct ScriptHost {
    ScriptHostConfig config;
    ScriptSystem *system;          // NULL: this world runs no scripts
    struct Remotes *remotes;       // remote.c
    struct ClientReports *reports; // client_cost.c
    struct Transfers *transfers;   // transfer.c
    HostScene scenes[HOST_SCENES];
    VerdictList *verdicts; // client_verdict.c
    ScriptSounds *sounds;  // script_sound.c
    HostScript *scripts;   // those that run, then those that are staged
    uint32_t script_count, staged_count;
    PathIndex index, staged_index; // of both by path
    uint32_t sent_count;           // for clients, once the staged ones have taken over
    size_t sent_bytes;             // the same, of their runes
    uint8_t *bytes;                // of the runes, in the same order
    size_t bytes_used, bytes_capacity;
    uint32_t *order; // scratch of HOST_SCRIPTS_MAX
    bool reload_waits;
    uint32_t reload_version;
    SignedManifest signed_now, signed_next;
    ScriptParameters parameters;
    BoundScript *bound[SCRIPT_BOUND_MAX]; // heap, each of them
    uint32_t bound_count;
    ScriptTrial trial;
    bool dead_told;
    uint64_t verify_failed, load_failed;
    WireManifestScript *rows; // scratch of MANIFEST_MESSAGE_ROWS
    WireScriptPath *requires; // scratch of MANIFEST_MESSAGE_REQUIRES
};

// --- script_host.c ------------------------------------------------------------------------------
// A replicated script by path or number. False: there is none that clients may have.
typedef struct HostRune {
    const char *path;
    const uint8_t *bytes;
    size_t byte_count;
    const uint8_t *packed; // the same in fewer bytes
    size_t packed_count;   // 0: there is none
    uint32_t packing;
    uint8_t hash[32];
    uint32_t number;
} HostRune;
bool script_host_find(const ScriptHost *host, Text path, HostRune *out);
bool script_host_at(const ScriptHost *host, uint32_t number, HostRune *out);
bool script_host_is_sent(const HostScript *script);
// The script of that path after the staged ones are applied; NULL: none.
const HostScript *script_host_after(const ScriptHost *host, Text path);

// Binds the script of something that the place describes, if the entity is there; `only` that
// script, or NULL.
void script_host_bind(ScriptHost *host, const PlaceBinding *binding, uint64_t net_id,
                      const char *only);

// Sorts the first `count` numbers in host->order.
void script_host_order(ScriptHost *host, uint32_t count,
                       bool (*is_after)(const HostScript *a, const HostScript *b));

// --- script_parameters.c ------------------------------------------------------------------------
MUST_USE Status script_parameters_create(ScriptHost *host);
void script_parameters_destroy(ScriptHost *host);
void script_parameters_unstage(ScriptHost *host);
void script_parameters_switch(ScriptHost *host); // the staged ones hold
// The parameters of an entity of the place, or of what is spawned from a prefab.
void script_parameters_send(const ScriptHost *host, Session *session); // before the manifest
Text script_parameters_of(const ScriptHost *host, uint64_t net_id, Text otherwise);
Text script_parameters_of_prefab(const ScriptHost *host, uint32_t prefab, Text otherwise);
void script_parameters_hash(const ScriptHost *host, Hash64 *hash);

// --- script_bound.c -----------------------------------------------------------------------------
void script_bound_destroy(ScriptHost *host);
void script_bound_run(ScriptHost *host); // binds those that came since the last call
void script_bound_again(ScriptHost *host, const char *path); // that script is there again
void script_bound_send(const ScriptHost *host, Session *session);
void script_bound_hash(const ScriptHost *host, Hash64 *hash);

// --- script_trial.c -----------------------------------------------------------------------------
void script_trial_begin(ScriptHost *host); // before the new scripts are loaded
void script_trial_load_failed(ScriptHost *host, const char *path, Status status);
void script_trial_tick(ScriptHost *host); // after the scripts have run
void script_trial_hash(const ScriptHost *host, Hash64 *hash);

// --- script_manifest.c --------------------------------------------------------------------------
MUST_USE Status script_manifest_create(ScriptHost *host);
void script_manifest_destroy(ScriptHost *host);
// Reads a signed manifest of that version into signed_next and compares it with what clients will
// get. STATUS_MISMATCH: it names other runes; STATUS_LIMIT: it is too large.
MUST_USE Status script_manifest_take(ScriptHost *host, const uint8_t *text, size_t bytes,
                                     uint64_t version);
void script_manifest_clear_next(ScriptHost *host);
void script_manifest_switch(ScriptHost *host); // signed_next becomes the current one
void script_manifest_send(ScriptHost *host, Session *session);
// The text of the current manifest, if that is what clients fetch and this is its hash.
bool script_manifest_blob(const ScriptHost *host, const uint8_t hash[32], WireBytes *out);

// --- transfer.c ---------------------------------------------------------------------------------
MUST_USE Status transfer_create(ScriptHost *host);
void transfer_destroy(ScriptHost *host);
void transfer_forget(ScriptHost *host, const Session *session);
void transfer_forget_scripts(ScriptHost *host); // they changed

// --- client_cost.c ------------------------------------------------------------------------------
MUST_USE Status client_cost_create(ScriptHost *host);
void client_cost_destroy(ScriptHost *host);

// --- client_verdict.c --------------------------------------------------------------------------
MUST_USE Status client_verdict_create(ScriptHost *host);
void client_verdict_destroy(ScriptHost *host);
void client_verdict_switch(ScriptHost *host); // after the manifest has become the current one
void client_verdict_begin(ScriptHost *host, const Session *session); // it is sent the manifest
// What it says of the script with that number.
void client_verdict_take(ScriptHost *host, const Session *session, uint32_t number,
                         bool is_verified);

// --- script_sound.c -----------------------------------------------------------------------------
MUST_USE Status script_sound_create(ScriptHost *host);
void script_sound_destroy(ScriptHost *host);
void script_sound_forget(ScriptHost *host, const Session *session);
void script_sound_play(ScriptHost *host, const Effect *effect); // one that ends by itself
void script_sound_tick(ScriptHost *host); // what goes on; after all effects of the tick
void script_sound_hash(const ScriptHost *host, Hash64 *hash);

// --- remote.c -----------------------------------------------------------------------------------
MUST_USE Status remote_create(ScriptHost *host);
void remote_destroy(ScriptHost *host);
void remote_forget(ScriptHost *host, const Session *session);
// Messages that came for the scripts before do not reach those that take over.
void remote_forget_waiting(ScriptHost *host);
// A script's message to its players: an event, or the answer to a call.
void remote_down(ScriptHost *host, const ScriptMessage *message);

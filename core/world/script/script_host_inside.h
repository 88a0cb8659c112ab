// The inside of a world's scripts, for the files of core/world/script alone.
#pragma once

#include "core/wire/manifest.h"
#include "core/wire/script_path.h"
#include "core/world/script/script_host.h"

#define HOST_SCRIPTS_MAX 1024
#define HOST_BYTES_MAX   (8u << 20) // runes, the staged ones included
#define MANIFEST_MAX     512
// The maximum size of a manifest as a binary message: it must fit between two frames.
#define MANIFEST_WIRE_BYTES_MAX (64u << 10)
#define MANIFEST_BLOCK_BYTES    (2u << 20) // of one signed manifest, read
#define MANIFEST_REQUIRES_ALL   4096

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
    uint8_t *block; // MANIFEST_BLOCK_BYTES
    Arena arena;
    ManifestList list;
    uint8_t signature[MANIFEST_SIGNATURE_BYTES];
    bool is_set;
} SignedManifest;

struct ScriptHost {
    ScriptHostConfig config;
    ScriptSystem *system;          // NULL: this world runs no scripts
    struct Remotes *remotes;       // remote.c
    struct ClientReports *reports; // client_cost.c
    struct Transfers *transfers;   // transfer.c
    HostScript *scripts;           // those that run, then those that are staged
    uint32_t script_count, staged_count;
    uint8_t *bytes; // of the runes, in the same order
    size_t bytes_used;
    bool reload_waits;
    uint32_t reload_version;
    SignedManifest signed_now, signed_next;
    bool dead_told;
    uint64_t verify_failed, load_failed;
    WireManifestScript *rows; // scratch of MANIFEST_MAX
    WireScriptPath *requires; // scratch of MANIFEST_REQUIRES_ALL
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
const HostScript *script_host_after(const ScriptHost *host, const char *path);

// --- script_manifest.c --------------------------------------------------------------------------
MUST_USE Status script_manifest_create(ScriptHost *host);
void script_manifest_destroy(ScriptHost *host);
// Reads a signed manifest of that version into signed_next and compares it with what clients will
// get. STATUS_MISMATCH: it names other runes; STATUS_LIMIT: it cannot be sent.
MUST_USE Status script_manifest_take(ScriptHost *host, const uint8_t *text, size_t bytes,
                                     uint64_t version);
void script_manifest_clear_next(ScriptHost *host);
void script_manifest_switch(ScriptHost *host); // signed_next becomes the current one
void script_manifest_send(ScriptHost *host, Session *session);

// --- transfer.c ---------------------------------------------------------------------------------
MUST_USE Status transfer_create(ScriptHost *host);
void transfer_destroy(ScriptHost *host);
void transfer_forget(ScriptHost *host, const Session *session);
void transfer_forget_scripts(ScriptHost *host); // they changed

// --- client_cost.c ------------------------------------------------------------------------------
MUST_USE Status client_cost_create(ScriptHost *host);
void client_cost_destroy(ScriptHost *host);

// --- remote.c -----------------------------------------------------------------------------------
MUST_USE Status remote_create(ScriptHost *host);
void remote_destroy(ScriptHost *host);
void remote_forget(ScriptHost *host, const Session *session);
// A script's message to its players: an event, or the answer to a call.
void remote_down(ScriptHost *host, const ScriptMessage *message);

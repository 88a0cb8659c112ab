// The room of scripts: which scripts run in this world, what clients are sent of them, and what
// both sides say to each other.
//
//   script_host.c        scripts come in, take over, run    transfer.c  runes and scene, in pieces
//   script_manifest.c    what clients are told of them      remote.c    messages and calls
//   script_parameters.c  parameters that changed            script_trial.c  is a new set good?
//   script_bound.c       scripts of what a creator adds
//   script_sound.c       what clients hear
//   client_cost.c        what scripts cost on clients, as clients say
//   client_verdict.c    which scripts clients have, as clients say
//
// What always holds:
// - The service in its path decides where a script runs and whether anything of it leaves the
//   server. What is in ServerScriptService is never named to a client.
// - A new set of scripts takes over between two ticks, whole, with a manifest version that only
//   rises.
#pragma once

#include "core/place/place.h"
#include "core/world/save/save.h"
#include "core/world/script/client_cost.h"
#include "core/world/script/client_verdict.h"

typedef struct ScriptHost ScriptHost;

typedef struct ScriptHostConfig {
    Heap *heap; // all pointers are kept
    Sessions *sessions;
    Saves *saves;
    const Place *place;
    Authority *authority;
    const WorldClock *clock;
    WorldRun *run; // a reload raises its manifest version
    WorldStats *stats;
    LogSink *log;
    bool has_scripts;    // false: no script system at all
    ScriptConfig script; // world and tick rate in it are not used
} ScriptHostConfig;

MUST_USE Status script_host_create(const ScriptHostConfig *config, ScriptHost **out);
void script_host_destroy(ScriptHost *host);         // NULL is allowed
ScriptSystem *script_host_system(ScriptHost *host); // NULL without scripts

// --- scenes -------------------------------------------------------------------------------------
// What clients may fetch: the stripped form, and those with patches. The bytes are kept.
#define HOST_SCENES 3
typedef struct HostScene {
    const uint8_t *bytes; // NULL: there is none
    size_t count;
    uint8_t hash[32];
} HostScene;
// Takes the place of the one with that number, which nobody is sent any more.
void transfer_set_scene(ScriptHost *host, uint32_t number, const HostScene *scene);

// --- from the owner -----------------------------------------------------------------------------
MUST_USE Status script_host_add(ScriptHost *host, const Entry *entry);       // ENTRY_SCRIPT
MUST_USE Status script_host_reload(ScriptHost *host, const Entry *entry);    // ENTRY_RELOAD
MUST_USE Status script_parameters_add(ScriptHost *host, const Entry *entry); // ENTRY_PARAMETERS
void script_host_unstage(ScriptHost *host);                                  // ENTRY_UNSTAGE
// ENTRY_EDIT: something that was added has a script, which is bound in the next scripts phase.
// STATUS_NOT_FOUND: this world has no such script for entities, nor will a reload bring it.
// STATUS_LIMIT: there were SCRIPT_BOUND_MAX of them.
MUST_USE Status script_bound_check(const ScriptHost *host, Text path);
MUST_USE Status script_bound_add(ScriptHost *host, const PlaceBinding *binding);
// The answer to a DataStore request. STATUS_NOT_FOUND: no script waits for it.
MUST_USE Status script_host_stored(ScriptHost *host, const Entry *entry);

// --- the tick -----------------------------------------------------------------------------------
void script_host_start(ScriptHost *host);   // before the first tick: loads, binds, spawns' scripts
void script_host_run(ScriptHost *host);     // the scripts phase
void script_host_events(ScriptHost *host);  // the events phase: sim events → scripts
void script_host_effects(ScriptHost *host); // effects → messages, chat, sounds, store requests
void remote_tick(ScriptHost *host);         // calls without an answer in time; what may be sent now
void transfer_tick(ScriptHost *host);       // scene and runes, a piece where there is room

// --- sessions -----------------------------------------------------------------------------------
// A session came in: it is sent the manifest.
void script_host_welcome(ScriptHost *host, Session *session);
// The client of a session is gone: drops its transfers and unanswered calls.
void script_host_forget(ScriptHost *host, const Session *session);
// Commands of clients. Each is answered with an ack or an error, except remote_up, which scripts
// answer.
void script_host_verify(ScriptHost *host, Session *session, uint32_t seq,
                        const MessageScriptVerify *command);
void script_host_verify_list(ScriptHost *host, Session *session, uint32_t seq,
                             const MessageScriptVerifyList *command);
void transfer_script_request(ScriptHost *host, Session *session, uint32_t seq,
                             const MessageScriptRequest *command);
void transfer_blob_request(ScriptHost *host, Session *session, uint32_t seq,
                           const MessageBlobRequest *command);
void remote_up(ScriptHost *host, Session *session, const MessageRemoteUp *command);

// What a client's scripts cost it. Not answered: nobody waits for it.
void client_cost_take(ScriptHost *host, const Session *session, const MessageScriptCosts *command);
const ClientCosts *client_costs(const ScriptHost *host);
// Of everybody with an account who plays, version 0 for those who were sent no scripts: fills up to
// `most`, returns how many.
uint32_t client_verdicts(const ScriptHost *host, ClientVerdicts *out, uint32_t most);

void script_host_hash(const ScriptHost *host, Hash64 *hash);
void remote_hash(const ScriptHost *host, Hash64 *hash);
void transfer_hash(const ScriptHost *host, Hash64 *hash);

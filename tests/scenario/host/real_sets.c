// Sets of scripts of real worlds, and the live switch between them. A set has a number: Keeper (the
// server) and Hud (clients) print it, and both require the module Tools, which every second set
// changes. Count is the same in all sets. A set that fails raises an error in Keeper. What the host
// sends goes through the gate of the world process (server/shell/rune_gate.c), and clients verify
// the host's signature.
//
// Always: a side runs one set, never a module of one and a script of another; nothing starts twice
// with one manifest; what did not change does not start again; a client that has had time runs the
// manifest that its world has switched to. What the host has to do is in sets.c.
#include "core/base/check.h"
#include "core/base/sha256.h"
#include "core/script/rune/rune.h"
#include "server/build/sign/signing_key.h"
#include "tests/scenario/host/real_world.h"

#include <lua.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define RUNE_BYTES    8192
#define MANIFEST_MAX  8192
#define SETTLED_US    2500000 // after a switch, and after a client has begun to play
#define KEEPER        "ServerScriptService/Keeper"
#define SET_RUNES     4
#define TOOLS_OF(set) ((set) / 2)

// --- places -------------------------------------------------------------------------------------

typedef struct SetScript {
    const char *path, *file;
    ScriptService service;
    RunContext context;
    bool requires_tools;
    const char *source; // %u twice: the set, or for Tools its own number
} SetScript;

static const SetScript scripts[SET_RUNES] = {
    {"ReplicatedStorage/Tools", "ReplicatedStorage/Tools.lua", SERVICE_REPLICATED_STORAGE,
     CONTEXT_BOTH, false, "return {number = %u}"},
    // All worlds count in one DataStore of the place.
    {"ServerScriptService/Count", "ServerScriptService/Count.lua", SERVICE_SERVER_SCRIPT,
     CONTEXT_SERVER, false,
     "print('COUNT')\n"
     "local store = DataStore.GetDataStore('count')\n"
     "local function count() pcall(function() store:IncrementAsync('all', 1) end) end\n"
     "Players.PlayerAdded:Connect(function() task.spawn(count) end)\n"
     "task.spawn(function()\n"
     "  while true do\n"
     "    task.wait(0.4)\n"
     "    count()\n"
     "  end\n"
     "end)\n"},
    {KEEPER, KEEPER ".lua", SERVICE_SERVER_SCRIPT, CONTEXT_SERVER, true,
     "local tools = require('ReplicatedStorage/Tools')\n"
     "print('KEEPER', %u, tools.number)\n"},
    {"StarterGui/Hud", "StarterGui/Hud.lua", SERVICE_STARTER_GUI, CONTEXT_CLIENT, true,
     "local tools = require('ReplicatedStorage/Tools')\n"
     "local set = %u\n"
     "print('HUD', set, tools.number)\n"
     "task.spawn(function() while true do task.wait(0.5) print('BEAT', set, tools.number) end "
     "end)\n"},
};

static void write_source(const SetScript *script, uint32_t set, char *out, size_t bytes)
{
    const bool is_tools = script->context == CONTEXT_BOTH;
    const bool is_broken = strcmp(script->path, KEEPER) == 0 && set_fails(set);
    int at = snprintf(out, bytes, script->source, is_tools ? TOOLS_OF(set) : set);
    at += is_broken ? snprintf(out + at, bytes - (size_t)at, "error('" REAL_BROKEN "')\n") : 0;
    ASSERT(at > 0 && (size_t)at < bytes);
}

static void compile(lua_State *lua, const SetScript *script, uint32_t set, BuildRune *out)
{
    char source[1024];
    const int top = lua_gettop(lua);
    write_source(script, set, source, sizeof source);
    out->bytes = malloc(RUNE_BYTES);
    ASSERT(out->bytes != NULL);
    vm_push_environment(lua);
    Status status = vm_compile(lua, script->path, source, strlen(source), lua_gettop(lua));
    ASSERT(status == STATUS_OK);
    status = rune_write(lua, script->path, out->bytes, RUNE_BYTES, &out->count);
    ASSERT(status == STATUS_OK);
    lua_settop(lua, top);
    snprintf(out->path, sizeof out->path, "%s", script->path);
    out->service = script->service;
    out->context = script->context;
    out->replicate = script->context != CONTEXT_SERVER;
    sha256_of(out->bytes, out->count, out->hash);
}

static void write_manifest(BuildResult *built)
{
    static const Text tools = {"ReplicatedStorage/Tools", 23};
    ManifestRow rows[SET_RUNES];
    for (uint32_t i = 0; i < SET_RUNES; i++) {
        const BuildRune *rune = &built->runes[i];
        rows[i] = (ManifestRow){.path = text_from(scripts[i].file),
                                .size_bytes = (uint32_t)rune->count,
                                .run_context = text_from(run_context_names[rune->context]),
                                .service = text_from(script_service_names[rune->service]),
                                .replicate = rune->replicate,
                                .requires = scripts[i].requires_tools ? &tools : NULL,
                                .require_count = scripts[i].requires_tools};
        memcpy(rows[i].rune_hash, rune->hash, sizeof rows[i].rune_hash);
    }
    const ManifestList list = {.version = 1, .rows = rows, .row_count = SET_RUNES};
    built->manifest = malloc(MANIFEST_MAX);
    ASSERT(built->manifest != NULL);
    ByteWriter writer = byte_writer(built->manifest, MANIFEST_MAX);
    const Status status = manifest_write(&list, NULL, &writer);
    ASSERT(status == STATUS_OK);
    built->manifest_bytes = writer.at;
}

void real_set_fill(RealPlace *place, uint32_t set, BuildResult *built)
{
    built->rune_count = SET_RUNES;
    built->runes = calloc(SET_RUNES, sizeof *built->runes);
    ASSERT(built->runes != NULL && set < REAL_SETS_MAX);
    for (uint32_t i = 0; i < SET_RUNES; i++) {
        compile(vm_main(place->vm), &scripts[i], set, &built->runes[i]);
        if (strcmp(scripts[i].path, KEEPER) == 0) {
            memcpy(place->keepers[set], built->runes[i].hash, SHA256_BYTES);
        }
    }
    write_manifest(built);
}

static uint32_t set_of_keeper(const RealPlace *place, const uint8_t hash[SHA256_BYTES])
{
    for (uint32_t set = 1; set < REAL_SETS_MAX; set++) {
        if (memcmp(place->keepers[set], hash, SHA256_BYTES) == 0) {
            return set;
        }
    }
    return 0;
}

uint32_t real_set_of(const RealPlace *place, const HostPlace *host_place)
{
    for (uint32_t i = 0; i < host_place->built.rune_count; i++) {
        if (strcmp(host_place->built.runes[i].path, KEEPER) == 0) {
            return set_of_keeper(place, host_place->built.runes[i].hash);
        }
    }
    return 0;
}

// --- how it begins ------------------------------------------------------------------------------

void real_set_open(StubProcess *process, const HostBeginning *beginning)
{
    RealWorld *real = process->real;
    char reason[256] = "";
    if (rune_gate_open(&real->gate, beginning->public_key, beginning->manifest,
                       beginning->manifest_bytes, reason, sizeof reason) != STATUS_OK) {
        hosts_fail(process->hosts, "world %u: the gate stays closed: %s", process->world, reason);
    }
}

static void note_entry(StubProcess *process, const Entry *entry)
{
    RealWorld *real = process->real;
    if (entry->type == ENTRY_SCRIPT && entry->name_bytes == sizeof KEEPER - 1 &&
        memcmp(entry->name, KEEPER, entry->name_bytes) == 0) {
        uint8_t hash[SHA256_BYTES];
        sha256_of(entry->bytes, entry->byte_count, hash);
        real->staged_set = set_of_keeper(process->hosts->real_place, hash);
    } else if (entry->type == ENTRY_RELOAD) {
        set_new_version(process, entry->number);
        real->staged_version = (uint32_t)entry->number;
        real->sets[entry->number % REAL_VERSIONS] = real->staged_set;
    }
}

Status real_set_check(StubProcess *process, const Entry *entry)
{
    char reason[256] = "";
    const Status status = rune_gate_check(&process->real->gate, entry, reason, sizeof reason);
    if (status == STATUS_OK) {
        note_entry(process, entry);
    }
    return status;
}

void real_set_begun(StubProcess *process)
{
    RealWorld *real = process->real;
    char reason[256] = "";
    if (rune_gate_finish(&real->gate, reason, sizeof reason) != STATUS_OK) {
        hosts_fail(process->hosts, "world %u begins without a script: %s", process->world, reason);
    }
    rune_gate_take(&real->gate);
    real->version = real->staged_version;
    set_begins_with(process, real->staged_set);
}

void real_set_close(StubProcess *process)
{
    rune_gate_close(&process->real->gate);
}

// --- a reload, as world_loop.c takes it ---------------------------------------------------------

// The host has no reason to send anything that is refused.
static void refused(StubProcess *process, const char *reason)
{
    hosts_fail(process->hosts, "world %u refuses manifest %u: %s", process->world,
               process->real->staged_version, reason);
}

void real_set_piece(StubProcess *process, const StubMessage *message)
{
    char reason[256] = "";
    ByteReader reader = byte_reader(message->bytes, message->count);
    RunePiece piece = {.version = byte_read_u32(&reader)};
    piece.whole_bytes = byte_read_u32(&reader);
    piece.at = byte_read_u32(&reader);
    ASSERT(reader.status == STATUS_OK);
    piece.bytes = message->bytes + reader.at;
    piece.count = message->count - reader.at;
    if (rune_gate_piece(&process->real->gate, &piece, reason, sizeof reason) != STATUS_OK) {
        refused(process, reason);
    }
}

void real_set_entry(StubProcess *process, const Entry *entry)
{
    RealWorld *real = process->real;
    char reason[256] = "";
    const bool is_last = entry->type == ENTRY_RELOAD;
    Status status = rune_gate_check(&real->gate, entry, reason, sizeof reason);
    if (status == STATUS_OK && is_last) {
        status = rune_gate_finish(&real->gate, reason, sizeof reason);
    }
    if (status == STATUS_OK) {
        note_entry(process, entry);
        status = world_enter(real->world, entry);
    }
    if (status != STATUS_OK) {
        refused(process, reason[0] != '\0' ? reason : status_name(status));
    } else if (is_last) {
        rune_gate_take(&real->gate);
    }
}

// What the world says of it, on its way to the host.
void real_set_told(StubProcess *process, const Command *command)
{
    RealWorld *real = process->real;
    if (command->reload == RELOAD_SWITCHED) {
        real->version = command->version;
        real->switched_us = process->hosts->now_us;
        set_switched(process, real->sets[command->version % REAL_VERSIONS], command->version);
        process->hosts->real_switches += 1;
    } else if (command->reload == RELOAD_FAILED && !set_fails(process->set)) {
        hosts_fail(process->hosts, "world %u: set %u is good and has failed: %.*s", process->world,
                   process->set, (int)command->byte_count, (const char *)command->bytes);
    } else if (command->reload == RELOAD_GOOD && set_fails(process->set)) {
        hosts_fail(process->hosts, "world %u: set %u fails and is found good", process->world,
                   process->set);
    }
}

// --- what scripts print -------------------------------------------------------------------------

static bool read_pair(const char *text, const char *word, uint32_t *set, uint32_t *tools)
{
    const char *at = strstr(text, word);
    return at != NULL && sscanf(at + strlen(word), "\t%u\t%u", set, tools) == 2;
}

void real_set_server_log(StubProcess *process, const char *text)
{
    RealWorld *real = process->real;
    uint32_t set = 0, tools = 0;
    if (read_pair(text, "KEEPER", &set, &tools)) {
        if (set != real->staged_set || tools != TOOLS_OF(set)) {
            hosts_fail(process->hosts, "world %u runs Keeper %u with Tools %u; manifest %u has %u",
                       process->world, set, tools, real->staged_version, real->staged_set);
        }
        if (real->keeper_version == real->staged_version) {
            hosts_fail(process->hosts, "world %u starts Keeper twice with manifest %u",
                       process->world, real->staged_version);
        }
        real->keeper_version = real->staged_version;
    } else if (strstr(text, "COUNT") != NULL && ++real->count_starts > 1) {
        hosts_fail(process->hosts, "world %u starts Count again, which has not changed",
                   process->world);
    }
}

void real_set_client_log(void *user, const LogEvent *event)
{
    RealPlayer *player = user;
    StubProcess *process = player->process;
    uint32_t set = 0, tools = 0;
    const bool starts = read_pair(event->text, "HUD", &set, &tools);
    if (!starts && !read_pair(event->text, "BEAT", &set, &tools)) {
        return;
    }
    const uint32_t version = client_stats(player->client).manifest_version;
    const uint32_t want = process->real->sets[version % REAL_VERSIONS];
    if (set != want || tools != TOOLS_OF(want)) {
        hosts_fail(process->hosts,
                   "a client of world %u runs Hud %u with Tools %u; manifest %u has "
                   "set %u",
                   process->world, set, tools, version, want);
    }
    if (starts && player->hud_version == version) {
        hosts_fail(process->hosts, "a client of world %u starts Hud twice with manifest %u",
                   process->world, version);
    }
    player->hud_version = starts ? version : player->hud_version;
    process->hosts->hud_starts += starts;
}

// The key is in the answer to a join: that of the host which runs the world.
Status real_set_verify(void *user, const uint8_t *text, size_t bytes, const uint8_t *signature)
{
    const StubProcess *process = user;
    const Hosts *hosts = process->hosts;
    const SigningKey *key = hosts->has_peers ? &hosts->keys[process->host] : &hosts->key;
    SigningPublicKeys halves = {.count = 1};
    memcpy(halves.items[0], key->public_half, sizeof halves.items[0]);
    return signing_verify_any(&halves, text, bytes, signature, NULL) ? STATUS_OK : STATUS_DENIED;
}

void real_set_check_player(StubProcess *process, RealPlayer *player)
{
    const uint64_t now_us = process->hosts->now_us;
    const bool is_playing = client_state(player->client) == CLIENT_PLAYING;
    player->playing_us = !is_playing ? 0 : player->playing_us != 0 ? player->playing_us : now_us;
    if (!is_playing || process->is_stopping || now_us < player->playing_us + SETTLED_US ||
        now_us < process->real->switched_us + SETTLED_US) {
        return;
    }
    const uint32_t version = client_stats(player->client).manifest_version;
    process->hosts->settled_checks += 1;
    if (version != process->real->version || player->hud_version == 0) {
        hosts_fail(process->hosts,
                   "a client of world %u runs manifest %u (Hud %u), and the world %u",
                   process->world, version, player->hud_version, process->real->version);
    }
}

// Scripts that change while everybody plays. A set is a module and what requires it: Hud for
// clients, Keeper for the server; Still changes never and requires nothing; Lamp is bound to a part
// and prints a parameter of it. Creators save at any moment, the module or Hud or both or only the
// parameter, and some saves break Keeper: then the set before comes back, as a host does it.
// Clients join, drop and come back meanwhile.
//
// Always: what a client runs is one set, never a module of one and a script of another; nothing
// starts twice with one manifest; what did not change does not start again; a client that has had
// time runs the manifest that the server names, and in the end every client does. Parameters are
// those of the manifest that runs, at every moment, and change without a start.
#include "core/base/sha256.h"
#include "core/script/rune/rune.h"
#include "core/wire/manifest.h"
#include "tests/scenario/net/net_inside.h"

#include <lua.h>
#include <stdio.h>
#include <string.h>

#define SETTLED_US 2500000 // after a switch, on a link that loses nothing
#define RUNE_BYTES 4096
#define LAMP_ID    1

const char reload_scene[] =
    "{\"format\": 1,\n"
    " \"terrain\": [{\"min\": [-32, -4, -32], \"max\": [31, -1, 31], \"kind\": \"grass\"}],\n"
    " \"entities\": [\n"
    "  {\"id\": 1, \"type\": \"spawn\", \"transform\": {\"position\": [4, 0, 0]}},\n"
    "  {\"id\": 2, \"type\": \"spawn\", \"transform\": {\"position\": [-3, 0, 3]}},\n"
    "  {\"id\": 3, \"name\": \"Lamp\", \"transform\": {\"position\": [9, 0.5, 9]},"
    "   \"scriptPath\": \"Workspace/Lamp.lua\", \"parameters\": {\"light\": 1},"
    "   \"shape\": {\"size\": [1, 1, 1]}}]}\n";

typedef struct Made {
    const char *path, *file, *service, *context;
    uint8_t bytes[RUNE_BYTES];
    size_t count;
} Made;

// --- runes --------------------------------------------------------------------------------------

static void compile(Net *net, Made *out, const char *source)
{
    lua_State *lua = vm_main(net->reload.vm);
    const int top = lua_gettop(lua);
    vm_push_environment(lua);
    Status status = vm_compile(lua, out->path, source, strlen(source), lua_gettop(lua));
    ASSERT(status == STATUS_OK);
    status = rune_write(lua, out->path, out->bytes, sizeof out->bytes, &out->count);
    ASSERT(status == STATUS_OK);
    lua_settop(lua, top);
}

static void make_tools(Net *net, uint32_t number, Made *out)
{
    char source[64];
    *out = (Made){.path = "ReplicatedStorage/Tools",
                  .file = "ReplicatedStorage/Tools.lua",
                  .service = "ReplicatedStorage",
                  .context = "Both"};
    snprintf(source, sizeof source, "return {number = %u}", number);
    compile(net, out, source);
}

// It has a timer, which must end with it.
static void make_hud(Net *net, uint32_t number, Made *out)
{
    char source[512];
    *out = (Made){.path = "StarterGui/Hud",
                  .file = "StarterGui/Hud.lua",
                  .service = "StarterGui",
                  .context = "Client"};
    snprintf(source, sizeof source,
             "local tools = require('ReplicatedStorage/Tools')\n"
             "print('SET', %u, tools.number)\n"
             "state = 0\n"
             "function onReload(old) state = old.state end\n"
             "task.spawn(function() while true do task.wait(0.5) state = state + 1\n"
             "  print('BEAT', %u, tools.number) end end)\n",
             number, number);
    compile(net, out, source);
}

static void make_still(Net *net, Made *out)
{
    *out = (Made){.path = "StarterGui/Still",
                  .file = "StarterGui/Still.lua",
                  .service = "StarterGui",
                  .context = "Client"};
    compile(net, out, "print('STILL')");
}

static void make_lamp(Net *net, Made *out)
{
    *out = (Made){.path = "Workspace/Lamp",
                  .file = "Workspace/Lamp.lua",
                  .service = "Workspace",
                  .context = "Both"};
    compile(net, out,
            "local lit\n"
            "function onStart(self) print('LAMP ON') end\n"
            "function onUpdate(self)\n"
            "  if self.params.light ~= lit then lit = self.params.light print('LIGHT', lit) end\n"
            "end\n"
            "function onReload(old) print('LAMP AGAIN') end\n");
}

static void make_keeper(Net *net, bool is_broken, Made *out)
{
    *out = (Made){.path = "ServerScriptService/Keeper"};
    compile(net, out,
            is_broken ? "local tools = require('ReplicatedStorage/Tools')\nerror('BROKEN')"
                      : "local tools = require('ReplicatedStorage/Tools')\n"
                        "print('SERVER', tools.number)");
}

// --- entering -----------------------------------------------------------------------------------

static void enter(Net *net, const Entry *entry)
{
    const Status status = net_enter(net, entry);
    if (status != STATUS_OK) {
        net_fail(net, "a reload is refused: %.*s %s", (int)entry->name_bytes, entry->name,
                 status_name(status));
    }
}

static void enter_script(Net *net, const Made *made)
{
    const bool is_sent = made->service != NULL;
    enter(net, &(Entry){.type = ENTRY_SCRIPT,
                        .flags = is_sent ? ENTRY_REPLICATE : 0,
                        .name = made->path,
                        .name_bytes = (uint32_t)strlen(made->path),
                        .bytes = made->bytes,
                        .byte_count = made->count});
}

static ManifestRow row_of(const Made *made, const Text *requires, uint32_t count)
{
    ManifestRow row = {.path = text_from(made->file),
                       .size_bytes = (uint32_t)made->count,
                       .run_context = text_from(made->context),
                       .service = text_from(made->service),
                       .replicate = true,
                       .requires = requires,
                       .require_count = count};
    sha256_of(made->bytes, made->count, row.rune_hash);
    return row;
}

// The world passes the signature on, and these clients do not verify it.
static void enter_reload(Net *net, const Made *tools, const Made *hud, const Made *still,
                         const Made *lamp)
{
    static const Text required = {"ReplicatedStorage/Tools", 23};
    static uint8_t text[4096];
    const uint8_t signature[MANIFEST_SIGNATURE_BYTES] = {1};
    const ManifestRow rows[] = {row_of(tools, NULL, 0), row_of(hud, &required, 1),
                                row_of(still, NULL, 0), row_of(lamp, NULL, 0)};
    const ManifestList list = {
        .version = ++net->reload.version, .rows = rows, .row_count = sizeof rows / sizeof rows[0]};
    ByteWriter writer = byte_writer(text, sizeof text);
    const Status status = manifest_write(&list, signature, &writer);
    ASSERT(status == STATUS_OK);
    enter(net, &(Entry){.type = ENTRY_RELOAD,
                        .number = list.version,
                        .bytes = text,
                        .byte_count = writer.at});
}

static void enter_light(Net *net, uint32_t light)
{
    char json[32];
    const int bytes = snprintf(json, sizeof json, "{\"light\": %u}", light);
    enter(net, &(Entry){.type = ENTRY_PARAMETERS,
                        .number = LAMP_ID,
                        .bytes = (const uint8_t *)json,
                        .byte_count = (size_t)bytes});
}

// What differs from the set before, and what requires it.
static void enter_set(Net *net, NetSet set)
{
    NetReload *reload = &net->reload;
    static Made tools, hud, still, lamp, keeper;
    const bool is_first = reload->version == 0;
    const bool has_tools = is_first || set.tools != reload->set.tools;
    const bool has_hud = has_tools || set.hud != reload->set.hud;
    const bool has_keeper = has_tools || set.is_broken != reload->set.is_broken;
    make_tools(net, set.tools, &tools);
    make_hud(net, set.hud, &hud);
    make_still(net, &still);
    make_lamp(net, &lamp);
    make_keeper(net, set.is_broken, &keeper);
    const Made *const all[] = {has_tools ? &tools : NULL, has_hud ? &hud : NULL,
                               is_first ? &still : NULL, is_first ? &lamp : NULL,
                               has_keeper ? &keeper : NULL};
    for (uint32_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        if (all[i] != NULL) {
            enter_script(net, all[i]);
        }
    }
    if (!is_first && set.light != reload->set.light) {
        enter_light(net, set.light);
    }
    enter_reload(net, &tools, &hud, &still, &lamp);
    reload->set = set;
    ASSERT(reload->version < NET_SETS_MAX);
    reload->sets[reload->version] = set;
    reload->switch_us = net->now_us;
    reload->waits = !is_first;
}

void reload_open(Net *net)
{
    const VmConfig config = vm_config_default();
    const Status status = vm_create(&net->heap, &config, &net->reload.vm);
    ASSERT(status == STATUS_OK);
    net->reload.good = (NetSet){.tools = 1, .hud = 1, .light = 1};
    enter_set(net, net->reload.good);
    net->reload.next_us = 500000;
}

void reload_close(Net *net)
{
    if (net->reload.vm != NULL) {
        vm_destroy(&net->heap, net->reload.vm);
    }
}

// A creator saves something, at any moment.
void reload_step(Net *net, uint64_t end_us)
{
    NetReload *reload = &net->reload;
    if (reload->vm == NULL || net->now_us >= end_us) {
        return;
    }
    if (reload->is_failed) { // as a host does
        reload->is_failed = false;
        enter_set(net, reload->good);
        reload->restored += 1;
    } else if (net->now_us >= reload->next_us && !reload->waits) {
        reload->next_us = net->now_us + 50000 + rng_below(&net->rng, 1500000);
        NetSet set = reload->set;
        const uint32_t kind = rng_below(&net->rng, 5);
        set.tools += kind == 0 || kind == 2;
        set.hud += kind == 1 || kind == 2;
        set.is_broken = kind == 3;
        set.light += kind == 4 || rng_below(&net->rng, 3) == 0;
        if (kind != 3) {
            reload->good = reload->set.is_broken ? reload->good : reload->set;
        }
        enter_set(net, set);
    }
}

void reload_told(Net *net, const Command *command)
{
    NetReload *reload = &net->reload;
    if (command->version != reload->version) {
        return; // another one has followed
    }
    reload->waits = false;
    if (command->reload == RELOAD_SWITCHED) {
        reload->switched += 1;
        reload->broken += reload->set.is_broken;
    } else if (command->reload == RELOAD_GOOD) {
        reload->good = reload->set;
    } else if (command->reload == RELOAD_FAILED) {
        reload->is_failed = true;
        if (!reload->set.is_broken) {
            net_fail(net, "a good set has failed: %.*s", (int)command->byte_count,
                     (const char *)command->bytes);
        }
    }
}

// --- what clients print -------------------------------------------------------------------------

static bool read_pair(const char *text, const char *word, NetSet *out)
{
    const char *at = strstr(text, word);
    unsigned hud = 0, tools = 0;
    if (at == NULL || sscanf(at + strlen(word), "\t%u\t%u", &hud, &tools) != 2) {
        return false;
    }
    *out = (NetSet){.hud = hud, .tools = tools};
    return true;
}

// It prints when its parameter differs from what it printed last, so once for each change.
static void light_log(NetClient *client, const char *text, uint32_t version)
{
    Net *net = client->net;
    const char *at = strstr(text, "LIGHT\t");
    if (at != NULL && version < NET_SETS_MAX) {
        unsigned light = 0;
        if (sscanf(at, "LIGHT\t%u", &light) != 1 || light != net->reload.sets[version].light) {
            net_fail(net, "client %u: the light is %u; manifest %u has %u", client->index, light,
                     version, net->reload.sets[version].light);
        }
        client->light = light;
        net->reload.lights += 1;
    }
    if (strstr(text, "LAMP AGAIN") != NULL) {
        net_fail(net, "client %u starts Lamp again for a parameter", client->index);
    }
}

void reload_log(void *user, const LogEvent *event)
{
    NetClient *client = user;
    Net *net = client->net;
    const uint32_t version =
        client->client != NULL ? client_stats(client->client).manifest_version : 0;
    NetSet set = {0};
    const bool starts = read_pair(event->text, "SET", &set);
    if ((starts || read_pair(event->text, "BEAT", &set)) && version < NET_SETS_MAX) {
        const NetSet *want = &net->reload.sets[version];
        if (set.hud != want->hud || set.tools != want->tools) {
            net_fail(net, "client %u runs Hud %u with Tools %u; manifest %u has %u and %u",
                     client->index, set.hud, set.tools, version, want->hud, want->tools);
        }
        if (starts && client->started_version == version) {
            net_fail(net, "client %u starts Hud twice with manifest %u", client->index, version);
        }
        client->started_version = starts ? version : client->started_version;
        net->reload.starts += starts;
    }
    light_log(client, event->text, version);
    if (strstr(event->text, "STILL") != NULL) {
        client->still_count += 1;
        if (client->still_count > 1) {
            net_fail(net, "client %u starts Still again, which has not changed", client->index);
        }
    }
    if (net->verbose) {
        printf("client %u: %s\n", client->index, event->text);
    }
}

// --- what must hold -----------------------------------------------------------------------------

// Only links that lose nothing let a client be in time.
static bool is_in_time(const NetClient *client)
{
    return client->profile == &link_clean || client->profile == &link_home;
}

void reload_check(Net *net, bool is_end)
{
    const NetReload *reload = &net->reload;
    if (reload->vm == NULL || (!is_end && net->now_us < reload->switch_us + SETTLED_US)) {
        return;
    }
    for (uint32_t i = 0; i < net->client_count; i++) {
        const NetClient *client = &net->clients[i];
        if (client->client == NULL || client_state(client->client) != CLIENT_PLAYING ||
            (!is_end && (!is_in_time(client) || client->playing_us == 0 ||
                         net->now_us < client->playing_us + SETTLED_US))) {
            continue;
        }
        const uint32_t version = client_stats(client->client).manifest_version;
        if (version != reload->version) {
            net_fail(net, "client %u runs manifest %u, and the server names %u", i, version,
                     reload->version);
        } else if (client->light != reload->set.light) {
            net_fail(net, "client %u has the light %u, and the server %u", i, client->light,
                     reload->set.light);
        }
    }
    if (is_end && reload->restored + 1 < reload->broken) {
        net_fail(net, "%u broken sets ran, and the one before came back %u times", reload->broken,
                 reload->restored);
    }
    if (is_end && reload->lights < net->client_count) {
        net_fail(net, "%u lights: no parameter has changed", reload->lights);
    }
    if (is_end && (reload->switched < 3 || reload->starts < net->client_count)) {
        net_fail(net, "%u switches and %u starts of Hud: nothing was reloaded", reload->switched,
                 reload->starts);
    }
}

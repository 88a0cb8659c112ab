// Remotes from a stranger: any name, values and number of a call, to scripts of either side that
// have declared some of them. Whatever comes: a handler gets only what was declared, no value that
// it gets makes a script fail, what is refused is counted, and every line of the log and every
// fault is a text.
//
//   byte 0    bit 0: to a client; bit 1: a call; bits 2 and 3: how often
//   byte 1    the name's bytes; then the name, and the payload is the rest
#include "core/base/check.h"
#include "core/base/text.h"
#include "core/script/runtime/script_inside.h"
#include "core/script/runtime/value.h"
#include "core/script/trial/sample_world.h"

#include <stdio.h>
#include <string.h>

#define RUNS_MAX 200 // inputs that one world gets, because making one takes longer

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count);

static const char HANDLERS[] =
    "local server = pcall(Network.OnClientEvent, '-', print)\n"
    "local function on(name, types, handler)\n"
    "  if types then Network.Declare(name, {types = types, rate = 1000}) end\n"
    "  Network.On(name, server and function(player, ...) assert(player.UserId == 1) handler(...) "
    "end\n"
    "    or handler)\n"
    "end\n"
    "on('n', {'number'}, function(n, ...) assert(type(n) == 'number' and select('#', ...) == 0) "
    "end)\n"
    "on('v', {'Vector3', 'string | nil'}, function(v, s)\n"
    "  assert(v.Magnitude >= 0 and (s == nil or type(s) == 'string'))\n"
    "  return v + v, v.Magnitude, v.Unit, tostring(v)\n"
    "end)\n"
    "on('e', {'Entity', 'Player'}, function(e, p)\n"
    "  return e == p, tostring(e), tostring(p), pcall(function() return e.Position, p.Name end)\n"
    "end)\n"
    "on('t', {'table'}, function(t) return #t, next(t), pcall(Json.Encode, t) end)\n"
    "on('any', nil, function(...)\n"
    "  for i = 1, select('#', ...) do tostring((select(i, ...))) end\n"
    "  if server then pcall(Network.Broadcast, 'back', ...) else pcall(Network.FireServer, 'back', "
    "...) end\n"
    "end)\n"
    "on('gun', nil, function(dir, name)\n"
    "  if not server then return end\n"
    "  pcall(function() World.Spawn('Bullet').SetVelocity(dir * 100) end)\n"
    "  pcall(World.Spawn, name)\n"
    "  pcall(Projectile.Fire, {prefab = name, velocity = dir})\n"
    "  pcall(Projectile.Fire, dir)\n"
    "end)\n"
    "if server then Network.OnInvoke('ask', function(player, ...) return ... end) end\n";

typedef struct Fuzzed {
    Heap heap;
    SampleWorld *world;
    LogSink log;
    uint32_t run_count;
} Fuzzed;
static Fuzzed fuzzed;

static void on_log(void *user, const LogEvent *event)
{
    (void)user;
    ASSERT(text_is_valid(event->text, strlen(event->text)));
}

static void add(ScriptSystem *scripts, const char *path)
{
    const CompileRequest request = {
        .script_id = path, .code = HANDLERS, .code_bytes = sizeof HANDLERS - 1};
    const CompileResult result = script_compile(scripts, &request);
    ASSERT(result.ok);
    uint32_t instance = 0;
    const Status bound =
        script_bind(scripts, &(InstanceDesc){.script_id = path, .enabled = true}, &instance);
    ASSERT(bound == STATUS_OK);
}

static void open_world(void)
{
    sample_world_destroy(&fuzzed.heap, fuzzed.world);
    ASSERT(fuzzed.heap.bytes_now == 0);
    fuzzed.heap = heap_make(1ull << 30);
    fuzzed.log = (LogSink){.write = on_log};
    fuzzed.run_count = 0;
    SampleWorldConfig config = sample_world_config_default();
    config.script.log = &fuzzed.log;
    const Status status = sample_world_create(&fuzzed.heap, &config, &fuzzed.world);
    ASSERT(status == STATUS_OK);
    add(sample_world_scripts(fuzzed.world, SCRIPT_SERVER), "ServerScriptService/Game");
    add(sample_world_scripts(fuzzed.world, SCRIPT_CLIENT), "StarterPlayer/Hud");
    sample_world_step(fuzzed.world, 3);
}

// The only faults are those that show the creator what was refused.
static void check_side(ScriptSide side)
{
    ScriptSystem *scripts = sample_world_scripts(fuzzed.world, side);
    ScriptFault fault;
    ASSERT(!script_is_dead(scripts) && lua_gettop(scripts->lua) == 0);
    while (script_faults(scripts, &fault, 1) > 0) {
        ASSERT(text_is_valid(fault.message, strlen(fault.message)));
        if (strstr(fault.message, " was refused: ") == NULL) {
            fprintf(stderr, "%s\n", fault.message);
            ASSERT(false && "a handler fails");
        }
    }
    const RemoteCosts *costs = script_remotes(scripts);
    for (uint32_t i = 0; i < costs->count; i++) {
        uint64_t refused = 0;
        for (uint32_t reason = 0; reason < REMOTE_REFUSED_COUNT; reason++) {
            refused += costs->rows[i].refused[reason];
        }
        ASSERT(refused == costs->rows[i].dropped_count);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count)
{
    if (count < 2 || count > VALUE_BYTES_MAX) {
        return 0;
    }
    if (fuzzed.world == NULL || fuzzed.run_count++ == RUNS_MAX) {
        open_world();
    }
    const ScriptSide side = (bytes[0] & 1) != 0 ? SCRIPT_CLIENT : SCRIPT_SERVER;
    const size_t name_bytes = bytes[1] < count - 2 ? bytes[1] : count - 2;
    const ScriptEvent event = {.type = SCRIPT_EVENT_MESSAGE,
                               .player_id = side == SCRIPT_SERVER ? SAMPLE_WORLD_PLAYER : 0,
                               .invoke_id = (bytes[0] & 2) != 0 && side == SCRIPT_SERVER ? 7 : 0,
                               .name = {(const char *)bytes + 2, name_bytes},
                               .payload = bytes + 2 + name_bytes,
                               .payload_bytes = count - 2 - name_bytes};
    for (uint32_t i = 0; i <= (uint32_t)(bytes[0] >> 2 & 3); i++) {
        (void)!script_event(sample_world_scripts(fuzzed.world, side), &event); // full: dropped
    }
    sample_world_step(fuzzed.world, 2);
    check_side(SCRIPT_SERVER);
    check_side(SCRIPT_CLIENT);
    return 0;
}

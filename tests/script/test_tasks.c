// What creators do most, each as a short script of tests/script/tasks, written as somebody who
// knows Roblox, Luanti or Godot would write it. A file is TASK.server.lua, TASK.client.lua or
// TASK.module.lua (or .luau); the files of one task run together in the small world. They are
// compiled as a build compiles them, and a lint that complains of one is a failure. Each script
// asserts what it did and prints "done". The .ts files are run by test_parity.c.
//
// Comments in a file say what happens in the world:
//   -- ticks: 300               how long it runs; 120 if nothing is said
//   -- on: Zone                 the script belongs to that entity, in Workspace, so on both sides
//   -- at 60: key Fire          in that tick: a key is pressed, and released five ticks later
//   -- at 60: say 1 /kick bo    a player, by its id, says something
//   -- at 60: join 2 bo         a player comes, and has a body; with `leave 2` it goes
//   -- at 60: walk 0 1          the player of the client walks: right, forward
//   -- at 60: click 1           the widget with that handler is used
//   -- at 60: dig 3 -1 3        the player of the client takes a voxel away
#include "core/script/check/check.h"
#include "core/script/runtime/script_inside.h"
#include "tests/script/embedded.h"
#include "tests/script/small_world.h"
#include "tests/support/test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FILES_MAX    4 // of a task
#define KEY_TICKS    5
#define HEAP_MAX     (64u << 20)
#define TICKS_NORMAL 120

typedef struct TaskScript {
    const EmbeddedScript *file;
    char path[CHECK_PATH_BYTES];
    RunContext context;
    bool is_module;
} TaskScript;

typedef struct Task {
    TaskScript scripts[FILES_MAX];
    uint32_t count;
} Task;

// --- compiling ----------------------------------------------------------------------------------

static void fail_by_lint(void *user, const CheckDiagnostic *diagnostic)
{
    (void)user;
    test_fail(__FILE__, __LINE__, "%s:%u: %s [%s]", diagnostic->file, diagnostic->line,
              diagnostic->message, diagnostic->code);
}

static bool load(ScriptSystem *system, const TaskScript *script)
{
    Heap heap = heap_make(HEAP_MAX);
    CheckOutput output = {0};
    const CheckSink sink = {.tell = fail_by_lint};
    const CheckScript request = {.path = script->path,
                                 .file = script->file->name,
                                 .context = script->context,
                                 .source = script->file->text,
                                 .source_bytes = script->file->bytes};
    Status status = check_script(&heap, &request, &sink, &output);
    if (status == STATUS_OK) {
        status = script_load_rune(system, script->path, output.rune, output.rune_bytes);
    }
    CHECK_OK(status);
    check_output_free(&heap, &output);
    CHECK_INT(heap.bytes_now, 0);
    return status == STATUS_OK;
}

static void bind(ScriptSystem *system, const TaskScript *script)
{
    char entity[64] = "";
    const char *on = strstr(script->file->text, "-- on: ");
    InstanceDesc desc = {.script_id = script->path, .enabled = true};
    if (on != NULL && sscanf(on, "-- on: %63s", entity) == 1) {
        ScriptWorld *world = system->config.world;
        desc.entity = world->methods->find(world, (Text){entity, strlen(entity)});
        CHECK(desc.entity != 0);
    }
    uint32_t instance = 0;
    CHECK_OK(script_bind(system, &desc, &instance));
}

static bool runs_on(const TaskScript *script, ScriptSide side)
{
    return script->context == CONTEXT_BOTH ||
           (script->context == CONTEXT_SERVER) == (side == SCRIPT_SERVER);
}

// Modules come first, because the others ask for them at once.
static void start(SampleWorld *world, const Task *task, bool modules)
{
    for (uint32_t i = 0; i < task->count; i++) {
        const TaskScript *script = &task->scripts[i];
        for (uint32_t side = 0; side < 2 && script->is_module == modules; side++) {
            ScriptSystem *system = sample_world_scripts(world, (ScriptSide)side);
            if (runs_on(script, (ScriptSide)side) && load(system, script) && !modules) {
                bind(system, script);
            }
        }
    }
}

// --- the world ----------------------------------------------------------------------------------

static void click(SampleWorld *world, uint32_t handler)
{
    ScriptSystem *client = sample_world_scripts(world, SCRIPT_CLIENT);
    const Instance *first = pool_at(&client->instances, 1);
    const ScriptEvent event = {
        .type = SCRIPT_EVENT_UI, .other = first->number, .value = (double)handler};
    CHECK_OK(script_event(client, &event));
}

static void join(SampleWorld *world, uint64_t id, const char *name)
{
    Authority *authority = sample_world_authority(world);
    CHECK_OK(authority_player_join(authority, id, (Text){name, strlen(name)}));
    CHECK_OK(authority_player_spawn(authority, id, authority_spawn_point(authority, id)));
}

static void dig(SampleWorld *world, VoxelCoord at)
{
    Authority *authority = sample_world_authority(world);
    ScriptWorld *face = authority_world(authority);
    const VoxelChange change = {.at = at, .before = face->methods->voxel(face, at)};
    CHECK_OK(face->methods->set_voxel(face, at, 0));
    authority_voxel_changed(authority, &change, SAMPLE_WORLD_PLAYER);
}

static void act(SampleWorld *world, const char *verb, const char *rest)
{
    Authority *authority = sample_world_authority(world);
    unsigned id = 0;
    int used = 0;
    VoxelCoord at;
    SimInput input = {0};
    if (strcmp(verb, "key") == 0 || strcmp(verb, "release") == 0) {
        CHECK_OK(sample_world_key(world, (Text){rest, strlen(rest)}, verb[0] == 'k'));
    } else if (strcmp(verb, "say") == 0 && sscanf(rest, "%u %n", &id, &used) == 1) {
        CHECK_OK(authority_player_chat(authority, id, (Text){rest + used, strlen(rest + used)}));
    } else if (strcmp(verb, "join") == 0 && sscanf(rest, "%u %n", &id, &used) == 1) {
        join(world, id, rest + used);
    } else if (strcmp(verb, "leave") == 0 && sscanf(rest, "%u", &id) == 1) {
        CHECK_OK(authority_player_leave(authority, id));
    } else if (strcmp(verb, "click") == 0 && sscanf(rest, "%u", &id) == 1) {
        click(world, id);
    } else if (strcmp(verb, "walk") == 0 &&
               sscanf(rest, "%f %f", &input.move_x, &input.move_z) == 2) {
        sample_world_input(world, &input);
    } else if (strcmp(verb, "dig") == 0 && sscanf(rest, "%d %d %d", &at.x, &at.y, &at.z) == 3) {
        dig(world, at);
    } else {
        test_fail(__FILE__, __LINE__, "unknown step \"%s %s\"", verb, rest);
    }
}

static void direct(SampleWorld *world, const char *text, uint32_t tick)
{
    for (const char *at = text; (at = strstr(at, "-- at ")) != NULL; at += 6) {
        unsigned when;
        char verb[16], rest[96] = "";
        if (sscanf(at, "-- at %u: %15s %95[^\n]", &when, verb, rest) < 2) {
            test_fail(__FILE__, __LINE__, "not understood: %.60s", at);
        } else if (when == tick) {
            act(world, verb, rest);
        } else if (strcmp(verb, "key") == 0 && when + KEY_TICKS == tick) {
            act(world, "release", rest);
        }
    }
}

// --- running ------------------------------------------------------------------------------------

static uint32_t ticks_of(const Task *task)
{
    uint32_t ticks = 0;
    for (uint32_t i = 0; i < task->count; i++) {
        const char *found = strstr(task->scripts[i].file->text, "-- ticks: ");
        const uint32_t wanted = found != NULL ? (uint32_t)strtoul(found + 10, NULL, 10) : 0;
        ticks = wanted > ticks ? wanted : ticks;
    }
    return ticks != 0 ? ticks : TICKS_NORMAL;
}

static void check_ended(SampleWorld *world, const Task *task)
{
    for (uint32_t side = 0; side < 2; side++) {
        ScriptFault fault;
        while (script_faults(sample_world_scripts(world, (ScriptSide)side), &fault, 1) != 0) {
            test_fail(__FILE__, __LINE__, "%s:%u: %s%s", fault.path, fault.line, fault.message,
                      fault.traceback);
        }
    }
    for (uint32_t i = 0; i < task->count; i++) {
        char line[CHECK_PATH_BYTES + 16];
        (void)snprintf(line, sizeof line, "%s: done\n", task->scripts[i].path);
        if (!task->scripts[i].is_module && strstr(small_log.text, line) == NULL) {
            test_fail(__FILE__, __LINE__, "%s did not come to its end: %s",
                      task->scripts[i].file->name, small_log.text);
        }
    }
}

static void run(const Task *task)
{
    SampleWorld *world = small_world_open();
    const uint32_t ticks = ticks_of(task);
    start(world, task, true);
    start(world, task, false);
    for (uint32_t tick = 0; tick < ticks; tick++) {
        for (uint32_t i = 0; i < task->count; i++) {
            direct(world, task->scripts[i].file->text, tick);
        }
        // A world tells of who came and left before its tick.
        authority_feed(sample_world_authority(world), sample_world_scripts(world, SCRIPT_SERVER));
        sample_world_step(world, 1);
    }
    check_ended(world, task);
    small_world_close(world);
}

// "shop.client.lua" → the script StarterPlayer/shop of the client. False: it is TypeScript.
static bool read_name(const EmbeddedScript *file, TaskScript *out)
{
    const char *where = strchr(file->name, '.');
    const char *ending = strrchr(file->name, '.');
    CHECK(where != NULL && where != ending);
    const bool is_client = strncmp(where, ".client.", 8) == 0;
    const bool is_bound = strstr(file->text, "-- on: ") != NULL;
    *out = (TaskScript){.file = file, .is_module = strncmp(where, ".module.", 8) == 0};
    out->context = out->is_module || is_bound ? CONTEXT_BOTH
                   : is_client                ? CONTEXT_CLIENT
                                              : CONTEXT_SERVER;
    (void)snprintf(out->path, sizeof out->path, "%s/%.*s",
                   out->is_module ? "ReplicatedStorage"
                   : is_bound     ? "Workspace"
                   : is_client    ? "StarterPlayer"
                                  : "ServerScriptService",
                   (int)(where - file->name), file->name);
    return strcmp(ending, ".lua") == 0 || strcmp(ending, ".luau") == 0;
}

static bool is_same_task(const char *a, const char *b)
{
    const size_t bytes = strcspn(a, ".");
    return strncmp(a, b, bytes + 1) == 0;
}

TEST(tasks_of_creators)
{
    const char *only = getenv("SANDLOT_TASK"); // the name of one, to try it alone
    uint32_t count = 0;
    for (const EmbeddedScript *file = task_files; file->name != NULL;) {
        const EmbeddedScript *first = file;
        Task task = {.count = 0};
        for (; file->name != NULL && is_same_task(first->name, file->name); file++) {
            REQUIRE(task.count < FILES_MAX);
            task.count += read_name(file, &task.scripts[task.count]) ? 1 : 0;
        }
        if (task.count > 0 && (only == NULL || strncmp(first->name, only, strlen(only)) == 0)) {
            run(&task);
            count += 1;
        }
    }
    CHECK(count > 0);
}

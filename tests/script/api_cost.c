// Calls every function and property of the API in a loop and prints the steps that each loop was
// charged, for test_api_cost.py, which counts the instructions of the same loops under callgrind:
// api_cost LINES [EVERY]. LINES is api_cost.txt; only each EVERYth loop is run. For every argument
// and option that is a text there is also a call with a long one. Lines "large: " are calls whose
// arguments are large; they are always run.
#include "core/script/api/api_names.h"
#include "core/script/trial/sample_world.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FILE_BYTES   65536
#define CALL_BYTES   512
#define TURNS        100
#define LONG_TURNS   40
#define LOG_TURNS    5
#define LARGE_TURNS  1
#define PLAIN_TURNS  20000
#define TICKS        200 // until a loop that waits has ended
#define CALL_MS      1000
#define DOOR         1 // the net id of the first part of the scene
#define MEMORY_BYTES (12u << 20)

#define WORLD_LOOPS 16 // a new world after so many

// What a call that mentions a name needs before it. %s is "Spawn" or "SpawnLocal".
static const char *const setups[][2] = {
    {"v", "local v = Vector3.new(1, 2, 3)"},
    {"w", "local w = Vector3.new(4, 5, 6)"},
    {"f", "local function f() end"},
    {"same", "local function same(x) return x end"},
    {"long", "local long = ('x'):rep(60000)"},
    {"door", "local door = World.Find('Door')"},
    {"player", "local player = Players.GetPlayers()[1]"},
    {"body", "local body = Players.GetPlayers()[1].Character"},
    {"signal", "local signal = Signal.new()"},
    {"fire", "local function fire() signal:Fire(1) end"},
    {"connection", "local connection = Signal.new():Connect(print)"},
    {"random", "local random = Random.new(1)"},
    {"crate", "local crate = World.%s('Crate', Vector3.new(1, 2, 3))"},
    {"things", "local things = {} for i = 1, 100 do things[i] = "
               "World.%s('Spark', Vector3.new(1, 2, 3)) end"},
    {"widget", "local widget = UI.Panel{UI.Text{text = 'x'}, UI.Button{text = 'y'}}"},
    {"sound", "local sound = Sound.Play('boom', {loop = true})"},
    {"guard", "local guard = Npc.Spawn(Vector3.new(1, 2, 3))"},
    {"utf", "local utf = {('\\u{e4}'):rep(9000), ('\\u{10ffff}'):rep(9000), ('\\x80'):rep(9000)}"},
    {"list", "local function list(s) return '[' .. (s .. ','):rep(1999) .. s .. ']' end"},
    {"each", "local function each(f) local t = {} for i = 1, 2000 do t[i] = f(i) end return t end"},
    {"names", "local function names(s) local t = {} for i = 1, 2000 do t[i] = s:format(i) end "
              "return '{' .. table.concat(t, ',') .. '}' end"},
    {"named",
     "local function named(f) local t = {} for i = 1, 2000 do t['n' .. i] = f(i) end return t end"},
    {"store", "local store = DataStore.GetDataStore('d')"},
    {"ordered", "local ordered = DataStore.GetOrderedDataStore('o')"},
};

typedef struct Cost {
    Heap heap;
    SampleWorld *world;
    ScriptSide side;
    char lines[FILE_BYTES];
    uint32_t ended_count, failed_count, loop_count;
    uint32_t every, seen_count; // of all loops, run or not
} Cost;

static Cost cost;

_Noreturn static void fail(const char *what, const char *detail)
{
    fprintf(stderr, "api_cost: %s: %s\n", what, detail);
    exit(EXIT_FAILURE);
}

// callgrind writes its counts whenever one of these is left.
__attribute__((noinline)) void api_cost_begin(void);
__attribute__((noinline)) void api_cost_end(void);
void api_cost_begin(void)
{
    __asm__ volatile("");
}
void api_cost_end(void)
{
    __asm__ volatile("");
}

static void hear(void *user, const LogEvent *event)
{
    (void)user;
    cost.ended_count += strstr(event->text, "ended") != NULL;
}

static uint64_t steps_of(ScriptSystem *scripts)
{
    static ScriptStats stats;
    script_stats(scripts, &stats);
    return stats.step_count;
}

static void open_world(void)
{
    static LogSink sink = {.write = hear};
    cost.heap = heap_make(1ull << 30);
    SampleWorldConfig config = sample_world_config_default();
    config.script.call_ms = CALL_MS;
    config.script.tick_ms = CALL_MS;
    config.script.vm.memory_soft_bytes = MEMORY_BYTES;
    config.script.vm.memory_hard_bytes = MEMORY_BYTES + (8u << 20);
    config.script.log = &sink;
    if (sample_world_create(&cost.heap, &config, &cost.world) != STATUS_OK) {
        fail("the small world", "could not be made");
    }
    sample_world_step(cost.world, 10);
}

static bool has_word(const char *text, const char *word)
{
    const size_t bytes = strlen(word);
    for (const char *at = strstr(text, word); at != NULL; at = strstr(at + 1, word)) {
        const bool begins = at == text || (!isalnum((unsigned char)at[-1]) && at[-1] != '.');
        if (begins && !isalnum((unsigned char)at[bytes])) {
            return true;
        }
    }
    return false;
}

// The script: what the call needs, and a loop that runs when it is told to.
static size_t write_code(char *out, size_t capacity, const char *before, uint32_t turns,
                         const char *call)
{
    int used = 0;
    for (size_t i = 0; i < sizeof setups / sizeof setups[0]; i++) {
        if (has_word(call, setups[i][0]) || has_word(before, setups[i][0])) {
            used += snprintf(out + used, capacity - (size_t)used, setups[i][1],
                             cost.side == SCRIPT_SERVER ? "Spawn" : "SpawnLocal");
            used += snprintf(out + used, capacity - (size_t)used, "\n");
        }
    }
    used += snprintf(out + used, capacity - (size_t)used,
                     "local n = 0\n%s\nfunction onDisable() for i = 1, %u do %s end "
                     "print('ended') end\n",
                     before, turns, call);
    return (size_t)used;
}

static void renew_world(const char *call)
{
    const bool makes_much = strstr(call, "pawn") != NULL || strstr(call, "Fire{") != NULL;
    if (cost.world != NULL && (cost.loop_count % WORLD_LOOPS == 0 || makes_much)) {
        sample_world_destroy(&cost.heap, cost.world);
        cost.world = NULL;
    }
    cost.loop_count += 1;
    if (cost.world == NULL) {
        open_world();
    }
}

// Runs one loop and prints what it was charged.
static void run_loop(const char *name, const char *before, uint32_t turns, const char *call)
{
    static char code[8192];
    const bool is_always = strcmp(name, "plain") == 0 || strcmp(name, "large") == 0;
    if (cost.seen_count++ % cost.every != 0 && !is_always) {
        return;
    }
    renew_world(call);
    ScriptSystem *scripts = sample_world_scripts(cost.world, cost.side);
    const CompileRequest request = {.script_id = "cost.lua",
                                    .code = code,
                                    .code_bytes =
                                        write_code(code, sizeof code, before, turns, call)};
    const CompileResult compiled = script_compile(scripts, &request);
    if (!compiled.ok) {
        fail(name, compiled.error);
    }
    uint32_t instance = 0;
    const InstanceDesc desc = {.script_id = "cost.lua", .entity = DOOR, .enabled = true};
    if (script_bind(scripts, &desc, &instance) != STATUS_OK) {
        fail(name, "cannot be bound");
    }
    sample_world_step(cost.world, 2);
    const uint64_t steps = steps_of(scripts);
    const uint32_t ended = cost.ended_count;
    api_cost_begin();
    const ExecuteResult result = script_execute(scripts, instance, HOOK_DISABLE, CALL_MS, 0);
    for (uint32_t i = 0; i < TICKS && result.ok && cost.ended_count == ended; i++) {
        sample_world_step(cost.world, 1);
    }
    api_cost_end();
    const uint64_t used = steps_of(scripts) - steps;
    ScriptFault fault;
    while (script_faults(scripts, &fault, 1) > 0) {
        fprintf(stderr, "%s: %s\n", name, fault.message);
        cost.failed_count += 1;
    }
    if (cost.ended_count == ended) {
        fprintf(stderr, "%s: did not come to its end: %s\n", name, call);
        cost.failed_count += 1;
    }
    printf("%s\t%s\t%u\t%llu\t%s\n", cost.side == SCRIPT_SERVER ? "server" : "client", name, turns,
           (unsigned long long)used, call);
    script_invalidate(scripts, "cost.lua");
    sample_world_step(cost.world, 1);
}

static const char *object_of(const char *class)
{
    static const char *const objects[][2] = {
        {"Vector3", "v"},         {"Entity", "door"},     {"Player", "player"},
        {"Signal", "signal"},     {"Random", "random"},   {"Connection", "connection"},
        {"SoundHandle", "sound"}, {"DataStore", "store"}, {"Players", "Players"},
    };
    for (size_t i = 0; i < sizeof objects / sizeof objects[0]; i++) {
        if (strcmp(objects[i][0], class) == 0) {
            return objects[i][1];
        }
    }
    return class;
}

// Properties have no side of their own.
static bool has_side(const ApiRow *row)
{
    const ApiSide other = cost.side == SCRIPT_SERVER ? API_CLIENT : API_SERVER;
    return row->side != other && (cost.side == SCRIPT_CLIENT || strcmp(row->owner, "camera") != 0);
}

static void name_of(const ApiRow *row, char out[CALL_BYTES])
{
    (void)snprintf(out, CALL_BYTES, "%s%s%s", row->owner, row->owner[0] != 0 ? "." : "", row->name);
}

// --- calls that api_cost.txt has ----------------------------------------------------------------

static void run_line(const char *name)
{
    char start[CALL_BYTES + 4];
    (void)snprintf(start, sizeof start, "\n%s: ", name);
    const char *line = strstr(cost.lines, start);
    if (line == NULL) {
        fail(name, "has no line in api_cost.txt");
    }
    line += strlen(start);
    uint32_t turns = TURNS;
    int used = 0;
    if (sscanf(line, "%u turns: %n", &turns, &used) == 1) {
        line += used;
    }
    char call[CALL_BYTES];
    (void)snprintf(call, sizeof call, "%.*s", (int)strcspn(line, "\n"), line);
    run_loop(name, "", turns, call);
}

// "large: BEFORE | CALL": the call, with what is made once before it.
static void run_large(void)
{
    static const char start[] = "\nlarge: ";
    for (const char *at = strstr(cost.lines, start); at != NULL; at = strstr(at, start)) {
        char before[CALL_BYTES], call[CALL_BYTES];
        at += strlen(start);
        const char *bar = strstr(at, " | ");
        if (bar == NULL) {
            fail("large", "has no ' | '");
        }
        (void)snprintf(before, sizeof before, "%.*s", (int)(bar - at), at);
        (void)snprintf(call, sizeof call, "%.*s", (int)strcspn(bar + 3, "\n"), bar + 3);
        run_loop("large", before, LARGE_TURNS, call);
    }
}

// --- properties and events ----------------------------------------------------------------------

static void run_member(const ApiRow *row)
{
    char name[CALL_BYTES], read[CALL_BYTES], before[CALL_BYTES], call[CALL_BYTES];
    name_of(row, name);
    (void)snprintf(read, sizeof read, "%s.%s", object_of(row->owner), row->name);
    (void)snprintf(call, sizeof call, "local x = %.64s", read);
    run_loop(name, "", TURNS, call);
    if (row->setter != NULL) {
        (void)snprintf(before, sizeof before, "local value = %.64s", read);
        (void)snprintf(call, sizeof call, "%.64s = value", read);
        run_loop(name, before, TURNS, call);
    }
}

// --- long texts ---------------------------------------------------------------------------------

static const char *sample_of(const char *type)
{
    static const char *const samples[][2] = {
        {"string", "'x'"},    {"number", "1"},   {"integer", "1"},
        {"boolean", "true"},  {"Vector3", "v"},  {"Entity", "door"},
        {"Player", "player"}, {"function", "f"}, {"any", "1"},
    };
    for (size_t i = 0; i < sizeof samples / sizeof samples[0]; i++) {
        if (strncmp(type, samples[i][0], strlen(samples[i][0])) == 0) {
            return samples[i][1];
        }
    }
    return strchr(type, '{') != NULL || strcmp(type, "table") == 0 ? "{}" : "'x'";
}

// pcall(function, the object of a method, samples), with `text` in the place of one argument.
static void run_long(const ApiRow *row, const ApiArgument *arguments, uint32_t count, uint32_t at,
                     const char *text)
{
    char name[CALL_BYTES], call[CALL_BYTES];
    name_of(row, name);
    const char *object = row->kind == API_KIND_METHOD ? object_of(row->owner) : row->owner;
    int used = snprintf(
        call, sizeof call, "pcall(%s%s%s%s%s", object, row->owner[0] != 0 ? "." : "", row->name,
        row->kind == API_KIND_METHOD ? ", " : "", row->kind == API_KIND_METHOD ? object : "");
    for (uint32_t i = 0; i <= at || (i < count && !arguments[i].optional); i++) {
        used += snprintf(call + used, sizeof call - (size_t)used, ", %s",
                         i == at ? text : sample_of(arguments[i].type));
    }
    (void)snprintf(call + used, sizeof call - (size_t)used, ")");
    // Only so many lines are logged in a tick, and the last is the one that says the end.
    const bool is_log = strcmp(row->owner, "Log") == 0 || row->owner[0] == 0;
    run_loop(name, "", is_log ? LOG_TURNS : LONG_TURNS, call);
}

static void run_long_options(const ApiRow *row, const ApiArgument *arguments, uint32_t count,
                             uint32_t at, const char *shape, size_t shape_bytes)
{
    uint32_t field_count;
    const ApiField *fields = api_fields(&field_count);
    run_long(row, arguments, count, at, "{[long] = 1}");
    for (uint32_t i = 0; i < field_count; i++) {
        if (strlen(fields[i].shape) == shape_bytes &&
            memcmp(fields[i].shape, shape, shape_bytes) == 0 &&
            strcmp(sample_of(fields[i].type), "'x'") == 0) {
            char table[CALL_BYTES];
            (void)snprintf(table, sizeof table, "{%s = long}", fields[i].name);
            run_long(row, arguments, count, at, table);
        }
    }
}

static void run_long_texts(const ApiRow *row)
{
    ApiArgument arguments[API_ARGUMENTS_MAX];
    const uint32_t count = api_parse_arguments(row->arguments, arguments);
    for (uint32_t i = 0; i < count; i++) {
        const char *type = arguments[i].type;
        const char *brace = strstr(type, "{}");
        if (brace != NULL) {
            const char *bar = strstr(type, " | ");
            const char *shape = bar != NULL ? bar + 3 : type;
            run_long_options(row, arguments, count, i, shape, (size_t)(brace - shape));
        }
        if (strcmp(sample_of(type), "'x'") == 0 || strcmp(type, "any") == 0) {
            run_long(row, arguments, count, i, "long");
        }
    }
}

static void run_row(const ApiRow *row)
{
    char name[CALL_BYTES];
    name_of(row, name);
    switch (row->kind) {
    case API_KIND_FUNCTION:
    case API_KIND_METHOD:
    case API_KIND_GLOBAL:
        run_line(name);
        run_long_texts(row);
        break;
    case API_KIND_PROPERTY:
        run_member(row);
        if (row->setter != NULL && strcmp(sample_of(row->arguments), "'x'") == 0) {
            char call[CALL_BYTES];
            (void)snprintf(call, sizeof call, "pcall(set, %s)", object_of(row->owner));
            char before[CALL_BYTES];
            (void)snprintf(before, sizeof before, "local function set(o) o.%s = long end",
                           row->name);
            run_loop(name, before, LONG_TURNS, call);
        }
        break;
    case API_KIND_EVENT:
        run_member(row);
        break;
    default:
        break;
    }
}

int main(int argc, char **argv)
{
    FILE *file = argc == 2 || argc == 3 ? fopen(argv[1], "rb") : NULL;
    cost.every = argc == 3 ? (uint32_t)strtoul(argv[2], NULL, 10) : 1;
    if (file == NULL || cost.every == 0) {
        fail("usage", "api_cost LINES [EVERY]");
    }
    cost.lines[fread(cost.lines, 1, sizeof cost.lines - 1, file)] = 0;
    fclose(file);
    for (cost.side = SCRIPT_SERVER; cost.side <= SCRIPT_CLIENT; cost.side++) {
        run_loop("plain", "", PLAIN_TURNS, "n = n + i");
        uint32_t count;
        const ApiRow *rows = api_rows(&count);
        for (uint32_t i = 0; i < count; i++) {
            if (has_side(&rows[i])) {
                run_row(&rows[i]);
            }
        }
        if (cost.side == SCRIPT_SERVER) {
            run_large();
        }
        cost.loop_count = 0; // a new world for the other side
    }
    sample_world_destroy(&cost.heap, cost.world);
    return cost.failed_count == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

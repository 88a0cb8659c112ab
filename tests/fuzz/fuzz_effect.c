// Everything a script can cause, from any values: a script that reads the input calls the
// functions, methods and setters of api.def, found by api_rows, so that a new one is tried without
// a change here. Whatever it says, the world goes on, and what comes of it can be carried: every
// message decodes and encodes again to the same bytes in both encodings, every row and every
// request to a store is one that the store accepts, and every line of the log and every fault is a
// text.
//
// The first byte chooses the side: a world with one binary and one JSON client, or a client's view.
#include "core/base/check.h"
#include "core/base/text.h"
#include "core/script/api/api.h"
#include "core/script/bridge/store_answer.h"
#include "core/script/trial/sample_world.h"
#include "core/wire/merge.h"
#include "core/world/world_inside.h"
#include "tests/support/test_place.h"

#include <stdio.h>
#include <string.h>

#define INPUT_MAX    1024
#define SOURCE_BYTES (64u << 10)
#define CONNECTIONS  2 // 1 is binary, 2 is JSON
#define TICKS_BEFORE 3
#define TICKS_AFTER  6
// Inputs that one world plays before there is a new one, because making one takes longer than
// playing. With 1 a finding depends on its input alone.
#define RUNS_MAX 50

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count);

// --- the script ---------------------------------------------------------------------------------

// Values of each type from the input.
static const char MAKERS[] =
    "local data, at, calls, made = '', 1, {}, {}\n"
    "local function byte() local b = data:byte(at) or 0 at = at + 1 return b end\n"
    "local function text()\n"
    "  local n = byte()\n"
    "  if n >= 250 then return data:sub(at):rep(20) end\n"
    "  local s = data:sub(at, at + n % 24 - 1) at = at + #s\n"
    "  return s\n"
    "end\n"
    "local numbers = {0, 0.5, 1e6, 1e9, 1e30, 3.4e38, -3.4e38, 1e308, 0/0, 1/0, -1/0, 2^53, "
    "16384,\n"
    "  16400, -16401, 65536, math.maxinteger, math.mininteger}\n"
    "local function number()\n"
    "  local b = byte()\n"
    "  if b < 160 then return b - 64 end\n"
    "  return numbers[b % #numbers + 1]\n"
    "end\n"
    "local function vector()\n"
    "  local ok, v = pcall(Vector3.new, number(), number(), number())\n"
    "  v = ok and v or Vector3.new(3e38, 0, -3e38)\n"
    // What arithmetic makes is not looked at as the arguments of new are: infinity, and NaN.
    "  local b = byte()\n"
    "  if b < 192 then return v end\n"
    "  v = (v + Vector3.new(1, 0, 0)) * 1e30 * 1e30\n"
    "  return b < 224 and v or v - v\n"
    "end\n"
    "local function entity()\n"
    "  local b = byte()\n"
    "  if b >= 128 and #made > 0 then return made[b % #made + 1] end\n"
    "  local all = World.GetInRadius(Vector3.zero, 60)\n"
    "  return all[b % math.max(#all, 1) + 1]\n"
    "end\n"
    "local function player()\n"
    "  local all = Players.GetPlayers()\n"
    "  return all[byte() % math.max(#all, 1) + 1]\n"
    "end\n"
    "local names = {'volume', 'player', 'position', 'rate', 'types', 'persistent', 'private', "
    "'text',\n"
    "  'id', 'owner', 'ignore', 'damage', 'gravity', 'kind', 'speed', 'color', 'image', "
    "'children'}\n"
    "local any\n"
    "local function options(depth)\n"
    "  local t = {}\n"
    "  for i = 1, byte() % 5 do t[names[byte() % (#names + 4) + 1] or text()] = any(depth) end\n"
    "  return t\n"
    "end\n"
    "local kinds = {text, number, vector, entity, player, text, options,\n"
    "  function() return byte() % 2 == 0 end, function() end, function() return print end}\n"
    "function any(depth)\n"
    "  depth = (depth or 0) + 1\n"
    "  if depth > 4 then return text() end\n"
    "  return kinds[byte() % #kinds + 1](depth)\n"
    "end\n"
    "local function store() return DataStore.GetDataStore('s' .. byte() % 2) end\n"
    "local make = {string = text, number = number, integer = number, Vector3 = vector,\n"
    "  Entity = entity, Player = player, table = options, any = any, DataStore = store,\n"
    "  boolean = function() return byte() % 2 == 0 end, Random = function() return Random.new(1) "
    "end,\n"
    "  ['function'] = function() return function(...) return ... end end}\n"
    "local function value(type)\n"
    "  if byte() >= 250 then return any() end\n"
    "  if type:sub(-2) == '{}' then return options() end\n"
    "  local item = type:match('^{(.*)}$')\n"
    "  if item then\n"
    "    local list = {}\n"
    "    for i = 1, byte() % 5 do list[i] = value(item) end\n"
    "    return list\n"
    "  end\n"
    "  return (make[type:match('^%w+')] or any)()\n"
    "end\n"
    "local function add(run, ...) calls[#calls + 1] = {run, ...} end\n"
    "local function note(ok, result)\n"
    "  if ok and tostring(result):find('^Entity') and #made < 16 then made[#made + 1] = result "
    "end\n"
    "end\n";

// One row after the other, each call in a coroutine of its own, because it may pause.
static const char PLAY[] =
    "local function play(input)\n"
    "  data, at = input, 1\n"
    "  for i = 1, 48 do\n"
    "    if at > #data then return end\n"
    "    local row, list = calls[byte() % #calls + 1], {}\n"
    "    for n = 2, #row do list[n - 1] = value(row[n]) end\n"
    "    task.spawn(function() note(pcall(row[1], table.unpack(list, 1, #row - 1))) end)\n"
    "  end\n"
    "end\n"
    "add(function(p, name, n) p.leaderstats[name] = n end, 'Player', 'string', 'number')\n"
    "add(function(t) error(t) end, 'string')\n"
    "add(function(t) Timer.After(0, function() error(t) end) end, 'string')\n";

static bool is_tried(const ApiRow *row, ScriptSide side)
{
    const bool has_call = row->kind == API_KIND_FUNCTION || row->kind == API_KIND_METHOD ||
                          (row->kind == API_KIND_PROPERTY && row->setter != NULL);
    // Who is kicked sends nothing more, and here everybody does.
    return has_call && strcmp(row->name, "Kick") != 0 &&
           row->side != (side == SCRIPT_SERVER ? API_CLIENT : API_SERVER);
}

static size_t write_row(const ApiRow *row, char *out, size_t room)
{
    ApiArgument arguments[API_ARGUMENTS_MAX] = {0};
    const char *const form =
        row->kind == API_KIND_FUNCTION ? "add(function(...) return %s.%s(...) end"
        : row->kind == API_KIND_METHOD ? "add(function(o, ...) return o.%2$s(o, ...) end, '%1$s'"
                                       : "add(function(o, v) o.%2$s = v end, '%1$s', '%3$s'";
    size_t at = (size_t)snprintf(out, room, form, row->owner, row->name, row->arguments);
    const uint32_t count =
        row->kind == API_KIND_PROPERTY ? 0 : api_parse_arguments(row->arguments, arguments);
    for (uint32_t i = 0; i < count && at < room; i++) {
        at += (size_t)snprintf(out + at, room - at, ", '%s'", arguments[i].type);
    }
    at += at < room ? (size_t)snprintf(out + at, room - at, ")\n") : 0;
    ASSERT(at < room);
    return at;
}

static const char *source_of(ScriptSide side)
{
    static char sources[2][SOURCE_BYTES];
    char *source = sources[side];
    if (source[0] != 0) {
        return source;
    }
    size_t at = (size_t)snprintf(source, SOURCE_BYTES, "%s", MAKERS);
    uint32_t count = 0;
    const ApiRow *rows = api_rows(&count);
    for (uint32_t i = 0; i < count; i++) {
        if (is_tried(&rows[i], side)) {
            at += write_row(&rows[i], source + at, SOURCE_BYTES - at);
        }
    }
    at += (size_t)snprintf(source + at, SOURCE_BYTES - at, "%s%s", PLAY,
                           side == SCRIPT_SERVER
                               ? "Network.OnClientEvent('go', function(p, input) play(input) end)\n"
                               : "Network.OnServerEvent('go', play)\n");
    ASSERT(at < SOURCE_BYTES);
    return source;
}

// The input as the payload of a remote.
static void give_input(ScriptSystem *scripts, uint64_t player, const uint8_t *bytes, size_t count)
{
    static uint8_t payload[INPUT_MAX + 8];
    ByteWriter writer = byte_writer(payload, sizeof payload);
    store_answer_list(&writer, 1);
    store_answer_text(&writer, (const char *)bytes, count);
    const ScriptEvent event = {.type = SCRIPT_EVENT_MESSAGE,
                               .player_id = player,
                               .name = {"go", 2},
                               .payload = payload,
                               .payload_bytes = writer.at};
    ASSERT(script_event(scripts, &event) == STATUS_OK);
}

// --- what comes of it ---------------------------------------------------------------------------

static uint8_t first_bytes[MESSAGE_BYTES_MAX], second_bytes[MESSAGE_BYTES_MAX];
static uint8_t json_bytes[MESSAGE_JSON_DOWN_BYTES_MAX];
static uint8_t arena_block[2][MESSAGE_JSON_ARENA_BYTES];

static ByteWriter encode(const Message *message, uint8_t *out)
{
    ByteWriter writer = byte_writer(out, MESSAGE_BYTES_MAX);
    if (message_row(message->number)->direction == MESSAGE_EVENT) {
        message_encode_event(message->number, message->body, &writer);
    } else {
        message_encode(message, &writer);
    }
    ASSERT(writer.status == STATUS_OK);
    return writer;
}

// A message that was decoded or made comes back from both encodings as the same bytes.
static void check_message(const Message *message)
{
    const MessageDirection direction = message_row(message->number)->direction;
    const ByteWriter first = encode(message, first_bytes);
    ByteWriter json = byte_writer(json_bytes, sizeof json_bytes);
    message_to_json(message, &json);
    ASSERT(json.status == STATUS_OK);
    Arena arena;
    Message again = {0};
    MessageJsonError error;
    arena_init(&arena, arena_block[1], sizeof arena_block[1]);
    ASSERT(message_from_json((const char *)json_bytes, json.at,
                             direction == MESSAGE_UP ? MESSAGE_UP : MESSAGE_DOWN, &arena, &again,
                             &error) == STATUS_OK);
    const ByteWriter second = encode(&again, second_bytes);
    ASSERT(first.at == second.at && memcmp(first_bytes, second_bytes, first.at) == 0);
}

static void on_event(void *user, uint64_t tick, const uint8_t *bytes, size_t count)
{
    (void)user;
    (void)tick;
    Arena arena;
    Message message = {0};
    arena_init(&arena, arena_block[0], sizeof arena_block[0]);
    ASSERT(message_decode_event(bytes, count, &arena, &message) == STATUS_OK);
    check_message(&message);
}

static void on_log(void *user, const LogEvent *event)
{
    (void)user;
    ASSERT(text_is_valid(event->text, strlen(event->text)));
}

static void check_faults(ScriptSystem *scripts)
{
    ScriptFault fault;
    while (script_faults(scripts, &fault, 1) > 0) {
        ASSERT(text_is_valid(fault.message, strlen(fault.message)));
        ASSERT(text_is_valid(fault.traceback, strlen(fault.traceback)));
    }
}

// The driver itself is good: what it calls may raise, but never past its pcall. It may have
// declared its own message so that the input does not fit: that is shown as a fault.
static void check_driver(const ScriptSystem *scripts)
{
    ScriptStats stats;
    script_stats(scripts, &stats);
    ASSERT(stats.instance_count == 1);
    ASSERT(stats.fault_count == 0 || stats.messages_dropped > 0);
}

// Whether so much was left behind by earlier inputs that another one would not be played whole.
static bool is_worn(const ScriptSystem *scripts)
{
    ScriptStats stats;
    script_stats(scripts, &stats);
    return script_is_dead(scripts) || stats.fault_count > 0 || stats.coroutine_count > 100;
}

static void check_store(const StoreRequest *request)
{
    uint8_t bytes[256];
    ByteWriter answer = byte_writer(bytes, sizeof bytes);
    ASSERT(store_answer_check(request, &answer));
}

static void check_rows(const uint8_t *bytes, size_t count)
{
    ByteReader reader = byte_reader(bytes, count);
    while (byte_reader_left(&reader) > 0) {
        Row row;
        ASSERT(row_read(&reader, &row) == STATUS_OK);
        if (row.type == ROW_ATTRIBUTE && row.value_bytes > 0) {
            Text name;
            uint64_t net_id;
            const uint8_t *attributes;
            size_t attribute_bytes;
            ASSERT(row_attributes(&row, &name, &net_id, &attributes, &attribute_bytes) ==
                   STATUS_OK);
        }
    }
}

// --- the server's side --------------------------------------------------------------------------

typedef struct Play {
    Heap heap;
    World *world;
    LogSink log;
    Merge merge;
    uint32_t frame;
    uint64_t unix_ms;
    bool welcome[CONNECTIONS];
    uint32_t run_count;
} Play;

static void enter(Play *play, const Entry *entry)
{
    ASSERT(world_enter(play->world, entry) == STATUS_OK);
}

static void on_begin(void *user, const SnapshotHeader *header)
{
    ((Play *)user)->frame = header->seq;
}

static void hear_binary(Play *play, const uint8_t *bytes, size_t count)
{
    const MergeSink sink = {.user = play, .begin = on_begin, .event = on_event};
    if (bytes[0] == MESSAGE_SNAPSHOT) {
        ASSERT(merge_apply(&play->merge, bytes, count, &sink) == STATUS_OK);
        return;
    }
    Arena arena;
    Message message = {0};
    arena_init(&arena, arena_block[0], sizeof arena_block[0]);
    ASSERT(message_decode(bytes, count, MESSAGE_DOWN, &arena, &message) == STATUS_OK);
    check_message(&message);
    play->welcome[0] |= message.number == MESSAGE_WELCOME;
}

static void hear_json(Play *play, const uint8_t *bytes, size_t count)
{
    static const char welcome[] = "\"action\":\"welcome\"";
    Arena arena;
    arena_init(&arena, arena_block[0], sizeof arena_block[0]);
    JsonConfig config = json_config_default(&arena);
    config.bytes_max = MESSAGE_JSON_DOWN_BYTES_MAX;
    const JsonNode *root = NULL;
    ASSERT(json_parse(&config, (const char *)bytes, count, &root, NULL) == STATUS_OK);
    for (size_t at = 0; at + sizeof welcome <= count && !play->welcome[1]; at++) {
        play->welcome[1] = memcmp(bytes + at, welcome, sizeof welcome - 1) == 0;
    }
}

static void hear(Play *play)
{
    const uint8_t *bytes = NULL;
    size_t count = 0;
    for (uint64_t connection = 1; connection <= CONNECTIONS; connection++) {
        while (world_output(play->world, connection, &bytes, &count)) {
            if (connection == 1) {
                hear_binary(play, bytes, count);
            } else {
                hear_json(play, bytes, count);
            }
            world_output_take(play->world, connection);
        }
    }
}

// Saves are answered; requests to stores are not, so what asked for one stays paused.
static void take_commands(Play *play)
{
    uint32_t count = 0;
    uint64_t saved[16];
    uint32_t saved_count = 0;
    const Command *commands = world_commands(play->world, &count);
    for (uint32_t i = 0; i < count; i++) {
        if (commands[i].type == COMMAND_SAVE && saved_count < 16) {
            check_rows(commands[i].bytes, commands[i].byte_count);
            saved[saved_count++] = commands[i].request;
        } else if (commands[i].type == COMMAND_STORE) {
            check_store(&commands[i].store);
        }
    }
    world_commands_clear(play->world);
    for (uint32_t i = 0; i < saved_count; i++) {
        enter(play, &(Entry){.type = ENTRY_STORED, .flags = ENTRY_OK, .number = saved[i]});
    }
}

static void send(Play *play, uint64_t connection, uint8_t number, const void *body)
{
    const Message message = {.number = number, .seq = 1, .body = body};
    ByteWriter writer = byte_writer(first_bytes, sizeof first_bytes);
    if (connection == 1) {
        message_encode(&message, &writer);
    } else {
        message_to_json(&message, &writer);
    }
    ASSERT(writer.status == STATUS_OK);
    enter(play, &(Entry){.type = ENTRY_MESSAGE,
                         .connection = connection,
                         .bytes = first_bytes,
                         .byte_count = writer.at});
}

static void tick(Play *play, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        if (play->frame != 0) {
            send(play, 1, MESSAGE_INPUT_BATCH, &(MessageInputBatch){.last_snapshot = play->frame});
        }
        play->unix_ms += 16;
        enter(play, &(Entry){.type = ENTRY_TICK, .number = play->unix_ms});
        hear(play);
        take_commands(play);
        check_faults(world_scripts(play->world));
    }
}

static void open_world(Play *play)
{
    static Heap place_heap;
    static Place *place;
    static TestPlaceBytes stripped;
    if (place == NULL) {
        place_heap = heap_make(256u << 20);
        place = test_place_load(&place_heap, TEST_PLACE_COURSE, TEST_PLACE_COURSE_SCENE);
        stripped = test_place_stripped(&place_heap, TEST_PLACE_COURSE, TEST_PLACE_COURSE_SCENE);
    }
    play->log = (LogSink){.write = on_log};
    WorldConfig config = world_config_default();
    config.place = place;
    config.stripped = stripped.data;
    config.stripped_bytes = stripped.bytes;
    config.development = true;
    config.player_max = CONNECTIONS;
    config.entity_max = 256;
    config.json_session_max = 1;
    config.scripts = true;
    config.script = script_config_default();
    config.log = &play->log;
    play->heap = heap_make(512u << 20);
    ASSERT(world_create(&play->heap, &config, &play->world) == STATUS_OK);
    heap_freeze(&play->heap);
    merge_reset(&play->merge, place->tick_rate);
}

static void close_world(Play *play)
{
    if (play->world != NULL) {
        (void)world_hash(play->world);
        heap_thaw(&play->heap);
        world_destroy(&play->heap, play->world);
        ASSERT(play->heap.bytes_now == 0);
    }
    memset(play, 0, sizeof *play);
}

static void start_world(Play *play)
{
    static const char path[] = "ServerScriptService/Driver";
    const char *source = source_of(SCRIPT_SERVER);
    close_world(play);
    open_world(play);
    enter(play, &(Entry){.type = ENTRY_SCRIPT,
                         .flags = ENTRY_SOURCE,
                         .name = path,
                         .name_bytes = sizeof path - 1,
                         .bytes = (const uint8_t *)source,
                         .byte_count = strlen(source)});
    for (uint64_t i = 1; i <= CONNECTIONS; i++) {
        enter(play,
              &(Entry){.type = ENTRY_CONNECT, .connection = i, .flags = i == 2 ? ENTRY_JSON : 0});
        send(play, i, MESSAGE_HANDSHAKE,
             &(MessageHandshake){.version = 2,
                                 .schema = PROTOCOL_SCHEMA,
                                 .player_id = {i == 1 ? "ann" : "bob", 3}});
    }
    tick(play, TICKS_BEFORE);
    ASSERT(play->welcome[0] && play->welcome[1]);
    check_driver(world_scripts(play->world));
}

static void play_world(const uint8_t *bytes, size_t count)
{
    static Play play;
    if (play.world == NULL || play.run_count == RUNS_MAX || is_worn(world_scripts(play.world))) {
        start_world(&play);
    }
    play.run_count += 1;
    uint64_t player = 0;
    uint64_t entity = 0;
    ASSERT(world_player(play.world, 1, &player, &entity));
    give_input(world_scripts(play.world), player, bytes, count);
    tick(&play, TICKS_AFTER);
    ASSERT(world_player(play.world, 1, &player, &entity)); // no player was affected
}

// --- a client's side ----------------------------------------------------------------------------

typedef struct Sample {
    Heap heap;
    SampleWorld *world;
    ScriptSystem *scripts;
    uint32_t run_count;
} Sample;

// As client_tell.c sends them.
static void check_effects(const View *view)
{
    uint32_t count = 0;
    const Effect *effects = view_effects(view, &count);
    for (uint32_t i = 0; i < count; i++) {
        const ScriptMessage *message = &effects[i].message;
        const Text text = {effects[i].text.data, (uint32_t)effects[i].text.bytes};
        const MessageRemoteUp remote = {
            .name = {message->name.data, (uint32_t)message->name.bytes},
            .payload = {message->payload, (uint32_t)message->payload_bytes},
            .invoke_id = message->invoke_id};
        if (effects[i].type == EFFECT_MESSAGE) {
            check_message(&(Message){.number = MESSAGE_REMOTE_UP, .seq = 1, .body = &remote});
        } else if (effects[i].type == EFFECT_CHAT) {
            check_message(&(Message){
                .number = MESSAGE_CHAT_SAY, .seq = 1, .body = &(MessageChatSay){.text = text}});
        }
    }
}

static void start_view(Sample *sample)
{
    static LogSink log = {.write = on_log};
    SampleWorldConfig config = sample_world_config_default();
    config.script.log = &log;
    config.server = false;
    sample_world_destroy(&sample->heap, sample->world);
    ASSERT(sample->heap.bytes_now == 0);
    *sample = (Sample){.heap = heap_make(1u << 30)};
    ASSERT(sample_world_create(&sample->heap, &config, &sample->world) == STATUS_OK);
    sample->scripts = sample_world_scripts(sample->world, SCRIPT_CLIENT);
    const CompileRequest request = {.script_id = "StarterPlayer/Driver",
                                    .code = source_of(SCRIPT_CLIENT),
                                    .code_bytes = strlen(source_of(SCRIPT_CLIENT))};
    ASSERT(script_compile(sample->scripts, &request).ok);
    uint32_t instance = 0;
    ASSERT(script_bind(sample->scripts,
                       &(InstanceDesc){.script_id = request.script_id, .enabled = true},
                       &instance) == STATUS_OK);
    sample_world_step(sample->world, 2);
    check_driver(sample->scripts);
}

static void play_view(const uint8_t *bytes, size_t count)
{
    static Sample sample;
    if (sample.world == NULL || sample.run_count == RUNS_MAX || is_worn(sample.scripts)) {
        start_view(&sample);
    }
    sample.run_count += 1;
    give_input(sample.scripts, 0, bytes, count);
    script_tick(sample.scripts, 0, 0);
    check_effects(sample_world_view(sample.world));
    sample_world_step(sample.world, 2);
    check_faults(sample.scripts);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count)
{
    if (count < 2 || count > INPUT_MAX) {
        return 0;
    }
    if (bytes[0] % 4 == 3) {
        play_view(bytes + 1, count - 1);
    } else {
        play_world(bytes + 1, count - 1);
    }
    return 0;
}

// Numbers that make no sense, given to every function of the API: for each row of api.def that
// takes a number, an integer or a vector, a script calls it with each of them, and with good values
// for the rest. Each call ends in an error or in something sane: nothing dies, and all that the
// simulation holds stays finite.
#include "core/script/api/api.h"
#include "tests/unit/act_world.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SOURCE_BYTES (240u << 10)

static ActStore store;
static ActWorld act;
static char source[SOURCE_BYTES];
static size_t source_at;
static uint32_t case_count;

static const char SCENE[] =
    "{\"format\": 1,\n"
    " \"terrain\": [{\"min\": [-32, -4, -32], \"max\": [31, -1, 31], \"kind\": \"grass\"}],\n"
    " \"entities\": [\n"
    "  {\"id\": 1, \"type\": \"spawn\", \"transform\": {\"position\": [0, 0, 0]}},\n"
    "  {\"id\": 2, \"name\": \"Vault\", \"transform\": {\"position\": [9, 0.5, 9]},"
    "   \"shape\": {\"size\": [1, 1, 1]}}]}\n";

static const char PRELUDE[] =
    "local nan, inf = 0/0, math.huge\n"
    "local function vec(n) return Vector3.one * n end\n" // new takes no NaN, arithmetic does
    "local store = DataStore.GetOrderedDataStore('numbers')\n"
    "local random = Random.new(1)\n"
    "local function vault() return World.Find('Vault') end\n"
    "local npc\n"
    "local function guard()\n"
    "  if not npc or not npc:IsValid() then npc = Npc.Spawn(Vector3.new(5, 1, 5)) end\n"
    "  return npc\n"
    "end\n"
    "local function player() return Players.GetPlayers()[1] end\n"
    "local function body() return player().Character end\n"
    "local cases = {\n";

// A call that must raise reports if it does not. Coroutines: some calls pause.
static const char EPILOGUE[] =
    "}\n"
    "local at = 0\n"
    "function onUpdate()\n"
    "  for _ = 1, 3 do\n"
    "    at = at + 1\n"
    "    local case = cases[at]\n"
    "    if case then\n"
    "      local text, raises, call = case[1], case[2], case[3]\n"
    "      task.spawn(function()\n"
    "        local ok = pcall(call)\n"
    "        if ok and raises then World.Find('Vault'):SetAttribute('bad', text) end\n"
    "      end)\n"
    "    elseif at == #cases + 1 then\n"
    "      World.Find('Vault'):SetAttribute('done', at)\n"
    "    end\n"
    "  end\n"
    "end\n";

static void add(const char *format, ...) __attribute__((format(printf, 1, 2)));
static void add(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    const int bytes = vsnprintf(source + source_at, SOURCE_BYTES - source_at, format, arguments);
    va_end(arguments);
    ASSERT(bytes >= 0 && (size_t)bytes < SOURCE_BYTES - source_at);
    source_at += (size_t)bytes;
}

static void add_case(bool raises, const char *call)
{
    add("{[==[%s]==], %s, function() return %s end},\n", call, raises ? "true" : "false", call);
    case_count += 1;
}

// A valid value of a type; NULL: the row is not one that a server's script calls like this.
static const char *good_value(const char *type)
{
    static const char *const values[][2] = {
        {"number", "1"},        {"integer", "1"},
        {"string", "'Vault'"},  {"boolean", "true"},
        {"any", "1"},           {"function", "print"},
        {"Entity", "vault()"},  {"Vector3", "Vector3.one"},
        {"Player", "player()"}, {"table", "{}"},
    };
    for (size_t i = 0; i < sizeof values / sizeof values[0]; i++) {
        if (strcmp(type, values[i][0]) == 0) {
            return values[i][1];
        }
    }
    return NULL;
}

static const char *object_of(const char *class)
{
    static const char *const objects[][2] = {{"Vector3", "Vector3.one"},
                                             {"Entity", "vault()"},
                                             {"Player", "player()"},
                                             {"Random", "random"},
                                             {"DataStore", "store"}};
    for (size_t i = 0; i < sizeof objects / sizeof objects[0]; i++) {
        if (strcmp(class, objects[i][0]) == 0) {
            return objects[i][1];
        }
    }
    return NULL;
}

static const char *const NUMBERS[] = {"nan",  "inf",   "-inf",   "-1",     "2^53",
                                      "1e38", "1e308", "-1e308", "5e-324", "65536"};
#define NUMBER_COUNT 10
#define NO_NUMBERS   3 // the first of them: NaN and the infinities

static bool is_no_number(const char *value)
{
    return value == NUMBERS[0] || value == NUMBERS[1] || value == NUMBERS[2];
}

// One call with that argument invalid; false if there is no valid value for another.
static bool write_call(const ApiRow *row, const char *object, const ApiArgument *arguments,
                       uint32_t count, uint32_t which, const char *value)
{
    const char *joint = object[0] == 0 ? "" : row->kind == API_KIND_METHOD ? ":" : ".";
    char call[512];
    size_t at = (size_t)snprintf(call, sizeof call, "%s%s%s(", object, joint, row->name);
    for (uint32_t i = 0; i < count; i++) {
        const char *good = arguments[i].optional ? "nil" : good_value(arguments[i].type);
        if (i != which && good == NULL) {
            return false;
        }
        const bool is_vector = i == which && strcmp(arguments[i].type, "Vector3") == 0;
        at += (size_t)snprintf(call + at, sizeof call - at, "%s%s%s%s", i > 0 ? ", " : "",
                               is_vector ? "vec(" : "", i == which ? value : good,
                               is_vector ? ")" : "");
    }
    (void)snprintf(call + at, sizeof call - at, ")");
    add_case(is_no_number(value) && strcmp(row->owner, "Vector3") != 0, call);
    return true;
}

static uint32_t write_row(const ApiRow *row)
{
    ApiArgument arguments[API_ARGUMENTS_MAX];
    const bool is_method = row->kind == API_KIND_METHOD;
    const char *object = is_method ? object_of(row->owner) : row->owner;
    if ((row->kind != API_KIND_FUNCTION && !is_method && row->kind != API_KIND_GLOBAL) ||
        object == NULL || row->side == API_CLIENT) {
        return 0;
    }
    uint32_t count = api_parse_arguments(row->arguments, arguments);
    if (count > 0 && arguments[count - 1].variadic) {
        count -= 1;
    }
    uint32_t written = 0;
    for (uint32_t which = 0; which < count; which++) {
        const char *type = arguments[which].type;
        if (strcmp(type, "number") != 0 && strcmp(type, "integer") != 0 &&
            strcmp(type, "Vector3") != 0) {
            continue;
        }
        for (uint32_t n = 0; n < NUMBER_COUNT; n++) {
            written += write_call(row, object, arguments, count, which, NUMBERS[n]);
        }
    }
    return written;
}

// What is not an argument of its own: options, properties, values, other objects than the part.
static void write_rest(void)
{
    static const char *const calls[] = {
        "Network.Declare('x', {rate = %s})",
        "Projectile.Fire({position = vec(%s), velocity = Vector3.one})",
        "Projectile.Fire({position = Vector3.one, velocity = vec(%s)})",
        "Projectile.Fire({position = Vector3.one, velocity = Vector3.one, damage = %s})",
        "Projectile.Fire({position = Vector3.one, velocity = Vector3.one, gravity = %s})",
        "Projectile.Fire({position = Vector3.one, velocity = Vector3.one, kind = %s})",
        "Sound.Play('x', {volume = %s})",
        "Sound.Play('x', {position = vec(%s)})",
        "Npc.SetPatrol(guard(), {vec(%s), Vector3.one})",
        "Npc.MoveTo(guard(), vec(%s))",
        "(function() vault().Position = vec(%s) end)()",
        "(function() vault().Velocity = vec(%s) end)()",
        "(function() vault().Rotation = vec(%s) end)()",
        "(function() body().Position = vec(%s) end)()",
        "(function() body().Velocity = vec(%s) end)()",
        "(function() guard().Velocity = vec(%s) end)()",
        "body():TakeDamage(%s)",
        "guard():TakeDamage(%s)",
        "body():SetPosition(vec(%s))",
        "body():SetVelocity(vec(%s))",
        "vault():SetAttribute('n', %s)",
        "vault():SetAttribute('n', vec(%s))",
        "(function() player().leaderstats.Coins = %s end)()",
        "Network.Broadcast('x', %s)",
        "Json.Encode(%s)",
    };
    for (size_t i = 0; i < sizeof calls / sizeof calls[0]; i++) {
        const char *hole = strstr(calls[i], "%s");
        for (uint32_t n = 0; n < NUMBER_COUNT; n++) {
            char call[256];
            snprintf(call, sizeof call, "%.*s%s%s", (int)(hole - calls[i]), calls[i], NUMBERS[n],
                     hole + 2);
            add_case(n < NO_NUMBERS, call);
        }
    }
    static const char *const refused[] = {
        "Network.Declare('x', {rate = 0})",
        "Network.Declare('x', {rate = -1})",
        "Network.Declare('x', {rate = 0.5})",
        "Network.Declare('x', {rate = 1e9})",
        "World.SetVoxel(Vector3.one, 5)",
        "World.SetVoxel(Vector3.one, 900)",
        "World.FillBox(Vector3.one, Vector3.one, 1023)",
        "World.FillSphere(Vector3.one, 1, 4)",
        "World.SetVoxel(Vector3.one, -1)",
        "World.Spawn('Nothing')",
        "Structure.Place(7, Vector3.one)",
        "World.GetInRadius(Vector3.one, 1, 'Plyer')",
    };
    for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++) {
        add_case(true, refused[i]);
    }
}

static bool is_finite(double number)
{
    return number - number == 0;
}

static bool sim_is_finite(const Sim *sim)
{
    bool finite = true;
    for (Handle at = sim_next(sim, HANDLE_NONE, ENTITY_MASK_ALL); !handle_is_none(at);
         at = sim_next(sim, at, ENTITY_MASK_ALL)) {
        const Entity *entity = sim_entity(sim, at);
        finite = finite && vec3_is_finite(entity->position) && vec3_is_finite(entity->velocity) &&
                 quat_is_finite(entity->rotation) &&
                 (!entity_is_character(entity) || is_finite(entity->character.health)) &&
                 (!entity_has_shape(entity) || is_finite(entity->part.health));
    }
    return finite;
}

static bool attribute(const char *name, ScriptValue *out)
{
    ScriptWorld *world = authority_world(act.world->authority);
    const uint64_t vault = world->methods->find(world, (Text){"Vault", 5});
    return vault != 0 && world->methods->attribute(world, vault, (Text){name, strlen(name)}, out);
}

TEST(every_number_of_the_api_may_be_nonsense)
{
    uint32_t row_count = 0, row_used = 0;
    const ApiRow *rows = api_rows(&row_count);
    source_at = 0;
    add("%s", PRELUDE);
    for (uint32_t i = 0; i < row_count; i++) {
        row_used += write_row(&rows[i]) > 0;
    }
    CHECK(row_used >= 25);
    write_rest();
    add("%s", EPILOGUE);

    memset(&store, 0, sizeof store);
    act_world_open(&act, &store, TEST_PLACE_FLAT, SCENE, true);
    CHECK_OK(act_world_script(&act, "ServerScriptService/Numbers", source));
    ActClient *ann = act_world_join(&act, 7, "ann");
    ScriptValue value = {0};
    for (uint32_t i = 0; i < case_count && !attribute("done", &value); i++) {
        act_world_tick(&act, 1);
        REQUIRE(sim_is_finite(act.world->sim));
        if (attribute("bad", &value)) {
            char text[200];
            snprintf(text, sizeof text, "%.*s", (int)value.text.bytes, value.text.data);
            CHECK_TEXT(text, "an error"); // it was none
            break;
        }
    }
    CHECK(attribute("done", &value)); // nothing stopped the script on the way
    CHECK_INT((uint64_t)value.number, case_count + 1);
    act_world_tick(&act, 60);
    CHECK(sim_is_finite(act.world->sim));
    CHECK(ann->counts[MESSAGE_ERROR] == 0);
    act_world_close(&act);
    act_store_free(&store);
}

// The three texts generated from api.def: each contains every row, and nothing that confuses an
// editor.
#include "core/script/api/api_reference.h"

#include "core/script/api/api.h"
#include "tests/support/test.h"

#include <string.h>

static char text[1 << 20];

static void write_text(ApiFormat format)
{
    ByteWriter writer = byte_writer(text, sizeof text - 1);
    api_reference_write(format, &writer);
    CHECK_OK(writer.status);
    text[writer.at] = 0;
}

TEST(every_row_is_in_every_text)
{
    uint32_t count = 0;
    const ApiRow *rows = api_rows(&count);
    CHECK(count > 150);
    for (int format = API_FORMAT_MARKDOWN; format <= API_FORMAT_LUA; format++) {
        write_text((ApiFormat)format);
        for (uint32_t i = 0; i < count; i++) {
            const bool hook = rows[i].kind == API_KIND_HOOK;
            // TypeScript has imports, and a typeof of its own.
            const bool elsewhere =
                format == API_FORMAT_TYPESCRIPT &&
                (strcmp(rows[i].name, "require") == 0 || strcmp(rows[i].name, "typeof") == 0);
            if ((!hook || format == API_FORMAT_MARKDOWN) && !elsewhere &&
                (strstr(text, rows[i].name) == NULL || strstr(text, rows[i].doc) == NULL)) {
                test_fail(__FILE__, __LINE__, "%s.%s is not in text %d", rows[i].owner,
                          rows[i].name, format);
            }
        }
    }
}

TEST(rows_follow_their_format)
{
    uint32_t count = 0;
    const ApiRow *rows = api_rows(&count);
    for (uint32_t i = 0; i < count; i++) {
        ApiArgument arguments[API_ARGUMENTS_MAX];
        const uint32_t argument_count = rows[i].kind == API_KIND_PROPERTY
                                            ? 0
                                            : api_parse_arguments(rows[i].arguments, arguments);
        bool optional = false;
        for (uint32_t a = 0; a < argument_count; a++) {
            CHECK(arguments[a].name[0] != 0 && arguments[a].type[0] != 0);
            // What may be left out comes last; hooks are called, not called upon.
            CHECK(!optional || arguments[a].optional || arguments[a].variadic ||
                  rows[i].kind == API_KIND_HOOK);
            CHECK(!arguments[a].variadic || a + 1 == argument_count);
            optional = arguments[a].optional;
        }
        CHECK(rows[i].doc[0] != 0 && rows[i].doc[strlen(rows[i].doc) - 1] != ' ');
    }
}

static bool has_word(const char *doc, const char *word)
{
    for (const char *at = strstr(doc, word); at != NULL; at = strstr(at + 1, word)) {
        const char after = at[strlen(word)];
        const bool begins = at == doc || at[-1] == ' ' || at[-1] == '(';
        if (begins && (after == '\0' || strchr(" ,.:;()", after) != NULL)) {
            return true;
        }
    }
    return false;
}

// A number has a unit or limits, and what may be left out a default: in the description of the
// function, by the argument's name, or in a row of its own.
TEST(numbers_and_defaults_are_described)
{
    uint32_t count = 0;
    const ApiRow *rows = api_rows(&count);
    for (uint32_t i = 0; i < count; i++) {
        ApiArgument arguments[API_ARGUMENTS_MAX];
        const bool is_called = rows[i].kind == API_KIND_FUNCTION || rows[i].kind == API_KIND_METHOD;
        const uint32_t argument_count =
            is_called ? api_parse_arguments(rows[i].arguments, arguments) : 0;
        for (uint32_t a = 0; a < argument_count; a++) {
            const ApiArgument *argument = &arguments[a];
            const bool is_number =
                strcmp(argument->type, "number") == 0 || strcmp(argument->type, "integer") == 0;
            if ((is_number || argument->optional) && !has_word(rows[i].doc, argument->name) &&
                api_reference_argument(rows[i].owner, rows[i].name, argument->name) == NULL) {
                test_fail(__FILE__, __LINE__, "%s.%s does not say what %s is", rows[i].owner,
                          rows[i].name, argument->name);
            }
        }
    }
    CHECK(api_reference_argument("World", "Raycast", "distance") != NULL);
    CHECK(api_reference_argument("World", "Raycast", "nothing") == NULL);
    for (int format = API_FORMAT_MARKDOWN; format <= API_FORMAT_LUA; format++) {
        write_text((ApiFormat)format);
        CHECK(strstr(text, "Metres; more than 4096 counts as 4096.") != NULL);
    }
}

// Words are a type of their own in editors, and sides are said there too.
TEST(words_and_sides_are_in_every_text)
{
    write_text(API_FORMAT_MARKDOWN);
    CHECK(strstr(text, "One of \"Idle\", \"Suspicious\", \"Alert\", \"Searching\".") != NULL);
    write_text(API_FORMAT_TYPESCRIPT);
    CHECK(strstr(text, "type NpcState = \"Idle\" | \"Suspicious\" | \"Alert\" | ") != NULL);
    CHECK(strstr(text, "Tells the server. *Client only.*") != NULL);
    CHECK(strstr(text, "readonly leaderstats: Record<string, number>;") != NULL);
    CHECK(strstr(text, "children?: Widget[]") != NULL);
    CHECK(strstr(text, "color?: string;") != NULL && strstr(text, "colour?: string") != NULL);
    write_text(API_FORMAT_LUA);
    CHECK(strstr(text, "---@alias NpcState \"Idle\" | ") != NULL);
    CHECK(strstr(text, "*Server only.*") != NULL);
    CHECK(strstr(text, "---@field leaderstats table<string, number> ") != NULL);
}

TEST(typescript_declarations_are_well_formed)
{
    write_text(API_FORMAT_TYPESCRIPT);
    int depth = 0;
    for (const char *at = text; *at != 0; at++) {
        // Braces inside the comments come in pairs too.
        depth += *at == '{' ? 1 : *at == '}' ? -1 : 0;
        CHECK(depth >= 0);
    }
    CHECK_INT(depth, 0);
    CHECK(strstr(text, "    new(") == NULL); // would be a constructor by mistake
    CHECK(strstr(text, "    \"new\"(this: void, x?: number, y?: number, z?: number): Vector3;") !=
          NULL);
    CHECK(strstr(text, "    new (x?: number, y?: number, z?: number): Vector3;") != NULL);
    CHECK(strstr(text, "interface DataStore<T = any> {") != NULL);
    CHECK(strstr(text, "declare const DataStore: DataStoreLibrary;") != NULL);
    CHECK(strstr(text, "readonly PlayerAdded: Signal<[player: Player]>;") != NULL);
    CHECK(strstr(text, "callback: (this: void, ...args: any[]) => any") != NULL);
}

// Rows that nothing calls are listed too, and with types that an editor can use.
TEST(the_reference_has_what_is_not_called)
{
    static const char *const all[] = {"xAxis",          "difftime",   "RaycastResult",
                                      "DeclareOptions", "persistent", "placeholder"};
    for (int format = API_FORMAT_MARKDOWN; format <= API_FORMAT_LUA; format++) {
        write_text((ApiFormat)format);
        for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
            if (strstr(text, all[i]) == NULL) {
                test_fail(__FILE__, __LINE__, "%s is not in text %d", all[i], format);
            }
        }
    }
    static const char *const lua[] = {
        "---@type fun(self: Entity, dt: number)\nonUpdate = nil\n",
        "---@type fun(old: table)\nonReload = nil\n",
        "---@field PlayerAdded PlayersPlayerAdded ",
        "---@field Connect fun(self: Signal, callback: fun(player: Player)): Connection\n",
        "---@field Once fun(self: Signal, callback: fun(cause?: Entity)): Connection\n",
        "---@operator add(Vector3): Vector3\n",
        "---@operator mul(number): Vector3\n",
        "---@operator unm: Vector3\n",
        "---@field x number ",
        "---@field zero Vector3 ",
        "---@field size number? ",
        "---@field [integer] Widget ",
        "---@return RaycastResult?\n",
        "---@return NpcState, number\n",
        "---@param options TextOptions\n---@return Widget\nfunction UI.Text(options) end",
        "\nfunction os.time() end",
        "\nVector3 = {}",
        "\nSignal = {}",
        "\nlocal Entity = {}",
    };
    for (size_t i = 0; i < sizeof lua / sizeof lua[0]; i++) {
        if (strstr(text, lua[i]) == NULL) {
            test_fail(__FILE__, __LINE__, "the Lua has no %s", lua[i]);
        }
    }
}

// A name that is nil when a script runs is offered by no editor.
TEST(what_holds_methods_is_no_global)
{
    static const char *const nothing[] = {"Entity", "Player", "Connection", "RaycastResult"};
    write_text(API_FORMAT_LUA);
    for (size_t i = 0; i < sizeof nothing / sizeof nothing[0]; i++) {
        char line[64];
        (void)snprintf(line, sizeof line, "\n%s = {}", nothing[i]);
        CHECK(strstr(text, line) == NULL);
    }
    CHECK(strstr(text, "{}?") == NULL && strstr(text, "Options{}") == NULL);
}

TEST(a_text_that_does_not_fit_says_so)
{
    ByteWriter writer = byte_writer(text, 100);
    api_reference_write(API_FORMAT_LUA, &writer);
    CHECK_INT(writer.status, STATUS_LIMIT);
}

// The JSON reader: which texts it accepts and with which tree, which it rejects and where, and the
// limits.
#include "core/base/json.h"
#include "core/base/json_number.h"
#include "core/base/limits.h"
#include "tests/support/test.h"

#include <stdio.h>
#include <string.h>

#define BLOCK_BYTES (1 << 20)

static _Alignas(16) uint8_t block[BLOCK_BYTES];
static Arena arena;

// Appends to a terminated text in a buffer of that many bytes.
static void append(char *text, size_t bytes, const char *more)
{
    const size_t at = strlen(text);
    (void)snprintf(text + at, bytes - at, "%s", more);
}

static Status parse(const char *text, size_t bytes, const JsonNode **root, JsonError *error)
{
    arena_init(&arena, block, sizeof block);
    const JsonConfig config = json_config_default(&arena);
    *root = NULL;
    return json_parse(&config, text, bytes, root, error);
}

static const JsonNode *parse_text(const char *text)
{
    const JsonNode *root = NULL;
    JsonError error = {0};
    if (parse(text, strlen(text), &root, &error) != STATUS_OK) {
        char shown[JSON_ERROR_TEXT_BYTES];
        json_error_text(&error, shown);
        test_fail(__FILE__, __LINE__, "%s: %s", text, shown);
    }
    return root;
}

static void check_refused(const char *text, size_t bytes, Status status, const char *want)
{
    const JsonNode *root = NULL;
    JsonError error = {0};
    const Status got = parse(text, bytes, &root, &error);
    char shown[JSON_ERROR_TEXT_BYTES];
    json_error_text(&error, shown);
    if (got != status || error.status != status || strcmp(shown, want) != 0) {
        test_fail(__FILE__, __LINE__, "%s gives %s and \"%s\", want %s and \"%s\"", text,
                  status_name(got), shown, status_name(status), want);
    }
    CHECK(root == NULL);
    CHECK_INT(arena.used, 0);
}

TEST(json_scalars)
{
    CHECK_INT(parse_text("null")->kind, JSON_NULL);
    const JsonNode *node = parse_text(" \t\r\n true ");
    CHECK_INT(node->kind, JSON_BOOL);
    CHECK(node->boolean);
    CHECK_INT(node->line, 2);
    CHECK_INT(node->column, 2);
    CHECK(!parse_text("false")->boolean);
    node = parse_text("\"abc\"");
    CHECK_INT(node->kind, JSON_STRING);
    CHECK_INT(node->count, 3);
    CHECK_TEXT(node->text, "abc");
    CHECK(node->parent == NULL && node->next == NULL && node->name == NULL);
}

static void check_number(const char *text, double number, bool is_integer, int64_t integer)
{
    const JsonNode *node = parse_text(text);
    REQUIRE(node != NULL);
    CHECK_INT(node->kind, JSON_NUMBER);
    CHECK_BYTES(&node->number, &number, sizeof number);
    CHECK_INT(node->is_integer, is_integer);
    if (is_integer) {
        CHECK_INT(node->integer, integer);
    }
}

TEST(json_numbers)
{
    check_number("0", 0, true, 0);
    check_number("-0", -0.0, true, 0);
    check_number("7", 7, true, 7);
    check_number("-123", -123, true, -123);
    check_number("1.5", 1.5, false, 0);
    check_number("-0.25", -0.25, false, 0);
    check_number("5.0", 5, true, 5);
    check_number("1e3", 1000, true, 1000);
    check_number("1E+2", 100, true, 100);
    check_number("125e-2", 1.25, false, 0);
    check_number("0e0", 0, true, 0);
    check_number("9007199254740993", 9007199254740992.0, true, 9007199254740993);
    check_number("9007199254740993.0", 9007199254740992.0, true, 9007199254740992);
    check_number("9223372036854775807.5", 9223372036854775808.0, false, 0);
    check_number("-9223372036854775808.0", -9223372036854775808.0, true, INT64_MIN);
    check_number("9223372036854775807", 9223372036854775808.0, true, INT64_MAX);
    check_number("-9223372036854775808", -9223372036854775808.0, true, INT64_MIN);
    check_number("9223372036854775808", 9223372036854775808.0, false, 0);
    check_number("-9223372036854775809", -9223372036854775808.0, false, 0);
    check_number("123456789012345678901234567890", 1.2345678901234568e29, false, 0);
    check_number("1e-400", 0, true, 0);
    check_number("1.7976931348623157e308", 1.7976931348623157e308, false, 0);
}

TEST(json_strings)
{
    const JsonNode *node =
        parse_text("\"\\\"\\\\\\/\\b\\f\\n\\r\\t\\u0041\\u00e9\\u20AC\\ud83d\\uDE00 \xc3\xa9\"");
    REQUIRE(node != NULL);
    CHECK_TEXT(node->text, "\"\\/\b\f\n\r\tA\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80 \xc3\xa9");
    CHECK_INT(node->count, strlen(node->text));
    node = parse_text("\"a\\u0000b\"");
    CHECK_INT(node->count, 3);
    CHECK_BYTES(node->text, "a\0b", 4);
    CHECK_INT(parse_text("\"\"")->count, 0);
    CHECK_TEXT(parse_text("\"\x7f\"")->text, "\x7f");
}

TEST(json_takes_a_byte_order_mark)
{
    const JsonNode *root = parse_text("\xef\xbb\xbf [7]");
    REQUIRE(root != NULL);
    CHECK_INT(root->column, 2); // the mark is no character of the text
    CHECK_INT(root->first->column, 3);
}

TEST(json_tree_keeps_order_and_links)
{
    const JsonNode *root = parse_text("{\"a\": [1, [], {}], \"\": null,\n \"b\": {\"c\": \"d\"}}");
    REQUIRE(root != NULL);
    CHECK_INT(root->kind, JSON_OBJECT);
    CHECK_INT(root->count, 3);
    const JsonNode *a = root->first;
    CHECK_TEXT(a->name, "a");
    CHECK_INT(a->kind, JSON_ARRAY);
    CHECK_INT(a->count, 3);
    CHECK(a->parent == root);
    CHECK_INT(a->first->integer, 1);
    CHECK(a->first->name == NULL);
    CHECK_INT(a->first->next->kind, JSON_ARRAY);
    CHECK_INT(a->first->next->index, 1);
    CHECK(a->first->next->first == NULL);
    CHECK_INT(a->first->next->next->kind, JSON_OBJECT);
    CHECK(a->first->next->next->next == NULL);
    const JsonNode *empty = a->next;
    CHECK_TEXT(empty->name, "");
    CHECK_INT(empty->name_bytes, 0);
    const JsonNode *b = empty->next;
    CHECK_TEXT(b->name, "b");
    CHECK_INT(b->name_at, 30);
    CHECK_INT(b->line, 2);
    CHECK_INT(b->column, 7);
    CHECK_TEXT(b->first->name, "c");
    CHECK_TEXT(b->first->text, "d");
    CHECK(b->next == NULL);
}

typedef struct Refused {
    const char *text;
    Status status;
    const char *want;
} Refused;

static const Refused refused[] = {
    {"", STATUS_TRUNCATED, "line 1, column 1: expected a value, but the text ends here"},
    {" \n ", STATUS_TRUNCATED, "line 2, column 2: expected a value, but the text ends here"},
    {"tru", STATUS_MALFORMED, "line 1, column 1: expected a value"},
    {"nul1", STATUS_MALFORMED, "line 1, column 1: expected a value"},
    {"True", STATUS_MALFORMED, "line 1, column 1: expected a value"},
    {"NaN", STATUS_MALFORMED, "line 1, column 1: expected a value"},
    {"Infinity", STATUS_MALFORMED, "line 1, column 1: expected a value"},
    {"-Infinity", STATUS_MALFORMED, "line 1, column 2: expected a digit"},
    {"+1", STATUS_MALFORMED, "line 1, column 1: expected a value"},
    {".5", STATUS_MALFORMED, "line 1, column 1: expected a value"},
    {"1.", STATUS_TRUNCATED,
     "line 1, column 3: expected a digit after the point, but the text ends here"},
    {"1.e3", STATUS_MALFORMED, "line 1, column 3: expected a digit after the point"},
    {"1e", STATUS_TRUNCATED,
     "line 1, column 3: expected a digit in the exponent, but the text ends here"},
    {"[1e+]", STATUS_MALFORMED, "line 1, column 5: $[0] expected a digit in the exponent"},
    {"-", STATUS_TRUNCATED, "line 1, column 2: expected a digit, but the text ends here"},
    {"01", STATUS_MALFORMED, "line 1, column 3: is a number that starts with zero"},
    {"-012", STATUS_MALFORMED, "line 1, column 5: is a number that starts with zero"},
    {"0x10", STATUS_MALFORMED, "line 1, column 2: more text after the end"},
    {"1e999", STATUS_RANGE, "line 1, column 6: is a number too large"},
    {"[1,-1e400]", STATUS_RANGE, "line 1, column 10: $[1] is a number too large"},
    {"1 2", STATUS_MALFORMED, "line 1, column 3: more text after the end"},
    {"{}}", STATUS_MALFORMED, "line 1, column 3: more text after the end"},
    {"// note\n1", STATUS_MALFORMED, "line 1, column 1: a comment, and JSON has none; take it out"},
    {"{\n  /* a */\"a\":1}", STATUS_MALFORMED,
     "line 2, column 3: a comment, and JSON has none; take it out"},
    {"{\"a\": 1, # one\n}", STATUS_MALFORMED,
     "line 1, column 10: a comment, and JSON has none; take it out"},
    {"[1] // one", STATUS_MALFORMED, "line 1, column 5: a comment, and JSON has none; take it out"},
    {"\xef\xbb\xbf", STATUS_TRUNCATED,
     "line 1, column 1: expected a value, but the text ends here"},
    {"\xef\xbb\xbf!", STATUS_MALFORMED, "line 1, column 1: expected a value"},
    {" \xef\xbb\xbf{}", STATUS_MALFORMED, "line 1, column 2: expected a value"},
    {"'a'", STATUS_MALFORMED,
     "line 1, column 1: the wrong quotes: JSON takes straight double ones, \"like this\""},
    {"{'a': 1}", STATUS_MALFORMED,
     "line 1, column 2: the wrong quotes: JSON takes straight double ones, \"like this\""},
    {"{\"a\": \xe2\x80\x9c"
     "b\xe2\x80\x9d}",
     STATUS_MALFORMED,
     "line 1, column 7: the wrong quotes: JSON takes straight double ones, \"like this\""},
    {"[", STATUS_TRUNCATED, "line 1, column 2: $[0] expected a value, but the text ends here"},
    {"[1", STATUS_TRUNCATED, "line 1, column 3: expected ',' or ']', but the text ends here"},
    {"[1,", STATUS_TRUNCATED, "line 1, column 4: $[1] expected a value, but the text ends here"},
    {"[1,]", STATUS_MALFORMED, "line 1, column 3: a comma with nothing after it; remove it"},
    {"[1,,2]", STATUS_MALFORMED, "line 1, column 4: $[1] expected a value"},
    {"[,1]", STATUS_MALFORMED, "line 1, column 2: $[0] expected a value"},
    {"[1 2]", STATUS_MALFORMED, "line 1, column 4: expected ',' or ']'"},
    {"[1}", STATUS_MALFORMED, "line 1, column 3: expected ',' or ']'"},
    {"{\"a\":1]", STATUS_MALFORMED, "line 1, column 7: expected ',' or '}'"},
    {"{", STATUS_TRUNCATED,
     "line 1, column 2: expected a name in double quotes, but the text ends here"},
    {"{a:1}", STATUS_MALFORMED, "line 1, column 2: expected a name in double quotes"},
    {"{\"a\":1,}", STATUS_MALFORMED, "line 1, column 7: a comma with nothing after it; remove it"},
    {"{\"\xc3\xa9\": [1],\n\n }", STATUS_MALFORMED,
     "line 1, column 10: a comma with nothing after it; remove it"},
    {"{\"a\" 1}", STATUS_MALFORMED, "line 1, column 6: $.a expected ':'"},
    {"{\"a\":}", STATUS_MALFORMED, "line 1, column 6: $.a expected a value"},
    {"{\"a\"}", STATUS_MALFORMED, "line 1, column 5: $.a expected ':'"},
    {"{1:2}", STATUS_MALFORMED, "line 1, column 2: expected a name in double quotes"},
    {"\"a", STATUS_TRUNCATED, "line 1, column 1: is a string without an end"},
    {"\"a\\\"", STATUS_TRUNCATED, "line 1, column 1: is a string without an end"},
    {"\"a\nb\"", STATUS_MALFORMED, "line 1, column 3: has the control character 0x0a in a string"},
    {"\"\\x\"", STATUS_MALFORMED, "line 1, column 3: has an escape that JSON does not know"},
    {"\"\\u12g4\"", STATUS_MALFORMED, "line 1, column 6: needs four hex digits after \\u"},
    {"\"\\u123\"", STATUS_MALFORMED, "line 1, column 7: needs four hex digits after \\u"},
    {"\"\\ud800\"", STATUS_MALFORMED, "line 1, column 8: has half of a surrogate pair"},
    {"\"\\udc00\\ud800\"", STATUS_MALFORMED, "line 1, column 8: has half of a surrogate pair"},
    {"\"\\ud800\\n\"", STATUS_MALFORMED, "line 1, column 9: has half of a surrogate pair"},
    {"\"\\ud800\\ud800\"", STATUS_MALFORMED, "line 1, column 14: has half of a surrogate pair"},
    {"\"\xc3\xa9\xff\"", STATUS_MALFORMED, "line 1, column 3: is not valid UTF-8"},
    {"\"\xed\xa0\x80\"", STATUS_MALFORMED, "line 1, column 2: is not valid UTF-8"},
    {"\"\xe2\x82\"", STATUS_MALFORMED, "line 1, column 2: is not valid UTF-8"},
    {"[\"\xc3\xa9\", !]", STATUS_MALFORMED, "line 1, column 7: $[1] expected a value"},
    {"[\"\xc3\xa9\",\n  !]", STATUS_MALFORMED, "line 2, column 3: $[1] expected a value"},
    {"\xc3\xa9", STATUS_MALFORMED, "line 1, column 1: expected a value"},
    {"{\"a\":1,\n \"b\":2, \"a\":3}", STATUS_MALFORMED, "line 2, column 13: $.a appears twice"},
    {"{\"a\":1,\"\\u0061\":2}", STATUS_MALFORMED, "line 1, column 17: $.a appears twice"},
    {"{\"entities\":[{},{\"name\":[true,\n  fals]}]}", STATUS_MALFORMED,
     "line 2, column 3: $.entities[1].name[1] expected a value"},
    {"{\"two words\":{\"7\":!}}", STATUS_MALFORMED,
     "line 1, column 19: $[\"two words\"][\"7\"] expected a value"},
    {"{\"a\\\"\\n\":!}", STATUS_MALFORMED, "line 1, column 10: $[\"a??\"] expected a value"},
};

TEST(json_refuses_with_the_place)
{
    for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++) {
        check_refused(refused[i].text, strlen(refused[i].text), refused[i].status, refused[i].want);
    }
    check_refused("1\0", 2, STATUS_MALFORMED, "line 1, column 2: more text after the end");
    check_refused("\0", 1, STATUS_MALFORMED, "line 1, column 1: expected a value");
    check_refused("\"\0\"", 3, STATUS_MALFORMED,
                  "line 1, column 2: has the control character 0x00 in a string");
}

TEST(json_every_prefix_of_a_good_text_is_refused)
{
    const char *text = "{\"a\":[1,-2.5e3,true,false,null],\"b\":\"x\\u00e9\\n\xc3\xa9\",\"c\":{}}";
    const size_t bytes = strlen(text);
    CHECK(parse_text(text) != NULL);
    for (size_t size = 0; size < bytes; size++) {
        const JsonNode *root = NULL;
        JsonError error = {0};
        CHECK(parse(text, size, &root, &error) != STATUS_OK);
        CHECK(root == NULL);
        CHECK_INT(arena.used, 0);
    }
}

TEST(json_error_may_be_left_out)
{
    const JsonNode *root = NULL;
    arena_init(&arena, block, sizeof block);
    const JsonConfig config = json_config_default(&arena);
    CHECK_INT(json_parse(&config, "[", 1, &root, NULL), STATUS_TRUNCATED);
}

static Status parse_limited(JsonConfig config, const char *text, JsonError *error)
{
    arena_init(&arena, block, sizeof block);
    const JsonNode *root = NULL;
    config.arena = &arena;
    *error = (JsonError){0};
    return json_parse(&config, text, strlen(text), &root, error);
}

TEST(json_limits_are_exact)
{
    JsonError error;
    JsonConfig config = json_config_default(&arena);
    config.depth_max = 2;
    CHECK_OK(parse_limited(config, "[{\"a\":1},[]]", &error));
    CHECK_INT(parse_limited(config, "[{\"a\":[]}]", &error), STATUS_LIMIT);
    CHECK_TEXT(error.path, "$[0].a");
    CHECK_TEXT(error.message, "is nested deeper than 2");
    config.depth_max = 0;
    CHECK_OK(parse_limited(config, "1", &error));
    CHECK_INT(parse_limited(config, "[]", &error), STATUS_LIMIT);

    config = json_config_default(&arena);
    config.node_count_max = 3;
    CHECK_OK(parse_limited(config, "[1,2]", &error));
    CHECK_INT(parse_limited(config, "[1,2,3]", &error), STATUS_LIMIT);
    CHECK_TEXT(error.path, "$[2]");
    CHECK_TEXT(error.message, "is one value too many: at most 3");

    config = json_config_default(&arena);
    config.bytes_max = 5;
    CHECK_OK(parse_limited(config, "[1,2]", &error));
    CHECK_INT(parse_limited(config, "[1,2] ", &error), STATUS_LIMIT);
    CHECK_TEXT(error.message, "is longer than 5 bytes");
}

TEST(json_depth_reaches_its_maximum_without_a_stack)
{
    char text[2 * JSON_DEPTH_MAX + 3];
    memset(text, '[', JSON_DEPTH_MAX);
    memset(text + JSON_DEPTH_MAX, ']', JSON_DEPTH_MAX);
    text[2 * JSON_DEPTH_MAX] = '\0';
    CHECK(parse_text(text) != NULL);
    const JsonNode *root = NULL;
    JsonError error = {0};
    static char deep[100000];
    memset(deep, '[', sizeof deep);
    CHECK_INT(parse(deep, sizeof deep, &root, &error), STATUS_LIMIT);
    CHECK_INT(error.column, JSON_DEPTH_MAX + 1);
}

TEST(json_number_length_is_bounded)
{
    char text[JSON_NUMBER_BYTES_MAX + 2];
    memset(text, '1', sizeof text);
    text[1] = '.';
    text[JSON_NUMBER_BYTES_MAX] = '\0';
    CHECK(parse_text(text) != NULL);
    text[JSON_NUMBER_BYTES_MAX] = '1';
    text[JSON_NUMBER_BYTES_MAX + 1] = '\0';
    check_refused(text, strlen(text), STATUS_LIMIT,
                  "line 1, column 258: has more than 256 characters in a number");
}

// Any arena too small by any amount gives STATUS_LIMIT and is left as it was.
TEST(json_arena_exhaustion_is_a_limit)
{
    char text[1024] = "{";
    for (uint32_t i = 0; i < 20; i++) {
        char member[32];
        (void)snprintf(member, sizeof member, "\"m%02u\":[%u,\"s\"],", (unsigned)i, (unsigned)i);
        append(text, sizeof text, member);
    }
    append(text, sizeof text, "\"end\":{}}");
    const JsonNode *root = NULL;
    CHECK_OK(parse(text, strlen(text), &root, NULL));
    const size_t need = arena.used_peak;
    CHECK(arena.used < need); // the sorted names are scratch
    for (size_t bytes = 0; bytes < need; bytes += 16) {
        Arena small;
        arena_init(&small, block, bytes + 16);
        REQUIRE(arena_alloc(&small, 16) != NULL);
        JsonError error = {0};
        const JsonConfig config = json_config_default(&small);
        CHECK_INT(json_parse(&config, text, strlen(text), &root, &error), STATUS_LIMIT);
        CHECK_INT(small.used, 16);
        CHECK_TEXT(error.message, "does not fit into the memory for this text");
    }
    Arena exact;
    arena_init(&exact, block, need);
    const JsonConfig config = json_config_default(&exact);
    CHECK_OK(json_parse(&config, text, strlen(text), &root, NULL));
}

#define MEMBERS_BYTES 65536

// Writes {"k0":0,"k1":0,…} with the name at `second` replaced by that at `first`.
static size_t write_members(char *text, uint32_t count, uint32_t first, uint32_t second)
{
    size_t at = 0;
    text[at++] = '{';
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t name = i == second ? first : i;
        at += (size_t)snprintf(text + at, MEMBERS_BYTES - at - 2, "%s\"k%u\":0", i == 0 ? "" : ",",
                               (unsigned)(name * 2654435761u));
    }
    text[at++] = '}';
    text[at] = '\0';
    return at;
}

TEST(json_repeated_names_are_found_in_objects_of_any_size)
{
    static char text[MEMBERS_BYTES];
    static const uint32_t counts[] = {2, 3, 15, 16, 17, 18, 100, 2000};
    for (size_t c = 0; c < sizeof counts / sizeof counts[0]; c++) {
        const uint32_t count = counts[c];
        const JsonNode *root = NULL;
        JsonError error = {0};
        size_t bytes = write_members(text, count, 0, 0);
        CHECK_OK(parse(text, bytes, &root, &error));
        CHECK_INT(root->count, count);
        const uint32_t pairs[][2] = {{0, count - 1}, {0, 1}, {count / 2, count - 1}};
        for (size_t i = 0; i < 3; i++) {
            if (pairs[i][0] == pairs[i][1]) {
                continue;
            }
            bytes = write_members(text, count, pairs[i][0], pairs[i][1]);
            error = (JsonError){0};
            CHECK_INT(parse(text, bytes, &root, &error), STATUS_MALFORMED);
            char want[32];
            (void)snprintf(want, sizeof want, "$.k%u", (unsigned)(pairs[i][0] * 2654435761u));
            CHECK_TEXT(error.path, want);
            CHECK_TEXT(error.message, "appears twice");
        }
    }
}

TEST(json_long_paths_keep_their_end)
{
    char text[4096] = "";
    for (uint32_t i = 0; i < 30; i++) {
        append(text, sizeof text, "{\"a_rather_long_name\":");
    }
    append(text, sizeof text, "!");
    const JsonNode *root = NULL;
    JsonError error = {0};
    CHECK_INT(parse(text, strlen(text), &root, &error), STATUS_MALFORMED);
    CHECK(strlen(error.path) < JSON_PATH_BYTES);
    CHECK(strlen(error.path) > JSON_PATH_BYTES - 30);
    CHECK(strncmp(error.path, "$\xe2\x80\xa6.a_rather", 13) == 0);

    // One name longer than any path is cut between characters.
    char name[1024] = "{\"x";
    for (uint32_t i = 0; i < 200; i++) {
        append(name, sizeof name, "\xe2\x82\xac");
    }
    append(name, sizeof name, "\":!}");
    error = (JsonError){0};
    CHECK_INT(parse(name, strlen(name), &root, &error), STATUS_MALFORMED);
    CHECK_INT(strlen(error.path), strlen("$[\"x\"]") + 45 + 3);
    CHECK(strstr(error.path, "\xe2\x82\xac\xe2\x80\xa6\"]") != NULL);
}

static void parse_with_limits_too_high(void *user)
{
    JsonConfig config = json_config_default(&arena);
    config.depth_max = JSON_DEPTH_MAX + 1;
    (void)!json_parse(&config, "1", 1, user, NULL);
}

TEST(json_limits_above_the_maxima_die)
{
    const JsonNode *root = NULL;
    CHECK(test_dies(parse_with_limits_too_high, &root));
}

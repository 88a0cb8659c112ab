// Typed reads: values, messages with their path, and that the first error is kept.
#include "core/base/json_read.h"
#include "tests/support/test.h"

#include <float.h>
#include <string.h>

static _Alignas(16) uint8_t block[65536];
static Arena arena;

static const JsonNode *parse(const char *text)
{
    arena_init(&arena, block, sizeof block);
    const JsonConfig config = json_config_default(&arena);
    const JsonNode *root = NULL;
    CHECK_OK(json_parse(&config, text, strlen(text), &root, NULL));
    return root;
}

static void check_error(const JsonError *error, Status status, const char *want)
{
    char text[JSON_ERROR_TEXT_BYTES];
    json_error_text(error, text);
    CHECK_TEXT(text, want);
    CHECK_INT(error->status, status);
}

static const char scene[] = "{\n"
                            "  \"name\": \"yard\", \"open\": true, \"count\": 12,\n"
                            "  \"entities\": [\n"
                            "    {\"shape\": \"box\", \"half\": [1, 2.5, 3]},\n"
                            "    {\"shape\": \"cone\", \"half\": [1, \"2\", 3]},\n"
                            "    {\"half\": [1, 2000, 3], \"colour\": null}\n"
                            "  ]\n"
                            "}\n";

static const char *const shapes[] = {"sphere", "box", "wedge"};

TEST(json_read_gives_the_values)
{
    const JsonNode *root = parse(scene);
    JsonError error = {0};
    CHECK_TEXT(json_read_text(json_read_member(root, "name", &error), 4, &error), "yard");
    CHECK(json_read_bool(json_read_member(root, "open", &error), &error));
    CHECK_INT(json_read_integer(json_read_member(root, "count", &error), 12, 12, &error), 12);
    CHECK(json_read_number(json_find(root, "count"), 0, 12, &error) == 12);
    const JsonNode *item = json_read_array(json_find(root, "entities"), 1, 3, &error);
    REQUIRE(item != NULL);
    CHECK_INT(json_read_choice(json_find(item, "shape"), shapes, 3, &error), 1);
    const Vec3 half = json_read_vec3(json_find(item, "half"), 1, 3, &error);
    CHECK(vec3_equal(half, vec3(1, 2.5f, 3)));
    CHECK(json_read_f32(json_at(json_find(item, "half"), 1), 0, 9, &error) == 2.5f);
    CHECK_TEXT(json_read_object(item, &error)->name, "shape");
    CHECK_OK(error.status);
    CHECK(json_find(root, "nam") == NULL);
    CHECK(json_find(NULL, "x") == NULL);
    CHECK(json_find(json_find(root, "name"), "x") == NULL);
    CHECK(json_at(json_find(root, "entities"), 3) == NULL);
    CHECK(json_at(json_find(root, "name"), 0) == NULL);
    CHECK(json_text_equal(json_find(root, "name"), "yard"));
    CHECK(!json_text_equal(json_find(root, "name"), "yar"));
    CHECK(!json_text_equal(json_find(root, "count"), "12"));
}

TEST(json_read_errors_carry_the_path)
{
    const JsonNode *root = parse(scene);
    const JsonNode *entities = json_find(root, "entities");
    JsonError error = {0};
    (void)json_read_vec3(json_find(json_at(entities, 1), "half"), 0, 512, &error);
    check_error(&error, STATUS_MALFORMED,
                "line 5, column 35: $.entities[1].half[1] must be a number, not a string");
    error = (JsonError){0};
    const Vec3 half = json_read_vec3(json_find(json_at(entities, 2), "half"), 0.01f, 512, &error);
    check_error(&error, STATUS_RANGE,
                "line 6, column 18: $.entities[2].half[1] must be a number between 0.00999999978 "
                "and 512");
    CHECK(vec3_equal(half, VEC3_ZERO));
    error = (JsonError){0};
    CHECK(json_read_member(json_at(entities, 2), "shape", &error) == NULL);
    check_error(&error, STATUS_NOT_FOUND, "line 6, column 5: $.entities[2].shape is missing");
    error = (JsonError){0};
    CHECK_INT(json_read_choice(json_find(json_at(entities, 1), "shape"), shapes, 3, &error), 0);
    check_error(&error, STATUS_RANGE,
                "line 5, column 15: $.entities[1].shape must be one of sphere, box, wedge");
    error = (JsonError){0};
    static const char *const known[] = {"shape", "half"};
    json_read_only(json_at(entities, 0), known, 2, &error);
    CHECK_OK(error.status);
    json_read_only(json_at(entities, 2), known, 2, &error);
    check_error(&error, STATUS_UNSUPPORTED,
                "line 6, column 38: $.entities[2].colour is not a member that is known here");
    error = (JsonError){0};
    CHECK(json_read_array(entities, 4, 4, &error) == NULL);
    check_error(&error, STATUS_RANGE, "line 3, column 15: $.entities must have 4 items, not 3");
    error = (JsonError){0};
    CHECK(json_read_array(entities, 0, 2, &error) == NULL);
    check_error(&error, STATUS_RANGE,
                "line 3, column 15: $.entities must have 0 to 2 items, not 3");
}

TEST(json_read_refuses_other_kinds_and_ranges)
{
    const JsonNode *root = parse("[true, 1.5, 9007199254740993, \"a\\u0000b\", {}, null, 1e300]");
    JsonError error = {0};
    CHECK_INT(json_read_integer(json_at(root, 1), 0, 9, &error), 0);
    check_error(&error, STATUS_RANGE,
                "line 1, column 8: $[1] must be a whole number between 0 and 9");
    error = (JsonError){0};
    CHECK(json_read_integer(json_at(root, 2), 0, INT64_MAX, &error) == 9007199254740993);
    CHECK_INT(json_read_integer(json_at(root, 2), 0, 9007199254740992, &error), 0);
    CHECK_INT(error.status, STATUS_RANGE);
    error = (JsonError){0};
    CHECK_INT(json_read_integer(json_at(root, 6), INT64_MIN, INT64_MAX, &error), 0);
    CHECK_INT(error.status, STATUS_RANGE);
    error = (JsonError){0};
    CHECK(json_read_f32(json_at(root, 6), -FLT_MAX, FLT_MAX, &error) == 0);
    CHECK_INT(error.status, STATUS_RANGE);
    error = (JsonError){0};
    CHECK_TEXT(json_read_text(json_at(root, 3), 10, &error), "");
    CHECK_TEXT(error.message, "must not contain a zero byte");
    error = (JsonError){0};
    CHECK_TEXT(json_read_text(json_at(root, 3), 2, &error), "");
    CHECK_TEXT(error.message, "must have at most 2 bytes");
    error = (JsonError){0};
    CHECK(!json_read_bool(json_at(root, 5), &error));
    CHECK_TEXT(error.message, "must be true or false, not null");
    error = (JsonError){0};
    CHECK(json_read_object(root, &error) == NULL);
    CHECK_TEXT(error.message, "must be an object, not an array");
    CHECK_TEXT(error.path, "$");
    error = (JsonError){0};
    CHECK(json_read_member(root, "x", &error) == NULL);
    CHECK_INT(error.status, STATUS_MALFORMED);
    error = (JsonError){0};
    CHECK(json_read_object(json_at(root, 4), &error) == NULL);
    CHECK_OK(error.status);
}

TEST(json_read_error_is_sticky)
{
    const JsonNode *root = parse(scene);
    JsonError error = {0};
    const JsonNode *missing = json_read_member(root, "missing", &error);
    const JsonError first = error;
    CHECK(missing == NULL);
    // All of these would be fine on their own, or be another error.
    CHECK_TEXT(json_read_text(json_find(root, "name"), 64, &error), "");
    CHECK(!json_read_bool(json_find(root, "open"), &error));
    CHECK_INT(json_read_integer(json_find(root, "count"), 0, 99, &error), 0);
    CHECK(json_read_number(missing, 0, 1, &error) == 0);
    CHECK(json_read_array(json_find(root, "entities"), 0, 9, &error) == NULL);
    CHECK(json_read_object(root, &error) == NULL);
    CHECK(json_read_member(missing, "x", &error) == NULL);
    CHECK_INT(json_read_choice(missing, shapes, 3, &error), 0);
    CHECK(vec3_equal(json_read_vec3(missing, 0, 1, &error), VEC3_ZERO));
    json_read_only(root, NULL, 0, &error);
    json_fail(&error, STATUS_DENIED, root, "something else");
    CHECK_BYTES(&error, &first, sizeof error);
}

TEST(json_read_long_lists_are_cut)
{
    const JsonNode *root = parse("\"x\"");
    const char *names[40];
    for (size_t i = 0; i < 40; i++) {
        names[i] = "abcdefgh";
    }
    JsonError error = {0};
    CHECK_INT(json_read_choice(root, names, 40, &error), 0);
    CHECK(strncmp(error.message, "must be one of abcdefgh, abcdefgh", 33) == 0);
    CHECK(strlen(error.message) < JSON_MESSAGE_BYTES);
}

TEST(json_fail_keeps_messages_bounded)
{
    const JsonNode *root = parse("{}");
    char text[400];
    memset(text, 'm', sizeof text - 1);
    text[sizeof text - 1] = '\0';
    JsonError error = {0};
    json_fail_member(&error, STATUS_DENIED, root, "a", "%s", text);
    CHECK_INT(strlen(error.message), JSON_MESSAGE_BYTES - 1);
    CHECK_TEXT(error.path, "$.a");
    CHECK_INT(error.status, STATUS_DENIED);
    error = (JsonError){0};
    json_error_text(&error, text);
    CHECK_TEXT(text, "ok");
}

static void read_nothing(void *user)
{
    (void)json_read_number(NULL, 0, 1, user);
}

TEST(json_read_of_nothing_without_an_error_dies)
{
    JsonError error = {0};
    CHECK(test_dies(read_nothing, &error));
}

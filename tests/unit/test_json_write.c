// The JSON writer: exact text, the kept error status, misuse, and round trips of trees.
#include "core/base/json_member.h"
#include "core/base/limits.h"
#include "tests/support/test.h"

#include <math.h>
#include <string.h>

static char text[8192];

static void write_sample(JsonWriter *writer)
{
    json_write_object_begin(writer);
    json_write_name(writer, "p");
    json_write_array_begin(writer);
    json_write_f32(writer, 1.25f);
    json_write_integer(writer, 0);
    json_write_number(writer, 0.1);
    json_write_array_end(writer);
    json_write_name(writer, "none");
    json_write_null(writer);
    json_write_name(writer, "empty");
    json_write_array_begin(writer);
    json_write_object_begin(writer);
    json_write_object_end(writer);
    json_write_array_begin(writer);
    json_write_array_end(writer);
    json_write_array_end(writer);
    json_write_name(writer, "ok");
    json_write_bool(writer, true);
    json_write_name(writer, "not");
    json_write_bool(writer, false);
    json_write_name(writer, "text");
    json_write_text(writer, "a\"b");
    json_write_object_end(writer);
}

static const char *written(ByteWriter *out, const JsonWriter *writer)
{
    CHECK_OK(json_writer_finish(writer));
    byte_write_u8(out, 0);
    CHECK_OK(out->status);
    return text;
}

TEST(json_write_compact)
{
    ByteWriter out = byte_writer(text, sizeof text);
    JsonWriter writer = json_writer(&out, 0);
    write_sample(&writer);
    CHECK_TEXT(written(&out, &writer),
               "{\"p\":[1.25,0,0.1],\"none\":null,\"empty\":[{},[]],\"ok\":true,\"not\":false,"
               "\"text\":\"a\\\"b\"}");
}

TEST(json_write_indented)
{
    ByteWriter out = byte_writer(text, sizeof text);
    JsonWriter writer = json_writer(&out, 2);
    write_sample(&writer);
    CHECK_TEXT(written(&out, &writer), "{\n"
                                       "  \"p\": [\n"
                                       "    1.25,\n"
                                       "    0,\n"
                                       "    0.1\n"
                                       "  ],\n"
                                       "  \"none\": null,\n"
                                       "  \"empty\": [\n"
                                       "    {},\n"
                                       "    []\n"
                                       "  ],\n"
                                       "  \"ok\": true,\n"
                                       "  \"not\": false,\n"
                                       "  \"text\": \"a\\\"b\"\n"
                                       "}");
}

TEST(json_write_escapes)
{
    ByteWriter out = byte_writer(text, sizeof text);
    JsonWriter writer = json_writer(&out, 0);
    json_write_text_bytes(&writer, "\"\\/\b\f\n\r\t\x01\x1f\x7f\0\xc3\xa9\xf0\x9f\x98\x80", 18);
    CHECK_TEXT(written(&out, &writer), "\"\\\"\\\\/\\b\\f\\n\\r\\t\\u0001\\u001f\x7f\\u0000"
                                       "\xc3\xa9\xf0\x9f\x98\x80\"");
    out = byte_writer(text, sizeof text);
    writer = json_writer(&out, 0);
    json_write_text_bytes(&writer, NULL, 0);
    CHECK_TEXT(written(&out, &writer), "\"\"");
}

TEST(json_write_failures_are_sticky)
{
    ByteWriter out = byte_writer(text, sizeof text);
    JsonWriter writer = json_writer(&out, 0);
    json_write_array_begin(&writer);
    json_write_number(&writer, NAN);
    CHECK_INT(out.status, STATUS_RANGE);
    const size_t at = out.at;
    write_sample(&writer);
    json_write_object_end(&writer); // would die if nothing had failed
    CHECK_INT(out.at, at);
    CHECK_INT(json_writer_finish(&writer), STATUS_RANGE);

    out = byte_writer(text, sizeof text);
    writer = json_writer(&out, 0);
    json_write_f32(&writer, -INFINITY);
    CHECK_INT(json_writer_finish(&writer), STATUS_RANGE);

    out = byte_writer(text, sizeof text);
    writer = json_writer(&out, 0);
    json_write_text(&writer, "bad \xff text");
    CHECK_INT(json_writer_finish(&writer), STATUS_MALFORMED);

    out = byte_writer(text, sizeof text);
    writer = json_writer(&out, 0);
    json_write_object_begin(&writer);
    json_write_name(&writer, "\xc3");
    CHECK_INT(json_writer_finish(&writer), STATUS_MALFORMED);
}

TEST(json_write_into_any_space_too_small_is_a_limit)
{
    ByteWriter counter = byte_counter();
    JsonWriter writer = json_writer(&counter, 2);
    write_sample(&writer);
    CHECK_OK(json_writer_finish(&writer));
    for (size_t capacity = 0; capacity < counter.at; capacity++) {
        memset(text, '#', sizeof text);
        ByteWriter out = byte_writer(text, capacity);
        writer = json_writer(&out, 2);
        write_sample(&writer);
        CHECK_INT(json_writer_finish(&writer), STATUS_LIMIT);
        CHECK_INT(text[capacity], '#');
    }
    ByteWriter out = byte_writer(text, counter.at);
    writer = json_writer(&out, 2);
    write_sample(&writer);
    CHECK_OK(json_writer_finish(&writer));
}

TEST(json_write_depth_is_bounded)
{
    ByteWriter out = byte_writer(text, sizeof text);
    JsonWriter writer = json_writer(&out, 8);
    for (uint32_t i = 0; i < JSON_DEPTH_MAX; i++) {
        json_write_array_begin(&writer);
    }
    CHECK_OK(out.status);
    for (uint32_t i = 0; i < JSON_DEPTH_MAX; i++) {
        json_write_array_end(&writer);
    }
    CHECK_OK(json_writer_finish(&writer));
    out = byte_writer(text, sizeof text);
    writer = json_writer(&out, 0);
    for (uint32_t i = 0; i <= JSON_DEPTH_MAX; i++) {
        json_write_object_begin(&writer);
        json_write_name(&writer, "x");
    }
    CHECK_INT(json_writer_finish(&writer), STATUS_LIMIT);
}

static _Alignas(16) uint8_t block[65536];

static const JsonNode *parse(const char *source)
{
    static Arena arena;
    arena_init(&arena, block, sizeof block);
    const JsonConfig config = json_config_default(&arena);
    const JsonNode *root = NULL;
    CHECK_OK(json_parse(&config, source, strlen(source), &root, NULL));
    return root;
}

TEST(json_write_node_gives_the_text_back)
{
    static const char *const sources[] = {
        "null",
        "[]",
        "{}",
        "-0",
        "9223372036854775807",
        "[9007199254740993,-1.5e-9,1e+300]",
        "\"x\\n\"",
        "[[[]],{\"a\":{\"b\":[1,2,{\"c\":null}]},\"\":true},\"end\"]",
        "{\"a\":1,\"b\":[false],\"\\u0000\":\"\\u0000\"}",
    };
    for (size_t i = 0; i < sizeof sources / sizeof sources[0]; i++) {
        ByteWriter out = byte_writer(text, sizeof text);
        JsonWriter writer = json_writer(&out, 0);
        json_write_node(&writer, parse(sources[i]));
        CHECK_TEXT(written(&out, &writer), sources[i]);
    }
}

TEST(json_write_node_of_a_part_stops_at_its_end)
{
    const JsonNode *root = parse("{\"a\":[1,{\"b\":2}],\"c\":3}");
    ByteWriter out = byte_writer(text, sizeof text);
    JsonWriter writer = json_writer(&out, 0);
    json_write_array_begin(&writer);
    json_write_node(&writer, root->first);
    json_write_node(&writer, root->first->first);
    json_write_node(&writer, root->first->next);
    json_write_array_end(&writer);
    CHECK_TEXT(written(&out, &writer), "[[1,{\"b\":2}],1,3]");
}

static void value_without_name(void *user)
{
    json_write_object_begin(user);
    json_write_null(user);
}

static void name_in_array(void *user)
{
    json_write_array_begin(user);
    json_write_name(user, "a");
}

static void two_names(void *user)
{
    json_write_object_begin(user);
    json_write_name(user, "a");
    json_write_name(user, "b");
}

static void end_of_the_other(void *user)
{
    json_write_object_begin(user);
    json_write_array_end(user);
}

static void end_without_begin(void *user)
{
    json_write_array_end(user);
}

static void end_after_name(void *user)
{
    json_write_object_begin(user);
    json_write_name(user, "a");
    json_write_object_end(user);
}

static void two_values(void *user)
{
    json_write_null(user);
    json_write_null(user);
}

static void unfinished(void *user)
{
    json_write_array_begin(user);
    (void)!json_writer_finish(user);
}

TEST(json_write_misuse_dies)
{
    void (*const cases[])(void *) = {value_without_name, name_in_array,     two_names,
                                     end_of_the_other,   end_without_begin, end_after_name,
                                     two_values,         unfinished};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        ByteWriter out = byte_writer(text, sizeof text);
        JsonWriter writer = json_writer(&out, 0);
        CHECK(test_dies(cases[i], &writer));
    }
}

TEST(members_are_written_and_read_in_one_call)
{
    ByteWriter out = byte_writer(text, sizeof text);
    JsonWriter writer = json_writer(&out, 0);
    json_write_object_begin(&writer);
    json_member_bool(&writer, "b", true);
    json_member_integer(&writer, "i", -3);
    json_member_count(&writer, "c", 9007199254740991u);
    json_member_number(&writer, "n", 0.5);
    json_member_f32(&writer, "f", 1.25f);
    json_member_floats(&writer, "l", (const float[]){1, 2}, 2);
    json_member_vec3(&writer, "v", (Vec3){0, 1, -1});
    json_member_string(&writer, "s", "door");
    json_member_text(&writer, "t", (Text){"abcd", 2});
    json_write_object_end(&writer);
    CHECK_TEXT(written(&out, &writer),
               "{\"b\":true,\"i\":-3,\"c\":9007199254740991,\"n\":0.5,\"f\":1.25,\"l\":[1,2],"
               "\"v\":[0,1,-1],\"s\":\"door\",\"t\":\"ab\"}");

    const JsonNode *root =
        parse("{\"s\":\"door\",\"zero\":\"a\\u0000b\",\"null\":null,\"number\":4}");
    char copy[5] = "keep";
    CHECK(!json_member_copy(root, "zero", copy, sizeof copy));
    CHECK(!json_member_copy(root, "number", copy, sizeof copy));
    CHECK(!json_member_copy(root, "none", copy, sizeof copy));
    CHECK(!json_member_copy(root, "s", copy, 4)); // no room for its end
    CHECK(json_member_copy_optional(root, "none", copy, sizeof copy));
    CHECK(json_member_copy_optional(root, "null", copy, sizeof copy));
    CHECK(!json_member_copy_optional(root, "number", copy, sizeof copy));
    CHECK_TEXT(copy, "keep");
    CHECK(json_member_copy(root, "s", copy, sizeof copy));
    CHECK_TEXT(copy, "door");
}

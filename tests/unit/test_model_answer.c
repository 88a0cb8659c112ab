// Replies of a model's server: the JSON, the Lua in it, and messages that are safe to print.
#include "server/build/inside/op_model_answer.h"
#include "server/build/inside/worker_op.h"
#include "tests/support/test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static Status read_text(const char *json, ModelAnswer *out)
{
    return model_answer_read((const uint8_t *)json, strlen(json), out);
}

TEST(an_answer)
{
    ModelAnswer answer;
    REQUIRE(read_text("{\"id\":\"m\",\"type\":\"message\",\"role\":\"assistant\",\"content\":["
                      "{\"type\":\"thinking\",\"thinking\":\"hm\"},"
                      "{\"type\":\"text\",\"text\":\"a\\n\"},{\"type\":\"text\",\"text\":\"b\"}],"
                      "\"stop_reason\":\"end_turn\",\"usage\":{\"output_tokens\":3}}",
                      &answer) == STATUS_OK);
    CHECK_INT(answer.text.bytes, 3);
    CHECK_BYTES(answer.text.data, "a\nb", 3);
    CHECK_INT(answer.stop, STOP_DONE);
    CHECK_INT(answer.error_type.bytes, 0);
    model_answer_free(&answer);
}

TEST(an_error_without_the_key)
{
    ModelAnswer answer;
    REQUIRE(read_text("{\"type\":\"error\",\"error\":{\"type\":\"authentication_error\","
                      "\"message\":\"bad\\nkey sk-secret, and \\u0073k-secret\\u001b[31m\"}}",
                      &answer) == STATUS_OK);
    char said[MODEL_SAID_BYTES];
    model_answer_quote(&answer.error_type, "sk-secret", said, sizeof said);
    CHECK_TEXT(said, "authentication_error");
    model_answer_quote(&answer.error_message, "sk-secret", said, sizeof said);
    CHECK_TEXT(said, "bad key [key], and [key] [31m");
    model_answer_free(&answer);
}

TEST(other_shapes_are_refused)
{
    static const char *const bad[] = {
        "",
        "hello",
        "null",
        "[]",
        "{}",
        "{\"type\":\"message\"}",
        "{\"type\":\"message\",\"content\":\"text\"}",
        "{\"type\":\"message\",\"content\":[7]}",
        "{\"type\":\"message\",\"content\":[{\"type\":7}]}",
        "{\"type\":\"message\",\"content\":[{\"type\":\"text\"}]}",
        "{\"type\":\"message\",\"content\":[{\"type\":\"text\",\"text\":[]}]}",
        "{\"type\":\"message\",\"content\":[],\"content\":[]}",
        "{\"type\":\"completion\",\"content\":[]}",
        "{\"type\":\"error\"}",
        "{\"type\":\"error\",\"error\":\"no\"}",
        "{\"type\":\"error\",\"error\":{}}",
        "{\"type\":\"message\",\"content\":[]",
        "{\"type\":\"message\",\"content\":[{\"type\":\"text\",\"text\":\"\xff\"}]}",
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        ModelAnswer answer;
        CHECK_INT(read_text(bad[i], &answer), STATUS_MALFORMED);
        model_answer_free(&answer);
    }
}

TEST(an_answer_is_bounded)
{
    // Many values, and deep ones.
    const size_t bytes = 200000;
    char *text = malloc(bytes);
    REQUIRE(text != NULL);
    memset(text, '[', bytes);
    ModelAnswer answer;
    CHECK_INT(model_answer_read((uint8_t *)text, bytes, &answer), STATUS_LIMIT);
    model_answer_free(&answer);
    for (size_t i = 1; i < bytes; i++) {
        text[i] = i % 2 == 1 ? '1' : ',';
    }
    CHECK_INT(model_answer_read((uint8_t *)text, bytes, &answer), STATUS_LIMIT);
    model_answer_free(&answer);
    free(text);
}

static void check_lua(const char *text, LuaFound want, const char *lua)
{
    Buffer out = {0};
    const LuaFound found = model_answer_lua(text, strlen(text), &out);
    if (found != want) {
        test_fail(__FILE__, __LINE__, "found %d, not %d, in: %s", (int)found, (int)want, text);
    }
    if (found == LUA_FOUND && want == LUA_FOUND) {
        buffer_put_u8(&out, 0);
        CHECK_TEXT((const char *)out.data, lua);
    }
    buffer_free(&out);
}

TEST(lua_in_a_block)
{
    check_lua("```lua\nprint(1)\n```", LUA_FOUND, "print(1)\n");
    check_lua("Here it is:\n\n```lua\nprint(1)\n```\nHave fun!", LUA_FOUND, "print(1)\n");
    check_lua("```\nprint(1)\n```\n", LUA_FOUND, "print(1)\n");
    check_lua("  ```lua\r\nprint(1)\r\n  ```\r\n", LUA_FOUND, "print(1)\n");
    check_lua("````lua\nlocal s = [[\n```\n]]\n````", LUA_FOUND, "local s = [[\n```\n]]\n");
    check_lua("```lua\nprint(1)\n```\n```lua\nprint(2)\n```", LUA_SEVERAL, "");
    check_lua("```lua\nprint(1)\n", LUA_UNCLOSED, "");
    check_lua("```lua\n```", LUA_NONE, "");
    check_lua("```lua\n  \n\n```", LUA_NONE, "");
    check_lua("Use ```print``` for it.", LUA_NONE, "");
}

TEST(bare_lua)
{
    check_lua("print(1)", LUA_FOUND, "print(1)\n");
    check_lua("\n-- a door\nlocal x = 1\n", LUA_FOUND, "\n-- a door\nlocal x = 1\n");
    check_lua("function onStart() end", LUA_FOUND, "function onStart() end\n");
    check_lua("Network.OnClientEvent(\"x\", f)", LUA_FOUND, "Network.OnClientEvent(\"x\", f)\n");
    check_lua("x = 1", LUA_FOUND, "x = 1\n");
    check_lua("door:MoveTo(a, 1)", LUA_FOUND, "door:MoveTo(a, 1)\n");
}

TEST(no_lua)
{
    check_lua("", LUA_NONE, "");
    check_lua("CANNOT: there is no weather in this API.", LUA_NONE, "");
    check_lua("I'm sorry, I can't help with that.", LUA_NONE, "");
    check_lua("Sure: here is an idea.", LUA_NONE, "");
    check_lua("Sorry. That is not possible.", LUA_NONE, "");
    check_lua("{\"lua\": 1}", LUA_NONE, "");
    check_lua("<html>", LUA_NONE, "");
}

TEST(what_a_reader_would_not_see)
{
    check_lua("```lua\nprint(1) -- \xe2\x80\xae hidden\n```", LUA_HIDDEN, "");
    check_lua("```lua\nprint(1) -- \xe2\x81\xa6 hidden\n```", LUA_HIDDEN, "");
    check_lua("```lua\nprint(\"\x1b[2J\")\n```", LUA_HIDDEN, "");
    check_lua("```lua\n\x1bLua\n```", LUA_HIDDEN, "");
    check_lua("```lua\nprint(1) -- \xc2\x9b hidden\n```", LUA_HIDDEN, "");
    // Zero-width, soft hyphen, a mark of the order of bytes, a tag; in comments as in strings.
    check_lua("```lua\nprint(\"a\xe2\x80\x8b\")\n```", LUA_HIDDEN, "");
    check_lua("```lua\n-- a\xe2\x80\x8f\nprint(1)\n```", LUA_HIDDEN, "");
    check_lua("```lua\n-- a\xe2\x81\xa0\nprint(1)\n```", LUA_HIDDEN, "");
    check_lua("```lua\n-- a\xc2\xad\nprint(1)\n```", LUA_HIDDEN, "");
    check_lua("```lua\n-- a\xef\xbb\xbf\nprint(1)\n```", LUA_HIDDEN, "");
    check_lua("```lua\n-- a\xf3\xa0\x81\x81\nprint(1)\n```", LUA_HIDDEN, "");
    check_lua("```lua\nprint(\"\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80\")\n```", LUA_FOUND,
              "print(\"\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80\")\n");
    check_lua("print(\"\xff\")", LUA_HIDDEN, "");
    check_lua("```lua\nprint(\"T\xc3\xbcr \xe2\x86\x92 \xf0\x9f\x9a\xaa\")\n```", LUA_FOUND,
              "print(\"T\xc3\xbcr \xe2\x86\x92 \xf0\x9f\x9a\xaa\")\n");
    Buffer out = {0};
    CHECK_INT(model_answer_lua("print(1)\0x", 10, &out), LUA_HIDDEN);
}

TEST(too_much_lua)
{
    const size_t bytes = SOUL_LUA_BYTES_MAX + 10;
    char *text = malloc(bytes);
    REQUIRE(text != NULL);
    memset(text, '-', bytes);
    Buffer out = {0};
    CHECK_INT(model_answer_lua(text, bytes, &out), LUA_TOO_LARGE);
    CHECK_INT(model_answer_lua(text, SOUL_LUA_BYTES_MAX - 1, &out), LUA_FOUND);
    CHECK_INT(out.bytes, SOUL_LUA_BYTES_MAX);
    buffer_free(&out);
    free(text);
}

static void quote(const char *text, size_t bytes, const char *secret, char *out, size_t capacity)
{
    const Buffer words = {.data = (uint8_t *)(uintptr_t)text, .bytes = bytes};
    model_answer_quote(&words, secret, out, capacity);
}

TEST(quotes)
{
    char out[16];
    quote("abc", 3, NULL, out, sizeof out);
    CHECK_TEXT(out, "abc");
    quote("x\ty\x7f\xff", 5, NULL, out, sizeof out);
    CHECK_TEXT(out, "x y  ");
    // Neither half a character nor half a key at the end.
    quote("aaaaaaaaaaaaaa\xc3\xbc", 16, NULL, out, sizeof out);
    CHECK_TEXT(out, "aaaaaaaaaaaaaa");
    quote("aaaaaaaaaaaakeykey", 18, "keykey", out, sizeof out);
    CHECK_TEXT(out, "aaaaaaaaaaaa");
    quote("keykey", 6, "keykey", out, sizeof out);
    CHECK_TEXT(out, "[key]");
}

// --- through the worker -------------------------------------------------------------------------

static const char whole[] =
    "{\"type\":\"message\",\"content\":[{\"type\":\"text\",\"text\":\"```lua\\nprint(1)\\n```\"}],"
    "\"stop_reason\":\"max_tokens\"}";

TEST(an_answer_through_the_worker)
{
    WorkerCall call;
    ModelAnswer answer;
    REQUIRE(worker_answer(WORKER_MODEL_ANSWER, (const uint8_t *)whole, sizeof whole - 1, &call) ==
            STATUS_OK);
    REQUIRE(model_answer_read_reply(&call.reply, &answer) == STATUS_OK);
    CHECK_INT(answer.stop, STOP_MAX_TOKENS);
    CHECK_INT(answer.found, LUA_FOUND);
    CHECK_INT(answer.text.bytes, 19);
    CHECK_INT(answer.lua.bytes, 9);
    CHECK_BYTES(answer.lua.data, "print(1)\n", 9);
    model_answer_free(&answer);
    // Cut off anywhere it is no answer.
    for (size_t cut = 0; cut < call.reply.bytes; cut++) {
        const Buffer part = {.data = call.reply.data, .bytes = cut};
        CHECK_INT(model_answer_read_reply(&part, &answer), STATUS_MALFORMED);
        model_answer_free(&answer);
    }
    buffer_free(&call.reply);
    CHECK_INT(worker_answer(WORKER_MODEL_ANSWER, (const uint8_t *)"{}", 2, &call),
              STATUS_MALFORMED);
    buffer_free(&call.reply);
}

static Buffer reply_of(uint8_t stop, const char *text, uint8_t found, const char *lua)
{
    Buffer reply = buffer_of(WORKER_REPLY_MAX);
    buffer_put_u8(&reply, stop);
    buffer_put_block(&reply, "", 0);
    buffer_put_block(&reply, "", 0);
    buffer_put_block(&reply, text, strlen(text));
    buffer_put_u8(&reply, found);
    buffer_put_block(&reply, lua, strlen(lua));
    return reply;
}

// Its texts are passed on and stored: they must be valid and within their limits.
TEST(what_a_lying_worker_says_of_an_answer)
{
    char *large = malloc(SOUL_LUA_BYTES_MAX + 2);
    REQUIRE(large != NULL);
    memset(large, 'x', SOUL_LUA_BYTES_MAX + 1);
    large[SOUL_LUA_BYTES_MAX + 1] = '\0';
    const struct {
        Buffer reply;
        Status want;
    } cases[] = {
        {reply_of(STOP_DONE, "a", LUA_FOUND, "b\n"), STATUS_OK},
        {reply_of(STOP_DONE, "a", LUA_NONE, ""), STATUS_OK},
        {reply_of(STOP_COUNT, "a", LUA_NONE, ""), STATUS_MALFORMED},
        {reply_of(STOP_DONE, "a", LUA_FOUND_COUNT, ""), STATUS_MALFORMED},
        {reply_of(STOP_DONE, "a", LUA_FOUND, ""), STATUS_MALFORMED},
        {reply_of(STOP_DONE, "a", LUA_NONE, "b"), STATUS_MALFORMED},
        {reply_of(STOP_DONE, "\xff", LUA_NONE, ""), STATUS_MALFORMED},
        {reply_of(STOP_DONE, "a", LUA_FOUND, "\xff"), STATUS_MALFORMED},
        {reply_of(STOP_DONE, "a", LUA_FOUND, large), STATUS_MALFORMED},
        {reply_of(STOP_DONE, "a", LUA_FOUND, "a\x01"), STATUS_MALFORMED},
        {reply_of(STOP_DONE, "a", LUA_FOUND, "-- \xe2\x80\xae"), STATUS_MALFORMED},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        ModelAnswer answer;
        Buffer reply = cases[i].reply;
        CHECK_INT(model_answer_read_reply(&reply, &answer), cases[i].want);
        model_answer_free(&answer);
        buffer_free(&reply);
    }
    free(large);
}

// A model's answer as JSON, and the Lua in it: what is taken is text that a person can read.
#include "core/base/check.h"
#include "core/base/utf8.h"
#include "server/build/model_answer.h"

#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void look_for_lua(const char *text, size_t bytes)
{
    Buffer lua = {0};
    if (model_answer_lua(text, bytes, &lua) == LUA_FOUND) {
        ASSERT(lua.bytes > 0 && lua.bytes <= SOUL_LUA_BYTES_MAX);
        ASSERT(lua.data[lua.bytes - 1] == '\n');
        ASSERT(utf8_is_valid(lua.data, lua.bytes));
        for (size_t i = 0; i < lua.bytes; i++) {
            ASSERT(lua.data[i] >= 0x20 || lua.data[i] == '\n' || lua.data[i] == '\t');
        }
    } else {
        ASSERT(lua.data == NULL);
    }
    buffer_free(&lua);
}

static void check_words(const char *text, size_t capacity, const char *secret)
{
    ASSERT(memchr(text, 0, capacity) != NULL);
    ASSERT(utf8_is_valid(text, strlen(text)));
    ASSERT(strstr(text, secret) == NULL);
    for (const char *at = text; *at != '\0'; at++) {
        ASSERT((uint8_t)*at >= 0x20 && *at != 0x7f);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char secret[] = "sk-1";
    ModelAnswer answer;
    if (model_answer_read(data, size, secret, &answer) == STATUS_OK) {
        check_words(answer.stop_reason, sizeof answer.stop_reason, secret);
        check_words(answer.error_type, sizeof answer.error_type, secret);
        check_words(answer.error_message, sizeof answer.error_message, secret);
        look_for_lua(answer.text.data != NULL ? (const char *)answer.text.data : "",
                     answer.text.bytes);
    }
    model_answer_free(&answer);
    look_for_lua((const char *)data, size);
    return 0;
}

// A model's answer as JSON, and the Lua in it: accepted text is text that a person can read.
#include "core/base/check.h"
#include "core/base/utf8.h"
#include "server/build/inside/op_model_answer.h"
#include "server/build/inside/worker_op.h"

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

static void check_words(const Buffer *words, const char *secret)
{
    char text[MODEL_SAID_BYTES];
    model_answer_quote(words, secret, text, sizeof text);
    ASSERT(memchr(text, 0, sizeof text) != NULL);
    ASSERT(utf8_is_valid(text, strlen(text)));
    ASSERT(strstr(text, secret) == NULL);
    for (const char *at = text; *at != '\0'; at++) {
        ASSERT((uint8_t)*at >= 0x20 && *at != 0x7f);
    }
}

// The worker's result must match what it read.
static void look_through_worker(const uint8_t *data, size_t size, const ModelAnswer *answer)
{
    WorkerCall call;
    ModelAnswer back;
    ASSERT(worker_answer(WORKER_MODEL_ANSWER, data, size, &call) == STATUS_OK);
    ASSERT(model_answer_read_reply(&call.reply, &back) == STATUS_OK);
    ASSERT(back.stop == answer->stop && back.text.bytes == answer->text.bytes);
    ASSERT(back.error_message.bytes == answer->error_message.bytes);
    model_answer_free(&back);
    buffer_free(&call.reply);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char secret[] = "sk-1";
    ModelAnswer answer;
    if (model_answer_read(data, size, &answer) == STATUS_OK) {
        check_words(&answer.error_type, secret);
        check_words(&answer.error_message, secret);
        look_for_lua(answer.text.data != NULL ? (const char *)answer.text.data : "",
                     answer.text.bytes);
        look_through_worker(data, size, &answer);
    }
    model_answer_free(&answer);
    look_for_lua((const char *)data, size);
    return 0;
}

// See ask_model_answer.h.
#include "server/build/ask/ask_model_answer.h"

#include "core/base/bytes.h"
#include "core/base/utf8.h"

static void read_utf8(ByteReader *reader, Buffer *out)
{
    size_t bytes = 0;
    const uint8_t *text = byte_read_block(reader, &bytes);
    if (text == NULL || !utf8_is_valid((const char *)text, bytes)) {
        byte_reader_fail(reader, STATUS_MALFORMED);
        return;
    }
    buffer_put(out, text, bytes);
    if (out->status != STATUS_OK) {
        byte_reader_fail(reader, STATUS_MALFORMED); // longer than the maximum
    }
}

Status model_answer_read_reply(const Buffer *reply, ModelAnswer *out)
{
    ByteReader reader = byte_reader(reply->data, reply->bytes);
    *out = model_answer_empty();
    out->stop = (ModelStop)byte_read_u8(&reader);
    read_utf8(&reader, &out->error_type);
    read_utf8(&reader, &out->error_message);
    read_utf8(&reader, &out->text);
    out->found = (LuaFound)byte_read_u8(&reader);
    read_utf8(&reader, &out->lua);
    bool is_good = byte_reader_finish(&reader) == STATUS_OK && out->stop < STOP_COUNT &&
                   out->found < LUA_FOUND_COUNT &&
                   (out->found == LUA_FOUND) == (out->lua.bytes > 0);
    for (size_t i = 0; i < out->lua.bytes && is_good; i++) {
        is_good = !model_text_is_hidden(out->lua.data + i, out->lua.bytes - i);
    }
    return is_good ? STATUS_OK : STATUS_MALFORMED;
}

static Status read_answer(void *user, Status said, const Buffer *reply)
{
    (void)said;
    return model_answer_read_reply(reply, user);
}

Status model_answer_ask(const BuildContext *context, const Buffer *body, ModelAnswer *out)
{
    *out = model_answer_empty();
    WorkerQuestion question = {.op = WORKER_MODEL_ANSWER,
                               .request = body->data,
                               .request_bytes = body->bytes,
                               .read = read_answer,
                               .user = out};
    return context_ask(context, &question);
}

// See model_answer.h.
#include "server/build/soul/model_answer.h"

#include "core/base/check.h"
#include "core/base/utf8.h"

#include <string.h>

ModelAnswer model_answer_empty(void)
{
    return (ModelAnswer){.error_type = buffer_of(MODEL_REPLY_BYTES_MAX),
                         .error_message = buffer_of(MODEL_REPLY_BYTES_MAX),
                         .text = buffer_of(MODEL_TEXT_BYTES_MAX),
                         .found = LUA_NONE,
                         .lua = buffer_of(SOUL_LUA_BYTES_MAX)};
}

bool model_text_is_hidden(const uint8_t *at, size_t bytes)
{
    const size_t length = utf8_length(at, bytes);
    const bool is_space = at[0] == '\n' || at[0] == '\t' || at[0] == '\r';
    return length > 0 && !is_space && utf8_is_hidden(utf8_code_point(at, length));
}

void model_answer_free(ModelAnswer *answer)
{
    buffer_free(&answer->error_type);
    buffer_free(&answer->error_message);
    buffer_free(&answer->text);
    buffer_free(&answer->lua);
}

void model_answer_quote(const Buffer *words, const char *secret, char *out, size_t bytes)
{
    ASSERT(bytes > 0);
    const char *text = (const char *)words->data;
    const size_t text_bytes = words->bytes;
    const size_t secret_bytes = secret != NULL ? strlen(secret) : 0;
    size_t to = 0;
    for (size_t at = 0; at < text_bytes;) {
        const size_t left = text_bytes - at;
        const size_t length = utf8_length((const uint8_t *)text + at, left);
        if (secret_bytes > 0 && left >= secret_bytes &&
            memcmp(text + at, secret, secret_bytes) == 0) {
            static const char shown[] = "[key]";
            if (to + sizeof shown > bytes) {
                break;
            }
            memcpy(out + to, shown, sizeof shown - 1);
            to += sizeof shown - 1;
            at += secret_bytes;
        } else if (length == 0 || model_text_is_hidden((const uint8_t *)text + at, left) ||
                   strchr("\r\n\t", text[at]) != NULL) {
            if (to + 2 > bytes) {
                break;
            }
            out[to++] = ' ';
            at += length > 0 ? length : 1;
        } else {
            if (to + length + 1 > bytes) {
                break;
            }
            memcpy(out + to, text + at, length);
            to += length;
            at += length;
        }
    }
    out[to] = '\0';
}

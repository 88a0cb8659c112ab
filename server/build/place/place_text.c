// See worker_text.h; both sides of the pipe.
#include "server/build/place/place_text.h"

#include "core/base/utf8.h"
#include "server/build/inside/worker_op.h"

#include <stdbool.h>

// --- inside -------------------------------------------------------------------------------------

TextProblem text_problem(const uint8_t *data, size_t bytes, uint32_t *line)
{
    *line = 1;
    for (size_t i = 0; i < bytes;) {
        const uint8_t c = data[i];
        const size_t length = utf8_length(data + i, bytes - i);
        const bool is_space = c == '\t' || c == '\n' || c == '\r' || c == '\f';
        if (length == 0 || c == 0) { // every other byte of UTF-16 is a zero
            return TEXT_NO_UTF8;
        }
        if (c < 0x20 && !is_space) {
            return TEXT_CONTROL;
        }
        *line += c == '\n';
        i += length;
    }
    return TEXT_GOOD;
}

Status worker_text(WorkerCall *call)
{
    ByteReader *reader = &call->request;
    const uint32_t count = byte_read_u32(reader);
    buffer_put_u32(&call->reply, count);
    for (uint32_t i = 0; i < count && reader->status == STATUS_OK; i++) {
        size_t bytes = 0;
        uint32_t line = 0;
        const uint8_t *data = byte_read_block(reader, &bytes);
        const TextProblem problem = data == NULL ? TEXT_GOOD : text_problem(data, bytes, &line);
        buffer_put_u8(&call->reply, (uint8_t)problem);
        buffer_put_u32(&call->reply, line);
        worker_progress(i, count);
    }
    return byte_reader_finish(reader) == STATUS_OK
               ? STATUS_OK
               : worker_refuse(call, STATUS_MALFORMED, "not a request for texts");
}

// --- outside ------------------------------------------------------------------------------------

const char *text_problem_words(TextProblem problem)
{
    static const char *const words[TEXT_PROBLEM_COUNT] = {"", "is no UTF-8; save it as UTF-8",
                                                          "a text has no control characters"};
    return problem < TEXT_PROBLEM_COUNT ? words[problem] : "?";
}

static bool is_text(const PlaceFile *file)
{
    return !place_path_ends(file->path, ".chunk");
}

static uint32_t count_texts(const PlaceFolder *folder)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < folder->file_count; i++) {
        count += is_text(&folder->files[i]);
    }
    return count;
}

void text_write_request(const PlaceFolder *folder, Buffer *request)
{
    buffer_put_u32(request, count_texts(folder));
    for (uint32_t i = 0; i < folder->file_count; i++) {
        const PlaceFile *file = &folder->files[i];
        if (is_text(file)) {
            buffer_put_block(request, file->data, file->bytes);
        }
    }
}

static bool is_answer(const Buffer *reply, uint32_t count)
{
    ByteReader reader = byte_reader(reply->data, reply->bytes);
    bool is_good = byte_read_u32(&reader) == count;
    for (uint32_t i = 0; is_good && i < count; i++) {
        is_good = byte_read_u8(&reader) < TEXT_PROBLEM_COUNT;
        (void)byte_read_u32(&reader);
    }
    return is_good && byte_reader_finish(&reader) == STATUS_OK;
}

Status text_read_reply(const Buffer *reply, const PlaceFolder *folder, DiagnosticList *diagnostics)
{
    if (!is_answer(reply, count_texts(folder))) {
        return STATUS_MALFORMED;
    }
    ByteReader reader = byte_reader(reply->data, reply->bytes);
    (void)byte_read_u32(&reader);
    for (uint32_t i = 0; i < folder->file_count; i++) {
        if (is_text(&folder->files[i])) {
            const TextProblem problem = (TextProblem)byte_read_u8(&reader);
            const uint32_t line = byte_read_u32(&reader);
            if (problem != TEXT_GOOD) {
                diagnostic_addf(diagnostics, DIAGNOSTIC_ERROR, folder->files[i].path, line, 0,
                                "file", "%s", text_problem_words(problem));
            }
        }
    }
    return STATUS_OK;
}

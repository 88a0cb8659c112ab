// See command_json.h.
#include "server/cli/command_json.h"

#include "core/base/json_member.h"
#include "core/base/utf8.h"
#include "server/cli/command.h"

#include <stdlib.h>
#include <string.h>

void command_json_text(JsonWriter *json, const char *name, const char *text)
{
    const size_t bytes = strlen(text);
    char *clean = utf8_is_valid(text, bytes) ? NULL : malloc(bytes + 1);
    if (clean != NULL) {
        memcpy(clean, text, bytes + 1);
    }
    for (size_t at = 0; clean != NULL && at < bytes;) {
        const size_t length = utf8_length((const uint8_t *)clean + at, bytes - at);
        clean[at] = length == 0 ? '?' : clean[at];
        at += length == 0 ? 1 : length;
    }
    json_write_name(json, name);
    json_write_text_bytes(json, clean != NULL ? clean : text, bytes);
    free(clean);
}

void command_json_hash(JsonWriter *json, const char *name, const uint8_t hash[SHA256_BYTES])
{
    char hex[2 * SHA256_BYTES + 1];
    sha256_hex(hash, hex);
    command_json_text(json, name, hex);
}

void command_json_diagnostics(JsonWriter *json, const DiagnosticList *list)
{
    json_write_name(json, "diagnostics");
    json_write_array_begin(json);
    for (uint32_t i = 0; i < list->count; i++) {
        const Diagnostic *item = &list->items[i];
        json_write_object_begin(json);
        command_json_text(json, "level", item->level == DIAGNOSTIC_ERROR ? "error" : "warning");
        command_json_text(json, "file", item->file);
        json_member_count(json, "line", item->line);
        json_member_count(json, "column", item->column);
        command_json_text(json, "code", item->code);
        command_json_text(json, "message", item->message);
        json_write_object_end(json);
    }
    json_write_array_end(json);
    json_member_count(json, "errors", list->error_count);
    json_member_count(json, "warnings", list->warning_count);
}

static Status write_object(CommandJsonWrite write, const void *what, ByteWriter *out)
{
    JsonWriter json = json_writer(out, 0);
    json_write_object_begin(&json);
    write(&json, what);
    json_write_object_end(&json);
    return json_writer_finish(&json);
}

bool command_json_print(CommandJsonWrite write, const void *what)
{
    ByteWriter counter = byte_counter();
    Status status = write_object(write, what, &counter);
    char *text = status == STATUS_OK ? malloc(counter.at) : NULL;
    status = status == STATUS_OK && text == NULL ? STATUS_LIMIT : status;
    if (status == STATUS_OK) {
        ByteWriter writer = byte_writer(text, counter.at);
        status = write_object(write, what, &writer);
    }
    if (status == STATUS_OK) {
        fwrite(text, 1, counter.at, stdout);
        fputc('\n', stdout);
        fflush(stdout); // main reports a write error
    } else {
        char reason[128];
        snprintf(reason, sizeof reason, "cannot print the result: %s", status_text(status));
        command_print_failure(reason);
    }
    free(text);
    return status == STATUS_OK;
}

// See diagnostic.h.
#include "server/build/base/diagnostic.h"

#include "core/base/bytes.h"
#include "core/base/utf8.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LINE_BYTES 8192 // two paths and a message

void diagnostic_list_free(DiagnosticList *list)
{
    free(list->items);
    *list = (DiagnosticList){0};
}

static bool make_room(DiagnosticList *list)
{
    if (list->count < list->capacity) {
        return true;
    }
    if (list->capacity == DIAGNOSTICS_MAX) {
        return false;
    }
    const uint32_t wanted = list->capacity == 0 ? 16 : list->capacity * 2;
    const uint32_t capacity = wanted < DIAGNOSTICS_MAX ? wanted : DIAGNOSTICS_MAX;
    Diagnostic *items = realloc(list->items, capacity * sizeof *items);
    if (items == NULL) {
        return false;
    }
    list->items = items;
    list->capacity = capacity;
    return true;
}

// The last warning, or NULL.
static Diagnostic *find_warning(const DiagnosticList *list)
{
    for (uint32_t i = list->count; i > 0; i--) {
        if (list->items[i - 1].level == DIAGNOSTIC_WARNING) {
            return &list->items[i - 1];
        }
    }
    return NULL;
}

void diagnostic_add(DiagnosticList *list, const Diagnostic *diagnostic)
{
    list->error_count += diagnostic->level == DIAGNOSTIC_ERROR;
    list->warning_count += diagnostic->level == DIAGNOSTIC_WARNING;
    if (make_room(list)) {
        list->items[list->count++] = *diagnostic;
        return;
    }
    list->dropped_count += 1;
    // An error replaces a warning if the list is full, so that the reason of a failed build is
    // shown.
    Diagnostic *warning = diagnostic->level == DIAGNOSTIC_ERROR ? find_warning(list) : NULL;
    if (warning != NULL) {
        *warning = *diagnostic;
    }
}

// A name that is too long is cut and marked, so that it is not taken for a file's name.
static void put_file(Diagnostic *diagnostic, const char *file)
{
    static const char more[] = "…";
    const size_t bytes = strlen(file), room = sizeof diagnostic->file;
    const bool fits = bytes < room;
    const size_t kept = fits ? bytes : utf8_cut(file, bytes, room - sizeof more);
    snprintf(diagnostic->file, room, "%.*s%s", (int)kept, file, fits ? "" : more);
}

void diagnostic_addf(DiagnosticList *list, DiagnosticLevel level, const char *file, uint32_t line,
                     uint32_t column, const char *code, const char *format, ...)
{
    Diagnostic diagnostic = {.level = level, .line = line, .column = column};
    put_file(&diagnostic, file);
    snprintf(diagnostic.code, sizeof diagnostic.code, "%s", code);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(diagnostic.message, sizeof diagnostic.message, format, arguments);
    va_end(arguments);
    diagnostic_add(list, &diagnostic);
}

static void take_diagnostic(void *user, const CheckDiagnostic *told)
{
    const bool is_error = told->level == CHECK_ERROR;
    diagnostic_addf(user, is_error ? DIAGNOSTIC_ERROR : DIAGNOSTIC_WARNING, told->file, told->line,
                    told->column, told->code, "%s", told->message);
}

CheckSink diagnostic_list_sink(DiagnosticList *list)
{
    return (CheckSink){take_diagnostic, list};
}

void diagnostic_count_text(uint32_t error_count, char *out, size_t bytes)
{
    snprintf(out, bytes, "%u error%s%s", error_count, error_count == 1 ? "" : "s",
             error_count >= DIAGNOSTICS_MAX ? " or more" : "");
}

void diagnostic_list_append(DiagnosticList *list, const DiagnosticList *from)
{
    for (uint32_t i = 0; i < from->count; i++) {
        diagnostic_add(list, &from->items[i]);
    }
    list->dropped_count += from->dropped_count;
}

static int compare(const void *a, const void *b)
{
    const Diagnostic *one = a, *two = b;
    int order = strcmp(one->file, two->file);
    order = order != 0 ? order : (one->line > two->line) - (one->line < two->line);
    order = order != 0 ? order : (one->column > two->column) - (one->column < two->column);
    order = order != 0 ? order : (int)one->level - (int)two->level;
    order = order != 0 ? order : strcmp(one->code, two->code);
    return order != 0 ? order : strcmp(one->message, two->message);
}

void diagnostic_list_sort(DiagnosticList *list)
{
    if (list->count > 1) {
        qsort(list->items, list->count, sizeof *list->items, compare);
    }
}

void diagnostic_text(const Diagnostic *diagnostic, const char *folder, char *out, size_t bytes)
{
    char where[32] = "";
    if (diagnostic->line > 0 && diagnostic->column > 0) {
        snprintf(where, sizeof where, "%u:%u:", diagnostic->line, diagnostic->column);
    } else if (diagnostic->line > 0) {
        snprintf(where, sizeof where, "%u:", diagnostic->line);
    }
    const char *level = diagnostic->level == DIAGNOSTIC_ERROR ? "error" : "warning";
    snprintf(out, bytes, "%s%s:%s %s: %s%s%s%s", folder, diagnostic->file, where, level,
             diagnostic->message, diagnostic->code[0] != '\0' ? " [" : "", diagnostic->code,
             diagnostic->code[0] != '\0' ? "]" : "");
    utf8_clean(out);
}

void diagnostic_print(FILE *out, const char *format, ...)
{
    char line[LINE_BYTES];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    utf8_clean(line);
    fprintf(out, "%s\n", line);
}

// --- between processes --------------------------------------------------------------------------

void diagnostic_list_write(const DiagnosticList *list, Buffer *out)
{
    buffer_put_u32(out, list->count);
    for (uint32_t i = 0; i < list->count; i++) {
        const Diagnostic *item = &list->items[i];
        buffer_put_u8(out, (uint8_t)item->level);
        buffer_put_u32(out, item->line);
        buffer_put_u32(out, item->column);
        buffer_put_block(out, item->file, strlen(item->file));
        buffer_put_block(out, item->code, strlen(item->code));
        buffer_put_block(out, item->message, strlen(item->message));
    }
}

// Text that a person will see: UTF-8, no zero, no control characters but the ends of lines.
static bool read_shown_text(ByteReader *reader, char *out, size_t capacity)
{
    const uint32_t bytes = byte_read_u32(reader);
    if (reader->status != STATUS_OK || bytes >= capacity || bytes > byte_reader_left(reader)) {
        return false;
    }
    const uint8_t *text = byte_read_bytes(reader, bytes);
    if (bytes > 0) {
        memcpy(out, text, bytes);
        check_tell_clean(out, bytes);
    }
    out[bytes] = '\0';
    return true;
}

static bool read_one(ByteReader *reader, Diagnostic *out)
{
    *out = (Diagnostic){0};
    const uint8_t level = byte_read_u8(reader);
    out->level = level == DIAGNOSTIC_WARNING ? DIAGNOSTIC_WARNING : DIAGNOSTIC_ERROR;
    out->line = byte_read_u32(reader);
    out->column = byte_read_u32(reader);
    return level <= DIAGNOSTIC_WARNING && read_shown_text(reader, out->file, sizeof out->file) &&
           read_shown_text(reader, out->code, sizeof out->code) &&
           read_shown_text(reader, out->message, sizeof out->message);
}

Status diagnostic_list_read(const uint8_t *bytes, size_t count, size_t *used, DiagnosticList *list)
{
    ByteReader reader = byte_reader(bytes, count);
    const uint32_t items = byte_read_u32(&reader);
    if (reader.status != STATUS_OK || items > DIAGNOSTICS_MAX) {
        return STATUS_MALFORMED;
    }
    DiagnosticList read = {0};
    for (uint32_t i = 0; i < items; i++) {
        Diagnostic item;
        if (!read_one(&reader, &item)) {
            diagnostic_list_free(&read);
            return STATUS_MALFORMED;
        }
        diagnostic_add(&read, &item);
    }
    diagnostic_list_append(list, &read);
    diagnostic_list_free(&read);
    *used = count - byte_reader_left(&reader);
    return STATUS_OK;
}

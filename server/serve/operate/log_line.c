// See log_line.h.
#define _GNU_SOURCE
#include "server/serve/operate/log_line.h"

#include "core/base/check.h"
#include "core/base/utf8.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#define FIELD_BYTES 64
#define PLAIN       "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._/:+*-"

typedef struct Line {
    char *out;
    size_t at;
} Line;

static void append_text(Line *line, const char *text, size_t bytes)
{
    ASSERT(line->at + bytes < LOG_LINE_BYTES); // LOG_LINE_BYTES counts every value at its largest
    memcpy(line->out + line->at, text, bytes);
    line->at += bytes;
}

static void put_text(Line *line, const char *text)
{
    append_text(line, text, strlen(text));
}

// As JSON has it; past the basic plane two surrogates.
static void put_escape(Line *line, uint32_t code)
{
    char text[16];
    if (code == '"' || code == '\\') {
        snprintf(text, sizeof text, "\\%c", (char)code);
    } else if (code == '\n' || code == '\t' || code == '\r') {
        snprintf(text, sizeof text, "\\%c", code == '\n' ? 'n' : code == '\t' ? 't' : 'r');
    } else if (code < 0x10000) {
        snprintf(text, sizeof text, "\\u%04x", (unsigned)code);
    } else {
        snprintf(text, sizeof text, "\\u%04x\\u%04x", (unsigned)(0xd800 + ((code - 0x10000) >> 10)),
                 (unsigned)(0xdc00 + (code & 0x3ff)));
    }
    put_text(line, text);
}

static void put_quoted(Line *line, const char *text, size_t bytes_max)
{
    const size_t bytes = strnlen(text, bytes_max);
    put_text(line, "\"");
    for (size_t at = 0; at < bytes;) {
        const uint8_t *character = (const uint8_t *)text + at;
        const size_t length = utf8_length(character, bytes - at);
        if (length == 0) { // broken, or cut off
            put_text(line, "?");
            at += 1;
            continue;
        }
        const uint32_t code = utf8_code_point(character, length);
        if (code == '"' || code == '\\' || utf8_is_hidden(code)) {
            put_escape(line, code);
        } else {
            append_text(line, text + at, length);
        }
        at += length;
    }
    put_text(line, "\"");
}

static void put_field(Line *line, LogFormat format, const LogField *field, size_t bytes_max)
{
    const bool is_json = format == LOG_FORMAT_JSON;
    const bool is_first = line->at <= 1;
    put_text(line, is_json ? is_first ? "\"" : ",\"" : is_first ? "" : " ");
    put_text(line, field->name);
    put_text(line, is_json ? "\":" : "=");
    const size_t bytes = strlen(field->value);
    const bool is_plain = bytes > 0 && bytes <= bytes_max && strspn(field->value, PLAIN) == bytes;
    if (is_plain && (!is_json || field->is_number)) {
        append_text(line, field->value, bytes);
    } else {
        put_quoted(line, field->value, bytes_max);
    }
}

static void write_time(uint64_t unix_ms, char out[64])
{
    const time_t seconds = (time_t)(unix_ms / 1000);
    struct tm parts;
    char clock[32] = "";
    if (gmtime_r(&seconds, &parts) != NULL) {
        strftime(clock, sizeof clock, "%Y-%m-%dT%H:%M:%S", &parts);
    }
    snprintf(out, 64, "%s.%03uZ", clock, (unsigned)(unix_ms % 1000));
}

static size_t write_for_people(const LogLine *line, char out[LOG_LINE_BYTES])
{
    char clock[64], message[LOG_MESSAGE_BYTES];
    write_time(line->unix_ms, clock);
    snprintf(message, sizeof message, "%s", line->message);
    utf8_clean(message);
    const int bytes =
        snprintf(out, LOG_LINE_BYTES, "%.8s %-5s %s: %s\n", clock + strlen("2000-01-01T"),
                 log_level_name(line->level), line->area, message);
    return (size_t)bytes;
}

size_t log_line_write(LogFormat format, const LogLine *line, char out[LOG_LINE_BYTES])
{
    if (format == LOG_FORMAT_TEXT) {
        return write_for_people(line, out);
    }
    char clock[64];
    Line text = {.out = out};
    write_time(line->unix_ms, clock);
    put_text(&text, format == LOG_FORMAT_JSON ? "{" : "");
    put_field(&text, format, &(LogField){"time", clock, false}, FIELD_BYTES);
    put_field(&text, format, &(LogField){"level", log_level_name(line->level), false}, FIELD_BYTES);
    put_field(&text, format, &(LogField){"area", line->area, false}, FIELD_BYTES);
    put_field(&text, format, &(LogField){"msg", line->message, false}, LOG_MESSAGE_BYTES);
    for (uint32_t i = 0; i < LOG_FIELDS_MAX && line->fields[i].name != NULL; i++) {
        put_field(&text, format, &line->fields[i], FIELD_BYTES);
    }
    put_text(&text, format == LOG_FORMAT_JSON ? "}\n" : "\n");
    return text.at;
}

// See scene_ref.h: applies edits to a text, in the builder. It does not parse JSON; it checks the
// few bytes at each edit, and rejects an edit that does not point at one of our members.
#include "core/base/bytes.h"
#include "core/base/sha256.h"
#include "server/build/place/scene_ref.h"

#include <stdio.h>
#include <string.h>

// From a name to the end of its value: a path, a hash, or an object with both. This also limits the
// work for any edits.
#define MEMBER_BYTES_MAX 1024
#define NEW_AT_NONE      SIZE_MAX

typedef struct Cursor {
    const char *data;
    size_t bytes, at;
} Cursor;

static bool is_space(char byte)
{
    return byte == ' ' || byte == '\t' || byte == '\r' || byte == '\n';
}

static void skip_space(Cursor *text)
{
    while (text->at < text->bytes && is_space(text->data[text->at])) {
        text->at += 1;
    }
}

static bool take_byte(Cursor *text, char byte)
{
    const bool is_there = text->at < text->bytes && text->data[text->at] == byte;
    text->at += is_there;
    return is_there;
}

static bool take_string(Cursor *text)
{
    if (!take_byte(text, '"')) {
        return false;
    }
    while (text->at < text->bytes && text->data[text->at] != '"') {
        text->at += text->data[text->at] == '\\' ? 2 : 1;
    }
    return take_byte(text, '"');
}

// A scriptRef contains no nested values.
static bool take_flat_object(Cursor *text)
{
    if (!take_byte(text, '{')) {
        return false;
    }
    while (text->at < text->bytes) {
        const char byte = text->data[text->at];
        if (byte == '}') {
            return take_byte(text, byte);
        }
        if (byte == '{' || byte == '[') {
            return false;
        }
        if (byte != '"') {
            text->at += 1;
        } else if (!take_string(text)) {
            return false;
        }
    }
    return false;
}

bool scene_ref_find_value(const char *data, size_t bytes, const SceneRefEdit *edit, size_t *begin,
                          size_t *end)
{
    static const char *const names[SCENE_REF_FIELD_COUNT] = {[SCENE_REF_PATH] = "\"path\"",
                                                             [SCENE_REF_HASH] = "\"codeHash\"",
                                                             [SCENE_REF_LUA] = "\"scriptPath\"",
                                                             [SCENE_REF_NEW_HASH] = "\"path\"",
                                                             [SCENE_REF_NEW_LUA] = "\"scriptRef\""};
    const char *name = names[edit->field];
    const size_t name_bytes = strlen(name);
    if (edit->at >= bytes || bytes - edit->at < name_bytes ||
        memcmp(data + edit->at, name, name_bytes) != 0 ||
        (edit->at > 0 && data[edit->at - 1] == '\\')) {
        return false;
    }
    const size_t most = bytes - edit->at < MEMBER_BYTES_MAX ? bytes : edit->at + MEMBER_BYTES_MAX;
    Cursor text = {data, most, edit->at + name_bytes};
    skip_space(&text);
    if (!take_byte(&text, ':')) {
        return false;
    }
    skip_space(&text);
    *begin = text.at;
    const bool found =
        edit->field == SCENE_REF_NEW_LUA ? take_flat_object(&text) : take_string(&text);
    *end = text.at;
    return found;
}

void scene_ref_value(const SceneRefScript *script, SceneRefField field,
                     char out[SCENE_REF_VALUE_BYTES])
{
    const bool is_lua = field == SCENE_REF_LUA || field == SCENE_REF_NEW_LUA;
    if (field == SCENE_REF_HASH || field == SCENE_REF_NEW_HASH) {
        sha256_hex(script->code_hash, out);
    } else if (is_lua && check_language_is_made(script->language)) {
        snprintf(out, SCENE_REF_VALUE_BYTES, SCENE_REF_MADE_FOLDER "%s.lua", script->path);
    } else {
        snprintf(out, SCENE_REF_VALUE_BYTES, "%s%s%s", script->in_soul ? SCRIPT_SOUL_FOLDER : "",
                 script->path, soul_language_ending(script->language));
    }
}

// Writes a new member in the layout of the one at `name`: on a line of its own if that has one, and
// with the same space after its colon.
static void print_member(const char *text, size_t name, bool spaced, SceneRefField field,
                         const char *value, Buffer *out)
{
    size_t line = name;
    while (line > 0 && (text[line - 1] == ' ' || text[line - 1] == '\t')) {
        line -= 1;
    }
    const bool own_line = line > 0 && text[line - 1] == '\n';
    const bool has_return = own_line && line > 1 && text[line - 2] == '\r';
    buffer_print(out, ",%s", own_line ? has_return ? "\r\n" : "\n" : spaced ? " " : "");
    if (own_line) {
        buffer_put(out, text + line, name - line);
    }
    buffer_print(out, "\"%s\":%s\"%s\"", field == SCENE_REF_NEW_HASH ? "codeHash" : "scriptPath",
                 spaced ? " " : "", value);
}

static bool read_edit(ByteReader *reader, uint32_t script_count, SceneRefEdit *out)
{
    out->at = byte_read_u32(reader);
    out->script = byte_read_u32(reader);
    const uint8_t field = byte_read_u8(reader);
    if (reader->status != STATUS_OK || out->script >= script_count ||
        field >= SCENE_REF_FIELD_COUNT) {
        return false;
    }
    out->field = (SceneRefField)field;
    return true;
}

Status scene_ref_apply(const char *text, size_t bytes, const SceneRefScript *scripts,
                       uint32_t script_count, const uint8_t *edits, size_t edit_bytes, Buffer *out,
                       bool *changed)
{
    ByteReader reader = byte_reader(edits, edit_bytes);
    size_t copied = 0, new_at = NEW_AT_NONE;
    while (reader.at < reader.size && out->status == STATUS_OK) {
        SceneRefEdit edit;
        size_t begin, end;
        if (!read_edit(&reader, script_count, &edit) ||
            !scene_ref_find_value(text, bytes, &edit, &begin, &end)) {
            return STATUS_MALFORMED;
        }
        const bool is_new = edit.field >= SCENE_REF_NEW_HASH;
        const size_t from = is_new ? end : begin;
        if (from < copied || from == new_at) {
            return STATUS_MALFORMED; // going back, or twice in one place
        }
        char value[SCENE_REF_VALUE_BYTES];
        scene_ref_value(&scripts[edit.script], edit.field, value);
        buffer_put(out, text + copied, from - copied);
        if (is_new) {
            print_member(text, edit.at, text[begin - 1] == ' ', edit.field, value, out);
            new_at = end;
        } else {
            buffer_print(out, "\"%s\"", value);
        }
        copied = end;
    }
    buffer_put(out, text + copied, bytes - copied);
    *changed = edit_bytes > 0;
    return out->status;
}

// See luau_inside.h. What is replaced in a source, in its order, so that one walk over both writes
// the Lua. A construct that begins before it is known what becomes of it leaves a hole there.
#include "core/base/check.h"
#include "core/script/luau/luau_inside.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define EDITS_FIRST 256u
#define NO_HOLE     UINT32_MAX

// Iterates what Luau's loops take: a function, a table, or what has __iter. An error names the line
// of the loop. All on the first line, so that lines stay.
#define ITERATION                                                                               \
    "local __luauiterate do local type, pairs, error, getmetatable, rawget = type, pairs, "     \
    "error, "                                                                                   \
    "getmetatable, rawget; function __luauiterate(a, ...) local kind = type(a) "                \
    "if kind == \"function\" then return a, ... end "                                           \
    "local meta = getmetatable(a) if type(meta) == \"table\" then "                             \
    "local iterate = rawget(meta, \"__iter\") if iterate ~= nil then return iterate(a) end "    \
    "if rawget(meta, \"__call\") ~= nil then return a, ... end "                                \
    "if rawget(meta, \"__pairs\") ~= nil then return pairs(a) end end "                         \
    "if kind ~= \"table\" then error(\"attempt to iterate over a \" .. kind .. \" value\", 2) " \
    "end "                                                                                      \
    "return pairs(a) end end "

// --- the list -----------------------------------------------------------------------------------

static bool grow(Luau *luau)
{
    const uint32_t wanted = luau->edit_max == 0 ? EDITS_FIRST : luau->edit_max * 2;
    if (wanted > LUAU_EDITS_MAX) {
        lex_fail(luau, luau->token.line,
                 "this script has too much of what Lua writes otherwise: cut it in two");
        return false;
    }
    Edit *edits = heap_alloc(luau->heap, heap_array_bytes(wanted, sizeof *edits));
    if (edits == NULL) {
        lex_fail(luau, luau->token.line, "out of memory");
        luau->status = STATUS_LIMIT;
        return false;
    }
    if (luau->edit_count > 0) {
        memcpy(edits, luau->edits, luau->edit_count * sizeof *edits);
    }
    heap_free(luau->heap, luau->edits);
    luau->edits = edits;
    luau->edit_max = wanted;
    return true;
}

void edit_add(Luau *luau, Edit edit)
{
    if (luau->mute > 0 || luau->status != STATUS_OK) {
        return;
    }
    if (luau->edit_count == luau->edit_max && !grow(luau)) {
        return;
    }
    ASSERT(luau->edit_count == 0 || luau->edits[luau->edit_count - 1].at <= edit.at);
    luau->edits[luau->edit_count++] = edit;
}

void edit_text(Luau *luau, uint32_t at, uint32_t cut, const char *text)
{
    edit_add(luau, (Edit){.at = at, .cut = cut, .text = text, .kind = EDIT_TEXT});
}

void edit_copy(Luau *luau, uint32_t at, Token token)
{
    edit_add(
        luau,
        (Edit){.at = at, .from = token.begin, .bytes = token.end - token.begin, .kind = EDIT_COPY});
}

void edit_blank(Luau *luau, uint32_t begin, uint32_t end)
{
    edit_add(luau, (Edit){.at = begin, .cut = end - begin, .kind = EDIT_BLANK});
}

uint32_t edit_hole(Luau *luau, uint32_t at)
{
    const uint32_t before = luau->edit_count;
    edit_add(luau, (Edit){.at = at, .kind = EDIT_NONE});
    return luau->edit_count > before ? before : NO_HOLE;
}

void edit_fill_named(Luau *luau, uint32_t hole, uint32_t cut, const char *text, Token name,
                     const char *tail)
{
    if (hole != NO_HOLE && luau->status == STATUS_OK) {
        luau->edits[hole] = (Edit){.at = luau->edits[hole].at,
                                   .cut = cut,
                                   .text = text,
                                   .from = name.begin,
                                   .bytes = name.end - name.begin,
                                   .tail = tail,
                                   .kind = EDIT_TEXT};
    }
}

void edit_fill(Luau *luau, uint32_t hole, uint32_t cut, const char *text)
{
    edit_fill_named(luau, hole, cut, text, (Token){0}, NULL);
}

void edit_drop(Luau *luau, uint32_t hole)
{
    if (hole != NO_HOLE && hole + 1 == luau->edit_count && luau->edits[hole].kind == EDIT_NONE) {
        luau->edit_count -= 1;
    }
}

// --- writing ------------------------------------------------------------------------------------

// Without a text it only counts.
typedef struct Writer {
    char *text;
    size_t bytes;
} Writer;

static void append(Writer *writer, const char *text, size_t bytes)
{
    if (writer->text != NULL && bytes > 0) {
        memcpy(writer->text + writer->bytes, text, bytes);
    }
    writer->bytes += bytes;
}

static void put_text(Writer *writer, const char *text)
{
    append(writer, text, strlen(text));
}

static bool is_break(char byte)
{
    return byte == '\n' || byte == '\r';
}

// How long the line break at `at` is; 0: there is none.
static uint32_t break_bytes(const char *text, uint32_t bytes, uint32_t at)
{
    if (!is_break(text[at])) {
        return 0;
    }
    return at + 1 < bytes && is_break(text[at + 1]) && text[at + 1] != text[at] ? 2 : 1;
}

// Spaces on both sides, so that neither words nor line breaks meet.
static void put_blank(Writer *writer, const char *text, uint32_t bytes)
{
    put_text(writer, " ");
    for (uint32_t at = 0; at < bytes;) {
        const uint32_t length = break_bytes(text, bytes, at);
        if (length > 0) {
            put_text(writer, "\n");
        }
        at += length > 0 ? length : 1;
    }
    put_text(writer, " ");
}

// Luau takes any character after a backslash, and a line break in a backtick string.
static void put_escaped(Writer *writer, const char *text, uint32_t bytes, bool is_piece)
{
    for (uint32_t at = 0; at < bytes;) {
        const char byte = text[at];
        const uint32_t length = break_bytes(text, bytes, at);
        if (byte == '\\' && at + 1 < bytes) {
            const char next = text[at + 1];
            const uint32_t next_break = break_bytes(text, bytes, at + 1);
            const bool is_known = (next >= '0' && next <= '9') ||
                                  (next != '\0' && strchr("abfnrtvxzu\\\"'\n\r", next) != NULL);
            append(writer, text + at + !is_known,
                   (size_t)is_known + (next_break > 0 ? next_break : 1));
            at += 1 + (next_break > 0 ? next_break : 1);
            while (next == 'z' && at < bytes && strchr(" \t\v\f\r\n", text[at]) != NULL &&
                   text[at] != '\0') {
                append(writer, text + at++, 1);
            }
        } else if (length > 0) {
            put_text(writer, "\\");
            append(writer, text + at, length);
            at += length;
        } else {
            put_text(writer, is_piece && byte == '"' ? "\\" : "");
            append(writer, text + at++, 1);
        }
    }
}

static void put_number(Writer *writer, const char *text, uint32_t bytes)
{
    if (bytes > 1 && (text[1] == 'b' || text[1] == 'B')) {
        uint64_t value = 0;
        char decimal[24];
        for (uint32_t i = 2; i < bytes; i++) {
            value = text[i] == '_' ? value : value * 2 + (uint64_t)(text[i] == '1');
        }
        (void)snprintf(decimal, sizeof decimal, "%" PRIu64, value);
        put_text(writer, decimal);
        return;
    }
    for (uint32_t i = 0; i < bytes; i++) {
        append(writer, text + i, text[i] != '_');
    }
}

static void put_format(Writer *writer, uint32_t count)
{
    put_text(writer, "(\"");
    for (uint32_t i = 0; i < count; i++) {
        put_text(writer, "%s");
    }
    put_text(writer, count == 0 ? "" : "\"):format(\"");
}

static void put_edit(Writer *writer, const Luau *luau, const Edit *edit)
{
    const char *cut = luau->source + edit->at;
    switch (edit->kind) {
    case EDIT_NONE:
        break;
    case EDIT_TEXT:
        put_text(writer, edit->text);
        append(writer, luau->source + edit->from, edit->bytes);
        put_text(writer, edit->tail != NULL ? edit->tail : "");
        break;
    case EDIT_COPY:
        append(writer, luau->source + edit->from, edit->bytes);
        break;
    case EDIT_BLANK:
        put_blank(writer, cut, edit->cut);
        break;
    case EDIT_PIECE:
        put_escaped(writer, cut, edit->cut, true);
        break;
    case EDIT_STRING:
        put_escaped(writer, cut, edit->cut, false);
        break;
    case EDIT_NUMBER:
        put_number(writer, cut, edit->cut);
        break;
    case EDIT_FORMAT:
        put_format(writer, edit->from);
        break;
    }
}

static void write_all(const Luau *luau, Writer *writer)
{
    uint32_t at = 0;
    put_text(writer, luau->has_iteration ? ITERATION : "");
    for (uint32_t i = 0; i < luau->edit_count; i++) {
        const Edit *edit = &luau->edits[i];
        ASSERT(at <= edit->at && edit->cut <= luau->bytes - edit->at);
        append(writer, luau->source + at, edit->at - at);
        put_edit(writer, luau, edit);
        at = edit->at + edit->cut;
    }
    append(writer, luau->source + at, luau->bytes - at);
}

Status edit_write(Luau *luau)
{
    Writer writer = {0};
    write_all(luau, &writer);
    const size_t bytes = writer.bytes;
    writer = (Writer){.text = heap_alloc(luau->heap, bytes + 1)};
    if (writer.text == NULL) {
        return STATUS_LIMIT;
    }
    write_all(luau, &writer);
    ASSERT(writer.bytes == bytes);
    luau->out->lua = writer.text;
    luau->out->lua_bytes = bytes;
    return STATUS_OK;
}

// Reads what a language model's server answered; see op_model_answer.h.
#define _GNU_SOURCE
#include "server/build/inside/op_model_answer.h"

#include "core/base/check.h"
#include "core/base/json.h"
#include "core/base/json_read.h"
#include "core/base/utf8.h"
#include "server/build/inside/worker_op.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NODES_MAX  4096
#define NODE_BYTES 256 // generous: a node and the padding of its strings
#define DEPTH_MAX  16

// --- the answer ---------------------------------------------------------------------------------

static void take_words(const JsonNode *node, Buffer *out)
{
    if (node != NULL && node->kind == JSON_STRING) {
        buffer_put(out, node->text, node->count);
    }
}

static ModelStop stop_of(const JsonNode *node)
{
    const bool is_text = node != NULL && node->kind == JSON_STRING;
    return is_text && json_text_equal(node, "refusal")      ? STOP_REFUSAL
           : is_text && json_text_equal(node, "max_tokens") ? STOP_MAX_TOKENS
                                                            : STOP_DONE;
}

static Status take_content(const JsonNode *content, ModelAnswer *out)
{
    if (content == NULL || content->kind != JSON_ARRAY) {
        return STATUS_MALFORMED;
    }
    for (const JsonNode *item = content->first; item != NULL; item = item->next) {
        const JsonNode *type = json_find(item, "type");
        const JsonNode *text = json_find(item, "text");
        if (type == NULL || type->kind != JSON_STRING) {
            return STATUS_MALFORMED;
        }
        if (!json_text_equal(type, "text")) {
            continue; // thinking, and kinds that do not exist yet
        }
        if (text == NULL || text->kind != JSON_STRING) {
            return STATUS_MALFORMED;
        }
        buffer_put(&out->text, text->text, text->count);
    }
    return out->text.status;
}

static Status take_error(const JsonNode *root, ModelAnswer *out)
{
    const JsonNode *error = json_find(root, "error");
    if (error == NULL || error->kind != JSON_OBJECT) {
        return STATUS_MALFORMED;
    }
    take_words(json_find(error, "type"), &out->error_type);
    take_words(json_find(error, "message"), &out->error_message);
    return out->error_type.bytes > 0 ? STATUS_OK : STATUS_MALFORMED;
}

static Status take_root(const JsonNode *root, ModelAnswer *out)
{
    const JsonNode *type = json_find(root, "type");
    if (type == NULL || type->kind != JSON_STRING) {
        return STATUS_MALFORMED;
    }
    if (json_text_equal(type, "error")) {
        return take_error(root, out);
    }
    if (!json_text_equal(type, "message")) {
        return STATUS_MALFORMED;
    }
    out->stop = stop_of(json_find(root, "stop_reason"));
    return take_content(json_find(root, "content"), out);
}

Status model_answer_read(const uint8_t *bytes, size_t count, ModelAnswer *out)
{
    *out = model_answer_empty();
    if (count > MODEL_REPLY_BYTES_MAX) {
        return STATUS_LIMIT;
    }
    const size_t room = (size_t)NODES_MAX * NODE_BYTES + 2 * count + 4096;
    void *block = malloc(room);
    if (block == NULL) {
        return STATUS_LIMIT;
    }
    Arena arena;
    arena_init(&arena, block, room);
    JsonConfig config = json_config_default(&arena);
    config.node_count_max = NODES_MAX;
    config.depth_max = DEPTH_MAX;
    const JsonNode *root = NULL;
    Status status = json_parse(&config, (const char *)bytes, count, &root, NULL);
    if (status == STATUS_OK) {
        status = take_root(root, out);
    } else if (status != STATUS_LIMIT) {
        status = STATUS_MALFORMED;
    }
    free(block);
    return status;
}

// --- inside: the Lua in it ----------------------------------------------------------------------

typedef struct Line {
    const char *text;
    size_t bytes; // without its end
    const char *next;
} Line;

static Line line_at(const char *text, const char *end)
{
    const char *stop = memchr(text, '\n', (size_t)(end - text));
    Line line = {text, (size_t)((stop != NULL ? stop : end) - text), stop != NULL ? stop + 1 : end};
    if (line.bytes > 0 && text[line.bytes - 1] == '\r') {
        line.bytes -= 1;
    }
    return line;
}

// The number of backticks of a fence; 0: it is not one. What follows them is in *info.
static size_t fence_of(Line line, Line *info)
{
    size_t at = 0, ticks = 0;
    while (at < line.bytes && at < 3 && line.text[at] == ' ') {
        at += 1;
    }
    while (at + ticks < line.bytes && line.text[at + ticks] == '`') {
        ticks += 1;
    }
    if (ticks < 3) {
        return 0;
    }
    info->text = line.text + at + ticks;
    info->bytes = line.bytes - at - ticks;
    while (info->bytes > 0 && info->text[info->bytes - 1] == ' ') {
        info->bytes -= 1;
    }
    return memchr(info->text, '`', info->bytes) == NULL ? ticks : 0;
}

typedef struct Blocks {
    const char *begin, *end; // of the first one
    uint32_t count;
    bool is_unclosed;
} Blocks;

static Blocks find_blocks(const char *text, const char *end)
{
    Blocks blocks = {0};
    size_t open_ticks = 0;
    while (text < end) {
        const Line line = line_at(text, end);
        Line info = {0};
        const size_t ticks = fence_of(line, &info);
        if (open_ticks == 0 && ticks > 0) {
            open_ticks = ticks;
            blocks.count += 1;
            if (blocks.count == 1) {
                blocks.begin = line.next;
                blocks.end = end;
            }
        } else if (open_ticks > 0 && ticks >= open_ticks && info.bytes == 0) {
            open_ticks = 0;
            if (blocks.count == 1) {
                blocks.end = line.text;
            }
        }
        text = line.next;
    }
    blocks.is_unclosed = open_ticks > 0;
    return blocks;
}

static bool is_name(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

// Whether text without a fence begins like Lua: a comment, a keyword that begins a statement, or a
// name followed by a call, an index or an assignment.
static bool begins_like_lua(const char *text, const char *end)
{
    static const char *const words[] = {"local", "function", "return", "if",
                                        "for",   "while",    "do",     "repeat"};
    while (text < end && strchr(" \t\r\n", *text) != NULL && *text != '\0') {
        text += 1;
    }
    if (end - text >= 2 && memcmp(text, "--", 2) == 0) {
        return true;
    }
    const char *at = text;
    while (at < end && is_name(*at)) {
        at += 1;
    }
    const size_t bytes = (size_t)(at - text);
    const char next = at < end ? *at : '\0', after = end - at > 1 ? at[1] : '\0';
    if (bytes == 0 || (next == '.' || next == ':' ? !is_name(after) : false)) {
        return false;
    }
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        if (strlen(words[i]) == bytes && memcmp(words[i], text, bytes) == 0) {
            return true;
        }
    }
    return next == '(' || next == '.' || next == ':' || next == '[' || next == '=' ||
           (next == ' ' && after == '=');
}

static LuaFound take_lua(const char *text, const char *end, Buffer *out)
{
    Buffer lua = buffer_of(SOUL_LUA_BYTES_MAX);
    LuaFound found = LUA_FOUND;
    for (const char *at = text; at < end && found == LUA_FOUND; at++) {
        if (model_text_is_hidden((const uint8_t *)at, (size_t)(end - at))) {
            found = LUA_HIDDEN;
        } else if (*at != '\r') {
            buffer_put_u8(&lua, (uint8_t)*at);
        }
    }
    if (found == LUA_FOUND && lua.bytes > 0 && lua.data[lua.bytes - 1] != '\n') {
        buffer_put_u8(&lua, '\n');
    }
    if (found == LUA_FOUND) {
        found = lua.status != STATUS_OK ? LUA_TOO_LARGE : lua.bytes == 0 ? LUA_NONE : LUA_FOUND;
    }
    if (found != LUA_FOUND) {
        buffer_free(&lua);
        return found;
    }
    *out = lua;
    return LUA_FOUND;
}

static bool is_blank(const char *text, const char *end)
{
    for (; text < end; text++) {
        if (*text != ' ' && *text != '\t' && *text != '\r' && *text != '\n') {
            return false;
        }
    }
    return true;
}

LuaFound model_answer_lua(const char *text, size_t bytes, Buffer *out)
{
    if (bytes == 0 || !utf8_is_valid(text, bytes)) {
        return bytes == 0 ? LUA_NONE : LUA_HIDDEN;
    }
    const char *end = text + bytes;
    const Blocks blocks = find_blocks(text, end);
    if (blocks.count > 1) {
        return LUA_SEVERAL;
    }
    if (blocks.is_unclosed) {
        return LUA_UNCLOSED;
    }
    if (blocks.count == 1) {
        return is_blank(blocks.begin, blocks.end) ? LUA_NONE
                                                  : take_lua(blocks.begin, blocks.end, out);
    }
    return begins_like_lua(text, end) ? take_lua(text, end, out) : LUA_NONE;
}

static void put_buffer(Buffer *reply, const Buffer *part)
{
    buffer_put_block(reply, part->data, part->bytes);
}

Status worker_model_answer(WorkerCall *call)
{
    ModelAnswer answer;
    const size_t bytes = byte_reader_left(&call->request);
    const uint8_t *body = byte_read_bytes(&call->request, bytes);
    const Status status = model_answer_read(body, bytes, &answer);
    if (status == STATUS_OK) {
        const char *text = answer.text.data != NULL ? (const char *)answer.text.data : "";
        answer.found = model_answer_lua(text, answer.text.bytes, &answer.lua);
        buffer_put_u8(&call->reply, (uint8_t)answer.stop);
        put_buffer(&call->reply, &answer.error_type);
        put_buffer(&call->reply, &answer.error_message);
        put_buffer(&call->reply, &answer.text);
        buffer_put_u8(&call->reply, (uint8_t)answer.found);
        put_buffer(&call->reply, &answer.lua);
    }
    model_answer_free(&answer);
    return status == STATUS_OK ? status : worker_refuse(call, status, status_text(status));
}

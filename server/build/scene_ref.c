// See scene_ref.h: the edits, and the worker's side of them. The tree says where values are, the
// text is copied around them. Everything goes forward through the file once: nodes are visited in
// the order of the text, so one cursor finds all of them, however long a line is.
#include "server/build/scene_ref.h"

#include "core/base/check.h"
#include "core/base/json_read.h"
#include "core/base/limits.h"
#include "core/base/sha256.h"
#include "core/wire/script_path.h"
#include "server/build/worker_op.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define VALUE_BYTES   (SCRIPT_PATH_BYTES + 48) // the longest text that is put in
#define STRING_BYTES  48                       // what a short text takes of the arena, rounded up
#define NODES_PER_KEY 2                        // a member has a name and a value

typedef struct Edit {
    const char *text;
    size_t bytes;
    size_t copied; // so far
    Buffer *out;
    bool changed;

    size_t at; // the cursor, and its place
    uint32_t line, column;

    const SceneRefScript *scripts;
    uint32_t script_count;
} Edit;

// --- places in the text -------------------------------------------------------------------------

// The byte at which a node begins. Nodes must be asked for in the order of the text.
static size_t seek(Edit *edit, const JsonNode *node)
{
    while (edit->at < edit->bytes && (edit->line < node->line || edit->column < node->column)) {
        const char byte = edit->text[edit->at++];
        if (byte == '\n') {
            edit->line += 1;
            edit->column = 1;
            continue;
        }
        while (edit->at < edit->bytes && ((uint8_t)edit->text[edit->at] & 0xc0) == 0x80) {
            edit->at += 1; // columns count characters
        }
        edit->column += 1;
    }
    return edit->at;
}

// Behind the string that begins here; the text is known to be JSON.
static size_t string_end(const Edit *edit, size_t at)
{
    ASSERT(edit->text[at] == '"');
    for (at += 1; at < edit->bytes && edit->text[at] != '"'; at++) {
        at += edit->text[at] == '\\';
    }
    return at + 1;
}

// Behind the object that begins here.
static size_t object_end(const Edit *edit, size_t at)
{
    ASSERT(edit->text[at] == '{');
    for (uint32_t depth = 0; at < edit->bytes;) {
        const char byte = edit->text[at];
        if (byte == '"') {
            at = string_end(edit, at);
            continue;
        }
        depth += byte == '{' || byte == '[';
        depth -= byte == '}' || byte == ']';
        at += 1;
        if (depth == 0) {
            break;
        }
    }
    return at;
}

// Where the name of the member begins whose value is here. The name is one of ours, so it has no
// quote inside, however it is escaped.
static size_t name_begin(const Edit *edit, size_t value)
{
    while (edit->text[value] != ':') {
        value -= 1;
    }
    while (edit->text[value] != '"') {
        value -= 1;
    }
    do {
        value -= 1;
    } while (edit->text[value] != '"');
    return value;
}

// --- what is put in -----------------------------------------------------------------------------

static void replace(Edit *edit, size_t begin, size_t end, const char *text)
{
    ASSERT(begin >= edit->copied);
    buffer_put(edit->out, edit->text + edit->copied, begin - edit->copied);
    buffer_print(edit->out, "\"%s\"", text);
    edit->copied = end;
    edit->changed = true;
}

// A new member behind `end`, in the manner of the one whose value begins at `like`: on a line of
// its own if that has one, and with the same space behind its colon.
static void add_member(Edit *edit, size_t like, size_t end, const char *name, const char *text)
{
    const size_t begin = name_begin(edit, like);
    size_t line = begin;
    while (line > 0 && (edit->text[line - 1] == ' ' || edit->text[line - 1] == '\t')) {
        line -= 1;
    }
    const bool own_line = line > 0 && edit->text[line - 1] == '\n';
    const bool has_return = own_line && line > 1 && edit->text[line - 2] == '\r';
    const bool spaced = edit->text[like - 1] == ' ';
    ASSERT(end >= edit->copied);
    buffer_put(edit->out, edit->text + edit->copied, end - edit->copied);
    edit->copied = end;
    buffer_print(edit->out, ",%s", own_line ? has_return ? "\r\n" : "\n" : spaced ? " " : "");
    if (own_line) {
        buffer_put(edit->out, edit->text + line, begin - line);
    }
    buffer_print(edit->out, "\"%s\":%s\"%s\"", name, spaced ? " " : "", text);
    edit->changed = true;
}

// --- one entity ---------------------------------------------------------------------------------

static const char *const endings[] = {".lua", ".ts", ".soul"};

static const SceneRefScript *find_script(const Edit *edit, const JsonNode *path)
{
    const ScriptPath plain = script_path_trim(path->text, path->count);
    uint32_t low = 0, high = edit->script_count;
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        const SceneRefScript *script = &edit->scripts[middle];
        const size_t bytes = strlen(script->path);
        const size_t common = bytes < plain.bytes ? bytes : plain.bytes;
        int order = memcmp(script->path, plain.data, common);
        order = order != 0 ? order : (bytes > plain.bytes) - (bytes < plain.bytes);
        if (order == 0) {
            return script;
        }
        low = order < 0 ? middle + 1 : low;
        high = order < 0 ? high : middle;
    }
    return NULL;
}

// No script has such a name; one that had could not be written without escapes.
static bool is_plain(const char *path)
{
    for (; *path != '\0'; path++) {
        if ((uint8_t)*path < 0x20 || *path == '"' || *path == '\\') {
            return false;
        }
    }
    return true;
}

// What the three values should be.
typedef struct Wanted {
    char path[VALUE_BYTES], hash[2 * SHA256_BYTES + 1], lua[VALUE_BYTES];
} Wanted;

static Wanted wanted_of(const SceneRefScript *script, const JsonNode *path)
{
    static const char soul[] = "SoulService/";
    const bool in_soul =
        path->count > sizeof soul && memcmp(path->text, soul, sizeof soul - 1) == 0;
    Wanted wanted;
    snprintf(wanted.path, sizeof wanted.path, "%s%s%s", in_soul ? soul : "", script->path,
             endings[script->language]);
    if (script->language == SOUL_LUA) {
        memcpy(wanted.lua, wanted.path, sizeof wanted.lua);
    } else {
        snprintf(wanted.lua, sizeof wanted.lua, SCENE_REF_MADE_FOLDER "%s.lua", script->path);
    }
    sha256_hex(script->code_hash, wanted.hash);
    return wanted;
}

static bool is_text(const JsonNode *node)
{
    return node != NULL && node->kind == JSON_STRING;
}

static void set_text(Edit *edit, const JsonNode *node, const char *text)
{
    const size_t begin = seek(edit, node);
    if (!json_text_equal(node, text)) {
        replace(edit, begin, string_end(edit, begin), text);
    }
}

static void edit_ref(Edit *edit, const JsonNode *ref, const Wanted *wanted, bool has_lua)
{
    const size_t begin = seek(edit, ref);
    const size_t end = object_end(edit, begin);
    const bool has_hash = json_find(ref, "codeHash") != NULL;
    for (const JsonNode *member = ref->first; member != NULL; member = member->next) {
        if (strcmp(member->name, "path") == 0) {
            const size_t value = seek(edit, member);
            set_text(edit, member, wanted->path);
            if (!has_hash) {
                add_member(edit, value, string_end(edit, value), "codeHash", wanted->hash);
            }
        } else if (strcmp(member->name, "codeHash") == 0) {
            set_text(edit, member, wanted->hash);
        }
    }
    if (!has_lua) {
        add_member(edit, begin, end, "scriptPath", wanted->lua);
    }
}

static void edit_entity(Edit *edit, const JsonNode *entity)
{
    const JsonNode *ref = json_find(entity, "scriptRef");
    const JsonNode *path = json_find(ref, "path");
    const JsonNode *hash = json_find(ref, "codeHash");
    const JsonNode *lua = json_find(entity, "scriptPath");
    if (!is_text(path) || (hash != NULL && !is_text(hash)) || (lua != NULL && !is_text(lua))) {
        return;
    }
    const SceneRefScript *script = find_script(edit, path);
    if (script == NULL || !is_plain(script->path)) {
        return;
    }
    const Wanted wanted = wanted_of(script, path);
    for (const JsonNode *member = entity->first; member != NULL; member = member->next) {
        if (member == ref) {
            edit_ref(edit, ref, &wanted, lua != NULL);
        } else if (member == lua) {
            set_text(edit, lua, wanted.lua);
        }
    }
}

// --- a file -------------------------------------------------------------------------------------

static void edit_all(Edit *edit, const JsonNode *root, SceneRefKind kind)
{
    if (kind == SCENE_REF_PREFAB) {
        edit_entity(edit, root);
        return;
    }
    const JsonNode *entities = json_find(root, "entities");
    if (entities == NULL || entities->kind != JSON_ARRAY) {
        return;
    }
    for (const JsonNode *entity = entities->first; entity != NULL; entity = entity->next) {
        edit_entity(edit, entity);
    }
}

// A value has at least one byte and a comma; each may have a name and a text.
static size_t tree_bytes(size_t bytes)
{
    const size_t values = bytes / 2 + 2;
    const size_t count = values < JSON_NODES_MAX ? values : JSON_NODES_MAX;
    return count * (arena_need(sizeof(JsonNode)) + NODES_PER_KEY * STRING_BYTES) + bytes;
}

Status scene_ref_edit(const char *text, size_t bytes, SceneRefKind kind,
                      const SceneRefScript *scripts, uint32_t script_count, Buffer *out,
                      bool *changed)
{
    if (bytes > JSON_BYTES_MAX) {
        return STATUS_LIMIT;
    }
    const size_t capacity = tree_bytes(bytes);
    void *block = calloc(1, capacity); // what is not touched takes no memory
    if (block == NULL) {
        return STATUS_LIMIT;
    }
    Arena arena;
    arena_init_zeroed(&arena, block, capacity);
    const JsonConfig config = json_config_default(&arena);
    const JsonNode *root = NULL;
    Status status = json_parse(&config, text, bytes, &root, NULL);
    if (status == STATUS_OK) {
        Edit edit = {.text = text,
                     .bytes = bytes,
                     .out = out,
                     .line = 1,
                     .column = 1,
                     .scripts = scripts,
                     .script_count = script_count};
        edit_all(&edit, root, kind);
        buffer_put(out, text + edit.copied, bytes - edit.copied);
        *changed = edit.changed;
        status = out->status;
    }
    free(block);
    return status;
}

// --- in the worker ------------------------------------------------------------------------------

// Request: u32 kind, u32 scripts, for each block path, u32 language, 32 bytes; block text.
// Reply: u8 changed, the text.
static bool read_script(ByteReader *reader, SceneRefScript *out, char path[SCRIPT_PATH_BYTES])
{
    size_t bytes;
    const uint8_t *text = byte_read_block(reader, &bytes);
    const uint32_t language = byte_read_u32(reader);
    const uint8_t *hash = byte_read_bytes(reader, SHA256_BYTES);
    if (text == NULL || bytes >= SCRIPT_PATH_BYTES || hash == NULL || language > SOUL_PLAIN) {
        return false;
    }
    memcpy(path, text, bytes);
    path[bytes] = '\0';
    *out = (SceneRefScript){.path = path, .language = (SoulLanguage)language};
    memcpy(out->code_hash, hash, SHA256_BYTES);
    return true;
}

typedef struct Scripts {
    SceneRefScript scripts[SOULS_MAX];
    char paths[SOULS_MAX][SCRIPT_PATH_BYTES];
} Scripts;

static Status edit_request(WorkerCall *call, Scripts *scripts)
{
    ByteReader *reader = &call->request;
    const uint32_t kind = byte_read_u32(reader);
    const uint32_t count = byte_read_u32(reader);
    if (kind > SCENE_REF_PREFAB || count > SOULS_MAX) {
        return STATUS_MALFORMED;
    }
    for (uint32_t i = 0; i < count; i++) {
        if (!read_script(reader, &scripts->scripts[i], scripts->paths[i])) {
            return STATUS_MALFORMED;
        }
    }
    size_t bytes;
    const uint8_t *text = byte_read_block(reader, &bytes);
    if (text == NULL || byte_reader_finish(reader) != STATUS_OK) {
        return STATUS_MALFORMED;
    }
    bool changed = false;
    const size_t at = call->reply.bytes;
    buffer_put_u8(&call->reply, 0);
    const Status status = scene_ref_edit((const char *)text, bytes, (SceneRefKind)kind,
                                         scripts->scripts, count, &call->reply, &changed);
    if (status == STATUS_OK) {
        call->reply.data[at] = changed;
    }
    return status;
}

Status worker_scene_ref(WorkerCall *call)
{
    Scripts *scripts = calloc(1, sizeof *scripts);
    const Status status = scripts == NULL ? STATUS_LIMIT : edit_request(call, scripts);
    free(scripts);
    if (status != STATUS_OK) {
        snprintf(call->reason, sizeof call->reason, "script references: %s", status_text(status));
    }
    return status;
}

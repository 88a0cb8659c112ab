// Errors of JSON: what went wrong, and the path of where.
#include "core/base/json_error.h"

#include "core/base/check.h"
#include "core/base/utf8.h"

#include <stdio.h>
#include <string.h>

// A path is written from its end, because the end is most useful: if it is too long, the part after
// the $ is left out.
typedef struct PathWriter {
    char text[JSON_PATH_BYTES];
    size_t at; // the first used byte
} PathWriter;

#define PATH_CUT       "$\xe2\x80\xa6"
#define PATH_PART_MAX  48 // of one name, in bytes
#define PATH_CUT_BYTES (sizeof PATH_CUT - 1)

static bool path_prepend(PathWriter *path, const char *part, size_t bytes)
{
    if (bytes + PATH_CUT_BYTES > path->at) {
        return false;
    }
    path->at -= bytes;
    memcpy(path->text + path->at, part, bytes);
    return true;
}

static bool is_identifier(const char *name, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++) {
        const char c = name[i];
        const bool is_letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
        if (!is_letter && !(i > 0 && c >= '0' && c <= '9')) {
            return false;
        }
    }
    return bytes > 0;
}

// .name, or ["any name"] with confusing characters replaced.
static bool path_prepend_name(PathWriter *path, const char *name, size_t name_bytes)
{
    char part[PATH_PART_MAX + 16];
    const size_t kept = utf8_cut(name, name_bytes, PATH_PART_MAX);
    const char *rest = kept < name_bytes ? "\xe2\x80\xa6" : "";
    if (is_identifier(name, name_bytes)) {
        const int bytes = snprintf(part, sizeof part, ".%.*s%s", (int)kept, name, rest);
        return path_prepend(path, part, (size_t)bytes);
    }
    char shown[PATH_PART_MAX + 1] = {0};
    for (size_t i = 0; i < kept; i++) {
        const bool is_plain = (uint8_t)name[i] >= 0x20 && name[i] != '"' && name[i] != 0x7f;
        shown[i] = is_plain ? name[i] : '?';
    }
    const int bytes = snprintf(part, sizeof part, "[\"%s%s\"]", shown, rest);
    return path_prepend(path, part, (size_t)bytes);
}

static bool path_prepend_index(PathWriter *path, uint32_t index)
{
    char part[16];
    const int bytes = snprintf(part, sizeof part, "[%u]", (unsigned)index);
    return path_prepend(path, part, (size_t)bytes);
}

// Prepends the steps from the root down to the node, and finishes the path.
static void path_finish(PathWriter *path, const JsonNode *node, bool fits,
                        char out[JSON_PATH_BYTES])
{
    for (; fits && node != NULL && node->parent != NULL; node = node->parent) {
        fits = node->name != NULL ? path_prepend_name(path, node->name, node->name_bytes)
                                  : path_prepend_index(path, node->index);
    }
    const char *head = fits ? "$" : PATH_CUT;
    const size_t head_bytes = strlen(head);
    ASSERT(path->at >= head_bytes);
    path->at -= head_bytes;
    memcpy(path->text + path->at, head, head_bytes);
    memcpy(out, path->text + path->at, JSON_PATH_BYTES - path->at);
}

static void set_path(const JsonPlace *place, char out[JSON_PATH_BYTES])
{
    PathWriter path = {.at = JSON_PATH_BYTES - 1};
    bool fits = true;
    if (place->name != NULL) {
        fits = path_prepend_name(&path, place->name, place->name_bytes);
    } else if (place->is_item) {
        fits = path_prepend_index(&path, place->parent->count);
    }
    path_finish(&path, place->parent, fits, out);
}

static void set_message(JsonError *error, const char *format, va_list arguments)
{
    // One byte more than is kept, so that the cut sees whether it would split a character.
    char text[JSON_MESSAGE_BYTES + 1];
    const int length = vsnprintf(text, sizeof text, format, arguments);
    if (length > 0) {
        const size_t bytes = length < JSON_MESSAGE_BYTES ? (size_t)length : JSON_MESSAGE_BYTES;
        memcpy(error->message, text, utf8_cut(text, bytes, JSON_MESSAGE_BYTES - 1));
    }
}

void json_fail_at(JsonError *error, Status status, const JsonPlace *place, const char *format,
                  va_list arguments)
{
    ASSERT(status != STATUS_OK);
    if (error->status != STATUS_OK) {
        return;
    }
    *error = (JsonError){.status = status, .line = place->line, .column = place->column};
    set_path(place, error->path);
    set_message(error, format, arguments);
}

void json_fail(JsonError *error, Status status, const JsonNode *node, const char *format, ...)
{
    // A finished node is its own place: the path goes from it up.
    const JsonPlace place = {.parent = node, .line = node->line, .column = node->column};
    va_list arguments;
    va_start(arguments, format);
    json_fail_at(error, status, &place, format, arguments);
    va_end(arguments);
}

void json_fail_member(JsonError *error, Status status, const JsonNode *node, const char *name,
                      const char *format, ...)
{
    const JsonPlace place = {.parent = node,
                             .name = name,
                             .name_bytes = (uint32_t)strlen(name),
                             .line = node->line,
                             .column = node->column};
    va_list arguments;
    va_start(arguments, format);
    json_fail_at(error, status, &place, format, arguments);
    va_end(arguments);
}

const char *json_kind_text(JsonKind kind)
{
    static const char *const texts[JSON_KIND_COUNT] = {"null",     "true or false", "a number",
                                                       "a string", "an array",      "an object"};
    return (unsigned)kind < JSON_KIND_COUNT ? texts[kind] : "?";
}

void json_error_words(const JsonError *error, char text[JSON_ERROR_TEXT_BYTES])
{
    const bool is_whole = strcmp(error->path, "$") == 0;
    (void)snprintf(text, JSON_ERROR_TEXT_BYTES, "%s%s%s", is_whole ? "" : error->path,
                   is_whole || error->path[0] == '\0' ? "" : " ", error->message);
}

void json_error_text(const JsonError *error, char text[JSON_ERROR_TEXT_BYTES])
{
    if (error->status == STATUS_OK) {
        (void)snprintf(text, JSON_ERROR_TEXT_BYTES, "%s", status_text(STATUS_OK));
        return;
    }
    char words[JSON_ERROR_TEXT_BYTES];
    json_error_words(error, words);
    (void)snprintf(text, JSON_ERROR_TEXT_BYTES, "line %u, column %u: %.*s", (unsigned)error->line,
                   (unsigned)error->column, JSON_PATH_BYTES + JSON_MESSAGE_BYTES, words);
}

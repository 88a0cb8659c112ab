// JSON (RFC 8259) read into a tree in an arena that the caller owns. The text may come from anyone:
// bytes, nodes and depth are bounded, nothing recurses, and a text is refused for everything the
// grammar does not allow, and also for invalid UTF-8, lone surrogates, a member that appears twice,
// and a number that no double can hold. A byte order mark at the begin is skipped. Why own code:
// docs/decisions/0010.
//
// An error says where: line, column, and the path of the value, as in $.entities[3].half[1]. Typed
// reads of a tree (json_read.h) report in the same way, so a loader has one kind of error.
#pragma once

#include "core/base/arena.h"
#include "core/base/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define JSON_PATH_BYTES    160
#define JSON_MESSAGE_BYTES 128
#define JSON_MARK          "\xef\xbb\xbf"

typedef enum JsonKind {
    JSON_NULL,
    JSON_BOOL,
    JSON_NUMBER,
    JSON_STRING,
    JSON_ARRAY,
    JSON_OBJECT,
    JSON_KIND_COUNT
} JsonKind;

typedef struct JsonNode JsonNode;

// Read only. What a field means depends on the kind; a field of another kind must not be read.
struct JsonNode {
    uint8_t kind;    // JsonKind
    bool boolean;    // JSON_BOOL
    bool is_integer; // JSON_NUMBER: whole, and an int64_t can hold it
    uint32_t count;  // JSON_STRING: bytes; JSON_ARRAY and JSON_OBJECT: children
    union {
        uint32_t index;   // of an item: its place in the array, from 0
        uint32_t name_at; // of a member: the byte of the text where its name begins, at the quote
    };
    uint32_t line; // where its text begins, from 1; columns count characters
    uint32_t column;
    uint32_t name_bytes;
    const char *name;       // of a member, terminated; NULL for anything else
    const JsonNode *parent; // NULL for the root
    const JsonNode *next;   // the next sibling, or NULL
    union {
        struct {
            double number;   // finite
            int64_t integer; // exactly the text, or the double if it has a point or an exponent
        };
        const char *text; // UTF-8, terminated; may hold zero bytes
        struct {
            const JsonNode *first; // child, in the order of the text
            JsonNode *last;        // for the reader, while it builds the tree
        };
    };
};

// The first thing that went wrong; all zero while nothing has.
typedef struct JsonError {
    Status status;
    uint32_t line;
    uint32_t column;
    char path[JSON_PATH_BYTES];
    char message[JSON_MESSAGE_BYTES]; // follows the path: "must be a number"
} JsonError;

typedef struct JsonConfig {
    Arena *arena;            // takes the tree: about 64 bytes a value and the strings
    size_t bytes_max;        // at most JSON_BYTES_MAX
    uint32_t node_count_max; // at most JSON_NODES_MAX
    uint32_t depth_max;      // arrays and objects inside each other, at most JSON_DEPTH_MAX
} JsonConfig;

// The maxima of limits.h.
JsonConfig json_config_default(Arena *arena);

// Gives the root of the tree. On failure the error (which may be NULL) is filled and the arena is
// as it was. STATUS_MALFORMED, STATUS_TRUNCATED, STATUS_RANGE for a number too large, STATUS_LIMIT.
MUST_USE Status json_parse(const JsonConfig *config, const char *text, size_t bytes,
                           const JsonNode **root, JsonError *error);

// "a string" and the like, for messages.
const char *json_kind_text(JsonKind kind);

// Records a failure at a node, unless one was recorded before. The message follows the path.
void json_fail(JsonError *error, Status status, const JsonNode *node, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
// The same at a member of the node that does not exist.
void json_fail_member(JsonError *error, Status status, const JsonNode *node, const char *name,
                      const char *format, ...) __attribute__((format(printf, 5, 6)));

#define JSON_ERROR_TEXT_BYTES (JSON_PATH_BYTES + JSON_MESSAGE_BYTES + 48)
// "$.entities[3].half[1] must be a number", for people; without the path if it is the whole text.
void json_error_words(const JsonError *error, char text[JSON_ERROR_TEXT_BYTES]);
// "line 3, column 14: $.entities[3].half[1] must be a number".
void json_error_text(const JsonError *error, char text[JSON_ERROR_TEXT_BYTES]);

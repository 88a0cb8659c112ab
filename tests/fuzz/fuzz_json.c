// JSON: everything that parses is written, compact and indented, and parsed again to the same tree.
// With small limits it also parses or fails, without touching a byte outside its arena.
#include "core/base/check.h"
#include "core/base/json.h"
#include "core/base/json_read.h"
#include "core/base/json_write.h"
#include "core/base/limits.h"

#include <stdlib.h>
#include <string.h>

#define INPUT_BYTES_MAX (1 << 16)
#define ARENA_BYTES     (16u << 20)
#define TEXT_BYTES      (8u << 20)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

typedef struct Memory {
    void *first;
    void *second;
    char *text;
} Memory;

static const Memory *memory(void)
{
    static Memory blocks;
    if (blocks.first == NULL) {
        blocks = (Memory){aligned_alloc(16, ARENA_BYTES), aligned_alloc(16, ARENA_BYTES),
                          malloc(TEXT_BYTES)};
        ASSERT(blocks.first != NULL && blocks.second != NULL && blocks.text != NULL);
    }
    return &blocks;
}

static bool same_name(const JsonNode *a, const JsonNode *b)
{
    if ((a->name == NULL) != (b->name == NULL)) {
        return false;
    }
    return a->name == NULL ||
           (a->name_bytes == b->name_bytes && memcmp(a->name, b->name, a->name_bytes) == 0);
}

static bool same_value(const JsonNode *a, const JsonNode *b)
{
    if (a->kind != b->kind || !same_name(a, b) || (a->name == NULL && a->index != b->index)) {
        return false;
    }
    switch ((JsonKind)a->kind) {
    case JSON_BOOL:
        return a->boolean == b->boolean;
    case JSON_NUMBER:
        return memcmp(&a->number, &b->number, sizeof a->number) == 0 &&
               a->is_integer == b->is_integer && (!a->is_integer || a->integer == b->integer);
    case JSON_STRING:
        return a->count == b->count && memcmp(a->text, b->text, a->count + 1) == 0;
    default:
        return a->count == b->count;
    }
}

// The node after this one in the order of the text, or NULL.
static const JsonNode *next_in_text(const JsonNode *node)
{
    const bool is_container = node->kind == JSON_ARRAY || node->kind == JSON_OBJECT;
    if (is_container && node->first != NULL) {
        return node->first;
    }
    while (node != NULL && node->next == NULL) {
        node = node->parent;
    }
    return node == NULL ? NULL : node->next;
}

static bool same_tree(const JsonNode *a, const JsonNode *b)
{
    while (a != NULL && b != NULL && same_value(a, b)) {
        a = next_in_text(a);
        b = next_in_text(b);
    }
    return a == NULL && b == NULL;
}

static void check_round_trip(const JsonNode *root, uint32_t indent)
{
    ByteWriter out = byte_writer(memory()->text, TEXT_BYTES);
    JsonWriter writer = json_writer(&out, indent);
    json_write_node(&writer, root);
    ASSERT(json_writer_finish(&writer) == STATUS_OK);
    Arena arena;
    arena_init(&arena, memory()->second, ARENA_BYTES);
    const JsonConfig config = json_config_default(&arena);
    const JsonNode *again = NULL;
    JsonError error = {0};
    ASSERT(json_parse(&config, memory()->text, out.at, &again, &error) == STATUS_OK);
    ASSERT(same_tree(root, again));
}

// Limits taken from the input itself, so that the fuzzer finds the edges.
static void check_small_limits(const uint8_t *data, size_t size)
{
    const uint8_t pick = size == 0 ? 0 : data[size - 1];
    Arena arena;
    arena_init(&arena, memory()->second, (size_t)pick * 64);
    JsonConfig config = json_config_default(&arena);
    config.depth_max = pick % 5;
    config.node_count_max = pick % 23;
    config.bytes_max = (size_t)pick * 4;
    const JsonNode *root = NULL;
    JsonError error = {0};
    const Status status = json_parse(&config, (const char *)data, size, &root, &error);
    ASSERT((status == STATUS_OK) == (root != NULL));
    ASSERT(status == error.status);
    ASSERT(status == STATUS_OK || arena.used == 0);
    char text[JSON_ERROR_TEXT_BYTES];
    json_error_text(&error, text);
    ASSERT(strlen(text) < sizeof text);
}

// Loaders run on any tree: every typed read at every node either gives something or an error.
static void check_reads(const JsonNode *root)
{
    static const char *const names[] = {"a", "b"};
    for (const JsonNode *node = root; node != NULL; node = next_in_text(node)) {
        JsonError errors[8] = {0};
        (void)json_read_bool(node, &errors[0]);
        (void)json_read_f32(node, -1e6f, 1e6f, &errors[1]);
        (void)json_read_integer(node, -5, 1000, &errors[2]);
        (void)json_read_text(node, 8, &errors[3]);
        (void)json_read_vec3(node, -10, 10, &errors[4]);
        (void)json_read_choice(node, names, 2, &errors[5]);
        (void)json_read_member(node, "a", &errors[6]);
        json_read_only(node, names, 2, &errors[7]);
        for (uint32_t i = 0; i < 8; i++) {
            ASSERT(strlen(errors[i].path) < JSON_PATH_BYTES);
            ASSERT(errors[i].status == STATUS_OK || errors[i].path[0] == '$');
        }
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size > INPUT_BYTES_MAX) {
        return 0;
    }
    Arena arena;
    arena_init(&arena, memory()->first, ARENA_BYTES);
    const JsonConfig config = json_config_default(&arena);
    const JsonNode *root = NULL;
    JsonError error = {0};
    if (json_parse(&config, (const char *)data, size, &root, &error) == STATUS_OK) {
        check_round_trip(root, 0);
        check_round_trip(root, 2);
        check_reads(root);
    } else {
        ASSERT(error.status != STATUS_OK && error.line >= 1 && error.column >= 1);
        ASSERT(error.path[0] == '$' && error.message[0] != '\0');
        ASSERT(arena.used == 0);
    }
    check_small_limits(data, size);
    return 0;
}

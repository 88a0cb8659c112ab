// The JSON reader. One loop walks the text; the open arrays and objects are the chain of parents of
// the value being read, so the depth needs no stack. Only `peek`, `advance` and what they guard
// touch the text, and every string and number is measured before it is copied.
#include "core/base/json.h"

#include "core/base/check.h"
#include "core/base/heap.h"
#include "core/base/json_error.h"
#include "core/base/json_number.h"
#include "core/base/limits.h"
#include "core/base/utf8.h"

#include <stdarg.h>
#include <string.h>

// Objects up to this size are searched for a repeated name pair by pair, larger ones by sorting.
#define PAIRWISE_MEMBERS_MAX 16

typedef struct Reader {
    const JsonConfig *config;
    const uint8_t *text;
    size_t bytes;
    size_t at;
    size_t line_at;      // where the current line begins
    size_t line_skipped; // continuation bytes on this line so far: columns count characters
    uint32_t line;
    uint32_t node_count;
    uint32_t depth;
    JsonNode *open;   // the innermost array or object that is not closed yet
    const char *name; // of the member whose value comes next
    uint32_t name_bytes, name_at;
    bool in_item; // the next item of the open array has begun
    JsonError *error;
} Reader;

JsonConfig json_config_default(Arena *arena)
{
    return (JsonConfig){.arena = arena,
                        .bytes_max = JSON_BYTES_MAX,
                        .node_count_max = JSON_NODES_MAX,
                        .depth_max = JSON_DEPTH_MAX};
}

static uint32_t column_at(const Reader *reader)
{
    return (uint32_t)(reader->at - reader->line_at - reader->line_skipped + 1);
}

// Fails at the current place: the value, member or item that is being read.
__attribute__((format(printf, 3, 4))) static bool fail(Reader *reader, Status status,
                                                       const char *format, ...)
{
    const JsonPlace place = {.parent = reader->open,
                             .name = reader->name,
                             .name_bytes = reader->name_bytes,
                             .is_item = reader->in_item,
                             .line = reader->line,
                             .column = column_at(reader)};
    va_list arguments;
    va_start(arguments, format);
    json_fail_at(reader->error, status, &place, format, arguments);
    va_end(arguments);
    return false;
}

static bool at_end(const Reader *reader)
{
    return reader->at == reader->bytes;
}

// The next byte; 0 at the end, which no rule accepts.
static uint8_t peek(const Reader *reader)
{
    return at_end(reader) ? 0 : reader->text[reader->at];
}

static void skip_space(Reader *reader)
{
    for (; !at_end(reader); reader->at++) {
        const uint8_t byte = reader->text[reader->at];
        if (byte == '\n') {
            reader->line += 1;
            reader->line_at = reader->at + 1;
            reader->line_skipped = 0;
        } else if (byte != ' ' && byte != '\t' && byte != '\r') {
            return;
        }
    }
}

static bool is_next(const Reader *reader, const char *text)
{
    const size_t bytes = strlen(text);
    return reader->bytes - reader->at >= bytes &&
           memcmp(reader->text + reader->at, text, bytes) == 0;
}

// Typical mistakes: syntax of other languages, and typographic quotes of word processors; NULL:
// none.
static const char *slip_at(const Reader *reader)
{
    static const char *const comments[] = {"//", "/*", "#"};
    static const char *const quotes[] = {
        "'", "`", "\xe2\x80\x98", "\xe2\x80\x99", "\xe2\x80\x9c", "\xe2\x80\x9d", "\xe2\x80\x9e"};
    for (size_t i = 0; i < sizeof comments / sizeof comments[0]; i++) {
        if (is_next(reader, comments[i])) {
            return "a comment, and JSON has none; take it out";
        }
    }
    for (size_t i = 0; i < sizeof quotes / sizeof quotes[0]; i++) {
        if (is_next(reader, quotes[i])) {
            return "the wrong quotes: JSON takes straight double ones, \"like this\"";
        }
    }
    return NULL;
}

// Text that is not a value: reports line and column, with the path of the whole text.
static bool fail_text(Reader *reader, const char *message)
{
    (void)fail(reader, STATUS_MALFORMED, "%s", message);
    reader->error->path[1] = '\0';
    return false;
}

static bool fail_expected(Reader *reader, const char *what)
{
    const char *slip = slip_at(reader);
    if (slip != NULL) {
        return fail_text(reader, slip);
    }
    if (at_end(reader)) {
        return fail(reader, STATUS_TRUNCATED, "expected %s, but the text ends here", what);
    }
    return fail(reader, STATUS_MALFORMED, "expected %s", what);
}

static void *alloc(Reader *reader, size_t bytes)
{
    void *block = arena_alloc(reader->config->arena, bytes);
    if (block == NULL) {
        (void)fail(reader, STATUS_LIMIT, "does not fit into the memory for this text");
    }
    return block;
}

// From the opening quote to the closing one; 0 if there is none.
static size_t measure_string(const Reader *reader)
{
    for (size_t i = reader->at + 1; i < reader->bytes; i++) {
        if (reader->text[i] == '"') {
            return i + 1 - reader->at;
        }
        if (reader->text[i] == '\\') {
            i += 1;
        }
    }
    return 0;
}

static bool read_hex4(Reader *reader, uint32_t *value)
{
    uint32_t result = 0;
    for (uint32_t i = 0; i < 4; i++) {
        const uint8_t c = peek(reader);
        const uint8_t lower = (uint8_t)(c | 0x20);
        if (c >= '0' && c <= '9') {
            result = result << 4 | (uint32_t)(c - '0');
        } else if (lower >= 'a' && lower <= 'f') {
            result = result << 4 | (uint32_t)(lower - 'a' + 10);
        } else {
            return fail(reader, STATUS_MALFORMED, "needs four hex digits after \\u");
        }
        reader->at += 1;
    }
    *value = result;
    return true;
}

// After \u. A high surrogate must be followed by an escaped low one.
static bool read_code_point(Reader *reader, uint32_t *code_point)
{
    uint32_t high = 0;
    if (!read_hex4(reader, &high)) {
        return false;
    }
    if (high < 0xd800 || high > 0xdfff) {
        *code_point = high;
        return true;
    }
    uint32_t low = 0;
    if (high > 0xdbff || peek(reader) != '\\') {
        return fail(reader, STATUS_MALFORMED, "has half of a surrogate pair");
    }
    reader->at += 1;
    if (peek(reader) != 'u') {
        return fail(reader, STATUS_MALFORMED, "has half of a surrogate pair");
    }
    reader->at += 1;
    if (!read_hex4(reader, &low)) {
        return false;
    }
    if (low < 0xdc00 || low > 0xdfff) {
        return fail(reader, STATUS_MALFORMED, "has half of a surrogate pair");
    }
    *code_point = 0x10000 + ((high - 0xd800) << 10) + (low - 0xdc00);
    return true;
}

// At a backslash.
static bool read_escape(Reader *reader, uint8_t **out)
{
    static const char names[] = "\"\\/bfnrt";
    static const char values[] = "\"\\/\b\f\n\r\t";
    reader->at += 1;
    const uint8_t kind = peek(reader);
    if (kind == 'u') {
        uint32_t code_point = 0;
        reader->at += 1;
        if (!read_code_point(reader, &code_point)) {
            return false;
        }
        *out += utf8_encode(code_point, *out);
        return true;
    }
    const char *name = kind == 0 ? NULL : strchr(names, kind);
    if (name == NULL) {
        return fail(reader, STATUS_MALFORMED, "has an escape that JSON does not know");
    }
    *(*out)++ = (uint8_t)values[name - names];
    reader->at += 1;
    return true;
}

static bool read_character(Reader *reader, uint8_t **out)
{
    const uint8_t byte = reader->text[reader->at];
    if (byte == '\\') {
        return read_escape(reader, out);
    }
    if (byte < 0x20) {
        return fail(reader, STATUS_MALFORMED, "has the control character 0x%02x in a string", byte);
    }
    const size_t length = utf8_length(reader->text + reader->at, reader->bytes - reader->at);
    if (length == 0) {
        return fail(reader, STATUS_MALFORMED, "is not valid UTF-8");
    }
    for (size_t i = 0; i < length; i++) {
        *(*out)++ = reader->text[reader->at++];
    }
    reader->line_skipped += length - 1;
    return true;
}

// At an opening quote. No escape is shorter than what it stands for, so the decoded text fits into
// the space of its source.
static bool read_string(Reader *reader, const char **text, uint32_t *text_bytes)
{
    const size_t source_bytes = measure_string(reader);
    if (source_bytes == 0) {
        return fail(reader, STATUS_TRUNCATED, "is a string without an end");
    }
    uint8_t *begin = alloc(reader, source_bytes);
    if (begin == NULL) {
        return false;
    }
    uint8_t *out = begin;
    reader->at += 1;
    while (reader->text[reader->at] != '"') {
        if (!read_character(reader, &out)) {
            return false;
        }
        ASSERT((size_t)(out - begin) < source_bytes);
    }
    reader->at += 1;
    *text = (const char *)begin;
    *text_bytes = (uint32_t)(out - begin);
    return true;
}

static size_t skip_digits(Reader *reader)
{
    const size_t from = reader->at;
    while (peek(reader) >= '0' && peek(reader) <= '9') {
        reader->at += 1;
    }
    return reader->at - from;
}

// -? (0 | [1-9][0-9]*) (. [0-9]+)? ([eE] [+-]? [0-9]+)?
static bool scan_number(Reader *reader, bool *is_whole)
{
    *is_whole = true;
    if (peek(reader) == '-') {
        reader->at += 1;
    }
    const bool starts_with_zero = peek(reader) == '0';
    const size_t digits = skip_digits(reader);
    if (digits == 0) {
        return fail_expected(reader, "a digit");
    }
    if (starts_with_zero && digits > 1) {
        return fail(reader, STATUS_MALFORMED, "is a number that starts with zero");
    }
    if (peek(reader) == '.') {
        *is_whole = false;
        reader->at += 1;
        if (skip_digits(reader) == 0) {
            return fail_expected(reader, "a digit after the point");
        }
    }
    if (peek(reader) == 'e' || peek(reader) == 'E') {
        *is_whole = false;
        reader->at += 1;
        if (peek(reader) == '+' || peek(reader) == '-') {
            reader->at += 1;
        }
        if (skip_digits(reader) == 0) {
            return fail_expected(reader, "a digit in the exponent");
        }
    }
    return true;
}

static bool read_number(Reader *reader, JsonNode *node)
{
    const size_t from = reader->at;
    bool is_whole = false;
    if (!scan_number(reader, &is_whole)) {
        return false;
    }
    const size_t bytes = reader->at - from;
    if (bytes > JSON_NUMBER_BYTES_MAX) {
        return fail(reader, STATUS_LIMIT, "has more than %d characters in a number",
                    JSON_NUMBER_BYTES_MAX);
    }
    const char *text = (const char *)reader->text + from;
    node->kind = JSON_NUMBER;
    node->is_integer = is_whole && json_number_parse_integer(text, bytes, &node->integer);
    if (!json_number_parse(text, bytes, &node->number)) {
        return fail(reader, STATUS_RANGE, "is a number too large");
    }
    // 5.0 and 1e3 are integers too.
    if (!is_whole && json_number_is_integer(node->number)) {
        node->is_integer = true;
        node->integer = (int64_t)node->number;
    }
    return true;
}

static bool read_word(Reader *reader, const char *word)
{
    const size_t bytes = strlen(word);
    if (bytes > reader->bytes - reader->at || memcmp(reader->text + reader->at, word, bytes) != 0) {
        return fail_expected(reader, "a value");
    }
    reader->at += bytes;
    return true;
}

static bool read_scalar(Reader *reader, JsonNode *node)
{
    switch (peek(reader)) {
    case '"':
        node->kind = JSON_STRING;
        return read_string(reader, &node->text, &node->count);
    case 't':
        node->kind = JSON_BOOL;
        node->boolean = true;
        return read_word(reader, "true");
    case 'f':
        node->kind = JSON_BOOL;
        return read_word(reader, "false");
    case 'n':
        node->kind = JSON_NULL;
        return read_word(reader, "null");
    default:
        return read_number(reader, node);
    }
}

static bool can_start_value(uint8_t byte)
{
    return byte != 0 && strchr("{[\"-0123456789tfn", byte) != NULL;
}

static JsonNode *add_node(Reader *reader)
{
    if (reader->node_count == reader->config->node_count_max) {
        (void)fail(reader, STATUS_LIMIT, "is one value too many: at most %u",
                   (unsigned)reader->config->node_count_max);
        return NULL;
    }
    JsonNode *node = alloc(reader, sizeof *node);
    if (node == NULL) {
        return NULL;
    }
    reader->node_count += 1;
    node->line = reader->line;
    node->column = column_at(reader);
    return node;
}

// Appends a finished or just opened value to the innermost open container.
static void link_node(Reader *reader, JsonNode *node)
{
    JsonNode *parent = reader->open;
    node->parent = parent;
    node->name = reader->name;
    node->name_bytes = reader->name_bytes;
    reader->name = NULL;
    reader->name_bytes = 0;
    reader->in_item = false;
    if (parent == NULL) {
        return;
    }
    if (parent->kind == JSON_OBJECT) {
        node->name_at = reader->name_at;
    } else {
        node->index = parent->count;
    }
    parent->count += 1;
    if (parent->last == NULL) {
        parent->first = node;
    } else {
        parent->last->next = node;
    }
    parent->last = node;
}

// Reads a scalar whole, and of an array or object the opening bracket.
static JsonNode *read_value(Reader *reader)
{
    const uint8_t byte = peek(reader);
    if (!can_start_value(byte)) {
        (void)fail_expected(reader, "a value");
        return NULL;
    }
    JsonNode *node = add_node(reader);
    if (node == NULL) {
        return NULL;
    }
    if (byte != '[' && byte != '{') {
        if (!read_scalar(reader, node)) {
            return NULL;
        }
        link_node(reader, node);
        return node;
    }
    if (reader->depth == reader->config->depth_max) {
        (void)fail(reader, STATUS_LIMIT, "is nested deeper than %u",
                   (unsigned)reader->config->depth_max);
        return NULL;
    }
    node->kind = byte == '[' ? JSON_ARRAY : JSON_OBJECT;
    link_node(reader, node);
    reader->open = node;
    reader->depth += 1;
    reader->at += 1;
    return node;
}

static bool read_name(Reader *reader)
{
    skip_space(reader);
    if (peek(reader) != '"') {
        return fail_expected(reader, "a name in double quotes");
    }
    const char *name = NULL;
    uint32_t name_bytes = 0;
    reader->name_at = (uint32_t)reader->at;
    if (!read_string(reader, &name, &name_bytes)) {
        return false;
    }
    reader->name = name;
    reader->name_bytes = name_bytes;
    skip_space(reader);
    if (peek(reader) != ':') {
        return fail_expected(reader, "':'");
    }
    reader->at += 1;
    return true;
}

static int compare_names(const JsonNode *a, const JsonNode *b)
{
    if (a->name_bytes != b->name_bytes) {
        return a->name_bytes < b->name_bytes ? -1 : 1;
    }
    return memcmp(a->name, b->name, a->name_bytes);
}

// By name, then by place, so that a repetition comes right after what it repeats.
static bool is_before(const JsonNode *a, const JsonNode *b)
{
    const int order = compare_names(a, b);
    return order != 0 ? order < 0 : a->name_at < b->name_at;
}

static void sift_down(const JsonNode **heap, size_t at, size_t count)
{
    for (;;) {
        size_t child = 2 * at + 1;
        if (child >= count) {
            return;
        }
        if (child + 1 < count && is_before(heap[child], heap[child + 1])) {
            child += 1;
        }
        if (!is_before(heap[at], heap[child])) {
            return;
        }
        const JsonNode *swapped = heap[at];
        heap[at] = heap[child];
        heap[child] = swapped;
        at = child;
    }
}

// Heap sort: in place, no recursion, and no order of names makes it slow.
static void sort_members(const JsonNode **members, size_t count)
{
    for (size_t i = count / 2; i > 0; i--) {
        sift_down(members, i - 1, count);
    }
    for (size_t end = count; end > 1; end--) {
        const JsonNode *largest = members[0];
        members[0] = members[end - 1];
        members[end - 1] = largest;
        sift_down(members, 0, end - 1);
    }
}

static const JsonNode *find_repeated_pairwise(const JsonNode *object)
{
    for (const JsonNode *b = object->first; b != NULL; b = b->next) {
        for (const JsonNode *a = object->first; a != b; a = a->next) {
            if (compare_names(a, b) == 0) {
                return b;
            }
        }
    }
    return NULL;
}

static bool check_names(Reader *reader, const JsonNode *object)
{
    const JsonNode *repeated = NULL;
    if (object->count <= PAIRWISE_MEMBERS_MAX) {
        repeated = find_repeated_pairwise(object);
    } else {
        const size_t mark = arena_mark(reader->config->arena);
        const JsonNode **members =
            alloc(reader, heap_array_bytes(object->count, sizeof(const JsonNode *)));
        if (members == NULL) {
            return false;
        }
        size_t count = 0;
        for (const JsonNode *member = object->first; member != NULL; member = member->next) {
            members[count++] = member;
        }
        ASSERT(count == object->count);
        sort_members(members, count);
        for (size_t i = 1; i < count && repeated == NULL; i++) {
            repeated = compare_names(members[i - 1], members[i]) == 0 ? members[i] : NULL;
        }
        arena_rewind(reader->config->arena, mark);
    }
    if (repeated != NULL) {
        json_fail(reader->error, STATUS_MALFORMED, repeated, "appears twice");
    }
    return repeated == NULL;
}

static bool close_container(Reader *reader)
{
    JsonNode *closed = reader->open;
    reader->at += 1;
    if (closed->kind == JSON_OBJECT && !check_names(reader, closed)) {
        return false;
    }
    closed->last = NULL;
    reader->open = (JsonNode *)closed->parent;
    reader->depth -= 1;
    return true;
}

static uint8_t closing_bracket(const JsonNode *container)
{
    return container->kind == JSON_ARRAY ? ']' : '}';
}

// After an opening bracket: closes an empty container, or reads on to its first value.
static bool enter_container(Reader *reader)
{
    skip_space(reader);
    if (peek(reader) == closing_bracket(reader->open)) {
        return close_container(reader);
    }
    reader->in_item = reader->open->kind == JSON_ARRAY;
    return reader->in_item || read_name(reader);
}

// At a comma. One without a following value is reported at its own position.
static bool read_comma(Reader *reader)
{
    const Reader comma = *reader;
    reader->at += 1;
    skip_space(reader);
    if (peek(reader) == closing_bracket(reader->open)) {
        *reader = comma;
        return fail_text(reader, "a comma with nothing after it; remove it");
    }
    reader->in_item = reader->open->kind == JSON_ARRAY;
    return reader->in_item || read_name(reader);
}

// After a value: closes what ends here, and reads on to the next value if there is one.
static bool leave_value(Reader *reader, bool *has_next)
{
    *has_next = false;
    while (reader->open != NULL) {
        skip_space(reader);
        const bool is_array = reader->open->kind == JSON_ARRAY;
        if (peek(reader) == ',') {
            *has_next = true;
            return read_comma(reader);
        }
        if (peek(reader) != closing_bracket(reader->open)) {
            return fail_expected(reader, is_array ? "',' or ']'" : "',' or '}'");
        }
        if (!close_container(reader)) {
            return false;
        }
    }
    return true;
}

static const JsonNode *read_document(Reader *reader)
{
    const JsonNode *root = NULL;
    for (bool has_next = true; has_next;) {
        skip_space(reader);
        const JsonNode *node = read_value(reader);
        if (node == NULL) {
            return NULL;
        }
        root = root == NULL ? node : root;
        if (node == reader->open) {
            if (!enter_container(reader)) {
                return NULL;
            }
            if (node == reader->open) {
                continue; // its first value comes next
            }
        }
        if (!leave_value(reader, &has_next)) {
            return NULL;
        }
    }
    skip_space(reader);
    if (!at_end(reader)) {
        const char *slip = slip_at(reader);
        (void)fail_text(reader, slip != NULL ? slip : "more text after the end");
        return NULL;
    }
    return root;
}

static const JsonNode *read_checked(Reader *reader)
{
    if (reader->bytes > reader->config->bytes_max) {
        (void)fail(reader, STATUS_LIMIT, "is longer than %zu bytes", reader->config->bytes_max);
        return NULL;
    }
    if (is_next(reader, JSON_MARK)) { // a byte order mark, which some editors write
        reader->at = reader->line_at = strlen(JSON_MARK);
    }
    return read_document(reader);
}

Status json_parse(const JsonConfig *config, const char *text, size_t bytes, const JsonNode **root,
                  JsonError *error)
{
    ASSERT(text != NULL || bytes == 0);
    ASSERT(config->depth_max <= JSON_DEPTH_MAX);
    ASSERT(config->node_count_max <= JSON_NODES_MAX);
    ASSERT(config->bytes_max <= JSON_BYTES_MAX);
    JsonError found = {0};
    Reader reader = {.config = config,
                     .text = (const uint8_t *)text,
                     .bytes = bytes,
                     .line = 1,
                     .error = &found};
    const size_t mark = arena_mark(config->arena);
    const JsonNode *made = read_checked(&reader);
    if (made == NULL) {
        ASSERT(found.status != STATUS_OK);
        arena_rewind(config->arena, mark);
        if (error != NULL) {
            *error = found;
        }
        return found.status;
    }
    ASSERT(reader.depth == 0 && reader.open == NULL);
    *root = made;
    return STATUS_OK;
}

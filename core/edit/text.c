// Writing the two texts of a document by splicing; see text.h. An object is a list of pieces
// between commas: pieces of members that did not change are copied, a changed value is printed in
// place of the old one, a member that became its default is left out, and a new one is added at the
// end.
#include "core/base/check.h"
#include "core/base/limits.h"
#include "core/edit/apply.h"
#include "core/edit/diff.h"
#include "core/edit/scan.h"
#include "core/edit/text_inside.h"

#include <string.h>

typedef struct Splice {
    EditText *text;
    EditDoc *doc;
    PlaceScratch scratch;
    Heap *heap;
    EditBuffer *out;
    EditSpans spans[2]; // in the new text
} Splice;

// The text that is being spliced.
typedef struct Source {
    const char *text;
    size_t bytes;
} Source;

// --- printing -----------------------------------------------------------------------------------

// One line, with a space after each comma and colon, as people write it.
static void append_spaced(EditBuffer *out, const char *json, size_t bytes)
{
    bool in_text = false;
    for (size_t i = 0; i < bytes; i++) {
        edit_buffer_u8(out, (uint8_t)json[i]);
        if (in_text && json[i] == '\\' && i + 1 < bytes) {
            edit_buffer_u8(out, (uint8_t)json[++i]);
        } else if (json[i] == '"') {
            in_text = !in_text;
        } else if (!in_text && (json[i] == ',' || json[i] == ':')) {
            edit_buffer_u8(out, ' ');
        }
    }
}

typedef struct Print {
    const PlaceField *field; // or
    const PlaceTable *table;
    const void *value;
    PlaceScratch *scratch;
} Print;

static void write_print(const void *user, ByteWriter *out)
{
    const Print *print = user;
    JsonWriter writer = json_writer(out, 0);
    if (print->field != NULL) {
        place_field_to_json(print->field, print->value, print->scratch, &writer);
    } else {
        place_table_to_json(print->table, print->value, print->scratch, &writer);
    }
}

static Status print_spaced(Splice *splice, const Print *print)
{
    EditBuffer json = edit_buffer(splice->heap, EDIT_TEXT_BYTES_MAX);
    edit_buffer_write(&json, write_print, print);
    append_spaced(splice->out, (const char *)json.data, json.bytes);
    const Status status = json.status != STATUS_OK ? json.status : splice->out->status;
    edit_buffer_free(&json);
    return status;
}

static void copy(Splice *splice, Source source, size_t from, size_t to)
{
    edit_buffer_append(splice->out, source.text + from, to - from);
}

// --- objects ------------------------------------------------------------------------------------

static Status field_equal(Splice *splice, const PlaceField *field, const void *a, const void *b,
                          bool *is_equal)
{
    ByteWriter first = byte_counter();
    ByteWriter second = byte_counter();
    place_field_write(field, a, false, &first);
    place_field_write(field, b, false, &second);
    *is_equal = false;
    if (first.at != second.at) {
        return STATUS_OK;
    }
    uint8_t *bytes = heap_alloc(splice->heap, first.at * 2 + 1);
    if (bytes == NULL) {
        return STATUS_LIMIT;
    }
    first = byte_writer(bytes, first.at);
    second = byte_writer(bytes + second.at, second.at);
    place_field_write(field, a, false, &first);
    place_field_write(field, b, false, &second);
    *is_equal = memcmp(first.data, second.data, first.at) == 0;
    heap_free(splice->heap, bytes);
    return STATUS_OK;
}

// Terrain and entities, which have their own way.
static bool is_list(const PlaceField *field, EditKind *kind)
{
    *kind = field->table == &place_table_fill ? EDIT_TERRAIN : EDIT_ENTITY;
    return field->type == PLACE_LIST &&
           (field->table == &place_table_fill || field->table == &place_table_entity);
}

static Status splice_list(Splice *splice, Source source, size_t at, EditKind kind);

typedef struct Object {
    Source source;
    const PlaceTable *table;
    const uint8_t *old, *new;
    size_t lead_from, lead_to; // what stands before a member
    bool is_first;             // nothing was written yet
    uint64_t seen;             // members that the text has
} Object;

static Status splice_object(Splice *splice, Source source, size_t at, const JsonNode *node,
                            const PlaceTable *table, const void *old, const void *new);

static void comma(Splice *splice, Object *object)
{
    if (!object->is_first) {
        edit_buffer_u8(splice->out, ',');
    }
    object->is_first = false;
}

static Status splice_value(Splice *splice, Object *object, const PlaceField *field,
                           const JsonNode *member, const EditPiece *piece)
{
    if (field->type == PLACE_OBJECT && member->kind == JSON_OBJECT) {
        return splice_object(splice, object->source, piece->value_from, member, field->table,
                             object->old + field->offset, object->new + field->offset);
    }
    const Print print = {
        .field = field, .value = object->new + field->offset, .scratch = &splice->scratch};
    return print_spaced(splice, &print);
}

static Status splice_member(Splice *splice, Object *object, const JsonNode *member,
                            const EditPiece *piece)
{
    const PlaceField *field = place_field_named(object->table, member);
    ASSERT(field != NULL); // the table has read this text
    object->seen |= 1ull << (field - object->table->fields);
    object->lead_from = piece->from;
    object->lead_to = piece->begin;
    EditKind kind;
    bool is_equal = false;
    Status status = STATUS_OK;
    const bool has_own_way = is_list(field, &kind);
    if (!has_own_way) {
        status = field_equal(splice, field, object->old + field->offset,
                             object->new + field->offset, &is_equal);
    }
    if (status != STATUS_OK ||
        (!is_equal && !has_own_way && place_field_is_left_out(field, object->new, false))) {
        return status;
    }
    comma(splice, object);
    if (is_equal) {
        copy(splice, object->source, piece->from, piece->to);
        return STATUS_OK;
    }
    copy(splice, object->source, piece->from, piece->value_from);
    status = has_own_way ? splice_list(splice, object->source, piece->value_from, kind)
                         : splice_value(splice, object, field, member, piece);
    copy(splice, object->source, piece->value_to, piece->to);
    return status;
}

static bool has_line(Source source, size_t from, size_t to)
{
    return to > from && memchr(source.text + from, '\n', to - from) != NULL;
}

// What stands before something new: a line of its own if its neighbour has one.
static void append_lead(Splice *splice, Source source, size_t from, size_t to, const char *other)
{
    if (!has_line(source, from, to)) {
        edit_buffer_text(splice->out, other);
        return;
    }
    size_t line = to;
    while (source.text[line - 1] != '\n') {
        line -= 1;
    }
    copy(splice, source, line - 1, to);
}

static Status add_member(Splice *splice, Object *object, const PlaceField *field)
{
    EditKind kind;
    const bool has_own_way = is_list(field, &kind);
    if (has_own_way ? edit_doc_count(splice->doc, kind) == 0
                    : place_field_is_left_out(field, object->new, false)) {
        return STATUS_OK;
    }
    const bool is_first = object->is_first;
    comma(splice, object);
    append_lead(splice, object->source, object->lead_from, object->lead_to, is_first ? "" : " ");
    edit_buffer_u8(splice->out, '"');
    edit_buffer_text(splice->out, field->name);
    edit_buffer_text(splice->out, "\": ");
    if (has_own_way) {
        return splice_list(splice, (Source){"[]", 2}, 0, kind);
    }
    const Print print = {
        .field = field, .value = object->new + field->offset, .scratch = &splice->scratch};
    return print_spaced(splice, &print);
}

static Status splice_object(Splice *splice, Source source, size_t at, const JsonNode *node,
                            const PlaceTable *table, const void *old, const void *new)
{
    Object object = {.source = source, .table = table, .old = old, .new = new, .is_first = true};
    EditScan scan = edit_scan(source.text, source.bytes, at);
    EditPiece piece;
    Status status = STATUS_OK;
    edit_buffer_u8(splice->out, '{');
    const JsonNode *member = node->first;
    for (; edit_scan_next(&scan, &piece) && status == STATUS_OK; member = member->next) {
        status = splice_member(splice, &object, member, &piece);
    }
    for (uint32_t i = 0; i < table->field_count && status == STATUS_OK; i++) {
        if ((object.seen >> i & 1) == 0) {
            status = add_member(splice, &object, &table->fields[i]);
        }
    }
    if (status == STATUS_OK) {
        copy(splice, source, scan.tail_from, scan.close + 1);
    }
    return status != STATUS_OK ? status : splice->out->status;
}

// --- lists --------------------------------------------------------------------------------------

typedef struct List {
    Source source;
    EditKind kind;
    EditPiece *pieces; // as in the old spans
    uint32_t piece_count;
    size_t tail_from, close;
    IdMap map; // id → piece + 1
    void *block;
} List;

static Status list_open(Splice *splice, List *list, size_t at)
{
    const EditSpans *spans = &splice->text->spans[list->kind - EDIT_TERRAIN];
    // A list that was not there before has no pieces.
    const uint32_t most =
        list->source.text == (const char *)splice->text->scene.data ? spans->count : 0;
    const size_t bytes = arena_need(id_map_bytes(most + 1)) +
                         arena_need(heap_array_bytes(most + 1u, sizeof(EditPiece))) + 64;
    list->block = heap_alloc(splice->heap, bytes);
    if (list->block == NULL) {
        return STATUS_LIMIT;
    }
    Arena arena;
    arena_init_zeroed(&arena, list->block, bytes);
    const Status status = id_map_init(&list->map, &arena, most + 1);
    list->pieces = arena_array(&arena, most + 1u, sizeof(EditPiece));
    if (status != STATUS_OK || list->pieces == NULL) {
        return STATUS_LIMIT;
    }
    EditScan scan = edit_scan(list->source.text, list->source.bytes, at);
    EditPiece piece;
    while (edit_scan_next(&scan, &piece)) {
        ASSERT(list->piece_count < most);
        const uint32_t index = list->piece_count++;
        list->pieces[index] = piece;
        id_map_put(&list->map, spans->items[index].id, index + 1);
    }
    list->tail_from = scan.tail_from;
    list->close = scan.close;
    return STATUS_OK;
}

static Status print_new(Splice *splice, const List *list, const EditObject *object)
{
    if (list->piece_count != 0) {
        append_lead(splice, list->source, list->pieces[0].from, list->pieces[0].begin, " ");
    } else {
        edit_buffer_text(splice->out, "\n    ");
    }
    const Print print = {
        .table = edit_kind_table(list->kind), .value = object, .scratch = &splice->scratch};
    return print_spaced(splice, &print);
}

static Status splice_changed(Splice *splice, const List *list, const EditPiece *piece,
                             const EditObject *new)
{
    const PlaceTable *table = edit_kind_table(list->kind);
    const char *text = list->source.text + piece->value_from;
    const size_t bytes = piece->value_to - piece->value_from;
    const JsonNode *root = NULL;
    JsonError error = {0};
    EditObject old;
    Status status = place_json_parse(&splice->scratch, text, bytes, &root, &error);
    if (status == STATUS_OK) {
        memset(&old, 0, sizeof old);
        place_table_from_json(table, root, &splice->scratch, &old, &error);
        status = error.status;
    }
    return status != STATUS_OK
               ? status
               : splice_object(splice, (Source){text, bytes}, 0, root, table, &old, new);
}

static Status splice_item(Splice *splice, const List *list, uint32_t id, EditSpan *span)
{
    const uint32_t found = id_map_find(&list->map, id);
    const EditSpans *spans = &splice->text->spans[list->kind - EDIT_TERRAIN];
    *span = (EditSpan){.id = id, .version = edit_doc_version(splice->doc, list->kind, id)};
    const EditPiece *piece = found == 0 ? NULL : &list->pieces[found - 1];
    if (piece != NULL && spans->items[found - 1].version == span->version) {
        const size_t from = splice->out->bytes;
        copy(splice, list->source, piece->from, piece->to);
        span->from = (uint32_t)(from + piece->value_from - piece->from);
        span->to = (uint32_t)(from + piece->value_to - piece->from);
        return STATUS_OK;
    }
    EditObject object;
    Status status = edit_doc_read(splice->doc, list->kind, id, &splice->scratch, &object);
    if (status != STATUS_OK) {
        return status;
    }
    if (piece == NULL) {
        span->from = (uint32_t)splice->out->bytes;
        status = print_new(splice, list, &object);
        span->to = (uint32_t)splice->out->bytes;
        return status;
    }
    copy(splice, list->source, piece->from, piece->value_from);
    span->from = (uint32_t)splice->out->bytes;
    status = splice_changed(splice, list, piece, &object);
    span->to = (uint32_t)splice->out->bytes;
    copy(splice, list->source, piece->value_to, piece->to);
    return status;
}

static Status list_write(Splice *splice, List *list)
{
    EditSpans *spans = &splice->spans[list->kind - EDIT_TERRAIN];
    uint32_t id = edit_doc_first(splice->doc, list->kind);
    Status status = STATUS_OK;
    edit_buffer_u8(splice->out, '[');
    for (uint32_t i = 0; i < spans->count && status == STATUS_OK; i++) {
        if (i != 0) {
            edit_buffer_u8(splice->out, ',');
        }
        status = splice_item(splice, list, id, &spans->items[i]);
        id = edit_doc_next(splice->doc, list->kind, id);
    }
    if (list->piece_count == 0 && spans->count != 0) {
        edit_buffer_text(splice->out, "\n  ]");
    } else {
        copy(splice, list->source, list->tail_from, list->close + 1);
    }
    return status != STATUS_OK ? status : splice->out->status;
}

static Status splice_list(Splice *splice, Source source, size_t at, EditKind kind)
{
    List list = {.source = source, .kind = kind};
    Status status = list_open(splice, &list, at);
    if (status == STATUS_OK) {
        status = list_write(splice, &list);
    }
    heap_free(splice->heap, list.block);
    return status;
}

// --- the two texts ------------------------------------------------------------------------------

// Reads the members of a root. The lists of a scene are left out, because most of the text is in
// them: the copy has the same members in the same order, with empty arrays.
static Status read_root(Splice *splice, EditKind kind, Source source, size_t begin,
                        const JsonNode **root, EditObject *out)
{
    EditBuffer copied = edit_buffer(splice->heap, EDIT_TEXT_BYTES_MAX);
    EditScan scan = edit_scan(source.text, source.bytes, begin);
    EditPiece piece;
    size_t done = 0;
    while (kind == EDIT_SCENE && edit_scan_next(&scan, &piece)) {
        if (source.text[piece.value_from] == '[') {
            edit_buffer_append(&copied, source.text + done, piece.value_from - done);
            edit_buffer_text(&copied, "[]");
            done = piece.value_to;
        }
    }
    edit_buffer_append(&copied, source.text + done, source.bytes - done);
    JsonError error = {0};
    Status status = copied.status;
    if (status == STATUS_OK) {
        status = place_json_parse(&splice->scratch, (const char *)copied.data, copied.bytes, root,
                                  &error);
    }
    if (status == STATUS_OK) {
        memset(out, 0, sizeof *out);
        place_table_from_json(edit_kind_table(kind), *root, &splice->scratch, out, &error);
        status = error.status;
    }
    edit_buffer_free(&copied); // the tree has copies of its texts
    return status;
}

static Status splice_root(Splice *splice, EditKind kind, const EditBuffer *old_text)
{
    const Source source = {(const char *)old_text->data, old_text->bytes};
    const size_t mark = source.bytes >= 3 && memcmp(source.text, JSON_MARK, 3) == 0 ? 3 : 0;
    const size_t begin = edit_scan_space(source.text, source.bytes, mark);
    const JsonNode *root = NULL;
    EditObject old;
    EditObject new;
    Status status = read_root(splice, kind, source, begin, &root, &old);
    if (status == STATUS_OK) {
        status = edit_doc_read(splice->doc, kind, 0, &splice->scratch, &new);
    }
    if (status != STATUS_OK) {
        return status;
    }
    copy(splice, source, 0, begin);
    status = splice_object(splice, source, begin, root, edit_kind_table(kind), &old, &new);
    if (status == STATUS_OK) {
        copy(splice, source, edit_scan_value(source.text, source.bytes, begin), source.bytes);
        status = splice->out->status;
    }
    return status;
}

static Status make_spans(Splice *splice)
{
    for (uint32_t i = 0; i < 2; i++) {
        EditSpans *spans = &splice->spans[i];
        spans->count = edit_doc_count(splice->doc, (EditKind)(EDIT_TERRAIN + i));
        spans->items =
            heap_alloc(splice->heap, heap_array_bytes(spans->count + 1u, sizeof *spans->items));
        if (spans->items == NULL) {
            return STATUS_LIMIT;
        }
    }
    return STATUS_OK;
}

// A new object has its span behind the space that was printed with it.
static void trim_spans(Splice *splice)
{
    const char *text = (const char *)splice->out->data;
    for (uint32_t i = 0; i < 2; i++) {
        for (uint32_t k = 0; k < splice->spans[i].count; k++) {
            EditSpan *span = &splice->spans[i].items[k];
            while (text[span->from] != '{') {
                span->from += 1;
            }
        }
    }
}

// Every value but the first of a list or object has a comma before it.
static uint32_t count_nodes(const EditBuffer *json)
{
    uint32_t count = 1;
    bool in_text = false, is_open = false;
    for (size_t i = 0; i < json->bytes; i++) {
        const uint8_t byte = json->data[i];
        if (in_text) {
            i += byte == '\\';
            in_text = byte != '"';
        } else if (byte > ' ') {
            count += byte == ',' || (is_open && byte != ']' && byte != '}');
            is_open = byte == '[' || byte == '{';
            in_text = byte == '"';
        }
    }
    return count;
}

static Status write_both(EditText *text, EditDoc *doc, const EditBuffer *old_scene)
{
    EditBuffer settings = edit_buffer(text->heap, EDIT_TEXT_BYTES_MAX);
    EditBuffer scene = edit_buffer(text->heap, EDIT_TEXT_BYTES_MAX);
    Splice splice = {.text = text, .doc = doc, .scratch = {.heap = text->heap}, .heap = text->heap};
    Status status = make_spans(&splice);
    if (status == STATUS_OK) {
        splice.out = &settings;
        status = splice_root(&splice, EDIT_SETTINGS, &text->settings);
    }
    if (status == STATUS_OK) {
        splice.out = &scene;
        status = splice_root(&splice, EDIT_SCENE, old_scene);
    }
    if (status == STATUS_OK && scene.bytes > JSON_NODES_MAX &&
        count_nodes(&scene) > JSON_NODES_MAX) {
        status = STATUS_LIMIT; // nobody could read it
    }
    if (status == STATUS_OK) {
        trim_spans(&splice);
        EditBuffer old = text->settings;
        text->settings = settings;
        settings = old;
        old = text->scene;
        text->scene = scene;
        scene = old;
        for (uint32_t i = 0; i < 2; i++) {
            const EditSpans spans = text->spans[i];
            text->spans[i] = splice.spans[i];
            splice.spans[i] = spans;
        }
    }
    edit_buffer_free(&settings);
    edit_buffer_free(&scene);
    heap_free(text->heap, splice.spans[0].items);
    heap_free(text->heap, splice.spans[1].items);
    place_scratch_free(&splice.scratch);
    return status;
}

Status edit_text_write(EditText *text, EditDoc *doc)
{
    if (text->is_blocked) {
        return STATUS_BLOCKED;
    }
    Status status = write_both(text, doc, &text->scene);
    if (status == STATUS_LIMIT) {
        static const char none[] = "{\"format\": 1}\n";
        const EditBuffer empty = {.data = (uint8_t *)(uintptr_t)none, .bytes = sizeof none - 1};
        status = write_both(text, doc, &empty);
    }
    return status;
}

EditTexts edit_text_now(const EditText *text)
{
    return (EditTexts){{(const char *)text->settings.data, text->settings.bytes},
                       {(const char *)text->scene.data, text->scene.bytes}};
}

bool edit_text_is_blocked(const EditText *text)
{
    return text->is_blocked;
}

// --- reading ------------------------------------------------------------------------------------

static Status keep_texts(EditText *text, const EditDoc *doc, EditTexts texts)
{
    EditSpans spans[2] = {{0}, {0}};
    EditBuffer settings = edit_buffer(text->heap, EDIT_TEXT_BYTES_MAX);
    EditBuffer scene = edit_buffer(text->heap, EDIT_TEXT_BYTES_MAX);
    edit_buffer_append(&settings, texts.settings.data, texts.settings.bytes);
    edit_buffer_append(&scene, texts.scene.data, texts.scene.bytes);
    Status status = settings.status != STATUS_OK ? settings.status : scene.status;
    for (uint32_t i = 0; i < 2 && status == STATUS_OK; i++) {
        status =
            edit_text_spans(text->heap, doc, texts.scene, (EditKind)(EDIT_TERRAIN + i), &spans[i]);
    }
    if (status != STATUS_OK) {
        heap_free(text->heap, spans[0].items);
        edit_buffer_free(&settings);
        edit_buffer_free(&scene);
        return status;
    }
    edit_buffer_free(&text->settings);
    edit_buffer_free(&text->scene);
    text->settings = settings;
    text->scene = scene;
    for (uint32_t i = 0; i < 2; i++) {
        heap_free(text->heap, text->spans[i].items);
        text->spans[i] = spans[i];
    }
    return STATUS_OK;
}

Status edit_text_open(Heap *heap, EditBlobs blobs, EditTexts texts, EditText **out, EditDoc **doc,
                      PlaceError *error)
{
    EditDoc *read = NULL;
    Status status = edit_text_read(heap, blobs, texts, NULL, &read, error);
    if (status != STATUS_OK) {
        return status;
    }
    EditText *text = heap_alloc(heap, sizeof *text);
    status = text == NULL ? STATUS_LIMIT : STATUS_OK;
    if (status == STATUS_OK) {
        text->heap = heap;
        text->settings = text->scene = edit_buffer(heap, EDIT_TEXT_BYTES_MAX);
        status = keep_texts(text, read, texts);
    }
    if (status != STATUS_OK) {
        error->status = error->where.status = status;
        edit_text_close(text);
        edit_doc_destroy(read);
        return status;
    }
    *out = text;
    *doc = read;
    return STATUS_OK;
}

void edit_text_close(EditText *text)
{
    if (text == NULL) {
        return;
    }
    edit_buffer_free(&text->settings);
    edit_buffer_free(&text->scene);
    heap_free(text->heap, text->spans[0].items);
    heap_free(text->heap, text->spans[1].items);
    heap_free(text->heap, text);
}

static Status copy_spans(Heap *heap, const EditSpans *from, EditSpans *to)
{
    const size_t bytes = heap_array_bytes(from->count + 1u, sizeof *from->items);
    EditSpan *items = heap_alloc(heap, bytes);
    if (items == NULL) {
        return STATUS_LIMIT;
    }
    if (from->count > 0) {
        memcpy(items, from->items, from->count * sizeof *items);
    }
    heap_free(heap, to->items);
    *to = (EditSpans){items, from->count};
    return STATUS_OK;
}

static Status copy_buffer(const EditBuffer *from, EditBuffer *to)
{
    edit_buffer_clear(to);
    edit_buffer_append(to, from->data, from->bytes);
    return to->status;
}

static Status copy_scene(const EditText *from, EditText *to)
{
    Status status = copy_buffer(&from->scene, &to->scene);
    for (uint32_t i = 0; i < 2 && status == STATUS_OK; i++) {
        status = copy_spans(to->heap, &from->spans[i], &to->spans[i]);
    }
    return status;
}

Status edit_text_copy(const EditText *text, EditText **out)
{
    EditText *copy = heap_alloc(text->heap, sizeof *copy);
    if (copy == NULL) {
        return STATUS_LIMIT;
    }
    copy->heap = text->heap;
    copy->is_blocked = text->is_blocked;
    copy->settings = copy->scene = edit_buffer(text->heap, EDIT_TEXT_BYTES_MAX);
    Status status = copy_buffer(&text->settings, &copy->settings);
    status = status == STATUS_OK ? copy_scene(text, copy) : status;
    if (status != STATUS_OK) {
        edit_text_close(copy);
        return status;
    }
    *out = copy;
    return STATUS_OK;
}

static bool is_text(const EditBuffer *buffer, Text text)
{
    return buffer->bytes == text.bytes &&
           (text.bytes == 0 || memcmp(buffer->data, text.data, text.bytes) == 0);
}

Status edit_text_take_sent(EditText *text, const EditText *sent, EditTexts disk)
{
    Status status = STATUS_OK;
    if (is_text(&sent->settings, disk.settings)) {
        status = copy_buffer(&sent->settings, &text->settings);
    }
    if (status == STATUS_OK && is_text(&sent->scene, disk.scene)) {
        status = copy_scene(sent, text);
    }
    edit_text_rebind(text);
    return status;
}

// --- changes on disk ----------------------------------------------------------------------------

// Terrain has no ids in the file. What is the same at the begin and at the end of the list keeps
// its id, and what lies between is new.
static Status number_terrain(const EditDoc *base, const EditDoc *now, EditDoc *next, Rng *rng)
{
    const uint32_t before = edit_doc_count(base, EDIT_TERRAIN);
    const uint32_t after = edit_doc_count(next, EDIT_TERRAIN);
    uint32_t *ids = heap_alloc(next->heap, heap_array_bytes(before + after + 1u, sizeof *ids));
    if (ids == NULL) {
        return STATUS_LIMIT;
    }
    uint32_t *old = ids + after;
    uint32_t id = edit_doc_first(base, EDIT_TERRAIN);
    for (uint32_t i = 0; i < before; i++, id = edit_doc_next(base, EDIT_TERRAIN, id)) {
        old[i] = id;
    }
    const EditList *list = &next->lists[0];
    uint32_t slot = list->first;
    uint32_t same = 0;
    for (; same < before && same < after; same++, slot = list->items[slot].after) {
        if (edit_item_find((EditDoc *)(uintptr_t)base, EDIT_TERRAIN, old[same])->hash !=
            list->items[slot].hash) {
            break;
        }
        ids[same] = old[same];
    }
    uint32_t end = 0;
    for (slot = list->last; end < before - same && end < after - same;
         end++, slot = list->items[slot].before) {
        if (edit_item_find((EditDoc *)(uintptr_t)base, EDIT_TERRAIN, old[before - 1 - end])->hash !=
            list->items[slot].hash) {
            break;
        }
        ids[after - 1 - end] = old[before - 1 - end];
    }
    for (uint32_t i = same; i < after - end; i++) {
        do {
            ids[i] = edit_doc_new_id(now, EDIT_TERRAIN, rng);
        } while (edit_doc_has(base, EDIT_TERRAIN, ids[i]));
    }
    const Status status = edit_doc_renumber_terrain(next, ids);
    heap_free(next->heap, ids);
    return status;
}

static Status open_base(EditText *text, EditDoc **base)
{
    const EditSpans *spans = &text->spans[0];
    uint32_t *ids = heap_alloc(text->heap, heap_array_bytes(spans->count + 1u, sizeof *ids));
    if (ids == NULL) {
        return STATUS_LIMIT;
    }
    for (uint32_t i = 0; i < spans->count; i++) {
        ids[i] = spans->items[i].id;
    }
    PlaceError error;
    const Status status =
        edit_text_read(text->heap, (EditBlobs){0}, edit_text_now(text), ids, base, &error);
    heap_free(text->heap, ids);
    return status;
}

void edit_text_rebind(EditText *text)
{
    for (uint32_t i = 0; i < 2; i++) {
        for (uint32_t k = 0; k < text->spans[i].count; k++) {
            text->spans[i].items[k].version = 0;
        }
    }
}

void edit_text_adopt(EditText *text, const EditDoc *doc)
{
    EditSpans *spans = &text->spans[0];
    if (spans->count == edit_doc_count(doc, EDIT_TERRAIN)) {
        uint32_t id = edit_doc_first(doc, EDIT_TERRAIN);
        for (uint32_t i = 0; i < spans->count; i++, id = edit_doc_next(doc, EDIT_TERRAIN, id)) {
            spans->items[i].id = id;
        }
    }
    edit_text_rebind(text);
}

// What changed between the two texts, if it can be applied to the document as it is now; or else
// (somebody deleted meanwhile what was changed on disk) whatever makes the document equal the text.
static Status diff_to(EditDoc *doc, const EditDoc *base, const EditDoc *next, EditBuffer *ops)
{
    Status status = edit_diff(base, next, ops);
    if (status != STATUS_OK) {
        return status;
    }
    EditInverse inverse = edit_inverse(doc->heap);
    EditError ignored;
    if (edit_apply(doc, ops->data, ops->bytes, &inverse, &ignored) == STATUS_OK) {
        edit_take_back(doc, &inverse);
    } else {
        edit_buffer_clear(ops);
        status = edit_diff(doc, next, ops);
    }
    edit_inverse_free(&inverse);
    return status;
}

Status edit_text_take(EditText *text, EditDoc *doc, EditTexts texts, Rng *rng, EditBuffer *ops,
                      PlaceError *error)
{
    EditDoc *base = NULL;
    EditDoc *next = NULL;
    Status status = edit_text_read(text->heap, (EditBlobs){0}, texts, NULL, &next, error);
    text->is_blocked = status != STATUS_OK;
    if (status == STATUS_OK) {
        status = open_base(text, &base);
    }
    if (status == STATUS_OK) {
        status = number_terrain(base, doc, next, rng);
    }
    if (status == STATUS_OK) {
        status = diff_to(doc, base, next, ops);
    }
    if (status == STATUS_OK) {
        status = keep_texts(text, next, texts);
    }
    if (status == STATUS_OK) {
        edit_text_rebind(text); // the versions are those of `next`
    }
    edit_doc_destroy(base);
    edit_doc_destroy(next);
    return status;
}

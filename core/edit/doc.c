// Lists in order, an id → slot map for each, records on the heap, and the table of files. See
// doc.h.
#include "core/edit/doc_inside.h"

#include "core/base/check.h"
#include "core/base/hash.h"
#include "core/base/json_write.h"
#include "core/base/limits.h"
#include "core/base/utf8.h"

#include <string.h>

#define SLOTS_MIN   64
#define FORMAT      1
#define RECORDS_MAX EDIT_TRANSACTION_BYTES_MAX

// --- lists --------------------------------------------------------------------------------------

EditList *edit_list(EditDoc *doc, EditKind kind)
{
    ASSERT(kind == EDIT_TERRAIN || kind == EDIT_ENTITY);
    return &doc->lists[kind - EDIT_TERRAIN];
}

static const EditList *list_of(const EditDoc *doc, EditKind kind)
{
    ASSERT(kind == EDIT_TERRAIN || kind == EDIT_ENTITY);
    return &doc->lists[kind - EDIT_TERRAIN];
}

static uint32_t count_max(EditKind kind)
{
    return kind == EDIT_TERRAIN ? PLACE_TERRAIN_MAX : PLACE_ENTITIES_MAX;
}

uint32_t edit_slot_find(const EditDoc *doc, EditKind kind, uint32_t id)
{
    const EditList *list = list_of(doc, kind);
    return id == 0 || list->count == 0 ? 0 : id_map_find(&list->map, id);
}

static const EditItem *item_of(const EditDoc *doc, EditKind kind, uint32_t id)
{
    if (kind < EDIT_TERRAIN) {
        return id == 0 ? &doc->single[kind] : NULL;
    }
    const uint32_t slot = edit_slot_find(doc, kind, id);
    return slot == 0 ? NULL : &list_of(doc, kind)->items[slot];
}

EditItem *edit_item_find(EditDoc *doc, EditKind kind, uint32_t id)
{
    if (kind < EDIT_TERRAIN) {
        return id == 0 ? &doc->single[kind] : NULL;
    }
    const uint32_t slot = edit_slot_find(doc, kind, id);
    return slot == 0 ? NULL : &edit_list(doc, kind)->items[slot];
}

static Status grow_map(Heap *heap, EditList *list, uint32_t id_max)
{
    const size_t bytes = id_map_bytes(id_max);
    void *block = heap_alloc(heap, bytes);
    if (block == NULL) {
        return STATUS_LIMIT;
    }
    Arena arena;
    IdMap map;
    arena_init_zeroed(&arena, block, bytes);
    const Status status = id_map_init(&map, &arena, id_max);
    if (status != STATUS_OK) {
        heap_free(heap, block);
        return status;
    }
    for (uint32_t slot = list->first; slot != 0; slot = list->items[slot].after) {
        id_map_put(&map, list->items[slot].id, slot);
    }
    heap_free(heap, list->map_block);
    list->map = map;
    list->map_block = block;
    list->map_max = id_max;
    return STATUS_OK;
}

static Status grow_slots(Heap *heap, EditList *list)
{
    const uint32_t slot_max = list->slot_max < SLOTS_MIN ? SLOTS_MIN : list->slot_max * 2;
    EditItem *items = heap_alloc(heap, heap_array_bytes(slot_max, sizeof *items));
    if (items == NULL) {
        return STATUS_LIMIT;
    }
    if (list->items != NULL) {
        memcpy(items, list->items, list->slot_count * sizeof *items);
    }
    heap_free(heap, list->items);
    list->items = items;
    list->slot_max = slot_max;
    list->slot_count = list->slot_count == 0 ? 1 : list->slot_count;
    return STATUS_OK;
}

static Status make_room(Heap *heap, EditList *list)
{
    Status status = STATUS_OK;
    if (list->count == list->map_max) {
        status = grow_map(heap, list, list->map_max == 0 ? SLOTS_MIN : list->map_max * 2);
    }
    if (status == STATUS_OK && list->free == 0 && list->slot_count == list->slot_max) {
        status = grow_slots(heap, list);
    }
    return status;
}

static void link_after(EditList *list, uint32_t slot, uint32_t before)
{
    EditItem *item = &list->items[slot];
    item->before = before;
    item->after = before == 0 ? list->first : list->items[before].after;
    if (before == 0) {
        list->first = slot;
    } else {
        list->items[before].after = slot;
    }
    if (item->after == 0) {
        list->last = slot;
    } else {
        list->items[item->after].before = slot;
    }
}

static void unlink_item(EditList *list, uint32_t slot)
{
    const EditItem *item = &list->items[slot];
    if (item->before == 0) {
        list->first = item->after;
    } else {
        list->items[item->before].after = item->after;
    }
    if (item->after == 0) {
        list->last = item->before;
    } else {
        list->items[item->after].before = item->before;
    }
}

static uint32_t slot_before(const EditDoc *doc, EditKind kind, EditWhere where)
{
    if (where.spot == EDIT_AT_BEGIN) {
        return 0;
    }
    const uint32_t slot = where.spot == EDIT_AFTER ? edit_slot_find(doc, kind, where.id) : 0;
    return slot != 0 ? slot : list_of(doc, kind)->last;
}

EditWhere edit_where_of(const EditDoc *doc, EditKind kind, uint32_t id)
{
    const uint32_t before = edit_doc_before(doc, kind, id);
    return before == 0 ? (EditWhere){EDIT_AT_BEGIN, 0} : (EditWhere){EDIT_AFTER, before};
}

// --- measuring ----------------------------------------------------------------------------------

#define ROOT_BYTES  256 // of scene.json without what is measured: its braces and its two lists
#define ITEM_BYTES  16  // beside the object: a comma and a line break with four spaces
#define BUILT_NODES 2   // what the build adds to something with a script
#define BUILT_BYTES 160

// The printed text has a space after each comma and colon, of which a value has one each.
static Status measure(EditDoc *doc, EditKind kind, const uint8_t *record, size_t bytes,
                      EditSize *out)
{
    PlaceScratch scratch = {.heap = doc->heap};
    EditObject object;
    ByteWriter counter = byte_counter();
    JsonWriter writer = json_writer(&counter, 0);
    Status status = edit_record_read(kind, record, bytes, &scratch, &object);
    if (status == STATUS_OK) {
        place_table_to_json(edit_kind_table(kind), &object, &scratch, &writer);
        status = json_writer_finish(&writer);
    }
    *out = (EditSize){writer.value_count, counter.at + 2ull * writer.value_count + ITEM_BYTES};
    if (status == STATUS_OK && kind == EDIT_ENTITY &&
        object.entity.body.script_ref.path.bytes != 0) {
        out->nodes += BUILT_NODES;
        out->bytes += BUILT_BYTES;
    }
    place_scratch_free(&scratch);
    return status;
}

static void count_size(EditDoc *doc, EditItem *item, EditSize size)
{
    doc->size.nodes += size.nodes - item->text_nodes;
    doc->size.bytes += size.bytes - item->text_bytes;
    item->text_nodes = (uint32_t)size.nodes;
    item->text_bytes = (uint32_t)size.bytes;
}

static Status measure_item(EditDoc *doc, EditKind kind, EditItem *item)
{
    EditSize size;
    const Status status = measure(doc, kind, item->record, item->bytes, &size);
    if (status == STATUS_OK) {
        count_size(doc, item, size);
    }
    return status;
}

Status edit_doc_measure(EditDoc *doc)
{
    doc->is_measured = true;
    doc->size = (EditSize){0};
    doc->single[EDIT_SCENE].text_nodes = doc->single[EDIT_SCENE].text_bytes = 0;
    Status status = measure_item(doc, EDIT_SCENE, &doc->single[EDIT_SCENE]);
    for (uint32_t i = 0; i < 2; i++) {
        EditList *list = &doc->lists[i];
        for (uint32_t at = list->first; at != 0 && status == STATUS_OK;
             at = list->items[at].after) {
            list->items[at].text_nodes = list->items[at].text_bytes = 0;
            status = measure_item(doc, (EditKind)(EDIT_TERRAIN + i), &list->items[at]);
        }
    }
    return status;
}

EditSize edit_doc_size(const EditDoc *doc)
{
    ASSERT(doc->is_measured);
    return (EditSize){doc->size.nodes + 2, doc->size.bytes + ROOT_BYTES};
}

// --- changes ------------------------------------------------------------------------------------

Status edit_item_record(EditDoc *doc, EditKind kind, EditItem *item, const uint8_t *record,
                        size_t bytes)
{
    EditSize size = {0};
    if (doc->is_measured && kind != EDIT_SETTINGS) {
        const Status status = measure(doc, kind, record, bytes, &size);
        if (status != STATUS_OK) {
            return status;
        }
    }
    if (bytes > RECORDS_MAX || doc->record_bytes - item->bytes + bytes > EDIT_RECORDS_BYTES_MAX) {
        return STATUS_LIMIT;
    }
    uint8_t *copy = heap_alloc(doc->heap, bytes);
    if (copy == NULL) {
        return STATUS_LIMIT;
    }
    memcpy(copy, record, bytes);
    heap_free(doc->heap, item->record);
    Hash64 hash = HASH64_INIT;
    hash_bytes(&hash, record, bytes);
    doc->record_bytes = doc->record_bytes - item->bytes + bytes;
    item->record = copy;
    item->bytes = (uint32_t)bytes;
    item->hash = hash.state;
    item->version = ++doc->version;
    count_size(doc, item, size);
    return STATUS_OK;
}

static void count_child(EditDoc *doc, uint32_t parent, uint32_t change)
{
    EditItem *above = edit_item_find(doc, EDIT_ENTITY, parent);
    if (above != NULL) {
        above->child_count += change;
    }
}

void edit_item_parent(EditDoc *doc, EditItem *item, uint32_t parent)
{
    count_child(doc, item->parent, UINT32_MAX);
    item->parent = parent;
    count_child(doc, parent, 1);
}

Status edit_item_add(EditDoc *doc, EditKind kind, uint32_t id, uint32_t parent, EditWhere where,
                     const uint8_t *record, size_t bytes)
{
    EditList *list = edit_list(doc, kind);
    ASSERT(id != 0 && !edit_doc_has(doc, kind, id));
    if (list->count == count_max(kind)) {
        return STATUS_LIMIT;
    }
    Status status = make_room(doc->heap, list);
    EditItem item = {.id = id};
    if (status == STATUS_OK) {
        status = edit_item_record(doc, kind, &item, record, bytes);
    }
    if (status != STATUS_OK) {
        return status;
    }
    uint32_t slot = list->free;
    if (slot != 0) {
        list->free = list->items[slot].after;
    } else {
        slot = list->slot_count++;
    }
    const uint32_t before = slot_before(doc, kind, where);
    list->items[slot] = item;
    link_after(list, slot, before);
    id_map_put(&list->map, id, slot);
    list->count += 1;
    edit_item_parent(doc, &list->items[slot], parent);
    return STATUS_OK;
}

void edit_item_remove(EditDoc *doc, EditKind kind, uint32_t id)
{
    EditList *list = edit_list(doc, kind);
    const uint32_t slot = edit_slot_find(doc, kind, id);
    ASSERT(slot != 0 && list->items[slot].child_count == 0);
    EditItem *item = &list->items[slot];
    edit_item_parent(doc, item, 0);
    unlink_item(list, slot);
    id_map_remove(&list->map, id);
    heap_free(doc->heap, item->record);
    doc->record_bytes -= item->bytes;
    count_size(doc, item, (EditSize){0});
    *item = (EditItem){.after = list->free};
    list->free = slot;
    list->count -= 1;
    doc->version += 1;
}

void edit_item_place(EditDoc *doc, EditKind kind, uint32_t id, EditWhere where)
{
    EditList *list = edit_list(doc, kind);
    const uint32_t slot = edit_slot_find(doc, kind, id);
    if (where.spot == EDIT_AFTER && where.id == id) {
        return;
    }
    unlink_item(list, slot);
    // `last` is right again only now, so the end is looked for after the item was taken out.
    uint32_t before = 0;
    if (where.spot != EDIT_AT_BEGIN) {
        const uint32_t named = where.spot == EDIT_AFTER ? edit_slot_find(doc, kind, where.id) : 0;
        before = named != 0 ? named : list->last;
    }
    link_after(list, slot, before);
    doc->version += 1;
}

uint32_t edit_depth_below(const EditDoc *doc, uint32_t parent)
{
    uint32_t depth = 0;
    while (parent != 0 && depth <= PLACE_PARENTS_MAX) {
        parent = edit_doc_parent(doc, parent);
        depth += 1;
    }
    return depth;
}

// --- files --------------------------------------------------------------------------------------

bool edit_hash_is_none(const uint8_t hash[SHA256_BYTES])
{
    static const uint8_t none[SHA256_BYTES];
    return memcmp(hash, none, SHA256_BYTES) == 0;
}

static bool is_path_part(const char *part, size_t bytes)
{
    return bytes != 0 && !(bytes == 1 && part[0] == '.') &&
           !(bytes == 2 && part[0] == '.' && part[1] == '.');
}

bool edit_path_is_valid(Text path)
{
    if (path.bytes == 0 || path.bytes > EDIT_PATH_BYTES_MAX ||
        !text_is_valid(path.data, path.bytes) || utf8_has_control(path.data, path.bytes) ||
        text_is(path, "place.json") || text_is(path, "scene.json")) {
        return false;
    }
    size_t from = 0;
    for (size_t i = 0; i <= path.bytes; i++) {
        if (i < path.bytes && (path.data[i] == '\\' || path.data[i] == ':')) {
            return false;
        }
        if (i == path.bytes || path.data[i] == '/') {
            if (!is_path_part(path.data + from, i - from)) {
                return false;
            }
            from = i + 1;
        }
    }
    return true;
}

// The index of the path, or of the first one after it.
static uint32_t file_index(const EditDoc *doc, Text path)
{
    uint32_t low = 0;
    uint32_t high = doc->file_count;
    while (low < high) {
        const uint32_t middle = (low + high) / 2;
        if (text_compare(doc->files[middle].path, path) < 0) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

const EditFile *edit_doc_file_find(const EditDoc *doc, Text path)
{
    const uint32_t index = file_index(doc, path);
    const bool is_there = index < doc->file_count && text_equal(doc->files[index].path, path);
    return is_there ? &doc->files[index] : NULL;
}

static Status grow_files(EditDoc *doc)
{
    const uint32_t file_max = doc->file_max == 0 ? 16 : doc->file_max * 2;
    EditFile *files = heap_alloc(doc->heap, heap_array_bytes(file_max, sizeof *files));
    if (files == NULL) {
        return STATUS_LIMIT;
    }
    if (doc->file_count != 0) {
        memcpy(files, doc->files, doc->file_count * sizeof *files);
    }
    heap_free(doc->heap, doc->files);
    doc->files = files;
    doc->file_max = file_max;
    return STATUS_OK;
}

static Status file_add(EditDoc *doc, uint32_t index, Text path, const uint8_t hash[SHA256_BYTES])
{
    if (doc->file_count == PLACE_FILES_MAX) {
        return STATUS_LIMIT;
    }
    if (doc->file_count == doc->file_max && grow_files(doc) != STATUS_OK) {
        return STATUS_LIMIT;
    }
    char *copy = heap_alloc(doc->heap, path.bytes + 1);
    if (copy == NULL) {
        return STATUS_LIMIT;
    }
    memcpy(copy, path.data, path.bytes);
    EditFile *at = &doc->files[index];
    memmove(at + 1, at, (doc->file_count - index) * sizeof *at);
    at->path = (Text){copy, path.bytes};
    memcpy(at->hash, hash, SHA256_BYTES);
    doc->file_count += 1;
    return STATUS_OK;
}

Status edit_file_put(EditDoc *doc, Text path, const uint8_t hash[SHA256_BYTES])
{
    const uint32_t index = file_index(doc, path);
    if (edit_doc_file_find(doc, path) == NULL) {
        return edit_hash_is_none(hash) ? STATUS_OK : file_add(doc, index, path, hash);
    }
    EditFile *at = &doc->files[index];
    if (!edit_hash_is_none(hash)) {
        memcpy(at->hash, hash, SHA256_BYTES);
        return STATUS_OK;
    }
    heap_free(doc->heap, (void *)(uintptr_t)at->path.data);
    memmove(at, at + 1, (doc->file_count - index - 1) * sizeof *at);
    doc->file_count -= 1;
    return STATUS_OK;
}

uint32_t edit_doc_file_count(const EditDoc *doc)
{
    return doc->file_count;
}

const EditFile *edit_doc_file_at(const EditDoc *doc, uint32_t index)
{
    ASSERT(index < doc->file_count);
    return &doc->files[index];
}

// --- the document -------------------------------------------------------------------------------

static Status put_default(EditDoc *doc, EditKind kind)
{
    EditObject object;
    memset(&object, 0, sizeof object);
    place_table_default(edit_kind_table(kind), &object);
    if (kind == EDIT_SETTINGS) {
        object.settings.name = (Text){"New place", 9};
    }
    edit_buffer_clear(&doc->work);
    edit_record_write(kind, &object, &doc->work);
    return doc->work.status != STATUS_OK
               ? doc->work.status
               : edit_item_record(doc, kind, &doc->single[kind], doc->work.data, doc->work.bytes);
}

Status edit_doc_create(Heap *heap, EditBlobs blobs, EditDoc **out)
{
    EditDoc *doc = heap_alloc(heap, sizeof *doc);
    if (doc == NULL) {
        return STATUS_LIMIT;
    }
    doc->heap = heap;
    doc->blobs = blobs;
    doc->work = edit_buffer(heap, RECORDS_MAX);
    Status status = put_default(doc, EDIT_SETTINGS);
    if (status == STATUS_OK) {
        status = put_default(doc, EDIT_SCENE);
    }
    if (status != STATUS_OK) {
        edit_doc_destroy(doc);
        return status;
    }
    *out = doc;
    return STATUS_OK;
}

void edit_doc_destroy(EditDoc *doc)
{
    if (doc == NULL) {
        return;
    }
    for (uint32_t i = 0; i < 2; i++) {
        EditList *list = &doc->lists[i];
        heap_free(doc->heap, doc->single[i].record);
        for (uint32_t slot = list->first; slot != 0; slot = list->items[slot].after) {
            heap_free(doc->heap, list->items[slot].record);
        }
        heap_free(doc->heap, list->items);
        heap_free(doc->heap, list->map_block);
    }
    for (uint32_t i = 0; i < doc->file_count; i++) {
        heap_free(doc->heap, (void *)(uintptr_t)doc->files[i].path.data);
    }
    heap_free(doc->heap, doc->files);
    edit_buffer_free(&doc->work);
    heap_free(doc->heap, doc);
}

void edit_doc_set_blobs(EditDoc *doc, EditBlobs blobs)
{
    doc->blobs = blobs;
}

Heap *edit_doc_heap(const EditDoc *doc)
{
    return doc->heap;
}

// The ids of terrain are not in the file and not in the hash.
static bool records_are_same(const EditItem *a, const EditItem *b)
{
    return a->bytes == b->bytes && (a->bytes == 0 || memcmp(a->record, b->record, a->bytes) == 0);
}

bool edit_doc_says_same(const EditDoc *a, const EditDoc *b, EditKind text)
{
    ASSERT(text == EDIT_SETTINGS || text == EDIT_SCENE);
    if (text == EDIT_SETTINGS) {
        return records_are_same(&a->single[0], &b->single[0]);
    }
    bool is_same = records_are_same(&a->single[1], &b->single[1]);
    for (uint32_t i = 0; i < 2 && is_same; i++) {
        const EditList *x = &a->lists[i], *y = &b->lists[i];
        uint32_t m = x->first, n = y->first;
        for (; is_same && m != 0 && n != 0; m = x->items[m].after, n = y->items[n].after) {
            is_same = records_are_same(&x->items[m], &y->items[n]);
        }
        is_same = is_same && m == 0 && n == 0;
    }
    return is_same;
}

uint64_t edit_doc_hash(const EditDoc *doc)
{
    Hash64 hash = HASH64_INIT;
    hash_u64(&hash, doc->single[EDIT_SETTINGS].hash);
    hash_u64(&hash, doc->single[EDIT_SCENE].hash);
    for (uint32_t i = 0; i < 2; i++) {
        const EditList *list = &doc->lists[i];
        hash_u32(&hash, list->count);
        for (uint32_t slot = list->first; slot != 0; slot = list->items[slot].after) {
            hash_u64(&hash, list->items[slot].hash);
        }
    }
    hash_u32(&hash, doc->file_count);
    for (uint32_t i = 0; i < doc->file_count; i++) {
        hash_bytes(&hash, doc->files[i].path.data, doc->files[i].path.bytes);
        hash_bytes(&hash, doc->files[i].hash, SHA256_BYTES);
    }
    return hash.state;
}

uint32_t edit_doc_count(const EditDoc *doc, EditKind kind)
{
    return kind < EDIT_TERRAIN ? 1 : list_of(doc, kind)->count;
}

bool edit_doc_has(const EditDoc *doc, EditKind kind, uint32_t id)
{
    return item_of(doc, kind, id) != NULL;
}

uint32_t edit_doc_first(const EditDoc *doc, EditKind kind)
{
    const EditList *list = list_of(doc, kind);
    return list->first == 0 ? 0 : list->items[list->first].id;
}

uint32_t edit_doc_next(const EditDoc *doc, EditKind kind, uint32_t id)
{
    const EditItem *item = item_of(doc, kind, id);
    return item == NULL || item->after == 0 ? 0 : list_of(doc, kind)->items[item->after].id;
}

uint32_t edit_doc_before(const EditDoc *doc, EditKind kind, uint32_t id)
{
    const EditItem *item = item_of(doc, kind, id);
    return item == NULL || item->before == 0 ? 0 : list_of(doc, kind)->items[item->before].id;
}

uint32_t edit_doc_parent(const EditDoc *doc, uint32_t entity)
{
    const EditItem *item = item_of(doc, EDIT_ENTITY, entity);
    return item == NULL ? 0 : item->parent;
}

const uint8_t *edit_doc_record(const EditDoc *doc, EditKind kind, uint32_t id, size_t *bytes)
{
    const EditItem *item = item_of(doc, kind, id);
    ASSERT(item != NULL);
    *bytes = item->bytes;
    return item->record;
}

bool edit_doc_same(const EditDoc *a, const EditDoc *b, EditKind kind, uint32_t id)
{
    size_t a_bytes, b_bytes;
    const uint8_t *in_a = edit_doc_record(a, kind, id, &a_bytes);
    const uint8_t *in_b = edit_doc_record(b, kind, id, &b_bytes);
    return a_bytes == b_bytes && memcmp(in_a, in_b, a_bytes) == 0;
}

Status edit_doc_read(const EditDoc *doc, EditKind kind, uint32_t id, PlaceScratch *scratch,
                     EditObject *out)
{
    const EditItem *item = item_of(doc, kind, id);
    return item == NULL ? STATUS_NOT_FOUND
                        : edit_record_read(kind, item->record, item->bytes, scratch, out);
}

uint32_t edit_doc_version(const EditDoc *doc, EditKind kind, uint32_t id)
{
    const EditItem *item = item_of(doc, kind, id);
    return item == NULL ? 0 : item->version;
}

uint32_t edit_doc_new_id(const EditDoc *doc, EditKind kind, Rng *rng)
{
    for (;;) {
        const uint32_t id = rng_u32(rng);
        if (id != 0 && !edit_doc_has(doc, kind, id)) {
            return id;
        }
    }
}

// --- bytes --------------------------------------------------------------------------------------
//
//   u8 format, u32 mark of the tables (member.h), the records of settings and scene as blocks; for
//   terrain and entities a count, and each an id and a block; a count of files, each a path as a
//   block and a hash. Parents are in the records.

void edit_doc_write(const EditDoc *doc, EditBuffer *out)
{
    edit_buffer_u8(out, FORMAT);
    edit_buffer_varint(out, edit_member_mark());
    for (uint32_t i = 0; i < 2; i++) {
        edit_buffer_block(out, doc->single[i].record, doc->single[i].bytes);
    }
    for (uint32_t i = 0; i < 2; i++) {
        const EditList *list = &doc->lists[i];
        edit_buffer_varint(out, list->count);
        for (uint32_t slot = list->first; slot != 0; slot = list->items[slot].after) {
            edit_buffer_varint(out, list->items[slot].id);
            edit_buffer_block(out, list->items[slot].record, list->items[slot].bytes);
        }
    }
    edit_buffer_varint(out, doc->file_count);
    for (uint32_t i = 0; i < doc->file_count; i++) {
        edit_buffer_block(out, doc->files[i].path.data, doc->files[i].path.bytes);
        edit_buffer_append(out, doc->files[i].hash, SHA256_BYTES);
    }
}

Status edit_item_load(EditDoc *doc, EditKind kind, uint32_t id, const EditObject *object)
{
    edit_buffer_clear(&doc->work);
    edit_record_write(kind, object, &doc->work);
    if (doc->work.status != STATUS_OK) {
        return doc->work.status;
    }
    if (kind < EDIT_TERRAIN) {
        return edit_item_record(doc, kind, &doc->single[kind], doc->work.data, doc->work.bytes);
    }
    if (id == 0 || edit_doc_has(doc, kind, id)) {
        return STATUS_EXISTS;
    }
    const EditWhere where = {EDIT_AT_END, 0};
    const Status status = edit_item_add(doc, kind, id, 0, where, doc->work.data, doc->work.bytes);
    if (status == STATUS_OK && kind == EDIT_ENTITY) {
        edit_item_find(doc, kind, id)->parent = object->entity.parent;
    }
    return status;
}

Status edit_doc_link(EditDoc *doc, uint32_t *bad)
{
    EditList *list = edit_list(doc, EDIT_ENTITY);
    for (uint32_t slot = list->first; slot != 0; slot = list->items[slot].after) {
        const EditItem *item = &list->items[slot];
        *bad = item->id;
        if (item->parent != 0 && !edit_doc_has(doc, EDIT_ENTITY, item->parent)) {
            return STATUS_NOT_FOUND;
        }
        if (edit_depth_below(doc, item->parent) > PLACE_PARENTS_MAX) {
            return STATUS_LIMIT;
        }
        count_child(doc, item->parent, 1);
    }
    return STATUS_OK;
}

Status edit_doc_renumber_terrain(EditDoc *doc, const uint32_t *ids)
{
    EditList *list = edit_list(doc, EDIT_TERRAIN);
    for (uint32_t slot = list->first; slot != 0; slot = list->items[slot].after) {
        list->items[slot].id = *ids++;
    }
    return list->count == 0 ? STATUS_OK : grow_map(doc->heap, list, list->map_max);
}

// Into the form that a document has; the object's own id must be the one announced.
static Status read_item(EditDoc *doc, EditKind kind, uint32_t id, const uint8_t *bytes,
                        size_t count)
{
    PlaceScratch scratch = {.heap = doc->heap};
    EditObject object;
    Status status = edit_record_read(kind, bytes, count, &scratch, &object);
    if (status == STATUS_OK) {
        status = edit_object_tidy(kind, &scratch, &object);
    }
    if (status == STATUS_OK && kind == EDIT_SCENE &&
        (object.scene.terrain.count != 0 || object.scene.entities.count != 0)) {
        status = STATUS_MALFORMED;
    }
    if (status == STATUS_OK && kind == EDIT_ENTITY && object.entity.id != id) {
        status = STATUS_MALFORMED;
    }
    if (status == STATUS_OK) {
        status = edit_item_load(doc, kind, id, &object);
    }
    place_scratch_free(&scratch);
    return status;
}

static Status read_list(EditDoc *doc, EditKind kind, ByteReader *reader)
{
    const uint32_t count = byte_read_count(reader, count_max(kind));
    for (uint32_t i = 0; i < count && reader->status == STATUS_OK; i++) {
        const uint64_t id = byte_read_varint(reader);
        size_t bytes;
        const uint8_t *record = edit_read_block(reader, &bytes);
        if (reader->status != STATUS_OK) {
            break;
        }
        if (id > UINT32_MAX) {
            return STATUS_RANGE;
        }
        const Status status = read_item(doc, kind, (uint32_t)id, record, bytes);
        if (status != STATUS_OK) {
            return status;
        }
    }
    return reader->status;
}

static Status read_files(EditDoc *doc, ByteReader *reader)
{
    const uint32_t count = byte_read_count(reader, PLACE_FILES_MAX);
    for (uint32_t i = 0; i < count && reader->status == STATUS_OK; i++) {
        size_t bytes;
        const uint8_t *path = edit_read_block(reader, &bytes);
        const uint8_t *hash = byte_read_bytes(reader, SHA256_BYTES);
        if (path == NULL || hash == NULL) {
            break;
        }
        const Text text = {(const char *)path, bytes};
        if (!edit_path_is_valid(text) || edit_hash_is_none(hash)) {
            return STATUS_MALFORMED;
        }
        const Status status = edit_file_put(doc, text, hash);
        if (status != STATUS_OK) {
            return status;
        }
    }
    return reader->status;
}

static Status read_all(EditDoc *doc, ByteReader *reader)
{
    const uint8_t format = byte_read_u8(reader);
    const uint64_t mark = byte_read_varint(reader);
    if (reader->status == STATUS_OK && (format != FORMAT || mark != edit_member_mark())) {
        return STATUS_UNSUPPORTED;
    }
    Status status = reader->status;
    for (uint32_t i = 0; i < 2 && status == STATUS_OK; i++) {
        size_t bytes;
        const uint8_t *record = edit_read_block(reader, &bytes);
        status = record == NULL ? reader->status : read_item(doc, (EditKind)i, 0, record, bytes);
    }
    for (uint32_t i = 0; i < 2 && status == STATUS_OK; i++) {
        status = read_list(doc, (EditKind)(EDIT_TERRAIN + i), reader);
    }
    if (status == STATUS_OK) {
        status = read_files(doc, reader);
    }
    if (status == STATUS_OK) {
        status = byte_reader_finish(reader);
    }
    uint32_t bad;
    return status != STATUS_OK ? status : edit_doc_link(doc, &bad);
}

Status edit_doc_open(Heap *heap, EditBlobs blobs, const uint8_t *bytes, size_t count, EditDoc **out)
{
    EditDoc *doc = NULL;
    Status status = edit_doc_create(heap, blobs, &doc);
    if (status != STATUS_OK) {
        return status;
    }
    ByteReader reader = byte_reader(bytes, count);
    status = read_all(doc, &reader);
    if (status != STATUS_OK) {
        edit_doc_destroy(doc);
        return status;
    }
    *out = doc;
    return STATUS_OK;
}

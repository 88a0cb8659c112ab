// Names, attributes and tags by net id; see book.h.
#include "core/script/book.h"

#include "core/base/check.h"
#include "core/base/hash.h"
#include "core/base/part.h"
#include "core/base/text.h"

#include <string.h>

#define TEXT_SMALL_BYTES 64

typedef struct Attribute {
    BookName name;
    ScriptValueType type;
    uint32_t flags;
    bool boolean;
    double number;
    Vec3 vector;
    uint64_t entity;
    uint32_t text_pool; // which of Book.texts
    uint32_t text_slot; // 0: no text kept
    uint32_t text_bytes;
    uint32_t maker, text_maker;
    uint32_t after; // the next by name, 0: none
} Attribute;

static const uint32_t text_pool_bytes[BOOK_TEXT_POOLS] = {TEXT_SMALL_BYTES, BOOK_TEXT_BYTES};

// --- creation -----------------------------------------------------------------------------------

BookConfig book_config_default(void)
{
    return (BookConfig){.record_max = 16384,
                        .attribute_max = 16384,
                        .attributes_per_entity_max = 64,
                        .tag_max = 128,
                        .text_small_max = 8192,
                        .text_large_max = 1024};
}

BookConfig book_config_view(void)
{
    return (BookConfig){.record_max = 2048,
                        .attribute_max = 4096,
                        .attributes_per_entity_max = 64,
                        .tag_max = 64,
                        .text_small_max = 1024,
                        .text_large_max = 128};
}

static uint32_t bucket_count(const BookConfig *config)
{
    uint32_t count = 16;
    while (count < config->record_max) {
        count *= 2;
    }
    return count;
}

static size_t member_words(const BookConfig *config)
{
    return ((size_t)config->record_max + 1 + 63) / 64;
}

size_t book_bytes(const BookConfig *config)
{
    size_t bytes = pool_bytes(config->record_max, sizeof(Record));
    bytes += pool_bytes(config->attribute_max, sizeof(Attribute));
    bytes += pool_bytes(config->text_small_max, TEXT_SMALL_BYTES);
    bytes += pool_bytes(config->text_large_max, BOOK_TEXT_BYTES);
    bytes += id_map_bytes(config->record_max);
    bytes += 2 * arena_need(bucket_count(config) * sizeof(uint32_t));
    bytes += arena_need(config->tag_max * sizeof(BookTag));
    bytes += config->tag_max * arena_need(member_words(config) * sizeof(uint64_t));
    return bytes;
}

Status book_init(Book *book, Arena *arena, const BookConfig *config)
{
    *book = (Book){.config = *config};
    Status status = pool_init(&book->records, arena, config->record_max, sizeof(Record));
    if (status == STATUS_OK) {
        status = pool_init(&book->attributes, arena, config->attribute_max, sizeof(Attribute));
    }
    if (status == STATUS_OK) {
        status = pool_init(&book->texts[0], arena, config->text_small_max, TEXT_SMALL_BYTES);
    }
    if (status == STATUS_OK) {
        status = pool_init(&book->texts[1], arena, config->text_large_max, BOOK_TEXT_BYTES);
    }
    if (status == STATUS_OK) {
        status = id_map_init(&book->map, arena, config->record_max);
    }
    book->name_mask = bucket_count(config) - 1;
    book->name_first = arena_array(arena, bucket_count(config), sizeof(uint32_t));
    book->name_last = arena_array(arena, bucket_count(config), sizeof(uint32_t));
    book->tags = arena_array(arena, config->tag_max, sizeof(BookTag));
    if (book->name_first == NULL || book->name_last == NULL || book->tags == NULL) {
        return STATUS_LIMIT;
    }
    for (uint32_t i = 0; i < config->tag_max && status == STATUS_OK; i++) {
        book->tags[i].members = arena_array(arena, member_words(config), sizeof(uint64_t));
        status = book->tags[i].members == NULL ? STATUS_LIMIT : STATUS_OK;
    }
    return status;
}

// --- small things -------------------------------------------------------------------------------

static Status count_limit(Book *book)
{
    book->limit_count += 1;
    return STATUS_LIMIT;
}

Status book_name_check(Text name)
{
    if (name.bytes < 1 || name.bytes > BOOK_NAME_BYTES) {
        return STATUS_RANGE;
    }
    return text_is_valid(name.data, name.bytes) ? STATUS_OK : STATUS_MALFORMED;
}

static bool number_is_finite(double number)
{
    return number - number == 0;
}

Status book_value_check(const ScriptValue *value)
{
    switch (value->type) {
    case SCRIPT_NIL:
    case SCRIPT_BOOL:
        return STATUS_OK;
    case SCRIPT_NUMBER:
        return number_is_finite(value->number) ? STATUS_OK : STATUS_RANGE;
    case SCRIPT_VECTOR:
        return vec3_is_finite(value->vector) ? STATUS_OK : STATUS_RANGE;
    case SCRIPT_ENTITY:
        return value->entity <= SIM_NET_ID_MAX ? STATUS_OK : STATUS_RANGE;
    case SCRIPT_TEXT:
        if (value->text.bytes > BOOK_TEXT_BYTES) {
            return STATUS_RANGE;
        }
        return text_is_valid(value->text.data, value->text.bytes) ? STATUS_OK : STATUS_MALFORMED;
    default:
        return STATUS_UNSUPPORTED;
    }
}

static BookName name_make(Text text)
{
    ASSERT(text.bytes <= BOOK_NAME_BYTES);
    BookName name = {.bytes = (uint8_t)text.bytes};
    if (text.bytes > 0) {
        memcpy(name.data, text.data, text.bytes);
    }
    return name;
}

static Text name_text(const BookName *name)
{
    return (Text){name->data, name->bytes};
}

static int name_compare(const BookName *name, Text text)
{
    const size_t shorter = name->bytes < text.bytes ? name->bytes : text.bytes;
    const int order = shorter > 0 ? memcmp(name->data, text.data, shorter) : 0;
    if (order != 0) {
        return order;
    }
    return name->bytes < text.bytes ? -1 : name->bytes > text.bytes ? 1 : 0;
}

bool book_name_equal(const BookName *name, Text text)
{
    return name_compare(name, text) == 0;
}

static void touch(Book *book, Record *record)
{
    book->version += 1;
    record->version = book->version;
}

// --- records ------------------------------------------------------------------------------------

Record *book_at(const Book *book, uint32_t slot)
{
    return (Record *)pool_at(&book->records, slot);
}

uint32_t book_next(const Book *book, uint32_t after)
{
    return pool_next(&book->records, after + 1);
}

Record *book_find(const Book *book, uint64_t net_id)
{
    const uint32_t slot = id_map_find(&book->map, net_id);
    return slot == 0 ? NULL : book_at(book, slot);
}

static bool has_part(const Book *book, uint32_t kind, uint32_t used, uint32_t max)
{
    return book->maker == 0 || part_is_fair(book->parts[kind][book->maker], used, max);
}

static bool pool_has_part(const Book *book, uint32_t kind, const Pool *pool)
{
    return has_part(book, kind, pool->count, pool->slot_count - 1);
}

Status book_open(Book *book, uint64_t net_id, Record **out)
{
    ASSERT(net_id != 0);
    Record *record = book_find(book, net_id);
    if (record == NULL) {
        const Handle handle = pool_has_part(book, BOOK_PART_RECORDS, &book->records)
                                  ? pool_acquire(&book->records)
                                  : HANDLE_NONE;
        if (handle_is_none(handle)) {
            return count_limit(book);
        }
        record = book_at(book, handle.index);
        record->maker = book->maker;
        book->parts[BOOK_PART_RECORDS][record->maker] += 1;
        record->net_id = net_id;
        record->removed_tick = UINT64_MAX;
        id_map_put(&book->map, net_id, handle.index);
        touch(book, record);
    }
    *out = record;
    return STATUS_OK;
}

static uint32_t slot_of(const Book *book, const Record *record)
{
    return id_map_find(&book->map, record->net_id);
}

static uint32_t bucket_of(const Book *book, Text name)
{
    Hash64 hash = HASH64_INIT;
    hash_bytes(&hash, name.data, name.bytes);
    return (uint32_t)hash.state & book->name_mask;
}

static void name_link(Book *book, uint32_t slot)
{
    Record *record = book_at(book, slot);
    const uint32_t bucket = bucket_of(book, name_text(&record->name));
    // Net ids rise, so the place is nearly always the end.
    uint32_t before = book->name_last[bucket];
    while (before != 0 && book_at(book, before)->net_id > record->net_id) {
        before = book_at(book, before)->name_before;
    }
    const uint32_t after =
        before != 0 ? book_at(book, before)->name_after : book->name_first[bucket];
    record->name_before = before;
    record->name_after = after;
    *(before != 0 ? &book_at(book, before)->name_after : &book->name_first[bucket]) = slot;
    *(after != 0 ? &book_at(book, after)->name_before : &book->name_last[bucket]) = slot;
}

static void name_unlink(Book *book, const Record *record)
{
    const uint32_t bucket = bucket_of(book, name_text(&record->name));
    const uint32_t before = record->name_before;
    const uint32_t after = record->name_after;
    *(before != 0 ? &book_at(book, before)->name_after : &book->name_first[bucket]) = after;
    *(after != 0 ? &book_at(book, after)->name_before : &book->name_last[bucket]) = before;
}

void book_remove(Book *book, uint64_t net_id)
{
    Record *record = book_find(book, net_id);
    if (record == NULL) {
        return;
    }
    book_empty(book, record);
    if (record->name.bytes > 0) {
        name_unlink(book, record);
    }
    const uint32_t slot = slot_of(book, record);
    book->parts[BOOK_PART_RECORDS][record->maker] -= 1;
    id_map_remove(&book->map, net_id);
    (void)pool_release(&book->records, pool_handle(&book->records, slot));
    book->removed_count += 1;
    book->version += 1;
}

// Anchored parts have a record only while there is something in it.
static void drop_if_empty(Book *book, Record *record)
{
    if (record->attribute_count == 0 && record->tag_count == 0 && record->name.bytes == 0 &&
        handle_is_none(record->entity)) {
        book_remove(book, record->net_id);
    }
}

// --- names --------------------------------------------------------------------------------------

Status book_set_name(Book *book, uint64_t net_id, Text name)
{
    const Status checked = book_name_check(name);
    if (checked != STATUS_OK) {
        return checked;
    }
    Record *record = NULL;
    const Status status = book_open(book, net_id, &record);
    if (status != STATUS_OK) {
        return status;
    }
    if (record->name.bytes > 0) {
        return book_name_equal(&record->name, name) ? STATUS_OK : STATUS_EXISTS;
    }
    record->name = name_make(name);
    name_link(book, slot_of(book, record));
    touch(book, record);
    return STATUS_OK;
}

Text book_name(const Book *book, uint64_t net_id)
{
    const Record *record = book_find(book, net_id);
    return record == NULL ? (Text){"", 0} : name_text(&record->name);
}

Record *book_named(const Book *book, Text name, const Record *after)
{
    if (name.bytes == 0) {
        return NULL;
    }
    uint32_t slot = after != NULL ? after->name_after : book->name_first[bucket_of(book, name)];
    while (slot != 0 && !book_name_equal(&book_at(book, slot)->name, name)) {
        slot = book_at(book, slot)->name_after;
    }
    return slot == 0 ? NULL : book_at(book, slot);
}

// --- attributes ---------------------------------------------------------------------------------

static Attribute *attribute_at(const Book *book, uint32_t slot)
{
    return (Attribute *)pool_at(&book->attributes, slot);
}

// The link to the attribute of that name, or to where it would go.
static uint32_t *attribute_link(const Book *book, Record *record, Text name)
{
    uint32_t *link = &record->attribute_first;
    while (*link != 0 && name_compare(&attribute_at(book, *link)->name, name) < 0) {
        link = &attribute_at(book, *link)->after;
    }
    return link;
}

static Attribute *attribute_find(const Book *book, Record *record, Text name)
{
    const uint32_t slot = *attribute_link(book, record, name);
    const bool found = slot != 0 && book_name_equal(&attribute_at(book, slot)->name, name);
    return found ? attribute_at(book, slot) : NULL;
}

static void text_drop(Book *book, Attribute *attribute)
{
    if (attribute->text_slot != 0) {
        Pool *pool = &book->texts[attribute->text_pool];
        (void)pool_release(pool, pool_handle(pool, attribute->text_slot));
        book->parts[BOOK_PART_TEXTS + attribute->text_pool][attribute->text_maker] -= 1;
        attribute->text_slot = 0;
    }
}

// A place for a text of that size, in the smallest pool that has one.
static Status text_take(Book *book, size_t bytes, uint32_t *pool, uint32_t *slot)
{
    for (uint32_t i = 0; i < BOOK_TEXT_POOLS; i++) {
        if (bytes <= text_pool_bytes[i]) {
            const Handle handle = pool_has_part(book, BOOK_PART_TEXTS + i, &book->texts[i])
                                      ? pool_acquire(&book->texts[i])
                                      : HANDLE_NONE;
            if (!handle_is_none(handle)) {
                *pool = i;
                *slot = handle.index;
                return STATUS_OK;
            }
        }
    }
    return count_limit(book);
}

static void attribute_remove(Book *book, Record *record, Text name)
{
    uint32_t *link = attribute_link(book, record, name);
    if (*link == 0 || !book_name_equal(&attribute_at(book, *link)->name, name)) {
        return;
    }
    const uint32_t slot = *link;
    Attribute *attribute = attribute_at(book, slot);
    text_drop(book, attribute);
    *link = attribute->after;
    book->parts[BOOK_PART_ATTRIBUTES][attribute->maker] -= 1;
    (void)pool_release(&book->attributes, pool_handle(&book->attributes, slot));
    record->attribute_count -= 1;
    touch(book, record);
}

static Status attribute_make(Book *book, Record *record, Text name, Attribute **out)
{
    if (record->attribute_count >= book->config.attributes_per_entity_max) {
        return count_limit(book);
    }
    const Handle handle = pool_has_part(book, BOOK_PART_ATTRIBUTES, &book->attributes)
                              ? pool_acquire(&book->attributes)
                              : HANDLE_NONE;
    if (handle_is_none(handle)) {
        return count_limit(book);
    }
    uint32_t *link = attribute_link(book, record, name);
    Attribute *attribute = attribute_at(book, handle.index);
    attribute->name = name_make(name);
    attribute->after = *link;
    attribute->maker = book->maker;
    book->parts[BOOK_PART_ATTRIBUTES][attribute->maker] += 1;
    *link = handle.index;
    record->attribute_count += 1;
    *out = attribute;
    return STATUS_OK;
}

// Everything that can fail comes before anything changes.
static Status attribute_write(Book *book, Record *record, Text name, const ScriptValue *value,
                              uint32_t flags)
{
    uint32_t pool = 0;
    uint32_t slot = 0;
    Status status = STATUS_OK;
    if (value->type == SCRIPT_TEXT && value->text.bytes > 0) {
        status = text_take(book, value->text.bytes, &pool, &slot);
    }
    Attribute *attribute = attribute_find(book, record, name);
    if (status == STATUS_OK && attribute == NULL) {
        status = attribute_make(book, record, name, &attribute);
        if (status != STATUS_OK && slot != 0) {
            (void)pool_release(&book->texts[pool], pool_handle(&book->texts[pool], slot));
        }
    }
    if (status != STATUS_OK) {
        return status;
    }
    if (slot != 0) { // before the old text goes: it may be the same
        memcpy(pool_at(&book->texts[pool], slot), value->text.data, value->text.bytes);
    }
    text_drop(book, attribute);
    attribute->type = value->type;
    attribute->flags |= flags;
    attribute->boolean = value->boolean;
    attribute->number = value->number;
    attribute->vector = value->vector;
    attribute->entity = value->entity;
    attribute->text_pool = pool;
    attribute->text_slot = slot;
    attribute->text_maker = book->maker;
    book->parts[BOOK_PART_TEXTS + pool][book->maker] += slot != 0;
    attribute->text_bytes = slot != 0 ? (uint32_t)value->text.bytes : 0;
    touch(book, record);
    return STATUS_OK;
}

Status book_set_attribute(Book *book, uint64_t net_id, Text name, const ScriptValue *value,
                          uint32_t flags)
{
    Status status = book_name_check(name);
    if (status == STATUS_OK) {
        status = book_value_check(value);
    }
    if (status == STATUS_OK && (flags & ~(uint32_t)(ATTRIBUTE_PERSISTENT | ATTRIBUTE_PRIVATE))) {
        status = STATUS_RANGE;
    }
    if (status != STATUS_OK) {
        return status;
    }
    Record *record = book_find(book, net_id);
    if (value->type == SCRIPT_NIL) {
        if (record != NULL) {
            attribute_remove(book, record, name);
            drop_if_empty(book, record);
        }
        return STATUS_OK;
    }
    status = book_open(book, net_id, &record);
    if (status != STATUS_OK) {
        return status;
    }
    status = attribute_write(book, record, name, value, flags);
    if (status != STATUS_OK) {
        drop_if_empty(book, record);
    }
    return status;
}

static ScriptValue value_of(const Book *book, const Attribute *attribute)
{
    ScriptValue value = {.type = attribute->type,
                         .boolean = attribute->boolean,
                         .number = attribute->number,
                         .text = {"", 0},
                         .vector = attribute->vector,
                         .entity = attribute->entity};
    if (attribute->text_slot != 0) {
        value.text.data = pool_at(&book->texts[attribute->text_pool], attribute->text_slot);
        value.text.bytes = attribute->text_bytes;
    }
    return value;
}

bool book_attribute(const Book *book, uint64_t net_id, Text name, ScriptValue *out, uint32_t *flags)
{
    Record *record = book_find(book, net_id);
    const Attribute *attribute = record == NULL ? NULL : attribute_find(book, record, name);
    if (attribute == NULL) {
        return false;
    }
    *out = value_of(book, attribute);
    if (flags != NULL) {
        *flags = attribute->flags;
    }
    return true;
}

bool book_attribute_next(const Book *book, const Record *record, BookEntry *entry)
{
    const uint32_t slot =
        entry->at == 0 ? record->attribute_first : attribute_at(book, entry->at)->after;
    if (slot == 0) {
        return false;
    }
    const Attribute *attribute = attribute_at(book, slot);
    *entry = (BookEntry){.at = slot,
                         .name = name_text(&attribute->name),
                         .value = value_of(book, attribute),
                         .flags = attribute->flags};
    return true;
}

// --- tags ---------------------------------------------------------------------------------------

static BookTag *tag_find(const Book *book, Text name)
{
    for (uint32_t i = 0; i < book->config.tag_max; i++) {
        if (book->tags[i].use_count > 0 && book_name_equal(&book->tags[i].name, name)) {
            return &book->tags[i];
        }
    }
    return NULL;
}

static BookTag *tag_make(Book *book, Text name)
{
    BookTag *found = NULL;
    uint32_t used = 0;
    for (uint32_t i = 0; i < book->config.tag_max; i++) {
        BookTag *tag = &book->tags[i];
        used += tag->use_count > 0;
        found = found == NULL && tag->use_count == 0 ? tag : found;
    }
    if (found == NULL || !has_part(book, BOOK_PART_TAGS, used, book->config.tag_max)) {
        return NULL;
    }
    found->name = name_make(name);
    found->maker = book->maker;
    book->parts[BOOK_PART_TAGS][found->maker] += 1;
    return found;
}

static bool tag_has(const BookTag *tag, uint32_t slot)
{
    return (tag->members[slot / 64] >> (slot % 64) & 1) != 0;
}

static void tag_flip(Book *book, BookTag *tag, Record *record)
{
    const uint32_t slot = slot_of(book, record);
    const bool was = tag_has(tag, slot);
    tag->members[slot / 64] ^= 1ull << (slot % 64);
    tag->use_count += was ? (uint32_t)-1 : 1;
    if (tag->use_count == 0) {
        book->parts[BOOK_PART_TAGS][tag->maker] -= 1;
    }
    record->tag_count += was ? (uint32_t)-1 : 1;
    touch(book, record);
}

Status book_set_tag(Book *book, uint64_t net_id, Text name, bool on)
{
    const Status checked = book_name_check(name);
    if (checked != STATUS_OK) {
        return checked;
    }
    Record *record = book_find(book, net_id);
    BookTag *tag = tag_find(book, name);
    if (!on) {
        if (record != NULL && tag != NULL && tag_has(tag, slot_of(book, record))) {
            tag_flip(book, tag, record);
            drop_if_empty(book, record);
        }
        return STATUS_OK;
    }
    const Status status = book_open(book, net_id, &record);
    if (status != STATUS_OK) {
        return status;
    }
    if (tag == NULL) {
        tag = tag_make(book, name);
    }
    if (tag == NULL) {
        drop_if_empty(book, record);
        return count_limit(book);
    }
    if (!tag_has(tag, slot_of(book, record))) {
        tag_flip(book, tag, record);
    }
    return STATUS_OK;
}

bool book_has_tag(const Book *book, uint64_t net_id, Text name)
{
    const Record *record = book_find(book, net_id);
    const BookTag *tag = tag_find(book, name);
    return record != NULL && tag != NULL && tag_has(tag, slot_of(book, record));
}

uint32_t book_tagged(const Book *book, Text name, uint32_t after)
{
    const BookTag *tag = tag_find(book, name);
    const size_t words = member_words(&book->config);
    if (tag == NULL) {
        return 0;
    }
    const uint32_t from = after + 1;
    for (size_t word = from / 64; word < words; word++) {
        const uint64_t mask = word == from / 64 ? ~0ull << (from % 64) : ~0ull;
        const uint64_t bits = tag->members[word] & mask;
        if (bits != 0) {
            return (uint32_t)word * 64 + (uint32_t)__builtin_ctzll(bits);
        }
    }
    return 0;
}

bool book_tag_of(const Book *book, const Record *record, uint32_t *index, Text *tag)
{
    const uint32_t slot = slot_of(book, record);
    while (*index < book->config.tag_max) {
        const BookTag *at = &book->tags[*index];
        *index += 1;
        if (at->use_count > 0 && tag_has(at, slot)) {
            *tag = name_text(&at->name);
            return true;
        }
    }
    return false;
}

void book_empty(Book *book, Record *record)
{
    while (record->attribute_first != 0) {
        attribute_remove(book, record,
                         name_text(&attribute_at(book, record->attribute_first)->name));
    }
    const uint32_t slot = slot_of(book, record);
    for (uint32_t i = 0; i < book->config.tag_max && record->tag_count > 0; i++) {
        if (tag_has(&book->tags[i], slot)) {
            tag_flip(book, &book->tags[i], record);
        }
    }
}

// --- copying ------------------------------------------------------------------------------------

static void copy_record(const Book *from, const Record *record, Book *to)
{
    Record *copy = book_find(to, record->net_id);
    if (copy != NULL) {
        book_empty(to, copy);
    }
    if (record->name.bytes > 0) {
        // Refusals are counted by the book that refuses.
        (void)!book_set_name(to, record->net_id, name_text(&record->name));
    }
    BookEntry entry = {0};
    while (book_attribute_next(from, record, &entry)) {
        if ((entry.flags & ATTRIBUTE_PRIVATE) == 0) {
            (void)!book_set_attribute(to, record->net_id, entry.name, &entry.value, entry.flags);
        }
    }
    uint32_t index = 0;
    Text tag;
    while (book_tag_of(from, record, &index, &tag)) {
        (void)!book_set_tag(to, record->net_id, tag, true);
    }
    copy = book_find(to, record->net_id);
    if (copy != NULL) {
        drop_if_empty(to, copy);
    }
}

void book_copy_public(const Book *from, Book *to, uint64_t since)
{
    for (uint32_t slot = book_next(to, 0); slot != 0; slot = book_next(to, slot)) {
        const uint64_t net_id = book_at(to, slot)->net_id;
        // What the owner of `to` made itself carries an entity handle and is none of ours.
        if (handle_is_none(book_at(to, slot)->entity) && book_find(from, net_id) == NULL) {
            book_remove(to, net_id);
        }
    }
    for (uint32_t slot = book_next(from, 0); slot != 0; slot = book_next(from, slot)) {
        if (book_at(from, slot)->version > since) {
            copy_record(from, book_at(from, slot), to);
        }
    }
}

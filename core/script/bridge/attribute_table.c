// Names, attributes and tags by net id; see attribute_table.h.
#include "core/script/bridge/attribute_table.h"

#include "core/base/check.h"
#include "core/base/fair_share.h"
#include "core/base/hash.h"
#include "core/base/text.h"

#include <string.h>

#define TEXT_SMALL_BYTES 64

typedef struct Attribute {
    ShortName name;
    ScriptValueType type;
    uint32_t flags;
    bool boolean;
    double number;
    Vec3 vector;
    uint64_t entity;
    uint32_t text_pool; // which of AttributeTable.texts
    uint32_t text_slot; // 0: no text kept
    uint32_t text_bytes;
    uint32_t maker, text_maker;
    uint32_t after; // the next by name, 0: none
} Attribute;

static const uint32_t text_pool_bytes[ATTRIBUTE_TEXT_POOLS] = {TEXT_SMALL_BYTES,
                                                               ATTRIBUTE_TEXT_BYTES_MAX};

// --- creation -----------------------------------------------------------------------------------

AttributeTableConfig attribute_table_config_default(void)
{
    return (AttributeTableConfig){.record_max = 16384,
                                  .attribute_max = 16384,
                                  .attributes_per_entity_max = 64,
                                  .tag_max = 128,
                                  .text_small_max = 8192,
                                  .text_large_max = 1024};
}

AttributeTableConfig attribute_table_config_view(void)
{
    return (AttributeTableConfig){.record_max = 2048,
                                  .attribute_max = 4096,
                                  .attributes_per_entity_max = 64,
                                  .tag_max = 64,
                                  .text_small_max = 1024,
                                  .text_large_max = 128};
}

static uint32_t lesser_u32(uint64_t a, uint32_t b)
{
    return a < b ? (uint32_t)a : b;
}

void attribute_table_config_add(AttributeTableConfig *config, uint32_t parts)
{
    const AttributeTableConfig all = attribute_table_config_default();
    const uint64_t each = (uint64_t)parts * all.attributes_per_entity_max;
    config->record_max += lesser_u32(parts, all.record_max);
    config->attribute_max += lesser_u32(each, all.attribute_max);
    config->text_small_max += lesser_u32(each, all.text_small_max);
    config->text_large_max += lesser_u32(each, all.text_large_max);
    config->tag_max = config->tag_max < all.tag_max ? all.tag_max : config->tag_max;
}

static uint32_t bucket_count(const AttributeTableConfig *config)
{
    uint32_t count = 16;
    while (count < config->record_max) {
        count *= 2;
    }
    return count;
}

static size_t member_words(const AttributeTableConfig *config)
{
    return ((size_t)config->record_max + 1 + 63) / 64;
}

size_t attribute_table_bytes(const AttributeTableConfig *config)
{
    size_t bytes = pool_bytes(config->record_max, sizeof(Record));
    bytes += pool_bytes(config->attribute_max, sizeof(Attribute));
    bytes += pool_bytes(config->text_small_max, TEXT_SMALL_BYTES);
    bytes += pool_bytes(config->text_large_max, ATTRIBUTE_TEXT_BYTES_MAX);
    bytes += id_map_bytes(config->record_max);
    bytes += 2 * arena_need(bucket_count(config) * sizeof(uint32_t));
    bytes += arena_need(config->tag_max * sizeof(AttributeTag));
    bytes += config->tag_max * arena_need(member_words(config) * sizeof(uint64_t));
    return bytes;
}

Status attribute_table_init(AttributeTable *table, Arena *arena, const AttributeTableConfig *config)
{
    *table = (AttributeTable){.config = *config};
    Status status = pool_init(&table->records, arena, config->record_max, sizeof(Record));
    if (status == STATUS_OK) {
        status = pool_init(&table->attributes, arena, config->attribute_max, sizeof(Attribute));
    }
    if (status == STATUS_OK) {
        status = pool_init(&table->texts[0], arena, config->text_small_max, TEXT_SMALL_BYTES);
    }
    if (status == STATUS_OK) {
        status =
            pool_init(&table->texts[1], arena, config->text_large_max, ATTRIBUTE_TEXT_BYTES_MAX);
    }
    if (status == STATUS_OK) {
        status = id_map_init(&table->map, arena, config->record_max);
    }
    table->name_mask = bucket_count(config) - 1;
    table->name_first = arena_array(arena, bucket_count(config), sizeof(uint32_t));
    table->name_last = arena_array(arena, bucket_count(config), sizeof(uint32_t));
    table->tags = arena_array(arena, config->tag_max, sizeof(AttributeTag));
    if (table->name_first == NULL || table->name_last == NULL || table->tags == NULL) {
        return STATUS_LIMIT;
    }
    for (uint32_t i = 0; i < config->tag_max && status == STATUS_OK; i++) {
        table->tags[i].members = arena_array(arena, member_words(config), sizeof(uint64_t));
        status = table->tags[i].members == NULL ? STATUS_LIMIT : STATUS_OK;
    }
    return status;
}

// --- small things -------------------------------------------------------------------------------

static Status count_limit(AttributeTable *table)
{
    table->limit_count += 1;
    return STATUS_LIMIT;
}

Status attribute_table_name_check(Text name)
{
    if (name.bytes < 1 || name.bytes > WORLD_NAME_BYTES_MAX) {
        return STATUS_RANGE;
    }
    return text_is_valid(name.data, name.bytes) ? STATUS_OK : STATUS_MALFORMED;
}

static bool number_is_finite(double number)
{
    return number - number == 0;
}

Status attribute_table_value_check(const ScriptValue *value)
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
        if (value->text.bytes > ATTRIBUTE_TEXT_BYTES_MAX) {
            return STATUS_RANGE;
        }
        return text_is_valid(value->text.data, value->text.bytes) ? STATUS_OK : STATUS_MALFORMED;
    default:
        return STATUS_UNSUPPORTED;
    }
}

static ShortName name_make(Text text)
{
    ASSERT(text.bytes <= WORLD_NAME_BYTES_MAX);
    ShortName name = {.bytes = (uint8_t)text.bytes};
    if (text.bytes > 0) {
        memcpy(name.data, text.data, text.bytes);
    }
    return name;
}

static Text name_text(const ShortName *name)
{
    return (Text){name->data, name->bytes};
}

static int name_compare(const ShortName *name, Text text)
{
    const size_t shorter = name->bytes < text.bytes ? name->bytes : text.bytes;
    const int order = shorter > 0 ? memcmp(name->data, text.data, shorter) : 0;
    if (order != 0) {
        return order;
    }
    return name->bytes < text.bytes ? -1 : name->bytes > text.bytes ? 1 : 0;
}

bool attribute_table_name_equal(const ShortName *name, Text text)
{
    return name_compare(name, text) == 0;
}

static void touch(AttributeTable *table, Record *record)
{
    table->version += 1;
    record->version = table->version;
}

// --- records ------------------------------------------------------------------------------------

Record *attribute_table_at(const AttributeTable *table, uint32_t slot)
{
    return (Record *)pool_at(&table->records, slot);
}

uint32_t attribute_table_next(const AttributeTable *table, uint32_t after)
{
    return pool_next(&table->records, after + 1);
}

Record *attribute_table_find(const AttributeTable *table, uint64_t net_id)
{
    const uint32_t slot = id_map_find(&table->map, net_id);
    return slot == 0 ? NULL : attribute_table_at(table, slot);
}

static bool has_part(const AttributeTable *table, uint32_t kind, uint32_t used, uint32_t max)
{
    return table->maker == 0 || fair_share_allows(table->parts[kind][table->maker], used, max);
}

static bool pool_has_part(const AttributeTable *table, uint32_t kind, const Pool *pool)
{
    return has_part(table, kind, pool->count, pool->slot_count - 1);
}

Status attribute_table_open(AttributeTable *table, uint64_t net_id, Record **out)
{
    ASSERT(net_id != 0);
    Record *record = attribute_table_find(table, net_id);
    if (record == NULL) {
        const Handle handle = pool_has_part(table, ATTRIBUTE_PART_RECORDS, &table->records)
                                  ? pool_acquire(&table->records)
                                  : HANDLE_NONE;
        if (handle_is_none(handle)) {
            return count_limit(table);
        }
        record = attribute_table_at(table, handle.index);
        record->maker = table->maker;
        table->parts[ATTRIBUTE_PART_RECORDS][record->maker] += 1;
        record->net_id = net_id;
        record->removed_tick = UINT64_MAX;
        id_map_put(&table->map, net_id, handle.index);
        touch(table, record);
    }
    *out = record;
    return STATUS_OK;
}

static uint32_t slot_of(const AttributeTable *table, const Record *record)
{
    return id_map_find(&table->map, record->net_id);
}

static uint32_t bucket_of(const AttributeTable *table, Text name)
{
    Hash64 hash = HASH64_INIT;
    hash_bytes(&hash, name.data, name.bytes);
    return (uint32_t)hash.state & table->name_mask;
}

static void name_link(AttributeTable *table, uint32_t slot)
{
    Record *record = attribute_table_at(table, slot);
    const uint32_t bucket = bucket_of(table, name_text(&record->name));
    // Net ids rise, so it is nearly always inserted at the end.
    uint32_t before = table->name_last[bucket];
    while (before != 0 && attribute_table_at(table, before)->net_id > record->net_id) {
        before = attribute_table_at(table, before)->name_before;
    }
    const uint32_t after =
        before != 0 ? attribute_table_at(table, before)->name_after : table->name_first[bucket];
    record->name_before = before;
    record->name_after = after;
    *(before != 0 ? &attribute_table_at(table, before)->name_after : &table->name_first[bucket]) =
        slot;
    *(after != 0 ? &attribute_table_at(table, after)->name_before : &table->name_last[bucket]) =
        slot;
}

static void name_unlink(AttributeTable *table, const Record *record)
{
    const uint32_t bucket = bucket_of(table, name_text(&record->name));
    const uint32_t before = record->name_before;
    const uint32_t after = record->name_after;
    *(before != 0 ? &attribute_table_at(table, before)->name_after : &table->name_first[bucket]) =
        after;
    *(after != 0 ? &attribute_table_at(table, after)->name_before : &table->name_last[bucket]) =
        before;
}

static bool keeps_nothing(void *user, Text name, bool is_tag)
{
    (void)user;
    (void)name;
    (void)is_tag;
    return false;
}

void attribute_table_remove(AttributeTable *table, uint64_t net_id)
{
    Record *record = attribute_table_find(table, net_id);
    if (record == NULL) {
        return;
    }
    const AttributeListener listener = table->listener;
    table->listener.changed = NULL;
    attribute_table_prune(table, record, keeps_nothing, NULL);
    table->listener = listener;
    if (record->name.bytes > 0) {
        name_unlink(table, record);
    }
    const uint32_t slot = slot_of(table, record);
    table->parts[ATTRIBUTE_PART_RECORDS][record->maker] -= 1;
    id_map_remove(&table->map, net_id);
    (void)pool_release(&table->records, pool_handle(&table->records, slot));
    table->removed_count += 1;
    table->version += 1;
}

// Anchored parts have a record only while it is not empty.
static void drop_if_empty(AttributeTable *table, Record *record)
{
    if (record->attribute_count == 0 && record->tag_count == 0 && record->name.bytes == 0 &&
        record->painted == 0 && handle_is_none(record->entity)) {
        attribute_table_remove(table, record->net_id);
    }
}

// --- names --------------------------------------------------------------------------------------

Status attribute_table_set_name(AttributeTable *table, uint64_t net_id, Text name)
{
    const Status checked = attribute_table_name_check(name);
    if (checked != STATUS_OK) {
        return checked;
    }
    Record *record = NULL;
    const Status status = attribute_table_open(table, net_id, &record);
    if (status != STATUS_OK) {
        return status;
    }
    if (record->name.bytes > 0) {
        return attribute_table_name_equal(&record->name, name) ? STATUS_OK : STATUS_EXISTS;
    }
    record->name = name_make(name);
    name_link(table, slot_of(table, record));
    touch(table, record);
    return STATUS_OK;
}

Text attribute_table_name(const AttributeTable *table, uint64_t net_id)
{
    const Record *record = attribute_table_find(table, net_id);
    return record == NULL ? (Text){"", 0} : name_text(&record->name);
}

Record *attribute_table_named(const AttributeTable *table, Text name, const Record *after)
{
    if (name.bytes == 0 || name.bytes > WORLD_NAME_BYTES_MAX) {
        return NULL;
    }
    uint32_t slot = after != NULL ? after->name_after : table->name_first[bucket_of(table, name)];
    while (slot != 0 && !attribute_table_name_equal(&attribute_table_at(table, slot)->name, name)) {
        slot = attribute_table_at(table, slot)->name_after;
    }
    return slot == 0 ? NULL : attribute_table_at(table, slot);
}

// --- attributes ---------------------------------------------------------------------------------

static Attribute *attribute_at(const AttributeTable *table, uint32_t slot)
{
    return (Attribute *)pool_at(&table->attributes, slot);
}

// The link to the attribute of that name, or to where it would go.
static uint32_t *attribute_link(const AttributeTable *table, Record *record, Text name)
{
    uint32_t *link = &record->attribute_first;
    while (*link != 0 && name_compare(&attribute_at(table, *link)->name, name) < 0) {
        link = &attribute_at(table, *link)->after;
    }
    return link;
}

static Attribute *attribute_find(const AttributeTable *table, Record *record, Text name)
{
    const uint32_t slot = *attribute_link(table, record, name);
    const bool found =
        slot != 0 && attribute_table_name_equal(&attribute_at(table, slot)->name, name);
    return found ? attribute_at(table, slot) : NULL;
}

static void text_drop(AttributeTable *table, Attribute *attribute)
{
    if (attribute->text_slot != 0) {
        Pool *pool = &table->texts[attribute->text_pool];
        (void)pool_release(pool, pool_handle(pool, attribute->text_slot));
        table->parts[ATTRIBUTE_PART_TEXTS + attribute->text_pool][attribute->text_maker] -= 1;
        attribute->text_slot = 0;
    }
}

// A slot for a text of that size, in the smallest pool that has one.
static Status text_take(AttributeTable *table, size_t bytes, uint32_t *pool, uint32_t *slot)
{
    for (uint32_t i = 0; i < ATTRIBUTE_TEXT_POOLS; i++) {
        if (bytes <= text_pool_bytes[i]) {
            const Handle handle = pool_has_part(table, ATTRIBUTE_PART_TEXTS + i, &table->texts[i])
                                      ? pool_acquire(&table->texts[i])
                                      : HANDLE_NONE;
            if (!handle_is_none(handle)) {
                *pool = i;
                *slot = handle.index;
                return STATUS_OK;
            }
        }
    }
    return count_limit(table);
}

static ScriptValue value_of(const AttributeTable *table, const Attribute *attribute);

static void tell_changed(const AttributeTable *table, const Record *record,
                         const Attribute *attribute, const ScriptValue *now)
{
    const AttributeListener *listener = &table->listener;
    const ScriptValue before = value_of(table, attribute); // nil of a new one
    if (listener->changed != NULL && !script_value_equal(now, &before)) {
        listener->changed(listener->user, record->net_id, name_text(&attribute->name), now,
                          &before);
    }
}

static void attribute_remove(AttributeTable *table, Record *record, Text name)
{
    uint32_t *link = attribute_link(table, record, name);
    if (*link == 0 || !attribute_table_name_equal(&attribute_at(table, *link)->name, name)) {
        return;
    }
    const uint32_t slot = *link;
    Attribute *attribute = attribute_at(table, slot);
    tell_changed(table, record, attribute, &(ScriptValue){.type = SCRIPT_NIL});
    text_drop(table, attribute);
    *link = attribute->after;
    table->parts[ATTRIBUTE_PART_ATTRIBUTES][attribute->maker] -= 1;
    (void)pool_release(&table->attributes, pool_handle(&table->attributes, slot));
    record->attribute_count -= 1;
    touch(table, record);
}

static Status attribute_make(AttributeTable *table, Record *record, Text name, Attribute **out)
{
    if (record->attribute_count >= table->config.attributes_per_entity_max) {
        return count_limit(table);
    }
    const Handle handle = pool_has_part(table, ATTRIBUTE_PART_ATTRIBUTES, &table->attributes)
                              ? pool_acquire(&table->attributes)
                              : HANDLE_NONE;
    if (handle_is_none(handle)) {
        return count_limit(table);
    }
    uint32_t *link = attribute_link(table, record, name);
    Attribute *attribute = attribute_at(table, handle.index);
    attribute->name = name_make(name);
    attribute->type = SCRIPT_NIL; // until it is written
    attribute->after = *link;
    attribute->maker = table->maker;
    table->parts[ATTRIBUTE_PART_ATTRIBUTES][attribute->maker] += 1;
    *link = handle.index;
    record->attribute_count += 1;
    *out = attribute;
    return STATUS_OK;
}

// Everything that can fail is done before anything changes.
static Status attribute_write(AttributeTable *table, Record *record, Text name,
                              const ScriptValue *value, uint32_t flags)
{
    uint32_t pool = 0;
    uint32_t slot = 0;
    Status status = STATUS_OK;
    if (value->type == SCRIPT_TEXT && value->text.bytes > 0) {
        status = text_take(table, value->text.bytes, &pool, &slot);
    }
    Attribute *attribute = attribute_find(table, record, name);
    if (status == STATUS_OK && attribute == NULL) {
        status = attribute_make(table, record, name, &attribute);
        if (status != STATUS_OK && slot != 0) {
            (void)pool_release(&table->texts[pool], pool_handle(&table->texts[pool], slot));
        }
    }
    if (status != STATUS_OK) {
        return status;
    }
    if (slot != 0) { // before the old text is freed: it may be the same
        memcpy(pool_at(&table->texts[pool], slot), value->text.data, value->text.bytes);
    }
    tell_changed(table, record, attribute, value);
    text_drop(table, attribute);
    attribute->type = value->type;
    if ((flags & ATTRIBUTE_VISIBILITY) != 0) {
        attribute->flags &= ATTRIBUTE_PERSISTENT;
    }
    attribute->flags |= flags & ~(uint32_t)ATTRIBUTE_VISIBILITY;
    attribute->boolean = value->boolean;
    attribute->number = value->number;
    attribute->vector = value->vector;
    attribute->entity = value->entity;
    attribute->text_pool = pool;
    attribute->text_slot = slot;
    attribute->text_maker = table->maker;
    table->parts[ATTRIBUTE_PART_TEXTS + pool][table->maker] += slot != 0;
    attribute->text_bytes = slot != 0 ? (uint32_t)value->text.bytes : 0;
    touch(table, record);
    return STATUS_OK;
}

Status attribute_table_set_attribute(AttributeTable *table, uint64_t net_id, Text name,
                                     const ScriptValue *value, uint32_t flags)
{
    Status status = attribute_table_name_check(name);
    if (status == STATUS_OK) {
        status = attribute_table_value_check(value);
    }
    const uint32_t known =
        ATTRIBUTE_PERSISTENT | ATTRIBUTE_PRIVATE | ATTRIBUTE_OWNER | ATTRIBUTE_VISIBILITY;
    if (status == STATUS_OK && (flags & ~known) != 0) {
        status = STATUS_RANGE;
    }
    if (status != STATUS_OK) {
        return status;
    }
    Record *record = attribute_table_find(table, net_id);
    if (value->type == SCRIPT_NIL) {
        if (record != NULL) {
            attribute_remove(table, record, name);
            drop_if_empty(table, record);
        }
        return STATUS_OK;
    }
    status = attribute_table_open(table, net_id, &record);
    if (status != STATUS_OK) {
        return status;
    }
    status = attribute_write(table, record, name, value, flags);
    if (status != STATUS_OK) {
        drop_if_empty(table, record);
    }
    return status;
}

static ScriptValue value_of(const AttributeTable *table, const Attribute *attribute)
{
    ScriptValue value = {.type = attribute->type,
                         .boolean = attribute->boolean,
                         .number = attribute->number,
                         .text = {"", 0},
                         .vector = attribute->vector,
                         .entity = attribute->entity};
    if (attribute->text_slot != 0) {
        value.text.data = pool_at(&table->texts[attribute->text_pool], attribute->text_slot);
        value.text.bytes = attribute->text_bytes;
    }
    return value;
}

bool attribute_table_attribute(const AttributeTable *table, uint64_t net_id, Text name,
                               ScriptValue *out, uint32_t *flags)
{
    Record *record = attribute_table_find(table, net_id);
    const Attribute *attribute = record == NULL ? NULL : attribute_find(table, record, name);
    if (attribute == NULL) {
        return false;
    }
    *out = value_of(table, attribute);
    if (flags != NULL) {
        *flags = attribute->flags;
    }
    return true;
}

bool attribute_table_attribute_next(const AttributeTable *table, const Record *record,
                                    AttributeEntry *entry)
{
    const uint32_t slot =
        entry->at == 0 ? record->attribute_first : attribute_at(table, entry->at)->after;
    if (slot == 0) {
        return false;
    }
    const Attribute *attribute = attribute_at(table, slot);
    *entry = (AttributeEntry){.at = slot,
                              .name = name_text(&attribute->name),
                              .value = value_of(table, attribute),
                              .flags = attribute->flags};
    return true;
}

// --- paint --------------------------------------------------------------------------------------

Status attribute_table_set_paint(AttributeTable *table, uint64_t net_id, const Paint *paint,
                                 uint32_t painted)
{
    ASSERT((painted & ~PAINT_MEMBERS_ALL) == 0);
    Record *record = attribute_table_find(table, net_id);
    if (record == NULL && painted == 0) {
        return STATUS_OK;
    }
    const Status status = attribute_table_open(table, net_id, &record);
    if (status != STATUS_OK) {
        return status;
    }
    const Paint kept = paint_merge(&paint_default, paint, painted);
    if (record->painted != painted || !paint_equal(&record->paint, &kept)) {
        record->painted = painted;
        record->paint = kept;
        touch(table, record);
    }
    drop_if_empty(table, record);
    return STATUS_OK;
}

// --- tags ---------------------------------------------------------------------------------------

static AttributeTag *tag_find(const AttributeTable *table, Text name)
{
    for (uint32_t i = 0; i < table->config.tag_max; i++) {
        if (table->tags[i].use_count > 0 &&
            attribute_table_name_equal(&table->tags[i].name, name)) {
            return &table->tags[i];
        }
    }
    return NULL;
}

static AttributeTag *tag_make(AttributeTable *table, Text name)
{
    AttributeTag *found = NULL;
    uint32_t used = 0;
    for (uint32_t i = 0; i < table->config.tag_max; i++) {
        AttributeTag *tag = &table->tags[i];
        used += tag->use_count > 0;
        found = found == NULL && tag->use_count == 0 ? tag : found;
    }
    if (found == NULL || !has_part(table, ATTRIBUTE_PART_TAGS, used, table->config.tag_max)) {
        return NULL;
    }
    found->name = name_make(name);
    found->maker = table->maker;
    table->parts[ATTRIBUTE_PART_TAGS][found->maker] += 1;
    return found;
}

static bool tag_has(const AttributeTag *tag, uint32_t slot)
{
    return (tag->members[slot / 64] >> (slot % 64) & 1) != 0;
}

static void tag_flip(AttributeTable *table, AttributeTag *tag, Record *record)
{
    const uint32_t slot = slot_of(table, record);
    const bool was = tag_has(tag, slot);
    tag->members[slot / 64] ^= 1ull << (slot % 64);
    tag->use_count += was ? (uint32_t)-1 : 1;
    if (tag->use_count == 0) {
        table->parts[ATTRIBUTE_PART_TAGS][tag->maker] -= 1;
    }
    record->tag_count += was ? (uint32_t)-1 : 1;
    touch(table, record);
    if (table->listener.tagged != NULL) {
        table->listener.tagged(table->listener.user, record->net_id, name_text(&tag->name), !was);
    }
}

Status attribute_table_set_tag(AttributeTable *table, uint64_t net_id, Text name, bool on)
{
    const Status checked = attribute_table_name_check(name);
    if (checked != STATUS_OK) {
        return checked;
    }
    Record *record = attribute_table_find(table, net_id);
    AttributeTag *tag = tag_find(table, name);
    if (!on) {
        if (record != NULL && tag != NULL && tag_has(tag, slot_of(table, record))) {
            tag_flip(table, tag, record);
            drop_if_empty(table, record);
        }
        return STATUS_OK;
    }
    const Status status = attribute_table_open(table, net_id, &record);
    if (status != STATUS_OK) {
        return status;
    }
    if (tag == NULL) {
        tag = tag_make(table, name);
    }
    if (tag == NULL) {
        drop_if_empty(table, record);
        return count_limit(table);
    }
    if (!tag_has(tag, slot_of(table, record))) {
        tag_flip(table, tag, record);
    }
    return STATUS_OK;
}

bool attribute_table_has_tag(const AttributeTable *table, uint64_t net_id, Text name)
{
    const Record *record = attribute_table_find(table, net_id);
    const AttributeTag *tag = tag_find(table, name);
    return record != NULL && tag != NULL && tag_has(tag, slot_of(table, record));
}

uint32_t attribute_table_tagged(const AttributeTable *table, Text name, uint32_t after)
{
    const AttributeTag *tag = tag_find(table, name);
    const size_t words = member_words(&table->config);
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

bool attribute_table_tag_of(const AttributeTable *table, const Record *record, uint32_t *index,
                            Text *tag)
{
    const uint32_t slot = slot_of(table, record);
    while (*index < table->config.tag_max) {
        const AttributeTag *at = &table->tags[*index];
        *index += 1;
        if (at->use_count > 0 && tag_has(at, slot)) {
            *tag = name_text(&at->name);
            return true;
        }
    }
    return false;
}

void attribute_table_prune(AttributeTable *table, Record *record,
                           bool (*keeps)(void *user, Text name, bool is_tag), void *user)
{
    for (uint32_t at = record->attribute_first; at != 0;) {
        const Text name = name_text(&attribute_at(table, at)->name);
        at = attribute_at(table, at)->after;
        if (!keeps(user, name, false)) {
            attribute_remove(table, record, name);
        }
    }
    const uint32_t slot = slot_of(table, record);
    for (uint32_t i = 0; i < table->config.tag_max && record->tag_count > 0; i++) {
        AttributeTag *tag = &table->tags[i];
        if (tag->use_count > 0 && tag_has(tag, slot) && !keeps(user, name_text(&tag->name), true)) {
            tag_flip(table, tag, record);
        }
    }
}

// --- copying ------------------------------------------------------------------------------------

typedef struct Copied {
    const AttributeTable *from;
    uint64_t net_id;
    bool is_owner;
} Copied;

static bool is_copied(void *user, Text name, bool is_tag)
{
    const Copied *copied = user;
    ScriptValue value;
    uint32_t flags = 0;
    if (is_tag) {
        return attribute_table_has_tag(copied->from, copied->net_id, name);
    }
    return attribute_table_attribute(copied->from, copied->net_id, name, &value, &flags) &&
           attribute_is_visible(flags, copied->is_owner);
}

static void copy_record(const AttributeTable *from, const Record *record, AttributeTable *to,
                        bool is_owner)
{
    Record *copy = attribute_table_find(to, record->net_id);
    const AttributeListener listener = to->listener;
    if (copy != NULL) {
        Copied copied = {from, record->net_id, is_owner};
        attribute_table_prune(to, copy, is_copied, &copied);
    } else {
        to->listener.changed = NULL; // an entity that is new has no attributes that changed
    }
    if (record->name.bytes > 0) {
        // Rejections are counted by the table that rejects.
        (void)!attribute_table_set_name(to, record->net_id, name_text(&record->name));
    }
    AttributeEntry entry = {0};
    while (attribute_table_attribute_next(from, record, &entry)) {
        if (attribute_is_visible(entry.flags, is_owner)) {
            (void)!attribute_table_set_attribute(to, record->net_id, entry.name, &entry.value,
                                                 entry.flags);
        }
    }
    uint32_t index = 0;
    Text tag;
    while (attribute_table_tag_of(from, record, &index, &tag)) {
        (void)!attribute_table_set_tag(to, record->net_id, tag, true);
    }
    (void)!attribute_table_set_paint(to, record->net_id, &record->paint, record->painted);
    copy = attribute_table_find(to, record->net_id);
    if (copy != NULL) {
        drop_if_empty(to, copy);
    }
    to->listener = listener;
}

void attribute_table_copy_visible(const AttributeTable *from, AttributeTable *to, uint64_t since,
                                  bool (*owns)(void *user, uint64_t net_id), void *user)
{
    for (uint32_t slot = attribute_table_next(to, 0); slot != 0;
         slot = attribute_table_next(to, slot)) {
        const uint64_t net_id = attribute_table_at(to, slot)->net_id;
        // Records that the owner of `to` made have an entity handle and are not copies.
        if (handle_is_none(attribute_table_at(to, slot)->entity) &&
            attribute_table_find(from, net_id) == NULL) {
            attribute_table_remove(to, net_id);
        }
    }
    for (uint32_t slot = attribute_table_next(from, 0); slot != 0;
         slot = attribute_table_next(from, slot)) {
        const Record *record = attribute_table_at(from, slot);
        if (record->version > since) {
            copy_record(from, record, to, owns(user, record->net_id));
        }
    }
}

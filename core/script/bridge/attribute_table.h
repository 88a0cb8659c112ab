// Names, attributes, tags and paints of entities, by net id. The authority has one table, and every
// view has one with the public part. All memory is taken at create; a reached limit is STATUS_LIMIT
// and counted. Attributes of an entity are sorted by name, records and tagged entities by slot; the
// lowest free slot is taken first, so equal histories give equal orders. Flags of an attribute stay
// until it is set to nil: an attribute that others must not see stays so, unless a call says
// another visibility (ATTRIBUTE_VISIBILITY).
#pragma once

#include "core/base/id_map.h"
#include "core/base/limits.h"
#include "core/base/pool.h"
#include "core/script/runtime/script_world.h"

#define ATTRIBUTE_TEXT_POOLS 2

typedef struct AttributeTableConfig {
    uint32_t record_max; // entities with a record
    uint32_t attribute_max;
    uint32_t attributes_per_entity_max;
    uint32_t tag_max;        // different tags
    uint32_t text_small_max; // texts of at most 64 bytes
    uint32_t text_large_max; // texts of at most ATTRIBUTE_TEXT_BYTES_MAX
} AttributeTableConfig;

// The limits that scripts share (fair_share.h).
enum {
    ATTRIBUTE_PART_RECORDS,
    ATTRIBUTE_PART_ATTRIBUTES,
    ATTRIBUTE_PART_TEXTS,
    ATTRIBUTE_PART_LARGE,
    ATTRIBUTE_PART_TAGS,
    ATTRIBUTE_PARTS
};

typedef struct ShortName {
    uint8_t bytes;
    char data[WORLD_NAME_BYTES_MAX];
} ShortName;

typedef struct Record {
    uint64_t net_id;
    uint64_t version;      // of the table when this last changed
    uint64_t removed_tick; // for the owner: a script destroyed it in the script phase of this tick
    Handle entity;         // for the owner; HANDLE_NONE for an anchored part
    uint32_t attribute_first;
    uint32_t attribute_count;
    uint32_t tag_count;
    uint32_t maker;
    uint32_t painted; // members of `paint` that count; the others are as the place has them
    Paint paint;
    uint32_t name_before, name_after; // records whose names share a bucket, by net id
    ShortName name;
} Record;

typedef struct AttributeTag {
    ShortName name;
    uint32_t use_count; // 0: free
    uint32_t maker;
    uint64_t *members; // one bit per record slot
} AttributeTag;

// Is told of every change of an attribute or tag while the value before is still there; must not
// change the table. Both functions may be NULL.
typedef struct AttributeListener {
    void *user;
    void (*changed)(void *user, uint64_t net_id, Text name, const ScriptValue *now,
                    const ScriptValue *before);
    void (*tagged)(void *user, uint64_t net_id, Text tag, bool on);
} AttributeListener;

typedef struct AttributeTable {
    AttributeTableConfig config;
    Pool records;
    Pool attributes;
    Pool texts[ATTRIBUTE_TEXT_POOLS];
    IdMap map; // net id → record slot
    uint32_t *name_first;
    uint32_t *name_last;
    uint32_t name_mask;
    AttributeTag *tags;
    uint64_t version;       // rises with every change
    uint64_t removed_count; // records that went
    uint64_t limit_count;
    AttributeListener listener;
    uint32_t maker; // the script that makes changes now; 0: none, which has no limit
    uint32_t parts[ATTRIBUTE_PARTS][SIM_MAKERS_MAX + 1];
} AttributeTable;

AttributeTableConfig attribute_table_config_default(void); // of an authority with 16,384 entities
AttributeTableConfig attribute_table_config_view(void);
// Makes room for as many attributes as an authority can have on `parts` parts of a scene.
void attribute_table_config_add(AttributeTableConfig *config, uint32_t parts);
size_t attribute_table_bytes(const AttributeTableConfig *config);
MUST_USE Status attribute_table_init(AttributeTable *table, Arena *arena,
                                     const AttributeTableConfig *config);

// STATUS_RANGE or STATUS_MALFORMED for an invalid name, text or value: empty or too long, not
// UTF-8, not finite.
MUST_USE Status attribute_table_name_check(Text name);
MUST_USE Status attribute_table_value_check(const ScriptValue *value);
bool attribute_table_name_equal(const ShortName *name, Text text);

Record *attribute_table_find(const AttributeTable *table, uint64_t net_id); // NULL: nothing kept
MUST_USE Status attribute_table_open(AttributeTable *table, uint64_t net_id,
                                     Record **out); // makes one if there is none
// A listener is told of the tags that end with it, not of its attributes.
void attribute_table_remove(AttributeTable *table, uint64_t net_id);
// Removes those attributes and tags that `keeps` does not want. So what is set afterwards leaves
// the record as it should be, and a listener is told only of what differs.
void attribute_table_prune(AttributeTable *table, Record *record,
                           bool (*keeps)(void *user, Text name, bool is_tag), void *user);
// Walks the records in slot order: start with 0, ends with 0.
uint32_t attribute_table_next(const AttributeTable *table, uint32_t after);
Record *attribute_table_at(const AttributeTable *table, uint32_t slot);

MUST_USE Status attribute_table_set_name(AttributeTable *table, uint64_t net_id, Text name); // once
Text attribute_table_name(const AttributeTable *table, uint64_t net_id);
// Records of a name by ascending net id: start with NULL, ends with NULL.
Record *attribute_table_named(const AttributeTable *table, Text name, const Record *after);

// nil removes the attribute and its flags.
MUST_USE Status attribute_table_set_attribute(AttributeTable *table, uint64_t net_id, Text name,
                                              const ScriptValue *value, uint32_t flags);
// Text in the value is valid until the attribute changes. flags may be NULL.
bool attribute_table_attribute(const AttributeTable *table, uint64_t net_id, Text name,
                               ScriptValue *out, uint32_t *flags);
typedef struct AttributeEntry {
    uint32_t at; // 0: the first comes next
    Text name;
    ScriptValue value;
    uint32_t flags;
} AttributeEntry;
bool attribute_table_attribute_next(const AttributeTable *table, const Record *record,
                                    AttributeEntry *entry);

// The members that count from now on; 0: it looks as the place has it.
MUST_USE Status attribute_table_set_paint(AttributeTable *table, uint64_t net_id,
                                          const Paint *paint, uint32_t painted);

MUST_USE Status attribute_table_set_tag(AttributeTable *table, uint64_t net_id, Text tag, bool on);
bool attribute_table_has_tag(const AttributeTable *table, uint64_t net_id, Text tag);
// The next record with the tag after a slot, or 0.
uint32_t attribute_table_tagged(const AttributeTable *table, Text tag, uint32_t after);
// The next tag of a record at or after an index; false after the last.
bool attribute_table_tag_of(const AttributeTable *table, const Record *record, uint32_t *index,
                            Text *tag);

// Copies what a player may see of every record that changed after version `since` to `to`, and
// removes records that are gone; what did not fit is counted in `to`. `owns` tells whether the
// entity belongs to that player.
void attribute_table_copy_visible(const AttributeTable *from, AttributeTable *to, uint64_t since,
                                  bool (*owns)(void *user, uint64_t net_id), void *user);

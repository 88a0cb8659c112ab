// What scripts keep with entities, by net id: a name, attributes and tags. The authority has one,
// and every view has one with what it may know. All memory is taken at create; a cap that is
// reached is STATUS_LIMIT and counted.
//
// Attributes of an entity are in the order of their names, records and tagged entities in the order
// of their slots; the lowest free slot is taken first, so equal histories give equal orders.
// Flags of an attribute stick until it is set to nil: what was private never becomes public by a
// later call that forgot to say so.
#pragma once

#include "core/base/limits.h"
#include "core/base/pool.h"
#include "core/script/id_map.h"
#include "core/script/script_world.h"

#define BOOK_NAME_BYTES 64   // of entities, attributes and tags
#define BOOK_TEXT_BYTES 1024 // of an attribute's text
#define BOOK_TEXT_POOLS 2

typedef struct BookConfig {
    uint32_t record_max; // entities with anything to keep
    uint32_t attribute_max;
    uint32_t attributes_per_entity_max;
    uint32_t tag_max;        // different tags
    uint32_t text_small_max; // texts of at most 64 bytes
    uint32_t text_large_max; // texts of at most BOOK_TEXT_BYTES
} BookConfig;

// What scripts have parts of (part.h).
enum {
    BOOK_PART_RECORDS,
    BOOK_PART_ATTRIBUTES,
    BOOK_PART_TEXTS,
    BOOK_PART_LARGE,
    BOOK_PART_TAGS,
    BOOK_PARTS
};

typedef struct BookName {
    uint8_t bytes;
    char data[BOOK_NAME_BYTES];
} BookName;

typedef struct Record {
    uint64_t net_id;
    uint64_t version;      // of the book when this last changed
    uint64_t removed_tick; // for the owner: a script destroyed it in the script phase of this tick
    Handle entity;         // for the owner; HANDLE_NONE for an anchored part
    uint32_t attribute_first;
    uint32_t attribute_count;
    uint32_t tag_count;
    uint32_t maker;
    uint32_t name_before, name_after; // records whose names share a bucket, by net id
    BookName name;
} Record;

typedef struct BookTag {
    BookName name;
    uint32_t use_count; // 0: free
    uint32_t maker;
    uint64_t *members; // one bit per record slot
} BookTag;

typedef struct Book {
    BookConfig config;
    Pool records;
    Pool attributes;
    Pool texts[BOOK_TEXT_POOLS];
    IdMap map; // net id → record slot
    uint32_t *name_first;
    uint32_t *name_last;
    uint32_t name_mask;
    BookTag *tags;
    uint64_t version;       // rises with every change
    uint64_t removed_count; // records that went
    uint64_t limit_count;
    uint32_t maker; // the script that changes something now; 0: nobody, who has no part
    uint32_t parts[BOOK_PARTS][SIM_MAKERS_MAX + 1];
} Book;

BookConfig book_config_default(void); // of an authority with 16,384 entities
BookConfig book_config_view(void);
size_t book_bytes(const BookConfig *config);
MUST_USE Status book_init(Book *book, Arena *arena, const BookConfig *config);

// STATUS_RANGE or STATUS_MALFORMED for what no name, text or value may be: empty or too long, not
// UTF-8, not finite.
MUST_USE Status book_name_check(Text name);
MUST_USE Status book_value_check(const ScriptValue *value);
bool book_name_equal(const BookName *name, Text text);

Record *book_find(const Book *book, uint64_t net_id);                 // NULL: nothing kept
MUST_USE Status book_open(Book *book, uint64_t net_id, Record **out); // makes one if there is none
void book_remove(Book *book, uint64_t net_id);
// Forgets its attributes and tags, not its name.
void book_empty(Book *book, Record *record);
// Walks the records in slot order: start with 0, ends with 0.
uint32_t book_next(const Book *book, uint32_t after);
Record *book_at(const Book *book, uint32_t slot);

MUST_USE Status book_set_name(Book *book, uint64_t net_id, Text name); // once
Text book_name(const Book *book, uint64_t net_id);
// Records of a name by ascending net id: start with NULL, ends with NULL.
Record *book_named(const Book *book, Text name, const Record *after);

// nil takes the attribute away, flags and all.
MUST_USE Status book_set_attribute(Book *book, uint64_t net_id, Text name, const ScriptValue *value,
                                   uint32_t flags);
// Text in the value is valid until the attribute changes. flags may be NULL.
bool book_attribute(const Book *book, uint64_t net_id, Text name, ScriptValue *out,
                    uint32_t *flags);
typedef struct BookEntry {
    uint32_t at; // 0: the first comes next
    Text name;
    ScriptValue value;
    uint32_t flags;
} BookEntry;
bool book_attribute_next(const Book *book, const Record *record, BookEntry *entry);

MUST_USE Status book_set_tag(Book *book, uint64_t net_id, Text tag, bool on);
bool book_has_tag(const Book *book, uint64_t net_id, Text tag);
// The next record with the tag after a slot, or 0.
uint32_t book_tagged(const Book *book, Text tag, uint32_t after);
// The next tag of a record at or after an index; false after the last.
bool book_tag_of(const Book *book, const Record *record, uint32_t *index, Text *tag);

// Makes `to` hold what may be known of every record that changed after version `since`, and drop
// what is gone; what did not fit is counted in `to`.
void book_copy_public(const Book *from, Book *to, uint64_t since);

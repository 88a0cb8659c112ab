// What a world stores beyond its own run, as rows of bytes: the key says what it is about, a later
// row of the same key replaces it, an empty value deletes it. docs/FORMATS.md has the layouts. A
// world emits rows as commands and gets them back before its first tick; it checks them like
// anything else from outside.
#pragma once

#include "core/base/bytes.h"
#include "core/sim/character_state.h"
#include "core/sim/structure.h"
#include "core/wire/message.h"

#define ROW_KEY_BYTES   96
#define ROW_VALUE_BYTES (64 << 10)

typedef enum RowType {
    ROW_NONE,
    ROW_META,      // next net id, next player number, time the world has run
    ROW_STRUCTURE, // by net id
    ROW_CHUNK,     // by coordinate: difference over the place's terrain
    ROW_ATTRIBUTE, // persistent attributes of an entity, by its name or its number
    ROW_PLAYER,    // checkpoint, by account
    ROW_PROFILES,  // character profiles of an account, and which is active
    ROW_RESUME,    // resumable session, by hash of its token
    ROW_TYPE_COUNT
} RowType;

typedef struct RowMeta {
    uint64_t next_net_id, next_player, tick, manifest_version;
} RowMeta;

typedef struct RowPlayer {
    uint64_t account;
    uint64_t player; // its number in this world
    uint64_t entity; // net id of its body
    Vec3 position, velocity;
    float yaw, health;
    Text name, team;
    bool present; // was connected when this was written
} RowPlayer;

// What the ticket of a session allowed: a resumed session gets exactly the same.
typedef enum RowRole {
    ROW_GUEST = 1 << 0,
    ROW_OPERATOR = 1 << 1,
    ROW_DEBUG = 1 << 2,
    ROW_FIXED_NAME = 1 << 3,
    ROW_ROLES_ALL = (1 << 4) - 1
} RowRole;

typedef struct RowResume {
    uint8_t token_hash[32];
    uint64_t account, player;
    uint64_t expires_unix_ms;
    uint64_t roles; // RowRole
} RowResume;

#define PROFILES_MAX 16
typedef struct RowProfiles {
    uint64_t account;
    Text active; // repaired to "default" when it names none
    WireProfile profiles[PROFILES_MAX];
    uint32_t count; // at least one after row_repair: "default"
} RowProfiles;
// Names people see: as name_text.h says. Ids: letters, digits, _ and -.
bool row_name_is_valid(Text name);
bool row_id_is_valid(Text id);
#define ROW_DEFAULT_PROFILE ((Text){"default", 7})
// Makes stored profiles valid: a default profile, an existing active one, no id twice. True if
// something was repaired.
bool row_repair(RowProfiles *profiles, Text fallback_name);

typedef struct RowStructure {
    StructureDesc desc;
    float health;
} RowStructure;

typedef struct Row {
    RowType type;
    uint8_t key[ROW_KEY_BYTES];
    uint32_t key_bytes;
    const uint8_t *value;
    uint32_t value_bytes; // 0: deletes
} Row;

// A row as bytes: u8 type, varint key length, key, varint value length, value.
void row_write(const Row *row, ByteWriter *writer);
MUST_USE Status row_read(ByteReader *reader, Row *out); // a view into the reader's bytes

void row_put_meta(const RowMeta *meta, ByteWriter *writer); // key and value, as row_write
void row_put_player(const RowPlayer *player, ByteWriter *writer);
void row_put_resume(const RowResume *resume, ByteWriter *writer);
void row_put_profiles(const RowProfiles *profiles, ByteWriter *writer);
void row_put_structure(const RowStructure *structure, ByteWriter *writer);
void row_delete_structure(uint64_t net_id, ByteWriter *writer);
// `difference` is what terrain_write_difference wrote.
void row_put_chunk(ChunkCoord at, const uint8_t *difference, size_t bytes, ByteWriter *writer);
// An entity without a name is known by its number: ROW_SCENE_ID and its id in scene.json. Without
// ROW_SCENE_ID it is a net id, as older programs wrote it, and good for the same place alone.
#define ROW_SCENE_ID (1ull << 62)
// `attributes` are encoded as in a snapshot (net_attributes.h), the persistent ones alone; name ""
// goes by number.
void row_put_attributes(Text entity_name, uint64_t number, const uint8_t *attributes, size_t bytes,
                        ByteWriter *writer);

void row_delete_resume(const uint8_t token_hash[32], ByteWriter *writer);
void row_delete_attributes(Text entity_name, uint64_t number, ByteWriter *writer);
// Whose attributes those are, also of a deletion. The name points into the row.
MUST_USE Status row_attribute_key(const Row *row, Text *entity_name, uint64_t *number);

// STATUS_MISMATCH for a row of another type; a deletion has no content: STATUS_NOT_FOUND.
MUST_USE Status row_meta(const Row *row, RowMeta *out);
MUST_USE Status row_player(const Row *row, RowPlayer *out);
// Of the value of a row that row_player has accepted: whether they are there, and then their name.
bool row_player_is_present(const uint8_t *value, size_t bytes, Text *name);
MUST_USE Status row_resume(const Row *row, RowResume *out);
MUST_USE Status row_profiles(const Row *row, RowProfiles *out);
MUST_USE Status row_structure(const Row *row, RowStructure *out);
MUST_USE Status row_chunk(const Row *row, ChunkCoord *at, const uint8_t **difference,
                          size_t *bytes);
MUST_USE Status row_attributes(const Row *row, Text *entity_name, uint64_t *number,
                               const uint8_t **attributes, size_t *bytes);

// Everything that can enter a world, as one record. A world has exactly one entry function
// (world_enter), so a journal is these records in order, and replaying them gives the same world,
// tick by tick.
#pragma once

#include "core/base/bytes.h"
#include "core/base/limits.h"
#include "core/base/status.h"
#include "core/wire/script_path.h"

#include <stdbool.h>
#include <stdint.h>

typedef enum EntryType {
    ENTRY_NONE,
    ENTRY_TICK,       // one tick passes: unix_ms
    ENTRY_CONNECT,    // connection, json, number: where it comes from; 0: nobody counts it
    ENTRY_MESSAGE,    // connection, bytes: one whole message
    ENTRY_DISCONNECT, // connection
    ENTRY_AUTH,       // connection, ok, account, name, flags: the answer to COMMAND_AUTH. Bytes may
                      // be the account's characters (ROW_PROFILES). Refused, name may be that of
                      // an error, and bytes say why
    ENTRY_STORED,     // request, ok: a save is durable; the answer to a DataStore request in bytes
    ENTRY_ROW,        // bytes: a stored row, before the first tick (row.h); ok: it was stored when
                      // the world ran from this very place
    ENTRY_SCRIPT,     // name: path; number: entry_context; bytes: a rune, or the source; before the
                      // first tick, or staged for a reload
    ENTRY_RELOAD,     // version; bytes: the signed manifest of clients (manifest.h), or none; the
                      // staged scripts take over at the next tick
    ENTRY_ADMIN,      // name: what; bytes: its argument (world.h)
    ENTRY_PARAMETERS, // number: net id of an entity of the place, or name: a prefab; bytes: the new
                      // parameters of its script, JSON or none; staged for a reload
    ENTRY_UNSTAGE,    // what is staged for a reload is dropped
    ENTRY_EDIT, // a creator changed the scene while it is played; number: EntryEdit, what bytes are
    ENTRY_TYPE_COUNT
} EntryType;

typedef enum EntryFlag {
    ENTRY_JSON = 1 << 0,       // CONNECT: the subprotocol is JSON
    ENTRY_OK = 1 << 1,         // AUTH, STORED, ROW
    ENTRY_FIXED_NAME = 1 << 0, // AUTH: others see the name that comes with it, and no other
    ENTRY_GUEST = 1 << 2,      // AUTH
    ENTRY_OPERATOR = 1 << 3,   // AUTH
    ENTRY_SOURCE = 1 << 4,     // SCRIPT: bytes are Lua source, not a rune
    ENTRY_REPLICATE = 1 << 5,  // SCRIPT: clients get it. The service decides; this is a cross-check
                               // and refused for one that is never sent
    ENTRY_DEBUG = 1 << 6,      // AUTH: gets exact positions once a second
    ENTRY_PACKED = 1 << 7, // SCRIPT: bytes are the rune of the entry before, packed; number: how
    ENTRY_FLAGS_ALL = (1 << 8) - 1
} EntryFlag;

// The number of an ENTRY_EDIT.
typedef enum EntryEdit {
    ENTRY_EDIT_ROWS,      // rows of patches (wire/patch.h) without attributes: so it is from now on
    ENTRY_EDIT_GIVEN,     // an entity of scene.json as its table has it in bytes (place_doc.h): its
                          // attributes and tags are added to what it has
    ENTRY_EDIT_LOST,      // the same: it has them no more, whatever their values
    ENTRY_EDIT_CREATED,   // a new entity: f32 x3 position, f32 x4 rotation of its parent in the
                          // world, then as above
    ENTRY_EDIT_SPAWN,     // the same of a spawn, which may be there already: so it is from now on
    ENTRY_EDIT_SPAWN_GONE // a spawn, of which only the id matters: it is there no more
} EntryEdit;

// The number of an ENTRY_SCRIPT: where the script runs. 0: as its service says.
#define ENTRY_CONTEXT_SERVICE 0u
static inline uint32_t entry_context(RunContext context)
{
    return (uint32_t)context + 1;
}

#define ENTRY_NAME_BYTES 128
#define ENTRY_BYTES_MAX  (1 << 20) // a manifest of MANIFEST_SCRIPTS_MAX scripts, as text
_Static_assert(ENTRY_BYTES_MAX >= RUNE_BYTES_MAX, "a rune enters a world as one entry");

typedef struct Entry {
    EntryType type;
    uint32_t flags;
    uint64_t connection; // chosen by the owner, never reused
    uint64_t number;  // TICK: unix milliseconds; CONNECT: address; AUTH: account; STORED: request;
                      // RELOAD: version; SCRIPT: entry_context, or the number of a packing;
                      // PARAMETERS: net id
    const char *name; // AUTH: the player's name; SCRIPT, ADMIN, PARAMETERS
    uint32_t name_bytes;
    const uint8_t *bytes;
    size_t byte_count;
} Entry;

// u8 type · u8 flags · varint connection · varint number · varint name length, name · varint
// length, bytes. Accepts any bytes; leaves what follows in the reader.
void entry_write(const Entry *entry, ByteWriter *writer);
MUST_USE Status entry_read(ByteReader *reader, Entry *out);

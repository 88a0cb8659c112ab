// Which scripts the clients of a world have (client_verdict.h), as its process says it when that
// has changed, at most once a second (CHANNEL_CLIENTS).
//
//   varint rows · for each: varint account, version, wanted, verified, failed · u8 1 if settled
//
// To the host these are a stranger's bytes: client_table_read is total, and its size is bounded.
#pragma once

#include "core/base/bytes.h"
#include "core/base/limits.h"
#include "core/world/script/client_verdict.h"

typedef struct ClientTable {
    uint32_t count;
    ClientVerdicts rows[WORLD_PLAYERS_MAX];
} ClientTable;

// Most of one as bytes.
#define CLIENT_TABLE_ROW_BYTES (10u + 5u + 3u * 2u + 1u)
#define CLIENT_TABLE_BYTES     (2u + WORLD_PLAYERS_MAX * CLIENT_TABLE_ROW_BYTES)

void client_table_write(const ClientTable *table, ByteWriter *writer);
// On failure `out` is untouched.
MUST_USE Status client_table_read(const uint8_t *bytes, size_t count, ClientTable *out);
const ClientVerdicts *client_table_find(const ClientTable *table, uint64_t account); // NULL: none

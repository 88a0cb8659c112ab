// See client_table.h.
#include "server/channel/client_table.h"

#include <string.h>

_Static_assert(MANIFEST_SCRIPTS_MAX < 1 << 14, "a number of scripts takes at most two bytes");
_Static_assert(WORLD_PLAYERS_MAX < 1 << 14, "and so does the number of rows");

void client_table_write(const ClientTable *table, ByteWriter *writer)
{
    byte_write_varint(writer, table->count);
    for (uint32_t i = 0; i < table->count; i++) {
        const ClientVerdicts *row = &table->rows[i];
        byte_write_varint(writer, row->account);
        byte_write_varint(writer, row->version);
        byte_write_varint(writer, row->wanted);
        byte_write_varint(writer, row->verified);
        byte_write_varint(writer, row->failed);
        byte_write_bool(writer, row->is_settled);
    }
}

Status client_table_read(const uint8_t *bytes, size_t count, ClientTable *out)
{
    static ClientTable table; // large, and a host has one thread
    ByteReader reader = byte_reader(bytes, count);
    table.count = byte_read_count(&reader, WORLD_PLAYERS_MAX);
    for (uint32_t i = 0; i < table.count && reader.status == STATUS_OK; i++) {
        ClientVerdicts *row = &table.rows[i];
        row->account = byte_read_varint(&reader);
        row->version = byte_read_count(&reader, UINT32_MAX);
        row->wanted = byte_read_count(&reader, MANIFEST_SCRIPTS_MAX);
        row->verified = byte_read_count(&reader, MANIFEST_SCRIPTS_MAX);
        row->failed = byte_read_count(&reader, MANIFEST_SCRIPTS_MAX);
        row->is_settled = byte_read_bool(&reader);
    }
    const Status status = byte_reader_finish(&reader);
    if (status == STATUS_OK) {
        out->count = table.count;
        memcpy(out->rows, table.rows, table.count * sizeof table.rows[0]);
    }
    return status;
}

const ClientVerdicts *client_table_find(const ClientTable *table, uint64_t account)
{
    for (uint32_t i = 0; i < table->count; i++) {
        if (table->rows[i].account == account) {
            return &table->rows[i];
        }
    }
    return NULL;
}

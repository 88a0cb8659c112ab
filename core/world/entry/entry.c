// Entries as bytes; see entry.h. The reader accepts any bytes: a journal may be cut anywhere, and a
// host passes on what strangers sent.
#include "core/world/entry/entry.h"

#include "core/base/check.h"

void entry_write(const Entry *entry, ByteWriter *writer)
{
    ASSERT(entry->type > ENTRY_NONE && entry->type < ENTRY_TYPE_COUNT);
    ASSERT((entry->flags & ~(uint32_t)ENTRY_FLAGS_ALL) == 0);
    ASSERT((entry->flags & ENTRY_PACKED) == 0 || entry->type == ENTRY_SCRIPT);
    ASSERT(entry->name_bytes <= ENTRY_NAME_BYTES);
    ASSERT(entry->byte_count <= ENTRY_BYTES_MAX);
    byte_write_u8(writer, (uint8_t)entry->type);
    byte_write_u8(writer, (uint8_t)entry->flags);
    byte_write_varint(writer, entry->connection);
    byte_write_varint(writer, entry->number);
    byte_write_varint(writer, entry->name_bytes);
    byte_write_bytes(writer, entry->name, entry->name_bytes);
    byte_write_varint(writer, entry->byte_count);
    byte_write_bytes(writer, entry->bytes, entry->byte_count);
}

Status entry_read(ByteReader *reader, Entry *out)
{
    Entry entry = {0};
    const uint8_t type = byte_read_u8(reader);
    const uint8_t flags = byte_read_u8(reader);
    entry.connection = byte_read_varint(reader);
    entry.number = byte_read_varint(reader);
    entry.name_bytes = byte_read_count(reader, ENTRY_NAME_BYTES);
    entry.name = (const char *)byte_read_bytes(reader, entry.name_bytes);
    entry.byte_count = byte_read_count(reader, ENTRY_BYTES_MAX);
    entry.bytes = byte_read_bytes(reader, entry.byte_count);
    // All bits are in use; the last one is valid for scripts only.
    if (type == ENTRY_NONE || type >= ENTRY_TYPE_COUNT ||
        ((flags & ENTRY_PACKED) != 0 && type != ENTRY_SCRIPT)) {
        byte_reader_fail(reader, STATUS_MALFORMED);
    }
    if (reader->status != STATUS_OK) {
        return reader->status;
    }
    entry.type = (EntryType)type;
    entry.flags = flags;
    *out = entry;
    return STATUS_OK;
}

// Journals: any bytes give a header and entries or an error status, and an entry that was read is
// written as the same bytes again.
#include "core/base/check.h"
#include "core/world/journal.h"

#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count);

static void read_entries(ByteReader *reader)
{
    static uint8_t again[ENTRY_BYTES_MAX + 1024];
    Entry entry;
    for (;;) {
        const size_t from = reader->at;
        if (journal_next(reader, &entry) != STATUS_OK) {
            return;
        }
        ByteWriter writer = byte_writer(again, sizeof again);
        entry_write(&entry, &writer);
        ASSERT(writer.status == STATUS_OK && writer.at == reader->at - from);
        ASSERT(memcmp(again, reader->data + from, writer.at) == 0);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count)
{
    WorldConfig config = world_config_default();
    ByteReader reader = byte_reader(bytes, count);
    const Status status = journal_read_header(&reader, &config);
    ASSERT(status >= STATUS_OK && status < STATUS_COUNT);
    if (status == STATUS_OK) {
        ASSERT(strlen(config.world_id) < sizeof config.world_id);
        read_entries(&reader);
    }
    reader = byte_reader(bytes, count);
    read_entries(&reader);
    return 0;
}

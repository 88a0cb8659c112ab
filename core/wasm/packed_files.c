// See packed_files.h.
#include "core/wasm/packed_files.h"

#include "core/base/limits.h"

#include <string.h>

const char *packed_files_read(const uint8_t *packed, size_t bytes, PackedFiles *out)
{
    ByteReader reader = byte_reader(packed, bytes);
    out->count = 0;
    while (byte_reader_left(&reader) > 0) {
        const uint32_t path_bytes = byte_read_u32(&reader);
        const uint8_t *path = byte_read_bytes(&reader, path_bytes);
        const uint32_t data_bytes = byte_read_u32(&reader);
        const uint8_t *data = byte_read_bytes(&reader, data_bytes);
        if (reader.status != STATUS_OK || path_bytes >= sizeof out->paths[0]) {
            return "the files are not packed as they should be";
        }
        if (out->count == PLACE_FILES_MAX) {
            return "there are too many files";
        }
        char *own = out->paths[out->count];
        memcpy(own, path, path_bytes);
        own[path_bytes] = '\0';
        out->files[out->count++] = (PlaceFile){own, data, data_bytes};
    }
    return NULL;
}

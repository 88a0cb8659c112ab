// Models whose parts are files beside them, outside the jail; see inside/media/op_model.c and
// package.h.
#include "server/build/package/package.h"

#include <string.h>

bool package_model_files_read(const uint8_t *bytes, size_t count, PackageModelFiles *out)
{
    ByteReader reader = byte_reader(bytes, count);
    out->count = 0;
    while (byte_reader_left(&reader) > 0) {
        if (out->count == ASSET_MODEL_FILES_MAX ||
            !buffer_read_name(&reader, out->paths[out->count], PACKAGE_PATH_BYTES)) {
            out->count = 0;
            return false;
        }
        out->count += 1;
    }
    return true;
}

void package_model_request(const PlaceFile *model, const PlaceFile *files, uint32_t file_count,
                           Buffer *out)
{
    buffer_put_block(out, model->path, strlen(model->path));
    buffer_put_u32(out, file_count);
    for (uint32_t i = 0; i < file_count; i++) {
        buffer_put_block(out, files[i].path, strlen(files[i].path));
        buffer_put_u64(out, files[i].bytes);
        buffer_put(out, files[i].data, files[i].bytes);
    }
    buffer_put(out, model->data, model->bytes);
}

Status package_model_read(const Buffer *reply, AssetInfo *out)
{
    ByteReader reader = byte_reader(reply->data, reply->bytes);
    const AssetInfo info = asset_info_read(&reader);
    if (byte_reader_finish(&reader) != STATUS_OK || !asset_info_fits(&info, KIND_GLTF)) {
        return STATUS_MALFORMED;
    }
    *out = info;
    return STATUS_OK;
}

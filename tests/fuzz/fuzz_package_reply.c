// Replies about a package from a worker that was taken over. The checks outside accept nothing that
// breaks a rule: every accepted reply can be unpacked.
#include "core/base/check.h"
#include "server/build/package/package_reply.h"

#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count)
{
    if (count == 0) {
        return 0;
    }
    static PackageModelFiles files;
    const bool named = package_model_files_read(bytes + 1, count - 1, &files);
    ASSERT(files.count <= ASSET_MODEL_FILES_MAX && (named || files.count == 0));
    for (uint32_t i = 0; i < files.count; i++) {
        ASSERT(strlen(files.paths[i]) > 0 && strlen(files.paths[i]) < PACKAGE_PATH_BYTES);
    }
    char reason[WORKER_REASON_BYTES] = "";
    PackageInfo info = {0};
    DiagnosticList warnings = {0};
    const Status status =
        package_reply_read(bytes + 1, count - 1, (bytes[0] & 1) != 0, &info, &warnings, reason);
    ASSERT(status == STATUS_OK || (info.files == NULL && warnings.count == 0 && reason[0] != 0));
    uint64_t total = 0;
    for (uint32_t i = 0; status == STATUS_OK && i < info.folder.file_count; i++) {
        const PlaceFile *file = &info.folder.files[i];
        const Status path = package_path_check(file->path, strlen(file->path), reason);
        const Status fits = package_path_fits(file->path, reason);
        ASSERT(path == STATUS_OK && fits == STATUS_OK && !package_path_is_skipped(file->path));
        total += file->bytes;
    }
    ASSERT(total == info.folder.bytes && total <= PLACE_FOLDER_BYTES_MAX);
    package_info_free(&info);
    diagnostic_list_free(&warnings);
    return 0;
}

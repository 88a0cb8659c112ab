// See editor_files.h.
#define _GNU_SOURCE
#include "server/build/place/editor_files.h"

#include "core/base/bytes.h"
#include "core/script/api/api_reference.h"
#include "server/build/place/editor_modules.h"
#include "server/build/place/place_file.h"
#include "server/build/place/place_folder.h"
#include "server/build/place/template.h"
#include "server/sys/file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PATH_BYTES      4096
#define REFERENCE_BYTES (1u << 20)
#define TYPES           ".sandlot/types"
#define SETTINGS        "tsconfig.json"

static bool is_file(const char *place, const char *name, const void *data, size_t bytes)
{
    char path[PATH_BYTES];
    uint8_t *there = NULL;
    size_t there_bytes = 0;
    const int length = snprintf(path, sizeof path, "%s/" TYPES "/%s", place, name);
    const bool same = length > 0 && (size_t)length < sizeof path &&
                      file_read(path, bytes, &there, &there_bytes) == STATUS_OK &&
                      there_bytes == bytes && memcmp(there, data, bytes) == 0;
    free(there);
    return same;
}

static bool is_reference(const char *place, ApiFormat format, const char *name)
{
    char *text = malloc(REFERENCE_BYTES);
    if (text == NULL) {
        return false;
    }
    ByteWriter writer = byte_writer(text, REFERENCE_BYTES);
    api_reference_write(format, &writer);
    const bool same = writer.status == STATUS_OK && is_file(place, name, text, writer.at);
    free(text);
    return same;
}

static bool are_modules(const char *place)
{
    Buffer text = buffer_of(EDITOR_MODULES_BYTES);
    const bool same = editor_modules_write(place, &text) != STATUS_OK ||
                      is_file(place, EDITOR_MODULES_FILE, text.data, text.bytes);
    buffer_free(&text);
    return same;
}

static bool are_current(const char *place)
{
    for (const TemplateFile *file = template_files; file->set != NULL; file++) {
        if (strcmp(file->set, "types") == 0 &&
            !is_file(place, file->path, file->data, file->bytes)) {
            return false;
        }
    }
    return is_reference(place, API_FORMAT_LUA, "sandlot.lua") &&
           is_reference(place, API_FORMAT_TYPESCRIPT, "sandlot.d.ts") && are_modules(place);
}

Status editor_files_renew_types(const char *place, bool *written, char reason[WORKER_REASON_BYTES])
{
    uint32_t count = 0;
    *written = !are_current(place);
    return *written ? template_write_types(place, &count, reason) : STATUS_OK;
}

static bool has_typescript(const char *place)
{
    PlaceFolder folder;
    char reason[WORKER_REASON_BYTES];
    bool found = false;
    if (place_folder_read(place, &folder, reason) == STATUS_OK) {
        for (uint32_t i = 0; i < folder.file_count && !found; i++) {
            found = place_path_ends(folder.files[i].path, ".ts");
        }
        place_folder_free(&folder);
    }
    return found;
}

Status editor_files_write_settings(const char *place, bool wanted, bool *written,
                                   char reason[WORKER_REASON_BYTES])
{
    *written = false;
    if (!wanted && !has_typescript(place)) {
        return STATUS_OK;
    }
    const TemplateFile *file = template_files;
    while (file->set != NULL && strcmp(file->path, SETTINGS) != 0) {
        file++;
    }
    Status status = file->set != NULL
                        ? place_file_write(place, SETTINGS, file->data, file->bytes, true)
                        : STATUS_NOT_FOUND;
    if (status == STATUS_EXISTS) {
        return STATUS_OK; // a file of the creator's own
    }
    *written = status == STATUS_OK;
    if (status != STATUS_OK) {
        snprintf(reason, WORKER_REASON_BYTES, "%s/" SETTINGS " cannot be written: %s", place,
                 status_text(status));
    }
    return status;
}

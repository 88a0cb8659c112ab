// A backup's tar and manifest: any bytes are refused or read, and what is read is what was written.
#define _GNU_SOURCE
#include "core/base/check.h"
#include "server/backup/backup_list.h"
#include "server/backup/backup_tar.h"

#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

static void check_header(const TarEntry *entry)
{
    ASSERT(strlen(entry->name) < sizeof entry->name && entry->bytes <= INT64_MAX);
    if (backup_name_is_valid(entry->name)) {
        ASSERT(entry->name[0] != '/' && strstr(entry->name, "/../") == NULL &&
               strncmp(entry->name, "../", 3) != 0 && strchr(entry->name, '\n') == NULL);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    BackupFacts facts = {0};
    if (backup_list_read((const char *)data, bytes, &facts) == STATUS_OK) {
        ASSERT(strlen(facts.time) < sizeof facts.time && strlen(facts.program) > 0);
    }
    FILE *in = bytes > 0 ? fmemopen((void *)(uintptr_t)data, bytes, "rb") : NULL;
    TarEntry entry;
    while (in != NULL && tar_read_header(in, &entry) == STATUS_OK) {
        check_header(&entry);
        if (entry.bytes > bytes || fseek(in, (long)entry.bytes, SEEK_CUR) != 0 ||
            tar_read_padding(in, entry.bytes) != STATUS_OK) {
            break;
        }
    }
    if (in != NULL) {
        fclose(in);
    }
    return 0;
}

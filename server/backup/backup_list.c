// See backup_list.h.
#include "server/backup/backup_list.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define HEAD_BYTES 256

bool backup_name_is_valid(const char *name)
{
    const char *at = name;
    for (size_t length = strcspn(at, "/"); length > 0; length = strcspn(at, "/")) {
        const bool is_dots =
            (length == 1 && at[0] == '.') || (length == 2 && at[0] == '.' && at[1] == '.');
        for (size_t i = 0; i < length; i++) {
            const uint8_t byte = (uint8_t)at[i];
            if (byte < ' ' || byte == 0x7f || byte == '\\') {
                return false;
            }
        }
        if (is_dots) {
            return false;
        }
        if (at[length] == '\0') {
            return true;
        }
        at += length + 1;
    }
    return false; // an empty part
}

static Status add_text(BackupList *list, const char *text, size_t bytes)
{
    if (bytes > list->capacity - list->bytes) {
        const size_t capacity = 2 * list->capacity + bytes + 4096;
        char *more = capacity <= BACKUP_LIST_BYTES_MAX ? realloc(list->text, capacity) : NULL;
        if (more == NULL) {
            return STATUS_LIMIT;
        }
        list->text = more;
        list->capacity = capacity;
    }
    memcpy(list->text + list->bytes, text, bytes);
    list->bytes += bytes;
    return STATUS_OK;
}

Status backup_list_begin(BackupList *list, const BackupFacts *facts)
{
    char head[HEAD_BYTES];
    const int bytes =
        snprintf(head, sizeof head, "# sandlot backup 1\n# time %s\n# program %s\n# schema %u\n",
                 facts->time, facts->program, facts->schema);
    *list = (BackupList){0};
    return add_text(list, head, (size_t)bytes);
}

Status backup_list_add(BackupList *list, const uint8_t hash[SHA256_BYTES], const char *name)
{
    char hex[2 * SHA256_BYTES + 1];
    sha256_hex(hash, hex);
    Status status = add_text(list, hex, 2 * SHA256_BYTES);
    status = status == STATUS_OK ? add_text(list, "  ", 2) : status;
    status = status == STATUS_OK ? add_text(list, name, strlen(name)) : status;
    return status == STATUS_OK ? add_text(list, "\n", 1) : status;
}

void backup_list_free(BackupList *list)
{
    free(list->text);
    *list = (BackupList){0};
}

Status backup_list_read(const char *text, size_t bytes, BackupFacts *facts)
{
    char head[HEAD_BYTES] = "";
    BackupFacts found = *facts;
    unsigned format = 0;
    memcpy(head, text, bytes < sizeof head - 1 ? bytes : sizeof head - 1);
    if (sscanf(head, "# sandlot backup %u", &format) != 1) {
        return STATUS_MALFORMED;
    }
    if (format != 1) {
        return STATUS_UNSUPPORTED;
    }
    _Static_assert(BACKUP_TIME_BYTES == 24 && BACKUP_VERSION_BYTES == 32, "the widths below");
    if (sscanf(head, "# sandlot backup 1\n# time %23[0-9TZ:-]\n# program %31[!-~]\n# schema %u\n",
               found.time, found.program, &found.schema) != 3) {
        return STATUS_MALFORMED;
    }
    *facts = found;
    return STATUS_OK;
}

int backup_is_listed(const struct dirent *entry)
{
    return strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0;
}

// manifest.txt: four lines that begin with #, then one line for each file, as sha256sum prints and
// checks them (`sha256sum -c manifest.txt` in the unpacked folder):
//
//   # sandlot backup 1
//   # time 2026-11-16T05:30:00Z
//   # program 1.4.0
//   # schema 5
//   <64 hex digits>  sandlot.db
//
// Whoever writes a backup and whoever reads it make the same list, in the order of the files.
#pragma once

#include "core/base/sha256.h"
#include "server/backup/backup.h"

#include <dirent.h>

#define BACKUP_LIST_NAME      "manifest.txt"
#define BACKUP_LIST_BYTES_MAX (256u << 20) // two million files

typedef struct BackupList {
    char *text;
    size_t bytes, capacity;
} BackupList;

MUST_USE Status backup_list_begin(BackupList *list, const BackupFacts *facts);
MUST_USE Status backup_list_add(BackupList *list, const uint8_t hash[SHA256_BYTES],
                                const char *name);
void backup_list_free(BackupList *list);
// For scandir: all but `.` and `..`.
int backup_is_listed(const struct dirent *entry);
// The first four lines. STATUS_MALFORMED: it is none of ours. STATUS_UNSUPPORTED: of a later
// format.
MUST_USE Status backup_list_read(const char *text, size_t bytes, BackupFacts *facts);

// A relative path that stays inside its folder, of names that can stand in a line.
bool backup_name_is_valid(const char *name);

// See package_list.h.
#define _GNU_SOURCE
#include "server/build/inside/media/package_list.h"

#include "core/base/check.h"
#include "core/base/limits.h"

#include <stdlib.h>
#include <string.h>

#define WARNINGS_OF_SKIPPED_MAX 20

int package_item_compare(const void *a, const void *b)
{
    return strcmp(((const PackageItem *)a)->path, ((const PackageItem *)b)->path);
}

void package_list_free(PackageList *list)
{
    for (uint32_t i = 0; i < list->count; i++) {
        free(list->items[i].path);
        free(list->items[i].data);
    }
    free(list->items);
    diagnostic_list_free(&list->warnings);
    *list = (PackageList){.reason = list->reason};
}

Status package_list_refuse(PackageList *list, PackageRule rule, const char *explanation)
{
    return package_refuse(list->reason, PACKAGE_WHOLE, strlen(PACKAGE_WHOLE), rule, "%s",
                          explanation);
}

// --- adding -------------------------------------------------------------------------------------

// The path may be longer than a diagnostic's file; then the warning shows its beginning.
static void warn_skipped(PackageList *list, const char *path)
{
    list->skipped_count += 1;
    if (list->skipped_count <= WARNINGS_OF_SKIPPED_MAX) {
        diagnostic_addf(&list->warnings, DIAGNOSTIC_WARNING,
                        strlen(path) < DIAGNOSTIC_FILE_BYTES ? path : "", 0, 0, "skipped",
                        "skipped: hidden files and what systems and editors leave behind are not "
                        "part of a place");
    }
}

static PackageItem *append(PackageList *list)
{
    if (list->count == list->capacity) {
        const uint32_t capacity = list->capacity == 0 ? 64 : list->capacity * 2;
        PackageItem *items = realloc(list->items, capacity * sizeof *items);
        if (items == NULL) {
            return NULL;
        }
        list->items = items;
        list->capacity = capacity;
    }
    return &list->items[list->count];
}

static Status check_sizes(PackageList *list, const char *path, PackageKind kind,
                          const PackageEntry *entry)
{
    const size_t length = strlen(path);
    Status status = package_size_check(path, kind, entry->bytes, list->reason);
    if (status == STATUS_OK && entry->bytes > PLACE_FOLDER_BYTES_MAX - list->bytes) {
        status =
            package_refuse(list->reason, path, length, RULE_SIZE,
                           "with it the place is larger than %u MiB", PLACE_FOLDER_BYTES_MAX >> 20);
    }
    if (status == STATUS_OK && entry->packed_bytes > 0 &&
        entry->bytes > PACKAGE_RATIO_FLOOR_BYTES &&
        entry->bytes > entry->packed_bytes * PACKAGE_RATIO_MAX) {
        status = package_refuse(list->reason, path, length, RULE_RATIO,
                                "%llu bytes become %llu, at most %d times as many are unpacked",
                                (unsigned long long)entry->packed_bytes,
                                (unsigned long long)entry->bytes, PACKAGE_RATIO_MAX);
    }
    const uint64_t total = list->bytes + entry->bytes;
    if (status == STATUS_OK && total > PACKAGE_RATIO_FLOOR_BYTES &&
        total > list->archive_bytes * PACKAGE_RATIO_MAX) {
        status = package_refuse(list->reason, path, length, RULE_RATIO,
                                "with it the package of %llu bytes becomes %llu, at most %d times "
                                "as many are unpacked",
                                (unsigned long long)list->archive_bytes, (unsigned long long)total,
                                PACKAGE_RATIO_MAX);
    }
    return status;
}

static Status add_file(PackageList *list, const PackageEntry *entry, const char *path,
                       PackageItem **out)
{
    PackageKind kind;
    Status status = package_kind_of(path, &kind, list->reason);
    if (status == STATUS_OK) {
        status = check_sizes(list, path, kind, entry);
    }
    if (status != STATUS_OK) {
        return status;
    }
    if (list->count == PLACE_FILES_MAX) {
        return package_refuse(list->reason, path, strlen(path), RULE_FILES,
                              "with it the place has more than %d files", PLACE_FILES_MAX);
    }
    PackageItem *item = append(list);
    char *own = strdup(path);
    if (item == NULL || own == NULL) {
        free(own);
        return package_list_refuse(list, RULE_MEMORY, "out of memory");
    }
    *item = (PackageItem){.path = own,
                          .kind = kind,
                          .bytes = (size_t)entry->bytes,
                          .packed_bytes = entry->packed_bytes,
                          .source = entry->source};
    list->bytes += entry->bytes;
    list->count += 1;
    *out = item;
    return STATUS_OK;
}

Status package_list_add(PackageList *list, const PackageEntry *entry, PackageItem **out)
{
    *out = NULL;
    list->entry_count += 1;
    if (list->entry_count > PACKAGE_ENTRIES_MAX) {
        return package_list_refuse(list, RULE_FILES, "has more than 16,000 entries");
    }
    size_t bytes = entry->name_bytes;
    if (entry->is_folder && bytes > 1 && entry->name[bytes - 1] == '/') {
        bytes -= 1;
    }
    if (entry->is_folder && bytes == 1 && entry->name[0] == '.') {
        return STATUS_OK; // "./": the folder itself, which tar lists
    }
    // tar writes "./place.json" if it packed "."
    const char *name = entry->name;
    while (bytes > 2 && name[0] == '.' && name[1] == '/' && name[2] != '/') {
        name += 2;
        bytes -= 2;
    }
    const Status status = package_path_check(name, bytes, list->reason);
    if (status != STATUS_OK) {
        return status;
    }
    char path[PACKAGE_NAME_BYTES];
    memcpy(path, name, bytes);
    path[bytes] = '\0';
    if (package_path_is_skipped(path)) {
        if (!entry->is_folder) {
            warn_skipped(list, path);
        }
        return STATUS_OK;
    }
    return entry->is_folder ? STATUS_OK : add_file(list, entry, path, out);
}

// --- settling -----------------------------------------------------------------------------------

PackageItem *package_list_find(const PackageList *list, const char *path)
{
    const PackageItem key = {.path = (char *)(uintptr_t)path};
    return list->count == 0
               ? NULL
               : bsearch(&key, list->items, list->count, sizeof key, package_item_compare);
}

// "MyGame/place.json", and everything else in MyGame too: somebody packed the folder instead of its
// content. Sorted, so all paths share a prefix if the first and the last do.
static void take_off_folder(PackageList *list)
{
    if (list->count == 0 || package_list_find(list, "place.json") != NULL) {
        return;
    }
    const char *first = list->items[0].path, *last = list->items[list->count - 1].path;
    const char *slash = strchr(first, '/');
    char inside[PACKAGE_NAME_BYTES + 16];
    const size_t bytes = slash == NULL ? 0 : (size_t)(slash - first) + 1;
    if (bytes == 0 || strncmp(first, last, bytes) != 0) {
        return;
    }
    memcpy(inside, first, bytes);
    memcpy(inside + bytes, "place.json", sizeof "place.json");
    if (package_list_find(list, inside) == NULL) {
        return;
    }
    inside[bytes - 1] = '\0';
    diagnostic_addf(&list->warnings, DIAGNOSTIC_WARNING, "", 0, 0, "folder",
                    "the place is in a folder \"%.64s\" of the package, which was taken off",
                    inside);
    for (uint32_t i = 0; i < list->count; i++) {
        char *path = list->items[i].path;
        memmove(path, path + bytes, strlen(path) - bytes + 1);
    }
}

static Status check_together(PackageList *list)
{
    const char **paths = calloc(list->count + 1, sizeof *paths);
    if (paths == NULL) {
        return package_list_refuse(list, RULE_MEMORY, "out of memory");
    }
    for (uint32_t i = 0; i < list->count; i++) {
        paths[i] = list->items[i].path;
    }
    const Status status = package_paths_differ(paths, list->count, list->reason);
    free(paths);
    return status;
}

Status package_list_settle(PackageList *list)
{
    if (list->count > 0) {
        qsort(list->items, list->count, sizeof *list->items, package_item_compare);
    }
    take_off_folder(list);
    for (uint32_t i = 0; i < list->count; i++) {
        const Status status = package_path_fits(list->items[i].path, list->reason);
        if (status != STATUS_OK) {
            return status;
        }
    }
    const Status status = check_together(list);
    if (status != STATUS_OK) {
        return status;
    }
    static const char *const needed[] = {"place.json", "scene.json"};
    for (size_t i = 0; i < 2; i++) {
        if (package_list_find(list, needed[i]) == NULL) {
            return package_refuse(list->reason, needed[i], strlen(needed[i]), RULE_MISSING,
                                  "every place has one, at the top of the package");
        }
    }
    if (list->skipped_count > WARNINGS_OF_SKIPPED_MAX) {
        diagnostic_addf(&list->warnings, DIAGNOSTIC_WARNING, "", 0, 0, "skipped",
                        "%u files were skipped in all", list->skipped_count);
    }
    return STATUS_OK;
}

// See blob_cache.h.
#define _GNU_SOURCE
#include "server/store/place/blob_cache.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

typedef struct Item {
    char path[72]; // "ab/cdef…"
    uint64_t bytes, used_ns;
} Item;

typedef struct Items {
    Item *items;
    size_t count, capacity;
    uint64_t bytes;
    bool has_memory;
} Items;

static void add_item(Items *items, const Item *item)
{
    items->bytes += item->bytes;
    if (items->count == items->capacity && items->has_memory) {
        const size_t capacity = items->capacity > 0 ? 2 * items->capacity : 256;
        Item *more = realloc(items->items, capacity * sizeof *more);
        items->has_memory = more != NULL;
        items->items = more != NULL ? more : items->items;
        items->capacity = more != NULL ? capacity : items->capacity;
    }
    if (items->has_memory) {
        items->items[items->count++] = *item;
    }
}

static void add_shelf(Items *items, int folder, const char *shelf)
{
    const int opened = openat(folder, shelf, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    DIR *entries = opened >= 0 ? fdopendir(opened) : NULL;
    if (entries == NULL) {
        if (opened >= 0) {
            close(opened);
        }
        return;
    }
    for (const struct dirent *entry = readdir(entries); entry != NULL; entry = readdir(entries)) {
        struct stat info;
        Item item = {0};
        if (entry->d_name[0] == '.' || strlen(entry->d_name) > 64 ||
            fstatat(opened, entry->d_name, &info, AT_SYMLINK_NOFOLLOW) != 0 ||
            !S_ISREG(info.st_mode)) {
            continue;
        }
        snprintf(item.path, sizeof item.path, "%.2s/%.64s", shelf, entry->d_name);
        item.bytes = (uint64_t)info.st_size;
        item.used_ns = (uint64_t)info.st_mtim.tv_sec * 1000000000u + (uint64_t)info.st_mtim.tv_nsec;
        add_item(items, &item);
    }
    closedir(entries);
}

static int by_use(const void *a, const void *b)
{
    const Item *left = a, *right = b;
    return left->used_ns < right->used_ns   ? -1
           : left->used_ns > right->used_ns ? 1
                                            : strcmp(left->path, right->path);
}

uint64_t blob_cache_trim(int folder, uint64_t bytes_max)
{
    Items items = {.has_memory = true};
    for (uint32_t i = 0; i < 256; i++) {
        char shelf[3];
        snprintf(shelf, sizeof shelf, "%02x", i);
        add_shelf(&items, folder, shelf);
    }
    if (items.bytes > bytes_max && items.count > 0) {
        qsort(items.items, items.count, sizeof *items.items, by_use);
    }
    for (size_t i = 0; i < items.count && items.bytes > bytes_max; i++) {
        if (unlinkat(folder, items.items[i].path, 0) == 0) {
            items.bytes -= items.items[i].bytes;
        }
    }
    free(items.items);
    return items.bytes;
}

// See cache.h.
#define _GNU_SOURCE
#include "server/build/cache/cache.h"

#include "core/base/check.h"

#include "server/sys/file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <signal.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define CODE_BYTES    32
#define ENTRIES       "entry"
#define BLOBS         "blobs"
#define ASIDE         "aside"
#define TOUCH_SECONDS (24 * 60 * 60)
#define PRUNE_MAX     65536 // files looked at
#define FOLDER_FLAGS  (O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)

struct BuildCache {
    int entries, blobs, aside;
    uint8_t secret[crypto_generichash_KEYBYTES];
    uint32_t next; // number of the next temporary file
};

// --- keys ---------------------------------------------------------------------------------------

// The linker's build id of this program: with another compiler, lint or Lua in it no cached value
// is found any more, so nobody has to raise a version number.
static int add_build_id(struct dl_phdr_info *info, size_t bytes, void *user)
{
    (void)bytes;
    for (uint32_t i = 0; i < info->dlpi_phnum; i++) {
        if (info->dlpi_phdr[i].p_type == PT_NOTE) {
            const void *note = (const void *)(info->dlpi_addr + info->dlpi_phdr[i].p_vaddr);
            sha256_update(user, note, info->dlpi_phdr[i].p_memsz);
        }
    }
    return 1; // the first object is the program; its libraries do not compile runes
}

CacheKeyMaker cache_key_begin(const char *stage)
{
    CacheKeyMaker maker;
    sha256_init(&maker.sha);
    cache_key_add_text(&maker, "sandlot cache 1");
    (void)dl_iterate_phdr(add_build_id, &maker.sha);
    cache_key_add_text(&maker, stage);
    return maker;
}

void cache_key_add(CacheKeyMaker *maker, const void *data, size_t bytes)
{
    // The length goes first, so that two lists of blocks never hash like one list of bytes.
    uint8_t length[8];
    for (uint32_t i = 0; i < sizeof length; i++) {
        length[i] = (uint8_t)((uint64_t)bytes >> (8 * i));
    }
    sha256_update(&maker->sha, length, sizeof length);
    if (bytes > 0) {
        sha256_update(&maker->sha, data, bytes);
    }
}

void cache_key_add_text(CacheKeyMaker *maker, const char *text)
{
    cache_key_add(maker, text, strlen(text));
}

void cache_key_add_u32(CacheKeyMaker *maker, uint32_t value)
{
    const uint8_t bytes[] = {(uint8_t)value, (uint8_t)(value >> 8), (uint8_t)(value >> 16),
                             (uint8_t)(value >> 24)};
    cache_key_add(maker, bytes, sizeof bytes);
}

CacheKey cache_key_end(CacheKeyMaker *maker)
{
    CacheKey key;
    sha256_final(&maker->sha, key.bytes);
    return key;
}

// --- opening ------------------------------------------------------------------------------------

// Removes half-written files of processes that have ended.
static void clear_aside(int aside)
{
    const int own = openat(aside, ".", FOLDER_FLAGS);
    DIR *list = own >= 0 ? fdopendir(own) : NULL;
    if (list == NULL) {
        file_close(own);
        return;
    }
    for (const struct dirent *entry = readdir(list); entry != NULL; entry = readdir(list)) {
        const long pid = strtol(entry->d_name, NULL, 10);
        if (entry->d_name[0] != '.' && (pid <= 0 || (kill((pid_t)pid, 0) != 0 && errno == ESRCH))) {
            (void)unlinkat(aside, entry->d_name, 0);
        }
    }
    closedir(list);
}

static void derive_secret(BuildCache *cache, const SigningKey *key)
{
    static const char purpose[] = "sandlot build cache";
    (void)crypto_generichash(cache->secret, sizeof cache->secret, (const uint8_t *)purpose,
                             sizeof purpose, key->secret, crypto_sign_SEEDBYTES);
}

Status cache_open(const char *folder, const SigningKey *key, BuildCache **out)
{
    BuildCache *cache = calloc(1, sizeof *cache);
    if (cache == NULL) {
        return STATUS_LIMIT;
    }
    cache->entries = cache->blobs = cache->aside = -1;
    const Status status = file_make_folders(folder);
    const int root = status != STATUS_OK ? -1 : open(folder, FOLDER_FLAGS);
    if (root >= 0) {
        cache->entries = file_make_folder_in(root, ENTRIES);
        cache->blobs = file_make_folder_in(root, BLOBS);
        cache->aside = file_make_folder_in(root, ASIDE);
        close(root);
    }
    if (cache->entries < 0 || cache->blobs < 0 || cache->aside < 0) {
        cache_close(cache);
        return STATUS_BLOCKED;
    }
    clear_aside(cache->aside);
    derive_secret(cache, key);
    *out = cache;
    return STATUS_OK;
}

void cache_close(BuildCache *cache)
{
    if (cache == NULL) {
        return;
    }
    file_close(cache->entries);
    file_close(cache->blobs);
    file_close(cache->aside);
    sodium_memzero(cache->secret, sizeof cache->secret);
    free(cache);
}

// --- values -------------------------------------------------------------------------------------

typedef struct EntryPath {
    char folder[3], name[2 * SHA256_BYTES - 1]; // "ab", "cdef…"
} EntryPath;

static EntryPath path_of(const CacheKey *key)
{
    char hex[2 * SHA256_BYTES + 1];
    EntryPath path;
    sha256_hex(key->bytes, hex);
    snprintf(path.folder, sizeof path.folder, "%.2s", hex);
    snprintf(path.name, sizeof path.name, "%s", hex + 2);
    return path;
}

// Step by step, because a folder that came with the place may be a link, and a file a pipe.
static int open_file(int part, const EntryPath *path)
{
    const int folder = openat(part, path->folder, FOLDER_FLAGS);
    const int file =
        folder < 0 ? -1
                   : openat(folder, path->name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    file_close(folder);
    return file;
}

// The code covers the key as well: an entry under another key's name is not valid.
static void code_of(const BuildCache *cache, const CacheKey *key, const void *value, size_t bytes,
                    uint8_t code[CODE_BYTES])
{
    crypto_generichash_state state;
    (void)crypto_generichash_init(&state, cache->secret, sizeof cache->secret, CODE_BYTES);
    (void)crypto_generichash_update(&state, key->bytes, sizeof key->bytes);
    (void)crypto_generichash_update(&state, value, bytes);
    (void)crypto_generichash_final(&state, code, CODE_BYTES);
}

// Marks the file as used, for pruning; once a day is enough.
static void touch(int file, const struct stat *about)
{
    if (time(NULL) - about->st_mtim.tv_sec > TOUCH_SECONDS) {
        (void)futimens(file, NULL);
    }
}

bool cache_find(BuildCache *cache, const CacheKey *key, Buffer *out)
{
    const EntryPath path = path_of(key);
    const int file = open_file(cache->entries, &path);
    struct stat about;
    if (file < 0) {
        return false;
    }
    bool found = false;
    if (fstat(file, &about) == 0 && S_ISREG(about.st_mode) && about.st_size >= CODE_BYTES &&
        about.st_size <= CODE_BYTES + (off_t)CACHE_VALUE_BYTES_MAX) {
        const size_t bytes = (size_t)about.st_size;
        uint8_t *data = malloc(bytes), code[CODE_BYTES];
        if (data != NULL && file_read_whole(file, data, bytes)) {
            code_of(cache, key, data + CODE_BYTES, bytes - CODE_BYTES, code);
            found = sodium_memcmp(code, data, CODE_BYTES) == 0;
        }
        if (found) {
            buffer_put(out, data + CODE_BYTES, bytes - CODE_BYTES);
            found = out->status == STATUS_OK;
            touch(file, &about);
        }
        free(data);
    }
    close(file);
    return found;
}

// Written to a temporary file, then renamed. Not synced: after a power cut a half-written file does
// not match its code or its name, which the reader checks.
static void put_file(BuildCache *cache, int part, const EntryPath *path, const uint8_t *code,
                     size_t code_bytes, const void *value, size_t bytes)
{
    char aside[64];
    snprintf(aside, sizeof aside, "%d.%u", (int)getpid(), cache->next++);
    const int file =
        openat(cache->aside, aside, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (file < 0) {
        return;
    }
    const bool written =
        file_write_whole(file, code, code_bytes) && file_write_whole(file, value, bytes);
    close(file);
    const int folder = file_make_folder_in(part, path->folder);
    if (!written || folder < 0 || renameat(cache->aside, aside, folder, path->name) != 0) {
        (void)unlinkat(cache->aside, aside, 0);
    }
    file_close(folder);
}

void cache_keep(BuildCache *cache, const CacheKey *key, const void *value, size_t bytes)
{
    if (bytes > CACHE_VALUE_BYTES_MAX) {
        return;
    }
    ASSERT(!sodium_is_zero(key->bytes, sizeof key->bytes)); // the key was computed
    ASSERT(bytes == 0 || value != NULL);
    uint8_t code[CODE_BYTES];
    const EntryPath path = path_of(key);
    code_of(cache, key, value, bytes, code);
    put_file(cache, cache->entries, &path, code, sizeof code, value, bytes);
}

bool cache_find_blob(BuildCache *cache, const uint8_t hash[SHA256_BYTES], size_t bytes_max,
                     Buffer *out)
{
    CacheKey name;
    memcpy(name.bytes, hash, sizeof name.bytes);
    const EntryPath path = path_of(&name);
    const int file = open_file(cache->blobs, &path);
    struct stat about;
    bool found = false;
    if (file >= 0 && fstat(file, &about) == 0 && S_ISREG(about.st_mode) &&
        (uint64_t)about.st_size <= bytes_max) {
        const size_t bytes = (size_t)about.st_size;
        uint8_t *data = malloc(bytes + 1), have[SHA256_BYTES];
        if (data != NULL && file_read_whole(file, data, bytes)) {
            sha256_of(data, bytes, have);
            found = memcmp(have, hash, sizeof have) == 0;
        }
        if (found) {
            buffer_put(out, data, bytes);
            found = out->status == STATUS_OK;
            touch(file, &about);
        }
        free(data);
    }
    file_close(file);
    return found;
}

void cache_keep_blob(BuildCache *cache, const void *data, size_t bytes, uint8_t hash[SHA256_BYTES])
{
    CacheKey name;
    Buffer have = buffer_of(bytes);
    sha256_of(data, bytes, name.bytes);
    memcpy(hash, name.bytes, sizeof name.bytes);
    if (!cache_find_blob(cache, hash, bytes, &have)) {
        const EntryPath path = path_of(&name);
        put_file(cache, cache->blobs, &path, NULL, 0, data, bytes);
    }
    buffer_free(&have);
}

// --- pruning ------------------------------------------------------------------------------------

typedef struct Pruned {
    char folder[3], name[80];
    uint64_t bytes;
    int64_t used;
} Pruned;

static int by_use(const void *a, const void *b)
{
    const Pruned *one = a, *two = b;
    const int order = (one->used > two->used) - (one->used < two->used);
    return order != 0 ? order : strcmp(one->name, two->name);
}

// Lists <part>/ab/…: there are only these two levels.
static uint32_t list_files(int part, const char *name, Pruned *list, uint32_t count)
{
    const int folder = openat(part, name, FOLDER_FLAGS);
    DIR *files = folder >= 0 ? fdopendir(folder) : NULL;
    if (files == NULL) {
        file_close(folder);
        return count;
    }
    for (const struct dirent *file = readdir(files); file != NULL && count < PRUNE_MAX;
         file = readdir(files)) {
        struct stat about;
        if (strlen(file->d_name) < sizeof list->name &&
            fstatat(folder, file->d_name, &about, AT_SYMLINK_NOFOLLOW) == 0 &&
            S_ISREG(about.st_mode)) {
            Pruned *row = &list[count++];
            *row = (Pruned){.bytes = (uint64_t)about.st_size, .used = about.st_mtim.tv_sec};
            snprintf(row->folder, sizeof row->folder, "%.2s", name);
            snprintf(row->name, sizeof row->name, "%.79s", file->d_name);
        }
    }
    closedir(files);
    return count;
}

static void remove_one(int part, const Pruned *row)
{
    const int folder = openat(part, row->folder, FOLDER_FLAGS);
    if (folder >= 0) {
        (void)unlinkat(folder, row->name, 0); // what cannot be removed is tried again next time
        close(folder);
    }
}

static void prune_part(int part, Pruned *list)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < 256; i++) {
        char name[3];
        snprintf(name, sizeof name, "%02x", i);
        count = list_files(part, name, list, count);
    }
    uint64_t bytes = 0;
    for (uint32_t i = 0; i < count; i++) {
        bytes += list[i].bytes;
    }
    if (count > CACHE_FILES_MAX || bytes > CACHE_BYTES_MAX) {
        qsort(list, count, sizeof *list, by_use);
        uint32_t left = count;
        for (uint32_t i = 0;
             i < count && (left > CACHE_FILES_MAX / 4 * 3 || bytes > CACHE_BYTES_MAX / 4 * 3);
             i++) {
            remove_one(part, &list[i]);
            bytes -= list[i].bytes;
            left -= 1;
        }
    }
}

void cache_prune(BuildCache *cache)
{
    Pruned *list = malloc(PRUNE_MAX * sizeof *list);
    if (list != NULL) {
        prune_part(cache->entries, list);
        prune_part(cache->blobs, list);
    }
    free(list);
}

// See test_folder.h.
#define _GNU_SOURCE
#include "tests/support/test_folder.h"

#include "core/base/check.h"

#include <dirent.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define PATH_BYTES 512

TestFolder test_folder_make(void)
{
    TestFolder folder = {"/tmp/sandlot-test-XXXXXX"};
    const char *made = mkdtemp(folder.path);
    ASSERT(made != NULL);
    return folder;
}

static int remove_one(const char *path, const struct stat *about, int type, struct FTW *walk)
{
    (void)about, (void)type, (void)walk;
    return remove(path);
}

void test_folder_remove(const TestFolder *folder)
{
    (void)nftw(folder->path, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

void test_folder_write(const TestFolder *folder, const char *path, const char *text)
{
    test_folder_write_bytes(folder, path, text, strlen(text));
}

void test_folder_write_bytes(const TestFolder *folder, const char *path, const void *data,
                             size_t bytes)
{
    char whole[PATH_BYTES];
    snprintf(whole, sizeof whole, "%s/%s", folder->path, path);
    for (char *slash = whole + strlen(folder->path) + 1; (slash = strchr(slash, '/')) != NULL;
         slash++) {
        *slash = '\0';
        (void)mkdir(whole, 0755);
        *slash = '/';
    }
    FILE *file = fopen(whole, "wb");
    ASSERT(file != NULL);
    ASSERT(fwrite(data, 1, bytes, file) == bytes);
    fclose(file);
}

const char *test_folder_read(const TestFolder *folder, const char *path)
{
    static char text[64 << 10];
    char whole[PATH_BYTES];
    snprintf(whole, sizeof whole, "%s/%s", folder->path, path);
    FILE *file = fopen(whole, "rb");
    const size_t bytes = file != NULL ? fread(text, 1, sizeof text - 1, file) : 0;
    text[bytes] = '\0';
    if (file != NULL) {
        fclose(file);
    }
    return text;
}

bool test_folder_has(const TestFolder *folder, const char *path)
{
    char whole[PATH_BYTES];
    snprintf(whole, sizeof whole, "%s/%s", folder->path, path);
    struct stat about;
    return lstat(whole, &about) == 0;
}

unsigned test_folder_count(const TestFolder *folder, const char *path)
{
    char whole[PATH_BYTES];
    snprintf(whole, sizeof whole, "%s/%s", folder->path, path);
    DIR *list = opendir(whole);
    unsigned count = 0;
    for (const struct dirent *entry; list != NULL && (entry = readdir(list)) != NULL;) {
        count += strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0;
    }
    if (list != NULL) {
        closedir(list);
    }
    return count;
}

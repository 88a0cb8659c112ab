// The folder of runes: what comes out is what went in or nothing, however the folder was changed,
// and it stays within its bounds.
#define _GNU_SOURCE
#include "core/base/limits.h"
#include "server/bots/rune_store.h"
#include "tests/support/test.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define DATA_BYTES 1000

static char folder[256];

static RuneStore open_store(void)
{
    RuneStore store;
    char base[] = "/tmp/sandlot-store-XXXXXX";
    CHECK(mkdtemp(base) != NULL);
    snprintf(folder, sizeof folder, "%s/in/cache", base);
    CHECK(rune_store_open(folder, &store) == STATUS_OK);
    return store;
}

static void remove_store(RuneStore *store)
{
    char command[300];
    rune_store_close(store);
    folder[strlen(folder) - strlen("/in/cache")] = '\0';
    snprintf(command, sizeof command, "rm -rf %s", folder);
    CHECK(system(command) == 0);
}

static void make(uint32_t number, uint8_t data[DATA_BYTES], uint8_t hash[SHA256_BYTES])
{
    for (uint32_t i = 0; i < DATA_BYTES; i++) {
        data[i] = (uint8_t)(i * 7 + number + (number >> 8) * i);
    }
    memcpy(data, &number, sizeof number);
    sha256_of(data, DATA_BYTES, hash);
}

static void path_of(const uint8_t hash[SHA256_BYTES], char out[400])
{
    char name[65];
    sha256_hex(hash, name);
    snprintf(out, 400, "%s/%s", folder, name);
}

static Status read_number(RuneStore *store, uint32_t number)
{
    uint8_t data[DATA_BYTES], hash[SHA256_BYTES], *found = NULL;
    size_t bytes = 0;
    make(number, data, hash);
    const Status status = rune_store_read(store, hash, &found, &bytes);
    if (status == STATUS_OK) {
        CHECK(bytes == DATA_BYTES && memcmp(found, data, bytes) == 0);
    }
    free(found);
    return status;
}

static Status write_number(RuneStore *store, uint32_t number)
{
    uint8_t data[DATA_BYTES], hash[SHA256_BYTES];
    make(number, data, hash);
    return rune_store_write(store, hash, data, sizeof data);
}

static uint32_t count_files(void)
{
    DIR *list = opendir(folder);
    uint32_t count = 0;
    for (struct dirent *entry; (entry = readdir(list)) != NULL;) {
        count += entry->d_name[0] != '.';
    }
    closedir(list);
    return count;
}

TEST(what_is_kept_comes_back)
{
    RuneStore store = open_store();
    CHECK(read_number(&store, 1) == STATUS_NOT_FOUND);
    CHECK(write_number(&store, 1) == STATUS_OK && write_number(&store, 1) == STATUS_OK);
    CHECK(write_number(&store, 2) == STATUS_OK);
    CHECK(read_number(&store, 1) == STATUS_OK && read_number(&store, 2) == STATUS_OK);
    uint8_t data[DATA_BYTES], hash[SHA256_BYTES];
    make(3, data, hash);
    data[5] ^= 1;
    CHECK(rune_store_write(&store, hash, data, sizeof data) == STATUS_MISMATCH);
    CHECK(read_number(&store, 3) == STATUS_NOT_FOUND && count_files() == 2);
    remove_store(&store);
}

TEST(damage_is_noticed_and_removed)
{
    RuneStore store = open_store();
    uint8_t data[DATA_BYTES], hash[SHA256_BYTES];
    char path[400];
    for (uint32_t way = 0; way < 5; way++) {
        CHECK(write_number(&store, 9) == STATUS_OK);
        make(9, data, hash);
        path_of(hash, path);
        FILE *file = NULL;
        switch (way) {
        case 0: // other bytes
            file = fopen(path, "r+");
            CHECK(fseek(file, 500, SEEK_SET) == 0 && fputc(data[500] ^ 4, file) != EOF);
            break;
        case 1: // cut off
            CHECK(truncate(path, 300) == 0);
            break;
        case 2:
            CHECK(truncate(path, 0) == 0);
            break;
        case 3: // larger than any rune
            CHECK(truncate(path, (off_t)RUNE_BYTES_MAX + 1) == 0);
            break;
        default: // a link to elsewhere
            CHECK(unlink(path) == 0 && symlink("/etc/passwd", path) == 0);
        }
        if (file != NULL) {
            CHECK(fclose(file) == 0);
        }
        CHECK(read_number(&store, 9) != STATUS_OK);
        if (way < 4) {
            CHECK(access(path, F_OK) != 0);
        }
    }
    remove_store(&store);
}

TEST(least_recently_used_go_first)
{
    RuneStore store = open_store();
    store.bytes_max = (uint64_t)10 * DATA_BYTES;
    char path[400];
    uint8_t data[DATA_BYTES], hash[SHA256_BYTES];
    const time_t now = time(NULL);
    for (uint32_t i = 0; i < 20; i++) {
        CHECK(write_number(&store, i) == STATUS_OK);
        make(i, data, hash);
        path_of(hash, path);
        const time_t used = now - 1000000 + (time_t)i * 1000;
        const struct timespec times[2] = {{.tv_sec = used}, {.tv_sec = used}};
        CHECK(utimensat(AT_FDCWD, path, times, 0) == 0);
    }
    CHECK(read_number(&store, 3) == STATUS_OK); // it is used now
    snprintf(path, sizeof path, "%s/note", folder);
    FILE *file = fopen(path, "w"); // none of ours
    CHECK(file != NULL && fclose(file) == 0);
    rune_store_trim(&store);
    CHECK(read_number(&store, 3) == STATUS_OK && count_files() == 11);
    for (uint32_t i = 0; i < 20; i++) {
        CHECK((read_number(&store, i) == STATUS_OK) == (i == 3 || i > 10));
    }
    store.file_max = 4;
    rune_store_trim(&store);
    CHECK(count_files() == 5);
    remove_store(&store);
}

TEST(a_folder_of_others_and_a_link_are_refused)
{
    RuneStore store = open_store(), other;
    char link[300];
    snprintf(link, sizeof link, "%s-link", folder);
    CHECK(symlink(folder, link) == 0);
    CHECK_INT(rune_store_open(link, &other), STATUS_DENIED);
    CHECK(unlink(link) == 0);
    static const mode_t modes[] = {0720, 0702, 0777};
    for (uint32_t i = 0; i < sizeof modes / sizeof modes[0]; i++) {
        CHECK(chmod(folder, modes[i]) == 0);
        CHECK_INT(rune_store_open(folder, &other), STATUS_DENIED);
    }
    CHECK(chmod(folder, 0755) == 0); // others may look
    CHECK(rune_store_open(folder, &other) == STATUS_OK);
    rune_store_close(&other);
    remove_store(&store);
}

TEST(two_at_once)
{
    RuneStore store = open_store();
    const pid_t child = fork();
    for (uint32_t i = 0; i < 300; i++) {
        const uint32_t number = child == 0 ? 299 - i : i;
        const bool is_good =
            write_number(&store, number) == STATUS_OK && read_number(&store, number) == STATUS_OK;
        if (child == 0 && !is_good) {
            _exit(1);
        }
        CHECK(is_good);
    }
    if (child == 0) {
        _exit(0);
    }
    int code = 0;
    CHECK(waitpid(child, &code, 0) == child && code == 0 && count_files() == 300);
    remove_store(&store);
}

TEST(keeper_keeps_and_believes_nothing)
{
    RuneStore store = open_store();
    int keeper = -1;
    uint8_t data[DATA_BYTES], hash[SHA256_BYTES], *found = NULL;
    size_t bytes = 0;
    CHECK(rune_keeper_start(folder, &keeper) == STATUS_OK);
    make(1, data, hash);
    CHECK(rune_keeper_read(keeper, hash, &found, &bytes) == STATUS_NOT_FOUND);
    CHECK(rune_keeper_write(keeper, hash, data, sizeof data) == STATUS_OK);
    CHECK(rune_keeper_read(keeper, hash, &found, &bytes) == STATUS_OK && bytes == DATA_BYTES &&
          memcmp(found, data, bytes) == 0);
    free(found);
    found = NULL;
    // Bytes of another hash become no file.
    make(2, data, hash);
    data[9] ^= 1;
    CHECK(rune_keeper_write(keeper, hash, data, sizeof data) == STATUS_OK);
    CHECK(rune_keeper_read(keeper, hash, &found, &bytes) == STATUS_NOT_FOUND && count_files() == 1);
    // What makes no sense ends it, and nothing else happens.
    const uint8_t odd[37] = {7};
    CHECK(write(keeper, odd, sizeof odd) == sizeof odd);
    CHECK(rune_keeper_read(keeper, hash, &found, &bytes) == STATUS_BLOCKED);
    close(keeper);
    CHECK(rune_keeper_start("/proc/nowhere/at/all", &keeper) != STATUS_OK);
    remove_store(&store);
}

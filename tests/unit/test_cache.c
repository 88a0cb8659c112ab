// The cache returns what was stored with the same key and secret, and nothing else.
#define _GNU_SOURCE
#include "server/build/cache/cache.h"
#include "tests/support/test.h"
#include "tests/support/test_folder.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

typedef struct Stage {
    TestFolder folder;
    char path[96];
    SigningKey key;
    BuildCache *cache;
} Stage;

static Stage begin(void)
{
    Stage stage = {.folder = test_folder_make()};
    snprintf(stage.path, sizeof stage.path, "%s/cache", stage.folder.path);
    stage.key.secret[3] = 7;
    CHECK_OK(cache_open(stage.path, &stage.key, &stage.cache));
    return stage;
}

static void end(Stage *stage)
{
    cache_close(stage->cache);
    test_folder_remove(&stage->folder);
}

static CacheKey key_of(const char *text)
{
    CacheKeyMaker maker = cache_key_begin("test");
    cache_key_add_text(&maker, text);
    return cache_key_end(&maker);
}

static bool finds(BuildCache *cache, const char *name, const char *want)
{
    const CacheKey key = key_of(name);
    Buffer value = buffer_of(1 << 20);
    const bool found = cache_find(cache, &key, &value) && value.bytes == strlen(want) &&
                       memcmp(value.data, want, value.bytes) == 0;
    buffer_free(&value);
    return found;
}

static void put(BuildCache *cache, const char *name, const char *value)
{
    const CacheKey key = key_of(name);
    cache_keep(cache, &key, value, strlen(value));
}

static void entry_path(const Stage *stage, const char *name, char out[256])
{
    const CacheKey key = key_of(name);
    char hex[65];
    sha256_hex(key.bytes, hex);
    snprintf(out, 256, "%s/entry/%.2s/%s", stage->path, hex, hex + 2);
}

TEST(what_was_kept_is_found_again_also_later)
{
    Stage stage = begin();
    put(stage.cache, "a", "first");
    put(stage.cache, "b", "second");
    put(stage.cache, "a", "third");
    CHECK(finds(stage.cache, "a", "third") && finds(stage.cache, "b", "second"));
    CHECK(!finds(stage.cache, "c", ""));
    cache_close(stage.cache);
    CHECK_OK(cache_open(stage.path, &stage.key, &stage.cache));
    CHECK(finds(stage.cache, "a", "third"));
    CHECK_INT(test_folder_count(&stage.folder, "cache/aside"), 0);
    end(&stage);
}

TEST(keys_differ_when_anything_does)
{
    CacheKeyMaker one = cache_key_begin("s"), two = cache_key_begin("s"),
                  three = cache_key_begin("t");
    cache_key_add_text(&one, "ab");
    cache_key_add_text(&one, "c");
    cache_key_add_text(&two, "a");
    cache_key_add_text(&two, "bc");
    cache_key_add_text(&three, "ab");
    cache_key_add_text(&three, "c");
    const CacheKey a = cache_key_end(&one), b = cache_key_end(&two), c = cache_key_end(&three);
    CHECK(memcmp(&a, &b, sizeof a) != 0 && memcmp(&a, &c, sizeof a) != 0);
}

// A cache that came with a place is not used, so its bytecode is not signed.
TEST(another_hosts_entries_are_not_found)
{
    Stage stage = begin();
    put(stage.cache, "a", "evil");
    cache_close(stage.cache);
    stage.key.secret[3] = 8;
    CHECK_OK(cache_open(stage.path, &stage.key, &stage.cache));
    CHECK(!finds(stage.cache, "a", "evil"));
    end(&stage);
}

TEST(an_entry_under_another_name_is_not_found)
{
    Stage stage = begin();
    char from[256], to[256];
    put(stage.cache, "a", "value");
    put(stage.cache, "b", "other");
    entry_path(&stage, "a", from);
    entry_path(&stage, "b", to);
    REQUIRE(rename(from, to) == 0);
    CHECK(!finds(stage.cache, "b", "value") && !finds(stage.cache, "b", "other"));
    put(stage.cache, "b", "other");
    CHECK(finds(stage.cache, "b", "other"));
    end(&stage);
}

TEST(damage_is_a_miss)
{
    Stage stage = begin();
    char path[256];
    entry_path(&stage, "a", path);
    for (off_t bytes = 0; bytes < 37; bytes++) { // 32 of code, 5 of value
        put(stage.cache, "a", "value");
        REQUIRE(finds(stage.cache, "a", "value"));
        REQUIRE(truncate(path, bytes) == 0);
        CHECK(!finds(stage.cache, "a", "value"));
    }
    for (off_t at = 0; at < 37; at++) {
        put(stage.cache, "a", "value");
        const int file = open(path, O_RDWR);
        uint8_t byte = 0;
        REQUIRE(file >= 0 && pread(file, &byte, 1, at) == 1);
        byte ^= 1;
        REQUIRE(pwrite(file, &byte, 1, at) == 1);
        close(file);
        CHECK(!finds(stage.cache, "a", "value"));
    }
    end(&stage);
}

TEST(links_are_not_followed)
{
    Stage stage = begin();
    char path[256], aside[256];
    put(stage.cache, "a", "value");
    entry_path(&stage, "a", path);
    snprintf(aside, sizeof aside, "%s/elsewhere", stage.folder.path);
    REQUIRE(rename(path, aside) == 0 && symlink(aside, path) == 0);
    CHECK(!finds(stage.cache, "a", "value"));
    put(stage.cache, "a", "value"); // takes the link's place
    struct stat about;
    REQUIRE(lstat(path, &about) == 0);
    CHECK(S_ISREG(about.st_mode) && finds(stage.cache, "a", "value"));
    cache_close(stage.cache);
    snprintf(aside, sizeof aside, "%s/moved", stage.folder.path);
    REQUIRE(rename(stage.path, aside) == 0 && symlink(aside, stage.path) == 0);
    stage.cache = NULL;
    CHECK_INT(cache_open(stage.path, &stage.key, &stage.cache), STATUS_BLOCKED);
    end(&stage);
}

// A repository can carry links where the folders inside are.
TEST(no_folder_inside_is_a_link)
{
    Stage stage = begin();
    char part[256], outside[256], link[512], name[16];
    uint8_t hash[SHA256_BYTES];
    snprintf(outside, sizeof outside, "%s/outside", stage.folder.path);
    REQUIRE(mkdir(outside, 0700) == 0);
    static const char *const parts[] = {"entry", "blobs"};
    for (uint32_t i = 0; i < 2 * 256; i++) {
        snprintf(link, sizeof link, "%s/%s/%02x", stage.path, parts[i / 256], i % 256);
        REQUIRE(symlink(outside, link) == 0);
    }
    for (uint32_t i = 0; i < 20; i++) {
        snprintf(name, sizeof name, "%u", i);
        put(stage.cache, name, "value");
        cache_keep_blob(stage.cache, name, strlen(name), hash);
        Buffer out = buffer_of(64);
        CHECK(!finds(stage.cache, name, "value"));
        CHECK(!cache_find_blob(stage.cache, hash, 64, &out));
        buffer_free(&out);
    }
    // Not what is outside, either.
    const CacheKey key = key_of("a");
    char hex[65], moved[512];
    sha256_hex(key.bytes, hex);
    snprintf(link, sizeof link, "%s/entry/%.2s", stage.path, hex);
    REQUIRE(unlink(link) == 0);
    put(stage.cache, "a", "value");
    CHECK(finds(stage.cache, "a", "value"));
    entry_path(&stage, "a", part);
    snprintf(moved, sizeof moved, "%s/%s", outside, hex + 2);
    REQUIRE(rename(part, moved) == 0 && rmdir(link) == 0 && symlink(outside, link) == 0);
    CHECK(!finds(stage.cache, "a", "value"));
    cache_prune(stage.cache);
    CHECK_INT(test_folder_count(&stage.folder, "outside"), 1);
    CHECK_INT(test_folder_count(&stage.folder, "cache/aside"), 0);
    // Nor is what is half written made elsewhere.
    cache_close(stage.cache);
    stage.cache = NULL;
    snprintf(link, sizeof link, "%s/aside", stage.path);
    REQUIRE(rmdir(link) == 0 && symlink(outside, link) == 0);
    CHECK_INT(cache_open(stage.path, &stage.key, &stage.cache), STATUS_BLOCKED);
    CHECK_INT(test_folder_count(&stage.folder, "outside"), 1);
    end(&stage);
}

TEST(pipes_are_not_waited_for)
{
    Stage stage = begin();
    char path[256];
    put(stage.cache, "a", "value");
    entry_path(&stage, "a", path);
    REQUIRE(unlink(path) == 0 && mkfifo(path, 0600) == 0);
    CHECK(!finds(stage.cache, "a", "value"));
    put(stage.cache, "a", "value");
    CHECK(finds(stage.cache, "a", "value"));
    end(&stage);
}

TEST(leftovers_of_a_process_that_is_gone_go)
{
    Stage stage = begin();
    test_folder_write(&stage.folder, "cache/aside/999999999.0", "half");
    cache_close(stage.cache);
    CHECK_OK(cache_open(stage.path, &stage.key, &stage.cache));
    CHECK_INT(test_folder_count(&stage.folder, "cache/aside"), 0);
    end(&stage);
}

TEST(the_oldest_go_when_there_are_too_many)
{
    Stage stage = begin();
    const struct timespec long_ago[2] = {{.tv_sec = 1000}, {.tv_sec = 1000}};
    char path[256], name[32];
    put(stage.cache, "old", "value");
    entry_path(&stage, "old", path);
    REQUIRE(utimensat(AT_FDCWD, path, long_ago, 0) == 0);
    cache_prune(stage.cache);
    CHECK(access(path, F_OK) == 0); // there is room
    for (uint32_t i = 0; i < CACHE_FILES_MAX; i++) {
        snprintf(name, sizeof name, "%u", i);
        put(stage.cache, name, "x");
    }
    cache_prune(stage.cache);
    CHECK(access(path, F_OK) != 0);
    uint32_t left = 0;
    for (uint32_t i = 0; i < CACHE_FILES_MAX; i++) {
        snprintf(name, sizeof name, "%u", i);
        left += finds(stage.cache, name, "x");
    }
    CHECK_INT(left, CACHE_FILES_MAX / 4 * 3);
    end(&stage);
}

TEST(a_blob_is_what_its_name_says)
{
    Stage stage = begin();
    uint8_t hash[SHA256_BYTES], other[SHA256_BYTES] = {0};
    char hex[2 * SHA256_BYTES + 1], path[256];
    Buffer out = buffer_of(64);
    cache_keep_blob(stage.cache, "a picture", 9, hash);
    CHECK(cache_find_blob(stage.cache, hash, 9, &out) && out.bytes == 9);
    CHECK(out.bytes == 9 && memcmp(out.data, "a picture", 9) == 0);
    CHECK(!cache_find_blob(stage.cache, hash, 8, &out));
    CHECK(!cache_find_blob(stage.cache, other, 9, &out));
    sha256_hex(hash, hex);
    snprintf(path, sizeof path, "cache/blobs/%.2s/%s", hex, hex + 2);
    test_folder_write(&stage.folder, path, "a picturE");
    CHECK(!cache_find_blob(stage.cache, hash, 9, &out));
    Buffer again = buffer_of(64); // kept once more, it is what it was
    cache_keep_blob(stage.cache, "a picture", 9, hash);
    CHECK(cache_find_blob(stage.cache, hash, 9, &again));
    buffer_free(&again);
    // Nor through a link to the right bytes.
    char full[512], real[512];
    test_folder_write(&stage.folder, "real", "a picture");
    snprintf(full, sizeof full, "%s/%s", stage.folder.path, path);
    snprintf(real, sizeof real, "%s/real", stage.folder.path);
    CHECK(unlink(full) == 0 && symlink(real, full) == 0);
    CHECK(!cache_find_blob(stage.cache, hash, 9, &out));
    CHECK_INT(out.bytes, 9);
    buffer_free(&out);
    end(&stage);
}

// Files by their hash: each is written completely or not at all, compared when read, and no name
// leads outside the folder.
#define _GNU_SOURCE
#include "server/store/place/blob.h"

#include "tests/support/test.h"
#include "tests/unit/store_fixture.h"

#include <dirent.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

static void path_of(const StoreFixture *fixture, const uint8_t hash[32], char out[160])
{
    char hex[65];
    sha256_hex(hash, hex);
    snprintf(out, 160, "%s/blobs/%.2s/%s", fixture->folder, hex, hex + 2);
}

TEST(what_is_put_can_be_read)
{
    StoreFixture fixture;
    BlobStore *blobs = NULL;
    if (!fixture_begin(&fixture)) {
        return;
    }
    REQUIRE(blob_open(fixture.folder, &blobs) == STATUS_OK);
    static const char *const contents[] = {"", "a", "hello world"};
    uint8_t hash[32];
    for (size_t i = 0; i < 3; i++) {
        const size_t length = strlen(contents[i]);
        for (int again = 0; again < 2; again++) {
            CHECK_OK(blob_put(blobs, contents[i], length, hash));
        }
        uint8_t want[32];
        sha256_of(contents[i], length, want);
        CHECK_BYTES(hash, want, 32);
        CHECK(blob_exists(blobs, hash));
        uint8_t *data = NULL;
        size_t bytes = 99;
        CHECK_OK(blob_read(blobs, hash, 100, &data, &bytes));
        CHECK(bytes == length && memcmp(data, contents[i], length) == 0);
        free(data);
        if (length > 0) {
            CHECK_INT(blob_read(blobs, hash, length - 1, &data, &bytes), STATUS_LIMIT);
        }
    }
    blob_close(blobs);
    REQUIRE(blob_open(fixture.folder, &blobs) == STATUS_OK);
    CHECK(blob_exists(blobs, hash));
    hash[0] ^= 1;
    uint8_t *data = NULL;
    size_t bytes = 0;
    CHECK(!blob_exists(blobs, hash));
    CHECK_INT(blob_read(blobs, hash, 100, &data, &bytes), STATUS_NOT_FOUND);
    CHECK(data == NULL);
    blob_close(blobs);
    BlobStore *none = NULL;
    CHECK_INT(blob_open("no_such_folder", &none), STATUS_NOT_FOUND);
    fixture_end(&fixture);
}

TEST(a_damaged_file_is_told_apart_and_put_right)
{
    StoreFixture fixture;
    BlobStore *blobs = NULL;
    if (!fixture_begin(&fixture)) {
        return;
    }
    REQUIRE(blob_open(fixture.folder, &blobs) == STATUS_OK);
    uint8_t hash[32], *data = NULL;
    char path[160];
    size_t bytes = 0;
    CHECK_OK(blob_put(blobs, "hello world", 11, hash));
    path_of(&fixture, hash, path);
    const int file = open(path, O_WRONLY);
    REQUIRE(file >= 0);
    CHECK_INT(pwrite(file, "J", 1, 0), 1);
    close(file);
    CHECK_INT(blob_read(blobs, hash, 100, &data, &bytes), STATUS_MISMATCH);
    CHECK_INT(truncate(path, 3), 0);
    CHECK_INT(blob_read(blobs, hash, 100, &data, &bytes), STATUS_MISMATCH);
    CHECK_OK(blob_put(blobs, "hello world", 11, hash));
    CHECK_OK(blob_read(blobs, hash, 100, &data, &bytes));
    free(data);
    // Something else of that name is nothing.
    data = NULL;
    CHECK_INT(unlink(path), 0);
    CHECK_INT(symlink("/etc/passwd", path), 0);
    CHECK(!blob_exists(blobs, hash));
    CHECK_INT(blob_read(blobs, hash, 1 << 20, &data, &bytes), STATUS_NOT_FOUND);
    CHECK_INT(unlink(path), 0);
    CHECK_INT(mkfifo(path, 0600), 0);
    CHECK(!blob_exists(blobs, hash));
    CHECK_INT(blob_read(blobs, hash, 1 << 20, &data, &bytes), STATUS_NOT_FOUND);
    blob_close(blobs);
    fixture_end(&fixture);
}

TEST(only_64_hex_digits_are_a_name)
{
    char name[80];
    uint8_t hash[32] = {7}, want[32];
    memset(name, 'a', sizeof name);
    CHECK_OK(blob_parse(name, 64, hash));
    memset(want, 0xaa, sizeof want);
    CHECK_BYTES(hash, want, 32);
    CHECK_INT(blob_parse(name, 63, hash), STATUS_MALFORMED);
    CHECK_INT(blob_parse(name, 65, hash), STATUS_MALFORMED);
    CHECK_INT(blob_parse(name, 0, hash), STATUS_MALFORMED);
    for (int c = 0; c < 256; c++) {
        const bool digit = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
        for (size_t at = 0; at < 64; at += 21) {
            name[at] = (char)c;
            CHECK_INT(blob_parse(name, 64, hash), digit ? STATUS_OK : STATUS_MALFORMED);
            name[at] = 'a';
        }
    }
}

TEST(a_full_disk_leaves_nothing_half)
{
    StoreFixture fixture;
    BlobStore *blobs = NULL;
    if (!fixture_begin(&fixture)) {
        return;
    }
    REQUIRE(blob_open(fixture.folder, &blobs) == STATUS_OK);
    static uint8_t large[100000];
    uint8_t hash[32], want[32];
    memset(hash, 5, sizeof hash);
    memcpy(want, hash, sizeof want);
    struct rlimit before, small;
    signal(SIGXFSZ, SIG_IGN);
    REQUIRE(getrlimit(RLIMIT_FSIZE, &before) == 0);
    small = before;
    small.rlim_cur = 5000;
    REQUIRE(setrlimit(RLIMIT_FSIZE, &small) == 0);
    const Status status = blob_put(blobs, large, sizeof large, hash);
    REQUIRE(setrlimit(RLIMIT_FSIZE, &before) == 0);
    CHECK_INT(status, STATUS_BLOCKED);
    CHECK_BYTES(hash, want, 32);
    sha256_of(large, sizeof large, hash);
    CHECK(!blob_exists(blobs, hash));
    CHECK_OK(blob_put(blobs, large, sizeof large, hash));
    CHECK(blob_exists(blobs, hash));
    blob_close(blobs);
    fixture_end(&fixture);
}

static uint32_t count_aside(const StoreFixture *fixture)
{
    char path[160];
    uint32_t count = 0;
    snprintf(path, sizeof path, "%s/blobs/aside", fixture->folder);
    DIR *entries = opendir(path);
    for (const struct dirent *entry = entries != NULL ? readdir(entries) : NULL; entry != NULL;
         entry = readdir(entries)) {
        count += entry->d_name[0] != '.';
    }
    return entries != NULL && closedir(entries) == 0 ? count : UINT32_MAX;
}

TEST(one_that_arrives_in_parts_is_there_when_it_is_whole)
{
    StoreFixture fixture;
    BlobStore *blobs = NULL;
    if (!fixture_begin(&fixture)) {
        return;
    }
    REQUIRE(blob_open(fixture.folder, &blobs) == STATUS_OK);
    BlobWriter *writer = NULL;
    uint8_t hash[32] = {0}, want[32], *data = NULL;
    size_t bytes = 0;
    uint64_t count = 0;
    sha256_of("hello world", 11, want);
    CHECK_OK(blob_begin(blobs, 11, &writer));
    CHECK_OK(blob_append(writer, "hello", 5));
    CHECK_OK(blob_append(writer, "", 0));
    CHECK_OK(blob_append(writer, " world", 6));
    CHECK(!blob_exists(blobs, want));
    CHECK_INT(count_aside(&fixture), 1);
    CHECK_OK(blob_commit(writer, hash, &count));
    CHECK_BYTES(hash, want, 32);
    CHECK_INT(count, 11);
    CHECK_INT(count_aside(&fixture), 0);
    CHECK_OK(blob_read(blobs, hash, 100, &data, &bytes));
    CHECK(bytes == 11 && memcmp(data, "hello world", 11) == 0);
    free(data);
    int file = -1;
    CHECK_OK(blob_file(blobs, hash, &file, &count));
    char text[12] = "";
    CHECK_INT(pread(file, text, 11, 0), 11);
    CHECK_TEXT(text, "hello world");
    CHECK_INT(count, 11);
    close(file);
    hash[0] ^= 1;
    CHECK_INT(blob_file(blobs, hash, &file, &count), STATUS_NOT_FOUND);
    blob_close(blobs);
    fixture_end(&fixture);
}

TEST(one_that_is_too_long_or_given_up_leaves_nothing)
{
    StoreFixture fixture;
    BlobStore *blobs = NULL;
    if (!fixture_begin(&fixture)) {
        return;
    }
    REQUIRE(blob_open(fixture.folder, &blobs) == STATUS_OK);
    BlobWriter *writer = NULL;
    uint8_t hash[32] = {5}, want[32];
    uint64_t count = 7;
    CHECK_OK(blob_begin(blobs, 10, &writer));
    CHECK_OK(blob_append(writer, "0123456789", 10));
    CHECK_INT(blob_append(writer, "x", 1), STATUS_LIMIT);
    CHECK_INT(blob_append(writer, "", 0), STATUS_LIMIT); // it stays so
    CHECK_INT(blob_commit(writer, hash, &count), STATUS_BLOCKED);
    CHECK(hash[0] == 5 && count == 7);
    sha256_of("0123456789", 10, want);
    CHECK(!blob_exists(blobs, want));
    CHECK_INT(count_aside(&fixture), 0);
    CHECK_OK(blob_begin(blobs, 10, &writer));
    CHECK_OK(blob_append(writer, "0123456789", 10));
    blob_abort(writer);
    blob_abort(NULL);
    CHECK(!blob_exists(blobs, want));
    CHECK_INT(count_aside(&fixture), 0);
    // The process died: what is left aside goes at the next start.
    CHECK_OK(blob_begin(blobs, 10, &writer));
    CHECK_OK(blob_append(writer, "0123", 4));
    CHECK_INT(count_aside(&fixture), 1);
    BlobStore *again = NULL;
    CHECK_OK(blob_open(fixture.folder, &again));
    CHECK_INT(count_aside(&fixture), 0);
    blob_abort(writer);
    blob_close(again);
    blob_close(blobs);
    fixture_end(&fixture);
}

// --- collecting ---------------------------------------------------------------------------------

#define CONTENTS 32

// What is used, as the database would say.
typedef struct Uses {
    pthread_mutex_t lock;
    uint8_t hashes[CONTENTS][SHA256_BYTES];
    bool is_used[CONTENTS];
    atomic_bool is_over;
    BlobStore *blobs;
} Uses;

static Status ask_used(void *user, const uint8_t hash[SHA256_BYTES], bool *is_used)
{
    Uses *uses = user;
    *is_used = false;
    pthread_mutex_lock(&uses->lock);
    for (uint32_t i = 0; i < CONTENTS; i++) {
        *is_used |= uses->is_used[i] && memcmp(uses->hashes[i], hash, SHA256_BYTES) == 0;
    }
    pthread_mutex_unlock(&uses->lock);
    return STATUS_OK;
}

TEST(what_nobody_uses_is_removed_unless_it_was_just_put)
{
    StoreFixture fixture;
    if (!fixture_begin(&fixture)) {
        return;
    }
    Uses uses = {.lock = PTHREAD_MUTEX_INITIALIZER};
    BlobCollected found;
    CHECK_OK(blob_open(fixture.folder, &uses.blobs));
    for (uint32_t i = 0; i < CONTENTS; i++) {
        const char letter = (char)('a' + (int)i);
        CHECK_OK(blob_put(uses.blobs, &letter, 1, uses.hashes[i]));
        uses.is_used[i] = i % 2 == 0;
    }
    CHECK_OK(blob_collect(uses.blobs, ask_used, &uses, BLOB_KEPT_MS, &found));
    CHECK_INT(found.seen, CONTENTS);
    CHECK_INT(found.removed, 0);
    CHECK_OK(blob_collect(uses.blobs, ask_used, &uses, 0, &found));
    CHECK_INT(found.removed, CONTENTS / 2);
    CHECK_INT(found.bytes, CONTENTS / 2);
    for (uint32_t i = 0; i < CONTENTS; i++) {
        CHECK(blob_exists(uses.blobs, uses.hashes[i]) == uses.is_used[i]);
    }
    blob_close(uses.blobs);
    // What an earlier process put is nobody's to wait for.
    CHECK_OK(blob_open(fixture.folder, &uses.blobs));
    uses.is_used[0] = false;
    CHECK_OK(blob_collect(uses.blobs, ask_used, &uses, BLOB_KEPT_MS, &found));
    CHECK_INT(found.removed, 1);
    blob_close(uses.blobs);
    fixture_end(&fixture);
}

// Puts and uses a content, and gives it up again, for ever.
static void *put_and_use(void *user)
{
    Uses *uses = user;
    for (uint32_t turn = 0; !atomic_load(&uses->is_over); turn++) {
        const uint32_t i = turn % CONTENTS;
        const char letter = (char)('a' + (int)i);
        uint8_t hash[SHA256_BYTES];
        pthread_mutex_lock(&uses->lock);
        uses->is_used[i] = false;
        pthread_mutex_unlock(&uses->lock);
        if (blob_put(uses->blobs, &letter, 1, hash) != STATUS_OK) {
            return "a put failed";
        }
        pthread_mutex_lock(&uses->lock); // the row, a moment later
        memcpy(uses->hashes[i], hash, sizeof hash);
        uses->is_used[i] = true;
        pthread_mutex_unlock(&uses->lock);
        if (!blob_exists(uses->blobs, hash)) {
            return "a blob in use was removed";
        }
    }
    return NULL;
}

TEST(a_blob_in_use_is_never_removed_however_the_two_meet)
{
    StoreFixture fixture;
    if (!fixture_begin(&fixture)) {
        return;
    }
    Uses uses = {.lock = PTHREAD_MUTEX_INITIALIZER};
    BlobCollected found;
    pthread_t thread;
    void *failed = NULL;
    CHECK_OK(blob_open(fixture.folder, &uses.blobs));
    CHECK_INT(pthread_create(&thread, NULL, put_and_use, &uses), 0);
    for (uint32_t i = 0; i < 30; i++) {
        CHECK_OK(blob_collect(uses.blobs, ask_used, &uses, BLOB_KEPT_MS, &found));
    }
    atomic_store(&uses.is_over, true);
    CHECK_INT(pthread_join(thread, &failed), 0);
    CHECK_TEXT(failed != NULL ? failed : "", "");
    blob_close(uses.blobs);
    fixture_end(&fixture);
}

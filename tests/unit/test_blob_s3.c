// Blobs that are kept elsewhere: the cache by hash, in front of a remote that is a folder of the
// test and can lie; what S3 writes as a list; and, if SANDLOT_TEST_S3 names a bucket (test_s3.py
// starts a server), the same against a real S3 server.
#define _GNU_SOURCE
#include "core/base/check.h"
#include "server/store/place/blob.h"
#include "server/store/place/blob_cache.h"
#include "server/store/place/blob_s3.h"
#include "tests/support/test.h"
#include "tests/support/test_folder.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

// --- a remote that is a table -------------------------------------------------------------------

#define OBJECTS_MAX 64
typedef struct Object {
    uint8_t hash[SHA256_BYTES];
    uint8_t data[4096];
    size_t bytes;
    uint64_t age_ms;
} Object;

typedef struct Table {
    Object objects[OBJECTS_MAX];
    uint32_t count, fetches, lies; // the next so many fetches give something else
    bool is_down, closed;
    uint64_t age_at_find; // how old every object is when it is asked about again
} Table;

static Object *find_object(Table *table, const uint8_t hash[SHA256_BYTES])
{
    for (uint32_t i = 0; i < table->count; i++) {
        if (memcmp(table->objects[i].hash, hash, SHA256_BYTES) == 0) {
            return &table->objects[i];
        }
    }
    return NULL;
}

static Status table_put(void *user, const uint8_t hash[SHA256_BYTES], int file, uint64_t bytes)
{
    Table *table = user;
    Object *object = find_object(table, hash);
    if (table->is_down) {
        return STATUS_BLOCKED;
    }
    object = object != NULL ? object : &table->objects[table->count++];
    ASSERT(table->count <= OBJECTS_MAX && bytes <= sizeof object->data);
    memcpy(object->hash, hash, SHA256_BYTES);
    ASSERT(pread(file, object->data, bytes, 0) == (ssize_t)bytes);
    object->bytes = bytes;
    object->age_ms = 0;
    return STATUS_OK;
}

static Status table_fetch(void *user, const uint8_t hash[SHA256_BYTES], uint64_t bytes_max,
                          int file)
{
    Table *table = user;
    const Object *object = find_object(table, hash);
    table->fetches += 1;
    if (object == NULL || table->is_down) {
        return table->is_down ? STATUS_BLOCKED : STATUS_NOT_FOUND;
    }
    ASSERT(object->bytes <= bytes_max);
    const size_t bytes = table->lies > 0 ? object->bytes - 1 : object->bytes;
    table->lies -= table->lies > 0;
    ASSERT(pwrite(file, object->data, bytes, 0) == (ssize_t)bytes);
    return STATUS_OK;
}

static Status table_find(void *user, const uint8_t hash[SHA256_BYTES], uint64_t *bytes,
                         uint64_t *age_ms)
{
    Table *table = user;
    const Object *object = find_object(table, hash);
    *bytes = object != NULL ? object->bytes : 0;
    *age_ms = object != NULL ? table->age_at_find : 0;
    return table->is_down ? STATUS_BLOCKED : object != NULL ? STATUS_OK : STATUS_NOT_FOUND;
}

static Status table_remove(void *user, const uint8_t hash[SHA256_BYTES])
{
    Table *table = user;
    Object *object = find_object(table, hash);
    if (object != NULL) {
        *object = table->objects[--table->count];
    }
    return STATUS_OK;
}

static Status table_list(void *user, BlobListed sink, void *sink_user)
{
    Table copy = *(Table *)user;
    Status status = copy.is_down ? STATUS_BLOCKED : STATUS_OK;
    for (uint32_t i = 0; i < copy.count && status == STATUS_OK; i++) {
        status =
            sink(sink_user, copy.objects[i].hash, copy.objects[i].bytes, copy.objects[i].age_ms);
    }
    return status;
}

static void table_close(void *user)
{
    ((Table *)user)->closed = true;
}

static Table table;
static TestFolder folder;

static BlobStore *open_blobs(uint64_t cache_bytes)
{
    const BlobRemote remote = {&table,       table_put,  table_fetch, table_find,
                               table_remove, table_list, table_close};
    BlobStore *blobs = NULL;
    table = (Table){0};
    folder = test_folder_make();
    CHECK_OK(blob_open_remote(folder.path, &remote, cache_bytes, &blobs));
    return blobs;
}

static void close_blobs(BlobStore *blobs)
{
    blob_close(blobs);
    CHECK(table.closed);
    test_folder_remove(&folder);
}

static void put_text(BlobStore *blobs, const char *text, uint8_t hash[SHA256_BYTES])
{
    CHECK_OK(blob_put(blobs, text, strlen(text), hash));
}

static bool has_copy(const uint8_t hash[SHA256_BYTES])
{
    char hex[65], path[512];
    sha256_hex(hash, hex);
    snprintf(path, sizeof path, "%s/" BLOB_CACHE_FOLDER "/%.2s/%s", folder.path, hex, hex + 2);
    return access(path, R_OK) == 0;
}

static void write_copy(const uint8_t hash[SHA256_BYTES], const char *text)
{
    char hex[65], path[512];
    sha256_hex(hash, hex);
    snprintf(path, sizeof path, "%s/" BLOB_CACHE_FOLDER "/%.2s/%s", folder.path, hex, hex + 2);
    const int file = open(path, O_WRONLY | O_TRUNC);
    REQUIRE(file >= 0);
    CHECK(write(file, text, strlen(text)) == (ssize_t)strlen(text));
    close(file);
}

static Status read_text(BlobStore *blobs, const uint8_t hash[SHA256_BYTES], char out[64])
{
    uint8_t *data = NULL;
    size_t bytes = 0;
    const Status status = blob_read(blobs, hash, 63, &data, &bytes);
    snprintf(out, 64, "%.*s", (int)bytes, status == STATUS_OK ? (const char *)data : "");
    free(data);
    return status;
}

TEST(what_is_put_is_there_and_here)
{
    BlobStore *blobs = open_blobs(1 << 20);
    uint8_t hash[SHA256_BYTES];
    char text[64];
    put_text(blobs, "hello", hash);
    CHECK_INT(table.count, 1);
    CHECK(has_copy(hash) && blob_exists(blobs, hash));
    CHECK_OK(read_text(blobs, hash, text));
    CHECK_TEXT(text, "hello");
    CHECK_INT(table.fetches, 0);
    table.is_down = true; // a copy is as good
    CHECK_OK(read_text(blobs, hash, text));
    uint8_t other[SHA256_BYTES];
    CHECK_INT(blob_put(blobs, "bye", 3, other), STATUS_BLOCKED); // and nothing is half there
    sha256_of("bye", 3, other);
    CHECK(!has_copy(other));
    CHECK_INT(read_text(blobs, other, text), STATUS_BLOCKED);
    table.is_down = false;
    CHECK_INT(read_text(blobs, other, text), STATUS_NOT_FOUND);
    close_blobs(blobs);
}

static void count_trouble(void *user, BlobTrouble trouble, const uint8_t *wrong)
{
    CHECK((trouble == BLOB_WRONG) == (wrong != NULL));
    ((uint32_t *)user)[trouble] += 1;
}

TEST(nothing_that_comes_back_is_believed)
{
    BlobStore *blobs = open_blobs(1 << 20);
    uint8_t hash[SHA256_BYTES];
    char text[64];
    put_text(blobs, "the truth", hash);
    write_copy(hash, "a copy that was damaged");
    CHECK_OK(read_text(blobs, hash, text)); // is fetched again
    CHECK_TEXT(text, "the truth");
    CHECK_INT(table.fetches, 1);
    write_copy(hash, "again");
    uint32_t troubles[BLOB_TROUBLE_COUNT] = {0};
    blob_watch(blobs, count_trouble, troubles);
    table.lies = 3; // it is asked no more often
    CHECK_INT(read_text(blobs, hash, text), STATUS_BLOCKED);
    CHECK(!has_copy(hash) && table.lies == 0 && !blob_is_away(blobs));
    CHECK_INT(troubles[BLOB_WRONG], 1);
    table.is_down = true;
    int file;
    uint64_t bytes;
    CHECK_INT(blob_file(blobs, hash, &file, &bytes), STATUS_BLOCKED);
    CHECK(blob_is_away(blobs) && troubles[BLOB_AWAY] == 1);
    table.is_down = false;
    table.lies = 2;
    CHECK_OK(blob_file(blobs, hash, &file, &bytes));
    CHECK_INT(bytes, 9);
    CHECK(read(file, text, 9) == 9 && memcmp(text, "the truth", 9) == 0);
    CHECK(!blob_is_away(blobs) && troubles[BLOB_BACK] == 1);
    close(file);
    close_blobs(blobs);
}

TEST(the_cache_forgets_what_was_used_longest_ago)
{
    BlobStore *blobs = open_blobs(1000);
    uint8_t hashes[12][SHA256_BYTES];
    char text[128], read[64];
    for (uint32_t i = 0; i < 12; i++) {
        memset(text, 'a' + (int)i, 99);
        text[99] = '\0';
        put_text(blobs, text, hashes[i]);
        usleep(2000);                                               // times of files are coarse
        CHECK_INT(read_text(blobs, hashes[0], read), STATUS_LIMIT); // it is used all the time
        usleep(2000);
    }
    CHECK_INT(table.count, 12);
    CHECK(has_copy(hashes[0]) && has_copy(hashes[11]));
    CHECK(!has_copy(hashes[1]) && !has_copy(hashes[2]));
    uint32_t copies = 0;
    for (uint32_t i = 0; i < 12; i++) {
        copies += has_copy(hashes[i]) ? 1 : 0;
    }
    CHECK(copies >= 8 && copies <= 10);
    uint8_t *data = NULL;
    size_t bytes = 0;
    CHECK_OK(blob_read(blobs, hashes[1], 4096, &data, &bytes)); // comes back
    CHECK_INT(bytes, 99);
    free(data);
    CHECK(has_copy(hashes[1]));
    close_blobs(blobs);
}

static Status nobody_uses(void *user, const uint8_t hash[SHA256_BYTES], bool *is_used)
{
    *is_used = user != NULL && memcmp(hash, user, SHA256_BYTES) == 0;
    return STATUS_OK;
}

TEST(what_nobody_uses_goes_when_it_is_old_enough)
{
    BlobStore *blobs = open_blobs(1 << 20);
    uint8_t used[SHA256_BYTES], old[SHA256_BYTES], young[SHA256_BYTES], again[SHA256_BYTES];
    BlobCollected out;
    put_text(blobs, "used", used);
    put_text(blobs, "old", old);
    put_text(blobs, "young", young);
    put_text(blobs, "put again by another host", again);
    CHECK_OK(blob_collect(blobs, nobody_uses, used, BLOB_KEPT_MS, &out)); // all were just put
    CHECK_INT(out.seen, 4);
    CHECK_INT(out.removed, 0);
    for (uint32_t i = 0; i < table.count; i++) {
        table.objects[i].age_ms = 2 * BLOB_KEPT_MS;
    }
    CHECK_OK(blob_collect(blobs, nobody_uses, used, BLOB_KEPT_MS, &out)); // this host put them
    CHECK_INT(out.removed, 0);
    find_object(&table, young)->age_ms = 0;
    table.age_at_find = 0; // when it is asked about again, it is young
    CHECK_OK(blob_collect(blobs, nobody_uses, used, 1, &out));
    CHECK_INT(out.removed, 0);
    table.age_at_find = 10;
    usleep(2000);
    CHECK_OK(blob_collect(blobs, nobody_uses, used, 1, &out));
    CHECK_INT(out.removed, 2);
    CHECK(find_object(&table, used) != NULL && find_object(&table, young) != NULL);
    CHECK(find_object(&table, old) == NULL && !has_copy(old));
    table.is_down = true;
    CHECK_INT(blob_collect(blobs, nobody_uses, used, 1, &out), STATUS_BLOCKED);
    close_blobs(blobs);
}

// --- what S3 writes -----------------------------------------------------------------------------

static Status add_key(void *user, const char *key, uint64_t bytes, uint64_t unix_s)
{
    char *text = user;
    const size_t at = strlen(text);
    snprintf(text + at, 512 - at, "%s %llu %llu;", key, (unsigned long long)bytes,
             (unsigned long long)unix_s);
    return STATUS_OK;
}

TEST(lists_are_read)
{
    bool is_more = false;
    char last[BLOB_S3_KEY_BYTES], found[512] = "";
    const char *page = "<?xml version=\"1.0\"?><ListBucketResult xmlns=\"x\"><Name>b</Name>"
                       "<IsTruncated>true</IsTruncated><Contents><Key>p/ab</Key><LastModified>"
                       "2026-11-18T06:00:00.000Z</LastModified><Size>5</Size></Contents><Contents>"
                       "<Size>6</Size><Key>p/cd</Key><LastModified>later</LastModified></Contents>"
                       "</ListBucketResult>";
    CHECK_OK(blob_s3_read_list(page, strlen(page), add_key, found, &is_more, last));
    CHECK_TEXT(found, "p/ab 5 1794981600;p/cd 6 0;");
    CHECK(is_more);
    CHECK_TEXT(last, "p/cd");
    for (size_t cut = 0; cut < strlen(page); cut++) {
        found[0] = '\0';
        CHECK_INT(blob_s3_read_list(page, cut, add_key, found, &is_more, last), STATUS_MALFORMED);
    }
    const char *empty = "<ListBucketResult></ListBucketResult>";
    CHECK_OK(blob_s3_read_list(empty, strlen(empty), add_key, found, &is_more, last));
    CHECK(!is_more && last[0] == '\0');
}

TEST(addresses_are_checked)
{
    char reason[BLOB_S3_REASON_BYTES];
    static const char *const good[] = {"s3://club", "s3://club/", "s3://club/a/b",
                                       "s3://club/a?endpoint=https://s3.example&region=eu-1",
                                       "s3://my.club?region=eu-1"};
    static const char *const bad[] = {"",
                                      "s3://",
                                      "s3://a",
                                      "s3:///a",
                                      "https://club",
                                      "s3://club/a//b",
                                      "s3://club/../x",
                                      "s3://club/a b",
                                      "s3://club/%2e",
                                      "s3://club?endpoint=ftp://x",
                                      "s3://club?endpoint=",
                                      "s3://club?key=x",
                                      "s3://club?region=a/b"};
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
        CHECK(blob_s3_is_valid(good[i], reason));
    }
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        CHECK(!blob_s3_is_valid(bad[i], reason));
    }
}

// --- a real server ------------------------------------------------------------------------------

#define LARGE_BYTES (6u << 20)
#define MANY        45 // more than two pages of a list, as that server gives them

static BlobStore *open_s3(const char *address, uint64_t cache_bytes)
{
    const BlobS3Config config = {address, "S3RVER", "S3RVER"};
    char reason[BLOB_S3_REASON_BYTES];
    BlobRemote remote;
    BlobStore *blobs = NULL;
    const Status status = blob_s3_open(&config, &remote, reason);
    if (status != STATUS_OK) {
        test_fail(__FILE__, __LINE__, "%s: %s", address, reason);
        return NULL;
    }
    CHECK_OK(blob_open_remote(folder.path, &remote, cache_bytes, &blobs));
    return blobs;
}

TEST(a_bucket_keeps_blobs)
{
    const char *address = getenv("SANDLOT_TEST_S3");
    uint8_t hash[SHA256_BYTES], large_hash[SHA256_BYTES], missing[SHA256_BYTES] = {1};
    char text[64], reason[BLOB_S3_REASON_BYTES];
    if (address == NULL) {
        return; // test_s3.py has one
    }
    folder = test_folder_make();
    BlobRemote remote;
    const BlobS3Config wrong = {address, "S3RVER", "not the key"};
    CHECK_INT(blob_s3_open(&wrong, &remote, reason), STATUS_DENIED);
    const BlobS3Config nowhere = {"s3://club?endpoint=http://127.0.0.1:1", "a", "b"};
    CHECK_INT(blob_s3_open(&nowhere, &remote, reason), STATUS_BLOCKED);
    BlobStore *blobs = open_s3(address, 1000);
    REQUIRE(blobs != NULL);
    put_text(blobs, "in a bucket", hash);
    uint8_t *large = malloc(LARGE_BYTES), *data = NULL;
    size_t bytes = 0;
    for (uint32_t i = 0; i < LARGE_BYTES; i++) {
        large[i] = (uint8_t)(i * 2654435761u >> 24);
    }
    CHECK_OK(blob_put(blobs, large, LARGE_BYTES, large_hash)); // more than the cache: it is fetched
    CHECK(!has_copy(large_hash));
    CHECK_OK(blob_read(blobs, large_hash, LARGE_BYTES, &data, &bytes));
    CHECK(bytes == LARGE_BYTES && memcmp(data, large, bytes) == 0);
    free(data);
    free(large);
    CHECK(blob_exists(blobs, hash) && !blob_exists(blobs, missing));
    CHECK_INT(read_text(blobs, missing, text), STATUS_NOT_FOUND);
    uint8_t empty[SHA256_BYTES];
    CHECK_OK(blob_put(blobs, "", 0, empty));
    CHECK_OK(read_text(blobs, empty, text));
    blob_close(blobs);
    // Another machine, with nothing of its own.
    test_folder_remove(&folder);
    folder = test_folder_make();
    blobs = open_s3(address, 1 << 20);
    REQUIRE(blobs != NULL);
    CHECK_OK(read_text(blobs, hash, text));
    CHECK_TEXT(text, "in a bucket");
    CHECK(has_copy(hash));
    // All but one go, over several pages of the list.
    for (uint32_t i = 0; i < MANY; i++) {
        uint8_t one[SHA256_BYTES];
        snprintf(text, sizeof text, "number %u", i);
        put_text(blobs, text, one);
    }
    BlobCollected out;
    CHECK_OK(blob_collect(blobs, nobody_uses, hash, BLOB_KEPT_MS, &out));
    CHECK_INT(out.seen, MANY + 3);
    CHECK_INT(out.removed, 0);
    sleep(1); // the bucket counts in seconds
    CHECK_OK(blob_collect(blobs, nobody_uses, hash, 0, &out));
    CHECK_INT(out.removed, MANY + 2);
    CHECK(blob_exists(blobs, hash) && !blob_exists(blobs, large_hash));
    CHECK_OK(blob_collect(blobs, nobody_uses, NULL, 0, &out));
    CHECK_INT(out.removed, 1);
    blob_close(blobs);
    test_folder_remove(&folder);
}

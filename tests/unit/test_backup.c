// Backup and restore: what is restored is what was there, a damaged or cut backup is refused and
// leaves nothing, a copy hinders no commit, and nothing of the life after the backup is accepted.
#define _GNU_SOURCE
#include "server/backup/backup.h"

#include "server/backup/backup_list.h"
#include "server/backup/backup_tar.h"
#include "server/control/deletion_log.h"
#include "server/store/backup_lock.h"
#include "server/store/place/blob.h"
#include "server/store/store_copy.h"
#include "server/sys/file.h"
#include "tests/support/test.h"
#include "tests/unit/store_fixture.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static uint8_t buffer[1 << 20];

// --- the tar ------------------------------------------------------------------------------------

static Status pass_header(const TarEntry *entry, int flip, TarEntry *out)
{
    char block[TAR_BLOCK_BYTES];
    FILE *memory = fmemopen(block, sizeof block, "w+");
    setvbuf(memory, NULL, _IONBF, 0);
    Status status = tar_write_header(memory, entry, 1700000000);
    if (status == STATUS_OK) {
        if (flip >= 0) {
            block[flip / 8] = (char)(block[flip / 8] ^ (1 << flip % 8));
        }
        rewind(memory);
        status = tar_read_header(memory, out);
    }
    fclose(memory);
    return status;
}

TEST(a_header_comes_back_as_it_was_written)
{
    static const uint64_t sizes[] = {0, 1, 077777777777, 0100000000000, INT64_MAX};
    static const size_t lengths[] = {1, 99, 100, 101, 180, 250};
    for (size_t i = 0; i < 5; i++) {
        for (size_t j = 0; j < 6; j++) {
            TarEntry entry = {.bytes = sizes[i]}, got = {.bytes = 9};
            memset(entry.name, 'n', lengths[j]);
            if (lengths[j] > 90) {
                entry.name[lengths[j] - 90] = '/';
            }
            if (lengths[j] > 180) {
                entry.name[40] = '/';
            }
            const Status status = pass_header(&entry, -1, &got);
            CHECK_INT(status, lengths[j] == 250 ? STATUS_RANGE : STATUS_OK);
            if (status == STATUS_OK) {
                CHECK_TEXT(got.name, entry.name);
                CHECK(got.bytes == entry.bytes);
            }
        }
    }
}

TEST(a_wrong_bit_in_a_header_is_noticed)
{
    const TarEntry entry = {.name = "blobs/ab/cd", .bytes = 1234};
    for (int flip = 0; flip < TAR_BLOCK_BYTES * 8; flip++) {
        TarEntry got = {.bytes = 9};
        CHECK_INT(pass_header(&entry, flip, &got), STATUS_MALFORMED);
        CHECK_INT(got.bytes, 9);
    }
}

TEST(names_stay_inside)
{
    static const char *const good[] = {"a",   "a/b", ".hidden", "blobs/ab/cd",
                                       "a b", "..a", "\xc3\xa4"};
    static const char *const bad[] = {"",     "/a",     "a/",  "a//b", ".",    "..",
                                      "../a", "a/../b", "a/.", "a\nb", "a\\b", "\x7f"};
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
        CHECK(backup_name_is_valid(good[i]));
    }
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        CHECK(!backup_name_is_valid(bad[i]));
    }
}

// --- a data folder ------------------------------------------------------------------------------

static void write_file(const char *folder, const char *name, const char *text)
{
    char path[160];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    REQUIRE(file_write_private(path, text, strlen(text)) == STATUS_OK);
}

static bool file_is(const char *folder, const char *name, const char *text)
{
    char path[256];
    uint8_t *bytes = NULL;
    size_t count = 0;
    snprintf(path, sizeof path, "%s/%s", folder, name);
    const bool is_there = file_read(path, 1 << 20, &bytes, &count) == STATUS_OK;
    const bool is_same = is_there && strcmp((char *)bytes, text) == 0;
    free(bytes);
    return is_same;
}

static bool is_there(const char *folder, const char *name)
{
    char path[256];
    struct stat about;
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return lstat(path, &about) == 0;
}

static void put_meta(ByteWriter *writer, uint64_t tick)
{
    const RowMeta meta = {.next_net_id = 7, .next_player = 3, .tick = tick, .manifest_version = 5};
    row_put_meta(&meta, writer);
}

// A world with a save, a blob, keys, and what a backup leaves out. `folder` of the fixture is the
// data folder; others are beside it.
static uint64_t fill(StoreFixture *fixture, uint8_t hash[32])
{
    BlobStore *blobs = NULL;
    ByteWriter writer = byte_writer(buffer, sizeof buffer);
    const uint64_t epoch = fixture_world(fixture, "w1");
    put_meta(&writer, 100);
    CHECK_INT(fixture_save(fixture, "w1", epoch, 1, &writer), STATUS_OK);
    CHECK_OK(blob_open(fixture->folder, &blobs));
    CHECK_OK(blob_put(blobs, "hello", 5, hash));
    blob_close(blobs);
    write_file(fixture->folder, "ticket.key", "key");
    write_file(fixture->folder, "host.id", "id");
    write_file(fixture->folder, "unknown.conf", "a = 1\n");
    write_file(fixture->folder, "journal", "left out");
    char path[160];
    snprintf(path, sizeof path, "%s/cache", fixture->folder);
    CHECK(mkdir(path, 0700) == 0);
    write_file(fixture->folder, "cache/x", "left out");
    snprintf(path, sizeof path, "%s/unpacked", fixture->folder);
    CHECK_OK(file_make_folders(path));
    write_file(fixture->folder, "unpacked/x", "left out");
    snprintf(path, sizeof path, "%s/link", fixture->folder);
    CHECK(symlink("/etc/passwd", path) == 0);
    return epoch;
}

typedef struct Places {
    char backup[96], other[96], part[128];
} Places;

static Places places_of(const StoreFixture *fixture)
{
    Places places;
    snprintf(places.backup, sizeof places.backup, "%s.tar", fixture->folder);
    snprintf(places.other, sizeof places.other, "%s.other", fixture->folder);
    snprintf(places.part, sizeof places.part, "%.95s.restoring", places.other);
    return places;
}

// The fixture becomes one of the restored folder, which is removed at the end.
static bool open_other(StoreFixture *fixture, const Places *places)
{
    snprintf(fixture->folder, sizeof fixture->folder, "%.60s", places->other);
    snprintf(fixture->path, sizeof fixture->path, "%.80s/sandlot.db", places->other);
    fixture->config.path = fixture->path;
    return fixture_open(fixture) == STATUS_OK;
}

TEST(what_is_restored_is_what_was_there)
{
    StoreFixture fixture, other;
    uint8_t hash[32];
    if (!fixture_begin(&fixture)) {
        return;
    }
    const Places places = places_of(&fixture);
    BackupFacts facts;
    char reason[BACKUP_REASON_BYTES] = "";
    const uint64_t epoch = fill(&fixture, hash);
    CHECK_OK(backup_write(fixture.folder, places.backup, "1.2.3", NULL, &facts, reason));
    CHECK_TEXT(reason, "");
    CHECK_INT(facts.file_count, 5); // database, blob, two keys, the unknown one
    CHECK_INT(facts.skipped_count, 1);
    struct stat about;
    REQUIRE(stat(places.backup, &about) == 0);
    CHECK_INT(about.st_mode & 07777, 0600);
    // The store goes on: what it stores now is of another life.
    ByteWriter writer = byte_writer(buffer, sizeof buffer);
    put_meta(&writer, 200);
    CHECK_INT(fixture_save(&fixture, "w1", epoch, 2, &writer), STATUS_OK);

    CHECK_OK(backup_restore(places.backup, places.other, NULL, NULL, &facts, reason));
    CHECK_TEXT(facts.program, "1.2.3");
    CHECK_INT(strlen(facts.time), 20);
    CHECK(file_is(places.other, "ticket.key", "key") && file_is(places.other, "host.id", "id"));
    CHECK(file_is(places.other, "unknown.conf", "a = 1\n"));
    CHECK(!is_there(places.other, "journal") && !is_there(places.other, "cache"));
    CHECK(!is_there(places.other, "unpacked"));
    CHECK(!is_there(places.other, "link"));
    BlobStore *blobs = NULL;
    REQUIRE(blob_open(places.other, &blobs) == STATUS_OK);
    CHECK(blob_exists(blobs, hash));
    blob_close(blobs);
    // Again: it is not empty any more, and stays as it is.
    CHECK_INT(backup_restore(places.backup, places.other, NULL, NULL, &facts, reason),
              STATUS_EXISTS);
    CHECK(strstr(reason, "not empty") != NULL);
    other = fixture;
    fixture_end(&fixture);
    REQUIRE(open_other(&other, &places));
    fixture_end(&other);
    CHECK(unlink(places.backup) == 0);
}

TEST(nothing_of_the_life_after_the_backup_is_accepted)
{
    StoreFixture fixture, other;
    RowList list;
    uint8_t hash[32];
    if (!fixture_begin(&fixture)) {
        return;
    }
    row_list_init(&list);
    const Places places = places_of(&fixture);
    BackupFacts facts;
    char reason[BACKUP_REASON_BYTES] = "";
    fill(&fixture, hash);
    CHECK(fixture_sql(&fixture, "INSERT INTO sign_ins(token_hash) VALUES(x'01')"));
    CHECK(fixture_sql(&fixture, "INSERT INTO links(token_hash) VALUES(x'02')"));
    CHECK_OK(backup_write(fixture.folder, places.backup, "1", NULL, &facts, reason));
    uint64_t epoch = 0;
    CHECK_INT(fixture_renew(&fixture, "host", 1, 1, FIXTURE_FOREVER), STATUS_OK);
    for (int i = 0; i < 5; i++) { // starts of that other life
        CHECK_INT(fixture_take(&fixture, "w1", "host", 1, 1, &epoch), STATUS_OK);
    }
    CHECK_INT(epoch, 6);
    CHECK_OK(backup_restore(places.backup, places.other, NULL, NULL, &facts, reason));
    other = fixture;
    other.store = NULL;
    REQUIRE(open_other(&other, &places));
    CHECK_INT(fixture_number(&other, "SELECT count(*) FROM hosts WHERE length(host_id) > 0"), 0);
    CHECK_INT(fixture_number(&other, "SELECT count(*) FROM world_leases WHERE "
                                     "length(world_id) > 0"),
              0);
    // Sign-ins that were ended and links that were used since; what is left guards the table.
    CHECK_INT(fixture_number(&other, "SELECT count(*) FROM sign_ins"), 1);
    CHECK_INT(fixture_number(&other, "SELECT count(*) FROM links"), 1);
    ByteWriter writer = byte_writer(buffer, sizeof buffer);
    put_meta(&writer, 300);
    for (uint64_t old = 1; old <= 8; old++) {
        CHECK_INT(fixture_save(&other, "w1", old, 1, &writer), STATUS_DENIED);
        CHECK_INT(fixture_save(&other, "w1", old, 2, &writer), STATUS_DENIED);
    }
    CHECK_INT(fixture_renew(&other, "host", 2, 1, FIXTURE_FOREVER), STATUS_OK);
    CHECK_INT(fixture_take(&other, "w1", "host", 2, 1, &epoch), STATUS_OK);
    CHECK(epoch > (UINT64_C(1) << 32));
    CHECK_INT(fixture_save(&other, "w1", 6, 1, &writer), STATUS_DENIED);
    CHECK_OK(row_list_read(&list, other.store, "w1"));
    CHECK_INT(list.count, 1);
    ByteReader reader = byte_reader(list.bytes, list.byte_count);
    Row row;
    RowMeta meta = {0};
    CHECK_OK(row_read(&reader, &row));
    CHECK_OK(row_meta(&row, &meta));
    CHECK_INT(meta.tick, 100);
    CHECK(meta.manifest_version > 1000000);
    CHECK_INT(fixture_save(&other, "w1", epoch, 1, &writer), STATUS_OK);
    row_list_free(&list);
    fixture_end(&fixture);
    fixture_end(&other);
    CHECK(unlink(places.backup) == 0);
}

// --- damage -------------------------------------------------------------------------------------

typedef struct Backup {
    StoreFixture fixture;
    Places places;
    uint8_t *bytes;
    size_t count;
} Backup;

static bool backup_begin(Backup *backup)
{
    uint8_t hash[32];
    BackupFacts facts;
    char reason[BACKUP_REASON_BYTES] = "";
    if (!fixture_begin(&backup->fixture)) {
        return false;
    }
    backup->places = places_of(&backup->fixture);
    fill(&backup->fixture, hash);
    CHECK_OK(
        backup_write(backup->fixture.folder, backup->places.backup, "1", NULL, &facts, reason));
    return file_read(backup->places.backup, 16 << 20, &backup->bytes, &backup->count) == STATUS_OK;
}

static void backup_end(Backup *backup)
{
    free(backup->bytes);
    CHECK(unlink(backup->places.backup) == 0);
    fixture_end(&backup->fixture);
}

static Status restore_bytes(const Backup *backup, size_t count)
{
    BackupFacts facts;
    char reason[BACKUP_REASON_BYTES] = "";
    struct stat about;
    FILE *file = fopen(backup->places.backup, "wb");
    CHECK(file != NULL && fwrite(backup->bytes, 1, count, file) == count && fclose(file) == 0);
    const Status status =
        backup_restore(backup->places.backup, backup->places.other, NULL, NULL, &facts, reason);
    CHECK(lstat(backup->places.part, &about) != 0);
    if (status != STATUS_OK) {
        CHECK(reason[0] != '\0');
        CHECK(lstat(backup->places.other, &about) != 0);
    } else {
        StoreFixture other = backup->fixture;
        CHECK(open_other(&other, &backup->places));
        fixture_end(&other);
    }
    return status;
}

// The bits that no hash covers are the zeros that fill up the last block of a file.
TEST(a_wrong_bit_anywhere_is_refused)
{
    Backup backup;
    if (!backup_begin(&backup)) {
        return;
    }
    Rng rng = rng_make(test_seed(), 1);
    for (int i = 0; i < 60 && test_is_passing(); i++) {
        // Half of them in the small files and the manifest, which are at the end.
        const uint32_t end = i % 2 == 0 ? (uint32_t)backup.count : 8000;
        const size_t at = backup.count - 1 - rng_below(&rng, end);
        const bool is_zero = backup.bytes[at] == 0;
        const uint8_t bit = (uint8_t)(1u << rng_below(&rng, 8));
        backup.bytes[at] ^= bit;
        const Status status = restore_bytes(&backup, backup.count);
        CHECK(status != STATUS_OK || is_zero);
        backup.bytes[at] ^= bit;
    }
    CHECK_OK(restore_bytes(&backup, backup.count));
    backup_end(&backup);
}

TEST(a_backup_that_is_cut_off_is_refused)
{
    Backup backup;
    if (!backup_begin(&backup)) {
        return;
    }
    Rng rng = rng_make(test_seed(), 2);
    // The two empty blocks at the end are all that may be missing.
    const size_t end = backup.count - 2 * TAR_BLOCK_BYTES;
    for (int i = 0; i < 40 && test_is_passing(); i++) {
        const size_t count = i < 20 ? end - 1 - (size_t)i * 100 : rng_below(&rng, (uint32_t)end);
        CHECK(restore_bytes(&backup, count) != STATUS_OK);
    }
    CHECK_INT(restore_bytes(&backup, 0), STATUS_TRUNCATED);
    CHECK_OK(restore_bytes(&backup, end));
    backup_end(&backup);
}

TEST(a_backup_of_a_later_schema_or_format_is_refused)
{
    Backup backup;
    if (!backup_begin(&backup)) {
        return;
    }
    BackupFacts facts;
    char reason[BACKUP_REASON_BYTES] = "";
    const Places *places = &backup.places;
    CHECK(fixture_sql(&backup.fixture, "PRAGMA user_version = 99"));
    CHECK_OK(backup_write(backup.fixture.folder, places->backup, "9", NULL, &facts, reason));
    CHECK_INT(facts.schema, 99);
    CHECK_INT(backup_restore(places->backup, places->other, NULL, NULL, &facts, reason),
              STATUS_UNSUPPORTED);
    CHECK(strstr(reason, "a later version of sandlot") != NULL);
    static const char later[] = "# sandlot backup 2\n", none[] = "# sandlot back";
    CHECK_INT(backup_list_read(later, strlen(later), &facts), STATUS_UNSUPPORTED);
    CHECK_INT(backup_list_read(none, strlen(none), &facts), STATUS_MALFORMED);
    backup_end(&backup);
}

// --- the copy -----------------------------------------------------------------------------------

static off_t size_of(const StoreFixture *fixture, const char *ending)
{
    char path[sizeof fixture->path + 64];
    struct stat about;
    snprintf(path, sizeof path, "%s%s", fixture->path, ending);
    return stat(path, &about) == 0 ? about.st_size : -1;
}

static void save_chunks(StoreFixture *fixture, uint64_t epoch, uint64_t seq, Rng *rng)
{
    ByteWriter writer = byte_writer(buffer, sizeof buffer);
    for (int i = 0; i < 300; i++) {
        fixture_row(rng, &writer);
    }
    CHECK_INT(fixture_save(fixture, "w1", epoch, seq, &writer), STATUS_OK);
}

// Writing it back would wait for the reader, and every commit with it.
TEST(the_log_is_not_written_back_while_the_database_is_copied)
{
    StoreFixture fixture;
    char path[128];
    int lock = -1, second = -1;
    if (!fixture_begin(&fixture)) {
        return;
    }
    Rng rng = rng_make(test_seed(), 3);
    const uint64_t epoch = fixture_world(&fixture, "w1");
    snprintf(path, sizeof path, "%s/" BACKUP_LOCK_NAME, fixture.folder);
    REQUIRE(backup_lock_take(path, &lock) == STATUS_OK);
    CHECK(!backup_lock_enter(path, &second));
    const off_t before = size_of(&fixture, "");
    uint64_t seq = 1;
    while (size_of(&fixture, "-wal") < 2500 * 4096 && seq < 3000 && test_is_passing()) {
        save_chunks(&fixture, epoch, seq++, &rng);
    }
    CHECK_INT(size_of(&fixture, ""), before);
    CHECK_INT(store_stats(fixture.store).disk_errors, 0);
    // The database is copied, the blobs are not yet: another backup still has to wait.
    CHECK_OK(backup_lock_share(lock));
    save_chunks(&fixture, epoch, seq++, &rng);
    fixture_close(&fixture); // waits for the writer
    CHECK_INT(size_of(&fixture, "-wal"), -1);
    CHECK_OK(fixture_open(&fixture));
    CHECK(backup_lock_enter(path, &second));
    backup_lock_leave(second);
    backup_lock_release(lock);
    REQUIRE(backup_lock_take(path, &lock) == STATUS_OK);
    backup_lock_release(lock);
    fixture_end(&fixture);
}

TEST(a_damaged_database_is_not_backed_up)
{
    Backup backup;
    if (!backup_begin(&backup)) {
        return;
    }
    BackupFacts facts;
    char reason[BACKUP_REASON_BYTES] = "", zeros[4096];
    fixture_close(&backup.fixture);
    const int file = open(backup.fixture.path, O_WRONLY);
    memset(zeros, 0x5a, sizeof zeros);
    REQUIRE(file >= 0 && pwrite(file, zeros, sizeof zeros, 3 * 4096) == sizeof zeros);
    close(file);
    CHECK_INT(backup_write(backup.fixture.folder, backup.places.backup, "1", NULL, &facts, reason),
              STATUS_MALFORMED);
    CHECK(strstr(reason, "damaged") != NULL);
    CHECK_OK(restore_bytes(&backup, backup.count)); // and the one before is still there
    backup_end(&backup);
}

// --- deletions ----------------------------------------------------------------------------------

static DeletionLog read_log(const char *folder, Status expected)
{
    char path[128];
    DeletionLog log = {0};
    snprintf(path, sizeof path, "%s/" DELETION_LOG_NAME, folder);
    CHECK_INT(deletion_log_read(path, &log), expected);
    return log;
}

TEST(deletions_are_read_in_order_and_a_cut_line_is_skipped)
{
    StoreFixture fixture;
    if (!fixture_begin(&fixture)) {
        return;
    }
    (void)read_log(fixture.folder, STATUS_NOT_FOUND);
    CHECK_OK(deletion_log_append(fixture.folder, 7, 1000));
    CHECK_OK(deletion_log_append(fixture.folder, UINT64_MAX, 2000));
    DeletionLog log = read_log(fixture.folder, STATUS_OK);
    CHECK_INT(log.count, 2);
    CHECK(log.entries[0].account == 7 && log.entries[1].account == UINT64_MAX);
    CHECK_INT(log.entries[1].unix_ms, 2000);
    free(log.entries);
    static const char *const cut[] = {"1", "12", "12\t", "12\t5"};
    for (size_t i = 0; i < 4; i++) {
        write_file(fixture.folder, DELETION_LOG_NAME, cut[i]);
        log = read_log(fixture.folder, STATUS_OK);
        CHECK_INT(log.count, 0);
        CHECK_INT(log.cut_count, 1);
        free(log.entries);
        CHECK_OK(deletion_log_append(fixture.folder, 34, 3000)); // is not lost behind it
        log = read_log(fixture.folder, STATUS_OK);
        CHECK(log.count >= 1 && log.entries[log.count - 1].account == 34);
        free(log.entries);
    }
    static const char *const bad[] = {
        "a\t1\n", "-1\t1\n", "1 2\n", "1\t2\t3\n", "99999999999999999999\t1x\n", "{}\n"};
    for (size_t i = 0; i < 6; i++) {
        write_file(fixture.folder, DELETION_LOG_NAME, bad[i]);
        (void)read_log(fixture.folder, STATUS_MALFORMED);
    }
    fixture_end(&fixture);
}

// The first line of `Door.soul.lua`, the states that follow from it, and the file on disk.
#define _GNU_SOURCE
#include "server/build/soul/soul_kept.h"
#include "tests/support/test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static SoulHeader some_header(void)
{
    SoulHeader header = {.name = "Door.soul", .has_body = true, .model = "claude-x-1"};
    memset(header.prompt, 0x11, sizeof header.prompt);
    memset(header.source, 0x22, sizeof header.source);
    return header;
}

// A file with that header over that body, zero after it.
static size_t make_file(const SoulHeader *header, const char *body, char *out, size_t capacity)
{
    Buffer file = buffer_of(capacity - 1);
    soul_header_write(header, &file);
    buffer_put(&file, body, strlen(body));
    CHECK_OK(file.status);
    const size_t bytes = file.bytes;
    memcpy(out, file.data, bytes);
    out[bytes] = '\0';
    buffer_free(&file);
    return bytes;
}

// As a build looks at a file.
static SoulKept look(const void *data, size_t bytes, const uint8_t prompt[SHA256_BYTES],
                     const uint8_t source[SHA256_BYTES])
{
    const PlaceFile file = {.path = "Workspace/Door.soul.lua", .data = data, .bytes = bytes};
    SoulHeader header;
    size_t header_bytes = 0;
    (void)soul_header_read(data, bytes, &header, &header_bytes);
    return soul_kept_check(&file, &header, header_bytes, prompt, source);
}

TEST(header_round_trip)
{
    SoulHeader header = some_header();
    char file[1024];
    soul_body_hash("print(1)\n", 9, header.body);
    const size_t bytes = make_file(&header, "print(1)\n", file, sizeof file);
    SoulHeader back;
    size_t taken = 0;
    REQUIRE(soul_header_read(file, bytes, &back, &taken));
    CHECK_TEXT(file + taken, "print(1)\n");
    CHECK_TEXT(back.name, "Door.soul");
    CHECK_TEXT(back.model, "claude-x-1");
    CHECK(back.has_body && !back.has_review);
    CHECK_BYTES(back.prompt, header.prompt, SHA256_BYTES);
    CHECK_BYTES(back.source, header.source, SHA256_BYTES);
    CHECK_BYTES(back.body, header.body, SHA256_BYTES);
    CHECK(strncmp(file, "-- made from Door.soul \xc2\xb7 sha256:1111", 36) == 0);
}

TEST(header_is_one_line_of_an_exact_form)
{
    SoulHeader header = some_header();
    char good[1024], bad[1024];
    const size_t bytes = make_file(&header, "", good, sizeof good);
    SoulHeader out;
    size_t taken = 0;
    REQUIRE(soul_header_read(good, bytes, &out, &taken));
    REQUIRE(soul_header_read(good, bytes - 1, &out, &taken)); // without its end
    CHECK_INT(taken, bytes - 1);
    for (size_t i = 0; i + 1 < bytes - 1; i++) {
        // A byte that no field can hold, wherever it stands.
        memcpy(bad, good, bytes);
        bad[i] = '\x01';
        CHECK(!soul_header_read(bad, bytes, &out, &taken));
    }
    // More after the last field.
    memcpy(bad, good, bytes - 1);
    memcpy(bad + bytes - 1, " x\n", 3);
    CHECK(!soul_header_read(bad, bytes + 2, &out, &taken));
    // Upper case is not how hashes are written.
    memcpy(bad, good, bytes);
    bad[36] = 'A';
    CHECK(!soul_header_read(bad, bytes, &out, &taken));
    CHECK(!soul_header_read("", 0, &out, &taken));
    CHECK(!soul_header_read("\n", 1, &out, &taken));
    memset(bad, '-', sizeof bad);
    CHECK(!soul_header_read(bad, sizeof bad, &out, &taken));
}

// Its end may be another, or missing; a line that goes on is none.
TEST(how_a_line_may_end)
{
    SoulHeader header = some_header(), out;
    char file[1024];
    const size_t bytes = make_file(&header, "print(1)\n", file, sizeof file);
    size_t taken = 0;
    char *end = strchr(file, '\n');
    const size_t line = (size_t)(end - file);
    REQUIRE(soul_header_read(file, line, &out, &taken));
    CHECK_INT(taken, line);
    *end = ' ';
    CHECK(!soul_header_read(file, bytes, &out, &taken));
    memcpy(end, "\r\nx", 3);
    REQUIRE(soul_header_read(file, line + 3, &out, &taken));
    CHECK_INT(taken, line + 2);
}

TEST(names_that_cannot_stand_in_a_line)
{
    SoulHeader header = some_header();
    (void)snprintf(header.name, sizeof header.name, "Big Door.soul");
    (void)snprintf(header.model, sizeof header.model, "a\nprint(2)");
    char file[1024];
    const size_t bytes = make_file(&header, "", file, sizeof file);
    SoulHeader back;
    size_t taken = 0;
    REQUIRE(soul_header_read(file, bytes, &back, &taken));
    CHECK_INT(taken, bytes);
    CHECK_TEXT(back.name, "-");
    CHECK_TEXT(back.model, "-");
}

TEST(ends_of_lines_do_not_count)
{
    uint8_t a[SHA256_BYTES], b[SHA256_BYTES], c[SHA256_BYTES];
    soul_body_hash("a\nb\n", 4, a);
    soul_body_hash("a\r\nb\r\n", 6, b);
    soul_body_hash("a\rb\r", 4, c);
    CHECK_BYTES(a, b, SHA256_BYTES);
    CHECK(memcmp(a, c, SHA256_BYTES) != 0);
    soul_body_hash("", 0, a);
    soul_body_hash("\r", 1, b);
    CHECK(memcmp(a, b, SHA256_BYTES) != 0);
}

TEST(states)
{
    const char *body = "function onStart() end\n";
    SoulHeader header = some_header();
    soul_body_hash(body, strlen(body), header.body);
    char file[1024];
    size_t bytes = make_file(&header, body, file, sizeof file);
    uint8_t other[SHA256_BYTES] = {9};
    SoulKept kept = look(file, bytes, header.prompt, header.source);
    CHECK_INT(kept.state, SOUL_FITS);
    CHECK(!kept.is_edited && !kept.is_reviewed);
    CHECK_INT(look(file, bytes, other, header.source).state, SOUL_OLDER);
    CHECK_INT(look(file, bytes, other, other).state, SOUL_STALE);
    CHECK_INT(soul_kept_check(NULL, NULL, 0, other, other).state, SOUL_MISSING);
    CHECK_INT(look("print(1)", 8, other, other).state, SOUL_FOREIGN);
    CHECK(look("print(1)", 8, other, other).is_edited);
    // One byte of the body.
    file[bytes - 2] = ' ';
    CHECK(look(file, bytes, header.prompt, header.source).is_edited);
    // Accepted, and then changed.
    header.has_review = true;
    memcpy(header.review, header.body, SHA256_BYTES);
    bytes = make_file(&header, body, file, sizeof file);
    CHECK(look(file, bytes, header.prompt, header.source).is_reviewed);
    file[bytes - 2] = ' ';
    CHECK(!look(file, bytes, header.prompt, header.source).is_reviewed);
    // Without a body hash: what a person wrote counts as edited, whatever it contains.
    header.has_body = false;
    bytes = make_file(&header, body, file, sizeof file);
    kept = look(file, bytes, header.prompt, header.source);
    CHECK(kept.is_edited && kept.is_reviewed);
}

TEST(files_are_not_overwritten_blindly)
{
    char place[] = "/tmp/sandlot-kept-XXXXXX", path[256], reason[WORKER_REASON_BYTES];
    REQUIRE(mkdtemp(place) != NULL);
    (void)snprintf(path, sizeof path, "%s/Workspace", place);
    REQUIRE(mkdir(path, 0700) == 0);
    SoulFile file = {.place = place, .path = "Workspace/Door.soul.lua"};
    CHECK_OK(soul_file_write(&file, "one", 3, reason));
    // The file exists now, which was not expected.
    CHECK_INT(soul_file_write(&file, "two", 3, reason), STATUS_MISMATCH);
    file.before = (const uint8_t *)"one";
    file.before_bytes = 3;
    CHECK_OK(soul_file_write(&file, "two", 3, reason));
    // It is "two" now.
    CHECK_INT(soul_file_write(&file, "six", 3, reason), STATUS_MISMATCH);
    CHECK(strstr(reason, "Workspace/Door.soul.lua") != NULL);
    // Gone meanwhile.
    (void)snprintf(path, sizeof path, "%s/Workspace/Door.soul.lua", place);
    REQUIRE(unlink(path) == 0);
    CHECK_INT(soul_file_write(&file, "six", 3, reason), STATUS_MISMATCH);
    // A link in its place, which leads out.
    char outside[] = "/tmp/sandlot-outside-XXXXXX";
    const int made = mkstemp(outside);
    REQUIRE(made >= 0);
    close(made);
    REQUIRE(symlink(outside, path) == 0);
    file.before = NULL;
    CHECK_INT(soul_file_write(&file, "six", 3, reason), STATUS_BLOCKED);
    CHECK(strstr(reason, "link") != NULL);
    struct stat about;
    CHECK(stat(outside, &about) == 0 && about.st_size == 0);
    // A folder that is a link.
    unlink(path);
    (void)snprintf(path, sizeof path, "%s/Workspace", place);
    REQUIRE(rmdir(path) == 0 && symlink("/tmp", path) == 0);
    CHECK_INT(soul_file_write(&file, "six", 3, reason), STATUS_BLOCKED);
    CHECK(access("/tmp/Door.soul.lua", F_OK) != 0);
    unlink(path);
    unlink(outside);
    rmdir(place);
}

TEST(what_was_accepted_is_found_by_its_hash)
{
    char place[] = "/tmp/sandlot-reviewed-XXXXXX", path[512];
    REQUIRE(mkdtemp(place) != NULL);
    SoulKept kept = {.body = "return 1\n", .body_bytes = 9};
    soul_body_hash(kept.body, kept.body_bytes, kept.body_hash);
    CHECK_OK(soul_reviewed_write(place, &kept));
    CHECK_OK(soul_reviewed_write(place, &kept)); // once more does no harm
    SoulHeader header = {.has_review = true};
    memcpy(header.review, kept.body_hash, SHA256_BYTES);
    uint8_t *text = NULL;
    size_t bytes = 0;
    REQUIRE(soul_reviewed_read(place, &header, &text, &bytes) == STATUS_OK);
    CHECK_INT(bytes, 9);
    CHECK_BYTES(text, kept.body, 9);
    free(text);
    // Somebody changed it: it is not what was accepted.
    char hex[2 * SHA256_BYTES + 1];
    sha256_hex(kept.body_hash, hex);
    (void)snprintf(path, sizeof path, "%s/.sandlot/data/reviewed/%s.lua", place, hex);
    FILE *file = fopen(path, "w");
    REQUIRE(file != NULL);
    fputs("return 2\n", file);
    fclose(file);
    CHECK_INT(soul_reviewed_read(place, &header, &text, &bytes), STATUS_MISMATCH);
    unlink(path);
    CHECK_INT(soul_reviewed_read(place, &header, &text, &bytes), STATUS_NOT_FOUND);
    header.has_review = false;
    CHECK_INT(soul_reviewed_read(place, &header, &text, &bytes), STATUS_NOT_FOUND);
    // A review that came with the place was not made here: as before, and in a data folder.
    header.has_review = true;
    static const char *const brought[] = {"reviewed", "data/reviewed"};
    for (uint32_t i = 0; i < 2; i++) {
        char command[1024];
        (void)snprintf(
            command, sizeof command,
            "rm -rf %s/.sandlot && mkdir -p -m 700 %s/.sandlot/%s && printf 'return 1\\n' "
            "> %s/.sandlot/%s/%s.lua && chmod -R go-w %s/.sandlot",
            place, place, brought[i], place, brought[i], hex, place);
        REQUIRE(system(command) == 0);
        CHECK_INT(soul_reviewed_read(place, &header, &text, &bytes), STATUS_NOT_FOUND);
    }
    CHECK_INT(soul_reviewed_write(place, &kept), STATUS_DENIED);
    (void)snprintf(path, sizeof path, "rm -rf %s/.sandlot", place);
    REQUIRE(system(path) == 0);
    (void)snprintf(path, sizeof path, "%s/.sandlot", place);
    // .sandlot as a link: nothing is written through it.
    REQUIRE(symlink("/tmp", path) == 0);
    CHECK_INT(soul_reviewed_write(place, &kept), STATUS_BLOCKED);
    unlink(path);
    rmdir(place);
}

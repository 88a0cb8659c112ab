// The rules of packages, one by one; false replies of a worker; unpacking to disk. Whole archives,
// valid and hostile, are in tests/flow/test_package.py.
#define _GNU_SOURCE
#include "core/base/rng.h"
#include "core/base/sha256.h"
#include "server/build/inside/media/asset.h"
#include "server/build/inside/worker_op.h"
#include "server/build/package/package_reply.h"
#include "tests/support/test.h"
#include "tests/support/test_folder.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <zlib.h>

// --- names --------------------------------------------------------------------------------------

static const char *rule_in(const char *reason, char out[32])
{
    const char *first = strstr(reason, ": ");
    const char *second = first != NULL ? strstr(first + 2, ": ") : NULL;
    snprintf(out, 32, "%.*s", second == NULL ? 1 : (int)(second - first - 2),
             second == NULL ? "?" : first + 2);
    return out;
}

// "" when the path is fine.
static const char *judge_path(const char *path, size_t bytes, char out[32])
{
    char reason[WORKER_REASON_BYTES] = "";
    char text[PACKAGE_NAME_BYTES];
    out[0] = '\0';
    if (package_path_check(path, bytes, reason) != STATUS_OK) {
        return rule_in(reason, out);
    }
    memcpy(text, path, bytes);
    text[bytes] = '\0';
    return package_path_fits(text, reason) == STATUS_OK ? out : rule_in(reason, out);
}

TEST(a_path_is_judged_by_the_first_rule_it_breaks)
{
    static const char *const cases[][2] = {{"place.json", ""},
                                           {"a/b/c.lua", ""},
                                           {"Größe/日本語.md", ""},
                                           {"a b/c-d_e (1).txt", ""},
                                           {"a..b.lua", ""},
                                           {"..a/b", ""},
                                           {"/a", "absolute"},
                                           {"a:b", "absolute"},
                                           {"..", "dotdot"},
                                           {"a/..", "dotdot"},
                                           {"../a", "dotdot"},
                                           {"a/../b", "dotdot"},
                                           {"a\\b", "backslash"},
                                           {".", "name"},
                                           {"a/", "name"},
                                           {"a//b", "name"},
                                           {"a/./b", "name"},
                                           {"a\tb", "control"},
                                           {"a\xc2\x85", "control"},
                                           {"a\xe2\x80\xae", "control"},
                                           {"a\xff", "utf8"},
                                           {"u\xcc\x88", "utf8"},
                                           {"NUL", "name"},
                                           {"a/nul.txt", "name"},
                                           {"COM9.lua", "name"},
                                           {"COM10.lua", ""},
                                           {"console.lua", ""},
                                           {"a.", "name"},
                                           {" a", "name"},
                                           {"a?", "name"},
                                           {"a/b/c/d/e/f/g/h/i/j/k/l/m", ""},
                                           {"a/b/c/d/e/f/g/h/i/j/k/l/m/n", "depth"}};
    char rule[32];
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        CHECK_TEXT(judge_path(cases[i][0], strlen(cases[i][0]), rule), cases[i][1]);
    }
    CHECK_TEXT(judge_path("a\0b", 3, rule), "nul");
    CHECK_TEXT(judge_path("", 0, rule), "name");
    char edge[PACKAGE_PATH_BYTES + 1];
    memset(edge, 'a', sizeof edge);
    CHECK_TEXT(judge_path(edge, PACKAGE_PATH_BYTES - 1, rule), "");
    CHECK_TEXT(judge_path(edge, PACKAGE_PATH_BYTES, rule), "long");
}

TEST(what_is_no_ones_own_is_skipped)
{
    static const char *const skipped[] = {
        ".git/HEAD",     "a/.DS_Store", "__MACOSX/a", "Thumbs.db", "x/node_modules/y/z.ts",
        "a/desktop.ini", "a/b.lua~",    "a/#b.lua#",  "old~/b.lua"};
    static const char *const kept[] = {"a.b", "MACOSX/a", "Thumbs.db.txt", "my_node_modules/a",
                                       "~",   "#a.lua",   "a~b.lua",       "##"};
    for (size_t i = 0; i < sizeof skipped / sizeof skipped[0]; i++) {
        char reason[WORKER_REASON_BYTES];
        PackageKind kind;
        CHECK(package_path_is_skipped(skipped[i]));
        CHECK(package_name_check(skipped[i], &kind, reason) !=
              STATUS_OK); // nor may a draft have it
    }
    for (size_t i = 0; i < sizeof kept / sizeof kept[0]; i++) {
        CHECK(!package_path_is_skipped(kept[i]));
    }
}

TEST(no_two_paths_mean_one_file)
{
    static const struct {
        const char *paths[3];
        const char *rule;
    } cases[] = {{{"a", "b", "c"}, ""},
                 {{"a/b", "a/c", "a.b"}, ""},
                 {{"a", "b", "a"}, "duplicate"},
                 {{"a", "a-", "a/b"}, "duplicate"},
                 {{"a/b/c", "x", "a/b"}, "duplicate"},
                 {{"Ab", "x", "aB"}, "case"},
                 {{"A/x", "y", "a/z"}, "case"},
                 {{"\xc3\x96", "x", "\xc3\xb6"}, "case"},     // Ö ö
                 {{"\xc5\xbf", "x", "s"}, "case"},            // ſ s
                 {{"\xe1\xba\x9e", "x", "\xc3\x9f"}, "case"}, // ẞ ß
                 {{"\xc3\x97", "x", "\xc3\xb7"}, ""}};        // × ÷
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char reason[WORKER_REASON_BYTES] = "", rule[32] = "";
        if (package_paths_differ(cases[i].paths, 3, reason) != STATUS_OK) {
            rule_in(reason, rule);
        }
        CHECK_TEXT(rule, cases[i].rule);
    }
}

TEST(a_refusal_speaks_to_no_terminal_and_always_fits)
{
    char reason[WORKER_REASON_BYTES], entry[3000];
    memset(entry, '\x1b', sizeof entry);
    CHECK_INT(package_refuse(reason, entry, sizeof entry, RULE_NAME, "%s",
                             "a\x07"
                             "b\xff"),
              STATUS_MALFORMED);
    CHECK(strstr(reason, "…: name: a\\x07b\\xff") != NULL);
    for (const char *at = reason; *at != '\0'; at++) {
        CHECK((uint8_t)*at >= 0x20);
    }
    memset(entry, 'x', sizeof entry - 1);
    entry[sizeof entry - 1] = '\0';
    CHECK_INT(package_refuse(reason, "a", 1, RULE_MEMORY, "%s", entry), STATUS_LIMIT);
    CHECK(strlen(reason) < sizeof reason);
}

TEST(all_pictures_together_are_bounded)
{
    char reason[WORKER_REASON_BYTES] = "", rule[32];
    AssetPackage package = {0};
    const AssetJob job = {.path = "a.png", .package = &package, .reason = reason};
    for (uint32_t i = 0; i < 64; i++) {
        CHECK_OK(asset_check_size(&job, 4096, 4096));
    }
    CHECK_INT(asset_check_size(&job, 1, 1), STATUS_MALFORMED);
    CHECK_TEXT(rule_in(reason, rule), "dimensions");
}

// --- a worker that lies -------------------------------------------------------------------------

typedef struct Said {
    uint32_t format, file_count;
    const char *name;
    const char *paths[4];
    uint64_t bytes[4]; // as announced; the data that follows is always three bytes
    uint32_t kinds[4];
} Said;

static const Said honest = {.file_count = 3,
                            .name = "Test",
                            .paths = {"a.txt", "place.json", "scene.json"},
                            .bytes = {3, 3, 3},
                            .kinds = {KIND_TEXT, KIND_JSON, KIND_JSON}};

static Buffer reply_of(const Said *said, uint32_t files)
{
    Buffer out = buffer_of(1 << 16);
    buffer_put_u32(&out, said->format);
    buffer_put_block(&out, said->name, strlen(said->name));
    buffer_put_u32(&out, 0); // warnings
    buffer_put_block(&out, "", 0);
    buffer_put_u32(&out, said->file_count);
    for (uint32_t i = 0; i < files; i++) {
        const AssetInfo info = {.kind = (PackageKind)said->kinds[i]};
        buffer_put_block(&out, said->paths[i], strlen(said->paths[i]));
        buffer_put_u64(&out, 3);
        asset_info_write(&info, &out);
        buffer_put_u64(&out, said->bytes[i]);
        buffer_put(&out, "abc", 3);
    }
    return out;
}

static Status believe(const Buffer *reply, size_t bytes)
{
    char reason[WORKER_REASON_BYTES] = "";
    PackageInfo info = {0};
    DiagnosticList warnings = {0};
    const Status status = package_reply_read(reply->data, bytes, true, &info, &warnings, reason);
    CHECK((status == STATUS_OK) == (info.files != NULL));
    CHECK(status == STATUS_OK || reason[0] != '\0');
    package_info_free(&info);
    diagnostic_list_free(&warnings);
    return status;
}

TEST(an_honest_answer_is_believed_and_half_of_it_is_not)
{
    Buffer reply = reply_of(&honest, 3);
    CHECK_OK(believe(&reply, reply.bytes));
    for (size_t i = 0; i < reply.bytes; i++) {
        // Exactly as long as it is, so that a read past the end is seen.
        uint8_t *part = malloc(i + 1);
        REQUIRE(part != NULL);
        memcpy(part, reply.data, i);
        const Buffer cut = {.data = part, .bytes = i};
        CHECK(believe(&cut, i) != STATUS_OK);
        free(part);
    }
    buffer_put_u8(&reply, 0);
    CHECK(believe(&reply, reply.bytes) != STATUS_OK);
    buffer_free(&reply);
}

TEST(lies_are_not_believed)
{
    Said lies[12];
    for (size_t i = 0; i < 12; i++) {
        lies[i] = honest;
    }
    lies[0].paths[0] = "../a.txt";
    lies[1].paths[0] = "/etc/a.txt";
    lies[2].paths[0] = "a/.hidden.txt";
    lies[3].paths[0] = "z.txt"; // out of order
    lies[4].paths[0] = "Place.json";
    lies[4].kinds[0] = KIND_JSON;
    lies[5].bytes[1] = 4;
    lies[6].bytes[2] = UINT64_MAX;
    lies[7].kinds[0] = KIND_PNG;
    lies[8].format = PACKAGE_FORMAT_COUNT;
    lies[9].file_count = 5000;
    lies[10].paths[1] = "planet.json"; // no place.json
    lies[11].paths[0] = "a.exe";
    for (size_t i = 0; i < 12; i++) {
        Buffer reply = reply_of(&lies[i], 3);
        if (believe(&reply, reply.bytes) == STATUS_OK) {
            test_fail(__FILE__, __LINE__, "lie %zu was believed", i);
        }
        buffer_free(&reply);
    }
}

TEST(a_name_with_controls_is_none)
{
    Said said = honest;
    said.name = "a\x1b[31m";
    Buffer reply = reply_of(&said, 3);
    char reason[WORKER_REASON_BYTES];
    PackageInfo info;
    DiagnosticList warnings = {0};
    REQUIRE(package_reply_read(reply.data, reply.bytes, true, &info, &warnings, reason) ==
            STATUS_OK);
    CHECK_TEXT(info.name, "");
    uint8_t hash[32];
    sha256_of("abc", 3, hash);
    package_hash_files(&info);
    CHECK_BYTES(info.files[0].hash, hash, 32);
    CHECK_INT(info.folder.bytes, 9);
    package_info_free(&info);
    buffer_free(&reply);
}

// --- to disk ------------------------------------------------------------------------------------

TEST(unpacking_is_all_or_nothing)
{
    const TestFolder folder = test_folder_make();
    char target[256], reason[WORKER_REASON_BYTES] = "";
    snprintf(target, sizeof target, "%s/out", folder.path);
    uint8_t data[] = "hello";
    PlaceFile files[] = {{.path = "a/b/c.txt", .data = data, .bytes = 5},
                         {.path = "a/d.txt", .data = data, .bytes = 5}};
    const PlaceFolder good = {.files = files, .file_count = 2, .bytes = 10};
    PlaceFile two[] = {files[0], {.path = "a/../../evil.txt", .data = data, .bytes = 5}};
    const PlaceFolder bad = {.files = two, .file_count = 2, .bytes = 10};
    CHECK_INT(package_unpack(&bad, target, reason), STATUS_MALFORMED);
    CHECK_INT(test_folder_count(&folder, ""), 0);

    // A disk that takes no more: what was written goes away again.
    struct rlimit before;
    REQUIRE(getrlimit(RLIMIT_FSIZE, &before) == 0);
    const struct rlimit small = {4, before.rlim_max};
    signal(SIGXFSZ, SIG_IGN);
    REQUIRE(setrlimit(RLIMIT_FSIZE, &small) == 0);
    const Status full = package_unpack(&good, target, reason);
    REQUIRE(setrlimit(RLIMIT_FSIZE, &before) == 0);
    CHECK_INT(full, STATUS_BLOCKED);
    CHECK(strstr(reason, "a/b/c.txt") != NULL);
    CHECK_INT(test_folder_count(&folder, ""), 0);

    CHECK_OK(package_unpack(&good, target, reason));
    CHECK_TEXT(test_folder_read(&folder, "out/a/b/c.txt"), "hello");
    CHECK_TEXT(test_folder_read(&folder, "out/a/d.txt"), "hello");
    CHECK_INT(test_folder_count(&folder, ""), 1);
    CHECK_INT(package_unpack(&good, target, reason), STATUS_EXISTS);
    test_folder_remove(&folder);
}

TEST(what_a_killed_process_left_is_removed)
{
    const TestFolder folder = test_folder_make();
    char path[256], reason[WORKER_REASON_BYTES];
    // No process has that number; another place's folder is not ours to touch.
    test_folder_write(&folder, ".out.unpacking-999999999/a/b.txt", "x");
    test_folder_write(&folder, ".other.unpacking-999999999/a.txt", "x");
    snprintf(path, sizeof path, "%s/out", folder.path);
    const PlaceFolder nothing = {0};
    CHECK_OK(package_unpack(&nothing, path, reason));
    CHECK_INT(test_folder_count(&folder, ""), 2);
    CHECK(test_folder_has(&folder, ".other.unpacking-999999999/a.txt"));
    test_folder_remove(&folder);
}

// --- deflating ----------------------------------------------------------------------------------

static Buffer deflated(const uint8_t *data, size_t bytes)
{
    WorkerCall call;
    CHECK_OK(worker_answer(WORKER_DEFLATE, data, bytes, &call));
    return call.reply;
}

static void check_inflates(const Buffer *packed, const uint8_t *data, size_t bytes)
{
    z_stream stream = {.next_in = packed->data, .avail_in = (uInt)packed->bytes};
    uint8_t *out = malloc(bytes);
    REQUIRE(out != NULL && inflateInit2(&stream, -MAX_WBITS) == Z_OK);
    stream.next_out = out;
    stream.avail_out = (uInt)bytes;
    CHECK_INT(inflate(&stream, Z_FINISH), Z_STREAM_END);
    CHECK_INT(stream.total_out, bytes);
    CHECK(memcmp(out, data, bytes) == 0);
    inflateEnd(&stream);
    free(out);
}

// More than one slice; what gains nothing, or so much that it looks like a bomb, is stored.
TEST(files_are_deflated_if_that_is_of_use)
{
    const size_t bytes = (3u << 20) + 17;
    uint8_t *data = malloc(bytes);
    REQUIRE(data != NULL);
    Rng rng = rng_make(7, 0);
    for (size_t i = 0; i < bytes; i++) {
        data[i] = (uint8_t)('a' + rng_below(&rng, 4));
    }
    for (size_t count = bytes; count > 0; count = count > 5 ? count / 3 : 0) {
        Buffer packed = deflated(data, count);
        if (count > 100) {
            CHECK(packed.bytes > 0 && packed.bytes < count / 2);
            check_inflates(&packed, data, count);
        }
        buffer_free(&packed);
    }
    for (size_t i = 0; i < bytes; i++) {
        data[i] = (uint8_t)rng_below(&rng, 256);
    }
    Buffer packed = deflated(data, bytes);
    CHECK_INT(packed.bytes, 0);
    memset(data, 0, bytes);
    packed = deflated(data, bytes);
    CHECK_INT(packed.bytes, 0);
    packed = deflated(data, 0);
    CHECK_INT(packed.bytes, 0);
    free(data);
}

// Whether files are valid text: what the worker finds, and how its reply is checked.
#include "server/build/worker_op.h"
#include "server/build/worker_text.h"
#include "tests/support/test.h"

#include <string.h>

TEST(what_is_a_text)
{
    static const struct {
        const char *bytes;
        size_t count;
        TextProblem want;
        uint32_t line;
    } cases[] = {
        {"", 0, TEXT_GOOD, 1},
        {"a\tb\r\n\f", 6, TEXT_GOOD, 2},
        {"\xef\xbb\xbfprint(1)", 11, TEXT_GOOD, 1}, // a mark of its order
        {"-- Stra\xc3\x9f"
         "e\n",
         11, TEXT_GOOD, 2},
        {"-- a\n-- Stra\xdf"
         "e\n",
         15, TEXT_NO_UTF8, 2},                  // Latin-1
        {"\xff\xfe-\0-\0", 6, TEXT_NO_UTF8, 1}, // UTF-16
        {"/\0/\0\n\0", 6, TEXT_NO_UTF8, 1},     // and without its mark
        {"\xed\xa0\x80", 3, TEXT_NO_UTF8, 1},   // half a pair
        {"\xc0\xaf", 2, TEXT_NO_UTF8, 1},       // too long
        {"a\xe2\x82", 3, TEXT_NO_UTF8, 1},      // cut off
        {"\x1bLua", 4, TEXT_CONTROL, 1},        // bytecode
        {"a\n\nb\001", 5, TEXT_CONTROL, 3},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        uint32_t line = 0;
        const TextProblem found =
            text_problem((const uint8_t *)cases[i].bytes, cases[i].count, &line);
        if (found != cases[i].want || line != cases[i].line) {
            test_fail(__FILE__, __LINE__, "case %zu: %d in line %u", i, (int)found, line);
        }
    }
}

static PlaceFile file_of(const char *path, const char *text)
{
    return (PlaceFile){.path = path, .data = (const uint8_t *)text, .bytes = strlen(text)};
}

TEST(a_folder_through_the_worker)
{
    PlaceFile files[] = {file_of("Workspace/A.lua", "print(1)"),
                         file_of("Workspace/B.lua", "a\n\xff"),
                         file_of("chunks/0.chunk", "\xff\x01"), // not a text
                         file_of("place.json", "{\x01}")};
    const PlaceFolder folder = {.files = files, .file_count = 4};
    Buffer request = buffer_of(WORKER_REQUEST_MAX);
    WorkerCall call;
    DiagnosticList list = {0};
    text_write_request(&folder, &request);
    REQUIRE(worker_answer(WORKER_TEXT, request.data, request.bytes, &call) == STATUS_OK);
    REQUIRE(text_read_reply(&call.reply, &folder, &list) == STATUS_OK);
    REQUIRE(list.count == 2 && list.error_count == 2);
    CHECK_TEXT(list.items[0].file, "Workspace/B.lua");
    CHECK_INT(list.items[0].line, 2);
    CHECK_TEXT(list.items[0].message, "is no UTF-8; save it as UTF-8");
    CHECK_TEXT(list.items[1].file, "place.json");
    CHECK_TEXT(list.items[1].message, "a text has no control characters");
    diagnostic_list_free(&list);
    // Another number of texts, a problem that there is not, cut off, too long: nothing is added.
    for (size_t cut = 0; cut < call.reply.bytes; cut++) {
        const Buffer part = {.data = call.reply.data, .bytes = cut};
        CHECK_INT(text_read_reply(&part, &folder, &list), STATUS_MALFORMED);
    }
    call.reply.data[0] ^= 1;
    CHECK_INT(text_read_reply(&call.reply, &folder, &list), STATUS_MALFORMED);
    call.reply.data[0] ^= 1;
    call.reply.data[4 + 5 + 5] = TEXT_PROBLEM_COUNT;
    CHECK_INT(text_read_reply(&call.reply, &folder, &list), STATUS_MALFORMED);
    buffer_put_u8(&call.reply, 0);
    CHECK_INT(text_read_reply(&call.reply, &folder, &list), STATUS_MALFORMED);
    CHECK_INT(list.count, 0);
    buffer_free(&call.reply);
    // Requests that are none.
    CHECK_INT(worker_answer(WORKER_TEXT, request.data, request.bytes - 1, &call), STATUS_MALFORMED);
    buffer_free(&call.reply);
    CHECK_INT(worker_answer(WORKER_TEXT, (const uint8_t *)"\xff\xff\xff\xff", 4, &call),
              STATUS_MALFORMED);
    buffer_free(&call.reply);
    buffer_free(&request);
}

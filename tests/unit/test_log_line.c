// Lines of the log: their three forms, and that no text can break out of its value.
#include "core/base/json_read.h"
#include "core/base/utf8.h"
#include "server/serve/operate/log_line.h"
#include "tests/support/test.h"

#include <stdlib.h>
#include <string.h>

#define MOMENT 1794806322123u // 2026-11-16T05:18:42.123Z

static char text[LOG_LINE_BYTES + 1];

static const char *line_of(LogFormat format, const LogLine *line)
{
    const size_t bytes = log_line_write(format, line, text);
    CHECK(bytes > 0 && bytes < LOG_LINE_BYTES);
    text[bytes] = '\0';
    return text;
}

TEST(three_forms)
{
    const LogLine line = {.unix_ms = MOMENT,
                          .level = LOG_WARN,
                          .area = "http",
                          .message = "two words",
                          .fields = {{"path", "/blob/*", false}, {"status", "503", true}}};
    CHECK_TEXT(line_of(LOG_FORMAT_TEXT, &line), "05:18:42 warn  http: two words\n");
    CHECK_TEXT(line_of(LOG_FORMAT_LOGFMT, &line),
               "time=2026-11-16T05:18:42.123Z level=warn area=http msg=\"two words\" path=/blob/* "
               "status=503\n");
    CHECK_TEXT(line_of(LOG_FORMAT_JSON, &line),
               "{\"time\":\"2026-11-16T05:18:42.123Z\",\"level\":\"warn\",\"area\":\"http\","
               "\"msg\":\"two words\",\"path\":\"/blob/*\",\"status\":503}\n");
}

// Ends of lines, quotes, escapes of terminals, right-to-left overrides, broken UTF-8, nothing.
static const char *const hostile[] = {"a\nlevel=error msg=forged",
                                      "\" level=error msg=\"forged",
                                      "\\",
                                      "\x1b[2J\x07",
                                      "\xe2\x80\xae xyz",
                                      "\xc2\x9b",
                                      "\xf3\xa0\x80\xa1",
                                      "\xff\xfe broken \xc3",
                                      "a=b",
                                      ""};

// Fields of a logfmt line: what stands between spaces that are not inside quotes.
static uint32_t count_fields(const char *out)
{
    uint32_t count = 1;
    bool is_quoted = false;
    for (; *out != '\0' && *out != '\n'; out++) {
        if (*out == '\\' && is_quoted) {
            out += 1;
        } else if (*out == '"') {
            is_quoted = !is_quoted;
        } else if (*out == ' ' && !is_quoted) {
            count += 1;
        }
    }
    CHECK(!is_quoted);
    return count;
}

TEST(no_text_breaks_out)
{
    for (size_t i = 0; i < sizeof hostile / sizeof hostile[0]; i++) {
        const LogLine line = {.unix_ms = MOMENT,
                              .level = LOG_INFO,
                              .area = "http",
                              .message = hostile[i],
                              .fields = {{"method", hostile[i], false}}};
        for (LogFormat format = LOG_FORMAT_TEXT; format <= LOG_FORMAT_JSON; format++) {
            const char *out = line_of(format, &line);
            const size_t bytes = strlen(out);
            CHECK(bytes > 0 && out[bytes - 1] == '\n');
            CHECK(strchr(out, '\n') == out + bytes - 1); // one line
            CHECK(utf8_is_valid(out, bytes));
            for (size_t at = 0; at + 1 < bytes;) {
                const size_t length = utf8_length((const uint8_t *)out + at, bytes - at);
                CHECK(!utf8_is_hidden(utf8_code_point((const uint8_t *)out + at, length)));
                at += length;
            }
        }
        CHECK_INT(count_fields(line_of(LOG_FORMAT_LOGFMT, &line)), 5);
    }
}

TEST(json_gives_the_text_back)
{
    static uint8_t memory[1 << 16];
    for (size_t i = 0; i < sizeof hostile / sizeof hostile[0]; i++) {
        if (!utf8_is_valid(hostile[i], strlen(hostile[i]))) {
            continue;
        }
        const LogLine line = {.unix_ms = MOMENT, .area = "a", .message = hostile[i]};
        const char *out = line_of(LOG_FORMAT_JSON, &line);
        Arena arena;
        arena_init(&arena, memory, sizeof memory);
        const JsonConfig config = {
            .arena = &arena, .bytes_max = sizeof text, .node_count_max = 64, .depth_max = 4};
        const JsonNode *root = NULL;
        CHECK_INT(json_parse(&config, out, strlen(out), &root, NULL), STATUS_OK);
        CHECK_TEXT(json_find(root, "msg")->text, hostile[i]);
    }
}

// The largest of everything, where each byte becomes six.
TEST(the_largest_line_fits)
{
    static char large[4 * LOG_MESSAGE_BYTES];
    memset(large, 1, sizeof large - 1);
    LogLine line = {.unix_ms = MOMENT, .area = "http", .message = large};
    for (uint32_t i = 0; i < LOG_FIELDS_MAX; i++) {
        line.fields[i] = (LogField){"a_long_field", large, i % 2 == 0};
    }
    CHECK(strlen(line_of(LOG_FORMAT_LOGFMT, &line)) > (size_t)6 * LOG_MESSAGE_BYTES);
    CHECK(strlen(line_of(LOG_FORMAT_JSON, &line)) > (size_t)6 * LOG_MESSAGE_BYTES);
    CHECK(strlen(line_of(LOG_FORMAT_TEXT, &line)) > LOG_MESSAGE_BYTES);
}

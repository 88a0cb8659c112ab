// Base64: the vectors of RFC 4648, round trips, and rejection of every text that is not the only
// encoding of its bytes.
#include "core/base/base64.h"
#include "core/base/json_write.h"
#include "core/base/rng.h"
#include "tests/support/test.h"

#include <string.h>

static void check_vector(const char *plain, const char *want)
{
    char text[32] = "";
    ByteWriter writer = byte_writer(text, sizeof text - 1);
    base64_write(plain, strlen(plain), &writer);
    CHECK_OK(writer.status);
    CHECK_TEXT(text, want);
    CHECK_INT(base64_text_bytes(strlen(plain)), strlen(want));
    uint8_t back[32];
    size_t bytes = 99;
    CHECK_OK(base64_decode(want, strlen(want), back, strlen(plain), &bytes));
    CHECK_INT(bytes, strlen(plain));
    CHECK_BYTES(back, plain, strlen(plain));
}

TEST(base64_vectors)
{
    check_vector("", "");
    check_vector("f", "Zg==");
    check_vector("fo", "Zm8=");
    check_vector("foo", "Zm9v");
    check_vector("foob", "Zm9vYg==");
    check_vector("fooba", "Zm9vYmE=");
    check_vector("foobar", "Zm9vYmFy");
    check_vector("\xff\xef\xbe", "/+++");
}

TEST(base64_refuses)
{
    static const char *const bad[] = {
        "Z",     "Zg",       "Zg=",  "Zh==", "Zm9=", "Z===", "====",     "Zm=v",
        "Zm9v=", "Zg==Zg==", "Zm 8", "Zm-_", "Z=g=", "=Zm9", "Zm9v\nZg", "Zm\x80v"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        uint8_t out[16];
        size_t bytes = 99;
        if (base64_decode(bad[i], strlen(bad[i]), out, sizeof out, &bytes) != STATUS_MALFORMED) {
            test_fail(__FILE__, __LINE__, "\"%s\" was taken", bad[i]);
        }
        CHECK_INT(bytes, 99);
    }
    uint8_t out[2];
    size_t bytes = 99;
    CHECK_INT(base64_decode("Zm9v", 4, out, sizeof out, &bytes), STATUS_LIMIT);
    CHECK_OK(base64_decode("Zm8=", 4, out, sizeof out, &bytes));
}

TEST(base64_comes_back)
{
    Rng rng = rng_make(test_seed(), 0);
    for (size_t count = 0; count < 200 && test_is_passing(); count++) {
        uint8_t data[200];
        uint8_t back[200];
        char text[300];
        for (size_t i = 0; i < count; i++) {
            data[i] = (uint8_t)rng_below(&rng, 256);
        }
        ByteWriter writer = byte_writer(text, sizeof text);
        base64_write(data, count, &writer);
        CHECK_OK(writer.status);
        size_t bytes = 0;
        CHECK_OK(base64_decode(text, writer.at, back, sizeof back, &bytes));
        CHECK_INT(bytes, count);
        CHECK_BYTES(back, data, count);
    }
}

TEST(base64_in_json)
{
    char text[32] = "";
    ByteWriter out = byte_writer(text, sizeof text - 1);
    JsonWriter writer = json_writer(&out, 0);
    json_write_array_begin(&writer);
    json_write_base64(&writer, "fo", 2);
    json_write_base64(&writer, NULL, 0);
    json_write_array_end(&writer);
    CHECK_OK(json_writer_finish(&writer));
    CHECK_TEXT(text, "[\"Zm8=\",\"\"]");
    out = byte_writer(text, 5);
    writer = json_writer(&out, 0);
    json_write_base64(&writer, "foo", 3);
    CHECK_INT(json_writer_finish(&writer), STATUS_LIMIT);
}

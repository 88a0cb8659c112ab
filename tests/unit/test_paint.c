// Paint: every value of every member comes back from its bits; any bits give a paint inside the
// ranges or an error status; nothing is written of what equals the base.
#include "core/base/rng.h"
#include "core/wire/paint.h"
#include "tests/support/test.h"

#include <math.h>

static Paint random_paint(Rng *rng)
{
    Paint paint = paint_default;
    for (PaintMember i = 0; i < PAINT_MEMBER_COUNT; i++) {
        if (rng_below(rng, 2) == 0) {
            paint_set(&paint, i, rng_below(rng, paint_row(i)->most + 1));
        }
    }
    return paint;
}

TEST(the_initialiser_is_the_default)
{
    const Paint none = PAINT_NONE;
    CHECK(paint_equal(&none, &paint_default));
}

TEST(every_limit_of_every_member_comes_back)
{
    for (PaintMember i = 0; i < PAINT_MEMBER_COUNT; i++) {
        const uint32_t values[] = {0, 1, paint_row(i)->most};
        for (uint32_t v = 0; v < 3; v++) {
            uint8_t bytes[16];
            Paint paint = paint_default;
            paint_set(&paint, i, values[v]);
            CHECK_INT(paint_value(&paint, i), values[v]);
            BitWriter writer = bit_writer(bytes, sizeof bytes);
            paint_write(&writer, &paint_default, &paint);
            CHECK_OK(writer.status);
            const bool is_other = values[v] != paint_row(i)->fallback;
            CHECK_INT(writer.at, PAINT_MEMBER_COUNT + (is_other ? paint_row(i)->bits : 0));
            BitReader reader = bit_reader(bytes, bit_writer_bytes(&writer));
            Paint read = {0};
            paint_read(&reader, &paint_default, &read);
            CHECK_OK(reader.status);
            CHECK(paint_equal(&read, &paint));
            CHECK_INT(reader.at, writer.at);
        }
    }
}

TEST(random_paints_come_back_over_any_base)
{
    Rng rng = rng_make(test_seed(), 1);
    for (uint32_t round = 0; round < 5000 && test_is_passing(); round++) {
        const Paint base = random_paint(&rng);
        const Paint paint = random_paint(&rng);
        uint8_t bytes[(PAINT_BITS_MAX + 7) / 8];
        BitWriter writer = bit_writer(bytes, sizeof bytes);
        paint_write(&writer, &base, &paint);
        CHECK_OK(writer.status);
        BitReader reader = bit_reader(bytes, sizeof bytes);
        Paint read;
        paint_read(&reader, &base, &read);
        CHECK_OK(reader.status);
        CHECK(paint_equal(&read, &paint));
        CHECK_INT(paint_difference(&read, &paint), 0);
        const Paint merged = paint_merge(&base, &paint, paint_difference(&base, &paint));
        CHECK(paint_equal(&merged, &paint));
    }
}

TEST(any_bits_are_a_paint_in_range_or_refused)
{
    Rng rng = rng_make(test_seed(), 2);
    uint32_t refused = 0;
    for (uint32_t round = 0; round < 20000; round++) {
        uint8_t bytes[12];
        const uint32_t count = rng_below(&rng, sizeof bytes + 1);
        for (uint32_t i = 0; i < sizeof bytes; i++) {
            bytes[i] = (uint8_t)rng_u32(&rng);
        }
        BitReader reader = bit_reader(bytes, count);
        Paint read = paint_default;
        paint_read(&reader, &paint_default, &read);
        for (PaintMember i = 0; i < PAINT_MEMBER_COUNT; i++) {
            CHECK(paint_value(&read, i) <= paint_row(i)->most);
        }
        if (reader.status != STATUS_OK) {
            refused++;
            CHECK(paint_equal(&read, &paint_default)); // untouched
        }
    }
    CHECK(refused > 1000 && refused < 19000);
}

TEST(a_value_past_its_range_is_refused)
{
    uint8_t bytes[4];
    BitWriter writer = bit_writer(bytes, sizeof bytes);
    bit_write(&writer, 1u << PAINT_TRANSPARENCY, PAINT_MEMBER_COUNT);
    bit_write(&writer, 101, 7);
    BitReader reader = bit_reader(bytes, sizeof bytes);
    Paint read = paint_default;
    paint_read(&reader, &paint_default, &read);
    CHECK_INT(reader.status, STATUS_RANGE);
}

static const char *json_of(const Paint *paint, char *text, size_t room)
{
    ByteWriter writer = byte_writer(text, room - 1);
    JsonWriter json = json_writer(&writer, 0);
    paint_write_json(&json, paint, paint_difference(&paint_default, paint));
    CHECK_OK(json_writer_finish(&json));
    text[writer.at] = '\0';
    return text;
}

TEST(json_has_what_differs)
{
    char text[256];
    Paint paint = paint_default;
    CHECK_TEXT(json_of(&paint, text, sizeof text), "{}");
    paint = (Paint){.colour = 0x33aa55,
                    .transparency = 50,
                    .material = PAINT_MATERIAL_wood,
                    .visible = 0,
                    .glow = 100,
                    .texture = 3,
                    .model = 4000};
    CHECK_TEXT(
        json_of(&paint, text, sizeof text),
        "{\"colour\":\"#33aa55\",\"transparency\":0.5,\"material\":\"wood\",\"visible\":false,"
        "\"glow\":1,\"texture\":3,\"model\":4000}");
}

TEST(shares_are_rounded_once)
{
    CHECK_INT(paint_share(0.5), 50);
    CHECK_INT(paint_share(0.333), 33);
    CHECK_INT(paint_share(-1), 0);
    CHECK_INT(paint_share(1e300), 100);
    CHECK_INT(paint_share((double)NAN), 0);
    for (uint32_t i = 0; i <= 100; i++) {
        CHECK_INT(paint_share(paint_share_value(i)), i);
    }
}

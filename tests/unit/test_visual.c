// The sky and what scripts add to the picture: the hour at a tick, visuals as texts, colours, and
// what a view keeps of them.
#include "core/wire/sky.h"
#include "core/wire/visual.h"
#include "tests/support/test.h"

TEST(the_hour_follows_from_the_tick)
{
    Sky sky = {.hour = 23, .hours_per_second = 0.5f, .tick = 600};
    CHECK(sky_hour(&sky, 0, 60) == 23);   // before it was set
    CHECK(sky_hour(&sky, 600, 60) == 23); // nothing has passed
    CHECK(sky_hour(&sky, 660, 60) == 23.5f);
    CHECK(sky_hour(&sky, 720, 60) == 0); // midnight
    CHECK(sky_hour(&sky, 780, 60) == 0.5f);
    CHECK(sky_hour(&sky, 780, 30) == 2); // other ticks, other time
    sky.hours_per_second = 0;
    CHECK(sky_hour(&sky, UINT64_MAX, 60) == 23);
    sky = (Sky){.hour = 24, .hours_per_second = 0.1f};
    CHECK(sky_hour(&sky, 0, 60) == 0); // the same as midnight
    // Years later it is still an hour.
    for (uint64_t tick = 1; tick < SIM_NET_ID_MAX / 3; tick *= 3) {
        const float hour = sky_hour(&sky, tick, 60);
        CHECK(hour >= 0 && hour < 24);
    }
}

TEST(skies_outside_the_limits_are_not_valid)
{
    const Sky good = sky_default();
    CHECK(sky_is_valid(&good));
    const Sky bad[] = {{.hour = -1},
                       {.hour = 24.5f},
                       {.hour = 0.0f / 0.0f},
                       {.hours_per_second = 7},
                       {.hours_per_second = -1},
                       {.fog_m = 3},
                       {.fog_m = 1e9f},
                       {.fog_m = 0.0f / 0.0f},
                       {.weather = WEATHER_COUNT},
                       {.colours = {0x1000001}}};
    for (uint32_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        if (sky_is_valid(&bad[i])) {
            test_fail(__FILE__, __LINE__, "sky %u is valid", (unsigned)i);
        }
    }
}

TEST(visuals_come_back_from_their_texts)
{
    for (uint32_t kind = 0; kind < VISUAL_KINDS; kind++) {
        const VisualRange first = visual_range((VisualKind)kind, false);
        const VisualRange second = visual_range((VisualKind)kind, true);
        const Visual all[] = {{0, 0, first.min, second.min},
                              {9, VISUAL_COLOUR_MAX, first.max, second.max},
                              {3, 0xff8801, first.normal, second.normal}};
        for (uint32_t i = 0; i < 3; i++) {
            char text[VISUAL_TEXT_BYTES];
            Visual read = {0};
            REQUIRE(visual_read((VisualKind)kind, visual_write(&all[i], text), &read));
            CHECK(read.effect == all[i].effect && read.colour == all[i].colour);
            CHECK(math_abs(read.first - all[i].first) < 0.006f);
            CHECK(math_abs(read.second - all[i].second) < 0.006f);
        }
        CHECK(visual_is_reserved(visual_attribute((VisualKind)kind)));
    }
    CHECK(!visual_is_reserved(text_from("light")) && !visual_is_reserved(text_from("")));
}

TEST(texts_that_are_no_visual_are_refused)
{
    static const char *const bad[] = {"",
                                      "0",
                                      "0 0 100",
                                      "0 0 100 800 ",
                                      " 0 0 100 800",
                                      "0 0 100 800 1",
                                      "a b c d",
                                      "-1 0 1 1",
                                      "10 0 100 800",
                                      "0 0 100 1e3",
                                      "0 16777217 1 1",
                                      "0 0 100 99999",
                                      "0  0 1 1",
                                      "0 0 5000 800",
                                      "99999999999999999999 0 100 800",
                                      "0 0 100 800\n"};
    for (uint32_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        Visual read = {.effect = 77};
        if (visual_read(VISUAL_LIGHT, text_from(bad[i]), &read) || read.effect != 77) {
            test_fail(__FILE__, __LINE__, "\"%s\" was taken", bad[i]);
        }
    }
}

TEST(colours)
{
    uint32_t colour = 1;
    CHECK(visual_colour_read(text_from("#ff8800"), &colour) && colour == 0xff8800);
    CHECK(visual_colour_read(text_from("#FF88aa"), &colour) && colour == 0xff88aa);
    static const char *const bad[] = {"", "#", "ff8800", "#ff880", "#ff88000", "#gg8800", "red"};
    for (uint32_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        CHECK(!visual_colour_read(text_from(bad[i]), &colour) && colour == 0xff88aa);
    }
}

// The sky of a world: one state, which scripts set and every client draws. The hour is not stored
// as it runs: it follows from the tick, so nothing is sent while the sun moves, and all sides
// agree.
#pragma once

#include "core/base/limits.h"

#include <stdbool.h>
#include <stdint.h>

typedef enum Weather { WEATHER_CLEAR, WEATHER_RAIN, WEATHER_SNOW, WEATHER_COUNT } Weather;

typedef enum SkyColour { SKY_TOP, SKY_HORIZON, SKY_SUN, SKY_COLOURS } SkyColour;

typedef struct Sky {
    float hour;                    // at that tick, 0 to 24
    float hours_per_second;        // how fast it runs; 0: the sun stands still
    uint64_t tick;                 // when the hour was that
    float fog_m;                   // nothing is seen further away; 0: as far as the place shows
    uint32_t weather;              // Weather
    uint32_t colours[SKY_COLOURS]; // 1 + red, green, blue; 0: as the hour has it
} Sky;

Sky sky_default(void); // ten in the morning, clear
bool sky_is_valid(const Sky *sky);
// The hour at a tick, 0 up to 24; a tick before the sky was set counts as that one.
float sky_hour(const Sky *sky, uint64_t tick, uint32_t tick_rate);

// See sky.h.
#include "core/wire/sky.h"

#include "core/base/check.h"

#include <math.h>

#define HOURS_A_DAY     24.0
#define SKY_HOUR_NORMAL 10.0f

Sky sky_default(void)
{
    return (Sky){.hour = SKY_HOUR_NORMAL};
}

bool sky_is_valid(const Sky *sky)
{
    const bool fog_fits =
        sky->fog_m == 0 || (sky->fog_m >= SKY_FOG_MIN_M && sky->fog_m <= SKY_FOG_MAX_M);
    bool colours_fit = true;
    for (uint32_t i = 0; i < SKY_COLOURS; i++) {
        colours_fit = colours_fit && sky->colours[i] <= 0x1000000;
    }
    return sky->hour >= 0 && sky->hour <= 24 && sky->hours_per_second >= 0 &&
           sky->hours_per_second <= SKY_HOURS_PER_SECOND_MAX && sky->tick <= SIM_NET_ID_MAX &&
           sky->weather < WEATHER_COUNT && fog_fits && colours_fit;
}

float sky_hour(const Sky *sky, uint64_t tick, uint32_t tick_rate)
{
    ASSERT(tick_rate > 0);
    const uint64_t ticks = tick > sky->tick ? tick - sky->tick : 0;
    const double hour =
        (double)sky->hour + (double)sky->hours_per_second * ((double)ticks / (double)tick_rate);
    const double rest = hour - HOURS_A_DAY * floor(hour / HOURS_A_DAY);
    const float rounded = (float)rest;
    return rounded >= 0 && rounded < 24 ? rounded : 0; // rounding can come to 24
}

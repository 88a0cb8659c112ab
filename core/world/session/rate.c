// How often a session may request what: a token bucket for each kind of request.
#include "core/world/session/rate.h"

#include "core/world/session/session.h"

// The size of the bucket, which is also the refill per second.
static const struct {
    uint32_t most, per_second;
} rates[RATE_COUNT] = {
#define RATE_ROW(NAME, most, per_second, text) [RATE_##NAME] = {most, per_second},
    RATE_LIST(RATE_ROW)
#undef RATE_ROW
};

void rate_fill(Session *session)
{
    for (uint32_t kind = 0; kind < RATE_COUNT; kind++) {
        session->rates[kind].milli = rates[kind].most * 1000;
    }
}

void rate_refill(Session *session, uint32_t tick_rate)
{
    for (uint32_t kind = 0; kind < RATE_COUNT; kind++) {
        const uint32_t most = rates[kind].most * 1000;
        const uint32_t more = rates[kind].per_second * 1000 / tick_rate;
        RateBucket *bucket = &session->rates[kind];
        bucket->milli = bucket->milli + more < most ? bucket->milli + more : most;
    }
}

bool rate_take(WorldStats *stats, Session *session, RateKind kind, uint32_t count)
{
    RateBucket *bucket = &session->rates[kind];
    if (count > rates[kind].most || bucket->milli < count * 1000) {
        stats->rate_limited += 1;
        return false;
    }
    bucket->milli -= count * 1000;
    return true;
}

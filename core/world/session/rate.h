// Token buckets: so many requests of a kind at once, refilled so many a second.
#pragma once

#include "core/base/limits.h"
#include "core/world/session/world_state.h"

typedef struct Session Session;

typedef enum RateKind {
#define RATE_ENUM(NAME, most, per_second, text) RATE_##NAME,
    RATE_LIST(RATE_ENUM)
#undef RATE_ENUM
        RATE_COUNT
} RateKind;
typedef struct RateBucket {
    uint32_t milli; // tokens left, in thousandths
} RateBucket;

void rate_fill(Session *session);                       // all of them, for a new session
void rate_refill(Session *session, uint32_t tick_rate); // once a tick
// False if there are not enough tokens left; counted.
bool rate_take(WorldStats *stats, Session *session, RateKind kind, uint32_t count);

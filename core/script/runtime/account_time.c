// How long calls of scripts took, by a clock that the owner gives (ScriptConfig.clock_ms). For
// people alone: it decides nothing, so a replay without a clock is the same world.
#include "core/script/runtime/script_inside.h"

#define MICROSECONDS_MAX ((1u << 20) - 1)

// --- buckets ------------------------------------------------------------------------------------

// 0, 1, 2 and 3 have one each; above that four for every power of two.
static uint32_t bucket_of(uint32_t microseconds)
{
    if (microseconds < 4) {
        return microseconds;
    }
    const uint32_t power = 31u - (uint32_t)__builtin_clz(microseconds);
    return 4 * (power - 1) + (microseconds >> (power - 2) & 3);
}

// What all in it are below.
static uint32_t bucket_end(uint32_t bucket)
{
    return bucket < 4 ? bucket + 1 : (5 + bucket % 4) << (bucket / 4 - 1);
}

static void times_add(ScriptTimes *times, double ms)
{
    const double microseconds = ms * 1000;
    const uint32_t bucket =
        bucket_of(microseconds < MICROSECONDS_MAX ? (uint32_t)microseconds : MICROSECONDS_MAX);
    ASSERT(bucket < SCRIPT_TIME_BUCKETS);
    times->counts[bucket] += 1;
    times->total += 1;
    if (times->total < SCRIPT_TIMES_MAX) {
        return;
    }
    times->total = 0;
    for (uint32_t i = 0; i < SCRIPT_TIME_BUCKETS; i++) {
        times->counts[i] /= 2;
        times->total = (uint16_t)(times->total + times->counts[i]);
    }
}

double account_time_p99_ms(const ScriptTimes *times)
{
    const uint32_t wanted = times->total - times->total / 100u;
    uint32_t seen = 0;
    for (uint32_t i = 0; i < SCRIPT_TIME_BUCKETS && times->total > 0; i++) {
        seen += times->counts[i];
        if (seen >= wanted) {
            return bucket_end(i) / 1000.0;
        }
    }
    return 0;
}

// --- accounts -----------------------------------------------------------------------------------

void account_time(ScriptSystem *system, Handle handle, double began_ms, uint64_t steps)
{
    const double passed_ms = script_now_ms(system) - began_ms;
    const double by_steps_ms = (double)steps / VM_STEPS_PER_MS;
    const double measured_ms = passed_ms > 0 ? passed_ms : 0; // a clock that goes back says nothing
    const double ms = system->config.clock_ms != NULL ? measured_ms : by_steps_ms;
    system->totals.call_count += 1;
    system->totals.time_ms += ms;
    Instance *instance = instance_at(system, handle);
    Script *script = instance != NULL ? script_at(system, instance->script) : NULL;
    if (instance != NULL) {
        instance->account.time_ms += ms;
    }
    if (script != NULL) {
        script->account.time_ms += ms;
        times_add(&script->times, ms);
    }
}

void account_compile_time(ScriptSystem *system, Handle handle, double ms)
{
    Script *script = script_at(system, handle);
    system->totals.compile_ms += ms;
    if (script != NULL) {
        script->account.compile_ms += ms;
    }
}

// Two clocks from one: when the own player acts (ahead of the server, so that its inputs arrive
// just in time) and when others are shown (behind it, so that their states have arrived). Both
// follow the measured link smoothly and never jump while playing.
//
//   lead    the server says with every snapshot how many inputs wait; the target is one or two,
//           more on a link that jitters. The clock runs up to 5 % faster or slower to get there
//   delay   the 99th percentile of how late snapshots were against the best of the last seconds,
//           plus one snapshot interval; about 100 ms at 20 Hz, at least 110 ms at 10 Hz
#pragma once

#include <stdbool.h>
#include <stdint.h>

#define CLOCK_SAMPLES 64

typedef struct ClockStats {
    double rtt_ms, jitter_ms;
    double delay_ms; // of others
    double lead_ticks;
    uint64_t resets; // jumps: a new session, or a stall of more than a second
} ClockStats;

// The measurements of one snapshot.
typedef struct ClockSample {
    double at_ms;       // when it came
    double ahead_ms;    // server's tick time − local time: larger if it was delayed less
    double lead_ticks;  // act_tick − local time in ticks, at that moment
    double spare_ticks; // inputs that waited, minus the lead they were made with
    bool has_spare;
} ClockSample;

typedef struct Clock {
    uint32_t tick_rate, snapshot_rate;
    bool running;
    bool has_pong;
    double start_ms;
    double answers_from_ms; // before it, the server cannot have counted inputs that were in time
    double now_ms;          // of the last update
    double act_tick;        // predicted: fraction included
    double view_tick;       // others
    double offset_ms;       // server tick time − local time, best estimate
    ClockSample samples[CLOCK_SAMPLES];
    uint32_t sample_count, sample_at; // the newest is before sample_at
    double delay_ms, rtt_ms, jitter_ms;
    uint64_t resets;
} Clock;

void clock_init(Clock *clock, uint32_t tick_rate, uint32_t snapshot_rate);
// For the welcome and each snapshot: the server's tick when it was sent, and how many inputs
// waited.
void clock_snapshot(Clock *clock, double now_ms, uint64_t tick, uint32_t inputs_waiting);
void clock_pong(Clock *clock, double now_ms, double sent_ms, uint64_t tick);
// Advances the time. Returns how many ticks to step the own player (0..5).
uint32_t clock_advance(Clock *clock, double now_ms, uint64_t predicted_tick);
double clock_view_tick(const Clock *clock);
float clock_fraction(const Clock *clock); // between the last predicted tick and the next
ClockStats clock_stats(const Clock *clock);

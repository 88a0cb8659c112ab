// See clock.h. Everything about the link is measured by snapshots: when each arrived (against the
// tick it was sent at), and how many inputs waited at the server.
// The lead is not steered by "too few, go faster", which would oscillate, because the effect of a
// change is seen a round trip later. Instead each count is compared with the lead that its inputs
// were made with: inputs waiting − lead is a property of the link alone. The worst of the last
// samples gives the lead that keeps the wanted number waiting, and the clock moves there once.
#include "core/client/clock.h"

#include "core/base/check.h"
#include "core/base/limits.h"
#include "core/wire/input_frame.h"

#define WAITING_WANTED  2.0    // inputs, at the worst moment of the last seconds
#define LEAD_GUESS_MS   150.0  // before anything is measured
#define BATCH_TICKS     2.0    // inputs wait for each other before they are sent
#define RATE_FINE       0.05   // how much faster or slower a clock runs
#define RATE_COARSE     0.25   // the same while it is far off
#define FAR_OFF_S       0.1    // of a second
#define CATCH_UP_S      0.25   // the time to correct an error, if the rate allows it
#define JUMP_S          1.0    // a larger error makes the clock jump
#define SETTLE_MS       1000.0 // for so long after the start the lead is set directly
#define FIRST_ANSWER_MS 100.0  // until inputs can have been counted, beyond the round trip
#define ASLEEP_MS       200.0  // between two updates
#define DELAY_SLACK_MS  10.0
#define DELAY_ENOUGH_MS 100.0
#define DELAY_MAX_MS    1000.0
#define JITTER_SMOOTH   16.0
#define RTT_SMOOTH      8.0

static double minimum(double a, double b)
{
    return a < b ? a : b;
}

static double maximum(double a, double b)
{
    return a > b ? a : b;
}

static double clamp(double x, double low, double high)
{
    return x < low ? low : x > high ? high : x;
}

static double ticks_of(const Clock *clock, double ms)
{
    return ms * clock->tick_rate / 1000.0;
}

void clock_init(Clock *clock, uint32_t tick_rate, uint32_t snapshot_rate)
{
    ASSERT(tick_rate >= 1);
    ASSERT(snapshot_rate >= 1);
    *clock = (Clock){.tick_rate = tick_rate, .snapshot_rate = snapshot_rate};
}

// --- what the samples say -----------------------------------------------------------------------

static const ClockSample *sample_newest(const Clock *clock, uint32_t back)
{
    return &clock->samples[(clock->sample_at + CLOCK_SAMPLES - 1 - back) % CLOCK_SAMPLES];
}

static double best_ahead(const Clock *clock)
{
    double best = sample_newest(clock, 0)->ahead_ms;
    for (uint32_t i = 1; i < clock->sample_count; i++) {
        best = maximum(best, sample_newest(clock, i)->ahead_ms);
    }
    return best;
}

// The 99th percentile of so few samples is the second worst.
static double late_ms(const Clock *clock)
{
    double worst = 0;
    double second = 0;
    for (uint32_t i = 0; i < clock->sample_count; i++) {
        const double late = clock->offset_ms - sample_newest(clock, i)->ahead_ms;
        if (late > worst) {
            second = worst;
            worst = late;
        } else {
            second = maximum(second, late);
        }
    }
    return clock->sample_count < CLOCK_SAMPLES / 2 ? worst : second;
}

// Two intervals if snapshots are frequent; if they are rare one, and a little.
static double delay_least_ms(const Clock *clock)
{
    const double interval = 1000.0 / clock->snapshot_rate;
    return minimum(2 * interval, maximum(DELAY_ENOUGH_MS, interval + DELAY_SLACK_MS));
}

static double delay_wanted_ms(const Clock *clock)
{
    const double needed = late_ms(clock) + 1000.0 / clock->snapshot_rate + DELAY_SLACK_MS;
    return clamp(needed, delay_least_ms(clock), DELAY_MAX_MS);
}

// The lead of the inputs that the server has just counted.
static double lead_then(const Clock *clock, double now_ms)
{
    const double then = now_ms - clock->rtt_ms;
    double lead = clock->act_tick - ticks_of(clock, clock->now_ms);
    for (uint32_t i = 0; i < clock->sample_count; i++) {
        const ClockSample *sample = sample_newest(clock, i);
        lead = sample->lead_ticks;
        if (sample->at_ms <= then) {
            break;
        }
    }
    return lead;
}

// The lead over local time that keeps enough inputs waiting; false while it is unknown.
static bool lead_wanted(const Clock *clock, double *lead)
{
    bool found = false;
    double worst = 0;
    for (uint32_t i = 0; i < clock->sample_count; i++) {
        const ClockSample *sample = sample_newest(clock, i);
        if (sample->has_spare && (!found || sample->spare_ticks < worst)) {
            worst = sample->spare_ticks;
            found = true;
        }
    }
    *lead = WAITING_WANTED - worst;
    return found;
}

static double server_tick(const Clock *clock, double now_ms)
{
    return ticks_of(clock, now_ms + clock->offset_ms);
}

// --- what comes in ------------------------------------------------------------------------------

// From now on inputs are sent in time: the server's count of them arrives a round trip later.
static void expect_answers(Clock *clock, double now_ms)
{
    const double rtt_ms = clock->has_pong ? clock->rtt_ms : LEAD_GUESS_MS;
    clock->answers_from_ms = now_ms + rtt_ms + FIRST_ANSWER_MS;
}

static void start(Clock *clock, double now_ms, uint64_t tick)
{
    clock->running = true;
    clock->start_ms = now_ms;
    expect_answers(clock, now_ms);
    clock->now_ms = now_ms;
    clock->offset_ms = (double)tick * 1000.0 / clock->tick_rate - now_ms;
    clock->sample_count = 0;
    clock->sample_at = 0;
    clock->delay_ms = delay_least_ms(clock);
    const double view = (double)tick - ticks_of(clock, clock->delay_ms);
    clock->view_tick = maximum(maximum(view, clock->view_tick), 0);
    const double lead_ms = clock->has_pong ? clock->rtt_ms : LEAD_GUESS_MS;
    clock->act_tick = (double)tick + ticks_of(clock, lead_ms) + BATCH_TICKS + WAITING_WANTED;
}

// The server's time differs from the estimate: another session, or the server paused.
static bool is_elsewhere(const Clock *clock, double now_ms, uint64_t tick)
{
    const double off = (double)tick - server_tick(clock, now_ms);
    return off > JUMP_S * clock->tick_rate;
}

void clock_snapshot(Clock *clock, double now_ms, uint64_t tick, uint32_t inputs_waiting)
{
    if (!clock->running) {
        start(clock, now_ms, tick);
    } else if (is_elsewhere(clock, now_ms, tick)) {
        start(clock, now_ms, tick);
        clock->resets += 1;
    }
    if (now_ms - clock->now_ms > ASLEEP_MS) {
        return; // we were asleep: the arrival time is unknown
    }
    const double ahead = (double)tick * 1000.0 / clock->tick_rate - now_ms;
    ClockSample sample = {.at_ms = now_ms,
                          .ahead_ms = ahead,
                          .lead_ticks = clock->act_tick - ticks_of(clock, clock->now_ms),
                          .has_spare = now_ms > clock->answers_from_ms};
    sample.spare_ticks = (double)inputs_waiting - lead_then(clock, now_ms);
    if (clock->sample_count != 0) {
        const double change = ahead - sample_newest(clock, 0)->ahead_ms;
        const double size = change < 0 ? -change : change;
        clock->jitter_ms += (size - clock->jitter_ms) / JITTER_SMOOTH;
    }
    if (inputs_waiting >= INPUT_FRAMES_AHEAD && sample.has_spare) {
        // So far ahead that inputs cannot be kept: the samples that led to this lead are obsolete.
        for (uint32_t i = 0; i < CLOCK_SAMPLES; i++) {
            clock->samples[i].has_spare = false;
        }
    }
    clock->samples[clock->sample_at] = sample;
    clock->sample_at = (clock->sample_at + 1) % CLOCK_SAMPLES;
    clock->sample_count += clock->sample_count < CLOCK_SAMPLES;
    clock->offset_ms = best_ahead(clock);
    clock->delay_ms = delay_wanted_ms(clock);
}

void clock_pong(Clock *clock, double now_ms, double sent_ms, uint64_t tick)
{
    (void)tick; // between two steps: a snapshot's is more exact
    const double rtt = clamp(now_ms - sent_ms, 0, 10000);
    if (clock->has_pong) {
        clock->rtt_ms += (rtt - clock->rtt_ms) / RTT_SMOOTH;
        return;
    }
    clock->has_pong = true;
    clock->rtt_ms = rtt;
    double lead = 0;
    if (clock->running && !lead_wanted(clock, &lead)) {
        clock->act_tick =
            server_tick(clock, clock->now_ms) + ticks_of(clock, rtt) + BATCH_TICKS + WAITING_WANTED;
    }
}

// --- time goes on -------------------------------------------------------------------------------

// How fast a clock runs that is so many seconds behind.
static double rate_for(double behind_s)
{
    const double most = behind_s > FAR_OFF_S || behind_s < -FAR_OFF_S ? RATE_COARSE : RATE_FINE;
    return 1 + clamp(behind_s / CATCH_UP_S, -most, most);
}

static void advance_act(Clock *clock, double now_ms, double elapsed_ms)
{
    const double local = ticks_of(clock, now_ms);
    double lead = 0;
    clock->act_tick += ticks_of(clock, elapsed_ms);
    if (!lead_wanted(clock, &lead)) {
        return;
    }
    const double behind = local + lead - clock->act_tick;
    const double behind_s = behind / clock->tick_rate;
    const bool settling = now_ms - clock->start_ms < SETTLE_MS;
    if (behind_s > JUMP_S || behind_s < -JUMP_S || (settling && behind > 0)) {
        clock->resets += !settling;
        clock->act_tick = local + lead;
        return;
    }
    clock->act_tick += ticks_of(clock, elapsed_ms) * (rate_for(behind_s) - 1);
}

static void advance_view(Clock *clock, double now_ms, double elapsed_ms)
{
    const double target = server_tick(clock, now_ms) - ticks_of(clock, clock->delay_ms);
    const double ahead = clock->view_tick + ticks_of(clock, elapsed_ms);
    const double behind_s = (target - ahead) / clock->tick_rate;
    if (behind_s > JUMP_S) {
        clock->resets += 1;
        clock->view_tick = target;
        return;
    }
    clock->view_tick += ticks_of(clock, elapsed_ms) * rate_for(behind_s);
}

uint32_t clock_advance(Clock *clock, double now_ms, uint64_t predicted_tick)
{
    if (!clock->running) {
        return 0;
    }
    const double elapsed = maximum(now_ms - clock->now_ms, 0);
    clock->now_ms = maximum(now_ms, clock->now_ms);
    advance_act(clock, clock->now_ms, elapsed);
    advance_view(clock, clock->now_ms, elapsed);
    const double owed = clock->act_tick - (double)predicted_tick;
    // Behind, or set back and waiting: no inputs are sent in time, so the server's count says
    // nothing about the link.
    if (owed > TICK_CATCH_UP_MAX || owed < -1) {
        expect_answers(clock, clock->now_ms);
    }
    return owed < 1 ? 0 : (uint32_t)minimum(owed, TICK_CATCH_UP_MAX);
}

double clock_view_tick(const Clock *clock)
{
    return clock->view_tick;
}

float clock_fraction(const Clock *clock)
{
    // Ticks are far below 2^53 and never below zero.
    const double whole = (double)(uint64_t)clamp(clock->act_tick, 0, 9e15);
    return (float)clamp(clock->act_tick - whole, 0, 1);
}

ClockStats clock_stats(const Clock *clock)
{
    return (ClockStats){
        .rtt_ms = clock->rtt_ms,
        .jitter_ms = clock->jitter_ms,
        .delay_ms = clock->delay_ms,
        .lead_ticks = clock->running ? clock->act_tick - server_tick(clock, clock->now_ms) : 0,
        .resets = clock->resets};
}

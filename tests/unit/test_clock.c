// The two clocks over simulated links: inputs arrive just in time, the view never goes back, and
// both become stable quickly on any link.
#include "core/client/clock.h"

#include "core/base/rng.h"
#include "core/wire/input_frame.h"
#include "tests/support/test.h"

#include <stdio.h>

#define QUEUE_MAX 4096

typedef struct Packet {
    double at_ms; // when it comes out
    uint64_t tick;
    uint32_t waiting;
    double sent_ms; // of the ping that a pong answers; below zero: a snapshot
} Packet;

// An ordered stream: what is delayed delays what follows.
typedef struct Pipe {
    Packet packets[QUEUE_MAX];
    uint32_t first, count;
    double last_ms;
} Pipe;

typedef struct LinkOptions {
    uint32_t tick_rate, snapshot_ticks, batch_ticks;
    double up_ms, down_ms;
    double jitter_ms;      // evenly, each packet
    double stall_every_ms; // 0: never
    double stall_ms;
    double drift;    // of the server's clock against the client's
    double frame_ms; // of the client
    double seconds;
    uint64_t seed;
    double pause_at_ms, pause_ms; // the client does nothing for so long
} LinkOptions;

typedef struct LinkResult {
    uint32_t late_first, late_after; // inputs missing at their tick: in the first second, after it
    uint32_t late_last;              // in the last second
    double lead_most, lead_least;    // ticks between server and client, in the last second
    double delay_most;               // of the view, in ms behind the newest server tick; the same
    uint64_t starved;                // frames that showed a tick whose snapshot had not come
    double view_rate_least, view_rate_most; // after two seconds
    uint64_t resets;
    double settled_ms; // the last time the lead was off by more than two ticks
} LinkResult;

static void pipe_put(Pipe *pipe, Packet packet)
{
    if (packet.at_ms < pipe->last_ms) {
        packet.at_ms = pipe->last_ms;
    }
    pipe->last_ms = packet.at_ms;
    if (pipe->count == QUEUE_MAX) {
        test_fail(__FILE__, __LINE__, "the pipe is full");
        return;
    }
    pipe->packets[(pipe->first + pipe->count) % QUEUE_MAX] = packet;
    pipe->count += 1;
}

static bool pipe_take(Pipe *pipe, double now_ms, Packet *out)
{
    if (pipe->count == 0 || pipe->packets[pipe->first].at_ms > now_ms) {
        return false;
    }
    *out = pipe->packets[pipe->first];
    pipe->first = (pipe->first + 1) % QUEUE_MAX;
    pipe->count -= 1;
    return true;
}

static double way(const LinkOptions *options, Rng *rng, double now_ms, double delay_ms)
{
    const double jitter = (double)rng_unit(rng) * options->jitter_ms;
    double at = now_ms + delay_ms + jitter;
    if (options->stall_every_ms > 0) {
        const uint64_t round = (uint64_t)(at / options->stall_every_ms);
        const double into = at - (double)round * options->stall_every_ms;
        if (round > 0 && into < options->stall_ms) {
            at += options->stall_ms - into;
        }
    }
    return at;
}

typedef struct Link {
    LinkOptions options;
    LinkResult result;
    Rng rng;
    Clock clock;
    Pipe up, down;
    uint64_t server_tick, predicted, input_newest, frame_newest;
    double server_next_ms, ping_ms;
    double view_before, view_before_ms;
    uint32_t unsent;
} Link;

static void server_step(Link *link, double now_ms)
{
    const LinkOptions *options = &link->options;
    Packet packet;
    while (pipe_take(&link->up, now_ms, &packet)) {
        if (packet.sent_ms >= 0) {
            const double at = way(options, &link->rng, now_ms, options->down_ms);
            pipe_put(&link->down, (Packet){at, link->server_tick, 0, packet.sent_ms});
        } else {
            link->input_newest = packet.tick;
        }
    }
    link->server_tick += 1;
    if (link->input_newest < link->server_tick) {
        link->result.late_first += now_ms < 1000;
        link->result.late_after += now_ms >= 1000;
        link->result.late_last += now_ms >= options->seconds * 1000 - 1000;
    }
    if (link->server_tick % options->snapshot_ticks == 0) {
        const uint64_t newest = link->input_newest;
        const uint32_t waiting =
            newest > link->server_tick ? (uint32_t)(newest - link->server_tick) : 0;
        const double at = way(options, &link->rng, now_ms, options->down_ms);
        pipe_put(&link->down, (Packet){at, link->server_tick, waiting, -1});
    }
}

static void client_send(Link *link, double now_ms)
{
    const LinkOptions *options = &link->options;
    if (now_ms >= link->ping_ms) {
        link->ping_ms = now_ms + 1000;
        pipe_put(&link->up,
                 (Packet){way(options, &link->rng, now_ms, options->up_ms), 0, 0, now_ms});
    }
    if (link->unsent >= options->batch_ticks) {
        link->unsent = 0;
        pipe_put(&link->up, (Packet){way(options, &link->rng, now_ms, options->up_ms),
                                     link->predicted, 0, -1});
    }
}

static void look(Link *link, double now_ms)
{
    LinkResult *result = &link->result;
    const LinkOptions *options = &link->options;
    const double view = clock_view_tick(&link->clock);
    CHECK(view >= link->view_before);
    const double elapsed = now_ms - link->view_before_ms;
    if (now_ms > 2000 && elapsed > 0) {
        const double rate =
            (view - link->view_before) / elapsed * 1000 / options->tick_rate / (1 + options->drift);
        result->view_rate_least = rate < result->view_rate_least ? rate : result->view_rate_least;
        result->view_rate_most = rate > result->view_rate_most ? rate : result->view_rate_most;
    }
    link->view_before = view;
    link->view_before_ms = now_ms;
    result->starved += now_ms > 2000 && view > (double)link->frame_newest;
    const double lead = (double)link->predicted - (double)link->server_tick;
    const double right = (options->up_ms + options->jitter_ms) * options->tick_rate / 1000;
    if (lead < right || lead > right + 8) {
        result->settled_ms = now_ms;
    }
    if (now_ms >= options->seconds * 1000 - 1000) {
        const double delay = ((double)link->server_tick - view) * 1000 / options->tick_rate;
        result->lead_most = lead > result->lead_most ? lead : result->lead_most;
        result->lead_least = lead < result->lead_least ? lead : result->lead_least;
        result->delay_most = delay > result->delay_most ? delay : result->delay_most;
    }
}

static void client_frame(Link *link, double now_ms)
{
    Packet packet;
    while (pipe_take(&link->down, now_ms, &packet)) {
        if (packet.sent_ms >= 0) {
            clock_pong(&link->clock, now_ms, packet.sent_ms, packet.tick);
            continue;
        }
        if (link->predicted == 0) {
            link->predicted = packet.tick; // the welcome
            link->view_before = 0;
        }
        link->frame_newest = packet.tick;
        clock_snapshot(&link->clock, now_ms, packet.tick, packet.waiting);
    }
    const uint32_t due = clock_advance(&link->clock, now_ms, link->predicted);
    CHECK(due <= 5);
    for (uint32_t i = 0; i < due; i++) {
        link->predicted += 1;
        link->unsent += 1;
        client_send(link, now_ms);
    }
    client_send(link, now_ms);
    const float fraction = clock_fraction(&link->clock);
    CHECK(fraction >= 0 && fraction <= 1);
    look(link, now_ms);
}

static LinkResult run(const LinkOptions *options)
{
    static Link link;
    link = (Link){.options = *options,
                  .rng = rng_make(options->seed + test_seed(), 1),
                  .server_tick = 9000,
                  .result = {.lead_least = 1e9, .view_rate_least = 1e9}};
    clock_init(&link.clock, options->tick_rate, options->tick_rate / options->snapshot_ticks);
    const double step_ms = 1000.0 / options->tick_rate / (1 + options->drift);
    double frame_ms = 3.7;
    while (frame_ms < options->seconds * 1000) {
        while (link.server_next_ms <= frame_ms) {
            server_step(&link, link.server_next_ms);
            link.server_next_ms += step_ms;
        }
        const bool paused =
            frame_ms >= options->pause_at_ms && frame_ms < options->pause_at_ms + options->pause_ms;
        if (!paused) {
            client_frame(&link, frame_ms);
        }
        frame_ms += options->frame_ms;
    }
    link.result.resets = clock_stats(&link.clock).resets;
    return link.result;
}

static LinkOptions clean(void)
{
    return (LinkOptions){.tick_rate = 60,
                         .snapshot_ticks = 3,
                         .batch_ticks = 2,
                         .up_ms = 40,
                         .down_ms = 40,
                         .frame_ms = 1000.0 / 60,
                         .seconds = 20};
}

static void report(const char *name, const LinkResult *result)
{
    printf("%-28s late %u then %u, lead %.0f..%.0f ticks, view %.0f ms behind, starved %u, rate "
           "%.2f..%.2f, settled %.0f ms\n",
           name, result->late_first, result->late_after, result->lead_least, result->lead_most,
           result->delay_most, (unsigned)result->starved, result->view_rate_least,
           result->view_rate_most, result->settled_ms);
}

static void check_clean(const char *name, const LinkOptions *options)
{
    const LinkResult result = run(options);
    report(name, &result);
    const double up = options->up_ms * options->tick_rate / 1000;
    CHECK_INT(result.late_after, 0);
    CHECK(result.settled_ms < 2000);
    CHECK(result.lead_most <= up + 7);
    CHECK_INT(result.starved, 0);
    CHECK_INT(result.resets, 0);
    CHECK(result.view_rate_least > 0.94 && result.view_rate_most < 1.06);
}

TEST(no_input_is_late_on_a_clean_link)
{
    LinkOptions options = clean();
    check_clean("clean 80 ms", &options);
    options.up_ms = options.down_ms = 1;
    check_clean("clean 2 ms", &options);
    options.up_ms = 10;
    options.down_ms = 200;
    check_clean("clean 10 up 200 down", &options);
    options.up_ms = 150;
    options.down_ms = 150;
    check_clean("clean 300 ms", &options);
    options = clean();
    options.frame_ms = 1000.0 / 144;
    check_clean("clean, 144 frames", &options);
    options.frame_ms = 1000.0 / 30;
    check_clean("clean, 30 frames", &options);
    options.frame_ms = 17.3;
    check_clean("clean, uneven frames", &options);
}

TEST(other_rates_do_as_well)
{
    LinkOptions options = clean();
    options.snapshot_ticks = 6;
    check_clean("60/10 Hz", &options);
    options.tick_rate = 30;
    options.snapshot_ticks = 3;
    options.batch_ticks = 1;
    check_clean("30/10 Hz", &options);
    options.snapshot_ticks = 1;
    check_clean("30/30 Hz", &options);
    options = clean();
    options.snapshot_ticks = 1;
    check_clean("60/60 Hz", &options);
}

TEST(drift_is_followed)
{
    LinkOptions options = clean();
    options.seconds = 60;
    options.drift = 100e-6;
    check_clean("drift +100 ppm", &options);
    options.drift = -100e-6;
    check_clean("drift -100 ppm", &options);
}

TEST(jitter_is_met_with_a_longer_lead)
{
    LinkOptions options = clean();
    options.seconds = 60;
    for (uint64_t seed = 0; seed < 4; seed++) {
        options.seed = seed;
        options.jitter_ms = 20 + 10 * (double)seed;
        const LinkResult result = run(&options);
        report("jitter", &result);
        CHECK(result.late_after < 12); // of 3,540
        CHECK(result.settled_ms < 59000);
        CHECK(result.starved < 60);
        CHECK(result.lead_most < (40 + options.jitter_ms) * 0.06 + 9);
        CHECK_INT(result.resets, 0);
    }
}

TEST(much_jitter_is_met_with_a_longer_delay)
{
    LinkOptions options = clean();
    options.seconds = 60;
    options.jitter_ms = 250;
    const LinkResult result = run(&options);
    report("jitter of 250 ms", &result);
    CHECK(result.starved < 35); // of 3,480 frames
    CHECK(result.delay_most > 200 && result.delay_most < 500);
    CHECK(result.late_after < 70);
    CHECK_INT(result.resets, 0);
}

TEST(after_a_stall_everything_is_as_before)
{
    LinkOptions options = clean();
    options.seconds = 39;
    options.stall_every_ms = 10000;
    options.stall_ms = 500;
    const LinkResult result = run(&options);
    report("stalls of 500 ms", &result);
    // Three stalls, of 30 ticks each, and hardly anything beyond them.
    CHECK(result.late_after >= 60 && result.late_after <= 110);
    CHECK_INT(result.late_last, 0);
    CHECK(result.lead_most < 2.4 + 8);
    CHECK(result.delay_most < 200);
    CHECK_INT(result.resets, 0);
}

TEST(a_client_that_slept_is_back_soon)
{
    LinkOptions options = clean();
    options.pause_at_ms = 8000;
    options.pause_ms = 700;
    options.seconds = 13;
    LinkResult result = run(&options);
    report("asleep for 0.7 s", &result);
    CHECK_INT(result.late_last, 0);
    CHECK(result.late_after < 60);
    CHECK(result.delay_most < 200);
    options.pause_ms = 5000;
    options.seconds = 18;
    result = run(&options);
    report("asleep for 5 s", &result);
    CHECK_INT(result.late_last, 0);
    CHECK(result.lead_most < 2.4 + 8);
    CHECK(result.delay_most < 200);
}

// How a server treats incoming inputs: it drops those for a tick too far ahead, and reports that
// its buffer is full.
typedef struct Keeper {
    uint64_t kept_tick; // the last one it has an input for
} Keeper;

static uint32_t keeper_take(Keeper *keeper, uint64_t now, uint64_t from, uint64_t to)
{
    bool is_early = false;
    for (uint64_t tick = from + 1; tick <= to; tick++) {
        if (tick > now + INPUT_FRAMES_AHEAD) {
            is_early = true;
        } else if (tick > now && tick > keeper->kept_tick) {
            keeper->kept_tick = tick;
        }
    }
    return is_early                  ? INPUT_FRAMES_AHEAD
           : keeper->kept_tick > now ? (uint32_t)(keeper->kept_tick - now)
                                     : 0;
}

// After half a minute in which nothing seemed to arrive a client is so far ahead that nothing it
// sends can be kept. It must come back and stay: while it waits for the time to come it sends
// nothing, and that nothing waits then must not drive it ahead again.
TEST(who_is_too_far_ahead_comes_back)
{
    Clock clock;
    Keeper keeper = {0};
    uint64_t predicted[900] = {0};
    uint32_t far_after = 0;
    clock_init(&clock, 60, 20);
    clock_pong(&clock, 100, 0, 0);
    for (uint32_t i = 3; i < 900; i++) {
        const double now_ms = 50.0 * i;
        const uint64_t tick = 3u * i;
        // A round trip is two snapshots: what is counted now was sent then.
        const uint32_t waiting = keeper_take(&keeper, tick - 3, predicted[i - 3], predicted[i - 2]);
        clock_snapshot(&clock, now_ms, tick, i < 600 ? 0 : waiting);
        predicted[i] = predicted[i - 1];
        for (uint32_t k = 1; k <= 3; k++) {
            predicted[i] += clock_advance(&clock, now_ms + 16 * k, predicted[i]);
        }
        const double lead = clock_stats(&clock).lead_ticks;
        if (i == 599) {
            CHECK(lead > INPUT_FRAMES_AHEAD);
        }
        far_after += i >= 700 && (lead > 30 || lead < 2);
    }
    CHECK_INT(far_after, 0);
}

TEST(nothing_happens_before_the_first_snapshot)
{
    Clock clock;
    clock_init(&clock, 60, 20);
    CHECK_INT(clock_advance(&clock, 1000, 0), 0);
    clock_pong(&clock, 1000, 900, 5);
    CHECK_NEAR(clock_stats(&clock).rtt_ms, 100, 1e-9);
    clock_snapshot(&clock, 1000, 0, 0); // a world that has just begun
    CHECK(clock_view_tick(&clock) >= 0);
    CHECK(clock_advance(&clock, 1000, 0) <= 5);
    // Time that does not rise changes nothing.
    const double view = clock_view_tick(&clock);
    (void)clock_advance(&clock, 500, 0);
    CHECK(clock_view_tick(&clock) == view);
}

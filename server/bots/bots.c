// The loop of the bots; see bots.h. A timer wakes it BOTS_LOOP_RATE times a second, and each time a
// part of the bots is updated, so that their inputs are spread over time like those of people. Data
// is read when it arrives.
#define _GNU_SOURCE
#include "core/wire/error_code.h"
#include "server/bots/bots_inside.h"

#include "core/base/check.h"
#include "core/base/utf8.h"
#include "core/script/rune/rune_unpack.h"
#include "server/sys/clock.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/timerfd.h>
#include <unistd.h>

#define EVENTS_MAX         512
#define READS_MAX          64 // of one bot, before it acts
#define TAG_TIMER          UINT32_MAX
#define TAG_DOOR           (UINT32_MAX - 1)
#define ASKS_PER_SECOND    400 // ticket requests, while everybody joins
#define ASKING_MAX         64  // tickets are valid for a short time only
#define RETRY_MS           300
#define RETRY_MAX_MS       4000
#define RETRY_ELSEWHERE_MS 1000 // at most, if there are other servers to ask
#define SILENT_MS          5000 // with several servers: then another one may have the world
#define HOSTILE_RETRY_MS   100
#define METRICS_WAIT_MS    3000 // the world reports its numbers once a second
#define SLOW_READ_BYTES    512
#define SLOW_BUFFER_BYTES  4096
#define GOODBYE_NS         100000000 // until the last messages are read
#define RATE_FAST          60
#define RATE_MANY          30
#define MANY               200

static const char *const behaviour_names[BOTS_BEHAVIOUR_COUNT] = {
#define BOTS_NAME(name, text, what) text,
    BOTS_BEHAVIOURS(BOTS_NAME)
#undef BOTS_NAME
};

const char *bots_behaviour_name(BotsBehaviour behaviour)
{
    return behaviour_names[behaviour];
}

BotsConfig bots_config_default(void)
{
    return (BotsConfig){.count = 10,
                        .seconds = 10,
                        .ramp_seconds_max = 60,
                        .seed = 1,
                        .debug_count = 16,
                        .hostile_frames_per_second = 500};
}

// --- failures -----------------------------------------------------------------------------------

void bots_count_failure(Bots *bots, const char *reason)
{
    BotsReport *report = &bots->report;
    report->failures += 1;
    char text[sizeof report->reasons[0].text];
    snprintf(text, sizeof text, "%s", reason);
    utf8_clean(text); // it may contain text from the server
    for (uint32_t i = 0; i < report->reason_count; i++) {
        if (strcmp(report->reasons[i].text, text) == 0) {
            report->reasons[i].count += 1;
            return;
        }
    }
    const bool last = report->reason_count + 1 >= BOTS_REASONS_MAX;
    BotsReason *at = &report->reasons[last ? BOTS_REASONS_MAX - 1 : report->reason_count];
    if (report->reason_count < BOTS_REASONS_MAX) {
        report->reason_count += 1;
        snprintf(at->text, sizeof at->text, "%s", last ? "other" : text);
    }
    at->count += 1;
}

static void rest(Bots *bots, Bot *bot, double ms)
{
    const uint32_t jitter = rng_below(&bot->rng, 100);
    bot->state = BOT_RESTS;
    bot->next_ms = bots->now_ms + ms + jitter;
}

static void rest_after_failure(Bots *bots, Bot *bot)
{
    const uint32_t shift = bot->failures_in_row < 4 ? bot->failures_in_row : 4;
    double ms = (double)(RETRY_MS << shift);
    const double most = bots->config.others[0] != NULL ? RETRY_ELSEWHERE_MS : RETRY_MAX_MS;
    ms = ms < most ? ms : most;
    bot->failures_in_row += 1;
    rest(bots, bot, bot->behaviour == BOTS_HOSTILE ? HOSTILE_RETRY_MS : ms);
}

// --- clients ------------------------------------------------------------------------------------

static bool make_client(Bots *bots, Bot *bot)
{
    ClientConfig config = client_config_default();
    config.place = bots->place;
    config.owner_fetches = true;
    config.scripts = bots->config.scripts;
    config.still_puppets = bots->config.count > MANY && !bots->config.scripts;
    config.unix_offset_ms = (double)clock_unix_ms() - bots->now_ms;
    snprintf(config.name, sizeof config.name, "bot_%u", bot->index);
    if (config.scripts) {
        bots_script_configure(bots, &config);
    }
    bot->wants_change = UINT32_MAX;
    bot->kept_version = 0;
    const Status status = client_create(&bots->heap, &config, &bot->client);
    if (status != STATUS_OK) {
        snprintf(bots->failed, sizeof bots->failed, "no memory for another client");
    }
    return status == STATUS_OK;
}

// The first bot fetches the scene; the others share it.
static void take_scene(Bots *bots, BotsFetched *fetched)
{
    bots->scene_asked = false;
    if (fetched->status != STATUS_OK) {
        bots_count_failure(bots, fetched->reason);
        return;
    }
    free(bots->scene);
    bots->scene = fetched->scene;
    bots->scene_bytes = fetched->scene_bytes;
    if (bots->place == NULL) {
        const Status status = place_load(&bots->heap, bots->scene, bots->scene_bytes, &bots->place);
        if (status != STATUS_OK) {
            snprintf(bots->failed, sizeof bots->failed, "the scene cannot be read: %s",
                     status_text(status));
        }
    }
}

static void fetch(Bots *bots, Bot *bot)
{
    ClientWant want;
    for (uint32_t i = 0; client_want(bot->client, i, &want); i++) {
        if (bots->scene != NULL &&
            client_give(bot->client, bots->scene, bots->scene_bytes) == STATUS_OK) {
            return;
        }
        if (!bots->scene_asked) {
            bots->scene_asked = true;
            bots_fetcher_ask(bots->fetcher, BOTS_FETCH_SCENE, bot->index, want.hash);
        }
        return; // one at a time
    }
}

// --- links --------------------------------------------------------------------------------------

// An honest playing bot reads before it acts, because its memory is needed then anyway; the kernel
// has stamped the arrival times.
static bool reads_when_it_acts(const Bot *bot)
{
    return bot->behaviour != BOTS_SLOW && bot->behaviour != BOTS_HOSTILE && bot->playing_ms > 0;
}

static void register_link(Bots *bots, Bot *bot)
{
    const bool reads = bot->behaviour == BOTS_SLOW ? bots->now_ms >= bot->pause_ms
                       : bot->behaviour == BOTS_HOSTILE
                           ? bot->link.state != BOTS_LINK_OPEN || hostile_reads(bot)
                           : !reads_when_it_acts(bot);
    const bool writes = bot->link.writes || bot->link.state == BOTS_LINK_CONNECTING;
    if (bot->link.socket < 0 ||
        (bot->in_epoll && bot->epoll_reads == reads && bot->epoll_writes == writes)) {
        return;
    }
    struct epoll_event event = {.events = (reads ? EPOLLIN : 0u) | (writes ? EPOLLOUT : 0u),
                                .data.u32 = bot->index};
    const int operation = bot->in_epoll ? EPOLL_CTL_MOD : EPOLL_CTL_ADD;
    const int failed = epoll_ctl(bots->epoll, operation, bot->link.socket, &event);
    ASSERT(failed == 0);
    bot->in_epoll = true;
    bot->epoll_reads = reads;
    bot->epoll_writes = writes;
}

static void session_over(Bot *bot, const char *reason)
{
    bots_link_close(&bot->link, reason);
    bot->in_epoll = false;
    bot->playing_ms = 0;
    bot->snapshot_ns = 0;
    bot->pending_count = 0;
    if (bot->truth != NULL) {
        bot->truth->tick = 0;
    }
    if (bot->client != NULL) {
        client_disconnected(bot->client);
    }
}

static void link_lost(Bots *bots, Bot *bot)
{
    char reason[BOTS_LINK_REASON_BYTES];
    const char *said = bot->client != NULL && client_state(bot->client) == CLIENT_CLOSED
                           ? client_closed_reason(bot->client)
                           : bot->link.reason;
    snprintf(reason, sizeof reason, "%s", said);
    session_over(bot, reason);
    const char *moved = error_name(ERROR_MOVED);
    if (strncmp(reason, moved, strlen(moved)) == 0) { // the world goes on elsewhere
        rest(bots, bot, 0);
        return;
    }
    if (bot->behaviour != BOTS_HOSTILE) { // hostile ones want to be disconnected
        bots_count_failure(bots, reason);
    }
    rest_after_failure(bots, bot);
}

static void flush_client(Bots *bots, Bot *bot)
{
    const uint8_t *bytes;
    size_t count;
    while (bot->link.state == BOTS_LINK_OPEN && client_output(bot->client, &bytes, &count)) {
        if (!bots_link_send(&bot->link, WEBSOCKET_BINARY, bytes, count)) {
            break; // the server does not read: try again later
        }
        client_output_take(bot->client);
    }
    bots_link_flush(&bot->link);
    register_link(bots, bot);
}

typedef struct Context {
    Bots *bots;
    Bot *bot;
} Context;

static void on_open(void *user)
{
    const Context *context = user;
    Bot *bot = context->bot;
    context->bots->report.connects += 1;
    if (bot->behaviour == BOTS_HOSTILE) {
        hostile_begin(context->bots, bot);
        if (!hostile_says_hello(bot)) {
            return;
        }
    }
    client_connect(bot->client, context->bots->now_ms);
}

static void on_message(void *user, const uint8_t *bytes, size_t count, size_t frame_bytes)
{
    const Context *context = user;
    Bots *bots = context->bots;
    Bot *bot = context->bot;
    bots->window_bytes += frame_bytes;
    bot->linked_ms = bots->now_ms;
    if (bot->behaviour == BOTS_HOSTILE) {
        return;
    }
    if (count > 0 && bytes[0] == MESSAGE_DEBUG_TRUTH) {
        bot->truth_bytes += frame_bytes;
        measure_truth(bots, bot, bytes, count);
        return;
    }
    const bool snapshot = count > 0 && bytes[0] == MESSAGE_SNAPSHOT;
    client_receive(bot->client, bots->now_ms, bytes, count);
    if (snapshot) {
        measure_snapshot(bots, bot, bot->link.arrived_ns);
        measure_truth_due(bots, bot);
    }
}

static void serve_link(Bots *bots, Bot *bot, uint32_t events)
{
    Context context = {.bots = bots, .bot = bot};
    const BotsLinkSink sink = {.user = &context, .open = on_open, .message = on_message};
    if (bot->state != BOT_LINKS) {
        return;
    }
    if ((events & (EPOLLOUT | EPOLLERR | EPOLLHUP)) != 0) {
        bots_link_writable(&bot->link, &bots->address);
    }
    if ((events & (EPOLLIN | EPOLLERR | EPOLLHUP)) != 0) {
        const size_t bytes = bot->behaviour == BOTS_SLOW ? SLOW_READ_BYTES : BOTS_SCRATCH;
        (void)bots_link_readable(&bot->link, bots->scratch, bytes, &sink); // epoll reports more
        if (bot->behaviour == BOTS_SLOW && bot->link.state == BOTS_LINK_OPEN) {
            const uint32_t long_pause = rng_below(&bot->rng, 40) == 0 ? 3000 : 0;
            bot->pause_ms = bots->now_ms + 40 + long_pause;
        }
    }
    if (bot->link.state == BOTS_LINK_ENDED) {
        link_lost(bots, bot);
        return;
    }
    register_link(bots, bot);
}

// --- joining ------------------------------------------------------------------------------------

static void ask_ticket(Bots *bots, Bot *bot)
{
    bot->state = BOT_ASKS;
    bots->asking += 1;
    bots->last_ask_ms = bots->now_ms;
    bots_fetcher_ask(bots->fetcher, BOTS_FETCH_TICKET, bot->index, NULL);
}

static bool find_address(Bots *bots, const char *text)
{
    if (strcmp(bots->address_text, text) == 0) {
        return true;
    }
    const Status status = bots_address_find(text, &bots->address);
    if (status != STATUS_OK) {
        snprintf(bots->failed, sizeof bots->failed, "the server's address makes no sense: %s",
                 status_text(status));
        return false;
    }
    snprintf(bots->address_text, sizeof bots->address_text, "%s", text);
    return true;
}

static void take_ticket(Bots *bots, Bot *bot, const BotsFetched *fetched)
{
    bots->asking -= 1;
    if (fetched->status != STATUS_OK) {
        bots_count_failure(bots, fetched->reason);
        rest_after_failure(bots, bot);
        if (fetched->status == STATUS_NOT_FOUND && bots->place == NULL && !bots->measuring) {
            snprintf(bots->failed, sizeof bots->failed, "nobody got in: %.140s", fetched->reason);
        }
        return;
    }
    memcpy(bots->signing_key, fetched->signing_key, sizeof bots->signing_key);
    if (!find_address(bots, fetched->address) || (bot->client == NULL && !make_client(bots, bot))) {
        return;
    }
    if (!client_set_ticket(bot->client, fetched->ticket)) {
        bots_count_failure(bots, "a ticket is too long");
        rest_after_failure(bots, bot);
        return;
    }
    bot->state = BOT_LINKS;
    bot->linked_ms = bots->now_ms;
    bot->in_epoll = false;
    const int receive_bytes = bot->behaviour == BOTS_SLOW ? SLOW_BUFFER_BYTES : 0;
    if (bots_link_open(&bot->link, &bots->address, receive_bytes) != STATUS_OK) {
        link_lost(bots, bot);
        return;
    }
    register_link(bots, bot);
}

static void take_fetched(Bots *bots)
{
    BotsFetched fetched;
    while (bots_fetcher_next(bots->fetcher, &fetched)) {
        if (fetched.kind == BOTS_FETCH_TICKET) {
            take_ticket(bots, &bots->bots[fetched.bot], &fetched);
        } else if (fetched.kind == BOTS_FETCH_SCENE) {
            take_scene(bots, &fetched);
        } else if (fetched.kind == BOTS_FETCH_ROWS) {
            bots_script_take_rows(bots, &fetched);
        } else if (bots->metrics_end_asked) {
            bots->metrics_end = fetched.metrics;
            bots->metrics_end_here = true;
        } else {
            bots->metrics_begin = fetched.metrics;
        }
    }
}

// --- one bot, every update ----------------------------------------------------------------------

// A session of a few seconds; then some bots say goodbye, some are cut off, some come back as new
// players.
static void churn(Bots *bots, Bot *bot)
{
    if (bots->now_ms < bot->end_ms || bots->over) {
        return;
    }
    const uint32_t way = rng_below(&bot->rng, 3);
    if (way == 0) {
        const MessageLeave leave = {0};
        (void)client_send(bot->client, MESSAGE_LEAVE, &leave);
        flush_client(bots, bot);
    }
    session_over(bot, "churn");
    if (way == 1) { // as a player without any stored tokens
        client_destroy(&bots->heap, bot->client);
        bot->client = NULL;
    }
    rest(bots, bot, 200);
}

static void update_playing(Bots *bots, Bot *bot)
{
    if (bot->playing_ms == 0) {
        const uint32_t stay = rng_below(&bot->rng, 6000);
        bot->playing_ms = bots->now_ms;
        bot->end_ms = bots->now_ms + 2000 + stay;
        bot->failures_in_row = 0;
        bot->was_playing = true;
    }
    behaviour_act(bots, bot);
}

static void read_all(Bots *bots, Bot *bot)
{
    Context context = {.bots = bots, .bot = bot};
    const BotsLinkSink sink = {.user = &context, .open = on_open, .message = on_message};
    uint32_t reads = 0;
    while (reads < READS_MAX &&
           bots_link_readable(&bot->link, bots->scratch, BOTS_SCRATCH, &sink)) {
        reads += 1;
    }
}

static void update_open(Bots *bots, Bot *bot)
{
    if (reads_when_it_acts(bot)) {
        read_all(bots, bot);
        if (bot->link.state != BOTS_LINK_OPEN) {
            link_lost(bots, bot);
            return;
        }
    }
    if (bot->behaviour == BOTS_HOSTILE) {
        if (bot->client != NULL && client_state(bot->client) == CLIENT_CONNECTING) {
            flush_client(bots, bot);
        }
        hostile_play(bots, bot, 1.0 / bots->update_rate);
        bots_link_flush(&bot->link);
        register_link(bots, bot);
    } else {
        if (client_state(bot->client) == CLIENT_FETCHING) {
            fetch(bots, bot);
        }
        if (client_state(bot->client) == CLIENT_PLAYING) {
            update_playing(bots, bot);
        }
        client_update(bot->client, bots->now_ms);
        if (bots->config.scripts) {
            bots_script_fetch(bots, bot);
            bots_script_look(bots, bot);
        }
        behaviour_take_answers(bots, bot);
        flush_client(bots, bot);
    }
    if (bot->link.state == BOTS_LINK_ENDED ||
        (bot->client != NULL && client_state(bot->client) == CLIENT_CLOSED)) {
        link_lost(bots, bot);
    } else if (bot->behaviour == BOTS_CHURN && bot->playing_ms > 0) {
        churn(bots, bot);
    }
}

static void update(Bots *bots, Bot *bot)
{
    if (bot->state == BOT_RESTS && bots->now_ms >= bot->next_ms && bot->registered &&
        bots->asking < ASKING_MAX && !bots->over) {
        ask_ticket(bots, bot);
    } else if (bot->state == BOT_LINKS && bot->link.state == BOTS_LINK_OPEN) {
        update_open(bots, bot);
    }
    // A machine that is gone without a word closes nothing.
    if (bot->state == BOT_LINKS && bots->config.others[0] != NULL &&
        bot->behaviour != BOTS_HOSTILE && bots->now_ms - bot->linked_ms > SILENT_MS) {
        bots_link_close(&bot->link, "the server is silent");
        link_lost(bots, bot);
    }
}

// Attackers do not use it.
static bool needs_scene(const Bots *bots)
{
    return bots->config.behaviour != BOTS_HOSTILE;
}

// Lets the remaining bots join, a few at a time; first only one, which fetches the scene.
static void let_in(Bots *bots)
{
    const double due = (bots->now_ms - bots->last_ask_ms) / 1000 * ASKS_PER_SECOND;
    uint32_t room = due < ASKING_MAX ? (uint32_t)due : ASKING_MAX;
    while (room > 0 && bots->asked_count < bots->config.count && bots->asking < ASKING_MAX &&
           (bots->asked_count == 0 || bots->place != NULL || !needs_scene(bots))) {
        Bot *bot = &bots->bots[bots->asked_count];
        bots->asked_count += 1;
        bot->registered = true;
        ask_ticket(bots, bot);
        room -= 1;
    }
}

// --- the run ------------------------------------------------------------------------------------

static bool everybody_plays(const Bots *bots)
{
    for (uint32_t i = 0; i < bots->config.count; i++) {
        const Bot *bot = &bots->bots[i];
        const bool counts = bot->behaviour != BOTS_HOSTILE && bot->behaviour != BOTS_CHURN;
        if (counts && bot->playing_ms == 0 && !(bot->was_playing && bot->registered)) {
            return false;
        }
    }
    return bots->asked_count == bots->config.count;
}

static void decide_phase(Bots *bots)
{
    if (!bots->measuring && !bots->over) {
        if (bots->ramp_end_ms == 0 && everybody_plays(bots)) {
            bots->ramp_end_ms = bots->now_ms + 1500; // interests fill, clocks settle
        }
        const bool late = bots->now_ms > bots->config.ramp_seconds_max * 1000.0;
        if ((bots->ramp_end_ms != 0 && bots->now_ms >= bots->ramp_end_ms) ||
            (late && (bots->place != NULL || !needs_scene(bots)))) {
            measure_begin(bots);
            bots_fetcher_ask(bots->fetcher, BOTS_FETCH_METRICS, 0, NULL);
            bots->end_ms = bots->now_ms + bots->config.seconds * 1000.0;
        } else if (late) {
            snprintf(bots->failed, sizeof bots->failed, "nobody got in: %s",
                     bots->report.reason_count > 0 ? bots->report.reasons[0].text : "no answer");
        } else if (bots->config.stop != NULL && *bots->config.stop != 0) {
            snprintf(bots->failed, sizeof bots->failed, "stopped before everybody was in");
        }
        return;
    }
    const bool stopped = bots->config.stop != NULL && *bots->config.stop != 0;
    if (!bots->over && (stopped || bots->now_ms >= bots->end_ms)) {
        bots->end_ms = bots->now_ms;
        bots->over = true;
        measure_end(bots);
        bots->measuring = false;
        bots->metrics_end_asked = true;
        bots_fetcher_ask(bots->fetcher, BOTS_FETCH_METRICS, 0, NULL);
    }
}

static void tick(Bots *bots)
{
    uint64_t expired = 0;
    if (read(bots->timer, &expired, sizeof expired) != sizeof expired) {
        return;
    }
    const uint32_t slices = BOTS_LOOP_RATE / bots->update_rate;
    bots->loop_ticks += expired;
    // Late by a whole update of a bot: then inputs are late too.
    bots->late += expired > slices ? expired - slices : 0;
    let_in(bots);
    const uint32_t due = expired < slices ? (uint32_t)expired : slices;
    for (uint32_t i = 0; i < due; i++) {
        for (uint32_t b = bots->slice; b < bots->config.count; b += slices) {
            update(bots, &bots->bots[b]);
        }
        bots->slice = (bots->slice + 1) % slices;
    }
    if (bots->now_ms - bots->report_ms >= 1000 && !bots->over) {
        measure_now(bots);
        if (bots->config.progress != NULL) {
            bots->config.progress(bots->config.user, &bots->report);
        }
    }
    decide_phase(bots);
}

static void loop(Bots *bots)
{
    struct epoll_event events[EVENTS_MAX];
    while (bots->failed[0] == 0 && !(bots->over && bots->metrics_end_here) &&
           !(bots->over && bots->now_ms > bots->end_ms + METRICS_WAIT_MS)) {
        const int count = epoll_wait(bots->epoll, events, EVENTS_MAX, 1000);
        for (int i = 0; i < count; i++) {
            bots->now_ms = (double)(clock_ns() - bots->start_ns) / 1e6;
            const uint32_t tag = events[i].data.u32;
            if (tag == TAG_TIMER) {
                tick(bots);
            } else if (tag == TAG_DOOR) {
                take_fetched(bots);
            } else {
                serve_link(bots, &bots->bots[tag], events[i].events);
            }
        }
    }
}

// --- creation -----------------------------------------------------------------------------------

static BotsBehaviour behaviour_of(BotsBehaviour wanted, uint32_t index)
{
    static const BotsBehaviour some[] = {BOTS_WALK,  BOTS_CROWD,     BOTS_FIGHT, BOTS_WALK,
                                         BOTS_BUILD, BOTS_PLATFORMS, BOTS_CHURN, BOTS_SLOW};
    return wanted == BOTS_MIXED ? some[index % 8] : wanted;
}

static Status open_waits(Bots *bots)
{
    const uint64_t interval = 1000000000ull / BOTS_LOOP_RATE;
    const struct itimerspec every = {.it_interval.tv_nsec = (long)interval,
                                     .it_value.tv_nsec = (long)interval};
    bots->epoll = epoll_create1(EPOLL_CLOEXEC);
    bots->timer = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
    if (bots->epoll < 0 || bots->timer < 0 || timerfd_settime(bots->timer, 0, &every, NULL) != 0) {
        return STATUS_BLOCKED;
    }
    struct epoll_event event = {.events = EPOLLIN, .data.u32 = TAG_TIMER};
    int failed = epoll_ctl(bots->epoll, EPOLL_CTL_ADD, bots->timer, &event);
    event.data.u32 = TAG_DOOR;
    failed |= epoll_ctl(bots->epoll, EPOLL_CTL_ADD, bots_fetcher_descriptor(bots->fetcher), &event);
    return failed == 0 ? STATUS_OK : STATUS_BLOCKED;
}

static void raise_descriptor_limit(void)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur < limit.rlim_max) {
        limit.rlim_cur = limit.rlim_max;
        (void)setrlimit(RLIMIT_NOFILE, &limit); // with fewer, the last bots report why they fail
    }
}

static Status open_bots(Bots *bots, char *reason, size_t bytes)
{
    BotsFetcherConfig fetcher = {.world = bots->config.world,
                                 .bot_count = bots->config.count,
                                 .debug_count = bots->config.debug_count};
    snprintf(fetcher.name, sizeof fetcher.name, "bot_%llx",
             (unsigned long long)(bots->config.seed & 0xffffffff));
    raise_descriptor_limit();
    bots->bots = calloc(bots->config.count, sizeof(Bot));
    bots->scratch = malloc(BOTS_SCRATCH);
    Status status = bots->bots != NULL && bots->scratch != NULL ? STATUS_OK : STATUS_LIMIT;
    for (uint32_t i = 0; status == STATUS_OK && i < bots->config.count; i++) {
        Bot *bot = &bots->bots[i];
        bot->index = i;
        bot->behaviour = behaviour_of(bots->config.behaviour, i);
        bot->rng = rng_make(bots->config.seed, i);
        status = bots_link_init(&bot->link, rng_u32(&bot->rng));
    }
    if (status == STATUS_OK) {
        status = ledger_init(&bots->ledger);
    }
    if (status == STATUS_OK) {
        status = ledger_init(&bots->check);
    }
    if (status != STATUS_OK) {
        snprintf(reason, bytes, "no memory for so many bots");
        return status;
    }
    if (bots->config.check != NULL) {
        status = ledger_read(&bots->check, bots->config.check);
        if (status != STATUS_OK) {
            snprintf(reason, bytes, "%s is not a ledger", bots->config.check);
            return status;
        }
    }
    // From here on there are threads, sockets and data from others.
    if (bots->config.scripts) {
        status = bots_script_lock_in(bots, reason, bytes);
        if (status != STATUS_OK) {
            return status;
        }
    }
    fetcher.server = bots->config.server;
    memcpy(fetcher.others, bots->config.others, sizeof fetcher.others);
    fetcher.place = bots->config.place;
    fetcher.channel = bots->config.channel;
    fetcher.owner = bots->config.owner;
    status = bots_fetcher_open(&fetcher, &bots->fetcher);
    if (status == STATUS_OK) {
        status = open_waits(bots);
    }
    if (status != STATUS_OK) {
        snprintf(reason, bytes, "%s cannot be asked: %s", bots->config.server, status_text(status));
    }
    return status;
}

// Without a goodbye, bodies are kept for a minute and fill the world.
static void say_goodbye(Bots *bots)
{
    const MessageLeave leave = {0};
    for (uint32_t i = 0; i < bots->config.count; i++) {
        Bot *bot = &bots->bots[i];
        if (bot->client != NULL && bot->link.state == BOTS_LINK_OPEN &&
            client_send(bot->client, MESSAGE_LEAVE, &leave) != 0) {
            flush_client(bots, bot);
        }
    }
    clock_sleep_until(clock_ns() + GOODBYE_NS);
}

static void close_bots(Bots *bots)
{
    bots_fetcher_close(bots->fetcher);
    for (uint32_t i = 0; bots->bots != NULL && i < bots->config.count; i++) {
        Bot *bot = &bots->bots[i];
        client_destroy(&bots->heap, bot->client);
        bots_link_deinit(&bot->link);
        free(bot->truth);
    }
    place_unload(&bots->heap, bots->place);
    ledger_deinit(&bots->ledger);
    ledger_deinit(&bots->check);
    free(bots->rows);
    free(bots->scene);
    free(bots->bots);
    rune_unpack_destroy(bots->unpack);
    free(bots->scratch);
    if (bots->epoll >= 0) {
        close(bots->epoll);
    }
    if (bots->timer >= 0) {
        close(bots->timer);
    }
    if (bots->keeper >= 0) {
        close(bots->keeper);
    }
    free(bots);
}

Status bots_run(const BotsConfig *config, BotsReport *report, char *reason, size_t bytes)
{
    ASSERT(config->count > 0 && config->count <= BOTS_MAX);
    Bots *bots = calloc(1, sizeof *bots);
    if (bots == NULL) {
        return STATUS_LIMIT;
    }
    bots->config = *config;
    bots->heap = heap_make(UINT64_MAX);
    bots->epoll = -1;
    bots->timer = -1;
    bots->keeper = -1;
    bots->update_rate = config->count > MANY ? RATE_MANY : RATE_FAST;
    bots->interarrival.step = 0.1;
    bots->error.step = 0.001;
    bots->start_ns = clock_ns();
    Status status = open_bots(bots, reason, bytes);
    if (status == STATUS_OK) {
        loop(bots);
        if (bots->failed[0] != 0) {
            snprintf(reason, bytes, "%s", bots->failed);
            status = STATUS_BLOCKED;
        }
    }
    if (status == STATUS_OK && config->ledger != NULL) {
        status = ledger_write(&bots->ledger, config->ledger);
        if (status != STATUS_OK) {
            snprintf(reason, bytes, "%s cannot be written", config->ledger);
        }
    }
    if (status == STATUS_OK) {
        bots_script_measure(bots);
        say_goodbye(bots);
        measure_server(bots);
        *report = bots->report;
    }
    close_bots(bots);
    return status;
}

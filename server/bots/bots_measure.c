// What the bots measure: how regularly snapshots come, how far others are shown from their true
// positions, and the costs. Slow and hostile bots are not measured.
#define _GNU_SOURCE
#include "server/bots/bots_inside.h"
#include "server/sys/clock.h"
#include "server/sys/process.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SETTLED_MS    1500 // interests take a moment to fill
#define STARVED_SHARE 0.02
#define ARENA_BYTES   (64u << 10)

// --- histograms ---------------------------------------------------------------------------------

void histogram_add(Histogram *histogram, double value)
{
    const double at = value / histogram->step;
    const uint32_t step = at < 0 ? 0 : at < HISTOGRAM_STEPS ? (uint32_t)at : HISTOGRAM_STEPS - 1;
    histogram->steps[step] += 1;
    histogram->count += 1;
    histogram->max = value > histogram->max ? value : histogram->max;
}

double histogram_at(const Histogram *histogram, double share)
{
    const uint64_t wanted = (uint64_t)((double)histogram->count * share);
    uint64_t seen = 0;
    for (uint32_t i = 0; i < HISTOGRAM_STEPS; i++) {
        seen += histogram->steps[i];
        if (seen > wanted) {
            const double upper = (i + 1) * histogram->step;
            return upper < histogram->max ? upper : histogram->max;
        }
    }
    return histogram->max;
}

static bool is_measured(const Bot *bot)
{
    return bot->behaviour != BOTS_SLOW && bot->behaviour != BOTS_HOSTILE;
}

// --- snapshots ----------------------------------------------------------------------------------

static void measure_gap(Bots *bots, const Bot *bot)
{
    const double gap_s = (bots->now_ms - bot->heard_ms) / 1000;
    if (bots->measuring && is_measured(bot) && bot->heard_ms > 0 && gap_s > bots->window_gap_s) {
        bots->window_gap_s = gap_s;
    }
}

// Those that have closed since the last call, and those that are still open.
static void measure_gaps(Bots *bots)
{
    BotsReport *report = &bots->report;
    for (uint32_t i = 0; i < bots->config.count; i++) {
        measure_gap(bots, &bots->bots[i]);
    }
    report->gap_now_s = bots->window_gap_s;
    report->gap_max_s =
        report->gap_max_s > report->gap_now_s ? report->gap_max_s : report->gap_now_s;
    bots->window_gap_s = 0;
}

void measure_snapshot(Bots *bots, Bot *bot, uint64_t now_ns)
{
    if (bots->measuring && is_measured(bot)) {
        bot->snapshots += 1;
        if (bot->snapshot_ns != 0 && now_ns >= bot->snapshot_ns) {
            histogram_add(&bots->interarrival, (double)(now_ns - bot->snapshot_ns) / 1e6);
        }
    }
    bot->snapshot_ns = now_ns;
    bots->window_snapshots += 1;
    measure_gap(bots, bot);
    bot->heard_ms = bots->now_ms;
}

// --- the truth ----------------------------------------------------------------------------------

static const Vec3 *truth_of(const BotTruth *truth, uint64_t net_id)
{
    for (uint32_t i = 0; i < truth->count; i++) {
        if (truth->ids[i] == net_id) {
            return &truth->positions[i];
        }
    }
    return NULL;
}

// Whether it was visible before that tick: what has just come into view has no past.
static bool has_past(const InterpolateLine *line, uint64_t tick)
{
    return line != NULL && line->count > 0 && line->true_tick[0] <= tick;
}

// Parts, props and structures are sent exactly, so any difference is an error. They move by
// segments that are known beforehand, also for past ticks.
static void compare_shape(Bots *bots, const Sim *sim, uint64_t net_id, const BotTruth *truth,
                          uint32_t tick_rate)
{
    const Entity *entity = sim_entity(sim, sim_find(sim, net_id));
    const Vec3 *at = truth_of(truth, net_id);
    if (entity == NULL || at == NULL) {
        return; // it appeared or disappeared since
    }
    const bool has_motion = entity->type == ENTITY_PART || entity->type == ENTITY_PROP;
    const Vec3 here = has_motion ? motion_pose(&entity->part.motion, entity->part.rest, truth->tick,
                                               1.0f / (float)tick_rate)
                                       .position
                                 : entity->position;
    const double error = (double)vec3_length(vec3_sub(here, *at));
    bots->report.shape_checks += 1;
    bots->report.shape_error_max_m =
        error > bots->report.shape_error_max_m ? error : bots->report.shape_error_max_m;
}

void measure_truth_due(Bots *bots, Bot *bot)
{
    BotTruth *truth = bot->truth;
    const uint64_t frame = client_frame_tick(bot->client);
    if (truth == NULL || truth->tick == 0 || frame < truth->tick) {
        return;
    }
    const bool counts = bots->measuring && is_measured(bot) && bot->playing_ms > 0 &&
                        bots->now_ms - bot->playing_ms > SETTLED_MS;
    const uint32_t tick_rate = client_place(bot->client)->tick_rate;
    const uint64_t own = client_own(bot->client).net_id;
    for (uint32_t slot = client_next(bot->client, UINT32_MAX); counts && slot != UINT32_MAX;
         slot = client_next(bot->client, slot)) {
        const ClientEntity entity = client_entity(bot->client, slot);
        if (!net_kind_moves(entity.kind)) {
            compare_shape(bots, client_sim(bot->client), entity.net_id, truth, tick_rate);
            continue;
        }
        if (entity.net_id == own || !has_past(entity.line, truth->tick)) {
            continue;
        }
        const Vec3 *at = truth_of(truth, entity.net_id);
        if (at == NULL) {
            bots->position_missing += 1; // shown, but it does not exist
            continue;
        }
        const InterpolatePose pose =
            interpolate_at(entity.line, (double)truth->tick, frame, tick_rate);
        histogram_add(&bots->error, (double)vec3_length(vec3_sub(pose.position, *at)));
    }
    truth->tick = 0;
}

void measure_truth(Bots *bots, Bot *bot, const uint8_t *bytes, size_t count)
{
    static _Alignas(16) uint8_t block[ARENA_BYTES];
    Arena arena;
    Message message;
    arena_init(&arena, block, sizeof block);
    if (message_decode(bytes, count, MESSAGE_DOWN, &arena, &message) != STATUS_OK) {
        bots_count_failure(bots, "a debug message cannot be read");
        return;
    }
    const MessageDebugTruth *body = message.body;
    if (bot->truth == NULL) {
        bot->truth = calloc(1, sizeof *bot->truth);
    }
    if (bot->truth == NULL || client_state(bot->client) != CLIENT_PLAYING) {
        return;
    }
    BotTruth *truth = bot->truth;
    truth->tick = body->tick;
    truth->count = 0;
    for (uint32_t i = 0; i < body->entities_count && i < BOTS_TRUTH_MAX; i++) {
        truth->ids[i] = body->entities[i].entity_id;
        truth->positions[i] = body->entities[i].position;
        truth->count += 1;
    }
    measure_truth_due(bots, bot);
}

// --- the report ---------------------------------------------------------------------------------

void measure_begin(Bots *bots)
{
    for (uint32_t i = 0; i < bots->config.count; i++) {
        Bot *bot = &bots->bots[i];
        const ClientStats stats =
            bot->client != NULL ? client_stats(bot->client) : (ClientStats){0};
        bot->base_down = bot->link.bytes_down;
        bot->base_up = bot->link.bytes_up;
        bot->base_truth_bytes = bot->truth_bytes;
        bot->base_corrections = stats.predict.corrections;
    }
    bots->measuring = true;
    bots->measure_ms = bots->now_ms;
    bots->loop_ticks = 0;
    bots->late = 0;
    bots->cpu_us_begin = clock_cpu_us();
}

void measure_now(Bots *bots)
{
    BotsReport *report = &bots->report;
    const double elapsed_s = (bots->now_ms - bots->report_ms) / 1000;
    measure_gaps(bots);
    report->seconds = bots->now_ms / 1000;
    report->measuring = bots->measuring;
    report->bots = bots->config.count;
    report->connected = 0;
    report->playing = 0;
    for (uint32_t i = 0; i < bots->config.count; i++) {
        const Bot *bot = &bots->bots[i];
        report->connected += bot->link.state == BOTS_LINK_OPEN;
        report->playing += bot->client != NULL && client_state(bot->client) == CLIENT_PLAYING;
    }
    if (elapsed_s > 0) {
        report->snapshots_per_second_now = (double)bots->window_snapshots / elapsed_s;
        report->bytes_down_per_second_now = (double)bots->window_bytes / elapsed_s;
    }
    bots->window_snapshots = 0;
    bots->window_bytes = 0;
    bots->report_ms = bots->now_ms;
    report->interarrival_p99_ms = histogram_at(&bots->interarrival, 0.99);
    report->position_error_p99_m = histogram_at(&bots->error, 0.99);
    report->durable = bots->ledger.durable;
    report->resident_bytes = process_resident_bytes(getpid());
}

typedef struct Sums {
    uint32_t clients;
    double down, up, snapshots, corrections, visible, rtt;
} Sums;

static Sums sum_up(Bots *bots)
{
    Sums sums = {0};
    for (uint32_t i = 0; i < bots->config.count; i++) {
        const Bot *bot = &bots->bots[i];
        if (!is_measured(bot) || bot->client == NULL) {
            continue;
        }
        const ClientStats stats = client_stats(bot->client);
        sums.clients += 1;
        sums.down += (double)(bot->link.bytes_down - bot->base_down) -
                     (double)(bot->truth_bytes - bot->base_truth_bytes);
        sums.up += (double)(bot->link.bytes_up - bot->base_up);
        sums.snapshots += (double)bot->snapshots;
        // A new client counts from zero.
        sums.corrections += stats.predict.corrections >= bot->base_corrections
                                ? (double)(stats.predict.corrections - bot->base_corrections)
                                : (double)stats.predict.corrections;
        sums.visible += stats.visible;
        sums.rtt += stats.clock.rtt_ms;
        bots->report.corrections_without_cause += stats.predict.corrections_without_cause;
    }
    return sums;
}

void measure_server(Bots *bots)
{
    BotsReport *report = &bots->report;
    const BotsMetrics *begin = &bots->metrics_begin, *end = &bots->metrics_end;
    report->metrics_known = begin->known && end->known;
    report->server_resident_bytes = end->resident_bytes;
    report->server_starts = end->starts;
    // A restarted world counts from zero.
    if (!report->metrics_known || end->starts != begin->starts || end->ticks <= begin->ticks ||
        bots->place == NULL) {
        report->metrics_known = false;
        return;
    }
    report->server_ticks = end->ticks - begin->ticks;
    report->server_ticks_missed = end->ticks_missed - begin->ticks_missed;
    const double seconds =
        (report->server_ticks + report->server_ticks_missed) / bots->place->tick_rate;
    const double players = report->playing > 0 ? report->playing : 1;
    report->cpu_ms_per_client_second =
        (end->cpu_seconds - begin->cpu_seconds) * 1000 / seconds / players;
}

static void check_ledger(Bots *bots)
{
    BotsReport *report = &bots->report;
    for (uint32_t i = 0; i < bots->check.count; i++) {
        const LedgerItem *item = &bots->check.items[i];
        bool found = false;
        for (uint32_t b = 0; b < bots->config.count && !found; b++) {
            const Client *client = bots->bots[b].client;
            if (client == NULL || client_state(client) != CLIENT_PLAYING) {
                continue;
            }
            if (!item->is_structure) {
                const Terrain *terrain = sim_terrain_view(client_sim(client));
                found = terrain_voxel(terrain, item->voxel) == item->kind;
                continue;
            }
            found = !handle_is_none(sim_find(client_sim(client), item->entity));
        }
        const bool wanted = item->state != LEDGER_GONE;
        report->durable_checked += 1;
        if (found != wanted) {
            report->durable_lost += 1;
            fprintf(stderr, "lost: %s %llu at %d %d %d kind %u\n",
                    item->is_structure ? "structure" : "voxel", (unsigned long long)item->entity,
                    item->voxel.x, item->voxel.y, item->voxel.z, (unsigned)item->kind);
        }
    }
}

void measure_end(Bots *bots)
{
    BotsReport *report = &bots->report;
    const double seconds = (bots->now_ms - bots->measure_ms) / 1000;
    measure_now(bots);
    const Sums sums = sum_up(bots);
    const double clients = sums.clients > 0 ? sums.clients : 1;
    const double client_seconds = clients * (seconds > 0 ? seconds : 1);
    report->measured_seconds = seconds;
    report->client_seconds = client_seconds;
    report->snapshots_per_second = sums.snapshots / client_seconds;
    report->bytes_down_per_client_second = sums.down / client_seconds;
    report->bytes_up_per_client_second = sums.up / client_seconds;
    report->corrections_per_second = sums.corrections / client_seconds;
    report->visible = sums.visible / clients;
    report->rtt_ms = sums.rtt / clients;
    report->interarrival_p50_ms = histogram_at(&bots->interarrival, 0.5);
    report->interarrival_max_ms = bots->interarrival.max;
    report->position_error_p50_m = histogram_at(&bots->error, 0.5);
    report->position_error_max_m = bots->error.max;
    report->position_checks = bots->error.count;
    report->position_missing = bots->position_missing;
    report->loop_ticks = bots->loop_ticks;
    report->late = bots->late;
    report->starved = (double)bots->late > STARVED_SHARE * (double)bots->loop_ticks;
    report->own_cpu_share =
        seconds > 0 ? (double)(clock_cpu_us() - bots->cpu_us_begin) / 1e6 / seconds : 0;
    check_ledger(bots);
}

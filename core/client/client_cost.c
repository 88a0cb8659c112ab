// What this client's scripts cost, told to the server every CLIENT_COST_REPORT_MS: their creator
// has no other way to know how they run on other people's machines.
//
// The script system counts from the beginning; a report says what came since the one before. A
// script that is new in its list of the dearest is told from the next report on.
#include "core/base/utf8.h"
#include "core/client/client_inside.h"

#include <string.h>

typedef struct CostBefore {
    char path[SCRIPT_PATH_BYTES];
    uint64_t calls, steps, time_us, faults, throttles;
} CostBefore;

typedef struct ClientCostState {
    ScriptStats stats; // too large for a stack
    CostBefore before[SCRIPT_STATS_ROWS], next[SCRIPT_STATS_ROWS];
    uint32_t before_count;
    bool has_reported;
    uint64_t faults_told;
} ClientCostState;

Status client_cost_open(Client *client)
{
    client->script.costs = heap_alloc(client->heap, sizeof *client->script.costs);
    return client->script.costs != NULL ? STATUS_OK : STATUS_LIMIT;
}

void client_cost_close(Client *client)
{
    heap_free(client->heap, client->script.costs);
    client->script.costs = NULL;
}

static uint64_t microseconds(double ms)
{
    return ms > 0 && ms < 1e12 ? (uint64_t)(ms * 1000) : 0;
}

static CostBefore counts_of(const ScriptAccount *account)
{
    CostBefore counts = {.calls = account->call_count,
                         .steps = account->step_count,
                         .time_us = microseconds(account->time_ms),
                         .faults = account->fault_count,
                         .throttles = account->throttle_count};
    memcpy(counts.path, account->path, sizeof counts.path);
    return counts;
}

static const CostBefore *find_before(const ClientCostState *costs, const char *path)
{
    for (uint32_t i = 0; i < costs->before_count; i++) {
        if (strcmp(costs->before[i].path, path) == 0) {
            return &costs->before[i];
        }
    }
    return NULL;
}

// A script that was loaded again counts from 0 again.
static uint64_t more(uint64_t now, uint64_t before)
{
    const uint64_t difference = now >= before ? now - before : now;
    return difference < SIM_NET_ID_MAX ? difference : SIM_NET_ID_MAX;
}

static uint64_t wire_number(uint64_t number)
{
    return number < SIM_NET_ID_MAX ? number : SIM_NET_ID_MAX;
}

static WireScriptCost row_of(const ScriptAccount *account, const CostBefore *now,
                             const CostBefore *before)
{
    return (WireScriptCost){.path = {account->path, (uint32_t)strlen(account->path)},
                            .calls = more(now->calls, before->calls),
                            .steps = more(now->steps, before->steps),
                            .time_us = more(now->time_us, before->time_us),
                            .time_p99_us = microseconds(account->time_p99_ms),
                            .compile_us = microseconds(account->compile_ms),
                            .memory_bytes = wire_number(account->memory_bytes),
                            .faults = more(now->faults, before->faults),
                            .throttles = more(now->throttles, before->throttles)};
}

static uint32_t fill_rows(ClientCostState *costs, WireScriptCost rows[CLIENT_COST_REPORT_ROWS])
{
    static const CostBefore nothing = {0};
    const ScriptStats *stats = &costs->stats;
    uint32_t count = 0;
    for (uint32_t i = 0; i < stats->scripts_listed; i++) {
        const ScriptAccount *account = &stats->scripts[i];
        const CostBefore *before = find_before(costs, account->path);
        costs->next[i] = counts_of(account);
        if (before == NULL && costs->has_reported) {
            continue;
        }
        before = before != NULL ? before : &nothing;
        const bool has_run =
            costs->next[i].calls != before->calls || costs->next[i].faults != before->faults;
        if (has_run && count < CLIENT_COST_REPORT_ROWS) {
            rows[count++] = row_of(account, &costs->next[i], before);
        }
    }
    memcpy(costs->before, costs->next, stats->scripts_listed * sizeof costs->before[0]);
    costs->before_count = stats->scripts_listed;
    costs->has_reported = true;
    return count;
}

void client_cost_step(Client *client)
{
    ClientScript *script = &client->script;
    ClientCostState *costs = script->costs;
    const uint64_t gap_ticks = (uint64_t)CLIENT_COST_REPORT_MS * client->tick_rate / 1000;
    if (gap_ticks == 0 || script->tick % gap_ticks != 0 || client->state != CLIENT_PLAYING) {
        return;
    }
    WireScriptCost rows[CLIENT_COST_REPORT_ROWS];
    script_stats(script->system, &costs->stats);
    MessageScriptCosts report = {.version = client->runes.current.version,
                                 .costs = rows,
                                 .costs_count = fill_rows(costs, rows)};
    ScriptFault fault;
    if (costs->stats.fault_count != costs->faults_told &&
        script_fault_last(script->system, &fault)) {
        utf8_clean(fault.message);
        report.fault_path = (Text){fault.path, (uint32_t)strlen(fault.path)};
        report.fault_line = fault.line;
        report.fault_message = (Text){fault.message, (uint32_t)strlen(fault.message)};
    }
    costs->faults_told = costs->stats.fault_count;
    if (report.costs_count > 0 || report.fault_path.bytes > 0) {
        (void)client_send(client, MESSAGE_SCRIPT_COSTS, &report); // no room: the next one
    }
}

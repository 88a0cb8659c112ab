// See client_cost.h. Nothing of this is part of the world's state: what clients report decides
// nothing.
#include "core/world/script/script_host_inside.h"

#include "core/base/utf8.h"

#include <string.h>

struct ClientReports {
    ClientCosts costs;
    uint64_t *due_ticks; // by session: from then on it may report again
};

Status client_cost_create(ScriptHost *host)
{
    Heap *heap = host->config.heap;
    host->reports = heap_alloc(heap, sizeof *host->reports);
    if (host->reports == NULL) {
        return STATUS_LIMIT;
    }
    host->reports->due_ticks =
        heap_alloc(heap, heap_array_bytes(host->config.sessions->count, sizeof(uint64_t)));
    return host->reports->due_ticks != NULL ? STATUS_OK : STATUS_LIMIT;
}

void client_cost_destroy(ScriptHost *host)
{
    if (host->reports != NULL) {
        heap_free(host->config.heap, host->reports->due_ticks);
        heap_free(host->config.heap, host->reports);
        host->reports = NULL;
    }
}

const ClientCosts *client_costs(const ScriptHost *host)
{
    return &host->reports->costs;
}

// --- one report ---------------------------------------------------------------------------------

// NULL: there is no room for another script.
static ClientCost *row_of(ClientCosts *costs, const char *path)
{
    for (uint32_t i = 0; i < costs->row_count; i++) {
        if (strcmp(costs->rows[i].path, path) == 0) {
            return &costs->rows[i];
        }
    }
    if (costs->row_count == CLIENT_COST_ROWS) {
        return NULL;
    }
    ClientCost *row = &costs->rows[costs->row_count++];
    *row = (ClientCost){0};
    memcpy(row->path, path, strlen(path) + 1);
    return row;
}

static uint64_t at_most(uint64_t number, uint64_t most)
{
    return number < most ? number : most;
}

static void add_row(ClientCost *row, const WireScriptCost *said)
{
    row->reports += 1;
#define ADD_SUM(field, number)            row->field += (number)
#define ADD_MOST(field, number)           row->field = (number) > row->field ? (number) : row->field
#define ADD(field, name, most, way, help) ADD_##way(field, at_most(said->field, most));
    CLIENT_COST_NUMBERS(ADD)
#undef ADD
#undef ADD_SUM
#undef ADD_MOST
}

// The same one again only moves to the end; else the one that was reported longest ago goes.
static void add_fault(ClientCosts *costs, const ClientFault *fault)
{
    ClientFault kept = *fault;
    uint32_t at = 0;
    while (at < costs->fault_count && (strcmp(costs->faults[at].path, fault->path) != 0 ||
                                       costs->faults[at].line != fault->line)) {
        at += 1;
    }
    if (at < costs->fault_count) {
        kept.count += costs->faults[at].count;
    } else if (costs->fault_count == CLIENT_FAULT_ROWS) {
        at = 0;
    }
    if (at < costs->fault_count) {
        memmove(&costs->faults[at], &costs->faults[at + 1],
                (costs->fault_count - at - 1) * sizeof costs->faults[0]);
        costs->fault_count -= 1;
    }
    costs->faults[costs->fault_count++] = kept;
}

static void take_fault(ScriptHost *host, const MessageScriptCosts *command)
{
    HostRune rune;
    if (!script_host_find(host, command->fault_path, &rune)) {
        return;
    }
    ClientFault fault = {.line = (uint32_t)command->fault_line, .count = 1};
    memcpy(fault.path, rune.path, strlen(rune.path) + 1);
    memcpy(fault.message, command->fault_message.data, command->fault_message.bytes);
    utf8_clean(fault.message);
    add_fault(&host->reports->costs, &fault);
}

void client_cost_take(ScriptHost *host, const Session *session, const MessageScriptCosts *command)
{
    const WorldClock *clock = host->config.clock;
    ClientCosts *costs = &host->reports->costs;
    uint64_t *due = &host->reports->due_ticks[session_number(host->config.sessions, session)];
    if (clock->tick < *due || command->version != host->config.run->manifest_version) {
        costs->refused += 1;
        host->config.stats->commands_denied += 1;
        return;
    }
    *due = clock->tick + world_ticks(clock, CLIENT_COST_REPORT_MS / 2); // it may come early
    costs->reports += 1;
    for (uint32_t i = 0; i < command->costs_count; i++) {
        HostRune rune;
        const WireScriptCost *said = &command->costs[i];
        ClientCost *row =
            script_host_find(host, said->path, &rune) ? row_of(costs, rune.path) : NULL;
        if (row == NULL) {
            costs->refused += 1;
        } else {
            add_row(row, said);
        }
    }
    take_fault(host, command);
}

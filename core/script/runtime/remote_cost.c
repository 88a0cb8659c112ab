// See remote_cost.h.
#include "core/script/runtime/remote_cost.h"

#include "core/base/hash.h"

#include <string.h>

void remote_costs_init(RemoteCosts *costs)
{
    *costs = (RemoteCosts){.count = 1}; // the row of the others
}

uint32_t remote_cost_find(const RemoteCosts *costs, Text name)
{
    for (uint32_t i = 1; i < costs->count; i++) {
        const RemoteCost *row = &costs->rows[i];
        if (row->name_bytes == name.bytes && memcmp(row->name, name.data, name.bytes) == 0) {
            return i;
        }
    }
    return REMOTE_COST_OTHERS;
}

uint32_t remote_cost_add(RemoteCosts *costs, Text name)
{
    const uint32_t found = remote_cost_find(costs, name);
    if (found != REMOTE_COST_OTHERS || costs->count == REMOTE_COST_ROWS || name.bytes == 0 ||
        name.bytes > WORLD_NAME_BYTES_MAX) {
        return found;
    }
    RemoteCost *row = &costs->rows[costs->count];
    memcpy(row->name, name.data, name.bytes);
    row->name[name.bytes] = '\0';
    row->name_bytes = (uint32_t)name.bytes;
    return costs->count++;
}

// A client may invent names: only some of them are shown, each once.
static bool show_stranger(RemoteCosts *costs, Text name)
{
    Hash64 hash = HASH64_INIT;
    hash_bytes(&hash, name.data, name.bytes);
    for (uint32_t i = 0; i < costs->stranger_count; i++) {
        if (costs->strangers[i] == hash.state) {
            return false;
        }
    }
    if (costs->stranger_count == REMOTE_STRANGERS_MAX) {
        return false;
    }
    costs->strangers[costs->stranger_count++] = hash.state;
    return true;
}

bool remote_cost_refuse(RemoteCosts *costs, Text name, RemoteRefusal reason)
{
    const uint32_t at = remote_cost_find(costs, name);
    RemoteCost *row = &costs->rows[at];
    row->dropped_count += 1;
    row->refused[reason] += 1;
    if (at == REMOTE_COST_OTHERS) {
        return show_stranger(costs, name);
    }
    const uint32_t bit = 1u << reason;
    const bool is_new = (row->shown & bit) == 0;
    row->shown |= bit;
    return is_new;
}

void remote_costs_unshow(RemoteCosts *costs)
{
    costs->stranger_count = 0;
    for (uint32_t i = 0; i < costs->count; i++) {
        costs->rows[i].shown = 0;
    }
}

uint64_t remote_costs_messages(const RemoteCosts *costs)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < costs->count; i++) {
        sum += costs->rows[i].up_count + costs->rows[i].down_count + costs->rows[i].dropped_count;
    }
    return sum;
}

static uint64_t loudness(const RemoteCost *cost)
{
    return cost->up_bytes + cost->down_bytes;
}

static bool is_silent(const RemoteCost *cost)
{
    return cost->up_count + cost->down_count + cost->dropped_count == 0;
}

uint32_t remote_costs_list(const RemoteCosts *costs, RemoteCost *out, uint32_t max)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < costs->count; i++) {
        const RemoteCost *cost = &costs->rows[i];
        uint32_t at = count;
        while (at > 0 && loudness(&out[at - 1]) < loudness(cost)) {
            at -= 1;
        }
        if (is_silent(cost) || at == max) {
            continue;
        }
        count += count < max;
        memmove(&out[at + 1], &out[at], (count - 1 - at) * sizeof *out);
        out[at] = *cost;
    }
    return count;
}

// How loud each remote is: messages and bytes by name, for people. Nothing here decides anything.
//
// Only scripts of this side bring names in, by listening to them or by sending them. What clients
// send under any other name is counted in the first row together, as is what comes when the table
// is full: a client that invents names cannot fill it.
#pragma once

#include "core/base/limits.h"
#include "core/base/pool.h"
#include "core/base/text.h"

#include <stdint.h>

#define REMOTE_COST_OTHERS 0 // the row of all names that have none; its own name is ""

// Why a message from a client reached no handler.
typedef enum RemoteRefusal {
    REMOTE_REFUSED_TYPES,     // it does not fit its declaration
    REMOTE_REFUSED_RATE,      // more often than declared, or than one client may
    REMOTE_REFUSED_NOBODY,    // no script listens
    REMOTE_REFUSED_MALFORMED, // no list of values
    REMOTE_REFUSED_BUSY,      // too many wait
    REMOTE_REFUSED_COUNT
} RemoteRefusal;

typedef struct RemoteCost {
    uint32_t name_bytes;
    char name[WORLD_NAME_BYTES_MAX + 1];
    uint64_t up_count, up_bytes;            // that came from clients
    uint64_t down_count, down_bytes;        // that went to clients, once for each of them
    uint64_t dropped_count;                 // refused on the way up, or not sent on the way down
    uint64_t refused[REMOTE_REFUSED_COUNT]; // those of them that were refused, by reason
    uint32_t shown;                         // reasons that the creator has seen, as bits
    Handle script;                          // that listens to it, or declared it last
} RemoteCost;

typedef struct RemoteCosts {
    RemoteCost rows[REMOTE_COST_ROWS];
    uint32_t count;
    uint64_t strangers[REMOTE_STRANGERS_MAX]; // hashes of names without a row that were shown
    uint32_t stranger_count;
} RemoteCosts;

void remote_costs_init(RemoteCosts *costs);
// The row of a name that a script of this side uses; makes it if there is room.
uint32_t remote_cost_add(RemoteCosts *costs, Text name);
// The row of a name, whoever says it.
uint32_t remote_cost_find(const RemoteCosts *costs, Text name);
// Counts a refused message. True: the creator has not seen this reason for this remote yet, and
// shall now.
bool remote_cost_refuse(RemoteCosts *costs, Text name, RemoteRefusal reason);
// From now on everything may be shown again: a script has changed.
void remote_costs_unshow(RemoteCosts *costs);
// Messages of all rows, to see whether something has changed.
uint64_t remote_costs_messages(const RemoteCosts *costs);
// The loudest first, by bytes both ways; rows without a message are left out. Gives how many.
uint32_t remote_costs_list(const RemoteCosts *costs, RemoteCost *out, uint32_t max);

// The players of a world as scripts see them: id, name, team, character and leaderstats. In the
// order they came. The authority has one roster, every view another.
#pragma once

#include "core/script/bridge/attribute_table.h"

#define ROSTER_STATS_MAX 16

typedef struct RosterStat {
    ShortName name;
    double value;
} RosterStat;

typedef struct RosterPlayer {
    uint64_t player_id;
    uint64_t entity; // its character; 0: none
    uint64_t version;
    bool leaving; // removed after the tick in which scripts got the event
    uint64_t leaving_tick;
    ShortName name;
    ShortName team;
    uint32_t stat_count;
    RosterStat stats[ROSTER_STATS_MAX]; // in the order they were first set
} RosterPlayer;

typedef struct Roster {
    Pool players;
    IdMap map;
    uint32_t *order; // slots, in the order they came
    uint32_t player_max;
    uint64_t version;
    uint64_t limit_count;
} Roster;

size_t roster_bytes(uint32_t player_max);
MUST_USE Status roster_init(Roster *roster, Arena *arena, uint32_t player_max);
// STATUS_EXISTS, STATUS_LIMIT; STATUS_RANGE for id 0, STATUS_RANGE or STATUS_MALFORMED for names.
MUST_USE Status roster_add(Roster *roster, uint64_t player_id, Text name);
void roster_remove(Roster *roster, uint64_t player_id);
uint32_t roster_count(const Roster *roster);
RosterPlayer *roster_at(const Roster *roster, uint32_t index);       // below the count
RosterPlayer *roster_find(const Roster *roster, uint64_t player_id); // NULL when not here
void roster_set_entity(Roster *roster, RosterPlayer *player, uint64_t entity);
MUST_USE Status roster_set_team(Roster *roster, uint64_t player_id, Text team); // "" is none
MUST_USE Status roster_set_stat(Roster *roster, uint64_t player_id, Text name, double value);
bool roster_stat(const Roster *roster, uint64_t player_id, Text name, double *out);
// The one of that number, in the order in which they came; false past the last.
bool roster_stat_at(const Roster *roster, uint64_t player_id, uint32_t index, Text *name,
                    double *out);
// Writes the first `max`; returns how many there are.
uint32_t roster_list(const Roster *roster, ScriptPlayerInfo *out, uint32_t max);
// Makes `to` equal `from`, as far as it fits.
void roster_copy(const Roster *from, Roster *to);

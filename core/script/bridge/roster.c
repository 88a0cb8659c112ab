// Players as scripts see them; see roster.h.
#include "core/script/bridge/roster.h"

#include "core/base/check.h"

#include <string.h>

size_t roster_bytes(uint32_t player_max)
{
    return pool_bytes(player_max, sizeof(RosterPlayer)) + id_map_bytes(player_max) +
           arena_need(player_max * sizeof(uint32_t));
}

Status roster_init(Roster *roster, Arena *arena, uint32_t player_max)
{
    *roster = (Roster){.player_max = player_max};
    Status status = pool_init(&roster->players, arena, player_max, sizeof(RosterPlayer));
    if (status == STATUS_OK) {
        status = id_map_init(&roster->map, arena, player_max);
    }
    roster->order = arena_array(arena, player_max, sizeof(uint32_t));
    return roster->order == NULL ? STATUS_LIMIT : status;
}

static Status count_limit(Roster *roster)
{
    roster->limit_count += 1;
    return STATUS_LIMIT;
}

static void touch(Roster *roster, RosterPlayer *player)
{
    roster->version += 1;
    player->version = roster->version;
}

static void set_name(ShortName *name, Text text)
{
    *name = (ShortName){.bytes = (uint8_t)text.bytes};
    if (text.bytes > 0) {
        memcpy(name->data, text.data, text.bytes);
    }
}

Status roster_add(Roster *roster, uint64_t player_id, Text name)
{
    if (player_id == 0) {
        return STATUS_RANGE;
    }
    const Status checked = attribute_table_name_check(name);
    if (checked != STATUS_OK) {
        return checked;
    }
    if (roster_find(roster, player_id) != NULL) {
        return STATUS_EXISTS;
    }
    const Handle handle = pool_acquire(&roster->players);
    if (handle_is_none(handle)) {
        return count_limit(roster);
    }
    RosterPlayer *player = pool_at(&roster->players, handle.index);
    player->player_id = player_id;
    set_name(&player->name, name);
    roster->order[roster->players.count - 1] = handle.index;
    id_map_put(&roster->map, player_id, handle.index);
    touch(roster, player);
    return STATUS_OK;
}

void roster_remove(Roster *roster, uint64_t player_id)
{
    const uint32_t slot = id_map_find(&roster->map, player_id);
    if (slot == 0) {
        return;
    }
    uint32_t kept = 0;
    for (uint32_t i = 0; i < roster->players.count; i++) {
        if (roster->order[i] != slot) {
            roster->order[kept++] = roster->order[i];
        }
    }
    id_map_remove(&roster->map, player_id);
    (void)pool_release(&roster->players, pool_handle(&roster->players, slot));
    ASSERT(kept == roster->players.count);
    roster->version += 1;
}

uint32_t roster_count(const Roster *roster)
{
    return roster->players.count;
}

RosterPlayer *roster_at(const Roster *roster, uint32_t index)
{
    ASSERT(index < roster->players.count);
    return (RosterPlayer *)pool_at(&roster->players, roster->order[index]);
}

RosterPlayer *roster_find(const Roster *roster, uint64_t player_id)
{
    const uint32_t slot = id_map_find(&roster->map, player_id);
    return slot == 0 ? NULL : (RosterPlayer *)pool_at(&roster->players, slot);
}

void roster_set_entity(Roster *roster, RosterPlayer *player, uint64_t entity)
{
    if (player->entity != entity) {
        player->entity = entity;
        touch(roster, player);
    }
}

Status roster_set_team(Roster *roster, uint64_t player_id, Text team)
{
    RosterPlayer *player = roster_find(roster, player_id);
    if (player == NULL) {
        return STATUS_NOT_FOUND;
    }
    const Status checked = team.bytes == 0 ? STATUS_OK : attribute_table_name_check(team);
    if (checked != STATUS_OK) {
        return checked;
    }
    set_name(&player->team, team);
    touch(roster, player);
    return STATUS_OK;
}

static RosterStat *stat_find(RosterPlayer *player, Text name)
{
    for (uint32_t i = 0; i < player->stat_count; i++) {
        if (attribute_table_name_equal(&player->stats[i].name, name)) {
            return &player->stats[i];
        }
    }
    return NULL;
}

Status roster_set_stat(Roster *roster, uint64_t player_id, Text name, double value)
{
    RosterPlayer *player = roster_find(roster, player_id);
    if (player == NULL) {
        return STATUS_NOT_FOUND;
    }
    const Status checked = attribute_table_name_check(name);
    if (checked != STATUS_OK) {
        return checked;
    }
    if (!(value - value == 0)) {
        return STATUS_RANGE;
    }
    RosterStat *stat = stat_find(player, name);
    if (stat == NULL) {
        if (player->stat_count == ROSTER_STATS_MAX) {
            return count_limit(roster);
        }
        stat = &player->stats[player->stat_count++];
        set_name(&stat->name, name);
    }
    stat->value = value;
    touch(roster, player);
    return STATUS_OK;
}

bool roster_stat(const Roster *roster, uint64_t player_id, Text name, double *out)
{
    RosterPlayer *player = roster_find(roster, player_id);
    const RosterStat *stat = player == NULL ? NULL : stat_find(player, name);
    if (stat == NULL) {
        return false;
    }
    *out = stat->value;
    return true;
}

bool roster_stat_at(const Roster *roster, uint64_t player_id, uint32_t index, Text *name,
                    double *out)
{
    const RosterPlayer *player = roster_find(roster, player_id);
    if (player == NULL || index >= player->stat_count) {
        return false;
    }
    const RosterStat *stat = &player->stats[index];
    *name = (Text){stat->name.data, stat->name.bytes};
    *out = stat->value;
    return true;
}

uint32_t roster_list(const Roster *roster, ScriptPlayerInfo *out, uint32_t max)
{
    const uint32_t count = roster_count(roster);
    for (uint32_t i = 0; i < count && i < max; i++) {
        const RosterPlayer *player = roster_at(roster, i);
        out[i] = (ScriptPlayerInfo){.player_id = player->player_id,
                                    .entity = player->entity,
                                    .name = {player->name.data, player->name.bytes},
                                    .team = {player->team.data, player->team.bytes}};
    }
    return count;
}

void roster_copy(const Roster *from, Roster *to)
{
    for (uint32_t i = roster_count(to); i > 0; i--) {
        const uint64_t player_id = roster_at(to, i - 1)->player_id;
        if (roster_find(from, player_id) == NULL) {
            roster_remove(to, player_id);
        }
    }
    for (uint32_t i = 0; i < roster_count(from); i++) {
        const RosterPlayer *player = roster_at(from, i);
        RosterPlayer *copy = roster_find(to, player->player_id);
        if (copy == NULL) {
            const Text name = {player->name.data, player->name.bytes};
            if (roster_add(to, player->player_id, name) != STATUS_OK) {
                continue; // counted there
            }
            copy = roster_find(to, player->player_id);
        }
        copy->entity = player->entity;
        copy->team = player->team;
        copy->stat_count = player->stat_count;
        memcpy(copy->stats, player->stats, sizeof copy->stats);
        touch(to, copy);
    }
}

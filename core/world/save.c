// What is kept.
#include "core/world/world_inside.h"

Status save_create(World *world)
{
    (void)world;
    return STATUS_OK;
}

void save_destroy(World *world)
{
    (void)world;
}

Status save_row(World *world, const Entry *entry)
{
    (void)world;
    (void)entry;
    return STATUS_OK;
}

Status save_stored(World *world, const Entry *entry)
{
    (void)world;
    (void)entry;
    return STATUS_OK;
}

void save_start(World *world)
{
    (void)world;
}

void save_tick(World *world)
{
    (void)world;
}

void save_structure(World *world, uint64_t net_id, Session *asker, uint32_t command_seq)
{
    (void)world;
    (void)net_id;
    (void)asker;
    (void)command_seq;
}

void save_structure_gone(World *world, uint64_t net_id, Session *asker, uint32_t command_seq)
{
    (void)world;
    (void)net_id;
    (void)asker;
    (void)command_seq;
}

void save_chunk(World *world, ChunkCoord at, Session *asker, uint32_t command_seq)
{
    (void)world;
    (void)at;
    (void)asker;
    (void)command_seq;
}

void save_profiles(World *world, Session *session, uint32_t command_seq)
{
    (void)world;
    (void)session;
    (void)command_seq;
}

void save_player(World *world, Session *session, bool present)
{
    (void)world;
    (void)session;
    (void)present;
}

void save_resume(World *world, const RowResume *resume)
{
    (void)world;
    (void)resume;
}

bool save_find_player(World *world, uint64_t account, RowPlayer *out)
{
    (void)world;
    (void)account;
    (void)out;
    return false;
}

bool save_find_profiles(World *world, uint64_t account, RowProfiles *out)
{
    (void)world;
    (void)account;
    (void)out;
    return false;
}

bool save_find_resume(World *world, const uint8_t token_hash[32], RowResume *out)
{
    (void)world;
    (void)token_hash;
    (void)out;
    return false;
}

Status save_command(World *world, const Command *command)
{
    (void)world;
    (void)command;
    return STATUS_OK;
}

const Command *save_commands(const World *world, uint32_t *count)
{
    (void)world;
    *count = 0;
    return NULL;
}

void save_commands_clear(World *world)
{
    (void)world;
}

void save_hash(const World *world, Hash64 *hash)
{
    (void)world;
    (void)hash;
}

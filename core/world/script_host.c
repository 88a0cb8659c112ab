// Scripts of a world.
#include "core/world/world_inside.h"

Status script_host_create(World *world)
{
    (void)world;
    return STATUS_OK;
}

void script_host_destroy(World *world)
{
    (void)world;
}

Status script_host_add(World *world, const Entry *entry)
{
    (void)world;
    (void)entry;
    return STATUS_UNSUPPORTED;
}

Status script_host_reload(World *world, const Entry *entry)
{
    (void)world;
    (void)entry;
    return STATUS_UNSUPPORTED;
}

void script_host_start(World *world)
{
    (void)world;
}

void script_host_run(World *world)
{
    (void)world;
}

void script_host_events(World *world)
{
    (void)world;
}

void script_host_effects(World *world)
{
    (void)world;
}

void script_host_welcome(World *world, Session *session)
{
    (void)world;
    (void)session;
}

void script_host_hash(const World *world, Hash64 *hash)
{
    (void)world;
    (void)hash;
}

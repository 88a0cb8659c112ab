// Shots, and new lives.
#include "core/world/world_inside.h"

void act_fire(World *world, Session *session, const WireInputFrame *input)
{
    (void)world;
    (void)session;
    (void)input;
}

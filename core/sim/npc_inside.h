// Shared by npc.c, which decides what a mind does, and travel.c, which moves it there.
#pragma once

#include "core/base/heap.h"
#include "core/sim/npc.h"
#include "core/sim/sim_internal.h"

#define NPC_NEAR_MAX    1024  // entities around one NPC that the grid may name
#define NPC_GOAL_SAME_M 0.75f // a goal that moved less is the same goal

struct Npcs {
    Pool minds; // of Npc
    PathFinder *finder;
    uint32_t searcher; // the mind being searched for, or 0
    uint32_t served;   // the maker whose mind was searched for last
    uint32_t *queue;   // a ring of the minds that wait
    uint32_t queue_max, queue_first, queue_count;
    NpcStats stats;
    uint32_t near[NPC_NEAR_MAX]; // scratch
};

static inline Npc *npc_mind(const Npcs *npcs, uint32_t slot)
{
    return (Npc *)pool_at(&npcs->minds, slot);
}
static inline uint32_t npc_maker(const Sim *sim, const Npc *npc)
{
    return sim_at(sim, npc->entity_slot)->maker;
}
static inline uint32_t npc_interval(const Sim *sim, const Npc *npc)
{
    return npc->tuning.interval_ticks != 0 ? npc->tuning.interval_ticks : sim->config.tick_rate / 6;
}
static inline uint64_t npc_ticks(const Sim *sim, uint32_t ms)
{
    return (uint64_t)ms * sim->config.tick_rate / 1000;
}

// Sets out, or goes on, or takes a goal that has moved.
void travel_to(Sim *sim, uint32_t slot, Vec3 goal, bool runs);
void travel_stop(Sim *sim, uint32_t slot);
// Called with each perception: whether the path is still valid, or a new one must be requested.
void travel_plan(Sim *sim, uint32_t slot);
// Spends the path budget of this tick.
void travel_search(Sim *sim);
// The yaw that looks from one place to the other; `otherwise` when they are the same.
float travel_yaw(Vec3 from, Vec3 to, float otherwise);
// The input of this tick; `hold` stands still whatever the way.
void travel_steer(Sim *sim, uint32_t slot, bool hold);

void travel_visit(Npc *npc, StateIo *io);
void travel_visit_yaw(float *yaw, StateIo *io);
void travel_visit_queue(Sim *sim, StateIo *io);

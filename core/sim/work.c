// Which maker caused how much work, and which must wait; see work.h.
#include "core/sim/work.h"

#include "core/base/limits.h"
#include "core/sim/sim_internal.h"

#define ROUNDS_MAX 16 // of sharing; then the parts are nearly as large as they can be

typedef struct MakerWork {
    uint64_t steps;   // of the last step, or of the one under way
    uint32_t skipped; // things that stood still in it
    uint32_t counts[ENTITY_TYPE_COUNT];
} MakerWork;

struct Work {
    MakerWork makers[SIM_MAKERS_MAX + 1]; // number 0 is never charged
    uint32_t used;                        // makers above this number have nothing
    uint64_t total;
    uint64_t limit; // of one maker in the step under way
    bool tight;     // somebody was skipped, or all together were above the budget
};

// --- creation -----------------------------------------------------------------------------------

size_t work_bytes(void)
{
    return arena_need(sizeof(Work));
}

void work_clear(Work *work)
{
    if (work != NULL) {
        *work = (Work){.limit = SIM_MAKER_STEPS_PER_TICK};
    }
}

Status work_init(Arena *arena, Work **out)
{
    Work *work = arena_alloc(arena, sizeof *work);
    if (work == NULL) {
        return STATUS_LIMIT;
    }
    work_clear(work);
    *out = work;
    return STATUS_OK;
}

// --- sharing ------------------------------------------------------------------------------------

// The largest part that all can have: makers that want less leave the rest to those that want more.
// A maker that was cut wants more, however little it got.
static uint64_t fair_limit(const Work *work)
{
    uint64_t limit = 0;
    for (uint32_t round = 0; round < ROUNDS_MAX; round++) {
        uint64_t left = SIM_MAKER_STEPS_PER_TICK;
        uint32_t wanting = 0;
        for (uint32_t i = 1; i <= work->used; i++) {
            const MakerWork *maker = &work->makers[i];
            const bool content = maker->skipped == 0 && maker->steps <= limit;
            wanting += !content;
            left -= !content || maker->steps > left ? 0 : maker->steps;
        }
        if (wanting == 0) {
            return SIM_MAKER_STEPS_PER_TICK;
        }
        if (left / wanting <= limit) {
            break;
        }
        limit = left / wanting;
    }
    return limit;
}

void work_begin(Sim *sim)
{
    Work *work = sim->work;
    if (work == NULL) {
        return;
    }
    work->limit = work->tight ? fair_limit(work) : SIM_MAKER_STEPS_PER_TICK;
    work->total = 0;
    work->tight = false;
    const uint64_t standing = WORK_STANDING_STEPS + sim->type_counts[ENTITY_PLAYER] / 8;
    for (uint32_t i = 1; i <= work->used; i++) {
        MakerWork *maker = &work->makers[i];
        uint32_t things = 0;
        for (uint32_t type = 0; type < ENTITY_TYPE_COUNT; type++) {
            things += maker->counts[type];
        }
        maker->skipped = 0;
        maker->steps = things * standing;
        work->total += maker->steps;
    }
}

bool work_allows(const Sim *sim, uint32_t maker)
{
    const Work *work = sim->work;
    return maker == 0 || work == NULL ||
           (work->makers[maker].steps < work->limit &&
            work->total < 2 * (uint64_t)SIM_MAKER_STEPS_PER_TICK);
}

void work_skip(Sim *sim, uint32_t maker)
{
    ASSERT(maker != 0 && sim->work != NULL);
    sim->work->makers[maker].skipped += 1;
    sim->work->tight = true;
}

void work_charge(Sim *sim, uint32_t maker, uint64_t since)
{
    Work *work = sim->work;
    if (maker == 0 || work == NULL) {
        return;
    }
    const uint64_t steps = sim_work(sim) - since;
    work->makers[maker].steps += steps;
    work->total += steps;
    work->tight = work->tight || work->total > SIM_MAKER_STEPS_PER_TICK;
}

// --- makers -------------------------------------------------------------------------------------

void work_count(Sim *sim, const Entity *entity, bool came)
{
    Work *work = sim->work;
    if (entity->maker == 0 || work == NULL) {
        return;
    }
    uint32_t *count = &work->makers[entity->maker].counts[entity->type];
    uint32_t *all = &work->makers[0].counts[entity->type];
    ASSERT(came || (*count > 0 && *all >= *count));
    *count = came ? *count + 1 : *count - 1;
    *all = came ? *all + 1 : *all - 1;
    work->used = entity->maker > work->used ? entity->maker : work->used;
}

void sim_set_maker(Sim *sim, Handle handle, uint32_t maker)
{
    Entity *entity = pool_find(&sim->entities, handle);
    ASSERT(maker <= SIM_MAKERS_MAX);
    if (entity != NULL && sim->work != NULL) {
        work_count(sim, entity, false);
        entity->maker = (uint16_t)maker;
        work_count(sim, entity, true);
    }
}

SimMaker sim_maker(const Sim *sim, uint32_t number)
{
    SimMaker out = {0};
    if (sim->work == NULL || number > sim->work->used) {
        return out;
    }
    const MakerWork *maker = &sim->work->makers[number];
    out.steps = maker->steps;
    out.share = sim->work->limit;
    out.skipped = maker->skipped;
    for (uint32_t type = 0; type < ENTITY_TYPE_COUNT; type++) {
        out.counts[type] = maker->counts[type];
        out.things += maker->counts[type];
    }
    return out;
}

uint32_t sim_maker_highest(const Sim *sim)
{
    return sim->work == NULL ? 0 : sim->work->used;
}

uint64_t sim_work(const Sim *sim)
{
    return *sim->grid.work;
}

void sim_add_work(const Sim *sim, uint64_t steps)
{
    *sim->grid.work += steps;
}

// --- state --------------------------------------------------------------------------------------

bool work_is_tight(const Sim *sim)
{
    return sim->work != NULL && sim->work->tight;
}

// Counts of things follow from the entities.
void work_visit(Sim *sim, StateIo *io)
{
    Work *work = sim->work;
    uint32_t used = work->used;
    state_u32(io, &used, SIM_MAKERS_MAX);
    work->used = used > work->used ? used : work->used;
    for (uint32_t i = 1; i <= used && state_ok(io); i++) {
        state_u64(io, &work->makers[i].steps);
        state_u32(io, &work->makers[i].skipped, UINT32_MAX);
    }
    work->tight = true;
}

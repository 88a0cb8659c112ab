// The sky, and what scripts attach to entities to be seen, on the server.
#include "core/script/bridge/authority_inside.h"

#include "core/base/check.h"

#define SKY_STEPS 200 // sending it to everybody

const Sky *authority_sky(const Authority *authority, uint64_t *version)
{
    *version = authority->sky_version;
    return &authority->sky;
}

Sky authority_read_sky(ScriptWorld *world)
{
    return ((Authority *)world)->sky;
}

Status authority_set_sky(ScriptWorld *world, const Sky *sky)
{
    Authority *authority = (Authority *)world;
    Sky now = *sky;
    now.tick = sim_tick(authority->sim);
    if (!sky_is_valid(&now)) {
        return STATUS_RANGE;
    }
    sim_add_work(authority->sim, SKY_STEPS);
    authority->sky = now;
    authority->sky_version += 1;
    return STATUS_OK;
}

// Of an anchored part of the scene, or of any entity: an attribute, so nothing is thawed.
Status authority_set_visual(ScriptWorld *world, uint64_t owner, uint64_t net_id, VisualKind kind,
                            const Visual *visual)
{
    (void)owner;
    ScriptValue value = {.type = SCRIPT_NIL};
    char text[VISUAL_TEXT_BYTES];
    if (visual != NULL) {
        value = (ScriptValue){.type = SCRIPT_TEXT, .text = visual_write(visual, text)};
    }
    return world->methods->set_attribute(world, net_id, visual_attribute(kind), &value, 0);
}

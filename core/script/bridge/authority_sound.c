// What scripts of a server want of sounds. One that ends by itself is an effect of this tick; one
// that goes on is kept in the sound table.
#include "core/script/bridge/authority_inside.h"
#include "core/script/bridge/world_limit.h"

// A loop is compared with what every client hears.
#define LOOP_STEPS 400

static Status play(Authority *authority, ScriptSound *sound)
{
    ScriptWorld *world = &authority->world;
    ScriptEntityInfo info;
    if (sound->entity != 0) {
        if (!world->methods->entity(world, sound->entity, &info)) {
            return STATUS_NOT_FOUND;
        }
        sound->has_position = true;
        sound->position = info.position;
    }
    sound->id = sound_table_id(&authority->sounds);
    if (!sound->loop) {
        return authority_queue_sound(authority, sound);
    }
    sim_add_work(authority->sim, LOOP_STEPS);
    return sound_table_refusal(world, sound_table_add(&authority->sounds, sound, world->caller));
}

Status authority_sound(ScriptWorld *world, ScriptSound *sound)
{
    Authority *authority = (Authority *)world;
    Status status = effect_sound_check(sound);
    if (status == STATUS_OK && sound->act != SCRIPT_SOUND_FORGET) {
        status = authority_count_sound(authority, sound);
    }
    if (status != STATUS_OK) {
        return status;
    }
    if (sound->act == SCRIPT_SOUND_PLAY) {
        return play(authority, sound);
    }
    if (!sound->loop && (sound->act == SCRIPT_SOUND_CHANGE || sound->act == SCRIPT_SOUND_STOP)) {
        return authority_queue_sound(authority, sound);
    }
    sound->since_tick = sim_tick(authority->sim);
    sound_table_apply(&authority->sounds, sound, world->caller);
    return STATUS_OK;
}

// --- for the owner ------------------------------------------------------------------------------

void authority_sounds_step(Authority *authority)
{
    sound_table_follow(&authority->sounds, &authority->world);
}

const SoundTable *authority_sounds(const Authority *authority)
{
    return &authority->sounds;
}

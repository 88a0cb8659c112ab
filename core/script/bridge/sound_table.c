// Loops and music of a world; see sound_table.h.
#include "core/script/bridge/sound_table.h"

#include "core/base/check.h"
#include "core/base/fair_share.h"
#include "core/script/bridge/world_limit.h"

#include <string.h>

static uint32_t next_version(SoundTable *table)
{
    table->version += 1;
    table->version += table->version == 0; // 0 says that a slot is free
    return table->version;
}

static SoundLoop *find_loop(SoundTable *table, uint32_t id)
{
    for (uint32_t i = 0; i < SOUND_LOOPS_MAX && table->count > 0; i++) {
        if (table->loops[i].version != 0 && table->loops[i].sound.id == id) {
            return &table->loops[i];
        }
    }
    return NULL;
}

bool sound_table_has(const SoundTable *table, uint32_t id)
{
    return find_loop((SoundTable *)table, id) != NULL;
}

uint32_t sound_table_id(SoundTable *table)
{
    do {
        table->last_id += 1;
    } while (table->last_id == 0 || find_loop(table, table->last_id) != NULL);
    return table->last_id;
}

static void fill(SoundLoop *loop, const ScriptSound *sound)
{
    ASSERT(sound->name.bytes <= sizeof loop->name && sound->caption.bytes <= sizeof loop->caption);
    if (sound->name.bytes > 0) {
        memcpy(loop->name, sound->name.data, sound->name.bytes);
    }
    if (sound->caption.bytes > 0) {
        memcpy(loop->caption, sound->caption.data, sound->caption.bytes);
    }
    loop->sound = *sound;
    loop->sound.name.data = loop->name;
    loop->sound.caption.data = loop->caption;
}

static bool has_room(const SoundTable *table, uint32_t maker)
{
    uint32_t own = 0;
    for (uint32_t i = 0; i < SOUND_LOOPS_MAX; i++) {
        own += table->loops[i].version != 0 && table->loops[i].maker == maker;
    }
    return table->count < SOUND_LOOPS_MAX &&
           (maker == 0 || fair_share_allows(own, table->count, SOUND_LOOPS_MAX));
}

Status sound_table_add(SoundTable *table, const ScriptSound *sound, uint32_t maker)
{
    SoundLoop *loop = find_loop(table, sound->id);
    if (loop == NULL && !has_room(table, maker)) {
        return STATUS_LIMIT;
    }
    if (loop == NULL) {
        loop = table->loops;
        while (loop->version != 0) {
            loop += 1;
        }
        table->count += 1;
    }
    fill(loop, sound);
    loop->maker = maker;
    loop->version = next_version(table);
    return STATUS_OK;
}

Status sound_table_refusal(ScriptWorld *world, Status status)
{
    return world_limit(
        world, status,
        "there are at most %d sounds that loop, one script has half of them, and the "
        "last quarter is for scripts that have few; Stop what nobody needs",
        SOUND_LOOPS_MAX);
}

void sound_table_change(SoundTable *table, uint32_t id, float volume, float pitch)
{
    SoundLoop *loop = find_loop(table, id);
    if (loop != NULL && (loop->sound.volume != volume || loop->sound.pitch != pitch)) {
        loop->sound.volume = volume;
        loop->sound.pitch = pitch;
        loop->version = next_version(table);
    }
}

static void release(SoundTable *table, SoundLoop *loop)
{
    loop->version = 0;
    table->count -= 1;
    (void)next_version(table); // those who hear it are told
}

void sound_table_stop(SoundTable *table, uint32_t id)
{
    SoundLoop *loop = find_loop(table, id);
    if (loop != NULL) {
        release(table, loop);
    }
}

void sound_table_music(SoundTable *table, const ScriptSound *music, uint32_t maker)
{
    fill(&table->music, music);
    table->music.maker = maker;
    table->music.version = next_version(table);
}

static void end_music(SoundTable *table)
{
    ScriptSound none = table->music.sound;
    none.name.bytes = 0;
    none.caption.bytes = 0;
    sound_table_music(table, &none, table->music.maker);
}

void sound_table_forget(SoundTable *table, uint64_t owner)
{
    for (uint32_t i = 0; i < SOUND_LOOPS_MAX && table->count > 0; i++) {
        if (table->loops[i].version != 0 && table->loops[i].sound.owner == owner) {
            release(table, &table->loops[i]);
        }
    }
    if (table->music.sound.name.bytes > 0 && table->music.sound.owner == owner) {
        end_music(table);
    }
}

void sound_table_forget_player(SoundTable *table, uint64_t player_id)
{
    for (uint32_t i = 0; i < SOUND_LOOPS_MAX && table->count > 0; i++) {
        if (table->loops[i].version != 0 && table->loops[i].sound.player_id == player_id) {
            release(table, &table->loops[i]);
        }
    }
}

void sound_table_follow(SoundTable *table, ScriptWorld *world)
{
    for (uint32_t i = 0; i < SOUND_LOOPS_MAX && table->count > 0; i++) {
        SoundLoop *loop = &table->loops[i];
        ScriptEntityInfo info;
        if (loop->version == 0 || loop->sound.entity == 0) {
            continue;
        }
        if (world->methods->entity(world, loop->sound.entity, &info)) {
            loop->sound.position = info.position;
        } else {
            release(table, loop);
        }
    }
}

void sound_table_apply(SoundTable *table, const ScriptSound *sound, uint32_t maker)
{
    switch (sound->act) {
    case SCRIPT_SOUND_PLAY:
        break; // it may have no room: sound_table_add
    case SCRIPT_SOUND_CHANGE:
        sound_table_change(table, sound->id, sound->volume, sound->pitch);
        break;
    case SCRIPT_SOUND_STOP:
        sound_table_stop(table, sound->id);
        break;
    case SCRIPT_SOUND_MUSIC:
        sound_table_music(table, sound, maker);
        break;
    case SCRIPT_SOUND_FORGET:
        sound_table_forget(table, sound->owner);
        break;
    }
}

void sound_table_clear(SoundTable *table)
{
    for (uint32_t i = 0; i < SOUND_LOOPS_MAX && table->count > 0; i++) {
        if (table->loops[i].version != 0) {
            release(table, &table->loops[i]);
        }
    }
    if (table->music.sound.name.bytes > 0) {
        end_music(table);
    }
}

void sound_table_hash(const SoundTable *table, Hash64 *hash)
{
    if (table->last_id == 0 && table->version == 0) {
        return;
    }
    hash_u64(hash, table->last_id);
    hash_u64(hash, table->version);
    hash_u64(hash, table->music.version);
    for (uint32_t i = 0; i < SOUND_LOOPS_MAX; i++) {
        hash_u64(hash, table->loops[i].version);
    }
}

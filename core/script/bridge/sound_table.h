// The sounds of a world that go on: loops, and the music. They are state and not events: whoever
// joins later, comes nearer or lost a message is sent what runs. One script has at most half of
// the loops (fair_share.h).
//
// What always holds: a slot is free exactly if its version is 0; a version is never used twice, so
// who remembers the version of a slot knows whether anything there has changed.
#pragma once

#include "core/base/hash.h"
#include "core/base/limits.h"
#include "core/script/runtime/script_world.h"

typedef struct SoundLoop {
    ScriptSound sound; // its texts are those below
    uint32_t version;
    uint32_t maker; // the script, as ScriptWorld.caller
    char name[SOUND_NAME_BYTES_MAX], caption[SOUND_CAPTION_BYTES_MAX];
} SoundLoop;

typedef struct SoundTable {
    SoundLoop loops[SOUND_LOOPS_MAX];
    SoundLoop music; // version 0: there has been none; without a name: none now
    uint32_t count;
    uint32_t version; // of the newest change
    uint32_t last_id;
} SoundTable;

// The next id of a sound, a loop or not.
uint32_t sound_table_id(SoundTable *table);
// The same id again replaces what it had. STATUS_LIMIT: no room for this script. The sound has been
// checked (effect_sound_check).
MUST_USE Status sound_table_add(SoundTable *table, const ScriptSound *sound, uint32_t maker);
// Sets the error text for that.
Status sound_table_refusal(ScriptWorld *world, Status status);
void sound_table_change(SoundTable *table, uint32_t id, float volume, float pitch);
bool sound_table_has(const SoundTable *table, uint32_t id);
void sound_table_stop(SoundTable *table, uint32_t id);
void sound_table_music(SoundTable *table, const ScriptSound *music, uint32_t maker);
// The loops and the music of a script's instance end.
void sound_table_forget(SoundTable *table, uint64_t owner);
// The loops that only that player heard end: the player has left.
void sound_table_forget_player(SoundTable *table, uint64_t player_id);
// Loops that come from an entity go along with it, and end when the world has it no more.
void sound_table_follow(SoundTable *table, ScriptWorld *world);
// A change or stop of a loop, music, or the end of an owner, as a script or a server wants it.
void sound_table_apply(SoundTable *table, const ScriptSound *sound, uint32_t maker);
void sound_table_clear(SoundTable *table);                    // all of it; ids and versions go on
void sound_table_hash(const SoundTable *table, Hash64 *hash); // nothing before the first sound

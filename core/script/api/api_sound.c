// Sounds: Sound.Play, Sound.Music, and what one holds of a sound.
#include "core/script/api/api.h"
#include "core/script/runtime/value.h"
#include "core/script/vm/lua_guard.h"

#include <string.h>

#define SOUND_CLASS "SoundHandle"
#define SOUND_STEPS 200 // to play one or to change the music

typedef struct SoundObject {
    uint64_t player; // who hears it, as it was played
    uint32_t id;
    float volume, pitch;
    bool loop, is_over;
} SoundObject;

// It changes, so as a key it must not be taken for a plain value (lua_guard.h).
_Static_assert(sizeof(SoundObject) != GUARD_PLAIN_BYTES, "a sound is itself");

// --- options ------------------------------------------------------------------------------------

static float bounded_option(lua_State *thread, const char *name, float otherwise, float least,
                            float most)
{
    return api_is_given(thread, 2) && api_option(thread, 2, name)
               ? math_clamp(api_number(thread, -1), least, most)
               : otherwise;
}

// The text stays on the stack, and is valid as long.
static Text caption_option(lua_State *thread, const char *what)
{
    if (!api_is_given(thread, 2) || !api_option(thread, 2, "caption")) {
        return (Text){"", 0};
    }
    const Text caption = api_text(thread, -1);
    if (caption.bytes > SOUND_CAPTION_BYTES_MAX || !text_is_valid(caption.data, caption.bytes)) {
        luaL_error(thread,
                   "%s: caption must be valid UTF-8 without zero bytes, of at most %d bytes", what,
                   SOUND_CAPTION_BYTES_MAX);
    }
    return caption;
}

// A player's body, or the entity itself.
static uint64_t entity_option(lua_State *thread)
{
    ScriptPlayerInfo player;
    if (!object_is_player(thread, -1)) {
        return object_entity(thread, -1);
    }
    if (!api_find_player(script_of(thread), object_player(thread, -1), &player) ||
        player.entity == 0) {
        luaL_error(thread, "Sound.Play: the player of option entity has no body");
    }
    return player.entity;
}

// The running instance; what it starts and what goes on ends with it.
static uint64_t owner_of(lua_State *thread)
{
    ScriptSystem *system = script_of(thread);
    Instance *instance = instance_at(system, system->current_instance);
    if (instance == NULL) {
        return 0;
    }
    instance->has_sounds = true;
    return instance->number;
}

static ScriptSound sound_of(lua_State *thread, ScriptSoundAct act, const char *what)
{
    return (ScriptSound){.act = act,
                         .volume = bounded_option(thread, "volume", 1, 0, 1),
                         .pitch =
                             bounded_option(thread, "pitch", 1, SOUND_PITCH_MIN, SOUND_PITCH_MAX),
                         .caption = caption_option(thread, what)};
}

static void place_options(lua_State *thread, ScriptSound *sound)
{
    if (api_option(thread, 2, "loop")) {
        sound->loop = lua_toboolean(thread, -1);
    }
    if (api_option(thread, 2, "player")) {
        sound->player_id = object_player(thread, -1);
    }
    if (api_option(thread, 2, "position")) {
        sound->position = object_vector(thread, -1);
        sound->has_position = true;
    }
    if (api_option(thread, 2, "entity")) {
        sound->entity = entity_option(thread);
    }
}

// --- Sound --------------------------------------------------------------------------------------

int api_Sound_Play(lua_State *thread)
{
    lua_settop(thread, 2);
    vm_charge(thread, SOUND_STEPS);
    const Text name = api_valid_text(thread, 1, 1, SOUND_NAME_BYTES_MAX);
    ScriptSound sound = sound_of(thread, SCRIPT_SOUND_PLAY, "Sound.Play");
    sound.name = name;
    if (api_is_given(thread, 2)) {
        place_options(thread, &sound);
    }
    sound.owner = sound.loop ? owner_of(thread) : 0;
    const bool is_played = api_check_change(
        thread, api_methods(thread)->sound(api_world(thread), &sound), "Sound.Play");
    SoundObject *object = lua_newuserdatauv(thread, sizeof *object, 0);
    *object = (SoundObject){.player = sound.player_id,
                            .id = sound.id,
                            .volume = sound.volume,
                            .pitch = sound.pitch,
                            .loop = sound.loop,
                            .is_over = !is_played};
    luaL_setmetatable(thread, SOUND_CLASS);
    return 1;
}

int api_Sound_Music(lua_State *thread)
{
    lua_settop(thread, 2);
    vm_charge(thread, SOUND_STEPS);
    ScriptSound music = sound_of(thread, SCRIPT_SOUND_MUSIC, "Sound.Music");
    if (api_is_given(thread, 1)) {
        music.name = api_valid_text(thread, 1, 1, SOUND_NAME_BYTES_MAX);
    }
    music.owner = owner_of(thread);
    music.fade_seconds = bounded_option(thread, "fade", 1, 0, SOUND_FADE_SECONDS_MAX);
    api_check_change(thread, api_methods(thread)->sound(api_world(thread), &music), "Sound.Music");
    return 0;
}

// --- SoundHandle --------------------------------------------------------------------------------

static SoundObject *object_at(lua_State *thread)
{
    return luaL_checkudata(thread, 1, SOUND_CLASS);
}

static void change(lua_State *thread, const SoundObject *object, ScriptSoundAct act,
                   const char *what)
{
    ScriptSound sound = {.act = act,
                         .id = object->id,
                         .loop = object->loop,
                         .player_id = object->player,
                         .volume = object->volume,
                         .pitch = object->pitch};
    ScriptPlayerInfo player;
    // If the one who heard it has left, nobody is to be told.
    if (!object->is_over &&
        (object->player == 0 || api_find_player(script_of(thread), object->player, &player))) {
        api_check_change(thread, api_methods(thread)->sound(api_world(thread), &sound), what);
    }
}

int api_SoundHandle_Stop(lua_State *thread)
{
    SoundObject *object = object_at(thread);
    change(thread, object, SCRIPT_SOUND_STOP, "SoundHandle:Stop");
    object->is_over = true;
    return 0;
}

static int push_number(lua_State *thread, float value)
{
    lua_pushnumber(thread, (lua_Number)value);
    return 1;
}

int api_get_SoundHandle_Volume(lua_State *thread)
{
    return push_number(thread, object_at(thread)->volume);
}

int api_get_SoundHandle_Pitch(lua_State *thread)
{
    return push_number(thread, object_at(thread)->pitch);
}

// Sets a member of the handle to the value at 2, and tells those who hear it.
static int set_number(lua_State *thread, SoundObject *object, float *member, float least,
                      float most, const char *what)
{
    *member = math_clamp(api_number(thread, 2), least, most);
    change(thread, object, SCRIPT_SOUND_CHANGE, what);
    return 0;
}

int api_set_SoundHandle_Volume(lua_State *thread)
{
    SoundObject *object = object_at(thread);
    return set_number(thread, object, &object->volume, 0, 1, "SoundHandle.Volume");
}

int api_set_SoundHandle_Pitch(lua_State *thread)
{
    SoundObject *object = object_at(thread);
    return set_number(thread, object, &object->pitch, SOUND_PITCH_MIN, SOUND_PITCH_MAX,
                      "SoundHandle.Pitch");
}

// --- without a call -----------------------------------------------------------------------------

void api_hear_remote(ScriptSystem *system, const ScriptEvent *event)
{
    static const char play[] = "PlaySound";
    Text name;
    if (event->name.bytes != sizeof play - 1 ||
        memcmp(event->name.data, play, event->name.bytes) != 0 ||
        !value_first_text(event->payload, event->payload_bytes, &name)) {
        return;
    }
    ScriptSound sound = {.act = SCRIPT_SOUND_PLAY, .name = name, .volume = 1, .pitch = 1};
    (void)!system->methods->sound(system->config.world, &sound); // no name of a sound: not heard
}

// The sky, effects, and what a client's scripts want of the camera.
#include "core/base/limits.h"
#include "core/script/api/api.h"
#include "core/script/api/api_names.h"

#include <stdio.h>
#include <string.h>

#define VISUAL_STEPS 300 // to show something: on a client, and beside what the server charges

static uint64_t running_owner(lua_State *thread)
{
    const ScriptSystem *system = script_of(thread);
    const Instance *instance = instance_at(system, system->current_instance);
    return instance != NULL ? instance->number : 0;
}

// The place of a word among the words of a type; the row has checked that it is one.
static uint32_t word_number(const char *type, Text word)
{
    const char *at = api_words_of(type, strlen(type));
    uint32_t number = 0;
    for (size_t bytes = strcspn(at, " "); bytes > 0; bytes = strcspn(at, " ")) {
        if (bytes == word.bytes && memcmp(at, word.data, bytes) == 0) {
            return number;
        }
        number += 1;
        at += bytes + (at[bytes] == ' ');
    }
    return 0;
}

// --- options ------------------------------------------------------------------------------------

typedef struct Range {
    const char *name;
    float min, max, normal;
} Range;

// A number among the options at that index; raises if it is outside.
static float ranged_option(lua_State *thread, int index, const char *what, const Range *range)
{
    if (!lua_istable(thread, index) || !api_option(thread, index, range->name)) {
        return range->normal;
    }
    const float value = api_number(thread, -1);
    if (!(value >= range->min && value <= range->max)) {
        char text[96];
        snprintf(text, sizeof text, "%s must be %g to %g", range->name, (double)range->min,
                 (double)range->max);
        luaL_error(thread, "%s: %s", what, text);
    }
    lua_pop(thread, 1);
    return value;
}

// "#ff8800" on top of the stack as 1 + red, green, blue.
static uint32_t colour_at_top(lua_State *thread, const char *what, const char *name)
{
    uint32_t colour = 0;
    if (!visual_colour_read(api_text(thread, -1), &colour)) {
        luaL_error(thread, "%s: %s must be a text like \"#ff8800\"", what, name);
    }
    lua_pop(thread, 1);
    return colour + 1;
}

static uint32_t colour_option(lua_State *thread, int index, const char *what)
{
    if (lua_istable(thread, index) &&
        (api_option(thread, index, "colour") || api_option(thread, index, "color"))) {
        return colour_at_top(thread, what, "colour");
    }
    return 0;
}

static uint64_t player_option(lua_State *thread, int index)
{
    if (lua_istable(thread, index) && api_option(thread, index, "player")) {
        return object_player(thread, -1);
    }
    return 0;
}

// --- the sky ------------------------------------------------------------------------------------

static const char *const sky_colour_names[SKY_COLOURS] = {"top", "horizon", "sun"};

static uint32_t sky_colour_find(lua_State *thread)
{
    const char *name = lua_type(thread, -2) == LUA_TSTRING ? lua_tostring(thread, -2) : "";
    for (uint32_t i = 0; i < SKY_COLOURS; i++) {
        if (strcmp(name, sky_colour_names[i]) == 0) {
            return i;
        }
    }
    char quote[API_QUOTE_BYTES];
    luaL_error(thread, "World.SetSky: colours are top, horizon and sun, not \"%s\"",
               api_quote(text_from(name), quote));
    return 0;
}

// The table of colours is on top of the stack. A table has at most three that are good, so the walk
// ends soon.
static void read_sky_colours(lua_State *thread, Sky *sky)
{
    for (lua_pushnil(thread); lua_next(thread, -2) != 0;) {
        const uint32_t which = sky_colour_find(thread);
        if (lua_type(thread, -1) != LUA_TSTRING) {
            luaL_error(thread, "World.SetSky: colours.%s must be a text like \"#ff8800\"",
                       sky_colour_names[which]);
        }
        if (lua_rawlen(thread, -1) == 0) {
            sky->colours[which] = 0;
            lua_pop(thread, 1);
        } else {
            sky->colours[which] = colour_at_top(thread, "World.SetSky", sky_colour_names[which]);
        }
    }
}

static float sky_fog(lua_State *thread, float before)
{
    static const char what[] = "World.SetSky: fog must be 0, or 8 to 4096 metres";
    const float fog =
        ranged_option(thread, 1, "World.SetSky", &(Range){"fog", 0, SKY_FOG_MAX_M, before});
    if (fog != 0 && fog < SKY_FOG_MIN_M) {
        luaL_error(thread, "%s", what);
    }
    return fog;
}

static Sky sky_now(lua_State *thread)
{
    ScriptWorld *world = api_world(thread);
    const ScriptWorldMethods *methods = api_methods(thread);
    Sky sky = methods->sky(world);
    sky.hour = sky_hour(&sky, methods->tick(world), methods->tick_rate(world));
    return sky;
}

int api_World_SetSky(lua_State *thread)
{
    Sky sky = sky_default();
    lua_settop(thread, 1);
    if (api_is_given(thread, 1)) {
        const Sky now = sky_now(thread);
        sky = now;
        sky.hour = ranged_option(thread, 1, "World.SetSky", &(Range){"hour", 0, 24, now.hour});
        sky.hours_per_second = ranged_option(
            thread, 1, "World.SetSky",
            &(Range){"hoursPerSecond", 0, SKY_HOURS_PER_SECOND_MAX, now.hours_per_second});
        sky.fog_m = sky_fog(thread, now.fog_m);
        if (api_option(thread, 1, "weather")) {
            sky.weather = word_number("Weather", api_text(thread, -1));
        }
        if (api_option(thread, 1, "colours")) {
            read_sky_colours(thread, &sky);
        }
    }
    (void)api_check_change(thread, api_methods(thread)->set_sky(api_world(thread), &sky),
                           "World.SetSky");
    return 0;
}

int api_World_GetSky(lua_State *thread)
{
    static const char *const weathers[WEATHER_COUNT] = {"clear", "rain", "snow"};
    const Sky sky = sky_now(thread);
    lua_createtable(thread, 0, 4);
    lua_pushnumber(thread, (lua_Number)sky.hour);
    lua_setfield(thread, -2, "hour");
    lua_pushnumber(thread, (lua_Number)sky.hours_per_second);
    lua_setfield(thread, -2, "hoursPerSecond");
    lua_pushnumber(thread, (lua_Number)sky.fog_m);
    lua_setfield(thread, -2, "fog");
    lua_pushstring(thread, weathers[sky.weather]);
    lua_setfield(thread, -2, "weather");
    return 1;
}

// --- bursts and beams ---------------------------------------------------------------------------

// Counts one more on a client, which has no other limit for what it draws itself; the server's are
// among all that a script sends.
static void count_moment(lua_State *thread, const char *what)
{
    ScriptSystem *system = script_of(thread);
    const Instance *instance = instance_at(system, system->current_instance);
    Script *script = instance != NULL ? script_at(system, instance->script) : NULL;
    if (script == NULL || api_methods(thread)->side != SCRIPT_CLIENT) {
        return;
    }
    if (script->moment_tick != system->tick) {
        script->moment_tick = system->tick;
        script->moment_count = 0;
    }
    if (script->moment_count == SCRIPT_MOMENTS_PER_TICK) {
        luaL_error(thread,
                   "%s: a script of a client shows at most %d bursts, beams and shakes in a tick; "
                   "show fewer, or wait with task.wait()",
                   what, SCRIPT_MOMENTS_PER_TICK);
    }
    script->moment_count += 1;
}

static void show_moment(lua_State *thread, const Moment *moment, uint64_t player, const char *what)
{
    count_moment(thread, what);
    vm_charge(thread, VISUAL_STEPS);
    (void)api_check_change(thread, api_methods(thread)->moment(api_world(thread), moment, player),
                           what);
}

int api_Effect_Burst(lua_State *thread)
{
    lua_settop(thread, 3);
    const Moment moment = {
        .kind = MOMENT_BURST,
        .effect = word_number("EffectName", api_text(thread, 1)),
        .position = object_vector(thread, 2),
        .colour = colour_option(thread, 3, "Effect.Burst"),
        .size = ranged_option(thread, 3, "Effect.Burst", &(Range){"size", 0.1f, 10, 1})};
    show_moment(thread, &moment, player_option(thread, 3), "Effect.Burst");
    return 0;
}

int api_Effect_Beam(lua_State *thread)
{
    lua_settop(thread, 3);
    const Moment moment = {
        .kind = MOMENT_BEAM,
        .position = object_vector(thread, 1),
        .to = object_vector(thread, 2),
        .colour = colour_option(thread, 3, "Effect.Beam"),
        .size = ranged_option(thread, 3, "Effect.Beam", &(Range){"width", 0.01f, 2, 0.1f}),
        .seconds = ranged_option(thread, 3, "Effect.Beam",
                                 &(Range){"seconds", 0.05f, EFFECT_SECONDS_MAX, 0.3f})};
    show_moment(thread, &moment, player_option(thread, 3), "Effect.Beam");
    return 0;
}

// --- what stays with an entity ------------------------------------------------------------------

static void set_visual(lua_State *thread, VisualKind kind, const Visual *visual, const char *what)
{
    vm_charge(thread, VISUAL_STEPS);
    (void)api_check_change(thread,
                           api_methods(thread)->set_visual(api_world(thread), running_owner(thread),
                                                           object_entity(thread, 1), kind, visual),
                           what);
}

static float measure(lua_State *thread, int index, VisualKind kind, bool second, const char *name,
                     const char *what)
{
    const VisualRange range = visual_range(kind, second);
    return ranged_option(thread, index, what, &(Range){name, range.min, range.max, range.normal});
}

// The options at that index; nil: none any more.
static int visual_of_options(lua_State *thread, VisualKind kind, const char *first,
                             const char *second, const char *what)
{
    lua_settop(thread, 2);
    if (!api_is_given(thread, 2)) {
        set_visual(thread, kind, NULL, what);
        return 0;
    }
    const Visual visual = {.colour = colour_option(thread, 2, what),
                           .first = measure(thread, 2, kind, false, first, what),
                           .second = measure(thread, 2, kind, true, second, what)};
    set_visual(thread, kind, &visual, what);
    return 0;
}

int api_Entity_SetLight(lua_State *thread)
{
    return visual_of_options(thread, VISUAL_LIGHT, "brightness", "range", "Entity.SetLight");
}

int api_Entity_SetTrail(lua_State *thread)
{
    return visual_of_options(thread, VISUAL_TRAIL, "width", "seconds", "Entity.SetTrail");
}

int api_Entity_SetEmitter(lua_State *thread)
{
    static const char what[] = "Entity.SetEmitter";
    lua_settop(thread, 3);
    if (!api_is_given(thread, 2)) {
        set_visual(thread, VISUAL_EMITTER, NULL, what);
        return 0;
    }
    const Visual visual = {.effect = word_number("EffectName", api_text(thread, 2)),
                           .colour = colour_option(thread, 3, what),
                           .first = measure(thread, 3, VISUAL_EMITTER, false, "size", what),
                           .second = measure(thread, 3, VISUAL_EMITTER, true, "rate", what)};
    set_visual(thread, VISUAL_EMITTER, &visual, what);
    return 0;
}

// --- the camera ---------------------------------------------------------------------------------

static ScriptCamera camera_wanted(lua_State *thread, const char *what)
{
    if (api_methods(thread)->side != SCRIPT_CLIENT) {
        api_raise_side(thread, what, SCRIPT_CLIENT);
    }
    return api_methods(thread)->camera_wanted(api_world(thread));
}

static void set_camera(lua_State *thread, const ScriptCamera *camera, const char *what)
{
    vm_charge(thread, VISUAL_STEPS);
    (void)api_check_change(
        thread, api_methods(thread)->set_camera(api_world(thread), running_owner(thread), camera),
        what);
}

int api_camera_SetMode(lua_State *thread)
{
    const ScriptCamera now = camera_wanted(thread, "camera.SetMode");
    const bool is_given = api_is_given(thread, 1);
    const ScriptCamera camera = {
        .mode = is_given
                    ? (CameraMode)(CAMERA_FIRST + word_number("CameraMode", api_text(thread, 1)))
                    : CAMERA_OWN,
        .field_of_view = now.field_of_view};
    set_camera(thread, &camera, "camera.SetMode");
    return 0;
}

int api_camera_Move(lua_State *thread)
{
    lua_settop(thread, 3);
    ScriptCamera camera = camera_wanted(thread, "camera.Move");
    camera.mode = CAMERA_FIXED;
    camera.is_moved = true;
    camera.position = object_vector(thread, 1);
    camera.has_target = api_is_given(thread, 2);
    camera.target = camera.has_target ? object_vector(thread, 2) : VEC3_ZERO;
    camera.seconds = api_is_given(thread, 3) ? api_number(thread, 3) : 0;
    if (!(camera.seconds >= 0 && camera.seconds <= CAMERA_MOVE_SECONDS_MAX)) {
        return luaL_error(thread, "camera.Move: seconds must be 0 to %d", CAMERA_MOVE_SECONDS_MAX);
    }
    set_camera(thread, &camera, "camera.Move");
    return 0;
}

int api_camera_Shake(lua_State *thread)
{
    lua_settop(thread, 2);
    const float seconds = api_is_given(thread, 2) ? api_number(thread, 2) : 0.5f;
    if (!(seconds >= 0 && seconds <= EFFECT_SECONDS_MAX)) {
        return luaL_error(thread, "camera.Shake: seconds must be 0 to %d", EFFECT_SECONDS_MAX);
    }
    const Moment moment = {
        .kind = MOMENT_SHAKE, .size = math_clamp(api_number(thread, 1), 0, 1), .seconds = seconds};
    show_moment(thread, &moment, 0, "camera.Shake");
    return 0;
}

int api_get_camera_FieldOfView(lua_State *thread)
{
    lua_pushnumber(thread, (lua_Number)camera_wanted(thread, "camera").field_of_view);
    return 1;
}

int api_set_camera_FieldOfView(lua_State *thread)
{
    ScriptCamera camera = camera_wanted(thread, "camera");
    camera.field_of_view = api_number(thread, 2);
    if (!(camera.field_of_view >= CAMERA_FIELD_MIN && camera.field_of_view <= CAMERA_FIELD_MAX)) {
        return luaL_error(thread, "camera.FieldOfView must be %d to %d degrees", CAMERA_FIELD_MIN,
                          CAMERA_FIELD_MAX);
    }
    set_camera(thread, &camera, "camera.FieldOfView");
    return 0;
}

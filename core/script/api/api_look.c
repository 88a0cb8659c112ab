// How an entity looks: the properties and options that come from look.def.
#include "core/script/api/api.h"
#include "core/wire/visual.h"

#include <stdio.h>
#include <string.h>

#define COLOUR_BYTES 7   // "#rrggbb"
#define ASSET_STEPS  20  // to look at one name of an asset
#define ADVICE_STEPS 500 // an error that says which names there are
#define PAINT_STEPS  60  // to put one member on; the server adds what sending it costs

static Paint paint_of(lua_State *thread, const char *what)
{
    Paint paint = paint_default;
    if (!api_methods(thread)->paint(api_world(thread), object_entity(thread, 1), &paint)) {
        (void)api_check_change(thread, STATUS_NOT_FOUND, what);
    }
    return paint;
}

static void push_colour(lua_State *thread, uint32_t colour)
{
    char text[COLOUR_BYTES + 1];
    (void)snprintf(text, sizeof text, "#%06x", (unsigned)colour);
    lua_pushlstring(thread, text, COLOUR_BYTES);
}

static void push_asset(lua_State *thread, uint32_t number)
{
    const AssetNames assets = api_methods(thread)->assets(api_world(thread));
    if (number == 0 || number > assets.count) {
        lua_pushnil(thread);
        return;
    }
    lua_pushlstring(thread, assets.paths[number - 1].data, assets.paths[number - 1].bytes);
}

static int push_member(lua_State *thread, PaintMember member, const char *what)
{
    const Paint paint = paint_of(thread, what);
    const uint32_t value = paint_value(&paint, member);
    switch (paint_row(member)->kind) {
    case PAINT_KIND_COLOUR:
        push_colour(thread, value);
        break;
    case PAINT_KIND_SHARE:
        lua_pushnumber(thread, paint_share_value(value));
        break;
    case PAINT_KIND_WORD:
        lua_pushstring(thread, paint_material_name(value));
        break;
    case PAINT_KIND_BOOL:
        lua_pushboolean(thread, value != 0);
        break;
    case PAINT_KIND_ASSET:
        push_asset(thread, value);
        break;
    }
    return 1;
}

// --- values of a script -------------------------------------------------------------------------

static uint32_t colour_argument(lua_State *thread, int index, const char *what)
{
    uint32_t colour = 0;
    if (!visual_colour_read(api_text(thread, index), &colour)) {
        luaL_error(thread, "%s must be a colour such as \"#33aa55\"", what);
    }
    return colour;
}

static uint32_t share_argument(lua_State *thread, int index, const char *what)
{
    const double value = lua_tonumber(thread, index);
    if (!(value >= 0 && value <= 1)) {
        luaL_error(thread, "%s must be 0 to 1", what);
    }
    return paint_share(value);
}

// Its type in api.def has the same words.
static uint32_t word_argument(lua_State *thread, int index, const char *what)
{
    const Text word = api_text(thread, index);
    for (uint32_t i = 0; i < PAINT_MATERIAL_COUNT; i++) {
        if (text_is(word, paint_material_name(i))) {
            return i;
        }
    }
    luaL_error(thread, "%s: there is no such material", what);
    return 0;
}

static uint32_t asset_argument(lua_State *thread, int index, PaintMember member, const char *what)
{
    const AssetNames assets = api_methods(thread)->assets(api_world(thread));
    if (!api_is_given(thread, index)) {
        return 0;
    }
    const Text name = api_text(thread, index);
    vm_charge(thread, (uint64_t)assets.count * ASSET_STEPS);
    const uint32_t number = asset_name_find(&assets, member, name);
    if (number == 0 && name.bytes > 0) {
        vm_charge(thread, ADVICE_STEPS + (uint64_t)assets.count * ASSET_STEPS);
        char near[ASSET_NEAR_BYTES], quote[API_QUOTE_BYTES];
        asset_name_near(&assets, member, name, near);
        luaL_error(thread, "%s: no asset is called \"%s\"; %s", what, api_quote(name, quote), near);
    }
    return number;
}

// Its type was checked by the dispatcher.
static uint32_t member_argument(lua_State *thread, int index, PaintMember member, const char *what)
{
    switch (paint_row(member)->kind) {
    case PAINT_KIND_COLOUR:
        return colour_argument(thread, index, what);
    case PAINT_KIND_SHARE:
        return share_argument(thread, index, what);
    case PAINT_KIND_WORD:
        return word_argument(thread, index, what);
    case PAINT_KIND_BOOL:
        return lua_toboolean(thread, index) != 0;
    case PAINT_KIND_ASSET:
        return asset_argument(thread, index, member, what);
    }
    return 0;
}

static int set_member(lua_State *thread, PaintMember member, const char *what)
{
    Paint paint = paint_default;
    vm_charge(thread, PAINT_STEPS);
    paint_set(&paint, member, member_argument(thread, 2, member, what));
    (void)api_check_change(thread,
                           api_methods(thread)->set_paint(
                               api_world(thread), object_entity(thread, 1), &paint, 1u << member),
                           what);
    return 0;
}

#define LOOK(NAME, member, Property, kind, type, most, bits, fallback, scene, about) \
    int api_get_Entity_##Property(lua_State *thread)                                 \
    {                                                                                \
        return push_member(thread, PAINT_##NAME, "Entity." #Property);               \
    }                                                                                \
    int api_set_Entity_##Property(lua_State *thread)                                 \
    {                                                                                \
        return set_member(thread, PAINT_##NAME, "Entity." #Property);                \
    }
#include "core/wire/look.def"

int api_get_Entity_Colour(lua_State *thread)
{
    return push_member(thread, PAINT_COLOUR, "Entity.Colour");
}

int api_set_Entity_Colour(lua_State *thread)
{
    return set_member(thread, PAINT_COLOUR, "Entity.Colour");
}

// Pushes the option of a member; colour may also be written color. True if it is given.
static bool push_option(lua_State *thread, PaintMember member)
{
    if (api_option(thread, 2, paint_row(member)->name)) {
        return true;
    }
    if (member != PAINT_COLOUR) {
        return false;
    }
    lua_pop(thread, 1);
    return api_option(thread, 2, "color");
}

int api_Entity_SetLook(lua_State *thread)
{
    Paint paint = paint_default;
    uint32_t members = 0;
    lua_settop(thread, 2);
    for (PaintMember i = 0; i < PAINT_MEMBER_COUNT; i++) {
        if (push_option(thread, i)) {
            char what[64];
            vm_charge(thread, PAINT_STEPS);
            (void)snprintf(what, sizeof what, "Entity:SetLook: %s", paint_row(i)->name);
            paint_set(&paint, i, member_argument(thread, lua_gettop(thread), i, what));
            members |= 1u << i;
        }
        lua_settop(thread, 2);
    }
    (void)api_check_change(thread,
                           api_methods(thread)->set_paint(
                               api_world(thread), object_entity(thread, 1), &paint, members),
                           "Entity:SetLook");
    return 0;
}

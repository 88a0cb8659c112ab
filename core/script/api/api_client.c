// What only a client has: keys, a camera, a screen.
#include "core/base/limits.h"
#include "core/script/api/api.h"
#include "core/script/runtime/value.h"
#include "core/wire/visual.h"

#include <string.h>

// --- Input and camera ---------------------------------------------------------------------------

int api_Input_IsKeyPressed(lua_State *thread)
{
    lua_pushboolean(thread,
                    api_methods(thread)->key_is_down(api_world(thread), api_text(thread, 1)));
    return 1;
}

int api_input_isKeyDown(lua_State *thread)
{
    return api_Input_IsKeyPressed(thread);
}

static Vec3 camera_part(lua_State *thread, bool forward)
{
    Vec3 position = VEC3_ZERO;
    Vec3 direction = {0, 0, 1};
    if (api_methods(thread)->side != SCRIPT_CLIENT) {
        api_raise_side(thread, "camera", SCRIPT_CLIENT);
    }
    (void)api_methods(thread)->camera(api_world(thread), &position, &direction);
    return forward ? direction : position;
}

int api_get_camera_Position(lua_State *thread)
{
    object_push_vector(thread, camera_part(thread, false));
    return 1;
}

int api_get_camera_Forward(lua_State *thread)
{
    object_push_vector(thread, camera_part(thread, true));
    return 1;
}

// --- UI: a tree of plain tables -----------------------------------------------------------------
//
// A widget function marks its table with the kind of widget. UI.Show copies the tree with handlers
// replaced by numbers, so that what leaves the Vm is data; a number comes back when the widget is
// used.

#define WIDGET_STEPS 40 // to copy one, beside its fields: what a new table costs
#define CLEAR_STEPS  300
#define SHOW_STEPS   800 // a tree, beside its widgets

// `color` becomes `colour`, so that what is drawn knows one name.
static void spell_colour(lua_State *thread)
{
    if (lua_getfield(thread, 1, "color") != LUA_TNIL) {
        lua_setfield(thread, 1, "colour");
        lua_pushnil(thread);
        lua_setfield(thread, 1, "color");
    }
    lua_settop(thread, 1);
}

static bool is_widget_kind(Text text)
{
    static const char *const kinds[] = {"text", "image", "button", "bar",
                                        "list", "input", "panel",  "grid"};
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        if (text_equal(text, text_from(kinds[i]))) {
            return true;
        }
    }
    return false;
}

// The page would leave out what it does not know: so it is an error here, where its line is known.
static void check_field(lua_State *thread, const char *name, int key, int value)
{
    if (lua_type(thread, key) != LUA_TSTRING) {
        return;
    }
    const Text field = api_text(thread, key);
    const bool is_text = lua_type(thread, value) == LUA_TSTRING;
    const Text text = is_text ? api_text(thread, value) : (Text){0};
    uint32_t colour;
    if ((text_equal(field, text_from("colour")) || text_equal(field, text_from("color"))) &&
        !visual_colour_read(text, &colour)) {
        luaL_error(thread, "%s: colour must be a text like \"#ff8800\"", name);
    }
    if (text_equal(field, text_from("kind")) && !is_widget_kind(text)) {
        luaL_error(thread,
                   "%s: kind must be text, image, button, bar, list, input, panel or grid; "
                   "UI.Text and the others set it",
                   name);
    }
}

static int widget(lua_State *thread, const char *kind)
{
    lua_settop(thread, 1);
    spell_colour(thread);
    lua_pushstring(thread, kind);
    lua_setfield(thread, 1, "kind");
    return 1;
}

// The children follow the widgets that stand in the table itself.
static void take_children(lua_State *thread)
{
    lua_settop(thread, 1);
    if (lua_getfield(thread, 1, "children") == LUA_TTABLE) {
        const lua_Unsigned before = lua_rawlen(thread, 1), count = lua_rawlen(thread, 2);
        vm_charge(thread, count * 8);
        for (lua_Unsigned i = 1; i <= count && i <= UI_WIDGETS_MAX + 1; i++) {
            lua_rawgeti(thread, 2, (lua_Integer)i);
            lua_rawseti(thread, 1, (lua_Integer)(before + i));
        }
        lua_pushnil(thread);
        lua_setfield(thread, 1, "children");
    }
}

int api_UI_Text(lua_State *thread)
{
    return widget(thread, "text");
}

int api_UI_Image(lua_State *thread)
{
    return widget(thread, "image");
}

int api_UI_Button(lua_State *thread)
{
    return widget(thread, "button");
}

int api_UI_Bar(lua_State *thread)
{
    return widget(thread, "bar");
}

int api_UI_List(lua_State *thread)
{
    take_children(thread);
    return widget(thread, "list");
}

int api_UI_Input(lua_State *thread)
{
    return widget(thread, "input");
}

int api_UI_Panel(lua_State *thread)
{
    return widget(thread, "panel");
}

int api_UI_Grid(lua_State *thread)
{
    return widget(thread, "grid");
}

// Stores a handler and pushes its number. The handlers of the current tree are in a table of the
// system; UI.Show begins a new one.
static void push_handler(lua_State *thread, int function, int handlers)
{
    const lua_Integer number = (lua_Integer)lua_rawlen(thread, handlers) + 1;
    lua_pushvalue(thread, function);
    lua_rawseti(thread, handlers, number);
    lua_pushinteger(thread, number);
}

typedef struct TreeCopy {
    const char *name; // of the function
    int handlers;     // where on the stack their table is
    uint32_t widget_count, field_count;
} TreeCopy;

static void check_tree(lua_State *thread, const TreeCopy *copy, uint32_t depth)
{
    if (depth > UI_DEPTH_MAX) {
        luaL_error(thread, "UI.Show: more than %d widgets inside each other", UI_DEPTH_MAX);
    }
    if (copy->widget_count > UI_WIDGETS_MAX) {
        luaL_error(thread, "UI.Show: more than %d widgets in a tree", UI_WIDGETS_MAX);
    }
    if (copy->field_count > UI_FIELDS_MAX) {
        luaL_error(thread, "UI.Show: more than %d fields in a tree", UI_FIELDS_MAX);
    }
}

static void check_text(lua_State *thread, int index)
{
    size_t bytes = 0;
    (void)lua_tolstring(thread, index, &bytes);
    if (bytes > UI_TEXT_BYTES_MAX) {
        luaL_error(thread, "UI.Show: a text has %d bytes, and may have %d", (int)bytes,
                   UI_TEXT_BYTES_MAX);
    }
}

// Pushes a copy of the table at `index`; recursion is bounded by UI_DEPTH_MAX. A table that is in
// the tree twice is shown twice, and so counts twice.
static void push_copy(lua_State *thread, int index, TreeCopy *tree, uint32_t depth)
{
    tree->widget_count += 1;
    check_tree(thread, tree, depth);
    vm_charge(thread, WIDGET_STEPS);
    luaL_checkstack(thread, 8, "UI.Show");
    lua_newtable(thread);
    const int copy = lua_gettop(thread);
    lua_pushnil(thread);
    while (lua_next(thread, index) != 0) {
        vm_charge(thread, 4);
        tree->field_count += 1;
        check_tree(thread, tree, depth);
        const int value = lua_gettop(thread);
        check_field(thread, tree->name, value - 1, value);
        lua_pushvalue(thread, value - 1);
        if (lua_type(thread, value) == LUA_TFUNCTION) {
            push_handler(thread, value, tree->handlers);
        } else if (lua_type(thread, value) == LUA_TTABLE) {
            push_copy(thread, value, tree, depth + 1);
        } else {
            if (lua_type(thread, value) == LUA_TSTRING) {
                check_text(thread, value);
            }
            lua_pushvalue(thread, value);
        }
        lua_rawset(thread, copy);
        lua_settop(thread, value - 1);
    }
}

static void count_change(lua_State *thread, const Instance *instance, const char *name,
                         bool is_above)
{
    ScriptSystem *system = script_of(thread);
    Script *script = script_at(system, instance->script);
    if (script->ui_tick != system->tick) {
        script->ui_tick = system->tick;
        script->ui_changes = 0;
        script->ui_above_changes = 0;
    }
    uint32_t *count = is_above ? &script->ui_above_changes : &script->ui_changes;
    const uint32_t most = is_above ? UI_ABOVE_MAX : UI_CHANGES_PER_TICK;
    if (*count == most) {
        luaL_error(thread, "%s: a script changes what is shown at most %d times in a tick", name,
                   (int)most);
    }
    *count += 1;
}

// The handlers of an instance: by the entity that the tree stands above, 0 for the screen. Pushes
// that table; it ends with the instance (api_forget_handlers).
static void push_places(lua_State *thread, const Instance *instance)
{
    lua_rawgeti(thread, LUA_REGISTRYINDEX, script_of(thread)->ui_ref);
    if (lua_rawgeti(thread, -1, (lua_Integer)instance->number) != LUA_TTABLE) {
        lua_pop(thread, 1);
        lua_newtable(thread);
        lua_pushvalue(thread, -1);
        lua_rawseti(thread, -3, (lua_Integer)instance->number);
    }
    lua_remove(thread, -2);
}

// Room for one more entity; places above entities that are gone are given up first.
static void check_places(lua_State *thread, int places)
{
    uint32_t count = 1;
    lua_pushnil(thread);
    while (lua_next(thread, places) != 0) {
        vm_charge(thread, 4);
        lua_pop(thread, 1);
        const uint64_t entity = (uint64_t)lua_tointeger(thread, -1);
        ScriptEntityInfo found;
        if (entity != 0 && !api_methods(thread)->entity(api_world(thread), entity, &found)) {
            lua_pushvalue(thread, -1);
            lua_pushnil(thread);
            lua_rawset(thread, places);
        } else {
            count += entity != 0;
        }
    }
    if (count > UI_ABOVE_MAX) {
        luaL_error(thread, "UI.At: a script shows something above at most %d entities",
                   UI_ABOVE_MAX);
    }
}

// Shows the tree at that index of the stack, 0: nothing any more.
static void show(lua_State *thread, const char *name, uint64_t entity, int tree)
{
    ScriptSystem *system = script_of(thread);
    const Instance *instance = instance_at(system, system->current_instance);
    count_change(thread, instance, name, entity != 0);
    vm_charge(thread, SHOW_STEPS);
    push_places(thread, instance);
    const int places = lua_gettop(thread);
    ByteWriter writer = {0};
    if (tree != 0) {
        if (entity != 0 && lua_rawgeti(thread, places, (lua_Integer)entity) == LUA_TNIL) {
            check_places(thread, places);
        }
        lua_newtable(thread);
        const int handlers = lua_gettop(thread);
        push_copy(thread, tree, &(TreeCopy){.name = name, .handlers = handlers}, 0);
        uint8_t *bytes = arena_alloc_raw(&system->json_arena, VALUE_BYTES_MAX);
        if (bytes == NULL) {
            arena_reset(&system->json_arena);
            bytes = arena_alloc_raw(&system->json_arena, VALUE_BYTES_MAX);
            ASSERT(bytes != NULL);
        }
        writer = byte_writer(bytes, VALUE_BYTES_MAX);
        char error[VALUE_ERROR_BYTES];
        static const ValueUse use = {"argument", 1, "shown"};
        const int copy = lua_gettop(thread);
        if (value_write_for(thread, copy, copy, &use, &writer, error) != STATUS_OK) {
            luaL_error(thread, "%s: %s", name, error);
        }
        lua_pushvalue(thread, handlers);
    } else {
        lua_pushnil(thread);
    }
    lua_rawseti(thread, places, (lua_Integer)entity);
    api_check_change(thread,
                     api_methods(thread)->show(api_world(thread), instance->number, entity,
                                               writer.data, writer.at),
                     name);
}

int api_UI_Show(lua_State *thread)
{
    show(thread, "UI.Show", 0, 1);
    return 0;
}

int api_UI_At(lua_State *thread)
{
    show(thread, "UI.At", object_entity(thread, 1), lua_istable(thread, 2) ? 2 : 0);
    return 0;
}

int api_UI_Clear(lua_State *thread)
{
    ScriptSystem *system = script_of(thread);
    const Instance *instance = instance_at(system, system->current_instance);
    vm_charge(thread, CLEAR_STEPS);
    count_change(thread, instance, "UI.Clear", false);
    api_forget_shown(thread, instance);
    return 0;
}

void api_forget_shown(lua_State *thread, const Instance *instance)
{
    ScriptSystem *system = script_of(thread);
    const int top = lua_gettop(thread);
    const lua_Integer owner = (lua_Integer)instance->number;
    lua_rawgeti(thread, LUA_REGISTRYINDEX, system->ui_ref);
    if (lua_rawgeti(thread, -1, owner) == LUA_TTABLE) {
        for (lua_pushnil(thread); lua_next(thread, top + 2) != 0; lua_settop(thread, top + 3)) {
            ScriptWorld *world = system->config.world;
            // If the queue is full, whoever draws it sees it until something else is shown there.
            (void)!system->methods->show(world, instance->number,
                                         (uint64_t)lua_tointeger(thread, top + 3), NULL, 0);
        }
        lua_pushnil(thread);
        lua_rawseti(thread, top + 1, owner);
    }
    lua_settop(thread, top);
}

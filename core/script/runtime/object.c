// The objects of object.h. An object is a userdata whose metatable the API has made from api.def.
#include "core/script/runtime/object.h"
#include "core/script/vm/lua_guard.h"

#include <string.h>

typedef struct IdObject {
    uint64_t id;
} IdObject;

static const char *const class_names[OBJECT_CLASS_COUNT] = {
    [OBJECT_VECTOR] = "Vector3", [OBJECT_ENTITY] = "Entity", [OBJECT_PLAYER] = "Player"};

void object_remember_class(lua_State *thread, const char *class)
{
    ScriptSystem *system = script_of(thread);
    for (uint32_t i = 0; i < OBJECT_CLASS_COUNT; i++) {
        if (strcmp(class, class_names[i]) == 0) {
            lua_pushvalue(thread, -1);
            system->class_pointers[i] = lua_topointer(thread, -1);
            system->class_refs[i] = luaL_ref(thread, LUA_REGISTRYINDEX);
        }
    }
}

static void set_class(lua_State *thread, ObjectClass class)
{
    lua_rawgeti(thread, LUA_REGISTRYINDEX, script_of(thread)->class_refs[class]);
    lua_setmetatable(thread, -2);
}

// The object at the index if it is of the class, otherwise NULL.
static void *object_of(lua_State *thread, int index, ObjectClass class)
{
    if (lua_type(thread, index) != LUA_TUSERDATA || lua_getmetatable(thread, index) == 0) {
        return NULL;
    }
    const void *metatable = lua_topointer(thread, -1);
    lua_pop(thread, 1);
    const bool same = metatable == script_of(thread)->class_pointers[class];
    return same ? lua_touserdata(thread, index) : NULL;
}

static void *checked_object(lua_State *thread, int index, ObjectClass class)
{
    void *object = object_of(thread, index, class);
    if (object == NULL) {
        luaL_typeerror(thread, index, class_names[class]);
    }
    return object;
}

// --- Vector3 ------------------------------------------------------------------------------------

// So that a table finds it again by an equal one.
_Static_assert(sizeof(Vec3) == GUARD_PLAIN_BYTES, "a vector is a plain value for Lua");

void object_push_vector(lua_State *thread, Vec3 vector)
{
    vm_charge(thread, OBJECT_VECTOR_STEPS);
    Vec3 *object = lua_newuserdatauv(thread, sizeof *object, 0);
    *object = vector;
    set_class(thread, OBJECT_VECTOR);
}

bool object_is_vector(lua_State *thread, int index)
{
    return object_of(thread, index, OBJECT_VECTOR) != NULL;
}

Vec3 object_vector(lua_State *thread, int index)
{
    return *(const Vec3 *)checked_object(thread, index, OBJECT_VECTOR);
}

// --- entities and players -----------------------------------------------------------------------

// Pushes the one object of an id, creating it if it is new.
static void push_object(lua_State *thread, int registry, ObjectClass class, uint64_t id)
{
    if (id == 0) {
        lua_pushnil(thread);
        return;
    }
    lua_rawgeti(thread, LUA_REGISTRYINDEX, registry);
    if (lua_rawgeti(thread, -1, (lua_Integer)id) == LUA_TNIL) {
        lua_pop(thread, 1);
        IdObject *object = lua_newuserdatauv(thread, sizeof *object, 1);
        object->id = id;
        set_class(thread, class);
        lua_pushvalue(thread, -1);
        lua_rawseti(thread, -3, (lua_Integer)id);
    }
    lua_remove(thread, -2);
}

void object_push_entity(lua_State *thread, uint64_t net_id)
{
    push_object(thread, script_of(thread)->entities_ref, OBJECT_ENTITY, net_id);
}

void object_push_player(lua_State *thread, uint64_t player_id)
{
    push_object(thread, script_of(thread)->players_ref, OBJECT_PLAYER, player_id);
}

bool object_is_entity(lua_State *thread, int index)
{
    return object_of(thread, index, OBJECT_ENTITY) != NULL;
}

bool object_is_player(lua_State *thread, int index)
{
    return object_of(thread, index, OBJECT_PLAYER) != NULL;
}

uint64_t object_entity(lua_State *thread, int index)
{
    return ((const IdObject *)checked_object(thread, index, OBJECT_ENTITY))->id;
}

uint64_t object_player(lua_State *thread, int index)
{
    return ((const IdObject *)checked_object(thread, index, OBJECT_PLAYER))->id;
}

void object_forget_entity(ScriptSystem *system, uint64_t net_id)
{
    if (net_id == 0 || system->is_dead) {
        return;
    }
    lua_State *thread = system->lua;
    lua_rawgeti(thread, LUA_REGISTRYINDEX, system->entities_ref);
    lua_pushnil(thread);
    lua_rawseti(thread, -2, (lua_Integer)net_id);
    lua_pop(thread, 1);
}

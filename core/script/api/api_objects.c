// Objects that scripts hold: vectors, entities, players. An entity or player has one object per Vm,
// so comparing and using it as a key go by identity; fields that a script sets on it are kept with
// it.
#include "core/script/api/api.h"

#include <stdio.h>
#include <string.h>

typedef struct IdObject {
    uint64_t id;
} IdObject;

// --- classes ------------------------------------------------------------------------------------

static const char *const class_names[API_CLASS_COUNT] = {
    [API_VECTOR] = "Vector3", [API_ENTITY] = "Entity", [API_PLAYER] = "Player"};

void api_remember_class(lua_State *thread, const char *class)
{
    ScriptSystem *system = script_of(thread);
    for (uint32_t i = 0; i < API_CLASS_COUNT; i++) {
        if (strcmp(class, class_names[i]) == 0) {
            lua_pushvalue(thread, -1);
            system->class_pointers[i] = lua_topointer(thread, -1);
            system->class_refs[i] = luaL_ref(thread, LUA_REGISTRYINDEX);
        }
    }
}

static void set_class(lua_State *thread, ApiClass class)
{
    lua_rawgeti(thread, LUA_REGISTRYINDEX, script_of(thread)->class_refs[class]);
    lua_setmetatable(thread, -2);
}

// The object at the index if it is of the class, else NULL.
static void *object_of(lua_State *thread, int index, ApiClass class)
{
    if (lua_type(thread, index) != LUA_TUSERDATA || lua_getmetatable(thread, index) == 0) {
        return NULL;
    }
    const void *metatable = lua_topointer(thread, -1);
    lua_pop(thread, 1);
    const bool same = metatable == script_of(thread)->class_pointers[class];
    return same ? lua_touserdata(thread, index) : NULL;
}

static void *checked_object(lua_State *thread, int index, ApiClass class)
{
    void *object = object_of(thread, index, class);
    if (object == NULL) {
        luaL_typeerror(thread, index, class_names[class]);
    }
    return object;
}

// --- Vector3 ------------------------------------------------------------------------------------

void api_push_vector(lua_State *thread, Vec3 vector)
{
    vm_charge(thread, API_VECTOR_STEPS);
    Vec3 *object = lua_newuserdatauv(thread, sizeof *object, 0);
    *object = vector;
    set_class(thread, API_VECTOR);
}

bool api_is_vector(lua_State *thread, int index)
{
    return object_of(thread, index, API_VECTOR) != NULL;
}

Vec3 api_vector(lua_State *thread, int index)
{
    return *(const Vec3 *)checked_object(thread, index, API_VECTOR);
}

static float optional_number(lua_State *thread, int index)
{
    return api_has(thread, index) ? api_number(thread, index) : 0;
}

int api_Vector3_new(lua_State *thread)
{
    api_push_vector(thread, vec3(optional_number(thread, 1), optional_number(thread, 2),
                                 optional_number(thread, 3)));
    return 1;
}

static int push_float(lua_State *thread, float value)
{
    lua_pushnumber(thread, (double)value);
    return 1;
}

int api_get_Vector3_X(lua_State *thread)
{
    return push_float(thread, api_vector(thread, 1).x);
}

int api_get_Vector3_Y(lua_State *thread)
{
    return push_float(thread, api_vector(thread, 1).y);
}

int api_get_Vector3_Z(lua_State *thread)
{
    return push_float(thread, api_vector(thread, 1).z);
}

int api_get_Vector3_Magnitude(lua_State *thread)
{
    return push_float(thread, vec3_length(api_vector(thread, 1)));
}

int api_get_Vector3_Unit(lua_State *thread)
{
    api_push_vector(thread, vec3_normalise(api_vector(thread, 1)));
    return 1;
}

int api_Vector3_Dot(lua_State *thread)
{
    return push_float(thread, vec3_dot(api_vector(thread, 1), api_vector(thread, 2)));
}

int api_Vector3_Cross(lua_State *thread)
{
    api_push_vector(thread, vec3_cross(api_vector(thread, 1), api_vector(thread, 2)));
    return 1;
}

int api_Vector3_Lerp(lua_State *thread)
{
    api_push_vector(thread,
                    vec3_lerp(api_vector(thread, 1), api_vector(thread, 2), api_number(thread, 3)));
    return 1;
}

int api_Vector3_FuzzyEq(lua_State *thread)
{
    const float epsilon = api_has(thread, 3) ? api_number(thread, 3) : 1e-5f;
    const Vec3 d = vec3_sub(api_vector(thread, 1), api_vector(thread, 2));
    lua_pushboolean(thread, math_abs(d.x) <= epsilon && math_abs(d.y) <= epsilon &&
                                math_abs(d.z) <= epsilon);
    return 1;
}

// A number counts for all three parts.
static Vec3 operand(lua_State *thread, int index)
{
    if (lua_type(thread, index) == LUA_TNUMBER) {
        const float number = (float)lua_tonumber(thread, index);
        return vec3(number, number, number);
    }
    if (!api_is_vector(thread, index)) {
        luaL_error(thread, "attempt to calculate with a Vector3 and a %s",
                   luaL_typename(thread, index));
    }
    return api_vector(thread, index);
}

static int vector_add(lua_State *thread)
{
    api_push_vector(thread, vec3_add(api_vector(thread, 1), api_vector(thread, 2)));
    return 1;
}

static int vector_sub(lua_State *thread)
{
    api_push_vector(thread, vec3_sub(api_vector(thread, 1), api_vector(thread, 2)));
    return 1;
}

static int vector_mul(lua_State *thread)
{
    const Vec3 a = operand(thread, 1);
    const Vec3 b = operand(thread, 2);
    api_push_vector(thread, vec3(a.x * b.x, a.y * b.y, a.z * b.z));
    return 1;
}

static int vector_div(lua_State *thread)
{
    const Vec3 a = operand(thread, 1);
    const Vec3 b = operand(thread, 2);
    api_push_vector(thread, vec3(a.x / b.x, a.y / b.y, a.z / b.z));
    return 1;
}

static int vector_unm(lua_State *thread)
{
    api_push_vector(thread, vec3_neg(api_vector(thread, 1)));
    return 1;
}

static int vector_eq(lua_State *thread)
{
    lua_pushboolean(thread, api_is_vector(thread, 1) && api_is_vector(thread, 2) &&
                                vec3_equal(api_vector(thread, 1), api_vector(thread, 2)));
    return 1;
}

static int vector_text(lua_State *thread)
{
    const Vec3 v = api_vector(thread, 1);
    lua_settop(thread, 0);
    lua_pushnumber(thread, (double)v.x);
    lua_pushnumber(thread, (double)v.y);
    lua_pushnumber(thread, (double)v.z);
    // Lua's own way of printing numbers, so that the text is the same everywhere.
    lua_pushfstring(thread, "%s, %s, %s", luaL_tolstring(thread, 1, NULL),
                    luaL_tolstring(thread, 2, NULL), luaL_tolstring(thread, 3, NULL));
    return 1;
}

// --- entities and players -----------------------------------------------------------------------

// Pushes the one object of an id, making it if it is new.
static void push_object(lua_State *thread, int registry, ApiClass class, uint64_t id)
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

void api_push_entity(lua_State *thread, uint64_t net_id)
{
    push_object(thread, script_of(thread)->entities_ref, API_ENTITY, net_id);
}

void api_push_player(lua_State *thread, uint64_t player_id)
{
    push_object(thread, script_of(thread)->players_ref, API_PLAYER, player_id);
}

bool api_is_entity(lua_State *thread, int index)
{
    return object_of(thread, index, API_ENTITY) != NULL;
}

bool api_is_player(lua_State *thread, int index)
{
    return object_of(thread, index, API_PLAYER) != NULL;
}

uint64_t api_entity(lua_State *thread, int index)
{
    return ((const IdObject *)checked_object(thread, index, API_ENTITY))->id;
}

uint64_t api_player(lua_State *thread, int index)
{
    return ((const IdObject *)checked_object(thread, index, API_PLAYER))->id;
}

void api_forget_entity(ScriptSystem *system, uint64_t net_id)
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

static int object_text(lua_State *thread)
{
    const IdObject *object = lua_touserdata(thread, 1);
    lua_pushfstring(thread, "%s %I", api_is_entity(thread, 1) ? "Entity" : "Player",
                    (LUAI_UACINT)object->id);
    return 1;
}

// --- fields of the script's own -----------------------------------------------------------------

static bool is_own_object(lua_State *thread)
{
    return api_is_entity(thread, 1) || api_is_player(thread, 1);
}

// Lower-case x, y, z of vectors; own fields of entities and players; nil for the rest.
int api_index_unknown(lua_State *thread)
{
    if (api_is_vector(thread, 1)) {
        const char *key = lua_type(thread, 2) == LUA_TSTRING ? lua_tostring(thread, 2) : "";
        const Vec3 v = api_vector(thread, 1);
        if (key[0] >= 'x' && key[0] <= 'z' && key[1] == 0) {
            return push_float(thread, key[0] == 'x' ? v.x : key[0] == 'y' ? v.y : v.z);
        }
        return luaL_error(thread, "Vector3 has no member %s", luaL_tolstring(thread, 2, NULL));
    }
    if (is_own_object(thread) && lua_getiuservalue(thread, 1, 1) == LUA_TTABLE) {
        lua_pushvalue(thread, 2);
        lua_rawget(thread, -2);
        return 1;
    }
    lua_pushnil(thread);
    return 1;
}

int api_set_unknown(lua_State *thread)
{
    if (!is_own_object(thread)) {
        return luaL_error(thread, "this object cannot be changed");
    }
    if (lua_getiuservalue(thread, 1, 1) != LUA_TTABLE) {
        lua_pop(thread, 1);
        lua_newtable(thread);
        lua_pushvalue(thread, -1);
        lua_setiuservalue(thread, 1, 1);
    }
    lua_pushvalue(thread, 2);
    lua_pushvalue(thread, 3);
    lua_rawset(thread, -3);
    return 0;
}

// --- opening ------------------------------------------------------------------------------------

static void add_operators(lua_State *thread, const char *class, const luaL_Reg *operators)
{
    luaL_getmetatable(thread, class);
    luaL_setfuncs(thread, operators, 0);
    lua_pop(thread, 1);
}

void api_open_objects(lua_State *thread)
{
    static const luaL_Reg vector[] = {{"__add", vector_add},       {"__sub", vector_sub},
                                      {"__mul", vector_mul},       {"__div", vector_div},
                                      {"__unm", vector_unm},       {"__eq", vector_eq},
                                      {"__tostring", vector_text}, {NULL, NULL}};
    static const luaL_Reg object[] = {{"__tostring", object_text}, {NULL, NULL}};
    add_operators(thread, "Vector3", vector);
    add_operators(thread, "Entity", object);
    add_operators(thread, "Player", object);
}

void api_extend_group(lua_State *thread, const char *group)
{
    if (strcmp(group, "Vector3") != 0) {
        return;
    }
    static const struct {
        const char *name;
        Vec3 value;
    } constants[] = {{"zero", {0, 0, 0}},
                     {"one", {1, 1, 1}},
                     {"xAxis", {1, 0, 0}},
                     {"yAxis", {0, 1, 0}},
                     {"zAxis", {0, 0, 1}}};
    for (uint32_t i = 0; i < sizeof constants / sizeof constants[0]; i++) {
        api_push_vector(thread, constants[i].value);
        lua_setfield(thread, -2, constants[i].name);
    }
}

// What scripts can do with the objects of object.h: members and operators of Vector3, the text of
// objects, and the fields that a script sets on an entity or a player.
#include "core/script/api/api_names.h"
#include "core/script/vm/number.h"

#include <stdio.h>
#include <string.h>

#define VECTOR_TEXT_STEPS 400 // one component, written up to four times

// --- Vector3 ------------------------------------------------------------------------------------

static float optional_number(lua_State *thread, int index)
{
    return api_is_given(thread, index) ? api_number(thread, index) : 0;
}

int api_Vector3_new(lua_State *thread)
{
    object_push_vector(thread, vec3(optional_number(thread, 1), optional_number(thread, 2),
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
    return push_float(thread, object_vector(thread, 1).x);
}

int api_get_Vector3_Y(lua_State *thread)
{
    return push_float(thread, object_vector(thread, 1).y);
}

int api_get_Vector3_Z(lua_State *thread)
{
    return push_float(thread, object_vector(thread, 1).z);
}

int api_get_Vector3_Magnitude(lua_State *thread)
{
    return push_float(thread, vec3_length(object_vector(thread, 1)));
}

int api_get_Vector3_Unit(lua_State *thread)
{
    object_push_vector(thread, vec3_normalise(object_vector(thread, 1)));
    return 1;
}

int api_Vector3_Dot(lua_State *thread)
{
    return push_float(thread, vec3_dot(object_vector(thread, 1), object_vector(thread, 2)));
}

int api_Vector3_Cross(lua_State *thread)
{
    object_push_vector(thread, vec3_cross(object_vector(thread, 1), object_vector(thread, 2)));
    return 1;
}

int api_Vector3_Lerp(lua_State *thread)
{
    object_push_vector(thread, vec3_lerp(object_vector(thread, 1), object_vector(thread, 2),
                                         api_number(thread, 3)));
    return 1;
}

int api_Vector3_FuzzyEq(lua_State *thread)
{
    const float epsilon = api_is_given(thread, 3) ? api_number(thread, 3) : 1e-5f;
    const Vec3 d = vec3_sub(object_vector(thread, 1), object_vector(thread, 2));
    lua_pushboolean(thread, math_abs(d.x) <= epsilon && math_abs(d.y) <= epsilon &&
                                math_abs(d.z) <= epsilon);
    return 1;
}

// A number is used for all three components.
static Vec3 operand(lua_State *thread, int index)
{
    if (lua_type(thread, index) == LUA_TNUMBER) {
        const float number = (float)lua_tonumber(thread, index);
        return vec3(number, number, number);
    }
    if (!object_is_vector(thread, index)) {
        luaL_error(thread, "attempt to calculate with a Vector3 and a %s",
                   luaL_typename(thread, index));
    }
    return object_vector(thread, index);
}

// Both sides of a sum; a number is none.
static void check_vectors(lua_State *thread, const char *operator)
{
    for (int i = 1; i <= 2; i++) {
        if (!object_is_vector(thread, i)) {
            luaL_error(thread,
                       "Vector3 %s %s: the other side must be a Vector3 too; write "
                       "Vector3.new(0, n, 0) to move along y",
                       operator, luaL_typename(thread, i));
        }
    }
}

static int vector_add(lua_State *thread)
{
    check_vectors(thread, "+");
    object_push_vector(thread, vec3_add(object_vector(thread, 1), object_vector(thread, 2)));
    return 1;
}

static int vector_sub(lua_State *thread)
{
    check_vectors(thread, "-");
    object_push_vector(thread, vec3_sub(object_vector(thread, 1), object_vector(thread, 2)));
    return 1;
}

static int vector_mul(lua_State *thread)
{
    const Vec3 a = operand(thread, 1);
    const Vec3 b = operand(thread, 2);
    object_push_vector(thread, vec3(a.x * b.x, a.y * b.y, a.z * b.z));
    return 1;
}

static int vector_div(lua_State *thread)
{
    const Vec3 a = operand(thread, 1);
    const Vec3 b = operand(thread, 2);
    object_push_vector(thread, vec3(a.x / b.x, a.y / b.y, a.z / b.z));
    return 1;
}

static int vector_unm(lua_State *thread)
{
    object_push_vector(thread, vec3_neg(object_vector(thread, 1)));
    return 1;
}

static int vector_eq(lua_State *thread)
{
    lua_pushboolean(thread, object_is_vector(thread, 1) && object_is_vector(thread, 2) &&
                                vec3_equal(object_vector(thread, 1), object_vector(thread, 2)));
    return 1;
}

// The shortest text that gives the same float again: 0.8, not 0.80000001192093.
static void float_text(float value, char out[NUMBER_TEXT_BYTES])
{
    static const char *const precisions[] = {"%.6g", "%.7g", "%.8g", "%.9g"};
    for (uint32_t i = 0; i < sizeof precisions / sizeof *precisions; i++) {
        char *end;
        out[number_format((double)value, precisions[i], out)] = '\0';
        if ((float)number_parse(out, &end) == value) {
            return;
        }
    }
}

static int vector_text(lua_State *thread)
{
    const Vec3 v = object_vector(thread, 1);
    vm_charge(thread, 3 * VECTOR_TEXT_STEPS);
    char x[NUMBER_TEXT_BYTES], y[NUMBER_TEXT_BYTES], z[NUMBER_TEXT_BYTES];
    float_text(v.x, x);
    float_text(v.y, y);
    float_text(v.z, z);
    lua_pushfstring(thread, "%s, %s, %s", x, y, z);
    return 1;
}

// --- entities and players -----------------------------------------------------------------------

static int object_text(lua_State *thread)
{
    const bool is_entity = object_is_entity(thread, 1);
    const uint64_t id = is_entity ? object_entity(thread, 1) : object_player(thread, 1);
    lua_pushfstring(thread, "%s %I", is_entity ? "Entity" : "Player", (LUAI_UACINT)id);
    return 1;
}

// --- fields of the script's own -----------------------------------------------------------------

// Raises for a member that the object's class does not have.
static int raise_member(lua_State *thread)
{
    char class[32] = "this object";
    if (luaL_getmetafield(thread, 1, "__name") == LUA_TSTRING) {
        (void)snprintf(class, sizeof class, "%s", lua_tostring(thread, -1));
        lua_pop(thread, 1);
    }
    if (lua_type(thread, 2) != LUA_TSTRING) {
        return luaL_error(thread, "%s has no member of type %s", class, luaL_typename(thread, 2));
    }
    bool is_telling;
    const Text name = api_text(thread, 2);
    char quote[API_QUOTE_BYTES];
    (void)api_quote(name, quote);
    const char *instead = api_foreign_member(name.data, &is_telling);
    const char *nearest = api_class_nearest(class, name);
    if (instead != NULL) {
        return luaL_error(thread, "%s has no member %s: %s", class, quote, instead);
    }
    if (nearest != NULL) {
        return luaL_error(thread, "%s has no member %s; did you mean %s?", class, quote, nearest);
    }
    return luaL_error(thread, "%s has no member %s%s", class, quote,
                      object_is_player(thread, 1)
                          ? "; keep values of your own in a table by player, as in "
                            "coins[player.UserId] = 5"
                          : "");
}

// Lower-case x, y, z of vectors; own fields of entities; nil for what a group does not have.
int api_index_unknown(lua_State *thread)
{
    if (object_is_vector(thread, 1)) {
        const char *key = lua_type(thread, 2) == LUA_TSTRING ? lua_tostring(thread, 2) : "";
        const Vec3 v = object_vector(thread, 1);
        if (key[0] >= 'x' && key[0] <= 'z' && key[1] == 0) {
            return push_float(thread, key[0] == 'x' ? v.x : key[0] == 'y' ? v.y : v.z);
        }
    }
    if (object_is_entity(thread, 1)) {
        if (lua_getiuservalue(thread, 1, 1) == LUA_TTABLE) {
            lua_pushvalue(thread, 2);
            lua_rawget(thread, -2);
            return 1;
        }
    } else if (lua_type(thread, 1) == LUA_TUSERDATA) {
        return raise_member(thread);
    }
    lua_pushnil(thread);
    return 1;
}

int api_set_unknown(lua_State *thread)
{
    if (!object_is_entity(thread, 1)) {
        return raise_member(thread);
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
        lua_pushstring(thread, constants[i].name);
        object_push_vector(thread, constants[i].value);
        lua_rawset(thread, -3); // setting a member of a group is refused
    }
}

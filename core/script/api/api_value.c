// Conversions that several api_*.c share: attribute values, and rotations as the degrees that
// creators write.
#include "core/script/api/api.h"

#include "core/base/nearest.h"

#include <stdio.h>
#include <string.h>

#define DEGREES (180.0f / MATH_PI)

bool api_value(lua_State *thread, int index, ScriptValue *out)
{
    *out = (ScriptValue){0};
    switch (lua_type(thread, index)) {
    case LUA_TNONE:
    case LUA_TNIL:
        return true;
    case LUA_TBOOLEAN:
        out->type = SCRIPT_BOOL;
        out->boolean = lua_toboolean(thread, index) != 0;
        return true;
    case LUA_TNUMBER:
        out->type = SCRIPT_NUMBER;
        out->number = lua_tonumber(thread, index);
        return out->number - out->number == 0;
    case LUA_TSTRING:
        out->type = SCRIPT_TEXT;
        out->text = api_valid_text(thread, index, 0, ATTRIBUTE_TEXT_BYTES_MAX);
        return true;
    default:
        break;
    }
    if (object_is_vector(thread, index)) {
        out->type = SCRIPT_VECTOR;
        out->vector = object_vector(thread, index);
        return vec3_is_finite(out->vector);
    }
    if (object_is_entity(thread, index)) {
        out->type = SCRIPT_ENTITY;
        out->entity = object_entity(thread, index);
        return true;
    }
    return false;
}

void api_push_value(lua_State *thread, const ScriptValue *value)
{
    switch (value->type) {
    case SCRIPT_BOOL:
        lua_pushboolean(thread, value->boolean);
        break;
    case SCRIPT_NUMBER: {
        // A number that was an integer comes back as one.
        const double number = value->number;
        if (number >= -9007199254740992.0 && number <= 9007199254740992.0 &&
            (double)(int64_t)number == number) {
            lua_pushinteger(thread, (int64_t)number);
        } else {
            lua_pushnumber(thread, number);
        }
        break;
    }
    case SCRIPT_TEXT:
        lua_pushlstring(thread, value->text.data, value->text.bytes);
        break;
    case SCRIPT_VECTOR:
        object_push_vector(thread, value->vector);
        break;
    case SCRIPT_ENTITY:
        object_push_entity(thread, value->entity);
        break;
    default:
        lua_pushnil(thread);
        break;
    }
}

// y is applied last, because people expect to turn a thing about y after tilting it.
Quat api_rotation(Vec3 degrees)
{
    const Quat x = quat_from_axis_angle(vec3(1, 0, 0), math_wrap_angle(degrees.x / DEGREES));
    const Quat y = quat_from_axis_angle(vec3(0, 1, 0), math_wrap_angle(degrees.y / DEGREES));
    const Quat z = quat_from_axis_angle(vec3(0, 0, 1), math_wrap_angle(degrees.z / DEGREES));
    return quat_normalise(quat_multiply(y, quat_multiply(x, z)));
}

Vec3 api_degrees(Quat q)
{
    // The rotation's third column is where +z goes; it gives the turn about y and the tilt about x.
    const Vec3 forward = quat_rotate(q, vec3(0, 0, 1));
    const Vec3 right = quat_rotate(q, vec3(1, 0, 0));
    const Vec3 up = quat_rotate(q, vec3(0, 1, 0));
    const float flat = math_sqrt(forward.x * forward.x + forward.z * forward.z);
    if (flat < 1e-5f) {
        // Looking straight up or down: the turn about z cannot be told from the one about y.
        return vec3(forward.y > 0 ? -90.0f : 90.0f, math_atan2(-right.z, right.x) * DEGREES, 0);
    }
    return vec3(math_atan2(-forward.y, flat) * DEGREES, math_atan2(forward.x, forward.z) * DEGREES,
                math_atan2(right.y, up.y) * DEGREES);
}

void api_nearest_prefab(lua_State *thread, Text name, char *out, size_t capacity)
{
    Nearest nearest = nearest_begin(name.data, name.bytes);
    Text prefab;
    for (uint32_t i = 0; api_methods(thread)->prefab(api_world(thread), i, &prefab); i++) {
        (void)nearest_consider(&nearest, prefab.data, prefab.bytes);
    }
    snprintf(out, capacity, "%.*s", (int)nearest.found_bytes,
             nearest.found == NULL ? "" : nearest.found);
}

// Objects that scripts hold: vectors, entities, players. An entity or a player has one object per
// Vm, so scripts can compare it and use it as a key. The members of objects are in the API; here is
// what the runtime itself needs, to pass objects to hooks and to turn them into bytes (value.h).
#pragma once

#include "core/script/runtime/script_inside.h"

#define OBJECT_VECTOR_STEPS 20 // a new vector

// For the API, when it makes the metatable of a class, which is on top of the stack. Classes other
// than those above are ignored.
void object_remember_class(lua_State *thread, const char *class);

void object_push_vector(lua_State *thread, Vec3 vector);
Vec3 object_vector(lua_State *thread, int index); // raises
bool object_is_vector(lua_State *thread, int index);
void object_push_entity(lua_State *thread, uint64_t net_id); // nil for 0
uint64_t object_entity(lua_State *thread, int index);        // net id; raises
bool object_is_entity(lua_State *thread, int index);
void object_push_player(lua_State *thread, uint64_t player_id); // nil for 0
uint64_t object_player(lua_State *thread, int index);           // player id; raises
bool object_is_player(lua_State *thread, int index);
// The entity is gone: a new object is created if the id comes back.
void object_forget_entity(ScriptSystem *system, uint64_t net_id);

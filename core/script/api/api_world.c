// World and Entity: reading and changing what is there.
#include "core/script/api/api.h"

#include <stdio.h>
#include <string.h>

#define RESULTS_MAX    256
#define BOX_EDGE_MAX_M 2048

static const char *const type_names[ENTITY_TYPE_COUNT] = {[ENTITY_NONE] = "Spawn",
                                                          [ENTITY_PLAYER] = "Player",
                                                          [ENTITY_NPC] = "Npc",
                                                          [ENTITY_PROJECTILE] = "Projectile",
                                                          [ENTITY_PART] = "Part",
                                                          [ENTITY_PROP] = "Prop",
                                                          [ENTITY_STRUCTURE] = "Structure"};

const char *api_entity_type_name(EntityType type)
{
    return type_names[type];
}

static Vec3 optional_vector(lua_State *thread, int index)
{
    return api_is_given(thread, index) ? object_vector(thread, index) : VEC3_ZERO;
}

static VoxelCoord voxel_argument(lua_State *thread, int index)
{
    return voxel_at(object_vector(thread, index));
}

// "0 (air), 1 (sand), 2 (rock)"; of many only the first.
#define KIND_NAMES_MAX 16
static void list_kinds(const Text *names, uint32_t count, char *out, size_t capacity)
{
    size_t at = (size_t)snprintf(out, capacity, "0 (air)");
    for (uint32_t kind = 1; kind < count && kind <= KIND_NAMES_MAX && at < capacity; kind++) {
        const Text name = names[kind - 1];
        at += (size_t)snprintf(out + at, capacity - at, ", %u (%.*s)", (unsigned)kind,
                               (int)name.bytes, name.data);
    }
    if (count - 1 > KIND_NAMES_MAX && at < capacity) {
        snprintf(out + at, capacity - at, " and so on, up to %u", (unsigned)count - 1);
    }
}

static VoxelKind kind_argument(lua_State *thread, int index)
{
    const lua_Integer kind = luaL_checkinteger(thread, index);
    const Text *names = NULL;
    const uint32_t count = api_methods(thread)->voxel_kinds(api_world(thread), &names);
    if (kind >= 0 && kind < (lua_Integer)count) {
        return (VoxelKind)kind;
    }
    char list[KIND_NAMES_MAX * 80 + 64];
    if (names == NULL) {
        snprintf(list, sizeof list, "0 to %u", (unsigned)count - 1);
    } else {
        list_kinds(names, count, list, sizeof list);
    }
    luaL_error(thread, "there is no voxel kind %I here; the kinds are %s", (LUAI_UACINT)kind, list);
    return VOXEL_AIR;
}

// --- World --------------------------------------------------------------------------------------

static int spawn(lua_State *thread, bool local, const char *what)
{
    uint64_t net_id = 0;
    vm_charge(thread, 500);
    ScriptWorld *world = api_world(thread);
    const bool is_for_actor = !local && world->actor != 0 && !api_is_given(thread, 2);
    const Status status =
        is_for_actor ? api_methods(thread)->spawn_for_actor(world, api_text(thread, 1), &net_id)
                     : api_methods(thread)->spawn(world, api_text(thread, 1),
                                                  optional_vector(thread, 2), local, &net_id);
    if (status == STATUS_NOT_FOUND) {
        char nearest[64], quote[API_QUOTE_BYTES];
        api_nearest_prefab(thread, api_text(thread, 1), nearest, sizeof nearest);
        return luaL_error(thread, "%s: the place has no prefab \"%s\"%s%s%s", what,
                          api_quote(api_text(thread, 1), quote),
                          nearest[0] != 0 ? "; did you mean \"" : "", nearest,
                          nearest[0] != 0 ? "\"?" : "");
    }
    const bool is_there = api_check_change(thread, status, what);
    if (is_there) {
        api_tags_added(thread, net_id);
    }
    object_push_entity(thread, is_there ? net_id : 0);
    return 1;
}

int api_World_Spawn(lua_State *thread)
{
    return spawn(thread, false, "World.Spawn");
}

int api_World_SpawnLocal(lua_State *thread)
{
    return spawn(thread, true, "World.SpawnLocal");
}

int api_World_Destroy(lua_State *thread)
{
    api_check_change(thread,
                     api_methods(thread)->destroy(api_world(thread), object_entity(thread, 1)),
                     "World.Destroy");
    return 0;
}

int api_World_Find(lua_State *thread)
{
    vm_charge(thread, API_LOOKUP_STEPS);
    object_push_entity(thread, api_methods(thread)->find(api_world(thread), api_text(thread, 1)));
    return 1;
}

static void push_entities(lua_State *thread, const uint64_t *net_ids, uint32_t count)
{
    vm_charge(thread, (uint64_t)count * 30);
    lua_createtable(thread, (int)count, 0);
    for (uint32_t i = 0; i < count; i++) {
        object_push_entity(thread, net_ids[i]);
        lua_rawseti(thread, -2, (lua_Integer)i + 1);
    }
}

int api_World_FindAll(lua_State *thread)
{
    uint64_t found[RESULTS_MAX];
    vm_charge(thread, 100);
    const uint32_t count =
        api_methods(thread)->find_all(api_world(thread), api_text(thread, 1), found, RESULTS_MAX);
    push_entities(thread, found, count);
    return 1;
}

// The entity at index 4, or those of {ignore = {…}}.
static uint32_t ignored_entities(lua_State *thread, uint64_t out[RAY_IGNORED_MAX])
{
    if (!lua_istable(thread, 4)) {
        out[0] = api_is_given(thread, 4) ? object_entity(thread, 4) : 0;
        return out[0] != 0;
    }
    lua_pushliteral(thread, "ignore");
    const lua_Unsigned count = lua_rawget(thread, 4) == LUA_TTABLE ? lua_rawlen(thread, -1) : 0;
    if (count > RAY_IGNORED_MAX) {
        luaL_error(thread, "World.Raycast: ignore has at most %d entities", RAY_IGNORED_MAX);
    }
    vm_charge(thread, (uint64_t)count * 10);
    for (lua_Unsigned i = 0; i < count; i++) {
        lua_rawgeti(thread, -1, (lua_Integer)i + 1);
        if (!object_is_entity(thread, -1)) {
            luaL_error(thread, "World.Raycast: ignore is a list of entities, but value %d is a %s",
                       (int)i + 1, luaL_typename(thread, -1));
        }
        out[i] = object_entity(thread, -1);
        lua_pop(thread, 1);
    }
    lua_pop(thread, 1);
    return (uint32_t)count;
}

static void set_vector(lua_State *thread, const char *name, Vec3 value)
{
    object_push_vector(thread, value);
    lua_setfield(thread, -2, name);
}

int api_World_Raycast(lua_State *thread)
{
    const Vec3 origin = object_vector(thread, 1);
    const Vec3 direction = object_vector(thread, 2);
    const float length = vec3_length(direction);
    const float distance = api_is_given(thread, 3) ? api_number(thread, 3) : length;
    uint64_t ignored[RAY_IGNORED_MAX];
    const uint32_t ignored_count = ignored_entities(thread, ignored);
    if (!(length > 0) || !(distance > 0)) {
        lua_pushnil(thread);
        return 1;
    }
    const float reach = math_min(distance, 4096);
    vm_charge(thread, 300 + (uint64_t)reach * 4); // and the work of the query, once that is known
    ScriptRayHit hit;
    if (!api_methods(thread)->ray(api_world(thread), origin, vec3_normalise(direction), reach,
                                  (ScriptIgnored){ignored, ignored_count}, &hit)) {
        lua_pushnil(thread);
        return 1;
    }
    lua_createtable(thread, 0, 6);
    set_vector(thread, "Position", hit.point);
    set_vector(thread, "Normal", hit.normal);
    lua_pushnumber(thread, (double)hit.distance);
    lua_setfield(thread, -2, "Distance");
    if (hit.entity != 0) {
        object_push_entity(thread, hit.entity);
        lua_setfield(thread, -2, "Entity");
    } else {
        set_vector(thread, "Voxel",
                   vec3((float)hit.voxel.x, (float)hit.voxel.y, (float)hit.voxel.z));
        lua_pushinteger(thread, hit.kind);
        lua_setfield(thread, -2, "Kind");
    }
    return 1;
}

static uint32_t type_mask(lua_State *thread, int index)
{
    if (!api_is_given(thread, index)) {
        return ENTITY_MASK_ALL;
    }
    const char *name = luaL_checkstring(thread, index);
    for (uint32_t type = ENTITY_PLAYER; type < ENTITY_TYPE_COUNT; type++) {
        if (strcmp(name, type_names[type]) == 0) {
            return ENTITY_MASK(type);
        }
    }
    return (uint32_t)luaL_error(thread,
                                "there is no type \"%s\"; the types are Player, Npc, "
                                "Projectile, Part, Prop and Structure",
                                name);
}

int api_World_GetInRadius(lua_State *thread)
{
    uint64_t found[RESULTS_MAX];
    const uint32_t mask = type_mask(thread, 3);
    const float radius = math_min(api_number(thread, 2), 1024);
    vm_charge(thread, 1000);
    const uint32_t count = api_methods(thread)->in_radius(
        api_world(thread), object_vector(thread, 1), radius, mask, found, RESULTS_MAX);
    push_entities(thread, found, count < RESULTS_MAX ? count : RESULTS_MAX);
    return 1;
}

int api_World_GetInBox(lua_State *thread)
{
    uint64_t found[RESULTS_MAX];
    const Vec3 a = object_vector(thread, 1), b = object_vector(thread, 2);
    const Aabb box = {vec3_min(a, b), vec3_max(a, b)};
    const Vec3 size = vec3_sub(box.max, box.min);
    const uint32_t mask = type_mask(thread, 3);
    if (!(math_max(size.x, math_max(size.y, size.z)) <= BOX_EDGE_MAX_M)) {
        return luaL_error(thread, "World.GetInBox: an edge of the box has at most %d metres",
                          BOX_EDGE_MAX_M);
    }
    vm_charge(thread, 1000);
    const uint32_t count =
        api_methods(thread)->in_box(api_world(thread), box, mask, found, RESULTS_MAX);
    push_entities(thread, found, count);
    return 1;
}

int api_World_GetTagged(lua_State *thread)
{
    uint64_t found[RESULTS_MAX];
    vm_charge(thread, 1000);
    const uint32_t count =
        api_methods(thread)->tagged(api_world(thread), api_text(thread, 1), found, RESULTS_MAX);
    push_entities(thread, found, count < RESULTS_MAX ? count : RESULTS_MAX);
    return 1;
}

int api_World_GetVoxel(lua_State *thread)
{
    lua_pushinteger(thread,
                    api_methods(thread)->voxel(api_world(thread), voxel_argument(thread, 1)));
    return 1;
}

static void push_kind_name(lua_State *thread, VoxelKind kind)
{
    const Text *names = NULL;
    (void)api_methods(thread)->voxel_kinds(api_world(thread), &names);
    if (kind == VOXEL_AIR) {
        lua_pushliteral(thread, "air");
    } else if (names != NULL) {
        lua_pushlstring(thread, names[kind - 1].data, names[kind - 1].bytes);
    } else {
        lua_pushfstring(thread, "%d", (int)kind); // they have no names
    }
}

int api_World_KindOf(lua_State *thread)
{
    ScriptEntityInfo info;
    vm_charge(thread, API_LOOKUP_STEPS);
    if (object_is_vector(thread, 1)) {
        push_kind_name(thread,
                       api_methods(thread)->voxel(api_world(thread), voxel_argument(thread, 1)));
    } else if (lua_type(thread, 1) == LUA_TNUMBER) {
        push_kind_name(thread, kind_argument(thread, 1));
    } else if (api_methods(thread)->entity(api_world(thread), object_entity(thread, 1), &info)) {
        lua_pushstring(thread, type_names[info.type]);
    } else {
        return luaL_error(thread, "World.KindOf: the entity is gone");
    }
    return 1;
}

int api_World_SetVoxel(lua_State *thread)
{
    const VoxelCoord at = voxel_argument(thread, 1);
    const VoxelKind kind = kind_argument(thread, 2);
    ApiVoxelEdit edit;
    vm_charge(thread, 800);
    api_voxels_before(thread, at, at, &edit);
    if (api_check_change(thread, api_methods(thread)->set_voxel(api_world(thread), at, kind),
                         "World.SetVoxel")) {
        api_voxels_after(thread, &edit, kind);
    }
    return 0;
}

int api_World_FillBox(lua_State *thread)
{
    const VoxelCoord a = voxel_argument(thread, 1);
    const VoxelCoord b = voxel_argument(thread, 2);
    const VoxelCoord min = {a.x < b.x ? a.x : b.x, a.y < b.y ? a.y : b.y, a.z < b.z ? a.z : b.z};
    const VoxelCoord max = {a.x > b.x ? a.x : b.x, a.y > b.y ? a.y : b.y, a.z > b.z ? a.z : b.z};
    const uint64_t edge = VOXEL_EDIT_BOX_EDGE_MAX;
    const uint64_t x = (uint64_t)((int64_t)max.x - min.x + 1);
    const uint64_t y = (uint64_t)((int64_t)max.y - min.y + 1);
    const uint64_t z = (uint64_t)((int64_t)max.z - min.z + 1);
    if (x > edge || y > edge || z > edge) {
        return luaL_error(thread, "World.FillBox: at most %d voxels along an edge",
                          VOXEL_EDIT_BOX_EDGE_MAX);
    }
    vm_charge(thread, 900 + x * y * z * 4);
    const VoxelKind kind = kind_argument(thread, 3);
    ApiVoxelEdit edit;
    api_voxels_before(thread, min, max, &edit);
    if (api_check_change(thread, api_methods(thread)->fill_box(api_world(thread), min, max, kind),
                         "World.FillBox")) {
        api_voxels_after(thread, &edit, kind);
    }
    return 0;
}

int api_World_FillSphere(lua_State *thread)
{
    const float radius = api_number(thread, 2);
    if (!(radius >= 0 && radius <= VOXEL_EDIT_SPHERE_RADIUS_MAX)) {
        return luaL_error(thread, "World.FillSphere: a radius is between 0 and %d",
                          (int)VOXEL_EDIT_SPHERE_RADIUS_MAX);
    }
    vm_charge(thread, 2000 + (uint64_t)(radius * radius * radius) * 60);
    const Vec3 centre = object_vector(thread, 1);
    const Vec3 reach = vec3(radius, radius, radius);
    const VoxelKind kind = kind_argument(thread, 3);
    ApiVoxelEdit edit;
    api_voxels_before(thread, voxel_at(vec3_sub(centre, reach)), voxel_at(vec3_add(centre, reach)),
                      &edit);
    if (api_check_change(thread,
                         api_methods(thread)->fill_sphere(api_world(thread), centre, radius, kind),
                         "World.FillSphere")) {
        api_voxels_after(thread, &edit, kind);
    }
    return 0;
}

int api_World_Time(lua_State *thread)
{
    const ScriptSystem *system = script_of(thread);
    lua_pushnumber(thread, (double)api_methods(thread)->tick(api_world(thread)) /
                               (double)system->config.tick_rate);
    return 1;
}

int api_World_Tick(lua_State *thread)
{
    lua_pushinteger(thread, (lua_Integer)api_methods(thread)->tick(api_world(thread)));
    return 1;
}

// --- Entity: reading ----------------------------------------------------------------------------

static ScriptEntityInfo info_of(lua_State *thread)
{
    ScriptEntityInfo info;
    const uint64_t net_id = object_entity(thread, 1);
    if (!api_methods(thread)->entity(api_world(thread), net_id, &info)) {
        luaL_error(thread, "entity %I is gone", (LUAI_UACINT)net_id);
    }
    return info;
}

int api_get_Entity_Id(lua_State *thread)
{
    lua_pushinteger(thread, (lua_Integer)object_entity(thread, 1));
    return 1;
}

int api_get_Entity_Name(lua_State *thread)
{
    const Text name = api_methods(thread)->name(api_world(thread), object_entity(thread, 1));
    lua_pushlstring(thread, name.data != NULL ? name.data : "", name.bytes);
    return 1;
}

int api_get_Entity_Type(lua_State *thread)
{
    lua_pushstring(thread, type_names[info_of(thread).type]);
    return 1;
}

int api_get_Entity_Position(lua_State *thread)
{
    object_push_vector(thread, info_of(thread).position);
    return 1;
}

int api_get_Entity_Velocity(lua_State *thread)
{
    object_push_vector(thread, info_of(thread).velocity);
    return 1;
}

int api_get_Entity_Rotation(lua_State *thread)
{
    vm_charge(thread, API_ROTATION_STEPS);
    object_push_vector(thread, api_degrees(info_of(thread).rotation));
    return 1;
}

int api_get_Entity_Size(lua_State *thread)
{
    object_push_vector(thread, info_of(thread).size);
    return 1;
}

int api_get_Entity_Health(lua_State *thread)
{
    lua_pushnumber(thread, (double)info_of(thread).health);
    return 1;
}

static bool push_player_if_known(lua_State *thread, uint64_t player_id)
{
    ScriptPlayerInfo players[RESULTS_MAX];
    const uint32_t count = api_methods(thread)->players(api_world(thread), players, RESULTS_MAX);
    for (uint32_t i = 0; i < count && i < RESULTS_MAX && player_id != 0; i++) {
        if (players[i].player_id == player_id) {
            object_push_player(thread, player_id);
            return true;
        }
    }
    lua_pushnil(thread);
    return false;
}

int api_get_Entity_Owner(lua_State *thread)
{
    (void)push_player_if_known(thread, info_of(thread).owner_id);
    return 1;
}

int api_get_Entity_Player(lua_State *thread)
{
    const ScriptEntityInfo info = info_of(thread);
    (void)push_player_if_known(thread, info.type == ENTITY_PLAYER ? info.owner_id : 0);
    return 1;
}

int api_get_Entity_Team(lua_State *thread)
{
    const ScriptEntityInfo info = info_of(thread);
    ScriptPlayerInfo player = {.team = info.team};
    if (info.type == ENTITY_PLAYER) {
        (void)api_find_player(script_of(thread), info.owner_id, &player);
    }
    lua_pushlstring(thread, player.team.bytes > 0 ? player.team.data : "", player.team.bytes);
    return 1;
}

int api_get_Entity_params(lua_State *thread)
{
    ScriptSystem *system = script_of(thread);
    const uint32_t slot = script_instance_of(system, object_entity(thread, 1), 0);
    const Instance *instance = slot != 0 ? pool_at(&system->instances, slot) : NULL;
    if (instance != NULL && instance->params_ref != 0) {
        lua_rawgeti(thread, LUA_REGISTRYINDEX, instance->params_ref);
    } else {
        lua_newtable(thread);
    }
    return 1;
}

// The one wanted; onEnable or onDisable follows once no script runs.
int api_get_Entity_Enabled(lua_State *thread)
{
    ScriptSystem *system = script_of(thread);
    const uint32_t slot = script_instance_of(system, object_entity(thread, 1), 0);
    const Instance *instance = slot != 0 ? pool_at(&system->instances, slot) : NULL;
    lua_pushboolean(thread, instance != NULL && instance->enabled != instance->switch_due);
    return 1;
}

int api_set_Entity_Enabled(lua_State *thread)
{
    ScriptSystem *system = script_of(thread);
    const uint64_t entity = object_entity(thread, 1);
    luaL_checktype(thread, 2, LUA_TBOOLEAN);
    const bool enabled = lua_toboolean(thread, 2) != 0;
    uint32_t slot = script_instance_of(system, entity, 0);
    if (slot == 0) {
        return luaL_error(thread, "Entity.Enabled: this entity has no script on this side");
    }
    for (; slot != 0; slot = script_instance_of(system, entity, slot)) {
        Instance *instance = pool_at(&system->instances, slot);
        instance->switch_due = instance->enabled != enabled;
        system->enable_is_due = system->enable_is_due || instance->switch_due;
    }
    return 0;
}

int api_Entity_IsValid(lua_State *thread)
{
    ScriptEntityInfo info;
    lua_pushboolean(
        thread, api_methods(thread)->entity(api_world(thread), object_entity(thread, 1), &info));
    return 1;
}

int api_Entity_GetAttribute(lua_State *thread)
{
    ScriptValue value = {0};
    if (!api_methods(thread)->attribute(api_world(thread), object_entity(thread, 1),
                                        api_text(thread, 2), &value)) {
        lua_pushnil(thread);
        return 1;
    }
    api_push_value(thread, &value);
    return 1;
}

int api_Entity_HasTag(lua_State *thread)
{
    lua_pushboolean(thread, api_methods(thread)->has_tag(
                                api_world(thread), object_entity(thread, 1), api_text(thread, 2)));
    return 1;
}

// --- Entity: changing ---------------------------------------------------------------------------

int api_Entity_SetPosition(lua_State *thread)
{
    api_check_change(thread,
                     api_methods(thread)->set_position(api_world(thread), object_entity(thread, 1),
                                                       object_vector(thread, 2)),
                     "Entity.SetPosition");
    return 0;
}

int api_set_Entity_Position(lua_State *thread)
{
    return api_Entity_SetPosition(thread);
}

int api_Entity_SetVelocity(lua_State *thread)
{
    api_check_change(thread,
                     api_methods(thread)->set_velocity(api_world(thread), object_entity(thread, 1),
                                                       object_vector(thread, 2)),
                     "Entity.SetVelocity");
    return 0;
}

int api_set_Entity_Velocity(lua_State *thread)
{
    return api_Entity_SetVelocity(thread);
}

int api_Entity_SetRotation(lua_State *thread)
{
    vm_charge(thread, API_ROTATION_STEPS);
    api_check_change(thread,
                     api_methods(thread)->set_rotation(api_world(thread), object_entity(thread, 1),
                                                       api_rotation(object_vector(thread, 2))),
                     "Entity.SetRotation");
    return 0;
}

int api_set_Entity_Rotation(lua_State *thread)
{
    return api_Entity_SetRotation(thread);
}

int api_Entity_MoveTo(lua_State *thread)
{
    const ScriptEntityInfo info = info_of(thread);
    vm_charge(thread, API_LOOKUP_STEPS + API_ROTATION_STEPS);
    const Quat rotation =
        api_is_given(thread, 4) ? api_rotation(object_vector(thread, 4)) : info.rotation;
    const float seconds = api_number(thread, 3);
    if (!(seconds > 0 && seconds <= 3600)) {
        return luaL_error(thread, "Entity.MoveTo: seconds must be more than 0 and at most 3600");
    }
    const Pose pose = {object_vector(thread, 2), rotation};
    api_check_change(thread,
                     api_methods(thread)->move_to(api_world(thread), info.net_id, pose, seconds),
                     "Entity.MoveTo");
    return 0;
}

int api_Entity_TakeDamage(lua_State *thread)
{
    const uint64_t cause = api_is_given(thread, 3) ? object_entity(thread, 3) : 0;
    api_check_change(thread,
                     api_methods(thread)->damage(api_world(thread), object_entity(thread, 1),
                                                 api_number(thread, 2), cause),
                     "Entity.TakeDamage");
    return 0;
}

int api_Entity_Destroy(lua_State *thread)
{
    api_check_change(thread,
                     api_methods(thread)->destroy(api_world(thread), object_entity(thread, 1)),
                     "Entity.Destroy");
    return 0;
}

static bool flag_option(lua_State *thread, int index, const char *name)
{
    const bool on = api_is_given(thread, index) && api_option(thread, index, name) &&
                    lua_toboolean(thread, -1) != 0;
    lua_settop(thread, index);
    return on;
}

// One of the words of AttributeVisibility; private = true is the older spelling of "server". 0: not
// said.
static uint32_t visibility_option(lua_State *thread, int index)
{
    const bool is_private = flag_option(thread, index, "private");
    if (!api_is_given(thread, index) || !api_option(thread, index, "visibility")) {
        lua_settop(thread, index);
        return is_private ? ATTRIBUTE_VISIBILITY | ATTRIBUTE_PRIVATE : 0;
    }
    const char *word = lua_tostring(thread, -1); // the table keeps it alive
    lua_settop(thread, index);
    if (strcmp(word, "server") == 0) {
        return ATTRIBUTE_VISIBILITY | ATTRIBUTE_PRIVATE;
    }
    if (is_private) {
        luaL_error(thread, "Entity:SetAttribute: private = true means visibility = \"server\"; "
                           "leave private out");
    }
    return strcmp(word, "owner") == 0 ? ATTRIBUTE_VISIBILITY | ATTRIBUTE_OWNER
                                      : ATTRIBUTE_VISIBILITY;
}

int api_Entity_SetAttribute(lua_State *thread)
{
    lua_settop(thread, 4);
    vm_charge(thread, API_LOOKUP_STEPS);
    ScriptValue value = {0};
    if (!api_value(thread, 3, &value)) {
        if (lua_type(thread, 3) == LUA_TNUMBER || object_is_vector(thread, 3)) {
            return luaL_error(thread, "Entity.SetAttribute: NaN and infinity cannot be kept");
        }
        return luaL_error(thread,
                          "Entity.SetAttribute: a value is nil, a boolean, a number, a "
                          "text of at most 1 KiB, a Vector3 or an Entity, not a %s",
                          luaL_typename(thread, 3));
    }
    uint32_t flags = flag_option(thread, 4, "persistent") ? ATTRIBUTE_PERSISTENT : 0;
    flags |= visibility_option(thread, 4);
    const uint64_t net_id = object_entity(thread, 1);
    const Text name = api_valid_text(thread, 2, 1, WORLD_NAME_BYTES_MAX);
    if (visual_is_reserved(name)) {
        return luaL_error(thread, "Entity.SetAttribute: names that begin with $ are Sandlot's own");
    }
    const ApiAttributeChange change = api_attribute_before(thread, net_id, name, &value);
    if (api_check_change(
            thread,
            api_methods(thread)->set_attribute(api_world(thread), net_id, name, &value, flags),
            "Entity.SetAttribute")) {
        api_attribute_after(thread, &change, name, &value);
    }
    return 0;
}

static int set_tag(lua_State *thread, bool on, const char *what)
{
    vm_charge(thread, API_LOOKUP_STEPS);
    const uint64_t net_id = object_entity(thread, 1);
    const Text tag = api_valid_text(thread, 2, 1, WORLD_NAME_BYTES_MAX);
    const bool was = api_methods(thread)->has_tag(api_world(thread), net_id, tag);
    if (api_check_change(thread, api_methods(thread)->set_tag(api_world(thread), net_id, tag, on),
                         what) &&
        was != on) {
        api_tag_changed(thread, net_id, tag, on);
    }
    return 0;
}

int api_Entity_GetAttributeChangedSignal(lua_State *thread)
{
    char key[API_CHANGE_KEY_BYTES];
    vm_charge(thread, API_EVENT_STEPS);
    api_attribute_key(object_entity(thread, 1), api_valid_text(thread, 2, 1, WORLD_NAME_BYTES_MAX),
                      key);
    (void)signal_push_named(script_of(thread), thread, key, true);
    return 1;
}

static int tag_signal(lua_State *thread, bool on)
{
    char key[API_CHANGE_KEY_BYTES];
    vm_charge(thread, API_EVENT_STEPS);
    api_tag_key(api_valid_text(thread, 1, 1, WORLD_NAME_BYTES_MAX), on, key);
    (void)signal_push_named(script_of(thread), thread, key, true);
    return 1;
}

int api_World_GetTagAddedSignal(lua_State *thread)
{
    return tag_signal(thread, true);
}

int api_World_GetTagRemovedSignal(lua_State *thread)
{
    return tag_signal(thread, false);
}

int api_Entity_AddTag(lua_State *thread)
{
    return set_tag(thread, true, "Entity.AddTag");
}

int api_Entity_RemoveTag(lua_State *thread)
{
    return set_tag(thread, false, "Entity.RemoveTag");
}

// Reads the part's data, lets the caller change it, and writes it back.
static int change_part(lua_State *thread, uint32_t flag, bool on, const PartData *change,
                       const char *what)
{
    PartData data;
    const uint64_t net_id = object_entity(thread, 1);
    if (!api_check_change(thread, api_methods(thread)->part_data(api_world(thread), net_id, &data),
                          what)) {
        return 0;
    }
    data.flags = on ? data.flags | flag : data.flags & ~flag;
    if (flag == PART_BOUNCE) {
        data.bounce_speed = change->bounce_speed;
    } else if (flag == PART_CONVEYOR) {
        data.conveyor_speed = change->conveyor_speed;
    } else if (flag == PART_DAMAGE) {
        data.damage = change->damage;
    }
    api_check_change(thread, api_methods(thread)->set_part_data(api_world(thread), net_id, &data),
                     what);
    return 0;
}

int api_Entity_SetBounce(lua_State *thread)
{
    const bool on = api_is_given(thread, 2);
    const PartData change = {.bounce_speed = on ? api_number(thread, 2) : 0};
    return change_part(thread, PART_BOUNCE, on, &change, "Entity.SetBounce");
}

int api_Entity_SetConveyor(lua_State *thread)
{
    const bool on = api_is_given(thread, 2);
    const PartData change = {.conveyor_speed = optional_vector(thread, 2)};
    return change_part(thread, PART_CONVEYOR, on, &change, "Entity.SetConveyor");
}

int api_Entity_SetDamage(lua_State *thread)
{
    const bool on = api_is_given(thread, 2);
    const PartData change = {.damage = on ? api_number(thread, 2) : 0};
    return change_part(thread, PART_DAMAGE, on, &change, "Entity.SetDamage");
}

int api_Entity_SetSolid(lua_State *thread)
{
    const PartData change = {0};
    return change_part(thread, PART_GHOST, !lua_toboolean(thread, 2), &change, "Entity.SetSolid");
}

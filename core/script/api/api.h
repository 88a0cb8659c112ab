// Runs the rows of api.def: one dispatcher checks side and arguments of every call, so that the
// functions in api_*.c get valid arguments, and errors read alike everywhere.
// A function for the row API_FUNCTION(World, Spawn, …) is named api_World_Spawn: the C name is the
// script's name, so that one search finds both. Arguments start at stack index 1; for a method the
// object is at 1 and arguments start at 2. Properties are api_get_Entity_Position (object at 1) and
// api_set_Entity_Position (object at 1, value at 2).
#pragma once

#include "core/script/runtime/object.h"
#include "core/script/runtime/script_inside.h"
#include "core/sim/voxel_watch.h"

typedef enum ApiSide { API_BOTH, API_SERVER, API_CLIENT, API_WRITES } ApiSide;

typedef enum ApiKind {
    API_KIND_GROUP,
    API_KIND_CLASS,
    API_KIND_FUNCTION,
    API_KIND_METHOD,
    API_KIND_PROPERTY,
    API_KIND_EVENT,
    API_KIND_GLOBAL,
    API_KIND_HOOK,
    // For the reference only; not among api_rows.
    API_KIND_WORDS,
    API_KIND_SHAPE,
    API_KIND_FIELD,
    API_KIND_ITEMS,
    API_KIND_CONSTANT,
    API_KIND_LIBRARY,
    API_KIND_LUA
} ApiKind;

typedef struct ApiRow {
    ApiKind kind;
    const char *owner; // group or class; "" for globals and hooks
    const char *name;
    ApiSide side;
    const char *arguments; // as written in api.def; the type of a property
    const char *returns;
    const char *doc;
    lua_CFunction function; // or the getter of a property
    lua_CFunction setter;   // RW properties
} ApiRow;

// All rows in the order of api.def.
const ApiRow *api_rows(uint32_t *count);

#define API_TYPE_BYTES 64
// One argument of a row, parsed.
typedef struct ApiArgument {
    char name[24];
    char type[API_TYPE_BYTES]; // as written, without the question mark
    bool optional;
    bool variadic;
    bool finite; // a number or Vector3 that is neither NaN nor infinite
    // A table of options: the fields that it may have (api.c), and whether it holds a list as well.
    uint16_t option_first, option_count;
    bool has_items;
} ApiArgument;
#define API_ARGUMENTS_MAX 6
// Splits "a: T, b: U?"; returns the count. `finite` and the fields after it are set by the row's
// owner. Asserts that the row follows the format.
uint32_t api_parse_arguments(const char *text, ApiArgument out[API_ARGUMENTS_MAX]);

typedef struct ApiParsed {
    ApiArgument arguments[API_ARGUMENTS_MAX];
    uint32_t count;
    uint32_t read_steps; // of a property or an event
} ApiParsed;

// What api_objects.c adds: operators of Vector3, text of objects, names for constants in groups,
// and fields that a script sets on an entity.
void api_open_objects(lua_State *thread);
void api_extend_group(lua_State *thread, const char *group); // the group's table is on top
int api_index_unknown(lua_State *thread);                    // (object, key)
int api_set_unknown(lua_State *thread);                      // (object, key, value)

// --- for api_*.c --------------------------------------------------------------------------------
// Every call, before what the function itself charges. A step is about two nanoseconds; these and
// the charges in api_*.c are measured costs, rounded up.
#define API_CALL_STEPS     40 // a function or a method
#define API_READ_STEPS     30 // a property
#define API_WRITE_STEPS    80
#define API_EVENT_STEPS    80 // its signal is found by a name that is put together
#define API_LOOKUP_STEPS   50 // an entity or a player is looked up
#define API_ROTATION_STEPS 60 // degrees to a rotation or back
#define API_DENIED_STEPS   60 // a change that a client ignores

// Charges the work that the world has done since the last time (ScriptWorldMethods.work). Called
// after every row, because the cost of a query is known only afterwards. A call whose work could be
// large is charged by its size beforehand.
void api_charge_work(lua_State *thread);

ScriptWorld *api_world(lua_State *thread);
const ScriptWorldMethods *api_methods(lua_State *thread);

// Any bytes: for texts that are only searched for, or cleaned afterwards.
Text api_text(lua_State *thread, int index);
// A valid text (core/base/text.h), to be kept or sent; raises, and names the argument.
Text api_valid_text(lua_State *thread, int index, size_t bytes_min, size_t bytes_max);
// For an error message: the text, or its beginning if it is long. A message is copied several
// times, and a script could make it as long as a string.
#define API_QUOTE_BYTES 72
const char *api_quote(Text text, char out[API_QUOTE_BYTES]);
float api_number(lua_State *thread, int index);  // finite and within float32; raises
bool api_is_given(lua_State *thread, int index); // not nil, not none
// Pushes a field of the options table at `index`; true if it is not nil.
bool api_option(lua_State *thread, int index, const char *name);

// Reads a value that an attribute can hold; false if it is not one. Text is not copied.
bool api_value(lua_State *thread, int index, ScriptValue *out);
void api_push_value(lua_State *thread, const ScriptValue *value);
// Degrees about x, y and z, applied z, x, y.
Quat api_rotation(Vec3 degrees);
Vec3 api_degrees(Quat rotation);
// The prefab with the most similar name, or "".
void api_nearest_prefab(lua_State *thread, Text name, char *out, size_t capacity);

// The player with that id, if it is in the world.
bool api_find_player(const ScriptSystem *system, uint64_t player_id, ScriptPlayerInfo *out);

// Handles the status of a change: nothing to report, ignored on this side (counted, logged once),
// or an error. Returns true if the change was made.
bool api_check_change(lua_State *thread, Status status, const char *what);
// Raises a fault of kind capability.
_Noreturn void api_raise_side(lua_State *thread, const char *what, ScriptSide needed);

// Whether the value fits a type as api.def writes them.
bool api_has_type(lua_State *thread, int index, const char *type);
const char *api_npc_state_name(uint32_t state);
const char *api_entity_type_name(EntityType type); // "Part"
// Handles an event: fires signals, and calls hooks of the entity's instances.
void api_event(ScriptSystem *system, const ScriptEvent *event);
// A finished thread that answers a remote call.
void api_answer(ScriptSystem *system, Thread *thread, bool ok, int result_count);
// Removes an instance's handlers of remote calls and of widgets.
void api_check_resume(lua_State *thread, lua_State *coroutine);
void api_forget_handlers(ScriptSystem *system, Handle instance);
// Everything it shows disappears, and its widgets' handlers with it.
void api_forget_shown(lua_State *thread, const Instance *instance);
// A client's message that no script listens to: "PlaySound" with a name is heard.
void api_hear_remote(ScriptSystem *system, const ScriptEvent *event);
// A message from the other side.
void api_message(ScriptSystem *system, const ScriptEvent *event);
void api_refuse_invoke(ScriptSystem *system, const ScriptEvent *event, const char *why);
// A continuation for requests: (ok, values…) above `context` stack slots; raises when not ok.
int api_answered(lua_State *thread, int status, lua_KContext context);

// Queues an engine signal if something is connected to it; the values are on top of the main stack.
void api_fire(ScriptSystem *system, const char *key, int argument_count);

// --- changes by the running script (api_change.c)
// -------------------------------------------------- Around an edit of voxels: fires
// World.VoxelChanged or VoxelsChanged, if somebody listens.
typedef struct ApiVoxelEdit {
    bool is_heard;
    VoxelWatch watch;
} ApiVoxelEdit;
void api_voxels_before(lua_State *thread, VoxelCoord min, VoxelCoord max, ApiVoxelEdit *edit);
void api_voxels_after(lua_State *thread, ApiVoxelEdit *edit, VoxelKind kind);

// Around Entity:SetAttribute. The value before is left on the stack when somebody listens.
typedef struct ApiAttributeChange {
    uint64_t net_id;
    bool is_heard;
    int before; // stack index
} ApiAttributeChange;
ApiAttributeChange api_attribute_before(lua_State *thread, uint64_t net_id, Text name,
                                        const ScriptValue *value);
void api_attribute_after(lua_State *thread, const ApiAttributeChange *change, Text name,
                         const ScriptValue *value);
void api_tag_changed(lua_State *thread, uint64_t net_id, Text tag, bool on);
void api_tags_added(lua_State *thread, uint64_t net_id); // of an entity that is new
// The keys of signals for one attribute or one tag.
#define API_CHANGE_KEY_BYTES 160
void api_attribute_key(uint64_t net_id, Text name, char out[API_CHANGE_KEY_BYTES]);
void api_tag_key(Text tag, bool on, char out[API_CHANGE_KEY_BYTES]);

// The functions of all rows.
#define API_FUNCTION(group, name, side, arguments, returns, doc) \
    int api_##group##_##name(lua_State *thread);
#define API_METHOD(class, name, side, arguments, returns, doc) \
    int api_##class##_##name(lua_State *thread);
#define API_PROPERTY(class, name, access, type, doc) \
    int api_get_##class##_##name(lua_State *thread); \
    API_PROTOTYPE_##access(class, name)
#define API_PROTOTYPE_R(class, name)
#define API_PROTOTYPE_RW(class, name)                   int api_set_##class##_##name(lua_State *thread);
#define API_GLOBAL(name, side, arguments, returns, doc) int api_global_##name(lua_State *thread);
#include "core/script/api.def"
#undef API_PROTOTYPE_R
#undef API_PROTOTYPE_RW

// A client's side of script_world.h. Scripts read a Sim that others change, and the names,
// attributes, tags and players that the owner of the view sets; every change of replicated state is
// STATUS_DENIED.
// A client's own things: local entities (SpawnLocal), which no other machine sees, which do not
// block and which rays do not hit; keys, camera, the UI tree, sounds, messages to the server. Local
// net ids start at VIEW_LOCAL_FIRST, above all net ids of a server.
// As on the server, setters take effect at once, and a destroyed local entity can be read until
// view_step, which the owner calls once per tick, after its sim has stepped.
#pragma once

#include "core/base/heap.h"
#include "core/place/prefab.h"
#include "core/script/bridge/attribute_table.h"
#include "core/script/bridge/effect.h"
#include "core/script/bridge/roster.h"
#include "core/script/bridge/spawn_points.h"

#define VIEW_LOCAL_FIRST (1ull << 52)
#define VIEW_KEYS_MAX    64 // down at once
#define VIEW_KEY_BYTES   32

typedef struct View View;

typedef struct ViewConfig {
    const Sim *sim;               // kept
    PrefabTable prefabs;          // kept
    const Text *scene_names;      // as in AuthorityConfig; kept
    const Text *voxel_kind_names; // likewise
    SpawnPoints spawns;           // kept
    AttributeTableConfig attributes;
    uint32_t player_max;
    uint32_t local_max; // local entities
    uint32_t effect_max;
    size_t effect_bytes_max;
    size_t ui_bytes_max;   // of trees that wait to be drawn; 0: nobody draws, and none are kept
    uint64_t local_player; // player id of this client
} ViewConfig;

ViewConfig view_config_default(void);
MUST_USE Status view_create(Heap *heap, const ViewConfig *config, View **out);
void view_destroy(Heap *heap, View *view);
ScriptWorld *view_world(View *view);

// --- what the owner says ------------------------------------------------------------------------
// Names, attributes and tags of replicated entities, except the names of the scene; never give it
// anything private.
AttributeTable *view_attributes(View *view);
// Who is told when what the server says of attributes and tags changes, and when the tags of a
// local entity end with it; what scripts do to local entities is reported by the API.
void view_set_listener(View *view, const AttributeListener *listener);
Roster *view_roster(View *view);
// A key or an action by any of its names (view_key.c); `changed` gets the one that scripts are
// told, or 0 bytes if it was so already. STATUS_LIMIT if too many are down at once.
typedef struct ViewKey {
    uint8_t bytes;
    char name[VIEW_KEY_BYTES]; // in small letters
    char shown[VIEW_KEY_BYTES];
} ViewKey;
bool view_key_make(Text name, ViewKey *out); // false: no key has such a name
MUST_USE Status view_set_key(View *view, Text name, bool down, ViewKey *changed);
void view_set_camera(View *view, Vec3 position, Vec3 forward);
// Moves local entities by a tick; removes those that were destroyed or whose time is over.
void view_step(View *view);

// --- what the owner shows -----------------------------------------------------------------------
const Effect *view_effects(const View *view, uint32_t *count);
void view_effects_clear(View *view);
// A sound of the server, to be played with those of the scripts here.
MUST_USE Status view_play(View *view, const Effect *sound);
// What scripts showed or took away since it was taken, the oldest; NULL: nothing. Of what waits for
// the same owner and entity only the newest is kept.
typedef struct ViewShown {
    uint64_t owner;  // the number of the script's instance, which its widgets' events go back to
    uint64_t entity; // 0: on the screen; otherwise above that entity
    const uint8_t *tree; // a value (value.h): a list of one
    size_t bytes;        // 0: it was taken away
} ViewShown;
const ViewShown *view_shown(View *view);
void view_shown_take(View *view);

typedef struct ViewLocal {
    uint64_t net_id;
    const Prefab *prefab;
    Shape shape;
    PartData data;
    Pose pose;
    Vec3 velocity;
    float gravity;
    uint32_t ticks_left; // 0: stays
    bool removing;
    Motion motion; // from MoveTo
} ViewLocal;
// Walks the local entities in slot order: start with 0, ends with 0.
uint32_t view_local_next(const View *view, uint32_t after);
const ViewLocal *view_local_at(const View *view, uint32_t slot);
// Local entities that were removed since the last call, oldest first, for the owner to report to
// scripts.
uint32_t view_local_gone(View *view, uint64_t *out, uint32_t max);

typedef struct ViewCounters {
    uint64_t effects_dropped;
    uint64_t records_refused;
    uint64_t locals_refused;
    uint64_t denied_count; // writes of replicated state
} ViewCounters;
ViewCounters view_counters(const View *view);

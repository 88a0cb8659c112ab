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
#include "core/script/bridge/sound_table.h"
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
    PlacePaints paints;           // kept
    AssetNames assets;            // kept
    // How the server paints something. NULL: as `paints` and the records of view_attributes say.
    Paint (*paint_of)(void *user, uint64_t net_id);
    void *paint_user;
    uint32_t paint_max; // things that scripts here paint
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
bool view_asks_fire(const View *view);       // a script has asked whether "Fire" is down
bool view_asks_use(const View *view);        // the same of "Use"
MUST_USE Status view_set_key(View *view, Text name, bool down, ViewKey *changed);
void view_set_camera(View *view, Vec3 position, Vec3 forward);
// How something looks here: as the server says, except where a script of this client has painted
// it.
Paint view_paint(View *view, uint64_t net_id);
// The server may have painted it: members that it changed are no longer hidden by scripts here.
void view_paint_server(View *view, uint64_t net_id);
void view_paint_forget(View *view, uint64_t net_id); // it left
// Rises whenever scripts here have changed a paint, or a local entity comes or goes.
uint64_t view_paint_version(const View *view);
// What scripts here have painted, besides local entities, by number.
uint32_t view_painted_count(const View *view);
uint64_t view_painted(const View *view, uint32_t index);
void view_set_sky(View *view, const Sky *sky); // as the server said it; an invalid one is ignored
// Moves local entities by a tick; removes those that were destroyed or whose time is over.
void view_step(View *view);

// --- what the owner shows -----------------------------------------------------------------------
const Effect *view_effects(const View *view, uint32_t *count);
void view_effects_clear(View *view);
// A sound of the server, to be played with those of the scripts here. STATUS_LIMIT: no room.
MUST_USE Status view_play(View *view, const ScriptSound *sound);
void view_forget_sounds(View *view); // of the server; a new session is told of what runs
// Sounds that go on, of the server or of scripts here; who plays them compares versions. The others
// are taken one by one, once each, before the effects are cleared; NULL: no more.
const SoundTable *view_sounds(const View *view, bool is_own);
const ScriptSound *view_sound_take(View *view);
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

// --- view_visual.c: sky, camera, effects --------------------------------------------------------
Sky view_sky(const View *view);
// What scripts want of the camera; another version whenever that changed.
typedef struct ViewCamera {
    ScriptCamera wanted;
    uint64_t owner; // the instance that set it last
    uint32_t version;
} ViewCamera;
const ViewCamera *view_camera(const View *view);
// The oldest burst, beam or shake that waits; false: none does.
bool view_moment_take(View *view, Moment *out);
// Trails, lights and emitters to be drawn: those of the server, and those of the scripts here,
// which take their place. Fills up to `max`, returns how many.
typedef struct ViewVisual {
    uint64_t net_id;
    VisualKind kind;
    bool is_on; // false: a script here has taken away what the server shows; not among the filled
    Visual visual;
    Vec3 position; // for the owner; not set here
} ViewVisual;
uint32_t view_visuals(const View *view, ViewVisual *out, uint32_t max);

typedef struct ViewLocal {
    uint64_t net_id;
    const Prefab *prefab;
    Shape shape;
    PartData data;
    Pose pose;
    Vec3 velocity;
    float gravity;
    Paint paint;
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
    uint64_t denied_count;    // writes of replicated state
    uint64_t moments_dropped; // nobody drew them in time
} ViewCounters;
ViewCounters view_counters(const View *view);

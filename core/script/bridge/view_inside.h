// The inside of a View, for view*.c alone.
#pragma once

#include "core/script/bridge/scene_names.h"
#include "core/script/bridge/view.h"
#include "core/script/bridge/world_read.h"
#include "core/script/runtime/value.h"

#define VIEW_RADIUS_MAX 512 // found by one query

// Members that a script of this client has painted over the server's.
typedef struct ViewPaint {
    uint64_t net_id;
    uint32_t members;
    Paint over;
    Paint server; // when it was last compared: a member that differs was changed by the server
} ViewPaint;

struct View {
    ScriptWorld world; // first
    ViewConfig config;
    const Sim *sim;
    SceneNames scene_names;
    AttributeTable attributes;
    AttributeListener listener;
    Roster roster;
    EffectQueue effects;
    Pool locals; // of ViewLocal
    IdMap local_map;
    uint64_t next_local;
    ViewPaint *paints;
    uint32_t paint_count;
    IdMap paint_map; // net id → 1 + its place in paints
    uint64_t paint_version;
    uint64_t *gone; // net ids of local entities
    uint32_t gone_count;
    ViewKey keys[VIEW_KEYS_MAX];
    uint32_t key_count;
    bool asks_fire, asks_use;
    bool has_camera;
    Vec3 camera_position, camera_forward;
    Sky sky;
    ViewCamera camera;
    ViewVisual visuals[VIEW_VISUALS_MAX]; // of the scripts here, the oldest first
    uint64_t visual_owners[VIEW_VISUALS_MAX];
    uint32_t visual_count;
    Moment moments[VIEW_MOMENTS_MAX]; // a ring
    uint32_t moment_first, moment_count;
    uint64_t moments_dropped;
    ViewShown *shown; // their trees stand in the same order in ui
    uint32_t shown_count;
    uint8_t *ui;
    size_t ui_bytes;
    SimRef *refs;                  // scratch
    SoundTable sounds, own_sounds; // that go on: the server's, and those of scripts here
    uint32_t sounds_taken;         // so many effects were looked at for sounds
    uint64_t locals_refused;
    uint64_t denied_count;
};

ViewLocal *view_local_find(const View *view, uint64_t net_id); // NULL: none
bool view_find(const View *view, uint64_t net_id, WorldThing *out);
// Keeps one that goes on, or queues one that ends by itself.
Status view_sound(View *view, const ScriptSound *sound, uint32_t maker);
bool view_key_is_down(View *view, Text name); // view_key.c; remembers that "Fire" was asked for
// view_methods.c
const ScriptWorldMethods *view_methods(void);

// --- view_paint.c -------------------------------------------------------------------------------
size_t view_paint_bytes(const ViewConfig *config);
MUST_USE Status view_paint_init(View *view, Arena *arena);
bool view_paint_read(ScriptWorld *world, uint64_t net_id, Paint *out);
Status view_paint_set(ScriptWorld *world, uint64_t net_id, const Paint *paint, uint32_t members);

// --- view_ui.c ----------------------------------------------------------------------------------
size_t view_ui_bytes(const ViewConfig *config);
MUST_USE Status view_ui_init(View *view, Arena *arena);
Status view_show(ScriptWorld *world, uint64_t owner, uint64_t entity, const uint8_t *tree,
                 size_t bytes);

// --- view_visual.c ------------------------------------------------------------------------------
Sky view_read_sky(ScriptWorld *world);
ScriptCamera view_camera_wanted(ScriptWorld *world);
Status view_want_camera(ScriptWorld *world, uint64_t owner, const ScriptCamera *camera);
void view_forget(ScriptWorld *world, uint64_t owner);
Status view_moment(ScriptWorld *world, const Moment *moment, uint64_t player_id);
Status view_set_visual(ScriptWorld *world, uint64_t owner, uint64_t net_id, VisualKind kind,
                       const Visual *visual);

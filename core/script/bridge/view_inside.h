// The inside of a View, for view*.c alone.
#pragma once

#include "core/script/bridge/scene_names.h"
#include "core/script/bridge/view.h"
#include "core/script/bridge/world_read.h"
#include "core/script/runtime/value.h"

#define VIEW_RADIUS_MAX 512 // found by one query

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
    uint64_t *gone; // net ids of local entities
    uint32_t gone_count;
    ViewKey keys[VIEW_KEYS_MAX];
    uint32_t key_count;
    bool has_camera;
    Vec3 camera_position, camera_forward;
    ViewShown *shown; // their trees stand in the same order in ui
    uint32_t shown_count;
    uint8_t *ui;
    size_t ui_bytes;
    SimRef *refs; // scratch
    uint64_t locals_refused;
    uint64_t denied_count;
};

ViewLocal *view_local_find(const View *view, uint64_t net_id); // NULL: none
bool view_find(const View *view, uint64_t net_id, WorldThing *out);
bool view_key_is_down(const View *view, Text name); // view_key.c
// view_methods.c
const ScriptWorldMethods *view_methods(void);

// --- view_ui.c ----------------------------------------------------------------------------------
size_t view_ui_bytes(const ViewConfig *config);
MUST_USE Status view_ui_init(View *view, Arena *arena);
Status view_show(ScriptWorld *world, uint64_t owner, uint64_t entity, const uint8_t *tree,
                 size_t bytes);

// What a client's scripts want of the picture: the camera, bursts, beams and shakes that wait for
// the next picture, and trails, lights and emitters for this client alone.
#include "core/script/bridge/view_inside.h"

#include "core/base/check.h"
#include "core/script/bridge/world_limit.h"

#include <string.h>

static View *of(ScriptWorld *world)
{
    return (View *)world;
}

// --- sky and camera -----------------------------------------------------------------------------

void view_set_sky(View *view, const Sky *sky)
{
    if (sky_is_valid(sky)) {
        view->sky = *sky;
    }
}

Sky view_sky(const View *view)
{
    return view->sky;
}

Sky view_read_sky(ScriptWorld *world)
{
    return of(world)->sky;
}

const ViewCamera *view_camera(const View *view)
{
    return &view->camera;
}

ScriptCamera view_camera_wanted(ScriptWorld *world)
{
    return of(world)->camera.wanted;
}

Status view_want_camera(ScriptWorld *world, uint64_t owner, const ScriptCamera *camera)
{
    const float extent = 2.0f * (float)WORLD_EXTENT_M;
    const bool is_near = vec3_is_finite(camera->position) && vec3_is_finite(camera->target) &&
                         vec3_length(camera->position) <= extent &&
                         vec3_length(camera->target) <= extent;
    if (!is_near || !(camera->seconds >= 0 && camera->seconds <= CAMERA_MOVE_SECONDS_MAX) ||
        !(camera->field_of_view >= CAMERA_FIELD_MIN && camera->field_of_view <= CAMERA_FIELD_MAX)) {
        return STATUS_RANGE;
    }
    ViewCamera *now = &of(world)->camera;
    *now = (ViewCamera){.wanted = *camera, .owner = owner, .version = now->version + 1};
    return STATUS_OK;
}

// --- moments ------------------------------------------------------------------------------------

Status view_moment(ScriptWorld *world, const Moment *moment, uint64_t player_id)
{
    View *view = of(world);
    if (player_id != 0 && player_id != view->config.local_player) {
        view->denied_count += 1;
        return STATUS_DENIED; // a client shows it to its own player only
    }
    if (!moment_is_valid(moment)) {
        return STATUS_RANGE;
    }
    if (view->config.ui_bytes_max == 0) {
        return STATUS_OK; // nobody draws
    }
    if (view->moment_count == VIEW_MOMENTS_MAX) {
        view->moment_first = (view->moment_first + 1) % VIEW_MOMENTS_MAX;
        view->moment_count -= 1;
        view->moments_dropped += 1;
    }
    view->moments[(view->moment_first + view->moment_count) % VIEW_MOMENTS_MAX] = *moment;
    view->moment_count += 1;
    return STATUS_OK;
}

bool view_moment_take(View *view, Moment *out)
{
    if (view->moment_count == 0) {
        return false;
    }
    *out = view->moments[view->moment_first];
    view->moment_first = (view->moment_first + 1) % VIEW_MOMENTS_MAX;
    view->moment_count -= 1;
    return true;
}

// --- trails, lights, emitters -------------------------------------------------------------------

static void remove_at(View *view, uint32_t index)
{
    view->visual_count -= 1;
    const uint32_t after = view->visual_count - index;
    memmove(&view->visuals[index], &view->visuals[index + 1], after * sizeof view->visuals[0]);
    memmove(&view->visual_owners[index], &view->visual_owners[index + 1],
            after * sizeof view->visual_owners[0]);
}

static uint32_t find_own(const View *view, uint64_t net_id, VisualKind kind)
{
    uint32_t at = 0;
    while (at < view->visual_count &&
           (view->visuals[at].net_id != net_id || view->visuals[at].kind != kind)) {
        at += 1;
    }
    return at;
}

static void remove_gone(View *view)
{
    for (uint32_t i = view->visual_count; i > 0; i--) {
        ScriptEntityInfo info;
        if (!view->world.methods->entity(&view->world, view->visuals[i - 1].net_id, &info)) {
            remove_at(view, i - 1);
        }
    }
}

Status view_set_visual(ScriptWorld *world, uint64_t owner, uint64_t net_id, VisualKind kind,
                       const Visual *visual)
{
    View *view = of(world);
    ScriptEntityInfo info;
    if (!world->methods->entity(world, net_id, &info)) {
        return STATUS_NOT_FOUND;
    }
    uint32_t at = find_own(view, net_id, kind);
    if (visual == NULL && info.is_local) { // the server shows nothing there that it would hide
        if (at < view->visual_count) {
            remove_at(view, at);
        }
        return STATUS_OK;
    }
    if (at == VIEW_VISUALS_MAX) {
        remove_gone(view);
        at = view->visual_count;
    }
    if (at == VIEW_VISUALS_MAX) {
        return world_limit(world, STATUS_LIMIT,
                           "the scripts of a client together set at most %d trails, lights and "
                           "emitters; take some away first",
                           VIEW_VISUALS_MAX);
    }
    view->visual_count += at == view->visual_count;
    view->visuals[at] = (ViewVisual){.net_id = net_id, .kind = kind, .is_on = visual != NULL};
    if (visual != NULL) {
        view->visuals[at].visual = *visual;
    }
    view->visual_owners[at] = owner;
    return STATUS_OK;
}

void view_forget(ScriptWorld *world, uint64_t owner)
{
    View *view = of(world);
    for (uint32_t i = view->visual_count; i > 0; i--) {
        if (view->visual_owners[i - 1] == owner) {
            remove_at(view, i - 1);
        }
    }
    if (view->camera.owner == owner && view->camera.version != 0) {
        view->camera = (ViewCamera){.wanted = {.field_of_view = CAMERA_FIELD_NORMAL},
                                    .version = view->camera.version + 1};
    }
}

// Attributes are sorted by name, and '$' comes before letters and digits: most records are passed
// over after their first one.
static uint32_t of_record(const View *view, const Record *record, ViewVisual *out, uint32_t max)
{
    uint32_t count = 0;
    AttributeEntry entry = {0};
    while (count < max && attribute_table_attribute_next(&view->attributes, record, &entry) &&
           entry.name.data[0] <= '$') {
        for (uint32_t kind = 0; kind < VISUAL_KINDS; kind++) {
            ViewVisual row = {.net_id = record->net_id, .kind = (VisualKind)kind, .is_on = true};
            if (entry.value.type == SCRIPT_TEXT &&
                text_equal(entry.name, visual_attribute(row.kind)) &&
                find_own(view, row.net_id, row.kind) == view->visual_count &&
                visual_read(row.kind, entry.value.text, &row.visual)) {
                out[count++] = row;
                break;
            }
        }
    }
    return count;
}

uint32_t view_visuals(const View *view, ViewVisual *out, uint32_t max)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < view->visual_count && count < max; i++) {
        if (view->visuals[i].is_on) {
            out[count++] = view->visuals[i];
        }
    }
    for (uint32_t slot = attribute_table_next(&view->attributes, 0); slot != 0 && count < max;
         slot = attribute_table_next(&view->attributes, slot)) {
        count +=
            of_record(view, attribute_table_at(&view->attributes, slot), &out[count], max - count);
    }
    return count;
}

// What scripts show, on its way to whoever draws it: a queue in which a newer tree replaces an
// older one of the same owner and entity.
#include "core/script/bridge/view_inside.h"
#include "core/script/bridge/world_limit.h"
#include "core/script/runtime/value.h"

#include <string.h>

size_t view_ui_bytes(const ViewConfig *config)
{
    return config->ui_bytes_max == 0
               ? 0
               : arena_need(config->ui_bytes_max) + arena_need(UI_WAITING_MAX * sizeof(ViewShown));
}

Status view_ui_init(View *view, Arena *arena)
{
    if (view->config.ui_bytes_max == 0) {
        return STATUS_OK;
    }
    view->shown = arena_array(arena, UI_WAITING_MAX, sizeof(ViewShown));
    view->ui = arena_alloc(arena, view->config.ui_bytes_max);
    return view->shown == NULL || view->ui == NULL ? STATUS_LIMIT : STATUS_OK;
}

static void remove_at(View *view, uint32_t index)
{
    size_t before = 0;
    for (uint32_t i = 0; i < index; i++) {
        before += view->shown[i].bytes;
    }
    const size_t bytes = view->shown[index].bytes;
    memmove(view->ui + before, view->ui + before + bytes, view->ui_bytes - before - bytes);
    view->ui_bytes -= bytes;
    view->shown_count -= 1;
    memmove(&view->shown[index], &view->shown[index + 1],
            (view->shown_count - index) * sizeof(ViewShown));
}

Status view_show(ScriptWorld *world, uint64_t owner, uint64_t entity, const uint8_t *tree,
                 size_t bytes)
{
    View *view = (View *)world;
    const size_t bytes_max = view->config.ui_bytes_max;
    if (bytes > VALUE_BYTES_MAX) {
        return STATUS_RANGE;
    }
    if (bytes_max == 0) {
        return STATUS_OK;
    }
    for (uint32_t i = 0; i < view->shown_count; i++) {
        if (view->shown[i].owner == owner && view->shown[i].entity == entity) {
            remove_at(view, i);
            break;
        }
    }
    if (view->shown_count == UI_WAITING_MAX || bytes > bytes_max - view->ui_bytes) {
        return world_limit(world, STATUS_LIMIT,
                           "all scripts of a client together show at most %u new trees at a time, "
                           "and %zu bytes in them; show less at once",
                           (unsigned)UI_WAITING_MAX, bytes_max);
    }
    if (bytes > 0) {
        memcpy(view->ui + view->ui_bytes, tree, bytes);
    }
    view->ui_bytes += bytes;
    view->shown[view->shown_count++] =
        (ViewShown){.owner = owner, .entity = entity, .bytes = bytes};
    return STATUS_OK;
}

const ViewShown *view_shown(View *view)
{
    if (view->shown_count == 0) {
        return NULL;
    }
    view->shown[0].tree = view->ui; // the oldest stands first
    return &view->shown[0];
}

void view_shown_take(View *view)
{
    if (view->shown_count > 0) {
        remove_at(view, 0);
    }
}

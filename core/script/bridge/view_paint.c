// How things look on one client: the server's paint, and over it what scripts of this client have
// painted. Such a member is hidden until the server changes that member; then the server's counts
// again. Local entities have a paint of their own.
#include "core/script/bridge/view_inside.h"

#include "core/base/check.h"
#include "core/script/bridge/world_limit.h"

size_t view_paint_bytes(const ViewConfig *config)
{
    return arena_need(config->paint_max * sizeof(ViewPaint)) + id_map_bytes(config->paint_max);
}

Status view_paint_init(View *view, Arena *arena)
{
    view->paints = arena_array(arena, view->config.paint_max, sizeof(ViewPaint));
    return view->paints == NULL ? STATUS_LIMIT
                                : id_map_init(&view->paint_map, arena, view->config.paint_max);
}

static Paint server_paint(const View *view, uint64_t net_id)
{
    if (view->config.paint_of != NULL) {
        return view->config.paint_of(view->config.paint_user, net_id);
    }
    const Entity *entity = sim_entity(view->sim, sim_find(view->sim, net_id));
    const Paint own = place_paint(&view->config.paints, net_id, entity);
    const Record *record = attribute_table_find(&view->attributes, net_id);
    return record == NULL ? own : paint_merge(&own, &record->paint, record->painted);
}

static ViewPaint *find_paint(const View *view, uint64_t net_id)
{
    const uint32_t number = id_map_find(&view->paint_map, net_id);
    return number == 0 ? NULL : &view->paints[number - 1];
}

static void forget_paint(View *view, ViewPaint *paint)
{
    const ViewPaint last = view->paints[--view->paint_count];
    id_map_remove(&view->paint_map, paint->net_id);
    if (last.net_id != paint->net_id) {
        *paint = last;
        id_map_put(&view->paint_map, last.net_id, (uint32_t)(paint - view->paints) + 1);
    }
    view->paint_version += 1;
}

// What the server has changed since the last time is no longer hidden; NULL: nothing is.
static ViewPaint *compare(View *view, uint64_t net_id, const Paint *server)
{
    ViewPaint *paint = find_paint(view, net_id);
    if (paint == NULL) {
        return NULL;
    }
    const uint32_t changed = paint_difference(&paint->server, server);
    view->paint_version += changed != 0;
    paint->server = *server;
    paint->members &= ~changed;
    if (paint->members == 0) {
        forget_paint(view, paint);
        return NULL;
    }
    return paint;
}

Paint view_paint(View *view, uint64_t net_id)
{
    const ViewLocal *local = view_local_find(view, net_id);
    if (local != NULL) {
        return local->paint;
    }
    const Paint server = server_paint(view, net_id);
    const ViewPaint *paint = compare(view, net_id, &server);
    return paint == NULL ? server : paint_merge(&server, &paint->over, paint->members);
}

void view_paint_server(View *view, uint64_t net_id)
{
    if (find_paint(view, net_id) != NULL) {
        const Paint server = server_paint(view, net_id);
        (void)compare(view, net_id, &server);
    }
}

void view_paint_forget(View *view, uint64_t net_id)
{
    ViewPaint *paint = find_paint(view, net_id);
    if (paint != NULL) {
        forget_paint(view, paint);
    }
}

uint64_t view_paint_version(const View *view)
{
    return view->paint_version;
}

uint32_t view_painted_count(const View *view)
{
    return view->paint_count;
}

uint64_t view_painted(const View *view, uint32_t index)
{
    ASSERT(index < view->paint_count);
    return view->paints[index].net_id;
}

// --- for scripts --------------------------------------------------------------------------------

bool view_paint_read(ScriptWorld *world, uint64_t net_id, Paint *out)
{
    View *view = (View *)world;
    WorldThing thing;
    if (view_local_find(view, net_id) == NULL && !view_find(view, net_id, &thing)) {
        return false;
    }
    *out = view_paint(view, net_id);
    return true;
}

static ViewPaint *open(View *view, uint64_t net_id, const Paint *server)
{
    ViewPaint *paint = compare(view, net_id, server);
    if (paint == NULL && view->paint_count < view->config.paint_max) {
        paint = &view->paints[view->paint_count++];
        *paint = (ViewPaint){.net_id = net_id, .over = paint_default, .server = *server};
        id_map_put(&view->paint_map, net_id, view->paint_count);
    }
    return paint;
}

// A member that is painted as the server has it hides nothing.
Status view_paint_set(ScriptWorld *world, uint64_t net_id, const Paint *paint, uint32_t members)
{
    View *view = (View *)world;
    ViewLocal *local = view_local_find(view, net_id);
    if (local != NULL) {
        local->paint = paint_merge(&local->paint, paint, members);
        view->paint_version += 1;
        return STATUS_OK;
    }
    WorldThing thing;
    if (!view_find(view, net_id, &thing)) {
        return STATUS_NOT_FOUND;
    }
    const Paint server = server_paint(view, net_id);
    ViewPaint *kept = open(view, net_id, &server);
    if (kept == NULL) {
        return world_limit(world, STATUS_LIMIT,
                           "scripts of a client paint at most %u things of the server",
                           (unsigned)view->config.paint_max);
    }
    kept->over = paint_merge(&kept->over, paint, members);
    kept->members = (kept->members | members) & paint_difference(&server, &kept->over);
    view->paint_version += 1;
    if (kept->members == 0) {
        forget_paint(view, kept);
    }
    return STATUS_OK;
}

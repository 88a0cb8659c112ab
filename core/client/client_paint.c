// How things look on this client: what the server says of those in sight, the scene of the others,
// and over both what client scripts have painted (view_paint.c).
#include "core/client/client_inside.h"

Paint client_server_paint(void *user, uint64_t net_id)
{
    const Client *client = user;
    for (uint32_t slot = 0; slot < NET_SLOTS_MAX; slot++) {
        const MergeSlot *entity = &client->merge.slots[slot];
        if (client->ids[slot] == net_id) {
            return entity->state.paint;
        }
    }
    Paint paint;
    if (client_part_paint(client, net_id, &paint)) {
        return paint;
    }
    return client->place == NULL ? paint_default
                                 : place_paint(&client->place->paints, net_id, NULL);
}

void client_painted_by_server(Client *client, uint64_t net_id)
{
    client->paint_version += 1;
    if (client->script.view != NULL) {
        view_paint_server(client->script.view, net_id);
    }
}

Paint client_paint(const Client *client, uint64_t net_id)
{
    return client->script.view != NULL ? view_paint(client->script.view, net_id)
                                       : client_server_paint((void *)(uintptr_t)client, net_id);
}

uint64_t client_paint_version(const Client *client)
{
    const View *view = client->script.view;
    return client->paint_version + client_paint_change(client) +
           (view != NULL ? view_paint_version(view) : 0);
}

static void report_paint(const Client *client, uint64_t net_id, ClientPaintSink sink, void *user)
{
    const Paint paint = client_paint(client, net_id);
    sink(user, net_id, &paint);
}

void client_painted(const Client *client, ClientPaintSink sink, void *user)
{
    for (uint32_t slot = 0; slot < NET_SLOTS_MAX; slot++) {
        if (client->ids[slot] != 0) {
            report_paint(client, client->ids[slot], sink, user);
        }
    }
    for (uint64_t net_id = client_next_painted(client, 0); net_id != 0;
         net_id = client_next_painted(client, net_id)) {
        report_paint(client, net_id, sink, user);
    }
    const View *view = client->script.view;
    if (view == NULL) {
        return;
    }
    // From the last to the first: looking may find that one of them hides nothing any more.
    for (uint32_t i = view_painted_count(view); i > 0; i--) {
        report_paint(client, view_painted(view, i - 1), sink, user);
    }
    for (uint32_t slot = view_local_next(view, 0); slot != 0; slot = view_local_next(view, slot)) {
        report_paint(client, view_local_at(view, slot)->net_id, sink, user);
    }
}

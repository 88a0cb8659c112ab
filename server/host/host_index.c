// Worlds by id and by room code: two sorted lists of their numbers, so that a join looks at a few
// of many thousands, and a list of worlds can go on after any id.
#include "server/host/host_inside.h"

#include <stdio.h>
#include <strings.h>

Status host_index_open(Host *host)
{
    host->by_id = calloc(HOST_WORLDS_MAX, sizeof *host->by_id);
    host->by_code = calloc(HOST_WORLDS_MAX, sizeof *host->by_code);
    return host->by_id != NULL && host->by_code != NULL ? STATUS_OK : STATUS_LIMIT;
}

void host_index_close(Host *host)
{
    free(host->by_id);
    free(host->by_code);
}

// Where the first one that is not before that name stands. Codes are compared without their case.
static uint32_t find_place(const Host *host, bool is_code, const char *name)
{
    const uint32_t *list = is_code ? host->by_code : host->by_id;
    uint32_t low = 0, high = is_code ? host->code_count : host->id_count;
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        const StoreWorld *row = &host->worlds[list[middle]]->row;
        const int order = is_code ? strcasecmp(row->room_code, name) : strcmp(row->world_id, name);
        if (order < 0) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

static void insert(uint32_t *list, uint32_t *count, uint32_t at, uint32_t number)
{
    ASSERT(*count < HOST_WORLDS_MAX && at <= *count);
    memmove(&list[at + 1], &list[at], (*count - at) * sizeof *list);
    list[at] = number;
    *count += 1;
}

static void take_out(uint32_t *list, uint32_t *count, uint32_t at)
{
    *count -= 1;
    memmove(&list[at], &list[at + 1], (*count - at) * sizeof *list);
}

void host_index_add(HostWorld *world)
{
    Host *host = world->host;
    insert(host->by_id, &host->id_count, find_place(host, false, world->row.world_id),
           world->number);
    if (world->row.room_code[0] != '\0') {
        insert(host->by_code, &host->code_count, find_place(host, true, world->row.room_code),
               world->number);
    }
}

void host_index_remove(HostWorld *world)
{
    Host *host = world->host;
    const uint32_t id = find_place(host, false, world->row.world_id);
    if (id < host->id_count && host->by_id[id] == world->number) {
        take_out(host->by_id, &host->id_count, id);
    }
    const uint32_t code = find_place(host, true, world->row.room_code);
    if (code < host->code_count && host->by_code[code] == world->number) {
        take_out(host->by_code, &host->code_count, code);
    }
}

void host_world_set_code(HostWorld *world, const char *room_code)
{
    host_index_remove(world);
    snprintf(world->row.room_code, sizeof world->row.room_code, "%s", room_code);
    host_index_add(world);
    hosted_changed(world);
}

HostWorld *host_world(Host *host, const char *name)
{
    if (name[0] == '\0') {
        return NULL;
    }
    const uint32_t id = find_place(host, false, name);
    if (id < host->id_count && strcmp(host->worlds[host->by_id[id]]->row.world_id, name) == 0) {
        return host->worlds[host->by_id[id]];
    }
    const uint32_t code = find_place(host, true, name);
    if (code < host->code_count &&
        strcasecmp(host->worlds[host->by_code[code]]->row.room_code, name) == 0) {
        return host->worlds[host->by_code[code]];
    }
    return NULL;
}

uint32_t host_world_after(const Host *host, const char *world_id)
{
    uint32_t at = find_place(host, false, world_id);
    if (at < host->id_count && strcmp(host->worlds[host->by_id[at]]->row.world_id, world_id) == 0) {
        at += 1;
    }
    return at < host->id_count ? at : UINT32_MAX;
}

uint32_t host_world_next(const Host *host, uint32_t position)
{
    return position + 1 < host->id_count ? position + 1 : UINT32_MAX;
}

HostWorld *host_world_in_order(const Host *host, uint32_t position)
{
    ASSERT(position < host->id_count);
    return host->worlds[host->by_id[position]];
}

// See rooms.h.
#include "server/serve/rooms.h"

#include "core/base/limits.h"

#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

typedef struct Room {
    char world_id[65], room_code[17];
    bool is_ready, is_private;
} Room;

typedef struct RoomMiss {
    uint64_t address, since_ms;
    uint32_t count;
} RoomMiss;

struct Rooms {
    pthread_mutex_t lock;
    Room *all;
    uint32_t count, capacity;
    RoomMiss misses[ROOM_MISS_SLOTS]; // by address; the older one gives way
};

Status rooms_create(Rooms **out)
{
    Rooms *rooms = calloc(1, sizeof *rooms);
    if (rooms == NULL) {
        return STATUS_LIMIT;
    }
    pthread_mutex_init(&rooms->lock, NULL);
    *out = rooms;
    return STATUS_OK;
}

void rooms_destroy(Rooms *rooms)
{
    if (rooms != NULL) {
        pthread_mutex_destroy(&rooms->lock);
        free(rooms->all);
        free(rooms);
    }
}

static Room *find_room(const Rooms *rooms, const char *name)
{
    for (uint32_t i = 0; i < rooms->count; i++) {
        if (strcmp(rooms->all[i].world_id, name) == 0 ||
            strcasecmp(rooms->all[i].room_code, name) == 0) {
            return &rooms->all[i];
        }
    }
    return NULL;
}

static Status grow(Rooms *rooms, uint32_t count)
{
    if (count > rooms->capacity) {
        const uint32_t more = 2 * count + 16;
        Room *grown = realloc(rooms->all, more * sizeof *grown);
        if (grown == NULL) {
            return STATUS_LIMIT;
        }
        rooms->all = grown;
        rooms->capacity = more;
    }
    for (; rooms->count < count; rooms->count++) {
        rooms->all[rooms->count] = (Room){.is_ready = false};
    }
    return STATUS_OK;
}

static void set_room(Room *room, const char *world_id, const char *room_code, bool is_ready,
                     bool is_private)
{
    room->is_private = is_private;
    if (strcmp(room->world_id, world_id) != 0 || strcmp(room->room_code, room_code) != 0) {
        memcpy(room->world_id, world_id, strlen(world_id) + 1);
        memcpy(room->room_code, room_code, strlen(room_code) + 1);
    }
    room->is_ready = is_ready;
}

Status rooms_put(Rooms *rooms, uint32_t number, const char *world_id, const char *room_code,
                 bool is_ready, bool is_private)
{
    pthread_mutex_lock(&rooms->lock);
    const Status status = grow(rooms, number + 1);
    if (status == STATUS_OK) {
        set_room(&rooms->all[number], world_id, room_code, is_ready, is_private);
    }
    pthread_mutex_unlock(&rooms->lock);
    return status;
}

bool rooms_find(Rooms *rooms, const char *name, bool *is_ready, bool *is_private)
{
    pthread_mutex_lock(&rooms->lock);
    const Room *room = name[0] != '\0' ? find_room(rooms, name) : NULL;
    *is_ready = room != NULL && room->is_ready;
    *is_private = room != NULL && room->is_private;
    pthread_mutex_unlock(&rooms->lock);
    return room != NULL;
}

bool rooms_may_guess(Rooms *rooms, uint64_t address, uint64_t now_ms, bool is_miss)
{
    pthread_mutex_lock(&rooms->lock);
    RoomMiss *miss = &rooms->misses[address % ROOM_MISS_SLOTS];
    if (miss->address != address || now_ms - miss->since_ms >= ROOM_MISSES_MS) {
        *miss = (RoomMiss){.address = address, .since_ms = now_ms};
    }
    const bool may = miss->count < ROOM_MISSES_MAX;
    miss->count += is_miss && may;
    pthread_mutex_unlock(&rooms->lock);
    return may;
}

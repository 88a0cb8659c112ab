// See http_socket.h. An array of slots that grows to its cap; a number is a slot and how often the
// slot was used, so that an old number means nobody.
#include "server/net/http_socket.h"

#include "core/base/check.h"
#include "core/base/limits.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define FIRST_SLOTS 64

typedef struct Slot {
    uint64_t address, account, owner; // address 0: it counts for the account
    uint64_t from;                    // the address in any case
    uint32_t generation;              // raised when it is taken; never 0 for one that is used
    bool used;
} Slot;

struct HttpSockets {
    pthread_mutex_t lock;
    uint32_t per_address_max;
    Slot *slots;
    uint32_t capacity, used;
};

Status http_sockets_create(uint32_t per_address_max, HttpSockets **out)
{
    HttpSockets *sockets = calloc(1, sizeof *sockets);
    if (sockets == NULL) {
        return STATUS_LIMIT;
    }
    pthread_mutex_init(&sockets->lock, NULL);
    sockets->per_address_max = per_address_max;
    *out = sockets;
    return STATUS_OK;
}

void http_sockets_destroy(HttpSockets *sockets)
{
    if (sockets != NULL) {
        pthread_mutex_destroy(&sockets->lock);
        free(sockets->slots);
        free(sockets);
    }
}

static bool grow(HttpSockets *sockets)
{
    const uint32_t wanted = sockets->capacity > 0 ? 2 * sockets->capacity : FIRST_SLOTS;
    const uint32_t capacity = wanted < HTTP_SOCKETS_MAX ? wanted : HTTP_SOCKETS_MAX;
    Slot *slots = capacity > sockets->capacity
                      ? realloc(sockets->slots, (size_t)capacity * sizeof *slots)
                      : NULL;
    if (slots == NULL) {
        return false;
    }
    for (uint32_t i = sockets->capacity; i < capacity; i++) {
        slots[i] = (Slot){0};
    }
    sockets->slots = slots;
    sockets->capacity = capacity;
    return true;
}

// A free slot, or NULL when there are enough or there is no room.
static Slot *find_slot(HttpSockets *sockets, uint64_t address, uint64_t account)
{
    uint32_t same = 0;
    const uint32_t max = account != 0 ? HTTP_SOCKETS_PER_ACCOUNT_MAX : sockets->per_address_max;
    Slot *found = NULL;
    if (sockets->used == sockets->capacity && !grow(sockets)) {
        return NULL;
    }
    for (uint32_t i = 0; i < sockets->capacity; i++) {
        Slot *slot = &sockets->slots[i];
        same += slot->used && slot->address == address && slot->account == account;
        found = found == NULL && !slot->used ? slot : found;
    }
    return same < max ? found : NULL;
}

Status http_sockets_add(HttpSockets *sockets, uint64_t address, uint64_t account, uint64_t *number)
{
    const uint64_t from = address;
    address = account != 0 ? 0 : address;
    pthread_mutex_lock(&sockets->lock);
    Slot *slot = find_slot(sockets, address, account);
    if (slot != NULL) {
        const uint32_t generation = slot->generation + 1 > 0 ? slot->generation + 1 : 1;
        *slot = (Slot){.address = address,
                       .account = account,
                       .from = from,
                       .generation = generation,
                       .used = true};
        sockets->used += 1;
        *number = (uint64_t)generation << 32 | (uint32_t)(slot - sockets->slots);
    }
    pthread_mutex_unlock(&sockets->lock);
    return slot != NULL ? STATUS_OK : STATUS_LIMIT;
}

static Slot *slot_of(HttpSockets *sockets, uint64_t number)
{
    const uint32_t index = (uint32_t)number, generation = (uint32_t)(number >> 32);
    Slot *slot = index < sockets->capacity ? &sockets->slots[index] : NULL;
    return slot != NULL && slot->used && slot->generation == generation ? slot : NULL;
}

static void free_slot(HttpSockets *sockets, Slot *slot)
{
    ASSERT(sockets->used > 0);
    slot->used = false;
    sockets->used -= 1;
}

void http_sockets_own(HttpSockets *sockets, uint64_t number, uint64_t owner)
{
    pthread_mutex_lock(&sockets->lock);
    Slot *slot = slot_of(sockets, number);
    if (slot != NULL) {
        slot->owner = owner;
    }
    pthread_mutex_unlock(&sockets->lock);
}

void http_sockets_remove(HttpSockets *sockets, uint64_t number, uint64_t owner)
{
    pthread_mutex_lock(&sockets->lock);
    Slot *slot = slot_of(sockets, number);
    if (slot != NULL && slot->owner == owner) {
        free_slot(sockets, slot);
    }
    pthread_mutex_unlock(&sockets->lock);
}

void http_sockets_remove_all(HttpSockets *sockets, uint64_t owner)
{
    pthread_mutex_lock(&sockets->lock);
    for (uint32_t i = 0; i < sockets->capacity; i++) {
        if (sockets->slots[i].used && sockets->slots[i].owner == owner) {
            free_slot(sockets, &sockets->slots[i]);
        }
    }
    pthread_mutex_unlock(&sockets->lock);
}

uint32_t http_sockets_count(HttpSockets *sockets)
{
    pthread_mutex_lock(&sockets->lock);
    const uint32_t used = sockets->used;
    pthread_mutex_unlock(&sockets->lock);
    return used;
}

// An IPv4 address is its own key; of an IPv6 one the key is the first half.
static bool may_have(const HttpPeerRange *range, uint64_t key)
{
    HttpPeer peer = http_peer_v4((uint32_t)key);
    HttpPeerRange wide = *range;
    if (key > UINT32_MAX) {
        peer = (HttpPeer){{0}};
        for (uint32_t i = 0; i < 8; i++) {
            peer.bytes[i] = (uint8_t)(key >> (56 - 8 * i));
        }
        wide.bits = wide.bits < 64 ? wide.bits : 64;
        memset(wide.first.bytes + 8, 0, 8);
    }
    return http_peer_range_has(&wide, 1, &peer);
}

void http_sockets_each(HttpSockets *sockets, const HttpPeerRange *range,
                       void (*sink)(void *user, uint64_t number, uint64_t owner), void *user)
{
    pthread_mutex_lock(&sockets->lock);
    for (uint32_t i = 0; i < sockets->capacity; i++) {
        const Slot *slot = &sockets->slots[i];
        if (slot->used && slot->owner != 0 && may_have(range, slot->from)) {
            sink(user, (uint64_t)slot->generation << 32 | i, slot->owner);
        }
    }
    pthread_mutex_unlock(&sockets->lock);
}

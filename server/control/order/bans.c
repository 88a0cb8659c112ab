// See bans.h.
#include "server/control/order/bans.h"

#include "core/base/check.h"
#include "core/base/limits.h"
#include "server/control/control_inside.h"

#include <stdlib.h>
#include <string.h>

// Sorted by account, so that asking about one person looks at few.
struct Bans {
    StoreBan *all;
    uint32_t count, capacity;
    StoreBan *changes; // the same memory rules; oldest first
    uint32_t change_count, change_capacity;
};

static bool is_same(const StoreBan *a, const StoreBan *b)
{
    return a->account_id == b->account_id && a->kind == b->kind &&
           strcmp(a->world_id, b->world_id) == 0;
}

// Of the first one of that account or a later one.
static uint32_t first_of(const struct Bans *bans, uint64_t account)
{
    uint32_t low = 0, high = bans->count;
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        if (bans->all[middle].account_id < account) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

static bool grow(StoreBan **list, uint32_t *capacity, uint32_t count)
{
    if (count < *capacity) {
        return true;
    }
    const uint32_t more = 2 * *capacity + 16;
    StoreBan *grown = more <= BANS_MAX ? realloc(*list, more * sizeof *grown) : NULL;
    if (grown == NULL) {
        return false;
    }
    *list = grown;
    *capacity = more;
    return true;
}

// --- in memory; the lock is held ----------------------------------------------------------------

static bool set_ban(struct Bans *bans, const StoreBan *ban)
{
    uint32_t at = first_of(bans, ban->account_id);
    for (; at < bans->count && bans->all[at].account_id == ban->account_id; at++) {
        if (is_same(&bans->all[at], ban)) {
            bans->all[at] = *ban;
            return true;
        }
    }
    if (!grow(&bans->all, &bans->capacity, bans->count)) {
        return false;
    }
    memmove(&bans->all[at + 1], &bans->all[at], (bans->count - at) * sizeof bans->all[0]);
    bans->all[at] = *ban;
    bans->count += 1;
    return true;
}

static void take_away(struct Bans *bans, const StoreBan *ban)
{
    for (uint32_t at = first_of(bans, ban->account_id);
         at < bans->count && bans->all[at].account_id == ban->account_id; at++) {
        if (is_same(&bans->all[at], ban)) {
            bans->count -= 1;
            memmove(&bans->all[at], &bans->all[at + 1], (bans->count - at) * sizeof bans->all[0]);
            return;
        }
    }
}

static void note_change(struct Bans *bans, const StoreBan *ban)
{
    if (grow(&bans->changes, &bans->change_capacity, bans->change_count)) {
        bans->changes[bans->change_count++] = *ban;
    } // else running worlds hear of it when the player comes the next time
}

// --- with the store -----------------------------------------------------------------------------

static void read_one(void *user, const StoreBan *ban)
{
    Control *control = user;
    if (ban->until_unix_ms > control_now(control)) {
        (void)set_ban(control->bans,
                      ban); // without memory it is on disk, and holds after a restart
    }
}

Status bans_read(Control *control)
{
    control->bans = calloc(1, sizeof *control->bans);
    return control->bans != NULL ? store_bans(control->config.store, read_one, control)
                                 : STATUS_LIMIT;
}

Status bans_reload(Control *control, uint64_t account)
{
    Control fresh = {.config = control->config};
    const Status status = bans_read(&fresh);
    if (status == STATUS_OK) {
        pthread_mutex_lock(&control->lock);
        const struct Bans before = *control->bans;
        control->bans->all = fresh.bans->all;
        control->bans->count = fresh.bans->count;
        control->bans->capacity = fresh.bans->capacity;
        fresh.bans->all = before.all;
        for (uint32_t i = 0; i < before.count && account == 0; i++) {
            note_change(control->bans, &before.all[i]);
        }
        for (uint32_t i = 0; i < control->bans->count && account == 0; i++) {
            note_change(control->bans, &control->bans->all[i]);
        }
        if (account != 0) {
            note_change(control->bans, &(StoreBan){.account_id = account});
        }
        pthread_mutex_unlock(&control->lock);
    }
    bans_free(&fresh);
    return status;
}

void bans_free(Control *control)
{
    if (control->bans != NULL) {
        free(control->bans->all);
        free(control->bans->changes);
        free(control->bans);
    }
}

Status control_ban(Control *control, const StoreBan *ban)
{
    Status status = store_ban_put(control->config.store, ban);
    if (status == STATUS_OK) {
        pthread_mutex_lock(&control->lock);
        status = set_ban(control->bans, ban) ? STATUS_OK : STATUS_LIMIT;
        note_change(control->bans, ban);
        pthread_mutex_unlock(&control->lock);
    }
    return status;
}

Status control_unban(Control *control, uint64_t account, const char *world_id, BanKind kind)
{
    StoreBan ban = {.account_id = account, .kind = kind};
    const Status status = store_ban_delete(control->config.store, account, world_id, kind);
    if (status == STATUS_OK) {
        memcpy(ban.world_id, world_id, strlen(world_id) + 1);
        pthread_mutex_lock(&control->lock);
        take_away(control->bans, &ban);
        note_change(control->bans, &ban);
        pthread_mutex_unlock(&control->lock);
    }
    return status;
}

// --- asking -------------------------------------------------------------------------------------

bool control_find_ban(Control *control, uint64_t account, const char *world_id, BanKind kind,
                      StoreBan *out)
{
    const uint64_t now = control_now(control);
    uint64_t until = now;
    pthread_mutex_lock(&control->lock);
    const struct Bans *bans = control->bans;
    for (uint32_t i = first_of(bans, account);
         i < bans->count && bans->all[i].account_id == account; i++) {
        const StoreBan *ban = &bans->all[i];
        const bool is_here = ban->world_id[0] == '\0' || strcmp(ban->world_id, world_id) == 0;
        if (ban->kind == kind && is_here && ban->until_unix_ms > until) {
            until = ban->until_unix_ms;
            *out = *ban;
        }
    }
    pthread_mutex_unlock(&control->lock);
    return until > now;
}

uint32_t control_bans(Control *control, StoreBan *out, uint32_t max)
{
    const uint64_t now = control_now(control);
    uint32_t count = 0;
    pthread_mutex_lock(&control->lock);
    for (uint32_t i = 0; i < control->bans->count; i++) {
        if (control->bans->all[i].until_unix_ms > now) {
            if (count < max) {
                out[count] = control->bans->all[i];
            }
            count += 1;
        }
    }
    pthread_mutex_unlock(&control->lock);
    return count;
}

bool control_take_ban_change(Control *control, StoreBan *out)
{
    pthread_mutex_lock(&control->lock);
    struct Bans *bans = control->bans;
    const bool any = bans->change_count > 0;
    if (any) {
        *out = bans->changes[0];
        bans->change_count -= 1;
        memmove(&bans->changes[0], &bans->changes[1], bans->change_count * sizeof bans->changes[0]);
    }
    pthread_mutex_unlock(&control->lock);
    return any;
}

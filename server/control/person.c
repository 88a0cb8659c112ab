// Deleting everything about a person. See account.h.
#include "server/control/control_inside.h"

#include "server/control/order/bans.h"
#include "server/store/people/store_person.h"

#include <stdlib.h>

#define AGAIN_MS (10 * 60000ull) // how long a world may still write about somebody who left it

static void note(Control *control, uint64_t account, uint64_t unix_ms)
{
    pthread_mutex_lock(&control->lock);
    control->deleted[control->deleted_next] = (Deleted){account, unix_ms};
    control->deleted_next = (control->deleted_next + 1) % CONTROL_DELETED_MAX;
    pthread_mutex_unlock(&control->lock);
}

void control_note_deleted(Control *control, uint64_t account, uint64_t unix_ms)
{
    if (unix_ms + AGAIN_MS > control_now(control)) {
        note(control, account, unix_ms);
    }
}

// Why somebody may not come in is about them too.
static void lift_bans(Control *control, uint64_t account)
{
    const uint32_t count = control_bans(control, NULL, 0);
    StoreBan *bans = count > 0 ? calloc(count, sizeof *bans) : NULL;
    const uint32_t found = bans != NULL ? control_bans(control, bans, count) : 0;
    for (uint32_t i = 0; i < found && i < count; i++) {
        if (bans[i].account_id == account) {
            status_ignore(control_unban(control, account, bans[i].world_id, bans[i].kind));
        }
    }
    free(bans);
}

Status control_delete_person(Control *control, uint64_t account)
{
    pthread_mutex_t *stripe = control_stripe(control, account);
    pthread_mutex_lock(stripe);
    lift_bans(control, account);
    const Status status = store_person_delete(control->config.store, account);
    if (status == STATUS_OK) {
        sign_ins_forget(control, account, NULL);
        control_forget_blocks(control, account);
        class_forget_pupil(control, NULL, account);
    }
    pthread_mutex_unlock(stripe);
    if (status == STATUS_OK) {
        note(control, account, control_now(control));
    }
    return status;
}

void person_delete_again(Control *control)
{
    const uint64_t now = control_now(control);
    for (uint32_t i = 0; i < CONTROL_DELETED_MAX; i++) {
        pthread_mutex_lock(&control->lock);
        const Deleted deleted = control->deleted[i];
        const bool is_over = deleted.account == 0 || deleted.unix_ms + AGAIN_MS <= now;
        if (is_over) {
            control->deleted[i] = (Deleted){0};
        }
        pthread_mutex_unlock(&control->lock);
        if (!is_over) {
            status_ignore(store_person_delete(control->config.store, deleted.account)); // or later
        }
    }
}

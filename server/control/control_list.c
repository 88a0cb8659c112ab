// What operators see of sign-ins, and how they sweep. See control.h.
#include "server/control/control_inside.h"

#include <string.h>
#include <strings.h>

#define UNSEEN_MS (30ull * 24 * 3600000) // guests without data are forgotten after this

uint32_t control_sign_ins(Control *control, uint64_t account, ControlSignIn *out, uint32_t max)
{
    uint32_t count = 0;
    const uint64_t now = control_now(control);
    pthread_mutex_lock(&control->lock);
    for (uint32_t i = 0; i < control->slot_count; i++) {
        const SignIn *sign_in = control->slots[i];
        if (sign_in == NULL || sign_in->row.expires_unix_ms <= now ||
            (account != 0 && sign_in->row.account_id != account)) {
            continue;
        }
        if (count < max) {
            ControlSignIn *to = &out[count];
            sign_in_identity(sign_in, &to->who);
            memcpy(to->token_name, sign_in->row.name, sizeof to->token_name);
            to->created_unix_ms = sign_in->row.created_unix_ms;
            to->used_unix_ms = sign_in->row.used_unix_ms;
            to->expires_unix_ms = sign_in->row.expires_unix_ms;
        }
        count += 1;
    }
    pthread_mutex_unlock(&control->lock);
    return count;
}

Status control_sweep(Control *control, StoreSwept *out)
{
    const uint64_t now = control_now(control);
    StoreSwept swept = {0};
    const Status status =
        store_sweep(control->config.store, now, now > UNSEEN_MS ? now - UNSEEN_MS : 0, &swept);
    if (status == STATUS_OK) {
        control_write(control); // and in memory
        *out = swept;
    }
    return status;
}

// --- reports ------------------------------------------------------------------------------------

bool control_may_kick(Control *control, uint64_t account, uint32_t *wait_s)
{
    return attempts_take(control->attempts, ATTEMPT_KICK, &account, sizeof account,
                         control_now(control), wait_s);
}

bool control_may_report(Control *control, uint64_t account, uint64_t address, uint32_t *wait_s)
{
    const uint64_t now = control_now(control);
    return attempts_take(control->attempts, ATTEMPT_REPORT, &account, sizeof account, now,
                         wait_s) &&
           (address == 0 || attempts_take(control->attempts, ATTEMPT_REPORTS, &address,
                                          sizeof address, now, wait_s));
}

// See control.h.
#include "server/control/control_inside.h"
#include "server/control/issuer/issuer.h"
#include "server/store/place/store_listing.h"

#include "core/base/check.h"
#include "core/base/utf8.h"
#include "core/sim/sim.h"
#include "server/control/password.h"
#include "server/sys/clock.h"
#include "server/sys/entropy.h"

#include <inttypes.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WRITE_USES_MS 60000 // uses are written at most so often

uint64_t control_now(const Control *control)
{
    return control->config.unix_ms != NULL ? control->config.unix_ms(control->config.user)
                                           : clock_unix_ms();
}

uint64_t control_new_account(void)
{
    return (entropy_u64() & (SIM_NET_ID_MAX >> 1)) | 1;
}

pthread_mutex_t *control_stripe(Control *control, uint64_t account)
{
    return &control->stripes[(account >> 1) % CONTROL_STRIPES]; // the last bit is always set
}

// A name that does not exist has a password that nobody knows: to refuse it costs the same work.
static Status make_nobody(Control *control)
{
    char random[TOKEN_TEXT_BYTES];
    token_make(random);
    return password_hash(random, control->nobody);
}

// Those of the config that have an address. False: no memory.
static bool make_issuer(const IssuerConfig *config, Issuer **out)
{
    const bool is_one = config != NULL && config->issuer != NULL && config->issuer[0] != '\0';
    *out = is_one ? issuer_create(config) : NULL;
    return !is_one || *out != NULL;
}

static Status open_control(Control *control)
{
    Status status = attempts_create(&control->attempts);
    status = status == STATUS_OK && !control->config.guests_only ? make_nobody(control) : status;
    status = status == STATUS_OK ? sign_ins_read(control) : status;
    status = status == STATUS_OK ? bans_read(control) : status;
    status = status == STATUS_OK ? chat_read(control) : status;
    status = status == STATUS_OK ? address_bans_read(control) : status;
    status = status == STATUS_OK ? classes_read(control) : status;
    control->approves = control->config.approves;
    if (status == STATUS_OK && !control->config.guests_only) {
        status = store_listing_require_approval(control->config.store, control->approves);
    }
    status = status == STATUS_OK ? host_keys_read(control) : status;
    control->is_open = control->config.is_open;
    if (status == STATUS_OK && control->config.is_shared && !control->config.guests_only) {
        status = live_settings_open(control);
    }
    return status;
}

Status control_create(const ControlConfig *config, Control **out)
{
    Control *control = calloc(1, sizeof *control);
    if (control == NULL) {
        return STATUS_LIMIT;
    }
    control->config = *config;
    pthread_mutex_init(&control->lock, NULL);
    for (uint32_t i = 0; i < CONTROL_STRIPES; i++) {
        pthread_mutex_init(&control->stripes[i], NULL);
    }
    control->written_unix_ms = control_now(control);
    const bool has_memory =
        make_issuer(config->oidc, &control->oidc) && make_issuer(config->clerk, &control->clerk);
    const Status status = has_memory ? open_control(control) : STATUS_LIMIT;
    if (status != STATUS_OK) {
        control_destroy(control);
        return status;
    }
    *out = control;
    return STATUS_OK;
}

void control_destroy(Control *control)
{
    if (control != NULL) {
        sign_ins_free(control);
        host_keys_free(control);
        attempts_destroy(control->attempts);
        bans_free(control);
        chat_free(control);
        address_bans_free(control);
        classes_free(control);
        issuer_destroy(control->oidc);
        issuer_destroy(control->clerk);
        pthread_mutex_destroy(&control->lock);
        for (uint32_t i = 0; i < CONTROL_STRIPES; i++) {
            pthread_mutex_destroy(&control->stripes[i]);
        }
        sodium_memzero(control->config.secret, sizeof control->config.secret);
        free(control);
    }
}

bool control_step(Control *control)
{
    const uint64_t now = control_now(control);
    pthread_mutex_lock(&control->lock);
    const bool is_due = now - control->written_unix_ms >= WRITE_USES_MS;
    control->written_unix_ms = is_due ? now : control->written_unix_ms;
    pthread_mutex_unlock(&control->lock);
    return is_due;
}

// STATUS_EXISTS: an account has a name that looks like it.
static Status name_guest(Control *control, const char *name, StoreAccount *account)
{
    char folded[NAME_FOLD_BYTES];
    uint64_t owner = 0;
    if (name[0] != '\0') {
        const size_t bytes = utf8_cut(name, strlen(name), sizeof account->shown_name - 2);
        snprintf(account->shown_name, sizeof account->shown_name, GUEST_SIGN "%.*s", (int)bytes,
                 name);
    } else {
        snprintf(account->shown_name, sizeof account->shown_name, GUEST_SIGN "Guest %" PRIu64,
                 account->account_id % 10000);
    }
    name_fold(account->shown_name, folded);
    const Status status = store_name_find(control->config.store, folded, &owner);
    return status == STATUS_OK && owner != 0 ? STATUS_EXISTS : status;
}

Status control_add_guest(Control *control, const char *name, Identity *who,
                         char token[TOKEN_TEXT_BYTES], ControlGuest *to_write)
{
    const uint64_t now = control_now(control);
    StoreAccount account = {
        .account_id = control_new_account(), .created_unix_ms = now, .seen_unix_ms = now};
    ASSERT(control->config.guests_only);
    if (name[0] != '\0') {
        snprintf(account.shown_name, sizeof account.shown_name, "%s", name);
    } else {
        snprintf(account.shown_name, sizeof account.shown_name, "Guest %" PRIu64,
                 account.account_id % 10000);
    }
    *to_write = (ControlGuest){.account = account};
    sign_in_make(control, account.account_id, SIGN_IN_SESSION, "", 0, &to_write->row, token);
    const Status status = sign_in_add(control, &to_write->row, &account);
    if (status == STATUS_OK) {
        const SignIn made = {.row = to_write->row, .account = account};
        sign_in_identity(&made, who);
    }
    return status;
}

void control_write_guest(Control *control, const ControlGuest *guest)
{
    // What the disk refuses is good until the process ends.
    status_ignore(store_account_put(control->config.store, &guest->account, &guest->row));
}

Status control_make_guest(Control *control, const char *name, Identity *who,
                          char token[TOKEN_TEXT_BYTES])
{
    const uint64_t now = control_now(control);
    StoreAccount account = {
        .account_id = control_new_account(), .created_unix_ms = now, .seen_unix_ms = now};
    StoreSignIn row;
    Status status = name_guest(control, name, &account);
    if (status == STATUS_OK) {
        sign_in_make(control, account.account_id, SIGN_IN_SESSION, "", 0, &row, token);
        status = store_account_put(control->config.store, &account, &row);
    }
    if (status == STATUS_OK) {
        status = sign_in_add(control, &row, &account);
    }
    if (status == STATUS_OK) {
        const SignIn made = {.row = row, .account = account};
        sign_in_identity(&made, who);
    }
    return status;
}

ControlStats control_stats(Control *control)
{
    pthread_mutex_lock(&control->lock);
    ControlStats stats = control->stats;
    stats.sign_ins = control->count;
    pthread_mutex_unlock(&control->lock);
    return stats;
}

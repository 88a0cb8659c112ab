// Links that are good once, and who may register. See account.h.
#include "server/control/control_inside.h"
#include "server/store/place/store_listing.h"

#include <string.h>

#define FOREVER INT64_MAX // as a column holds it

static Status make_link(Control *control, StoreLink *link, uint64_t duration_ms, bool is_only,
                        char token[TOKEN_TEXT_BYTES])
{
    link->created_unix_ms = control_now(control);
    link->expires_unix_ms = duration_ms < FOREVER - link->created_unix_ms
                                ? link->created_unix_ms + duration_ms
                                : FOREVER;
    token_make(token);
    token_hash(control->config.secret, "link", token, link->token_hash);
    return store_link_put(control->config.store, link, is_only);
}

// May whoever made it still make such a link? What an operator gave away ends with the role. 0 is
// the server itself, which makes none for an operator once there is one.
static bool maker_may(Control *control, const StoreLink *link)
{
    StoreAccount maker;
    uint64_t operators = 0;
    if (link->purpose == LINK_OPERATOR) {
        return store_account_count(control->config.store, ROLE_OPERATOR, &operators) == STATUS_OK &&
               operators == 0;
    }
    if (link->maker_id == 0) {
        return true;
    }
    if (store_account_find(control->config.store, link->maker_id, &maker) != STATUS_OK) {
        return false;
    }
    const bool teaches = link->purpose == LINK_INVITATION && link->roles == 0;
    return (maker.roles & (ROLE_OPERATOR | (teaches ? ROLE_TEACHER : 0u))) != 0;
}

AccountResult account_link(Control *control, const char *token, StoreLink *out)
{
    uint8_t hash[TOKEN_HASH_BYTES];
    StoreLink link;
    token_hash(control->config.secret, "link", token, hash);
    const Status status = store_link_find(control->config.store, hash, &link);
    if (status != STATUS_OK) {
        return status == STATUS_NOT_FOUND ? ACCOUNT_LINK_GONE : ACCOUNT_UNAVAILABLE;
    }
    if (link.expires_unix_ms <= control_now(control) || !maker_may(control, &link)) {
        return ACCOUNT_LINK_GONE;
    }
    *out = link;
    return ACCOUNT_OK;
}

// Each process that shares the store prints a link of its own, and which one is opened nobody
// knows.
Status control_operator_link(Control *control, char token[TOKEN_TEXT_BYTES])
{
    StoreLink link = {.purpose = LINK_OPERATOR, .roles = ROLE_OPERATOR | ROLE_CREATOR};
    uint64_t count = 0;
    const Status status = store_account_count(control->config.store, ROLE_OPERATOR, &count);
    if (status != STATUS_OK || count > 0) {
        return status != STATUS_OK ? status : STATUS_EXISTS;
    }
    const bool is_only = !control->config.is_shared;
    return make_link(control, &link, is_only ? FOREVER : LINK_OPERATOR_MS, is_only, token);
}

Status control_invite(Control *control, uint32_t roles, uint64_t duration_ms, uint64_t maker,
                      char token[TOKEN_TEXT_BYTES])
{
    StoreLink link = {.purpose = LINK_INVITATION, .roles = roles & ROLES_ALL, .maker_id = maker};
    return make_link(control, &link, duration_ms, false, token);
}

Status control_reset_link(Control *control, const char *name, uint64_t maker,
                          char token[TOKEN_TEXT_BYTES])
{
    StoreAccount account;
    const Status status = store_account_by_name(control->config.store, name, &account);
    if (status != STATUS_OK) {
        return status;
    }
    StoreLink link = {
        .purpose = LINK_PASSWORD, .account_id = account.account_id, .maker_id = maker};
    return make_link(control, &link, LINK_PASSWORD_MS, true, token);
}

// --- who may register ---------------------------------------------------------------------------

bool control_registration_is_open(Control *control)
{
    pthread_mutex_lock(&control->lock);
    const bool is_open = control->is_open;
    pthread_mutex_unlock(&control->lock);
    return is_open;
}

Status control_set_registration(Control *control, bool is_open)
{
    return live_setting_set(control, "registration", is_open ? "open" : "invite");
}

// --- what is listed -----------------------------------------------------------------------------

bool control_approves(Control *control)
{
    pthread_mutex_lock(&control->lock);
    const bool approves = control->approves;
    pthread_mutex_unlock(&control->lock);
    return approves;
}

Status control_set_approves(Control *control, bool approves)
{
    return live_setting_set(control, "approve_listing", approves ? "yes" : "no");
}

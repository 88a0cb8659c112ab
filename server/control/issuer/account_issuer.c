// Accounts of people whom an issuer names. An account is known there by the issuer's address and
// the subject that it gives, and by nothing else: names and mail addresses change hands.
#define _GNU_SOURCE
#include "server/control/control_inside.h"
#include "server/control/issuer/issuer.h"
#include "server/store/people/store_audit.h"

#include "core/base/check.h"
#include "core/base/limits.h"

#include <inttypes.h>
#include <sodium.h>
#include <stdio.h>
#include <string.h>

#define NAME_TRIES      40
#define NAME_BASE_MAX   16 // of its letters, so that a number fits behind them
#define NAME_OTHERWISE  "player"
#define IDENTITIES_MAX  8
#define SIGN_INS_LOOKED (SESSIONS_PER_ACCOUNT_MAX * 4)

Issuer *control_oidc(Control *control)
{
    return control->oidc;
}

uint64_t control_unix_ms(const Control *control)
{
    return control_now(control);
}

const uint8_t *control_secret(const Control *control)
{
    return control->config.secret;
}

void account_issuer_link_text(Control *control, const Identity *who, char out[TOKEN_TEXT_BYTES])
{
    char text[2 * TOKEN_HASH_BYTES + 1];
    uint8_t hash[TOKEN_HASH_BYTES];
    (void)sodium_bin2hex(text, sizeof text, who->sign_in, sizeof who->sign_in);
    token_hash(control->config.secret, "issuer link", text, hash);
    (void)sodium_bin2base64(out, TOKEN_TEXT_BYTES, hash, sizeof hash,
                            sodium_base64_VARIANT_URLSAFE_NO_PADDING);
}

// --- names --------------------------------------------------------------------------------------

// What of a name at the issuer may be one here: of an address, what stands before the @.
static void base_name(const char *theirs, char out[NAME_BASE_MAX + 1])
{
    size_t to = 0;
    for (; *theirs != '\0' && *theirs != '@' && to < NAME_BASE_MAX; theirs++) {
        const bool is_letter =
            (*theirs >= 'a' && *theirs <= 'z') || (*theirs >= 'A' && *theirs <= 'Z') ||
            (*theirs >= '0' && *theirs <= '9') || *theirs == '_' || *theirs == '-';
        if (is_letter) {
            out[to++] = *theirs;
        }
    }
    out[to] = '\0';
}

static bool is_free(Control *control, const char *name)
{
    char folded[NAME_FOLD_BYTES];
    uint64_t owner = 0;
    name_fold(name, folded);
    return store_name_find(control->config.store, folded, &owner) == STATUS_OK && owner == 0;
}

// A name that nobody has: theirs, or with a number; another one if theirs may not be used.
static bool choose_name(Control *control, const char *theirs, char out[STORE_NAME_BYTES])
{
    char base[NAME_BASE_MAX + 1];
    base_name(theirs, base);
    if (!name_is_valid(base) || account_check_shown(control, base) != ACCOUNT_OK) {
        snprintf(base, sizeof base, NAME_OTHERWISE);
    }
    for (uint32_t i = 1; i <= NAME_TRIES; i++) {
        const uint32_t number = i < NAME_TRIES / 2 ? i : 1000 + randombytes_uniform(8999);
        if (i == 1) {
            snprintf(out, STORE_NAME_BYTES, "%s", base);
        } else {
            snprintf(out, STORE_NAME_BYTES, "%s%" PRIu32, base, number);
        }
        if (is_free(control, out)) {
            return true;
        }
    }
    return false;
}

// --- roles --------------------------------------------------------------------------------------

// Those that the settings leave to the issuer are as its claim says; the others stay.
static uint32_t roles_of(const IssuerConfig *config, uint32_t now, const JwtClaims *claims)
{
    uint32_t decided = 0;
    for (uint32_t i = 0; i < config->role_count; i++) {
        decided |= config->roles[i].role;
    }
    return (now & ~decided) | (claims->roles & decided);
}

// Who gives roles to whom is written down, whoever it is.
static void record_roles(Control *control, uint64_t account, uint32_t was, uint32_t is)
{
    if (was == is) {
        return;
    }
    StoreAudit row = {.unix_ms = control_now(control), .account_id = account};
    snprintf(row.action, sizeof row.action, "issuer.roles");
    snprintf(row.detail, sizeof row.detail, "%s: creator %s, teacher %s, operator %s",
             issuer_name(control->oidc), (is & ROLE_CREATOR) != 0 ? "yes" : "no",
             (is & ROLE_TEACHER) != 0 ? "yes" : "no", (is & ROLE_OPERATOR) != 0 ? "yes" : "no");
    status_ignore(store_audit_add(control->config.store, &row)); // the roles themselves are stored
}

// --- accounts -----------------------------------------------------------------------------------

static void make_identity(const char *issuer, const JwtClaims *claims, StoreIdentity *out)
{
    *out = (StoreIdentity){0};
    snprintf(out->issuer, sizeof out->issuer, "%s", issuer);
    snprintf(out->subject, sizeof out->subject, "%s", claims->subject);
}

// A new account, or the guest's of that number. sign_in NULL: it is not signed in to.
static AccountResult make_account(Control *control, const StoreIdentity *identity,
                                  const char *theirs, uint32_t roles, const StoreAccount *guest,
                                  const StoreSignIn *sign_in, StoreAccount *out,
                                  AccountGiven *given)
{
    const uint64_t now = control_now(control);
    AccountResult result = ACCOUNT_NAME_TAKEN;
    for (uint32_t i = 0; i < 3 && result == ACCOUNT_NAME_TAKEN; i++) { // somebody may be quicker
        char folded[2][NAME_FOLD_BYTES];
        StoreAccountChange change = {.account = out,
                                     .was = guest,
                                     .identity = identity,
                                     .sign_in = sign_in,
                                     .ends_all = guest != NULL};
        out->roles = roles;
        out->seen_unix_ms = now;
        if (!choose_name(control, theirs, out->name)) {
            break;
        }
        snprintf(out->shown_name, sizeof out->shown_name, "%s", out->name);
        account_fold_names(out, folded, &change);
        result = account_apply(control, &change, given);
    }
    return result;
}

static AccountResult make_signed_in(Control *control, const StoreIdentity *identity,
                                    const JwtClaims *claims, const AccountAsk *ask,
                                    AccountGiven *given)
{
    StoreAccount guest = {0}, account;
    StoreSignIn sign_in;
    const IssuerConfig *config = issuer_config(control->oidc);
    if (!config->makes_accounts) {
        return ACCOUNT_CLOSED;
    }
    if (!account_take_made(control, ask, given)) {
        return ACCOUNT_LIMITED;
    }
    const bool is_guest = ask->who != NULL && ask->who->is_guest;
    if (is_guest &&
        store_account_find(control->config.store, ask->who->account, &guest) != STATUS_OK) {
        return ACCOUNT_UNAVAILABLE;
    }
    account = guest;
    if (!is_guest) {
        account = (StoreAccount){.account_id = control_new_account(),
                                 .created_unix_ms = control_now(control)};
    }
    sign_in_make(control, account.account_id, SIGN_IN_SESSION,
                 ask->browser != NULL ? ask->browser : "", 0, &sign_in, given->token);
    const uint32_t roles = roles_of(config, account.roles, claims);
    const AccountResult result = make_account(control, identity, claims->name, roles,
                                              is_guest ? &guest : NULL, &sign_in, &account, given);
    if (result == ACCOUNT_OK) {
        record_roles(control, account.account_id, guest.roles, roles);
    }
    return result;
}

AccountResult account_issuer_sign_in(Control *control, const JwtClaims *claims,
                                     const AccountAsk *ask, AccountGiven *given)
{
    StoreIdentity identity, found;
    StoreAccount was;
    ASSERT(control->oidc != NULL);
    *given = (AccountGiven){0};
    make_identity(issuer_config(control->oidc)->issuer, claims, &identity);
    Status status =
        store_identity_find(control->config.store, identity.issuer, identity.subject, &found);
    if (status == STATUS_NOT_FOUND) {
        return make_signed_in(control, &identity, claims, ask, given);
    }
    status = status == STATUS_OK ? store_account_find(control->config.store, found.account_id, &was)
                                 : status;
    if (status != STATUS_OK) {
        return ACCOUNT_UNAVAILABLE;
    }
    uint32_t roles = roles_of(issuer_config(control->oidc), was.roles, claims);
    AccountResult result = account_begin_session(control, &was, roles, ask, given);
    if (result == ACCOUNT_LAST_OPERATOR) { // somebody must be one
        roles |= ROLE_OPERATOR;
        result = account_begin_session(control, &was, roles, ask, given);
    }
    if (result == ACCOUNT_OK) {
        record_roles(control, was.account_id, was.roles, roles);
    }
    return result == ACCOUNT_WRONG ? ACCOUNT_UNAVAILABLE : result; // changed at the same time
}

AccountResult account_issuer_link(Control *control, const JwtClaims *claims, const AccountAsk *ask)
{
    StoreIdentity identity, found;
    StoreAccount was;
    AccountGiven given;
    ASSERT(control->oidc != NULL && ask->who != NULL);
    make_identity(issuer_config(control->oidc)->issuer, claims, &identity);
    Status status =
        store_identity_find(control->config.store, identity.issuer, identity.subject, &found);
    if (status == STATUS_OK) {
        return found.account_id == ask->who->account ? ACCOUNT_OK : ACCOUNT_LINKED;
    }
    status = status == STATUS_NOT_FOUND
                 ? store_account_find(control->config.store, ask->who->account, &was)
                 : status;
    if (status != STATUS_OK || was.name[0] == '\0') {
        return status == STATUS_OK ? ACCOUNT_NO_PASSWORD : ACCOUNT_UNAVAILABLE;
    }
    // One identity for an account: whoever links another one has replaced the first. Roles follow
    // the issuer from the next sign-in on.
    StoreAccountChange change = {
        .account = &was, .was = &was, .identity = &identity, .ends_identities = true};
    const AccountResult result = account_apply(control, &change, &given);
    return result == ACCOUNT_NAME_TAKEN ? ACCOUNT_LINKED
           : result == ACCOUNT_WRONG    ? ACCOUNT_UNAVAILABLE
                                        : result;
}

AccountResult account_issuer_unlink(Control *control, const AccountAsk *ask)
{
    StoreAccount was;
    AccountGiven given;
    ASSERT(ask->who != NULL);
    if (store_account_find(control->config.store, ask->who->account, &was) != STATUS_OK) {
        return ACCOUNT_UNAVAILABLE;
    }
    if (was.password[0] == '\0' && (was.roles & ROLE_PUPIL) == 0) { // pupils have their codes
        return ACCOUNT_NO_OTHER_WAY;
    }
    StoreAccountChange change = {.account = &was, .was = &was, .ends_identities = true};
    const AccountResult result = account_apply(control, &change, &given);
    return result == ACCOUNT_WRONG ? ACCOUNT_UNAVAILABLE : result;
}

// --- passwords ----------------------------------------------------------------------------------

AccountResult account_first_password(Control *control, const Identity *who, StoreAccount *was)
{
    StoreIdentity identities[IDENTITIES_MAX];
    SignInView views[SIGN_INS_LOOKED];
    uint32_t count = 0;
    if (store_account_find(control->config.store, who->account, was) != STATUS_OK ||
        store_identities(control->config.store, who->account, identities, IDENTITIES_MAX, &count) !=
            STATUS_OK) {
        return ACCOUNT_UNAVAILABLE;
    }
    if (was->password[0] != '\0' || count == 0) {
        return ACCOUNT_HAS_ONE; // or may have none: the old one decides
    }
    const uint32_t found = account_sign_ins(control, who->account, views, SIGN_INS_LOOKED);
    for (uint32_t i = 0; i < found; i++) {
        if (token_hash_equal(views[i].row.token_hash, who->sign_in) &&
            views[i].row.kind == SIGN_IN_SESSION &&
            views[i].row.created_unix_ms + ACCOUNT_FRESH_MS > control_now(control)) {
            return ACCOUNT_OK;
        }
    }
    return ACCOUNT_STALE;
}

// --- tokens that are shown as they are ----------------------------------------------------------

bool control_may_admit(const Control *control, const char *token, size_t bytes)
{
    return control != NULL && control->clerk != NULL && jwt_is_shaped(token, bytes);
}

// The account of whom the token is about; a new one for somebody who was never here.
static AccountResult find_account(Control *control, const JwtClaims *claims, StoreAccount *out)
{
    StoreIdentity identity, found;
    AccountGiven given;
    const IssuerConfig *config = issuer_config(control->clerk);
    make_identity(config->issuer, claims, &identity);
    for (uint32_t i = 0; i < 2; i++) { // two sockets of a new person come at once
        Status status =
            store_identity_find(control->config.store, identity.issuer, identity.subject, &found);
        if (status != STATUS_NOT_FOUND) {
            status = status == STATUS_OK
                         ? store_account_find(control->config.store, found.account_id, out)
                         : status;
            return status == STATUS_OK ? ACCOUNT_OK : ACCOUNT_UNAVAILABLE;
        }
        if (!config->makes_accounts) {
            return ACCOUNT_CLOSED;
        }
        *out = (StoreAccount){.account_id = control_new_account(),
                              .created_unix_ms = control_now(control)};
        const AccountResult result =
            make_account(control, &identity, claims->name, 0, NULL, NULL, out, &given);
        if (result != ACCOUNT_NAME_TAKEN) {
            return result;
        }
    }
    return ACCOUNT_UNAVAILABLE;
}

// Into the table of sign-ins, for as long as the token is good; never on disk.
static AccountResult add_issued(Control *control, const char *token, const JwtClaims *claims,
                                const StoreAccount *account, Identity *out)
{
    const uint64_t now = control_now(control);
    StoreSignIn row = {.account_id = account->account_id,
                       .kind = SIGN_IN_ISSUED,
                       .created_unix_ms = now,
                       .used_unix_ms = now,
                       .expires_unix_ms = (claims->expires_s + JWT_SLACK_S) * 1000};
    snprintf(row.name, sizeof row.name, "%.60s", issuer_name(control->clerk));
    token_hash(control->config.secret, "sign-in", token, row.token_hash);
    pthread_mutex_t *stripe = control_stripe(control, account->account_id);
    pthread_mutex_lock(stripe); // the same token may come twice at once
    Status status = identity_of_token(control, token, out);
    if (status != STATUS_OK) {
        status = sign_in_add(control, &row, account);
        const SignIn made = {.row = row, .account = *account};
        sign_in_identity(&made, out);
    }
    pthread_mutex_unlock(stripe);
    return status == STATUS_OK ? ACCOUNT_OK : ACCOUNT_UNAVAILABLE;
}

AccountResult account_issuer_admit(Control *control, const char *token, Identity *out,
                                   char words[ACCOUNT_WORDS_BYTES])
{
    _Static_assert(ACCOUNT_WORDS_BYTES == ISSUER_WORDS_BYTES, "the issuer's words fit");
    JwtClaims claims;
    StoreAccount account;
    words[0] = '\0';
    if (identity_of_token(control, token, out) == STATUS_OK) {
        return ACCOUNT_OK;
    }
    if (!control_may_admit(control, token, strlen(token))) {
        return ACCOUNT_WRONG;
    }
    const IssuerResult checked =
        issuer_check(control->clerk, token, control_now(control), &claims, words);
    if (checked != ISSUER_OK) {
        return checked == ISSUER_REFUSED ? ACCOUNT_WRONG : ACCOUNT_ISSUER;
    }
    const AccountResult result = find_account(control, &claims, &account);
    return result == ACCOUNT_OK ? add_issued(control, token, &claims, &account, out) : result;
}

// Sign-ins. All that are valid are in memory, in a table by the hash of their token, so that asking
// who somebody is waits for nothing. The store is written first: what is in the table is on disk.
// Only when one was last used is written later, at most once a minute, and may be lost with the
// process.
#include "server/control/control_inside.h"
#include "server/store/people/store_report.h"

#include "core/base/check.h"
#include "core/base/limits.h"
#include "core/base/utf8.h"

#include <sodium.h>
#include <stdlib.h>
#include <string.h>

#define EXPIRE_MS  (3600ull * 1000) // how often old evidence is looked for
#define SLOTS_MIN  1024
#define ROOM_LOOKS 64

#define HOUR_MS         3600000ull
#define SESSION_IDLE_MS (4 * HOUR_MS)
#define SESSION_MAX_MS  (7 * 24 * HOUR_MS)
#define TOKEN_IDLE_MS   (90 * 24 * HOUR_MS)
#define TOKEN_MAX_MS    (366 * 24 * HOUR_MS)

// --- times --------------------------------------------------------------------------------------

static uint64_t end_of(const StoreSignIn *row)
{
    const bool is_token = row->kind == SIGN_IN_TOKEN;
    const uint64_t idle = row->used_unix_ms + (is_token ? TOKEN_IDLE_MS : SESSION_IDLE_MS);
    const uint64_t last = row->created_unix_ms + (is_token ? TOKEN_MAX_MS : SESSION_MAX_MS);
    return idle < last ? idle : last;
}

void sign_in_make(Control *control, uint64_t account, SignInKind kind, const char *name,
                  uint32_t scope, StoreSignIn *out, char token[TOKEN_TEXT_BYTES])
{
    const uint64_t now = control_now(control);
    *out = (StoreSignIn){.account_id = account,
                         .kind = kind,
                         .scope = scope,
                         .created_unix_ms = now,
                         .used_unix_ms = now};
    const size_t bytes = utf8_cut(name, strlen(name), sizeof out->name - 1);
    memcpy(out->name, name, bytes);
    out->expires_unix_ms = end_of(out);
    token_make(token);
    token_hash(control->config.secret, "sign-in", token, out->token_hash);
}

// --- the table ----------------------------------------------------------------------------------

static uint32_t home_of(const uint8_t hash[TOKEN_HASH_BYTES], uint32_t slot_count)
{
    uint32_t number;
    memcpy(&number, hash, sizeof number); // it is random already, and nobody can choose it
    return number & (slot_count - 1);
}

// Where it is, or where it would be.
static uint32_t find_slot(SignIn *const *slots, uint32_t slot_count,
                          const uint8_t hash[TOKEN_HASH_BYTES])
{
    uint32_t at = home_of(hash, slot_count);
    while (slots[at] != NULL && !token_hash_equal(slots[at]->row.token_hash, hash)) {
        at = (at + 1) & (slot_count - 1);
    }
    return at;
}

static SignIn *find_sign_in(const Control *control, const uint8_t hash[TOKEN_HASH_BYTES])
{
    return control->slots[find_slot(control->slots, control->slot_count, hash)];
}

static bool grow(Control *control, uint32_t slot_count)
{
    SignIn **slots = calloc(slot_count, sizeof *slots);
    if (slots == NULL) {
        return false;
    }
    for (uint32_t i = 0; i < control->slot_count; i++) {
        if (control->slots[i] != NULL) {
            slots[find_slot(slots, slot_count, control->slots[i]->row.token_hash)] =
                control->slots[i];
        }
    }
    free(control->slots);
    control->slots = slots;
    control->slot_count = slot_count;
    return true;
}

// Those behind it move up, so that searches still find them.
static void remove_at(Control *control, uint32_t at)
{
    const uint32_t mask = control->slot_count - 1;
    free(control->slots[at]);
    control->slots[at] = NULL;
    control->count -= 1;
    for (uint32_t next = (at + 1) & mask; control->slots[next] != NULL; next = (next + 1) & mask) {
        SignIn *moved = control->slots[next];
        control->slots[next] = NULL;
        control->slots[find_slot(control->slots, control->slot_count, moved->row.token_hash)] =
            moved;
    }
}

// Among some of them, the one that was used longest ago: nearly the oldest of all, without a look
// at all.
static void make_room(Control *control)
{
    uint32_t oldest = UINT32_MAX, seen = 0;
    for (uint32_t i = 0; i < control->slot_count && seen < ROOM_LOOKS; i++) {
        const uint32_t at = control->room_next++ & (control->slot_count - 1);
        if (control->slots[at] == NULL) {
            continue;
        }
        seen += 1;
        if (oldest == UINT32_MAX ||
            control->slots[at]->row.used_unix_ms < control->slots[oldest]->row.used_unix_ms) {
            oldest = at;
        }
    }
    remove_at(control, oldest);
    control->stats.ended += 1;
}

Status sign_in_add(Control *control, const StoreSignIn *row, const StoreAccount *account)
{
    SignIn *made = malloc(sizeof *made);
    if (made == NULL) {
        return STATUS_LIMIT;
    }
    *made = (SignIn){.row = *row, .account = *account};
    memset(made->account.password, 0, sizeof made->account.password);
    Status status = STATUS_OK;
    pthread_mutex_lock(&control->lock);
    if (control->config.guests_only && control->count >= GUEST_SIGN_INS_MAX) {
        make_room(control);
    }
    if ((control->count + 1) * 2 > control->slot_count && !grow(control, control->slot_count * 2)) {
        status = STATUS_LIMIT;
    } else {
        const uint32_t at = find_slot(control->slots, control->slot_count, row->token_hash);
        const bool is_new = control->slots[at] == NULL; // else two threads have found it
        ASSERT(is_new || control->config.is_shared);
        free(control->slots[at]);
        control->slots[at] = made;
        control->count += is_new;
        control->stats.made += is_new;
    }
    pthread_mutex_unlock(&control->lock);
    if (status != STATUS_OK) {
        free(made);
    }
    return status;
}

// --- reading and writing ------------------------------------------------------------------------

static void read_one(void *user, const StoreSignIn *row, const StoreAccount *account)
{
    Control *control = user;
    if (find_sign_in(control, row->token_hash) == NULL) {
        status_ignore(sign_in_add(control, row, account)); // without memory they sign in again
    }
}

Status sign_ins_read(Control *control)
{
    const uint64_t now = control_now(control);
    if (!grow(control, SLOTS_MIN)) {
        return STATUS_LIMIT;
    }
    const Status status = store_sign_ins(control->config.store, now, read_one, control);
    control->stats.made = 0;
    return status;
}

void sign_ins_free(Control *control)
{
    for (uint32_t i = 0; i < control->slot_count; i++) {
        free(control->slots[i]);
    }
    free(control->slots);
}

// Copies those that were used, and removes those that have ended. NULL: no memory, or none.
static StoreSignIn *take_used(Control *control, uint64_t now, uint32_t *count)
{
    StoreSignIn *rows = NULL;
    *count = 0;
    pthread_mutex_lock(&control->lock);
    for (uint32_t i = 0; i < control->slot_count; i++) {
        while (control->slots[i] != NULL && control->slots[i]->row.expires_unix_ms <= now) {
            remove_at(control, i);
            control->stats.ended += 1;
        }
    }
    if (control->count > 0) {
        rows = malloc(control->count * sizeof *rows);
    }
    for (uint32_t i = 0; i < control->slot_count && rows != NULL; i++) {
        SignIn *sign_in = control->slots[i];
        if (sign_in != NULL && sign_in->is_used) {
            sign_in->is_used = false;
            rows[(*count)++] = sign_in->row;
        }
    }
    pthread_mutex_unlock(&control->lock);
    return rows;
}

// At the start, and once an hour.
static void expire_evidence(Control *control, uint64_t now)
{
    uint64_t lines = 0;
    if (now - control->expired_unix_ms < EXPIRE_MS || now < EVIDENCE_KEPT_MS) {
        return;
    }
    if (store_report_expire(control->config.store, now - EVIDENCE_KEPT_MS, &lines) == STATUS_OK) {
        control->expired_unix_ms = now;
    }
}

void control_write(Control *control)
{
    uint32_t count = 0;
    const uint64_t now = control_now(control);
    StoreSignIn *rows = take_used(control, now, &count);
    if (count > 0) {
        // What the disk refuses is noted at the next use.
        status_ignore(store_sign_in_used(control->config.store, rows, count));
    }
    status_ignore(store_sign_in_expire(control->config.store, now));
    person_delete_again(control);
    expire_evidence(control, now);
    free(rows);
}

// --- asking and changing ------------------------------------------------------------------------

void sign_in_identity(const SignIn *sign_in, Identity *out)
{
    const StoreAccount *account = &sign_in->account;
    *out = (Identity){.account = account->account_id,
                      .roles = account->roles,
                      .is_guest = account->name[0] == '\0',
                      .kind = (SignInKind)sign_in->row.kind,
                      .scope = sign_in->row.scope};
    memcpy(out->name, account->name, sizeof out->name);
    memcpy(out->shown_name, account->shown_name, sizeof out->shown_name);
    memcpy(out->sign_in, sign_in->row.token_hash, sizeof out->sign_in);
}

bool sign_in_has_role(Control *control, uint64_t account, uint32_t role)
{
    bool has_it = false;
    pthread_mutex_lock(&control->lock);
    for (uint32_t i = 0; i < control->slot_count && !has_it; i++) {
        const SignIn *sign_in = control->slots[i];
        has_it = sign_in != NULL && sign_in->account.account_id == account &&
                 (sign_in->account.roles & role) != 0;
    }
    pthread_mutex_unlock(&control->lock);
    return has_it;
}

// It may have been made by another process since. What is not in the store either is looked for
// again when it is shown again.
static void find_in_store(Control *control, const uint8_t hash[TOKEN_HASH_BYTES], uint64_t now)
{
    StoreSignIn row;
    StoreAccount account;
    pthread_mutex_lock(&control->lock);
    const bool is_known = find_sign_in(control, hash) != NULL;
    pthread_mutex_unlock(&control->lock);
    if (!is_known && store_sign_in_find(control->config.store, hash, &row, &account) == STATUS_OK &&
        row.expires_unix_ms > now) {
        status_ignore(sign_in_add(control, &row, &account)); // without memory they sign in again
    }
}

Status identity_of_token(Control *control, const char *token, Identity *out)
{
    uint8_t hash[TOKEN_HASH_BYTES];
    token_hash(control->config.secret, "sign-in", token, hash);
    const uint64_t now = control_now(control);
    if (control->config.is_shared) {
        find_in_store(control, hash, now);
    }
    pthread_mutex_lock(&control->lock);
    SignIn *found = find_sign_in(control, hash);
    const bool is_valid = found != NULL && found->row.expires_unix_ms > now;
    if (is_valid) {
        const bool is_issued = found->row.kind == SIGN_IN_ISSUED; // ends when it ends
        found->row.used_unix_ms = now;
        found->row.expires_unix_ms = is_issued ? found->row.expires_unix_ms : end_of(&found->row);
        found->is_used = !is_issued;
        sign_in_identity(found, out);
    } else {
        control->stats.refused += 1;
    }
    pthread_mutex_unlock(&control->lock);
    return is_valid ? STATUS_OK : STATUS_DENIED;
}

bool identity_is_current(Control *control, const Identity *who)
{
    const uint64_t now = control_now(control);
    Identity found_who = {0};
    pthread_mutex_lock(&control->lock);
    const SignIn *found = find_sign_in(control, who->sign_in);
    const bool is_valid = found != NULL && found->row.expires_unix_ms > now;
    if (is_valid) {
        sign_in_identity(found, &found_who);
    }
    pthread_mutex_unlock(&control->lock);
    return is_valid && found_who.account == who->account && found_who.roles == who->roles;
}

void sign_ins_forget(Control *control, uint64_t account, const uint8_t but[TOKEN_HASH_BYTES])
{
    pthread_mutex_lock(&control->lock);
    for (uint32_t i = 0; i < control->slot_count; i++) {
        // Another one may move up into the place.
        while (control->slots[i] != NULL && control->slots[i]->row.account_id == account &&
               (but == NULL || !token_hash_equal(control->slots[i]->row.token_hash, but))) {
            remove_at(control, i);
            control->stats.ended += 1;
        }
    }
    pthread_mutex_unlock(&control->lock);
}

void sign_ins_forget_all(Control *control)
{
    pthread_mutex_lock(&control->lock);
    for (uint32_t i = 0; i < control->slot_count; i++) {
        free(control->slots[i]);
        control->slots[i] = NULL;
    }
    control->stats.ended += control->count;
    control->count = 0;
    pthread_mutex_unlock(&control->lock);
}

void sign_in_forget(Control *control, const uint8_t hash[TOKEN_HASH_BYTES])
{
    pthread_mutex_lock(&control->lock);
    const uint32_t at = find_slot(control->slots, control->slot_count, hash);
    if (control->slots[at] != NULL) {
        remove_at(control, at);
        control->stats.ended += 1;
    }
    pthread_mutex_unlock(&control->lock);
}

uint32_t sign_ins_count(Control *control, uint64_t account, SignInKind kind,
                        uint8_t oldest[TOKEN_HASH_BYTES])
{
    uint32_t count = 0;
    uint64_t used = UINT64_MAX;
    pthread_mutex_lock(&control->lock);
    for (uint32_t i = 0; i < control->slot_count; i++) {
        const SignIn *sign_in = control->slots[i];
        if (sign_in == NULL || sign_in->row.account_id != account || sign_in->row.kind != kind) {
            continue;
        }
        count += 1;
        if (sign_in->row.used_unix_ms < used) {
            used = sign_in->row.used_unix_ms;
            memcpy(oldest, sign_in->row.token_hash, TOKEN_HASH_BYTES);
        }
    }
    pthread_mutex_unlock(&control->lock);
    return count;
}

// --- lists --------------------------------------------------------------------------------------

void sign_in_id(const uint8_t hash[TOKEN_HASH_BYTES], char out[SIGN_IN_ID_BYTES])
{
    sodium_bin2hex(out, SIGN_IN_ID_BYTES, hash, (SIGN_IN_ID_BYTES - 1) / 2);
}

uint32_t account_sign_ins(Control *control, uint64_t account, SignInView *out, uint32_t max)
{
    uint32_t count = 0;
    pthread_mutex_lock(&control->lock);
    for (uint32_t i = 0; i < control->slot_count && count < max; i++) {
        const SignIn *sign_in = control->slots[i];
        if (sign_in != NULL && sign_in->row.account_id == account) {
            SignInView *view = &out[count++];
            view->row = sign_in->row;
            sign_in_id(sign_in->row.token_hash, view->id);
        }
    }
    pthread_mutex_unlock(&control->lock);
    return count;
}

void sign_ins_change(Control *control, const StoreAccount *account)
{
    pthread_mutex_lock(&control->lock);
    for (uint32_t i = 0; i < control->slot_count; i++) {
        SignIn *sign_in = control->slots[i];
        if (sign_in != NULL && sign_in->row.account_id == account->account_id) {
            sign_in->account = *account;
            memset(sign_in->account.password, 0, sizeof sign_in->account.password);
        }
    }
    pthread_mutex_unlock(&control->lock);
}

// See account.h. Whatever is decided from the account's row is decided again in the transaction
// that changes it (StoreAccountChange.was): two requests at once cannot both win, and a password
// that was changed meanwhile lets nobody in.
#include "server/control/control_inside.h"
#include "server/control/order/class.h"

#include "core/base/check.h"
#include "core/base/limits.h"
#include "core/base/utf8.h"
#include "server/control/password.h"
#include "server/sys/entropy.h"

#include <inttypes.h>
#include <sodium.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

// --- devices ------------------------------------------------------------------------------------

// What makes the second half of a device's text: the account, and the first half.
static void hash_device(const Control *control, uint64_t account, const char *device,
                        uint8_t out[TOKEN_HASH_BYTES])
{
    char text[TOKEN_TEXT_BYTES + 24];
    snprintf(text, sizeof text, "%" PRIu64 " %.*s", account, TOKEN_TEXT_BYTES - 1, device);
    token_hash(control->config.secret, "device", text, out);
}

void account_device_make(Control *control, uint64_t account, char out[DEVICE_TEXT_BYTES])
{
    uint8_t hash[TOKEN_HASH_BYTES];
    token_make(out);
    hash_device(control, account, out, hash);
    out[TOKEN_TEXT_BYTES - 1] = '.';
    (void)sodium_bin2hex(out + TOKEN_TEXT_BYTES, 2 * sizeof hash + 1, hash, sizeof hash);
}

// Did somebody sign in to this account with it?
static bool device_is_known(Control *control, const char *name, const char *device)
{
    StoreAccount account;
    uint8_t hash[TOKEN_HASH_BYTES];
    char text[2 * sizeof hash + 1];
    if (device == NULL || strlen(device) != DEVICE_TEXT_BYTES - 1 ||
        device[TOKEN_TEXT_BYTES - 1] != '.' ||
        store_account_by_name(control->config.store, name, &account) != STATUS_OK) {
        return false;
    }
    hash_device(control, account.account_id, device, hash);
    (void)sodium_bin2hex(text, sizeof text, hash, sizeof hash);
    return sodium_memcmp(text, device + TOKEN_TEXT_BYTES, sizeof text) == 0;
}

// --- limits -------------------------------------------------------------------------------------

// What is guessed at: somebody's password, one's own (signed in), a recovery code. They are counted
// apart, so that a stranger who guesses the first locks nobody out of the others.
// So is a device that signed in to the account before.
typedef enum Guess {
    GUESS_PASSWORD = 'p',
    GUESS_CODE = 'c',
    GUESS_PUPIL = 'u', // a code of a class
    GUESS_OWN = 'o',
    GUESS_DEVICE = 'd'
} Guess;

static void attempt_key(Control *control, const char *name, const AccountAsk *ask, Guess guess,
                        char out[NAME_FOLD_BYTES + 1])
{
    if (guess == GUESS_PASSWORD && device_is_known(control, name, ask->device)) {
        snprintf(out, NAME_FOLD_BYTES + 1, "%c%.*s", GUESS_DEVICE, TOKEN_TEXT_BYTES - 1,
                 ask->device);
        return;
    }
    const bool is_own =
        ask->who != NULL && !ask->who->is_guest && strcmp(ask->who->name, name) == 0;
    out[0] = (char)(is_own && guess == GUESS_PASSWORD ? GUESS_OWN : guess);
    name_fold(name, out + 1);
}

// Both are counted before the work, and given back if it went well.
static bool take_attempt(Control *control, const char *name, Guess guess, const AccountAsk *ask,
                         AccountGiven *given)
{
    char key[NAME_FOLD_BYTES + 1];
    attempt_key(control, name, ask, guess, key);
    const uint64_t now = control_now(control);
    if (!attempts_take(control->attempts, ATTEMPT_ADDRESS, &ask->address, sizeof ask->address, now,
                       &given->wait_s)) {
        return false;
    }
    // If not: for the address it is a failure too.
    return attempts_take(control->attempts, ATTEMPT_NAME, key, strlen(key), now, &given->wait_s);
}

static void give_back_attempt(Control *control, const char *name, Guess guess,
                              const AccountAsk *ask)
{
    char key[NAME_FOLD_BYTES + 1];
    attempt_key(control, name, ask, guess, key);
    attempts_give_back(control->attempts, ATTEMPT_ADDRESS, &ask->address, sizeof ask->address);
    attempts_give_back(control->attempts, ATTEMPT_NAME, key, strlen(key));
}

bool account_take_made(Control *control, const AccountAsk *ask, AccountGiven *given)
{
    return ask->is_local ||
           attempts_take(control->attempts, ATTEMPT_MADE, &ask->address, sizeof ask->address,
                         control_now(control), &given->wait_s);
}

// --- changes ------------------------------------------------------------------------------------

AccountResult account_result_of(Status status)
{
    switch (status) {
    case STATUS_OK:
        return ACCOUNT_OK;
    case STATUS_EXISTS:
        return ACCOUNT_NAME_TAKEN;
    case STATUS_MISMATCH:
        return ACCOUNT_WRONG;
    case STATUS_NOT_FOUND:
        return ACCOUNT_LINK_GONE;
    case STATUS_DENIED:
        return ACCOUNT_LAST_OPERATOR;
    default:
        return ACCOUNT_UNAVAILABLE;
    }
}

// With the account's stripe held: on disk, and then in memory. A new sign-in is given out.
static AccountResult apply(Control *control, StoreAccountChange *change, AccountGiven *given)
{
    change->now_unix_ms = control_now(control);
    Status status = store_account_change(control->config.store, change);
    if (status != STATUS_OK) {
        return account_result_of(status);
    }
    const uint64_t account = change->account->account_id;
    if (change->ends != NULL) {
        sign_in_forget(control, change->ends);
    }
    if (change->ends_all) {
        sign_ins_forget(control, account, change->keeps);
    }
    sign_ins_change(control, change->account);
    if (change->sign_in != NULL) {
        status = sign_in_add(control, change->sign_in, change->account);
        const SignIn made = {.row = *change->sign_in, .account = *change->account};
        sign_in_identity(&made, &given->who);
    }
    return status == STATUS_OK ? ACCOUNT_OK : ACCOUNT_UNAVAILABLE;
}

AccountResult account_apply(Control *control, StoreAccountChange *change, AccountGiven *given)
{
    pthread_mutex_t *stripe = control_stripe(control, change->account->account_id);
    pthread_mutex_lock(stripe);
    const AccountResult result = apply(control, change, given);
    pthread_mutex_unlock(stripe);
    return result;
}

void account_fold_names(const StoreAccount *account, char folded[2][NAME_FOLD_BYTES],
                        StoreAccountChange *change)
{
    name_fold(account->name, folded[0]);
    name_fold(account->shown_name, folded[1]);
    change->names[0] = folded[0];
    change->names[1] = strcmp(folded[0], folded[1]) != 0 ? folded[1] : NULL;
}

// --- recovery codes -----------------------------------------------------------------------------

// As people type it: cases, spaces and dashes do not matter.
static void hash_code(const Control *control, const char *purpose, const char *code,
                      uint8_t out[TOKEN_HASH_BYTES])
{
    char plain[64];
    size_t to = 0;
    for (; *code != '\0' && to + 1 < sizeof plain; code++) {
        const char letter = *code >= 'A' && *code <= 'Z' ? (char)(*code + ('a' - 'A')) : *code;
        if (letter != '-' && letter != ' ') {
            plain[to++] = letter;
        }
    }
    plain[to] = '\0';
    token_hash(control->config.secret, purpose, plain, out);
    sodium_memzero(plain, sizeof plain);
}

// Twelve letters of 32: nobody guesses 60 bits.
static void make_code(char code[RECOVERY_TEXT_BYTES])
{
    static const char letters[] = "abcdefghjkmnpqrstuvwxyz123456789";
    _Static_assert(sizeof letters - 1 == 32, "five bits each");
    uint8_t random[12];
    entropy_fill(random, sizeof random);
    for (uint32_t at = 0, letter = 0; letter < sizeof random; at++) {
        code[at] = at % 5 == 4 ? '-' : letters[random[letter++] & 31];
    }
    code[RECOVERY_TEXT_BYTES - 1] = '\0';
}

static void make_codes(const Control *control, AccountGiven *given,
                       uint8_t hashes[STORE_RECOVERY_CODES][TOKEN_HASH_BYTES])
{
    for (uint32_t i = 0; i < STORE_RECOVERY_CODES; i++) {
        make_code(given->codes[i]);
        hash_code(control, "recovery", given->codes[i], hashes[i]);
    }
}

// --- registering --------------------------------------------------------------------------------

static AccountResult check_password(const char *password, const char *name)
{
    return !password_is_valid(password)         ? ACCOUNT_BAD_PASSWORD
           : password_is_common(password, name) ? ACCOUNT_COMMON_PASSWORD
                                                : ACCOUNT_OK;
}

AccountResult account_check_shown(Control *control, const char *shown)
{
    char folded[NAME_FOLD_BYTES];
    if (!name_is_shown(shown)) {
        return ACCOUNT_BAD_SHOWN_NAME;
    }
    if (control_has_word(control, shown)) {
        return ACCOUNT_NAME_WORD;
    }
    name_fold(shown, folded);
    return name_is_reserved(folded) ? ACCOUNT_NAME_TAKEN : ACCOUNT_OK;
}

static AccountResult check_new(Control *control, const AccountNew *made, const AccountAsk *ask)
{
    if (ask->who != NULL && !ask->who->is_guest) {
        return ACCOUNT_HAS_ONE;
    }
    if (!name_is_valid(made->name)) {
        return ACCOUNT_BAD_NAME;
    }
    AccountResult result = account_check_shown(control, made->name);
    if (result == ACCOUNT_OK && made->shown_name[0] != '\0') {
        result = account_check_shown(control, made->shown_name);
    }
    return result == ACCOUNT_OK ? check_password(made->password, made->name) : result;
}

// May they, and as what?
static AccountResult check_link(Control *control, const char *token, StoreLink *link)
{
    if (token[0] == '\0') {
        *link = (StoreLink){0};
        return control_registration_is_open(control) ? ACCOUNT_OK : ACCOUNT_CLOSED;
    }
    const AccountResult result = account_link(control, token, link);
    return result == ACCOUNT_OK && link->purpose == LINK_PASSWORD ? ACCOUNT_LINK_GONE : result;
}

// Before the work of hashing; the transaction decides.
static AccountResult check_taken(Control *control, const StoreAccount *account)
{
    StoreAccountChange change = {0};
    char folded[2][NAME_FOLD_BYTES];
    Status status = STATUS_OK;
    uint64_t owner = 0;
    account_fold_names(account, folded, &change);
    for (uint32_t i = 0; i < 2 && status == STATUS_OK && owner == 0; i++) {
        if (change.names[i] != NULL) {
            status = store_name_find(control->config.store, change.names[i], &owner);
        }
    }
    return owner != 0 ? ACCOUNT_NAME_TAKEN : account_result_of(status);
}

// The guest's row, or a new one.
static AccountResult begin_account(Control *control, const AccountNew *made, const AccountAsk *ask,
                                   StoreAccount *was, StoreAccount *account)
{
    const uint64_t now = control_now(control);
    *was = (StoreAccount){0};
    if (ask->who != NULL) {
        const Status status = store_account_find(control->config.store, ask->who->account, was);
        if (status != STATUS_OK) {
            return ACCOUNT_UNAVAILABLE;
        }
        if (was->name[0] != '\0') {
            return ACCOUNT_HAS_ONE;
        }
    }
    *account = *was;
    if (was->account_id == 0) {
        account->account_id = control_new_account();
        account->created_unix_ms = now;
    }
    account->seen_unix_ms = now;
    snprintf(account->name, sizeof account->name, "%s", made->name);
    snprintf(account->shown_name, sizeof account->shown_name, "%s",
             made->shown_name[0] != '\0' ? made->shown_name : made->name);
    return check_taken(control, account);
}

static const char *browser_of(const AccountAsk *ask)
{
    return ask->browser != NULL ? ask->browser : "";
}

AccountResult account_register(Control *control, const AccountNew *made, const AccountAsk *ask,
                               AccountGiven *given)
{
    StoreAccount was, account;
    StoreLink link;
    *given = (AccountGiven){0};
    AccountResult result = check_new(control, made, ask);
    result = result == ACCOUNT_OK ? check_link(control, made->link, &link) : result;
    result = result == ACCOUNT_OK ? begin_account(control, made, ask, &was, &account) : result;
    if (result != ACCOUNT_OK) {
        return result;
    }
    if (!account_take_made(control, ask, given)) {
        return ACCOUNT_LIMITED;
    }
    if (password_hash(made->password, account.password) != STATUS_OK) {
        return ACCOUNT_UNAVAILABLE;
    }
    account.roles |= link.roles;
    StoreSignIn sign_in;
    uint8_t codes[STORE_RECOVERY_CODES][TOKEN_HASH_BYTES];
    char folded[2][NAME_FOLD_BYTES];
    sign_in_make(control, account.account_id, SIGN_IN_SESSION, browser_of(ask), 0, &sign_in,
                 given->token);
    make_codes(control, given, codes);
    StoreAccountChange change = {.account = &account,
                                 .was = was.account_id != 0 ? &was : NULL,
                                 .sign_in = &sign_in,
                                 .ends_all = true,
                                 .codes = codes,
                                 .link = made->link[0] != '\0' ? link.token_hash : NULL,
                                 .link_purpose = link.purpose == LINK_OPERATOR ? LINK_OPERATOR : 0};
    account_fold_names(&account, folded, &change);
    result = account_apply(control, &change, given);
    return result == ACCOUNT_WRONG ? ACCOUNT_HAS_ONE : result; // the guest registered twice at once
}

AccountResult account_guest(Control *control, const char *name, const AccountAsk *ask,
                            AccountGiven *given)
{
    *given = (AccountGiven){0};
    if (!account_take_made(control, ask, given)) {
        return ACCOUNT_LIMITED;
    }
    if (control_has_word(control, name)) {
        return ACCOUNT_NAME_WORD;
    }
    return account_result_of(control_make_guest(control, name, &given->who, given->token));
}

// --- signing in ---------------------------------------------------------------------------------

AccountResult account_begin_session(Control *control, const StoreAccount *was, uint32_t roles,
                                    const AccountAsk *ask, AccountGiven *given)
{
    StoreSignIn sign_in;
    StoreAccount account = *was;
    uint8_t oldest[TOKEN_HASH_BYTES];
    account.seen_unix_ms = control_now(control);
    account.roles = roles;
    sign_in_make(control, was->account_id, SIGN_IN_SESSION, browser_of(ask), 0, &sign_in,
                 given->token);
    StoreAccountChange change = {
        .account = &account, .was = was, .sign_in = &sign_in, .last_keeps = ROLE_OPERATOR};
    pthread_mutex_t *stripe = control_stripe(control, was->account_id);
    pthread_mutex_lock(stripe);
    const bool has_session = ask->who != NULL && ask->who->kind == SIGN_IN_SESSION;
    const bool is_own = has_session && ask->who->account == was->account_id;
    if (is_own) {
        change.ends = ask->who->sign_in;
    } else if (sign_ins_count(control, was->account_id, SIGN_IN_SESSION, oldest) >=
               SESSIONS_PER_ACCOUNT_MAX) {
        change.ends = oldest;
    }
    const AccountResult result = apply(control, &change, given);
    pthread_mutex_unlock(stripe);
    if (result == ACCOUNT_OK && has_session && !is_own) {
        (void)account_sign_out(control, ask->who); // a guest's; if the disk refuses, it only stays
    }
    return result;
}

// Is it the password of that account? A name that does not exist costs the same work.
static AccountResult check_account(Control *control, const char *name, const char *password,
                                   StoreAccount *out)
{
    const Status status = store_account_by_name(control->config.store, name, out);
    if (status != STATUS_OK && status != STATUS_NOT_FOUND) {
        return ACCOUNT_UNAVAILABLE;
    }
    const bool has_password = status == STATUS_OK && out->password[0] != '\0';
    const bool matches = password_matches(has_password ? out->password : control->nobody, password);
    return has_password && matches ? ACCOUNT_OK : ACCOUNT_WRONG;
}

// Counts it, unless it went well or nobody can tell.
static AccountResult guarded_check(Control *control, const char *name, const char *password,
                                   const AccountAsk *ask, StoreAccount *out, AccountGiven *given)
{
    *given = (AccountGiven){0};
    if (strlen(name) >= STORE_NAME_BYTES || strlen(password) > PASSWORD_BYTES_MAX) {
        return ACCOUNT_WRONG; // no account has them
    }
    if (!take_attempt(control, name, GUESS_PASSWORD, ask, given)) {
        return ACCOUNT_LIMITED;
    }
    const AccountResult result = check_account(control, name, password, out);
    if (result != ACCOUNT_WRONG) {
        give_back_attempt(control, name, GUESS_PASSWORD, ask);
    }
    return result;
}

AccountResult account_sign_in(Control *control, const char *name, const char *password,
                              const AccountAsk *ask, AccountGiven *given)
{
    StoreAccount account;
    const AccountResult result = guarded_check(control, name, password, ask, &account, given);
    return result == ACCOUNT_OK
               ? account_begin_session(control, &account, account.roles, ask, given)
               : result;
}

AccountResult account_sign_out(Control *control, const Identity *who)
{
    pthread_mutex_t *stripe = control_stripe(control, who->account);
    pthread_mutex_lock(stripe);
    const Status status = store_sign_in_delete(control->config.store, &who->sign_in, 1);
    if (status == STATUS_OK) {
        sign_in_forget(control, who->sign_in);
    }
    pthread_mutex_unlock(stripe);
    return account_result_of(status);
}

// --- changing -----------------------------------------------------------------------------------

AccountResult account_confirm(Control *control, const char *password, const AccountAsk *ask,
                              AccountGiven *given)
{
    StoreAccount account;
    ASSERT(ask->who != NULL);
    return ask->who->is_guest
               ? ACCOUNT_NO_PASSWORD
               : guarded_check(control, ask->who->name, password, ask, &account, given);
}

AccountResult account_change_password(Control *control, const char *old, const char *password,
                                      const AccountAsk *ask, AccountGiven *given)
{
    StoreAccount was;
    *given = (AccountGiven){0};
    ASSERT(ask->who != NULL);
    AccountResult result =
        ask->who->is_guest ? ACCOUNT_NO_PASSWORD : check_password(password, ask->who->name);
    if (result == ACCOUNT_OK) {
        result = account_first_password(control, ask->who, &was);
        result = result == ACCOUNT_HAS_ONE
                     ? guarded_check(control, ask->who->name, old, ask, &was, given)
                     : result;
    }
    if (result != ACCOUNT_OK) {
        return result;
    }
    StoreAccount account = was;
    if (password_hash(password, account.password) != STATUS_OK) {
        return ACCOUNT_UNAVAILABLE;
    }
    StoreAccountChange change = {
        .account = &account, .was = &was, .ends_all = true, .keeps = ask->who->sign_in};
    return account_apply(control, &change, given);
}

// A new password for the row `was`; signs in, and all other sign-ins end.
static AccountResult replace_password(Control *control, const StoreAccount *was,
                                      const char *password, const AccountAsk *ask,
                                      StoreAccountChange *change, AccountGiven *given)
{
    StoreSignIn sign_in;
    StoreAccount account = *was;
    if (password_hash(password, account.password) != STATUS_OK) {
        return ACCOUNT_UNAVAILABLE;
    }
    sign_in_make(control, was->account_id, SIGN_IN_SESSION, browser_of(ask), 0, &sign_in,
                 given->token);
    change->account = &account;
    change->was = was;
    change->sign_in = &sign_in;
    change->ends_all = true;
    change->ends = ask->who != NULL && ask->who->kind == SIGN_IN_SESSION ? ask->who->sign_in : NULL;
    const AccountResult result = account_apply(control, change, given);
    change->account = change->was = NULL;
    change->sign_in = NULL;
    return result;
}

AccountResult account_recover(Control *control, const char *name, const char *code,
                              const char *password, const AccountAsk *ask, AccountGiven *given)
{
    StoreAccount was = {0};
    uint8_t hash[TOKEN_HASH_BYTES];
    *given = (AccountGiven){0};
    AccountResult result = check_password(password, name);
    if (result != ACCOUNT_OK) {
        return result;
    }
    if (!take_attempt(control, name, GUESS_CODE, ask, given)) {
        return ACCOUNT_LIMITED;
    }
    hash_code(control, "recovery", code, hash);
    Status status = store_account_by_name(control->config.store, name, &was);
    status = status == STATUS_OK ? store_recovery_find(control->config.store, was.account_id, hash)
                                 : status;
    if (status == STATUS_OK) {
        StoreAccountChange change = {.code = hash};
        result = replace_password(control, &was, password, ask, &change, given);
        result = result == ACCOUNT_LINK_GONE ? ACCOUNT_WRONG : result; // used at the same time
    } else {
        (void)password_matches(control->nobody, password); // costs the same work
        result = status == STATUS_NOT_FOUND ? ACCOUNT_WRONG : ACCOUNT_UNAVAILABLE;
    }
    if (result != ACCOUNT_WRONG) {
        give_back_attempt(control, name, GUESS_CODE, ask);
    }
    return result;
}

AccountResult account_reset(Control *control, const char *link, const char *password,
                            const AccountAsk *ask, AccountGiven *given)
{
    StoreLink found;
    StoreAccount was;
    *given = (AccountGiven){0};
    AccountResult result = account_link(control, link, &found);
    if (result == ACCOUNT_OK && found.purpose != LINK_PASSWORD) {
        result = ACCOUNT_LINK_GONE;
    }
    if (result == ACCOUNT_OK) {
        const Status status = store_account_find(control->config.store, found.account_id, &was);
        result =
            status == STATUS_OK ? check_password(password, was.name) : account_result_of(status);
    }
    if (result != ACCOUNT_OK) {
        return result;
    }
    uint8_t codes[STORE_RECOVERY_CODES][TOKEN_HASH_BYTES];
    make_codes(control, given, codes);
    StoreAccountChange change = {.link = found.token_hash, .codes = codes};
    result = replace_password(control, &was, password, ask, &change, given);
    return result == ACCOUNT_WRONG ? ACCOUNT_UNAVAILABLE : result; // changed at the same time
}

// An account's row by number, changed, with its stripe held by the caller's function.
AccountResult account_show(Control *control, uint64_t id, const char *shown_name)
{
    StoreAccount was, account;
    AccountGiven given;
    char folded[2][NAME_FOLD_BYTES];
    StoreAccountChange change = {.account = &account, .was = &was};
    AccountResult result = account_check_shown(control, shown_name);
    if (result != ACCOUNT_OK) {
        return result;
    }
    if (store_account_find(control->config.store, id, &was) != STATUS_OK) {
        return ACCOUNT_UNAVAILABLE;
    }
    if (control_name_is_closed(control, id, was.roles)) {
        return ACCOUNT_PUPIL;
    }
    if (class_calls_them(control, id, shown_name)) {
        return ACCOUNT_OK; // that is what they read already
    }
    if (!class_may_rename(control, id, shown_name)) {
        return ACCOUNT_NAME_TAKEN;
    }
    account = was;
    if (was.name[0] != '\0') {
        snprintf(account.shown_name, sizeof account.shown_name, "%s", shown_name);
        account_fold_names(&account, folded, &change);
    } else {
        uint64_t owner = 0;
        const size_t bytes = utf8_cut(shown_name, strlen(shown_name), STORE_SHOWN_BYTES - 2);
        snprintf(account.shown_name, sizeof account.shown_name, GUEST_SIGN "%.*s", (int)bytes,
                 shown_name);
        name_fold(shown_name, folded[0]);
        const Status status = store_name_find(control->config.store, folded[0], &owner);
        if (status != STATUS_OK || owner != 0) {
            return status != STATUS_OK ? account_result_of(status) : ACCOUNT_NAME_TAKEN;
        }
    }
    result = account_apply(control, &change, &given);
    if (result == ACCOUNT_OK && strcmp(was.shown_name, account.shown_name) != 0) {
        class_forget_names(control, id);
    }
    return result;
}

AccountResult account_set_roles(Control *control, const char *name, uint32_t roles)
{
    StoreAccount was, account;
    AccountGiven given;
    const Status status = store_account_by_name(control->config.store, name, &was);
    if (status != STATUS_OK) {
        return status == STATUS_NOT_FOUND ? ACCOUNT_NOT_FOUND : ACCOUNT_UNAVAILABLE;
    }
    account = was;
    account.roles = (roles & ROLES_ALL) | (was.roles & ROLE_PUPIL);
    StoreAccountChange change = {.account = &account, .was = &was, .last_keeps = ROLE_OPERATOR};
    return account_apply(control, &change, &given);
}

// --- pupils -------------------------------------------------------------------------------------

// The code alone says who it is; a name that is given too must be theirs. Whatever is wrong costs
// the same: one look for the hash. A code without a name is counted for the address alone, because
// there is nobody else to count it for.
AccountResult account_sign_in_code(Control *control, const char *name, const char *code,
                                   const AccountAsk *ask, AccountGiven *given)
{
    StorePupil pupil;
    StoreAccount account;
    uint8_t hash[TOKEN_HASH_BYTES];
    *given = (AccountGiven){0};
    if (strlen(name) >= STORE_NAME_BYTES) {
        return ACCOUNT_WRONG; // no account has it
    }
    const bool is_counted =
        name[0] != '\0' ? take_attempt(control, name, GUESS_PUPIL, ask, given)
                        : attempts_take(control->attempts, ATTEMPT_ADDRESS, &ask->address,
                                        sizeof ask->address, control_now(control), &given->wait_s);
    if (!is_counted) {
        return ACCOUNT_LIMITED;
    }
    hash_code(control, "class", code, hash);
    Status status = store_pupil_by_code(control->config.store, hash, &pupil);
    if (status == STATUS_OK) {
        status = store_account_find(control->config.store, pupil.account_id, &account);
    }
    // Who leads others has a password: the teacher has seen the code.
    if (status == STATUS_NOT_FOUND ||
        (status == STATUS_OK && (account.roles & (ROLE_TEACHER | ROLE_OPERATOR)) != 0) ||
        (status == STATUS_OK && name[0] != '\0' && strcasecmp(name, account.name) != 0)) {
        return ACCOUNT_WRONG;
    }
    if (name[0] != '\0') {
        give_back_attempt(control, name, GUESS_PUPIL, ask);
    } else {
        attempts_give_back(control->attempts, ATTEMPT_ADDRESS, &ask->address, sizeof ask->address);
    }
    return status == STATUS_OK ? account_begin_session(control, &account, account.roles, ask, given)
                               : ACCOUNT_UNAVAILABLE;
}

static void begin_pupil(const Control *control, const char *class_id, uint64_t account,
                        StorePupil *pupil, char code[RECOVERY_TEXT_BYTES])
{
    *pupil = (StorePupil){.account_id = account, .created_unix_ms = control_now(control)};
    snprintf(pupil->class_id, sizeof pupil->class_id, "%s", class_id);
    make_code(code);
    hash_code(control, "class", code, pupil->code_hash);
}

AccountResult account_check_pupil(Control *control, const char *shown_name)
{
    return account_check_shown(control, shown_name);
}

AccountResult account_add_pupil(Control *control, const StoreClass *class, const char *shown_name,
                                ClassPupil *out)
{
    AccountGiven given;
    StorePupil pupil;
    const uint64_t now = control_now(control);
    AccountResult result = account_check_shown(control, shown_name);
    *out = (ClassPupil){.account = {.account_id = control_new_account(),
                                    .roles = ROLE_PUPIL,
                                    .created_unix_ms = now,
                                    .seen_unix_ms = now}};
    if (result != ACCOUNT_OK) {
        return result;
    }
    StoreAccountChange change = {.account = &out->account, .pupil = &pupil};
    begin_pupil(control, class->class_id, out->account.account_id, &pupil, out->code);
    result = ACCOUNT_NAME_TAKEN;
    for (uint32_t i = 0; i < 3 && result == ACCOUNT_NAME_TAKEN; i++) { // somebody may be quicker
        char folded[2][NAME_FOLD_BYTES];
        if (!class_choose_names(control, class, shown_name, &out->account, pupil.name)) {
            break;
        }
        account_fold_names(&out->account, folded, &change);
        result = account_apply(control, &change, &given);
    }
    return result != ACCOUNT_OK
               ? result
               : account_result_of(class_add_pupil(control, class->class_id,
                                                   out->account.account_id, pupil.name));
}

AccountResult account_find_pupil(Control *control, const char *class_id, const char *code,
                                 ClassPupil *out)
{
    StorePupil pupil;
    uint8_t hash[TOKEN_HASH_BYTES];
    if (strlen(code) >= sizeof out->code) {
        return ACCOUNT_NOT_FOUND;
    }
    hash_code(control, "class", code, hash);
    Status status = store_pupil_by_code(control->config.store, hash, &pupil);
    if (status == STATUS_OK && strcmp(pupil.class_id, class_id) != 0) {
        status = STATUS_NOT_FOUND;
    }
    status = status == STATUS_OK
                 ? store_account_find(control->config.store, pupil.account_id, &out->account)
                 : status;
    snprintf(out->code, sizeof out->code, "%s", code);
    return status == STATUS_OK          ? ACCOUNT_OK
           : status == STATUS_NOT_FOUND ? ACCOUNT_NOT_FOUND
                                        : ACCOUNT_UNAVAILABLE;
}

AccountResult account_reset_pupil(Control *control, const char *class_id, uint64_t account,
                                  ClassPupil *out)
{
    StorePupil pupil;
    StoreAccount was;
    AccountGiven given;
    Status status = store_pupil_find(control->config.store, class_id, account, &pupil);
    status =
        status == STATUS_OK ? store_account_find(control->config.store, account, &was) : status;
    if (status != STATUS_OK) {
        return status == STATUS_NOT_FOUND ? ACCOUNT_NOT_FOUND : ACCOUNT_UNAVAILABLE;
    }
    begin_pupil(control, class_id, account, &pupil, out->code);
    out->account = was;
    StoreAccountChange change = {.account = &was, .was = &was, .ends_all = true, .pupil = &pupil};
    return account_apply(control, &change, &given);
}

AccountResult account_remove_pupil(Control *control, const char *class_id, uint64_t account)
{
    StoreAccount was;
    AccountGiven given;
    const Status status = store_pupil_remove(control->config.store, class_id, account);
    if (status != STATUS_OK) {
        return status == STATUS_NOT_FOUND ? ACCOUNT_NOT_FOUND : ACCOUNT_UNAVAILABLE;
    }
    class_forget_pupil(control, class_id, account);
    if (store_account_find(control->config.store, account, &was) != STATUS_OK) {
        return ACCOUNT_OK;
    }
    StoreAccountChange change = {.account = &was, .was = &was, .ends_all = true};
    return account_apply(control, &change, &given);
}

// --- sign-ins of an account ---------------------------------------------------------------------

AccountResult account_end_sign_in(Control *control, uint64_t account, const char *id)
{
    SignInView views[SESSIONS_PER_ACCOUNT_MAX + TOKENS_PER_ACCOUNT_MAX];
    const uint32_t count =
        account_sign_ins(control, account, views, sizeof views / sizeof views[0]);
    for (uint32_t i = 0; i < count; i++) {
        if (strcmp(views[i].id, id) == 0) {
            Identity who = {.account = account};
            memcpy(who.sign_in, views[i].row.token_hash, sizeof who.sign_in);
            return account_sign_out(control, &who);
        }
    }
    return ACCOUNT_NOT_FOUND;
}

AccountResult account_make_token(Control *control, const Identity *who, const char *name,
                                 uint32_t scope, char token[TOKEN_TEXT_BYTES],
                                 uint8_t hash[TOKEN_HASH_BYTES])
{
    StoreSignIn row;
    StoreAccount account;
    uint8_t oldest[TOKEN_HASH_BYTES];
    AccountResult result = ACCOUNT_TOO_MANY;
    sign_in_make(control, who->account, SIGN_IN_TOKEN, name, scope & SCOPES_ALL, &row, token);
    memcpy(hash, row.token_hash, sizeof row.token_hash);
    pthread_mutex_t *stripe = control_stripe(control, who->account);
    pthread_mutex_lock(stripe);
    if (sign_ins_count(control, who->account, SIGN_IN_TOKEN, oldest) < TOKENS_PER_ACCOUNT_MAX) {
        Status status = store_account_find(control->config.store, who->account, &account);
        status = status == STATUS_OK ? store_sign_in_put(control->config.store, &row, 1) : status;
        status = status == STATUS_OK ? sign_in_add(control, &row, &account) : status;
        result = status == STATUS_OK ? ACCOUNT_OK : ACCOUNT_UNAVAILABLE;
    }
    pthread_mutex_unlock(stripe);
    return result;
}

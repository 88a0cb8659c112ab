// Accounts: registering, signing in with a password, links that are good once, recovery. All of
// these wait for the disk, and those that take a password also work for tens of milliseconds: they
// are for threads of the pool.
#pragma once

#include "server/control/identity.h"
#include "server/store/people/store_account.h"

typedef enum AccountResult {
    ACCOUNT_OK,
    ACCOUNT_WRONG,           // the name, the password or the code
    ACCOUNT_LIMITED,         // too many failures, or too many accounts made; see wait_s
    ACCOUNT_BAD_NAME,        // see NAME_RULE
    ACCOUNT_BAD_SHOWN_NAME,  // see NAME_TEXT_RULE
    ACCOUNT_NAME_TAKEN,      // or one that looks like it
    ACCOUNT_NAME_WORD,       // it has a word of the operator's list
    ACCOUNT_BAD_PASSWORD,    // see PASSWORD_RULE
    ACCOUNT_COMMON_PASSWORD, // everybody would try it
    ACCOUNT_CLOSED,          // registering needs an invitation
    ACCOUNT_LINK_GONE,       // used, too old, or never was
    ACCOUNT_HAS_ONE,         // whoever asks has an account
    ACCOUNT_NO_PASSWORD,     // a guest has none
    ACCOUNT_TOO_MANY,        // tokens
    ACCOUNT_LAST_OPERATOR,   // nobody else could make another
    ACCOUNT_PUPIL,           // whose name the teacher chose (class.h)
    ACCOUNT_LINKED,          // that identity is another account's
    ACCOUNT_NO_OTHER_WAY,    // without the issuer they could not sign in
    ACCOUNT_STALE,           // the sign-in is too old for this
    ACCOUNT_ISSUER,          // the issuer says no, or nothing
    ACCOUNT_NOT_FOUND,
    ACCOUNT_UNAVAILABLE, // the disk, or no memory
    ACCOUNT_RESULT_COUNT
} AccountResult;

// Who asks.
typedef struct AccountAsk {
    const Identity *who; // NULL: nobody who is signed in
    uint64_t address;    // see http_address
    const char *device;  // account_device_make's text; NULL: none was shown
    const char *browser; // a word for it in the list of sign-ins; NULL: unknown
    bool is_local;       // development: accounts that are made are not counted
} AccountAsk;

#define RECOVERY_TEXT_BYTES 15 // "abcd-efgh-jkmn" and a terminator

// What is given out, once: only hashes are kept.
typedef struct AccountGiven {
    Identity who;
    char token[TOKEN_TEXT_BYTES];
    char codes[STORE_RECOVERY_CODES][RECOVERY_TEXT_BYTES]; // "": none were made
    uint32_t wait_s;                                       // ACCOUNT_LIMITED
} AccountGiven;

typedef struct AccountNew {
    const char *name, *password;
    const char *shown_name; // "": the name
    const char *link;       // an invitation's token, or the operator's; "": none
} AccountNew;

// A guest who is signed in keeps the account's number, and with it everything. All sign-ins that
// the guest had end, so that nobody who knew one shares the account.
AccountResult account_register(Control *control, const AccountNew *made, const AccountAsk *ask,
                               AccountGiven *given);
// A guest; the name was checked (name_text.h), "": one is made up.
AccountResult account_guest(Control *control, const char *name, const AccountAsk *ask,
                            AccountGiven *given);
// The sign-in that was shown with the request ends.
AccountResult account_sign_in(Control *control, const char *name, const char *password,
                              const AccountAsk *ask, AccountGiven *given);
AccountResult account_sign_out(Control *control, const Identity *who);
// All other sign-ins end.
AccountResult account_change_password(Control *control, const char *old, const char *password,
                                      const AccountAsk *ask, AccountGiven *given);
// By a code that was given at registration; signs in, and all other sign-ins end.
AccountResult account_recover(Control *control, const char *name, const char *code,
                              const char *password, const AccountAsk *ask, AccountGiven *given);
// By a link for a new password: there are new recovery codes too.
AccountResult account_reset(Control *control, const char *link, const char *password,
                            const AccountAsk *ask, AccountGiven *given);
// For what cannot be undone: is it really them? Counts failures.
AccountResult account_confirm(Control *control, const char *password, const AccountAsk *ask,
                              AccountGiven *given);
AccountResult account_show(Control *control, uint64_t account, const char *shown_name);
// ACCOUNT_LAST_OPERATOR: the last operator stays one.
AccountResult account_set_roles(Control *control, const char *name, uint32_t roles);

// --- devices ------------------------------------------------------------------------------------
// Ten failures lock a name out of password sign-in, whoever made them. A device on which somebody
// signed in to the account before shows this text, and has a count of its own instead: strangers
// who guess do not lock it out. It is a random number and an HMAC of it and the account; nothing is
// stored, and it signs nobody in.
#define DEVICE_TEXT_BYTES (TOKEN_TEXT_BYTES + 2 * TOKEN_HASH_BYTES + 1)
void account_device_make(Control *control, uint64_t account, char out[DEVICE_TEXT_BYTES]);

// --- sign-ins -----------------------------------------------------------------------------------
#define SIGN_IN_ID_BYTES 17
typedef struct SignInView {
    StoreSignIn row;
    char id[SIGN_IN_ID_BYTES]; // a name for it that is no secret
} SignInView;
void sign_in_id(const uint8_t hash[TOKEN_HASH_BYTES], char out[SIGN_IN_ID_BYTES]);
uint32_t account_sign_ins(Control *control, uint64_t account, SignInView *out, uint32_t max);
AccountResult account_end_sign_in(Control *control, uint64_t account, const char *id);
// A named token for a tool, with a scope (Scope).
AccountResult account_make_token(Control *control, const Identity *who, const char *name,
                                 uint32_t scope, char token[TOKEN_TEXT_BYTES],
                                 uint8_t hash[TOKEN_HASH_BYTES]);

// --- issuers of identities (issuer/issuer.h) ----------------------------------------------------
// These ask the network.
#define ACCOUNT_WORDS_BYTES 256
#define ACCOUNT_FRESH_MS    (10 * 60000ull)
struct JwtClaims;
// The account of whom the issuer has named; one that was never here gets a new one, with a free
// name, or the guest who asks becomes it. Roles that the settings give to the issuer follow it.
AccountResult account_issuer_sign_in(Control *control, const struct JwtClaims *claims,
                                     const AccountAsk *ask, AccountGiven *given);
// From now on the issuer signs in to the account that asks.
AccountResult account_issuer_link(Control *control, const struct JwtClaims *claims,
                                  const AccountAsk *ask);
// No issuer does any more. ACCOUNT_NO_OTHER_WAY: it has no password.
AccountResult account_issuer_unlink(Control *control, const AccountAsk *ask);
// Who shows a token of Clerk; identity_of_token knows it afterwards. `words`: why not.
AccountResult account_issuer_admit(Control *control, const char *token, Identity *out,
                                   char words[ACCOUNT_WORDS_BYTES]);
// Does a token that nobody knows yet look like one of an issuer that is asked?
bool control_may_admit(const Control *control, const char *token, size_t bytes);
// NULL: there is none.
struct Issuer *control_oidc(Control *control);
uint64_t control_unix_ms(const Control *control);
const uint8_t *control_secret(const Control *control); // TOKEN_SECRET_BYTES, for issuer_flow.h
// What a link that begins linking must show, so that no other page can begin it.
void account_issuer_link_text(Control *control, const Identity *who, char out[TOKEN_TEXT_BYTES]);

// --- links --------------------------------------------------------------------------------------
typedef enum LinkPurpose { LINK_OPERATOR = 1, LINK_INVITATION = 2, LINK_PASSWORD = 3 } LinkPurpose;

#define LINK_PASSWORD_MS (24 * 3600000ull)
#define LINK_OPERATOR_MS (30 * 24 * 3600000ull) // of several processes on a store

// ACCOUNT_LINK_GONE: it is none (any more).
AccountResult account_link(Control *control, const char *token, StoreLink *out);
// A new one; it makes an operator, and is good until there is one. In place of the last, unless
// other processes share the store. STATUS_EXISTS: there is an operator.
MUST_USE Status control_operator_link(Control *control, char token[TOKEN_TEXT_BYTES]);
MUST_USE Status control_invite(Control *control, uint32_t roles, uint64_t duration_ms,
                               uint64_t maker, char token[TOKEN_TEXT_BYTES]);
// STATUS_NOT_FOUND: there is no such account.
MUST_USE Status control_reset_link(Control *control, const char *name, uint64_t maker,
                                   char token[TOKEN_TEXT_BYTES]);

// --- who may register ---------------------------------------------------------------------------
bool control_registration_is_open(Control *control);
MUST_USE Status control_set_registration(Control *control, bool is_open);

// --- deleting people ----------------------------------------------------------------------------
// Everything (store_person.h); their sign-ins end. It is done again for some minutes, because a
// world may write about somebody who leaves it. STATUS_DENIED: the built-in account.
MUST_USE Status control_delete_person(Control *control, uint64_t account);
// Somebody was deleted before this start.
void control_note_deleted(Control *control, uint64_t account, uint64_t unix_ms);

// The inside of the control plane, for the files of server/control alone.
#pragma once

#include "server/control/account.h"
#include "server/control/attempt.h"
#include "server/control/control.h"
#include "server/control/host_key.h"
#include "server/control/name.h"

#include <pthread.h>

// A sign-in that is valid, and what its account's row says; changed under the lock.
typedef struct SignIn {
    StoreSignIn row;
    StoreAccount account; // without the password
    bool is_used;         // since it was last written
} SignIn;

struct HostKeys {
    StoreHostKey *items; // HOST_KEYS_MAX
    uint32_t count;
};
// Changes to an account happen one after the other, on disk and in memory; those of others at the
// same time. Waits for the disk happen with one of these held, and never with Control.lock.
#define CONTROL_STRIPES 64

// Somebody who was deleted a short while ago, so that it is done again (person.c).
#define CONTROL_DELETED_MAX 64
typedef struct Deleted {
    uint64_t account, unix_ms;
} Deleted;

struct Control {
    ControlConfig config;
    pthread_mutex_t stripes[CONTROL_STRIPES]; // by account
    Attempts *attempts;
    char nobody[STORE_PASSWORD_BYTES]; // the password of names that do not exist
    pthread_mutex_t lock;
    SignIn **slots; // by hash of the token; a power of two, never full
    uint32_t slot_count, count;
    uint32_t room_next;       // where make_room goes on
    uint64_t written_unix_ms; // when uses were last written
    ControlStats stats;
    struct HostKeys host_keys; // with the lock
    bool is_open;              // anybody may register
    Deleted deleted[CONTROL_DELETED_MAX];
    uint32_t deleted_next;
    struct Bans *bans;
    struct Chat *chat;
    struct AddressBans *address_bans;
    struct Classes *classes;
    struct Issuer *oidc, *clerk; // NULL: none
    bool approves;               // an operator approves places before they are listed
    uint64_t expired_unix_ms;    // when old evidence was last removed
};

pthread_mutex_t *control_stripe(Control *control, uint64_t account);
uint64_t control_now(const Control *control);
// An account's number: random, so that nobody can guess how many there are.
uint64_t control_new_account(void);

// --- account.c ----------------------------------------------------------------------------------
AccountResult account_result_of(Status status);
// On disk, and then in memory, one change of an account after the other.
AccountResult account_apply(Control *control, StoreAccountChange *change, AccountGiven *given);
// Names of both kinds, folded, for the change.
void account_fold_names(const StoreAccount *account, char folded[2][NAME_FOLD_BYTES],
                        StoreAccountChange *change);
AccountResult account_check_shown(Control *control, const char *shown);
// May another account be made from that address now? Counts one.
bool account_take_made(Control *control, const AccountAsk *ask, AccountGiven *given);
// Signs in to the row `was`, which was found right, with these roles from now on.
AccountResult account_begin_session(Control *control, const StoreAccount *was, uint32_t roles,
                                    const AccountAsk *ask, AccountGiven *given);

// --- issuer/account_issuer.c --------------------------------------------------------------------
// Somebody who has no password, but an issuer, sets one: the sign-in must be a fresh one.
AccountResult account_first_password(Control *control, const Identity *who, StoreAccount *was);

// --- host_key.c ---------------------------------------------------------------------------------
MUST_USE Status host_keys_read(Control *control);
void host_keys_free(Control *control);
MUST_USE Status host_keys_reload(Control *control);

// --- live_setting.c -----------------------------------------------------------------------------
// Keeps what an operator changed, for later starts and for other hosts, and applies it here.
MUST_USE Status live_setting_set(Control *control, const char *name, const char *value);
// At the start: what an operator changed here before hosts shared the store becomes what all have.
MUST_USE Status live_settings_open(Control *control);
MUST_USE Status live_settings_reload(Control *control); // what was changed at another host

// --- bans.c -------------------------------------------------------------------------------------
MUST_USE Status bans_read(Control *control);
MUST_USE Status bans_reload(Control *control, uint64_t account); // whose have changed; 0: anybody's
void bans_free(Control *control);

// --- chat.c -------------------------------------------------------------------------------------
MUST_USE Status chat_read(Control *control);
MUST_USE Status chat_reload(Control *control);
void chat_apply(Control *control, ChatRule rule); // of the installation, in memory
void chat_apply_guests(Control *control, ChatRule rule);
void chat_free(Control *control);

void chat_note_blocks(Control *control, uint64_t account);
void chat_note_pupil(Control *control, uint64_t account); // their rule has changed
void chat_note_place(Control *control, const char *place_id);
void chat_note_lists(Control *control); // hosts on other machines must fetch them again

// --- class.c ------------------------------------------------------------------------------------
MUST_USE Status classes_read(Control *control);
MUST_USE Status classes_reload(Control *control);
void classes_free(Control *control);
void class_forget_pupil(Control *control, const char *class_id, uint64_t account); // NULL: of all
// name: what the class calls the pupil; "": by the shown name.
MUST_USE Status class_add_pupil(Control *control, const char *class_id, uint64_t account,
                                const char *name);
// From what the teacher typed: a name and a shown name that nobody has, and what the class calls
// the pupil ("": by the shown name). They are numbered apart, so that Anna stays Anna where she
// can. False: all are taken.
struct StoreClass;
bool class_choose_names(Control *control, const struct StoreClass *class, const char *typed,
                        StoreAccount *account, char called[STORE_SHOWN_BYTES]);
// Does the class call another pupil so? The name is folded.
bool class_calls_somebody(Control *control, const char *class_id, const char *folded, uint64_t but);
bool class_calls_them(Control *control, uint64_t account, const char *name); // just so?
// Another shown name takes the place of what classes call the account: is it nobody else's there?
bool class_may_rename(Control *control, uint64_t account, const char *name);
void class_forget_names(Control *control, uint64_t account);
// The strictest rule of the account's classes, and of the place's class.
ChatRule class_rule_of(Control *control, uint64_t account);
ChatRule class_rule_in(Control *control, const char *place_id);

// --- address_bans.c -----------------------------------------------------------------------------
MUST_USE Status address_bans_read(Control *control);
MUST_USE Status address_bans_reload(Control *control);
void address_bans_free(Control *control);

// --- person.c -----------------------------------------------------------------------------------
// Those who were deleted a short while ago: a world may have written about them since.
void person_delete_again(Control *control);

// --- sign_in.c ----------------------------------------------------------------------------------
MUST_USE Status sign_ins_read(Control *control);
void sign_ins_free(Control *control);
// A new one, not in the table yet.
void sign_in_make(Control *control, uint64_t account, SignInKind kind, const char *name,
                  uint32_t scope, StoreSignIn *out, char token[TOKEN_TEXT_BYTES]);
// Into the table, once it is on disk.
MUST_USE Status sign_in_add(Control *control, const StoreSignIn *row, const StoreAccount *account);
// Out of the table: they have ended on disk. All of an account but for one (NULL: all), or this
// one.
void sign_ins_forget(Control *control, uint64_t account, const uint8_t but[TOKEN_HASH_BYTES]);
void sign_ins_forget_all(Control *control);
void sign_in_forget(Control *control, const uint8_t hash[TOKEN_HASH_BYTES]);
// How many of that kind the account has, and which of them was not used for longest.
uint32_t sign_ins_count(Control *control, uint64_t account, SignInKind kind,
                        uint8_t oldest[TOKEN_HASH_BYTES]);
// The account's row has changed: its sign-ins know.
void sign_ins_change(Control *control, const StoreAccount *account);
void sign_in_identity(const SignIn *sign_in, Identity *out);
// Has the account, which is signed in, such a role?
bool sign_in_has_role(Control *control, uint64_t account, uint32_t role);

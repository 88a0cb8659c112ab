// Classes of a school. What is stored is in store_class.h; who may do what is in rights.h. Which
// class an account or a place belongs to is in memory too, because worlds ask for chat rules at any
// time and must not wait.
//
// A pupil is a child whom people outside of the class must not get to know: unless the teacher
// allows it, there is no free chat, and outside of the class neither a name nor any other text
// about them, but an alias (store_pupil_alias). So it stays if the pupil leaves the class and keeps
// the account (ROLE_PUPIL): then nobody is left who could allow it.
//
// No two accounts have the same shown name, so that nobody is taken for somebody else: the second
// Anna of a school is "Anna 2". Her class, in which there is no other, calls her Anna all the same.
#pragma once

#include "server/control/account.h"
#include "server/control/order/chat.h"
#include "server/store/people/store_class.h"

#define CLASSES_OF_PUPIL_MAX 16

// A pupil with a code, given out once: only its hash is kept.
typedef struct ClassPupil {
    StoreAccount account;
    char code[RECOVERY_TEXT_BYTES];
} ClassPupil;

// All of these wait for the disk.
// By the code of a pupil; with a name only if it is theirs ("": none was given).
AccountResult account_sign_in_code(Control *control, const char *name, const char *code,
                                   const AccountAsk *ask, AccountGiven *given);
// May a pupil be called so?
AccountResult account_check_pupil(Control *control, const char *shown_name);
// A new account, whose name is made from that of the class; numbers are added until both names are
// nobody else's, and what the class calls them until it calls nobody else so.
AccountResult account_add_pupil(Control *control, const StoreClass *class, const char *shown_name,
                                ClassPupil *out);
// The pupil of the class with this code, which is in *out as people write it. ACCOUNT_NOT_FOUND:
// none.
AccountResult account_find_pupil(Control *control, const char *class_id, const char *code,
                                 ClassPupil *out);
// Another code; all sign-ins of the pupil end. ACCOUNT_NOT_FOUND: no pupil of the class.
AccountResult account_reset_pupil(Control *control, const char *class_id, uint64_t account,
                                  ClassPupil *out);
// Ends the code and all sign-ins; the account stays.
AccountResult account_remove_pupil(Control *control, const char *class_id, uint64_t account);

// The class, with a chat rule: phrases if there are some, otherwise off. As store_class_make.
MUST_USE Status control_make_class(Control *control, const StoreClass *class, uint32_t count_max);
// May everybody see what its pupils are called, and may they change it?
MUST_USE Status control_set_class_names(Control *control, const char *class_id, bool are_public);

// These do not wait.
// Is it a pupil, whom people outside of the class must not know by name?
bool control_name_is_closed(Control *control, uint64_t account, uint32_t roles);
bool control_is_pupil_of(Control *control, const char *class_id, uint64_t account);
// Puts what the class calls its pupil in place of the shown name, which stays if it has none of its
// own for them.
void control_class_name(Control *control, const char *class_id, uint64_t account,
                        char name[STORE_SHOWN_BYTES]);
// Is the place the account's class's? If so, puts the name that the class has for the account.
bool control_name_at(Control *control, uint64_t account, const char *place_id,
                     char name[STORE_SHOWN_BYTES]);
// The classes that it is a pupil of, at most max. Returns how many.
uint32_t control_classes_of(Control *control, uint64_t account, char out[][65], uint32_t max);

// After store_class_place_make: worlds of the place hear of the class's chat rule.
MUST_USE Status control_class_place(Control *control, const char *class_id, const char *place_id);
// What may be said in the class's places and by its pupils, wherever they are.
MUST_USE Status control_set_class_chat(Control *control, const StoreChatRule *rule);
// With its chat rule; the pupils were removed before. As store_class_delete.
MUST_USE Status control_delete_class(Control *control, const char *class_id);

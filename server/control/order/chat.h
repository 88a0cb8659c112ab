// What may be said, and by whom it is not heard: chat rules, people whom others block, and the
// operator's lists of words and phrases. All of it is in memory, and each change is in the store
// first. Whoever runs worlds takes the changes (control_take_chat_change) and tells those that run.
//
//   installation   the setting `chat`               place    its owner and editors
//   class          its teacher                      account  an operator or a teacher
//   guests         the setting `guest_chat`, off if nobody sets it
//
// The strictest holds: in a world that of the installation, the place and the place's class, which
// everybody there is held to, and then that of each player: their own, that of their class, and
// that of guests.
#pragma once

#include "core/base/word_list.h"
#include "server/store/people/store_moderate.h"

typedef struct Control Control;

// --- rules --------------------------------------------------------------------------------------
// CHAT_FREE takes the place of none. These wait for the disk. STATUS_LIMIT: too many.
MUST_USE Status control_set_chat(Control *control, ChatRule rule);       // of the installation
MUST_USE Status control_set_guest_chat(Control *control, ChatRule rule); // of guests everywhere
MUST_USE Status control_set_chat_rule(Control *control, const StoreChatRule *rule);
// These do not wait.
ChatRule control_chat(Control *control);
ChatRule control_guest_chat(Control *control);
ChatRule control_chat_rule(Control *control, StoreChatScope scope, uint64_t account,
                           const char *subject);
ChatRule control_chat_in(Control *control, const char *place_id); // installation, place, class
// Their own, their class's and, if they are a guest, that of guests.
ChatRule control_chat_of(Control *control, uint64_t account);

// --- blocks -------------------------------------------------------------------------------------
// These wait for the disk. STATUS_LIMIT: BLOCKS_PER_ACCOUNT_MAX. Both may be done twice.
MUST_USE Status control_block(Control *control, uint64_t account, uint64_t blocked);
MUST_USE Status control_unblock(Control *control, uint64_t account, uint64_t blocked);
// By number; at most max. Returns how many there are. Does not wait.
uint32_t control_blocks(Control *control, uint64_t account, StoreBlock *out, uint32_t max);
void control_forget_blocks(Control *control, uint64_t account); // deleted on disk already

// --- lists --------------------------------------------------------------------------------------
#define CONTROL_LIST_BYTES (WORD_LIST_BYTES_MAX + 1)
// One per line. Waits for the disk. STATUS_MALFORMED, STATUS_LIMIT: *line says which line is wrong.
MUST_USE Status control_set_list(Control *control, StoreList list, const char *text, size_t bytes,
                                 uint64_t maker, uint32_t *line);
// Terminated; returns its length. Does not wait.
size_t control_list_read(Control *control, StoreList list, char out[CONTROL_LIST_BYTES]);
bool control_has_phrases(Control *control);
// Another number when one of the lists or the ranges of banned addresses was changed, and after a
// restart: hosts on other machines ask for them then. Does not wait.
uint64_t control_lists_version(Control *control);
// Does a title, name or description have a word of the list? Does not wait.
bool control_has_word(Control *control, const char *text);

// --- changes ------------------------------------------------------------------------------------
typedef enum ControlChatChangeKind {
    CHAT_CHANGED_WORLDS, // of a place, or of all: the rule, or a list
    CHAT_CHANGED_RULE,   // of an account
    CHAT_CHANGED_BLOCKS  // of an account
} ControlChatChangeKind;
typedef struct ControlChatChange {
    ControlChatChangeKind kind;
    uint64_t account;
    char place_id[65]; // "": all
} ControlChatChange;
// The next one since the last call. False: none.
bool control_take_chat_change(Control *control, ControlChatChange *out);

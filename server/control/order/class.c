// See class.h. There are some thousands of pupils and places at most, which are looked through one
// by one: only whoever comes into a world or changes a rule asks.
#include "server/control/order/class.h"

#include "core/base/letter.h"
#include "core/base/utf8.h"
#include "server/control/control_inside.h"
#include "server/sys/entropy.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ENTRIES_MAX     (1u << 20)
#define PUPIL_TRIES_MAX 1000 // numbers behind a name
#define READ_AT_ONCE    100

// An account or a place, and its class. Neither: a class whose pupils' names are public.
typedef struct Entry {
    uint64_t account;  // 0: none
    char place_id[65]; // "": none
    char class_id[65];
    char name[STORE_SHOWN_BYTES]; // what the class calls the account; "": by its shown name
} Entry;

struct Classes {
    pthread_mutex_t lock;
    Entry *entries;
    uint32_t count, capacity;
};

static Status add_entry(struct Classes *classes, const char *class_id, uint64_t account,
                        const char *place_id, const char *name)
{
    if (classes->count == classes->capacity) {
        const uint32_t more = 2 * classes->capacity + 64;
        Entry *grown = more <= ENTRIES_MAX ? realloc(classes->entries, more * sizeof *grown) : NULL;
        if (grown == NULL) {
            return STATUS_LIMIT;
        }
        classes->entries = grown;
        classes->capacity = more;
    }
    Entry *entry = &classes->entries[classes->count++];
    *entry = (Entry){.account = account};
    memcpy(entry->place_id, place_id, strlen(place_id) + 1);
    memcpy(entry->class_id, class_id, strlen(class_id) + 1);
    memcpy(entry->name, name, strlen(name) + 1);
    return STATUS_OK;
}

// Is this account, this place, or the class itself (0 and "": its names are public) in the class?
// The lock is held.
static const Entry *find_member(const struct Classes *classes, const char *class_id,
                                uint64_t account, const char *place_id)
{
    for (uint32_t i = 0; i < classes->count; i++) {
        const Entry *entry = &classes->entries[i];
        if (entry->account == account && strcmp(entry->place_id, place_id) == 0 &&
            strcmp(entry->class_id, class_id) == 0) {
            return entry;
        }
    }
    return NULL;
}

// --- names --------------------------------------------------------------------------------------

// The next letter or digit of the text as an account's name may have it, without accents; 0: it is
// neither.
static char take_plain(const char **text)
{
    const size_t length = utf8_length((const uint8_t *)*text, strlen(*text));
    if (length == 0) { // no letter at all
        *text += 1;
        return '\0';
    }
    const uint32_t folded = letter_fold(utf8_code_point((const uint8_t *)*text, length));
    *text += length;
    const bool is_plain = (folded >= 'a' && folded <= 'z') || (folded >= '0' && folded <= '9');
    return is_plain ? (char)folded : '\0';
}

// "5b-anna", "5b-anna2", and so on; what is no Latin letter or digit is left out.
static void pupil_name(const char *class_name, const char *shown, uint32_t number,
                       char out[STORE_NAME_BYTES])
{
    char ending[16] = "";
    size_t at = 0;
    if (number > 1) {
        snprintf(ending, sizeof ending, "%u", number);
    }
    const size_t room = NAME_LETTERS_MAX - strlen(ending);
    for (uint32_t part = 0; part < 2; part++) {
        const char *text = part == 0 ? class_name : shown;
        const size_t end = part == 0 ? 8 : room;
        while (*text != '\0' && at < end) {
            out[at] = take_plain(&text);
            at += out[at] != '\0';
        }
        if (part == 0) {
            at += at == 0 ? (size_t)snprintf(out, STORE_NAME_BYTES, "class") : 0;
            out[at++] = '-';
        } else if (out[at - 1] == '-') { // no letter of the name is a Latin one
            at += (size_t)snprintf(out + at, STORE_NAME_BYTES - at, "pupil");
        }
    }
    snprintf(out + at, STORE_NAME_BYTES - at, "%s", ending);
    if (strlen(out) < NAME_LETTERS_MIN || !name_is_valid(out)) {
        snprintf(out, STORE_NAME_BYTES, "pupil-%u", (unsigned)(entropy_u64() % 1000000000));
    }
}

static void pupil_shown(const char *shown, uint32_t number, char out[STORE_SHOWN_BYTES])
{
    char ending[16] = "";
    if (number > 1) {
        snprintf(ending, sizeof ending, " %u", number);
    }
    const size_t bytes = utf8_cut(shown, strlen(shown), STORE_SHOWN_BYTES - 1 - strlen(ending));
    snprintf(out, STORE_SHOWN_BYTES, "%.*s%s", (int)bytes, shown, ending);
}

// Does somebody have a name that looks like it? If the store cannot say, the transaction will.
static bool is_taken(Control *control, const char *name)
{
    char folded[NAME_FOLD_BYTES];
    uint64_t owner = 0;
    name_fold(name, folded);
    return name_is_reserved(folded) ||
           (store_name_find(control->config.store, folded, &owner) == STATUS_OK && owner != 0);
}

// Does a pupil of the class have a name that looks like it, or somebody who leads one or runs the
// server? What others are called elsewhere does not matter in the class.
static bool is_taken_in_class(Control *control, const char *class_id, const char *name)
{
    char folded[NAME_FOLD_BYTES];
    uint64_t owner = 0;
    StoreAccount account;
    name_fold(name, folded);
    if (name_is_reserved(folded) || class_calls_somebody(control, class_id, folded, 0)) {
        return true;
    }
    if (store_name_find(control->config.store, folded, &owner) != STATUS_OK || owner == 0) {
        return false;
    }
    return control_is_pupil_of(control, class_id, owner) ||
           store_account_find(control->config.store, owner, &account) != STATUS_OK ||
           (account.roles & (ROLE_TEACHER | ROLE_OPERATOR)) != 0;
}

bool class_choose_names(Control *control, const StoreClass *class, const char *typed,
                        StoreAccount *account, char called[STORE_SHOWN_BYTES])
{
    uint32_t name = 1, shown = 1, here = 1;
    pupil_shown(typed, shown, account->shown_name);
    while (is_taken(control, account->shown_name) && shown < PUPIL_TRIES_MAX) {
        pupil_shown(typed, ++shown, account->shown_name);
    }
    pupil_name(class->name, typed, name, account->name);
    while (is_taken(control, account->name) && name < PUPIL_TRIES_MAX) {
        pupil_name(class->name, typed, ++name, account->name);
    }
    pupil_shown(typed, here, called);
    while (is_taken_in_class(control, class->class_id, called) && here < PUPIL_TRIES_MAX) {
        pupil_shown(typed, ++here, called);
    }
    if (strcmp(called, account->shown_name) == 0) {
        called[0] = '\0'; // one name is enough
    }
    return name < PUPIL_TRIES_MAX && shown < PUPIL_TRIES_MAX && here < PUPIL_TRIES_MAX;
}

// --- the beginning and the end ------------------------------------------------------------------

static void read_pupil(void *user, const char *class_id, uint64_t account, const char *name)
{
    status_ignore(add_entry(user, class_id, account, "", name));
}

static void read_place(void *user, const char *class_id, const char *package_id)
{
    status_ignore(add_entry(user, class_id, 0, package_id, ""));
}

static Status read_public(Control *control)
{
    StoreClass *classes = calloc(READ_AT_ONCE, sizeof *classes);
    char after[65] = "";
    uint32_t count = 0;
    Status status = classes != NULL ? STATUS_OK : STATUS_LIMIT;
    do {
        status = status == STATUS_OK
                     ? store_classes(control->config.store, 0, after, classes, READ_AT_ONCE, &count)
                     : status;
        for (uint32_t i = 0; status == STATUS_OK && i < count; i++) {
            memcpy(after, classes[i].class_id, sizeof after);
            status = classes[i].has_public_names
                         ? add_entry(control->classes, classes[i].class_id, 0, "", "")
                         : STATUS_OK;
        }
    } while (status == STATUS_OK && count == READ_AT_ONCE);
    free(classes);
    return status;
}

Status classes_read(Control *control)
{
    control->classes = calloc(1, sizeof *control->classes);
    if (control->classes == NULL) {
        return STATUS_LIMIT;
    }
    pthread_mutex_init(&control->classes->lock, NULL);
    Status status = store_pupils_all(control->config.store, read_pupil, control->classes);
    status = status == STATUS_OK
                 ? store_class_places_all(control->config.store, read_place, control->classes)
                 : status;
    return status == STATUS_OK ? read_public(control) : status;
}

Status classes_reload(Control *control)
{
    Control fresh = {.config = control->config};
    const Status status = classes_read(&fresh);
    if (status == STATUS_OK) {
        pthread_mutex_lock(&control->classes->lock);
        Entry *before = control->classes->entries;
        control->classes->entries = fresh.classes->entries;
        control->classes->count = fresh.classes->count;
        control->classes->capacity = fresh.classes->capacity;
        fresh.classes->entries = before;
        pthread_mutex_unlock(&control->classes->lock);
    }
    classes_free(&fresh);
    return status;
}

void classes_free(Control *control)
{
    if (control->classes != NULL) {
        pthread_mutex_destroy(&control->classes->lock);
        free(control->classes->entries);
        free(control->classes);
    }
}

// --- changes ------------------------------------------------------------------------------------

Status class_add_pupil(Control *control, const char *class_id, uint64_t account, const char *name)
{
    pthread_mutex_lock(&control->classes->lock);
    const Status status = add_entry(control->classes, class_id, account, "", name);
    pthread_mutex_unlock(&control->classes->lock);
    return status;
}

void class_forget_pupil(Control *control, const char *class_id, uint64_t account)
{
    struct Classes *classes = control->classes;
    uint32_t kept = 0;
    pthread_mutex_lock(&classes->lock);
    for (uint32_t i = 0; i < classes->count; i++) {
        const Entry *entry = &classes->entries[i];
        const bool is_gone = entry->account == account && account != 0 &&
                             (class_id == NULL || strcmp(entry->class_id, class_id) == 0);
        if (!is_gone) {
            classes->entries[kept++] = *entry;
        }
    }
    classes->count = kept;
    pthread_mutex_unlock(&classes->lock);
    chat_note_pupil(control, account);
}

Status control_class_place(Control *control, const char *class_id, const char *place_id)
{
    pthread_mutex_lock(&control->classes->lock);
    const Status status = add_entry(control->classes, class_id, 0, place_id, "");
    pthread_mutex_unlock(&control->classes->lock);
    chat_note_place(control, place_id);
    return status;
}

// --- names --------------------------------------------------------------------------------------

uint32_t control_classes_of(Control *control, uint64_t account, char out[][65], uint32_t max)
{
    struct Classes *classes = control->classes;
    uint32_t count = 0;
    pthread_mutex_lock(&classes->lock);
    for (uint32_t i = 0; account != 0 && i < classes->count && count < max; i++) {
        if (classes->entries[i].account == account) {
            memcpy(out[count++], classes->entries[i].class_id, sizeof out[0]);
        }
    }
    pthread_mutex_unlock(&classes->lock);
    return count;
}

bool control_is_pupil_of(Control *control, const char *class_id, uint64_t account)
{
    pthread_mutex_lock(&control->classes->lock);
    const bool is_one =
        account != 0 && find_member(control->classes, class_id, account, "") != NULL;
    pthread_mutex_unlock(&control->classes->lock);
    return is_one;
}

// The name of the entry, if it has one.
static void put_name(const Entry *entry, char name[STORE_SHOWN_BYTES])
{
    if (entry != NULL && entry->name[0] != '\0') {
        memcpy(name, entry->name, STORE_SHOWN_BYTES);
    }
}

void control_class_name(Control *control, const char *class_id, uint64_t account,
                        char name[STORE_SHOWN_BYTES])
{
    pthread_mutex_lock(&control->classes->lock);
    put_name(account != 0 ? find_member(control->classes, class_id, account, "") : NULL, name);
    pthread_mutex_unlock(&control->classes->lock);
}

bool control_name_at(Control *control, uint64_t account, const char *place_id,
                     char name[STORE_SHOWN_BYTES])
{
    struct Classes *classes = control->classes;
    bool is_one = false;
    pthread_mutex_lock(&classes->lock);
    for (uint32_t i = 0; account != 0 && place_id[0] != '\0' && i < classes->count && !is_one;
         i++) {
        const Entry *entry = &classes->entries[i];
        if (entry->account == account &&
            find_member(classes, entry->class_id, 0, place_id) != NULL) {
            put_name(entry, name);
            is_one = true;
        }
    }
    pthread_mutex_unlock(&classes->lock);
    return is_one;
}

bool class_calls_somebody(Control *control, const char *class_id, const char *folded, uint64_t but)
{
    struct Classes *classes = control->classes;
    bool is_used = false;
    pthread_mutex_lock(&classes->lock);
    for (uint32_t i = 0; i < classes->count && !is_used; i++) {
        const Entry *entry = &classes->entries[i];
        char other[NAME_FOLD_BYTES];
        if (entry->name[0] != '\0' && entry->account != but &&
            strcmp(entry->class_id, class_id) == 0) {
            name_fold(entry->name, other);
            is_used = strcmp(other, folded) == 0;
        }
    }
    pthread_mutex_unlock(&classes->lock);
    return is_used;
}

bool class_calls_them(Control *control, uint64_t account, const char *name)
{
    struct Classes *classes = control->classes;
    bool does = false;
    pthread_mutex_lock(&classes->lock);
    for (uint32_t i = 0; account != 0 && i < classes->count && !does; i++) {
        const Entry *entry = &classes->entries[i];
        does =
            entry->account == account && entry->name[0] != '\0' && strcmp(entry->name, name) == 0;
    }
    pthread_mutex_unlock(&classes->lock);
    return does;
}

bool class_may_rename(Control *control, uint64_t account, const char *name)
{
    char ids[CLASSES_OF_PUPIL_MAX][65], folded[NAME_FOLD_BYTES];
    const uint32_t count = control_classes_of(control, account, ids, CLASSES_OF_PUPIL_MAX);
    name_fold(name, folded);
    for (uint32_t i = 0; i < count; i++) {
        if (class_calls_somebody(control, ids[i], folded, account)) {
            return false;
        }
    }
    return true;
}

void class_forget_names(Control *control, uint64_t account)
{
    struct Classes *classes = control->classes;
    pthread_mutex_lock(&classes->lock);
    for (uint32_t i = 0; i < classes->count; i++) {
        if (classes->entries[i].account == account) {
            classes->entries[i].name[0] = '\0';
        }
    }
    pthread_mutex_unlock(&classes->lock);
}

bool control_name_is_closed(Control *control, uint64_t account, uint32_t roles)
{
    struct Classes *classes = control->classes;
    bool is_pupil = false, is_closed = false;
    pthread_mutex_lock(&classes->lock);
    for (uint32_t i = 0; account != 0 && i < classes->count && !is_closed; i++) {
        if (classes->entries[i].account == account) {
            is_pupil = true;
            is_closed = find_member(classes, classes->entries[i].class_id, 0, "") == NULL;
        }
    }
    pthread_mutex_unlock(&classes->lock);
    return is_closed || (!is_pupil && (roles & ROLE_PUPIL) != 0);
}

Status control_set_class_names(Control *control, const char *class_id, bool are_public)
{
    struct Classes *classes = control->classes;
    Status status = store_class_names(control->config.store, class_id, are_public);
    if (status != STATUS_OK) {
        return status;
    }
    pthread_mutex_lock(&classes->lock);
    const Entry *entry = find_member(classes, class_id, 0, "");
    if (are_public && entry == NULL) {
        status = add_entry(classes, class_id, 0, "", "");
    } else if (!are_public && entry != NULL) {
        classes->entries[entry - classes->entries] = classes->entries[--classes->count];
    }
    pthread_mutex_unlock(&classes->lock);
    return status;
}

// --- chat ---------------------------------------------------------------------------------------

// The strictest of the classes that the account or the place is in.
static ChatRule strictest(Control *control, uint64_t account, const char *place_id)
{
    struct Classes *classes = control->classes;
    ChatRule rule = CHAT_FREE;
    pthread_mutex_lock(&classes->lock);
    for (uint32_t i = 0; i < classes->count; i++) {
        const Entry *entry = &classes->entries[i];
        if (entry->account == account && strcmp(entry->place_id, place_id) == 0) {
            rule = chat_rule_stricter(
                rule, control_chat_rule(control, STORE_CHAT_CLASS, 0, entry->class_id));
        }
    }
    pthread_mutex_unlock(&classes->lock);
    return rule;
}

ChatRule class_rule_of(Control *control, uint64_t account)
{
    if (account == 0) {
        return CHAT_FREE;
    }
    char class_id[1][65];
    const bool is_pupil = control_classes_of(control, account, class_id, 1) > 0;
    // A child who left the class has no teacher who could allow it.
    return !is_pupil && sign_in_has_role(control, account, ROLE_PUPIL)
               ? CHAT_OFF
               : strictest(control, account, "");
}

ChatRule class_rule_in(Control *control, const char *place_id)
{
    return place_id[0] != '\0' ? strictest(control, 0, place_id) : CHAT_FREE;
}

// Worlds hear of the rule by itself; pupils who are in worlds of others one by one.
static void note_pupils(Control *control, const char *class_id)
{
    struct Classes *classes = control->classes;
    pthread_mutex_lock(&classes->lock);
    for (uint32_t i = 0; i < classes->count; i++) {
        const Entry *entry = &classes->entries[i];
        if (entry->account != 0 && strcmp(entry->class_id, class_id) == 0) {
            chat_note_pupil(control, entry->account);
        }
    }
    pthread_mutex_unlock(&classes->lock);
}

Status control_set_class_chat(Control *control, const StoreChatRule *rule)
{
    const Status status = control_set_chat_rule(control, rule);
    if (status == STATUS_OK) {
        note_pupils(control, rule->subject);
    }
    return status;
}

Status control_make_class(Control *control, const StoreClass *class, uint32_t count_max)
{
    StoreChatRule rule = {.scope = STORE_CHAT_CLASS,
                          .rule = control_has_phrases(control) ? CHAT_PHRASES : CHAT_OFF,
                          .maker_id = class->teacher_id,
                          .unix_ms = class->created_unix_ms};
    StoreClass found;
    if (store_class_find(control->config.store, class->class_id, &found) == STATUS_OK) {
        return STATUS_EXISTS; // its rule must stay as it is
    }
    memcpy(rule.subject, class->class_id, sizeof rule.subject);
    Status status = control_set_chat_rule(control, &rule);
    if (status != STATUS_OK) {
        return status;
    }
    status = store_class_make(control->config.store, class, count_max);
    if (status != STATUS_OK) {
        rule.rule = CHAT_FREE; // none
        status_ignore(control_set_chat_rule(control, &rule));
    }
    return status;
}

Status control_delete_class(Control *control, const char *class_id)
{
    StoreChatRule rule = {.scope = STORE_CHAT_CLASS, .rule = CHAT_FREE};
    status_ignore(control_set_class_names(control, class_id, false)); // nobody is in it any more
    const Status status = store_class_delete(control->config.store, class_id);
    if (status == STATUS_OK) {
        memcpy(rule.subject, class_id, strlen(class_id) + 1);
        status_ignore(control_set_chat_rule(control, &rule)); // it is gone from the disk already
    }
    return status;
}

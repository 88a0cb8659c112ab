// See chat.h. Rules are sorted by scope, account and subject, blocks by account and by whom they
// block; the lists have a lock of their own, because looking for words in a long text takes a
// while.
#include "server/control/order/chat.h"

#include "core/base/check.h"
#include "core/base/text.h"
#include "server/control/control_inside.h"
#include "server/control/settings/settings.h"
#include "server/sys/entropy.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#define CHANGES_MAX 4096

typedef struct List {
    char *text;
    size_t bytes;
} List;

struct Chat {
    ChatRule rule;       // of the installation
    ChatRule guest_rule; // of guests, everywhere
    StoreChatRule *rules;
    uint32_t rule_count, rule_capacity;
    StoreBlock *blocks;
    uint32_t block_count, block_capacity;
    ControlChatChange *changes; // CHANGES_MAX, a ring
    uint32_t change_first, change_count;
    _Atomic uint64_t lists_version;
    pthread_mutex_t list_lock;
    List lists[STORE_LIST_COUNT];
    WordList words;
};

// --- changes; the lock is held ------------------------------------------------------------------

static void note_change(struct Chat *chat, ControlChatChangeKind kind, uint64_t account,
                        const char *place_id)
{
    if (chat->change_count == CHANGES_MAX) {
        return; // running worlds hear of it when the player comes the next time
    }
    ControlChatChange *change =
        &chat->changes[(chat->change_first + chat->change_count) % CHANGES_MAX];
    *change = (ControlChatChange){.kind = kind, .account = account};
    memcpy(change->place_id, place_id, strlen(place_id) + 1);
    chat->change_count += 1;
}

bool control_take_chat_change(Control *control, ControlChatChange *out)
{
    struct Chat *chat = control->chat;
    pthread_mutex_lock(&control->lock);
    const bool is_any = chat->change_count > 0;
    if (is_any) {
        *out = chat->changes[chat->change_first];
        chat->change_first = (chat->change_first + 1) % CHANGES_MAX;
        chat->change_count -= 1;
    }
    pthread_mutex_unlock(&control->lock);
    return is_any;
}

// --- rules --------------------------------------------------------------------------------------

static int compare_rules(const StoreChatRule *a, const StoreChatRule *b)
{
    if (a->scope != b->scope) {
        return a->scope < b->scope ? -1 : 1;
    }
    if (a->account_id != b->account_id) {
        return a->account_id < b->account_id ? -1 : 1;
    }
    return strcmp(a->subject, b->subject);
}

// Where it is, or would be.
static uint32_t rule_place(const struct Chat *chat, const StoreChatRule *rule)
{
    uint32_t low = 0, high = chat->rule_count;
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        if (compare_rules(&chat->rules[middle], rule) < 0) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

static bool rule_is_at(const struct Chat *chat, uint32_t at, const StoreChatRule *rule)
{
    return at < chat->rule_count && compare_rules(&chat->rules[at], rule) == 0;
}

static void remove_rule(struct Chat *chat, const StoreChatRule *rule)
{
    const uint32_t at = rule_place(chat, rule);
    if (rule_is_at(chat, at, rule)) {
        chat->rule_count -= 1;
        memmove(&chat->rules[at], &chat->rules[at + 1],
                (chat->rule_count - at) * sizeof chat->rules[0]);
    }
}

static bool put_rule(struct Chat *chat, const StoreChatRule *rule)
{
    const uint32_t at = rule_place(chat, rule);
    if (rule_is_at(chat, at, rule)) {
        chat->rules[at] = *rule;
        return true;
    }
    if (chat->rule_count == chat->rule_capacity) {
        const uint32_t more = 2 * chat->rule_capacity + 16;
        StoreChatRule *grown =
            more <= 2 * CHAT_RULES_MAX ? realloc(chat->rules, more * sizeof *grown) : NULL;
        if (grown == NULL) {
            return false;
        }
        chat->rules = grown;
        chat->rule_capacity = more;
    }
    memmove(&chat->rules[at + 1], &chat->rules[at],
            (chat->rule_count - at) * sizeof chat->rules[0]);
    chat->rules[at] = *rule;
    chat->rule_count += 1;
    return true;
}

static void note_rule(struct Chat *chat, const StoreChatRule *rule)
{
    if (rule->scope == STORE_CHAT_ACCOUNT) {
        note_change(chat, CHAT_CHANGED_RULE, rule->account_id, "");
    } else {
        note_change(chat, CHAT_CHANGED_WORLDS, 0,
                    rule->scope == STORE_CHAT_PLACE ? rule->subject : "");
    }
}

Status control_set_chat_rule(Control *control, const StoreChatRule *rule)
{
    struct Chat *chat = control->chat;
    pthread_mutex_lock(&control->lock);
    const bool is_full = rule->rule != CHAT_FREE && chat->rule_count >= CHAT_RULES_MAX;
    pthread_mutex_unlock(&control->lock);
    Status status = is_full ? STATUS_LIMIT : store_chat_rule_put(control->config.store, rule);
    if (status == STATUS_OK) {
        pthread_mutex_lock(&control->lock);
        if (rule->rule == CHAT_FREE) {
            remove_rule(chat, rule);
        } else {
            status = put_rule(chat, rule) ? STATUS_OK : STATUS_LIMIT;
        }
        note_rule(chat, rule);
        pthread_mutex_unlock(&control->lock);
    }
    return status;
}

void chat_apply(Control *control, ChatRule rule)
{
    pthread_mutex_lock(&control->lock);
    if (control->chat->rule != rule) {
        control->chat->rule = rule;
        note_change(control->chat, CHAT_CHANGED_WORLDS, 0, "");
    }
    pthread_mutex_unlock(&control->lock);
}

void chat_apply_guests(Control *control, ChatRule rule)
{
    pthread_mutex_lock(&control->lock);
    const bool is_same = control->chat->guest_rule == rule;
    control->chat->guest_rule = rule;
    for (uint32_t i = 0; i < control->slot_count && !is_same; i++) {
        const SignIn *sign_in = control->slots[i];
        if (sign_in != NULL && sign_in->account.name[0] == '\0') {
            note_change(control->chat, CHAT_CHANGED_RULE, sign_in->account.account_id, "");
        }
    }
    pthread_mutex_unlock(&control->lock);
}

Status control_set_chat(Control *control, ChatRule rule)
{
    return live_setting_set(control, "chat", chat_rule_name(rule));
}

Status control_set_guest_chat(Control *control, ChatRule rule)
{
    return live_setting_set(control, "guest_chat", chat_rule_name(rule));
}

ChatRule control_guest_chat(Control *control)
{
    pthread_mutex_lock(&control->lock);
    const ChatRule rule = control->chat->guest_rule;
    pthread_mutex_unlock(&control->lock);
    return rule;
}

// That of guests, if the account is one: whoever plays has a sign-in.
static ChatRule guest_rule_of(Control *control, uint64_t account)
{
    pthread_mutex_lock(&control->lock);
    ChatRule rule = CHAT_FREE;
    if (control->chat->guest_rule != CHAT_FREE && !control->config.guests_only) {
        for (uint32_t i = 0; i < control->slot_count && rule == CHAT_FREE; i++) {
            const SignIn *sign_in = control->slots[i];
            if (sign_in != NULL && sign_in->account.account_id == account &&
                sign_in->account.name[0] == '\0') {
                rule = control->chat->guest_rule;
            }
        }
    }
    pthread_mutex_unlock(&control->lock);
    return rule;
}

ChatRule control_chat(Control *control)
{
    pthread_mutex_lock(&control->lock);
    const ChatRule rule = control->chat->rule;
    pthread_mutex_unlock(&control->lock);
    return rule;
}

ChatRule control_chat_rule(Control *control, StoreChatScope scope, uint64_t account,
                           const char *subject)
{
    StoreChatRule wanted = {.scope = scope, .account_id = account};
    const size_t bytes = strlen(subject);
    if (bytes >= sizeof wanted.subject) {
        return CHAT_FREE;
    }
    memcpy(wanted.subject, subject, bytes + 1);
    pthread_mutex_lock(&control->lock);
    const uint32_t at = rule_place(control->chat, &wanted);
    const ChatRule rule =
        rule_is_at(control->chat, at, &wanted) ? control->chat->rules[at].rule : CHAT_FREE;
    pthread_mutex_unlock(&control->lock);
    return rule;
}

ChatRule control_chat_in(Control *control, const char *place_id)
{
    const ChatRule rule = chat_rule_stricter(
        control_chat(control), control_chat_rule(control, STORE_CHAT_PLACE, 0, place_id));
    return chat_rule_stricter(rule, class_rule_in(control, place_id));
}

ChatRule control_chat_of(Control *control, uint64_t account)
{
    const ChatRule own = control_chat_rule(control, STORE_CHAT_ACCOUNT, account, "");
    return chat_rule_stricter(chat_rule_stricter(own, class_rule_of(control, account)),
                              guest_rule_of(control, account));
}

void chat_note_pupil(Control *control, uint64_t account)
{
    pthread_mutex_lock(&control->lock);
    note_change(control->chat, CHAT_CHANGED_RULE, account, "");
    pthread_mutex_unlock(&control->lock);
}

void chat_note_place(Control *control, const char *place_id)
{
    pthread_mutex_lock(&control->lock);
    note_change(control->chat, CHAT_CHANGED_WORLDS, 0, place_id);
    pthread_mutex_unlock(&control->lock);
}

// --- blocks -------------------------------------------------------------------------------------

static bool block_is_before(const StoreBlock *block, uint64_t account, uint64_t blocked)
{
    return block->account_id < account ||
           (block->account_id == account && block->blocked_id < blocked);
}

static uint32_t block_place(const struct Chat *chat, uint64_t account, uint64_t blocked)
{
    uint32_t low = 0, high = chat->block_count;
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        if (block_is_before(&chat->blocks[middle], account, blocked)) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

static bool block_is_at(const struct Chat *chat, uint32_t at, uint64_t account, uint64_t blocked)
{
    return at < chat->block_count && chat->blocks[at].account_id == account &&
           chat->blocks[at].blocked_id == blocked;
}

static bool put_block(struct Chat *chat, const StoreBlock *block)
{
    const uint32_t at = block_place(chat, block->account_id, block->blocked_id);
    if (block_is_at(chat, at, block->account_id, block->blocked_id)) {
        return true;
    }
    if (chat->block_count == chat->block_capacity) {
        const uint32_t more = 2 * chat->block_capacity + 16;
        StoreBlock *grown =
            more <= 2 * BLOCKS_MAX ? realloc(chat->blocks, more * sizeof *grown) : NULL;
        if (grown == NULL) {
            return false;
        }
        chat->blocks = grown;
        chat->block_capacity = more;
    }
    memmove(&chat->blocks[at + 1], &chat->blocks[at],
            (chat->block_count - at) * sizeof chat->blocks[0]);
    chat->blocks[at] = *block;
    chat->block_count += 1;
    return true;
}

static void remove_block(struct Chat *chat, uint64_t account, uint64_t blocked)
{
    const uint32_t at = block_place(chat, account, blocked);
    if (block_is_at(chat, at, account, blocked)) {
        chat->block_count -= 1;
        memmove(&chat->blocks[at], &chat->blocks[at + 1],
                (chat->block_count - at) * sizeof chat->blocks[0]);
    }
}

static uint32_t blocks_of(const struct Chat *chat, uint64_t account, uint32_t *first)
{
    *first = block_place(chat, account, 0);
    uint32_t count = 0;
    while (*first + count < chat->block_count &&
           chat->blocks[*first + count].account_id == account) {
        count += 1;
    }
    return count;
}

uint32_t control_blocks(Control *control, uint64_t account, StoreBlock *out, uint32_t max)
{
    uint32_t first;
    pthread_mutex_lock(&control->lock);
    const uint32_t count = blocks_of(control->chat, account, &first);
    for (uint32_t i = 0; i < count && i < max; i++) {
        out[i] = control->chat->blocks[first + i];
    }
    pthread_mutex_unlock(&control->lock);
    return count;
}

// One account's changes come one after the other, so that nobody has more than they may.
Status control_block(Control *control, uint64_t account, uint64_t blocked)
{
    struct Chat *chat = control->chat;
    const StoreBlock block = {account, blocked, control_now(control)};
    uint32_t first;
    pthread_mutex_t *stripe = control_stripe(control, account);
    pthread_mutex_lock(stripe);
    pthread_mutex_lock(&control->lock);
    const bool is_there = block_is_at(chat, block_place(chat, account, blocked), account, blocked);
    const bool is_full = blocks_of(chat, account, &first) >= BLOCKS_PER_ACCOUNT_MAX ||
                         chat->block_count >= BLOCKS_MAX;
    pthread_mutex_unlock(&control->lock);
    Status status = is_there  ? STATUS_OK
                    : is_full ? STATUS_LIMIT
                              : store_block_put(control->config.store, &block);
    if (status == STATUS_OK && !is_there) {
        pthread_mutex_lock(&control->lock);
        status = put_block(chat, &block) ? STATUS_OK : STATUS_LIMIT;
        note_change(chat, CHAT_CHANGED_BLOCKS, account, "");
        pthread_mutex_unlock(&control->lock);
    }
    pthread_mutex_unlock(stripe);
    return status;
}

Status control_unblock(Control *control, uint64_t account, uint64_t blocked)
{
    pthread_mutex_t *stripe = control_stripe(control, account);
    pthread_mutex_lock(stripe);
    const Status status = store_block_delete(control->config.store, account, blocked);
    if (status == STATUS_OK) {
        pthread_mutex_lock(&control->lock);
        remove_block(control->chat, account, blocked);
        note_change(control->chat, CHAT_CHANGED_BLOCKS, account, "");
        pthread_mutex_unlock(&control->lock);
    }
    pthread_mutex_unlock(stripe);
    return status;
}

void control_forget_blocks(Control *control, uint64_t account)
{
    struct Chat *chat = control->chat;
    const StoreChatRule rule = {.scope = STORE_CHAT_ACCOUNT, .account_id = account};
    uint32_t kept = 0;
    pthread_mutex_lock(&control->lock);
    for (uint32_t i = 0; i < chat->block_count; i++) {
        if (chat->blocks[i].account_id != account && chat->blocks[i].blocked_id != account) {
            chat->blocks[kept++] = chat->blocks[i];
        }
    }
    chat->block_count = kept;
    remove_rule(chat, &rule);
    pthread_mutex_unlock(&control->lock);
}

// --- lists --------------------------------------------------------------------------------------

// Phrases: as many and as long as a world keeps, each as chat would be said.
static Status check_phrases(const char *text, size_t bytes, uint32_t *line)
{
    uint32_t count = 0;
    *line = 0;
    for (size_t at = 0; at < bytes;) {
        const char *end = memchr(text + at, '\n', bytes - at);
        const size_t length = end != NULL ? (size_t)(end - text) - at : bytes - at;
        char clean[CHAT_PHRASE_BYTES_MAX + 1];
        *line += 1;
        if (length > CHAT_PHRASE_BYTES_MAX ||
            text_clean(text + at, length, clean, sizeof clean) != length ||
            memcmp(clean, text + at, length) != 0) {
            return STATUS_MALFORMED;
        }
        count += 1;
        if (count > CHAT_PHRASES_MAX) {
            return STATUS_LIMIT;
        }
        at += length + 1;
    }
    return STATUS_OK;
}

// The lock of lists is held.
static Status keep_list(struct Chat *chat, StoreList list, const char *text, size_t bytes)
{
    uint32_t line;
    char *copy = malloc(bytes + 1);
    if (copy == NULL) {
        return STATUS_LIMIT;
    }
    memcpy(copy, text, bytes);
    copy[bytes] = '\0';
    if (list == STORE_LIST_WORDS && word_list_set(&chat->words, text, bytes, &line) != STATUS_OK) {
        free(copy);
        return STATUS_MALFORMED;
    }
    free(chat->lists[list].text);
    chat->lists[list] = (List){copy, bytes};
    return STATUS_OK;
}

Status control_set_list(Control *control, StoreList list, const char *text, size_t bytes,
                        uint64_t maker, uint32_t *line)
{
    struct Chat *chat = control->chat;
    WordList *trial = malloc(sizeof *trial);
    if (trial == NULL || bytes > WORD_LIST_BYTES_MAX) {
        free(trial);
        *line = 0;
        return STATUS_LIMIT;
    }
    Status status = list == STORE_LIST_WORDS ? word_list_set(trial, text, bytes, line)
                                             : check_phrases(text, bytes, line);
    free(trial);
    if (status != STATUS_OK) {
        return status;
    }
    *line = 0;
    pthread_mutex_lock(&chat->list_lock);
    status = store_list_put(control->config.store, list, text, bytes, maker, control_now(control));
    status = status == STATUS_OK ? keep_list(chat, list, text, bytes) : status;
    pthread_mutex_unlock(&chat->list_lock);
    if (status == STATUS_OK) {
        chat_note_lists(control);
        pthread_mutex_lock(&control->lock);
        note_change(chat, CHAT_CHANGED_WORLDS, 0, "");
        pthread_mutex_unlock(&control->lock);
    }
    return status;
}

void chat_note_lists(Control *control)
{
    atomic_fetch_add(&control->chat->lists_version, 1);
}

uint64_t control_lists_version(Control *control)
{
    return atomic_load(&control->chat->lists_version);
}

size_t control_list_read(Control *control, StoreList list, char out[CONTROL_LIST_BYTES])
{
    struct Chat *chat = control->chat;
    pthread_mutex_lock(&chat->list_lock);
    const List kept = chat->lists[list];
    ASSERT(kept.bytes < CONTROL_LIST_BYTES);
    if (kept.bytes > 0) {
        memcpy(out, kept.text, kept.bytes);
    }
    out[kept.bytes] = '\0';
    pthread_mutex_unlock(&chat->list_lock);
    return kept.bytes;
}

bool control_has_phrases(Control *control)
{
    struct Chat *chat = control->chat;
    pthread_mutex_lock(&chat->list_lock);
    const bool has = chat->lists[STORE_LIST_PHRASES].bytes > 0;
    pthread_mutex_unlock(&chat->list_lock);
    return has;
}

bool control_has_word(Control *control, const char *text)
{
    struct Chat *chat = control->chat;
    pthread_mutex_lock(&chat->list_lock);
    const bool has = word_list_has(&chat->words, text, strlen(text));
    pthread_mutex_unlock(&chat->list_lock);
    return has;
}

// --- the beginning and the end ------------------------------------------------------------------

static void read_rule(void *user, const StoreChatRule *rule)
{
    (void)put_rule(user, rule);
}

static void read_block(void *user, const StoreBlock *block)
{
    (void)put_block(user, block);
}

Status chat_read(Control *control)
{
    struct Chat *chat = calloc(1, sizeof *chat);
    if (chat == NULL) {
        return STATUS_LIMIT;
    }
    control->chat = chat;
    chat->rule = control->config.chat;
    chat->guest_rule = control->config.guest_chat;
    atomic_init(&chat->lists_version, (entropy_u64() >> 16) + 1); // JSON keeps it exactly
    pthread_mutex_init(&chat->list_lock, NULL);
    chat->changes = calloc(CHANGES_MAX, sizeof *chat->changes);
    char *text = malloc(CONTROL_LIST_BYTES);
    Status status = text != NULL && chat->changes != NULL ? STATUS_OK : STATUS_LIMIT;
    status =
        status == STATUS_OK ? store_chat_rules(control->config.store, read_rule, chat) : status;
    status = status == STATUS_OK ? store_blocks(control->config.store, read_block, chat) : status;
    for (StoreList list = STORE_LIST_WORDS; list < STORE_LIST_COUNT && status == STATUS_OK;
         list++) {
        size_t bytes = 0;
        status = store_list_find(control->config.store, list, text, WORD_LIST_BYTES_MAX, &bytes);
        if (status == STATUS_OK && bytes > 0) {
            status_ignore(keep_list(chat, list, text, bytes));
        }
    }
    free(text);
    return status;
}

Status chat_reload(Control *control)
{
    Control fresh = {.config = control->config};
    const Status status = chat_read(&fresh);
    struct Chat *chat = control->chat, *other = fresh.chat;
    if (status == STATUS_OK) {
        pthread_mutex_lock(&chat->list_lock);
        for (uint32_t i = 0; i < STORE_LIST_COUNT; i++) {
            const List before = chat->lists[i];
            chat->lists[i] = other->lists[i];
            other->lists[i] = before;
        }
        chat->words = other->words;
        pthread_mutex_unlock(&chat->list_lock);
        pthread_mutex_lock(&control->lock);
        StoreChatRule *rules = chat->rules;
        StoreBlock *blocks = chat->blocks;
        chat->rules = other->rules;
        chat->rule_count = other->rule_count;
        chat->rule_capacity = other->rule_capacity;
        chat->blocks = other->blocks;
        chat->block_count = other->block_count;
        chat->block_capacity = other->block_capacity;
        other->rules = rules;
        other->blocks = blocks;
        note_change(chat, CHAT_CHANGED_WORLDS, 0, "");
        pthread_mutex_unlock(&control->lock);
        chat_note_lists(control);
    }
    chat_free(&fresh);
    return status;
}

void chat_note_blocks(Control *control, uint64_t account)
{
    pthread_mutex_lock(&control->lock);
    note_change(control->chat, CHAT_CHANGED_BLOCKS, account, "");
    pthread_mutex_unlock(&control->lock);
}

void chat_free(Control *control)
{
    struct Chat *chat = control->chat;
    if (chat == NULL) {
        return;
    }
    pthread_mutex_destroy(&chat->list_lock);
    for (uint32_t i = 0; i < STORE_LIST_COUNT; i++) {
        free(chat->lists[i].text);
    }
    free(chat->rules);
    free(chat->blocks);
    free(chat->changes);
    free(chat);
}

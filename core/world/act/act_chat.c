// Chat: who may say what, and who hears it. The text is sent to everybody who did not block the
// speaker, and to scripts, with everything removed that is not plain text. What holds comes from
// the owner, as orders (world.h): the rule of this world and of each player, of which the stricter
// counts, ready-made phrases, the operator's list of words, and the people whom players block.
#include "core/base/word_list.h"
#include "core/world/act/act_inside.h"

#include <stdio.h>
#include <string.h>

#define PHRASES_BYTES (CHAT_PHRASES_MAX * (CHAT_PHRASE_BYTES_MAX + 1))

struct Chat {
    ChatRule rule; // of this world
    char phrases[PHRASES_BYTES];
    uint32_t phrase_bytes;
    WordList words;
    uint64_t words_hash; // of the lines
    // Of each session, its accounts, BLOCKS_PER_ACCOUNT_MAX of them. Untouched pages cost nothing.
    uint64_t *blocks;
};

Status chat_create(Acts *acts)
{
    Heap *heap = acts->config.heap;
    const size_t lists = acts->config.sessions->count;
    acts->chat = heap_alloc(heap, sizeof *acts->chat);
    if (acts->chat == NULL) {
        return STATUS_LIMIT;
    }
    acts->chat->blocks =
        heap_alloc(heap, heap_array_bytes(lists, BLOCKS_PER_ACCOUNT_MAX * sizeof(uint64_t)));
    return acts->chat->blocks != NULL ? STATUS_OK : STATUS_LIMIT;
}

void chat_destroy(Acts *acts)
{
    if (acts->chat != NULL) {
        heap_free(acts->config.heap, acts->chat->blocks);
        heap_free(acts->config.heap, acts->chat);
    }
}

static uint64_t *blocks_of(const Acts *acts, const Session *session)
{
    const size_t number = session_number(acts->config.sessions, session);
    return acts->chat->blocks + number * BLOCKS_PER_ACCOUNT_MAX;
}

// Only what was set: a world without rules has the hash that it had before there were any.
void chat_hash(const Acts *acts, Hash64 *hash)
{
    const struct Chat *chat = acts->chat;
    const Sessions *sessions = acts->config.sessions;
    if (chat->rule != CHAT_FREE || chat->phrase_bytes > 0 || chat->words.count > 0) {
        hash_u64(hash, chat->rule);
        hash_bytes(hash, chat->phrases, chat->phrase_bytes);
        hash_u64(hash, chat->words_hash);
    }
    for (uint32_t i = 0; i < sessions->high; i++) {
        const Session *session = &sessions->all[i];
        for (uint32_t k = 0; k < session->block_count; k++) {
            hash_u64(hash, blocks_of(acts, session)[k]);
        }
    }
}

// --- what holds ---------------------------------------------------------------------------------

Status chat_set_world_rule(Acts *acts, uint64_t rule)
{
    if (rule >= CHAT_RULE_COUNT) {
        return STATUS_RANGE;
    }
    acts->chat->rule = (ChatRule)rule;
    return STATUS_OK;
}

Status chat_set_rule(Session *session, uint64_t rule)
{
    if (rule >= CHAT_RULE_COUNT) {
        return STATUS_RANGE;
    }
    session->chat_rule = (ChatRule)rule;
    session->chat_waits = false;
    return STATUS_OK;
}

Status chat_set_phrases(Acts *acts, const void *lines, size_t bytes)
{
    if (bytes > PHRASES_BYTES) {
        return STATUS_LIMIT;
    }
    if (!text_is_valid(lines, bytes)) {
        return STATUS_MALFORMED;
    }
    if (bytes > 0) {
        memcpy(acts->chat->phrases, lines, bytes);
    }
    acts->chat->phrase_bytes = (uint32_t)bytes;
    return STATUS_OK;
}

Status chat_set_words(Acts *acts, const void *lines, size_t bytes)
{
    uint32_t line;
    const Status status = word_list_set(&acts->chat->words, lines, bytes, &line);
    if (status == STATUS_OK) {
        Hash64 hash = HASH64_INIT;
        if (bytes > 0) {
            hash_bytes(&hash, lines, bytes);
        }
        acts->chat->words_hash = hash.state;
    }
    return status;
}

Status chat_set_blocks(Acts *acts, Session *session, const uint64_t *accounts, uint32_t count)
{
    ASSERT(count <= BLOCKS_PER_ACCOUNT_MAX);
    memcpy(blocks_of(acts, session), accounts, count * sizeof *accounts);
    session->block_count = count;
    return STATUS_OK;
}

bool chat_has_word(const Acts *acts, Text text)
{
    return word_list_has(&acts->chat->words, text.data, text.bytes);
}

// What the owner has told of the new session holds; what it has not told goes on.
void chat_take_over(Acts *acts, const Session *from, Session *to)
{
    if (to->muted_until_ms == 0) {
        to->muted_until_ms = from->muted_until_ms;
        memcpy(to->mute_reason, from->mute_reason, sizeof to->mute_reason);
    }
    to->chat_rule = chat_rule_stricter(to->chat_rule, from->chat_rule);
    to->chat_waits = to->chat_waits || from->chat_waits;
    if (to->block_count == 0) {
        const Status status = chat_set_blocks(acts, to, blocks_of(acts, from), from->block_count);
        ASSERT(status == STATUS_OK);
    }
}

// --- who says what ------------------------------------------------------------------------------

// Whether the owner takes it decides nothing here: a replay has no owner.
void chat_note(Acts *acts, const Session *session, HeardKind kind, Text text)
{
    const Command heard = {.type = COMMAND_HEARD,
                           .account = session->account,
                           .heard = kind,
                           .bytes = (const uint8_t *)text.data,
                           .byte_count = text.bytes};
    if (session->account != 0) {
        status_ignore(save_command(acts->config.saves, &heard));
    }
}

static bool is_phrase(const struct Chat *chat, Text text)
{
    const char *at = chat->phrases, *end = chat->phrases + chat->phrase_bytes;
    while (at < end) {
        const char *line_end = memchr(at, '\n', (size_t)(end - at));
        line_end = line_end != NULL ? line_end : end;
        if (text_equal(text, (Text){at, (size_t)(line_end - at)})) {
            return true;
        }
        at = line_end + 1;
    }
    return false;
}

// False: it was refused, and the player was told why.
static bool is_allowed(Acts *acts, Session *session, uint32_t seq, Text text)
{
    Sessions *sessions = acts->config.sessions;
    const struct Chat *chat = acts->chat;
    const ChatRule rule = chat_rule_stricter(session->chat_rule, chat->rule);
    if (session->muted_until_ms > acts->config.clock->unix_ms) {
        char why[SESSION_REASON_BYTES + 64];
        (void)snprintf(why, sizeof why, "You may not chat here now%s%s",
                       session->mute_reason[0] != '\0' ? ": " : ".", session->mute_reason);
        session_deny(sessions, session, seq, STATUS_DENIED, why);
        return false;
    }
    if (session->chat_waits) {
        session_deny(sessions, session, seq, STATUS_BLOCKED, "Not yet; say it again.");
        return false;
    }
    if (rule == CHAT_FREE || (rule == CHAT_PHRASES && is_phrase(chat, text))) {
        return true;
    }
    sessions->config.stats->commands_denied += 1;
    session_error(sessions, session, seq, ERROR_CHAT_RESTRICTED, "%s",
                  rule == CHAT_OFF ? "Chat is off." : "Only ready-made phrases may be said.");
    return false;
}

static bool is_blocked(const Acts *acts, const Session *session, uint64_t account)
{
    const uint64_t *blocks = blocks_of(acts, session);
    for (uint32_t i = 0; i < session->block_count && account != 0; i++) {
        if (blocks[i] == account) {
            return true;
        }
    }
    return session->chat_waits; // nobody has said yet whom they block
}

// To everybody at once, unless somebody does not want to hear it.
static void send_chat(Acts *acts, const Session *speaker, const MessageChatSaid *said)
{
    Sessions *sessions = acts->config.sessions;
    bool is_for_all = true;
    for (uint32_t i = 0; i < sessions->high && is_for_all; i++) {
        is_for_all = !is_blocked(acts, &sessions->all[i], speaker->account);
    }
    if (is_for_all) {
        event_broadcast(sessions, MESSAGE_CHAT_SAID, said, NULL);
        return;
    }
    for (uint32_t i = 0; i < sessions->high; i++) {
        const Session *session = &sessions->all[i];
        if (session->state == SESSION_PLAYING && !is_blocked(acts, session, speaker->account)) {
            status_ignore(event_send(sessions, session, MESSAGE_CHAT_SAID, said, NULL)); // counted
        }
    }
}

void act_chat(Acts *acts, Session *session, uint32_t seq, const MessageChatSay *command)
{
    Sessions *sessions = acts->config.sessions;
    char text[CHAT_BYTES_MAX];
    if (!session_rate(sessions, session, seq, RATE_CHAT)) {
        return;
    }
    uint32_t bytes =
        (uint32_t)text_clean(command->text.data, command->text.bytes, text, sizeof text);
    if (bytes == 0) {
        session_deny(sessions, session, seq, STATUS_RANGE, "There is nothing to say in that.");
        return;
    }
    const bool may_say = is_allowed(acts, session, seq, (Text){text, bytes});
    chat_note(acts, session, may_say ? HEARD_SAID : HEARD_REFUSED, (Text){text, bytes});
    if (!may_say) {
        return;
    }
    bytes = (uint32_t)word_list_mask(&acts->chat->words, text, bytes);
    if (authority_player_chat(acts->config.authority, session->player, (Text){text, bytes}) !=
        STATUS_OK) {
        session_deny(sessions, session, seq, STATUS_LIMIT, "The world is busy; say it again.");
        return;
    }
    const MessageChatSaid said = {
        .player = session->player, .name = text_from(session->name), .text = {text, bytes}};
    send_chat(acts, session, &said);
    session_ack(sessions, session, seq, 0);
}

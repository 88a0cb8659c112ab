// Characters of an account: several, one of them active; `default` always exists. Stored profiles
// are repaired before they are used; commands of players are checked instead. The texts of a
// session's profiles are copies in its own slot.
#include "core/world/act/act_inside.h"

#include "core/base/name_text.h"

#include <string.h>

typedef struct SessionProfiles {
    RowProfiles row;
    char text[PROFILES_MAX][2][65];
    char active_text[65];
} SessionProfiles;

Status profile_create(Acts *acts)
{
    acts->all_profiles = heap_alloc(
        acts->config.heap, heap_array_bytes(acts->config.sessions->count, sizeof(SessionProfiles)));
    return acts->all_profiles != NULL ? STATUS_OK : STATUS_LIMIT;
}

void profile_destroy(Acts *acts)
{
    heap_free(acts->config.heap, acts->all_profiles);
}

static SessionProfiles *profiles_of(const Acts *acts, const Session *session)
{
    return &acts->all_profiles[session_number(acts->config.sessions, session)];
}

static Text copy_text(char to[65], Text text)
{
    ASSERT(text.bytes <= 64);
    if (text.bytes > 0) {
        memmove(to, text.data, text.bytes);
    }
    to[text.bytes] = 0;
    return (Text){to, text.bytes};
}

static void set_profile(SessionProfiles *profiles, uint32_t index, const WireProfile *profile)
{
    WireProfile *to = &profiles->row.profiles[index];
    *to = *profile;
    to->character_id = copy_text(profiles->text[index][0], profile->character_id);
    to->name = copy_text(profiles->text[index][1], profile->name);
}

static Text session_name(const Session *session)
{
    return text_from(session->name);
}

// The index of the profile, or PROFILES_MAX.
static uint32_t find_profile(const SessionProfiles *profiles, Text id)
{
    for (uint32_t i = 0; i < profiles->row.count; i++) {
        if (text_equal(profiles->row.profiles[i].character_id, id)) {
            return i;
        }
    }
    return PROFILES_MAX;
}

static const WireProfile *active(const SessionProfiles *profiles)
{
    const uint32_t index = find_profile(profiles, profiles->row.active);
    return index < PROFILES_MAX ? &profiles->row.profiles[index] : NULL;
}

void profile_open(Acts *acts, const Session *session)
{
    SessionProfiles *profiles = profiles_of(acts, session);
    RowProfiles stored = {.account = session->account};
    const bool found = save_find_profiles(acts->config.saves, session->account, &stored);
    const bool repaired = row_repair(&stored, session_name(session));
    profiles->row = (RowProfiles){.account = session->account, .count = stored.count};
    profiles->row.active = copy_text(profiles->active_text, stored.active);
    for (uint32_t i = 0; i < stored.count; i++) {
        set_profile(profiles, i, &stored.profiles[i]);
    }
    if (found && repaired) {
        save_profiles(acts->config.saves, session, &profiles->row, 0);
    }
}

const RowProfiles *profile_of(const Acts *acts, const Session *session)
{
    return &profiles_of(acts, session)->row;
}

void profile_announce(Acts *acts, const Session *about, const Session *to)
{
    Sessions *sessions = acts->config.sessions;
    const WireProfile *profile = active(profiles_of(acts, about));
    const RosterPlayer *player =
        roster_find(authority_roster(acts->config.authority), about->player);
    MessagePlayerJoined event = {
        .player = about->player,
        .player_id = text_from(about->player_id),
        .entity_id = about->entity,
        .name = session_name(about),
        .team = {"", 0},
    };
    if (player != NULL) {
        event.team = (Text){player->team.data, player->team.bytes};
    }
    if (profile != NULL) {
        // A guest's name shows that it is a guest, and an account's looks like nobody else's,
        // whatever their characters are called.
        event.name = about->guest || about->fixed_name ? event.name : profile->name;
        event.body = profile->body;
        event.colour_skin = profile->colour_skin;
        event.colour_shirt = profile->colour_shirt;
        event.colour_legs = profile->colour_legs;
    }
    if (to == NULL) {
        event_broadcast(sessions, MESSAGE_PLAYER_JOINED, &event, NULL);
        board_team_sent(acts, about, event.team);
    } else if (event_send(sessions, to, MESSAGE_PLAYER_JOINED, &event, NULL) != STATUS_OK) {
        log_write(acts->config.log, acts->config.clock->tick, LOG_WARN, "world",
                  "player %llu was not sent player %llu", (unsigned long long)to->player,
                  (unsigned long long)about->player);
    } else {
        board_send(acts, about, to);
    }
}

// --- commands -----------------------------------------------------------------------------------

void act_profile_list(Acts *acts, Session *session, uint32_t seq)
{
    Sessions *sessions = acts->config.sessions;
    if (!session_rate(sessions, session, seq, RATE_PROFILE)) {
        return;
    }
    const RowProfiles *row = profile_of(acts, session);
    const MessageProfiles message = {
        .active = row->active, .profiles = row->profiles, .profiles_count = row->count};
    session_send(sessions, session, MESSAGE_PROFILES, &message);
    session_ack(sessions, session, seq, 0);
}

// Guests have no account, so their profiles could not be stored. False after an error was sent.
static bool may_change(Acts *acts, Session *session, uint32_t seq)
{
    Sessions *sessions = acts->config.sessions;
    if (!session_rate(sessions, session, seq, RATE_PROFILE)) {
        return false;
    }
    const Status status = save_profiles_check(acts->config.saves, session->account);
    if (status != STATUS_OK) {
        session_deny(
            sessions, session, seq, status,
            status == STATUS_DENIED
                ? "You did not say who you are, so nothing of yours is stored: sign in first."
                : "This world cannot store characters of more players.");
    }
    return status == STATUS_OK;
}

static void changed(Acts *acts, Session *session, uint32_t seq, bool looks)
{
    session_ack(acts->config.sessions, session, seq, 0);
    save_profiles(acts->config.saves, session, profile_of(acts, session), seq);
    if (looks) {
        profile_announce(acts, session, NULL);
    }
}

void act_profile_select(Acts *acts, Session *session, uint32_t seq,
                        const MessageProfileSelect *command)
{
    SessionProfiles *profiles = profiles_of(acts, session);
    if (!may_change(acts, session, seq)) {
        return;
    }
    const uint32_t index = find_profile(profiles, command->character_id);
    if (index == PROFILES_MAX) {
        // Repaired like stored profiles: the player continues as `default`, and gets an event.
        profiles->row.active = copy_text(profiles->active_text, ROW_DEFAULT_PROFILE);
        save_profiles(acts->config.saves, session, &profiles->row, seq);
        profile_announce(acts, session, NULL);
        session_deny(acts->config.sessions, session, seq, STATUS_NOT_FOUND,
                     "There is no such character; you play as `default`.");
        return;
    }
    const Text id = profiles->row.profiles[index].character_id;
    profiles->row.active = copy_text(profiles->active_text, id);
    changed(acts, session, seq, true);
}

void act_profile_save(Acts *acts, Session *session, uint32_t seq, const MessageProfileSave *command)
{
    Sessions *sessions = acts->config.sessions;
    SessionProfiles *profiles = profiles_of(acts, session);
    if (!may_change(acts, session, seq)) {
        return;
    }
    const WireProfile *profile = command->profiles_count == 1 ? &command->profiles[0] : NULL;
    if (profile == NULL || !row_id_is_valid(profile->character_id)) {
        session_deny(sessions, session, seq, STATUS_MALFORMED,
                     "Send one character; its characterId has letters, digits, _ and - only.");
        return;
    }
    if (chat_has_word(acts, profile->name)) {
        session_deny(acts->config.sessions, session, seq, STATUS_DENIED,
                     "That name has a word that is not allowed here.");
        return;
    }
    if (!row_name_is_valid(profile->name) || profile->body > 0xff ||
        profile->colour_skin > 0xffffff || profile->colour_shirt > 0xffffff ||
        profile->colour_legs > 0xffffff) {
        session_deny(sessions, session, seq, STATUS_RANGE,
                     "Something is out of range: " NAME_TEXT_RULE "; a colour is 0 to 0xffffff.");
        return;
    }
    uint32_t index = find_profile(profiles, profile->character_id);
    if (index == PROFILES_MAX) {
        if (profiles->row.count == PROFILES_MAX) {
            session_deny(sessions, session, seq, STATUS_LIMIT,
                         "You have as many characters as you may; delete one first.");
            return;
        }
        index = profiles->row.count++;
    }
    set_profile(profiles, index, profile);
    changed(acts, session, seq,
            text_equal(profiles->row.active, profiles->row.profiles[index].character_id));
}

void act_profile_delete(Acts *acts, Session *session, uint32_t seq,
                        const MessageProfileDelete *command)
{
    Sessions *sessions = acts->config.sessions;
    SessionProfiles *profiles = profiles_of(acts, session);
    if (!may_change(acts, session, seq)) {
        return;
    }
    const uint32_t index = find_profile(profiles, command->character_id);
    if (index == PROFILES_MAX) {
        session_deny(sessions, session, seq, STATUS_NOT_FOUND, "There is no such character.");
        return;
    }
    if (text_equal(command->character_id, ROW_DEFAULT_PROFILE)) {
        session_deny(sessions, session, seq, STATUS_DENIED,
                     "`default` always stays; change it instead.");
        return;
    }
    const bool was_active = text_equal(profiles->row.active, command->character_id);
    for (uint32_t i = index; i + 1 < profiles->row.count; i++) {
        const WireProfile next = profiles->row.profiles[i + 1];
        set_profile(profiles, i, &next);
    }
    profiles->row.count -= 1;
    if (was_active) {
        profiles->row.active = copy_text(profiles->active_text, ROW_DEFAULT_PROFILE);
    }
    changed(acts, session, seq, was_active);
}

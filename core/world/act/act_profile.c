// Characters of an account: several, one of them active, `default` always there. Whatever was
// stored is repaired before it is used; what a player asks for is checked instead. Texts of a
// session's profiles are always its own copies.
#include "core/world/act/act_inside.h"

#include "core/base/name_text.h"

#include <string.h>

static NetText keep(char to[65], NetText text)
{
    ASSERT(text.bytes <= 64);
    if (text.bytes > 0) {
        memmove(to, text.data, text.bytes);
    }
    to[text.bytes] = 0;
    return (NetText){to, text.bytes};
}

static void set_profile(Session *session, uint32_t index, const WireProfile *profile)
{
    WireProfile *to = &session->profiles.profiles[index];
    *to = *profile;
    to->character_id = keep(session->profile_text[index][0], profile->character_id);
    to->name = keep(session->profile_text[index][1], profile->name);
}

static NetText session_name(const Session *session)
{
    return (NetText){session->name, (uint32_t)strlen(session->name)};
}

// PROFILES_MAX: there is none.
static uint32_t find(const Session *session, NetText id)
{
    for (uint32_t i = 0; i < session->profiles.count; i++) {
        if (row_text_equal(session->profiles.profiles[i].character_id, id)) {
            return i;
        }
    }
    return PROFILES_MAX;
}

static const WireProfile *active(const Session *session)
{
    const uint32_t index = find(session, session->profiles.active);
    return index < PROFILES_MAX ? &session->profiles.profiles[index] : NULL;
}

void profile_open(World *world, Session *session)
{
    RowProfiles stored = {.account = session->account};
    const bool found = save_find_profiles(world, session->account, &stored);
    const bool repaired = row_repair(&stored, session_name(session));
    session->profiles = (RowProfiles){.account = session->account, .count = stored.count};
    session->profiles.active = keep(session->active_text, stored.active);
    for (uint32_t i = 0; i < stored.count; i++) {
        set_profile(session, i, &stored.profiles[i]);
    }
    if (found && repaired) {
        save_profiles(world, session, 0);
    }
}

void profile_announce(World *world, const Session *about, const Session *to)
{
    const WireProfile *profile = active(about);
    const RosterPlayer *player = roster_find(authority_roster(world->authority), about->player);
    MessagePlayerJoined event = {
        .player = about->player,
        .player_id = {about->player_id, (uint32_t)strlen(about->player_id)},
        .entity_id = about->entity,
        .name = session_name(about),
        .team = {"", 0},
    };
    if (player != NULL) {
        event.team = (NetText){player->team.data, player->team.bytes};
    }
    if (profile != NULL) {
        // A guest's name is marked as one, and stays so whatever its characters are called.
        event.name = about->guest ? event.name : profile->name;
        event.body = profile->body;
        event.colour_skin = profile->colour_skin;
        event.colour_shirt = profile->colour_shirt;
        event.colour_legs = profile->colour_legs;
    }
    if (to == NULL) {
        event_broadcast(world, MESSAGE_PLAYER_JOINED, &event, NULL);
    } else if (event_send(world, to, MESSAGE_PLAYER_JOINED, &event, NULL) != STATUS_OK) {
        log_write(world->config.log, world->tick, LOG_WARN, "world",
                  "player %llu was not told of player %llu", (unsigned long long)to->player,
                  (unsigned long long)about->player);
    }
}

// --- commands -----------------------------------------------------------------------------------

void act_profile_list(World *world, Session *session, uint32_t seq)
{
    if (!act_rate(world, session, seq, RATE_PROFILE)) {
        return;
    }
    const MessageProfiles profiles = {.active = session->profiles.active,
                                      .profiles = session->profiles.profiles,
                                      .profiles_count = session->profiles.count};
    session_send(world, session, MESSAGE_PROFILES, &profiles);
    session_ack(world, session, seq, 0);
}

// Whoever did not say who they are gets no promise that could not be kept. False after a denial.
static bool may_change(World *world, Session *session, uint32_t seq)
{
    if (!act_rate(world, session, seq, RATE_PROFILE)) {
        return false;
    }
    const Status status = save_profiles_check(world, session->account);
    if (status != STATUS_OK) {
        act_deny(world, session, seq, status,
                 status == STATUS_DENIED
                     ? "You did not say who you are, so nothing of yours is stored: sign in first."
                     : "This world cannot store characters of more players.");
    }
    return status == STATUS_OK;
}

static void changed(World *world, Session *session, uint32_t seq, bool looks)
{
    session_ack(world, session, seq, 0);
    save_profiles(world, session, seq);
    if (looks) {
        profile_announce(world, session, NULL);
    }
}

void act_profile_select(World *world, Session *session, uint32_t seq,
                        const MessageProfileSelect *command)
{
    if (!may_change(world, session, seq)) {
        return;
    }
    const uint32_t index = find(session, command->character_id);
    if (index == PROFILES_MAX) {
        // Repaired, as what was stored is: one plays as `default`, and is told.
        session->profiles.active = keep(session->active_text, ROW_DEFAULT_PROFILE);
        save_profiles(world, session, seq);
        profile_announce(world, session, NULL);
        act_deny(world, session, seq, STATUS_NOT_FOUND,
                 "There is no such character; you play as `default`.");
        return;
    }
    const NetText id = session->profiles.profiles[index].character_id;
    session->profiles.active = keep(session->active_text, id);
    changed(world, session, seq, true);
}

void act_profile_save(World *world, Session *session, uint32_t seq,
                      const MessageProfileSave *command)
{
    if (!may_change(world, session, seq)) {
        return;
    }
    const WireProfile *profile = command->profiles_count == 1 ? &command->profiles[0] : NULL;
    if (profile == NULL || !row_id_is_valid(profile->character_id)) {
        act_deny(world, session, seq, STATUS_MALFORMED,
                 "Send one character; its characterId has letters, digits, _ and - only.");
        return;
    }
    if (!row_name_is_valid(profile->name) || profile->body > 0xff ||
        profile->colour_skin > 0xffffff || profile->colour_shirt > 0xffffff ||
        profile->colour_legs > 0xffffff) {
        act_deny(world, session, seq, STATUS_RANGE,
                 "Something is out of range: " NAME_TEXT_RULE "; a colour is 0 to 0xffffff.");
        return;
    }
    uint32_t index = find(session, profile->character_id);
    if (index == PROFILES_MAX) {
        if (session->profiles.count == PROFILES_MAX) {
            act_deny(world, session, seq, STATUS_LIMIT,
                     "You have as many characters as you may; delete one first.");
            return;
        }
        index = session->profiles.count++;
    }
    set_profile(session, index, profile);
    changed(
        world, session, seq,
        row_text_equal(session->profiles.active, session->profiles.profiles[index].character_id));
}

void act_profile_delete(World *world, Session *session, uint32_t seq,
                        const MessageProfileDelete *command)
{
    if (!may_change(world, session, seq)) {
        return;
    }
    const uint32_t index = find(session, command->character_id);
    if (index == PROFILES_MAX) {
        act_deny(world, session, seq, STATUS_NOT_FOUND, "There is no such character.");
        return;
    }
    if (row_text_equal(command->character_id, ROW_DEFAULT_PROFILE)) {
        act_deny(world, session, seq, STATUS_DENIED, "`default` always stays; change it instead.");
        return;
    }
    const bool was_active = row_text_equal(session->profiles.active, command->character_id);
    for (uint32_t i = index; i + 1 < session->profiles.count; i++) {
        const WireProfile next = session->profiles.profiles[i + 1];
        set_profile(session, i, &next);
    }
    session->profiles.count -= 1;
    if (was_active) {
        session->profiles.active = keep(session->active_text, ROW_DEFAULT_PROFILE);
    }
    changed(world, session, seq, was_active);
}

// Faults that a player causes: by a remote that the handler did not expect, by a text, by walking
// somewhere. They do not pause a script or switch it off, or every player could do that. They are
// counted for the player, and the remotes of one who causes many do not reach that script for a
// while.
#include "core/script/runtime/script_inside.h"

#include <stdio.h>
#include <string.h>

#define MINUTE_SECONDS 60
#define FAULTS_SHOWN   3   // per minute; later ones once a second
#define NAMES_LOOKED   256 // players among whom the name is searched

Cause blame_cause(const ScriptSystem *system, const ScriptEvent *event)
{
    const bool is_remote = event->type == SCRIPT_EVENT_MESSAGE || event->type == SCRIPT_EVENT_CHAT;
    if (event->player_id != 0) {
        return (Cause){event->player_id, is_remote, event->type == SCRIPT_EVENT_MESSAGE};
    }
    ScriptEntityInfo other;
    if ((event->type == SCRIPT_EVENT_TOUCH || event->type == SCRIPT_EVENT_TRIGGER_ENTER ||
         event->type == SCRIPT_EVENT_TRIGGER_LEAVE) &&
        event->other != 0 && system->methods->entity(system->config.world, event->other, &other) &&
        other.type == ENTITY_PLAYER) {
        return (Cause){.player_id = other.owner_id};
    }
    return (Cause){0};
}

static uint32_t find_blame(const ScriptSystem *system, Handle script)
{
    uint32_t at = 0;
    while (at < SCRIPT_BLAMES_MAX && (system->blames[at].player_id != system->cause.player_id ||
                                      !handle_equal(system->blames[at].script, script))) {
        at += 1;
    }
    return at;
}

// The entry of that player, or a free one, or the oldest.
static Blame *take_blame(ScriptSystem *system, Handle script)
{
    const uint32_t found = find_blame(system, script);
    if (found < SCRIPT_BLAMES_MAX) {
        return &system->blames[found];
    }
    Blame *oldest = &system->blames[0];
    for (uint32_t i = 1; i < SCRIPT_BLAMES_MAX && oldest->player_id != 0; i++) {
        Blame *blame = &system->blames[i];
        if (blame->player_id == 0 || blame->began_tick < oldest->began_tick) {
            oldest = blame;
        }
    }
    *oldest =
        (Blame){.player_id = system->cause.player_id, .script = script, .began_tick = system->tick};
    return oldest;
}

static void name_player(const ScriptSystem *system, char *out, size_t capacity)
{
    ScriptPlayerInfo players[NAMES_LOOKED];
    const uint32_t count = system->methods->players(system->config.world, players, NAMES_LOOKED);
    snprintf(out, capacity, "%llu", (unsigned long long)system->cause.player_id);
    for (uint32_t i = 0; i < count && i < NAMES_LOOKED; i++) {
        if (players[i].player_id == system->cause.player_id) {
            snprintf(out, capacity, "%.*s", (int)players[i].name.bytes, players[i].name.data);
        }
    }
}

static void bar(ScriptSystem *system, Blame *blame, const char *name)
{
    const Script *script = script_at(system, blame->script);
    char text[SCRIPT_MESSAGE_BYTES];
    blame->barred_until = system->tick + (uint64_t)MINUTE_SECONDS * system->config.tick_rate;
    snprintf(text, sizeof text,
             "player %s caused %d faults in a minute: what it sends does not reach this script for "
             "a minute",
             name, SCRIPT_BLAME_FAULTS);
    account_say(system, LOG_WARN, script->path, text);
}

// Appends the name to the message, which is cut if necessary.
static void add_name(char message[SCRIPT_MESSAGE_BYTES], const char *name)
{
    char text[WORLD_NAME_BYTES_MAX + 32];
    snprintf(text, sizeof text, " (caused by player %s)", name);
    const size_t bytes = strlen(text) + 1;
    const size_t most = SCRIPT_MESSAGE_BYTES - bytes;
    const size_t at = strlen(message) < most ? strlen(message) : most;
    memcpy(message + at, text, bytes);
    text_repair(message, strlen(message)); // the cut may be inside a character
}

bool blame_fault(ScriptSystem *system, Handle script, char message[SCRIPT_MESSAGE_BYTES])
{
    const uint32_t second = system->config.tick_rate;
    Blame *blame = take_blame(system, script);
    if (system->tick >= blame->began_tick + (uint64_t)MINUTE_SECONDS * second) {
        blame->began_tick = system->tick;
        blame->fault_count = 0;
    }
    blame->fault_count += 1;
    const bool is_shown =
        blame->fault_count <= FAULTS_SHOWN || system->tick >= blame->said_tick + second;
    const bool is_barred = blame->fault_count == SCRIPT_BLAME_FAULTS;
    if (!is_shown && !is_barred) {
        return false;
    }
    char name[WORLD_NAME_BYTES_MAX + 1];
    name_player(system, name, sizeof name);
    text_repair(name, strlen(name));
    add_name(message, name);
    if (is_barred) {
        bar(system, blame, name);
    }
    blame->said_tick = is_shown ? system->tick : blame->said_tick;
    return is_shown;
}

bool blame_is_barred(const ScriptSystem *system, Handle script)
{
    if (system->cause.player_id == 0 || !system->cause.is_remote) {
        return false;
    }
    const uint32_t found = find_blame(system, script);
    return found < SCRIPT_BLAMES_MAX && system->tick < system->blames[found].barred_until;
}

void blame_forget(ScriptSystem *system, Handle script)
{
    for (uint32_t i = 0; i < SCRIPT_BLAMES_MAX; i++) {
        if (handle_equal(system->blames[i].script, script)) {
            system->blames[i] = (Blame){0};
        }
    }
}

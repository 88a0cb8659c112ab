// Shows the creator why messages of clients reach no handler: once for each remote and reason, as a
// fault of the script that listens to it. No other player hears of it, and the fault does not count
// against the script.
#include "core/script/runtime/script_inside.h"

#include <stdio.h>
#include <string.h>

#define NAMES_LOOKED 256 // players among whom the name is searched

static void name_sender(const ScriptSystem *system, uint64_t player_id, char *out, size_t capacity)
{
    ScriptPlayerInfo players[NAMES_LOOKED];
    const uint32_t count = system->methods->players(system->config.world, players, NAMES_LOOKED);
    out[0] = 0;
    for (uint32_t i = 0; i < count && i < NAMES_LOOKED && player_id != 0; i++) {
        if (players[i].player_id == player_id) {
            snprintf(out, capacity, " from %.*s", (int)players[i].name.bytes, players[i].name.data);
        }
    }
}

void script_remote_refused(ScriptSystem *system, Text name, uint64_t player_id,
                           RemoteRefusal reason, const char *why)
{
    system->totals.messages_dropped += 1;
    if (!remote_cost_refuse(&system->remotes, name, reason)) {
        return;
    }
    char shown[WORLD_NAME_BYTES_MAX + 1];
    char sender[WORLD_NAME_BYTES_MAX + 16];
    char text[SCRIPT_MESSAGE_BYTES];
    shown[text_clean(name.data, name.bytes, shown, WORLD_NAME_BYTES_MAX)] = 0;
    name_sender(system, player_id, sender, sizeof sender);
    snprintf(text, sizeof text, "a message \"%s\"%s was refused: %s; more of them are only counted",
             shown, sender, why);
    text_repair(text, strlen(text));
    const RemoteCost *row = &system->remotes.rows[remote_cost_find(&system->remotes, name)];
    Script *script = script_at(system, row->script);
    if (script != NULL) {
        account_refused_fault(system, script, text);
    } else {
        account_say(system, LOG_WARN, "Network", text);
    }
}

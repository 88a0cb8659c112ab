// Between scripts and the server: events reach scripts when the view shows them, and messages of
// scripts are sent. Calls wait in a short list for their answer, a rejection, or ten seconds.
#include "core/client/client_inside.h"

#include "core/script/runtime/value.h"

#include <string.h>

// A full queue is counted by the script system.
static void tell_script(Client *client, const ScriptEvent *event)
{
    (void)!script_event(client->script.system, event);
}

// --- players ------------------------------------------------------------------------------------

static void player_joined(Client *client, const MessagePlayerJoined *joined)
{
    Roster *roster = view_roster(client->script.view);
    const Text name = joined->name.bytes > 0 ? joined->name : (Text){"?", 1};
    RosterPlayer *player = roster_find(roster, joined->player);
    const bool is_new = player == NULL || player->leaving;
    if (player != NULL && !attribute_table_name_equal(&player->name, name) &&
        attribute_table_name_check(name) == STATUS_OK) {
        player->name.bytes = (uint8_t)name.bytes;
        memcpy(player->name.data, name.data, name.bytes);
        roster->version += 1;
        player->version = roster->version;
    }
    if (player == NULL) {
        if (roster_add(roster, joined->player, name) != STATUS_OK) {
            return; // no room; the roster counts it
        }
        player = roster_find(roster, joined->player);
    }
    player->leaving = false;
    player->leaving_tick = 0;
    const bool has_new_body = joined->entity_id != 0 && joined->entity_id != player->entity;
    roster_set_entity(roster, player, joined->entity_id);
    (void)!roster_set_team(roster, joined->player, joined->team);
    if (is_new) {
        tell_script(client,
                    &(ScriptEvent){.type = SCRIPT_EVENT_PLAYER_ADDED, .player_id = joined->player});
    }
    if (has_new_body) { // one that is alive again is told by RESPAWNED
        tell_script(client, &(ScriptEvent){.type = SCRIPT_EVENT_RESPAWNED,
                                           .entity = joined->entity_id,
                                           .player_id = joined->player});
    }
}

static void player_left(Client *client, const MessagePlayerLeft *left)
{
    RosterPlayer *player = roster_find(view_roster(client->script.view), left->player);
    if (player != NULL && !player->leaving) {
        // It can be read until scripts got the event.
        player->leaving = true;
        tell_script(client, &(ScriptEvent){.type = SCRIPT_EVENT_PLAYER_REMOVING,
                                           .player_id = left->player});
    }
}

// The player of that character; 0: none.
static uint64_t player_of(const Client *client, uint64_t entity)
{
    Roster *roster = view_roster(client->script.view);
    for (uint32_t i = 0; i < roster_count(roster) && entity != 0; i++) {
        const RosterPlayer *player = roster_at(roster, i);
        if (player->entity == entity) {
            return player->player_id;
        }
    }
    return 0;
}

// --- remotes ------------------------------------------------------------------------------------

static bool invoke_take(ClientScript *script, uint64_t id)
{
    for (uint32_t i = 0; i < script->invoke_count; i++) {
        if (script->invokes[i].id == id) {
            script->invoke_count -= 1;
            memmove(&script->invokes[i], &script->invokes[i + 1],
                    (script->invoke_count - i) * sizeof(ClientInvoke));
            return true;
        }
    }
    return false;
}

static void complete_failed(ClientScript *script, uint64_t id, const char *text, size_t bytes)
{
    // It is no error if nobody waits: its script may have ended.
    (void)!script_complete(script->system, id, false, (const uint8_t *)text, bytes);
}

static bool is_refusal(Text name)
{
    static const char refusal[] = "refusal";
    return name.bytes == sizeof refusal - 1 && memcmp(name.data, refusal, name.bytes) == 0;
}

static void remote_down(Client *client, const MessageRemoteDown *remote)
{
    static const char unreadable[] = "the answer is no list of values";
    ClientScript *script = &client->script;
    const uint8_t *payload = remote->payload.data;
    const size_t bytes = remote->payload.bytes;
    if (remote->invoke_id == 0) {
        if (value_check(payload, bytes) == STATUS_OK) {
            tell_script(client, &(ScriptEvent){.type = SCRIPT_EVENT_MESSAGE,
                                               .name = remote->name,
                                               .payload = payload,
                                               .payload_bytes = bytes});
        }
        return;
    }
    if (!invoke_take(script, remote->invoke_id)) {
        return; // too late
    }
    const bool refused = is_refusal(remote->name);
    if (!refused && value_check(payload, bytes) != STATUS_OK) {
        complete_failed(script, remote->invoke_id, unreadable, sizeof unreadable - 1);
        return;
    }
    (void)!script_complete(script->system, remote->invoke_id, !refused, payload, bytes);
}

void client_script_refused(Client *client, uint32_t seq, Text message)
{
    ClientScript *script = &client->script;
    for (uint32_t i = 0; i < script->invoke_count && seq != 0; i++) {
        if (script->invokes[i].seq == seq) {
            const uint64_t id = script->invokes[i].id;
            (void)invoke_take(script, id);
            complete_failed(script, id, message.data, message.bytes);
            return;
        }
    }
}

// --- what happened ------------------------------------------------------------------------------

static void tell_died(Client *client, const MessageDied *died)
{
    tell_script(client, &(ScriptEvent){.type = SCRIPT_EVENT_DIED,
                                       .entity = died->entity_id,
                                       .other = died->cause,
                                       .player_id = player_of(client, died->entity_id)});
}

static void tell_respawned(Client *client, const MessageRespawned *respawned)
{
    client->script.own_respawned |= respawned->entity_id == client->own_entity;
    tell_script(client, &(ScriptEvent){.type = SCRIPT_EVENT_RESPAWNED,
                                       .entity = respawned->entity_id,
                                       .player_id = player_of(client, respawned->entity_id)});
}

// A full queue is counted by the view.
static void hear(Client *client, const ScriptSound *sound)
{
    (void)!view_play(client->script.view, sound);
}

// A world's own numbers are within these bounds; a page must not have to look at others.
static float bounded(float number, float least, float most)
{
    return number >= least && number <= most ? number : 1;
}

static void hear_sound(Client *client, const MessageSound *sound)
{
    hear(client, &(ScriptSound){.act = SCRIPT_SOUND_PLAY,
                                .id = (uint32_t)sound->id,
                                .name = sound->name,
                                .caption = sound->caption,
                                .loop = sound->loop,
                                .entity = sound->entity_id,
                                .has_position = sound->has_position,
                                .position = sound->position,
                                .volume = bounded(sound->volume, 0, 1),
                                .pitch = bounded(sound->pitch, SOUND_PITCH_MIN, SOUND_PITCH_MAX)});
}

static void hear_change(Client *client, const MessageSoundChanged *changed)
{
    hear(client,
         &(ScriptSound){.act = changed->stopped ? SCRIPT_SOUND_STOP : SCRIPT_SOUND_CHANGE,
                        .id = (uint32_t)changed->id,
                        .volume = bounded(changed->volume, 0, 1),
                        .pitch = bounded(changed->pitch, SOUND_PITCH_MIN, SOUND_PITCH_MAX)});
}

static void hear_music(Client *client, const MessageMusic *music)
{
    hear(client,
         &(ScriptSound){.act = SCRIPT_SOUND_MUSIC,
                        .name = music->name,
                        .caption = music->caption,
                        .volume = bounded(music->volume, 0, 1),
                        .pitch = bounded(music->pitch, SOUND_PITCH_MIN, SOUND_PITCH_MAX),
                        .fade_seconds = bounded(music->fade_seconds, 0, SOUND_FADE_SECONDS_MAX),
                        .since_tick = music->since});
}

static void take_sky(Client *client, const MessageSky *message)
{
    const Sky sky = {
        .hour = message->hour,
        .hours_per_second = message->hours_per_second,
        .tick = message->since,
        .fog_m = message->fog,
        .weather = (uint32_t)message->weather,
        .colours = {(uint32_t)message->top, (uint32_t)message->horizon, (uint32_t)message->sun}};
    view_set_sky(client->script.view, &sky);
}

static void tell_hit(Client *client, const MessageProjectileHit *hit)
{
    tell_script(client, &(ScriptEvent){.type = SCRIPT_EVENT_HIT,
                                       .entity = hit->entity_id,
                                       .other = hit->other,
                                       .shooter = hit->shooter,
                                       .position = hit->position,
                                       .normal = hit->normal});
}

static void tell_structure_removed(Client *client, const MessageStructureRemoved *removed)
{
    tell_script(client, &(ScriptEvent){.type = SCRIPT_EVENT_STRUCTURE_REMOVED,
                                       .entity = removed->entity_id,
                                       .value = (double)removed->reason,
                                       .position = removed->position});
}

void client_script_tell(Client *client, const Message *event)
{
    if (client->script.system == NULL) {
        return;
    }
    switch (event->number) {
    case MESSAGE_PLAYER_JOINED:
        player_joined(client, event->body);
        break;
    case MESSAGE_PLAYER_LEFT:
        player_left(client, event->body);
        break;
    case MESSAGE_PLAYER_STAT: {
        const MessagePlayerStat *stat = event->body;
        (void)!roster_set_stat(view_roster(client->script.view), stat->player, stat->name,
                               (double)stat->value);
        break;
    }
    case MESSAGE_DIED:
        tell_died(client, event->body);
        break;
    case MESSAGE_RESPAWNED:
        tell_respawned(client, event->body);
        break;
    case MESSAGE_DAMAGED: {
        const MessageDamaged *damaged = event->body;
        tell_script(client, &(ScriptEvent){.type = SCRIPT_EVENT_DAMAGED,
                                           .entity = damaged->entity_id,
                                           .other = damaged->cause,
                                           .value = (double)damaged->amount});
        break;
    }
    case MESSAGE_PROJECTILE_HIT:
        tell_hit(client, event->body);
        break;
    case MESSAGE_STRUCTURE_PLACED: {
        const MessageStructurePlaced *placed = event->body;
        tell_script(client, &(ScriptEvent){.type = SCRIPT_EVENT_STRUCTURE_PLACED,
                                           .entity = placed->entity_id,
                                           .player_id = placed->player});
        break;
    }
    case MESSAGE_STRUCTURE_REMOVED:
        tell_structure_removed(client, event->body);
        break;
    case MESSAGE_NPC_EVENT: {
        const MessageNpcEvent *npc = event->body;
        tell_script(client, &(ScriptEvent){.type = SCRIPT_EVENT_NPC,
                                           .entity = npc->entity_id,
                                           .other = npc->target,
                                           .value = (double)npc->new_state});
        break;
    }
    case MESSAGE_CHAT_SAID: {
        const MessageChatSaid *said = event->body;
        tell_script(client, &(ScriptEvent){.type = SCRIPT_EVENT_CHAT,
                                           .player_id = said->player,
                                           .name = said->text});
        break;
    }
    case MESSAGE_SKY:
        take_sky(client, event->body);
        break;
    case MESSAGE_SOUND:
        hear_sound(client, event->body);
        break;
    case MESSAGE_SOUND_CHANGED:
        hear_change(client, event->body);
        break;
    case MESSAGE_MUSIC:
        hear_music(client, event->body);
        break;
    case MESSAGE_REMOTE_DOWN:
        remote_down(client, event->body);
        break;
    default:
        break; // for the page alone
    }
}

// --- what scripts want --------------------------------------------------------------------------

// The world takes only so many remotes from a client. Half of what it takes at once, because a link
// that stalls delivers those of some time together.
static void refill_remotes(Client *client)
{
    ClientScript *script = &client->script;
    const uint64_t most = REMOTE_RATE_MOST * 1000 / 2;
    const uint64_t more =
        (script->tick - script->remote_tick) * REMOTE_RATE_SECOND * 1000 / client->tick_rate;
    const uint64_t milli = script->remote_tick == 0 ? most : script->remote_milli + more;
    script->remote_milli = (uint32_t)(milli < most ? milli : most);
    script->remote_tick = script->tick;
}

static bool take_remote(ClientScript *script)
{
    const bool may = script->remote_milli >= 1000;
    script->remote_milli -= may ? 1000 : 0;
    return may;
}

static uint32_t send_up(Client *client, Text name, const uint8_t *payload, size_t bytes,
                        uint64_t invoke_id)
{
    const MessageRemoteUp remote = {.name = {name.data, (uint32_t)name.bytes},
                                    .payload = {payload, (uint32_t)bytes},
                                    .invoke_id = invoke_id,
                                    .generation = client->runes.current.version != 0
                                                      ? client->runes.current.version
                                                      : client->runes.staged.version};
    return client_send(client, MESSAGE_REMOTE_UP, &remote);
}

// Sent at once, or when more may be sent if no newer one of its name has come until then.
static void send_unreliable(Client *client, const ScriptMessage *message)
{
    ClientScript *script = &client->script;
    if (take_remote(script)) {
        client->stats.outputs_dropped += latest_remove(&script->latest, message->name);
        if (send_up(client, message->name, message->payload, message->payload_bytes, 0) != 0) {
            return;
        }
    }
    const LatestMessage kept = {.name = message->name,
                                .payload = message->payload,
                                .payload_bytes = (uint32_t)message->payload_bytes};
    client->stats.outputs_dropped += latest_put(&script->latest, &kept) != LATEST_KEPT;
}

static void flush_latest(Client *client)
{
    ClientScript *script = &client->script;
    LatestMessage first;
    while (latest_first(&script->latest, &first) && take_remote(script)) {
        if (send_up(client, first.name, first.payload, first.payload_bytes, 0) == 0) {
            return; // again in the next tick
        }
        (void)latest_remove(&script->latest, first.name);
    }
}

static void send_remote(Client *client, const ScriptMessage *message)
{
    static const char full[] = "too many calls without an answer";
    static const char unsent[] = "the message could not be sent";
    ClientScript *script = &client->script;
    if (message->invoke_id != 0 && script->invoke_count == CLIENT_INVOKES_MAX) {
        complete_failed(script, message->invoke_id, full, sizeof full - 1);
        return;
    }
    if (!message->reliable) {
        send_unreliable(client, message);
        return;
    }
    script->remote_milli -= script->remote_milli < 1000 ? script->remote_milli : 1000;
    const uint32_t seq = send_up(client, message->name, message->payload, message->payload_bytes,
                                 message->invoke_id);
    if (message->invoke_id == 0) {
        return;
    }
    if (seq == 0) {
        complete_failed(script, message->invoke_id, unsent, sizeof unsent - 1);
        return;
    }
    script->invokes[script->invoke_count++] = (ClientInvoke){
        .id = message->invoke_id,
        .seq = seq,
        .due_tick = script->tick + (uint64_t)CLIENT_INVOKE_SECONDS * client->tick_rate};
}

void client_script_effects(Client *client)
{
    ClientScript *script = &client->script;
    if (script->view == NULL) {
        return;
    }
    uint32_t count = 0;
    refill_remotes(client);
    flush_latest(client);
    const Effect *effects = view_effects(script->view, &count);
    for (; script->effects_sent < count; script->effects_sent++) {
        const Effect *effect = &effects[script->effects_sent];
        if (effect->type == EFFECT_MESSAGE) {
            send_remote(client, &effect->message);
        } else if (effect->type == EFFECT_CHAT) {
            client_event_own_line(client, effect->text);
        }
    }
}

void client_script_clear_effects(Client *client)
{
    if (client->script.view != NULL) {
        client_script_effects(client);
        view_effects_clear(client->script.view);
        client->script.effects_sent = 0;
    }
}

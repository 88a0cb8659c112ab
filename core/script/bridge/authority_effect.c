// What scripts of the server send to the outside: messages, sounds, bursts and beams, chat, kicks
// and requests to the store. Each is counted, charged by recipients and bytes, and queued for the
// world.
#include "core/script/bridge/authority_inside.h"

#include "core/script/bridge/world_limit.h"

#define EFFECT_STEPS     100 // a message, sound or text
#define RECIPIENT_STEPS  40  // for each player who gets it
#define STORE_STEPS      2000
#define EFFECT_BYTE_PART 16 // so many bytes are copied in a step

static Authority *of(ScriptWorld *world)
{
    return (Authority *)world;
}

static bool player_is_known(const Authority *authority, uint64_t player_id)
{
    return player_id == 0 || roster_find(&authority->roster, player_id) != NULL;
}

// Counts one more effect of the caller, and the cost of sending it; STATUS_LIMIT if it has reached
// the limit of one script per tick.
static Status count_effect(Authority *authority, uint64_t recipients, size_t bytes)
{
    const uint32_t caller = authority->world.caller;
    authority->world.refusal = NULL;
    authority->effects.maker = caller;
    sim_add_work(authority->sim,
                 EFFECT_STEPS + recipients * (RECIPIENT_STEPS + bytes / EFFECT_BYTE_PART));
    if (caller == 0) {
        return STATUS_OK;
    }
    if (authority->effect_counts[caller] == SCRIPT_EFFECTS_PER_TICK_MAX) {
        authority->effects.dropped_count += 1;
        return world_limit(&authority->world, STATUS_LIMIT,
                           "a script sends at most %d messages, sounds and requests in a tick; "
                           "slow down",
                           SCRIPT_EFFECTS_PER_TICK_MAX);
    }
    authority->effect_counts[caller] += 1;
    return STATUS_OK;
}

// The same for one that goes to a player, or to all of them (0); STATUS_NOT_FOUND if the player is
// not there.
static Status check_effect(Authority *authority, uint64_t player_id, size_t bytes)
{
    if (!player_is_known(authority, player_id)) {
        return STATUS_NOT_FOUND;
    }
    return count_effect(authority, player_id != 0 ? 1 : roster_count(&authority->roster), bytes);
}

// Sets the error text if the queue of effects is full.
static Status name_queue_full(ScriptWorld *world, Status status)
{
    const AuthorityConfig *config = &of(world)->config;
    return world_limit(world, status,
                       "all scripts together send at most %u messages, sounds and requests in a "
                       "tick, and %zu bytes in them, one script at most half; slow down",
                       (unsigned)config->effect_max, config->effect_bytes_max);
}

Status authority_count_sound(Authority *authority, const ScriptSound *sound)
{
    return check_effect(authority, sound->player_id, sound->name.bytes + sound->caption.bytes);
}

Status authority_queue_sound(Authority *authority, const ScriptSound *sound)
{
    return name_queue_full(&authority->world, effect_sound(&authority->effects, sound));
}

Status authority_moment(ScriptWorld *world, const Moment *moment, uint64_t player_id)
{
    if (moment->kind == MOMENT_SHAKE) {
        return STATUS_DENIED; // the server has no camera
    }
    const Status status = check_effect(of(world), player_id, sizeof *moment);
    return status != STATUS_OK
               ? status
               : name_queue_full(world, effect_moment(&of(world)->effects, moment, player_id));
}

Status authority_chat(ScriptWorld *world, Text text, uint64_t player_id)
{
    const Status status = check_effect(of(world), player_id, text.bytes);
    return status != STATUS_OK
               ? status
               : name_queue_full(world, effect_chat(&of(world)->effects, text, player_id));
}

Status authority_send(ScriptWorld *world, const ScriptMessage *message)
{
    const Status status =
        check_effect(of(world), message->player_id, message->name.bytes + message->payload_bytes);
    return status != STATUS_OK
               ? status
               : name_queue_full(world, effect_message(&of(world)->effects, message));
}

Status authority_player_kick(ScriptWorld *world, uint64_t player_id, Text reason)
{
    const Status status =
        player_id == 0 ? STATUS_NOT_FOUND : check_effect(of(world), player_id, reason.bytes);
    return status != STATUS_OK
               ? status
               : name_queue_full(world, effect_kick(&of(world)->effects, reason, player_id));
}

Status authority_store(ScriptWorld *world, const StoreRequest *request)
{
    sim_add_work(of(world)->sim, STORE_STEPS);
    const Status status = count_effect(of(world), 1, request->value_bytes);
    return status != STATUS_OK ? status
                               : name_queue_full(world, effect_store(&of(world)->effects, request));
}

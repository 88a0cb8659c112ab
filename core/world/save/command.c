// Commands for the owner: saves, DataStore requests, identity checks. The number of unanswered ones
// is limited, and answered ones are removed, so there is always room, whether the owner clears the
// list or not.
#include "core/base/fair_share.h"
#include "core/world/save/save_inside.h"

#include <string.h>

static bool store_is_out(const Saves *saves, uint64_t request)
{
    for (uint32_t i = 0; i < saves->store_count; i++) {
        if (saves->stores[i].request == request) {
            return true;
        }
    }
    return false;
}

static bool is_wanted(Saves *saves, const Command *command)
{
    switch (command->type) {
    case COMMAND_SAVE:
        return command->seq > saves->save_acked;
    case COMMAND_STORE:
        return store_is_out(saves, command->request);
    case COMMAND_AUTH: {
        const Session *session = session_of_connection(saves->config.sessions, command->connection);
        return session != NULL && session->state == SESSION_VERIFYING;
    }
    case COMMAND_HEARD:
    case COMMAND_REPORT:
        return false; // nobody answers them, so they give way to what somebody waits for
    case COMMAND_STOP:
    case COMMAND_RELOAD:
    case COMMAND_LEFT:
    case COMMAND_CAME:
        break;
    }
    return true;
}

static size_t own_bytes(const Command *command)
{
    const StoreRequest *store = &command->store;
    switch (command->type) {
    case COMMAND_SAVE:
        return 0; // in its own buffer
    case COMMAND_STORE:
        return store->store.bytes + store->key.bytes + store->value_bytes;
    default:
        return command->byte_count;
    }
}

static const uint8_t *keep_data(Saves *saves, const void *data, size_t bytes)
{
    uint8_t *to = saves->command_bytes + saves->command_bytes_used;
    ASSERT(bytes <= COMMAND_BYTES_MAX - saves->command_bytes_used);
    if (bytes > 0) {
        memmove(to, data, bytes); // compacting moves bytes within the same buffer
    }
    saves->command_bytes_used += bytes;
    return to;
}

// The order is the same as when it is copied again: what moves, moves down.
static void keep_bytes(Saves *saves, Command *command)
{
    if (command->type == COMMAND_STORE) {
        StoreRequest *store = &command->store;
        store->store.data = (const char *)keep_data(saves, store->store.data, store->store.bytes);
        store->key.data = (const char *)keep_data(saves, store->key.data, store->key.bytes);
        store->value = keep_data(saves, store->value, store->value_bytes);
    } else if (command->type != COMMAND_SAVE) {
        command->bytes = keep_data(saves, command->bytes, command->byte_count);
    }
}

static void forget_answered(Saves *saves)
{
    uint32_t kept = 0;
    saves->command_bytes_used = 0;
    for (uint32_t i = 0; i < saves->command_count; i++) {
        Command command = saves->commands[i];
        if (is_wanted(saves, &command)) {
            keep_bytes(saves, &command);
            saves->commands[kept++] = command;
        }
    }
    saves->command_count = kept;
}

static Status queue_command(Saves *saves, const Command *command)
{
    const size_t bytes = own_bytes(command);
    if (saves->command_count == saves->command_max ||
        bytes > COMMAND_BYTES_MAX - saves->command_bytes_used) {
        forget_answered(saves);
    }
    if (saves->command_count == saves->command_max ||
        bytes > COMMAND_BYTES_MAX - saves->command_bytes_used) {
        return STATUS_LIMIT;
    }
    Command kept = *command;
    keep_bytes(saves, &kept);
    saves->commands[saves->command_count++] = kept;
    return STATUS_OK;
}

void command_put_save(Saves *saves, uint64_t seq, size_t bytes)
{
    ASSERT(seq == saves->save_seq && seq - saves->save_acked <= SAVES_OUT_MAX);
    ASSERT(bytes > 0 && bytes <= SAVE_BYTES_MAX);
    const Command command = {
        .type = COMMAND_SAVE,
        .request = seq * 2,
        .epoch = saves->config.epoch,
        .seq = seq,
        .bytes = saves->save_bytes + (seq % SAVES_OUT_MAX) * SAVE_BYTES_MAX,
        .byte_count = bytes,
    };
    const Status status = queue_command(saves, &command);
    ASSERT(status == STATUS_OK); // there is a slot for each unanswered one
}

static bool has_store_part(const Saves *saves)
{
    const uint32_t maker = saves->config.run->effect_maker;
    uint32_t own = 0;
    uint64_t own_total = 0;
    for (uint32_t i = 0; i < saves->store_count; i++) {
        const bool is_own = saves->stores[i].maker == maker;
        own += is_own;
        own_total += is_own ? saves->stores[i].bytes : 0;
    }
    return maker == 0 || (fair_share_allows(own, saves->store_count, STORES_OUT_MAX) &&
                          fair_share_allows(own_total, saves->store_bytes, STORES_BYTES_MAX));
}

// Store requests get odd numbers, from the number that the script system gave them.
Status save_command(Saves *saves, const Command *command)
{
    ASSERT(command->type != COMMAND_SAVE);
    if (command->type != COMMAND_STORE) {
        return queue_command(saves, command);
    }
    const size_t bytes = own_bytes(command);
    if (saves->store_count == STORES_OUT_MAX || bytes > STORES_BYTES_MAX - saves->store_bytes ||
        !has_store_part(saves)) {
        return STATUS_LIMIT;
    }
    Command kept = *command;
    kept.request = command->store.request_id * 2 + 1;
    kept.epoch = saves->config.epoch;
    // The slot must be taken first, or the command would count as answered.
    saves->stores[saves->store_count++] =
        (StoreOut){kept.request, (uint32_t)bytes, saves->config.run->effect_maker};
    saves->store_bytes += bytes;
    const Status status = queue_command(saves, &kept);
    if (status != STATUS_OK) {
        saves->store_count -= 1;
        saves->store_bytes -= bytes;
    }
    return status;
}

void save_store_answered(Saves *saves, uint64_t request)
{
    ASSERT(save_is_store_request(request));
    for (uint32_t i = 0; i < saves->store_count; i++) {
        if (saves->stores[i].request == request) {
            saves->store_bytes -= saves->stores[i].bytes;
            saves->store_count -= 1;
            memmove(&saves->stores[i], &saves->stores[i + 1],
                    (saves->store_count - i) * sizeof(StoreOut));
            return;
        }
    }
}

const Command *save_commands(const Saves *saves, uint32_t *count)
{
    *count = saves->command_count;
    return saves->commands;
}

void save_commands_clear(Saves *saves)
{
    saves->command_count = 0;
    saves->command_bytes_used = 0;
}

uint32_t save_requests_out(const Saves *saves)
{
    return saves->store_count;
}

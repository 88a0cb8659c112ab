// Stored data goes out as commands with (epoch, seq), and comes back as rows before the first tick.
// This file has the queue, the commands, and who waits for them; save_rows.c the rows of each kind;
// save_start.c the way back. save_inside.h explains the design.
#include "core/world/save/save_inside.h"

#include "core/base/limits.h"

#include <string.h>

// --- creation -----------------------------------------------------------------------------------

typedef struct SaveSizes {
    uint32_t structure_max, chunk_max, account_max, waiter_max, command_max, queue_size;
} SaveSizes;

static SaveSizes sizes_of(const SaveConfig *config)
{
    const SimConfig *sim = sim_config(config->sim);
    SaveSizes sizes;
    // One that exists, and one that was removed but whose row is still stored.
    sizes.structure_max = 2 * sim->structures_max + 1;
    sizes.chunk_max = sim->terrain.chunk_max;
    sizes.account_max = 1024 + 4 * config->sessions->count;
    sizes.waiter_max = 256 + 16 * config->sessions->count;
    sizes.command_max = SAVES_OUT_MAX + STORES_OUT_MAX + config->sessions->count + 8;
    const uint32_t items = 2 + sizes.structure_max + sizes.chunk_max + ATTRIBUTE_ROWS_MAX +
                           2 * sizes.account_max + sizes.account_max;
    sizes.queue_size = 1024;
    while (sizes.queue_size < items) {
        sizes.queue_size *= 2;
    }
    return sizes;
}

static size_t small_bytes(const SaveSizes *sizes)
{
    return arena_need(sizes->queue_size * sizeof(SaveItem)) +
           arena_need(sizes->waiter_max * sizeof(SaveWaiter)) +
           arena_need(sizes->chunk_max * sizeof(SavedChunk)) +
           arena_need(sizes->command_max * sizeof(Command)) +
           pool_bytes(sizes->structure_max, sizeof(SavedStructure)) +
           pool_bytes(sizes->account_max, sizeof(SavedResume)) +
           id_map_bytes(sizes->structure_max) + id_map_bytes(sizes->chunk_max) +
           id_map_bytes(ATTRIBUTE_ROWS_MAX) + 2 * id_map_bytes(sizes->account_max);
}

static Status fill_small(Saves *saves, const SaveSizes *sizes, Arena *arena)
{
    saves->queue = arena_array(arena, sizes->queue_size, sizeof(SaveItem));
    saves->waiters = arena_array(arena, sizes->waiter_max, sizeof(SaveWaiter));
    saves->chunks = arena_array(arena, sizes->chunk_max, sizeof(SavedChunk));
    saves->commands = arena_array(arena, sizes->command_max, sizeof(Command));
    if (saves->queue == NULL || saves->waiters == NULL || saves->chunks == NULL ||
        saves->commands == NULL ||
        pool_init(&saves->structures, arena, sizes->structure_max, sizeof(SavedStructure)) !=
            STATUS_OK ||
        pool_init(&saves->resumes, arena, sizes->account_max, sizeof(SavedResume)) != STATUS_OK ||
        id_map_init(&saves->structure_map, arena, sizes->structure_max) != STATUS_OK ||
        id_map_init(&saves->chunk_map, arena, sizes->chunk_max) != STATUS_OK ||
        id_map_init(&saves->attribute_map, arena, ATTRIBUTE_ROWS_MAX) != STATUS_OK ||
        id_map_init(&saves->account_map, arena, sizes->account_max) != STATUS_OK ||
        id_map_init(&saves->resume_map, arena, sizes->account_max) != STATUS_OK) {
        return STATUS_LIMIT;
    }
    saves->queue_mask = sizes->queue_size - 1;
    saves->waiter_max = sizes->waiter_max;
    saves->chunk_max = sizes->chunk_max;
    saves->command_max = sizes->command_max;
    saves->account_max = sizes->account_max;
    return STATUS_OK;
}

Status save_create(const SaveConfig *config, Saves **out)
{
    const SaveSizes sizes = sizes_of(config);
    Heap *heap = config->heap;
    Saves *saves = heap_alloc(heap, sizeof *saves);
    if (saves == NULL) {
        return STATUS_LIMIT;
    }
    saves->config = *config;
    const size_t bytes = small_bytes(&sizes);
    saves->block = heap_alloc(heap, bytes);
    // The large arrays are separate heap blocks: pages that are never used take no memory.
    saves->attributes =
        heap_alloc(heap, heap_array_bytes(ATTRIBUTE_ROWS_MAX, sizeof(SavedAttributes)));
    saves->accounts = heap_alloc(heap, heap_array_bytes(sizes.account_max, sizeof(SavedAccount)));
    saves->save_bytes = heap_alloc(heap, SAVES_OUT_MAX * SAVE_BYTES_MAX);
    saves->command_bytes = heap_alloc(heap, COMMAND_BYTES_MAX);
    Status status = STATUS_LIMIT;
    if (saves->block != NULL && saves->attributes != NULL && saves->accounts != NULL &&
        saves->save_bytes != NULL && saves->command_bytes != NULL) {
        Arena arena;
        arena_init_zeroed(&arena, saves->block, bytes);
        status = fill_small(saves, &sizes, &arena);
    }
    if (status != STATUS_OK) {
        save_destroy(saves);
        return status;
    }
    *out = saves;
    return STATUS_OK;
}

void save_destroy(Saves *saves)
{
    if (saves != NULL) {
        Heap *heap = saves->config.heap;
        heap_free(heap, saves->command_bytes);
        heap_free(heap, saves->save_bytes);
        heap_free(heap, saves->accounts);
        heap_free(heap, saves->attributes);
        heap_free(heap, saves->block);
        heap_free(heap, saves);
    }
}

// --- the queue ----------------------------------------------------------------------------------

void save_queue(Saves *saves, SaveKind kind, uint32_t slot, bool *queued)
{
    if (*queued) {
        return;
    }
    ASSERT(saves->queue_tail - saves->queue_head <= saves->queue_mask); // each item once: it fits
    saves->queue[saves->queue_tail & saves->queue_mask] = (SaveItem){(uint8_t)kind, slot};
    saves->queue_tail += 1;
    *queued = true;
}

void save_ask(Saves *saves, const Session *waiting, uint32_t command_seq)
{
    if (waiting == NULL || waiting->connection == 0) {
        return;
    }
    if (saves->waiter_tail - saves->waiter_head == saves->waiter_max) {
        saves->counters.waiters_dropped += 1;
        return;
    }
    saves->waiters[saves->waiter_tail % saves->waiter_max] =
        (SaveWaiter){.connection = waiting->connection,
                     .command_seq = command_seq,
                     .position = saves->queue_tail};
    saves->waiter_tail += 1;
}

// Requests whose rows are all in the command now wait for its answer.
static void waiters_sent(Saves *saves)
{
    while (saves->waiter_sent < saves->waiter_tail) {
        SaveWaiter *waiter = &saves->waiters[saves->waiter_sent % saves->waiter_max];
        if (waiter->position > saves->queue_head) {
            return;
        }
        waiter->save_seq = saves->save_seq;
        saves->waiter_sent += 1;
    }
}

static void waiters_stored(Saves *saves)
{
    Sessions *sessions = saves->config.sessions;
    while (saves->waiter_head < saves->waiter_sent) {
        const SaveWaiter *waiter = &saves->waiters[saves->waiter_head % saves->waiter_max];
        if (waiter->save_seq > saves->save_acked) {
            return;
        }
        ASSERT(waiter->position <= saves->queue_head); // all of its rows are in a command
        Session *session = session_of_connection(sessions, waiter->connection);
        if (session != NULL && session->state == SESSION_PLAYING) {
            const MessageDurable durable = {.command_seq = waiter->command_seq};
            session_send(sessions, session, MESSAGE_DURABLE, &durable);
        }
        saves->waiter_head += 1;
    }
}

// --- commands -----------------------------------------------------------------------------------

static void flush(Saves *saves)
{
    if (saves->queue_head == saves->queue_tail ||
        saves->save_seq - saves->save_acked >= SAVES_OUT_MAX || saves->config.run->stopping) {
        return;
    }
    const uint64_t seq = saves->save_seq + 1;
    uint8_t *bytes = saves->save_bytes + (seq % SAVES_OUT_MAX) * SAVE_BYTES_MAX;
    ByteWriter writer = byte_writer(bytes, SAVE_BYTES_MAX);
    uint32_t chunk_count = 0;
    while (saves->queue_head < saves->queue_tail) {
        const SaveItem item = saves->queue[saves->queue_head & saves->queue_mask];
        ByteWriter trial = writer;
        chunk_count += item.kind == SAVE_CHUNK;
        if (chunk_count > CHUNK_SAVES_PER_TICK) {
            break; // a script that edits everywhere delays its own saves, not the tick
        }
        if (save_write_item(saves, item, &trial) != STATUS_OK) {
            break; // the next command has room for it
        }
        writer = trial;
        save_item_done(saves, item);
        saves->queue_head += 1;
    }
    saves->save_seq = seq;
    saves->acked[seq % SAVES_OUT_MAX] = false;
    waiters_sent(saves);
    if (writer.at == 0) {
        // The queued items were removed before they were stored.
        saves->save_seq -= 1;
        for (uint64_t i = saves->waiter_head; i < saves->waiter_sent; i++) {
            SaveWaiter *waiter = &saves->waiters[i % saves->waiter_max];
            waiter->save_seq = waiter->save_seq == seq ? seq - 1 : waiter->save_seq;
        }
        waiters_stored(saves);
        return;
    }
    saves->config.stats->saves += 1;
    command_put_save(saves, seq, writer.at);
}

static Status save_answered(Saves *saves, uint64_t seq, bool ok)
{
    const WorldClock *clock = saves->config.clock;
    if (seq <= saves->save_acked || seq > saves->save_seq || saves->acked[seq % SAVES_OUT_MAX]) {
        return STATUS_NOT_FOUND;
    }
    if (!ok) {
        // Another world has the lease, or nothing can be written: all further changes would be
        // lost.
        log_write(saves->config.log, clock->tick, LOG_ERROR, "world", "save %llu was refused",
                  (unsigned long long)seq);
        static const char reason[] = "a save was refused";
        const Command stop = {.type = COMMAND_STOP,
                              .bytes = (const uint8_t *)reason,
                              .byte_count = sizeof reason - 1};
        if (!saves->config.run->stopping && save_command(saves, &stop) != STATUS_OK) {
            log_write(saves->config.log, clock->tick, LOG_ERROR, "world", "no room for a stop");
        }
        saves->config.run->stopping = true;
        return STATUS_OK;
    }
    saves->acked[seq % SAVES_OUT_MAX] = true;
    while (saves->save_acked < saves->save_seq &&
           saves->acked[(saves->save_acked + 1) % SAVES_OUT_MAX]) {
        saves->save_acked += 1;
        ASSERT(saves->save_acked <= saves->save_seq);
        saves->acked[saves->save_acked % SAVES_OUT_MAX] = false;
    }
    waiters_stored(saves);
    return STATUS_OK;
}

bool save_is_store_request(uint64_t request)
{
    return request % 2 != 0;
}

Status save_stored(Saves *saves, const Entry *entry)
{
    ASSERT(!save_is_store_request(entry->number));
    return save_answered(saves, entry->number / 2, (entry->flags & ENTRY_OK) != 0);
}

uint64_t save_manifest_version(const Saves *saves)
{
    return saves->meta.manifest_version;
}

// --- the tick -----------------------------------------------------------------------------------

static void look_at_meta(Saves *saves)
{
    const WorldClock *clock = saves->config.clock;
    const uint64_t next_net_id = sim_next_net_id(saves->config.sim);
    bool changed = saves->config.run->manifest_version != saves->meta.manifest_version;
    // Reserved half a block ahead: ids given out until this is stored are in the previous block.
    if (next_net_id + NET_IDS_RESERVED / 2 > saves->meta.next_net_id) {
        const uint64_t next = next_net_id + NET_IDS_RESERVED;
        saves->meta.next_net_id = next < SIM_NET_ID_MAX ? next : SIM_NET_ID_MAX;
        changed = true;
    }
    if (saves->config.run->next_player + PLAYERS_RESERVED / 2 > saves->meta.next_player) {
        saves->meta.next_player = saves->config.run->next_player + PLAYERS_RESERVED;
        changed = true;
    }
    const uint64_t ticks = saves->tick_base + clock->tick;
    if (changed || ticks >= saves->meta.tick + (uint64_t)60 * clock->tick_rate) {
        saves->meta.tick = ticks;
        saves->meta.manifest_version = saves->config.run->manifest_version;
        save_queue(saves, SAVE_META, 0, &saves->meta_queued);
    }
}

void save_tick(Saves *saves)
{
    const WorldClock *clock = saves->config.clock;
    Sessions *sessions = saves->config.sessions;
    const uint64_t ticks = (uint64_t)saves->config.checkpoint_ms * clock->tick_rate / 1000;
    const uint64_t interval = ticks > 0 ? ticks : 1;
    const bool due = clock->tick >= saves->checkpoint_tick;
    look_at_meta(saves);
    save_update_structures(saves, due);
    save_update_attributes(saves, due);
    if (due) {
        saves->checkpoint_tick = clock->tick + interval;
        save_update_resumes(saves);
    }
    // Each player once per interval, but not all in one tick.
    for (uint64_t i = clock->tick % interval; i < sessions->high; i += interval) {
        Session *session = session_at(sessions, (uint32_t)i);
        if (session_plays(session)) {
            save_player(saves, session, true);
        }
    }
    flush(saves);
}

void save_all(Saves *saves)
{
    look_at_meta(saves);
    save_update_structures(saves, true);
    save_update_attributes(saves, true);
    flush(saves);
}

SaveCounters save_counters(const Saves *saves)
{
    return saves->counters;
}

void save_hash(const Saves *saves, Hash64 *hash)
{
    hash_u64(hash, saves->queue_head);
    hash_u64(hash, saves->queue_tail);
    for (uint64_t i = saves->queue_head; i < saves->queue_tail; i++) {
        const SaveItem item = saves->queue[i & saves->queue_mask];
        hash_u64(hash, (uint64_t)item.kind << 32 | item.slot);
    }
    hash_u64(hash, saves->waiter_head);
    hash_u64(hash, saves->waiter_tail);
    hash_u64(hash, saves->save_seq);
    hash_u64(hash, saves->save_acked);
    hash_u64(hash, saves->store_count);
    hash_u64(hash, saves->checkpoint_tick);
    hash_u64(hash, saves->meta.next_net_id);
    hash_u64(hash, saves->meta.next_player);
    hash_u64(hash, saves->structures.count);
    hash_u64(hash, saves->resumes.count);
    hash_u64(hash, saves->chunk_count);
    hash_u64(hash, saves->account_count);
    for (uint32_t i = 0; i < saves->account_count; i++) {
        const SavedAccount *account = &saves->accounts[i];
        hash_u64(hash, account->account);
        hash_u64(hash, account->player.player);
        hash_bytes(hash, account->profiles, account->profile_bytes);
    }
    hash_u64(hash, saves->attribute_count);
    for (uint32_t i = 0; i < saves->attribute_count; i++) {
        hash_bytes(hash, saves->attributes[i].bytes, saves->attributes[i].byte_count);
    }
}

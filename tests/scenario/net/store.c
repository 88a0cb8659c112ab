// The store of the harness: it takes saves in order, makes them durable after a delay, and replies
// only then. A crash loses everything without a reply. Rows are returned byte for byte.
#include "tests/scenario/net/net_inside.h"

#include <stdio.h>
#include <string.h>

static uint8_t *copy_bytes(Net *net, const uint8_t *bytes, size_t count)
{
    uint8_t *copy = heap_alloc(&net->heap, count + 1);
    ASSERT(copy != NULL);
    if (count > 0) {
        memcpy(copy, bytes, count);
    }
    return copy;
}

// Where the row of that key is; row_count: nowhere.
static uint32_t find_row(const Store *store, const Row *row)
{
    uint32_t at = 0;
    while (at < store->row_count &&
           (store->rows[at].type != row->type || store->rows[at].key_bytes != row->key_bytes ||
            memcmp(store->rows[at].key, row->key, row->key_bytes) != 0)) {
        at += 1;
    }
    return at;
}

static bool has_row(const Store *store, const uint8_t *bytes, size_t count)
{
    ByteReader reader = byte_reader(bytes, count);
    Row row;
    const Status status = row_read(&reader, &row);
    ASSERT(status == STATUS_OK);
    return find_row(store, &row) < store->row_count;
}

bool store_has_structure(Net *net, uint64_t net_id)
{
    uint8_t bytes[128];
    ByteWriter writer = byte_writer(bytes, sizeof bytes);
    row_delete_structure(net_id, &writer);
    return has_row(net->store, bytes, writer.at);
}

bool store_has_chunk(Net *net, ChunkCoord at)
{
    uint8_t bytes[128];
    ByteWriter writer = byte_writer(bytes, sizeof bytes);
    row_put_chunk(at, bytes, 0, &writer);
    return has_row(net->store, bytes, writer.at);
}

static void put_row(Net *net, const Row *row)
{
    Store *store = net->store;
    const uint32_t at = find_row(store, row);
    if (at == store->row_count) {
        if (row->value_bytes == 0) {
            return;
        }
        ASSERT(store->row_count < STORE_ROWS);
        store->rows[at] = (StoredRow){.type = row->type, .key_bytes = row->key_bytes};
        memcpy(store->rows[at].key, row->key, row->key_bytes);
        store->row_count += 1;
    }
    heap_free(&net->heap, store->rows[at].value);
    store->rows[at].value = NULL;
    if (row->value_bytes == 0) {
        store->rows[at] = store->rows[--store->row_count];
        return;
    }
    store->rows[at].value = copy_bytes(net, row->value, row->value_bytes);
    store->rows[at].value_bytes = row->value_bytes;
}

static void put_rows(Net *net, const StoreJob *job)
{
    ByteReader reader = byte_reader(job->bytes, job->byte_count);
    while (byte_reader_left(&reader) > 0) {
        Row row;
        const Status status = row_read(&reader, &row);
        if (status != STATUS_OK) {
            net_fail(net, "the world saved a row that cannot be read: %s", status_name(status));
            return;
        }
        put_row(net, &row);
    }
}

static void add_job(Net *net, StoreJob job)
{
    Store *store = net->store;
    ASSERT(store->count < STORE_QUEUE);
    const uint64_t delay = 5000 + rng_below(&net->rng, 75000);
    job.due_us = net->now_us + delay;
    if (store->count > 0) {
        const StoreJob *last = &store->jobs[(store->first + store->count - 1) % STORE_QUEUE];
        job.due_us = job.due_us < last->due_us ? last->due_us : job.due_us;
    }
    store->jobs[(store->first + store->count) % STORE_QUEUE] = job;
    store->count += 1;
}

static void take_save(Net *net, const Command *command)
{
    Store *store = net->store;
    if (command->epoch != store->epoch || command->seq != store->seq + 1) {
        net_fail(net, "save (%llu, %llu) does not follow (%llu, %llu)",
                 (unsigned long long)command->epoch, (unsigned long long)command->seq,
                 (unsigned long long)store->epoch, (unsigned long long)store->seq);
    }
    store->seq = command->seq;
    add_job(net, (StoreJob){.request = command->request,
                            .is_save = true,
                            .ok = true,
                            .bytes = copy_bytes(net, command->bytes, command->byte_count),
                            .byte_count = command->byte_count});
}

static void take_request(Net *net, const Command *command)
{
    static uint8_t answer[STORE_ANSWER_MAX];
    ByteWriter writer = byte_writer(answer, sizeof answer);
    const bool ok = memory_store_run(net->store->data, &command->store,
                                     (double)net->now_us / 1000000.0, &writer);
    add_job(net, (StoreJob){.request = command->request,
                            .ok = ok,
                            .bytes = copy_bytes(net, answer, writer.at),
                            .byte_count = writer.at});
}

// Nothing holds for anybody: they may chat.
static void answer_came(Net *net, uint64_t account)
{
    char text[32];
    const int bytes = snprintf(text, sizeof text, "%llu 0", (unsigned long long)account);
    const Entry entry = {.type = ENTRY_ADMIN,
                         .name = "chat",
                         .name_bytes = 4,
                         .bytes = (const uint8_t *)text,
                         .byte_count = (size_t)bytes};
    status_ignore(net_enter(net, &entry)); // the session may be gone
}

void store_take(Net *net)
{
    uint32_t count;
    const Command *commands = world_commands(net->world, &count);
    for (uint32_t i = 0; i < count && net->store->count + 1 < STORE_QUEUE; i++) {
        switch (commands[i].type) {
        case COMMAND_SAVE:
            take_save(net, &commands[i]);
            break;
        case COMMAND_STORE:
            take_request(net, &commands[i]);
            break;
        case COMMAND_AUTH:
            add_job(net,
                    (StoreJob){.is_auth = true,
                               .connection = commands[i].connection,
                               .bytes = copy_bytes(net, commands[i].bytes, commands[i].byte_count),
                               .byte_count = commands[i].byte_count});
            break;
        case COMMAND_STOP:
            net_fail(net, "the world wants to stop");
            break;
        case COMMAND_CAME:
            answer_came(net, commands[i].account);
            break;
        case COMMAND_HEARD:
        case COMMAND_REPORT:
            break;
        case COMMAND_RELOAD:
            reload_told(net, &commands[i]);
            break;
        case COMMAND_LEFT:
            net_fail(net, "nobody was told to leave");
            break;
        }
    }
    world_commands_clear(net->world);
}

// Tickets of the harness are "ticket-<number>"; that number is the account.
static Entry answer_auth(const StoreJob *job)
{
    uint64_t account = 0;
    for (size_t i = 0; i < job->byte_count; i++) {
        const uint8_t c = job->bytes[i];
        account = c >= '0' && c <= '9' ? account * 10 + (c - '0') : account;
    }
    return (Entry){.type = ENTRY_AUTH,
                   .flags = account != 0 ? ENTRY_OK : 0,
                   .connection = job->connection,
                   .number = account,
                   .name = "friend",
                   .name_bytes = 6};
}

void store_answer(Net *net)
{
    Store *store = net->store;
    while (store->count > 0 && store->jobs[store->first].due_us <= net->now_us) {
        StoreJob *job = &store->jobs[store->first];
        if (job->is_save) {
            put_rows(net, job);
        }
        Entry entry = {.type = ENTRY_STORED,
                       .flags = job->ok ? ENTRY_OK : 0,
                       .number = job->request,
                       .bytes = job->is_save ? NULL : job->bytes,
                       .byte_count = job->is_save ? 0 : job->byte_count};
        if (job->is_auth) {
            entry = answer_auth(job);
        }
        status_ignore(net_enter(net, &entry)); // the session may be gone
        heap_free(&net->heap, job->bytes);
        store->first = (store->first + 1) % STORE_QUEUE;
        store->count -= 1;
    }
}

void store_lose(Net *net)
{
    Store *store = net->store;
    for (; store->count > 0; store->count -= 1) {
        heap_free(&net->heap, store->jobs[store->first].bytes);
        store->first = (store->first + 1) % STORE_QUEUE;
    }
    store->epoch += 1;
    store->seq = 0;
}

void store_restore(Net *net)
{
    static uint8_t bytes[ROW_VALUE_BYTES + ROW_KEY_BYTES + 64];
    for (uint32_t i = 0; i < net->store->row_count; i++) {
        const StoredRow *stored = &net->store->rows[i];
        Row row = {.type = stored->type,
                   .key_bytes = stored->key_bytes,
                   .value = stored->value,
                   .value_bytes = stored->value_bytes};
        memcpy(row.key, stored->key, stored->key_bytes);
        ByteWriter writer = byte_writer(bytes, sizeof bytes);
        row_write(&row, &writer);
        ASSERT(writer.status == STATUS_OK);
        const Entry entry = {.type = ENTRY_ROW, .bytes = bytes, .byte_count = writer.at};
        const Status status = net_enter(net, &entry);
        if (status != STATUS_OK) {
            net_fail(net, "a stored row of type %d is refused: %s", (int)stored->type,
                     status_name(status));
        }
    }
}

void store_free(Net *net)
{
    store_lose(net);
    for (uint32_t i = 0; i < net->store->row_count; i++) {
        heap_free(&net->heap, net->store->rows[i].value);
    }
    memory_store_destroy(&net->heap, net->store->data);
    heap_free(&net->heap, net->store);
}

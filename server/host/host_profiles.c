// Characters belong to accounts, so whoever comes into a world brings theirs: the store is asked
// before the world hears of them. What a world stores of them counts for all worlds, so it may only
// speak of those who are in it.
#include "server/host/host_inside.h"

#include "core/world/save/row.h"
#include "server/store/world/store_profile.h"

static uint32_t free_admission(Host *host)
{
    for (uint32_t i = 0; i < HOST_ADMISSIONS_MAX; i++) {
        const uint32_t at = (host->admission_next + i) % HOST_ADMISSIONS_MAX;
        if (host->admissions[at].world == NULL) {
            host->admission_next = at + 1;
            return at;
        }
    }
    return UINT32_MAX;
}

bool host_profiles_ask(HostWorld *world, uint64_t connection, const Ticket *ticket)
{
    Host *host = world->host;
    const uint32_t at = host->config.account_profiles ? free_admission(host) : UINT32_MAX;
    if (at == UINT32_MAX || store_profiles_find(host->config.store, ticket->account,
                                                host_tag(TAG_PROFILES, world, at)) != STATUS_OK) {
        return false; // they come in as `default`
    }
    host->admissions[at] = (HostAdmission){.world = world,
                                           .incarnation = world->incarnation,
                                           .connection = connection,
                                           .ticket = *ticket};
    world->arriving += 1;
    return true;
}

void host_profiles_answer(Host *host, uint32_t index, const StoreCompletion *done)
{
    ASSERT(index < HOST_ADMISSIONS_MAX && host->admissions[index].world != NULL);
    const HostAdmission admission = host->admissions[index];
    host->admissions[index].world = NULL;
    if (admission.world->incarnation == admission.incarnation) {
        admission.world->arriving -= 1;
        const bool ok = done->status == STATUS_OK && done->rows != NULL;
        hosted_send_auth(admission.world, admission.connection, &admission.ticket,
                         ok ? done->rows : NULL, ok ? done->row_bytes : 0);
    }
}

size_t hosted_filter_profiles(HostWorld *world, uint8_t *rows, size_t bytes)
{
    size_t kept = 0;
    ByteReader reader = byte_reader(rows, bytes);
    while (world->host->config.account_profiles && byte_reader_left(&reader) > 0) {
        Row row;
        const size_t begin = reader.at;
        if (row_read(&reader, &row) != STATUS_OK) {
            return bytes; // the store says so
        }
        ByteReader key = byte_reader(row.key, row.key_bytes);
        if (row.type == ROW_PROFILES && !host_account_was_in(world, byte_read_u64(&key))) {
            world->host->counts.profiles_refused += 1;
            continue;
        }
        memmove(rows + kept, rows + begin, reader.at - begin);
        kept += reader.at - begin;
    }
    return world->host->config.account_profiles ? kept : bytes;
}

void host_profiles_changed(Host *host, uint64_t account, const uint8_t *row, size_t bytes)
{
    for (uint32_t i = 0; i < host->world_count; i++) {
        HostWorld *world = host->worlds[i];
        if (host_account_is_in(world, account)) {
            const Entry entry = {.type = ENTRY_ADMIN,
                                 .name = "profiles",
                                 .name_bytes = 8,
                                 .bytes = row,
                                 .byte_count = bytes};
            hosted_send_entry(world, &entry);
        }
    }
}

// See client_verdict.h. Each script that clients may have gets a slot when its manifest takes
// over; a client has two bits for each slot, so that a verdict that is told twice counts once.
// Nothing of this is part of the world's state.
#include "core/world/script/script_host_inside.h"

#include <string.h>

#define SLOT_BYTES ((MANIFEST_SCRIPTS_MAX + 7) / 8)
#define NO_SLOT    UINT32_MAX

typedef struct VerdictBits {
    uint64_t player; // 0: none
    uint32_t version;
    uint32_t verified_count, failed_count;
    uint32_t wanted_left; // wanted and not verified
    uint8_t verified[SLOT_BYTES], failed[SLOT_BYTES];
} VerdictBits;

struct VerdictList {
    VerdictBits *all; // by session
    uint32_t *slots;  // by the number of a script
    uint32_t *rows;   // by the number of a script: its row in the signed manifest
    uint32_t wanted_count;
    uint8_t wanted[SLOT_BYTES];
};

Status client_verdict_create(ScriptHost *host)
{
    Heap *heap = host->config.heap;
    VerdictList *list = heap_alloc(heap, sizeof *list);
    host->verdicts = list;
    if (list == NULL) {
        return STATUS_LIMIT;
    }
    list->all = heap_alloc(heap, heap_array_bytes(host->config.sessions->count, sizeof *list->all));
    list->slots = heap_alloc(heap, heap_array_bytes(HOST_SCRIPTS_MAX, sizeof *list->slots));
    list->rows = heap_alloc(heap, heap_array_bytes(HOST_SCRIPTS_MAX, sizeof *list->rows));
    return list->all != NULL && list->slots != NULL && list->rows != NULL ? STATUS_OK
                                                                          : STATUS_LIMIT;
}

void client_verdict_destroy(ScriptHost *host)
{
    Heap *heap = host->config.heap;
    if (host->verdicts != NULL) {
        heap_free(heap, host->verdicts->rows);
        heap_free(heap, host->verdicts->slots);
        heap_free(heap, host->verdicts->all);
        heap_free(heap, host->verdicts);
        host->verdicts = NULL;
    }
}

// --- bits ---------------------------------------------------------------------------------------

static bool has_bit(const uint8_t *bits, uint32_t slot)
{
    return (bits[slot / 8] >> slot % 8 & 1) != 0;
}

// True: it was different before.
static bool set_bit(uint8_t *bits, uint32_t slot, bool value)
{
    if (has_bit(bits, slot) == value) {
        return false;
    }
    bits[slot / 8] = (uint8_t)(bits[slot / 8] ^ 1u << slot % 8);
    return true;
}

// --- a manifest takes over ----------------------------------------------------------------------

static void number_scripts(ScriptHost *host)
{
    VerdictList *list = host->verdicts;
    uint32_t count = 0;
    for (uint32_t i = 0; i < host->script_count; i++) {
        const bool is_sent = script_host_is_sent(&host->scripts[i]) && count < MANIFEST_SCRIPTS_MAX;
        list->slots[i] = is_sent ? count++ : NO_SLOT;
        list->rows[i] = NO_SLOT;
    }
    const ManifestList *manifest = &host->signed_now.list;
    for (uint32_t i = 0; host->signed_now.is_set && i < manifest->row_count; i++) {
        HostRune rune;
        if (script_host_find(host, script_path_plain(manifest->rows[i].path), &rune)) {
            list->rows[rune.number] = i;
        }
    }
}

// Adds a script to those in host->order whose requirements are to be looked at, once.
static void want(ScriptHost *host, uint32_t number, uint32_t *waiting)
{
    VerdictList *list = host->verdicts;
    const uint32_t slot = list->slots[number];
    if (slot != NO_SLOT && set_bit(list->wanted, slot, true)) {
        list->wanted_count += 1;
        host->order[(*waiting)++] = number;
    }
}

// The same rule that clients fetch by: what runs by itself, and whatever that requires.
void client_verdict_switch(ScriptHost *host)
{
    VerdictList *list = host->verdicts;
    uint32_t waiting = 0;
    number_scripts(host);
    memset(list->wanted, 0, sizeof list->wanted);
    list->wanted_count = 0;
    for (uint32_t i = 0; i < host->script_count; i++) {
        if (host->scripts[i].service->executes) {
            want(host, i, &waiting);
        }
    }
    while (waiting > 0) {
        const uint32_t row = list->rows[host->order[--waiting]];
        const ManifestRow *from = row != NO_SLOT ? &host->signed_now.list.rows[row] : NULL;
        for (uint32_t i = 0; from != NULL && i < from->require_count; i++) {
            HostRune rune;
            if (script_host_find(host, script_path_plain(from->requires[i]), &rune)) {
                want(host, rune.number, &waiting);
            }
        }
    }
}

// --- a client -----------------------------------------------------------------------------------

static VerdictBits *verdicts_of(ScriptHost *host, const Session *session)
{
    return &host->verdicts->all[session_number(host->config.sessions, session)];
}

// A client that comes back does not repeat what it has said of the same manifest, and its session
// may have another number now.
static const VerdictBits *verdicts_before(const ScriptHost *host, uint64_t player)
{
    for (uint32_t i = 0; i < host->config.sessions->high; i++) {
        const VerdictBits *other = &host->verdicts->all[i];
        if (other->player == player && other->version == host->config.run->manifest_version) {
            return other;
        }
    }
    return NULL;
}

void client_verdict_begin(ScriptHost *host, const Session *session)
{
    VerdictBits *verdicts = verdicts_of(host, session);
    const VerdictBits *before =
        session->resumed && session->has_token ? verdicts_before(host, session->player) : NULL;
    if (before != NULL) {
        if (before != verdicts) {
            *verdicts = *before;
        }
        return;
    }
    *verdicts = (VerdictBits){.player = session->player,
                              .version = host->config.run->manifest_version,
                              .wanted_left = host->verdicts->wanted_count};
}

void client_verdict_take(ScriptHost *host, const Session *session, uint32_t number,
                         bool is_verified)
{
    VerdictBits *verdicts = verdicts_of(host, session);
    const uint32_t slot = host->verdicts->slots[number];
    if (verdicts->player != session->player || slot == NO_SLOT) {
        return;
    }
    const bool is_wanted = has_bit(host->verdicts->wanted, slot);
    if (set_bit(verdicts->verified, slot, is_verified)) {
        verdicts->verified_count += is_verified ? 1u : UINT32_MAX;
        verdicts->wanted_left += !is_wanted ? 0 : is_verified ? UINT32_MAX : 1u;
    }
    if (set_bit(verdicts->failed, slot, !is_verified)) {
        verdicts->failed_count += is_verified ? UINT32_MAX : 1u;
    }
}

uint32_t client_verdicts(const ScriptHost *host, ClientVerdicts *out, uint32_t most)
{
    const Sessions *sessions = host->config.sessions;
    uint32_t count = 0;
    for (uint32_t i = 0; i < sessions->high && count < most; i++) {
        const Session *session = &sessions->all[i];
        const VerdictBits *verdicts = &host->verdicts->all[i];
        if (session->state != SESSION_PLAYING || session->account == 0) {
            continue;
        }
        if (host->system == NULL || verdicts->player != session->player) {
            out[count++] = (ClientVerdicts){.account = session->account};
            continue;
        }
        out[count++] = (ClientVerdicts){
            .account = session->account,
            .version = verdicts->version,
            .wanted = host->verdicts->wanted_count,
            .verified = verdicts->verified_count,
            .failed = verdicts->failed_count,
            .is_settled = verdicts->version == host->config.run->manifest_version &&
                          verdicts->wanted_left == 0,
        };
    }
    return count;
}

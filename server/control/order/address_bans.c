// See address_bans.h.
#define _GNU_SOURCE
#include "server/control/order/address_bans.h"

#include "core/base/limits.h"
#include "server/control/control_inside.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define V4_BITS 96 // before an IPv4 address

struct AddressBans {
    AddressBan *all;
    uint32_t count;
};

bool address_range_read(const char *text, HttpPeerRange *out, char written[STORE_RANGE_BYTES])
{
    static const uint8_t v4[12] = {[10] = 0xff, [11] = 0xff};
    char address[INET6_ADDRSTRLEN];
    HttpPeerRange range;
    if (strlen(text) >= STORE_RANGE_BYTES || !http_peer_range_parse(text, &range)) {
        return false;
    }
    const bool is_v4 = range.bits >= V4_BITS && memcmp(range.first.bytes, v4, sizeof v4) == 0;
    if (inet_ntop(is_v4 ? AF_INET : AF_INET6, range.first.bytes + (is_v4 ? 12 : 0), address,
                  sizeof address) == NULL) {
        return false;
    }
    snprintf(written, STORE_RANGE_BYTES, "%s/%u", address,
             is_v4 ? range.bits - V4_BITS : range.bits);
    *out = range;
    return true;
}

static bool set_ban(struct AddressBans *bans, const StoreAddressBan *row)
{
    AddressBan ban = {.row = *row};
    char written[STORE_RANGE_BYTES];
    if (!address_range_read(row->range, &ban.range, written)) {
        return true; // of another version; it holds for nobody
    }
    for (uint32_t i = 0; i < bans->count; i++) {
        if (strcmp(bans->all[i].row.range, row->range) == 0) {
            bans->all[i] = ban;
            return true;
        }
    }
    AddressBan *grown = bans->count < ADDRESS_BANS_MAX
                            ? realloc(bans->all, (bans->count + 1) * sizeof *grown)
                            : NULL;
    if (grown == NULL) {
        return false;
    }
    bans->all = grown;
    bans->all[bans->count++] = ban;
    return true;
}

static void read_one(void *user, const StoreAddressBan *ban)
{
    Control *control = user;
    if (ban->until_unix_ms > control_now(control)) {
        (void)set_ban(control->address_bans, ban);
    }
}

Status address_bans_read(Control *control)
{
    control->address_bans = calloc(1, sizeof *control->address_bans);
    return control->address_bans != NULL
               ? store_address_bans(control->config.store, read_one, control)
               : STATUS_LIMIT;
}

Status address_bans_reload(Control *control)
{
    Control fresh = {.config = control->config};
    const Status status = address_bans_read(&fresh);
    if (status == STATUS_OK) {
        pthread_mutex_lock(&control->lock);
        const struct AddressBans before = *control->address_bans;
        *control->address_bans = *fresh.address_bans;
        *fresh.address_bans = before;
        pthread_mutex_unlock(&control->lock);
        chat_note_lists(control);
    }
    address_bans_free(&fresh);
    return status;
}

void address_bans_free(Control *control)
{
    if (control->address_bans != NULL) {
        free(control->address_bans->all);
        free(control->address_bans);
    }
}

Status control_ban_addresses(Control *control, const StoreAddressBan *ban)
{
    HttpPeerRange range;
    char written[STORE_RANGE_BYTES];
    if (!address_range_read(ban->range, &range, written) || strcmp(written, ban->range) != 0) {
        return STATUS_MALFORMED;
    }
    Status status = store_address_ban_put(control->config.store, ban);
    if (status == STATUS_OK) {
        pthread_mutex_lock(&control->lock);
        status = set_ban(control->address_bans, ban) ? STATUS_OK : STATUS_LIMIT;
        pthread_mutex_unlock(&control->lock);
        chat_note_lists(control);
    }
    return status;
}

Status control_unban_addresses(Control *control, const char *range)
{
    struct AddressBans *bans = control->address_bans;
    const Status status = store_address_ban_delete(control->config.store, range);
    pthread_mutex_lock(&control->lock);
    for (uint32_t i = 0; i < bans->count && status == STATUS_OK; i++) {
        if (strcmp(bans->all[i].row.range, range) == 0) {
            bans->all[i] = bans->all[--bans->count];
            break;
        }
    }
    pthread_mutex_unlock(&control->lock);
    chat_note_lists(control);
    return status;
}

const AddressBan *address_ban_find(const AddressBan *bans, uint32_t count, const HttpPeer *peer,
                                   uint64_t unix_ms)
{
    for (uint32_t i = 0; i < count && !http_peer_is_loopback(peer); i++) {
        if (bans[i].row.until_unix_ms > unix_ms && http_peer_range_has(&bans[i].range, 1, peer)) {
            return &bans[i];
        }
    }
    return NULL;
}

bool control_find_address_ban(Control *control, const HttpPeer *peer, StoreAddressBan *out)
{
    const uint64_t now = control_now(control);
    pthread_mutex_lock(&control->lock);
    const struct AddressBans *bans = control->address_bans;
    const AddressBan *found = address_ban_find(bans->all, bans->count, peer, now);
    if (found != NULL) {
        *out = found->row;
    }
    pthread_mutex_unlock(&control->lock);
    return found != NULL;
}

uint32_t control_address_bans(Control *control, StoreAddressBan *out, uint32_t max)
{
    const uint64_t now = control_now(control);
    uint32_t count = 0;
    pthread_mutex_lock(&control->lock);
    const struct AddressBans *bans = control->address_bans;
    for (uint32_t i = 0; i < bans->count; i++) {
        if (bans->all[i].row.until_unix_ms > now) {
            if (count < max) {
                out[count] = bans->all[i].row;
            }
            count += 1;
        }
    }
    pthread_mutex_unlock(&control->lock);
    return count;
}

// See ticket.h. libsodium signs and compares; the bytes are ours.
#define _GNU_SOURCE
#include "server/host/ticket.h"

#include "core/base/byte_values.h"
#include "core/base/bytes.h"
#include "core/base/check.h"
#include "core/base/text.h"

#include <sodium.h>
#include <string.h>

#define TICKET_FORMAT 2
#define TICKET_BYTES  512

// --- bytes --------------------------------------------------------------------------------------

static void write_ticket_text(ByteWriter *writer, const char *text)
{
    const size_t bytes = strlen(text);
    ASSERT(bytes <= 64);
    byte_write_varint(writer, bytes);
    byte_write_bytes(writer, text, bytes);
}

static void read_ticket_text(ByteReader *reader, char out[65])
{
    const uint32_t bytes = byte_read_count(reader, 64);
    const uint8_t *text = byte_read_bytes(reader, bytes);
    if (text == NULL) {
        return;
    }
    if (!text_is_valid(text, bytes)) {
        byte_reader_fail(reader, STATUS_MALFORMED);
        return;
    }
    memcpy(out, text, bytes);
    out[bytes] = '\0';
}

Status ticket_write(const SigningKey *key, const Ticket *ticket, char *text, size_t capacity)
{
    uint8_t bytes[TICKET_BYTES];
    ByteWriter writer = byte_writer(bytes, sizeof bytes - crypto_sign_BYTES);
    ASSERT(ticket->account != 0);
    ASSERT((ticket->flags & ~(uint32_t)TICKET_FLAGS_ALL) == 0); // what ticket_read accepts
    byte_write_u8(&writer, TICKET_FORMAT);
    byte_write_u8(&writer, (uint8_t)ticket->flags);
    byte_write_u64(&writer, ticket->account);
    write_ticket_text(&writer, ticket->name);
    write_ticket_text(&writer, ticket->world_id);
    byte_write_u64(&writer, ticket->epoch);
    byte_write_bytes(&writer, ticket->boot, sizeof ticket->boot);
    byte_write_u64(&writer, ticket->expires_unix_ms);
    byte_write_bytes(&writer, ticket->nonce, sizeof ticket->nonce);
    byte_write_bytes(&writer, key->public_half, sizeof key->public_half);
    ASSERT(writer.status == STATUS_OK);
    (void)crypto_sign_detached(bytes + writer.at, NULL, bytes, writer.at, key->secret);
    const size_t all = writer.at + crypto_sign_BYTES;
    if (sodium_base64_encoded_len(all, sodium_base64_VARIANT_URLSAFE_NO_PADDING) > capacity) {
        return STATUS_LIMIT;
    }
    (void)sodium_bin2base64(text, capacity, bytes, all, sodium_base64_VARIANT_URLSAFE_NO_PADDING);
    return STATUS_OK;
}

static Status read_signed(const uint8_t *public_half, const uint8_t *bytes, size_t count,
                          Ticket *out)
{
    if (count <= crypto_sign_BYTES) {
        return STATUS_MALFORMED;
    }
    const size_t said = count - crypto_sign_BYTES;
    ByteReader reader = byte_reader(bytes, said);
    Ticket ticket = {0};
    uint8_t signer[SIGNING_PUBLIC_BYTES] = {0};
    const uint8_t format = byte_read_u8(&reader);
    ticket.flags = byte_read_u8(&reader);
    ticket.account = byte_read_u64(&reader);
    read_ticket_text(&reader, ticket.name);
    read_ticket_text(&reader, ticket.world_id);
    ticket.epoch = byte_read_u64(&reader);
    byte_read_exact(&reader, ticket.boot, sizeof ticket.boot);
    ticket.expires_unix_ms = byte_read_u64(&reader);
    byte_read_exact(&reader, ticket.nonce, sizeof ticket.nonce);
    byte_read_exact(&reader, signer, sizeof signer);
    if (byte_reader_finish(&reader) != STATUS_OK || format != TICKET_FORMAT ||
        (ticket.flags & ~(uint32_t)TICKET_FLAGS_ALL) != 0 || ticket.account == 0) {
        return STATUS_MALFORMED;
    }
    if (memcmp(signer, public_half, sizeof signer) != 0) {
        return STATUS_MISMATCH;
    }
    if (crypto_sign_verify_detached(bytes + said, bytes, said, public_half) != 0) {
        return STATUS_DENIED;
    }
    *out = ticket;
    return STATUS_OK;
}

Status ticket_signer(const char *text, size_t bytes, uint8_t public_half[SIGNING_PUBLIC_BYTES])
{
    uint8_t raw[TICKET_BYTES];
    size_t count = 0;
    const char *end = NULL;
    if (sodium_base642bin(raw, sizeof raw, text, bytes, NULL, &count, &end,
                          sodium_base64_VARIANT_URLSAFE_NO_PADDING) != 0 ||
        end != text + bytes || count < SIGNING_PUBLIC_BYTES + crypto_sign_BYTES) {
        return STATUS_MALFORMED;
    }
    memcpy(public_half, raw + count - crypto_sign_BYTES - SIGNING_PUBLIC_BYTES,
           SIGNING_PUBLIC_BYTES);
    return STATUS_OK;
}

Status ticket_read(const uint8_t public_half[SIGNING_PUBLIC_BYTES], const char *text, size_t bytes,
                   Ticket *out)
{
    uint8_t raw[TICKET_BYTES];
    size_t count = 0;
    const char *end = NULL;
    if (sodium_base642bin(raw, sizeof raw, text, bytes, NULL, &count, &end,
                          sodium_base64_VARIANT_URLSAFE_NO_PADDING) != 0 ||
        end != text + bytes) {
        return STATUS_MALFORMED;
    }
    return read_signed(public_half, raw, count, out);
}

// --- used tickets --------------------------------------------------------------------------------

Status used_tickets_open(UsedTickets *used)
{
    *used = (UsedTickets){.uses = calloc(TICKET_USED_MAX, sizeof *used->uses)};
    return used->uses != NULL ? STATUS_OK : STATUS_LIMIT;
}

void used_tickets_close(UsedTickets *used)
{
    free(used->uses);
    *used = (UsedTickets){0};
}

// Forgets what has expired on the way.
static Status use_once(UsedTickets *used, const Ticket *ticket, uint64_t now_unix_ms)
{
    uint32_t kept = 0;
    bool is_known = false;
    for (uint32_t i = 0; i < used->use_count; i++) {
        if (used->uses[i].expires_unix_ms <= now_unix_ms) {
            continue;
        }
        is_known = is_known || memcmp(used->uses[i].nonce, ticket->nonce, TICKET_NONCE_BYTES) == 0;
        used->uses[kept++] = used->uses[i];
    }
    used->use_count = kept;
    if (is_known) {
        return STATUS_EXISTS;
    }
    if (used->use_count == TICKET_USED_MAX) {
        return STATUS_LIMIT;
    }
    struct TicketUse *use = &used->uses[used->use_count++];
    use->expires_unix_ms = ticket->expires_unix_ms;
    memcpy(use->nonce, ticket->nonce, sizeof use->nonce);
    return STATUS_OK;
}

static bool is_for(const TicketExpected *expected, const Ticket *ticket)
{
    return strcmp(ticket->world_id, expected->world_id) == 0 && ticket->epoch == expected->epoch &&
           memcmp(ticket->boot, expected->boot, TICKET_BOOT_BYTES) == 0;
}

Status ticket_admit(UsedTickets *used, const TicketExpected *expected, const char *text,
                    size_t bytes, uint64_t now_unix_ms, Ticket *out)
{
    Ticket ticket;
    Status status = ticket_read(expected->public_half, text, bytes, &ticket);
    if (status != STATUS_OK) {
        return status;
    }
    if (ticket.expires_unix_ms <= now_unix_ms ||
        ticket.expires_unix_ms > now_unix_ms + TICKET_MS + expected->ahead_ms ||
        ((ticket.flags & TICKET_DEBUG) != 0 && !expected->development)) {
        return STATUS_DENIED;
    }
    status = is_for(expected, &ticket) ? use_once(used, &ticket, now_unix_ms) : STATUS_DENIED;
    if (status == STATUS_OK) {
        *out = ticket;
    }
    return status;
}

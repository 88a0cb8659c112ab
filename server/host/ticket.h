// Tickets: who may come into which world, signed by the control plane that gave them and good once,
// for 30 seconds, at one host and boot. Who reads them needs the public half alone, so a host on
// another machine can let people in and invite nobody. Ed25519 over the bytes; the signing key's
// public half is inside, so that a wrong key is told from a forgery.
//
//   u8 format 2 · u8 flags · u64 account · text name · text world · u64 epoch
//   16 bytes host boot · u64 expires, unix ms · 16 bytes nonce · 32 bytes public key · 64 signature
//
// As text: base64 for URLs, without padding.
#pragma once

#include "core/base/limits.h"
#include "core/base/status.h"
#include "server/build/sign/signing_key.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TICKET_TEXT_BYTES  1024 // with its terminator
#define TICKET_BOOT_BYTES  16
#define TICKET_NONCE_BYTES 16
#define TICKET_NAME_BYTES  65
#define TICKET_USED_MAX    16384

typedef enum TicketFlag {
    TICKET_GUEST = 1 << 0,
    TICKET_OPERATOR = 1 << 1,
    TICKET_DEBUG = 1 << 2,      // is told the truth about positions; development only
    TICKET_FIXED_NAME = 1 << 3, // others see the name in here, whatever characters are called
    TICKET_FLAGS_ALL = (1 << 4) - 1
} TicketFlag;

typedef struct Ticket {
    uint32_t flags;
    uint64_t account; // never 0
    char name[TICKET_NAME_BYTES];
    char world_id[65];
    uint64_t epoch;
    uint8_t boot[TICKET_BOOT_BYTES];
    uint64_t expires_unix_ms;
    uint8_t nonce[TICKET_NONCE_BYTES];
} Ticket;

// STATUS_LIMIT when the text does not fit, which TICKET_TEXT_BYTES never is too little for.
MUST_USE Status ticket_write(const SigningKey *key, const Ticket *ticket, char *text,
                             size_t capacity);
// Total. STATUS_MALFORMED: no ticket; STATUS_MISMATCH: another key's; STATUS_DENIED: not signed by
// ours. Nothing else is checked.
MUST_USE Status ticket_read(const uint8_t public_half[SIGNING_PUBLIC_BYTES], const char *text,
                            size_t bytes, Ticket *out);

// The public key that it names, which may be anybody's: nothing is checked.
MUST_USE Status ticket_signer(const char *text, size_t bytes,
                              uint8_t public_half[SIGNING_PUBLIC_BYTES]);

// --- who may enter ------------------------------------------------------------------------------
// What has been used and not expired; a ticket is in it at most once.
typedef struct UsedTickets {
    struct TicketUse {
        uint64_t expires_unix_ms;
        uint8_t nonce[TICKET_NONCE_BYTES];
    } * uses;
    uint32_t use_count;
} UsedTickets;
MUST_USE Status used_tickets_open(UsedTickets *used);
void used_tickets_close(UsedTickets *used);

typedef struct TicketExpected {
    const uint8_t *public_half; // of who signs tickets
    const char *world_id;
    uint64_t epoch;
    const uint8_t *boot;
    bool development; // the debug flag is good here
    // By how much the clock of who signed it may be ahead of ours: of another host on the same
    // database, which both follow (clock_follow).
    uint32_t ahead_ms;
} TicketExpected;
#define TICKET_PEER_AHEAD_MS 2000
// STATUS_DENIED: of another world, epoch or boot, expired, or with a flag it may not have.
// STATUS_EXISTS: used before. STATUS_LIMIT: too many at once.
MUST_USE Status ticket_admit(UsedTickets *used, const TicketExpected *expected, const char *text,
                             size_t bytes, uint64_t now_unix_ms, Ticket *out);

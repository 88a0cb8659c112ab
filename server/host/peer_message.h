// What hosts of one store say to each other, as bytes: the body of `POST /api/peers` and of its
// answer. Both are signed with Ed25519 by the key in the sender's row of `hosts`.
//
//   ask     u8 version 2 · u8 kind · 32 bytes key of the sender · 16 bytes boot of the receiver ·
//           u64 unix ms · 16 bytes nonce · text host · 16 bytes boot · text world · u16 count and
//           text to say · 64 signature
//   answer  u8 version 2 · 16 bytes nonce of the ask · u8 result · 16 bytes boot of the sender ·
//           u32 written, ms ago · u8 checked · u8 refusal · u64 epoch · 16 bytes boot · text
//           address · u32 players · 64 signature
//   reply   the answer to WORLDS and the kinds after it: u8 version 2 · 16 bytes nonce of the ask ·
//           u8 outcome · u32 count and bytes, which depend on the kind · 64 signature
//
// An ask is good for PEER_MESSAGE_MS, once, and for that receiver.
#pragma once

#include "server/host/host_peer.h"
#include "server/host/host_world.h"

#define PEER_MESSAGE_BYTES 768 // more than any has
#define PEER_MESSAGE_MS    30000
#define PEER_NONCES_MAX    4096

typedef struct PeerEnvelope {
    uint8_t sender[SIGNING_PUBLIC_BYTES];
    uint8_t receiver[STORE_BOOT_BYTES];
    uint64_t unix_ms;
    uint8_t nonce[16];
} PeerEnvelope;

// Give how many bytes were written, at most PEER_MESSAGE_BYTES.
size_t peer_ask_write(const SigningKey *key, const PeerEnvelope *envelope, const HostPeerAsk *ask,
                      uint8_t out[PEER_MESSAGE_BYTES]);
size_t peer_answer_write(const SigningKey *key, const uint8_t nonce[16],
                         const HostPeerAnswer *answer, uint8_t out[PEER_MESSAGE_BYTES]);
// Total. STATUS_MALFORMED: no such message. The envelope is not checked yet: peer_ask_is_signed
// does, once it is known whose key that is.
MUST_USE Status peer_ask_read(const uint8_t *bytes, size_t count, PeerEnvelope *envelope,
                              HostPeerAsk *out);
bool peer_ask_is_signed(const uint8_t *bytes, size_t count, const PeerEnvelope *envelope);
// STATUS_DENIED: not signed by that key, or the answer to another ask.
MUST_USE Status peer_answer_read(const uint8_t public_half[SIGNING_PUBLIC_BYTES],
                                 const uint8_t nonce[16], const uint8_t *bytes, size_t count,
                                 HostPeerAnswer *out);

typedef enum PeerOutcome {
    PEER_DONE,
    PEER_NOT_HERE, // that world does not run there
    PEER_OUTCOME_COUNT
} PeerOutcome;

#define PEER_PAYLOAD_BYTES (64u << 10)
#define PEER_REPLY_BYTES   (PEER_PAYLOAD_BYTES + 128)

typedef struct PeerReply {
    PeerOutcome outcome;
    const uint8_t *bytes; // at most PEER_PAYLOAD_BYTES; when read, within what was given
    size_t count;
} PeerReply;
size_t peer_reply_write(const SigningKey *key, const uint8_t nonce[16], const PeerReply *reply,
                        uint8_t out[PEER_REPLY_BYTES]);
// As peer_answer_read.
MUST_USE Status peer_reply_read(const uint8_t public_half[SIGNING_PUBLIC_BYTES],
                                const uint8_t nonce[16], const uint8_t *bytes, size_t count,
                                PeerReply *out);

// Of PEER_WORLDS: a page of rows. u8 1 if there are more · u16 rows · each: text id · u8 state ·
// u32 players · u32 player_max · u8 1 if its place is hidden · u64 tick, late_p99_us, work_max_us,
// memory_bytes, uptime_s, crashes, bytes_down, bytes_up.
#define PEER_NUMBER_MAX (UINT64_C(1) << 53) // what JSON keeps exactly
#define PEER_WORLDS_MAX 440                 // in one reply; _Static_assert in peer_message.c

typedef struct PeerWorld {
    char world_id[65];
    HostWorldState state;
    uint32_t players, player_max;
    bool is_hidden; // its place is not for everybody to find
    uint64_t tick, late_p99_us, work_max_us, memory_bytes, uptime_s, crashes, bytes_down, bytes_up;
} PeerWorld;
// At most PEER_PAYLOAD_BYTES.
size_t peer_worlds_write(const PeerWorld *worlds, uint32_t count, bool has_more,
                         uint8_t out[PEER_PAYLOAD_BYTES]);
// Total; ids are valid, rise, and numbers are below PEER_NUMBER_MAX. At most PEER_WORLDS_MAX.
MUST_USE Status peer_worlds_read(const uint8_t *bytes, size_t byte_count, PeerWorld *out,
                                 uint32_t *count, bool *has_more);

// Asks that were heard. False: it was heard before, or its time is over.
typedef struct PeerNonces {
    struct {
        uint8_t nonce[16];
        uint64_t until_unix_ms;
    } all[PEER_NONCES_MAX];
    uint32_t next;
} PeerNonces;
bool peer_nonce_use(PeerNonces *nonces, const PeerEnvelope *envelope, uint64_t now_unix_ms);

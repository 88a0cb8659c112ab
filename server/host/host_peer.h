// Hosts that share one store are peers: each has a row with its address, key and load (store.h),
// and reads those of the others with every renewal. They ask each other a few things, without
// waiting:
//
//   PROBE   are you there, and can you write to the database?
//   CHECK   is that third host there? Asked when it refused a connection
//   RUN     run this world, or say who does
//   SAY     tell the players of that world, or of all, what an operator announces
//   WORLDS  which worlds run on you, from behind that id on, and how are they
//   SCRIPTS what the scripts of that world cost
//   STOP    stop that world, as an operator of ours says
//   DRAIN   start no worlds any more, start them again, or stop (the text says which)
//
// The last four are for operators and lists: they are answered with bytes (peer_message.h) by the
// owner of the host (serve/remote/serve_fleet.h), which the host itself never hears of.
//
// A world that nobody runs goes to the least loaded host, which takes it by compare-and-set. A host
// that refuses connections (its process is gone; silence proves nothing) is ended once two of its
// peers have found that: its worlds can be taken at once. The fence keeps this safe if both were
// wrong. A host that is cut off from the database stops its worlds, and its peers end its row when
// it says so. Whose row was ended begins a new life with a new boot. What a peer says is believed
// as far as it could have done the same itself: they all write to the same database.
#pragma once

#include "server/host/host.h"

typedef enum HostPeerKind {
    PEER_PROBE,
    PEER_CHECK,
    PEER_RUN,
    PEER_SAY,
    PEER_WORLDS, // from here on: not for host_peer_hear
    PEER_SCRIPTS,
    PEER_STOP,
    PEER_DRAIN,
    PEER_KIND_COUNT
} HostPeerKind;

#define HOST_SAY_BYTES 257 // with its terminator

typedef struct HostPeerAsk {
    HostPeerKind kind;
    uint64_t tag;                   // for the answer
    char host_id[65];               // of PEER_CHECK: about whom
    uint8_t boot[STORE_BOOT_BYTES]; // the same
    char world_id[65];              // of PEER_RUN and others; of PEER_SAY, "": all
    char text[HOST_SAY_BYTES];      // of PEER_SAY and PEER_DRAIN
} HostPeerAsk;

typedef enum HostPeerResult {
    PEER_ANSWERED,
    PEER_REFUSED, // nobody listens at its address
    PEER_SILENT,  // no answer in time, or one that cannot be read
    PEER_RESULT_COUNT
} HostPeerResult;

typedef struct HostPeerAnswer {
    HostPeerResult result;
    uint8_t boot[STORE_BOOT_BYTES]; // of who answered
    uint32_t written_ms;            // of PEER_PROBE: how long ago it sent its last good renewal
    HostPeerResult checked;         // of PEER_CHECK
    // Of PEER_RUN; REFUSED_NOT: held says who runs it. Of PEER_PROBE: REFUSED_ENDING says that it
    // was cut off from the database and has stopped its worlds: its row can be ended at once.
    HostRefusal refusal;
    StoreHeld held;   // the same
    uint32_t players; // the same: who is there or on the way, if it is theirs
} HostPeerAnswer;

#define HOST_PEER_MS  1500 // an answer that takes longer counts as silence, but for PEER_RUN
#define HOST_RUN_MS   15000
#define HOST_PROBE_MS 500 // how often each host looks for two others

// Straight to all peers; one that does not hear it is not told again.
void host_peers_say(Host *host, const char *world, const char *text);
// The answer to outside.peer_ask; from the same thread as host_step.
void host_peer_answer(Host *host, uint64_t tag, const HostPeerAnswer *answer);
// A peer asks. Answered by outside.peer_answered, perhaps before this returns.
void host_peer_hear(Host *host, const HostPeerAsk *ask);
// Who may ask: peers whose rows are valid, by their keys. NULL: unknown; the list is read again.
const StoreHost *host_peer_by_key(Host *host, const uint8_t public_key[32]);
uint32_t host_peer_count(const Host *host);
const StoreHost *host_peer_at(const Host *host, uint32_t number);

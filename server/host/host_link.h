// A world process as its host reaches it: a channel, and a process that can be ended. The real one
// is serve/link_process.c; tests/scenario/host has one in simulated time. A host is given links by
// HostOutside.start and never asks which kind it has.
#pragma once

#include "core/base/bytes.h"
#include "server/channel/channel.h"

typedef struct HostPlace HostPlace;
typedef struct HostLink HostLink;

// Everything that a world process is told before its time begins.
typedef struct HostBeginning {
    const HostPlace *place;
    uint64_t memory_bytes_max;
    const uint8_t *header; // the numbers of its WorldConfig (journal_write_header)
    size_t header_bytes;
    const uint8_t *public_key; // 32 bytes: of the key that signed the manifest
    const uint8_t *manifest;   // with all scripts
    size_t manifest_bytes;
    const uint8_t *entries; // stored rows, scripts, the manifest for clients
    size_t entry_bytes;
} HostBeginning;

typedef struct HostLinkFace {
    MUST_USE Status (*begin)(HostLink *link, const HostBeginning *beginning);
    // As channel_put, channel_take and channel_flush.
    MUST_USE Status (*put)(HostLink *link, ChannelType type, const void *bytes, size_t count,
                           int descriptor);
    MUST_USE Status (*take)(HostLink *link, ChannelMessage *out);
    void (*flush)(HostLink *link);
    // False once nobody reads at the other end, which may be known before the process has ended.
    bool (*listens)(HostLink *link);
    void (*describe)(HostLink *link, char *out, size_t bytes); // what bounds it, for the log
    void (*journal)(HostLink *link, const uint8_t *bytes, size_t count, bool gap);
    // Nothing more is said or heard. A world process ends by itself when its channel is closed.
    void (*close)(HostLink *link);
    void (*kill)(HostLink *link);
    // For how long it wanted a processor and got none, in all its life. NULL: nobody knows.
    uint64_t (*starved_ns)(HostLink *link);
    bool (*has_ended)(HostLink *link, int *code); // the exit code, or 128 + the signal
    void (*free)(HostLink *link);                 // after it has ended
} HostLinkFace;

struct HostLink {
    const HostLinkFace *face;
};

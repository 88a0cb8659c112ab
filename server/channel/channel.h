// What the host and a world process say to each other. server/channel is linked by both, and
// neither links the other: the host is outside the jail, the world process (server/shell) inside
// it. Here are the messages, the statistics of a world (stats.h) and its journal
// (journal_replay.h).
//
// The channel is a SOCK_SEQPACKET pair with messages in both directions; a long one is cut into
// packets. Nothing blocks: what the other side does not read yet waits in a bounded queue.
//
//   packet    u8 type · u8 1 if more of this message follows · bytes
//
// To the host every byte from a world is hostile: channel_read_report accepts any bytes, and a
// channel counts what it received so that its owner can end a world that sends too much. A
// descriptor comes with the last packet of a message or not at all.
#pragma once

#include "core/base/log.h"
#include "core/wire/moderation.h"
#include "core/world/world.h"
#include "server/channel/client_table.h"
#include "server/channel/script_table.h"
#include "server/channel/stats.h"

#define CHANNEL_PACKET_BYTES  (60u << 10)
#define CHANNEL_MESSAGE_BYTES (ENTRY_BYTES_MAX + 4096u)
#define CHANNEL_REQUEST_MAX   ((1ull << 46) - 1) // of SAVE and STORE
#define CHANNEL_TICKET_BYTES  4096
#define CHANNEL_REASON_BYTES  240
#define CHANNEL_CONNECT_BYTES 17 // of CHANNEL_CONNECT, before what was read
#define CHANNEL_RELOAD_BYTES  12 // of CHANNEL_RELOAD, before the piece

// How many connections a world with so many players has at most: the host gives it memory for them,
// and the world refuses more.
uint32_t world_socket_max(uint32_t player_max);

// A world says BEAT several times a second; one that is paused does so this often.
#define CHANNEL_PAUSED_BEAT_MS 4000u

typedef enum ChannelType {
    CHANNEL_NONE,
    // To the world.
    CHANNEL_START,    // config (channel_write_start); descriptor: the place, whole and stripped
    CHANNEL_MANIFEST, // 32 bytes: the public key; descriptor: the signed manifest, before ENTRIES
    CHANNEL_ENTRIES,  // descriptor: entries (entry.h), one after the other, before GO
    CHANNEL_GO,       // time begins
    CHANNEL_ENTRY,    // one entry
    // u8 json · u64 address · u64 number, for CLOSED · bytes already read; descriptor: the socket
    CHANNEL_CONNECT,
    // To the host.
    CHANNEL_READY,   // the world is locked in and runs: layers
    CHANNEL_FAILED,  // it cannot be: reason
    CHANNEL_AUTH,    // COMMAND_AUTH
    CHANNEL_SAVE,    // COMMAND_SAVE
    CHANNEL_STORE,   // COMMAND_STORE
    CHANNEL_STOP,    // COMMAND_STOP: reason
    CHANNEL_LEFT,    // COMMAND_LEFT: account
    CHANNEL_CAME,    // COMMAND_CAME: account
    CHANNEL_LOG,     // level, tick, area, text
    CHANNEL_STATS,   // HostStats
    CHANNEL_SCRIPTS, // what its scripts cost (script_table.h)
    CHANNEL_BEAT,    // still alive: tick
    CHANNEL_JOURNAL, // bytes for the journal (journal_replay.h); flag: something is missing before
    CHANNEL_CLOSED,  // a socket is over: its number in CONNECT
    CHANNEL_HEARD,   // COMMAND_HEARD: account, heard, text
    CHANNEL_REPORT,  // COMMAND_REPORT: account, other, reason and text
    // To the world again.
    CHANNEL_CLOSE, // u64 number, as in CONNECT: that socket shall end
    CHANNEL_UNTIL, // u64 of clock_ns: it ends then, unless it was told a later time meanwhile
    // u32 version · u32 bytes of the whole · u32 where this piece begins · piece: the signed
    // manifest of a set of scripts that shall replace the one that runs. ENTRY_SCRIPT for what
    // starts again or ends, ENTRY_PARAMETERS for what differs, and ENTRY_RELOAD follow.
    CHANNEL_RELOAD,
    // To the host again.
    CHANNEL_RELOADED, // what has become of it: reload, version, tick, text
    CHANNEL_CLIENTS,  // which scripts its clients have (client_table.h)
    // Both ways, and nothing else, on the channel of an edit process (edit_link.h).
    CHANNEL_EDIT,
    CHANNEL_TYPE_COUNT
} ChannelType;

typedef struct Channel {
    int end;
    // Packets that wait: u32 bytes, i32 descriptor, then the packet.
    uint8_t *out;
    size_t out_capacity, out_begin, out_end;
    // The message that is being put together.
    uint8_t *in;
    size_t in_bytes;
    uint8_t in_type;
    bool in_more;
    uint8_t *packet;
    uint64_t messages_in, bytes_in;
} Channel;

// The descriptor is the channel's from then on, unless it fails.
MUST_USE Status channel_open(Channel *channel, int end, size_t queue_bytes);
void channel_close(Channel *channel); // also of one that is not open

// Queues a message whole, or STATUS_LIMIT. The descriptor (-1: none) is the channel's if it is
// queued.
MUST_USE Status channel_put(Channel *channel, ChannelType type, const void *bytes, size_t count,
                            int descriptor);
size_t channel_room(const Channel *channel); // for at most so many bytes in one message
size_t channel_free(const Channel *channel); // of the queue
// Sends what can be sent. STATUS_LIMIT: something still waits; STATUS_TRUNCATED: the other side is
// gone.
MUST_USE Status channel_flush(Channel *channel);

typedef struct ChannelMessage {
    ChannelType type;
    const uint8_t *bytes; // valid until the next call
    size_t count;
    int descriptor; // the caller's; -1: none
} ChannelMessage;
// STATUS_NOT_FOUND: nothing (whole) there now. STATUS_TRUNCATED: the other side is gone.
// STATUS_MALFORMED, STATUS_LIMIT: it does not keep to the form; there is no way on.
MUST_USE Status channel_take(Channel *channel, ChannelMessage *out);

// --- to the world -------------------------------------------------------------------------------
typedef struct ChannelStart {
    uint64_t whole_bytes, stripped_bytes;
    uint64_t memory_bytes_max; // of the jail; 0: none
    bool allow_weak_jail, journal;
    const uint8_t *header; // of the journal: the numbers of the WorldConfig
    size_t header_bytes;
} ChannelStart;
void channel_write_start(const ChannelStart *start, ByteWriter *writer);
MUST_USE Status channel_read_start(const uint8_t *bytes, size_t count, ChannelStart *out);

// --- to the host --------------------------------------------------------------------------------
typedef struct ChannelReport {
    ChannelType type;
    uint32_t layers;      // READY
    uint64_t connection;  // AUTH
    uint64_t account;     // LEFT, CAME, HEARD, REPORT
    uint64_t other;       // REPORT
    HeardKind heard;      // HEARD
    uint64_t request;     // SAVE, STORE
    uint64_t socket;      // CLOSED
    uint64_t epoch, seq;  // SAVE, STORE (epoch)
    const uint8_t *bytes; // AUTH, SAVE, JOURNAL, SCRIPTS, CLIENTS, HEARD, REPORT
    size_t byte_count;
    StoreRequest store;              // STORE
    LogLevel level;                  // LOG
    uint64_t tick;                   // LOG, BEAT, RELOADED
    ReloadResult reload;             // RELOADED
    uint32_t version;                // RELOADED: of the manifest
    char area[17];                   // LOG
    char text[CHANNEL_REASON_BYTES]; // LOG, STOP, FAILED, RELOADED; printable UTF-8
    HostStats stats;                 // STATS
    bool gap;                        // JOURNAL
} ChannelReport;
// Writes what the type has; texts are cut to their limits.
void channel_write_report(const ChannelReport *report, ByteWriter *writer);
// Total: any bytes give a report of that type, or a status. Texts lose what is not printable.
MUST_USE Status channel_read_report(ChannelType type, const uint8_t *bytes, size_t count,
                                    ChannelReport *out);

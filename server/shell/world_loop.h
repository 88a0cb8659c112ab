// The life of a world process once it is locked in: a tick, again and again, on the clock.
//
//   channel   entries and sockets from the host
//   sockets   what players said, each message an entry
//   journal   what is about to enter goes to the host first, so that it survives the tick
//   tick      ENTRY_TICK
//   commands  saves, questions, requests, to the host
//   sockets   what players are told, one send each
//
// While nobody is in the world (world_is_paused) and no socket is open, there is no tick: the loop
// sleeps until the host says something, and only tells it every few seconds that it is alive.
//
// Scripts may change while it runs: a manifest and what differs come from the host, pass the gate
// and are staged in the world, which switches at its next tick. If anything of it is refused, what
// is staged is dropped, the host hears why, and the world runs on as before.
//
// A tick that comes late is made up for, at most TICK_CATCH_UP_MAX in a row; what is later than
// that is skipped and counted.
#pragma once

#include "server/channel/channel.h"
#include "server/shell/rune_gate.h"
#include "server/shell/world_socket.h"

typedef struct WorldLoop {
    World *world;
    Channel *channel;
    Sockets *sockets;
    uint32_t tick_rate;
    RuneGate *gate; // what scripts it may run
    // A set of scripts that shall replace the one that runs.
    bool reload_comes;      // its manifest, or a piece of it, is here
    bool reload_has_staged; // the world has got something of it
    uint32_t reload_version;
    bool journal;
    bool paused; // nobody is here, and no tick is entered
    // Entries since the last time they were sent.
    uint8_t *journal_bytes;
    ByteWriter journal_writer;
    bool journal_gap;
    uint8_t *report_bytes; // one report while it is written
    uint64_t tick_count;
    uint64_t now_ms;
    uint64_t until_ns; // when it ends if the host stands still; 0: it waits for it
    uint64_t log_second, logs_this_second;
    HostStats stats;
    uint32_t late_us[64]; // of the last second
    uint32_t late_count;
    uint64_t work_max_us;
    uint64_t began_ns; // the last tick; 0: none before it, or a pause
    uint64_t journal_dropped;
    const Heap *heap;         // of the world; looked at for the numbers
    ScriptStats script_stats; // of the last second; too large for a stack
    ScriptTable script_table;
    uint64_t script_messages;    // remotes, when the table was last looked at
    bool script_faults_wait;     // there are some, or lines, that the host was not told of
    uint64_t script_faults_tick; // when it was last told of some
} WorldLoop;

MUST_USE Status world_loop_init(WorldLoop *loop, Channel *channel);
// Queues a report; false when there is no room.
bool world_loop_report(WorldLoop *loop, const ChannelReport *report);
void world_loop_log(void *loop, const LogEvent *event); // a LogSink's
// The world is created; `socket_max` limits its connections.
MUST_USE Status world_loop_open(WorldLoop *loop, World *world, uint32_t tick_rate,
                                uint32_t socket_max, int epoll);
// Runs until the host is gone.
void world_loop_run(WorldLoop *loop);

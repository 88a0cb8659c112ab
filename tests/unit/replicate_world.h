// A world with attribute attributes and a replicator, and a client's merge at the other end of
// every session. The sinks check what must hold for every frame: nothing is sent twice, nothing
// refers to an entity that was not sent, and nothing comes from outside the interest.
#pragma once

#include "core/wire/merge.h"
#include "core/world/replicate/replicate.h"
#include "tests/unit/walk_world.h"

#define REPLICATE_CLIENTS 8

typedef struct ReplicateWorld ReplicateWorld;

typedef struct ReplicateClient {
    ReplicateWorld *world;
    uint32_t session;
    bool open;
    uint64_t own;
    uint64_t player; // who owns that body
    Merge merge;
    size_t frame_bytes;
    uint32_t enters, leaves, updates, events; // of the last frame
    uint64_t event_total;
    uint64_t event_last;                          // its subject
    uint8_t attributes[NET_ATTRIBUTES_BYTES_MAX]; // that came last
    size_t attributes_bytes;
    NetShape shape; // that came last
} ReplicateClient;

struct ReplicateWorld {
    WalkWorld walk;
    Sim *sim;
    AttributeTable attributes;
    void *attributes_block;
    Replicator *replicator;
    ReplicatorConfig config;
    ReplicateClient clients[REPLICATE_CLIENTS];
    uint8_t *buffer;
    size_t buffer_bytes;
    float slack; // of a distance
};

ReplicatorConfig replicate_config(void); // small: radius 16, 8 sessions
void replicate_open(ReplicateWorld *world, const WalkWorldDesc *desc,
                    const ReplicatorConfig *config);
void replicate_close(ReplicateWorld *world);

// A session that sees through that body.
void replicate_join(ReplicateWorld *world, uint32_t session, uint64_t own);
void replicate_leave(ReplicateWorld *world, uint32_t session);
// Steps to the next snapshot and captures.
void replicate_step(ReplicateWorld *world);
// Builds the frame of a session, merges it and checks it.
void replicate_frame(ReplicateWorld *world, uint32_t session);
// A step and a frame for everybody, so many times.
void replicate_run(ReplicateWorld *world, uint32_t captures);
// The slot of an entity at a client; NULL: it does not know it.
const MergeSlot *replicate_known(const ReplicateWorld *world, uint32_t session, uint64_t net_id);
// An event that names these; the message is its subject.
ReplicatorEvent replicate_event(const ReplicateWorld *world, uint64_t subject);
uint64_t replicate_id(const ReplicateWorld *world, Handle entity);

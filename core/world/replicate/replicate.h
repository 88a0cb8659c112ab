// What each client is sent of the entities it may see. The replicator watches a sim and its
// attributes; a session gets frames (wire/snapshot.h). It knows nothing of messages, sockets or
// inputs.
//
//   capture   once per snapshot tick: every entity's state is compared with its last version, and a
//             new version is made where it differs (a mover only when it left its curve)
//   interest  a grid gives candidates in the radius, at most the nearest 256; who is in stays until
//             it is 10 % further out. The own body is always in. Distances are to the bounding
//             spheres of shapes. A session looks around every fourth capture, and at once at what
//             is new or jumped; nothing beyond 1.1 of the radius is ever put into a frame
//   build     per session: leaves, enters, updates by priority within the byte budget, events.
//             Records are encoded once per (entity, base version) and snapshot, and appended
//
// A version is sent to a session at most once, and left out only for the budget; then its priority
// grows. An event that names an entity is preceded by the entity's enter record, or is not sent
// because the entity is outside the session's interest. What decides is the interest of the frame
// it goes with, and none goes before the capture of its tick.
//
// All memory is taken at create. The same calls give the same frames.
#pragma once

#include "core/base/hash.h"
#include "core/base/heap.h"
#include "core/script/bridge/attribute_table.h"
#include "core/wire/snapshot.h"
#include "core/world/replicate/patch_table.h"

typedef struct Replicator Replicator;

typedef struct ReplicatorConfig {
    const Sim *sim;                   // kept
    const AttributeTable *attributes; // kept; NULL: nothing has names
    uint32_t session_max;
    uint32_t tick_rate;
    uint32_t snapshot_ticks; // between two snapshots
    uint32_t visible_max;    // at most NET_SLOTS_MAX
    float radius;            // of interest; one leaves at 1.1 of it
    uint32_t budget_bytes;   // of one frame; one record or event always fits
    float tolerance_m;       // how far a mover may be from its curve
    // Entities that no client may learn of; NULL: none. Asked once a capture for each such entity,
    // and once for each other.
    bool (*is_secret)(void *user, const Entity *entity);
    void *secret_user;
    // How something looks; NULL: nothing is painted.
    Paint (*paint_of)(void *user, uint64_t net_id);
    void *paint_user;
    size_t event_bytes_max; // waiting for one session; an event that does not fit is STATUS_LIMIT
} ReplicatorConfig;

ReplicatorConfig replicator_config_default(void);
MUST_USE Status replicator_create(Heap *heap, const ReplicatorConfig *config, Replicator **out);
void replicator_destroy(Heap *heap, Replicator *replicator);

// After the step of a snapshot tick, before frames are built.
void replicator_capture(Replicator *replicator);

// Anchored parts of the scene that differ from it, as of the last capture.
PatchTable *replicator_patches(Replicator *replicator);

// --- sessions -----------------------------------------------------------------------------------
// Sessions are numbered below session_max by the owner. Opening one forgets what was sent to it:
// the next frame is full.
// `player` owns what has that owner id: its client alone is sent the attributes for owners.
void replicator_open(Replicator *replicator, uint32_t session, uint64_t player);
void replicator_close(Replicator *replicator, uint32_t session);
// The eye of a session: its body, or a place while it has none (own 0).
void replicator_set_eye(Replicator *replicator, uint32_t session, uint64_t own, Vec3 position);
// Where it is; false: the session is not open.
bool replicator_eye(const Replicator *replicator, uint32_t session, Vec3 *out);
// Whether the entity is in the session's interest and was sent.
bool replicator_sees(const Replicator *replicator, uint32_t session, uint64_t net_id);
// All of those, by slot; at most NET_SLOTS_MAX.
uint32_t replicator_seen(const Replicator *replicator, uint32_t session,
                         uint64_t out[NET_SLOTS_MAX]);

// --- events -------------------------------------------------------------------------------------
// `message` is an encoded event (message_encode_event), copied. It happened at `tick`.
#define REPLICATOR_EVENT_MAX (66 << 10)
// Events of the sim count like those of one script: they get a share of every queue, so that a
// storm of damage events does not block chat, answers and joins.
#define EVENT_MAKER_SIM UINT32_MAX

typedef struct ReplicatorEvent {
    uint64_t tick;
    const uint8_t *message;
    size_t bytes;
    uint32_t maker;    // the script that sends it, or EVENT_MAKER_SIM; 0: none
    uint64_t subject;  // an entity it names; 0: none
    uint64_t other;    // another one, which is entered first if it is in the interest; 0: none
    bool has_position; // only for those whose interest holds this place; also when the subject is
    Vec3 position;     // gone already
} ReplicatorEvent;
// To one session, or to every open one that it concerns. STATUS_LIMIT: no room; counted.
MUST_USE Status replicator_send(Replicator *replicator, uint32_t session,
                                const ReplicatorEvent *event);
void replicator_broadcast(Replicator *replicator, const ReplicatorEvent *event);

// --- frames -------------------------------------------------------------------------------------
typedef struct FrameRequest {
    uint32_t ack_seq;
    uint32_t inputs_waiting;
    const NetOwn *own; // NULL: not this time
} FrameRequest;
// Encodes the next frame of a session and counts it as sent: the transport is reliable. The buffer
// has at least budget_bytes + SNAPSHOT_SLACK. *seq gets the frame's number.
#define SNAPSHOT_SLACK (72 << 10) // one event of 64 KiB and one record with all its attributes
MUST_USE Status replicator_build(Replicator *replicator, uint32_t session,
                                 const FrameRequest *request, uint8_t *out, size_t capacity,
                                 size_t *bytes, uint32_t *seq);

typedef struct ReplicatorStats {
    uint64_t captures, versions_made, frames, frame_bytes;
    uint64_t records_encoded, records_appended, records_full, records_postponed;
    uint64_t enters, leaves, events_sent, events_dropped, candidates_dropped, attributes_cut;
} ReplicatorStats;
ReplicatorStats replicator_stats(const Replicator *replicator);
// For tests: the version of an entity that a session has (0: none), and the current one.
uint32_t replicator_base(const Replicator *replicator, uint32_t session, uint64_t net_id);
const NetState *replicator_state(const Replicator *replicator, uint64_t net_id); // NULL: unknown
void replicator_hash(const Replicator *replicator, Hash64 *hash);

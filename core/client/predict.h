// The client's own sim: the scene, what the server said of parts, structures and terrain, and the
// own player, who is a few ticks ahead of the server. Inputs are kept until the server has answered
// for them; when it says that the body was somewhere else, the sim goes back to that tick and plays
// the inputs since then again, with every moving part where it was at each of those ticks. What
// jumps on the screen by that is smoothed away, the prediction itself never is.
//
// Others (players, NPCs, projectiles) are puppets in the same sim, put where the interpolation
// shows them, so that scripts and rays meet what is on the screen.
#pragma once

#include "core/base/heap.h"
#include "core/place/place.h"
#include "core/sim/puppet.h"
#include "core/wire/merge.h"
#include "core/wire/message.h"
#include "core/wire/patch.h"

#define PREDICT_INPUTS_MAX 128 // not answered yet: two seconds

typedef struct PredictStats {
    uint64_t corrections;               // the server's state differed from what was predicted
    uint64_t corrections_by_cause[8];   // by bit of NetCause
    uint64_t corrections_without_cause; // must stay zero
    uint64_t replayed_ticks;
    float correction_last_m, correction_max_m;
    uint64_t inputs_dropped; // the server did not answer for too long
    uint64_t things_dropped; // no room in the sim
} PredictStats;

typedef struct Predict Predict;

MUST_USE Status predict_create(Heap *heap, const Place *place, uint32_t visible_max, Predict **out);
void predict_destroy(Heap *heap, Predict *predict);
Sim *predict_sim(Predict *predict);
const PredictStats *predict_stats(const Predict *predict);

// An input in the precision of the wire format: prediction uses nothing finer.
WireInputFrame predict_quantise(const SimInput *input);
SimInput predict_input(const WireInputFrame *frame);

// A new session: no body, no inputs, every entity is removed; terrain stays, and so do parts of the
// scene as patches and entities left them.
void predict_reset(Predict *predict, uint64_t tick);
// Steps one tick with that input and fills in its seq and tick: the low bits and the whole of the
// tick that the step leads to. Without a body the tick still advances.
void predict_step(Predict *predict, WireInputFrame *frame);
uint64_t predict_tick(const Predict *predict);
// The hash of the predicted state after that input; 0 if it is not in the ring.
uint32_t predict_hash(const Predict *predict, uint32_t seq);
uint32_t predict_pending(const Predict *predict, uint32_t ack_seq);
// The inputs after that one, oldest first, at most `max`.
uint32_t predict_inputs(const Predict *predict, uint32_t after_seq, WireInputFrame *out,
                        uint32_t max);

// The server's state of the own body. Spawns the body if there is none; net id 0 removes it. A
// replay leaves the events of its last tick in the sim: read those of a step right after
// predict_step.
void predict_own(Predict *predict, const NetOwn *own);
// A script has turned the body: the inputs for that tick and later ones look there, and are
// predicted again.
void predict_turn(Predict *predict, uint64_t tick, uint64_t yaw);
void predict_acknowledge(Predict *predict, uint32_t ack_seq);

// Changes of other entities, from the merge's sink, by net id.
void predict_enter(Predict *predict, const MergeSlot *entity, const NetShape *shape);
void predict_update(Predict *predict, const MergeSlot *entity, uint32_t components,
                    const NetShape *shape);
void predict_leave(Predict *predict, const MergeSlot *entity);
// A part of the scene as its cell's patch has it; it must not be an entity that is seen.
// STATUS_RANGE for what is no part of the scene, STATUS_LIMIT if there is no room for one more that
// is not where the scene has it; counted.
MUST_USE Status predict_patch(Predict *predict, const PatchRow *row);
// Every part is as the scene has it again.
void predict_unpatch(Predict *predict);
void predict_pose(Predict *predict, uint64_t net_id, Vec3 position, Vec3 velocity, float yaw,
                  float pitch, float health);

// Where the own body is shown: the prediction, minus the rest of the last corrections, between
// ticks by `fraction`. Call predict_smooth once per drawn frame.
typedef struct PredictView {
    bool present;
    uint64_t net_id;
    Vec3 position, velocity;
    float yaw, pitch, health;
    bool grounded, climbing, crouching;
} PredictView;
void predict_smooth(Predict *predict, float seconds);
PredictView predict_view(const Predict *predict, float fraction);

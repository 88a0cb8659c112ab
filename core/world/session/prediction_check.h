// Checks whether the client predicts its own body as the server computes it. The client sends a
// hash of its result; if it differs the client gets the state, with the causes that it could not
// know.
#pragma once

#include "core/wire/message.h"
#include "core/wire/net.h"
#include "core/world/replicate/geometry.h"
#include "core/world/session/input.h"

typedef struct Session Session;
typedef struct Sessions Sessions;

// What a client predicted for a tick, and the server's result; by tick % INPUT_BUFFER.
typedef struct PredictionCheck {
    uint32_t seq;   // of the input
    uint32_t hash;  // 0: none
    uint32_t frame; // the last one that the client had processed then
} PredictionCheck;

typedef struct Prediction {
    bool wanted;            // send the state with the next frame
    bool alive;             // after the last step
    uint64_t sent_tick;     // of the last state sent
    uint32_t frame;         // of the last correction: predictions from before it arrived are stale
    uint32_t hash;          // character_state_hash when the last step was over; 0: no body
    uint64_t cause_tick[8]; // by bit of NetCause: when it last happened; 0: never
    uint64_t match_tick;    // after this step both agreed
    uint64_t match_known;   // and the client had the world up to here
    PredictionCheck predicted[INPUT_BUFFER];
    PredictionCheck truth[INPUT_BUFFER];
} Prediction;

void prediction_reset(Sessions *sessions, Session *session); // a new body, or a new client for it
void prediction_cause(const Sessions *sessions, Session *session, NetCause cause);
// The client reported what it predicted after an input.
void prediction_reported(Sessions *sessions, Session *session, const MessageInputBatch *batch);
void prediction_before_step(Sessions *sessions, Session *session);
void prediction_after_step(Sessions *sessions, Session *session);
// What changed in this tick: sessions nearby may have predicted without it.
void prediction_geometry(Sessions *sessions, const Geometry *geometry);
// The state for the next frame, if one is to be sent.
bool prediction_state(Sessions *sessions, Session *session, NetOwn *out);

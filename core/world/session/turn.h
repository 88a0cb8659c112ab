// Bodies that scripts turn: see turn.c.
#pragma once

#include "core/wire/message.h"

#include <stdbool.h>
#include <stdint.h>

typedef struct Session Session;
typedef struct Sessions Sessions;

// Where a script has made the body look.
typedef struct SessionTurn {
    bool is_on;          // inputs look there
    uint64_t yaw;        // as in an input
    uint32_t frame;      // the client knows once it has confirmed this one
    uint64_t until_tick; // of the last input that it made before; 0: not known yet
    uint64_t end_tick;   // it is over then, whatever the client confirms
    float look_yaw;      // of the input for the step to look_tick
    uint64_t look_tick;
} SessionTurn;

// For the input of each step; `is_new` if it is one that was not used before.
void turn_take_input(Session *session, bool is_new, uint64_t tick, WireInputFrame *frame);
// A frame was confirmed; the inputs that came with it are not in the buffer yet.
void turn_confirm(Session *session, uint64_t now);
// Tells the client if a script has turned its body since the input was set.
void turn_before_step(Sessions *sessions, Session *session);

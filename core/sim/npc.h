// NPC minds: what they perceive, how suspicious they are, where they go. An NPC is a character that
// gives itself inputs, so it moves by the same rules as a player.
#pragma once

#include "core/base/arena.h"
#include "core/sim/sim.h"
#include "core/sim/state.h"

typedef enum NpcState {
    NPC_IDLE,
    NPC_SUSPICIOUS,
    NPC_ALERT,
    NPC_SEARCHING,
    NPC_STATE_COUNT
} NpcState;

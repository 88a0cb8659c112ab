// What scripts want to happen outside the world: messages, chat, sounds, stored data. A bounded
// queue that the owner reads once per tick and then clears; texts and payloads are in the queue's
// own bytes and valid until then. An effect that does not fit is STATUS_LIMIT and counted.
#pragma once

#include "core/base/arena.h"
#include "core/base/limits.h"
#include "core/script/runtime/script_world.h"

typedef enum EffectType {
    EFFECT_MESSAGE,
    EFFECT_CHAT,
    EFFECT_SOUND,
    EFFECT_MOMENT,
    EFFECT_STORE,
    EFFECT_KICK
} EffectType;

typedef struct Effect {
    EffectType type;
    uint32_t maker;     // the script, as ScriptWorld.caller
    uint64_t player_id; // on the server the receiver, 0: everybody; on a client its own player
    Text text;          // chat: the message; kick: the reason
    ScriptMessage message;
    StoreRequest store;
    Moment moment;
    ScriptSound sound;
} Effect;

typedef struct EffectQueue {
    Effect *items;
    uint32_t count, effect_max;
    uint8_t *bytes;
    size_t bytes_used, bytes_max;
    uint64_t dropped_count;
    uint32_t maker; // the script of the next effect; 0: none, which has no limit
    uint32_t maker_counts[SIM_MAKERS_MAX + 1], maker_bytes[SIM_MAKERS_MAX + 1];
} EffectQueue;

size_t effect_bytes(uint32_t effect_max, size_t bytes_max);
MUST_USE Status effect_init(EffectQueue *queue, Arena *arena, uint32_t effect_max,
                            size_t bytes_max);
void effect_clear(EffectQueue *queue);

// STATUS_RANGE for a size or number outside its limits, STATUS_MALFORMED for invalid text (text.h),
// STATUS_LIMIT if the queue is full.
MUST_USE Status effect_message(EffectQueue *queue, const ScriptMessage *message);
MUST_USE Status effect_chat(EffectQueue *queue, Text text, uint64_t player_id);
MUST_USE Status effect_moment(EffectQueue *queue, const Moment *moment, uint64_t player_id);
MUST_USE Status effect_sound(EffectQueue *queue, const ScriptSound *sound);
// STATUS_RANGE or STATUS_MALFORMED as above, without an effect.
MUST_USE Status effect_sound_check(const ScriptSound *sound);
MUST_USE Status effect_kick(EffectQueue *queue, Text reason, uint64_t player_id);
MUST_USE Status effect_store(EffectQueue *queue, const StoreRequest *request);

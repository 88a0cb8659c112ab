// Effects of scripts on the world outside; see effect.h.
#include "core/script/bridge/effect.h"

#include "core/base/check.h"
#include "core/base/fair_share.h"
#include "core/base/text.h"
#include "core/script/runtime/value.h"

#include <string.h>

size_t effect_bytes(uint32_t effect_max, size_t bytes_max)
{
    return arena_need(effect_max * sizeof(Effect)) + arena_need(bytes_max);
}

Status effect_init(EffectQueue *queue, Arena *arena, uint32_t effect_max, size_t bytes_max)
{
    *queue = (EffectQueue){.effect_max = effect_max, .bytes_max = bytes_max};
    queue->items = arena_array(arena, effect_max, sizeof(Effect));
    queue->bytes = arena_alloc(arena, bytes_max);
    return queue->items == NULL || queue->bytes == NULL ? STATUS_LIMIT : STATUS_OK;
}

void effect_clear(EffectQueue *queue)
{
    if (queue->count > 0) { // else all of it is zero; most ticks have none
        memset(queue->maker_counts, 0, sizeof queue->maker_counts);
        memset(queue->maker_bytes, 0, sizeof queue->maker_bytes);
    }
    queue->count = 0;
    queue->bytes_used = 0;
}

static Status text_check(Text text, size_t bytes_min, size_t bytes_max)
{
    if (text.bytes < bytes_min || text.bytes > bytes_max) {
        return STATUS_RANGE;
    }
    return text_is_valid(text.data, text.bytes) ? STATUS_OK : STATUS_MALFORMED;
}

// Reserves room for one more with so many bytes; everything after this succeeds.
static Status reserve(EffectQueue *queue, size_t bytes, Effect **out)
{
    const uint32_t maker = queue->maker;
    const bool is_fair =
        maker == 0 ||
        (fair_share_allows(queue->maker_counts[maker], queue->count, queue->effect_max) &&
         fair_share_allows(queue->maker_bytes[maker], queue->bytes_used, queue->bytes_max));
    if (!is_fair || queue->count == queue->effect_max ||
        bytes > queue->bytes_max - queue->bytes_used) {
        queue->dropped_count += 1;
        return STATUS_LIMIT;
    }
    *out = &queue->items[queue->count++];
    **out = (Effect){.maker = maker};
    queue->maker_counts[maker] += 1;
    queue->maker_bytes[maker] += (uint32_t)bytes;
    return STATUS_OK;
}

static const uint8_t *keep_bytes(EffectQueue *queue, const void *data, size_t bytes)
{
    uint8_t *kept = queue->bytes + queue->bytes_used;
    ASSERT(bytes <= queue->bytes_max - queue->bytes_used);
    if (bytes > 0) {
        memcpy(kept, data, bytes);
    }
    queue->bytes_used += bytes;
    return kept;
}

static Text keep_text(EffectQueue *queue, Text text)
{
    return (Text){(const char *)keep_bytes(queue, text.data, text.bytes), text.bytes};
}

Status effect_message(EffectQueue *queue, const ScriptMessage *message)
{
    const Status checked = text_check(message->name, 1, WORLD_NAME_BYTES_MAX);
    if (checked != STATUS_OK) {
        return checked;
    }
    if (message->payload_bytes > VALUE_BYTES_MAX) {
        return STATUS_RANGE;
    }
    Effect *effect = NULL;
    const Status status = reserve(queue, message->name.bytes + message->payload_bytes, &effect);
    if (status != STATUS_OK) {
        return status;
    }
    effect->type = EFFECT_MESSAGE;
    effect->player_id = message->player_id;
    effect->message = *message;
    effect->message.name = keep_text(queue, message->name);
    effect->message.payload = keep_bytes(queue, message->payload, message->payload_bytes);
    return STATUS_OK;
}

Status effect_chat(EffectQueue *queue, Text text, uint64_t player_id)
{
    const Status checked = text_check(text, 1, CHAT_BYTES_MAX);
    if (checked != STATUS_OK) {
        return checked;
    }
    Effect *effect = NULL;
    const Status status = reserve(queue, text.bytes, &effect);
    if (status != STATUS_OK) {
        return status;
    }
    effect->type = EFFECT_CHAT;
    effect->player_id = player_id;
    effect->text = keep_text(queue, text);
    return STATUS_OK;
}

Status effect_kick(EffectQueue *queue, Text reason, uint64_t player_id)
{
    const Status checked = text_check(reason, 0, KICK_REASON_BYTES_MAX);
    if (checked != STATUS_OK) {
        return checked;
    }
    Effect *effect = NULL;
    const Status status = reserve(queue, reason.bytes, &effect);
    if (status != STATUS_OK) {
        return status;
    }
    effect->type = EFFECT_KICK;
    effect->player_id = player_id;
    effect->text = keep_text(queue, reason);
    return STATUS_OK;
}

Status effect_sound_check(const ScriptSound *sound)
{
    const bool is_named = sound->act == SCRIPT_SOUND_PLAY;
    Status checked = text_check(sound->name, is_named ? 1 : 0, SOUND_NAME_BYTES_MAX);
    if (checked == STATUS_OK) {
        checked = text_check(sound->caption, 0, SOUND_CAPTION_BYTES_MAX);
    }
    if (checked != STATUS_OK || sound->act == SCRIPT_SOUND_STOP ||
        sound->act == SCRIPT_SOUND_FORGET) {
        return checked;
    }
    const bool is_good = sound->volume >= 0 && sound->volume <= 1 &&
                         sound->pitch >= SOUND_PITCH_MIN && sound->pitch <= SOUND_PITCH_MAX &&
                         sound->fade_seconds >= 0 &&
                         sound->fade_seconds <= SOUND_FADE_SECONDS_MAX &&
                         (!sound->has_position || vec3_is_finite(sound->position));
    return is_good ? STATUS_OK : STATUS_RANGE;
}

Status effect_sound(EffectQueue *queue, const ScriptSound *sound)
{
    const Status checked = effect_sound_check(sound);
    if (checked != STATUS_OK) {
        return checked;
    }
    Effect *effect = NULL;
    const Status status = reserve(queue, sound->name.bytes + sound->caption.bytes, &effect);
    if (status != STATUS_OK) {
        return status;
    }
    effect->type = EFFECT_SOUND;
    effect->player_id = sound->player_id;
    effect->sound = *sound;
    effect->sound.name = keep_text(queue, sound->name);
    effect->sound.caption = keep_text(queue, sound->caption);
    return STATUS_OK;
}

Status effect_moment(EffectQueue *queue, const Moment *moment, uint64_t player_id)
{
    if (!moment_is_valid(moment)) {
        return STATUS_RANGE;
    }
    Effect *effect = NULL;
    const Status status = reserve(queue, 0, &effect);
    if (status != STATUS_OK) {
        return status;
    }
    effect->type = EFFECT_MOMENT;
    effect->player_id = player_id;
    effect->moment = *moment;
    return STATUS_OK;
}

Status effect_store(EffectQueue *queue, const StoreRequest *request)
{
    Status checked = text_check(request->store, 1, WORLD_NAME_BYTES_MAX);
    if (checked == STATUS_OK) {
        // Sorted reads are of a whole store.
        checked = text_check(request->key, request->operation == STORE_SORTED ? 0 : 1,
                             STORE_KEY_BYTES_MAX);
    }
    if (checked == STATUS_OK &&
        (request->value_bytes > VALUE_BYTES_MAX || !(request->number - request->number == 0))) {
        checked = STATUS_RANGE;
    }
    if (checked != STATUS_OK) {
        return checked;
    }
    Effect *effect = NULL;
    const size_t bytes = request->store.bytes + request->key.bytes + request->value_bytes;
    const Status status = reserve(queue, bytes, &effect);
    if (status != STATUS_OK) {
        return status;
    }
    effect->type = EFFECT_STORE;
    effect->store = *request;
    effect->store.store = keep_text(queue, request->store);
    effect->store.key = keep_text(queue, request->key);
    effect->store.value = keep_bytes(queue, request->value, request->value_bytes);
    return STATUS_OK;
}

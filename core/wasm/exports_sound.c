// What a page plays. See exports.c for how results are given back.
#include "core/base/json_member.h"
#include "core/wasm/exports_inside.h"

// For how long the others have heard it.
static double age_seconds(const Client *client, const ScriptSound *sound)
{
    const Place *place = client_place(client);
    const double ticks = client_view_time(client) - (double)sound->since_tick;
    return place == NULL || sound->act != SCRIPT_SOUND_MUSIC || ticks < 0
               ? 0
               : ticks / (double)place->tick_rate;
}

static void write_sound(JsonWriter *json, const Client *client, const ScriptSound *sound)
{
    static const char *const acts[] = {"play", "change", "stop", "music", "forget"};
    json_write_object_begin(json);
    json_write_name(json, "act");
    json_write_text(json, acts[sound->act]);
    json_member_bool(json, "own", sound->is_own);
    json_member_number(json, "id", sound->id);
    json_member_text(json, "name", sound->name);
    json_member_text(json, "caption", sound->caption);
    json_member_bool(json, "loop", sound->loop);
    json_member_number(json, "entity", (double)sound->entity);
    if (sound->has_position) {
        json_write_name(json, "p");
        json_write_array_begin(json);
        json_write_number(json, (double)sound->position.x);
        json_write_number(json, (double)sound->position.y);
        json_write_number(json, (double)sound->position.z);
        json_write_array_end(json);
    }
    json_member_number(json, "volume", (double)sound->volume);
    json_member_number(json, "pitch", (double)sound->pitch);
    json_member_number(json, "fade", (double)sound->fade_seconds);
    json_member_number(json, "age", age_seconds(client, sound));
    json_write_object_end(json);
}

// The next sound that ends by itself, or a change of one, as an object; NULL: no more. To be asked
// after every clientUpdate.
EXPORT("clientSound") const void *export_client_sound(Client *client)
{
    View *view = client_script_view(client);
    const ScriptSound *sound = view == NULL ? NULL : view_sound_take(view);
    if (sound == NULL) {
        return NULL;
    }
    ByteWriter writer;
    JsonWriter json = exports_begin_json(&writer);
    write_sound(&json, client, sound);
    return exports_end_json(&json, &writer);
}

// A number that changes with the sounds that go on.
EXPORT("clientSoundsChange") double export_client_sounds_change(Client *client)
{
    const View *view = client_script_view(client);
    return view == NULL ? 0
                        : (double)view_sounds(view, false)->version +
                              (double)view_sounds(view, true)->version * 0x1p26;
}

// Those, {"loops": [...], "music": {...}}: the music of a script here comes before the server's.
EXPORT("clientSounds") const void *export_client_sounds(Client *client)
{
    const View *view = client_script_view(client);
    ByteWriter writer;
    JsonWriter json = exports_begin_json(&writer);
    json_write_object_begin(&json);
    json_write_name(&json, "loops");
    json_write_array_begin(&json);
    for (uint32_t i = 0; i < 2 * SOUND_LOOPS_MAX && view != NULL; i++) {
        const SoundLoop *loop = &view_sounds(view, i % 2 != 0)->loops[i / 2];
        if (loop->version != 0) {
            write_sound(&json, client, &loop->sound);
        }
    }
    json_write_array_end(&json);
    for (uint32_t i = 0; i < 2 && view != NULL; i++) {
        const SoundLoop *music = &view_sounds(view, i == 0)->music;
        if (music->version != 0 && music->sound.name.bytes > 0) {
            json_write_name(&json, "music");
            write_sound(&json, client, &music->sound);
            break;
        }
    }
    json_write_object_end(&json);
    return exports_end_json(&json, &writer);
}

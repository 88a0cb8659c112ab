// What a player does on this screen, as scripts see it: keys and buttons by name, with
// Input.Pressed and Input.Released for each change, and the widgets that scripts show.
#include "core/base/bytes.h"
#include "core/base/text.h"
#include "core/client/client_inside.h"

void client_set_key(Client *client, Text name, bool down)
{
    ClientScript *script = &client->script;
    ViewKey changed;
    if (script->system == NULL || view_set_key(script->view, name, down, &changed) != STATUS_OK ||
        changed.bytes == 0) {
        return;
    }
    const ScriptEvent event = {
        .type = SCRIPT_EVENT_INPUT, .name = {changed.shown, changed.bytes}, .value = down ? 1 : 0};
    // A queue that is full counts what it loses; the key is down all the same.
    (void)!script_event(script->system, &event);
}

static Text button_name(const Client *client, uint32_t bit)
{
    static const char *const own[] = {"Jump", "Run", "Fire", "Use"};
    const uint32_t own_count = sizeof own / sizeof *own;
    if (1u << bit == INPUT_CROUCH) {
        return text_from("Crouch");
    }
    if (bit < own_count) {
        return text_from(own[bit]);
    }
    const Place *place = client->place;
    const uint32_t action = bit - own_count;
    return place != NULL && action < place->action_count ? place->actions[action] : (Text){"", 0};
}

void client_script_buttons(Client *client, uint32_t before, uint32_t after)
{
    for (uint32_t bit = 0; bit < 32; bit++) {
        if (((before ^ after) >> bit & 1) != 0) {
            client_set_key(client, button_name(client, bit), (after >> bit & 1) != 0);
        }
    }
}

uint32_t client_buttons_used(const Client *client)
{
    const ClientScript *script = &client->script;
    const bool has_weapon = client->place != NULL && client->place->weapon_count > 0;
    if (script->system == NULL) {
        return has_weapon ? INPUT_FIRE : 0u;
    }
    const bool listens = script_listens(script->system, "Input.Pressed") ||
                         script_listens(script->system, "Input.Released");
    return (has_weapon || listens || view_asks_fire(script->view) ? INPUT_FIRE : 0u) |
           (listens || view_asks_use(script->view) ? INPUT_USE : 0u);
}

void client_use_widget(Client *client, uint64_t owner, uint64_t entity, double handler, Text typed)
{
    enum { LIST = 6, TEXT = 5 }; // value.h
    if (client->script.system == NULL || typed.bytes > UI_TEXT_BYTES_MAX ||
        !text_is_valid(typed.data, typed.bytes)) {
        return;
    }
    uint8_t payload[UI_TEXT_BYTES_MAX + 8];
    ByteWriter writer = byte_writer(payload, sizeof payload);
    if (typed.data != NULL) {
        byte_write_u8(&writer, LIST);
        byte_write_u8(&writer, 1);
        byte_write_u8(&writer, TEXT);
        byte_write_varint(&writer, typed.bytes);
        byte_write_bytes(&writer, typed.data, typed.bytes);
    }
    const ScriptEvent event = {.type = SCRIPT_EVENT_UI,
                               .other = owner,
                               .entity = entity,
                               .value = handler,
                               .payload = payload,
                               .payload_bytes = writer.at};
    (void)!script_event(client->script.system, &event); // what a full queue loses is counted
}

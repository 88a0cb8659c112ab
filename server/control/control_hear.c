// What other processes on the same store have changed. Sign-ins are forgotten, and read again when
// they are shown; the other lists are short and read whole.
#include "server/control/control_inside.h"
#include "server/store/world/store_event.h"

static void hear_all(Control *control)
{
    static const StoreEventKind kinds[] = {EVENT_CHAT, EVENT_ADDRESSES, EVENT_CLASSES,
                                           EVENT_HOST_KEYS, EVENT_SETTING};
    sign_ins_forget_all(control);
    status_ignore(bans_reload(control, 0));
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        control_hear(control, &(StoreEvent){.kind = kinds[i]});
    }
}

// What cannot be read now is read with the next event, or at the next start.
void control_hear(Control *control, const StoreEvent *event)
{
    const uint64_t number = store_event_number(event);
    switch (event->kind) {
    case EVENT_ALL:
        hear_all(control);
        break;
    case EVENT_SIGN_IN:
        if (event->bytes == TOKEN_HASH_BYTES) {
            sign_in_forget(control, event->subject);
        }
        break;
    case EVENT_ACCOUNT:
        sign_ins_forget(control, number, NULL);
        break;
    case EVENT_BAN:
        status_ignore(bans_reload(control, number));
        break;
    case EVENT_CHAT:
        status_ignore(chat_reload(control));
        break;
    case EVENT_BLOCKS:
        status_ignore(chat_reload(control));
        chat_note_blocks(control, number);
        break;
    case EVENT_ADDRESSES:
        status_ignore(address_bans_reload(control));
        break;
    case EVENT_CLASSES:
        status_ignore(classes_reload(control));
        break;
    case EVENT_HOST_KEYS:
        status_ignore(host_keys_reload(control));
        break;
    case EVENT_SETTING:
        status_ignore(live_settings_reload(control)); // few, so all of them
        break;
    default: // not kept here
        break;
    }
}

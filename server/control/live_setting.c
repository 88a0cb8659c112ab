// Settings that an operator changes while the server runs. They are kept in the data folder
// (settings.h), and where several hosts share a store also there: a row of the store counts more,
// and the others hear of it (EVENT_SETTING).
#include "server/control/control_inside.h"
#include "server/control/settings/settings.h"
#include "server/store/people/store_setting.h"
#include "server/store/place/store_listing.h"

#include <string.h>

static Status apply_registration(Control *control, const char *value)
{
    pthread_mutex_lock(&control->lock);
    control->is_open = strcmp(value, "open") == 0;
    pthread_mutex_unlock(&control->lock);
    return STATUS_OK;
}

static Status apply_approves(Control *control, const char *value)
{
    const bool approves = strcmp(value, "yes") == 0;
    const Status status = store_listing_require_approval(control->config.store, approves);
    if (status == STATUS_OK) {
        pthread_mutex_lock(&control->lock);
        control->approves = approves;
        pthread_mutex_unlock(&control->lock);
    }
    return status;
}

static Status apply_chat(Control *control, const char *value)
{
    ChatRule rule;
    if (!chat_rule_read(text_from(value), &rule)) {
        return STATUS_MALFORMED;
    }
    chat_apply(control, rule);
    return STATUS_OK;
}

static Status apply_guest_chat(Control *control, const char *value)
{
    ChatRule rule;
    if (!chat_rule_read(text_from(value), &rule)) {
        return STATUS_MALFORMED;
    }
    chat_apply_guests(control, rule);
    return STATUS_OK;
}

static const struct LiveSetting {
    const char *name;
    Status (*apply)(Control *control, const char *value);
} live_settings[] = {{"registration", apply_registration},
                     {"approve_listing", apply_approves},
                     {"chat", apply_chat},
                     {"guest_chat", apply_guest_chat}};
#define LIVE_COUNT (sizeof live_settings / sizeof live_settings[0])

static Status keep_value(Control *control, const char *name, const char *value)
{
    char reason[SETTINGS_REASON_BYTES];
    const Status status = control->config.data == NULL
                              ? STATUS_OK
                              : settings_operator_set(control->config.data, name, value, reason);
    return status == STATUS_OK && control->config.is_shared
               ? store_setting_put(control->config.store, name, value)
               : status;
}

Status live_setting_set(Control *control, const char *name, const char *value)
{
    const Status status = keep_value(control, name, value);
    for (size_t i = 0; i < LIVE_COUNT && status == STATUS_OK; i++) {
        if (strcmp(live_settings[i].name, name) == 0) {
            return live_settings[i].apply(control, value);
        }
    }
    return status == STATUS_OK ? STATUS_NOT_FOUND : status;
}

// A value that this version does not know is left alone.
Status live_settings_reload(Control *control)
{
    Status status = STATUS_OK;
    for (size_t i = 0; i < LIVE_COUNT && status == STATUS_OK; i++) {
        char value[STORE_SETTING_BYTES];
        status = store_setting_find(control->config.store, live_settings[i].name, value);
        if (status == STATUS_OK) {
            status = live_settings[i].apply(control, value);
        }
        status = status == STATUS_NOT_FOUND || status == STATUS_MALFORMED ? STATUS_OK : status;
    }
    return status;
}

Status live_settings_open(Control *control)
{
    Status status = STATUS_OK;
    for (size_t i = 0; i < LIVE_COUNT && status == STATUS_OK && control->config.data != NULL; i++) {
        const char *name = live_settings[i].name;
        char value[STORE_SETTING_BYTES];
        status = store_setting_find(control->config.store, name, value);
        if (status == STATUS_NOT_FOUND) {
            settings_operator_get(control->config.data, name, value, sizeof value);
            status = value[0] != '\0' ? store_setting_put(control->config.store, name, value)
                                      : STATUS_OK;
        }
    }
    return status == STATUS_OK ? live_settings_reload(control) : status;
}

// The keys and actions that are down, by names that scripts use: "W", "7", "Space", "Shift", "Up",
// "Fire". The names that browsers have for places on the keyboard ("KeyW", "Digit7", "ShiftLeft",
// "ArrowUp") mean the same. Capital letters make no difference.
#include "core/script/bridge/view_inside.h"

#include <string.h>

static char lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

static bool starts(Text name, const char *with)
{
    const size_t bytes = strlen(with);
    for (size_t i = 0; i < bytes; i++) {
        if (i >= name.bytes || lower(name.data[i]) != with[i]) {
            return false;
        }
    }
    return true;
}

static bool ends(Text name, const char *with)
{
    const size_t bytes = strlen(with);
    return name.bytes > bytes && starts((Text){name.data + name.bytes - bytes, bytes}, with);
}

// The part of a browser's name that is the name for scripts.
static Text plain_name(Text name)
{
    static const char *const held[] = {"shift", "control", "alt", "meta"};
    static const struct {
        const char *prefix;
        size_t left; // how many bytes follow it; 0: any
    } cut[] = {{"key", 1}, {"digit", 1}, {"arrow", 0}};
    for (uint32_t i = 0; i < sizeof cut / sizeof *cut; i++) {
        const size_t bytes = strlen(cut[i].prefix);
        if (starts(name, cut[i].prefix) && name.bytes > bytes &&
            (cut[i].left == 0 || name.bytes == bytes + cut[i].left)) {
            return (Text){name.data + bytes, name.bytes - bytes};
        }
    }
    for (uint32_t i = 0; i < sizeof held / sizeof *held; i++) {
        if (starts(name, held[i]) && (ends(name, "left") || ends(name, "right"))) {
            return (Text){name.data, strlen(held[i])};
        }
    }
    return name;
}

bool view_key_make(Text name, ViewKey *out)
{
    const Text plain = plain_name(name);
    if (plain.bytes < 1 || plain.bytes > VIEW_KEY_BYTES) {
        return false;
    }
    *out = (ViewKey){.bytes = (uint8_t)plain.bytes};
    for (size_t i = 0; i < plain.bytes; i++) {
        out->name[i] = lower(plain.data[i]);
        out->shown[i] = plain.data[i];
    }
    if (plain.bytes == 1 && out->name[0] >= 'a' && out->name[0] <= 'z') {
        out->shown[0] = (char)(out->name[0] - 'a' + 'A');
    }
    return true;
}

static uint32_t find_key(const View *view, const ViewKey *key)
{
    uint32_t at = 0;
    while (at < view->key_count && (view->keys[at].bytes != key->bytes ||
                                    memcmp(view->keys[at].name, key->name, key->bytes) != 0)) {
        at += 1;
    }
    return at;
}

bool view_key_is_down(View *view, Text name)
{
    ViewKey key;
    if (!view_key_make(name, &key)) {
        return false;
    }
    view->asks_fire = view->asks_fire || (key.bytes == 4 && memcmp(key.name, "fire", 4) == 0);
    view->asks_use = view->asks_use || (key.bytes == 3 && memcmp(key.name, "use", 3) == 0);
    return find_key(view, &key) < view->key_count;
}

bool view_asks_fire(const View *view)
{
    return view->asks_fire;
}

bool view_asks_use(const View *view)
{
    return view->asks_use;
}

Status view_set_key(View *view, Text name, bool down, ViewKey *changed)
{
    *changed = (ViewKey){0};
    ViewKey key;
    if (!view_key_make(name, &key)) {
        return STATUS_RANGE;
    }
    const uint32_t at = find_key(view, &key);
    if (down == (at < view->key_count)) {
        return STATUS_OK;
    }
    if (down && view->key_count == VIEW_KEYS_MAX) {
        return STATUS_LIMIT;
    }
    if (down) {
        view->keys[view->key_count++] = key;
        *changed = key;
        return STATUS_OK;
    }
    *changed = view->keys[at];
    view->key_count -= 1;
    view->keys[at] = view->keys[view->key_count];
    return STATUS_OK;
}

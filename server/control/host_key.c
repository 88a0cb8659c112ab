// See host_key.h. All of them are in memory; a change is in the store first.
#include "server/control/control_inside.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void add_key(void *user, const StoreHostKey *key)
{
    struct HostKeys *keys = &((Control *)user)->host_keys;
    if (keys->count < HOST_KEYS_MAX) {
        keys->items[keys->count++] = *key;
    }
}

Status host_keys_read(Control *control)
{
    control->host_keys.items = calloc(HOST_KEYS_MAX, sizeof(StoreHostKey));
    return control->host_keys.items != NULL
               ? store_host_keys(control->config.store, add_key, control)
               : STATUS_LIMIT;
}

Status host_keys_reload(Control *control)
{
    Control fresh = {.config = control->config};
    const Status status = host_keys_read(&fresh);
    if (status == STATUS_OK) {
        pthread_mutex_lock(&control->lock);
        const struct HostKeys before = control->host_keys;
        control->host_keys = fresh.host_keys;
        fresh.host_keys = before;
        pthread_mutex_unlock(&control->lock);
    }
    host_keys_free(&fresh);
    return status;
}

void host_keys_free(Control *control)
{
    free(control->host_keys.items);
}

Status host_key_make(Control *control, const char *name, uint64_t maker, StoreHostKey *out,
                     char token[TOKEN_TEXT_BYTES])
{
    StoreHostKey key = {.maker_id = maker, .created_unix_ms = control_now(control)};
    snprintf(key.name, sizeof key.name, "%s", name);
    token_make(token);
    token_hash(control->config.secret, "host-key", token, key.key_hash);
    pthread_mutex_lock(&control->lock);
    const bool has_room = control->host_keys.count < HOST_KEYS_MAX;
    pthread_mutex_unlock(&control->lock);
    Status status = has_room ? store_host_key_put(control->config.store, &key) : STATUS_LIMIT;
    if (status == STATUS_OK) {
        pthread_mutex_lock(&control->lock);
        add_key(control, &key);
        pthread_mutex_unlock(&control->lock);
        *out = key;
    }
    return status;
}

static StoreHostKey *find_id(Control *control, const char *id)
{
    for (uint32_t i = 0; i < control->host_keys.count; i++) {
        char own[STORE_HOST_KEY_ID_BYTES];
        store_host_key_id(control->host_keys.items[i].key_hash, own);
        if (strcmp(own, id) == 0) {
            return &control->host_keys.items[i];
        }
    }
    return NULL;
}

// Out of memory first, so that nothing is let in that has lost its row.
Status host_key_revoke(Control *control, const char *id)
{
    struct HostKeys *keys = &control->host_keys;
    StoreHostKey key = {.maker_id = 0};
    pthread_mutex_lock(&control->lock);
    StoreHostKey *found = find_id(control, id);
    if (found != NULL) {
        key = *found;
        *found = keys->items[--keys->count];
    }
    pthread_mutex_unlock(&control->lock);
    if (found == NULL) {
        return STATUS_NOT_FOUND;
    }
    const Status status = store_host_key_delete(control->config.store, key.key_hash);
    if (status != STATUS_OK && status != STATUS_NOT_FOUND) { // it would be back after a restart
        pthread_mutex_lock(&control->lock);
        add_key(control, &key);
        pthread_mutex_unlock(&control->lock);
        return status;
    }
    return STATUS_OK;
}

Status host_key_of_token(Control *control, const char *token, StoreHostKey *out)
{
    uint8_t hash[TOKEN_HASH_BYTES];
    token_hash(control->config.secret, "host-key", token, hash);
    Status status = STATUS_DENIED;
    pthread_mutex_lock(&control->lock);
    for (uint32_t i = 0; i < control->host_keys.count && status != STATUS_OK; i++) {
        StoreHostKey *key = &control->host_keys.items[i];
        if (token_hash_equal(key->key_hash, hash)) {
            key->used_unix_ms = control_now(control);
            *out = *key;
            status = STATUS_OK;
        }
    }
    control->stats.refused += status != STATUS_OK;
    pthread_mutex_unlock(&control->lock);
    return status;
}

uint32_t host_key_list(Control *control, StoreHostKey *out, uint32_t max)
{
    pthread_mutex_lock(&control->lock);
    const uint32_t count = control->host_keys.count < max ? control->host_keys.count : max;
    memcpy(out, control->host_keys.items, count * sizeof *out);
    pthread_mutex_unlock(&control->lock);
    return count;
}

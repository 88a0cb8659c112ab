// Keys of hosts: machines that run worlds for this installation. An operator makes one, copies it
// to the machine, and can revoke it; only its hash is kept. A key says which machine asks, and that
// the operator lets it run worlds. It signs nothing and lets nobody in.
#pragma once

#include "server/control/token.h"
#include "server/store/people/store_host_key.h"

#define HOST_KEYS_MAX 1024

typedef struct Control Control;

// The name is for people (name_text.h). STATUS_LIMIT: there are too many. Waits for the disk.
MUST_USE Status host_key_make(Control *control, const char *name, uint64_t maker, StoreHostKey *out,
                              char token[TOKEN_TEXT_BYTES]);
// By its id (store_host_key_id). What its hosts hold can be taken by others from then on, and they
// are refused. STATUS_NOT_FOUND. Waits for the disk.
MUST_USE Status host_key_revoke(Control *control, const char *id);
// Does not wait. STATUS_DENIED: it is none (any more).
MUST_USE Status host_key_of_token(Control *control, const char *token, StoreHostKey *out);
uint32_t host_key_list(Control *control, StoreHostKey *out, uint32_t max);

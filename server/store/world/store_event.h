// What other processes on the same database have to hear: that something which they keep in memory
// has changed. Statements that change such a thing are noted (sql.h), and the note becomes a row of
// `events` in the same transaction, with an id that rises. A reader asks for what came after the
// last id that it has seen, twice a second.
//
// A store that nobody shares (StoreConfig.shared) writes no events.
#pragma once

#include "server/store/store.h"

// The subject says what was changed: an id as text, or a number (u64, as byte_write_u64 writes it).
typedef enum StoreEventKind {
    EVENT_ALL,       // too much happened, or the reader was away for too long: read all again
    EVENT_SIGN_IN,   // hash of a token: it has ended
    EVENT_ACCOUNT,   // number: roles, names, or all its sign-ins
    EVENT_BAN,       // number: bans and mutes of the account
    EVENT_CHAT,      // chat rules, words and phrases
    EVENT_BLOCKS,    // number: whom the account blocks
    EVENT_ADDRESSES, // banned ranges
    EVENT_CLASSES,   // pupils and places of classes
    EVENT_HOST_KEYS, // keys of hosts on other machines
    EVENT_PACKAGE,   // id: a channel names another revision, or the package is gone
    EVENT_WORLD,     // id: made, changed or deleted
    EVENT_KICK,      // "account world reason" (world "-": all)
    EVENT_SETTING,   // name of a setting that an operator changed
    EVENT_KIND_COUNT
} StoreEventKind;

#define STORE_EVENT_SUBJECT_BYTES 160
#define STORE_EVENTS_KEPT         1024

typedef struct StoreEvent {
    uint64_t id;
    StoreEventKind kind;
    uint8_t subject[STORE_EVENT_SUBJECT_BYTES];
    size_t bytes;
} StoreEvent;
uint64_t store_event_number(const StoreEvent *event); // 0: the subject is no number

// Puts one by itself, and waits for the disk.
MUST_USE Status store_event_put(Store *store, StoreEventKind kind, const void *subject,
                                size_t bytes);
// What came after that id from other processes, oldest first, at most max. *last becomes the id up
// to which everything was looked at. If events after the id were forgotten already, there is one of
// EVENT_ALL. Waits for the reader.
MUST_USE Status store_events_since(Store *store, uint64_t after, uint64_t *last, StoreEvent *out,
                                   uint32_t max, uint32_t *count);
// The id of the newest one, to begin with.
MUST_USE Status store_events_last(Store *store, uint64_t *last);

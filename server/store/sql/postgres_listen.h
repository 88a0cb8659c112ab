// A connection of its own on which PostgreSQL says that there are new events (store_event.h). It is
// a hint, and may be lost: whoever waits reads the rows in any case, and sooner with it.
#pragma once

#include <stdbool.h>
#include <stdint.h>

typedef struct PgListener PgListener;
PgListener *postgres_listen(const char *url); // NULL: no memory; nothing is connected yet
void postgres_listen_close(PgListener *listener);
// What the clock of the database says, less our monotonic clock, in milliseconds (clock_follow). It
// connects if it must. False: it does not answer soon.
bool postgres_listen_clock(PgListener *listener, int64_t *unix_minus_monotonic_ms);
// Whether Patroni manages this database: its connections say their name.
bool postgres_listen_is_patroni(PgListener *listener);
// Waits until there may be something to read: it was told so, has just connected, or `ms` are over.
// Without a connection that is `often_ms`. Ends at once when wake_fd can be read.
void postgres_listen_wait(PgListener *listener, int wake_fd, uint32_t ms, uint32_t often_ms);

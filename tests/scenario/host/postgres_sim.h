// A PostgreSQL server in simulated time, for seeds with several hosts. The store's own driver
// (server/store/sql/sql_postgres.c) runs unchanged: the functions of libpq that it calls are ours
// (postgres_sim.c), and what it sends goes to a server (postgres_server.c) that keeps committed
// rows in SQLite and does what PostgreSQL does to those who write at the same time:
//
//   - a transaction sees what was committed before each of its statements (READ COMMITTED), and its
//     own changes; a row that another one has changed is waited for, up to lock_timeout
//   - a backend goes on without its client: a flight that is on its way arrives, also seconds after
//     the client was cut off, and a COMMIT in it counts
//   - a transaction that says nothing for 10 s is ended
//   - the answer to a COMMIT can be lost, or come too late; in some seeds one in ten is
//   - a failover ends all transactions; one that was just committing is stored or not
//   - a server that stands still goes on where it was
//
// Each host's store runs in a fiber of its own: it stops where the driver waits for the network,
// and other hosts' flights come in between.
#pragma once

#include "core/base/rng.h"
#include "server/store/store.h"

typedef struct PgSimCounts {
    uint64_t flights, commits, unknown, late, lock_waits, lock_timeouts, deadlocks, idle_ended,
        failovers, freezes, late_marks, missed_fences;
} PgSimCounts;

// is_dense: many answers are lost, and many flights are late.
void pg_sim_open(Rng *rng, uint32_t clients, bool is_dense);
void pg_sim_close(void);
// The time, and whether anything goes wrong. What is due at the server happens.
void pg_sim_step(uint64_t now_us, bool is_calm);
// The address of one client, and the store that it opened; everything else is done at once.
const char *pg_sim_url(uint32_t client);
// Goes on with the store's batch, or begins one if `begins`. False: none is under way.
bool pg_sim_store(uint32_t client, Store *store, bool begins);
void pg_sim_kill(uint32_t client); // before store_crash
void pg_sim_cut(uint32_t client, uint64_t until_us);
void pg_sim_outage(uint64_t until_us, bool is_failover);
bool pg_sim_is_down(void);
const PgSimCounts *pg_sim_counts(void);

// A store in a temporary folder, and helpers of its tests: rows of every kind from a random number,
// waiting for completions, and all rows of a world in an order that can be compared.
#pragma once

#include "core/base/rng.h"
#include "core/world/save/row.h"
#include "server/store/store.h"

#define FIXTURE_ROWS_MAX 4096

typedef struct StoreFixture {
    char folder[64];
    char path[512];
    char schema[48]; // on a PostgreSQL server; "": SQLite
    StoreConfig config;
    Store *store;
    char reason[256];
} StoreFixture;

// The tests run on the PostgreSQL server that SANDLOT_TEST_STORE names. A test of what SQLite does
// to its file returns at once then.
bool fixture_is_server(void);
// The schema alone, for tests that open stores of their own: path is its URL.
bool fixture_server_begin(StoreFixture *fixture);
void fixture_server_end(StoreFixture *fixture);
// Makes the folder and opens; false (and the test has failed) if that does not work.
bool fixture_begin(StoreFixture *fixture);
void fixture_end(StoreFixture *fixture); // closes and removes everything
void fixture_remove(const char *folder); // with everything in it
MUST_USE Status fixture_open(StoreFixture *fixture);
void fixture_close(StoreFixture *fixture);
// Renews the row of a host, whose boot is that byte, and takes a world for it; the completion's
// status. The rows are not looked at.
#define FIXTURE_FOREVER (1ull << 50)
Status fixture_renew(StoreFixture *fixture, const char *host_id, uint8_t boot, uint64_t now,
                     uint64_t duration);
Status fixture_take(StoreFixture *fixture, const char *world_id, const char *host_id, uint8_t boot,
                    uint64_t now, uint64_t *epoch);
Status fixture_release(StoreFixture *fixture, const char *world_id, uint64_t epoch);
// A world that "host", whose row does not run out, holds; returns its epoch, 0 on failure.
uint64_t fixture_world(StoreFixture *fixture, const char *world_id);
// Runs SQL on the file; the store is closed meanwhile or not.
bool fixture_sql(StoreFixture *fixture, const char *text);
int64_t fixture_number(StoreFixture *fixture, const char *text); // that a query gives

// Waits for the next completion, at most ten seconds.
bool fixture_wait(StoreFixture *fixture, StoreCompletion *out);
// Saves and waits: the completion's status, or the one that store_save gave.
Status fixture_save(StoreFixture *fixture, const char *world_id, uint64_t epoch, uint64_t seq,
                    const ByteWriter *rows);

// A random valid row of any kind, not a deletion; few keys, so that rows replace each other.
void fixture_row(Rng *rng, ByteWriter *writer);

// All rows of a world, one after another in `bytes`, sorted.
typedef struct RowList {
    uint8_t *bytes;
    size_t byte_count, byte_max;
    size_t starts[FIXTURE_ROWS_MAX + 1];
    uint32_t count;
} RowList;
void row_list_init(RowList *list);
void row_list_free(RowList *list);
void row_list_clear(RowList *list);
// Takes the place of the row with the same type and key; one without a value removes it.
void row_list_put(RowList *list, const uint8_t *row, size_t bytes);
MUST_USE Status row_list_read(RowList *list, Store *store, const char *world_id);
// Characters belong to accounts: a world has those of whoever was in it.
void row_list_drop_profiles(RowList *list);
bool row_list_equal(const RowList *a, const RowList *b);

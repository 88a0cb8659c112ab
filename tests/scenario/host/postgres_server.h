// The server's half of postgres_sim.h.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SERVER_PARAMETERS_MAX 24

typedef enum ServerStatus {
    SERVER_OK,   // without rows
    SERVER_ROWS, // with some
    SERVER_ERROR,
    SERVER_SKIPPED, // an error came before it in the flight
} ServerStatus;

typedef struct ServerCell {
    bool is_null;
    int bytes;
    char *data; // malloc
} ServerCell;

typedef struct ServerResult {
    ServerStatus status;
    char state[6]; // SQLSTATE
    char changed[24];
    int row_count, column_count;
    unsigned types[24];
    ServerCell *cells;
} ServerResult;
void server_result_free(ServerResult *result);

typedef struct ServerText ServerText;
// One statement of a flight; its values are copies.
typedef struct ServerStatement {
    const ServerText *text; // NULL: a PREPARE
    char *values[SERVER_PARAMETERS_MAX];
    int lengths[SERVER_PARAMETERS_MAX];
} ServerStatement;

typedef struct ServerFlight {
    ServerStatement *statements;
    uint32_t count, max, at;
    ServerResult **results;
} ServerFlight;
ServerFlight *flight_make(void);
ServerStatement *flight_add(ServerFlight *flight, const ServerText *text);
void flight_free(ServerFlight *flight);
bool flight_commits(const ServerFlight *flight);

typedef struct Backend Backend;
void server_open(void);
void server_close(void);
const ServerText *server_text(const char *text, int parameter_count, const unsigned *types);
bool server_head(const char *world_id, uint64_t *epoch); // as committed; false: none
Backend *backend_make(void);
// Its transaction is rolled back, unless `keeps_commit` and it was committing.
void backend_end(Backend *backend, bool keeps_commit);
void backend_take(Backend *backend, ServerFlight *flight, uint64_t now_us);
typedef enum BackendState { BACKEND_IDLE, BACKEND_BUSY, BACKEND_ENDED } BackendState;
// Goes on with its flight. A COMMIT takes commit_us.
BackendState backend_step(Backend *backend, uint64_t now_us, uint64_t commit_us);
ServerFlight *backend_answer(Backend *backend); // the flight that is done; the caller's

typedef struct ServerCounts {
    uint64_t commits, lock_waits, lock_timeouts, deadlocks, idle_ended;
    uint64_t late_marks, missed_fences; // what undid an optimistic transaction
} ServerCounts;
extern ServerCounts server_counts;

// A connection to a PostgreSQL server: see sql_postgres.c. It is in libpq's pipeline mode all the
// time, and is made again when it broke off, by turns to each host of the URL. Statements are
// queued and then sent together: a flight.
#define _GNU_SOURCE
#include "server/store/sql/postgres_hosts.h"
#include "server/store/sql/postgres_inside.h"

#include "core/base/check.h"
#include "server/sys/clock.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define CONNECT_MS     700   // for each host of the URL
#define FIRST_MS       10000 // nobody waits yet
#define CONNECT_GAP_MS 300   // after none of them could be reached
#define LOCK_MS        "4000"
#define IDLE_MS        "10000" // a transaction of a process that stands still ends after that

// --- time, errors -------------------------------------------------------------------------------

void pg_note(Pg *pg, const char *text)
{
    size_t bytes = strcspn(text, "\n");
    bytes = bytes < sizeof pg->error_text - 1 ? bytes : sizeof pg->error_text - 1;
    memcpy(pg->error_text, text, bytes);
    pg->error_text[bytes] = '\0';
}

typedef struct StateError {
    const char *begin; // of the SQLSTATE
    SqlError error;
    bool is_broken; // the connection is of no more use
} StateError;

static const StateError state_errors[] = {
    {"53100", SQL_ERROR_FULL, false},
    {"22012", SQL_ERROR_NOT_RAISED, false}, // a division by zero, which only those statements have
    {"25006", SQL_ERROR_READ_ONLY, true},   // it became a standby
    {"XX001", SQL_ERROR_DAMAGED, false},    // damaged data
    {"XX002", SQL_ERROR_DAMAGED, false},    // a damaged index
    {"08", SQL_ERROR_DISK, true},           // the connection
    {"57", SQL_ERROR_DISK, true},           // the server stops, or cancelled the statement
    {"25P03", SQL_ERROR_DISK, true},        // the transaction was idle for too long
    {"25", SQL_ERROR_DISK, false},          // the state of the transaction
    {"53", SQL_ERROR_DISK, false},          // memory, connections
    {"58", SQL_ERROR_DISK, false},          // the system under it
    {"40", SQL_ERROR_DISK, false},          // a deadlock
    {"55", SQL_ERROR_DISK, false},          // a lock that was not given
    {"XX", SQL_ERROR_DISK, false},
};

static SqlError error_of(Pg *pg, const PGresult *result)
{
    const char *state = PQresultErrorField(result, PG_DIAG_SQLSTATE);
    const char *text = PQresultErrorField(result, PG_DIAG_MESSAGE_PRIMARY);
    pg_note(pg, text != NULL ? text : PQerrorMessage(pg->conn));
    if (state == NULL) {
        pg->is_broken = true;
        return SQL_ERROR_DISK;
    }
    for (size_t i = 0; i < sizeof state_errors / sizeof state_errors[0]; i++) {
        const StateError *entry = &state_errors[i];
        if (strncmp(state, entry->begin, strlen(entry->begin)) == 0) {
            pg->is_broken = pg->is_broken || entry->is_broken;
            return entry->error;
        }
    }
    return SQL_ERROR_MISFIT;
}

static SqlError broken(Pg *pg, const char *text)
{
    pg_note(pg, text);
    pg->is_broken = true;
    return SQL_ERROR_DISK;
}

// --- connecting ---------------------------------------------------------------------------------

#define PARAMETERS_MAX 48

// What the URL says, with one of its hosts.
typedef struct Parameters {
    const char *names[PARAMETERS_MAX + 1], *values[PARAMETERS_MAX + 1];
    uint32_t count;
    char host[256], hostaddr[64], port[16], options[1024];
} Parameters;

static void add_parameter(Parameters *all, const char *name, const char *value)
{
    ASSERT(all->count < PARAMETERS_MAX);
    all->names[all->count] = name;
    all->values[all->count++] = value;
}

static bool read_parameters(Pg *pg, uint32_t host, Parameters *out, PQconninfoOption **memory)
{
    char *error = NULL;
    PQconninfoOption *options = PQconninfoParse(pg->url, &error);
    *out = (Parameters){0};
    *memory = options;
    if (options == NULL) {
        pg_note(pg, error != NULL ? error : "out of memory");
        PQfreemem(error);
        return false;
    }
    const char *given = "";
    bool has_target = false;
    for (const PQconninfoOption *option = options; option->keyword != NULL; option++) {
        const char *name = option->keyword, *value = option->val;
        if (value == NULL) {
            continue;
        }
        if (strcmp(name, "host") == 0) {
            value = postgres_list_item(value, host, out->host, sizeof out->host);
        } else if (strcmp(name, "hostaddr") == 0) {
            value = postgres_list_item(value, host, out->hostaddr, sizeof out->hostaddr);
        } else if (strcmp(name, "port") == 0) {
            value = postgres_list_item(value, host, out->port, sizeof out->port);
        } else if (strcmp(name, "options") == 0) {
            given = value;
            continue;
        }
        has_target = has_target || strcmp(name, "target_session_attrs") == 0;
        add_parameter(out, name, value);
    }
    snprintf(out->options, sizeof out->options,
             "%s -c lock_timeout=" LOCK_MS " -c idle_in_transaction_session_timeout=" IDLE_MS
             " -c client_min_messages=error -c plan_cache_mode=force_generic_plan",
             given);
    add_parameter(out, "options", out->options);
    if (!has_target) {
        add_parameter(out, "target_session_attrs", "read-write");
    }
    add_parameter(out, "fallback_application_name", "sandlot");
    add_parameter(out, "client_encoding", "SQL_ASCII"); // texts of errors are shown as they come
    return true;
}

// libpq would write notices to standard error, between the lines of the log. An error that matters
// comes with a result as well.
void pg_be_quiet(void *user, const PGresult *result)
{
    (void)user, (void)result;
}

static bool wait_socket(Pg *pg, short events, double deadline)
{
    const double left = deadline - clock_ms();
    struct pollfd wait = {.fd = PQsocket(pg->conn), .events = events};
    if (wait.fd < 0 || left <= 0) {
        return false;
    }
    const int ready = poll(&wait, 1, (int)left + 1);
    return ready > 0 || (ready < 0 && errno == EINTR);
}

static bool connect_host(Pg *pg, uint32_t host)
{
    Parameters parameters;
    PQconninfoOption *memory = NULL;
    if (!read_parameters(pg, host, &parameters, &memory)) {
        return false;
    }
    const double deadline = clock_ms() + CONNECT_MS;
    pg->conn = PQconnectStartParams(parameters.names, parameters.values, 0);
    PQconninfoFree(memory);
    if (pg->conn != NULL) {
        (void)PQsetNoticeReceiver(pg->conn, pg_be_quiet, NULL);
    }
    PostgresPollingStatusType state = PGRES_POLLING_WRITING;
    while (pg->conn != NULL && PQstatus(pg->conn) != CONNECTION_BAD && state != PGRES_POLLING_OK &&
           state != PGRES_POLLING_FAILED) {
        if (!wait_socket(pg, state == PGRES_POLLING_READING ? POLLIN : POLLOUT, deadline)) {
            pg_note(pg, "the database server does not answer");
            pg->is_silent = true;
            PQfinish(pg->conn);
            pg->conn = NULL;
            return false;
        }
        state = PQconnectPoll(pg->conn);
    }
    if (pg->conn != NULL && state == PGRES_POLLING_OK && PQsetnonblocking(pg->conn, 1) == 0 &&
        PQenterPipelineMode(pg->conn) == 1) {
        return true;
    }
    const char *text = pg->conn != NULL ? PQerrorMessage(pg->conn) : "out of memory";
    pg_note(pg, text[0] != '\0' ? text : "the database server closed the connection");
    PQfinish(pg->conn);
    pg->conn = NULL;
    return false;
}

static void forget_flight(Pg *pg)
{
    pg->queued = 0;
    pg->fresh_count = 0;
}

void pg_hang_up(Pg *pg)
{
    PQfinish(pg->conn);
    pg->conn = NULL;
    pg->is_broken = false;
    forget_flight(pg);
    rows_drop(pg);
}

SqlError pg_connect(Pg *pg)
{
    if (pg->conn != NULL && !pg->is_broken) {
        return SQL_NO_ERROR;
    }
    // A primary that was frozen accepts connections again when it thaws, and its commits hang,
    // because its standby has taken its place: the next host is looked at first.
    if (pg->conn != NULL && pg->is_broken) {
        pg->host = (pg->host + 1) % pg->host_count;
    }
    pg_hang_up(pg);
    if (clock_ms() < pg->connect_after_ms) {
        return SQL_ERROR_DISK;
    }
    pg->is_silent = false;
    for (uint32_t i = 0; i < pg->host_count; i++) {
        const uint32_t host = (pg->host + i) % pg->host_count;
        if (connect_host(pg, host)) {
            pg->host = host;
            pg->generation += 1;
            pg->connects += 1;
            return SQL_NO_ERROR;
        }
    }
    pg->connect_after_ms = clock_ms() + CONNECT_GAP_MS;
    return SQL_ERROR_DISK;
}

SqlError pg_connect_first(Pg *pg)
{
    const double until = clock_ms() + FIRST_MS;
    SqlError error = pg_connect(pg);
    while (error != SQL_NO_ERROR && pg->is_silent && clock_ms() < until) {
        pg->connect_after_ms = 0;
        error = pg_connect(pg);
    }
    return error;
}

// --- flights ------------------------------------------------------------------------------------

static bool reserve_queue(Pg *pg)
{
    if (pg->queued < pg->queue_max) {
        return true;
    }
    const uint32_t max = pg->queue_max == 0 ? 64 : pg->queue_max * 2;
    PgStatement **queue = realloc(pg->queue, max * sizeof *queue);
    if (queue == NULL) {
        return false;
    }
    pg->queue = queue;
    pg->queue_max = max;
    return true;
}

// Everything before it in the queue has been sent or will be with the next flight.
static bool queue_prepare(Pg *pg, PgStatement *statement)
{
    if (statement->generation == pg->generation) {
        return true;
    }
    if (!reserve_queue(pg)) {
        return false;
    }
    snprintf(statement->name, sizeof statement->name, "s%u", ++pg->name_count);
    if (PQsendPrepare(pg->conn, statement->name, statement->text, (int)statement->parameter_count,
                      statement->types) != 1) {
        return false;
    }
    pg->queue[pg->queued++] = NULL;
    statement->generation = pg->generation;
    statement->next_fresh = pg->fresh_count > 0 ? pg->fresh : NULL;
    pg->fresh = statement;
    pg->fresh_count += 1;
    return true;
}

SqlError pg_queue(Pg *pg, PgStatement *statement)
{
    if (pg->conn == NULL || pg->is_broken) {
        return SQL_ERROR_DISK;
    }
    if (!queue_prepare(pg, statement) || !reserve_queue(pg) ||
        PQsendQueryPrepared(pg->conn, statement->name, (int)statement->parameter_count,
                            statement->values, statement->lengths, statement->formats, 1) != 1) {
        return broken(pg, PQerrorMessage(pg->conn));
    }
    pg->queue[pg->queued++] = statement;
    return SQL_NO_ERROR;
}

// What those statements were prepared as is not known after an error: they get new names.
static void forget_fresh(Pg *pg)
{
    for (PgStatement *statement = pg->fresh; pg->fresh_count > 0 && statement != NULL;
         statement = statement->next_fresh) {
        statement->generation = 0;
    }
    pg->fresh_count = 0;
}

static bool send_all(Pg *pg, double deadline)
{
    int left = PQflush(pg->conn);
    while (left == 1) {
        if (!wait_socket(pg, POLLIN | POLLOUT, deadline) || PQconsumeInput(pg->conn) != 1) {
            return false;
        }
        left = PQflush(pg->conn);
    }
    return left == 0;
}

// The next result; false: none comes any more.
static bool next_result(Pg *pg, double deadline, PGresult **out)
{
    while (PQisBusy(pg->conn)) {
        if (!wait_socket(pg, POLLIN, deadline) || PQconsumeInput(pg->conn) != 1) {
            return false;
        }
    }
    *out = PQgetResult(pg->conn);
    return true;
}

static void count_changes(Pg *pg, const PgStatement *statement, PGresult *result, bool is_last)
{
    if (statement != NULL && PQresultStatus(result) == PGRES_COMMAND_OK) {
        const uint64_t changed = strtoull(PQcmdTuples(result), NULL, 10);
        pg->changes += statement->is_counted ? changed : 0;
        pg->has_changed = is_last ? changed > 0 : pg->has_changed;
    }
}

SqlError pg_fly(Pg *pg, double wait_ms)
{
    const double deadline = clock_ms() + wait_ms;
    SqlError error = SQL_NO_ERROR;
    if (PQpipelineSync(pg->conn) != 1 || !send_all(pg, deadline)) {
        return broken(pg, "the connection to the database is lost");
    }
    pg->flights += 1;
    for (uint32_t at = 0; at <= pg->queued;) {
        PGresult *result = NULL;
        if (!next_result(pg, deadline, &result)) {
            return broken(pg, PQstatus(pg->conn) == CONNECTION_OK
                                  ? "the database did not answer in time"
                                  : "the connection to the database is lost");
        }
        if (result == NULL) { // of one statement
            at += 1;
            if (PQstatus(pg->conn) != CONNECTION_OK) {
                return broken(pg, "the connection to the database is lost");
            }
            continue;
        }
        const ExecStatusType status = PQresultStatus(result);
        if (status == PGRES_PIPELINE_SYNC) {
            PQclear(result);
            break;
        }
        PgStatement *statement = at < pg->queued ? pg->queue[at] : NULL;
        const bool is_last = at + 1 == pg->queued;
        if (status == PGRES_FATAL_ERROR && error == SQL_NO_ERROR) {
            error = error_of(pg, result);
        } else if (status == PGRES_COMMAND_OK || status == PGRES_TUPLES_OK) {
            count_changes(pg, statement, result, is_last);
        }
        if (is_last && statement != NULL && status == PGRES_TUPLES_OK) {
            PQclear(statement->result);
            statement->result = result;
        } else {
            PQclear(result);
        }
    }
    if (error != SQL_NO_ERROR) {
        forget_fresh(pg);
    }
    forget_flight(pg);
    return error;
}

// --- texts of several statements ----------------------------------------------------------------

SqlError pg_run_text(Pg *pg, const char *text)
{
    if (PQexitPipelineMode(pg->conn) != 1) {
        return broken(pg, PQerrorMessage(pg->conn));
    }
    SqlError error = SQL_NO_ERROR;
    const double deadline = clock_ms() + PG_READ_MS;
    if (PQsendQuery(pg->conn, text) != 1 || !send_all(pg, deadline)) {
        return broken(pg, PQerrorMessage(pg->conn));
    }
    PGresult *result = NULL;
    do {
        if (!next_result(pg, deadline, &result)) {
            return broken(pg, "the database did not answer in time");
        }
        if (result != NULL && PQresultStatus(result) == PGRES_FATAL_ERROR) {
            error = error_of(pg, result);
        }
        PQclear(result);
    } while (result != NULL);
    if (PQenterPipelineMode(pg->conn) != 1) {
        return broken(pg, PQerrorMessage(pg->conn));
    }
    return error;
}

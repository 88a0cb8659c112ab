// See postgres_listen.h.
#define _GNU_SOURCE
#include "server/store/sql/postgres_listen.h"

#include "server/store/sql/postgres_hosts.h"
#include "server/store/sql/postgres_inside.h"
#include "server/sys/clock.h"

#include <libpq-fe.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>

#define CONNECT_MS     700
#define PARAMETERS_MAX 48

#define CLOCK_MS 500 // an answer that takes longer says too little about the time

struct PgListener {
    char *url;
    PGconn *conn;  // NULL: none
    uint32_t host; // of those in the URL, the one that is tried next
};

PgListener *postgres_listen(const char *url)
{
    PgListener *listener = calloc(1, sizeof *listener);
    if (listener != NULL) {
        listener->url = strdup(url);
    }
    if (listener != NULL && listener->url == NULL) {
        free(listener);
        return NULL;
    }
    return listener;
}

static void leave(PgListener *listener)
{
    PQfinish(listener->conn); // NULL is allowed
    listener->conn = NULL;
}

void postgres_listen_close(PgListener *listener)
{
    if (listener != NULL) {
        leave(listener);
        free(listener->url);
        free(listener);
    }
}

// False: the time is over, or somebody wakes us. Nothing to listen to: fd -1.
static bool wait_for(int fd, short what, int wake_fd, uint64_t until_ns)
{
    struct pollfd both[2] = {{.fd = wake_fd, .events = POLLIN}, {.fd = fd, .events = what}};
    const uint64_t now = clock_ns();
    const int ms = until_ns > now ? (int)((until_ns - now) / 1000000) : 0;
    return poll(both, 2, ms) > 0 && both[0].revents == 0;
}

// With several hosts in a URL libpq waits for the first as long as it likes: so each is tried
// alone.
static PGconn *start_connecting(const char *url, uint32_t host)
{
    // Whoever is gone without a word is noticed within some seconds.
    static const char *const ours[][2] = {{"target_session_attrs", "read-write"},
                                          {"fallback_application_name", "sandlot"},
                                          {"keepalives_idle", "2"},
                                          {"keepalives_interval", "1"},
                                          {"keepalives_count", "2"}};
    const char *names[PARAMETERS_MAX + 1] = {NULL}, *values[PARAMETERS_MAX + 1] = {NULL};
    char items[3][256];
    uint32_t count = 0;
    PQconninfoOption *options = PQconninfoParse(url, NULL);
    for (; count < sizeof ours / sizeof ours[0]; count++) { // what the URL says counts more
        names[count] = ours[count][0];
        values[count] = ours[count][1];
    }
    for (const PQconninfoOption *option = options;
         option != NULL && option->keyword != NULL && count < PARAMETERS_MAX; option++) {
        const int list = strcmp(option->keyword, "host") == 0       ? 0
                         : strcmp(option->keyword, "hostaddr") == 0 ? 1
                         : strcmp(option->keyword, "port") == 0     ? 2
                                                                    : -1;
        if (option->val != NULL) {
            names[count] = option->keyword;
            values[count++] =
                list >= 0 ? postgres_list_item(option->val, host, items[list], sizeof items[list])
                          : option->val;
        }
    }
    PGconn *conn = options != NULL ? PQconnectStartParams(names, values, 0) : NULL;
    PQconninfoFree(options);
    if (conn != NULL) {
        (void)PQsetNoticeReceiver(conn, pg_be_quiet, NULL);
    }
    return conn;
}

static bool connect_host(PgListener *listener, int wake_fd, uint32_t host)
{
    const uint64_t until_ns = clock_ns() + CONNECT_MS * UINT64_C(1000000);
    PostgresPollingStatusType state = PGRES_POLLING_WRITING;
    listener->conn = start_connecting(listener->url, host);
    while (listener->conn != NULL && PQstatus(listener->conn) != CONNECTION_BAD &&
           state != PGRES_POLLING_OK && state != PGRES_POLLING_FAILED &&
           wait_for(PQsocket(listener->conn), state == PGRES_POLLING_READING ? POLLIN : POLLOUT,
                    wake_fd, until_ns)) {
        state = PQconnectPoll(listener->conn);
    }
    if (listener->conn == NULL || state != PGRES_POLLING_OK ||
        PQsendQuery(listener->conn, "LISTEN sandlot_events") != 1) {
        leave(listener);
    }
    return listener->conn != NULL;
}

static bool connect_to(PgListener *listener, int wake_fd)
{
    const uint32_t count = postgres_host_count(listener->url);
    for (uint32_t i = 0; i < count; i++) {
        if (connect_host(listener, wake_fd, listener->host % count)) {
            return true;
        }
        listener->host += 1;
    }
    return false;
}

// Takes what has come. True: one of it was a hint, or the answer to LISTEN, which says that what
// came before was not told.
static bool take(PgListener *listener)
{
    bool is_hint = false;
    if (PQconsumeInput(listener->conn) != 1) {
        leave(listener);
        return true;
    }
    while (!PQisBusy(listener->conn)) {
        PGresult *result = PQgetResult(listener->conn);
        if (result == NULL) {
            break;
        }
        is_hint = true;
        PQclear(result);
    }
    for (PGnotify *hint = PQnotifies(listener->conn); hint != NULL;
         hint = PQnotifies(listener->conn)) {
        is_hint = true;
        PQfreemem(hint);
    }
    return is_hint;
}

void postgres_listen_wait(PgListener *listener, int wake_fd, uint32_t ms, uint32_t often_ms)
{
    const uint64_t begin_ns = clock_ns();
    if (listener->conn == NULL && !connect_to(listener, wake_fd)) {
        (void)wait_for(-1, 0, wake_fd, begin_ns + often_ms * UINT64_C(1000000));
        return;
    }
    const uint64_t until_ns = begin_ns + ms * UINT64_C(1000000);
    while (wait_for(PQsocket(listener->conn), POLLIN, wake_fd, until_ns)) {
        if (take(listener)) {
            return;
        }
    }
}

// The first column of the first row of the answer, as a number. False: there is none soon.
static bool ask_number(PgListener *listener, const char *text, int64_t *out)
{
    if (listener->conn == NULL && !connect_to(listener, -1)) {
        return false;
    }
    const uint64_t until_ns = clock_ns() + CLOCK_MS * UINT64_C(1000000);
    while (PQisBusy(listener->conn) && // the answer to LISTEN
           wait_for(PQsocket(listener->conn), POLLIN, -1, until_ns)) {
        (void)take(listener);
        if (listener->conn == NULL) {
            return false;
        }
    }
    (void)take(listener);
    if (listener->conn == NULL || PQsendQuery(listener->conn, text) != 1) {
        return false;
    }
    bool is_over = false, is_found = false;
    while (!is_over && wait_for(PQsocket(listener->conn), POLLIN, -1, until_ns) &&
           PQconsumeInput(listener->conn) == 1) {
        while (!is_over && !PQisBusy(listener->conn)) {
            PGresult *result = PQgetResult(listener->conn);
            is_over = result == NULL;
            if (result != NULL && PQresultStatus(result) == PGRES_TUPLES_OK) {
                *out = strtoll(PQgetvalue(result, 0, 0), NULL, 10);
                is_found = true;
            }
            PQclear(result);
        }
    }
    if (!is_over) {
        leave(listener); // the answer may come later, and nobody waits for it
    }
    return is_over && is_found;
}

bool postgres_listen_clock(PgListener *listener, int64_t *unix_minus_monotonic_ms)
{
    int64_t unix_ms = 0;
    if (listener->conn == NULL && !connect_to(listener, -1)) { // that is no part of the time
        return false;
    }
    const uint64_t begin_ns = clock_ns();
    const bool is_told = ask_number(
        listener, "SELECT (extract(epoch FROM clock_timestamp()) * 1000)::bigint", &unix_ms);
    // The answer was made at some moment between.
    *unix_minus_monotonic_ms = unix_ms - (int64_t)((begin_ns + clock_ns()) / 2 / 1000000);
    return is_told && unix_ms > 0 && *unix_minus_monotonic_ms > 0;
}

bool postgres_listen_is_patroni(PgListener *listener)
{
    int64_t count = 0;
    return ask_number(listener,
                      "SELECT count(*) FROM pg_stat_activity WHERE application_name ILIKE "
                      "'patroni%'",
                      &count) &&
           count > 0;
}

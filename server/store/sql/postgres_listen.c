// See postgres_listen.h.
#define _GNU_SOURCE
#include "server/store/sql/postgres_listen.h"

#include "server/sys/clock.h"

#include <libpq-fe.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>

#define CONNECT_MS 1500

struct PgListener {
    char *url;
    PGconn *conn; // NULL: none
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

static bool connect_to(PgListener *listener, int wake_fd)
{
    // Whoever is gone without a word is noticed within some seconds.
    static const char *const names[] = {"dbname",
                                        "target_session_attrs",
                                        "fallback_application_name",
                                        "keepalives_idle",
                                        "keepalives_interval",
                                        "keepalives_count",
                                        NULL};
    const char *const values[] = {listener->url, "read-write", "sandlot", "2", "1", "2", NULL};
    const uint64_t until_ns = clock_ns() + CONNECT_MS * UINT64_C(1000000);
    PostgresPollingStatusType state = PGRES_POLLING_WRITING;
    listener->conn = PQconnectStartParams(names, values, 1);
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

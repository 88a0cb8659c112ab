// Deadlines for connections, see http_watch.h. One array, one lock, one thread that looks a few
// times in each period. The lock is held while a socket is shut down, so that it cannot be closed
// and its number given away in between.
#define _GNU_SOURCE
#include "server/net/http_watch.h"

#include "core/base/check.h"
#include "server/sys/clock.h"

#include <netinet/in.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define NEVER          UINT64_MAX
#define LOOK_MS_MAX    1000
#define LOOKS_A_PERIOD 8

struct HttpWatched {
    bool used;
    int socket;
    uint64_t deadline_ns;
    uint64_t began_ns; // of a body
    uint64_t from;     // http_peer_key
};

struct HttpWatch {
    HttpWatchConfig config;
    pthread_mutex_t lock;
    pthread_cond_t wake;
    pthread_t thread;
    bool stopping;
    uint64_t cut;
    HttpWatched *slots;
};

// --- addresses ----------------------------------------------------------------------------------

bool http_watch_peer(const struct sockaddr *address, HttpPeer *out)
{
    if (address != NULL && address->sa_family == AF_INET) {
        struct sockaddr_in v4;
        memcpy(&v4, address, sizeof v4);
        *out = http_peer_v4(ntohl(v4.sin_addr.s_addr));
        return true;
    }
    if (address != NULL && address->sa_family == AF_INET6) {
        struct sockaddr_in6 v6;
        memcpy(&v6, address, sizeof v6);
        memcpy(out->bytes, v6.sin6_addr.s6_addr, sizeof out->bytes);
        return true;
    }
    return false;
}

// --- the thread ---------------------------------------------------------------------------------

static uint64_t look_ms(const HttpWatch *watch)
{
    const uint32_t period = watch->config.request_ms < watch->config.answer_ms
                                ? watch->config.request_ms
                                : watch->config.answer_ms;
    const uint32_t ms = period / LOOKS_A_PERIOD + 1;
    return ms < LOOK_MS_MAX ? ms : LOOK_MS_MAX;
}

static void *look(void *user)
{
    HttpWatch *watch = user;
    pthread_mutex_lock(&watch->lock);
    while (!watch->stopping) {
        const uint64_t now = clock_ns();
        for (uint32_t i = 0; i < watch->config.connection_max; i++) {
            HttpWatched *slot = &watch->slots[i];
            if (slot->used && slot->deadline_ns <= now) {
                (void)shutdown(slot->socket, SHUT_RDWR); // its owner notices and closes it
                slot->deadline_ns = NEVER;
                watch->cut += 1;
            }
        }
        const uint64_t next = now + look_ms(watch) * NS_PER_MS;
        const struct timespec until = {.tv_sec = (time_t)(next / (1000 * NS_PER_MS)),
                                       .tv_nsec = (long)(next % (1000 * NS_PER_MS))};
        (void)pthread_cond_timedwait(&watch->wake, &watch->lock, &until);
    }
    pthread_mutex_unlock(&watch->lock);
    return NULL;
}

Status http_watch_create(const HttpWatchConfig *config, HttpWatch **out)
{
    ASSERT(config->connection_max > 0);
    ASSERT(config->request_ms > 0 && config->answer_ms > 0);
    HttpWatch *watch = calloc(1, sizeof *watch);
    HttpWatched *slots = calloc(config->connection_max, sizeof *slots);
    pthread_condattr_t monotonic;
    if (watch == NULL || slots == NULL || pthread_condattr_init(&monotonic) != 0) {
        free(watch);
        free(slots);
        return STATUS_LIMIT;
    }
    watch->config = *config;
    watch->slots = slots;
    pthread_mutex_init(&watch->lock, NULL);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(&watch->wake, &monotonic);
    pthread_condattr_destroy(&monotonic);
    if (pthread_create(&watch->thread, NULL, look, watch) != 0) {
        pthread_cond_destroy(&watch->wake);
        pthread_mutex_destroy(&watch->lock);
        free(slots);
        free(watch);
        return STATUS_LIMIT;
    }
    *out = watch;
    return STATUS_OK;
}

void http_watch_destroy(HttpWatch *watch)
{
    pthread_mutex_lock(&watch->lock);
    watch->stopping = true;
    pthread_cond_signal(&watch->wake);
    pthread_mutex_unlock(&watch->lock);
    pthread_join(watch->thread, NULL);
    pthread_cond_destroy(&watch->wake);
    pthread_mutex_destroy(&watch->lock);
    free(watch->slots);
    free(watch);
}

// --- connections --------------------------------------------------------------------------------

// Everybody behind a proxy comes from its address.
static bool is_counted(const HttpWatchConfig *config, const HttpPeer *peer)
{
    return config->per_address_max > 0 &&
           !(config->loopback_unlimited && http_peer_is_loopback(peer)) &&
           !http_peer_range_has(config->trusted, config->trusted_count, peer);
}

bool http_watch_accepts(HttpWatch *watch, const struct sockaddr *from)
{
    const HttpWatchConfig *config = &watch->config;
    HttpPeer peer;
    if (!http_watch_peer(from, &peer) || !is_counted(config, &peer)) {
        return true;
    }
    const uint64_t address = http_peer_key(&peer);
    uint32_t count = 0;
    pthread_mutex_lock(&watch->lock);
    for (uint32_t i = 0; i < config->connection_max; i++) {
        const HttpWatched *slot = &watch->slots[i];
        count += slot->used && slot->from == address;
    }
    pthread_mutex_unlock(&watch->lock);
    return count < config->per_address_max;
}

static void set(HttpWatch *watch, HttpWatched *watched, uint64_t ms)
{
    if (watched != NULL) {
        pthread_mutex_lock(&watch->lock);
        ASSERT(watched->used);
        if (watched->socket >= 0) {
            watched->deadline_ns = clock_ns() + ms * NS_PER_MS;
        }
        pthread_mutex_unlock(&watch->lock);
    }
}

HttpWatched *http_watch_add(HttpWatch *watch, const struct sockaddr *from, int socket)
{
    HttpWatched *found = NULL;
    HttpPeer peer;
    const uint64_t address = http_watch_peer(from, &peer) ? http_peer_key(&peer) : 0;
    pthread_mutex_lock(&watch->lock);
    for (uint32_t i = 0; i < watch->config.connection_max && found == NULL; i++) {
        found = watch->slots[i].used ? NULL : &watch->slots[i];
    }
    if (found != NULL) {
        *found =
            (HttpWatched){.used = true, .socket = socket, .deadline_ns = NEVER, .from = address};
    }
    pthread_mutex_unlock(&watch->lock);
    set(watch, found, watch->config.request_ms);
    return found;
}

void http_watch_request(HttpWatch *watch, HttpWatched *watched)
{
    set(watch, watched, watch->config.request_ms);
}

static uint64_t rate_ns(const HttpWatch *watch, uint64_t bytes)
{
    return bytes * 1000 / watch->config.rate_min * NS_PER_MS; // a body is far below 2^50 bytes
}

// With the lock held.
static void set_body_deadline(const HttpWatch *watch, HttpWatched *watched, uint64_t bytes)
{
    ASSERT(watched->used);
    if (watched->socket >= 0) {
        watched->deadline_ns =
            watched->began_ns + watch->config.request_ms * NS_PER_MS + rate_ns(watch, bytes);
    }
}

void http_watch_body(HttpWatch *watch, HttpWatched *watched, uint64_t bytes, bool begins)
{
    if (watched != NULL) {
        pthread_mutex_lock(&watch->lock);
        watched->began_ns = begins ? clock_ns() : watched->began_ns;
        set_body_deadline(watch, watched, bytes);
        pthread_mutex_unlock(&watch->lock);
    }
}

void http_watch_pause(HttpWatch *watch, HttpWatched *watched)
{
    set(watch, watched, watch->config.answer_ms);
}

void http_watch_answer(HttpWatch *watch, HttpWatched *watched, uint64_t bytes)
{
    set(watch, watched, watch->config.answer_ms + rate_ns(watch, bytes) / NS_PER_MS);
}

uint64_t http_watch_cut(HttpWatch *watch)
{
    pthread_mutex_lock(&watch->lock);
    const uint64_t cut = watch->cut;
    pthread_mutex_unlock(&watch->lock);
    return cut;
}

void http_watch_let_go(HttpWatch *watch, HttpWatched *watched)
{
    if (watched != NULL) {
        pthread_mutex_lock(&watch->lock);
        watched->socket = -1;
        watched->deadline_ns = NEVER;
        pthread_mutex_unlock(&watch->lock);
    }
}

void http_watch_remove(HttpWatch *watch, HttpWatched *watched)
{
    if (watched != NULL) {
        pthread_mutex_lock(&watch->lock);
        ASSERT(watched->used);
        *watched = (HttpWatched){.used = false};
        pthread_mutex_unlock(&watch->lock);
    }
}

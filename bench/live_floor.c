// The cost of the sockets only: a bare loop that reads all sockets 60 times per second and does
// nothing with the data. Every client sends 30 messages of 30 bytes and gets 20 of 90 bytes per
// second over loopback TCP, with the server on one core and all clients on another. No server with
// as many players and messages can cost less; tools/bench_live divides by this cost.
//
//   live_floor CLIENTS SECONDS [SERVER_CORE CLIENT_CORE]
//
// prints one JSON object.
#define _GNU_SOURCE
#include "core/base/check.h"
#include "server/sys/clock.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#define TICK_RATE      60
#define SNAPSHOT_TICKS 3
#define DOWN_BYTES     90
#define UP_BYTES       30
#define SLICES         4   // clients send in turn, as the bots do
#define CLIENT_RATE    120 // 30 messages a second each
#define CLIENTS_MAX    8000
#define WARM_UP_TICKS  60
#define EVENTS_MAX     1024

static int sockets[CLIENTS_MAX];

static void fail(const char *what)
{
    fprintf(stderr, "live_floor: %s: %s\n", what, strerror(errno));
    exit(1);
}

static void pin(int core)
{
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET((size_t)core, &set);
    if (sched_setaffinity(0, sizeof set, &set) != 0) {
        fail("affinity");
    }
}

static void watch_all(int epoll, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        struct epoll_event event = {.events = EPOLLIN, .data.u32 = i};
        if (epoll_ctl(epoll, EPOLL_CTL_ADD, sockets[i], &event) != 0) {
            fail("epoll");
        }
    }
}

// Everything that is there, once.
static uint64_t drain(int epoll, uint32_t count)
{
    static struct epoll_event events[EVENTS_MAX];
    static uint8_t bytes[4096];
    uint64_t got = 0;
    for (uint32_t round = 0; round <= count / EVENTS_MAX; round++) {
        const int ready = epoll_wait(epoll, events, EVENTS_MAX, 0);
        for (int i = 0; i < ready; i++) {
            const ssize_t read =
                recv(sockets[events[i].data.u32], bytes, sizeof bytes, MSG_DONTWAIT);
            if (read == 0) {
                exit(0); // the other side is done
            }
            got += read > 0 ? (uint64_t)read : 0;
        }
        if (ready < EVENTS_MAX) {
            break;
        }
    }
    return got;
}

static void send_to(uint32_t first, uint32_t step, uint32_t count, size_t bytes)
{
    static const uint8_t message[DOWN_BYTES];
    for (uint32_t i = first; i < count; i += step) {
        (void)!send(sockets[i], message, bytes, MSG_DONTWAIT | MSG_NOSIGNAL);
    }
}

static void run_clients(uint16_t port, uint32_t count)
{
    const struct sockaddr_in address = {
        .sin_family = AF_INET, .sin_port = htons(port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    const int one = 1;
    const int epoll = epoll_create1(0);
    for (uint32_t i = 0; i < count; i++) {
        sockets[i] = socket(AF_INET, SOCK_STREAM, 0);
        (void)setsockopt(sockets[i], IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
        if (connect(sockets[i], (const struct sockaddr *)&address, sizeof address) != 0) {
            fail("connect");
        }
    }
    watch_all(epoll, count);
    uint64_t due = clock_ns();
    for (uint32_t slice = 0;; slice = (slice + 1) % SLICES) {
        clock_sleep_until(due);
        due += 1000000000ull / CLIENT_RATE;
        (void)drain(epoll, count);
        send_to(slice, SLICES, count, UP_BYTES);
    }
}

static int listen_any(uint16_t *port)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t bytes = sizeof address;
    const int listener = socket(AF_INET, SOCK_STREAM, 0);
    if (listener < 0 || bind(listener, (const struct sockaddr *)&address, sizeof address) != 0 ||
        listen(listener, 4096) != 0 ||
        getsockname(listener, (struct sockaddr *)&address, &bytes) != 0) {
        fail("listen");
    }
    *port = ntohs(address.sin_port);
    return listener;
}

static void run_server(int listener, uint32_t count, uint32_t seconds)
{
    const int one = 1;
    const int epoll = epoll_create1(0);
    for (uint32_t i = 0; i < count; i++) {
        sockets[i] = accept(listener, NULL, NULL);
        if (sockets[i] < 0) {
            fail("accept");
        }
        (void)setsockopt(sockets[i], IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    }
    watch_all(epoll, count);
    uint64_t cpu_us = 0, begin = 0, up = 0, late = 0;
    uint64_t due = clock_ns();
    for (uint32_t tick = 0; tick < WARM_UP_TICKS + seconds * TICK_RATE; tick++) {
        clock_sleep_until(due);
        late += clock_ns() > due + 1000000000ull / TICK_RATE;
        due += 1000000000ull / TICK_RATE;
        if (tick == WARM_UP_TICKS) {
            cpu_us = clock_cpu_us();
            begin = clock_ns();
            up = 0;
            late = 0;
        }
        up += drain(epoll, count);
        if (tick % SNAPSHOT_TICKS == 0) {
            send_to(0, 1, count, DOWN_BYTES);
        }
    }
    const double elapsed = (double)(clock_ns() - begin) / 1e9;
    const double client_seconds = elapsed * count;
    printf("{\"clients\":%u,\"cpu_ms_per_client_second\":%.4f,\"bytes_up_per_client_second\":%.1f,"
           "\"ticks_late\":%llu}\n",
           count, (double)(clock_cpu_us() - cpu_us) / 1000 / client_seconds,
           (double)up / client_seconds, (unsigned long long)late);
}

static uint32_t number(const char *text, uint32_t max)
{
    const unsigned long value = strtoul(text, NULL, 10);
    return value < max ? (uint32_t)value : max;
}

int main(int argc, char **argv)
{
    if (argc != 3 && argc != 5) {
        fprintf(stderr, "usage: live_floor CLIENTS SECONDS [SERVER_CORE CLIENT_CORE]\n");
        return 2;
    }
    const uint32_t count = number(argv[1], CLIENTS_MAX), seconds = number(argv[2], 3600);
    struct rlimit limit = {0};
    if (getrlimit(RLIMIT_NOFILE, &limit) == 0) {
        limit.rlim_cur = limit.rlim_max;
        (void)setrlimit(RLIMIT_NOFILE, &limit);
    }
    uint16_t port = 0;
    const int listener = listen_any(&port);
    const pid_t clients = fork();
    if (clients == 0) {
        if (argc == 5) {
            pin((int)number(argv[4], 1023));
        }
        run_clients(port, count);
    }
    if (argc == 5) {
        pin((int)number(argv[3], 1023));
    }
    run_server(listener, count, seconds);
    kill(clients, SIGKILL);
    (void)waitpid(clients, NULL, 0);
    return 0;
}

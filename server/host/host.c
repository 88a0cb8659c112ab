// See host.h: making a host, and its main loop. Everything that a start needs is done in an order
// in which a failure disturbs nobody else: first the place, then the data folder, then the port,
// and only then the lease, which would fence whoever holds it.
#define _GNU_SOURCE
#include "server/host/host.h"

#include "core/base/check.h"
#include "core/base/sha256.h"
#include "core/base/utf8.h"
#include "server/build/place/place_home.h"
#include "server/host/host_build.h"
#include "server/host/host_inside.h"
#include "server/sys/clock.h"
#include "server/sys/entropy.h"
#include "server/sys/file.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define ROOM_CODE_LETTERS  6
#define LOOK_MS            50 // the main loop looks around at least that often
#define STOP_MS            4500
#define CRASHES_PER_MINUTE 5
#define BACKOFF_MS         5000
#define LIFE_MS            1000 // a world that ends sooner brought its end along
#define START_TRIES        3
#define SECOND_NS          1000000000ull

HostConfig host_config_default(void)
{
    return (HostConfig){.address = "127.0.0.1", .port = 7777, .journal_mb = 64};
}

void host_log(LogLevel level, const char *area, const char *format, ...)
{
    char text[LOG_TEXT_BYTES + 64];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    utf8_clean(text);
    const time_t now = (time_t)(clock_unix_ms() / 1000);
    struct tm parts;
    char clock[16] = "";
    if (gmtime_r(&now, &parts) != NULL) {
        strftime(clock, sizeof clock, "%H:%M:%S", &parts);
    }
    fprintf(stderr, "%s %-5s %s: %s\n", clock, log_level_name(level), area, text);
}

// --- the data folder ----------------------------------------------------------------------------

bool host_join_path(char out[HOST_PATH_BYTES], const char *folder, const char *name)
{
    const int bytes = snprintf(out, HOST_PATH_BYTES, "%s/%s", folder, name);
    return bytes > 0 && bytes < HOST_PATH_BYTES;
}

static int data_failed(const Host *host, const char *what, const char *why)
{
    fprintf(stderr, "sandlot world: %s%s%s: %s\n", host->data, what[0] != '\0' ? "/" : "", what,
            why);
    return 1;
}

// What the system refused, it refused because of the disk, if there is something wrong with that.
static const char *why_refused(const Host *host, Status status, const char *otherwise)
{
    const char *disk = status == STATUS_BLOCKED ? file_disk_problem(host->data) : NULL;
    return disk != NULL ? disk : otherwise;
}

// The host's own name, for its leases: the same as long as the data folder is.
static Status open_host_id(Host *host)
{
    char path[HOST_PATH_BYTES];
    uint8_t *bytes = NULL;
    size_t count = 0;
    if (!host_join_path(path, host->data, "host.id")) {
        return STATUS_RANGE;
    }
    Status status = file_read(path, 64, &bytes, &count);
    if (status == STATUS_OK) {
        const bool good = count == 32 && strspn((char *)bytes, "0123456789abcdef") == 32;
        status = good ? STATUS_OK : STATUS_MALFORMED;
        if (good) {
            memcpy(host->host_id, bytes, 33);
        }
        free(bytes);
        return status;
    }
    if (status != STATUS_NOT_FOUND) {
        return status;
    }
    uint8_t random[32], hex[65];
    entropy_fill(random, sizeof random);
    sha256_hex(random, (char *)hex);
    memcpy(host->host_id, hex, 32);
    host->host_id[32] = '\0';
    return file_write_private(path, host->host_id, 32);
}

// What is damaged is left as it is: whoever mends it needs every byte.
static void say_damaged(const Host *host, const char *what)
{
    fprintf(stderr,
            "sandlot world: %s/sandlot.db: %s\n"
            "  Nothing was changed. Put back a copy of sandlot.db (and of sandlot.db-wal, if there "
            "is one with it),\n  or move both away to begin with an empty world.\n",
            host->data, what);
}

static bool is_link(const char *path)
{
    struct stat about;
    return lstat(path, &about) == 0 && S_ISLNK(about.st_mode);
}

static Status open_store(Host *host)
{
    char path[HOST_PATH_BYTES], reason[256] = "";
    if (!host_join_path(path, host->data, "sandlot.db")) {
        return STATUS_RANGE;
    }
    if (is_link(path)) { // SQLite would write behind it
        fprintf(stderr, "sandlot world: %s: is a link; remove it\n", path);
        return STATUS_DENIED;
    }
    StoreConfig config = store_config_default();
    config.path = path;
    const Status status = store_open(&config, &host->store, reason, sizeof reason);
    utf8_clean(reason); // SQLite names what it found, which in a damaged file can be any bytes
    if (status == STATUS_MALFORMED) {
        say_damaged(host, reason);
    } else if (status != STATUS_OK) {
        const char *why = reason[0] != '\0' ? reason : status_text(status);
        data_failed(host, "sandlot.db", why_refused(host, status, why));
    } else if (reason[0] != '\0') {
        host_log(LOG_WARN, "store", "%s", reason);
    }
    return status;
}

// Where it is; the folder is made, and nobody is disturbed by that. Inside the place it may be a
// stranger's, and a link there would lead the key and the database anywhere; --data is the
// operator's own word. Gives why not; NULL: it is there.
static const char *find_data(Host *host)
{
    static const char too_long[] = "the path is too long";
    if (host->config.data != NULL) {
        if (snprintf(host->data, sizeof host->data, "%s", host->config.data) >=
            (int)sizeof host->data) {
            return too_long;
        }
        return file_make_folders(host->data) == STATUS_OK ? NULL : "the data folder cannot be made";
    }
    const char *why = "", *place = host->config.place;
    if (place_home_data(place, host->data, &why) == STATUS_OK) {
        return NULL;
    }
    (void)host_join_path(host->data, place, place_home_at_fault(place, ".sandlot/data"));
    return why;
}

// Everything in it; 0, or the exit code.
static int open_data(Host *host)
{
    char path[HOST_PATH_BYTES];
    if (!host_join_path(path, host->data, "host.lock")) {
        return data_failed(host, "", "the path is too long");
    }
    Status status = file_lock(path, &host->lock_file);
    if (status != STATUS_OK) {
        const char *why =
            status == STATUS_EXISTS ? "another sandlot uses this data folder" : status_text(status);
        return data_failed(host, "host.lock", why_refused(host, status, why));
    }
    status = open_host_id(host);
    if (status != STATUS_OK) {
        return data_failed(host, "host.id", why_refused(host, status, status_text(status)));
    }
    status = host_join_path(path, host->data, "ticket.key") ? signing_key_open(path, &host->key)
                                                            : STATUS_RANGE;
    if (status != STATUS_OK) {
        return data_failed(host, "ticket.key",
                           why_refused(host, status, signing_key_advice(status)));
    }
    if (used_tickets_open(&host->used_tickets) != STATUS_OK || open_store(host) != STATUS_OK) {
        return 1;
    }
    const char *journal = host->config.journal;
    if (journal == NULL) {
        return host_join_path(host->journal_path, host->data, "journal") ? 0 : 1;
    }
    if (strcmp(journal, "off") != 0) {
        snprintf(host->journal_path, sizeof host->journal_path, "%s", journal);
    }
    return 0;
}

// --- the world's row ----------------------------------------------------------------------------

static void make_room_code(char out[17])
{
    // Without those that are taken for each other.
    static const char letters[] = "ABCDEFGHJKLMNPQRSTUVWXYZ23456789";
    uint8_t random[ROOM_CODE_LETTERS];
    entropy_fill(random, sizeof random);
    for (uint32_t i = 0; i < ROOM_CODE_LETTERS; i++) {
        out[i] = letters[random[i] % (sizeof letters - 1)];
    }
    out[ROOM_CODE_LETTERS] = '\0';
}

static const char *last_part(const char *path)
{
    size_t end = strlen(path);
    while (end > 1 && path[end - 1] == '/') {
        end -= 1;
    }
    size_t begin = end;
    while (begin > 0 && path[begin - 1] != '/') {
        begin -= 1;
    }
    return path + begin;
}

// "world_" and what the name has of letters, digits, _ and -.
static void make_world_id(const char *name, char out[65])
{
    size_t at = (size_t)snprintf(out, 65, "world_");
    for (; *name != '\0' && *name != '/' && at < 64; name++) {
        const bool plain = (*name >= 'a' && *name <= 'z') || (*name >= 'A' && *name <= 'Z') ||
                           (*name >= '0' && *name <= '9') || *name == '_' || *name == '-';
        out[at++] = plain ? *name : '-';
    }
    out[at] = '\0';
    if (at == 6 || strcmp(out, "world_-") == 0 || strcmp(out, "world_--") == 0) {
        snprintf(out, 65, "world_main");
    }
}

static void skip_row(void *user, const uint8_t *row, size_t bytes)
{
    (void)user, (void)row, (void)bytes;
}

static Status open_world_row(Host *host)
{
    StoreWorld *row = &host->row;
    char world_id[65];
    const char *name =
        host->config.name != NULL ? host->config.name : last_part(host->config.place);
    make_world_id(name, world_id);
    Status status = store_world_find(host->store, world_id, row);
    if (status == STATUS_NOT_FOUND) {
        *row = (StoreWorld){.created_unix_ms = clock_unix_ms()};
        memcpy(row->world_id, world_id, sizeof row->world_id);
        make_room_code(row->room_code);
        status = STATUS_OK;
    } else if (status == STATUS_OK) { // all that it has, before anything is written
        status = store_rows(host->store, world_id, skip_row, NULL);
    }
    if (status != STATUS_OK) {
        return status;
    }
    snprintf(row->name, sizeof row->name, "%s", host->built.facts.name);
    memcpy(row->place_hash, host->scene_hash, sizeof row->place_hash);
    status = store_world_put(host->store, row);
    for (uint32_t i = 0; i < 8 && status == STATUS_EXISTS; i++) { // another world has that code
        make_room_code(row->room_code);
        status = store_world_put(host->store, row);
    }
    memcpy(host->world.world_id, row->world_id, sizeof host->world.world_id);
    memcpy(host->world.room_code, row->room_code, sizeof host->world.room_code);
    host->metrics.world_id = row->world_id;
    return status;
}

// --- the lease ----------------------------------------------------------------------------------

static void lease_pause(Host *host, uint32_t ms)
{
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += ms / 1000;
    until.tv_nsec += (long)(ms % 1000) * 1000000;
    if (until.tv_nsec >= 1000000000) {
        until.tv_sec += 1;
        until.tv_nsec -= 1000000000;
    }
    (void)pthread_cond_timedwait(&host->lease_wake, &host->lock, &until);
}

static void wake_main(Host *host)
{
    const uint64_t one = 1;
    if (write(host->wake, &one, sizeof one) != sizeof one) {
        return; // it is awake already
    }
}

static void *lease_main(void *user)
{
    Host *host = user;
    uint64_t good_ns = clock_ns(), epoch_seen = 0;
    pthread_mutex_lock(&host->lock);
    while (!host->lease_thread_stop) {
        lease_pause(host, HOST_LEASE_RENEW_MS);
        const uint64_t epoch = host->epoch;
        if (host->lease_thread_stop || !host->lease_held) {
            good_ns = clock_ns();
            continue;
        }
        pthread_mutex_unlock(&host->lock);
        // Counted from before the renewal is sent: how long it took must not count for us.
        const uint64_t before = clock_ns();
        const Status status = store_lease_renew(host->store, host->row.world_id, epoch,
                                                clock_unix_ms(), HOST_LEASE_MS);
        pthread_mutex_lock(&host->lock);
        // A full disk takes no renewal. The data folder is locked, so nobody else can take the
        // lease meanwhile, and play goes on; who shares a store has no such lock and must stop.
        const bool kept = status == STATUS_OK || status == STATUS_BLOCKED;
        if (kept || epoch != host->epoch || epoch != epoch_seen) {
            good_ns = before;
            epoch_seen = epoch;
        }
        const bool same = epoch == host->epoch;
        const bool over = clock_ns() - good_ns > HOST_LEASE_STOP_MS * 1000000ull;
        if (same && (status == STATUS_DENIED || over)) {
            host->lease_lost = true;
            wake_main(host);
        }
    }
    pthread_mutex_unlock(&host->lock);
    return NULL;
}

// --- making and ending --------------------------------------------------------------------------

static void watch(Host *host, int descriptor)
{
    struct epoll_event event = {.events = EPOLLIN, .data.fd = descriptor};
    const int failed = epoll_ctl(host->epoll, EPOLL_CTL_ADD, descriptor, &event);
    ASSERT(failed == 0);
}

// While the place is built there is no loop yet. A handler may stay when the loop takes over:
// blocked signals do not reach it.
static atomic_bool is_cancelled;

static void cancel(int number)
{
    (void)number;
    atomic_store(&is_cancelled, true);
}

static void cancel_on_signals(Host *host)
{
    const struct sigaction action = {.sa_handler = cancel, .sa_flags = SA_RESTART};
    (void)sigaction(SIGINT, &action, NULL);
    (void)sigaction(SIGTERM, &action, NULL);
    host->cancel = &is_cancelled;
}

static bool open_loop(Host *host)
{
    sigset_t wanted;
    sigemptyset(&wanted);
    sigaddset(&wanted, SIGTERM);
    sigaddset(&wanted, SIGINT);
    // Before any thread is made, so that all of them leave these to the main loop.
    if (pthread_sigmask(SIG_BLOCK, &wanted, NULL) != 0) {
        return false;
    }
    signal(SIGPIPE, SIG_IGN);
    host->epoll = epoll_create1(EPOLL_CLOEXEC);
    host->signals = signalfd(-1, &wanted, SFD_CLOEXEC | SFD_NONBLOCK);
    host->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (host->epoll < 0 || host->signals < 0 || host->wake < 0) {
        return false;
    }
    watch(host, host->signals);
    watch(host, host->wake);
    return true;
}

// Sockets on their way need descriptors here for a moment.
static void raise_limits(void)
{
    struct rlimit files;
    if (getrlimit(RLIMIT_NOFILE, &files) == 0) {
        files.rlim_cur = files.rlim_max < 16384 ? files.rlim_max : 16384;
        (void)setrlimit(RLIMIT_NOFILE, &files); // less does too
    }
}

// Looked at first: nothing is made for a mistyped name.
static bool is_there(const char *path, const char *name)
{
    char file[HOST_PATH_BYTES];
    struct stat about;
    return host_join_path(file, path, name) && lstat(file, &about) == 0;
}

static int open_host(Host *host)
{
    host->development =
        strncmp(host->config.address, "127.", 4) == 0 || strcmp(host->config.address, "::1") == 0;
    entropy_fill(host->boot, sizeof host->boot);
    entropy_fill(host->address_secret, sizeof host->address_secret);
    raise_limits();
    host_bounds_open(&host->bounds);
    if (!is_there(host->config.place, "place.json")) {
        diagnostic_print(stderr, "sandlot world: %s: %s", host->config.place,
                         is_there(host->config.place, ".")
                             ? "there is no place.json, so it is no place; `sandlot new` makes one"
                             : "there is no such folder");
        return 1;
    }
    const char *refusal = find_data(host);
    if (refusal != NULL) {
        return data_failed(host, "", refusal);
    }
    cancel_on_signals(host);
    if (host_place_open(host) != STATUS_OK) {
        const char *disk = file_disk_problem(host->data);
        return disk != NULL ? data_failed(host, "", disk) : 1;
    }
    if (!open_loop(host)) {
        fprintf(stderr, "sandlot world: %s\n", strerror(errno));
        return 1;
    }
    if (atomic_load(host->cancel)) {
        diagnostic_print(stderr, "sandlot world: %s: not started: cancelled", host->config.place);
        return 1;
    }
    if (host_world_spawn(host) != STATUS_OK) {
        fprintf(stderr, "sandlot world: a process for the world cannot be started\n");
        return 1;
    }
    const int data = open_data(host);
    if (data != 0) {
        return data;
    }
    watch(host, store_descriptor(host->store));
    Status status = open_world_row(host);
    if (status == STATUS_MALFORMED) {
        say_damaged(host, "the rows of this world are damaged");
        return 1;
    }
    if (status != STATUS_OK) {
        fprintf(stderr, "sandlot world: the world's row: %s\n", status_text(status));
        return 1;
    }
    status = host_http_start(host);
    if (status != STATUS_OK) {
        fprintf(stderr, "sandlot world: cannot listen on %s port %u: %s\n", host->config.address,
                host->config.port,
                status == STATUS_BLOCKED ? "the port is taken, or not ours to take"
                                         : "that is no address");
        return 1;
    }
    return 0;
}

static void close_host(Host *host)
{
    host_bounds_close(&host->bounds);
    http_stop(host->http);
    work_pool_destroy(host->pool);
    host_build_stop(host);
    if (host->lease_thread_runs) {
        pthread_mutex_lock(&host->lock);
        host->lease_thread_stop = true;
        pthread_cond_signal(&host->lease_wake);
        pthread_mutex_unlock(&host->lock);
        pthread_join(host->lease_thread, NULL);
    }
    if (host->store != NULL) {
        if (host->lease_held && !host->fenced && !host->lease_lost) {
            store_lease_release(host->store, host->row.world_id, host->world.epoch);
        }
        store_close(host->store);
    }
    for (uint32_t i = 0; i < host->waiting_count; i++) {
        close(host->waiting[i].descriptor);
        free(host->waiting[i].already);
    }
    used_tickets_close(&host->used_tickets);
    host_place_close(host);
    const int descriptors[] = {host->epoll, host->signals, host->wake, host->lock_file};
    for (size_t i = 0; i < sizeof descriptors / sizeof descriptors[0]; i++) {
        if (descriptors[i] >= 0) {
            close(descriptors[i]);
        }
    }
    signing_key_wipe(&host->key);
}

// --- the world's lives --------------------------------------------------------------------------

// How many short lives ended within the last minute, this one included. A world that has run for a
// while and is ended from outside comes back at once, however often that happens.
static uint32_t note_crash(Host *host, uint64_t now)
{
    const bool was_short = now - host->started_ns < LIFE_MS * 1000000ull;
    const uint32_t kept = sizeof host->crash_ns / sizeof host->crash_ns[0];
    host->crash_ns[host->crash_count % kept] = was_short ? now : 0;
    host->crash_count += 1;
    uint32_t recent = 0;
    for (uint32_t i = 0; i < kept && i < host->crash_count; i++) {
        recent += host->crash_ns[i] != 0 && now - host->crash_ns[i] < 60 * SECOND_NS;
    }
    return recent;
}

static void look_for_end(Host *host)
{
    int code = 0;
    if (!host->running || !process_ended(&host->process, &code)) {
        return;
    }
    host_world_ended(host, code);
    if (host->stop_wanted) {
        return;
    }
    const uint64_t now = clock_ns();
    const uint32_t recent = note_crash(host, now);
    pthread_mutex_lock(&host->lock);
    host->metrics.crashes += 1;
    pthread_mutex_unlock(&host->lock);
    if (!host->ever_ready && (host->failed[0] != '\0' || host->crash_count >= START_TRIES)) {
        host->stop_wanted = true; // it has never run: there is nothing to bring back
        host->exit_code = 1;
        return;
    }
    const bool slow = recent > CRASHES_PER_MINUTE;
    host->restart_at_ns = now + (slow ? BACKOFF_MS * 1000000ull : 1);
    host_log(LOG_WARN, "host", "the world starts again%s",
             slow ? " in 5 s: it ends too often" : "");
}

static void restart_when_due(Host *host)
{
    if (host->restart_at_ns == 0 || clock_ns() < host->restart_at_ns || host->stop_wanted) {
        return;
    }
    host->restart_at_ns = 0;
    if (host_world_start(host) != STATUS_OK && !host->running) {
        host_world_refuse_sockets(host);
        host->restart_at_ns = clock_ns() + BACKOFF_MS * 1000000ull;
    }
}

// --- the end ------------------------------------------------------------------------------------

static void want_stop(Host *host)
{
    if (!host->stop_wanted) {
        host->stop_wanted = true;
        host->stop_ns = clock_ns() + STOP_MS * 1000000ull;
        pthread_mutex_lock(&host->lock);
        host->closing = true;
        pthread_mutex_unlock(&host->lock);
    }
}

static void tell_stop(Host *host)
{
    static const char reason[] = "the host is going down";
    if (host->stop_wanted && !host->stop_told && host->running && host->was_ready) {
        const Entry stop = {.type = ENTRY_ADMIN,
                            .name = "stop",
                            .name_bytes = 4,
                            .bytes = (const uint8_t *)reason,
                            .byte_count = sizeof reason - 1};
        host->stop_told = true;
        host_world_send_entry(host, &stop);
        host_world_flush(host);
    }
}

// The world has said its last, and what it saved is on disk.
static bool is_over(const Host *host)
{
    if (!host->stop_wanted) {
        return false;
    }
    const uint64_t now = clock_ns();
    const bool quiet = host->stop_heard && now >= host->stop_quiet_ns && host->save_count == 0;
    return !host->running || !host->was_ready || quiet || now >= host->stop_ns;
}

static void end_world(Host *host)
{
    if (!host->running) {
        return;
    }
    int code = 0;
    channel_close(&host->channel); // it ends by itself when it sees this
    for (uint32_t i = 0; i < 20 && !process_ended(&host->process, &code); i++) {
        clock_sleep_until(clock_ns() + 10000000u);
    }
    if (!process_ended(&host->process, &code)) {
        process_kill(&host->process, SIGKILL);
        process_wait(&host->process, &code);
    }
    host_world_ended(host, code);
}

// --- the loop -----------------------------------------------------------------------------------

static void take_signals(Host *host)
{
    struct signalfd_siginfo info;
    while (read(host->signals, &info, sizeof info) == sizeof info) {
        host_log(LOG_INFO, "host", "signal %u: stopping", info.ssi_signo);
        want_stop(host);
    }
}

static void take_wake(Host *host)
{
    uint64_t count;
    while (read(host->wake, &count, sizeof count) == sizeof count) {
    }
    pthread_mutex_lock(&host->lock);
    const bool lost = host->lease_lost;
    pthread_mutex_unlock(&host->lock);
    if (lost && !host->fenced) {
        host->fenced = true;
        host_log(LOG_ERROR, "host", "the lease of this world is lost; it stops here");
    }
}

static void run(Host *host)
{
    host->second_ns = clock_ns();
    while (!is_over(host)) {
        struct epoll_event events[16];
        (void)epoll_wait(host->epoll, events, 16, LOOK_MS);
        take_signals(host);
        take_wake(host);
        host_world_pass_sockets(host);
        host_world_receive(host);
        host_store_poll(host);
        host_save_retry(host);
        host_world_watch(host);
        look_for_end(host);
        if (host->fenced && !host->stop_wanted) {
            host->exit_code = 1;
            host->stop_wanted = true; // without a word to the store, which is not ours any more
            host_world_kill(host, "another host has its lease");
        }
        restart_when_due(host);
        tell_stop(host);
        host_world_flush(host);
    }
    end_world(host);
}

// The address as it stands in a link. Who listens on every address is reached by the loopback one.
static void link_address(const char *address, char out[64])
{
    if (strcmp(address, "0.0.0.0") == 0) {
        address = "127.0.0.1";
    } else if (strcmp(address, "::") == 0) {
        address = "::1";
    }
    const bool is_v6 = strchr(address, ':') != NULL;
    snprintf(out, 64, "%s%s%s", is_v6 ? "[" : "", address, is_v6 ? "]" : "");
}

static void print_address(const Host *host)
{
    const unsigned port = http_port(host->http);
    char address[64];
    link_address(host->config.address, address);
    diagnostic_print(stdout, "world %s, room %s: %s", host->row.world_id, host->row.room_code,
                     host->built.facts.name);
    if (host->config.web == NULL) {
        printf("page  none: build/web is not there; run `make build`, or say --web DIR\n");
    } else {
        printf("%s  http://%s:%u/\n", host->development ? "play" : "page", address, port);
    }
    printf("join  ws://%s:%u/api/rooms/%s/ws\n", address, port, host->row.room_code);
    if (!host->development) {
        printf("note  nobody can join on %s yet: there are no accounts, and only a world on a "
               "loopback address\n      gives tickets to everybody. Without --address you can "
               "play, and others by `ssh -L %u:127.0.0.1:%u`\n",
               host->config.address, port, port);
    }
    fflush(stdout);
}

static int start(Host *host)
{
    if (host_world_start(host) != STATUS_OK) {
        return 1;
    }
    if (pthread_create(&host->lease_thread, NULL, lease_main, host) != 0) {
        fprintf(stderr, "sandlot world: no thread for the lease\n");
        return 1;
    }
    host->lease_thread_runs = true;
    print_address(host);
    run(host);
    return host->exit_code;
}

int host_run(const HostConfig *config)
{
    Host *host = calloc(1, sizeof *host);
    if (host == NULL) {
        return 1;
    }
    host->config = *config;
    host->epoll = host->signals = host->wake = host->lock_file = -1;
    host->channel.end = -1;
    host->journal.descriptor = -1;
    pthread_mutex_init(&host->lock, NULL);
    pthread_cond_init(&host->lease_wake, NULL);
    int code = open_host(host);
    if (code == 0) {
        code = start(host);
    }
    if (host->running) { // it could not be told how to begin
        int ended;
        process_kill(&host->process, SIGKILL);
        process_wait(&host->process, &ended);
        channel_close(&host->channel);
    }
    close_host(host);
    free(host);
    return code;
}

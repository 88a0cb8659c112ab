// See serve.h: the process around a Host. Everything that a start needs is done in an order in
// which a failure disturbs nobody else: first the places, then the data folder, then the port, and
// only then a lease, which would fence whoever holds it.
#define _GNU_SOURCE
#include "server/serve/serve.h"

#include "server/build/base/diagnostic.h"
#include "server/net/http_client.h"
#include "server/serve/collect.h"
#include "server/serve/edit/edit_drafts.h"
#include "server/serve/listing/http_listing.h"
#include "server/serve/live/live.h"
#include "server/serve/operate/http_admin.h"
#include "server/serve/operate/http_operate.h"
#include "server/serve/order/http_order.h"
#include "server/serve/people/http_class.h"
#include "server/serve/people/http_issuer.h"
#include "server/serve/place/dev.h"
#include "server/serve/place/place_build.h"
#include "server/serve/place/place_reload.h"
#include "server/serve/publish/http_build.h"
#include "server/serve/publish/http_place.h"
#include "server/serve/remote/http_host.h"
#include "server/serve/remote/remote_worlds.h"
#include "server/serve/remote/serve_fleet.h"
#include "server/serve/remote/serve_ordered.h"
#include "server/serve/remote/serve_remote.h"
#include "server/serve/serve_inside.h"
#include "server/serve/world/http_world.h"
#include "server/sys/clock.h"
#include "server/sys/entropy.h"
#include "server/sys/file.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <strings.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <unistd.h>

#define LOOK_MS         50 // the main loop looks around at least that often
#define STOP_MS         4500
#define EVENTS_PER_LOOK 256

ServeConfig serve_config_default(void)
{
    return (ServeConfig){
        .address = "127.0.0.1", .port = 7777, .journal_mb = 64, .log_format = LOG_FORMAT_TEXT};
}

bool serve_join_path(char out[SERVE_PATH_BYTES], const char *folder, const char *name)
{
    const int bytes = snprintf(out, SERVE_PATH_BYTES, "%s/%s", folder, name);
    return bytes > 0 && bytes < SERVE_PATH_BYTES;
}

// --- what the Host is given ---------------------------------------------------------------------

static uint64_t outside_now(void *user)
{
    (void)user;
    return clock_ns();
}

static uint64_t outside_unix_ms(void *user)
{
    return serve_remote_unix_ms(user);
}

static void outside_random(void *user, void *out, size_t bytes)
{
    (void)user;
    entropy_fill(out, bytes);
}

static void outside_log(void *user, LogLevel level, const char *area, const char *text)
{
    (void)user;
    serve_log_text(level, area, text);
}

static Status outside_start(void *user, HostWorld *world, HostLink **out)
{
    const Serve *serve = user;
    return link_process_start(&serve->links, world, out);
}

static void outside_socket_passed(void *user, const HostWorld *world, uint64_t number)
{
    http_socket_pass(((Serve *)user)->http, number, host_world_life(world));
}

static void outside_socket_closed(void *user, const HostWorld *world, uint64_t number)
{
    http_socket_over(((Serve *)user)->http, number, host_world_life(world));
}

static void outside_sockets_ended(void *user, const HostWorld *world)
{
    http_socket_over_all(((Serve *)user)->http, host_world_life(world));
}

static void outside_rules(void *user, uint64_t account, const char *world_id, HostRules *out)
{
    host_people_rules(((Serve *)user)->control, account, world_id, out);
}

static Status outside_who(void *user, const char *token, size_t bytes, Ticket *out)
{
    return host_people_who(serve_people(user), token, bytes, out);
}

static void outside_entered(void *user, const HostWorld *world, const Ticket *who)
{
    serve_listing_entered(user, world, who);
    if (host_world_link(world) == NULL) { // a ticket for another machine
        remote_world_led(user, host_world_view(world).row->world_id, who->account);
    }
}

static void log_journal(const char *text)
{
    serve_log_text(LOG_WARN, "journal", text);
}

static Status make_host(Serve *serve)
{
    HostConfig config = {.outside = {.user = serve,
                                     .now_ns = outside_now,
                                     .unix_ms = outside_unix_ms,
                                     .random = outside_random,
                                     .log = outside_log,
                                     .start = outside_start,
                                     .joined = serve_joined,
                                     .entered = outside_entered,
                                     .left = serve_listing_left,
                                     .made = serve_made,
                                     .refuse_socket = serve_refuse_socket,
                                     .socket_passed = outside_socket_passed,
                                     .socket_closed = outside_socket_closed,
                                     .sockets_ended = outside_sockets_ended,
                                     .reloaded = serve_reloaded,
                                     .sign = serve->remote != NULL ? serve_reload_sign : NULL,
                                     .stored = serve_hosts_stored},
                         .store = serve->store,
                         .key = &serve->key,
                         .development = serve->development,
                         .one_world = !serve->config.many,
                         .account_profiles = serve->remote == NULL,
                         // The data folder is locked, and whatever hosts on other machines ask
                         // of its store goes through this process.
                         .store_is_private = serve->remote == NULL && serve->config.store == NULL,
                         .remote = serve->remote != NULL,
                         .lease_ms = serve->config.lease_s * 1000,
                         .allow_weak_jail = serve->config.allow_weak_jail,
                         .world_max = serve->config.world_max == 0 && serve->control != NULL
                                          ? world_max_here()
                                          : serve->config.world_max,
                         .idle_stop_ms = serve->config.idle_stop_s * 1000};
    if (serve->control != NULL) {
        config.outside.is_outdated = remote_world_is_outdated;
        config.outside.rules = outside_rules;
        config.outside.chat = serve_chat;
        config.outside.blocks = serve_blocks;
        config.outside.reported = serve_reported;
    }
    if (serve->ordered != NULL) {
        config.outside.rules = serve_ordered_rules;
        config.outside.chat = serve_ordered_chat_of;
        config.outside.blocks = serve_ordered_blocks;
        config.outside.reported = serve_ordered_reported;
    }
    if (serve->peers != NULL) {
        config.store_is_private = false;
        config.lease_ms = config.lease_ms != 0 ? config.lease_ms : SHARED_LEASE_MS;
        serve_peers_outside(&config.outside);
        config.no_worlds = serve->config.role == SERVE_CONTROL;
    }
    if (serve_people(serve) != NULL) {
        config.outside.who = outside_who;
        config.outside.identify = serve_issuer_identify;
    }
    memcpy(config.host_id, serve->host_id, sizeof config.host_id);
    memcpy(config.boot, serve->boot, sizeof config.boot);
    serve->links = (LinkConfig){.epoll = serve->epoll,
                                .bounds = &serve->bounds,
                                .journals = serve->journals,
                                .journal = serve->journal,
                                .journal_bytes = (uint64_t)serve->config.journal_mb << 20,
                                .many = serve->config.many,
                                .allow_weak_jail = serve->config.allow_weak_jail};
    return host_create(&config, &serve->host);
}

// --- the start ----------------------------------------------------------------------------------

// While places are built there is no loop yet. A handler may stay when the loop takes over: blocked
// signals do not reach it.
static atomic_bool is_cancelled;

static void cancel(int number)
{
    (void)number;
    atomic_store(&is_cancelled, true);
}

static void cancel_on_signals(Serve *serve)
{
    const struct sigaction action = {.sa_handler = cancel, .sa_flags = SA_RESTART};
    (void)sigaction(SIGINT, &action, NULL);
    (void)sigaction(SIGTERM, &action, NULL);
    serve->cancel = &is_cancelled;
}

static void watch(const Serve *serve, int descriptor, void *what)
{
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = what};
    const int failed = epoll_ctl(serve->epoll, EPOLL_CTL_ADD, descriptor, &event);
    ASSERT(failed == 0);
}

static void loop_signals(sigset_t *out)
{
    sigemptyset(out);
    sigaddset(out, SIGTERM);
    sigaddset(out, SIGINT);
}

static bool open_loop(Serve *serve)
{
    sigset_t wanted;
    loop_signals(&wanted);
    // Before any thread is made, so that all of them leave these to the main loop.
    if (pthread_sigmask(SIG_BLOCK, &wanted, NULL) != 0) {
        return false;
    }
    signal(SIGPIPE, SIG_IGN);
    serve->epoll = epoll_create1(EPOLL_CLOEXEC);
    serve->signals = signalfd(-1, &wanted, SFD_CLOEXEC | SFD_NONBLOCK);
    if (serve->epoll < 0 || serve->signals < 0 || mailbox_create(&serve->mailbox) != STATUS_OK ||
        rooms_create(&serve->rooms) != STATUS_OK) {
        return false;
    }
    watch(serve, serve->signals, NULL);
    watch(serve, mailbox_descriptor(serve->mailbox), NULL);
    return true;
}

// Sockets on their way need descriptors here for a moment, and every world a few.
static void raise_limits(void)
{
    struct rlimit files;
    if (getrlimit(RLIMIT_NOFILE, &files) == 0) {
        files.rlim_cur = files.rlim_max < 65536 ? files.rlim_max : 65536;
        (void)setrlimit(RLIMIT_NOFILE, &files); // less does too
    }
}

static bool is_there(const char *path, const char *name)
{
    char file[SERVE_PATH_BYTES];
    struct stat about;
    return serve_join_path(file, path, name) && lstat(file, &about) == 0;
}

// Looked at first: nothing is made for a mistyped name.
static bool are_places(const Serve *serve)
{
    for (uint32_t i = 0; serve->config.places[i] != NULL; i++) {
        const char *place = serve->config.places[i];
        if (!is_there(place, "place.json")) {
            serve_log_failure(serve->command, "%s: %s", place,
                              is_there(place, ".")
                                  ? "there is no place.json, so it is no place; `sandlot new` "
                                    "makes one"
                                  : "there is no such folder");
            return false;
        }
    }
    return true;
}

static int open_worlds(Serve *serve)
{
    const Status status = serve->config.many ? serve_worlds_open(serve) : serve_world_open(serve);
    if (status == STATUS_MALFORMED) {
        serve_say_damaged(serve, "the rows of this world are damaged");
    } else if (status != STATUS_OK) {
        serve_log_failure(serve->command, "the world's row: %s", status_text(status));
    }
    return status == STATUS_OK ? 0 : 1;
}

static int open_places(Serve *serve)
{
    const Status status =
        serve->config.control ? serve_built_in_open(serve) : serve_places_open(serve);
    if (status != STATUS_OK) {
        const char *disk = file_disk_problem(serve->data);
        return disk != NULL ? serve_data_failed(serve, "", disk) : 1;
    }
    return 0;
}

// With the signals of the main loop blocked, so that no thread of the store gets them.
static int open_data_quietly(Serve *serve)
{
    sigset_t wanted;
    loop_signals(&wanted);
    if (pthread_sigmask(SIG_BLOCK, &wanted, NULL) != 0) {
        return 1;
    }
    const int code = serve_data_open(serve);
    (void)pthread_sigmask(SIG_UNBLOCK, &wanted, NULL);
    return code;
}

static void tell_rooms(Serve *serve)
{
    atomic_store(&serve->is_ready,
                 serve->one_world != NULL
                     ? host_world_is_ready(serve->one_world) && !host_is_draining(serve->host)
                     : host_is_ready(serve->host) && host_disk(serve->host) == STORE_DISK_FINE);
    HostWorld *world;
    while ((world = host_take_changed(serve->host)) != NULL) {
        const HostWorldView view = host_world_view(world);
        if (view.state != WORLD_MAKING &&
            rooms_put(serve->rooms, world->number, view.row->world_id, view.row->room_code,
                      host_world_is_ready(world), view.row->is_private) != STATUS_OK) {
            hosted_changed(world); // no memory: later
            return;
        }
    }
}

static int open_http(Serve *serve)
{
    const WorkPoolConfig pool = {.thread_count = 2}, passwords = {.thread_count = 1};
    Status status = work_pool_create(&pool, &serve->pool);
    status = status == STATUS_OK ? work_pool_create(&passwords, &serve->password_pool) : status;
    status = status == STATUS_OK ? serve_issuer_open(serve) : status;
    status = status == STATUS_OK ? live_create(&serve->live) : status;
    status = status == STATUS_OK ? serve_backup_open(serve) : status;
    if (status == STATUS_OK && (serve->control != NULL || serve->config.dev)) {
        status = edit_drafts_open(serve);
    }
    status = status == STATUS_OK ? serve_http_start(serve) : status;
    if (status != STATUS_OK) {
        serve_log_failure(serve->command, "cannot listen on %s port %u: %s", serve->config.address,
                          serve->config.port,
                          status == STATUS_BLOCKED ? "the port is taken, or not ours to take"
                                                   : "that is no address");
        return 1;
    }
    place_build_recover(serve);
    edit_drafts_recover(serve);
    serve_handouts_recover(serve);
    return 0;
}

Control *serve_people(const Serve *serve)
{
    return serve->control != NULL ? serve->control : serve->guests;
}

static bool open_control(Serve *serve)
{
    if (serve->remote != NULL) {
        return true; // nobody signs in here
    }
    ControlConfig config = {.store = serve->store,
                            .is_shared = serve->config.store != NULL,
                            .data = serve->data,
                            .is_open = serve->config.has_open_registration,
                            .chat = serve->config.chat,
                            .guest_chat = serve->config.guest_chat,
                            .approves = serve->config.approves_listing,
                            .guests_only = !serve->config.control,
                            .oidc = &serve->config.oidc,
                            .clerk = &serve->config.clerk};
    memcpy(config.secret, serve->secret_key, sizeof config.secret);
    const Status status =
        control_create(&config, serve->config.control ? &serve->control : &serve->guests);
    if (status != STATUS_OK) {
        serve_log_failure(serve->command, "the sign-ins cannot be read: %s", status_text(status));
    } else if (serve->control != NULL) {
        serve_person_open(serve);
        if (control_chat(serve->control) == CHAT_PHRASES && !control_has_phrases(serve->control)) {
            serve_log(LOG_WARN, "chat",
                      "the setting chat is `phrases`, and there are none: nobody can say anything. "
                      "PUT /admin/phrases sets them");
        }
    }
    return status == STATUS_OK;
}

static bool is_loopback(const char *address)
{
    return strncmp(address, "127.", 4) == 0 || strcmp(address, "::1") == 0;
}

static int open_own(Serve *serve)
{
    if (!are_places(serve)) {
        return 1;
    }
    const char *refusal = serve_data_find(serve);
    if (refusal != NULL) {
        return serve_data_failed(serve, "", refusal);
    }
    cancel_on_signals(serve);
    // The places of `sandlot up` are in its store.
    int code = serve->config.control ? open_data_quietly(serve) : 0;
    code = code == 0 ? open_places(serve) : code;
    if (code != 0) {
        return code;
    }
    if (!open_loop(serve)) {
        serve_log_failure(serve->command, "%s", strerror(errno));
        return 1;
    }
    if (atomic_load(serve->cancel)) {
        serve_log_failure(serve->command, "%s: not started: cancelled", serve->config.places[0]);
        return 1;
    }
    return serve->config.control ? 0 : serve_data_open(serve);
}

static int open_remote(Serve *serve)
{
    serve->development = false; // its players come through the control plane
    if (serve->config.journal != NULL && strcmp(serve->config.journal, "off") != 0) {
        snprintf(serve->journal, sizeof serve->journal, "%s", serve->config.journal);
    }
    if (!open_loop(serve)) {
        fprintf(stderr, "%s: %s\n", serve->command, strerror(errno));
        return 1;
    }
    return serve_remote_open(serve);
}

static int open_serve(Serve *serve)
{
    const char *url = serve->config.public_url;
    serve->is_https = url != NULL && strncasecmp(url, "https:", 6) == 0;
    serve->development = !serve->config.has_secret && is_loopback(serve->config.address);
    char reason[WORKER_REASON_BYTES];
    serve->typescript_lack = typescript_lack(reason);
    if (serve->typescript_lack != TYPESCRIPT_LACKS_NOTHING) {
        serve_log(LOG_INFO, "build", "%s", reason);
    }
    entropy_fill(serve->boot, sizeof serve->boot);
    entropy_fill(serve->address_secret, sizeof serve->address_secret);
    raise_limits();
    host_bounds_open(&serve->bounds);
    if (places_create(serve) != STATUS_OK) {
        serve_log_failure(serve->command, "out of memory");
        return 1;
    }
    int code = serve->config.control_plane != NULL ? open_remote(serve) : open_own(serve);
    if (code != 0) {
        return code;
    }
    watch(serve, store_descriptor(serve->store), NULL);
    if (!open_control(serve) || serve_hosts_open(serve) != STATUS_OK ||
        serve_listing_open(serve) != STATUS_OK) {
        return 1;
    }
    if (serve->journal[0] != '\0' &&
        journal_writer_create(log_journal, &serve->journals) != STATUS_OK) {
        serve_log_failure(serve->command, "no thread for journals");
        return 1;
    }
    if (serve_peers_open(serve) != STATUS_OK || serve_fleet_open(serve) != STATUS_OK ||
        make_host(serve) != STATUS_OK) {
        serve_log_failure(serve->command, "out of memory");
        return 1;
    }
    code = serve->remote != NULL ? serve_remote_world(serve) : open_worlds(serve);
    if (code != 0) {
        return code;
    }
    tell_rooms(serve); // before anybody can ask
    code = open_http(serve);
    return code == 0 && serve_peers_start(serve) != STATUS_OK ? 1 : code;
}

static void close_serve(Serve *serve)
{
    edit_drafts_stop(serve);
    http_stop(serve->http);
    dev_close(serve);
    serve_logs_stop(serve);
    serve_scripts_stop(serve);
    serve->http = NULL; // sockets are counted no more
    serve_report_stop(serve);
    serve_reload_stop(serve);
    serve_peers_stop(serve);
    work_pool_destroy(serve->pool);
    work_pool_destroy(serve->password_pool);
    work_pool_destroy(serve->issuer_pool);
    edit_drafts_close(serve);
    serve_backup_close(serve);
    live_destroy(serve->live); // whoever waited for an answer has none any more
    serve_jobs_stop(serve);
    places_destroy(serve); // its thread writes into the mailbox; hosts wait for it
    mailbox_destroy(serve->mailbox);
    serve_hosts_close(serve);
    serve_remote_cancel(serve);
    control_destroy(serve->control);
    control_destroy(serve->guests);
    host_destroy(serve->host);
    serve_peers_close(serve);
    serve_fleet_close(serve);
    journal_writer_destroy(serve->journals);
    serve_listing_close(serve);
    serve_data_close(serve);
    serve_remote_close(serve);
    serve_report_close(serve);
    serve_reload_close(serve);
    host_bounds_close(&serve->bounds);
    rooms_destroy(serve->rooms);
    free(serve->text);
    free(serve->list_text);
    if (serve->epoll >= 0) {
        close(serve->epoll);
    }
    if (serve->signals >= 0) {
        close(serve->signals);
    }
}

// --- the loop -----------------------------------------------------------------------------------

static void begin_stop(Serve *serve)
{
    atomic_store(&serve->is_stopping, true);
    host_stop(serve->host, STOP_MS);
}

static void take_signals(Serve *serve)
{
    struct signalfd_siginfo info;
    while (read(serve->signals, &info, sizeof info) == sizeof info) {
        serve_log(LOG_INFO, "host", "signal %u: stopping", info.ssi_signo);
        begin_stop(serve);
    }
    if (serve->stop_ns != 0 && clock_ns() >= serve->stop_ns) {
        serve->stop_ns = 0;
        serve_log(LOG_INFO, "host", "an operator said so: stopping");
        begin_stop(serve);
    }
}

static void write_control(void *user, bool ends)
{
    Serve *serve = user;
    if (!ends) {
        control_write(serve_people(serve));
    }
}

static void step_control(Serve *serve)
{
    StoreBan ban;
    while (serve->control != NULL && control_take_ban_change(serve->control, &ban)) {
        serve_rules_changed(serve, ban.account_id, ban.world_id);
    }
    serve_chat_step(serve);
    if (serve_people(serve) != NULL && control_step(serve_people(serve))) {
        status_ignore(work_pool_submit(serve->pool, write_control, serve)); // or a minute later
    }
}

static void look(Serve *serve)
{
    struct epoll_event events[EVENTS_PER_LOOK];
    HostWorld *worlds[EVENTS_PER_LOOK];
    const int count = epoll_wait(serve->epoll, events, EVENTS_PER_LOOK, LOOK_MS);
    for (int i = 0; i < count; i++) { // first, because receiving may end a link
        const HostLink *link = events[i].data.ptr;
        worlds[i] = link != NULL ? link_process_world(link) : NULL;
    }
    for (int i = 0; i < count; i++) {
        if (worlds[i] != NULL) {
            host_world_receive(worlds[i]);
        }
    }
    take_signals(serve);
    host_store_poll(serve->host);
    mailbox_run(serve->mailbox, serve, serve_take_socket);
    places_step(serve);
    host_step(serve->host);
    tell_rooms(serve);
    serve_logs_step(serve);
    serve_scripts_step(serve);
    serve_report_step(serve);
    serve_reload_step(serve);
    remote_reloads_step(serve);
    serve_fleet_step(serve);
    step_control(serve);
    serve_collect_step(serve);
    serve_listing_step(serve);
    live_step(serve);
    serve_backup_step(serve);
    dev_step(serve);
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

// Where players reach a host, for the control plane that leads them here.
static void tell_address(Serve *serve)
{
    HttpSite site;
    char address[64], reached[320];
    link_address(serve->config.address, address);
    const char *url =
        serve->config.host_url != NULL ? serve->config.host_url : serve->config.public_url;
    if (url != NULL && http_site_parse(url, &site)) {
        snprintf(reached, sizeof reached, "ws%.280s", site.origin + strlen("http"));
    } else {
        snprintf(reached, sizeof reached, "ws://%s:%u", address, (unsigned)http_port(serve->http));
    }
    host_set_address(serve->host, reached);
    snprintf(serve->reached, sizeof serve->reached, "%.*s", (int)sizeof serve->reached - 1,
             reached);
}

// Another host that has a row with our address. One that is gone without an end (of a machine that
// lost its data folder, say) does not renew it, and is waited for; one that lives would be led to
// in our place, or we in its. False: this host must not run.
static bool has_own_address(Serve *serve)
{
    StoreHost other = {.draining = false};
    uint64_t first = 0;
    if (serve->peers == NULL || serve->config.host_url == NULL ||
        serve->config.role == SERVE_CONTROL) {
        return true;
    }
    while (store_host_at(serve->store, serve->reached, serve->host_id, clock_unix_ms(), &other) ==
           STATUS_OK) {
        struct pollfd signals = {.fd = serve->signals, .events = POLLIN};
        if (first == 0) {
            first = other.expires_unix_ms;
            serve_log(LOG_WARN, "peers",
                      "host %s has the address %s too; waiting to see whether it is gone",
                      other.host_id, serve->config.host_url);
        } else if (other.expires_unix_ms > first) {
            serve_log_failure(serve->command,
                              "host %s on this database runs with host_url %s already; each "
                              "machine needs one of its own (host_url in sandlot.conf, --host-url)",
                              other.host_id, serve->config.host_url);
            return false;
        }
        if (poll(&signals, 1, 500) != 0) {
            break; // it is to end
        }
    }
    return true;
}

static void print_world(const Serve *serve, const char *address, unsigned port)
{
    const StoreWorld *row = host_world_view(serve->one_world).row;
    diagnostic_print(stdout, "world %s, room %s: %s", row->world_id, row->room_code, row->name);
    if (serve->remote != NULL) {
        diagnostic_print(stdout, "host  of %s, where players join", serve->config.control_plane);
        printf("join  ws://%s:%u/api/rooms/%s/ws\n", address, port, row->room_code);
        return;
    }
    if (serve->config.web == NULL) {
        printf("page  none: build/web is not there; run `make build`, or say --web DIR\n");
    } else {
        printf("%s  http://%s:%u/\n", serve->development ? "play" : "page", address, port);
    }
    printf("join  ws://%s:%u/api/rooms/%s/ws\n", address, port, row->room_code);
    if (serve->config.dev && serve->config.web != NULL) {
        diagnostic_print(stdout, "edit  http://%s:%u/studio/%s", address, port,
                         serve->default_place);
    }
    if (serve->config.dev) {
        diagnostic_print(stdout,
                         "dev   %s is watched: save a file, and the world runs it; Ctrl-C "
                         "stops it",
                         serve->config.places[0]);
    }
}

static void print_places(const Serve *serve, const char *address, unsigned port)
{
    printf("host  http://%s:%u/\n", address, port);
    for (uint32_t i = 0; places_host_place(serve, i) != NULL; i++) {
        const HostPlace *place = places_host_place(serve, i);
        diagnostic_print(stdout, "place %s: %s", place->place_id, place->built.facts.name);
    }
}

static void print_address(const Serve *serve)
{
    const unsigned port = http_port(serve->http);
    char address[64];
    link_address(serve->config.address, address);
    if (serve->config.control) {
        serve_log(LOG_INFO, "host", "listening on %s port %u", serve->config.address, port);
        serve_print_up(serve, address, port);
        return;
    }
    if (serve->config.many) {
        print_places(serve, address, port);
    } else {
        print_world(serve, address, port);
    }
    if (!serve->development && serve->remote == NULL && serve->control == NULL) {
        printf("note  nobody can join on %s yet: there are no accounts, and only a world on a "
               "loopback address\n      gives tickets to everybody. Without --address you can "
               "play, and others by `ssh -L %u:127.0.0.1:%u`\n",
               serve->config.address, port, port);
    }
    fflush(stdout);
}

static int run(Serve *serve)
{
    tell_address(serve);
    if (!has_own_address(serve)) {
        return 1;
    }
    if (serve->one_world != NULL) {
        host_world_run(serve->one_world);
    }
    print_address(serve);
    if (dev_open(serve) != STATUS_OK) {
        serve_log_failure(serve->command, "no thread to watch the folder");
        return 1;
    }
    while (!host_is_over(serve->host)) {
        look(serve);
    }
    if (serve->config.store != NULL && !host_has_failed(serve->host) &&
        host_disk(serve->host) == STORE_DISK_FINE) {
        status_ignore(store_host_leave(serve->store, serve->host_id, host_boot(serve->host)));
    }
    return host_has_failed(serve->host) ? 1 : 0;
}

int serve_run(const ServeConfig *config)
{
    Serve *serve = calloc(1, sizeof *serve);
    if (serve == NULL) {
        return 1;
    }
    serve->config = *config;
    serve->command = config->dev       ? "sandlot dev"
                     : config->control ? "sandlot up"
                     : config->many    ? "sandlot host"
                                       : "sandlot world";
    serve_log_open(config->log_format, config->log_level);
    serve->epoll = serve->signals = serve->lock_file = -1;
    pthread_mutex_init(&serve->build_lock, NULL);
    pthread_mutex_init(&serve->read_lock, NULL);
    for (uint32_t i = 0; i < SERVE_CLASS_LOCKS; i++) {
        pthread_mutex_init(&serve->class_locks[i], NULL);
    }
    int code = open_serve(serve);
    if (code == 0) {
        code = run(serve);
    }
    close_serve(serve);
    pthread_mutex_destroy(&serve->build_lock);
    pthread_mutex_destroy(&serve->read_lock);
    for (uint32_t i = 0; i < SERVE_CLASS_LOCKS; i++) {
        pthread_mutex_destroy(&serve->class_locks[i]);
    }
    free(serve);
    return code;
}

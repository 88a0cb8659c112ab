// What tools/bench_control and tools/bench_listing need beside the program: the least that an HTTP
// server of the same library does ("hello"), the least that sends a file ("file"), and a database
// with many worlds ("fill") or many places that are listed ("places").
#define _GNU_SOURCE
#include "server/store/place/store_listing.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <microhttpd.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static enum MHD_Result say_hello(void *user, struct MHD_Connection *connection, const char *url,
                                 const char *method, const char *version, const char *data,
                                 size_t *bytes, void **context)
{
    static char text[] = "{\"hello\":\"world\"}";
    static int begun;
    (void)user, (void)url, (void)method, (void)version, (void)data;
    if (*context == NULL) {
        *context = &begun;
        return MHD_YES;
    }
    if (*bytes > 0) {
        *bytes = 0;
        return MHD_YES;
    }
    struct MHD_Response *reply =
        MHD_create_response_from_buffer(sizeof text - 1, text, MHD_RESPMEM_PERSISTENT);
    const enum MHD_Result queued = MHD_queue_response(connection, MHD_HTTP_OK, reply);
    MHD_destroy_response(reply);
    return queued;
}

// Until its standard input ends.
static int hello(void)
{
    struct MHD_Daemon *daemon = MHD_start_daemon(MHD_USE_INTERNAL_POLLING_THREAD | MHD_USE_EPOLL, 0,
                                                 NULL, NULL, say_hello, NULL, MHD_OPTION_END);
    const union MHD_DaemonInfo *info =
        daemon != NULL ? MHD_get_daemon_info(daemon, MHD_DAEMON_INFO_BIND_PORT) : NULL;
    if (info == NULL) {
        return EXIT_FAILURE;
    }
    printf("%u\n", info->port);
    fflush(stdout);
    (void)getchar();
    MHD_stop_daemon(daemon);
    return EXIT_SUCCESS;
}

// --- the least that sends a file ----------------------------------------------------------------

// Answers every request of one connection, each a GET in one piece, with the whole file.
static void *send_files(void *user)
{
    const int *both = user; // the connection, the file
    char request[4096], head[128];
    struct stat about;
    bool is_fine = fstat(both[1], &about) == 0;
    const int bytes = snprintf(head, sizeof head, "HTTP/1.1 200 OK\r\nContent-Length: %lld\r\n\r\n",
                               (long long)about.st_size);
    while (is_fine && recv(both[0], request, sizeof request, 0) > 0) {
        off_t at = 0;
        is_fine = send(both[0], head, (size_t)bytes, MSG_MORE) == bytes;
        while (is_fine && at < about.st_size) {
            is_fine = sendfile(both[0], both[1], &at, (size_t)(about.st_size - at)) > 0;
        }
    }
    close(both[0]);
    free(user);
    return NULL;
}

// Until it is killed.
static int file_server(const char *path)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
    socklen_t bytes = sizeof address;
    const int file = open(path, O_RDONLY), server = socket(AF_INET, SOCK_STREAM, 0);
    if (file < 0 || bind(server, (struct sockaddr *)&address, bytes) != 0 ||
        listen(server, 64) != 0 || getsockname(server, (struct sockaddr *)&address, &bytes) != 0) {
        return EXIT_FAILURE;
    }
    signal(SIGPIPE, SIG_IGN); // clients come and go
    printf("%u\n", ntohs(address.sin_port));
    fflush(stdout);
    for (;;) {
        pthread_t thread;
        int *both = malloc(2 * sizeof *both);
        if (both == NULL) {
            return EXIT_FAILURE;
        }
        both[0] = accept(server, NULL, NULL);
        both[1] = file;
        if (both[0] < 0 || pthread_create(&thread, NULL, send_files, both) != 0) {
            return EXIT_FAILURE;
        }
        pthread_detach(thread);
    }
}

// NULL: the reason is on standard error.
static Store *open_store(const char *path)
{
    StoreConfig config = store_config_default();
    config.path = path;
    config.commit_ms = 1;
    config.manual = true; // one thread: each call commits at once
    Store *store = NULL;
    char reason[256] = "";
    if (store_open(&config, &store, reason, sizeof reason) != STATUS_OK) {
        fprintf(stderr, "control_helper: %s: %s\n", path, reason);
    }
    return store;
}

// Worlds like the one that is there.
static int fill(const char *path, uint32_t count)
{
    Store *store = open_store(path);
    StoreWorld world;
    if (store == NULL || store_worlds(store, &world, 1) != 1) {
        fprintf(stderr, "control_helper: %s: there is no world\n", path);
        return EXIT_FAILURE;
    }
    for (uint32_t i = 0; i < count; i++) {
        snprintf(world.world_id, sizeof world.world_id, "world_bench%06u", i);
        snprintf(world.room_code, sizeof world.room_code, "B%05u", i);
        world.created_unix_ms += 1;
        if (store_world_put(store, &world) != STATUS_OK) {
            fprintf(stderr, "control_helper: world %u could not be written\n", i);
            return EXIT_FAILURE;
        }
    }
    store_close(store);
    return EXIT_SUCCESS;
}

// --- places -------------------------------------------------------------------------------------

#define CREATORS      50
#define FIRST_CREATOR 1000000 // an account that nobody has registered

static const char *const adjectives[] = {"Lost",   "Frozen",   "Tiny",    "Burning",
                                         "Silent", "Golden",   "Endless", "Broken",
                                         "Secret", "Floating", "Ancient"};
static const char *const nouns[] = {"Tower", "Maze",   "Island", "Race", "Castle",  "Obby",  "Farm",
                                    "Ship",  "Valley", "Arena",  "Cave", "Kingdom", "School"};
static const char *const tags[] = {"obby", "race", "co-op", "building", "quiet", "puzzle", "fight"};
#define PICK(list, number) (list)[(number) % (sizeof(list) / sizeof(list)[0])]

static bool make_creator(Store *store, uint32_t number)
{
    StoreAccount account = {.account_id = FIRST_CREATOR + number, .created_unix_ms = 1};
    snprintf(account.name, sizeof account.name, "creator%u", number);
    snprintf(account.shown_name, sizeof account.shown_name, "Creator %u", number);
    return store_account_put(store, &account, NULL) == STATUS_OK;
}

// With an id of its own, or one made of the number. One that is there stays as it is.
static bool make_place(Store *store, uint32_t number, const char *id)
{
    StorePackage package = {.kind = STORE_PLACE,
                            .owner_id = FIRST_CREATOR + number % CREATORS,
                            .visibility = STORE_LISTED,
                            .flags = number % 3 == 0 ? STORE_PACKAGE_OPEN : 0,
                            .created_unix_ms = 1700000000000 + number};
    StoreRevision revision = {.maker_id = package.owner_id,
                              .state = STORE_REVISION_READY,
                              .package_hash = {1},
                              .package_bytes = 1};
    const char *const chosen[] = {PICK(tags, number), PICK(tags, number / 5)};
    if (id != NULL) {
        snprintf(package.package_id, sizeof package.package_id, "%s", id);
    } else {
        snprintf(package.package_id, sizeof package.package_id, "place_bench-%06u", number);
    }
    snprintf(package.title, sizeof package.title, "The %s %s %u", PICK(adjectives, number),
             PICK(nouns, number / 7), number);
    snprintf(package.description, sizeof package.description,
             "Number %u: run, jump and build with friends in the %s %s. Find all %u coins before "
             "the water rises, and beat the time of the %s team.",
             number, PICK(adjectives, number / 3), PICK(nouns, number / 11), number % 90,
             PICK(adjectives, number / 13));
    memcpy(revision.package_id, package.package_id, sizeof revision.package_id);
    const Status status = store_package_make(store, &package, UINT32_MAX);
    if (status == STATUS_EXISTS) {
        return true;
    }
    return status == STATUS_OK && store_revision_add(store, &revision, UINT64_MAX) == STATUS_OK &&
           store_channel_set(store, package.package_id, STORE_LIVE, revision.revision,
                             package.created_unix_ms, NULL) == STATUS_OK &&
           store_tags_put(store, package.package_id, chosen, 2) == STATUS_OK;
}

// Some are played more than others.
static bool play(Store *store, uint32_t count)
{
    for (uint32_t i = 0; i < count; i += 3) {
        StoreVisit visits[CREATORS];
        uint32_t visit_count = 0;
        for (; visit_count < i % CREATORS; visit_count++) {
            visits[visit_count] = (StoreVisit){.account = FIRST_CREATOR + visit_count,
                                               .unix_ms = (uint64_t)time(NULL) * 1000};
            snprintf(visits[visit_count].package_id, sizeof visits[0].package_id,
                     "place_bench-%06u", i);
        }
        const StorePlayBatch batch = {.visits = visits, .visit_count = visit_count};
        if (store_plays_add(store, &batch) != STATUS_OK) {
            return false;
        }
    }
    return true;
}

static int places(const char *path, uint32_t count, char **ids)
{
    Store *store = open_store(path);
    bool is_good = store != NULL;
    for (uint32_t i = 0; i < CREATORS && is_good; i++) {
        is_good = make_creator(store, i);
    }
    for (uint32_t i = 0; i < count && is_good; i++) {
        is_good = make_place(store, i, NULL);
    }
    for (; *ids != NULL && is_good; ids++) {
        is_good = make_place(store, count, *ids);
    }
    if (!is_good || !play(store, count)) {
        fprintf(stderr, "control_helper: the places could not be written\n");
        return EXIT_FAILURE;
    }
    store_close(store);
    return EXIT_SUCCESS;
}

int main(int argc, char **argv)
{
    if (argc == 2 && strcmp(argv[1], "hello") == 0) {
        return hello();
    }
    if (argc == 4 && strcmp(argv[1], "fill") == 0) {
        return fill(argv[2], (uint32_t)strtoul(argv[3], NULL, 10));
    }
    if (argc >= 4 && strcmp(argv[1], "places") == 0) {
        return places(argv[2], (uint32_t)strtoul(argv[3], NULL, 10), argv + 4);
    }
    if (argc == 3 && strcmp(argv[1], "file") == 0) {
        return file_server(argv[2]);
    }
    fprintf(stderr, "usage: control_helper hello | file PATH | fill DATABASE COUNT | "
                    "places DATABASE COUNT [ID]...\n");
    return 2;
}

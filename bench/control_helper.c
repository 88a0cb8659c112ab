// What tools/bench_control needs beside the program: the least that an HTTP server of the same
// library does ("hello"), and a database with many worlds ("fill").
#include "server/store/store.h"

#include <microhttpd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

// Worlds like the one that is there.
static int fill(const char *path, uint32_t count)
{
    StoreConfig config = store_config_default();
    config.path = path;
    config.commit_ms = 1;
    config.manual = true; // one thread: each call commits at once
    Store *store = NULL;
    char reason[256] = "";
    StoreWorld world;
    if (store_open(&config, &store, reason, sizeof reason) != STATUS_OK ||
        store_worlds(store, &world, 1) != 1) {
        fprintf(stderr, "control_helper: %s: %s\n", path, reason);
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

int main(int argc, char **argv)
{
    if (argc == 2 && strcmp(argv[1], "hello") == 0) {
        return hello();
    }
    if (argc == 4 && strcmp(argv[1], "fill") == 0) {
        return fill(argv[2], (uint32_t)strtoul(argv[3], NULL, 10));
    }
    fprintf(stderr, "usage: control_helper hello | fill DATABASE COUNT\n");
    return 2;
}

// Saving and building over HTTP, for an editor beside a world that runs in development: see
// docs/HTTP.md. What touches the disk runs on the pool.
#pragma once

#include "core/script/vm/vm.h"
#include "server/net/http.h"

typedef struct Host Host;

// A script of the largest kind whose every byte is escaped, and what is around it.
#define HOST_BUILD_BODY_BYTES (VM_SOURCE_BYTES_MAX * 6 + 4096)

void host_build_post_save(void *user, HttpRequest *request, HttpResponse *response);
void host_build_get_script(void *user, HttpRequest *request, HttpResponse *response);
void host_build_get_job(void *user, HttpRequest *request, HttpResponse *response);
void host_build_delete_job(void *user, HttpRequest *request, HttpResponse *response);

#define HOST_BUILD_ROUTES                                                                 \
    {"POST", "/api/script/save", host_build_post_save, .body_max = HOST_BUILD_BODY_BYTES, \
     .blocks = true},                                                                     \
        {"GET", "/api/script", .handler = host_build_get_script, .blocks = true},         \
        {"GET", "/api/jobs/*", .handler = host_build_get_job},                            \
    {                                                                                     \
        "DELETE", "/api/jobs/*", .handler = host_build_delete_job                         \
    }

// Ends the builds that run. After the HTTP server has stopped.
void host_build_stop(Host *host);

// Saving and building over HTTP, for an editor beside a world that runs in development: see
// docs/HTTP.md. What touches the disk runs on the pool.
#pragma once

#include "core/script/vm/vm.h"
#include "server/net/http.h"

typedef struct Serve Serve;

// A script of the largest kind whose every byte is escaped, and what is around it.
#define SERVE_BUILD_BODY_BYTES (VM_SOURCE_BYTES_MAX * 6 + 4096)

void serve_build_post_save(void *user, HttpRequest *request, HttpResponse *response);
void serve_build_get_script(void *user, HttpRequest *request, HttpResponse *response);
void serve_build_get_job(void *user, HttpRequest *request, HttpResponse *response);
void serve_build_delete_job(void *user, HttpRequest *request, HttpResponse *response);

#define SERVE_BUILD_ROUTES                                                                  \
    {"POST", "/api/script/save", serve_build_post_save, .body_max = SERVE_BUILD_BODY_BYTES, \
     .blocks = true},                                                                       \
        {"GET", "/api/script", .handler = serve_build_get_script, .blocks = true},          \
        {"GET", "/api/jobs/*", .handler = serve_build_get_job},                             \
    {                                                                                       \
        "DELETE", "/api/jobs/*", .handler = serve_build_delete_job                          \
    }

// Ends the builds that run. After the HTTP server has stopped.
void serve_build_stop(Serve *serve);

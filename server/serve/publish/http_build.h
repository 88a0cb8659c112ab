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

// clang-format off
#define SERVE_BUILD_JOB                                                               \
    "job_id status stage? progress_pct:integer done:integer total:integer item?:any " \
    "log:array reason?:any errors:integer warnings:integer compiled?:integer "         \
    "cached?:integer made:array reload? reloaded_worlds?:integer "                     \
    "manifest_version?:integer reload_reason? reload_settled?:boolean worlds?:array "  \
    "result_revision_id:any"
#define SERVE_BUILD_ROUTES                                                                    \
    {"POST",                                                                                  \
     "/api/script/save",                                                                      \
     serve_build_post_save,                                                                   \
     .body_max = SERVE_BUILD_BODY_BYTES,                                                      \
     .blocks = true,                                                                          \
     .takes = "id code knownHash?:any",                                                       \
     .gives = "id path hash codeHash job_id:any",                                             \
     .fails = "401 403 404 409 507",                                                          \
     .summary = "Saves a script of a draft, or in development, if it is what the editor knew"},       \
        {"GET",                                                                               \
         "/api/script",                                                                       \
         .handler = serve_build_get_script,                                                   \
         .blocks = true,                                                                      \
         .takes = "id",                                                                       \
         .gives = "id path hash codeHash code:any",                                           \
         .fails = "401 403 404 413",                                                          \
         .summary = "A script of a draft, or in development, as it is on disk"},                             \
        {"GET",                                                                               \
         "/api/jobs/*",                                                                       \
         .handler = serve_build_get_job,                                                      \
         .blocks = true,                                                                      \
         .gives = SERVE_BUILD_JOB,                                                            \
         .fails = "403 404",                                                                  \
         .summary = "How far a build is"},                                                    \
    {                                                                                         \
        "DELETE", "/api/jobs/*", .handler = serve_build_delete_job, .gives = SERVE_BUILD_JOB, \
                                 .fails = "403 404", .blocks = true,                          \
                                 .summary = "Cancels a build, for everybody who shares it"    \
    }

// clang-format on

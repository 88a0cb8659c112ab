// What the operator's pages ask for beside http_admin.h: builds with their logs, who stores how
// much, and backups.
#pragma once

#include "server/serve/http/http_routes.h"

void serve_admin_get_jobs(void *user, HttpRequest *request, HttpResponse *response);
void serve_admin_get_storage(void *user, HttpRequest *request, HttpResponse *response);

// --- http_backup.c ------------------------------------------------------------------------------
MUST_USE Status serve_backup_open(Serve *serve);
void serve_backup_close(Serve *serve); // ends one that runs
void serve_backup_step(Serve *serve);  // on the main thread
void serve_admin_get_backups(void *user, HttpRequest *request, HttpResponse *response);
void serve_admin_post_backup(void *user, HttpRequest *request, HttpResponse *response);
void serve_admin_delete_backup(void *user, HttpRequest *request, HttpResponse *response);

// clang-format off
#define SERVE_OPERATE_ROUTES \
    {"GET", "/admin/jobs", .handler = serve_admin_get_jobs, .access = ACCESS_MACHINE, \
     .blocks = true, .takes = "limit?:integer", .gives = "jobs:array", \
     .summary = "Builds that run, wait or ended lately, with their logs, the newest first"}, \
    {"GET", "/admin/storage", .handler = serve_admin_get_storage, .access = ACCESS_MACHINE, \
     .blocks = true, .takes = "limit?:integer", .fails = "409", \
     .gives = "accounts:array account_bytes_max:integer disk_free_bytes:integer disk_total_bytes:integer", \
     .summary = "Who stores how much, the most first, and how much room the disk has"}, \
    {"GET", "/admin/backups", .handler = serve_admin_get_backups, .access = ACCESS_MACHINE, \
     .blocks = true, \
     .gives = "state name:any began:any ended:any bytes_written:integer reason:any folder backups:array", \
     .summary = "How the last backup goes or went, and those that lie in its folder"}, \
    {"POST", "/admin/backups", .handler = serve_admin_post_backup, .access = ACCESS_MACHINE, \
     .gives = "202 state name", .fails = "409 507", \
     .summary = "Begins a backup of the data folder, into a folder beside it"}, \
    {"DELETE", "/admin/backups/*", .handler = serve_admin_delete_backup, \
     .access = ACCESS_MACHINE, .blocks = true, .names = "name", .gives = "name", .fails = "404", \
     .summary = "Deletes a backup for good, or cancels the one that is being made"}
// clang-format on

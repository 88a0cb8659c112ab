// `sandlot world --world ID --control-plane URL`: a host that keeps nothing. It registers with its
// host key, fetches the place, and its store is the control plane's (store_remote.h). Tickets and
// manifests are signed there; here they are only checked.
#pragma once

#include "server/serve/serve_inside.h"

// Says what is wrong; 0, or the exit code.
int serve_remote_open(Serve *serve);    // its place, key and store
int serve_remote_world(Serve *serve);   // and its world; after the host is made
void serve_remote_cancel(Serve *serve); // nothing more is waited for
void serve_remote_close(Serve *serve);  // after the store is closed
// serve_report.c: what this host says of its world once a second, and does as it is answered. They
// do nothing in other servers.
MUST_USE Status serve_report_open(Serve *serve, const char *key); // as remote_http_create
void serve_report_step(Serve *serve);
void serve_report_stop(Serve *serve);  // before the pool ends
void serve_report_close(Serve *serve); // after it
// The control plane's time: tickets expire by it.
uint64_t serve_remote_unix_ms(const Serve *serve);

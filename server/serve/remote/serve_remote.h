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
// serve_reload.c: new scripts for its world, as the control plane orders, and what they cost. They
// do nothing in other servers, but for those that an order or a report calls.
MUST_USE Status serve_reload_open(Serve *serve, const char *key); // as remote_http_create
void serve_reload_step(Serve *serve);
void serve_reload_stop(Serve *serve);  // before the pool ends
void serve_reload_close(Serve *serve); // after it
// A form of the place that the world may run.
void serve_reload_form(Serve *serve, HostPlace *place, const uint8_t hash[32],
                       const uint8_t revision[32]);
// The revision that the world would begin with now; NULL: nobody knows.
const uint8_t *serve_reload_revision(const Serve *serve);
void serve_reload_order(Serve *serve, uint64_t order, const uint8_t hash[32],
                        const uint8_t revision[32], bool is_now);
// Whether the last order said that a world that has to start again does so at once.
bool serve_reload_is_now(const Serve *serve);
void serve_reload_wants_costs(Serve *serve, bool wants);
void serve_reload_write(Serve *serve, JsonWriter *json); // members of a report
// HostOutside.
void serve_reload_sign(void *user, HostWorld *world, HostPlace *place, uint32_t version,
                       uint64_t tick);
// serve_remote.c: the place of these bytes, if they have that hash.
struct RemoteHttpReply;
MUST_USE Status serve_remote_make_place(Serve *serve, const struct RemoteHttpReply *reply,
                                        const uint8_t hash[32], ServePlace **out, char *why,
                                        size_t why_bytes);
bool serve_remote_read_hex(const char *text, uint8_t out[32]); // 64 digits
// The world may begin with another form of its place from now on.
void serve_remote_replaced(Serve *serve);
// The control plane's time: tickets expire by it.
uint64_t serve_remote_unix_ms(const Serve *serve);

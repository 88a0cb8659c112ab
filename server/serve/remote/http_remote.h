// Batches of hosts on other machines, on the main thread: see http_host.h.
#pragma once

#include "server/serve/remote/http_host.h"
#include "server/serve/serve_inside.h"
#include "server/store/people/store_host_key.h"

#define REMOTE_HOSTS_MAX 256 // whose last reply is kept
#define REMOTE_ASKS_MAX  64  // registrations that wait

// Something that was asked of the store for a host. It stays where it is until it is answered.
typedef struct RemoteAsk RemoteAsk;
struct RemoteAsk {
    void (*answer)(RemoteAsk *ask, StoreCompletion *done);
};
uint64_t remote_ask_tag(RemoteAsk *ask);
// One with a request of its own, which is refused if the server ends first. False: too many.
bool remote_ask_begin(Serve *serve, RemoteAsk *ask, HttpDeferred *deferred);
void remote_ask_end(Serve *serve, const RemoteAsk *ask);

MUST_USE Status remote_hosts_create(RemoteHosts **out);
void remote_hosts_destroy(RemoteHosts *hosts); // NULL is allowed

// Which host it is: the key's id, and a number for the world. So one key serves for all worlds of a
// machine, and two processes for one world with one key are the same host.
void remote_host_id(const StoreHostKey *key, const char *world_id, char out[65]);
// A MailHandler.
bool remote_hosts_batch(void *user, HttpDeferred *deferred, HttpResponse *response);

// The place of a world that a host may run, as it is now, with a reference; NULL: it is not open.
ServePlace *serve_place_of_world(const Serve *serve, const HostWorld *world);

// How HTTP threads reach the main thread. A request that concerns worlds is answered later: its
// handler runs on the main thread, where the Host is. A WebSocket is handed over the same way.
// Nothing is called while the lock is held.
#pragma once

#include "server/host/host.h"
#include "server/net/http.h"

typedef struct Mailbox Mailbox;

MUST_USE Status mailbox_create(Mailbox **out);
void mailbox_destroy(Mailbox *mailbox);         // refuses what is left; NULL is allowed
int mailbox_descriptor(const Mailbox *mailbox); // readable when something came

// True: answered. False: the handler keeps the handle and answers later.
typedef bool (*MailHandler)(void *user, HttpDeferred *deferred, HttpResponse *response);
// On an HTTP thread, in place of an answer.
void mailbox_ask(Mailbox *mailbox, HttpRequest *request, HttpResponse *response,
                 MailHandler handler);

// From any thread: `run` is called once on the main thread with mailbox_run's user, after what came
// before. STATUS_LIMIT: too many wait.
typedef void (*MailRun)(void *user, void *what);
MUST_USE Status mailbox_post(Mailbox *mailbox, MailRun run, void *what);
// From any thread, for a request that is deferred already.
void mailbox_pass(Mailbox *mailbox, HttpDeferred *deferred, MailHandler handler);

typedef struct MailSocket {
    char world[65]; // its id or room code
    HostSocket socket;
} MailSocket;
// STATUS_LIMIT: too many wait; the socket is still the caller's.
MUST_USE Status mailbox_put_socket(Mailbox *mailbox, const MailSocket *mail);

// On the main thread: everything that has come. Sockets are given one by one.
void mailbox_run(Mailbox *mailbox, void *user, void (*take)(void *user, const MailSocket *mail));

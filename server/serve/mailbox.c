// See mailbox.h.
#define _GNU_SOURCE
#include "server/serve/mailbox.h"

#include "core/base/check.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#define SOCKETS_MAX  2048
#define REQUESTS_MAX 4096
#define POSTS_MAX    1024

typedef struct MailRequest {
    HttpDeferred *deferred;
    MailHandler handler;
} MailRequest;

typedef struct MailPost {
    MailRun run;
    void *what;
} MailPost;

// Two of each: one is filled while the other is worked on.
typedef struct Pile {
    MailRequest requests[REQUESTS_MAX];
    MailSocket sockets[SOCKETS_MAX];
    MailPost posts[POSTS_MAX];
    uint32_t request_count, socket_count, post_count;
} Pile;

struct Mailbox {
    pthread_mutex_t lock;
    Pile *filling, *working;
    int wake;
};

Status mailbox_create(Mailbox **out)
{
    Mailbox *mailbox = calloc(1, sizeof *mailbox);
    if (mailbox == NULL) {
        return STATUS_LIMIT;
    }
    pthread_mutex_init(&mailbox->lock, NULL);
    mailbox->filling = calloc(1, sizeof *mailbox->filling);
    mailbox->working = calloc(1, sizeof *mailbox->working);
    mailbox->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (mailbox->filling == NULL || mailbox->working == NULL || mailbox->wake < 0) {
        mailbox_destroy(mailbox);
        return STATUS_LIMIT;
    }
    *out = mailbox;
    return STATUS_OK;
}

static void refuse_all(Pile *pile)
{
    for (uint32_t i = 0; i < pile->request_count; i++) {
        HttpResponse response = http_response_default();
        HttpRequest *request = http_deferred_request(pile->requests[i].deferred);
        http_fail(request, &response, 503, "stopping", "this server is going down");
        http_complete(pile->requests[i].deferred, &response);
    }
    for (uint32_t i = 0; i < pile->socket_count; i++) {
        close(pile->sockets[i].socket.descriptor);
        free(pile->sockets[i].socket.already);
    }
}

void mailbox_destroy(Mailbox *mailbox)
{
    if (mailbox == NULL) {
        return;
    }
    if (mailbox->filling != NULL) {
        refuse_all(mailbox->filling);
    }
    free(mailbox->filling);
    free(mailbox->working);
    if (mailbox->wake >= 0) {
        close(mailbox->wake);
    }
    pthread_mutex_destroy(&mailbox->lock);
    free(mailbox);
}

int mailbox_descriptor(const Mailbox *mailbox)
{
    return mailbox->wake;
}

static void wake(Mailbox *mailbox)
{
    const uint64_t one = 1;
    if (write(mailbox->wake, &one, sizeof one) != sizeof one) {
        return; // the main thread is awake already
    }
}

void mailbox_pass(Mailbox *mailbox, HttpDeferred *deferred, MailHandler handler)
{
    pthread_mutex_lock(&mailbox->lock);
    Pile *pile = mailbox->filling;
    const bool fits = pile->request_count < REQUESTS_MAX;
    if (fits) {
        pile->requests[pile->request_count++] = (MailRequest){deferred, handler};
    }
    pthread_mutex_unlock(&mailbox->lock);
    if (fits) {
        wake(mailbox);
        return;
    }
    HttpResponse refusal = http_response_default();
    http_fail(http_deferred_request(deferred), &refusal, 503, "busy",
              "too many ask at once; try again");
    http_complete(deferred, &refusal);
}

Status mailbox_post(Mailbox *mailbox, MailRun run, void *what)
{
    pthread_mutex_lock(&mailbox->lock);
    Pile *pile = mailbox->filling;
    const bool fits = pile->post_count < POSTS_MAX;
    if (fits) {
        pile->posts[pile->post_count++] = (MailPost){run, what};
    }
    pthread_mutex_unlock(&mailbox->lock);
    wake(mailbox);
    return fits ? STATUS_OK : STATUS_LIMIT;
}

void mailbox_ask(Mailbox *mailbox, HttpRequest *request, HttpResponse *response,
                 MailHandler handler)
{
    HttpDeferred *deferred = http_defer(request, response);
    if (deferred != NULL) { // or the response says so
        mailbox_pass(mailbox, deferred, handler);
    }
}

Status mailbox_put_socket(Mailbox *mailbox, const MailSocket *mail)
{
    pthread_mutex_lock(&mailbox->lock);
    Pile *pile = mailbox->filling;
    const bool fits = pile->socket_count < SOCKETS_MAX;
    if (fits) {
        pile->sockets[pile->socket_count++] = *mail;
    }
    pthread_mutex_unlock(&mailbox->lock);
    wake(mailbox);
    return fits ? STATUS_OK : STATUS_LIMIT;
}

void mailbox_run(Mailbox *mailbox, void *user, void (*take)(void *user, const MailSocket *mail))
{
    uint64_t count;
    while (read(mailbox->wake, &count, sizeof count) == sizeof count) {
    }
    pthread_mutex_lock(&mailbox->lock);
    Pile *pile = mailbox->filling;
    mailbox->filling = mailbox->working;
    mailbox->working = pile;
    pthread_mutex_unlock(&mailbox->lock);
    for (uint32_t i = 0; i < pile->post_count; i++) {
        pile->posts[i].run(user, pile->posts[i].what);
    }
    for (uint32_t i = 0; i < pile->request_count; i++) {
        HttpResponse response = http_response_default();
        HttpDeferred *deferred = pile->requests[i].deferred;
        http_thread_serves(http_deferred_request(deferred));
        if (pile->requests[i].handler(user, deferred, &response)) {
            http_complete(deferred, &response);
        }
        http_thread_serves(NULL);
    }
    for (uint32_t i = 0; i < pile->socket_count; i++) {
        take(user, &pile->sockets[i]);
    }
    pile->request_count = pile->socket_count = pile->post_count = 0;
}

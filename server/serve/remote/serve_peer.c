// See serve_peer.h.
#define _GNU_SOURCE
#include "server/serve/remote/serve_peer.h"

#include "core/base/sha256.h"
#include "server/serve/http/http_routes.h"
#include "server/serve/place/places.h"
#include "server/serve/remote/remote_http.h"
#include "server/serve/remote/serve_fleet.h"
#include "server/store/world/store_event.h"
#include "server/sys/clock.h"
#include "server/sys/entropy.h"

#include <inttypes.h>
#include <netdb.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdio.h>
#include <strings.h>
#include <unistd.h>

#define THREADS    8
#define CONNECT_MS 1000
#define RESOLVE_NS (3 * UINT64_C(1000000000))

struct Question;
struct ServePeers {
    WorkPool *pool;
    pthread_mutex_t lock;
    struct Question *done; // with their answers, for the main thread
    atomic_bool cancel;
    PeerNonces nonces; // the main thread's
    _Atomic uint64_t warned_ns, same_warned_ns;
    struct ServeEvents *events;
    uint64_t work_us, looked_ns; // of all worlds, when the load was last told
    // Where pages of other hosts come from, for the HTTP threads.
    pthread_mutex_t origins_lock;
    char (*origins)[HTTP_SITE_BYTES];
    uint32_t origin_count;
};

// --- asking -------------------------------------------------------------------------------------

typedef struct Question {
    struct Question *next;
    Serve *serve;
    HostPeerAsk ask;
    HostPeerAnswer answer;
    uint8_t key[SIGNING_PUBLIC_BYTES]; // of whom it goes to
    char url[STORE_ADDRESS_BYTES + 8];
    uint8_t nonce[16];
    uint8_t bytes[PEER_MESSAGE_BYTES];
    size_t count;
    PeerThen then; // NULL: the host's
    void *what;
    uint8_t *body; // from malloc, with the reply in it
    PeerReply reply;
    bool has_reply;
} Question;

static void free_question(Question *question)
{
    free(question->body);
    free(question);
}

static Question *take_done(struct ServePeers *peers)
{
    pthread_mutex_lock(&peers->lock);
    Question *question = peers->done;
    peers->done = question != NULL ? question->next : NULL;
    pthread_mutex_unlock(&peers->lock);
    return question;
}

// On the main thread.
static void give_answers(void *user, void *what)
{
    Serve *serve = user;
    (void)what;
    for (Question *done = take_done(serve->peers); done != NULL; done = take_done(serve->peers)) {
        if (done->then != NULL) {
            done->then(serve, done->what, done->has_reply ? &done->reply : NULL);
        } else {
            host_peer_answer(serve->host, done->ask.tag, &done->answer);
        }
        free_question(done);
    }
}

#define WARN_NS (60 * UINT64_C(1000000000))

static bool may_warn(_Atomic uint64_t *warned_ns)
{
    const uint64_t now = clock_ns();
    uint64_t last = atomic_load(warned_ns);
    return now - last > WARN_NS && atomic_compare_exchange_strong(warned_ns, &last, now);
}

// Two hosts with one URL, or a proxy that leads to any of them, look like this.
static void warn_of_stranger(struct ServePeers *peers, const char *url)
{
    if (may_warn(&peers->warned_ns)) {
        serve_log(LOG_WARN, "peers",
                  "what answers at %s is not the host that says it is there; each host needs a URL "
                  "of its own, by which the others reach it and no other (--host-url)",
                  url);
    }
}

static Status read_answer(Question *question, RemoteHttpReply *reply)
{
    if (reply->status != 200) {
        return STATUS_DENIED;
    }
    if (question->then == NULL) {
        return peer_answer_read(question->key, question->nonce, reply->body, reply->bytes,
                                &question->answer);
    }
    const Status status = peer_reply_read(question->key, question->nonce, reply->body, reply->bytes,
                                          &question->reply);
    question->has_reply = status == STATUS_OK;
    question->body = reply->body; // the reply points into it
    reply->body = NULL;
    return status;
}

static void give_back(Question *question)
{
    Serve *serve = question->serve;
    pthread_mutex_lock(&serve->peers->lock);
    question->next = serve->peers->done;
    serve->peers->done = question;
    pthread_mutex_unlock(&serve->peers->lock);
    status_ignore(mailbox_post(serve->mailbox, give_answers, NULL)); // or with the next one
}

static void send_question(void *user, bool is_cancelled)
{
    Question *question = user;
    Serve *serve = question->serve;
    RemoteHttp *http = NULL;
    question->answer = (HostPeerAnswer){.result = PEER_SILENT};
    if (is_cancelled ||
        remote_http_create(question->url, NULL, &serve->peers->cancel, &http) != STATUS_OK) {
        give_back(question); // silence
        return;
    }
    remote_http_set_limits(http, CONNECT_MS,
                           question->ask.kind == PEER_RUN ? HOST_RUN_MS : HOST_PEER_MS);
    RemoteHttpReply reply = remote_http_ask(
        http, "/api/peers", "application/octet-stream", question->bytes, question->count,
        question->then != NULL ? PEER_REPLY_BYTES : SERVE_PEER_BYTES);
    // 502 is what a proxy on its machine says when nobody listens behind it.
    if (reply.is_refused || (reply.end == REMOTE_HTTP_ANSWERED && reply.status == 502)) {
        question->answer.result = PEER_REFUSED;
    } else if (reply.end == REMOTE_HTTP_ANSWERED) {
        const Status status = read_answer(question, &reply);
        if (status != STATUS_OK) {
            question->answer = (HostPeerAnswer){.result = PEER_SILENT};
        }
        // A host that has just begun is not known everywhere yet (401), or has another boot (409).
        if (status != STATUS_OK && reply.status != 401 && reply.status != 409) {
            warn_of_stranger(serve->peers, question->url);
        }
    }
    free(reply.body);
    remote_http_destroy(http);
    give_back(question);
}

Status serve_peer_ask(Serve *serve, const StoreHost *peer, const HostPeerAsk *ask, PeerThen then,
                      void *what)
{
    Question *question = serve->peers->pool != NULL ? calloc(1, sizeof *question) : NULL;
    if (question == NULL) {
        return STATUS_LIMIT;
    }
    question->then = then;
    question->what = what;
    PeerEnvelope envelope = {.unix_ms = clock_unix_ms()};
    question->serve = serve;
    question->ask = *ask;
    memcpy(question->key, peer->public_key, sizeof question->key);
    // ws://… is where players reach it: the same port.
    const char *rest = strncmp(peer->address, "ws", 2) == 0 ? peer->address + 2 : "";
    snprintf(question->url, sizeof question->url, "http%s", rest);
    memcpy(envelope.sender, serve->key.public_half, sizeof envelope.sender);
    memcpy(envelope.receiver, peer->boot, sizeof envelope.receiver);
    entropy_fill(envelope.nonce, sizeof envelope.nonce);
    memcpy(question->nonce, envelope.nonce, sizeof question->nonce);
    question->count = peer_ask_write(&serve->key, &envelope, ask, question->bytes);
    const Status status = work_pool_submit(serve->peers->pool, send_question, question);
    if (status != STATUS_OK) {
        free(question);
    }
    return status;
}

static void ask_peer(void *user, const StoreHost *peer, const HostPeerAsk *ask)
{
    status_ignore(serve_peer_ask(user, peer, ask, NULL, NULL)); // it counts as silence
}

// --- being asked --------------------------------------------------------------------------------

// In the request's arena, until it is answered.
typedef struct Asked {
    PlaceWish wish; // first
    Serve *serve;
    HttpDeferred *deferred;
    HostPeerAsk ask;
    uint8_t nonce[16];
} Asked;

static void answer_peer(void *user, uint64_t tag, const HostPeerAnswer *answer)
{
    const Serve *serve = user;
    Asked *asked = (Asked *)(uintptr_t)tag; // NOLINT: it was one in hear
    uint8_t bytes[PEER_MESSAGE_BYTES];
    HttpResponse response = http_response_default();
    response.content_type = "application/octet-stream";
    response.bytes = peer_answer_write(&serve->key, asked->nonce, answer, bytes);
    response.body = bytes; // copied
    http_complete(asked->deferred, &response);
}

static void refuse_run(const Asked *asked, HostRefusal refusal)
{
    HostPeerAnswer answer = {.result = PEER_ANSWERED, .refusal = refusal};
    memcpy(answer.boot, host_boot(asked->serve->host), sizeof answer.boot);
    answer_peer(asked->serve, (uint64_t)(uintptr_t)asked, &answer);
}

static void run_in_place(PlaceWish *wish)
{
    Asked *asked = (Asked *)wish;
    if (wish->refusal == PLACE_FINE) {
        host_peer_hear(asked->serve->host, &asked->ask);
    } else {
        refuse_run(asked, REFUSED_NO_PLACE);
    }
}

static void run_world(Serve *serve, void *what)
{
    Asked *asked = what;
    const HostWorld *world = host_world(serve->host, asked->ask.world_id);
    if (world == NULL) {
        refuse_run(asked, REFUSED_NO_WORLD);
        return;
    }
    if (serve->control == NULL) { // its places are open
        host_peer_hear(serve->host, &asked->ask);
        return;
    }
    memcpy(asked->wish.place_id, host_world_view(world).row->place_id, sizeof asked->wish.place_id);
    asked->wish.has_every_right = true;
    asked->wish.then = run_in_place;
    places_wish(serve, &asked->wish);
}

static bool reply_peer(Serve *serve, const Asked *asked, HttpRequest *request,
                       HttpResponse *response)
{
    uint8_t *bytes = malloc(PEER_REPLY_BYTES);
    if (bytes == NULL) {
        http_fail(request, response, 503, "busy", "out of memory; try again");
        return true;
    }
    http_keep(request, bytes);
    const PeerReply reply = serve_fleet_hear(serve, &asked->ask);
    response->content_type = "application/octet-stream";
    response->body = bytes;
    response->bytes = peer_reply_write(&serve->key, asked->nonce, &reply, bytes);
    response->body_is_static = true;
    return true;
}

// On the main thread.
static bool hear(void *user, HttpDeferred *deferred, HttpResponse *response)
{
    Serve *serve = user;
    HttpRequest *request = http_deferred_request(deferred);
    size_t bytes;
    const uint8_t *body = http_body(request, &bytes);
    PeerEnvelope envelope;
    Asked *asked = arena_alloc(http_arena(request), sizeof *asked);
    if (asked == NULL) {
        http_fail(request, response, 503, "busy", "out of memory; try again");
        return true;
    }
    *asked = (Asked){.serve = serve, .deferred = deferred};
    if (peer_ask_read(body, bytes, &envelope, &asked->ask) != STATUS_OK) {
        http_fail(request, response, 400, "malformed", "this is no question of a host");
        return true;
    }
    if (host_peer_by_key(serve->host, envelope.sender) == NULL ||
        !peer_ask_is_signed(body, bytes, &envelope)) {
        http_fail(request, response, 401, "auth_failed",
                  "no host with this key has a valid row; try again");
        return true;
    }
    const bool is_ours = memcmp(envelope.receiver, host_boot(serve->host), STORE_BOOT_BYTES) == 0;
    if (!peer_nonce_use(&serve->peers->nonces, &envelope, clock_unix_ms()) ||
        (!is_ours && asked->ask.kind != PEER_PROBE)) {
        http_fail(request, response, 409, "again",
                  "this was heard before, is too old, or is for another life of this host");
        return true;
    }
    memcpy(asked->nonce, envelope.nonce, sizeof asked->nonce);
    asked->ask.tag = (uint64_t)(uintptr_t)asked;
    if (asked->ask.kind >= PEER_WORLDS) {
        return reply_peer(serve, asked, request, response);
    }
    if (asked->ask.kind == PEER_RUN) {
        serve_look_world(serve, asked->ask.world_id, run_world, asked);
    } else {
        host_peer_hear(serve->host, &asked->ask);
    }
    return false;
}

void serve_post_peers(void *user, HttpRequest *request, HttpResponse *response)
{
    Serve *serve = user;
    if (serve->peers == NULL) {
        http_fail(request, response, 404, "not_found", "this server shares its database with none");
        return;
    }
    mailbox_ask(serve->mailbox, request, response, hear);
}

// --- worlds that are new ------------------------------------------------------------------------

#define GUESTS_AT_ONCE 256

typedef struct Look {
    Serve *serve;
    ServeLooked then;
    void *what;
    char name[65];
    StoreWorld row;
    Status status;
    uint64_t guests[GUESTS_AT_ONCE];
    uint32_t guest_count;
} Look;

static void take_guest(void *user, const char *world_id, uint64_t account)
{
    Look *look = user;
    if (strcmp(world_id, look->row.world_id) == 0 && look->guest_count < GUESTS_AT_ONCE) {
        look->guests[look->guest_count++] = account;
    }
}

static void looked(void *user, void *what)
{
    Serve *serve = user;
    Look *look = what;
    HostWorld *world = host_world(serve->host, look->name);
    if (look->status == STATUS_OK && world == NULL &&
        host_add_world(serve->host, &look->row, &world) == STATUS_OK) {
        for (uint32_t i = 0; i < look->guest_count; i++) {
            status_ignore(host_world_invite(world, look->guests[i], true));
        }
    }
    if (look->then != NULL) {
        look->then(serve, look->what);
    }
    free(look);
}

static void look_in_store(void *user, bool is_cancelled)
{
    Look *look = user;
    look->status = is_cancelled ? STATUS_BLOCKED
                                : store_world_find(look->serve->store, look->name, &look->row);
    if (look->status == STATUS_OK && look->row.is_private) {
        status_ignore(store_guests(look->serve->store, take_guest, look));
    }
    if (mailbox_post(look->serve->mailbox, looked, look) != STATUS_OK) {
        free(look); // whoever waits is refused by their own deadline
    }
}

void serve_look_world(Serve *serve, const char *name, ServeLooked then, void *what)
{
    Look *look = serve->peers != NULL && name[0] != '\0' && strlen(name) < sizeof look->name &&
                         host_world(serve->host, name) == NULL
                     ? calloc(1, sizeof *look)
                     : NULL;
    if (look != NULL) {
        look->serve = serve;
        look->then = then;
        look->what = what;
        snprintf(look->name, sizeof look->name, "%s", name);
        if (work_pool_submit(serve->peers->pool, look_in_store, look) == STATUS_OK) {
            return;
        }
    }
    free(look);
    if (then != NULL) {
        then(serve, what);
    }
}

// --- kicks --------------------------------------------------------------------------------------

typedef struct KickEvent {
    Serve *serve;
    char text[STORE_EVENT_SUBJECT_BYTES];
} KickEvent;

static void put_kick(void *user, bool is_cancelled)
{
    KickEvent *event = user;
    if (!is_cancelled && store_event_put(event->serve->store, EVENT_KICK, event->text,
                                         strlen(event->text)) != STATUS_OK) {
        serve_log(LOG_WARN, "peers", "other hosts were not told of a kick");
    }
    free(event);
}

void serve_tell_kick(Serve *serve, uint64_t account, const char *where, const char *reason)
{
    KickEvent *event = serve->peers != NULL ? calloc(1, sizeof *event) : NULL;
    if (event == NULL) {
        return;
    }
    event->serve = serve;
    snprintf(event->text, sizeof event->text, "%" PRIu64 " %.65s %.60s", account,
             where[0] != '\0' ? where : "-", reason);
    if (work_pool_submit(serve->peers->pool, put_kick, event) != STATUS_OK) {
        free(event);
    }
}

// --- load ---------------------------------------------------------------------------------------

static uint32_t memory_permille(void)
{
    char line[128];
    uint64_t total = 0, available = 0;
    FILE *file = fopen("/proc/meminfo", "re");
    while (file != NULL && fgets(line, sizeof line, file) != NULL) {
        (void)sscanf(line, "MemTotal: %" SCNu64, &total);
        (void)sscanf(line, "MemAvailable: %" SCNu64, &available);
    }
    if (file != NULL) {
        fclose(file);
    }
    return total > 0 && available <= total ? (uint32_t)((total - available) * 1000 / total) : 0;
}

static void note_origins(Serve *serve)
{
    struct ServePeers *peers = serve->peers;
    HttpSite site;
    pthread_mutex_lock(&peers->origins_lock);
    peers->origin_count = 0;
    for (uint32_t i = 0; i < host_peer_count(serve->host) && i < STORE_PEERS_MAX; i++) {
        const char *address = host_peer_at(serve->host, i)->address;
        if (serve->config.host_url != NULL && serve->config.role != SERVE_CONTROL &&
            strcmp(address, serve->reached) == 0 && may_warn(&peers->same_warned_ns)) {
            serve_log(LOG_ERROR, "peers",
                      "host %s runs with this host's host_url %s; each machine needs one of its "
                      "own: change it at one of them (sandlot.conf, --host-url)",
                      host_peer_at(serve->host, i)->host_id, serve->config.host_url);
        }
        char url[STORE_ADDRESS_BYTES + 8];
        snprintf(url, sizeof url, "http%s", strncmp(address, "ws", 2) == 0 ? address + 2 : "");
        if (http_site_parse(url, &site)) {
            memcpy(peers->origins[peers->origin_count++], site.origin, sizeof site.origin);
        }
    }
    pthread_mutex_unlock(&peers->origins_lock);
}

bool serve_peer_origin(void *user, const char *origin)
{
    struct ServePeers *peers = ((Serve *)user)->peers;
    bool is_known = false;
    if (peers != NULL) {
        pthread_mutex_lock(&peers->origins_lock);
        for (uint32_t i = 0; i < peers->origin_count && !is_known; i++) {
            is_known = strcasecmp(peers->origins[i], origin) == 0;
        }
        pthread_mutex_unlock(&peers->origins_lock);
    }
    return is_known;
}

static bool site_in_range(const char *url, const HttpPeerRange *range)
{
    HttpSite site;
    struct addrinfo *found = NULL;
    const struct addrinfo hints = {.ai_socktype = SOCK_STREAM};
    if (!http_site_parse(url, &site)) {
        return false;
    }
    char *name = site.name;
    if (name[0] == '[') { // IPv6
        name += 1;
        name[strcspn(name, "]")] = '\0';
    }
    bool is_in = false;
    if (getaddrinfo(name, NULL, &hints, &found) == 0) {
        for (const struct addrinfo *at = found; at != NULL && !is_in; at = at->ai_next) {
            char text[INET6_ADDRSTRLEN];
            HttpPeer peer;
            is_in = getnameinfo(at->ai_addr, at->ai_addrlen, text, sizeof text, NULL, 0,
                                NI_NUMERICHOST) == 0 &&
                    http_peer_parse(text, strlen(text), &peer) &&
                    http_peer_range_has(range, 1, &peer);
        }
        freeaddrinfo(found);
    }
    return is_in;
}

bool serve_peer_in_range(Serve *serve, const HttpPeerRange *range, char out[HTTP_SITE_BYTES])
{
    struct ServePeers *peers = serve->peers;
    const char *own = serve->config.host_url;
    char(*origins)[HTTP_SITE_BYTES] =
        peers != NULL ? calloc(STORE_PEERS_MAX + 1, sizeof *origins) : NULL;
    if (origins == NULL) {
        return false;
    }
    pthread_mutex_lock(&peers->origins_lock);
    const uint32_t count = peers->origin_count;
    memcpy(origins, peers->origins, count * sizeof *origins);
    pthread_mutex_unlock(&peers->origins_lock);
    if (own != NULL) {
        snprintf(origins[count], sizeof *origins, "%s", own);
    } else {
        const bool is_v6 = strchr(serve->config.address, ':') != NULL;
        snprintf(origins[count], sizeof *origins, is_v6 ? "http://[%.64s]" : "http://%.64s",
                 serve->config.address);
    }
    bool is_in = false;
    const uint64_t end = clock_ns() + RESOLVE_NS; // names that cannot be looked up take long
    for (uint32_t i = 0; i <= count && !is_in && clock_ns() < end; i++) {
        is_in = site_in_range(origins[i], range);
        snprintf(out, HTTP_SITE_BYTES, "%s", origins[i]);
    }
    free(origins);
    return is_in;
}

static void tell_load(void *user, StoreHost *out)
{
    Serve *serve = user;
    struct ServePeers *peers = serve->peers;
    note_origins(serve);
    const uint64_t now = clock_ns();
    const long cores = sysconf(_SC_NPROCESSORS_ONLN);
    uint64_t work_us = 0;
    out->worlds = out->players = 0;
    for (uint32_t i = 0; i < host_world_count(serve->host); i++) {
        const HostWorldView view = host_world_view(host_world_at(serve->host, i));
        out->worlds += view.up_ns != 0;
        out->players += view.up_ns != 0 ? view.players : 0;
        work_us += view.up_ns != 0 ? view.stats->work_us : 0;
    }
    out->memory = memory_permille();
    // Worlds that have ended take their sum along: then it is only known again the next time.
    if (peers->looked_ns != 0 && work_us >= peers->work_us && now > peers->looked_ns) {
        const uint64_t span_us =
            (now - peers->looked_ns) / 1000 * (uint64_t)(cores > 0 ? cores : 1);
        out->tick = span_us > 0 ? (uint32_t)((work_us - peers->work_us) * 1000 / span_us) : 0;
    }
    peers->work_us = work_us;
    peers->looked_ns = now;
}

// --- beginning and end --------------------------------------------------------------------------

void serve_peers_outside(HostOutside *outside)
{
    outside->peer_ask = ask_peer;
    outside->peer_answered = answer_peer;
    outside->load = tell_load;
}

Status serve_peers_open(Serve *serve)
{
    if (serve->config.store == NULL) {
        return STATUS_OK;
    }
    serve->peers = calloc(1, sizeof *serve->peers);
    const WorkPoolConfig pool = {.thread_count = THREADS};
    if (serve->peers == NULL) {
        return STATUS_LIMIT;
    }
    pthread_mutex_init(&serve->peers->lock, NULL);
    pthread_mutex_init(&serve->peers->origins_lock, NULL);
    serve->peers->origins = calloc(STORE_PEERS_MAX, sizeof *serve->peers->origins);
    return serve->peers->origins != NULL ? work_pool_create(&pool, &serve->peers->pool)
                                         : STATUS_LIMIT;
}

Status serve_peers_start(Serve *serve)
{
    return serve->peers != NULL ? serve_events_start(serve, &serve->peers->events) : STATUS_OK;
}

void serve_peers_stop(Serve *serve)
{
    if (serve->peers != NULL) {
        atomic_store(&serve->peers->cancel, true);
        serve_events_stop(serve->peers->events);
        work_pool_destroy(serve->peers->pool);
        serve->peers->events = NULL;
        serve->peers->pool = NULL;
        for (Question *left = take_done(serve->peers); left != NULL;
             left = take_done(serve->peers)) {
            if (left->then != NULL) {
                left->then(serve, left->what, NULL); // whoever waits hears nothing else any more
            }
            free_question(left);
        }
    }
}

void serve_peers_close(Serve *serve)
{
    if (serve->peers != NULL) {
        pthread_mutex_destroy(&serve->peers->lock);
        pthread_mutex_destroy(&serve->peers->origins_lock);
        free(serve->peers->origins);
    }
    free(serve->peers);
    serve->peers = NULL;
}

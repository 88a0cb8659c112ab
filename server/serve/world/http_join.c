// Who comes in: guests' sign-ins, joins, and the WebSocket that is handed to a world.
#define _GNU_SOURCE
#include "core/base/json_member.h"
#include "core/base/json_read.h"
#include "core/base/limits.h"
#include "core/base/name_text.h"
#include "core/base/sha256.h"
#include "core/wire/message.h"
#include "server/control/issuer/issuer.h"
#include "server/control/order/class.h"
#include "server/net/http_client.h"
#include "server/net/websocket.h"
#include "server/serve/http/body.h"
#include "server/serve/http/http_routes.h"
#include "server/serve/http/shared_url.h"
#include "server/serve/listing/listing_feed.h"
#include "server/serve/people/http_account.h"
#include "server/serve/people/http_account_body.h"
#include "server/serve/people/http_issuer.h"
#include "server/serve/people/pupil_name.h"
#include "server/serve/place/places.h"
#include "server/serve/remote/serve_peer.h"
#include "server/sys/clock.h"
#include "server/sys/entropy.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <strings.h>
#include <sys/socket.h>
#include <unistd.h>

#define SEND_BUFFER       (16 << 10) // a client that stopped reading costs so much, not megabytes
#define QUERY_TOKEN_BYTES 2048
#define QUERY_FRAME_BYTES 4096
#define JSON_ARENA_BYTES  (48u << 10)
#define CLOSE_TRY_LATER   1013
#define TOKEN_LETTERS     "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.~+/=:|@"

// --- sockets ------------------------------------------------------------------------------------

// Who one is may stand in the address, for clients that have nothing else: `token` (a ticket or a
// sign-in), `playerId`, `resumeToken`. False when one of them is nothing that we ever gave.
static bool read_query(const HttpRequest *request, MessageHandshake *out)
{
    const struct {
        const char *name;
        Text *to;
        size_t bytes_max;
    } rows[] = {{"token", &out->ticket, QUERY_TOKEN_BYTES},
                {"playerId", &out->player_id, 64},
                {"resumeToken", &out->resume_token, 64}};
    // This program writes the handshake; the client compares the schema of the welcome.
    *out = (MessageHandshake){.version = PROTOCOL_VERSION, .schema = PROTOCOL_SCHEMA};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const char *text = http_query(request, rows[i].name);
        if (text == NULL) {
            continue;
        }
        const size_t bytes = strlen(text);
        if (bytes > rows[i].bytes_max || strspn(text, TOKEN_LETTERS) != bytes) {
            return false;
        }
        *rows[i].to = (Text){text, (uint32_t)bytes};
    }
    return true;
}

// The frame by which the client would have said so, to be read before all others; 0 bytes without
// any. The world has one door, and a handshake that is sent after it is one too many.
static size_t write_query(const HttpRequest *request, bool json, uint8_t *out)
{
    MessageHandshake handshake;
    if (!read_query(request, &handshake) ||
        handshake.ticket.bytes + handshake.player_id.bytes + handshake.resume_token.bytes == 0) {
        return 0;
    }
    static const uint8_t mask[4] = {0}; // leaves everything as it is
    uint8_t text[QUERY_FRAME_BYTES - WEBSOCKET_HEADER_MAX];
    const Message message = {.number = MESSAGE_HANDSHAKE, .body = &handshake};
    ByteWriter writer = byte_writer(text, sizeof text);
    (json ? message_to_json : message_encode)(&message, &writer);
    ASSERT(writer.status == STATUS_OK);
    const size_t header =
        websocket_header(out, json ? WEBSOCKET_TEXT : WEBSOCKET_BINARY, writer.at, mask);
    memcpy(out + header, text, writer.at);
    return header + writer.at;
}

// The world is a stranger's: it tells addresses apart, and learns none. In development nobody on
// this machine is counted (0).
uint64_t serve_address_key(const Serve *serve, const HttpRequest *request)
{
    if (serve->development && http_is_loopback(request)) {
        return 0;
    }
    uint8_t bytes[sizeof serve->address_secret + 8], digest[SHA256_BYTES];
    ByteWriter writer = byte_writer(bytes, sizeof bytes);
    byte_write_bytes(&writer, serve->address_secret, sizeof serve->address_secret);
    byte_write_u64(&writer, http_address(request));
    ASSERT(writer.status == STATUS_OK);
    sha256_of(bytes, writer.at, digest);
    ByteReader reader = byte_reader(digest, sizeof digest);
    return byte_read_u64(&reader) | 1;
}

// On an HTTP thread. The kernel's buffer is made small here: the world sets no options.
static void take_socket(void *user, int descriptor, const uint8_t *already, size_t bytes, bool json)
{
    const HttpRequest *request = user;
    Serve *serve = http_user(request);
    const int send_buffer = SEND_BUFFER;
    (void)setsockopt(descriptor, SOL_SOCKET, SO_SNDBUF, &send_buffer, sizeof send_buffer);
    const int flags = fcntl(descriptor, F_GETFL);
    (void)fcntl(descriptor, F_SETFL, flags | O_NONBLOCK);
    MailSocket mail = {.socket = {.descriptor = descriptor,
                                  .json = json,
                                  .address = serve_address_key(serve, request),
                                  .number = http_socket_number(request),
                                  .already = malloc(QUERY_FRAME_BYTES + bytes)}};
    HostSocket *socket = &mail.socket;
    snprintf(mail.world, sizeof mail.world, "%s", http_path_part(request, 0));
    if (socket->already != NULL) {
        socket->bytes = write_query(request, json, socket->already);
        if (bytes > 0) {
            memcpy(socket->already + socket->bytes, already, bytes);
            socket->bytes += bytes;
        }
    }
    if (socket->already == NULL || mailbox_put_socket(serve->mailbox, &mail) != STATUS_OK) {
        close(descriptor);
        http_socket_over(serve->http, socket->number, 0);
        free(socket->already);
    }
}

void serve_refuse_socket(void *user, HostSocket *socket)
{
    const Serve *serve = user;
    static const char reason[] = "the world cannot start";
    uint8_t frame[WEBSOCKET_HEADER_MAX + 2 + sizeof reason];
    const size_t head = websocket_header(frame, WEBSOCKET_CLOSE, 2 + sizeof reason - 1, NULL);
    frame[head] = CLOSE_TRY_LATER >> 8;
    frame[head + 1] = CLOSE_TRY_LATER & 0xff;
    memcpy(frame + head + 2, reason, sizeof reason - 1);
    (void)!send(socket->descriptor, frame, head + 2 + sizeof reason - 1,
                MSG_NOSIGNAL | MSG_DONTWAIT);
    close(socket->descriptor);
    http_socket_over(serve->http, socket->number, 0);
    free(socket->already);
}

typedef struct SocketWish {
    PlaceWish wish; // first
    MailSocket mail;
} SocketWish;

static void give_socket(Serve *serve, const MailSocket *mail)
{
    HostSocket socket = mail->socket;
    if (host_socket(serve->host, mail->world, &socket) != STATUS_OK) {
        serve_refuse_socket(serve, &socket);
    }
}

static void socket_place_is_open(PlaceWish *wish)
{
    SocketWish *wait = (SocketWish *)wish;
    if (wish->refusal == PLACE_FINE) {
        give_socket(wish->serve, &wait->mail);
    } else {
        serve_refuse_socket(wish->serve, &wait->mail.socket);
    }
    free(wait);
}

// In development a socket starts a world by itself, so its place is opened too. Elsewhere whoever
// has a ticket has had both done.
void serve_take_socket(void *user, const MailSocket *mail)
{
    Serve *serve = user;
    const HostWorld *world = host_world(serve->host, mail->world);
    const bool is_closed = world != NULL && host_world_view(world).place == NULL;
    SocketWish *wait = NULL;
    if (is_closed && serve->development && serve->control != NULL) {
        wait = malloc(sizeof *wait);
    }
    if (wait == NULL) {
        give_socket(serve, mail);
        return;
    }
    *wait = (SocketWish){.wish = {.has_every_right = true, .then = socket_place_is_open},
                         .mail = *mail};
    memcpy(wait->wish.place_id, host_world_view(world).row->place_id, sizeof wait->wish.place_id);
    places_wish(serve, &wait->wish);
}

// Whose socket it is: by the cookie or header, or by what stands in the address. 0: nobody's, or a
// guest's, who counts as the address does: guests cost nothing to make.
static uint64_t socket_account(const Serve *serve, const HttpRequest *request)
{
    const Identity *who = serve_who(request);
    const char *token = http_query(request, "token");
    Ticket ticket;
    Identity found;
    if (serve->control == NULL) {
        return 0;
    }
    if (who == NULL && token != NULL &&
        ticket_read(serve->key.public_half, token, strlen(token), &ticket) == STATUS_OK) {
        const bool is_valid = ticket.expires_unix_ms > clock_unix_ms();
        return is_valid && (ticket.flags & TICKET_GUEST) == 0 ? ticket.account : 0;
    }
    if (who == NULL && token != NULL &&
        identity_of_token(serve->control, token, &found) == STATUS_OK) {
        who = &found;
    }
    return who != NULL && !who->is_guest ? who->account : 0;
}

void serve_get_socket(void *user, HttpRequest *request, HttpResponse *response)
{
    Serve *serve = user;
    bool is_ready = false, is_private = false;
    const bool is_there =
        rooms_find(serve->rooms, http_path_part(request, 0), &is_ready, &is_private);
    if (serve_refuse_guess(serve, request, response, is_there, is_private)) {
        return;
    }
    if (!is_there) {
        http_fail(request, response, 404, "not_found", "there is no such room");
        return;
    }
    if (serve_refuse_forwarded(serve, request, response) ||
        (!is_ready && serve_refuse_without_disk(serve, request, response))) {
        return;
    }
    MessageHandshake handshake;
    if (!read_query(request, &handshake)) {
        http_fail(request, response, 400, "malformed",
                  "token, playerId or resumeToken is too long, or nothing that was given here");
        return;
    }
    http_count_for(request, socket_account(serve, request));
    http_upgrade(request, response, take_socket, request);
}

// --- what a join says ---------------------------------------------------------------------------

typedef struct JoinRequest {
    char name[TICKET_NAME_BYTES];
    char world_id[65], place_id[65], room_code[33], channel[8];
    bool debug;
    bool bad;       // the body is no JSON object of the form
    bool bad_name;  // what is to be its name is none
    char odd[256];  // which member is unknown; "": none
    const char *no; // which member is no text, or too long; NULL: none
} JoinRequest;

// People write K7Q-X2M or k7q x2m. False: what is left is too long for a code.
static bool clean_room_code(char *code)
{
    char *to = code;
    for (const char *at = code; *at != '\0'; at++) {
        if (*at != ' ' && *at != '-') {
            *to++ = *at;
        }
    }
    *to = '\0';
    return to - code <= 16;
}

static JoinRequest read_join_request(HttpRequest *request)
{
    JoinRequest join = {0};
    size_t bytes;
    const uint8_t *body = http_body(request, &bytes);
    if (bytes == 0) {
        return join;
    }
    void *memory = arena_alloc(http_arena(request), JSON_ARENA_BYTES);
    const JsonNode *root = NULL;
    Status status = memory != NULL ? STATUS_OK : STATUS_LIMIT;
    if (status == STATUS_OK) {
        Arena arena;
        arena_init(&arena, memory, JSON_ARENA_BYTES);
        const JsonConfig config = {
            .arena = &arena, .bytes_max = SERVE_BODY_BYTES, .node_count_max = 128, .depth_max = 8};
        status = json_parse(&config, (const char *)body, bytes, &root, NULL);
    }
    if (status != STATUS_OK || root->kind != JSON_OBJECT) {
        join.bad = true;
        return join;
    }
    join.bad_name = !json_member_copy_optional(root, "username", join.name, sizeof join.name);
    if (join.name[0] == '\0' &&
        !json_member_copy_optional(root, "name", join.name, sizeof join.name)) {
        join.bad_name = true;
    }
    if (join.name[0] != '\0' && !name_text_is_valid(join.name, strlen(join.name))) {
        join.bad_name = true;
    }
    const struct {
        const char *name;
        char *out;
        size_t capacity;
    } texts[] = {{"world_id", join.world_id, sizeof join.world_id},
                 {"place_id", join.place_id, sizeof join.place_id},
                 {"room_code", join.room_code, sizeof join.room_code},
                 {"channel", join.channel, sizeof join.channel}};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        if (!json_member_copy_optional(root, texts[i].name, texts[i].out, texts[i].capacity)) {
            join.no = texts[i].name;
        }
    }
    join.no = clean_room_code(join.room_code) ? join.no : "room_code";
    static const char *const members[] = {"world_id", "place_id", "room_code", "channel",
                                          "username", "name",     "debug",     NULL};
    (void)serve_body_has_odd(root, members, join.odd, sizeof join.odd);
    const JsonNode *debug = json_find(root, "debug");
    join.debug = debug != NULL && debug->kind == JSON_BOOL && debug->boolean;
    return join;
}

// True: there is a body, and the response says what is wrong with it.
static bool refuse_join_request(const JoinRequest *join, HttpRequest *request,
                                HttpResponse *response)
{
    if (join->bad) {
        http_fail(request, response, 400, "malformed", "the body is no JSON object");
    } else if (join->bad_name) {
        http_fail(request, response, 400, "invalid_name", NAME_TEXT_RULE);
    }
    return join->bad || join->bad_name;
}

// From `Authorization: Bearer …`; false without a sign-in of ours.
static bool signed_in(const Serve *serve, const HttpRequest *request, Ticket *out,
                      const char **token)
{
    static const char bearer[] = "Bearer ";
    const char *header = http_header(request, "Authorization");
    Identity who;
    if (header == NULL || strncasecmp(header, bearer, sizeof bearer - 1) != 0) {
        return false;
    }
    *token = header + sizeof bearer - 1;
    if (identity_of_token(serve_people(serve), *token, &who) != STATUS_OK) {
        return false;
    }
    *out = host_people_ticket(&who);
    return true;
}

// Only development gives tickets to whoever asks, and never to a page of another site: a browser
// names the page's origin, and it must be ours.
static bool refuse_ticket_for_stranger(const Serve *serve, HttpRequest *request,
                                       HttpResponse *response)
{
    if (!serve->development || !http_is_loopback(request)) {
        http_fail(request, response, 403, "denied",
                  "only a world on a loopback address gives tickets to everybody");
        return true;
    }
    if (!http_origin_is_allowed(request)) {
        http_fail(request, response, 403, "origin", "this page may not ask here");
        return true;
    }
    return serve_refuse_forwarded(serve, request, response);
}

static void client_id(const Ticket *ticket, char out[32])
{
    snprintf(out, 32, "%s_%" PRIx64, (ticket->flags & TICKET_GUEST) != 0 ? "guest" : "user",
             ticket->account);
}

typedef struct GuestToWrite {
    Serve *serve;
    ControlGuest guest;
} GuestToWrite;

static void write_guest(void *user, bool is_cancelled)
{
    GuestToWrite *what = user;
    (void)is_cancelled; // the store is still there
    control_write_guest(what->serve->guests, &what->guest);
    free(what);
}

// A guest of that name, or of one that is made up, of a server without accounts. Nobody waits for
// the disk.
static bool sign_guest(Serve *serve, const char *name, Ticket *guest, char *token)
{
    GuestToWrite *what = malloc(sizeof *what);
    Identity who;
    if (what == NULL ||
        control_add_guest(serve->guests, name, &who, token, &what->guest) != STATUS_OK) {
        free(what);
        return false;
    }
    what->serve = serve;
    *guest = host_people_ticket(&who);
    if (work_pool_submit(serve->pool, write_guest, what) != STATUS_OK) {
        free(what); // it is good until the process ends
    }
    return true;
}

// Of a world without accounts.
static void answer_login(void *user, HttpRequest *request, HttpResponse *response)
{
    Serve *serve = user;
    const JoinRequest join = read_join_request(request);
    Ticket guest = {0};
    char token[TOKEN_TEXT_BYTES] = "", id[32];
    if (!sign_guest(serve, join.name, &guest, token)) {
        http_fail(request, response, 503, "unavailable", "no sign-in could be made; try again");
        return;
    }
    client_id(&guest, id);
    ServeAnswer answer;
    serve_answer_begin(&answer, request);
    json_write_object_begin(&answer.json);
    serve_write_member(&answer.json, "session_token", token);
    serve_write_member(&answer.json, "client_id", id);
    serve_write_member(&answer.json, "username", guest.name);
    json_write_object_end(&answer.json);
    serve_answer_end(&answer, response);
}

static void write_shared_urls(const Serve *serve, const HttpRequest *request, JsonWriter *json)
{
    SharedUrls shared;
    if (!serve_shared_urls(serve, request, &shared)) {
        return;
    }
    json_write_name(json, "shared_urls");
    json_write_array_begin(json);
    for (uint32_t i = 0; i < shared.count; i++) {
        json_write_text(json, shared.text[i]);
    }
    json_write_array_end(json);
}

// What a page needs to know before it asks for anything that could be refused.
void serve_get_session(void *user, HttpRequest *request, HttpResponse *response)
{
    const Serve *serve = user;
    const Identity *who = serve_who(request);
    ServeAnswer answer;
    serve_answer_begin(&answer, request);
    json_write_object_begin(&answer.json);
    json_write_name(&answer.json, "accounts");
    json_write_bool(&answer.json, serve->control != NULL);
    serve_write_member(&answer.json, "default_place",
                       serve->default_place[0] != '\0' ? serve->default_place : NULL);
    json_write_name(&answer.json, "signed_in");
    json_write_bool(&answer.json, who != NULL);
    if (who != NULL) {
        char shown_name[STORE_SHOWN_BYTES];
        pupil_name_own(serve, who, shown_name);
        serve_write_member(&answer.json, "shown_name", shown_name);
        serve_write_member(&answer.json, "username", who->is_guest ? NULL : who->name);
        json_write_name(&answer.json, "is_guest");
        json_write_bool(&answer.json, who->is_guest);
        serve_account_write_roles(&answer.json, who->roles);
        // A child's account has no password, and its name is its teacher's to open.
        json_write_name(&answer.json, "is_pupil");
        json_write_bool(&answer.json, (who->roles & ROLE_PUPIL) != 0);
        json_write_name(&answer.json, "may_rename");
        json_write_bool(&answer.json,
                        serve->control != NULL && !who->is_guest &&
                            !control_name_is_closed(serve->control, who->account, who->roles));
    }
    json_write_name(&answer.json, "typescript");
    json_write_bool(&answer.json, serve->typescript_lack == TYPESCRIPT_LACKS_NOTHING);
    if (serve->typescript_lack != TYPESCRIPT_LACKS_NOTHING) {
        serve_write_member(&answer.json, "typescript_lacks",
                           serve->typescript_lack == TYPESCRIPT_LACKS_NODE ? "node" : "packages");
    }
    write_shared_urls(serve, request, &answer.json);
    if (serve->control != NULL) {
        serve_write_member(&answer.json, "registration",
                           control_registration_is_open(serve->control) ? "open" : "invite");
        if (control_oidc(serve->control) != NULL) {
            serve_write_member(&answer.json, "issuer", issuer_name(control_oidc(serve->control)));
        }
    }
    json_write_object_end(&answer.json);
    serve_answer_end(&answer, response);
}

void serve_post_login(void *user, HttpRequest *request, HttpResponse *response)
{
    const Serve *serve = user;
    if (serve->control != NULL) {
        // A password is hashed, on threads of its own. Its member can be written with escapes too.
        static const char member[] = "password";
        size_t bytes;
        const uint8_t *body = http_body(request, &bytes);
        const bool is_slow =
            bytes > 0 && (memmem(body, bytes, member, sizeof member - 1) != NULL ||
                          memchr(body, '\\', bytes) != NULL || memchr(body, '%', bytes) != NULL);
        (is_slow ? http_work_slowly : http_work)(request, response, serve_account_post_login);
        return;
    }
    if (refuse_ticket_for_stranger(serve, request, response)) {
        return;
    }
    const JoinRequest join = read_join_request(request);
    if (!refuse_join_request(&join, request, response)) {
        answer_login(user, request, response);
    }
}

// --- joining ------------------------------------------------------------------------------------

// What is kept of a join until its world runs; in the request's arena.
typedef struct PendingJoin {
    PlaceWish wish; // first
    HttpDeferred *deferred;
    Serve *serve;
    HostJoin join;
    char token[TOKEN_TEXT_BYTES]; // the sign-in
} PendingJoin;

static bool is_name_of(const HttpSite *site, const char *host)
{
    const size_t bytes = strlen(site->name);
    return host != NULL && strncasecmp(host, site->name, bytes) == 0 &&
           (host[bytes] == '\0' || host[bytes] == ':');
}

void serve_server_name(const Serve *serve, const HttpRequest *request, char *out, size_t bytes)
{
    HttpSite site;
    const char *name = http_header(request, "Host");
    if (serve->config.host_url != NULL && http_site_parse(serve->config.host_url, &site)) {
        snprintf(out, bytes, "ws%.280s", site.origin + strlen("http"));
        return; // the public URL leads to any of the hosts
    }
    if (serve->config.public_url != NULL && http_site_parse(serve->config.public_url, &site) &&
        (http_is_forwarded(request) || is_name_of(&site, name))) {
        snprintf(out, bytes, "ws%.280s", site.origin + strlen("http")); // http: ws, https: wss
        return;
    }
    const bool plain = name != NULL && strlen(name) < 256 &&
                       strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                    "0123456789.-_:[]") == strlen(name);
    if (plain && name[0] != '\0') {
        snprintf(out, bytes, "ws://%s", name);
    } else {
        snprintf(out, bytes, "ws://%s:%u", serve->config.address, http_port(serve->http));
    }
}

static void write_join(const PendingJoin *pending, JsonWriter *json, const HostJoinAnswer *answer,
                       const char *server)
{
    const HostWorldView view = host_world_view(answer->world);
    char id[32], address[512], key[65];
    client_id(&pending->join.who, id);
    sha256_hex(answer->signing_key != NULL ? answer->signing_key : pending->serve->key.public_half,
               key); // 32 bytes as hex digits
    // Another machine knows the code that the world had when it registered.
    snprintf(address, sizeof address, "%s/api/rooms/%s/ws",
             answer->address != NULL ? answer->address : server,
             answer->address != NULL ? view.row->world_id : view.row->room_code);
    json_write_object_begin(json);
    serve_write_member(json, "server_address", address);
    if (pending->token[0] != '\0') { // not for a browser, whose cookie no script may read
        serve_write_member(json, "session_token", pending->token);
    }
    serve_write_member(json, "client_id", id);
    serve_write_member(json, "world_id", view.row->world_id);
    serve_write_member(json, "place_id", view.place->place_id);
    serve_write_member(json, "room_code", view.row->room_code);
    serve_write_member(json, "username", pending->join.who.name);
    serve_write_member(json, "ticket", answer->ticket);
    serve_write_member(json, "signing_key", key);
    serve_write_number(json, "rune_packing", view.place->built.packing);
    if (view.place->cdn_base[0] != '\0') {
        serve_write_member(json, "cdn_base", view.place->cdn_base);
    }
    serve_write_member(json, "rune_set", view.place->set_hex);
    json_write_object_end(json);
}

void serve_refuse_join(HttpRequest *request, HttpResponse *response, const Serve *serve,
                       HostRefusal refusal)
{
    static const struct {
        uint32_t status;
        const char *code, *message;
    } answers[REFUSED_COUNT] = {
        [REFUSED_NO_WORLD] = {404, "not_found", "there is no such world here"},
        [REFUSED_NO_PLACE] = {404, "not_found", "there is no such place here"},
        [REFUSED_ENDING] = {503, "stopping", "this server is going down"},
        [REFUSED_CROWD] = {503, "busy", "too many come in at once; try again"},
        [REFUSED_FULL] = {503, "full",
                          "this server runs as many worlds as it can; try again later"},
        [REFUSED_UNCERTAIN] = {503, "moving",
                               "the world is on its way from one host to another; try again in a "
                               "second"},
        [REFUSED_ELSEWHERE] = {503, "elsewhere", "another host runs this world"},
        [REFUSED_FORBIDDEN] = {403, "forbidden",
                               "this world is private; join with its room_code, or ask its owner "
                               "for an invitation"},
        [REFUSED_WORLD_FULL] = {409, "world_full",
                                "this world has as many players as it may have; try again later, "
                                "or join another world of the place"},
        [REFUSED_QUOTA] = {409, "too_many_worlds",
                           "you have as many worlds as you may have; delete one first, or join one "
                           "of them by its world_id"},
        [REFUSED_ADDRESS] = {429, "too_many_worlds",
                             "guests from your address have made as many worlds as they may; join "
                             "one of them, or a place by its place_id"},
        [REFUSED_PLACE_FULL] = {409, "place_full",
                                "this place has as many worlds as it may have; try again later"},
        [REFUSED_FAILING] = {502, "failing",
                             "this world ends as soon as it starts; its creator must mend it"},
        [REFUSED_UNAVAILABLE] = {503, "unavailable", "the world cannot be started now; try again"},
        [REFUSED_LATE] = {503, "starting", "the world has not started in time; try again"},
        [REFUSED_DRAINING] = {503, "draining",
                              "this server is about to go down and starts no worlds; those that "
                              "run can still be joined"}};
    if ((refusal == REFUSED_DISK || refusal == REFUSED_UNAVAILABLE) &&
        serve_refuse_without_disk(serve, request, response)) {
        return;
    }
    refusal = answers[refusal].code != NULL ? refusal : REFUSED_UNAVAILABLE;
    http_fail(request, response, answers[refusal].status, answers[refusal].code,
              answers[refusal].message);
    response->retry_after_s = refusal == REFUSED_UNCERTAIN ? 1 : response->retry_after_s;
}

void places_refuse(HttpRequest *request, HttpResponse *response, PlaceRefusal refusal,
                   bool is_world)
{
    static const struct {
        uint32_t status;
        const char *code, *message;
    } answers[PLACE_REFUSAL_COUNT] = {
        [PLACE_NONE] = {404, "not_found", "there is no such place here"},
        [PLACE_BETA_DENIED] = {403, "beta_denied", "only the team of this place plays its beta"},
        [PLACE_DRAFT_DENIED] = {403, "draft_denied", "only the team of this place plays its draft"},
        [PLACE_NO_DRAFT] = {404, "no_draft", "there is no draft of this place"},
        [PLACE_DRAFT_BROKEN] = {409, "draft_broken",
                                "the draft cannot be built as it is; save it to see its errors"},
        [PLACE_KEPT_OUT] = {403, "kept_out", "the team of this place does not let you in"},
        [PLACE_PAUSED] = {403, "class_paused",
                          "the class of this place pauses; wait for the "
                          "teacher"},
        [PLACE_REMOVED] = {403, "removed", "an operator has removed this place; nobody plays it"},
        [PLACE_TRASHED] = {409, "trashed", "this place is in the trash; restore it to play it"},
        [PLACE_UNPUBLISHED] = {409, "not_published",
                               "this place has no live version yet; its team must make one live"},
        [PLACE_BROKEN] = {502, "broken",
                          "this place cannot be built any more; its team must publish a revision "
                          "that can"},
        [PLACE_FULL] = {503, "full",
                        "this server has as many places open as it can; try again later"},
        [PLACE_BUSY] = {503, "unavailable", "the place cannot be opened now; try again"},
        [PLACE_STOPPING] = {503, "stopping", "this server is going down"}};
    if (is_world &&
        (refusal == PLACE_NONE || refusal == PLACE_BETA_DENIED || refusal == PLACE_DRAFT_DENIED)) {
        http_fail(request, response, 404, "not_found", "there is no such world here");
        return;
    }
    http_fail(request, response, answers[refusal].status, answers[refusal].code,
              answers[refusal].message);
}

static void refuse_answer(HttpRequest *request, HttpResponse *response, const Serve *serve,
                          const HostJoinAnswer *answer)
{
    if (answer->refusal == REFUSED_BANNED) {
        char text[192];
        host_ban_text(&answer->rules, text, sizeof text);
        http_fail(request, response, 403, "banned", text);
    } else {
        serve_refuse_join(request, response, serve, answer->refusal);
    }
}

// On the main thread, once for each join.
void serve_joined(void *user, uint64_t tag, const HostJoinAnswer *answer)
{
    (void)user;
    PendingJoin *pending = (PendingJoin *)(uintptr_t)tag; // NOLINT: it was one in ask_join
    HttpRequest *request = http_deferred_request(pending->deferred);
    HttpResponse response = http_response_default();
    if (answer->refusal != REFUSED_NOT) {
        refuse_answer(request, &response, pending->serve, answer);
    } else {
        char server[320];
        serve_server_name(pending->serve, request, server, sizeof server);
        ServeAnswer text;
        serve_answer_begin(&text, request);
        write_join(pending, &text.json, answer, server);
        serve_answer_end(&text, &response);
    }
    http_complete(pending->deferred, &response);
}

// Who asks: a new guest, or whoever signed in. False: the response says what is wrong.
static bool find_who(Serve *serve, const JoinRequest *join, HttpRequest *request,
                     HttpResponse *response, PendingJoin *pending)
{
    Ticket guest = {0};
    const char *token = NULL;
    if (serve->control != NULL) {
        guest = host_people_ticket(serve_who(request)); // serve_enter saw to it that there is one
        token = http_header(request, "Authorization");
        if (token != NULL && strlen(token + strlen("Bearer ")) < sizeof pending->token) {
            snprintf(pending->token, sizeof pending->token, "%s", token + strlen("Bearer "));
        }
    } else if (http_header(request, "Authorization") == NULL) {
        if (!sign_guest(serve, join->name, &guest, pending->token)) {
            http_fail(request, response, 500, "failed", "no ticket could be made");
            return false;
        }
    } else if (!signed_in(serve, request, &guest, &token)) {
        const bool is_ticket = token != NULL && ticket_read(serve->key.public_half, token,
                                                            strlen(token), &guest) == STATUS_OK;
        http_fail(request, response, 401, "auth_failed",
                  is_ticket ? "this is a ticket, which is for HANDSHAKE; a sign-in is needed here "
                              "(session_token)"
                            : "this sign-in is not valid (any more); ask /login for a new one");
        return false;
    } else {
        snprintf(pending->token, sizeof pending->token, "%s", token);
    }
    pending->join.who = guest;
    pending->join.who.flags |= join->debug && serve->development ? TICKET_DEBUG : 0;
    return true;
}

bool serve_refuse_guess(const Serve *serve, HttpRequest *request, HttpResponse *response,
                        bool is_there, bool is_secret)
{
    const uint64_t address = serve->control != NULL ? serve_address_key(serve, request) : 0;
    if (address == 0 || (is_there && !is_secret)) {
        return false;
    }
    if (!rooms_may_guess(serve->rooms, address, clock_unix_ms(), !is_there)) {
        http_fail(request, response, 429, "too_many_tries",
                  "too many rooms were asked for from your address that are not there; try again "
                  "in ten minutes");
        return true;
    }
    return false;
}

// A room that is named must be there, and wrong codes are counted. True: the response says so.
static bool refuse_room(const Serve *serve, const JoinRequest *join, HttpRequest *request,
                        HttpResponse *response, const char *name)
{
    const HostWorld *world = host_world(serve->host, name);
    if (join->room_code[0] != '\0' && join->world_id[0] != '\0' &&
        host_world(serve->host, join->world_id) != world) {
        world = NULL; // they name two worlds
    }
    const bool is_secret = world != NULL && host_world_view(world).row->is_private;
    if (name[0] == '\0') {
        return false;
    }
    if (serve_refuse_guess(serve, request, response, world != NULL, is_secret)) {
        return true;
    }
    if (world == NULL) {
        host_note_refused(serve->host, REFUSED_NO_WORLD);
        serve_refuse_join(request, response, serve, REFUSED_NO_WORLD);
    }
    return world == NULL;
}

// The place is open, or they may not come in.
static void place_is_open(PlaceWish *wish)
{
    PendingJoin *pending = (PendingJoin *)wish;
    if (wish->refusal == PLACE_FINE) {
        host_join(pending->serve->host, &pending->join);
        return;
    }
    HttpResponse response = http_response_default();
    host_note_refused(pending->serve->host,
                      wish->refusal == PLACE_NONE ? REFUSED_NO_PLACE : REFUSED_UNAVAILABLE);
    HttpRequest *request = http_deferred_request(pending->deferred);
    if (wish->refusal != PLACE_BUSY ||
        (!serve_refuse_without_disk(wish->serve, request, &response) &&
         !serve_refuse_without_blobs(wish->serve, request, &response))) {
        places_refuse(request, &response, wish->refusal, pending->join.world[0] != '\0');
    }
    http_complete(pending->deferred, &response);
}

// Which place it is: that of the world, the one that is named, or the default place. False: the
// response says what is wrong.
static bool name_place(const Serve *serve, const JoinRequest *join, HttpRequest *request,
                       HttpResponse *response, PendingJoin *pending)
{
    PlaceChannel channel = PLACE_LIVE;
    while (channel < PLACE_CHANNEL_COUNT && join->channel[0] != '\0' &&
           strcmp(join->channel, place_channel_name(channel)) != 0) {
        channel++;
    }
    if (channel == PLACE_CHANNEL_COUNT) {
        http_fail(request, response, 400, "malformed", "channel is live, beta or draft");
        return false;
    }
    const char *ending = place_channel_ending(channel);
    if (channel != PLACE_LIVE &&
        (join->place_id[0] == '\0' || pending->join.world[0] != '\0' || serve->control == NULL ||
         strlen(join->place_id) + strlen(ending) >= PLACE_KEY_BYTES)) {
        http_fail(request, response, 400, "malformed",
                  "channel beta and draft need a place_id, and no world_id or room_code");
        return false;
    }
    const HostWorld *world = host_world(serve->host, pending->join.world);
    const char *place_id = world != NULL               ? host_world_view(world).row->place_id
                           : join->place_id[0] != '\0' ? join->place_id
                                                       : serve->default_place;
    const int bytes =
        snprintf(pending->wish.place_id, sizeof pending->wish.place_id, "%s%s", place_id, ending);
    ASSERT(bytes < (int)sizeof pending->wish.place_id); // it was looked at above
    if (channel != PLACE_LIVE) {
        memcpy(pending->join.place, pending->wish.place_id, sizeof pending->join.place);
    }
    return true;
}

static bool ask_join_known(void *user, HttpDeferred *deferred, HttpResponse *response);

static void join_looked(Serve *serve, void *what)
{
    HttpDeferred *deferred = what;
    HttpResponse response = http_response_default();
    if (ask_join_known(serve, deferred, &response)) {
        http_complete(deferred, &response);
    }
}

// On the main thread. A room that is named may have been made by another host just now.
static bool ask_join(void *user, HttpDeferred *deferred, HttpResponse *response)
{
    Serve *serve = user;
    const JoinRequest join = read_join_request(http_deferred_request(deferred));
    const char *name = join.room_code[0] != '\0' ? join.room_code : join.world_id;
    if (serve->peers != NULL && name[0] != '\0' && host_world(serve->host, name) == NULL) {
        serve_look_world(serve, name, join_looked, deferred);
        return false;
    }
    return ask_join_known(user, deferred, response);
}

static bool ask_join_known(void *user, HttpDeferred *deferred, HttpResponse *response)
{
    Serve *serve = user;
    HttpRequest *request = http_deferred_request(deferred);
    const JoinRequest join = read_join_request(request);
    PendingJoin *pending = arena_alloc(http_arena(request), sizeof *pending);
    if (pending == NULL) {
        http_fail(request, response, 503, "busy", "out of memory; try again");
        return true;
    }
    *pending =
        (PendingJoin){.deferred = deferred, .serve = serve, .join.asked_unix_ms = clock_unix_ms()};
    if (!find_who(serve, &join, request, response, pending)) {
        return true;
    }
    memcpy(pending->join.world, join.world_id, sizeof pending->join.world);
    memcpy(pending->join.place, join.place_id, sizeof pending->join.place);
    if (join.room_code[0] != '\0') {
        snprintf(pending->join.world, sizeof pending->join.world, "%s", join.room_code);
    }
    if (refuse_room(serve, &join, request, response, pending->join.world)) {
        return true;
    }
    pending->join.address = serve_address_key(serve, request);
    if (serve->feed != NULL && (pending->join.who.flags & TICKET_GUEST) != 0) {
        listing_feed_from(serve->feed, pending->join.who.account, pending->join.address);
    }
    pending->join.tag = (uint64_t)(uintptr_t)pending;
    if (!name_place(serve, &join, request, response, pending)) {
        return true;
    }
    if (serve->control == NULL) { // its places are open
        host_join(serve->host, &pending->join);
        return false;
    }
    char package_id[PLACE_KEY_BYTES];
    place_id_package(pending->wish.place_id, package_id);
    host_people_name(serve->control, serve_who(request), package_id, &pending->join.who);
    pending->wish.who = serve_who(request);
    pending->wish.then = place_is_open;
    places_wish(serve, &pending->wish);
    return false;
}

void serve_post_join(void *user, HttpRequest *request, HttpResponse *response)
{
    Serve *serve = user;
    if (serve->control == NULL && refuse_ticket_for_stranger(serve, request, response)) {
        return;
    }
    const JoinRequest join = read_join_request(request);
    if (refuse_join_request(&join, request, response)) {
        return;
    }
    char text[96];
    snprintf(text, sizeof text, "%s must be a text of at most %s bytes",
             join.no != NULL ? join.no : "",
             join.no == NULL                     ? ""
             : strcmp(join.no, "room_code") == 0 ? "16"
             : strcmp(join.no, "channel") == 0   ? "7"
                                                 : "64");
    if (join.no != NULL || join.odd[0] != '\0') {
        http_fail(request, response, 400, join.no != NULL ? "malformed" : "unknown_member",
                  join.no != NULL ? text : join.odd);
        return;
    }
    if (serve_unknown_token(request) != NULL) {
        serve_issuer_ask(serve, request, response, ask_join);
    } else {
        mailbox_ask(serve->mailbox, request, response, ask_join);
    }
}

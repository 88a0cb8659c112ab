// A WebSocket server that sends back what it receives, with only server/net: http_upgrade handles
// the request, and a thread for each socket reads frames. An independent client tests against it.
// It prints its port and runs until its input ends.
//
// A message "close N" is answered with the close code N, "ping" with a ping, "fragments" with a
// message in three frames and a ping between them.
#define _GNU_SOURCE
#include "core/base/check.h"
#include "server/net/http.h"
#include "server/net/websocket.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define MESSAGE_MAX (1u << 20)
#define READ_BYTES  8192

typedef struct Talk {
    int socket;
    size_t already_bytes;
    uint8_t already[READ_BYTES];
    uint8_t message[MESSAGE_MAX];
    WebsocketReader reader;
} Talk;

static bool send_all(int socket, const uint8_t *data, size_t bytes)
{
    while (bytes > 0) {
        const ssize_t sent = send(socket, data, bytes, MSG_NOSIGNAL);
        if (sent <= 0) {
            return false;
        }
        data += sent;
        bytes -= (size_t)sent;
    }
    return true;
}

static bool send_frame(int socket, WebsocketOpcode opcode, const void *data, size_t bytes)
{
    uint8_t header[WEBSOCKET_HEADER_MAX];
    return send_all(socket, header, websocket_header(header, opcode, bytes, NULL)) &&
           send_all(socket, data, bytes);
}

static bool send_close(int socket, uint16_t code)
{
    const uint8_t data[2] = {(uint8_t)(code >> 8), (uint8_t)code};
    (void)send_frame(socket, WEBSOCKET_CLOSE, data, sizeof data);
    return false;
}

static bool send_fragments(int socket)
{
    static const uint8_t frames[] = {0x01, 3, 'o', 'n', 'e', // text, more follows
                                     0x00, 3, 't', 'w', 'o', // more follows
                                     0x89, 1, '?',           // a ping in between
                                     0x80, 5, 't', 'h', 'r', 'e', 'e'};
    return send_all(socket, frames, sizeof frames);
}

static bool answer_message(const Talk *talk, const WebsocketEvent *event)
{
    static const char close_word[] = "close ";
    char text[16] = "";
    memcpy(text, event->data, event->bytes < sizeof text ? event->bytes : sizeof text - 1);
    if (event->text && strncmp(text, close_word, sizeof close_word - 1) == 0) {
        return send_close(talk->socket, (uint16_t)atoi(text + sizeof close_word - 1));
    }
    if (event->text && strcmp(text, "ping") == 0) {
        return send_frame(talk->socket, WEBSOCKET_PING, "are you there", 13);
    }
    if (event->text && strcmp(text, "fragments") == 0) {
        return send_fragments(talk->socket);
    }
    return send_frame(talk->socket, event->text ? WEBSOCKET_TEXT : WEBSOCKET_BINARY, event->data,
                      event->bytes);
}

// False: the conversation is over.
static bool answer(const Talk *talk, const WebsocketEvent *event)
{
    switch (event->type) {
    case WEBSOCKET_MESSAGE:
        return answer_message(talk, event);
    case WEBSOCKET_PINGED:
        return send_frame(talk->socket, WEBSOCKET_PONG, event->data, event->bytes);
    case WEBSOCKET_PONGED:
        return event->bytes == 0 || send_frame(talk->socket, WEBSOCKET_TEXT, "ponged", 6);
    case WEBSOCKET_CLOSED:
        return send_close(talk->socket, event->close_code == 1005 ? 1000 : event->close_code);
    case WEBSOCKET_BROKEN:
        return send_close(talk->socket, event->close_code);
    default:
        return true;
    }
}

static bool take_bytes(Talk *talk, const uint8_t *data, size_t bytes)
{
    bool goes_on = true;
    while (bytes > 0 && goes_on) {
        size_t used;
        const WebsocketEvent event = websocket_read(&talk->reader, data, bytes, &used);
        data += used;
        bytes -= used;
        goes_on = answer(talk, &event);
    }
    return goes_on;
}

static void *converse(void *user)
{
    Talk *talk = user;
    bool goes_on = take_bytes(talk, talk->already, talk->already_bytes);
    while (goes_on) {
        uint8_t data[READ_BYTES];
        const ssize_t got = recv(talk->socket, data, sizeof data, 0);
        goes_on = got > 0 && take_bytes(talk, data, (size_t)got);
    }
    // What the client sent after its mistake is read, or its end of the line would be reset before
    // it sees the close frame.
    (void)shutdown(talk->socket, SHUT_WR);
    uint8_t rest[READ_BYTES];
    while (recv(talk->socket, rest, sizeof rest, 0) > 0) {
    }
    close(talk->socket);
    free(talk);
    return NULL;
}

static void take(void *user, int socket, const uint8_t *already, size_t bytes, bool json)
{
    (void)user, (void)json;
    Talk *talk = malloc(sizeof *talk);
    pthread_t thread;
    ASSERT(talk != NULL && bytes <= sizeof talk->already);
    ASSERT(fcntl(socket, F_SETFL, fcntl(socket, F_GETFL) & ~O_NONBLOCK) == 0);
    talk->socket = socket;
    talk->already_bytes = bytes;
    memcpy(talk->already, already, bytes);
    websocket_reader_init(&talk->reader, talk->message, sizeof talk->message, true);
    ASSERT(pthread_create(&thread, NULL, converse, talk) == 0);
    pthread_detach(thread);
}

static void get_socket(void *user, HttpRequest *request, HttpResponse *response)
{
    http_upgrade(request, response, take, user);
}

int main(void)
{
    static const HttpRoute routes[] = {{"GET", "/", .handler = get_socket}};
    const HttpConfig config = {.routes = routes, .route_count = 1, .origin_same_host = true};
    HttpServer *server;
    if (http_start(&config, &server) != STATUS_OK) {
        return 1;
    }
    printf("%u\n", http_port(server));
    fflush(stdout);
    while (getchar() != EOF) {
    }
    http_stop(server);
    return 0;
}

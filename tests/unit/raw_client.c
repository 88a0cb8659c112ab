// See raw_client.h. Every wait has a timeout, whatever the server does.
#define _GNU_SOURCE
#include "tests/unit/raw_client.h"

#include "tests/support/test.h"

#include <arpa/inet.h>
#include <dirent.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define WAIT_MS 5000

char reply[REPLY_BYTES + 1];
size_t reply_bytes;

int connect_port(uint16_t port)
{
    const int client = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons(port)};
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (client >= 0 && connect(client, (struct sockaddr *)&to, sizeof to) != 0) {
        close(client);
        return -1;
    }
    return client;
}

int connect_to(const HttpServer *server)
{
    const int client = connect_port(http_port(server));
    if (client < 0) {
        test_fail(__FILE__, __LINE__, "cannot connect");
    }
    return client;
}

bool send_bytes(int client, const void *data, size_t bytes)
{
    const char *at = data;
    while (bytes > 0) {
        const ssize_t sent = send(client, at, bytes, MSG_NOSIGNAL);
        if (sent <= 0) {
            return false;
        }
        at += sent;
        bytes -= (size_t)sent;
    }
    return true;
}

bool send_text(int client, const char *text)
{
    return send_bytes(client, text, strlen(text));
}

bool read_more(int client)
{
    struct pollfd wait = {client, POLLIN, 0};
    if (poll(&wait, 1, WAIT_MS) != 1) {
        test_fail(__FILE__, __LINE__, "nothing came for %d ms", WAIT_MS);
        return false;
    }
    const ssize_t got = recv(client, reply + reply_bytes, REPLY_BYTES - reply_bytes, 0);
    if (got <= 0) {
        return false;
    }
    reply_bytes += (size_t)got;
    reply[reply_bytes] = '\0';
    return true;
}

void read_to_end(int client)
{
    reply_bytes = 0;
    reply[0] = '\0';
    while (reply_bytes < REPLY_BYTES && read_more(client)) {
    }
}

void read_answer(int client)
{
    reply_bytes = 0;
    reply[0] = '\0';
    for (;;) {
        const char *end = strstr(reply, "\r\n\r\n");
        const char *length = strstr(reply, "Content-Length: ");
        const size_t body = length != NULL ? strtoul(length + 16, NULL, 10) : 0;
        if ((end != NULL && reply_bytes >= (size_t)(end + 4 - reply) + body) ||
            !read_more(client)) {
            return;
        }
    }
}

int reply_status(void)
{
    return strncmp(reply, "HTTP/1.1 ", 9) == 0 ? atoi(reply + 9) : 0;
}

const char *reply_body(void)
{
    const char *end = strstr(reply, "\r\n\r\n");
    return end != NULL ? end + 4 : "";
}

bool reply_has(const char *text)
{
    return memmem(reply, reply_bytes, text, strlen(text)) != NULL;
}

int ask(const HttpServer *server, const char *head, const char *body)
{
    const int client = connect_to(server);
    send_text(client, head);
    send_text(client, "Host: 127.0.0.1:1\r\nConnection: close\r\n\r\n");
    send_text(client, body);
    read_to_end(client);
    close(client);
    return reply_status();
}

int get(const HttpServer *server, const char *path, const char *headers)
{
    char head[2048];
    snprintf(head, sizeof head, "GET %s HTTP/1.1\r\n%s", path, headers);
    return ask(server, head, "");
}

int descriptors_open(void)
{
    int count = 0;
    DIR *folder = opendir("/proc/self/fd");
    while (folder != NULL && readdir(folder) != NULL) {
        count += 1;
    }
    if (folder != NULL) {
        closedir(folder);
    }
    return count;
}

bool descriptors_fall_to(int count)
{
    for (int i = 0; i < WAIT_TURNS && descriptors_open() > count; i++) {
        usleep(10000);
    }
    return descriptors_open() <= count;
}
void check_security_headers(void)
{
    CHECK(reply_has("Content-Security-Policy: default-src 'self'"));
    CHECK(reply_has("X-Content-Type-Options: nosniff"));
    CHECK(reply_has("Referrer-Policy: no-referrer"));
    CHECK(reply_has("Cross-Origin-Opener-Policy: same-origin"));
    CHECK(reply_has("Cross-Origin-Resource-Policy: same-origin"));
    CHECK(reply_has("Cache-Control: "));
}

void check_error(const char *code)
{
    char want[128];
    snprintf(want, sizeof want, "{\"error\":{\"code\":\"%s\",\"message\":\"", code);
    if (strncmp(reply_body(), want, strlen(want)) != 0 || !reply_has("\"}}")) {
        test_fail(__FILE__, __LINE__, "no error %s in %s", code, reply_body());
    }
    CHECK(reply_has("Content-Type: application/json"));
    check_security_headers();
}

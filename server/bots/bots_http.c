// See bots_http.h. A small reader of HTTP/1.1 answers: a status line, headers of at most 16 KiB,
// then a body with its length, or up to the end of the connection.
#define _GNU_SOURCE
#include "server/bots/bots_http.h"

#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#define HEAD_BYTES      (16u << 10)
#define QUESTION_BYTES  (16u << 10)
#define TIMEOUT_SECONDS 10
#define SEVERAL_SECONDS 2 // with several servers: then the next one is asked

static Status parse_server(const char *url, BotsHttpServer *out)
{
    *out = (BotsHttpServer){.host = ""};
    const char *rest = NULL;
    if (strncmp(url, "http://", 7) == 0) {
        rest = url + 7;
    } else if (strncmp(url, "ws://", 5) == 0) {
        rest = url + 5;
    } else {
        return STATUS_UNSUPPORTED;
    }
    const size_t authority = strcspn(rest, "/?#");
    const char *end = rest + authority;
    const char *host = rest, *host_end = end, *port = NULL;
    if (*rest == '[') { // an IPv6 address
        host = rest + 1;
        host_end = memchr(rest, ']', authority);
        if (host_end == NULL) {
            return STATUS_MALFORMED;
        }
        port = host_end + 1 < end && host_end[1] == ':' ? host_end + 2 : NULL;
    } else {
        const char *colon = memchr(rest, ':', authority);
        host_end = colon != NULL ? colon : end;
        port = colon != NULL ? colon + 1 : NULL;
    }
    const size_t host_bytes = (size_t)(host_end - host);
    const size_t port_bytes = port != NULL ? (size_t)(end - port) : 0;
    if (host_bytes == 0 || host_bytes >= sizeof out->host || port_bytes >= sizeof out->port ||
        (port != NULL && (port_bytes == 0 || strspn(port, "0123456789") < port_bytes))) {
        return STATUS_MALFORMED;
    }
    memcpy(out->host, host, host_bytes);
    memcpy(out->port, port != NULL ? port : "80", port != NULL ? port_bytes : 2);
    return STATUS_OK;
}

Status bots_http_add(BotsHttp *http, const char *url)
{
    if (http->server_count == BOTS_SERVERS_MAX) {
        return STATUS_LIMIT;
    }
    const Status status = parse_server(url, &http->servers[http->server_count]);
    http->server_count += status == STATUS_OK;
    return status;
}

Status bots_http_init(BotsHttp *http, const char *url)
{
    *http = (BotsHttp){.socket = -1};
    return bots_http_add(http, url);
}

void bots_http_close(BotsHttp *http)
{
    if (http->socket >= 0) {
        close(http->socket);
        http->socket = -1;
    }
}

static Status open_socket(BotsHttp *http)
{
    const struct addrinfo hints = {.ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM};
    struct addrinfo *list = NULL;
    const BotsHttpServer *server = &http->servers[http->server];
    if (getaddrinfo(server->host, server->port, &hints, &list) != 0) {
        return STATUS_BLOCKED;
    }
    for (const struct addrinfo *at = list; at != NULL && http->socket < 0; at = at->ai_next) {
        const int end = socket(at->ai_family, SOCK_STREAM | SOCK_CLOEXEC, at->ai_protocol);
        const struct timeval timeout = {.tv_sec = http->server_count > 1 ? SEVERAL_SECONDS
                                                                         : TIMEOUT_SECONDS};
        const int one = 1;
        if (end < 0) {
            continue;
        }
        (void)setsockopt(end, SOL_SOCKET, SO_RCVTIMEO, &timeout, sizeof timeout);
        (void)setsockopt(end, SOL_SOCKET, SO_SNDTIMEO, &timeout, sizeof timeout);
        (void)setsockopt(end, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
        if (connect(end, at->ai_addr, at->ai_addrlen) == 0) {
            http->socket = end;
        } else {
            close(end);
        }
    }
    freeaddrinfo(list);
    return http->socket >= 0 ? STATUS_OK : STATUS_BLOCKED;
}

static bool send_all(int socket, const char *bytes, size_t count)
{
    for (size_t at = 0; at < count;) {
        const ssize_t sent = send(socket, bytes + at, count - at, MSG_NOSIGNAL);
        if (sent < 0 && errno == EINTR) {
            continue;
        }
        if (sent <= 0) {
            return false;
        }
        at += (size_t)sent;
    }
    return true;
}

static ssize_t receive(int socket, void *bytes, size_t count)
{
    ssize_t got;
    do {
        got = recv(socket, bytes, count, 0);
    } while (got < 0 && errno == EINTR);
    return got;
}

// --- the answer ---------------------------------------------------------------------------------

typedef struct Head {
    uint32_t status;
    bool has_length, keeps;
    uint64_t length;
} Head;

static bool parse_length(const char *text, uint64_t *out)
{
    const size_t digits = strspn(text, "0123456789");
    if (digits == 0 || digits > 15 || (text[digits] != 0 && text[digits] != ' ')) {
        return false;
    }
    *out = strtoull(text, NULL, 10);
    return true;
}

// The text is terminated and its lines are cut at their ends.
static Status parse_line(char *line, Head *head)
{
    char *colon = strchr(line, ':');
    if (colon == NULL) {
        return STATUS_MALFORMED;
    }
    *colon = 0;
    const char *value = colon + 1 + strspn(colon + 1, " \t");
    if (strcasecmp(line, "content-length") == 0) {
        head->has_length = true;
        return parse_length(value, &head->length) ? STATUS_OK : STATUS_MALFORMED;
    }
    if (strcasecmp(line, "transfer-encoding") == 0) {
        return STATUS_UNSUPPORTED;
    }
    if (strcasecmp(line, "connection") == 0 && strcasecmp(value, "close") == 0) {
        head->keeps = false;
    }
    return STATUS_OK;
}

static Status parse_head(char *text, Head *head)
{
    *head = (Head){.keeps = true};
    if (strncmp(text, "HTTP/1.1 ", 9) != 0 || strspn(text + 9, "0123456789") != 3) {
        return STATUS_MALFORMED;
    }
    head->status = (uint32_t)strtoul(text + 9, NULL, 10);
    Status status = STATUS_OK;
    char *line = strstr(text, "\r\n");
    while (status == STATUS_OK && line != NULL && line[2] != 0) {
        line += 2;
        char *end = strstr(line, "\r\n");
        if (end != NULL) {
            *end = 0;
        }
        status = parse_line(line, head);
        line = end;
    }
    return status;
}

// Reads up to the empty line; what came after it is in the rest of the buffer.
static Status read_head(int socket, char *buffer, size_t *used, size_t *head_bytes)
{
    *used = 0;
    for (;;) {
        const ssize_t got = receive(socket, buffer + *used, HEAD_BYTES - *used);
        if (got <= 0) {
            return STATUS_BLOCKED;
        }
        *used += (size_t)got;
        const char *end = memmem(buffer, *used, "\r\n\r\n", 4);
        if (end != NULL) {
            *head_bytes = (size_t)(end - buffer) + 4;
            return STATUS_OK;
        }
        if (*used == HEAD_BYTES) {
            return STATUS_LIMIT;
        }
    }
}

static Status read_body(BotsHttp *http, const Head *head, const char *early, size_t early_bytes,
                        size_t answer_max, BotsAnswer *out)
{
    if (head->has_length && head->length > answer_max) {
        return STATUS_LIMIT;
    }
    const size_t wanted = head->has_length ? (size_t)head->length : answer_max;
    if (early_bytes > wanted) {
        return head->has_length ? STATUS_MALFORMED : STATUS_LIMIT;
    }
    uint8_t *body = malloc(wanted + 1);
    if (body == NULL) {
        return STATUS_LIMIT;
    }
    memcpy(body, early, early_bytes);
    size_t at = early_bytes;
    bool ended = false;
    while (at < wanted && !ended) {
        const ssize_t got = receive(http->socket, body + at, wanted - at);
        ended = got <= 0;
        at += ended ? 0 : (size_t)got;
    }
    if (head->has_length && at < wanted) {
        free(body);
        return STATUS_TRUNCATED;
    }
    body[at] = 0;
    *out = (BotsAnswer){.status = head->status, .body = body, .bytes = at};
    return STATUS_OK;
}

static Status read_answer(BotsHttp *http, const BotsQuestion *question, BotsAnswer *out)
{
    char *buffer = malloc(HEAD_BYTES + 1);
    if (buffer == NULL) {
        return STATUS_LIMIT;
    }
    size_t used, head_bytes;
    Head head = {0};
    Status status = read_head(http->socket, buffer, &used, &head_bytes);
    if (status == STATUS_OK) {
        buffer[head_bytes - 2] = 0; // the last line keeps its end
        status = parse_head(buffer, &head);
    }
    if (status == STATUS_OK) {
        status = read_body(http, &head, buffer + head_bytes, used - head_bytes,
                           question->answer_max, out);
    }
    free(buffer);
    if (status != STATUS_OK || !head.keeps || !head.has_length) {
        bots_http_close(http);
    }
    return status;
}

// --- asking -------------------------------------------------------------------------------------

static Status write_question(const BotsHttp *http, const BotsQuestion *question, char *text,
                             size_t *bytes)
{
    const size_t body_bytes = question->body != NULL ? strlen(question->body) : 0;
    const BotsHttpServer *server = &http->servers[http->server];
    const bool six = strchr(server->host, ':') != NULL;
    const int count = snprintf(
        text, QUESTION_BYTES,
        "%s %s HTTP/1.1\r\nHost: %s%s%s:%s\r\n%s%s%sContent-Length: %zu\r\n%s\r\n%s",
        question->method, question->path, six ? "[" : "", server->host, six ? "]" : "",
        server->port, question->bearer != NULL ? "Authorization: Bearer " : "",
        question->bearer != NULL ? question->bearer : "", question->bearer != NULL ? "\r\n" : "",
        body_bytes, body_bytes > 0 ? "Content-Type: application/json\r\n" : "",
        body_bytes > 0 ? question->body : "");
    if (count < 0 || (size_t)count >= QUESTION_BYTES) {
        return STATUS_LIMIT;
    }
    *bytes = (size_t)count;
    return STATUS_OK;
}

static Status ask_server(BotsHttp *http, const BotsQuestion *question, BotsAnswer *out)
{
    char text[QUESTION_BYTES];
    size_t bytes;
    Status status = write_question(http, question, text, &bytes);
    // The kept connection may have been closed meanwhile: try once more on a new one.
    for (uint32_t attempt = 0; status == STATUS_OK && attempt < 2; attempt++) {
        const bool fresh = http->socket < 0;
        if (fresh) {
            http->reconnected += 1;
            status = open_socket(http);
            if (status != STATUS_OK) {
                break;
            }
        }
        http->asked += 1;
        const bool sent = send_all(http->socket, text, bytes);
        status = sent ? read_answer(http, question, out) : STATUS_BLOCKED;
        if (!sent) {
            bots_http_close(http);
        }
        if (status != STATUS_BLOCKED || fresh) {
            break;
        }
        status = STATUS_OK;
    }
    return status;
}

// What one server cannot answer now, the next one is asked; whoever is refused asks again later.
Status bots_http_ask(BotsHttp *http, const BotsQuestion *question, BotsAnswer *out)
{
    Status status = STATUS_BLOCKED;
    for (uint32_t i = 0; i < http->server_count && status == STATUS_BLOCKED; i++) {
        status = ask_server(http, question, out);
        if (http->server_count > 1 &&
            (status != STATUS_OK || (out->status >= 500 && out->status <= 504))) {
            bots_http_close(http);
            http->server = (http->server + 1) % http->server_count;
        }
    }
    return status;
}

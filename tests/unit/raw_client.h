// A client for tests of the HTTP server: sends raw bytes and keeps the last response as text, on
// loopback. Its names are short because the tests use them in nearly every line.
#pragma once

#include "server/net/http.h"

#define REPLY_BYTES (256u << 10)
#define WAIT_TURNS  20000 // of a millisecond or more: patience on a busy machine, not a claim

extern char reply[REPLY_BYTES + 1]; // the last answer, and a zero byte
extern size_t reply_bytes;

int connect_to(const HttpServer *server);
int connect_port(uint16_t port); // -1: nobody listens
bool send_bytes(int client, const void *data, size_t bytes);
bool send_text(int client, const char *text);
// Reads what there is. False: the end, an error, or nothing for too long.
bool read_more(int client);
void read_to_end(int client);
// The head of an answer, and as much of its body as Content-Length says.
void read_answer(int client);

int reply_status(void);
const char *reply_body(void);
bool reply_has(const char *text);

// One request on a connection of its own; the answer's status.
int ask(const HttpServer *server, const char *head, const char *body);
int get(const HttpServer *server, const char *path, const char *headers);

int descriptors_open(void); // of this process
// The server closes its side a little later than the client sees the end.
bool descriptors_fall_to(int count);

void check_security_headers(void);
void check_error(const char *code); // {"error":{"code":…}}, and the headers

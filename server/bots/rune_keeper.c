// The process that keeps runes for one that is locked in; see rune_store.h.
//
//   request  u8 what (1 read, 2 write), 32 bytes hash, u32 bytes, and for a write the bytes
//   reply    to a read: u32 bytes, and the bytes; 0: it is not here
#define _GNU_SOURCE
#include "server/bots/rune_store.h"

#include "core/base/bytes.h"
#include "core/base/limits.h"
#include "server/sys/file.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#define REQUEST_BYTES (1 + SHA256_BYTES + 4)
enum { KEEPER_READ = 1, KEEPER_WRITE = 2 };

static bool send_whole(int socket, const void *data, size_t bytes)
{
    const uint8_t *at = data;
    while (bytes > 0) {
        const ssize_t sent = send(socket, at, bytes, MSG_NOSIGNAL);
        if (sent < 0 && errno == EINTR) {
            continue;
        }
        if (sent <= 0) {
            return false;
        }
        at += sent;
        bytes -= (size_t)sent;
    }
    return true;
}

static void put_u32(uint8_t out[4], uint32_t value)
{
    ByteWriter writer = byte_writer(out, 4);
    byte_write_u32(&writer, value);
}

static uint32_t take_u32(const uint8_t from[4])
{
    ByteReader reader = byte_reader(from, 4);
    return byte_read_u32(&reader);
}

// --- its side -----------------------------------------------------------------------------------

static bool answer_read(RuneStore *store, int socket, const uint8_t *hash)
{
    uint8_t *data = NULL, head[4];
    size_t bytes = 0;
    if (rune_store_read(store, hash, &data, &bytes) != STATUS_OK) {
        bytes = 0;
    }
    put_u32(head, (uint32_t)bytes);
    const bool is_sent = send_whole(socket, head, sizeof head) && send_whole(socket, data, bytes);
    free(data);
    return is_sent;
}

static void serve(RuneStore *store, int socket, uint8_t *buffer)
{
    uint8_t request[REQUEST_BYTES];
    while (file_read_whole(socket, request, sizeof request)) {
        const uint8_t *hash = request + 1;
        const uint32_t bytes = take_u32(request + 1 + SHA256_BYTES);
        if (request[0] == KEEPER_READ && bytes == 0) {
            if (!answer_read(store, socket, hash)) {
                return;
            }
        } else if (request[0] == KEEPER_WRITE && bytes <= RUNE_STORE_FILE_BYTES &&
                   file_read_whole(socket, buffer, bytes)) {
            status_ignore(rune_store_write(store, hash, buffer, bytes)); // it is only a cache
        } else {
            return; // it makes no sense: whoever took the other side over gets nothing more
        }
    }
}

static _Noreturn void keep_runes(RuneStore *store, int socket)
{
    uint8_t *buffer = malloc(RUNE_STORE_FILE_BYTES);
    (void)prctl(PR_SET_NAME, "sandlot-keeper");
    (void)signal(SIGINT, SIG_IGN); // Ctrl-C is for the other one; this one ends with it
    if (buffer != NULL) {
        serve(store, socket, buffer);
    }
    _exit(0);
}

// --- the other side -----------------------------------------------------------------------------

Status rune_keeper_start(const char *folder, int *out)
{
    RuneStore store;
    int pair[2];
    Status status = rune_store_open(folder, &store);
    if (status != STATUS_OK) {
        return status;
    }
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0) {
        rune_store_close(&store);
        return STATUS_BLOCKED;
    }
    const pid_t child = fork();
    if (child == 0) {
        close(pair[0]);
        keep_runes(&store, pair[1]);
    }
    close(pair[1]);
    rune_store_close(&store);
    if (child < 0) {
        close(pair[0]);
        return STATUS_BLOCKED;
    }
    *out = pair[0];
    return STATUS_OK;
}

static bool send_request(int keeper, uint8_t what, const uint8_t *hash, uint32_t bytes)
{
    uint8_t request[REQUEST_BYTES] = {what};
    memcpy(request + 1, hash, SHA256_BYTES);
    put_u32(request + 1 + SHA256_BYTES, bytes);
    return send_whole(keeper, request, sizeof request);
}

Status rune_keeper_read(int keeper, const uint8_t hash[SHA256_BYTES], uint8_t **out, size_t *bytes)
{
    uint8_t head[4];
    if (!send_request(keeper, KEEPER_READ, hash, 0) ||
        !file_read_whole(keeper, head, sizeof head)) {
        return STATUS_BLOCKED;
    }
    const uint32_t count = take_u32(head);
    if (count == 0) {
        return STATUS_NOT_FOUND;
    }
    uint8_t *data = count <= RUNE_STORE_FILE_BYTES ? malloc(count) : NULL;
    if (data == NULL || !file_read_whole(keeper, data, count)) {
        free(data);
        return STATUS_BLOCKED;
    }
    *out = data;
    *bytes = count;
    return STATUS_OK;
}

Status rune_keeper_write(int keeper, const uint8_t hash[SHA256_BYTES], const uint8_t *data,
                         size_t bytes)
{
    return bytes <= RUNE_STORE_FILE_BYTES &&
                   send_request(keeper, KEEPER_WRITE, hash, (uint32_t)bytes) &&
                   send_whole(keeper, data, bytes)
               ? STATUS_OK
               : STATUS_BLOCKED;
}

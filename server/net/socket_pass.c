// Messages with descriptors over a Unix socket that keeps message borders. Never blocks: a full
// channel says so, and its owner decides what waits.
#define _GNU_SOURCE
#include "server/net/socket_pass.h"

#include "core/base/check.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define CHANNEL_BUFFER (1 << 20)

Status socket_pass_pair(int ends[2])
{
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends) != 0) {
        return STATUS_LIMIT;
    }
    for (int i = 0; i < 2; i++) {
        // As much as the system gives; without root it may be less.
        const int bytes = CHANNEL_BUFFER;
        (void)setsockopt(ends[i], SOL_SOCKET, SO_SNDBUF, &bytes, sizeof bytes);
    }
    return STATUS_OK;
}

Status socket_pass_send(int end, const void *message, size_t bytes, int descriptor)
{
    ASSERT(bytes > 0 && bytes <= SOCKET_PASS_BYTES_MAX);
    union {
        struct cmsghdr align;
        char space[CMSG_SPACE(sizeof(int))];
    } control = {0};
    struct iovec part = {(void *)(uintptr_t)message, bytes};
    struct msghdr header = {.msg_iov = &part, .msg_iovlen = 1};
    if (descriptor >= 0) {
        header.msg_control = control.space;
        header.msg_controllen = sizeof control.space;
        struct cmsghdr *rights = CMSG_FIRSTHDR(&header);
        rights->cmsg_level = SOL_SOCKET;
        rights->cmsg_type = SCM_RIGHTS;
        rights->cmsg_len = CMSG_LEN(sizeof(int));
        memcpy(CMSG_DATA(rights), &descriptor, sizeof descriptor);
    }
    ssize_t sent;
    do {
        sent = sendmsg(end, &header, MSG_NOSIGNAL | MSG_DONTWAIT);
    } while (sent < 0 && errno == EINTR);
    if (sent >= 0) {
        return STATUS_OK;
    }
    const bool behind =
        errno == EAGAIN || errno == EWOULDBLOCK || errno == ENOBUFS || errno == ETOOMANYREFS;
    return behind ? STATUS_LIMIT : STATUS_TRUNCATED;
}

// Takes the first descriptor and closes any other: a hostile sender may attach many.
static int take_descriptor(struct msghdr *header)
{
    int taken = -1;
    for (struct cmsghdr *item = CMSG_FIRSTHDR(header); item != NULL;
         item = CMSG_NXTHDR(header, item)) {
        if (item->cmsg_level != SOL_SOCKET || item->cmsg_type != SCM_RIGHTS) {
            continue;
        }
        const size_t count = (item->cmsg_len - CMSG_LEN(0)) / sizeof(int);
        for (size_t i = 0; i < count; i++) {
            int descriptor;
            memcpy(&descriptor, CMSG_DATA(item) + i * sizeof(int), sizeof descriptor);
            if (taken < 0) {
                taken = descriptor;
            } else {
                close(descriptor);
            }
        }
    }
    return taken;
}

Status socket_pass_receive(int end, void *message, size_t capacity, size_t *bytes, int *descriptor)
{
    union {
        struct cmsghdr align;
        char space[CMSG_SPACE(4 * sizeof(int))];
    } control;
    struct iovec part = {message, capacity};
    struct msghdr header = {.msg_iov = &part,
                            .msg_iovlen = 1,
                            .msg_control = control.space,
                            .msg_controllen = sizeof control.space};
    ssize_t got;
    do {
        got = recvmsg(end, &header, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
    } while (got < 0 && errno == EINTR);
    if (got < 0) {
        return errno == EAGAIN || errno == EWOULDBLOCK ? STATUS_NOT_FOUND : STATUS_TRUNCATED;
    }
    const int taken = take_descriptor(&header);
    if (got == 0) {
        return STATUS_TRUNCATED; // the other end is closed
    }
    if ((header.msg_flags & (MSG_TRUNC | MSG_CTRUNC)) != 0) {
        if (taken >= 0) {
            close(taken);
        }
        return STATUS_MALFORMED;
    }
    *bytes = (size_t)got;
    *descriptor = taken;
    return STATUS_OK;
}

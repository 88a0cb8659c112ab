// Passing sockets between processes: a message and a descriptor arrive together, and hostile
// messages leave no descriptor open.
#define _GNU_SOURCE
#include "server/net/socket_pass.h"

#include "tests/support/test.h"

#include <dirent.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static uint8_t bytes_out[SOCKET_PASS_BYTES_MAX], bytes_in[SOCKET_PASS_BYTES_MAX];

static int descriptors_open(void)
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

TEST(a_message_with_a_descriptor)
{
    int ends[2], pipe_ends[2];
    REQUIRE(socket_pass_pair(ends) == STATUS_OK && pipe(pipe_ends) == 0);
    REQUIRE(socket_pass_send(ends[0], "hello", 5, pipe_ends[1]) == STATUS_OK);
    close(pipe_ends[1]);
    size_t bytes;
    int descriptor;
    REQUIRE(socket_pass_receive(ends[1], bytes_in, sizeof bytes_in, &bytes, &descriptor) ==
            STATUS_OK);
    CHECK(bytes == 5 && memcmp(bytes_in, "hello", 5) == 0 && descriptor >= 0);
    CHECK_INT(write(descriptor, "x", 1), 1);
    char back = 0;
    CHECK_INT(read(pipe_ends[0], &back, 1), 1);
    CHECK_INT(back, 'x');
    close(descriptor);
    close(pipe_ends[0]);
    CHECK_INT(socket_pass_receive(ends[1], bytes_in, sizeof bytes_in, &bytes, &descriptor),
              STATUS_NOT_FOUND);
    close(ends[0]);
    CHECK_INT(socket_pass_receive(ends[1], bytes_in, sizeof bytes_in, &bytes, &descriptor),
              STATUS_TRUNCATED);
    CHECK_INT(socket_pass_send(ends[1], "x", 1, -1), STATUS_TRUNCATED);
    close(ends[1]);
}

TEST(the_largest_message_and_a_full_channel)
{
    int ends[2];
    REQUIRE(socket_pass_pair(ends) == STATUS_OK);
    for (size_t i = 0; i < sizeof bytes_out; i++) {
        bytes_out[i] = (uint8_t)(i * 7);
    }
    uint32_t sent = 0;
    Status status;
    while ((status = socket_pass_send(ends[0], bytes_out, sizeof bytes_out, -1)) == STATUS_OK &&
           sent < 1000) {
        sent += 1;
    }
    CHECK_INT(status, STATUS_LIMIT);
    CHECK(sent >= 1);
    for (uint32_t i = 0; i < sent; i++) {
        size_t bytes = 0;
        int descriptor;
        CHECK_INT(socket_pass_receive(ends[1], bytes_in, sizeof bytes_in, &bytes, &descriptor),
                  STATUS_OK);
        CHECK(bytes == sizeof bytes_out && memcmp(bytes_in, bytes_out, bytes) == 0);
        CHECK_INT(descriptor, -1);
    }
    CHECK_INT(socket_pass_send(ends[0], bytes_out, sizeof bytes_out, -1), STATUS_OK);
    close(ends[0]);
    close(ends[1]);
}

TEST(many_descriptors_and_cut_messages_leave_nothing_open)
{
    int ends[2];
    REQUIRE(socket_pass_pair(ends) == STATUS_OK);
    const int before = descriptors_open();
    union {
        struct cmsghdr align;
        char space[CMSG_SPACE(3 * sizeof(int))];
    } control = {0};
    struct iovec part = {"many", 4};
    struct msghdr header = {.msg_iov = &part,
                            .msg_iovlen = 1,
                            .msg_control = control.space,
                            .msg_controllen = sizeof control.space};
    struct cmsghdr *rights = CMSG_FIRSTHDR(&header);
    rights->cmsg_level = SOL_SOCKET;
    rights->cmsg_type = SCM_RIGHTS;
    rights->cmsg_len = CMSG_LEN(3 * sizeof(int));
    const int three[3] = {0, 1, 2};
    memcpy(CMSG_DATA(rights), three, sizeof three);
    REQUIRE(sendmsg(ends[0], &header, 0) == 4);
    size_t bytes;
    int descriptor = -1;
    CHECK_INT(socket_pass_receive(ends[1], bytes_in, sizeof bytes_in, &bytes, &descriptor),
              STATUS_OK);
    close(descriptor);
    CHECK_INT(descriptors_open(), before);
    // A message larger than the buffer is refused whole, and its descriptor closed.
    REQUIRE(socket_pass_send(ends[0], "too long", 8, 1) == STATUS_OK);
    CHECK_INT(socket_pass_receive(ends[1], bytes_in, 4, &bytes, &descriptor), STATUS_MALFORMED);
    CHECK_INT(descriptors_open(), before);
    close(ends[0]);
    close(ends[1]);
}

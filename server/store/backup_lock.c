// See backup_lock.h.
#define _GNU_SOURCE
#include "server/store/backup_lock.h"

#include "server/sys/clock.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#define TAKE_MS_MAX  5000 // the host holds it while it writes the log back, never longer
#define TAKE_STEP_MS 20

static int open_lock(const char *path)
{
    return open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0600);
}

static bool set_lock(int file, short type)
{
    struct flock lock = {.l_type = type, .l_whence = SEEK_SET};
    return fcntl(file, F_OFD_SETLK, &lock) == 0;
}

Status backup_lock_take(const char *path, int *lock)
{
    const int file = open_lock(path);
    if (file < 0) {
        return STATUS_BLOCKED;
    }
    const uint64_t end = clock_ns() + TAKE_MS_MAX * UINT64_C(1000000);
    while (!set_lock(file, F_WRLCK)) {
        if ((errno != EAGAIN && errno != EACCES) || clock_ns() > end) {
            const Status status =
                errno == EAGAIN || errno == EACCES ? STATUS_EXISTS : STATUS_BLOCKED;
            close(file);
            return status;
        }
        clock_sleep_until(clock_ns() + TAKE_STEP_MS * UINT64_C(1000000));
    }
    *lock = file;
    return STATUS_OK;
}

Status backup_lock_share(int lock)
{
    return set_lock(lock, F_RDLCK) ? STATUS_OK : STATUS_BLOCKED;
}

void backup_lock_release(int lock)
{
    close(lock);
}

bool backup_lock_enter(const char *path, int *lock)
{
    *lock = path[0] != '\0' ? open_lock(path) : -1;
    if (*lock < 0) {
        return true; // in memory, or a disk that takes no file: then there is no backup either
    }
    if (set_lock(*lock, F_RDLCK)) {
        return true;
    }
    close(*lock);
    *lock = -1;
    return false;
}

void backup_lock_leave(int lock)
{
    if (lock >= 0) {
        close(lock);
    }
}

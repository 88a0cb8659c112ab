// See disk.h.
#define _GNU_SOURCE
#include "server/sys/disk.h"

#include <sys/statvfs.h>
#include <unistd.h>

Status disk_space(const char *folder, DiskSpace *out)
{
    struct statvfs about;
    if (statvfs(folder, &about) != 0) {
        return STATUS_BLOCKED;
    }
    // A part may be root's alone; for everybody else the disk is full before that, as df says too.
    const uint64_t used = about.f_blocks - about.f_bfree;
    const uint64_t free_blocks = geteuid() == 0 ? about.f_bfree : about.f_bavail;
    out->free_bytes = free_blocks * about.f_frsize;
    out->total_bytes = (used + free_blocks) * about.f_frsize;
    return STATUS_OK;
}

bool disk_space_is_low(const DiskSpace *space)
{
    return space->free_bytes < space->total_bytes / 100 * DISK_LOW_PERCENT;
}

bool disk_is_low(const char *folder)
{
    DiskSpace space;
    return disk_space(folder, &space) == STATUS_OK && disk_space_is_low(&space);
}

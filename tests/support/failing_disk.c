// See failing_disk.h. Each of our file objects is followed in memory by SQLite's own; every call is
// passed on to it.
#include "tests/support/failing_disk.h"

#include <sqlite3.h>
#include <stdatomic.h>
#include <stddef.h>

typedef struct DiskFile {
    sqlite3_file base;
    sqlite3_file *real;
} DiskFile;

static sqlite3_vfs *real_disk;
static sqlite3_vfs disk;
static atomic_uint calls_left, failures_left, failed;
static atomic_int failure_code;

void failing_disk_arm(uint32_t after, uint32_t count, int code)
{
    atomic_store(&failures_left, 0);
    atomic_store(&calls_left, after);
    atomic_store(&failure_code, code);
    atomic_store(&failed, 0);
    atomic_store(&failures_left, count);
}

uint32_t failing_disk_failed(void)
{
    return atomic_load(&failed);
}

// One writer at a time, so that reading and then changing is safe.
static int gate(void)
{
    if (atomic_load(&failures_left) == 0) {
        return SQLITE_OK;
    }
    if (atomic_load(&calls_left) > 0) {
        atomic_fetch_sub(&calls_left, 1);
        return SQLITE_OK;
    }
    atomic_fetch_sub(&failures_left, 1);
    atomic_fetch_add(&failed, 1);
    return atomic_load(&failure_code);
}

static sqlite3_file *real_of(sqlite3_file *file)
{
    return ((DiskFile *)file)->real;
}

static int disk_close(sqlite3_file *file)
{
    sqlite3_file *real = real_of(file);
    return real->pMethods != NULL ? real->pMethods->xClose(real) : SQLITE_OK;
}

static int disk_read(sqlite3_file *file, void *to, int bytes, sqlite3_int64 at)
{
    return real_of(file)->pMethods->xRead(real_of(file), to, bytes, at);
}

static int disk_write(sqlite3_file *file, const void *from, int bytes, sqlite3_int64 at)
{
    const int code = gate();
    if (code != SQLITE_OK) {
        // As a full disk does: a part of it is written.
        (void)real_of(file)->pMethods->xWrite(real_of(file), from, bytes / 2, at);
        return code;
    }
    return real_of(file)->pMethods->xWrite(real_of(file), from, bytes, at);
}

static int disk_truncate(sqlite3_file *file, sqlite3_int64 size)
{
    const int code = gate();
    return code != SQLITE_OK ? code : real_of(file)->pMethods->xTruncate(real_of(file), size);
}

static int disk_sync(sqlite3_file *file, int flags)
{
    const int code = gate();
    return code != SQLITE_OK ? code : real_of(file)->pMethods->xSync(real_of(file), flags);
}

static int disk_size(sqlite3_file *file, sqlite3_int64 *size)
{
    return real_of(file)->pMethods->xFileSize(real_of(file), size);
}

static int disk_lock(sqlite3_file *file, int level)
{
    return real_of(file)->pMethods->xLock(real_of(file), level);
}

static int disk_unlock(sqlite3_file *file, int level)
{
    return real_of(file)->pMethods->xUnlock(real_of(file), level);
}

static int disk_check_lock(sqlite3_file *file, int *locked)
{
    return real_of(file)->pMethods->xCheckReservedLock(real_of(file), locked);
}

static int disk_control(sqlite3_file *file, int what, void *argument)
{
    return real_of(file)->pMethods->xFileControl(real_of(file), what, argument);
}

static int disk_sector(sqlite3_file *file)
{
    return real_of(file)->pMethods->xSectorSize(real_of(file));
}

static int disk_kind(sqlite3_file *file)
{
    return real_of(file)->pMethods->xDeviceCharacteristics(real_of(file));
}

static int disk_map(sqlite3_file *file, int page, int bytes, int extend, void volatile **out)
{
    return real_of(file)->pMethods->xShmMap(real_of(file), page, bytes, extend, out);
}

static int disk_map_lock(sqlite3_file *file, int offset, int count, int flags)
{
    return real_of(file)->pMethods->xShmLock(real_of(file), offset, count, flags);
}

static void disk_barrier(sqlite3_file *file)
{
    real_of(file)->pMethods->xShmBarrier(real_of(file));
}

static int disk_unmap(sqlite3_file *file, int delete)
{
    return real_of(file)->pMethods->xShmUnmap(real_of(file), delete);
}

static const sqlite3_io_methods methods = {
    .iVersion = 2, // no memory mapping: everything comes through here
    .xClose = disk_close,
    .xRead = disk_read,
    .xWrite = disk_write,
    .xTruncate = disk_truncate,
    .xSync = disk_sync,
    .xFileSize = disk_size,
    .xLock = disk_lock,
    .xUnlock = disk_unlock,
    .xCheckReservedLock = disk_check_lock,
    .xFileControl = disk_control,
    .xSectorSize = disk_sector,
    .xDeviceCharacteristics = disk_kind,
    .xShmMap = disk_map,
    .xShmLock = disk_map_lock,
    .xShmBarrier = disk_barrier,
    .xShmUnmap = disk_unmap,
};

static int disk_open(sqlite3_vfs *vfs, const char *name, sqlite3_file *file, int flags, int *out)
{
    (void)vfs;
    DiskFile *own = (DiskFile *)file;
    own->real = (sqlite3_file *)(own + 1);
    const int code = real_disk->xOpen(real_disk, name, own->real, flags, out);
    own->base.pMethods = own->real->pMethods != NULL ? &methods : NULL;
    return code;
}

bool failing_disk_install(void)
{
    if (real_disk != NULL) {
        return true;
    }
    real_disk = sqlite3_vfs_find(NULL);
    if (real_disk == NULL) {
        return false;
    }
    disk = *real_disk;
    disk.zName = "failing_disk";
    disk.szOsFile = (int)sizeof(DiskFile) + real_disk->szOsFile;
    disk.xOpen = disk_open;
    disk.pNext = NULL;
    return sqlite3_vfs_register(&disk, 1) == SQLITE_OK;
}

"""Programs whose calendar clock is ahead. (A time namespace moves the clocks since boot alone.)"""

import os
import shutil
import subprocess
import time

from support import check

DAY_S = 24 * 60 * 60
CLOCK = """#define _GNU_SOURCE
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>
int clock_gettime(clockid_t clock, struct timespec *out)
{
    const long result = syscall(SYS_clock_gettime, clock, out);
    out->tv_sec += clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE ? AHEAD : 0;
    return (int)result;
}
int gettimeofday(struct timeval *restrict out, void *restrict zone)
{
    const long result = syscall(SYS_gettimeofday, out, zone);
    out->tv_sec += AHEAD;
    return (int)result;
}
time_t time(time_t *out)
{
    struct timeval now;
    (void)gettimeofday(&now, NULL);
    if (out != NULL) {
        *out = now.tv_sec;
    }
    return now.tv_sec;
}
"""


def clock_ahead(folder, seconds):
    """The environment of a machine whose clock is so far ahead; nothing without a compiler at hand."""
    source, library = (os.path.join(folder, f"clock{seconds}.{kind}") for kind in ("c", "so"))
    with open(source, "w", encoding="utf-8") as file:
        file.write(CLOCK)
    if shutil.which("cc") is None:
        return {}
    subprocess.run(["cc", "-shared", "-fPIC", f"-DAHEAD={seconds}L", "-o", library, source], check=True)
    ahead = {"LD_PRELOAD": library, "ASAN_OPTIONS": "verify_asan_link_order=0"}
    said = subprocess.run(["date", "+%s"], env=dict(os.environ, **ahead), capture_output=True, text=True,
                          check=True).stdout
    check(int(said) >= time.time() + seconds - 60, f"the clock is not ahead: {said}")
    return ahead

// A disk that can fail: SQLite's own file layer, with a switch in front of everything that writes.
// It is installed once as the default and does nothing until a test turns it on.
#pragma once

#include <stdbool.h>
#include <stdint.h>

bool failing_disk_install(void);
// The next `after` writing calls (write, truncate, sync) work; from then on each gives `code` (one
// of SQLite's), for `count` calls. A count of 0 makes it work again.
void failing_disk_arm(uint32_t after, uint32_t count, int code);
uint32_t failing_disk_failed(void); // calls refused since the last arm

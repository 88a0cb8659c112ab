// A page of a list of objects, as an S3 server writes it, and addresses of buckets: keys that are
// given out are texts that stand in the page, in order, and the last of them is the one to go on
// with.
#include "core/base/check.h"
#include "server/store/place/blob_s3.h"

#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

typedef struct Seen {
    uint32_t count;
    char last[BLOB_S3_KEY_BYTES];
} Seen;

static Status see(void *user, const char *key, uint64_t bytes, uint64_t unix_s)
{
    Seen *seen = user;
    (void)bytes;
    (void)unix_s;
    ASSERT(key[0] != '\0' && strlen(key) < BLOB_S3_KEY_BYTES);
    memcpy(seen->last, key, strlen(key) + 1);
    seen->count += 1;
    return seen->count < 100 ? STATUS_OK : STATUS_LIMIT;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    Seen seen = {0};
    bool is_more = false;
    char last[BLOB_S3_KEY_BYTES], address[512], reason[BLOB_S3_REASON_BYTES];
    const Status status = blob_s3_read_list((const char *)data, size, see, &seen, &is_more, last);
    ASSERT(status != STATUS_OK || strcmp(seen.last, last) == 0);
    ASSERT((uint64_t)seen.count * 20 <= size); // each has its elements
    if (size < sizeof address && memchr(data, '\0', size) == NULL) {
        memcpy(address, data, size);
        address[size] = '\0';
        ASSERT(!blob_s3_is_valid(address, reason) || strncmp(address, "s3://", 5) == 0);
    }
    return 0;
}

// Results of a build by the hash of everything that went into them. Each is a file of its own that
// appears whole, and carries a code made with a secret of this host's: what others put there (in a
// folder that came from a stranger, say) is not found, for the host signs what it finds here.
//
//   <folder>/entry/ab/cdef…   32 bytes code, then the value
//   <folder>/blobs/ab/cdef…   what is looked at later, by its own hash: source maps
//
// A cache never fails a build: what cannot be read is a miss, what cannot be written is made again.
#pragma once

#include "core/base/sha256.h"
#include "server/build/base/buffer.h"
#include "server/build/sign/signing_key.h"

#define CACHE_VALUE_BYTES_MAX (64u << 20)
// The limits of the cache: above them the least recently used files are removed, down to three
// quarters.
#define CACHE_FILES_MAX 8192
#define CACHE_BYTES_MAX (512u << 20)

typedef struct CacheKey {
    uint8_t bytes[SHA256_BYTES];
} CacheKey;

// A key is made of the stage's name, the program that does the work, and all of its input.
typedef struct CacheKeyMaker {
    Sha256 sha;
} CacheKeyMaker;
CacheKeyMaker cache_key_begin(const char *stage);
void cache_key_add(CacheKeyMaker *maker, const void *data, size_t bytes);
void cache_key_add_text(CacheKeyMaker *maker, const char *text);
void cache_key_add_u32(CacheKeyMaker *maker, uint32_t value);
CacheKey cache_key_end(CacheKeyMaker *maker);

typedef struct BuildCache BuildCache;

// Creates the folder if needed. STATUS_BLOCKED: that failed, or it is a link.
MUST_USE Status cache_open(const char *folder, const SigningKey *key, BuildCache **out);
void cache_close(BuildCache *cache); // NULL is allowed
// Appends the value to `out`; false: it is not cached.
bool cache_find(BuildCache *cache, const CacheKey *key, Buffer *out);
void cache_keep(BuildCache *cache, const CacheKey *key, const void *value, size_t bytes);
void cache_keep_blob(BuildCache *cache, const void *data, size_t bytes, uint8_t hash[SHA256_BYTES]);
// Appends the blob with that hash to `out`; false: there is none, or its bytes are others.
bool cache_find_blob(BuildCache *cache, const uint8_t hash[SHA256_BYTES], size_t bytes_max,
                     Buffer *out);
void cache_prune(BuildCache *cache);

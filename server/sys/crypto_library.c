// See crypto_library.h.
#include "server/sys/crypto_library.h"

#include <pthread.h>

CryptoLibrary crypto_lib;

static pthread_once_t once = PTHREAD_ONCE_INIT;
static bool is_ready;

static void open_library(void)
{
#define CRYPTO_ROW(function) {#function, &crypto_lib.function},
    static const LibraryFunction functions[] = {CRYPTO_FUNCTIONS(CRYPTO_ROW)};
#undef CRYPTO_ROW
    is_ready = library_open("libcrypto.so.3", functions, sizeof functions / sizeof functions[0]) ==
               STATUS_OK;
}

bool crypto_library_open(void)
{
    (void)pthread_once(&once, open_library);
    return is_ready;
}

// See curl_library.h.
#include "server/sys/curl_library.h"

#include <pthread.h>

CurlLibrary curl_lib;

static pthread_once_t once = PTHREAD_ONCE_INIT;
static bool is_ready;

static void open_library(void)
{
#define CURL_ROW(function) {#function, &curl_lib.function},
    static const LibraryFunction functions[] = {CURL_FUNCTIONS(CURL_ROW)};
#undef CURL_ROW
    is_ready = library_open("libcurl.so.4", functions, sizeof functions / sizeof functions[0]) ==
                   STATUS_OK &&
               curl_lib.curl_global_init(CURL_GLOBAL_DEFAULT) == CURLE_OK;
}

bool curl_library_open(void)
{
    (void)pthread_once(&once, open_library);
    return is_ready;
}

char *curl_url_part(CURLU *url, CURLUPart part)
{
    char *text = NULL;
    return curl_lib.curl_url_get(url, part, &text, 0) == CURLUE_OK ? text : NULL;
}

bool curl_add_header(struct curl_slist **list, const char *line)
{
    struct curl_slist *more = curl_lib.curl_slist_append(*list, line);
    *list = more != NULL ? more : *list;
    return more != NULL;
}

// See shared_url.h.
#define _GNU_SOURCE
#include "server/serve/http/shared_url.h"

#include "server/net/http_client.h"
#include "server/sys/loopback.h"

#include <stdio.h>
#include <string.h>

bool serve_is_everywhere(const Serve *serve)
{
    return strcmp(serve->config.address, "0.0.0.0") == 0 ||
           strcmp(serve->config.address, "::") == 0;
}

// Without the port, which an address in brackets has behind them.
static bool is_own_computer(const char *host)
{
    const size_t name = host[0] == '[' ? strcspn(host, "]") + 1 : strcspn(host, ":");
    return name <= strlen(host) && host_is_loopback(host, name);
}

bool serve_shared_urls(const Serve *serve, const HttpRequest *request, SharedUrls *out)
{
    char addresses[NETWORK_ADDRESSES_MAX][NETWORK_ADDRESS_BYTES];
    HttpSite site;
    const char *host = http_header(request, "Host");
    *out = (SharedUrls){0};
    if (host == NULL || !is_own_computer(host) || !http_is_loopback(request) ||
        http_is_forwarded(request)) {
        return false;
    }
    if (serve->config.public_url != NULL && !url_is_loopback(serve->config.public_url) &&
        http_site_parse(serve->config.public_url, &site)) {
        snprintf(out->text[out->count++], SHARED_URL_BYTES, "%.280s", site.origin);
    } else if (serve_is_everywhere(serve)) {
        out->count = network_addresses(addresses);
        for (uint32_t i = 0; i < out->count; i++) {
            snprintf(out->text[i], SHARED_URL_BYTES, "http://%s:%u", addresses[i],
                     http_port(serve->http));
        }
    }
    return true;
}

// See postgres_hosts.h.
#include "server/store/sql/postgres_hosts.h"

#include <libpq-fe.h>
#include <stdio.h>
#include <string.h>

const char *postgres_list_item(const char *list, uint32_t at, char *out, size_t out_bytes)
{
    const char *item = list;
    for (const char *comma = strchr(item, ','); comma != NULL && at > 0;
         comma = strchr(item, ','), at--) {
        item = comma + 1;
    }
    const size_t bytes = strcspn(item, ",");
    snprintf(out, out_bytes, "%.*s", (int)bytes, item);
    return out;
}

static uint32_t list_count(const char *list)
{
    uint32_t count = 1;
    for (const char *at = list; *at != '\0'; at++) {
        count += *at == ',';
    }
    return count;
}

uint32_t postgres_host_count(const char *url)
{
    uint32_t count = 1;
    PQconninfoOption *options = PQconninfoParse(url, NULL);
    for (const PQconninfoOption *option = options; option != NULL && option->keyword != NULL;
         option++) {
        if (option->val != NULL &&
            (strcmp(option->keyword, "host") == 0 || strcmp(option->keyword, "hostaddr") == 0)) {
            const uint32_t found = list_count(option->val);
            count = found > count ? found : count;
        }
    }
    PQconninfoFree(options);
    return count;
}

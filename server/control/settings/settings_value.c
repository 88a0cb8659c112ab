// One value of a setting: whether it is valid, and how it is kept.
#define _GNU_SOURCE
#include "server/control/settings/settings_inside.h"
#include "server/net/http_client.h"
#include "server/store/place/blob_s3.h"
#include "server/sys/loopback.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#define SEPARATORS ", \t"

bool setting_number(const char *text, uint32_t low, uint32_t high, uint32_t *out)
{
    const size_t digits = strspn(text, "0123456789");
    if (digits == 0 || digits > 9 || text[digits] != '\0') {
        return false;
    }
    const unsigned long number = strtoul(text, NULL, 10);
    if (number < low || number > high) {
        return false;
    }
    *out = (uint32_t)number;
    return true;
}

bool setting_split(SettingValue *value)
{
    uint32_t count = 0;
    memcpy(value->split, value->text, sizeof value->split);
    value->items[0] = NULL;
    for (char *at = value->split + strspn(value->split, SEPARATORS); *at != '\0';) {
        char *end = at + strcspn(at, SEPARATORS);
        if (count == SETTING_ITEMS_MAX) {
            return false;
        }
        value->items[count++] = at;
        value->items[count] = NULL;
        if (*end != '\0') {
            *end++ = '\0';
        }
        at = end + strspn(end, SEPARATORS);
    }
    return true;
}

// A numeric address; "localhost" is the one that it usually means.
static bool check_address(const char *given, char out[SETTING_TEXT_BYTES])
{
    HttpPeer peer;
    const bool is_name = strcmp(given, "localhost") == 0;
    const char *address = is_name ? "127.0.0.1" : given;
    if (!http_peer_parse(address, strlen(address), &peer) || strchr(address, '[') != NULL ||
        (strchr(address, '.') != NULL && strchr(address, ':') != NULL)) { // with a port
        return false;
    }
    snprintf(out, SETTING_TEXT_BYTES, "%s", address);
    return true;
}

// A scheme and a host without a path, because that is what browsers send.
static bool is_origin(const char *text)
{
    // Origins are written into the pages' policy, where these signs would end a list.
    const size_t bytes = strcspn(text, " \t;,'\"\\");
    const char *host = strstr(text, "://");
    return text[bytes] == '\0' && bytes < HTTP_SITE_BYTES && host != NULL && host > text &&
           host[3] != '\0' && strchr(host + 3, '/') == NULL;
}

static bool is_proxy(const char *text)
{
    HttpPeerRange range;
    return http_peer_range_parse(text, &range);
}

// "creator=makers": a role here, and the value of a claim that gives it.
static bool is_role(const char *text)
{
    const char *equals = strchr(text, '=');
    const size_t bytes = equals != NULL ? (size_t)(equals - text) : 0;
    return bytes > 0 && equals[1] != '\0' &&
           ((bytes == 7 && strncmp(text, "creator", bytes) == 0) ||
            (bytes == 7 && strncmp(text, "teacher", bytes) == 0) ||
            (bytes == 8 && strncmp(text, "operator", bytes) == 0));
}

// With a path or not; plain http only where nobody listens.
static bool is_link(const char *text)
{
    char origin[HTTP_SITE_BYTES];
    HttpSite site;
    const char *host = strstr(text, "://");
    const char *path = host != NULL ? strchr(host + 3, '/') : NULL;
    const size_t bytes = path != NULL ? (size_t)(path - text) : strlen(text);
    if (host == NULL || bytes >= sizeof origin || strlen(text) > 255 ||
        strpbrk(text, " \t?#@\\\"'<>") != NULL) {
        return false;
    }
    snprintf(origin, sizeof origin, "%.*s", (int)bytes, text);
    if (!http_site_parse(origin, &site)) {
        return false;
    }
    return strncmp(text, "https:", 6) == 0 || url_is_loopback(text);
}

static bool is_line(const SettingRow *row, const char *given)
{
    const size_t bytes = strlen(given);
    for (const char *at = given; *at != '\0'; at++) {
        if ((unsigned char)*at < ' ' || *at == 127) {
            return false;
        }
    }
    return bytes >= row->low && bytes <= row->high;
}

static bool check_list(const char *given, bool (*is_item)(const char *), const char *what,
                       char why[SETTINGS_REASON_BYTES])
{
    static const char none[] = "";
    SettingValue *list = calloc(1, sizeof *list);
    const char *wrong = list == NULL ? none : NULL;
    if (list != NULL) {
        snprintf(list->text, sizeof list->text, "%s", given);
        wrong = setting_split(list) ? NULL : none;
        for (uint32_t i = 0; wrong == NULL && list->items[i] != NULL; i++) {
            wrong = is_item(list->items[i]) ? NULL : list->items[i];
        }
    }
    if (wrong == none) {
        snprintf(why, SETTINGS_REASON_BYTES, "a list has at most %d items", SETTING_ITEMS_MAX);
    } else if (wrong != NULL) {
        snprintf(why, SETTINGS_REASON_BYTES, "\"%.100s\" is not %s", wrong, what);
    }
    const bool is_good = wrong == NULL;
    free(list);
    return is_good;
}

static bool has_word(const char *words, const char *given)
{
    const size_t bytes = strlen(given);
    for (const char *at = words; at != NULL;) {
        if (strncmp(at, given, bytes) == 0 && (at[bytes] == '|' || at[bytes] == '\0')) {
            return true;
        }
        at = strchr(at, '|');
        at = at != NULL ? at + 1 : NULL;
    }
    return false;
}

// How values of a switch may be written; kept is the first column.
static bool check_switch(const char *given, char out[SETTING_TEXT_BYTES])
{
    static const char *const words[][4] = {{"yes", "true", "on", "1"}, {"no", "false", "off", "0"}};
    for (size_t i = 0; i < 2; i++) {
        for (size_t k = 0; k < 4; k++) {
            if (strcmp(words[i][k], given) == 0) {
                snprintf(out, SETTING_TEXT_BYTES, "%s", words[i][0]);
                return true;
            }
        }
    }
    return false;
}

static bool is_secret_text(const SettingRow *row, const char *given)
{
    const size_t bytes = strlen(given);
    bool is_shown = true; // a key with a space or a line end in it was cut from something
    for (const char *at = given; *at != '\0'; at++) {
        is_shown = is_shown && *at > ' ' && *at <= '~';
    }
    return is_shown && bytes >= row->low && bytes <= row->high;
}

static bool is_name(const char *given)
{
    return strchr(given, '/') == NULL && given[0] != '.';
}

// Options of an address may be written with %XX, their names too.
static bool has_option(const char *url, const char *option)
{
    char text[SETTING_TEXT_BYTES];
    size_t at = 0;
    for (; *url != '\0' && at + 1 < sizeof text; url++) {
        char digits[3] = "";
        if (url[0] == '%' && isxdigit((unsigned char)url[1]) && isxdigit((unsigned char)url[2])) {
            memcpy(digits, url + 1, 2);
            url += 2;
        }
        text[at++] = digits[0] != '\0' ? (char)strtoul(digits, NULL, 16) : *url;
    }
    return memmem(text, at, option, strlen(option)) != NULL; // also behind a zero
}

// Everybody on the machine can read flags, and a URL is printed in many places.
static bool has_password(const char *url)
{
    const char *host = strstr(url, "://") + 3;
    const size_t bytes = strcspn(host, "/?");
    const char *at = memchr(host, '@', bytes), *colon = memchr(host, ':', bytes);
    return (at != NULL && colon != NULL && colon < at) || has_option(url, "password=");
}

static bool is_store(const char *given)
{
    return strncmp(given, "postgres://", 11) == 0 || strncmp(given, "postgresql://", 13) == 0;
}

static bool value_refused(const char *given, const char *what, char why[SETTINGS_REASON_BYTES])
{
    snprintf(why, SETTINGS_REASON_BYTES, "\"%.100s\" is not %s", given, what);
    return false;
}

bool setting_check(const SettingRow *row, const char *given, char out[SETTING_TEXT_BYTES],
                   char why[SETTINGS_REASON_BYTES])
{
    char what[200];
    uint32_t number;
    HttpSite site;
    if (strlen(given) >= SETTING_TEXT_BYTES) {
        snprintf(why, SETTINGS_REASON_BYTES, "the value is too long");
        return false;
    }
    snprintf(out, SETTING_TEXT_BYTES, "%s", given);
    switch (row->kind) {
    case SETTING_KIND_ADDRESS:
        return check_address(given, out) ||
               value_refused(given, "an IP address such as 127.0.0.1, 0.0.0.0 or ::", why);
    case SETTING_KIND_NUMBER:
        snprintf(what, sizeof what, "a number from %u to %u", row->low, row->high);
        return setting_number(given, row->low, row->high, &number) ||
               value_refused(given, what, why);
    case SETTING_KIND_FOLDER:
        return true;
    case SETTING_KIND_NAME:
        return is_name(given) || value_refused(given, "the name of a folder", why);
    case SETTING_KIND_URL:
        return http_site_parse(given, &site) ||
               value_refused(given, "an address such as https://play.example, without a path", why);
    case SETTING_KIND_STORE:
        if (!is_store(given)) {
            return value_refused(given, "an address such as postgres://sandlot@db.example/sandlot",
                                 why);
        }
        snprintf(why, SETTINGS_REASON_BYTES,
                 "the address must not have a password; put that into the variable PGPASSWORD or "
                 "into ~/.pgpass");
        return !has_password(given);
    case SETTING_KIND_ORIGIN_LIST:
        return check_list(given, is_origin, "a site such as https://club.example, without a path",
                          why);
    case SETTING_KIND_LINK:
        return is_link(given) ||
               value_refused(given,
                             "an address such as https://accounts.example/club; http is only for "
                             "this machine",
                             why);
    case SETTING_KIND_LINE:
        snprintf(what, sizeof what, "a line of %u to %u letters", row->low, row->high);
        return is_line(row, given) || value_refused(given, what, why);
    case SETTING_KIND_ROLE_LIST:
        return check_list(given, is_role,
                          "creator=VALUE, teacher=VALUE or operator=VALUE, with the VALUE of the "
                          "claim that gives the role",
                          why);
    case SETTING_KIND_BLOBS:
        return strcmp(given, "files") == 0 || blob_s3_is_valid(given, why);
    case SETTING_KIND_PROXY_LIST:
        return check_list(given, is_proxy, "an address or a range such as 10.0.0.0/8", why);
    case SETTING_KIND_SECRET:
        snprintf(why, SETTINGS_REASON_BYTES,
                 "a secret has %u to %u letters, digits and signs without spaces%s", row->low,
                 row->high,
                 row->id == SETTING_SECRET_KEY ? "; `sandlot up --new-secret-key` makes one" : "");
        return is_secret_text(row, given);
    case SETTING_KIND_CHOICE:
        snprintf(what, sizeof what, "one of %.150s", row->words);
        return has_word(row->words, given) || value_refused(given, what, why);
    case SETTING_KIND_SWITCH:
        return check_switch(given, out) || value_refused(given, "yes or no", why);
    }
    return false;
}

bool settings_check_store(const char *url, char reason[SETTINGS_REASON_BYTES])
{
    char unused[SETTING_TEXT_BYTES];
    return setting_check(setting_row(SETTING_STORE), url, unused, reason);
}

// GET /api/live: who may follow what. Rights are asked when the stream begins; it lasts a minute,
// and ends at once when its sign-in does (live.c).
#define _GNU_SOURCE
#include "server/control/order/rights.h"
#include "server/serve/live/live.h"

#include <stdio.h>

#define TOPICS_RULE "topics is places, operator or both with a comma; place is the id of a place"
#define RETRY_S     15

// False: there is another word in it, or nothing at all is wanted.
static bool read_wish(const HttpRequest *request, LiveWish *wish)
{
    const char *topics = http_query(request, "topics"), *place = http_query(request, "place");
    if (place != NULL) {
        if (place[0] == '\0' || strlen(place) >= sizeof wish->place_id) {
            return false;
        }
        snprintf(wish->place_id, sizeof wish->place_id, "%s", place);
    }
    if (topics != NULL) {
        wish->places = strcmp(topics, "places") == 0 || strcmp(topics, "places,operator") == 0;
        wish->is_operator =
            strcmp(topics, "operator") == 0 || strcmp(topics, "places,operator") == 0;
    }
    return topics != NULL ? wish->places || wish->is_operator : place != NULL;
}

// With a token, only one that is for operating.
static bool operates(const Serve *serve, const HttpRequest *request, const Identity *who)
{
    const bool is_operator = who != NULL && (who->roles & ROLE_OPERATOR) != 0;
    const bool is_wide =
        who == NULL || who->kind != SIGN_IN_TOKEN || (who->scope & SCOPE_OPERATE) != 0;
    return (is_operator && is_wide) ||
           (serve_is_development(serve, request) && http_origin_is_allowed(request));
}

// As for GET /api/worlds/<id>/scripts: sources are their creators'. Reads the database.
static bool works_on(const Serve *serve, const HttpRequest *request, const Identity *who,
                     const char *place_id)
{
    StorePackage package;
    uint32_t rights = 0;
    if (serve_is_development(serve, request) && http_origin_is_allowed(request)) {
        return true;
    }
    if (who == NULL || serve->control == NULL ||
        (who->kind == SIGN_IN_TOKEN && (who->scope & (SCOPE_CREATE | SCOPE_OPERATE)) == 0)) {
        return false;
    }
    return rights_find(serve->store, place_id, who, &package, &rights) == STATUS_OK &&
           (rights & RIGHT_EDIT) != 0;
}

void serve_get_live(void *user, HttpRequest *request, HttpResponse *response)
{
    Serve *serve = user;
    const Identity *who = serve_who(request);
    LiveWish wish = {.who = who, .address = http_address(request)};
    if (!read_wish(request, &wish)) {
        http_fail(request, response, 400, "malformed", TOPICS_RULE);
    } else if (wish.is_operator && !operates(serve, request, who)) {
        http_fail(request, response, who == NULL ? 401 : 403,
                  who == NULL ? "auth_required" : "denied", "this is for operators");
    } else if (wish.place_id[0] != '\0' && !works_on(serve, request, who, wish.place_id)) {
        http_fail(request, response, 404, "not_found",
                  "there is no such place, or you do not work on it");
    } else if (live_add(serve->live, &wish, request, response) != STATUS_OK) {
        http_fail(request, response, 429, "too_many",
                  "too many pages follow live numbers already; try again later");
        response->retry_after_s = RETRY_S;
    }
}

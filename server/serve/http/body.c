// See body.h.
#include "server/serve/http/body.h"

#include "core/base/nearest.h"
#include "server/serve/http/http_routes.h"
#include "server/serve/http/openapi_text.h"

#include <stdio.h>
#include <string.h>

#define BODY_ARENA_BYTES (48u << 10)
#define BODY_NODES_MAX   512
#define BODY_MEMBERS_MAX 16
#define BODY_BYTES_MAX   (64u << 10) // routes have their own, smaller limits

static bool is_known(const char *const *members, const JsonNode *member)
{
    for (; *members != NULL; members++) {
        if (strcmp(member->name, *members) == 0) {
            return true;
        }
    }
    return false;
}

static void describe_member(const JsonNode *member, const char *const *members, char *out,
                            size_t bytes)
{
    char list[128] = "";
    Nearest nearest = nearest_begin(member->name, strlen(member->name));
    for (const char *const *at = members; *at != NULL; at++) {
        (void)nearest_consider(&nearest, *at, strlen(*at));
        const size_t used = strlen(list);
        snprintf(list + used, sizeof list - used, "%s%s", used > 0 ? ", " : "", *at);
    }
    if (nearest.found != NULL) {
        snprintf(out, bytes, "there is no member %.64s here; did you mean %s?", member->name,
                 nearest.found);
    } else {
        snprintf(out, bytes, "there is no member %.64s here; there are: %s", member->name, list);
    }
}

bool serve_body_has_odd(const JsonNode *object, const char *const *members, char *out, size_t bytes)
{
    for (const JsonNode *member = object->first; member != NULL; member = member->next) {
        if (!is_known(members, member)) {
            describe_member(member, members, out, bytes);
            return true;
        }
    }
    return false;
}

bool serve_body_fits(const JsonNode *object, HttpRequest *request, HttpResponse *response)
{
    OpenapiWord words[BODY_MEMBERS_MAX];
    const char *members[BODY_MEMBERS_MAX + 1];
    uint32_t count = 0;
    char text[256];
    for (const char *at = http_route(request)->takes;
         count < BODY_MEMBERS_MAX && openapi_word(&at, &words[count]);) {
        members[count] = words[count].name;
        count += 1;
    }
    members[count] = NULL;
    if (object != NULL && serve_body_has_odd(object, members, text, sizeof text)) {
        http_fail(request, response, 400, "unknown_member", text);
        return false;
    }
    for (uint32_t i = 0; i < count; i++) {
        const JsonNode *member = json_find(object, words[i].name);
        const bool is_null = member != NULL && member->kind == JSON_NULL;
        if (!words[i].is_optional &&
            (member == NULL || (is_null && strcmp(words[i].type, "any") != 0))) {
            snprintf(text, sizeof text, "the body must be a JSON object with the member %.100s",
                     words[i].name);
            http_fail(request, response, 400, "malformed", text);
            return false;
        }
    }
    return true;
}

const JsonNode *serve_body_object(HttpRequest *request, HttpResponse *response)
{
    size_t bytes;
    const uint8_t *body = http_body(request, &bytes);
    const JsonNode *root = NULL;
    void *memory = arena_alloc(http_arena(request), BODY_ARENA_BYTES);
    if (memory == NULL) {
        http_fail(request, response, 503, "busy", "out of memory; try again");
        return NULL;
    }
    Arena arena;
    arena_init(&arena, memory, BODY_ARENA_BYTES);
    const JsonConfig config = {.arena = &arena,
                               .bytes_max = BODY_BYTES_MAX,
                               .node_count_max = BODY_NODES_MAX,
                               .depth_max = 8};
    const char *text = bytes > 0 ? (const char *)body : "{}";
    const Status status = json_parse(&config, text, bytes > 0 ? bytes : 2, &root, NULL);
    if (status != STATUS_OK || root->kind != JSON_OBJECT) {
        http_fail(request, response, 400, "malformed", "the body is no JSON object");
        return NULL;
    }
    return serve_body_fits(root, request, response) ? root : NULL;
}

bool serve_body_text(HttpRequest *request, HttpResponse *response, const JsonNode *object,
                     const char *name, char *out, size_t capacity)
{
    const JsonNode *node = json_find(object, name);
    if (node == NULL || node->kind == JSON_NULL) {
        return true;
    }
    if (node->kind != JSON_STRING || node->count >= capacity || strlen(node->text) != node->count) {
        char text[96];
        snprintf(text, sizeof text, "%s must be a text of at most %u bytes", name,
                 (unsigned)capacity - 1);
        http_fail(request, response, 400, "malformed", text);
        return false;
    }
    memcpy(out, node->text, node->count + 1);
    return true;
}

bool serve_body_bool(HttpRequest *request, HttpResponse *response, const JsonNode *object,
                     const char *name, bool *out)
{
    const JsonNode *node = json_find(object, name);
    if (node == NULL || node->kind == JSON_NULL) {
        return true;
    }
    if (node->kind != JSON_BOOL) {
        char text[96];
        snprintf(text, sizeof text, "%s must be true or false", name);
        http_fail(request, response, 400, "malformed", text);
        return false;
    }
    *out = node->boolean;
    return true;
}

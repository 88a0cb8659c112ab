// See page.h. All of this runs on the pool: it reads files and the store.
#define _GNU_SOURCE
#include "server/serve/http/page.h"

#include "server/control/order/rights.h"
#include "server/net/http_file.h"
#include "server/serve/http/http_routes.h"
#include "server/serve/http/time_text.h"
#include "server/serve/people/pupil_name.h"
#include "server/serve/place/places.h"
#include "server/store/people/store_person.h"
#include "server/store/place/store_publish.h"
#include "server/sys/entropy.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define PAGE_BYTES_MAX (256u << 10)
#define SITE_BYTES     300
#define PATH_BYTES     128
#define GAME_PAGE      "/" // index.html
#define SITE_PAGE      "/site.html"
#define STUDIO_PAGE    "/studio.html"

// What a head tells of a place.
typedef struct About {
    char title[STORE_TITLE_BYTES], summary[PAGE_SUMMARY_BYTES];
    char path[PATH_BYTES], picture[PATH_BYTES];
    char description[STORE_DESCRIPTION_BYTES], creator[STORE_SHOWN_BYTES];
    PageVersion versions[PAGE_VERSIONS];
    uint32_t version_count;
} About;

// --- the file -----------------------------------------------------------------------------------

static size_t read_all(int file, char *out, size_t bytes)
{
    size_t at = 0;
    for (ssize_t got = 1; at < bytes && got > 0; at += got > 0 ? (size_t)got : 0) {
        got = read(file, out + at, bytes - at);
    }
    return at;
}

// The text is the request's. NULL: there is no page.
static char *read_page(const Serve *serve, HttpRequest *request, const char *name, size_t *bytes)
{
    const HttpAccept plain = {0};
    HttpFile file;
    if (http_file_open(serve->config.web, name, &plain, &file) != STATUS_OK) {
        return NULL;
    }
    char *text = file.bytes <= PAGE_BYTES_MAX ? malloc((size_t)file.bytes + 1) : NULL;
    http_keep(request, text);
    *bytes = text != NULL ? read_all(file.descriptor, text, (size_t)file.bytes) : 0;
    close(file.descriptor);
    return text;
}

// Where this page is, for addresses that have to be whole; Host was checked before.
static void find_site(const Serve *serve, const HttpRequest *request, char out[SITE_BYTES])
{
    const char *host = http_header(request, "Host");
    out[0] = '\0';
    if (serve->config.public_url != NULL) {
        snprintf(out, SITE_BYTES, "%s", serve->config.public_url);
        out[strcspn(out, "?#")] = '\0';
        for (size_t end = strlen(out); end > 0 && out[end - 1] == '/'; end--) {
            out[end - 1] = '\0';
        }
    } else if (host != NULL && strlen(host) < SITE_BYTES - sizeof "http://") {
        snprintf(out, SITE_BYTES, "http://%s", host);
    }
}

static void make_nonce(char out[HTTP_NONCE_BYTES])
{
    uint8_t random[(HTTP_NONCE_BYTES - 1) / 2];
    entropy_fill(random, sizeof random);
    for (size_t i = 0; i < sizeof random; i++) {
        snprintf(out + 2 * i, 3, "%02x", random[i]);
    }
}

static void send_written(HttpRequest *request, HttpResponse *response, const char *page,
                         size_t bytes, PageHead *head)
{
    const Serve *serve = http_user(request);
    char site[SITE_BYTES], nonce[HTTP_NONCE_BYTES];
    const size_t room = bytes + PAGE_HEAD_BYTES + (head->content != NULL ? head->content->at : 0);
    uint8_t *text = malloc(room);
    char *policy = malloc(HTTP_POLICY_BYTES);
    http_keep(request, text);
    http_keep(request, policy);
    if (text == NULL || policy == NULL) {
        http_fail(request, response, 503, "busy", "out of memory; try again");
        return;
    }
    make_nonce(nonce);
    find_site(serve, request, site);
    head->nonce = nonce;
    head->site = site;
    ByteWriter writer = byte_writer(text, room);
    page_write(page, bytes, head, &writer);
    ASSERT(writer.status == STATUS_OK); // PAGE_HEAD_BYTES are enough for escaped texts
    http_policy_nonce(request, nonce, head->embed_origins, policy);
    response->content_type = "text/html; charset=utf-8";
    response->content_security_policy = policy;
    response->body = text;
    response->body_is_static = true; // it is the request's
    response->bytes = writer.at;
}

static void send_page(const Serve *serve, HttpRequest *request, HttpResponse *response,
                      const char *name, const About *about)
{
    size_t bytes = 0;
    const char *page = read_page(serve, request, name, &bytes);
    const bool is_game = strcmp(name, GAME_PAGE) == 0;
    PageHead head = {.title = about->title,
                     .summary = about->summary,
                     .path = about->path,
                     .picture = about->picture,
                     .embed_origins = is_game ? serve->config.embed_origins : NULL,
                     .description = about->description,
                     .creator = about->creator,
                     .versions = about->versions,
                     .version_count = about->version_count};
    if (page != NULL) {
        send_written(request, response, page, bytes, &head);
    } else {
        http_fail(request, response, 404, "not_found", "there is nothing here");
    }
}

// A server without the files of the site: those who are at its API alone sign in here.
static const char bare_page[] =
    "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">"
    "<meta name=\"viewport\" content=\"width=device-width\"><title></title></head>\n"
    "<body><main><!-- about --></main></body></html>\n";

void serve_send_content(HttpRequest *request, HttpResponse *response, const char *title,
                        const ByteWriter *content)
{
    const Serve *serve = http_user(request);
    size_t bytes = 0;
    const char *page =
        serve->config.web != NULL ? read_page(serve, request, SITE_PAGE, &bytes) : NULL;
    PageHead head = {.title = title, .summary = "", .path = "", .picture = "", .content = content};
    send_written(request, response, page != NULL ? page : bare_page,
                 page != NULL ? bytes : sizeof bare_page - 1, &head);
}

// --- what it is about ---------------------------------------------------------------------------

_Static_assert(sizeof((PageVersion *)0)->notes == STORE_NOTES_BYTES, "notes are copied whole");

static void tell_versions(Store *store, const StorePackage *package, About *about)
{
    StoreRevision *revisions = malloc(PAGE_VERSIONS * sizeof *revisions);
    uint32_t count = 0;
    if (revisions != NULL &&
        store_revisions_live(store, package->package_id, package->live, STORE_REVISION_ALL,
                             revisions, PAGE_VERSIONS, &count) == STATUS_OK) {
        about->version_count = count;
    }
    for (uint32_t i = 0; i < about->version_count; i++) {
        PageVersion *version = &about->versions[i];
        char time[TIME_TEXT_BYTES];
        time_text(revisions[i].created_unix_ms, time);
        time[strcspn(time, "T")] = '\0';
        snprintf(version->name, sizeof version->name, "r%u", revisions[i].revision);
        snprintf(version->day, sizeof version->day, "%.15s", time);
        memcpy(version->notes, revisions[i].notes, sizeof version->notes);
    }
    free(revisions);
}

// Who made it and what is new, for those without JavaScript.
static void tell_more(const Serve *serve, const StorePackage *package, About *about)
{
    Store *store = serve->store;
    StoreAccount account;
    if (package->owner_id != STORE_BUILT_IN_ACCOUNT &&
        store_account_find(store, package->owner_id, &account) == STATUS_OK) {
        pupil_name_show(serve, NULL, &account);
        snprintf(about->creator, sizeof about->creator, "%s",
                 account.shown_name[0] != '\0' ? account.shown_name : account.name);
    }
    tell_versions(store, package, about);
}

// Of a place that anybody may see; else nothing is told.
static void tell_place(const Serve *serve, const char *package_id, bool is_listed, About *about)
{
    StorePackage *package = malloc(sizeof *package);
    uint32_t rights = 0;
    const bool is_seen =
        package != NULL &&
        rights_find(serve->store, package_id, NULL, package, &rights) == STATUS_OK &&
        package->kind == STORE_PLACE &&
        (!is_listed ||
         (package->visibility == STORE_LISTED && (package->flags & STORE_PACKAGE_UNLISTED) == 0));
    if (is_seen) {
        snprintf(about->title, sizeof about->title, "%s", package->title);
        page_summary(package->description, about->summary);
        memcpy(about->description, package->description, sizeof about->description);
        tell_more(serve, package, about);
        snprintf(about->path, sizeof about->path, "/place/%s", package->package_id);
        snprintf(about->picture, sizeof about->picture, "/api/places/%s/pictures/0",
                 package->package_id);
    }
    free(package);
}

static bool is_any(void *user, const ServePlace *place)
{
    (void)user;
    return !atomic_load(&place->is_private);
}

// Without accounts there is one place, and every page is about it.
static void tell_only_place(const Serve *serve, About *about)
{
    ServePlace *place = places_find(serve, is_any, NULL);
    if (place != NULL) {
        snprintf(about->title, sizeof about->title, "%s", place->place->built.facts.name);
    }
    serve_place_release(place);
}

// Without accounts there is nothing to find.
static const char *site_page(const Serve *serve)
{
    return serve->control != NULL ? SITE_PAGE : GAME_PAGE;
}

void serve_get_page(void *user, HttpRequest *request, HttpResponse *response)
{
    const Serve *serve = user;
    About about = {.path = "/"};
    if (serve->control == NULL) {
        tell_only_place(serve, &about);
    }
    send_page(serve, request, response, site_page(serve), &about);
}

void serve_get_lost_page(void *user, HttpRequest *request, HttpResponse *response)
{
    static const char text[] =
        "<div class=\"empty\"><h1>There is nothing here</h1>"
        "<p>The address may be wrong.</p><p><a href=\"/\">See what there is to play</a></p></div>";
    const Serve *serve = user;
    uint8_t bytes[sizeof text];
    ByteWriter content = byte_writer(bytes, sizeof bytes);
    if (serve->control == NULL) {
        http_fail(request, response, 404, "not_found", "there is nothing here");
        return;
    }
    byte_write_bytes(&content, text, sizeof text - 1);
    serve_send_content(request, response, "Nothing here", &content);
    response->status = response->status == 200 ? 404 : response->status;
}

// `?place=` as on the page of that place: its Play leads here.
void serve_get_game_page(void *user, HttpRequest *request, HttpResponse *response)
{
    const Serve *serve = user;
    const char *place_id = http_query(request, "place");
    About about = {.path = "/"};
    if (serve->control == NULL) {
        tell_only_place(serve, &about);
    } else if (place_id != NULL && strlen(place_id) < PLACE_KEY_BYTES) {
        tell_place(serve, place_id, false, &about);
    }
    send_page(serve, request, response, GAME_PAGE, &about);
}

void serve_get_place_page(void *user, HttpRequest *request, HttpResponse *response)
{
    const Serve *serve = user;
    const char *place_id = http_path_part(request, 0);
    About about = {0};
    if (serve->control == NULL) {
        tell_only_place(serve, &about);
    } else if (strlen(place_id) < PLACE_KEY_BYTES) {
        tell_place(serve, place_id, false, &about);
    }
    send_page(serve, request, response, site_page(serve), &about);
}

// Nothing is told of the place: who may edit it learns about it after they have signed in.
void serve_get_studio_page(void *user, HttpRequest *request, HttpResponse *response)
{
    const About about = {.title = "Studio"};
    send_page(user, request, response, STUDIO_PAGE, &about);
}

// Only of worlds that the list of worlds may show: who guesses codes learns nothing here.
void serve_get_world_page(void *user, HttpRequest *request, HttpResponse *response)
{
    const Serve *serve = user;
    About about = {0};
    StoreWorld world;
    if (serve->control == NULL) {
        tell_only_place(serve, &about);
    } else if (store_world_find(serve->store, http_path_part(request, 0), &world) == STATUS_OK &&
               !world.is_private && place_id_channel(world.place_id) == PLACE_LIVE) {
        tell_place(serve, world.place_id, true, &about);
    }
    send_page(serve, request, response, GAME_PAGE, &about);
}

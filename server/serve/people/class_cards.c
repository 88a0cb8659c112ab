// A page to print: a card for each pupil, with what they need to sign in. Only hashes of codes are
// kept, so cards can be made of codes that were given out just now (`codes`), or all pupils get new
// ones (`renew`), which ends the old ones and all their sign-ins. Without JavaScript.
#define _GNU_SOURCE
#include "server/control/order/class.h"
#include "server/serve/http/body.h"
#include "server/serve/http/html.h"
#include "server/serve/http/shared_url.h"
#include "server/serve/people/http_class.h"
#include "server/serve/publish/http_place.h"

#include <stdio.h>
#include <stdlib.h>

#define PAGE_BYTES   (512u << 10)
#define HTML_TYPE    "text/html; charset=utf-8"
#define CODE_CHANGED "the code of this account was changed; sign in and join again"

static const char style[] =
    "body{font:16px/1.4 system-ui,sans-serif;margin:1rem auto;max-width:60rem;padding:0 1rem;"
    "color:#1d2733}\n"
    "ul{display:grid;grid-template-columns:repeat(auto-fill,minmax(19rem,1fr));gap:1rem;padding:0;"
    "list-style:none}\n"
    "li{border:1px dashed #5b6875;border-radius:8px;padding:1rem;break-inside:avoid}\n"
    "h1{font-size:1.4rem}h2{font-size:1.2rem;margin:0 0 .5rem;overflow-wrap:anywhere}\n"
    "dl{display:grid;grid-template-columns:auto 1fr;gap:.2rem .8rem;margin:0}\n"
    "dt{color:#4a5662}dd{margin:0;overflow-wrap:anywhere;font-size:.95rem}\n"
    "code{font:600 1.15rem ui-monospace,monospace;white-space:nowrap}\n"
    "@media print{body{margin:0;max-width:none;padding:0}header p{display:none}"
    "ul{display:block}li{display:inline-block;vertical-align:top;box-sizing:border-box;width:48%;"
    "margin:0 1% 4mm 0}}\n"
    "@page{margin:12mm}\n";

void serve_get_cards_style(void *user, HttpRequest *request, HttpResponse *response)
{
    (void)user, (void)request;
    response->content_type = "text/css; charset=utf-8";
    response->body = (const uint8_t *)style;
    response->bytes = strlen(style);
    response->body_is_static = true;
}

// --- the page -----------------------------------------------------------------------------------

typedef struct Cards {
    Serve *serve;
    const StoreClass *class;
    ByteWriter page;
    char address[256]; // where they sign in
    uint32_t count;
} Cards;

static void put_begin(Cards *cards)
{
    html_put(&cards->page, "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">"
                           "<meta name=\"viewport\" content=\"width=device-width\"><title>");
    html_put_escaped(&cards->page, cards->class->name);
    html_put(&cards->page, "</title><link rel=\"stylesheet\" href=\"/cards.css\"></head>\n"
                           "<body><header><h1>");
    html_put_escaped(&cards->page, cards->class->name);
    html_put(&cards->page, "</h1><p>Print this page now and cut out the cards: the codes cannot be "
                           "shown again. Anybody who has a code can sign in with it.</p></header>\n"
                           "<ul>\n");
}

static void put_card(Cards *cards, const ClassPupil *pupil)
{
    ByteWriter *page = &cards->page;
    char shown_name[STORE_SHOWN_BYTES];
    memcpy(shown_name, pupil->account.shown_name, sizeof shown_name);
    control_class_name(cards->serve->control, cards->class->class_id, pupil->account.account_id,
                       shown_name);
    html_put(page, "<li><h2>");
    html_put_escaped(page, shown_name);
    html_put(page, "</h2><dl><dt>Page</dt><dd>");
    html_put_escaped(page, cards->address);
    html_put(page, "</dd><dt>Name</dt><dd>");
    html_put_escaped(page, pupil->account.name);
    html_put(page, "</dd><dt>Code</dt><dd><code>");
    html_put_escaped(page, pupil->code);
    html_put(page, "</code></dd></dl></li>\n");
    cards->count += 1;
}

static void answer_page(Cards *cards, HttpRequest *request, HttpResponse *response, uint8_t *text)
{
    html_put(&cards->page, "</ul></body></html>\n");
    if (cards->page.status != STATUS_OK) {
        http_fail(request, response, 500, "too_large", "the page does not fit");
        return;
    }
    response->content_type = HTML_TYPE;
    response->cache = "no-store";
    response->body = text;
    response->bytes = cards->page.at;
    response->body_is_static = true; // the request's
}

// --- whose codes --------------------------------------------------------------------------------

static bool put_codes(Cards *cards, HttpRequest *request, HttpResponse *response,
                      const JsonNode *codes)
{
    if (codes->kind != JSON_ARRAY || codes->count == 0 || codes->count > CLASS_PUPILS_MAX) {
        http_fail(request, response, 400, "malformed", "codes is a list of codes of this class");
        return false;
    }
    for (const JsonNode *code = codes->first; code != NULL; code = code->next) {
        ClassPupil pupil;
        const bool is_text = code->kind == JSON_STRING && strlen(code->text) == code->count;
        if (!is_text || account_find_pupil(cards->serve->control, cards->class->class_id,
                                           code->text, &pupil) != ACCOUNT_OK) {
            http_fail(request, response, 409, "no_code",
                      "one of these is no code of this class (any more)");
            return false;
        }
        put_card(cards, &pupil);
    }
    return true;
}

// All that could be made are on the page, because the old ones have ended.
static bool put_new_codes(Cards *cards, HttpRequest *request, HttpResponse *response)
{
    Serve *serve = cards->serve;
    uint32_t count = 0;
    StorePupil *pupils = calloc(CLASS_PUPILS_MAX, sizeof *pupils);
    http_keep(request, pupils);
    if (pupils == NULL || store_pupils(serve->store, cards->class->class_id, pupils,
                                       CLASS_PUPILS_MAX, &count) != STATUS_OK) {
        place_refuse_store(request, response, STATUS_BLOCKED);
        return false;
    }
    if (count == 0) {
        http_fail(request, response, 409, "no_pupils", "this class has no pupils");
        return false;
    }
    if (!class_record(serve, request, response, "reset codes", cards->class->class_id, "all")) {
        return false;
    }
    for (uint32_t i = 0; i < count; i++) {
        ClassPupil pupil;
        if (!class_pupil_leads(serve, pupils[i].account_id) &&
            account_reset_pupil(serve->control, cards->class->class_id, pupils[i].account_id,
                                &pupil) == ACCOUNT_OK) {
            serve_kick_soon(serve, pupils[i].account_id, CODE_CHANGED);
            put_card(cards, &pupil);
        }
    }
    if (cards->count == 0) {
        http_fail(request, response, 503, "unavailable", "it could not be stored; try again");
    }
    return cards->count > 0;
}

// "http://school.example": where the teacher reached us, or where others do if that is only their
// own computer. Of several such addresses the page asks the teacher to open one (class_people.tsx).
static void find_address(Cards *cards, const HttpRequest *request)
{
    char name[256];
    SharedUrls shared;
    if (serve_shared_urls(cards->serve, request, &shared) && shared.count == 1) {
        snprintf(cards->address, sizeof cards->address, "%.240s/account", shared.text[0]);
        return;
    }
    serve_server_name(cards->serve, request, name, sizeof name);
    const bool is_secure = strncmp(name, "wss://", 6) == 0;
    const char *host = strstr(name, "://");
    snprintf(cards->address, sizeof cards->address, "%s%.200s/account",
             is_secure ? "https://" : "http://", host != NULL ? host + 3 : name);
}

void serve_post_cards(void *user, HttpRequest *request, HttpResponse *response)
{
    Serve *serve = user;
    StoreClass class;
    bool renews = false;
    const JsonNode *body = serve_body_object(request, response);
    if (body == NULL || !serve_body_bool(request, response, body, "renew", &renews) ||
        !class_enter(serve, request, response, &class)) {
        return;
    }
    const JsonNode *codes = json_find(body, "codes");
    const bool has_codes = codes != NULL && codes->kind != JSON_NULL;
    uint8_t *text = malloc(PAGE_BYTES);
    http_keep(request, text);
    if (has_codes == renews || text == NULL) {
        http_fail(request, response, text == NULL ? 503 : 400, text == NULL ? "busy" : "malformed",
                  text == NULL ? "out of memory; try again"
                               : "name the codes that were just given out, or renew all of them");
        return;
    }
    Cards cards = {.serve = serve, .class = &class, .page = byte_writer(text, PAGE_BYTES)};
    find_address(&cards, request);
    put_begin(&cards);
    if (!class_lock(serve, request, response, &class)) {
        return;
    }
    const bool is_made = renews ? put_new_codes(&cards, request, response)
                                : put_codes(&cards, request, response, codes);
    class_unlock(serve, &class);
    if (is_made) {
        answer_page(&cards, request, response, text);
    }
}

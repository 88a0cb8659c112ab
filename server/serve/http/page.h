// The pages of web/: a file of the web root with a head that is written here, so that links to a
// place have a name, a description and a picture wherever they are shown. The head has only what
// somebody who is not signed in may see, and is the same for everybody. With accounts there are two
// files: site.html for finding places, and index.html, the game. Without, every page is the game.
#pragma once

#include "core/base/bytes.h"
#include "server/net/http.h"

void serve_get_page(void *user, HttpRequest *request, HttpResponse *response); // "/", "/search"
void serve_get_game_page(void *user, HttpRequest *request, HttpResponse *response);  // "/play"
void serve_get_place_page(void *user, HttpRequest *request, HttpResponse *response); // "/place/*"
void serve_get_world_page(void *user, HttpRequest *request, HttpResponse *response); // "/play/*"
void serve_get_studio_page(void *user, HttpRequest *request,
                           HttpResponse *response); // "/studio/*"
// An address that nothing has: the site, which says so, with status 404.
void serve_get_lost_page(void *user, HttpRequest *request, HttpResponse *response);
// site.html with `content` (escaped HTML) for those without JavaScript, which may have forms. If
// the server has no site.html, a bare document with the same content, so that one can always sign
// in.
void serve_send_content(HttpRequest *request, HttpResponse *response, const char *title,
                        const ByteWriter *content);

// --- page_head.c: the text of a head ------------------------------------------------------------
#define PAGE_SUMMARY_BYTES 241
// What is written into a page at most: a description of 8 KiB and the notes of PAGE_VERSIONS
// versions, each byte of which may become six, and everything else.
#define PAGE_HEAD_BYTES (144u << 10)
#define PAGE_VERSIONS   5

// A version of a place that is or was live.
typedef struct PageVersion {
    char name[16];    // "r3"
    char day[16];     // "2026-11-18"
    char notes[2001]; // what is new in it
} PageVersion;

// Texts are anybody's; "" is none.
typedef struct PageHead {
    const char *title;   // of the place
    const char *summary; // one line, see page_summary
    const char *site;    // "https://play.example"; addresses in a head have to be whole
    const char *path;    // of this page: "/place/place_obby"
    const char *picture; // its path
    const char *nonce;   // of styles
    const char *const *embed_origins; // whose pages may show it inside theirs; NULL: nobody's
    // For those without JavaScript:
    const char *description; // Markdown, shown as text
    const char *creator;
    const PageVersion *versions; // newest first
    uint32_t version_count;
    // For those without JavaScript, in place of what page_body_write says; NULL: none. Pages that
    // have it may have forms, which must name their origin: "no-referrer" keeps browsers from it.
    const ByteWriter *content;
} PageHead;

// From the first line of a Markdown text on, without its marks: at most about 240 letters.
void page_summary(const char *markdown, char out[PAGE_SUMMARY_BYTES]);
void page_head_write(const PageHead *head, ByteWriter *out);
// What a page says of the place to those without JavaScript.
void page_body_write(const PageHead *head, ByteWriter *out);
// The page with the head in place of its <title>, and the body in place of <!-- about -->. What it
// does not have is left out.
void page_write(const char *page, size_t bytes, const PageHead *head, ByteWriter *out);

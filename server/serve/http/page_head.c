// See page.h.
#define _GNU_SOURCE
#include "core/base/text.h"
#include "server/serve/http/html.h"
#include "server/serve/http/page.h"

#include <string.h>

#define SITE_NAME "Sandlot"
#define SITE_SUMMARY \
    "Multiplayer games that players make themselves: build a place, script it, play it together."
#define MARKS       "*`_[]|~" // of Markdown, anywhere
#define FIRST_MARKS "#>"      // at the beginning of a line

// Before the style sheet is there: no white flash, whatever one's colours are.
#define FIRST_STYLE                                    \
    "html{color-scheme:light dark;background:#10151c}" \
    "@media (prefers-color-scheme:light){html{background:#dfe9f1}}"

void page_summary(const char *markdown, char out[PAGE_SUMMARY_BYTES])
{
    char plain[4 * PAGE_SUMMARY_BYTES];
    size_t bytes = 0;
    bool was_space = true, is_first = true; // of the line
    for (const char *at = markdown; *at != '\0' && bytes < sizeof plain; at++) {
        const bool is_space = *at == ' ' || *at == '\n' || *at == '\r' || *at == '\t';
        const bool is_mark = strchr(MARKS, *at) != NULL ||
                             (is_first && strchr(FIRST_MARKS, *at) != NULL) ||
                             (is_first && *at == '-' && at[1] == ' ');
        is_first = *at == '\n' || (is_first && (is_space || is_mark));
        if (is_mark || (is_space && was_space)) {
            continue;
        }
        plain[bytes++] = is_space ? ' ' : *at;
        was_space = is_space;
    }
    const size_t used = text_clean(plain, bytes, out, PAGE_SUMMARY_BYTES - 1);
    out[used] = '\0';
}

static void put_meta(ByteWriter *out, const char *kind, const char *name, const char *site,
                     const char *text)
{
    if (text[0] == '\0') {
        return;
    }
    html_put(out, "<meta ");
    html_put(out, kind);
    html_put(out, "=\"");
    html_put(out, name);
    html_put(out, "\" content=\"");
    html_put_escaped(out, site);
    html_put_escaped(out, text);
    html_put(out, "\">\n");
}

void page_head_write(const PageHead *head, ByteWriter *out)
{
    const bool has_title = head->title[0] != '\0';
    const bool has_picture = head->picture[0] != '\0' && head->site[0] != '\0';
    const char *title = has_title ? head->title : SITE_NAME;
    const char *summary = head->summary[0] != '\0' ? head->summary : SITE_SUMMARY;
    html_put(out, "<title>");
    html_put_escaped(out, title);
    html_put(out, has_title ? " · " SITE_NAME "</title>\n" : "</title>\n");
    put_meta(out, "name", "description", "", summary);
    put_meta(out, "property", "og:title", "", title);
    put_meta(out, "property", "og:description", "", summary);
    put_meta(out, "property", "og:site_name", "", SITE_NAME);
    put_meta(out, "property", "og:type", "", "website");
    put_meta(out, "property", "og:url", head->site, head->site[0] != '\0' ? head->path : "");
    put_meta(out, "property", "og:image", head->site, has_picture ? head->picture : "");
    put_meta(out, "name", "twitter:card", "", has_picture ? "summary_large_image" : "summary");
    put_meta(out, "name", "referrer", "", head->content != NULL ? "same-origin" : "");
    html_put(out, "<style nonce=\"");
    html_put(out, head->nonce);
    html_put(out, "\">" FIRST_STYLE "</style>");
}

static bool has_text(const char *text)
{
    return text != NULL && text[0] != '\0';
}

static void put_line(ByteWriter *out, const char *before, const char *text, const char *after)
{
    html_put(out, before);
    html_put_escaped(out, text);
    html_put(out, after);
}

void page_body_write(const PageHead *head, ByteWriter *out)
{
    if (head->content != NULL) {
        byte_write_bytes(out, head->content->data, head->content->at);
        return;
    }
    put_line(out, "<h1>", has_text(head->title) ? head->title : SITE_NAME, "</h1>\n");
    if (has_text(head->creator)) {
        put_line(out, "<p class=\"soft\">by ", head->creator, "</p>\n");
    }
    if (has_text(head->picture)) {
        put_line(out, "<p><img class=\"cover\" alt=\"\" src=\"", head->picture, "\"></p>\n");
    }
    const char *summary = has_text(head->summary) ? head->summary : SITE_SUMMARY;
    put_line(out, "<p class=\"about written\">",
             has_text(head->description) ? head->description : summary, "</p>\n");
    if (head->version_count > 0) {
        html_put(out, "<h2>Versions</h2>\n<ul>\n");
        for (uint32_t i = 0; i < head->version_count; i++) {
            const PageVersion *version = &head->versions[i];
            put_line(out, "<li>", version->name, "");
            put_line(out, " (", version->day, ")");
            put_line(out, has_text(version->notes) ? ": " : "", version->notes, "</li>\n");
        }
        html_put(out, "</ul>\n");
    }
    html_put(out, "<p>Playing and finding places needs JavaScript; ");
    html_put(out, "<a href=\"/account\">your account</a> does not.</p>");
}

// The text up to the first `begin`, then what takes the place of it and everything up to and with
// `end`. Gives where the rest begins.
static const char *write_until(const char *from, const char *last, const char *begin,
                               const char *end, const PageHead *head, ByteWriter *out,
                               void (*write)(const PageHead *, ByteWriter *))
{
    const char *at = memmem(from, (size_t)(last - from), begin, strlen(begin));
    const char *to = at != NULL ? memmem(at, (size_t)(last - at), end, strlen(end)) : NULL;
    if (to == NULL) {
        return from;
    }
    byte_write_bytes(out, from, (size_t)(at - from));
    write(head, out);
    return to + strlen(end);
}

void page_write(const char *page, size_t bytes, const PageHead *head, ByteWriter *out)
{
    const char *last = page + bytes;
    const char *at = write_until(page, last, "<title>", "</title>", head, out, page_head_write);
    at = write_until(at, last, "<!-- about", "-->", head, out, page_body_write);
    byte_write_bytes(out, at, (size_t)(last - at));
}

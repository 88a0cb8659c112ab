// See browser_words.h. Browsers name others whose pages they can show: the most special comes
// first.
#include "server/serve/people/browser_words.h"

#include <stddef.h>
#include <string.h>

#define SYSTEMS 7
static const char *const systems[SYSTEMS] = {"Android", "iPhone", "iPad", "Windows",
                                             "Mac OS",  "CrOS",   "Linux"};

#define ON(name)                                                                    \
    {                                                                               \
        name " on Android", name " on iPhone", name " on iPad", name " on Windows", \
            name " on Mac", name " on ChromeOS", name " on Linux", name             \
    }

static const struct {
    const char *mark;
    const char *words[SYSTEMS + 1]; // by system; the last one is for all others
} browsers[] = {{"Edg", ON("Edge")},       {"OPR/", ON("Opera")},      {"Firefox/", ON("Firefox")},
                {"FxiOS/", ON("Firefox")}, {"CriOS/", ON("Chrome")},   {"Chrome/", ON("Chrome")},
                {"Safari/", ON("Safari")}, {"sandlot", ON("sandlot")}, {"curl/", ON("curl")},
                {"python", ON("Python")}};

const char *browser_words(const char *user_agent)
{
    size_t system = 0;
    if (user_agent == NULL) {
        return NULL;
    }
    while (system < SYSTEMS && strstr(user_agent, systems[system]) == NULL) {
        system++;
    }
    for (size_t i = 0; i < sizeof browsers / sizeof browsers[0]; i++) {
        if (strstr(user_agent, browsers[i].mark) != NULL) {
            return browsers[i].words[system];
        }
    }
    return NULL;
}

// "Firefox on Linux": what the list of one's sign-ins says of a browser. One of our own texts, so
// that nothing of what a stranger sends is stored, and no more than people need to tell them apart.
#pragma once

// Of the header User-Agent; NULL: it is none that we know.
const char *browser_words(const char *user_agent);

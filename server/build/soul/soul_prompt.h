// What a language model is asked for a plain soul: a system text that is ours (what a script must
// be, the API of its side) and a user text that is the creator's (service, scene, the soul). Their
// bytes are all that is sent, so their hashes are the keys of what is kept: the prompt's of both,
// the source's of the second alone.
//
// The model's name is not part of the key. A place is built on machines with other settings, or
// with none; none of them must take reviewed Lua for stale because another model would be asked
// there. The name is noted in the kept file, for people.
#pragma once

#include "core/base/sha256.h"
#include "server/build/base/buffer.h"
#include "server/build/place/soul.h"

#define SOUL_PROMPT_VERSION   "sandlot soul prompt 1"
#define SOUL_PROMPT_BYTES_MAX (256u << 10)

typedef struct SoulPrompt {
    Buffer system, user; // free with soul_prompt_free
    uint8_t prompt_hash[SHA256_BYTES], source_hash[SHA256_BYTES];
} SoulPrompt;

// The text of a soul as it is sent: without a byte order mark, every line ended by \n, the last one
// too. So changes of line ends by an editor or git have no effect.
void soul_prompt_text(const PlaceFile *file, Buffer *out);
// `text` is from soul_prompt_text, `context` from soul_context_write. *out must be freed in every
// case.
MUST_USE Status soul_prompt_make(const Soul *soul, const char *text, size_t text_bytes,
                                 const char *context, size_t context_bytes, SoulPrompt *out);
void soul_prompt_free(SoulPrompt *prompt);

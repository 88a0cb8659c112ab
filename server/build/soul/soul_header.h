// The first line of the Lua that is kept beside a plain soul: what it was made from and who has
// looked at it (docs/FORMATS.md):
//
//   -- made from Door.soul · sha256:P · source:S · body:B · reviewed:R · model:M
//
//   P  of the whole prompt; equal: asking again would ask the same
//   S  of the part that is the creator's: the text, the service, the entities shown
//   B  of the rest of the file as the model wrote it, or `none`: another hash is a hand's work
//   R  of the rest of the file as a person accepted it, or `none`
//
// The file may be anybody's work, so the reader is total and fuzzed. A line that is not exactly of
// this form is none: the file is then somebody's own, and is never overwritten.
#pragma once

#include "core/base/sha256.h"
#include "server/build/base/buffer.h"

#include <stdbool.h>

#define SOUL_HEADER_BYTES_MAX 640
#define SOUL_NAME_BYTES       128
#define SOUL_MODEL_BYTES      64

typedef struct SoulHeader {
    char name[SOUL_NAME_BYTES]; // "Door.soul"; for people
    uint8_t prompt[SHA256_BYTES], source[SHA256_BYTES];
    bool has_body, has_review;
    uint8_t body[SHA256_BYTES], review[SHA256_BYTES];
    char model[SOUL_MODEL_BYTES]; // for people; "none" if no model was asked
} SoulHeader;

// False: the file does not begin with such a line. *bytes is the length of the line, with its end.
bool soul_header_read(const char *text, size_t count, SoulHeader *out, size_t *bytes);
// With a line end. A name or model that is not valid there (with a space) is written as "-".
void soul_header_write(const SoulHeader *header, Buffer *out);

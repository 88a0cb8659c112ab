// Every way a function of ours can fail, in one list. Zero is success; no errno, no -1, no
// last-error global crosses a folder. A function that returns Status leaves its outputs untouched
// unless it returns STATUS_OK.
#pragma once

#define MUST_USE __attribute__((warn_unused_result))

// X(NAME, text for people)
#define STATUS_LIST(X)                                     \
    X(OK, "ok")                                            \
    X(LIMIT, "a limit was reached")                        \
    X(TRUNCATED, "the input ended too early")              \
    X(MALFORMED, "the input does not follow its format")   \
    X(UNSUPPORTED, "the version or kind is not supported") \
    X(RANGE, "a number is outside its range")              \
    X(NOT_FOUND, "there is no such thing")                 \
    X(EXISTS, "it is there already")                       \
    X(BLOCKED, "something is in the way")                  \
    X(DENIED, "that is not allowed")                       \
    X(MISMATCH, "the two do not belong together")

typedef enum Status {
#define STATUS_ENUM(name, text) STATUS_##name,
    STATUS_LIST(STATUS_ENUM)
#undef STATUS_ENUM
        STATUS_COUNT
} Status;

// For the rare call whose failure needs no handling; a comment says why.
static inline void status_ignore(Status status)
{
    (void)status;
}

// "LIMIT" and the like; "?" for a number that is no status.
const char *status_name(Status status);
// The sentence for people.
const char *status_text(Status status);

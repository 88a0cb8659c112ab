// Asks the language model a question: retries when the server is busy, and gives a reason for
// people when there is no answer. This file does not depend on souls.
#pragma once

#include "server/build/ask/ask_model_answer.h"
#include "server/build/soul/soul_model.h"

#define MODEL_TOKENS_MAX     16384 // of an answer
#define MODEL_REQUEST_MAX    (2u << 20)
#define MODEL_TIMEOUT_S_MAX  3600
#define MODEL_FIRST_PAUSE_MS 500 // doubled each time, if the server does not say how long

typedef struct ModelMessage {
    bool is_assistant; // else the user's
    const char *text;  // UTF-8
    size_t bytes;
} ModelMessage;

typedef struct ModelQuestion {
    const char *system;
    size_t system_bytes;
    const ModelMessage *messages;
    uint32_t message_count;
} ModelQuestion;

// STATUS_OK: it answered with text, which the worker has read; the caller interprets it.
// STATUS_DENIED: cancelled. STATUS_BLOCKED: no answer; `reason` says why and what to do, and never
// contains the key.
MUST_USE Status model_ask(const BuildContext *context, const ModelConfig *config,
                          const ModelQuestion *question, ModelAnswer *out);

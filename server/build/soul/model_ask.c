// See model_ask.h. The attempts and the pauses between them all count towards the timeout.
#define _GNU_SOURCE
#include "server/build/soul/model_ask.h"

#include "core/base/json_write.h"
#include "server/build/soul/model_http.h"
#include "server/sys/clock.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MODEL_URL_DEFAULT  "https://api.anthropic.com/v1/messages"
#define MODEL_NAME_DEFAULT "claude-sonnet-4-5"
#define TIMEOUT_S_DEFAULT  120
#define RETRIES_DEFAULT    3
#define SLICE_MS           50

// --- settings -----------------------------------------------------------------------------------

static const char *setting(const char *name, const char *fallback)
{
    const char *value = getenv(name);
    return value != NULL && value[0] != '\0' ? value : fallback;
}

ModelConfig model_config_environment(void)
{
    const char *seconds = setting("SANDLOT_MODEL_TIMEOUT", "");
    char *end = NULL;
    const unsigned long wanted = strtoul(seconds, &end, 10);
    const bool is_good = seconds[0] >= '0' && seconds[0] <= '9' && *end == '\0' && wanted >= 1 &&
                         wanted <= MODEL_TIMEOUT_S_MAX;
    return (ModelConfig){
        .url = setting("SANDLOT_MODEL_URL", MODEL_URL_DEFAULT),
        .key = setting("SANDLOT_MODEL_KEY", NULL),
        .model = setting("SANDLOT_MODEL", MODEL_NAME_DEFAULT),
        .timeout_ms = (uint32_t)(is_good ? wanted : TIMEOUT_S_DEFAULT) * 1000,
        .timeout_wrong = is_good || seconds[0] == '\0' ? NULL : seconds,
        .retries_max = RETRIES_DEFAULT,
    };
}

// --- the request --------------------------------------------------------------------------------

static void write_body(const char *model, const ModelQuestion *question, ByteWriter *writer)
{
    JsonWriter json = json_writer(writer, 0);
    json_write_object_begin(&json);
    json_write_name(&json, "model");
    json_write_text(&json, model);
    json_write_name(&json, "max_tokens");
    json_write_integer(&json, MODEL_TOKENS_MAX);
    json_write_name(&json, "system");
    json_write_text_bytes(&json, question->system, question->system_bytes);
    json_write_name(&json, "messages");
    json_write_array_begin(&json);
    for (uint32_t i = 0; i < question->message_count; i++) {
        const ModelMessage *message = &question->messages[i];
        json_write_object_begin(&json);
        json_write_name(&json, "role");
        json_write_text(&json, message->is_assistant ? "assistant" : "user");
        json_write_name(&json, "content");
        json_write_text_bytes(&json, message->text, message->bytes);
        json_write_object_end(&json);
    }
    json_write_array_end(&json);
    json_write_object_end(&json);
    const Status status = json_writer_finish(&json);
    writer->status = writer->status == STATUS_OK ? status : writer->status;
}

static Status write_request(const char *model, const ModelQuestion *question, Buffer *out)
{
    ByteWriter counter = byte_counter();
    write_body(model, question, &counter);
    if (counter.status != STATUS_OK || counter.at > MODEL_REQUEST_MAX) {
        return counter.status != STATUS_OK ? counter.status : STATUS_LIMIT;
    }
    void *block = malloc(counter.at);
    if (block == NULL) {
        return STATUS_LIMIT;
    }
    ByteWriter writer = byte_writer(block, counter.at);
    write_body(model, question, &writer);
    buffer_put(out, block, writer.at);
    free(block);
    return out->status;
}

// --- what an attempt came to --------------------------------------------------------------------

typedef enum Verdict { VERDICT_DONE, VERDICT_AGAIN, VERDICT_FAILED, VERDICT_CANCELLED } Verdict;

typedef struct Talk {
    const ModelConfig *config;
    const BuildContext *context;
    char host[MODEL_HOST_BYTES];
    uint64_t deadline_ns;
    ModelAnswer *answer;
} Talk;

__attribute__((format(printf, 3, 4))) static Verdict say(const Talk *talk, Verdict verdict,
                                                         const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(talk->context->reason, WORKER_REASON_BYTES, format, arguments);
    va_end(arguments);
    return verdict;
}

static Verdict judge_end(const Talk *talk, HttpEnd end, const HttpReply *reply)
{
    const char *host = talk->host;
    switch (end) {
    case HTTP_BAD_URL:
        return say(talk, VERDICT_FAILED,
                   "SANDLOT_MODEL_URL must be an https:// or http:// address without a user name "
                   "in it");
    case HTTP_NO_LIBRARY:
        return say(talk, VERDICT_FAILED,
                   "libcurl is missing on this machine, and plain souls need it: install the "
                   "package libcurl4");
    case HTTP_BAD_KEY:
        return say(talk, VERDICT_FAILED,
                   "SANDLOT_MODEL_KEY holds a character that no key has (a space, a line break): "
                   "set it again");
    case HTTP_UNREACHED:
        return say(talk, VERDICT_FAILED,
                   "the language model at %s cannot be reached: %s; check the network and "
                   "SANDLOT_MODEL_URL",
                   host, reply->problem);
    case HTTP_CUT:
        return say(talk, VERDICT_AGAIN,
                   "the language model at %s broke off in the middle of its answer (%s); build "
                   "again later",
                   host, reply->problem);
    case HTTP_SLOW:
        return say(talk, VERDICT_FAILED,
                   "the language model at %s did not answer within %u s; build again later, or "
                   "raise SANDLOT_MODEL_TIMEOUT",
                   host, talk->config->timeout_ms / 1000);
    case HTTP_TOO_LARGE:
        return say(talk, VERDICT_FAILED,
                   "the language model at %s answered with more than %u KiB; ask for less, or in "
                   "several souls",
                   host, MODEL_REPLY_BYTES_MAX >> 10);
    case HTTP_CANCELLED:
        return say(talk, VERDICT_CANCELLED, "cancelled");
    default:
        return say(talk, VERDICT_FAILED, "the request could not be made: out of memory");
    }
}

// Handles statuses other than 200; the server's error message is quoted if it has the right format.
static Verdict judge_status(const Talk *talk, const HttpReply *reply, const char *said)
{
    const char *host = talk->host;
    const long status = reply->status;
    if (status == 429) {
        return say(talk, VERDICT_AGAIN,
                   "the language model at %s has had too many requests (429)%s; build again later",
                   host, said);
    }
    if (status >= 500) {
        return say(talk, VERDICT_AGAIN,
                   "the language model at %s is overloaded or out of order (%ld)%s; build again "
                   "later",
                   host, status, said);
    }
    if (status >= 300 && status < 400) {
        return say(talk, VERDICT_FAILED,
                   "%s redirects to another address (%ld), which is not followed: set "
                   "SANDLOT_MODEL_URL to the final one",
                   host, status);
    }
    if (status == 401 || status == 403) {
        return say(talk, VERDICT_FAILED, "%s refuses the key (%ld)%s: check SANDLOT_MODEL_KEY",
                   host, status, said);
    }
    if (status == 404) {
        return say(talk, VERDICT_FAILED,
                   "%s has no such address or model (404)%s: check SANDLOT_MODEL_URL and "
                   "SANDLOT_MODEL",
                   host, said);
    }
    return say(talk, VERDICT_FAILED, "%s refuses the request (%ld)%s", host, status, said);
}

static Verdict judge_answer(const Talk *talk, const HttpReply *reply)
{
    ModelAnswer *answer = talk->answer;
    const Status status = model_answer_ask(talk->context, &reply->body, answer);
    const bool is_error = status == STATUS_OK && answer->error_type.bytes > 0;
    char said[MODEL_SAID_BYTES + MODEL_WORD_BYTES + 8] = "";
    if (is_error) {
        char type[MODEL_WORD_BYTES], message[MODEL_SAID_BYTES];
        model_answer_quote(&answer->error_type, talk->config->key, type, sizeof type);
        model_answer_quote(&answer->error_message, talk->config->key, message, sizeof message);
        (void)snprintf(said, sizeof said, ": %s: %s", type, message);
    }
    if (status == STATUS_BLOCKED ||
        status == STATUS_DENIED) { // a failure of the worker, not of the answer
        return status == STATUS_DENIED ? VERDICT_CANCELLED : VERDICT_FAILED;
    }
    if (reply->status != 200) {
        return judge_status(talk, reply, said);
    }
    if (!reply->is_json) {
        return say(talk, VERDICT_FAILED,
                   "%s answered with something else than JSON: check SANDLOT_MODEL_URL",
                   talk->host);
    }
    if (is_error) {
        return say(talk, VERDICT_FAILED, "%s answered with an error%s", talk->host, said);
    }
    if (status != STATUS_OK) {
        return say(talk, VERDICT_FAILED,
                   "%s answered with JSON that is not a model's answer (%s): check "
                   "SANDLOT_MODEL_URL",
                   talk->host, status_text(status));
    }
    return VERDICT_DONE;
}

// --- attempts -----------------------------------------------------------------------------------

static uint64_t ms_left(const Talk *talk)
{
    const uint64_t now = clock_ns();
    return now < talk->deadline_ns ? (talk->deadline_ns - now) / NS_PER_MS : 0;
}

static bool is_cancelled(const Talk *talk)
{
    return talk->config->cancel != NULL && atomic_load(talk->config->cancel);
}

static bool pause_for(const Talk *talk, uint64_t ms)
{
    const uint64_t until = clock_ns() + ms * NS_PER_MS;
    while (clock_ns() < until && !is_cancelled(talk)) {
        const uint64_t slice = clock_ns() + SLICE_MS * NS_PER_MS;
        clock_sleep_until(slice < until ? slice : until);
    }
    return !is_cancelled(talk);
}

static Verdict attempt(const Talk *talk, const Buffer *body, uint64_t *wait_ms)
{
    const HttpAsk ask = {.url = talk->config->url,
                         .key = talk->config->key,
                         .body = body->data,
                         .body_bytes = body->bytes,
                         .timeout_ms = ms_left(talk) > 0 ? ms_left(talk) : 1,
                         .cancel = talk->config->cancel};
    HttpReply reply;
    const HttpEnd end = model_http_post(&ask, &reply);
    model_answer_free(talk->answer);
    const Verdict verdict =
        end == HTTP_ANSWERED ? judge_answer(talk, &reply) : judge_end(talk, end, &reply);
    *wait_ms = reply.retry_after_ms;
    http_reply_free(&reply);
    return verdict;
}

static Status talk_until_answered(const Talk *talk, const Buffer *body)
{
    uint64_t pause_ms = MODEL_FIRST_PAUSE_MS;
    for (uint32_t tries = 0;; tries++) {
        uint64_t asked_ms = 0;
        const Verdict verdict =
            is_cancelled(talk) ? VERDICT_CANCELLED : attempt(talk, body, &asked_ms);
        if (verdict == VERDICT_DONE) {
            return STATUS_OK;
        }
        if (verdict == VERDICT_CANCELLED) {
            (void)say(talk, VERDICT_CANCELLED, "cancelled");
            return STATUS_DENIED;
        }
        if (verdict == VERDICT_FAILED || tries == talk->config->retries_max) {
            return STATUS_BLOCKED;
        }
        const uint64_t wait_ms = asked_ms > 0 ? asked_ms : pause_ms;
        if (wait_ms >= ms_left(talk)) {
            (void)say(talk, VERDICT_FAILED,
                      "the language model at %s asks to wait %llu s, longer than "
                      "SANDLOT_MODEL_TIMEOUT allows; build again later",
                      talk->host, (unsigned long long)((wait_ms + 999) / 1000));
            return STATUS_BLOCKED;
        }
        if (!pause_for(talk, wait_ms)) {
            (void)say(talk, VERDICT_CANCELLED, "cancelled");
            return STATUS_DENIED;
        }
        pause_ms *= 2;
    }
}

Status model_ask(const BuildContext *context, const ModelConfig *config,
                 const ModelQuestion *question, ModelAnswer *out)
{
    *out = (ModelAnswer){0};
    Talk talk = {.config = config,
                 .context = context,
                 .answer = out,
                 .deadline_ns = clock_ns() + (uint64_t)config->timeout_ms * NS_PER_MS};
    Buffer body = buffer_of(MODEL_REQUEST_MAX);
    const HttpEnd known = model_http_host(config->url, talk.host);
    if (known != HTTP_ANSWERED) {
        (void)judge_end(&talk, known, NULL);
        return STATUS_BLOCKED;
    }
    Status status = write_request(config->model, question, &body);
    if (status != STATUS_OK) {
        status = context_fail(context, STATUS_BLOCKED, "the request could not be written: %s",
                              status_text(status));
    } else {
        status = talk_until_answered(&talk, &body);
    }
    buffer_free(&body);
    if (status != STATUS_OK) {
        model_answer_free(out);
    }
    return status;
}

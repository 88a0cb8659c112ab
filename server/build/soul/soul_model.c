// See soul_model.h. Which Lua a plain soul has:
//
//                       as the model wrote it          edited by hand
//   fits                used                           used; said to be edited
//   older               used; said to be older         used; said to be edited
//   stale               asked again                    an error: a person decides
//   missing             asked                          -
//   foreign             -                              an error: a person decides
//
// Whatever is used and not reviewed is said to be so. Nothing that a person wrote is overwritten.
#define _GNU_SOURCE
#include "server/build/soul/soul_model.h"

#include "core/base/utf8.h"
#include "server/build/ask/ask_compile.h"
#include "server/build/ask/ask_soul_context.h"
#include "server/build/soul/model_ask.h"
#include "server/build/soul/soul_failed.h"
#include "server/build/soul/soul_view.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define REPAIR_BYTES_MAX (8u << 10) // of what the compiler said, sent back
#define REPAIR_LINES_MAX 20
#define QUOTE_BYTES      160

// --- looking ------------------------------------------------------------------------------------

static const PlaceFile *find_file(const PlaceFolder *folder, const char *path)
{
    uint32_t low = 0, high = folder->file_count;
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        const int order = strcmp(folder->files[middle].path, path);
        if (order == 0) {
            return &folder->files[middle];
        }
        low = order < 0 ? middle + 1 : low;
        high = order < 0 ? high : middle;
    }
    return NULL;
}

static bool is_blank(const Buffer *text)
{
    for (size_t i = 0; i < text->bytes; i++) {
        if (strchr(" \t\r\n", text->data[i]) == NULL) {
            return false;
        }
    }
    return true;
}

// Whether the text can be sent to a model.
static Status check_text(const BuildContext *context, const Soul *soul, const Buffer *text)
{
    const char *file = soul->file->path;
    if (soul->file->bytes > SOUL_TEXT_BYTES_MAX || text->status != STATUS_OK) {
        return context_fail(context, STATUS_MALFORMED,
                            "%.127s: a soul has at most 16 KiB of text; say it shorter, or in "
                            "several souls",
                            file);
    }
    if (!utf8_is_valid(text->data, text->bytes) ||
        (text->bytes > 0 && memchr(text->data, 0, text->bytes) != NULL)) {
        return context_fail(context, STATUS_MALFORMED, "%.127s: is not UTF-8 text", file);
    }
    return is_blank(text) ? context_fail(context, STATUS_MALFORMED,
                                         "%.127s: is empty; say in plain words what the script "
                                         "shall do",
                                         file)
                          : STATUS_OK;
}

static Status make_prompt(const BuildContext *context, const PlaceFolder *folder, const Soul *soul,
                          const Buffer *text, SoulPrompt *out)
{
    const SoulContextAsk ask = {.path = soul->path,
                                .replicate = soul->replicate,
                                .text = text->data != NULL ? (const char *)text->data : "",
                                .text_bytes = text->bytes};
    Buffer scene = buffer_of(SOUL_CONTEXT_BYTES_MAX);
    Status status = soul_context_ask(context, folder, &ask, &scene);
    if (status == STATUS_OK) {
        status = soul_prompt_make(soul, (const char *)text->data, text->bytes,
                                  (const char *)scene.data, scene.bytes, out);
        if (status != STATUS_OK) {
            (void)context_fail(context, status, "%.127s: the prompt is too large",
                               soul->file->path);
        }
    }
    buffer_free(&scene);
    return status;
}

Status soul_view_open(const BuildContext *context, const PlaceFolder *folder, const Soul *soul,
                      SoulView *out)
{
    *out = (SoulView){.soul = soul};
    (void)snprintf(out->kept_path, sizeof out->kept_path, "%.127s.lua", soul->file->path);
    out->kept_file = find_file(folder, out->kept_path);
    Buffer text = buffer_of(SOUL_TEXT_BYTES_MAX + 1); // a line end is added
    soul_prompt_text(soul->file, &text);
    Status status = check_text(context, soul, &text);
    if (status == STATUS_OK) {
        status = make_prompt(context, folder, soul, &text, &out->prompt);
    }
    buffer_free(&text);
    if (status == STATUS_OK) {
        const PlaceFile *kept = out->kept_file;
        SoulHeader header;
        size_t header_bytes = 0; // 0: there is no header
        if (kept != NULL) {
            (void)soul_header_read((const char *)kept->data, kept->bytes, &header, &header_bytes);
        }
        out->kept = soul_kept_check(kept, &header, header_bytes, out->prompt.prompt_hash,
                                    out->prompt.source_hash);
    }
    return status;
}

void soul_view_close(SoulView *view)
{
    soul_prompt_free(&view->prompt);
}

// --- asking -------------------------------------------------------------------------------------

typedef struct Asking {
    const BuildContext *context;
    const ModelConfig *config;
    const SoulView *view;
    ModelAnswer answer; // the last one
    Buffer problem;     // what is wrong with it, to be sent to the model
    bool is_broken;     // it must be repaired; false: it only should
} Asking;

__attribute__((format(printf, 3, 4))) static Status
fail_soul(const Asking *asking, const char *code, const char *format, ...)
{
    char message[DIAGNOSTIC_MESSAGE_BYTES];
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    diagnostic_addf(asking->context->diagnostics, DIAGNOSTIC_ERROR, asking->view->soul->file->path,
                    0, 0, code, "%s", message);
    return STATUS_MALFORMED;
}

// A failure that would most likely be the same if it were asked again: it is recorded.
__attribute__((format(printf, 3, 4))) static Status give_up(const Asking *asking, const char *code,
                                                            const char *format, ...)
{
    SoulFailure failure = {0};
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(failure.message, sizeof failure.message, format, arguments);
    va_end(arguments);
    (void)snprintf(failure.code, sizeof failure.code, "%s", code);
    memcpy(failure.prompt, asking->view->prompt.prompt_hash, SHA256_BYTES);
    soul_failed_note(&failure);
    return fail_soul(asking, code, "%s", failure.message);
}

static void add_problem(Asking *asking, const Diagnostic *item)
{
    if (asking->problem.bytes < REPAIR_BYTES_MAX) {
        buffer_print(&asking->problem, "line %u: %s: %s\n", item->line,
                     item->level == DIAGNOSTIC_ERROR ? "error" : "warning", item->message);
    }
}

// Models most often use names that do not exist or belong to the other side. That compiles, so it
// is worth another round if one is left, but it is not a reason to fail.
static bool is_worth_repair(const Diagnostic *item)
{
    static const char *const codes[] = {"undefined-global", "unknown-member", "wrong-side"};
    bool is_listed = false;
    for (size_t i = 0; i < sizeof codes / sizeof codes[0]; i++) {
        is_listed = is_listed || strcmp(item->code, codes[i]) == 0;
    }
    return item->level == DIAGNOSTIC_ERROR || is_listed;
}

// STATUS_OK: compiled; `problem` says what is wrong, if anything is.
static Status compile_answer(Asking *asking)
{
    const Soul *soul = asking->view->soul;
    const CompileJob job = {.path = soul->path,
                            .file = asking->view->kept_path,
                            .context = soul->context,
                            .source = (const char *)asking->answer.lua.data,
                            .source_bytes = asking->answer.lua.bytes,
                            .is_generated = true};
    CompileOutput output = {0};
    DiagnosticList found = {0};
    BuildContext context = *asking->context;
    context.diagnostics = &found; // for the model, not for the creator
    const Status status = compile_ask(&context, &job, NULL, &output, NULL);
    if (status == STATUS_OK || status == STATUS_MALFORMED) {
        asking->is_broken = status != STATUS_OK;
        diagnostic_list_sort(&found);
        uint32_t lines = 0;
        for (uint32_t i = 0; i < found.count && lines < REPAIR_LINES_MAX; i++) {
            if (is_worth_repair(&found.items[i])) {
                add_problem(asking, &found.items[i]);
                lines += 1;
            }
        }
        if (asking->is_broken && asking->problem.bytes == 0) {
            buffer_print(&asking->problem, "%s\n", asking->context->reason);
        }
    }
    compile_output_free(&output);
    diagnostic_list_free(&found);
    return status == STATUS_MALFORMED ? STATUS_OK : status;
}

// The text of an answer without Lua, as one line.
static Status refused(Asking *asking)
{
    char said[QUOTE_BYTES];
    model_answer_quote(&asking->answer.text, asking->config->key, said, sizeof said);
    if (asking->answer.stop == STOP_REFUSAL) {
        return give_up(
            asking, "soul-refused",
            "the model refuses to write this script%s%s; say it in other words, or write "
            "it in Lua",
            said[0] != '\0' ? ": " : "", said);
    }
    return give_up(asking, "soul-refused",
                   "the model answered without a script%s%s; say it in other words, or write it in "
                   "Lua",
                   said[0] != '\0' ? ": " : "", said);
}

// Checks an answer. STATUS_OK: it contains Lua, or there is something to send back.
static Status take_answer(Asking *asking)
{
    buffer_free(&asking->problem);
    asking->is_broken = false;
    if (asking->answer.stop == STOP_REFUSAL) {
        return refused(asking);
    }
    if (asking->answer.stop == STOP_MAX_TOKENS) {
        return give_up(
            asking, "soul-too-long",
            "the model's answer is longer than %d tokens and was cut off; ask for less, or "
            "in several souls",
            MODEL_TOKENS_MAX);
    }
    switch (asking->answer.found) {
    case LUA_FOUND:
        return compile_answer(asking);
    case LUA_NONE:
        return refused(asking);
    case LUA_TOO_LARGE:
        return give_up(
            asking, "soul-too-long",
            "the model's script is larger than %u KiB; ask for less, or in several souls",
            SOUL_LUA_BYTES_MAX >> 10);
    case LUA_HIDDEN:
        return give_up(asking, "soul-hidden-characters",
                       "the model's script holds characters that a reader would not see; it is not "
                       "used. Build again, or say it in other words");
    default:
        asking->is_broken = true;
        buffer_print(&asking->problem,
                     "The answer must hold exactly one fenced block of Lua, with its end.\n");
        return STATUS_OK;
    }
}

static const char repair_text[] =
    "The script you wrote does not pass the checks:\n\n%.*s\nAnswer with the whole script once "
    "more, corrected, as one fenced block of Lua and nothing else.\n";

// Asks once; with the problem, if there was an answer before.
static Status ask_once(Asking *asking)
{
    uint32_t *left = asking->config->questions_left;
    if (left != NULL && *left == 0) {
        return fail_soul(
            asking, "soul-questions",
            "not asked: one build asks a model at most %d questions, and this one has; "
            "build again, or `sandlot soul ask`",
            SOUL_QUESTIONS_MAX);
    }
    if (left != NULL) {
        *left -= 1;
    }
    const SoulPrompt *prompt = &asking->view->prompt;
    Buffer repair = buffer_of(2 * REPAIR_BYTES_MAX);
    const bool is_repair = asking->problem.bytes > 0;
    if (is_repair) {
        buffer_print(&repair, repair_text, (int)asking->problem.bytes,
                     (const char *)asking->problem.data);
    }
    const ModelMessage messages[] = {
        {false, (const char *)prompt->user.data, prompt->user.bytes},
        {true, (const char *)asking->answer.text.data, asking->answer.text.bytes},
        {false, (const char *)repair.data, repair.bytes},
    };
    const ModelQuestion question = {.system = (const char *)prompt->system.data,
                                    .system_bytes = prompt->system.bytes,
                                    .messages = messages,
                                    .message_count = is_repair ? 3 : 1};
    ModelAnswer answer;
    const Status status = model_ask(asking->context, asking->config, &question, &answer);
    buffer_free(&repair);
    if (status == STATUS_BLOCKED) {
        return fail_soul(asking, "soul-model", "%s", asking->context->reason);
    }
    if (status != STATUS_OK) {
        return status;
    }
    model_answer_free(&asking->answer);
    asking->answer = answer; // it is ours now
    return take_answer(asking);
}

static Status ask_and_repair(Asking *asking, uint32_t *repairs)
{
    Status status = ask_once(asking);
    for (*repairs = 0; status == STATUS_OK && asking->problem.bytes > 0; *repairs += 1) {
        if (*repairs == SOUL_REPAIRS_MAX) {
            break;
        }
        status = ask_once(asking);
    }
    if (status != STATUS_OK || !asking->is_broken) {
        return status;
    }
    char said[DIAGNOSTIC_MESSAGE_BYTES / 2];
    model_answer_quote(&asking->problem, asking->config->key, said, sizeof said);
    return give_up(
        asking, "soul-broken",
        "the model's script is still wrong after %d repairs (%s); say it in other words, "
        "build again, or write it in Lua",
        SOUL_REPAIRS_MAX, said);
}

// --- keeping ------------------------------------------------------------------------------------

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash != NULL ? slash + 1 : path;
}

static Status keep_answer(const Asking *asking, const char *place, Buffer *file)
{
    const SoulView *view = asking->view;
    SoulHeader header = {.has_body = true, .has_review = view->kept.header.has_review};
    (void)snprintf(header.name, sizeof header.name, "%s", base_name(view->soul->file->path));
    (void)snprintf(header.model, sizeof header.model, "%s", asking->config->model);
    memcpy(header.prompt, view->prompt.prompt_hash, SHA256_BYTES);
    memcpy(header.source, view->prompt.source_hash, SHA256_BYTES);
    // The last accepted version stays in the header: the next review shows the difference from it.
    memcpy(header.review, view->kept.header.review, SHA256_BYTES);
    soul_body_hash((const char *)asking->answer.lua.data, asking->answer.lua.bytes, header.body);
    soul_header_write(&header, file);
    buffer_put(file, asking->answer.lua.data, asking->answer.lua.bytes);
    if (file->status != STATUS_OK) {
        return fail_soul(asking, "soul-too-long", "the model's script is larger than 256 KiB");
    }
    const SoulFile target = {.place = place,
                             .path = view->kept_path,
                             .before = view->kept_file != NULL ? view->kept_file->data : NULL,
                             .before_bytes = view->kept_file != NULL ? view->kept_file->bytes : 0};
    const Status status =
        soul_file_write(&target, file->data, file->bytes, asking->context->reason);
    return status == STATUS_OK ? STATUS_OK
                               : fail_soul(asking, "soul-write", "%s", asking->context->reason);
}

static Status copy_out(const uint8_t *bytes, size_t count, SoulLua *out)
{
    char *lua = malloc(count + 1);
    if (lua == NULL) {
        return STATUS_LIMIT;
    }
    memcpy(lua, bytes, count);
    lua[count] = '\0';
    out->lua = lua;
    out->lua_bytes = count;
    return STATUS_OK;
}

static void warn_unreviewed(const SoulView *view, DiagnosticList *diagnostics)
{
    diagnostic_addf(diagnostics, DIAGNOSTIC_WARNING, view->kept_path, 0, 0, "soul-unreviewed",
                    "nobody has reviewed this script that a model wrote: read it, then `sandlot "
                    "soul accept`");
}

Status soul_ask(const BuildContext *context, const ModelConfig *config, const char *place,
                const SoulView *view, SoulLua *out)
{
    BuildContext own = *context;
    own.cache = NULL; // answers of a model must not be cached: each is different
    Asking asking = {.context = &own,
                     .config = config,
                     .view = view,
                     .problem = buffer_of(2 * REPAIR_BYTES_MAX)};
    if (view->kept_file != NULL && view->kept.is_edited) {
        return context_fail(context, STATUS_DENIED,
                            "%.127s: was edited by hand and is not overwritten; delete it first",
                            view->kept_path);
    }
    if (config->key == NULL || config->key[0] == '\0') {
        return view->kept.state == SOUL_STALE
                   ? fail_soul(
                         &asking, "soul-no-key",
                         "has changed, or the scene around it has, since %s was made, and there "
                         "is no key for a language model: set SANDLOT_MODEL_KEY, or keep that Lua "
                         "as it is by `sandlot soul accept DIR %s`",
                         view->kept_path, view->soul->path)
                   : fail_soul(
                         &asking, "soul-no-key",
                         "the script has to be written by a language model, and there is no key "
                         "for one: set SANDLOT_MODEL_KEY, or write %s yourself and `sandlot soul "
                         "accept` it",
                         view->kept_path);
    }
    if (config->timeout_wrong != NULL) {
        diagnostic_addf(
            context->diagnostics, DIAGNOSTIC_WARNING, "", 0, 0, "setting",
            "SANDLOT_MODEL_TIMEOUT is \"%.40s\", which is not a number of seconds from 1 "
            "to %d; it is %u now",
            config->timeout_wrong, MODEL_TIMEOUT_S_MAX, config->timeout_ms / 1000);
    }
    Buffer file = buffer_of(VM_SOURCE_BYTES_MAX);
    SoulLua lua = {.was_asked = true};
    Status status = ask_and_repair(&asking, &lua.repairs);
    if (status == STATUS_OK) {
        status = keep_answer(&asking, place, &file);
    }
    if (status == STATUS_OK) {
        status = copy_out(file.data, file.bytes, &lua);
    }
    if (status == STATUS_OK) {
        uint8_t hash[SHA256_BYTES];
        soul_body_hash((const char *)asking.answer.lua.data, asking.answer.lua.bytes, hash);
        lua.reviewed = view->kept.header.has_review &&
                       memcmp(hash, view->kept.header.review, SHA256_BYTES) == 0;
        if (!lua.reviewed) {
            warn_unreviewed(view, context->diagnostics);
        }
        *out = lua;
    }
    buffer_free(&file);
    model_answer_free(&asking.answer);
    buffer_free(&asking.problem);
    return status;
}

static void warn_kept(const SoulView *view, DiagnosticList *diagnostics)
{
    if (view->kept.state == SOUL_OLDER) {
        diagnostic_addf(diagnostics, DIAGNOSTIC_WARNING, view->kept_path, 0, 0, "soul-older",
                        "was made for an older script API; `sandlot soul ask` makes it again, "
                        "`sandlot soul accept` keeps it");
    }
    if (view->kept.is_reviewed) {
        return;
    }
    if (view->kept.is_edited) {
        diagnostic_addf(diagnostics, DIAGNOSTIC_WARNING, view->kept_path, 0, 0, "soul-edited",
                        "was edited by hand since a model wrote it: `sandlot soul accept` records "
                        "that it is right");
    } else {
        warn_unreviewed(view, diagnostics);
    }
}

Status soul_lua(const BuildContext *context, const ModelConfig *config, const char *place,
                const PlaceFolder *folder, const Soul *soul, SoulLua *out)
{
    DiagnosticList *diagnostics = context->diagnostics;
    SoulView view;
    SoulFailure failure;
    context->reason[0] = '\0';
    Status status = soul_view_open(context, folder, soul, &view);
    if (status == STATUS_MALFORMED) {
        diagnostic_addf(diagnostics, DIAGNOSTIC_ERROR, soul->file->path, 0, 0, "soul", "%s",
                        context->reason);
    } else if (status == STATUS_OK) {
        const SoulKept *kept = &view.kept;
        if (kept->state == SOUL_FOREIGN || (kept->state == SOUL_STALE && kept->is_edited)) {
            diagnostic_addf(
                diagnostics, DIAGNOSTIC_ERROR, view.kept_path, 0, 0, "soul-edited",
                "%s: `sandlot soul accept DIR %s` keeps it as it is, deleting it has it made again",
                kept->state == SOUL_FOREIGN
                    ? "does not begin with the line that says what it was made from"
                    : "was edited by hand, and the soul or the scene around it has changed since",
                soul->path);
            status = STATUS_MALFORMED;
        } else if (kept->state == SOUL_FITS || kept->state == SOUL_OLDER) {
            SoulLua lua = {.reviewed = kept->is_reviewed};
            status = copy_out(view.kept_file->data, view.kept_file->bytes, &lua);
            if (status == STATUS_OK) {
                warn_kept(&view, diagnostics);
                *out = lua;
            }
        } else if (soul_failed_find(view.prompt.prompt_hash, &failure)) {
            diagnostic_addf(diagnostics, DIAGNOSTIC_ERROR, soul->file->path, 0, 0, failure.code,
                            "%.600s (not asked again before the soul changes)", failure.message);
            status = STATUS_MALFORMED;
        } else {
            status = soul_ask(context, config, place, &view, out);
        }
    }
    soul_view_close(&view);
    return status;
}

void soul_lua_free(SoulLua *lua)
{
    free(lua->lua);
    *lua = (SoulLua){0};
}

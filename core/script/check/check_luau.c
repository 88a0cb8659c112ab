// See check_luau.h. Every form that is looked for is an error in Lua wherever it stands, so the
// first one up to the line where Lua gave up is what Lua stumbled over. Strings and comments are
// skipped.
#include "core/script/check/check_luau.h"

#include <stdbool.h>
#include <string.h>

#define LUAU " A file that ends in .luau may have it."

static const char compound[] =
    "this assignment with an operator is Luau: write count = count + 1 instead of count += 1." LUAU;
static const char skip[] = "continue is Luau: put the rest of the loop's body into an if, or write "
                           "goto next and ::next:: before its end." LUAU;
static const char backtick[] =
    "a text in backticks is Luau: write \"coins: \" .. coins, or string.format(\"coins: %d\", "
    "coins)." LUAU;
static const char annotation[] =
    "types are Luau: write local speed = 5 instead of local speed: number = 5." LUAU;
static const char condition[] =
    "if inside an expression is Luau: write a and b or c (b must not be "
    "false or nil), or an if statement." LUAU;

typedef enum TokenKind { TOKEN_END, TOKEN_NAME, TOKEN_VALUE, TOKEN_SIGN } TokenKind;

typedef struct Token {
    TokenKind kind;
    const char *text;
    size_t bytes;
    uint32_t line;
} Token;

typedef struct Reader {
    const char *at, *end;
    uint32_t line;
} Reader;

// What a name with a colon after it would be.
typedef enum Place { PLACE_CODE, PLACE_NAMES, PLACE_HEADER, PLACE_PARAMETERS, PLACE_RESULT } Place;

typedef struct Search {
    Reader reader;
    Token before, now, next, after;
    Place place;
} Search;

// --- tokens -------------------------------------------------------------------------------------

static bool is_name_byte(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

static char byte_at(const Reader *reader, size_t ahead)
{
    return (size_t)(reader->end - reader->at) > ahead ? reader->at[ahead] : '\0';
}

static void step(Reader *reader, size_t bytes)
{
    for (; bytes > 0 && reader->at < reader->end; bytes--) {
        reader->line += *reader->at == '\n';
        reader->at += 1;
    }
}

// After `[==[`, as far as `]==]`. False: there is no long bracket here.
static bool skip_long(Reader *reader)
{
    size_t level = 0;
    while (byte_at(reader, 1 + level) == '=') {
        level += 1;
    }
    if (byte_at(reader, 0) != '[' || byte_at(reader, 1 + level) != '[') {
        return false;
    }
    step(reader, level + 2);
    while (reader->at < reader->end) {
        size_t equal = 0;
        while (byte_at(reader, 0) == ']' && equal < level && byte_at(reader, 1 + equal) == '=') {
            equal += 1;
        }
        if (byte_at(reader, 0) == ']' && equal == level && byte_at(reader, 1 + level) == ']') {
            step(reader, level + 2);
            return true;
        }
        step(reader, 1);
    }
    return true;
}

static void skip_space(Reader *reader)
{
    while (reader->at < reader->end) {
        const char c = *reader->at;
        if (c == ' ' || (c >= '\t' && c <= '\r')) {
            step(reader, 1);
        } else if (c == '-' && byte_at(reader, 1) == '-') {
            step(reader, 2);
            if (!skip_long(reader)) {
                while (reader->at < reader->end && *reader->at != '\n') {
                    step(reader, 1);
                }
            }
        } else {
            return;
        }
    }
}

static void skip_text(Reader *reader, char quote)
{
    step(reader, 1);
    while (reader->at < reader->end && *reader->at != quote && *reader->at != '\n') {
        step(reader, *reader->at == '\\' ? 2 : 1);
    }
    step(reader, 1);
}

static size_t sign_bytes(const Reader *reader)
{
    static const char *const signs[] = {"...", "..=", "//=", "..", "//", "::", "==", "~=", "<=",
                                        ">=",  "<<",  ">>",  "+=", "-=", "*=", "/=", "%=", "^="};
    for (size_t i = 0; i < sizeof signs / sizeof signs[0]; i++) {
        const size_t bytes = strlen(signs[i]);
        if ((size_t)(reader->end - reader->at) >= bytes &&
            memcmp(reader->at, signs[i], bytes) == 0) {
            return bytes;
        }
    }
    return 1;
}

static Token read_token(Reader *reader)
{
    skip_space(reader);
    Token token = {.text = reader->at, .line = reader->line};
    const char c = byte_at(reader, 0);
    if (reader->at == reader->end) {
        return token;
    }
    if (c == '"' || c == '\'') {
        token.kind = TOKEN_VALUE;
        skip_text(reader, c);
    } else if (c == '[' && skip_long(reader)) {
        token.kind = TOKEN_VALUE;
    } else if (is_name_byte(c)) {
        token.kind = c >= '0' && c <= '9' ? TOKEN_VALUE : TOKEN_NAME;
        while (is_name_byte(byte_at(reader, 0))) {
            step(reader, 1);
        }
    } else {
        token.kind = TOKEN_SIGN;
        step(reader, sign_bytes(reader));
    }
    token.bytes = (size_t)(reader->at - token.text);
    return token;
}

// --- forms --------------------------------------------------------------------------------------

static bool is(const Token *token, const char *text)
{
    return (token->kind == TOKEN_NAME || token->kind == TOKEN_SIGN) &&
           token->bytes == strlen(text) && memcmp(token->text, text, token->bytes) == 0;
}

// Whether it is one of the words, which are separated by spaces.
static bool is_one(const Token *token, const char *words)
{
    for (const char *word = words; *word != '\0';) {
        const size_t bytes = strcspn(word, " ");
        if (token->bytes == bytes && token->kind != TOKEN_VALUE &&
            memcmp(token->text, word, bytes) == 0) {
            return true;
        }
        word += bytes + (word[bytes] == ' ');
    }
    return false;
}

// Whether a statement may begin after it.
static bool ends_statement(const Token *token)
{
    if (token->kind == TOKEN_SIGN) {
        return is_one(token, ") } ] ; ... >");
    }
    return !is_one(token, "and or not return in local goto function if while until elseif");
}

static bool is_annotation(const Search *search)
{
    const Token *now = &search->now;
    if (is(now, ":")) {
        return search->place == PLACE_NAMES || search->place == PLACE_PARAMETERS ||
               search->place == PLACE_RESULT;
    }
    if (is(now, "<") && search->place == PLACE_HEADER) {
        return true;
    }
    if (is(now, "::")) {
        return search->next.kind == TOKEN_NAME && !is(&search->after, "::");
    }
    return ends_statement(&search->before) &&
           ((is(now, "type") && search->next.kind == TOKEN_NAME && is_one(&search->after, "= <")) ||
            (is(now, "export") && is(&search->next, "type")));
}

static const char *form_here(const Search *search)
{
    const Token *now = &search->now;
    if (is(now, "`")) {
        return backtick;
    }
    if (is_one(now, "+= -= *= /= //= %= ^= ..=")) {
        return compound;
    }
    if (is(now, "continue") && ends_statement(&search->before) &&
        search->next.kind != TOKEN_VALUE && !is_one(&search->next, "= ( . : [ , {")) {
        return skip;
    }
    if (is(now, "if") && !ends_statement(&search->before) && search->before.kind != TOKEN_END) {
        return condition;
    }
    return is_annotation(search) ? annotation : NULL;
}

static Place place_after(const Search *search)
{
    const Token *now = &search->now;
    if (is(now, "function")) {
        return PLACE_HEADER;
    }
    if (is(now, "local") || is(now, "for")) {
        return PLACE_NAMES;
    }
    switch (search->place) {
    case PLACE_HEADER:
        return is(now, "(") ? PLACE_PARAMETERS : PLACE_HEADER;
    case PLACE_PARAMETERS:
        return is(now, ")") ? PLACE_RESULT : PLACE_PARAMETERS;
    case PLACE_NAMES:
        return now->kind == TOKEN_NAME
                   ? (is(&search->next, ":") || is(&search->next, ",") ? PLACE_NAMES : PLACE_CODE)
               : is(now, ",") ? PLACE_NAMES
                              : PLACE_CODE;
    default:
        return PLACE_CODE;
    }
}

static void advance(Search *search)
{
    const bool is_label = is(&search->now, "::"); // of a label; else it is a form
    search->place = place_after(search);
    search->before = search->now;
    search->now = search->next;
    search->next = search->after;
    search->after = read_token(&search->reader);
    if (is_label && search->now.kind == TOKEN_NAME && is(&search->next, "::")) {
        search->now = search->after; // what stands after the label begins a statement
        search->next = read_token(&search->reader);
        search->after = read_token(&search->reader);
        search->before = (Token){.kind = TOKEN_SIGN, .text = ";", .bytes = 1};
    }
}

const char *check_luau_find(const char *source, size_t bytes, uint32_t line, uint32_t *at)
{
    Search search = {.reader = {source, source + bytes, 1}};
    search.now = read_token(&search.reader);
    search.next = read_token(&search.reader);
    search.after = read_token(&search.reader);
    for (; search.now.kind != TOKEN_END && (line == 0 || search.now.line <= line);
         advance(&search)) {
        const char *form = form_here(&search);
        if (form != NULL) {
            *at = search.now.line;
            return form;
        }
    }
    return NULL;
}

// See luau_inside.h. Tokens end where Lua's end, and lines are counted as Lua counts them: a
// message that is told here names the line that Lua would have named.
#include "core/script/luau/luau_inside.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define NEAR_BYTES_MAX 40
#define RESERVED       "__luau" // names of what the translation adds

// --- failures -----------------------------------------------------------------------------------

void lex_fail(Luau *luau, uint32_t line, const char *format, ...)
{
    if (luau->status != STATUS_OK) {
        return;
    }
    luau->status = STATUS_MALFORMED;
    luau->out->line = line;
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(luau->out->message, sizeof luau->out->message, format, arguments);
    va_end(arguments);
    luau->token.kind = TOKEN_END_OF_FILE;
}

void lex_fail_near(Luau *luau, const char *message)
{
    const Token token = luau->token;
    if (token.kind == TOKEN_END_OF_FILE) {
        lex_fail(luau, token.line, "%s near <eof>", message);
        return;
    }
    uint32_t bytes = token.end - token.begin;
    bytes = bytes > NEAR_BYTES_MAX ? NEAR_BYTES_MAX : bytes;
    lex_fail(luau, token.line, "%s near '%.*s'", message, (int)bytes, luau->source + token.begin);
}

bool lex_enter(Luau *luau)
{
    luau->depth += 1;
    if (luau->depth > LUAU_DEPTH_MAX) {
        lex_fail(luau, luau->token.line,
                 "brackets, calls, functions, blocks or types are nested more than %d levels "
                 "deep. Split it: give parts of it names, or make functions of them",
                 LUAU_DEPTH_MAX);
        return false;
    }
    return true;
}

void lex_leave(Luau *luau)
{
    luau->depth -= 1;
}

// --- characters ---------------------------------------------------------------------------------

static char byte_at(const Luau *luau, uint32_t at)
{
    return at < luau->bytes ? luau->source[at] : '\0';
}

static bool is_digit(char byte)
{
    return byte >= '0' && byte <= '9';
}

static bool is_letter(char byte)
{
    return (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') || byte == '_';
}

static bool is_hex(char byte)
{
    return is_digit(byte) || (byte >= 'a' && byte <= 'f') || (byte >= 'A' && byte <= 'F');
}

static bool is_break(char byte)
{
    return byte == '\n' || byte == '\r';
}

static bool is_space(char byte)
{
    return byte == ' ' || byte == '\t' || byte == '\v' || byte == '\f' || is_break(byte);
}

// \n, \r, \r\n and \n\r are one line break each, as in Lua.
static void skip_break(Luau *luau)
{
    const char first = byte_at(luau, luau->at), second = byte_at(luau, luau->at + 1);
    luau->at += luau->at + 1 < luau->bytes && is_break(second) && second != first ? 2 : 1;
    luau->line += 1;
}

static void skip_one(Luau *luau)
{
    if (is_break(byte_at(luau, luau->at))) {
        skip_break(luau);
    } else {
        luau->at += 1;
    }
}

// --- comments and long strings ------------------------------------------------------------------

// At [ of [[ or [==[: how many signs are between, and it is skipped; -1: it is neither.
static int skip_long_open(Luau *luau)
{
    uint32_t at = luau->at + 1;
    while (byte_at(luau, at) == '=') {
        at += 1;
    }
    if (byte_at(luau, at) != '[') {
        return -1;
    }
    const int level = (int)(at - luau->at - 1);
    luau->at = at + 1;
    return level;
}

static void skip_long(Luau *luau, int level, const char *what)
{
    const uint32_t line = luau->line;
    while (luau->at < luau->bytes) {
        if (byte_at(luau, luau->at) != ']') {
            skip_one(luau);
            continue;
        }
        uint32_t at = luau->at + 1;
        while (byte_at(luau, at) == '=') {
            at += 1;
        }
        const bool is_end = byte_at(luau, at) == ']' && (int)(at - luau->at - 1) == level;
        luau->at = is_end ? at + 1 : at;
        if (is_end) {
            return;
        }
    }
    lex_fail(luau, luau->line, "unfinished long %s (starting at line %u) near <eof>", what, line);
}

static void skip_comment(Luau *luau)
{
    luau->at += 2;
    if (byte_at(luau, luau->at) == '[') {
        const int level = skip_long_open(luau);
        if (level >= 0) {
            skip_long(luau, level, "comment");
            return;
        }
    }
    while (luau->at < luau->bytes && !is_break(byte_at(luau, luau->at))) {
        luau->at += 1;
    }
}

static void skip_blank(Luau *luau)
{
    while (luau->at < luau->bytes && luau->status == STATUS_OK) {
        const char byte = byte_at(luau, luau->at);
        if (is_space(byte)) {
            skip_one(luau);
        } else if (byte == '-' && byte_at(luau, luau->at + 1) == '-') {
            skip_comment(luau);
        } else {
            return;
        }
    }
}

// --- strings and numbers ------------------------------------------------------------------------

// At a backslash. True: Lua knows this escape.
static bool skip_escape(Luau *luau)
{
    const char byte = byte_at(luau, luau->at + 1);
    luau->at += 1;
    if (luau->at >= luau->bytes) {
        return true;
    }
    skip_one(luau);
    if (byte == 'z') {
        while (luau->at < luau->bytes && is_space(byte_at(luau, luau->at))) {
            skip_one(luau);
        }
    }
    return is_digit(byte) || (byte != '\0' && strchr("abfnrtvxzu\\\"'\n\r", byte) != NULL);
}

static void lex_string(Luau *luau, Token *token)
{
    const char quote = byte_at(luau, luau->at);
    luau->at += 1;
    while (luau->at < luau->bytes && byte_at(luau, luau->at) != quote) {
        const char byte = byte_at(luau, luau->at);
        if (is_break(byte)) {
            break;
        }
        if (byte == '\\') {
            token->is_changed = !skip_escape(luau) || token->is_changed;
        } else {
            luau->at += 1;
        }
    }
    if (byte_at(luau, luau->at) != quote || luau->at >= luau->bytes) {
        lex_fail(luau, luau->line, "unfinished string: it ends with %c on the same line", quote);
        return;
    }
    luau->at += 1;
    token->kind = TOKEN_STRING;
}

void lex_piece(Luau *luau)
{
    while (luau->at < luau->bytes) {
        const char byte = byte_at(luau, luau->at);
        if (byte == '`' || byte == '{') {
            return;
        }
        if (byte == '\\' && byte_at(luau, luau->at + 1) == 'u' &&
            byte_at(luau, luau->at + 2) == '{') {
            luau->at += 3;
        } else if (byte == '\\') {
            (void)skip_escape(luau);
        } else {
            skip_one(luau);
        }
    }
    lex_fail(luau, luau->line, "unfinished string: it ends with a backtick");
}

// At most 63 binary digits, because a whole number of Lua has a sign.
static void check_binary(Luau *luau, const Token *token)
{
    uint32_t digits = 0;
    for (uint32_t at = token->begin + 2; at < token->end; at++) {
        const char byte = luau->source[at];
        if (byte != '_' && byte != '0' && byte != '1') {
            lex_fail(luau, token->line, "a binary number has the digits 0 and 1 only");
            return;
        }
        digits += byte == '1' || (byte == '0' && digits > 0);
    }
    if (digits > 63) {
        lex_fail(luau, token->line, "a binary number has at most 63 digits");
    }
}

static void lex_number(Luau *luau, Token *token)
{
    const char second = byte_at(luau, luau->at + 1);
    const bool is_zero = byte_at(luau, luau->at) == '0';
    const bool is_hexadecimal = is_zero && (second == 'x' || second == 'X');
    const bool is_binary = is_zero && (second == 'b' || second == 'B');
    token->kind = TOKEN_NUMBER;
    token->is_changed = is_binary;
    luau->at += is_hexadecimal || is_binary ? 2 : 0;
    for (;; luau->at++) {
        const char byte = byte_at(luau, luau->at), next = byte_at(luau, luau->at + 1);
        const bool is_exponent =
            is_hexadecimal ? byte == 'p' || byte == 'P' : byte == 'e' || byte == 'E';
        if (is_exponent && (next == '+' || next == '-')) {
            luau->at += 1;
        } else if (!is_hex(byte) && !is_letter(byte) && byte != '.') {
            break;
        }
        token->is_changed = token->is_changed || byte == '_';
    }
    token->end = luau->at;
    if (is_binary) {
        check_binary(luau, token);
    }
}

// --- names and signs ----------------------------------------------------------------------------

static const struct {
    const char *text;
    TokenKind kind;
} words[] = {
    {"and", TOKEN_AND},     {"break", TOKEN_BREAK},   {"do", TOKEN_DO},
    {"else", TOKEN_ELSE},   {"elseif", TOKEN_ELSEIF}, {"end", TOKEN_END},
    {"false", TOKEN_FALSE}, {"for", TOKEN_FOR},       {"function", TOKEN_FUNCTION},
    {"goto", TOKEN_GOTO},   {"if", TOKEN_IF},         {"in", TOKEN_IN},
    {"local", TOKEN_LOCAL}, {"nil", TOKEN_NIL},       {"not", TOKEN_NOT},
    {"or", TOKEN_OR},       {"repeat", TOKEN_REPEAT}, {"return", TOKEN_RETURN},
    {"then", TOKEN_THEN},   {"true", TOKEN_TRUE},     {"until", TOKEN_UNTIL},
    {"while", TOKEN_WHILE},
};

// Longer ones first. What is not here is one character.
static const struct {
    const char *text;
    TokenKind kind;
} signs[] = {
    {"...", TOKEN_DOTS},  {"..=", TOKEN_ASSIGN}, {"//=", TOKEN_ASSIGN}, {"..", TOKEN_BINARY},
    {"//", TOKEN_BINARY}, {"==", TOKEN_BINARY},  {"~=", TOKEN_BINARY},  {"<=", TOKEN_BINARY},
    {"<<", TOKEN_BINARY}, {">=", TOKEN_GREATER}, {">>", TOKEN_GREATER}, {">", TOKEN_GREATER},
    {"::", TOKEN_CAST},   {"->", TOKEN_ARROW},   {"+=", TOKEN_ASSIGN},  {"-=", TOKEN_ASSIGN},
    {"*=", TOKEN_ASSIGN}, {"/=", TOKEN_ASSIGN},  {"%=", TOKEN_ASSIGN},  {"^=", TOKEN_ASSIGN},
    {"+", TOKEN_BINARY},  {"*", TOKEN_BINARY},   {"/", TOKEN_BINARY},   {"%", TOKEN_BINARY},
    {"^", TOKEN_BINARY},
};

static bool is_text(const Luau *luau, uint32_t at, uint32_t bytes, const char *text)
{
    return at + bytes <= luau->bytes && strlen(text) == bytes &&
           memcmp(luau->source + at, text, bytes) == 0;
}

static void lex_name(Luau *luau, Token *token)
{
    while (is_letter(byte_at(luau, luau->at)) || is_digit(byte_at(luau, luau->at))) {
        luau->at += 1;
    }
    const uint32_t bytes = luau->at - token->begin;
    token->kind = TOKEN_NAME;
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        if (is_text(luau, token->begin, bytes, words[i].text)) {
            token->kind = words[i].kind;
        }
    }
    if (bytes >= strlen(RESERVED) &&
        memcmp(luau->source + token->begin, RESERVED, strlen(RESERVED)) == 0) {
        lex_fail(luau, token->line,
                 "names that begin with " RESERVED " belong to the translation of Luau: choose "
                 "another");
    }
    if (token->kind == TOKEN_GOTO) {
        lex_fail(luau, token->line,
                 "goto is a reserved word: Luau has no goto, and Lua takes no other thing of that "
                 "name. Choose another name, or use continue, break or a function");
    }
}

static void lex_sign(Luau *luau, Token *token)
{
    for (size_t i = 0; i < sizeof signs / sizeof signs[0]; i++) {
        const uint32_t bytes = (uint32_t)strlen(signs[i].text);
        if (is_text(luau, luau->at, bytes, signs[i].text)) {
            token->kind = signs[i].kind;
            luau->at += bytes;
            return;
        }
    }
    const char byte = byte_at(luau, luau->at);
    token->kind = byte == '`' ? TOKEN_BACKTICK : SIGN(byte);
    luau->at += 1;
}

static void lex_bracket(Luau *luau, Token *token)
{
    const char next = byte_at(luau, luau->at + 1);
    const int level = next == '[' || next == '=' ? skip_long_open(luau) : -1;
    if (level >= 0) {
        skip_long(luau, level, "string");
        token->kind = TOKEN_STRING;
    } else if (next == '=') {
        lex_fail(luau, luau->line, "invalid long string delimiter");
    } else {
        lex_sign(luau, token);
    }
}

static Token lex(Luau *luau)
{
    skip_blank(luau);
    Token token = {.begin = luau->at, .end = luau->at, .line = luau->line};
    if (luau->status != STATUS_OK || luau->at >= luau->bytes) {
        return token;
    }
    const char byte = byte_at(luau, luau->at);
    if (is_letter(byte)) {
        lex_name(luau, &token);
    } else if (is_digit(byte) || (byte == '.' && is_digit(byte_at(luau, luau->at + 1)))) {
        lex_number(luau, &token);
    } else if (byte == '"' || byte == '\'') {
        lex_string(luau, &token);
    } else if (byte == '[') {
        lex_bracket(luau, &token);
    } else {
        lex_sign(luau, &token);
    }
    token.end = luau->at;
    token.kind = luau->status == STATUS_OK ? token.kind : TOKEN_END_OF_FILE;
    return token;
}

// --- the reader's view --------------------------------------------------------------------------

void lex_next(Luau *luau)
{
    const Token token = luau->token;
    if (token.is_changed) {
        edit_add(luau, (Edit){.at = token.begin,
                              .cut = token.end - token.begin,
                              .kind = token.kind == TOKEN_STRING ? EDIT_STRING : EDIT_NUMBER});
    }
    luau->previous_end = token.end;
    luau->token = lex(luau);
}

// A failure in what is only looked at is told when it is read.
static Token peek_from(Luau *luau, uint32_t *at, uint32_t *line)
{
    const uint32_t at_before = luau->at, line_before = luau->line;
    const Token token_before = luau->token;
    const Status status_before = luau->status;
    LuauLua out = {0}, *out_before = luau->out;
    luau->out = &out;
    luau->at = *at;
    luau->line = *line;
    const Token token = lex(luau);
    *at = luau->at;
    *line = luau->line;
    luau->at = at_before;
    luau->line = line_before;
    luau->token = token_before;
    luau->status = status_before;
    luau->out = out_before;
    return token;
}

TokenKind lex_peek(Luau *luau)
{
    uint32_t at = luau->at, line = luau->line;
    return peek_from(luau, &at, &line).kind;
}

bool lex_peek_name(Luau *luau, const char *name, TokenKind *after)
{
    uint32_t at = luau->at, line = luau->line;
    const Token token = peek_from(luau, &at, &line);
    if (token.kind != TOKEN_NAME || !is_text(luau, token.begin, token.end - token.begin, name)) {
        return false;
    }
    *after = peek_from(luau, &at, &line).kind;
    return true;
}

void lex_split(Luau *luau)
{
    luau->at = luau->token.begin + 1;
    luau->line = luau->token.line;
    luau->previous_end = luau->at;
    luau->token = lex(luau);
}

bool lex_is(const Luau *luau, const char *name)
{
    const Token *token = &luau->token;
    return token->kind == TOKEN_NAME &&
           is_text(luau, token->begin, token->end - token->begin, name);
}

bool lex_accept(Luau *luau, TokenKind kind)
{
    if (luau->token.kind != kind || luau->status != STATUS_OK) {
        return false;
    }
    lex_next(luau);
    return true;
}

void lex_expect(Luau *luau, TokenKind kind, const char *shown)
{
    if (!lex_accept(luau, kind)) {
        char message[64];
        (void)snprintf(message, sizeof message, "%s expected", shown);
        lex_fail_near(luau, message);
    }
}

void lex_expect_end(Luau *luau, TokenKind kind, const char *shown, const char *begun, uint32_t line)
{
    if (luau->token.line == line) {
        lex_expect(luau, kind, shown);
    } else if (!lex_accept(luau, kind)) {
        char message[96];
        (void)snprintf(message, sizeof message, "%s expected (to close %s at line %u)", shown,
                       begun, line);
        lex_fail_near(luau, message);
    }
}

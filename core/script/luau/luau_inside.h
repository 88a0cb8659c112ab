// What the files of this room share: tokens, edits, and the one reader that walks over a source.
#pragma once

#include "core/script/luau/luau.h"

#include <stdbool.h>

typedef enum TokenKind {
    TOKEN_END_OF_FILE,
    TOKEN_NAME,
    TOKEN_NUMBER,
    TOKEN_STRING,
    TOKEN_BACKTICK, // begins a string with expressions in it; the reader goes on from there
    // Words.
    TOKEN_AND,
    TOKEN_BREAK,
    TOKEN_DO,
    TOKEN_ELSE,
    TOKEN_ELSEIF,
    TOKEN_END,
    TOKEN_FALSE,
    TOKEN_FOR,
    TOKEN_FUNCTION,
    TOKEN_GOTO,
    TOKEN_IF,
    TOKEN_IN,
    TOKEN_LOCAL,
    TOKEN_NIL,
    TOKEN_NOT,
    TOKEN_OR,
    TOKEN_REPEAT,
    TOKEN_RETURN,
    TOKEN_THEN,
    TOKEN_TRUE,
    TOKEN_UNTIL,
    TOKEN_WHILE,
    // Signs of more than one character.
    TOKEN_DOTS,    // ...
    TOKEN_CAST,    // ::
    TOKEN_ARROW,   // ->
    TOKEN_BINARY,  // an operator that is only between two values, of any length
    TOKEN_ASSIGN,  // += and the like
    TOKEN_GREATER, // >, >= and >>: in types they are read one by one
    // Every other character is a token of its own: TOKEN_SIGN + the byte.
    TOKEN_SIGN = 0x100
} TokenKind;

#define SIGN(character) ((TokenKind)(TOKEN_SIGN + (unsigned char)(character)))

typedef struct Token {
    TokenKind kind;
    uint32_t begin, end; // bytes of the source
    uint32_t line;
    bool is_changed; // a number or string that Lua writes otherwise
} Token;

typedef enum EditKind {
    EDIT_NONE,   // a hole that was not needed
    EDIT_TEXT,   // `text`, and what may follow it
    EDIT_COPY,   // bytes of the source
    EDIT_BLANK,  // nothing but the line breaks of what is cut
    EDIT_PIECE,  // a piece of a backtick string, with the escapes of a Lua string
    EDIT_STRING, // a quoted string, with the escapes of a Lua string
    EDIT_NUMBER,
    EDIT_FORMAT, // the begin of a call of string.format with `from` values
} EditKind;

// At `at` `cut` bytes are replaced. Edits are in the order of the source; those at one place are
// written one after the other.
typedef struct Edit {
    const char *text, *tail; // EDIT_TEXT: the text, bytes of the source, and the tail
    uint32_t at, cut;
    uint32_t from, bytes; // of the source
    EditKind kind;
} Edit;

// One loop around a statement; functions end the list.
typedef struct Loop {
    struct Loop *outer;
    uint32_t continue_line;        // of the first one; 0: none
    bool is_repeat;                // a local is read now that its condition would see
    uint32_t late_begin, late_end; // of Luau.late: locals that the first continue jumps over
} Loop;

typedef struct Luau {
    Heap *heap;
    const char *source;
    uint32_t bytes;
    // Lexer.
    uint32_t at, line;
    Token token;           // the one that is looked at
    uint32_t previous_end; // of the token before it
    // Edits.
    Edit *edits;
    uint32_t edit_count, edit_max;
    // Reader.
    uint32_t depth;
    uint32_t mute; // inside of a type nothing is edited
    Loop *loop;
    const Loop *until; // of the condition that is read now
    Token late[LUAU_LATE_MAX];
    uint32_t late_count;
    bool has_iteration;
    Status status; // after the first failure every token is TOKEN_END_OF_FILE
    LuauLua *out;
} Luau;

// What an expression is, as far as its translation depends on it.
typedef enum ValueKind {
    VALUE_OTHER,
    VALUE_TRUE, // one literal, which counts as true
} ValueKind;

// --- luau_lex.c ---
void lex_next(Luau *luau);
TokenKind lex_peek(Luau *luau); // the kind of the token after this one
bool lex_peek_name(Luau *luau, const char *name, TokenKind *after);
void lex_split(Luau *luau); // >> or >= as > and the rest
bool lex_is(const Luau *luau, const char *name);
// From `at`, after a backtick or }: up to what ends the piece, a backtick or {.
void lex_piece(Luau *luau);
void lex_fail(Luau *luau, uint32_t line, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
void lex_fail_near(Luau *luau, const char *message); // "message near 'token'"

bool lex_accept(Luau *luau, TokenKind kind);
void lex_expect(Luau *luau, TokenKind kind, const char *shown);
// As lex_expect, for what ends something that began at `line`.
void lex_expect_end(Luau *luau, TokenKind kind, const char *shown, const char *begun,
                    uint32_t line);
bool lex_enter(Luau *luau); // one level deeper; false, and told: too deep
void lex_leave(Luau *luau);

// --- luau_edit.c ---
void edit_add(Luau *luau, Edit edit);
void edit_text(Luau *luau, uint32_t at, uint32_t cut, const char *text);
void edit_copy(Luau *luau, uint32_t at, Token token);
void edit_blank(Luau *luau, uint32_t begin, uint32_t end);
// A place that is filled later, if at all.
uint32_t edit_hole(Luau *luau, uint32_t at);
void edit_fill(Luau *luau, uint32_t hole, uint32_t cut, const char *text);
void edit_fill_named(Luau *luau, uint32_t hole, uint32_t cut, const char *text, Token name,
                     const char *tail);
void edit_drop(Luau *luau, uint32_t hole); // it is not needed
MUST_USE Status edit_write(Luau *luau);

// --- luau_expression.c ---
ValueKind read_expression(Luau *luau);
void read_expressions(Luau *luau);   // a, b, c
void read_function_body(Luau *luau); // from its types or parameters to its end
void read_attributes(Luau *luau);    // @native

// The last part of a.b[c], which can be assigned to.
typedef enum TargetKind {
    TARGET_NONE,
    TARGET_CALL,
    TARGET_NAME,
    TARGET_FIELD,
    TARGET_INDEX
} TargetKind;
typedef struct Target {
    TargetKind kind;
    bool is_base_name; // what is before the last part is one name
    bool is_key_plain; // a name or a whole number
    Token base, key;
    Token shown; // the last name before the last part, for messages; empty: there is none
    uint32_t begin_hole, open_hole, key_hole, close_hole; // around the last part
} Target;
Target read_target(Luau *luau); // with holes, for a statement
void drop_last(Luau *luau, const Target *target);
TargetKind read_suffixed(Luau *luau);

// --- luau_statement.c ---
void read_block(Luau *luau);

// --- luau_type.c ---
void read_annotation(Luau *luau);  // `: type`, if there is one
void read_type_cast(Luau *luau);   // `:: type`
void read_generics(Luau *luau);    // `<T, U...>`, if there are any
void read_result_type(Luau *luau); // `: type` after parameters
void read_type_alias(Luau *luau);  // `type Name = …`, `export type Name = …`

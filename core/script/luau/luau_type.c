// See luau_inside.h. Types mean nothing when a script runs: they are read only to find where they
// end. What would be an odd type is taken, because the language's own checker is not here to tell.
#include "core/script/luau/luau_inside.h"

static void read_type(Luau *luau);

// One of (…), <…> or a result: `name: type`, `...type`, `type...`.
static void read_element(Luau *luau)
{
    (void)lex_accept(luau, TOKEN_DOTS);
    read_type(luau);
    if (lex_accept(luau, SIGN(':'))) {
        (void)lex_accept(luau, TOKEN_DOTS);
        read_type(luau);
    }
    (void)lex_accept(luau, TOKEN_DOTS);
}

// > may be the first half of >> or >=.
static void read_greater(Luau *luau)
{
    if (luau->token.kind != TOKEN_GREATER) {
        lex_fail_near(luau, "'>' expected after these types");
    } else {
        lex_split(luau);
    }
}

static void read_arguments(Luau *luau)
{
    lex_next(luau); // <
    while (luau->token.kind != TOKEN_GREATER && luau->status == STATUS_OK) {
        read_element(luau);
        if (lex_accept(luau, SIGN('='))) { // what a parameter is if nothing is given
            read_element(luau);
        }
        if (!lex_accept(luau, SIGN(','))) {
            break;
        }
    }
    read_greater(luau);
}

static void read_parameters(Luau *luau)
{
    const uint32_t line = luau->token.line;
    lex_next(luau); // (
    while (luau->token.kind != SIGN(')') && luau->status == STATUS_OK) {
        read_element(luau);
        if (!lex_accept(luau, SIGN(','))) {
            break;
        }
    }
    lex_expect_end(luau, SIGN(')'), "')'", "'('", line);
}

// {T}, {[K]: V}, {name: T, read other: U}
static void read_table(Luau *luau)
{
    const uint32_t line = luau->token.line;
    lex_next(luau); // {
    while (luau->token.kind != SIGN('}') && luau->status == STATUS_OK) {
        if ((lex_is(luau, "read") || lex_is(luau, "write")) && lex_peek(luau) != SIGN(':')) {
            lex_next(luau);
        }
        if (lex_accept(luau, SIGN('['))) {
            read_type(luau);
            lex_expect(luau, SIGN(']'), "']'");
        } else {
            read_type(luau);
        }
        if (lex_accept(luau, SIGN(':'))) {
            read_type(luau);
        }
        if (!lex_accept(luau, SIGN(',')) && !lex_accept(luau, SIGN(';'))) {
            break;
        }
    }
    lex_expect_end(luau, SIGN('}'), "'}'", "'{'", line);
}

static void read_named(Luau *luau)
{
    const bool is_typeof = lex_is(luau, "typeof");
    lex_next(luau);
    if (is_typeof && lex_accept(luau, SIGN('('))) {
        (void)read_expression(luau);
        lex_expect(luau, SIGN(')'), "')'");
        return;
    }
    while (lex_accept(luau, SIGN('.'))) {
        lex_expect(luau, TOKEN_NAME, "the name of a type");
    }
    if (luau->token.kind == SIGN('<')) {
        read_arguments(luau);
    }
}

static void read_simple(Luau *luau)
{
    switch ((int)luau->token.kind) {
    case TOKEN_NAME:
        read_named(luau);
        return;
    case TOKEN_NIL:
    case TOKEN_TRUE:
    case TOKEN_FALSE:
    case TOKEN_STRING:
        lex_next(luau);
        return;
    case SIGN('{'):
        read_table(luau);
        return;
    case SIGN('<'):
    case SIGN('('):
        if (luau->token.kind == SIGN('<')) {
            read_arguments(luau);
        }
        if (luau->token.kind == SIGN('(')) {
            read_parameters(luau);
        }
        if (lex_accept(luau, TOKEN_ARROW)) {
            read_element(luau);
        }
        return;
    default:
        lex_fail_near(luau, "a type is expected");
    }
}

static void read_type(Luau *luau)
{
    if (!lex_enter(luau)) {
        return;
    }
    if (luau->token.kind == SIGN('|') || luau->token.kind == SIGN('&')) {
        lex_next(luau);
    }
    read_simple(luau);
    for (;;) {
        if (luau->token.kind == SIGN('|') || luau->token.kind == SIGN('&')) {
            lex_next(luau);
            read_simple(luau);
        } else if (!lex_accept(luau, SIGN('?'))) {
            break;
        }
    }
    lex_leave(luau);
}

// --- where types stand --------------------------------------------------------------------------

typedef void Reader(Luau *luau);

// Reads and cuts.
static void cut(Luau *luau, Reader *reader)
{
    const uint32_t begin = luau->token.begin;
    luau->mute += 1;
    reader(luau);
    luau->mute -= 1;
    edit_blank(luau, begin, luau->previous_end);
}

static void read_marked(Luau *luau)
{
    lex_next(luau); // : or ::
    read_element(luau);
}

void read_annotation(Luau *luau)
{
    if (luau->token.kind == SIGN(':')) {
        cut(luau, read_marked);
    }
}

void read_result_type(Luau *luau)
{
    if (luau->token.kind == TOKEN_ARROW) {
        lex_fail(luau, luau->token.line, "the type of a result begins with ':', not with '->'");
    }
    read_annotation(luau);
}

static void read_cast(Luau *luau)
{
    lex_next(luau);
    read_type(luau);
}

void read_type_cast(Luau *luau)
{
    cut(luau, read_cast);
}

void read_generics(Luau *luau)
{
    if (luau->token.kind == SIGN('<')) {
        cut(luau, read_arguments);
    }
}

static void read_alias(Luau *luau)
{
    if (lex_is(luau, "export")) {
        lex_next(luau);
    }
    lex_next(luau); // type
    if (luau->token.kind == TOKEN_FUNCTION) {
        lex_fail(luau, luau->token.line,
                 "a type function cannot be translated: it would run while types are checked. "
                 "Remove it, and write the type that it makes");
        return;
    }
    lex_expect(luau, TOKEN_NAME, "the name of a type");
    if (luau->token.kind == SIGN('<')) {
        read_arguments(luau);
    }
    lex_expect(luau, SIGN('='), "'='");
    read_type(luau);
}

void read_type_alias(Luau *luau)
{
    cut(luau, read_alias);
}

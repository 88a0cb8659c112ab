// See luau_inside.h. Operators need no order here: the text between two edits stays, and Lua's
// order is Luau's. An if expression becomes
//
//     ((a) and {b} or {c})[1]          or ((a) and (b) or (c)) where b is a literal that is true
//
// and a backtick string a call of string.format with each piece of it as a value.
#include "core/script/luau/luau_inside.h"

#include <string.h>

static bool is_binary(TokenKind kind)
{
    return kind == TOKEN_AND || kind == TOKEN_OR || kind == TOKEN_BINARY || kind == TOKEN_GREATER ||
           kind == SIGN('-') || kind == SIGN('<') || kind == SIGN('~') || kind == SIGN('&') ||
           kind == SIGN('|');
}

static bool is_unary(TokenKind kind)
{
    return kind == TOKEN_NOT || kind == SIGN('-') || kind == SIGN('#') || kind == SIGN('~');
}

void read_expressions(Luau *luau)
{
    do {
        (void)read_expression(luau);
    } while (lex_accept(luau, SIGN(',')));
}

// --- backtick strings ---------------------------------------------------------------------------

// At { of a string: the value in it, up to the }.
static void read_hole_value(Luau *luau)
{
    const uint32_t open = luau->at, line = luau->line;
    luau->at += 1;
    if (luau->at < luau->bytes && luau->source[luau->at] == '{') {
        lex_fail(luau, line,
                 "a string has no {{: write \\{ for a { that is meant as text, or put "
                 "the table into a variable first");
        return;
    }
    edit_text(luau, open, 1, "\", (");
    luau->token = (Token){.begin = luau->at, .end = luau->at, .line = line};
    lex_next(luau);
    if (luau->token.kind == SIGN('}')) {
        lex_fail(luau, line,
                 "a string has an empty {}: put a value into it, or write \\{ for a { "
                 "that is meant as text");
        return;
    }
    (void)read_expression(luau);
    edit_text(luau, luau->previous_end, 0, ")");
    if (luau->token.kind != SIGN('}')) {
        lex_fail_near(luau, "'}' expected after a value in a string");
        return;
    }
    edit_text(luau, luau->token.begin, 1, ", \"");
}

static void read_backtick(Luau *luau)
{
    const uint32_t begin = luau->token.begin;
    const uint32_t head = edit_hole(luau, begin);
    uint32_t value_count = 0;
    edit_fill(luau, head, 1, "");
    for (;;) {
        const uint32_t piece = luau->at;
        lex_piece(luau);
        edit_add(luau, (Edit){.at = piece, .cut = luau->at - piece, .kind = EDIT_PIECE});
        if (luau->status != STATUS_OK || luau->source[luau->at] == '`') {
            break;
        }
        read_hole_value(luau);
        value_count += 1;
    }
    if (luau->status != STATUS_OK) {
        return;
    }
    if (luau->mute == 0) {
        luau->edits[head].kind = EDIT_FORMAT;
        luau->edits[head].from = value_count == 0 ? 0 : 2 * value_count + 1;
    }
    edit_text(luau, luau->at, 1, "\")");
    luau->at += 1;
    luau->token = (Token){.begin = begin, .end = luau->at, .line = luau->line};
    lex_next(luau);
}

// --- if expressions -----------------------------------------------------------------------------

// `a then b`. Each ends with a bracket on its last line: what Lua does with a value is then done
// there, and fails there.
static ValueKind read_branch(Luau *luau, uint32_t *then)
{
    (void)read_expression(luau);
    edit_text(luau, luau->previous_end, 0, ")");
    *then = edit_hole(luau, luau->token.begin);
    lex_expect(luau, TOKEN_THEN, "'then'");
    const ValueKind kind = read_expression(luau);
    edit_text(luau, luau->previous_end, 0, ")");
    return kind;
}

// Each value is put into a table: nil and false are then values like others.
static void read_elseifs(Luau *luau)
{
    while (luau->token.kind == TOKEN_ELSEIF) {
        uint32_t then;
        edit_text(luau, luau->token.begin, 6, "} or (");
        lex_next(luau);
        (void)read_branch(luau, &then);
        edit_fill(luau, then, 4, " and {(");
    }
}

static void read_if(Luau *luau)
{
    const uint32_t line = luau->token.line;
    uint32_t then;
    edit_text(luau, luau->token.begin, 2, "((");
    lex_next(luau);
    const ValueKind first = read_branch(luau, &then);
    const bool is_plain = first == VALUE_TRUE && luau->token.kind == TOKEN_ELSE;
    read_elseifs(luau);
    if (luau->token.kind != TOKEN_ELSE) {
        lex_fail(luau, line, "an if that is a value has an else: if a then b else c");
        return;
    }
    edit_fill(luau, then, 4, is_plain ? " and (" : " and {(");
    edit_text(luau, luau->token.begin, 4, is_plain ? " or (" : "} or {(");
    lex_next(luau);
    (void)read_expression(luau);
    edit_text(luau, luau->previous_end, 0, is_plain ? "))" : ")})[1]");
}

// --- functions and tables -----------------------------------------------------------------------

void read_attributes(Luau *luau)
{
    while (luau->token.kind == SIGN('@')) {
        const uint32_t begin = luau->token.begin;
        lex_next(luau);
        lex_expect(luau, TOKEN_NAME, "the name of an attribute");
        edit_blank(luau, begin, luau->previous_end);
    }
}

static void read_parameters(Luau *luau)
{
    lex_expect(luau, SIGN('('), "'('");
    while (luau->token.kind == TOKEN_NAME) {
        lex_next(luau);
        read_annotation(luau);
        if (!lex_accept(luau, SIGN(','))) {
            break;
        }
    }
    if (lex_accept(luau, TOKEN_DOTS)) {
        read_annotation(luau);
    }
    lex_expect(luau, SIGN(')'), "')'");
}

void read_function_body(Luau *luau)
{
    const uint32_t line = luau->token.line;
    Loop *loop = luau->loop;
    luau->loop = NULL;
    read_generics(luau);
    read_parameters(luau);
    read_result_type(luau);
    read_block(luau);
    lex_expect_end(luau, TOKEN_END, "'end'", "'function'", line);
    luau->loop = loop;
}

static void read_table(Luau *luau)
{
    const uint32_t line = luau->token.line;
    lex_next(luau); // {
    while (luau->token.kind != SIGN('}') && luau->status == STATUS_OK) {
        if (lex_accept(luau, SIGN('['))) {
            (void)read_expression(luau);
            lex_expect(luau, SIGN(']'), "']'");
            lex_expect(luau, SIGN('='), "'='");
        } else if (luau->token.kind == TOKEN_NAME && lex_peek(luau) == SIGN('=')) {
            lex_next(luau);
            lex_next(luau);
        }
        (void)read_expression(luau);
        if (!lex_accept(luau, SIGN(',')) && !lex_accept(luau, SIGN(';'))) {
            break;
        }
    }
    lex_expect_end(luau, SIGN('}'), "'}'", "'{'", line);
}

// --- calls and fields ---------------------------------------------------------------------------

static bool is_same(const Luau *luau, const Token *one, const Token *other)
{
    const uint32_t bytes = one->end - one->begin;
    return other->end - other->begin == bytes &&
           memcmp(luau->source + one->begin, luau->source + other->begin, bytes) == 0;
}

// The condition of a repeat sees the locals of its body, but not those that a continue jumps over.
static void check_late(Luau *luau)
{
    const Loop *until = luau->until;
    for (uint32_t i = until->late_begin; i < until->late_end; i++) {
        const Token *late = &luau->late[i];
        if (is_same(luau, late, &luau->token)) {
            const uint32_t bytes = late->end - late->begin;
            lex_fail(luau, luau->token.line,
                     "the condition after until uses the local %.*s, which the continue in line %u "
                     "jumps over: declare it before that continue",
                     (int)(bytes < 60 ? bytes : 60), luau->source + late->begin,
                     until->continue_line);
            return;
        }
    }
}

static void read_primary(Luau *luau)
{
    if (luau->token.kind == TOKEN_NAME) {
        if (luau->until != NULL) {
            check_late(luau);
        }
        lex_next(luau);
    } else if (luau->token.kind == SIGN('(')) {
        const uint32_t line = luau->token.line;
        lex_next(luau);
        (void)read_expression(luau);
        lex_expect_end(luau, SIGN(')'), "')'", "'('", line);
    } else {
        lex_fail_near(luau, "unexpected symbol");
    }
}

static void read_arguments(Luau *luau)
{
    const uint32_t line = luau->token.line;
    if (luau->token.kind == TOKEN_STRING) {
        lex_next(luau);
    } else if (luau->token.kind == SIGN('{')) {
        read_table(luau);
    } else if (lex_accept(luau, SIGN('('))) {
        if (luau->token.kind != SIGN(')')) {
            read_expressions(luau);
        }
        lex_expect_end(luau, SIGN(')'), "')'", "'('", line);
    } else {
        lex_fail_near(luau, "arguments of a call expected");
    }
}

static bool is_arguments(TokenKind kind)
{
    return kind == SIGN('(') || kind == SIGN('{') || kind == TOKEN_STRING;
}

static void read_index(Luau *luau, Target *target)
{
    target->open_hole = edit_hole(luau, luau->token.begin);
    lex_next(luau);
    target->key = luau->token;
    const bool is_plain = (luau->token.kind == TOKEN_NAME || luau->token.kind == TOKEN_NUMBER) &&
                          !luau->token.is_changed;
    (void)read_expression(luau);
    target->is_key_plain = is_plain && luau->previous_end == target->key.end;
    target->key_hole = edit_hole(luau, luau->previous_end);
    target->close_hole = edit_hole(luau, luau->token.begin);
    lex_expect(luau, SIGN(']'), "']'");
    target->kind = TARGET_INDEX;
}

static void read_field(Luau *luau, Target *target)
{
    target->open_hole = edit_hole(luau, luau->token.begin);
    lex_next(luau);
    target->key = luau->token;
    target->is_key_plain = true;
    lex_expect(luau, TOKEN_NAME, "a name");
    target->kind = TARGET_FIELD;
}

// The last part is not assigned to: its holes are not needed.
void drop_last(Luau *luau, const Target *target)
{
    if (target->kind == TARGET_INDEX) {
        edit_drop(luau, target->close_hole);
        edit_drop(luau, target->key_hole);
    }
    if (target->kind == TARGET_INDEX || target->kind == TARGET_FIELD) {
        edit_drop(luau, target->open_hole);
    }
}

// One of .name, [key], :name(…), (…); false: none of them follows.
static bool read_suffix(Luau *luau, Target *target)
{
    const TokenKind kind = luau->token.kind;
    const bool is_first = target->kind == TARGET_NAME;
    if (kind != SIGN('.') && kind != SIGN('[') && kind != SIGN(':') && !is_arguments(kind)) {
        if (kind == TOKEN_BACKTICK) {
            lex_fail(luau, luau->token.line,
                     "a call with a backtick string needs brackets: f(`…`)");
        }
        return false;
    }
    drop_last(luau, target);
    target->is_base_name = is_first;
    target->shown = target->kind == TARGET_FIELD  ? target->key
                    : target->kind == TARGET_NAME ? target->base
                                                  : (Token){0};
    if (kind == SIGN('.')) {
        read_field(luau, target);
    } else if (kind == SIGN('[')) {
        read_index(luau, target);
    } else {
        if (lex_accept(luau, SIGN(':'))) {
            lex_expect(luau, TOKEN_NAME, "the name of a method");
        }
        read_arguments(luau);
        target->kind = TARGET_CALL;
    }
    return luau->status == STATUS_OK;
}

Target read_target(Luau *luau)
{
    Target target = {.base = luau->token,
                     .kind = luau->token.kind == TOKEN_NAME ? TARGET_NAME : TARGET_NONE,
                     .begin_hole = edit_hole(luau, luau->token.begin)};
    read_primary(luau);
    while (read_suffix(luau, &target)) {
    }
    return target;
}

TargetKind read_suffixed(Luau *luau)
{
    const Target target = read_target(luau);
    drop_last(luau, &target);
    // A cast of several values is one value.
    if (luau->token.kind == TOKEN_CAST && target.kind == TARGET_CALL) {
        edit_fill(luau, target.begin_hole, 0, "(");
        edit_text(luau, luau->previous_end, 0, ")");
    }
    edit_drop(luau, target.begin_hole);
    return target.kind;
}

// --- expressions --------------------------------------------------------------------------------

static void read_dots(Luau *luau)
{
    const uint32_t begin = luau->token.begin;
    const uint32_t hole = edit_hole(luau, begin);
    lex_next(luau);
    if (luau->token.kind == TOKEN_CAST) {
        edit_fill(luau, hole, 0, "(");
        edit_text(luau, luau->previous_end, 0, ")");
    }
    edit_drop(luau, hole);
}

static ValueKind read_simple(Luau *luau)
{
    switch ((int)luau->token.kind) {
    case TOKEN_NUMBER:
    case TOKEN_STRING:
    case TOKEN_TRUE:
        lex_next(luau);
        return VALUE_TRUE;
    case TOKEN_NIL:
    case TOKEN_FALSE:
        lex_next(luau);
        return VALUE_OTHER;
    case TOKEN_BACKTICK:
        read_backtick(luau);
        return VALUE_TRUE;
    case TOKEN_DOTS:
        read_dots(luau);
        return VALUE_OTHER;
    case TOKEN_IF:
        read_if(luau);
        return VALUE_OTHER;
    case SIGN('{'):
        read_table(luau);
        return VALUE_TRUE;
    case SIGN('@'):
    case TOKEN_FUNCTION:
        read_attributes(luau);
        lex_expect(luau, TOKEN_FUNCTION, "'function'");
        read_function_body(luau);
        return VALUE_TRUE;
    default:
        (void)read_suffixed(luau);
        return VALUE_OTHER;
    }
}

ValueKind read_expression(Luau *luau)
{
    ValueKind kind = VALUE_OTHER;
    if (!lex_enter(luau)) {
        return kind;
    }
    for (uint32_t operands = 0;; operands++) {
        bool is_signed = false;
        while (is_unary(luau->token.kind)) {
            is_signed = true;
            lex_next(luau);
        }
        const ValueKind one = read_simple(luau);
        kind = operands == 0 && !is_signed ? one : VALUE_OTHER;
        if (luau->token.kind == TOKEN_CAST) {
            read_type_cast(luau);
        }
        if (!is_binary(luau->token.kind)) {
            break;
        }
        lex_next(luau);
    }
    lex_leave(luau);
    return kind;
}

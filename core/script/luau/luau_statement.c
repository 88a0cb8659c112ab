// See luau_inside.h. Two statements of Luau become others:
//
//     a.b[f()] += c     do local __luau_b, __luaukey = a.b, (f());
//                          __luau_b[__luaukey] = __luau_b[__luaukey] + (c) end
//     while a do … end  while a do do … end ::__luaucontinue:: end     if there is a continue
//
// In a repeat the inner block begins with the statement that has the first continue: what is
// declared before it stays visible in the condition.
#include "core/script/luau/luau_inside.h"

#include <string.h>

#define TABLE    "__luau_" // then the name that messages show
#define KEY      "__luaukey"
#define LABEL    "end ::__luaucontinue:: "
#define CONTINUE "goto __luaucontinue"

static bool is_block_end(TokenKind kind)
{
    return kind == TOKEN_END_OF_FILE || kind == TOKEN_END || kind == TOKEN_ELSE ||
           kind == TOKEN_ELSEIF || kind == TOKEN_UNTIL;
}

// --- assignments --------------------------------------------------------------------------------

// "+=" → " + (", and so on.
static const char *operator_of(const Luau *luau, const Token *token)
{
    static const char *const operators[][2] = {{"+=", " + ("},   {"-=", " - ("},  {"*=", " * ("},
                                               {"/=", " / ("},   {"%=", " % ("},  {"^=", " ^ ("},
                                               {"..=", " .. ("}, {"//=", " // ("}};
    const char *text = luau->source + token->begin;
    uint32_t i = 0;
    while (i + 1 < sizeof operators / sizeof operators[0] &&
           strncmp(text, operators[i][0], strlen(operators[i][0])) != 0) {
        i += 1;
    }
    return operators[i][1];
}

// What is assigned to is one name, or one with a name or number in it: it is written twice.
static void repeat_target(Luau *luau, const Target *target, uint32_t at)
{
    edit_copy(luau, at, target->base);
    if (target->kind == TARGET_FIELD) {
        edit_text(luau, at, 0, ".");
        edit_copy(luau, at, target->key);
    } else if (target->kind == TARGET_INDEX) {
        edit_text(luau, at, 0, "[");
        edit_copy(luau, at, target->key);
        edit_text(luau, at, 0, "]");
    }
}

// Else its parts are kept in locals. True: a block was opened.
static bool keep_target(Luau *luau, const Target *target)
{
    if (target->kind == TARGET_FIELD && !target->is_base_name) {
        edit_fill_named(luau, target->begin_hole, 0, "do local " TABLE, target->shown, " = ");
        edit_fill_named(luau, target->open_hole, 0, "; " TABLE, target->shown, NULL);
        return true;
    }
    if (target->kind == TARGET_INDEX && !(target->is_base_name && target->is_key_plain)) {
        edit_fill_named(luau, target->begin_hole, 0, "do local " TABLE, target->shown,
                        ", " KEY " = ");
        edit_fill(luau, target->open_hole, 1, ", (");
        edit_fill(luau, target->key_hole, 0, ")");
        edit_fill_named(luau, target->close_hole, 1, "; " TABLE, target->shown, "[" KEY "]");
        return true;
    }
    return false;
}

static void read_compound(Luau *luau, const Target *target)
{
    const Token sign = luau->token;
    if (target->kind == TARGET_NONE || target->kind == TARGET_CALL) {
        lex_fail(luau, sign.line, "%.*s changes a variable or a field, and this is neither",
                 (int)(sign.end - sign.begin), luau->source + sign.begin);
        return;
    }
    const bool is_kept = keep_target(luau, target);
    edit_text(luau, sign.begin, sign.end - sign.begin, "= ");
    const uint32_t at = sign.end;
    if (!is_kept) {
        repeat_target(luau, target, at);
    } else if (target->kind == TARGET_FIELD) {
        edit_text(luau, at, 0, TABLE);
        edit_copy(luau, at, target->shown);
        edit_text(luau, at, 0, ".");
        edit_copy(luau, at, target->key);
    } else {
        edit_text(luau, at, 0, TABLE);
        edit_copy(luau, at, target->shown);
        edit_text(luau, at, 0, "[" KEY "]");
    }
    edit_text(luau, at, 0, operator_of(luau, &sign));
    lex_next(luau);
    (void)read_expression(luau);
    edit_text(luau, luau->previous_end, 0, is_kept ? ") end" : ")");
}

static void read_assignment(Luau *luau)
{
    while (lex_accept(luau, SIGN(','))) {
        const TargetKind kind = read_suffixed(luau);
        if (kind == TARGET_CALL || kind == TARGET_NONE) {
            lex_fail_near(luau, "syntax error");
        }
    }
    if (luau->token.kind == TOKEN_ASSIGN) {
        lex_fail(luau, luau->token.line, "only one thing at a time can be changed with %.*s",
                 (int)(luau->token.end - luau->token.begin), luau->source + luau->token.begin);
    }
    lex_expect(luau, SIGN('='), "'='");
    read_expressions(luau);
}

static void read_call_or_assignment(Luau *luau)
{
    const Target target = read_target(luau);
    if (luau->token.kind == TOKEN_ASSIGN) {
        read_compound(luau, &target);
        return;
    }
    drop_last(luau, &target);
    edit_drop(luau, target.begin_hole);
    if (luau->token.kind == SIGN('=') || luau->token.kind == SIGN(',')) {
        if (target.kind == TARGET_CALL || target.kind == TARGET_NONE) {
            lex_fail_near(luau, "syntax error");
            return;
        }
        read_assignment(luau);
    } else if (target.kind != TARGET_CALL) {
        lex_fail_near(luau, "syntax error");
    }
}

// --- continue -----------------------------------------------------------------------------------

static void read_continue(Luau *luau)
{
    const Token token = luau->token;
    if (luau->loop == NULL) {
        lex_fail(luau, token.line, "continue is inside of a loop only");
        return;
    }
    if (luau->loop->continue_line == 0) {
        luau->loop->continue_line = token.line;
    }
    edit_text(luau, token.begin, token.end - token.begin, CONTINUE);
    lex_next(luau);
}

// The body of while and for, from after its do to its end.
static void read_loop_body(Luau *luau, const char *word, uint32_t line)
{
    Loop loop = {.outer = luau->loop};
    lex_expect(luau, TOKEN_DO, "'do'");
    const uint32_t hole = edit_hole(luau, luau->previous_end);
    luau->loop = &loop;
    read_block(luau);
    luau->loop = loop.outer;
    if (loop.continue_line > 0) {
        edit_fill(luau, hole, 0, " do ");
        edit_text(luau, luau->token.begin, 0, LABEL);
    }
    edit_drop(luau, hole);
    lex_expect_end(luau, TOKEN_END, "'end'", word, line);
}

static void read_statement(Luau *luau);

// The names of a local that stands in a repeat after its first continue.
static void note_late(Luau *luau, Token name)
{
    const Loop *loop = luau->loop;
    if (loop == NULL || !loop->is_repeat || loop->continue_line == 0) {
        return;
    }
    if (luau->late_count == LUAU_LATE_MAX) {
        lex_fail(luau, name.line,
                 "more than %d locals after a continue in a repeat: put some of "
                 "them into one table",
                 LUAU_LATE_MAX);
        return;
    }
    luau->late[luau->late_count++] = name;
}

// True: a block was opened before the first statement with a continue.
static bool read_repeat_block(Luau *luau, Loop *loop)
{
    bool is_open = false;
    while (!is_block_end(luau->token.kind) && luau->status == STATUS_OK) {
        const uint32_t hole = edit_hole(luau, luau->token.begin);
        const bool is_last = luau->token.kind == TOKEN_RETURN;
        loop->is_repeat = luau->token.kind == TOKEN_LOCAL; // deeper locals are not seen by until
        read_statement(luau);
        if (!is_open && loop->continue_line > 0) {
            edit_fill(luau, hole, 0, "do ");
            is_open = true;
        }
        edit_drop(luau, hole);
        if (is_last) {
            break;
        }
    }
    return is_open;
}

static void read_repeat(Luau *luau)
{
    const uint32_t line = luau->token.line;
    Loop loop = {.outer = luau->loop, .late_begin = luau->late_count};
    lex_next(luau);
    luau->loop = &loop;
    const bool is_open = read_repeat_block(luau, &loop);
    luau->loop = loop.outer;
    if (is_open) {
        edit_text(luau, luau->token.begin, 0, LABEL);
    }
    lex_expect_end(luau, TOKEN_UNTIL, "'until'", "'repeat'", line);
    const Loop *until = luau->until;
    loop.late_end = luau->late_count;
    luau->until = &loop;
    (void)read_expression(luau);
    luau->until = until;
    luau->late_count = loop.late_begin;
}

// --- the other statements -----------------------------------------------------------------------

static void read_if(Luau *luau)
{
    const uint32_t line = luau->token.line;
    do {
        lex_next(luau); // if or elseif
        (void)read_expression(luau);
        lex_expect(luau, TOKEN_THEN, "'then'");
        read_block(luau);
    } while (luau->token.kind == TOKEN_ELSEIF);
    if (lex_accept(luau, TOKEN_ELSE)) {
        read_block(luau);
    }
    lex_expect_end(luau, TOKEN_END, "'end'", "'if'", line);
}

static void read_while(Luau *luau)
{
    const uint32_t line = luau->token.line;
    lex_next(luau);
    (void)read_expression(luau);
    read_loop_body(luau, "'while'", line);
}

static void read_for(Luau *luau)
{
    const uint32_t line = luau->token.line;
    uint32_t name_count = 0;
    lex_next(luau);
    do {
        lex_expect(luau, TOKEN_NAME, "a name");
        read_annotation(luau);
        name_count += 1;
    } while (lex_accept(luau, SIGN(',')));
    if (name_count == 1 && lex_accept(luau, SIGN('='))) {
        read_expressions(luau);
    } else {
        lex_expect(luau, TOKEN_IN, "'=' or 'in'");
        edit_text(luau, luau->token.begin, 0, "__luauiterate(");
        read_expressions(luau);
        edit_text(luau, luau->previous_end, 0, ")");
        luau->has_iteration = true;
    }
    read_loop_body(luau, "'for'", line);
}

static void read_function(Luau *luau)
{
    lex_next(luau);
    lex_expect(luau, TOKEN_NAME, "the name of a function");
    while (lex_accept(luau, SIGN('.'))) {
        lex_expect(luau, TOKEN_NAME, "a name");
    }
    if (lex_accept(luau, SIGN(':'))) {
        lex_expect(luau, TOKEN_NAME, "a name");
    }
    read_function_body(luau);
}

static void read_local(Luau *luau)
{
    lex_next(luau);
    if (lex_accept(luau, TOKEN_FUNCTION)) {
        note_late(luau, luau->token);
        lex_expect(luau, TOKEN_NAME, "the name of a function");
        read_function_body(luau);
        return;
    }
    do {
        note_late(luau, luau->token);
        lex_expect(luau, TOKEN_NAME, "a name");
        if (lex_accept(luau, SIGN('<'))) { // Lua's own <const> and <close>
            lex_expect(luau, TOKEN_NAME, "const or close");
            lex_expect(luau, TOKEN_GREATER, "'>'");
        }
        read_annotation(luau);
    } while (lex_accept(luau, SIGN(',')));
    if (lex_accept(luau, SIGN('='))) {
        read_expressions(luau);
    }
}

static void read_return(Luau *luau)
{
    lex_next(luau);
    if (!is_block_end(luau->token.kind) && luau->token.kind != SIGN(';')) {
        read_expressions(luau);
    }
    (void)lex_accept(luau, SIGN(';'));
}

// type, export and continue are words only where nothing else could be meant.
static void read_named(Luau *luau)
{
    TokenKind after;
    if (lex_is(luau, "continue")) {
        const TokenKind next = lex_peek(luau);
        if (is_block_end(next) || next == SIGN(';')) {
            read_continue(luau);
            return;
        }
    } else if (lex_is(luau, "type")) {
        const TokenKind next = lex_peek(luau);
        if (next == TOKEN_NAME || next == TOKEN_FUNCTION) {
            read_type_alias(luau);
            return;
        }
    } else if (lex_is(luau, "export") && lex_peek_name(luau, "type", &after) &&
               (after == TOKEN_NAME || after == TOKEN_FUNCTION)) {
        read_type_alias(luau);
        return;
    }
    read_call_or_assignment(luau);
}

static void read_do(Luau *luau)
{
    const uint32_t line = luau->token.line;
    lex_next(luau);
    read_block(luau);
    lex_expect_end(luau, TOKEN_END, "'end'", "'do'", line);
}

static void read_attributed(Luau *luau)
{
    read_attributes(luau);
    if (luau->token.kind == TOKEN_LOCAL) {
        read_local(luau);
    } else if (luau->token.kind == TOKEN_FUNCTION) {
        read_function(luau);
    } else {
        lex_fail_near(luau, "a function is expected after an attribute");
    }
}

static void read_statement(Luau *luau)
{
    if (!lex_enter(luau)) {
        return;
    }
    switch ((int)luau->token.kind) {
    case SIGN(';'):
    case TOKEN_BREAK:
        lex_next(luau);
        break;
    case TOKEN_IF:
        read_if(luau);
        break;
    case TOKEN_WHILE:
        read_while(luau);
        break;
    case TOKEN_DO:
        read_do(luau);
        break;
    case TOKEN_FOR:
        read_for(luau);
        break;
    case TOKEN_REPEAT:
        read_repeat(luau);
        break;
    case TOKEN_FUNCTION:
        read_function(luau);
        break;
    case TOKEN_LOCAL:
        read_local(luau);
        break;
    case TOKEN_RETURN:
        read_return(luau);
        break;
    case SIGN('@'):
        read_attributed(luau);
        break;
    case TOKEN_CAST:
        lex_fail(luau, luau->token.line, "Luau has no labels: use continue, break or a function");
        break;
    case TOKEN_NAME:
        read_named(luau);
        break;
    default:
        read_call_or_assignment(luau);
    }
    lex_leave(luau);
}

void read_block(Luau *luau)
{
    while (!is_block_end(luau->token.kind) && luau->status == STATUS_OK) {
        const bool is_last = luau->token.kind == TOKEN_RETURN;
        read_statement(luau);
        if (is_last) {
            break;
        }
    }
}

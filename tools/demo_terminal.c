#define _DEFAULT_SOURCE // termios, ioctl, sigaction

#include "tools/demo_terminal.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

// The alternate screen, no cursor; and back, with colours reset. Frames are wrapped in
// "synchronised update", which terminals that do not know it ignore.
#define SCREEN_ENTER "\x1b[?1049h\x1b[?25l\x1b[2J"
#define SCREEN_LEAVE "\x1b[0m\x1b[?2026l\x1b[?25h\x1b[?1049l"
#define FRAME_BEGIN  "\x1b[?2026h\x1b[H"
#define FRAME_END    "\x1b[0m\x1b[K\x1b[?2026l"
// "ESC [38;2;255;255;255m" twice and a three-byte character.
#define CELL_BYTES_MAX 48

// The handlers of signals can reach nothing else.
static struct termios terminal_before;
static volatile sig_atomic_t terminal_is_open;
static volatile sig_atomic_t terminal_has_keys; // standard input is a terminal too
static volatile sig_atomic_t quit_signal;
static bool terminal_has_all_colours;

static const int end_signals[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};
static const int fatal_signals[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};

static bool write_all(const char *data, size_t count)
{
    while (count > 0) {
        const ssize_t written = write(STDOUT_FILENO, data, count);
        if (written < 0 && (errno == EINTR || errno == EAGAIN)) {
            continue;
        }
        if (written <= 0) {
            return false;
        }
        data += written;
        count -= (size_t)written;
    }
    return true;
}

void terminal_close(void)
{
    if (terminal_is_open) {
        terminal_is_open = 0;
        write_all(SCREEN_LEAVE, sizeof SCREEN_LEAVE - 1);
        if (terminal_has_keys) {
            tcsetattr(STDIN_FILENO, TCSANOW, &terminal_before);
        }
    }
}

static void on_end_signal(int number)
{
    quit_signal = number;
}

// write and tcsetattr may be called from a handler.
static void on_fatal_signal(int number)
{
    terminal_close();
    signal(number, SIG_DFL);
    raise(number);
}

static void catch_signals(void)
{
    struct sigaction action = {0};
    sigemptyset(&action.sa_mask);
    action.sa_handler = on_end_signal;
    for (size_t i = 0; i < sizeof end_signals / sizeof end_signals[0]; i++) {
        sigaction(end_signals[i], &action, NULL);
    }
    action.sa_handler = on_fatal_signal;
    for (size_t i = 0; i < sizeof fatal_signals / sizeof fatal_signals[0]; i++) {
        sigaction(fatal_signals[i], &action, NULL);
    }
    signal(SIGPIPE, SIG_IGN); // a terminal that is gone is a failed write
}

bool terminal_open(void)
{
    const char *colours = getenv("COLORTERM");
    terminal_has_all_colours =
        colours != NULL && (strcmp(colours, "truecolor") == 0 || strcmp(colours, "24bit") == 0);
    terminal_has_keys = tcgetattr(STDIN_FILENO, &terminal_before) == 0;
    catch_signals();
    atexit(terminal_close);
    if (terminal_has_keys) {
        struct termios keys = terminal_before;
        keys.c_lflag &= (tcflag_t) ~(ICANON | ECHO);
        keys.c_cc[VMIN] = 0;
        keys.c_cc[VTIME] = 0;
        keys.c_cc[VSUSP] = _POSIX_VDISABLE; // stopped, it would leave the screen behind
        tcsetattr(STDIN_FILENO, TCSANOW, &keys);
    }
    terminal_is_open = 1;
    return write_all(SCREEN_ENTER, sizeof SCREEN_ENTER - 1);
}

void terminal_size(uint32_t *columns, uint32_t *rows)
{
    struct winsize size = {0};
    *columns = 80;
    *rows = 24;
    if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 && size.ws_row > 0) {
        *columns = size.ws_col;
        *rows = size.ws_row;
    }
}

bool terminal_wants_quit(void)
{
    struct pollfd input = {.fd = STDIN_FILENO, .events = POLLIN};
    while (terminal_has_keys && quit_signal == 0 && poll(&input, 1, 0) > 0 &&
           (input.revents & POLLIN) != 0) {
        char key;
        if (read(STDIN_FILENO, &key, 1) != 1) {
            break;
        }
        if (key == 'q' || key == 'Q' || key == '\x1b') {
            quit_signal = SIGINT;
        }
    }
    return quit_signal != 0;
}

int terminal_quit_signal(void)
{
    return quit_signal == SIGINT ? 0 : quit_signal;
}

// 6 x 6 x 6 colours, for terminals that know no more.
static uint32_t cube_colour(const uint8_t *rgb)
{
    return 16u + 36u * ((rgb[0] + 25u) / 51u) + 6u * ((rgb[1] + 25u) / 51u) + (rgb[2] + 25u) / 51u;
}

// `layer` is 38 for the character, 48 for what is behind it.
static size_t put_colour(char *out, size_t room, uint32_t layer, const uint8_t *rgb)
{
    const int length =
        terminal_has_all_colours
            ? snprintf(out, room, "\x1b[%u;2;%u;%u;%um", layer, rgb[0], rgb[1], rgb[2])
            : snprintf(out, room, "\x1b[%u;5;%um", layer, cube_colour(rgb));
    return length > 0 ? (size_t)length : 0;
}

// One row of cells: the upper half of a cell is the character's colour, the lower one its back.
static size_t put_row(char *out, const Image *image, uint32_t row)
{
    const uint8_t *upper = image->rgb + (size_t)row * 2 * image->width * 3;
    const uint8_t *lower = upper + (size_t)image->width * 3;
    size_t at = 0;
    for (uint32_t x = 0; x < image->width; x++) {
        const uint8_t *u = upper + (size_t)x * 3;
        const uint8_t *l = lower + (size_t)x * 3;
        if (x == 0 || memcmp(u, u - 3, 3) != 0) {
            at += put_colour(out + at, CELL_BYTES_MAX / 2, 38, u);
        }
        if (x == 0 || memcmp(l, l - 3, 3) != 0) {
            at += put_colour(out + at, CELL_BYTES_MAX / 2, 48, l);
        }
        memcpy(out + at, "\xe2\x96\x80", 3); // upper half block
        at += 3;
    }
    memcpy(out + at, "\x1b[0m\x1b[K\r\n", 9);
    return at + 9;
}

bool terminal_draw(const Image *image, const char *status_line)
{
    const uint32_t rows = image->height / 2;
    const size_t cell_count = (size_t)image->width * rows;
    char *out = malloc(cell_count * CELL_BYTES_MAX + (size_t)rows * 16 + 1024);
    if (out == NULL) {
        return false;
    }
    size_t at = sizeof FRAME_BEGIN - 1;
    memcpy(out, FRAME_BEGIN, at);
    for (uint32_t row = 0; row < rows; row++) {
        at += put_row(out + at, image, row);
    }
    const size_t text = strlen(status_line) < 512 ? strlen(status_line) : 512;
    memcpy(out + at, status_line, text);
    at += text;
    memcpy(out + at, FRAME_END, sizeof FRAME_END - 1);
    at += sizeof FRAME_END - 1;
    const bool drawn = write_all(out, at);
    free(out);
    return drawn;
}

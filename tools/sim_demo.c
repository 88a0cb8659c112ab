// Shows the simulation: runs the demo world and draws it in the terminal or into PNG files. In the
// terminal it runs in real time, sixty ticks per second; into files it runs as fast as possible.
// The same ticks give the same hashes on every machine.
#define _DEFAULT_SOURCE // clock_gettime, readlink

#include "tools/demo_render.h"
#include "tools/demo_scene.h"
#include "tools/demo_terminal.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define FRAME_SECONDS   (1.0 / 15)
#define COLUMNS_MAX     120
#define ROWS_MAX        36
#define PNG_WIDTH       960
#define PNG_HEIGHT      540
#define PNG_SAMPLES     2
#define SIZE_MAX_PIXELS 4096
#define SECONDS_DEFAULT 20
#define SECONDS_MAX     86400
#define PATH_BYTES_MAX  4096

enum { EXIT_USAGE = 2 };

typedef struct Options {
    uint32_t seconds;
    uint32_t width, height; // 0: as it comes
    uint32_t every;         // seconds between pictures; 0: only the last one
    const char *png;        // NULL: the terminal, or the default file
    bool help;
} Options;

// What the ticks cost, for the status line.
typedef struct TickClock {
    double seconds_total;
    double seconds_last;
    double seconds_max;
    uint64_t count;
} TickClock;

static double now_seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static void tick(Demo *demo, TickClock *ticks)
{
    demo_drive(demo);
    const double start = now_seconds();
    sim_step(demo->sim);
    const double seconds = now_seconds() - start;
    demo_react(demo);
    ticks->seconds_last = seconds;
    ticks->seconds_total += seconds;
    ticks->seconds_max = seconds > ticks->seconds_max ? seconds : ticks->seconds_max;
    ticks->count += 1;
}

static uint32_t entity_count(const Sim *sim)
{
    uint32_t count = 0;
    for (uint32_t type = ENTITY_NONE + 1; type < ENTITY_TYPE_COUNT; type++) {
        count += sim_count(sim, (EntityType)type);
    }
    return count;
}

static double mean_us(const TickClock *ticks)
{
    return ticks->count > 0 ? ticks->seconds_total * 1e6 / (double)ticks->count : 0;
}

static void print_summary(const Demo *demo, const TickClock *ticks)
{
    printf("%llu ticks, %.0f us each (longest %.0f us), %llu events, hash %016llx\n",
           (unsigned long long)sim_tick(demo->sim), mean_us(ticks), ticks->seconds_max * 1e6,
           (unsigned long long)demo->event_count, (unsigned long long)sim_hash(demo->sim));
}

// --- the terminal ------------------------------------------------------------------------------
static uint32_t smaller(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

// Makes room for the picture that the terminal has now. False when there is no memory.
static bool fit_image(const Options *options, Image *image)
{
    uint32_t columns;
    uint32_t rows;
    terminal_size(&columns, &rows);
    columns = smaller(columns, options->width > 0 ? options->width : COLUMNS_MAX);
    rows = smaller(rows > 1 ? rows - 1 : 1, options->height > 0 ? options->height : ROWS_MAX);
    if (image->rgb != NULL && image->width == columns && image->height == rows * 2) {
        return true;
    }
    free(image->rgb);
    image->width = columns;
    image->height = rows * 2;
    image->rgb = calloc((size_t)image->width * image->height, 3);
    return image->rgb != NULL;
}

static bool draw_frame(const Demo *demo, const TickClock *ticks, const Options *options,
                       Image *image)
{
    if (!fit_image(options, image)) {
        return false;
    }
    const float seconds = (float)sim_tick(demo->sim) * sim_tick_seconds(demo->sim);
    const Camera camera = camera_at(seconds);
    render(demo, &camera, 1, image);
    char line[256];
    snprintf(line, sizeof line,
             " tick %llu  %.0f us  entities %u  events %llu  hash %016llx  q quits",
             (unsigned long long)sim_tick(demo->sim), mean_us(ticks), entity_count(demo->sim),
             (unsigned long long)demo->event_count, (unsigned long long)sim_hash(demo->sim));
    line[smaller(image->width, sizeof line - 1)] = '\0'; // one line, never two
    return terminal_draw(image, line);
}

static void sleep_until(double seconds)
{
    const double left = seconds - now_seconds();
    if (left > 0) {
        const time_t whole = (time_t)left;
        const struct timespec pause = {whole, (long)((left - (double)whole) * 1e9)};
        nanosleep(&pause, NULL); // a signal may end it early, which is what it is for
    }
}

static void run_terminal(Demo *demo, TickClock *ticks, const Options *options)
{
    Image image = {0};
    const uint64_t tick_end = (uint64_t)options->seconds * TICK_RATE_DEFAULT;
    double start = now_seconds();
    uint64_t done = 0;
    bool drawn = true;
    while (drawn && !terminal_wants_quit() && (tick_end == 0 || done < tick_end)) {
        const double frame_start = now_seconds();
        const uint64_t due = (uint64_t)((frame_start - start) * TICK_RATE_DEFAULT) + 1;
        const uint64_t until = tick_end > 0 && due > tick_end ? tick_end : due;
        for (uint32_t i = 0; i < TICK_CATCH_UP_MAX && done < until; i++) {
            tick(demo, ticks);
            done += 1;
        }
        if (done < until) { // too slow to catch up: time itself slips
            start = now_seconds() - (double)done / TICK_RATE_DEFAULT;
        }
        drawn = draw_frame(demo, ticks, options, &image);
        sleep_until(frame_start + FRAME_SECONDS);
    }
    free(image.rgb);
}

// --- files -------------------------------------------------------------------------------------
// build/release/sim_demo.png for build/release/sim_demo.
static const char *default_png(char *buffer, size_t bytes)
{
    const ssize_t length = readlink("/proc/self/exe", buffer, bytes - 5);
    if (length <= 0) {
        return "sim_demo.png";
    }
    memcpy(buffer + length, ".png", 5);
    return buffer;
}

// The first %d in the path becomes the number of the picture, with four digits.
static bool picture_path(const char *path, uint32_t number, char *out, size_t bytes)
{
    const char *mark = strstr(path, "%d");
    const int length = mark == NULL ? snprintf(out, bytes, "%s", path)
                                    : snprintf(out, bytes, "%.*s%04u%s", (int)(mark - path), path,
                                               number, mark + 2);
    return length > 0 && (size_t)length < bytes;
}

static bool write_picture(const Demo *demo, const char *path, uint32_t number, Image *image)
{
    char file[PATH_BYTES_MAX];
    const float seconds = (float)sim_tick(demo->sim) * sim_tick_seconds(demo->sim);
    const Camera camera = camera_at(seconds);
    if (!picture_path(path, number, file, sizeof file)) {
        fprintf(stderr, "sim_demo: the path is too long\n");
        return false;
    }
    render(demo, &camera, PNG_SAMPLES, image);
    if (!png_write(file, image)) {
        fprintf(stderr, "sim_demo: %s: %s\n", file, strerror(errno));
        return false;
    }
    printf("wrote %s\n", file);
    return true;
}

static void print_progress(const Demo *demo, const TickClock *ticks)
{
    printf("tick %5llu  %6.1f us/tick  entities %3u  events %5llu  hash %016llx\n",
           (unsigned long long)sim_tick(demo->sim), mean_us(ticks), entity_count(demo->sim),
           (unsigned long long)demo->event_count, (unsigned long long)sim_hash(demo->sim));
    fflush(stdout);
}

static bool run_files(Demo *demo, TickClock *ticks, const Options *options)
{
    char buffer[PATH_BYTES_MAX];
    const char *path = options->png != NULL ? options->png : default_png(buffer, sizeof buffer);
    Image image = {options->width > 0 ? options->width : PNG_WIDTH,
                   options->height > 0 ? options->height : PNG_HEIGHT, NULL};
    image.rgb = calloc((size_t)image.width * image.height, 3);
    if (image.rgb == NULL) {
        fprintf(stderr, "sim_demo: no memory for the picture\n");
        return false;
    }
    uint32_t number = 0;
    bool written = true;
    for (uint32_t second = 1; second <= options->seconds && written; second++) {
        for (uint32_t i = 0; i < TICK_RATE_DEFAULT; i++) {
            tick(demo, ticks);
        }
        print_progress(demo, ticks);
        if (second == options->seconds || (options->every > 0 && second % options->every == 0)) {
            written = write_picture(demo, path, number, &image);
            number += 1;
        }
    }
    free(image.rgb);
    return written;
}

// --- the program -------------------------------------------------------------------------------
static void print_usage(FILE *stream)
{
    fputs(
        "usage: sim_demo [--seconds N] [--png FILE] [--every N] [--width N] [--height N]\n"
        "Runs the simulation and draws it in the terminal; q or Ctrl-C ends it.\n"
        "  --seconds N  how long, in seconds of the world; default 20, 0: until q or Ctrl-C\n"
        "  --png FILE   draw into a PNG file instead, as fast as it goes; also what happens when\n"
        "               standard output is no terminal (FILE is then sim_demo.png beside the\n"
        "               program)\n"
        "  --every N    a picture every N seconds of the world, not only at the end; %d in FILE\n"
        "               becomes its number\n"
        "  --width N, --height N  of the picture in pixels (960 x 540), or in the terminal at\n"
        "               most so many cells (120 x 36)\n",
        stream);
}

static bool parse_number(const char *name, const char *text, uint32_t low, uint32_t high,
                         uint32_t *out)
{
    char *end = NULL;
    errno = 0;
    const long value = text != NULL ? strtol(text, &end, 10) : 0;
    if (text == NULL || end == text || *end != '\0' || errno != 0 || value < (long)low ||
        value > (long)high) {
        fprintf(stderr, "sim_demo: %s takes a number from %u to %u\n", name, low, high);
        return false;
    }
    *out = (uint32_t)value;
    return true;
}

static bool parse_options(int argc, char **argv, Options *options)
{
    bool valid = true;
    for (int i = 1; i < argc && valid; i++) {
        const char *name = argv[i];
        const char *value = i + 1 < argc ? argv[i + 1] : NULL;
        if (strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0) {
            options->help = true;
            continue;
        }
        if (strcmp(name, "--seconds") == 0) {
            valid = parse_number(name, value, 0, SECONDS_MAX, &options->seconds);
        } else if (strcmp(name, "--width") == 0) {
            valid = parse_number(name, value, 1, SIZE_MAX_PIXELS, &options->width);
        } else if (strcmp(name, "--height") == 0) {
            valid = parse_number(name, value, 1, SIZE_MAX_PIXELS, &options->height);
        } else if (strcmp(name, "--every") == 0) {
            valid = parse_number(name, value, 1, SECONDS_MAX, &options->every);
        } else if (strcmp(name, "--png") == 0 && value != NULL && value[0] != '\0') {
            options->png = value;
        } else {
            fprintf(stderr, "sim_demo: %s: %s\n", name,
                    strcmp(name, "--png") == 0 ? "takes a file name" : "no such option");
            valid = false;
        }
        i += 1;
    }
    return valid;
}

static bool run(Demo *demo, const Options *options, bool in_terminal)
{
    TickClock ticks = {0};
    bool ok;
    if (in_terminal) {
        ok = terminal_open();
        if (ok) {
            run_terminal(demo, &ticks, options);
        }
        terminal_close();
    } else {
        ok = run_files(demo, &ticks, options);
    }
    print_summary(demo, &ticks);
    return ok;
}

int main(int argc, char **argv)
{
    Options options = {.seconds = SECONDS_DEFAULT};
    if (!parse_options(argc, argv, &options)) {
        fputs("Try sim_demo --help.\n", stderr);
        return EXIT_USAGE;
    }
    if (options.help) {
        print_usage(stdout);
        return EXIT_SUCCESS;
    }
    const bool in_terminal = options.png == NULL && isatty(STDOUT_FILENO) != 0;
    if (!in_terminal && options.seconds == 0) {
        fputs("sim_demo: --seconds 0 has no end, so it needs a terminal\n", stderr);
        return EXIT_USAGE;
    }
    static Demo demo;
    const char *what = "";
    const Status status = demo_create(&demo, &what);
    if (status != STATUS_OK) {
        fprintf(stderr, "sim_demo: %s: %s\n", what, status_text(status));
        return EXIT_FAILURE;
    }
    const bool ok = run(&demo, &options, in_terminal);
    demo_destroy(&demo);
    const int number = terminal_quit_signal();
    if (number != 0) { // asked to end by a signal: end by it, so that the caller sees it
        signal(number, SIG_DFL);
        raise(number);
    }
    return ok ? EXIT_SUCCESS : EXIT_FAILURE;
}

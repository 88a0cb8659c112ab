// The terminal as a screen: half-block characters give two pixels per cell. Whatever ends the
// program (return, exit, a signal, a failed assertion), the terminal is restored.
#pragma once

#include "tools/demo_png.h"

#include <stdbool.h>

// Standard output must be a terminal.
bool terminal_open(void);
void terminal_close(void); // harmless when it is not open

// Cells; falls back to 80 x 24 when the terminal does not say.
void terminal_size(uint32_t *columns, uint32_t *rows);
// Draws the image from the top left corner and one line of text below it. The image is twice as
// high as it takes rows. False when the terminal is gone.
bool terminal_draw(const Image *image, const char *status_line);
// True once q, Escape or Ctrl-C was pressed, or the program was asked to end.
bool terminal_wants_quit(void);
// The signal that asked to end, other than Ctrl-C; 0 when there was none.
int terminal_quit_signal(void);

// The program of an edit process (`sandlot edit-process`), which a host starts with the channel as
// descriptor 3. It holds one draft as a document (core/edit), reads what its editors send, and says
// in which order their changes happen.
//
// Everything in server/shell/edit runs in the jail, because it reads the bytes of editors and of
// drafts. It gives core/edit what core/ has not: sockets, a clock, and a store and files on the
// other side of the channel (edit_link.h). Nothing outside refers to this room but the table of
// roles in server/cli/main.c.
#pragma once

int edit_main(void); // the exit code

// An edit process that sends arbitrary bytes to its host: the first byte is the type of the
// message. A report that was read must give the same one when it is written and read again.
#include "core/base/check.h"
#include "server/channel/edit_link.h"

#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count);

static EditReport report, again;

static void write_all(const EditReport *from, EditBuffer *out)
{
    edit_report_write(from, out);
    ByteReader files = from->files;
    for (uint32_t i = 0; from->type == EDIT_LINK_WRITE && i < from->file_count; i++) {
        EditReportFile file;
        edit_report_file(&files, &file);
        edit_report_file_write(&file, out);
    }
    ASSERT(out->status == STATUS_OK);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count)
{
    EditBeginning beginning;
    EditAdmit admit;
    if (count == 0) {
        return 0;
    }
    const EditLinkType type = (EditLinkType)(bytes[0] % EDIT_LINK_TYPE_COUNT);
    // What the process reads comes from a host that it trusts, and is still never read past its
    // end.
    status_ignore(edit_beginning_read(bytes + 1, count - 1, &beginning));
    status_ignore(edit_admit_read(bytes + 1, count - 1, &admit));
    if (edit_report_read(type, bytes + 1, count - 1, &report) != STATUS_OK) {
        return 0;
    }
    ASSERT(strlen(report.text) < sizeof report.text && strlen(report.name) < sizeof report.name);
    Heap heap = heap_make(64u << 20);
    EditBuffer first = edit_buffer(&heap, 16u << 20), second = edit_buffer(&heap, 16u << 20);
    write_all(&report, &first);
    const Status status = edit_report_read(type, first.data, first.bytes, &again);
    ASSERT(status == STATUS_OK);
    write_all(&again, &second);
    ASSERT(first.bytes == second.bytes &&
           (first.bytes == 0 || memcmp(first.data, second.data, first.bytes) == 0));
    edit_buffer_free(&first);
    edit_buffer_free(&second);
    return 0;
}

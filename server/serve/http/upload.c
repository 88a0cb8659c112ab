// See upload.h.
#define _GNU_SOURCE
#include "server/serve/http/upload.h"

#include "server/serve/serve_inside.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

struct ServeUpload {
    Serve *serve;
    int file;
    void *mapped; // NULL: not yet, or there is nothing
    size_t bytes;
};

int serve_nameless_file(const void *serve)
{
    return open(((const Serve *)serve)->data, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
}

void serve_upload_end(ServeUpload *upload)
{
    if (upload == NULL) {
        return;
    }
    if (upload->mapped != NULL) {
        munmap(upload->mapped, upload->bytes);
    }
    close(upload->file);
    atomic_fetch_sub(&upload->serve->upload_count, 1);
    free(upload);
}

static void cancel(void *taker)
{
    serve_upload_end(taker);
}

static void *begin_upload(void *user, HttpRequest *request, uint64_t declared,
                          HttpResponse *response)
{
    Serve *serve = user;
    (void)declared;
    if (atomic_fetch_add(&serve->upload_count, 1) >= SERVE_UPLOADS_MAX) {
        atomic_fetch_sub(&serve->upload_count, 1);
        http_fail(request, response, 503, "busy", "too many files are uploaded now; try again");
        return NULL;
    }
    ServeUpload *upload = calloc(1, sizeof *upload);
    const int file = upload != NULL ? serve_nameless_file(serve) : -1;
    if (file < 0) {
        free(upload);
        atomic_fetch_sub(&serve->upload_count, 1);
        http_fail(request, response, 503, "unavailable", "it cannot be stored now; try again");
        return NULL;
    }
    *upload = (ServeUpload){.serve = serve, .file = file};
    return upload;
}

static HttpBodyStep take_piece(void *taker, HttpRequest *request, const uint8_t *bytes,
                               size_t count, HttpResponse *response)
{
    const ServeUpload *upload = taker;
    while (count > 0) {
        const ssize_t done = write(upload->file, bytes, count);
        if (done < 0 && errno != EINTR) {
            http_fail(request, response, 507, "disk_full", "the disk takes no more; try later");
            return HTTP_BODY_STOP;
        }
        bytes += done > 0 ? done : 0;
        count -= done > 0 ? (size_t)done : 0;
    }
    return HTTP_BODY_MORE;
}

const HttpBody serve_upload_body = {begin_upload, take_piece, cancel};

ServeUpload *serve_upload_take(HttpRequest *request, const void **data, size_t *bytes)
{
    ServeUpload *upload = http_body_take(request);
    *data = NULL;
    *bytes = 0;
    if (upload == NULL) {
        return NULL;
    }
    const off_t end = lseek(upload->file, 0, SEEK_END);
    void *mapped =
        end > 0 ? mmap(NULL, (size_t)end, PROT_READ, MAP_PRIVATE, upload->file, 0) : MAP_FAILED;
    if (mapped != MAP_FAILED) {
        upload->mapped = mapped;
        upload->bytes = (size_t)end;
        *data = mapped;
        *bytes = (size_t)end;
    }
    return upload;
}

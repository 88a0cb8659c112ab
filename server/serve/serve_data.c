// The data folder: who uses it, the host's own name, the key and the store.
#define _GNU_SOURCE
#include "core/base/sha256.h"
#include "core/base/utf8.h"
#include "server/build/place/place_home.h"
#include "server/serve/http/http_routes.h"
#include "server/serve/publish/http_place.h"
#include "server/serve/remote/serve_peer.h"
#include "server/serve/serve_inside.h"
#include "server/store/place/blob_postgres.h"
#include "server/store/place/blob_s3.h"
#include "server/sys/clock.h"
#include "server/sys/entropy.h"
#include "server/sys/file.h"

#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

int serve_data_failed(const Serve *serve, const char *what, const char *why)
{
    serve_log_failure(serve->command, "%s%s%s: %s", serve->data, what[0] != '\0' ? "/" : "", what,
                      why);
    return 1;
}

// What the system refused, it refused because of the disk, if there is something wrong with that.
static const char *why_refused(const Serve *serve, Status status, const char *otherwise)
{
    const char *disk = status == STATUS_BLOCKED ? file_disk_problem(serve->data) : NULL;
    return disk != NULL ? disk : otherwise;
}

// The host's own name, for its leases: the same as long as the data folder is.
static Status open_host_id(Serve *serve)
{
    char path[SERVE_PATH_BYTES];
    uint8_t *bytes = NULL;
    size_t count = 0;
    if (!serve_join_path(path, serve->data, "host.id")) {
        return STATUS_RANGE;
    }
    Status status = file_read(path, 64, &bytes, &count);
    if (status == STATUS_OK) {
        const bool good = count == 32 && strspn((char *)bytes, "0123456789abcdef") == 32;
        status = good ? STATUS_OK : STATUS_MALFORMED;
        if (good) {
            memcpy(serve->host_id, bytes, 33);
        }
        free(bytes);
        return status;
    }
    if (status != STATUS_NOT_FOUND) {
        return status;
    }
    uint8_t random[32], hex[65];
    entropy_fill(random, sizeof random);
    sha256_hex(random, (char *)hex);
    memcpy(serve->host_id, hex, 32);
    serve->host_id[32] = '\0';
    return file_write_private(path, serve->host_id, 32);
}

// What is damaged is left as it is: whoever mends it needs every byte.
void serve_say_damaged(const Serve *serve, const char *what)
{
    serve_log_failure(serve->command, "%s/sandlot.db: %s", serve->data, what);
    if (serve_log_format() != LOG_FORMAT_TEXT) {
        return;
    }
    fprintf(stderr,
            "  Nothing was changed. Put back a copy of sandlot.db (and of sandlot.db-wal, if there "
            "is one with it),\n  or move both away to begin with an empty world.\n");
}

static bool is_link(const char *path)
{
    struct stat about;
    return lstat(path, &about) == 0 && S_ISLNK(about.st_mode);
}

static uint64_t store_clock(void *user)
{
    (void)user;
    return clock_unix_ms();
}

static Status open_store(Serve *serve)
{
    char path[SERVE_PATH_BYTES], reason[256] = "";
    if (!serve_join_path(path, serve->data, "sandlot.db")) {
        return STATUS_RANGE;
    }
    if (serve->config.store == NULL && is_link(path)) { // SQLite would write behind it
        serve_log_failure(serve->command, "%s: is a link; remove it", path);
        return STATUS_DENIED;
    }
    StoreConfig config = store_config_default();
    config.path = serve->config.store != NULL ? serve->config.store : path;
    config.shared = serve->config.store != NULL;
    config.unix_ms = store_clock;
    if (serve->config.store != NULL && !serve_clock_follow(serve)) {
        return STATUS_DENIED;
    }
    const Status status = store_open(&config, &serve->store, reason, sizeof reason);
    utf8_clean(reason); // SQLite names what it found, which in a damaged file can be any bytes
    if (status != STATUS_OK && serve->config.store != NULL) {
        const char *why =
            status == STATUS_BLOCKED ? "it takes no writes now; try again" : status_text(status);
        serve_log_failure(serve->command, "the database server: %s",
                          reason[0] != '\0' ? reason : why);
    } else if (status == STATUS_MALFORMED) {
        serve_say_damaged(serve, reason);
    } else if (status != STATUS_OK) {
        const char *why = reason[0] != '\0' ? reason : status_text(status);
        serve_data_failed(serve, "sandlot.db", why_refused(serve, status, why));
    } else if (reason[0] != '\0') {
        serve_log(LOG_WARN, "store", "%s", reason);
    }
    return status;
}

// Where it is; the folder is made, and nobody is disturbed by that. Inside the place it may be a
// stranger's, and a link there would lead the key and the database anywhere; --data is the
// operator's own word. Gives why not; NULL: it is there.
const char *serve_data_find(Serve *serve)
{
    static const char too_long[] = "the path is too long";
    if (serve->config.data != NULL) {
        if (snprintf(serve->data, sizeof serve->data, "%s", serve->config.data) >=
            (int)sizeof serve->data) {
            return too_long;
        }
        return file_make_folders(serve->data) == STATUS_OK ? NULL
                                                           : "the data folder cannot be made";
    }
    const char *why = "", *place = serve->config.places[0];
    if (place_home_data(place, serve->data, &why) == STATUS_OK) {
        return NULL;
    }
    (void)serve_join_path(serve->data, place, place_home_at_fault(place, ".sandlot/data"));
    return why;
}

// With many worlds it is a folder, and only on request: each may fill its own file.
static bool find_journal(Serve *serve)
{
    const char *journal = serve->config.journal;
    if ((journal != NULL && strcmp(journal, "off") == 0) ||
        (journal == NULL && serve->config.many)) {
        return true;
    }
    if (journal == NULL) {
        return serve_join_path(serve->journal, serve->data, "journal");
    }
    const int bytes = snprintf(serve->journal, sizeof serve->journal, "%s", journal);
    return bytes < (int)sizeof serve->journal &&
           (!serve->config.many || file_make_folders(journal) == STATUS_OK);
}

uint64_t serve_account_bytes_max(const Serve *serve)
{
    const uint64_t mb =
        serve->config.account_mb != 0 ? serve->config.account_mb : ACCOUNT_MB_DEFAULT;
    return mb << 20;
}

// From any thread.
static void blobs_troubled(void *user, BlobTrouble trouble, const uint8_t *hash)
{
    char name[SERVE_BLOBS_NAME_BYTES], hex[2 * SHA256_BYTES + 1] = "";
    serve_blobs_name(user, name);
    if (hash != NULL) {
        sha256_hex(hash, hex);
    }
    if (trouble == BLOB_BACK) {
        serve_log(LOG_INFO, "blobs", "%s answers again", name);
    } else if (trouble == BLOB_AWAY) {
        serve_log(LOG_ERROR, "blobs",
                  "%s does not answer, or refuses: what is not in blob-cache cannot be had, and "
                  "nothing can be uploaded",
                  name);
    } else {
        serve_log(LOG_ERROR, "blobs", "%s gave other bytes than were put for %s; it is asked again",
                  name, hex);
    }
}

int serve_data_open(Serve *serve)
{
    char path[SERVE_PATH_BYTES];
    if (!serve_join_path(path, serve->data, "host.lock")) {
        return serve_data_failed(serve, "", "the path is too long");
    }
    Status status = file_lock(path, &serve->lock_file);
    if (status != STATUS_OK) {
        const char *why =
            status == STATUS_EXISTS ? "another sandlot uses this data folder" : status_text(status);
        return serve_data_failed(serve, "host.lock", why_refused(serve, status, why));
    }
    status = open_host_id(serve);
    if (status != STATUS_OK) {
        return serve_data_failed(serve, "host.id", why_refused(serve, status, status_text(status)));
    }
    status = serve_join_path(path, serve->data, "ticket.key") ? signing_key_open(path, &serve->key)
                                                              : STATUS_RANGE;
    if (status != STATUS_OK) {
        return serve_data_failed(serve, "ticket.key",
                                 why_refused(serve, status, signing_key_advice(status)));
    }
    if (open_store(serve) != STATUS_OK || serve_secret_open(serve) != 0) {
        return 1;
    }
    char reason[BLOB_S3_REASON_BYTES] = "";
    if (serve->config.blobs != NULL) {
        const BlobS3Config s3 = {serve->config.blobs, serve->config.s3_key_id,
                                 serve->config.s3_secret_key};
        BlobRemote remote;
        status = blob_s3_open(&s3, &remote, reason);
        if (status != STATUS_OK) {
            serve_log_failure(serve->command, "%s: %s", serve->config.blobs, reason);
            return 1;
        }
        status = blob_open_remote(serve->data, &remote, (uint64_t)serve->config.blob_cache_mb << 20,
                                  &serve->blobs);
    } else if (serve->config.store != NULL && serve->config.control) {
        BlobRemote remote; // where every host of the installation finds them
        status = blob_postgres_open(serve->config.store, &remote, reason, sizeof reason);
        if (status != STATUS_OK) {
            serve_log_failure(serve->command, "the database server: %s", reason);
            return 1;
        }
        status = blob_open_remote(serve->data, &remote, (uint64_t)serve->config.blob_cache_mb << 20,
                                  &serve->blobs);
    } else {
        status = blob_open(serve->data, &serve->blobs);
    }
    if (status != STATUS_OK) {
        return serve_data_failed(serve, "blobs", why_refused(serve, status, status_text(status)));
    }
    blob_watch(serve->blobs, blobs_troubled, serve);
    status = serve->config.control ? drafts_open(serve->data, serve->store, serve->blobs,
                                                 serve_account_bytes_max(serve), &serve->drafts)
                                   : STATUS_OK;
    if (status != STATUS_OK) {
        return serve_data_failed(serve, "drafts", why_refused(serve, status, status_text(status)));
    }
    return find_journal(serve) ? 0 : serve_data_failed(serve, "journal", "cannot be made");
}

void serve_data_close(Serve *serve)
{
    if (serve->store != NULL) {
        store_close(serve->store);
    }
    drafts_close(serve->drafts);
    blob_close(serve->blobs);
    if (serve->lock_file >= 0) {
        close(serve->lock_file);
    }
    signing_key_wipe(&serve->key);
}

// See blob_s3.h.
#define _GNU_SOURCE
#include "server/store/place/blob_s3.h"

#include "server/store/place/blob.h"
#include "server/sys/clock.h"
#include "server/sys/fetch.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define PART_BYTES   256
#define URL_BYTES    2048
#define LIST_BYTES   (4u << 20)  // of a page of 1,000 objects
#define REPLY_BYTES  (64u << 10) // of an error
#define TRIES        3
#define ASK_MS       30000
#define NAME_LETTERS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-_"
#define EMPTY_HASH   "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"

typedef struct Address {
    char bucket[PART_BYTES], prefix[PART_BYTES], endpoint[PART_BYTES], region[64];
} Address;

typedef struct S3 {
    Address address;
    char base[URL_BYTES / 2]; // of the bucket
    char sigv4[128], keys[512];
} S3;

// --- the address --------------------------------------------------------------------------------

static bool copy_part(const char *from, size_t bytes, const char *letters, char *out,
                      size_t capacity)
{
    if (bytes >= capacity) {
        return false;
    }
    snprintf(out, capacity, "%.*s", (int)bytes, from);
    return strspn(out, letters) == bytes;
}

// "endpoint=…&region=…"
static bool read_options(const char *text, Address *out)
{
    while (*text != '\0') {
        const size_t bytes = strcspn(text, "&");
        bool is_good = false;
        if (strncmp(text, "endpoint=", 9) == 0) {
            is_good = copy_part(text + 9, bytes - 9, NAME_LETTERS ":/[]", out->endpoint,
                                sizeof out->endpoint) &&
                      (strncmp(out->endpoint, "https://", 8) == 0 ||
                       strncmp(out->endpoint, "http://", 7) == 0);
        } else if (strncmp(text, "region=", 7) == 0) {
            is_good = copy_part(text + 7, bytes - 7, NAME_LETTERS, out->region, sizeof out->region);
        }
        if (!is_good) {
            return false;
        }
        text += bytes + (text[bytes] == '&' ? 1 : 0);
    }
    return true;
}

static bool read_address(const char *text, Address *out, char reason[BLOB_S3_REASON_BYTES])
{
    *out = (Address){.region = "us-east-1"};
    snprintf(reason, BLOB_S3_REASON_BYTES,
             "it must be s3://BUCKET/PREFIX, with ?endpoint=URL and &region=NAME where they are "
             "needed");
    if (strncmp(text, "s3://", 5) != 0) {
        return false;
    }
    text += 5;
    const size_t bucket = strcspn(text, "/?");
    const char *prefix = text[bucket] == '/' ? text + bucket + 1 : text + bucket;
    size_t bytes = strcspn(prefix, "?");
    const char *options = prefix[bytes] == '?' ? prefix + bytes + 1 : "";
    bytes -= bytes > 0 && prefix[bytes - 1] == '/' ? 1 : 0;
    if (bucket < 3 || !isalnum((unsigned char)text[0]) ||
        !copy_part(text, bucket, NAME_LETTERS, out->bucket, 64)) {
        snprintf(reason, BLOB_S3_REASON_BYTES,
                 "the bucket in s3://BUCKET/PREFIX is not \"%.*s\": its name has 3 to 63 letters, "
                 "digits, '.', '-' or '_', and begins with a letter or a digit",
                 bucket < 64 ? (int)bucket : 64, text);
        return false;
    }
    return copy_part(prefix, bytes, NAME_LETTERS "/", out->prefix, sizeof out->prefix) &&
           strstr(out->prefix, "//") == NULL && strstr(out->prefix, "..") == NULL &&
           out->prefix[0] != '/' && read_options(options, out);
}

bool blob_s3_is_valid(const char *address, char reason[BLOB_S3_REASON_BYTES])
{
    Address read;
    return read_address(address, &read, reason);
}

// --- requests -----------------------------------------------------------------------------------

static void object_url(const S3 *s3, const uint8_t hash[SHA256_BYTES], char out[URL_BYTES])
{
    char hex[2 * SHA256_BYTES + 1];
    sha256_hex(hash, hex);
    snprintf(out, URL_BYTES, "%s/%s%s%.2s/%s", s3->base, s3->address.prefix,
             s3->address.prefix[0] != '\0' ? "/" : "", hex, hex + 2);
}

static Status status_of(Status asked, long status)
{
    return asked != STATUS_OK               ? asked
           : status / 100 == 2              ? STATUS_OK
           : status == 404                  ? STATUS_NOT_FOUND
           : status == 401 || status == 403 ? STATUS_DENIED
                                            : STATUS_BLOCKED;
}

// Tried again if there is no answer, or one that says that it may go better later. The file that an
// answer is written into is emptied before each try.
static Status ask(const S3 *s3, FetchAsk *what, FetchReply *reply)
{
    static const uint32_t waits_ms[TRIES] = {0, 200, 1000};
    Status status = STATUS_BLOCKED;
    what->sigv4 = s3->sigv4;
    what->user_password = s3->keys;
    what->any_http = true;
    for (uint32_t i = 0; i < TRIES && status == STATUS_BLOCKED; i++) {
        (void)usleep(waits_ms[i] * 1000);
        if (what->to_file &&
            (ftruncate(what->reply_file, 0) != 0 || lseek(what->reply_file, 0, SEEK_SET) != 0)) {
            return STATUS_BLOCKED;
        }
        if (i > 0) {
            fetch_reply_free(reply);
        }
        const Status asked = fetch(what, reply);
        status = status_of(asked, reply->status);
    }
    return status;
}

static Status s3_put(void *user, const uint8_t hash[SHA256_BYTES], int file, uint64_t bytes)
{
    char url[URL_BYTES], hex[2 * SHA256_BYTES + 1], line[128];
    FetchReply reply = {0};
    object_url(user, hash, url);
    sha256_hex(hash, hex);
    snprintf(line, sizeof line, "x-amz-content-sha256: %s", hex); // the server compares it
    FetchAsk what = {.method = "PUT",
                     .url = url,
                     .headers = {line, "Content-Type: application/octet-stream"},
                     .body_file = file,
                     .body_bytes = bytes,
                     .reply_bytes_max = REPLY_BYTES};
    const Status status = ask(user, &what, &reply);
    fetch_reply_free(&reply);
    return status == STATUS_OK ? STATUS_OK : STATUS_BLOCKED;
}

static Status s3_fetch(void *user, const uint8_t hash[SHA256_BYTES], uint64_t bytes_max, int file)
{
    char url[URL_BYTES];
    FetchReply reply = {0};
    object_url(user, hash, url);
    FetchAsk what = {.method = "GET",
                     .url = url,
                     .headers = {"x-amz-content-sha256: " EMPTY_HASH},
                     .to_file = true,
                     .reply_file = file,
                     .reply_bytes_max = bytes_max > REPLY_BYTES ? bytes_max : REPLY_BYTES};
    const Status status = ask(user, &what, &reply);
    fetch_reply_free(&reply);
    return status == STATUS_DENIED ? STATUS_BLOCKED : status;
}

static Status s3_find(void *user, const uint8_t hash[SHA256_BYTES], uint64_t *bytes,
                      uint64_t *age_ms)
{
    char url[URL_BYTES];
    FetchReply reply = {0};
    object_url(user, hash, url);
    FetchAsk what = {.method = "HEAD",
                     .url = url,
                     .headers = {"x-amz-content-sha256: " EMPTY_HASH},
                     .reply_bytes_max = REPLY_BYTES,
                     .timeout_ms = ASK_MS};
    const Status status = ask(user, &what, &reply);
    const uint64_t now_s = clock_unix_ms() / 1000;
    *bytes = reply.length;
    *age_ms = reply.modified_unix_s > 0 && reply.modified_unix_s < now_s
                  ? (now_s - reply.modified_unix_s) * 1000
                  : 0;
    fetch_reply_free(&reply);
    return status;
}

static Status s3_remove(void *user, const uint8_t hash[SHA256_BYTES])
{
    char url[URL_BYTES];
    FetchReply reply = {0};
    object_url(user, hash, url);
    FetchAsk what = {.method = "DELETE",
                     .url = url,
                     .headers = {"x-amz-content-sha256: " EMPTY_HASH},
                     .reply_bytes_max = REPLY_BYTES,
                     .timeout_ms = ASK_MS};
    const Status status = ask(user, &what, &reply);
    fetch_reply_free(&reply);
    return status == STATUS_NOT_FOUND ? STATUS_OK
           : status == STATUS_OK      ? STATUS_OK
                                      : STATUS_BLOCKED;
}

// --- lists --------------------------------------------------------------------------------------

// The text between <name> and </name> from `at` on, before `end`. NULL: there is none.
static const char *find_element(const char *at, const char *end, const char *name, size_t *bytes)
{
    char open[64], close[64];
    snprintf(open, sizeof open, "<%s>", name);
    snprintf(close, sizeof close, "</%s>", name);
    const char *begin = memmem(at, (size_t)(end - at), open, strlen(open));
    if (begin == NULL) {
        return NULL;
    }
    begin += strlen(open);
    const char *stop = memmem(begin, (size_t)(end - begin), close, strlen(close));
    *bytes = stop != NULL ? (size_t)(stop - begin) : 0;
    return stop != NULL ? begin : NULL;
}

static bool element_text(const char *at, const char *end, const char *name, char *out,
                         size_t capacity)
{
    size_t bytes = 0;
    const char *text = find_element(at, end, name, &bytes);
    if (text == NULL || bytes >= capacity || memchr(text, '\0', bytes) != NULL) {
        return false;
    }
    memcpy(out, text, bytes);
    out[bytes] = '\0';
    return true;
}

// "2026-11-18T06:00:00.000Z"; 0: it is no time.
static uint64_t read_time(const char *text)
{
    struct tm when = {0};
    const char *end = strptime(text, "%Y-%m-%dT%H:%M:%S", &when);
    const time_t seconds = end != NULL && (*end == '.' || *end == 'Z') ? timegm(&when) : 0;
    return seconds > 0 ? (uint64_t)seconds : 0;
}

Status blob_s3_read_list(const char *text, size_t bytes, BlobS3Object sink, void *user,
                         bool *is_more, char last[BLOB_S3_KEY_BYTES])
{
    char more[8], size[24], when[40];
    const char *end = text + bytes;
    last[0] = '\0';
    *is_more = false;
    if (bytes == 0 || memmem(text, bytes, "<ListBucketResult", 17) == NULL ||
        memmem(text, bytes, "</ListBucketResult>", 19) == NULL) {
        return STATUS_MALFORMED;
    }
    *is_more =
        element_text(text, end, "IsTruncated", more, sizeof more) && strcmp(more, "true") == 0;
    Status status = STATUS_OK;
    size_t item_bytes = 0;
    for (const char *item = find_element(text, end, "Contents", &item_bytes);
         item != NULL && status == STATUS_OK;
         item = find_element(item, end, "Contents", &item_bytes)) {
        const char *item_end = item + item_bytes;
        if (!element_text(item, item_end, "Key", last, BLOB_S3_KEY_BYTES) || last[0] == '\0' ||
            !element_text(item, item_end, "Size", size, sizeof size) ||
            !element_text(item, item_end, "LastModified", when, sizeof when)) {
            return STATUS_MALFORMED;
        }
        status = sink(user, last, strtoull(size, NULL, 10), read_time(when));
        item = item_end;
    }
    return status;
}

typedef struct Listing {
    const S3 *s3;
    BlobListed sink;
    void *user;
    uint64_t now_s;
} Listing;

// What is none of our names is not ours.
static Status list_one(void *user, const char *key, uint64_t bytes, uint64_t unix_s)
{
    const Listing *listing = user;
    const size_t prefix = strlen(listing->s3->address.prefix);
    const char *name = key + prefix + (prefix > 0 ? 1 : 0);
    char hex[2 * SHA256_BYTES + 1];
    uint8_t hash[SHA256_BYTES];
    if (strncmp(key, listing->s3->address.prefix, prefix) != 0 || strlen(key) < prefix + 4 ||
        (prefix > 0 && key[prefix] != '/') || strlen(name) != 2 * SHA256_BYTES + 1 ||
        name[2] != '/') {
        return STATUS_OK;
    }
    snprintf(hex, sizeof hex, "%.2s%.62s", name, name + 3);
    if (blob_parse(hex, strlen(hex), hash) != STATUS_OK) {
        return STATUS_OK;
    }
    // A time that cannot be read is now: what is young stays.
    const bool is_old = unix_s > 0 && unix_s < listing->now_s;
    return listing->sink(listing->user, hash, bytes, is_old ? (listing->now_s - unix_s) * 1000 : 0);
}

static void add_encoded(char *out, const char *text)
{
    size_t at = strlen(out);
    for (; *text != '\0' && at + 4 < URL_BYTES; text++) {
        at += (size_t)snprintf(out + at, URL_BYTES - at,
                               strchr(NAME_LETTERS, *text) != NULL ? "%c" : "%%%02X",
                               (unsigned char)*text);
    }
}

static Status s3_list(void *user, BlobListed sink, void *sink_user)
{
    const S3 *s3 = user;
    Listing listing = {s3, sink, sink_user, clock_unix_ms() / 1000};
    char after[BLOB_S3_KEY_BYTES] = "", last[BLOB_S3_KEY_BYTES];
    Status status = STATUS_OK;
    for (bool is_more = true; is_more && status == STATUS_OK;) {
        char url[URL_BYTES];
        FetchReply reply = {0};
        // In the order of the alphabet: the signature covers it so.
        snprintf(url, sizeof url, "%s/?list-type=2&max-keys=1000&prefix=", s3->base);
        add_encoded(url, s3->address.prefix);
        add_encoded(url, s3->address.prefix[0] != '\0' ? "/" : "");
        if (after[0] != '\0') {
            strncat(url, "&start-after=", sizeof url - strlen(url) - 1);
            add_encoded(url, after);
        }
        FetchAsk what = {.method = "GET",
                         .url = url,
                         .headers = {"x-amz-content-sha256: " EMPTY_HASH},
                         .reply_bytes_max = LIST_BYTES,
                         .timeout_ms = ASK_MS};
        status = ask(s3, &what, &reply);
        status = status == STATUS_OK
                     ? blob_s3_read_list(reply.body != NULL ? reply.body : "", reply.bytes,
                                         list_one, &listing, &is_more, last)
                     : status;
        fetch_reply_free(&reply);
        is_more = is_more && strcmp(last, after) > 0; // a server that repeats itself ends it
        memcpy(after, last, sizeof after);
    }
    return status;
}

// --- opening ------------------------------------------------------------------------------------

static void s3_close(void *user)
{
    S3 *s3 = user;
    explicit_bzero(s3, sizeof *s3);
    free(s3);
}

static Status stop_list(void *user, const char *key, uint64_t bytes, uint64_t unix_s)
{
    (void)user;
    (void)key;
    (void)bytes;
    (void)unix_s;
    return STATUS_OK;
}

static Status check_bucket(const S3 *s3, char reason[BLOB_S3_REASON_BYTES])
{
    char url[URL_BYTES], last[BLOB_S3_KEY_BYTES];
    FetchReply reply = {0};
    bool is_more;
    snprintf(url, sizeof url, "%s/?list-type=2&max-keys=1", s3->base);
    FetchAsk what = {.method = "GET",
                     .url = url,
                     .headers = {"x-amz-content-sha256: " EMPTY_HASH},
                     .reply_bytes_max = LIST_BYTES,
                     .timeout_ms = ASK_MS};
    Status status = ask(s3, &what, &reply);
    if (status == STATUS_OK && blob_s3_read_list(reply.body != NULL ? reply.body : "", reply.bytes,
                                                 stop_list, NULL, &is_more, last) != STATUS_OK) {
        status = STATUS_MALFORMED;
    }
    snprintf(reason, BLOB_S3_REASON_BYTES, "%s%.128s",
             status == STATUS_DENIED ? "the bucket refuses the key (blobs_key_id, blobs_secret_key)"
             : status == STATUS_NOT_FOUND ? "there is no such bucket"
             : status == STATUS_MALFORMED ? "the answer is none of an S3 server"
                                          : "the bucket cannot be reached: ",
             status == STATUS_BLOCKED ? reply.problem : "");
    fetch_reply_free(&reply);
    return status;
}

Status blob_s3_open(const BlobS3Config *config, BlobRemote *out, char reason[BLOB_S3_REASON_BYTES])
{
    S3 *s3 = calloc(1, sizeof *s3);
    if (s3 == NULL) {
        return STATUS_LIMIT;
    }
    Status status =
        read_address(config->address, &s3->address, reason) ? STATUS_OK : STATUS_MALFORMED;
    size_t end = strlen(s3->address.endpoint);
    end -= end > 0 && s3->address.endpoint[end - 1] == '/' ? 1 : 0;
    if (end > 0) {
        snprintf(s3->base, sizeof s3->base, "%.*s/%s", (int)end, s3->address.endpoint,
                 s3->address.bucket);
    } else {
        snprintf(s3->base, sizeof s3->base, "https://%s.s3.%s.amazonaws.com", s3->address.bucket,
                 s3->address.region);
    }
    snprintf(s3->sigv4, sizeof s3->sigv4, "aws:amz:%s:s3", s3->address.region);
    snprintf(s3->keys, sizeof s3->keys, "%.120s:%.300s", config->key_id, config->secret_key);
    status = status == STATUS_OK ? check_bucket(s3, reason) : status;
    if (status != STATUS_OK) {
        s3_close(s3);
        return status;
    }
    *out = (BlobRemote){s3, s3_put, s3_fetch, s3_find, s3_remove, s3_list, s3_close};
    return STATUS_OK;
}

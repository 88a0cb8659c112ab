// A job as HTTP answers with it (docs/HTTP.md).
#define _GNU_SOURCE
#include "core/base/check.h"
#include "core/base/json_member.h"
#include "core/base/json_write.h"
#include "core/base/utf8.h"
#include "server/build/job/job.h"
#include "server/build/place/scene_ref.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define JSON_CAPACITY (64u << 10)

static const char *const state_names[] = {"waiting", "running", "done", "failed", "cancelled"};

const char *job_reload_name(JobReloadState state)
{
    static const char *const names[JOB_RELOAD_STATE_COUNT] = {
        "none", "waiting", "reloaded", "restarted", "refused", "rolled_back"};
    ASSERT(state < JOB_RELOAD_STATE_COUNT);
    return names[state];
}

static uint32_t percent(const JobStatus *status)
{
    if (status->state == JOB_DONE) {
        return 100;
    }
    const uint32_t share = status->hides_cache ? 0
                           : status->total > 0 && status->done <= status->total
                               ? 100 * status->done / status->total
                               : 0;
    return (100 * status->stage + share) / BUILD_STAGE_COUNT;
}

static void member_text(JsonWriter *json, const char *name, const char *text)
{
    json_write_name(json, name);
    json_write_text_bytes(json, text, utf8_is_valid(text, strlen(text)) ? strlen(text) : 0);
}

// The Lua that each of them became is beside the others that builds write, by the same name.
static void write_made(JsonWriter *json, const JobStatus *status)
{
    json_write_name(json, "made");
    json_write_array_begin(json);
    for (uint32_t i = 0; i < status->made_count; i++) {
        char source[SCRIPT_PATH_BYTES + 8],
            lua[sizeof SCENE_REF_MADE_FOLDER + SCRIPT_PATH_BYTES + 8];
        snprintf(source, sizeof source, "%s%s", status->made[i].path,
                 soul_language_ending(status->made[i].language));
        snprintf(lua, sizeof lua, SCENE_REF_MADE_FOLDER "%s.lua", status->made[i].path);
        json_write_object_begin(json);
        member_text(json, "path", source);
        member_text(json, "lua", lua);
        json_write_object_end(json);
    }
    json_write_array_end(json);
}

static void write_worlds(JsonWriter *json, const JobReload *reload)
{
    json_write_name(json, "worlds");
    json_write_array_begin(json);
    for (uint32_t i = 0; i < reload->each_count; i++) {
        json_write_object_begin(json);
        member_text(json, "world_id", reload->each[i].world_id);
        member_text(json, "reload", job_reload_name(reload->each[i].state));
        member_text(json, "reason", reload->each[i].reason);
        json_write_object_end(json);
    }
    json_write_array_end(json);
}

static void write_status(const JobStatus *status, JsonWriter *json)
{
    char revision[16];
    snprintf(revision, sizeof revision, "%u", status->version);
    json_write_object_begin(json);
    member_text(json, "job_id", status->id);
    member_text(json, "status", state_names[status->state]);
    member_text(json, "stage", build_stage_name(status->stage));
    json_member_count(json, "progress_pct", percent(status));
    json_member_count(json, "done", status->hides_cache ? 0 : status->done);
    json_member_count(json, "total", status->hides_cache ? 0 : status->total);
    member_text(json, "item", status->hides_cache ? "" : status->item);
    json_write_name(json, "log");
    json_write_array_begin(json);
    for (uint32_t i = 0; i < status->log_count; i++) {
        const char *line = status->log[i];
        json_write_text_bytes(json, line, utf8_is_valid(line, strlen(line)) ? strlen(line) : 0);
    }
    json_write_array_end(json);
    member_text(json, "reason", status->reason);
    json_member_count(json, "errors", status->error_count);
    json_member_count(json, "warnings", status->warning_count);
    if (!status->hides_cache) {
        json_member_count(json, "compiled", status->compiled_count);
        json_member_count(json, "cached", status->cached_count);
    }
    write_made(json, status);
    member_text(json, "reload", job_reload_name(status->reload.state));
    json_member_count(json, "reloaded_worlds", status->reload.worlds);
    json_member_count(json, "manifest_version", status->reload.manifest_version);
    member_text(json, "reload_reason", status->reload.reason);
    json_write_name(json, "reload_settled");
    json_write_bool(json, status->reload.is_settled);
    write_worlds(json, &status->reload);
    json_write_name(json, "result_revision_id");
    if (status->state == JOB_DONE) {
        json_write_text(json, status->result_id[0] != '\0' ? status->result_id : revision);
    } else {
        json_write_null(json);
    }
    json_write_object_end(json);
}

void job_status_json(const JobStatus *status, Buffer *out)
{
    char *text = malloc(JSON_CAPACITY);
    if (text == NULL) {
        out->status = STATUS_LIMIT;
        return;
    }
    ByteWriter writer = byte_writer(text, JSON_CAPACITY);
    JsonWriter json = json_writer(&writer, 0);
    write_status(status, &json);
    if (json_writer_finish(&json) == STATUS_OK) {
        buffer_put(out, text, writer.at);
    } else {
        out->status = STATUS_LIMIT;
    }
    free(text);
}

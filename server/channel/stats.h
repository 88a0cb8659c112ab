// The numbers that a world process says about itself once a second, in one list: the channel
// carries them and /metrics prints them.
#pragma once

#include <stdint.h>

// X(field, COUNTER or GAUGE, name in /metrics, what it is). Microseconds are printed as seconds.
#define HOST_STATS(X)                                                                              \
    X(tick, GAUGE, "tick", "Tick of the simulation")                                               \
    X(paused, GAUGE, "paused", "1 while nobody is here and ticks stand still")                     \
    X(sessions, GAUGE, "sessions", "Open sessions")                                                \
    X(players, GAUGE, "players", "Players with a body, dropped ones included")                     \
    X(json_sessions, GAUGE, "json_sessions", "Sessions that speak JSON")                           \
    X(sockets, GAUGE, "sockets", "Open sockets of the world process")                              \
    X(messages, COUNTER, "messages_total", "Messages from players")                                \
    X(messages_refused, COUNTER, "messages_refused_total", "Messages that were refused")           \
    X(messages_malformed, COUNTER, "messages_malformed_total", "Messages that made no sense")      \
    X(inputs, COUNTER, "inputs_total", "Inputs taken")                                             \
    X(inputs_late, COUNTER, "inputs_late_total", "Inputs for a tick that was over")                \
    X(inputs_early, COUNTER, "inputs_early_total", "Inputs too far ahead")                         \
    X(inputs_duplicate, COUNTER, "inputs_duplicate_total", "Inputs that came twice")               \
    X(inputs_repeated, COUNTER, "inputs_repeated_total", "Ticks without an input")                 \
    X(corrections, COUNTER, "corrections_total", "Predictions that were corrected")                \
    X(corrections_without_cause, COUNTER, "corrections_without_cause_total",                       \
      "Corrections that nothing explains")                                                         \
    X(snapshots, COUNTER, "snapshots_total", "Snapshots sent")                                     \
    X(snapshots_skipped, COUNTER, "snapshots_skipped_total", "Snapshots left out: behind")         \
    X(sessions_behind, COUNTER, "sessions_behind_total", "Sessions dropped: too far behind")       \
    X(rate_limited, COUNTER, "rate_limited_total", "Messages over a rate")                         \
    X(resumes, COUNTER, "resumes_total", "Sessions that came back")                                \
    X(saves, COUNTER, "saves_total", "Saves given to the host")                                    \
    X(bytes_down, COUNTER, "message_bytes_down_total", "Bytes of messages to players")             \
    X(bytes_up, COUNTER, "message_bytes_up_total", "Bytes of messages from players")               \
    X(journal_dropped, COUNTER, "journal_dropped_total", "Journal bytes that found no room")       \
    X(commands_denied, COUNTER, "commands_denied_total", "Commands of players refused")            \
    X(bodies_gave_way, COUNTER, "bodies_gave_way_total",                                           \
      "Bodies of absent players removed for others")                                               \
    X(replication_captures, COUNTER, "replication_captures_total", "Captures")                     \
    X(replication_versions, COUNTER, "replication_versions_total", "Versions made")                \
    X(replication_frames, COUNTER, "replication_frames_total", "Frames built")                     \
    X(replication_frame_bytes, COUNTER, "replication_frame_bytes_total", "Bytes of frames")        \
    X(replication_encoded, COUNTER, "replication_records_encoded_total", "Records encoded")        \
    X(replication_appended, COUNTER, "replication_records_appended_total", "Records sent")         \
    X(replication_full, COUNTER, "replication_records_full_total", "Records sent whole")           \
    X(replication_postponed, COUNTER, "replication_records_postponed_total",                       \
      "Records left for a later frame")                                                            \
    X(replication_events_dropped, COUNTER, "replication_events_dropped_total",                     \
      "Events that found no room")                                                                 \
    X(socket_bytes_down, COUNTER, "socket_bytes_down_total", "Bytes sent, framing included")       \
    X(socket_bytes_up, COUNTER, "socket_bytes_up_total", "Bytes received, framing included")       \
    X(socket_sends, COUNTER, "socket_sends_total", "Calls that sent")                              \
    X(socket_receives, COUNTER, "socket_receives_total", "Calls that received")                    \
    X(socket_partial, COUNTER, "socket_partial_total", "Sends that the socket cut short")          \
    X(socket_broken, COUNTER, "socket_broken_total", "Connections that broke the protocol")        \
    X(socket_silent, COUNTER, "socket_silent_total", "Connections that fell silent")               \
    X(socket_refused, COUNTER, "socket_refused_total", "Connections without room")                 \
    X(script_count, GAUGE, "scripts", "Scripts that are loaded")                                   \
    X(script_throttled, GAUGE, "scripts_throttled",                                                \
      "Scripts that are paused, or run after the others")                                          \
    X(script_off, GAUGE, "scripts_off", "Scripts that are off until they change")                  \
    X(script_instances, GAUGE, "script_instances",                                                 \
      "Scripts bound to entities, and those bound to none")                                        \
    X(script_coroutines, GAUGE, "script_coroutines",                                               \
      "Coroutines that wait or sleep, timers included")                                            \
    X(script_memory_bytes, GAUGE, "script_memory_bytes", "Memory of all scripts")                  \
    X(script_calls, COUNTER, "script_calls_total", "Calls of scripts")                             \
    X(script_steps, COUNTER, "script_steps_total", "Steps of scripts")                             \
    X(script_time_us, COUNTER, "script_seconds_total", "Time that calls of scripts took")          \
    X(script_compile_us, COUNTER, "script_compile_seconds_total",                                  \
      "Time that compiling and loading scripts took")                                              \
    X(script_faults, COUNTER, "script_faults_total", "Faults of scripts")                          \
    X(script_faults_dropped, COUNTER, "script_faults_dropped_total", "Faults that were not shown") \
    X(script_throttles, COUNTER, "script_throttles_total",                                         \
      "Times that a script was paused or put last")                                                \
    X(script_events_dropped, COUNTER, "script_events_dropped_total",                               \
      "Events that scripts were not told")                                                         \
    X(script_messages_dropped, COUNTER, "script_messages_dropped_total",                           \
      "Messages of scripts that found no room")                                                    \
    X(script_log_dropped, COUNTER, "script_log_dropped_total",                                     \
      "Lines of scripts that were not logged")                                                     \
    X(sim_events_dropped, COUNTER, "sim_events_dropped_total",                                     \
      "Events of a tick that found no room")                                                       \
    X(sim_colliders_dropped, COUNTER, "sim_colliders_dropped_total",                               \
      "Shapes around a character not looked at")                                                   \
    X(sim_query_overflow, COUNTER, "sim_query_overflow_total",                                     \
      "Queries that found more than they can hold")                                                \
    X(sim_moves_refused, COUNTER, "sim_moves_refused_total",                                       \
      "Moves that would have ended inside something")                                              \
    X(sim_unstuck, COUNTER, "sim_unstuck_total", "Characters lifted out of something")             \
    X(sim_inputs_sanitised, COUNTER, "sim_inputs_sanitised_total",                                 \
      "Inputs with numbers that make no sense")                                                    \
    X(sim_triggers_dropped, COUNTER, "sim_triggers_dropped_total",                                 \
      "Zones that a character could not remember")                                                 \
    X(sim_paths_given_up, COUNTER, "sim_paths_given_up_total",                                     \
      "Searches that ended without a way")                                                         \
    X(authority_events_dropped, COUNTER, "authority_events_dropped_total",                         \
      "Events for scripts that found no room")                                                     \
    X(authority_binds_dropped, COUNTER, "authority_binds_dropped_total",                           \
      "Scripts not bound: too many at once")                                                       \
    X(authority_binds_failed, COUNTER, "authority_binds_failed_total",                             \
      "Scripts that could not be bound")                                                           \
    X(authority_effects_dropped, COUNTER, "authority_effects_dropped_total",                       \
      "Effects of scripts dropped")                                                                \
    X(authority_records_refused, COUNTER, "authority_records_refused_total",                       \
      "Attributes, tags and names past a cap")                                                     \
    X(save_rows_refused, COUNTER, "save_rows_refused_total", "Stored rows that made no sense")     \
    X(save_structures_unfit, COUNTER, "save_structures_unfit_total",                               \
      "Stored structures without a place")                                                         \
    X(save_structures_waiting, COUNTER, "save_structures_waiting_total",                           \
      "Structures that waited to be saved")                                                        \
    X(save_accounts_evicted, COUNTER, "save_accounts_evicted_total",                               \
      "Accounts forgotten to make room")                                                           \
    X(save_waiters_dropped, COUNTER, "save_waiters_dropped_total",                                 \
      "Players not told of what is durable")                                                       \
    X(save_attributes_refused, COUNTER, "save_attributes_refused_total",                           \
      "Attributes that were not stored")                                                           \
    X(save_attributes_cut, COUNTER, "save_attributes_cut_total",                                   \
      "Attributes that did not fit their row")                                                     \
    X(save_old_rows_dropped, COUNTER, "save_old_rows_dropped_total",                               \
      "Rows of entities that nobody knows")                                                        \
    X(ticks, COUNTER, "ticks_total", "Ticks stepped")                                              \
    X(ticks_missed, COUNTER, "ticks_missed_total", "Ticks that were skipped: too late")            \
    X(late_us, COUNTER, "tick_lateness_seconds_sum", "Sum of how late ticks began")                \
    X(excess_us, COUNTER, "tick_interval_excess_seconds_sum",                                      \
      "Sum of how much longer than an interval it was from a tick to the next")                    \
    X(late_p99_us, GAUGE, "tick_lateness_p99_seconds", "99 of 100 ticks of the last second")       \
    X(work_us, COUNTER, "tick_work_seconds_sum", "Time spent in ticks")                            \
    X(work_max_us, GAUGE, "tick_work_max_seconds", "Longest tick of the last second")              \
    X(cpu_us, COUNTER, "cpu_seconds_total", "Processor time of the world process")                 \
    X(heap_frozen, GAUGE, "heap_frozen", "1 once the world runs: it asks for no more memory")      \
    X(heap_late, COUNTER, "heap_late_calls_total", "Calls of its heap after that; a bug of ours")  \
    X(heap_bytes, GAUGE, "heap_bytes", "What the world asked for at its start")

// What is known of every tick, as counts in buckets: bounds in microseconds, the last is without
// one. The sums of the times are above.
#define HOST_TIMES(X)                                                    \
    X(late, "tick_lateness_seconds", "How late ticks began")             \
    X(excess, "tick_interval_excess_seconds",                            \
      "How much longer than an interval it was from a tick to the next") \
    X(work, "tick_work_seconds", "How long ticks took")
#define HOST_TIME_BUCKETS 19
extern const uint64_t host_time_bounds_us[HOST_TIME_BUCKETS - 1];

typedef struct HostStats {
#define STATS_FIELD(field, kind, name, help) uint64_t field;
    HOST_STATS(STATS_FIELD)
#undef STATS_FIELD
#define STATS_TIME(field, name, help) uint64_t field[HOST_TIME_BUCKETS]; // how many in each
    HOST_TIMES(STATS_TIME)
#undef STATS_TIME
} HostStats;

/* perfetto.h: fields of the messages that samples and slices of Perfetto have in common, by file of
 * protos/perfetto/trace. */
#ifndef QP_EXPORT_PERFETTO_H
#define QP_EXPORT_PERFETTO_H

enum {
    TRACE_PACKET = 1,
    PACKET_TIME = 8, /* trace_packet.proto */
    PACKET_SEQUENCE = 10,
    PACKET_EVENT = 11,
    PACKET_INTERNED = 12,
    PACKET_FLAGS = 13,
    PACKET_TRACK = 60,
    PACKET_SAMPLE = 135,
    TRACK_ID = 1, /* track_event/track_descriptor.proto */
    TRACK_NAME = 2,
    TRACK_PROCESS = 3,
    TRACK_THREAD = 4,
    TRACK_PARENT = 5,
    TRACK_COUNTER = 8,
    PROCESS_PID = 1, /* track_event/process_descriptor.proto, thread_descriptor.proto */
    PROCESS_NAME = 6,
    THREAD_PID = 1,
    THREAD_TID = 2,
    THREAD_NAME = 5
};

enum { STATE_CLEARED = 1, STATE_NEEDED = 2 }; /* sequence_flags: the first packet, all others */
enum { SEQUENCE = 1, PROCESS_TRACK = 1 };

#endif

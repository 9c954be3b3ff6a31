/* agent.c: an agent of the JIT profiling API of Intel, which writes each event to the file agent.out. */
#include <stdio.h>

typedef struct { /* iJIT_Method_Load of jitprofiling.h */
    unsigned method_id;
    char *method_name;
    void *method_load_address;
    unsigned method_size, line_number_size;
    void *line_number_table;
    unsigned class_id;
    char *class_file_name, *source_file_name;
} method_load;

unsigned Initialize(void)
{
    return 1; /* iJIT_SAMPLING_ON */
}

unsigned NotifyEvent(unsigned event, void *data)
{
    const method_load *m = data;
    FILE *f = fopen("agent.out", "a");
    if (!f)
        return 0;
    fprintf(f, "%u %u %s %d %u %u %s\n", event, m->method_id, m->method_name,
            m->method_load_address != 0, m->method_size, m->line_number_size,
            m->source_file_name);
    return fclose(f) == 0;
}

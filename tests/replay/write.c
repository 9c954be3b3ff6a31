/* write.c: makes a .qtrace file for scripts: write FILE RECORDS_A_PACKET END EVENTS..., each
 * EVENTS the track of an OS thread as tests/unit/tracks.h has it, from tick 0 on; END 0: never
 * closed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "unit/tracks.h"

int main(int argc, char **argv)
{
    static track tracks[8];
    const track *all[8];
    unsigned n = 0;
    if (argc < 5) {
        fprintf(stderr, "usage: %s FILE RECORDS_A_PACKET END EVENTS...\n", argv[0]);
        return 2;
    }
    for (; (int)n + 4 < argc && n < 8; n++) {
        track_init(&tracks[n], 0);
        tracks[n].cells = n * 10000;
        track_play(&tracks[n], argv[n + 4]);
        all[n] = &tracks[n];
    }
    track_write(all, n, argv[1], (unsigned)atoi(argv[2]), strtoull(argv[3], NULL, 10), NULL);
    return 0;
}

/* version.c: `qprof version`: what this tool is and was built with. */
#include <sqlite3.h>
#include <stdio.h>
#include <string.h>
#include <zlib.h>
#include <zstd.h>

#include "cli/doctor/doctor.h"
#include "export/export.h"
#include "export/page/page.h"
#include "format/layout.h"
#include "http/http.h"
#include "send/send.h"

#ifndef QPROF_COMMIT
#define QPROF_COMMIT "" /* built outside of the repository */
#endif

static const char *machine(void)
{
#if defined(__x86_64__)
    return "x86_64";
#elif defined(__aarch64__)
    return "aarch64";
#elif defined(__i386__)
    return "i386";
#else
    return sizeof(void *) == 8 ? "64 bits" : "32 bits";
#endif
}

/* "folded, pprof, ...": names with commas between. */
static void add_name(char *to, size_t n_bytes, const char *name)
{
    size_t n = strlen(to);
    snprintf(to + n, n_bytes - n, "%s%s", n ? ", " : "", name);
}

void qp_facts_of_build(qp_facts *f)
{
    char profiles[400] = "", coverage[200] = "";
    qp_error error;
    qp_fact_add(f, "version", "qprof " QPROF_VERSION_TEXT "%s%s",
                *QPROF_COMMIT ? ", commit " : "", QPROF_COMMIT);
    qp_fact_add(f, "format",
                "writes profiles of format %d.%d, reads those of %d.0 and later (%d.x)",
                QP_MAJOR, QP_MINOR, QP_MAJOR, QP_MAJOR);
    qp_fact_add(f, "built with", "%s %s for %s",
#ifdef __clang__
                "Clang",
#else
                "GCC",
#endif
                __VERSION__, machine());
    qp_fact_add(
        f, "libraries",
        "zlib %s, zstd %s, SQLite %s: compressed profiles of pprof and traces can be read",
        zlibVersion(), ZSTD_versionString(), sqlite3_libversion());
    if (qp_send_library()) {
        qp_fact_add(f, "push", "%s: qprof push sends to servers", qp_send_library());
    } else {
        qp_fact_add(f, "push", "qprof push writes to stores and does not send to servers");
        qp_fact_advise(f, QP_FACT_NOTE, "build qprof where libcurl4-openssl-dev is installed");
    }
    if (qp_page_is_there(&qp_page_profile, &error)) {
        qp_fact_add(f, "pages", "qprof html is built in");
    } else {
        qp_fact_add(f, "pages", "qprof html is not built in");
        qp_fact_advise(f, QP_FACT_NOTE, "build qprof where nodejs and npm are installed");
    }
    if (qp_http_version()) {
        qp_fact_add(f, "server", "qprof serve is built in, with libmicrohttpd %s",
                    qp_http_version());
    } else {
        qp_fact_add(f, "server", "qprof serve is not built in");
        qp_fact_advise(f, QP_FACT_NOTE, "build qprof where libmicrohttpd-dev is installed");
    }
    for (const qp_exporter *x = qp_exporters; x->name; x++)
        add_name(profiles, sizeof profiles, x->name);
    for (const qp_cover_exporter *x = qp_cover_exporters; x->name; x++)
        add_name(coverage, sizeof coverage, x->name);
    qp_fact_add(f, "export", "profiles to %s; coverage to %s", profiles, coverage);
}

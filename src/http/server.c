/* server.c: admits requests, keeps each within its time, and hands what its worker wrote to the client. Read serve()
 * first. One thread does it all: it never waits for a client, nor for an answer. */
#include "http/internal.h"

#ifdef QPROF_HTTP

#include <errno.h>
#include <microhttpd.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/containers/alloc.h"
#include "base/os/clock.h"

enum {
    CONNECTIONS_MOST = 64,
    WORKERS_MOST = 4, /* processes at once */
    HEAVY_MOST = 2,   /* of these, for routes that are not light */
    CROWD = CONNECTIONS_MOST / 2,
    /* of the longest target with nothing but parameters, for each of which the library has a record, and of headers */
    CONNECTION_BYTES = 384 << 10,
    /* seconds */
    REQUEST_MOST = 10,   /* from the connection to the end of the request */
    REQUEST_CROWDED = 2, /* the same, while more than CROWD connections are open */
    WAIT_MOST = 60,      /* until a worker is free */
    SEND_MOST = 300      /* until the client has all of the answer */
};

/* LEAVING: another connection has its place, as soon as the library has closed it. */
typedef enum { FREE, READING, LEAVING, WAITING, RUNNING, ANSWERED, SENDING } exchange_state;

/* A connection, and its one request. */
typedef struct {
    exchange_state state;
    struct MHD_Connection *connection;
    int socket;
    uint64_t until; /* monotonic ns: the end of what its state may take */
    uint64_t order; /* of connections, later of requests */
    uint64_t
        n_unread; /* bytes of an answer that lie in a file until the client has all of it */
    const qp_http_route *route;
    qp_http_request request;
    unsigned status; /* of the request, later of the answer */
    const char *why; /* it is refused */
    qp_http_worker worker;
} exchange;

typedef struct {
    const qp_http_service *service;
    struct MHD_Daemon *daemon;
    qp_http_sockets sockets;
    exchange *all; /* [CONNECTIONS_MOST] */
    uint64_t n_orders;
    sigset_t mask; /* of signals, before the server took its own */
    int signals;
} server;

static void enter(exchange *e, exchange_state state, unsigned seconds)
{
    e->state = state;
    e->until = qp_clock_monotonic() + seconds * (uint64_t)1000000000;
}

/* ---- answers ------------------------------------------------------------------------------- */

static void add_headers(struct MHD_Response *r, const exchange *e, const char *type)
{
    /* the rest of a page's policy is in the page: it names its script and its style by their digests */
    static const char *const headers[][2] = {
        {MHD_HTTP_HEADER_CONNECTION, "close"},
        {MHD_HTTP_HEADER_CACHE_CONTROL, "no-store"},
        {"Content-Security-Policy",
         "connect-src 'none'; img-src 'none'; font-src 'none'; media-src 'none'; object-src "
         "'none'; "
         "frame-src 'none'; worker-src 'none'; base-uri 'none'; form-action 'self'; "
         "frame-ancestors 'none'"},
        {"X-Content-Type-Options", "nosniff"},
        {"Referrer-Policy", "no-referrer"},
        {"Cross-Origin-Resource-Policy", "same-origin"}};
    for (size_t i = 0; i < sizeof headers / sizeof *headers; i++)
        MHD_add_response_header(r, headers[i][0], headers[i][1]);
    MHD_add_response_header(r, MHD_HTTP_HEADER_CONTENT_TYPE, type);
    if (e->status == MHD_HTTP_UNAUTHORIZED)
        MHD_add_response_header(r, MHD_HTTP_HEADER_WWW_AUTHENTICATE, "Basic realm=\"qprof\"");
    if (e->status == MHD_HTTP_METHOD_NOT_ALLOWED)
        MHD_add_response_header(r, MHD_HTTP_HEADER_ALLOW, "GET, HEAD");
    if (e->status == MHD_HTTP_SERVICE_UNAVAILABLE)
        MHD_add_response_header(r, MHD_HTTP_HEADER_RETRY_AFTER, "10");
}

static enum MHD_Result send_response(exchange *e, struct MHD_Response *r, const char *type)
{
    if (!r)
        return MHD_NO;
    add_headers(r, e, type);
    const enum MHD_Result result = MHD_queue_response(e->connection, e->status, r);
    MHD_destroy_response(r);
    enter(e, SENDING, SEND_MOST);
    return result;
}

static enum MHD_Result refuse(exchange *e, unsigned status, const char *why)
{
    char text[300];
    const int n = snprintf(text, sizeof text, "qprof serve: %.250s\n", why);
    e->status = status;
    return send_response(
        e, MHD_create_response_from_buffer((size_t)n, text, MHD_RESPMEM_MUST_COPY),
        "text/plain; charset=utf-8");
}

static uint64_t n_unread(const server *s)
{
    uint64_t n = 0;
    for (const exchange *e = s->all; e < s->all + CONNECTIONS_MOST; e++)
        n += e->n_unread; /* a file has less than 2 GiB */
    return n;
}

static enum MHD_Result send_answer(const server *s, exchange *e)
{
    struct stat st;
    if (e->worker.body < 0 || fstat(e->worker.body, &st) != 0)
        return refuse(e, MHD_HTTP_SERVICE_UNAVAILABLE, e->why);
    if (n_unread(s) + (uint64_t)st.st_size > s->service->max_unread)
        return refuse(e, MHD_HTTP_SERVICE_UNAVAILABLE,
                      "busy: answers that have not been read yet fill the room for answers "
                      "(--max-unread); try again later, or choose less");
    e->n_unread = (uint64_t)st.st_size;
    struct MHD_Response *r =
        MHD_create_response_from_fd64((uint64_t)st.st_size, e->worker.body);
    if (r)
        e->worker.body = -1; /* the response closes it */
    return send_response(e, r, e->route->type);
}

/* ---- who may ask, and what ----------------------------------------------------------------- */

static const char *header_of(const exchange *e, const char *name)
{
    return MHD_lookup_connection_value(e->connection, MHD_HEADER_KIND, name);
}

/* Pages of others may link to this one, but not load it. */
static bool is_of_other_page(const exchange *e)
{
    const char *site = header_of(e, "Sec-Fetch-Site"), *mode = header_of(e, "Sec-Fetch-Mode");
    return site && mode && strcmp(site, "cross-site") == 0 && strcmp(mode, "navigate") != 0;
}

static bool has_body(const exchange *e)
{
    const char *n = header_of(e, MHD_HTTP_HEADER_CONTENT_LENGTH);
    return (n && strcmp(n, "0") != 0) || header_of(e, MHD_HTTP_HEADER_TRANSFER_ENCODING);
}

static enum MHD_Result count_host(void *to, enum MHD_ValueKind kind, const char *name,
                                  const char *value)
{
    unsigned *n = to;
    (void)kind, (void)value;
    *n += strcasecmp(name, MHD_HTTP_HEADER_HOST) == 0;
    return MHD_YES;
}

/* @return the status with which it is refused, and e->why; 0: it is to be answered */
static unsigned admit(const server *s, exchange *e, const char *method)
{
    const char *token = s->service->token, *host = header_of(e, MHD_HTTP_HEADER_HOST);
    const char *of_target = e->why;
    unsigned n_hosts = 0;
    MHD_get_connection_values(e->connection, MHD_HEADER_KIND, count_host, &n_hosts);
    e->why = "the request has two Host headers";
    if (n_hosts > 1)
        return MHD_HTTP_BAD_REQUEST;
    e->why = "ask this server as localhost, 127.0.0.1 or [::1]: it answers to no other name "
             "unless it has a token (--token-file)";
    if (!host || (!token && !qp_http_host_is_local(host)))
        return MHD_HTTP_MISDIRECTED_REQUEST;
    e->why = "the token is needed, as \"Authorization: Bearer TOKEN\" or as a password";
    if (token && !qp_http_token_fits(header_of(e, MHD_HTTP_HEADER_AUTHORIZATION), token))
        return MHD_HTTP_UNAUTHORIZED;
    e->why = "a store is only read: GET and HEAD";
    if (strcmp(method, MHD_HTTP_METHOD_GET) != 0 && strcmp(method, MHD_HTTP_METHOD_HEAD) != 0)
        return MHD_HTTP_METHOD_NOT_ALLOWED;
    e->why = of_target;
    if (e->status != MHD_HTTP_OK)
        return e->status;
    e->why = "a request has no body here";
    if (has_body(e))
        return MHD_HTTP_BAD_REQUEST;
    e->why = "a page of another site may not load this one";
    if (is_of_other_page(e))
        return MHD_HTTP_FORBIDDEN;
    e->why = "the server has no such page";
    for (e->route = s->service->routes; e->route->path; e->route++)
        if (strcmp(e->route->path, e->request.path) == 0)
            return 0;
    return MHD_HTTP_NOT_FOUND;
}

/* The target, before the library has decoded it. */
static void *take_target(void *to, const char *target, struct MHD_Connection *connection)
{
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
    exchange *e = info ? info->socket_context : NULL;
    (void)to;
    if (e)
        e->status = qp_http_request_read(&e->request, target, &e->why);
    return e;
}

static enum MHD_Result take_request(void *to, struct MHD_Connection *connection,
                                    const char *url, const char *method, const char *version,
                                    const char *upload, size_t *n_upload, void **context)
{
    server *s = to;
    exchange *e = *context;
    (void)connection, (void)url, (void)version, (void)upload, (void)n_upload;
    if (!e || e->state == LEAVING)
        return MHD_NO;
    if (e->state == ANSWERED)
        return send_answer(s, e);
    const unsigned status = admit(s, e, method);
    if (status)
        return refuse(e, status, e->why);
    e->order = s->n_orders++;
    enter(e, WAITING, WAIT_MOST);
    MHD_suspend_connection(connection);
    return MHD_YES;
}

/* A connection begins or has ended; its socket is still open. */
static void take_connection(void *to, struct MHD_Connection *connection, void **context,
                            enum MHD_ConnectionNotificationCode what)
{
    server *s = to;
    exchange *e = *context;
    if (what == MHD_CONNECTION_NOTIFY_STARTED) {
        for (e = s->all; e < s->all + CONNECTIONS_MOST && e->state != FREE;)
            e++;
        const union MHD_ConnectionInfo *info =
            MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
        if (e == s->all + CONNECTIONS_MOST || !info)
            return;
        e->connection = connection;
        e->socket = info->connect_fd;
        e->order = s->n_orders++;
        e->worker = (qp_http_worker){.body = -1};
        enter(e, READING, REQUEST_MOST);
        *context = e;
    } else if (e) {
        if (e->worker.body >= 0)
            close(e->worker.body);
        e->n_unread = 0;
        e->state = FREE;
    }
}

/* ---- workers ------------------------------------------------------------------------------- */

static void resume(exchange *e)
{
    enter(e, ANSWERED, REQUEST_MOST);
    MHD_resume_connection(e->connection);
}

static void finish(exchange *e)
{
    e->status = qp_http_worker_end(&e->worker);
    if (e->worker.body < 0 && !e->why)
        e->why =
            "this choice needs more memory than one answer may take (--max-memory); choose "
            "less";
    resume(e);
}

/* The request that waits longest, of those that may begin. */
static exchange *next_waiting(const server *s)
{
    unsigned n = 0, n_heavy = 0;
    exchange *next = NULL;
    for (exchange *e = s->all; e < s->all + CONNECTIONS_MOST; e++) {
        n += e->state == RUNNING;
        n_heavy += e->state == RUNNING && !e->route->is_light;
    }
    for (exchange *e = s->all; e < s->all + CONNECTIONS_MOST && n < WORKERS_MOST; e++)
        if (e->state == WAITING && (e->route->is_light || n_heavy < HEAVY_MOST) &&
            (!next || e->order < next->order))
            next = e;
    return next;
}

static void start_workers(const server *s)
{
    qp_error error;
    for (exchange *e = next_waiting(s); e; e = next_waiting(s)) {
        e->why = NULL;
        if (qp_http_worker_start(&e->worker, s->service, e->route, &e->request, &s->mask,
                                 &error)) {
            enter(e, RUNNING, QP_HTTP_ANSWER_SECONDS);
            continue;
        }
        e->why = "this machine has no room for another answer";
        resume(e);
    }
}

static size_t count_open(const server *s)
{
    size_t n = 0;
    for (const exchange *e = s->all; e < s->all + CONNECTIONS_MOST; e++)
        n += e->state != FREE;
    return n;
}

/* What takes too long ends. @return whether there is anything */
static bool end_late(const server *s)
{
    const uint64_t now = qp_clock_monotonic(), second_ns = 1000000000;
    const size_t n_open = count_open(s);
    for (exchange *e = s->all; e < s->all + CONNECTIONS_MOST; e++) {
        const bool is_hurried = e->state == READING && n_open > CROWD;
        const uint64_t less = is_hurried ? (REQUEST_MOST - REQUEST_CROWDED) * second_ns : 0;
        if (e->state == FREE || now < e->until - less)
            continue;
        if (e->state == WAITING) {
            e->why = "other requests took too long; try again";
            resume(e);
        } else if (e->state == RUNNING) {
            e->why = "this choice takes longer than a minute; choose less";
            kill(e->worker.pid, SIGKILL);
        } else {
            shutdown(e->socket, SHUT_RDWR);
        }
    }
    return n_open > 0;
}

/* ---- the loop ------------------------------------------------------------------------------ */

static void accept_from(const server *s, int listening)
{
    struct sockaddr_storage name;
    socklen_t n_name = sizeof name;
    const int fd =
        accept4(listening, (struct sockaddr *)&name, &n_name, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (fd >= 0)
        MHD_add_connection(s->daemon, fd, (struct sockaddr *)&name, n_name);
}

static int timeout_of(const server *s, bool is_busy)
{
    enum { LOOK_MS = 500 };
    MHD_UNSIGNED_LONG_LONG ms;
    const int most = is_busy ? LOOK_MS : -1;
    if (MHD_get_timeout(s->daemon, &ms) != MHD_YES)
        return most;
    return ms < LOOK_MS ? (int)ms : LOOK_MS;
}

/* The oldest connection whose request is not complete. Who asks at once is never long among them. */
static exchange *oldest_idle(const server *s)
{
    exchange *oldest = NULL;
    for (exchange *e = s->all; e < s->all + CONNECTIONS_MOST; e++)
        if (e->state == READING && (!oldest || e->order < oldest->order))
            oldest = e;
    return oldest;
}

/* A new connection is there: take it, or have the oldest idle one leave, after which the next turn takes it. */
static void take_new(const server *s, int listening)
{
    if (count_open(s) < CONNECTIONS_MOST) {
        accept_from(s, listening);
        return;
    }
    exchange *e = oldest_idle(s);
    if (!e)
        return;
    shutdown(e->socket, SHUT_RDWR);
    enter(e, LEAVING, 0);
}

/* Is there a place, or a connection that can leave? */
static bool has_room(const server *s)
{
    return count_open(s) < CONNECTIONS_MOST || oldest_idle(s);
}

/* Wait for something to do, and do it. @return false: a signal came */
static bool turn(const server *s, int library)
{
    struct pollfd wait[2 + QP_HTTP_SOCKETS_MOST + WORKERS_MOST];
    exchange *running[WORKERS_MOST];
    size_t n = 0, n_running = 0;
    start_workers(s);
    const bool is_busy = end_late(s);
    wait[n++] = (struct pollfd){.fd = s->signals, .events = POLLIN};
    wait[n++] = (struct pollfd){.fd = library, .events = POLLIN};
    for (exchange *e = s->all; e < s->all + CONNECTIONS_MOST; e++)
        if (e->state == RUNNING) {
            running[n_running++] = e;
            wait[n++] = (struct pollfd){.fd = e->worker.status_pipe, .events = POLLIN};
        }
    const size_t first_socket = n;
    for (size_t i = 0; has_room(s) && i < s->sockets.n; i++)
        wait[n++] = (struct pollfd){.fd = s->sockets.fds[i], .events = POLLIN};
    if (poll(wait, n, timeout_of(s, is_busy)) < 0 && errno != EINTR)
        return false;
    if (wait[0].revents)
        return false;
    for (size_t i = 0; i < n_running; i++)
        if (wait[2 + i].revents)
            finish(running[i]);
    for (size_t i = first_socket; i < n; i++)
        if (wait[i].revents)
            take_new(s, wait[i].fd);
    MHD_run(s->daemon);
    return true;
}

static void end(server *s)
{
    qp_http_sockets_close(&s->sockets);
    for (exchange *e = s->all; e < s->all + CONNECTIONS_MOST; e++) {
        if (e->state == RUNNING)
            qp_http_worker_stop(&e->worker);
        if (e->state != WAITING && e->state != RUNNING)
            continue;
        e->worker.body = -1;
        e->why = "this server ends";
        resume(e);
    }
    MHD_run(s->daemon); /* a connection that is suspended cannot be closed */
    MHD_stop_daemon(s->daemon);
}

static bool serve(server *s, qp_error *error)
{
    s->daemon = MHD_start_daemon(
        MHD_USE_EPOLL | MHD_USE_NO_LISTEN_SOCKET | MHD_ALLOW_SUSPEND_RESUME, 0, NULL, NULL,
        take_request, s, MHD_OPTION_URI_LOG_CALLBACK, take_target, s,
        MHD_OPTION_NOTIFY_CONNECTION, take_connection, s, MHD_OPTION_CONNECTION_LIMIT,
        (unsigned)CONNECTIONS_MOST, MHD_OPTION_CONNECTION_MEMORY_LIMIT,
        (size_t)CONNECTION_BYTES, MHD_OPTION_STRICT_FOR_CLIENT, 1, MHD_OPTION_END);
    const union MHD_DaemonInfo *info =
        s->daemon ? MHD_get_daemon_info(s->daemon, MHD_DAEMON_INFO_EPOLL_FD) : NULL;
    if (!info) {
        if (s->daemon)
            MHD_stop_daemon(s->daemon);
        qp_http_sockets_close(&s->sockets);
        return qp_error_fail(error, "libmicrohttpd does not start");
    }
    const int library = info->epoll_fd;
    s->service->ready(s->service->to, s->sockets.address);
    while (turn(s, library))
        continue;
    end(s);
    return true;
}

bool qp_http_serve(const qp_http_service *service, qp_error *error)
{
    server s = {.service = service};
    sigset_t ends;
    sigemptyset(&ends);
    sigaddset(&ends, SIGINT);
    sigaddset(&ends, SIGTERM);
    sigprocmask(SIG_BLOCK, &ends, &s.mask);
    s.signals = signalfd(-1, &ends, SFD_CLOEXEC | SFD_NONBLOCK);
    s.all = qp_alloc_zeroed(CONNECTIONS_MOST, sizeof *s.all);
    bool is_good =
        (s.all && s.signals >= 0) || qp_error_fail(error, "there is no room for a server");
    is_good = is_good && qp_http_listen(&s.sockets, service, error) && serve(&s, error);
    if (s.signals >= 0)
        close(s.signals);
    qp_free(s.all);
    return is_good;
}

const char *qp_http_version(void)
{
    return MHD_get_version();
}

#else

bool qp_http_serve(const qp_http_service *service, qp_error *error)
{
    (void)service;
    return qp_error_fail(error, "this build of qprof has no server: install libmicrohttpd "
                                "(libmicrohttpd-dev), then configure and build it again");
}

const char *qp_http_version(void)
{
    return NULL;
}

#endif

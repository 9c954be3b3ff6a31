/* listen.c: the sockets of the server. */
#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "http/internal.h"

static const char *const loopback[] = {"127.0.0.1", "::1"};

/* @param port  0: receives the one that was chosen @return a socket; -1: errno says why */
static int listen_at(const struct addrinfo *at, uint16_t *port)
{
    enum { WAITING = 64 };
    struct sockaddr_storage name;
    socklen_t n_name = at->ai_addrlen;
    const int yes = 1,
              fd = socket(at->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0)
        return -1;
    memcpy(&name, at->ai_addr, n_name);
    /* both begin with the family and the port */
    ((struct sockaddr_in *)(void *)&name)->sin_port = htons(*port);
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    if (at->ai_family == AF_INET6)
        setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &yes, sizeof yes);
    if (bind(fd, (struct sockaddr *)&name, n_name) == 0 && listen(fd, WAITING) == 0 &&
        getsockname(fd, (struct sockaddr *)&name, &n_name) == 0) {
        *port = ntohs(((struct sockaddr_in *)(void *)&name)->sin_port);
        return fd;
    }
    const int error = errno;
    close(fd);
    errno = error;
    return -1;
}

/* @return false: see error; is_missing, if this machine has no such address */
static bool add_socket(qp_http_sockets *to, const char *address, uint16_t *port,
                       bool *is_missing, qp_error *error)
{
    const struct addrinfo wanted = {.ai_flags = AI_NUMERICHOST, .ai_socktype = SOCK_STREAM};
    struct addrinfo *at;
    *is_missing = false;
    if (getaddrinfo(address, NULL, &wanted, &at) != 0)
        return qp_error_fail(error, "%.60s: expected an address in numbers, as 192.0.2.1",
                             address);
    const int fd = listen_at(at, port);
    *is_missing = fd < 0 && (errno == EADDRNOTAVAIL || errno == EAFNOSUPPORT);
    const char *colons = at->ai_family == AF_INET6 ? "[" : "";
    if (fd < 0)
        qp_error_fail(error, "%.60s, port %u: %s", address, (unsigned)*port, strerror(errno));
    else if (!to->n)
        snprintf(to->address, sizeof to->address, "http://%s%.60s%s:%u/", colons, address,
                 *colons ? "]" : "", (unsigned)*port);
    freeaddrinfo(at);
    if (fd >= 0)
        to->fds[to->n++] = fd;
    return fd >= 0;
}

/* Both addresses, with one port. A browser may take either for "localhost". */
static bool listen_locally(qp_http_sockets *to, uint16_t port, qp_error *error)
{
    bool is_missing;
    *to = (qp_http_sockets){.n = 0};
    const bool has_old = add_socket(to, loopback[0], &port, &is_missing, error);
    if (!has_old && !is_missing)
        return false;
    if (add_socket(to, loopback[1], &port, &is_missing, error) || (has_old && is_missing))
        return true;
    qp_http_sockets_close(to);
    return false;
}

bool qp_http_listen(qp_http_sockets *to, const qp_http_service *service, qp_error *error)
{
    enum { TRIES = 20 }; /* a port that is free may be taken at the other address */
    bool is_missing, is_good = false;
    uint16_t port = service->port;
    *to = (qp_http_sockets){.n = 0};
    if (service->listen)
        return add_socket(to, service->listen, &port, &is_missing, error);
    for (int i = 0; !is_good && i < (service->port ? 1 : TRIES); i++)
        is_good = listen_locally(to, service->port, error);
    return is_good;
}

void qp_http_sockets_close(qp_http_sockets *s)
{
    while (s->n)
        close(s->fds[--s->n]);
}

/* What the drivers on bare sockets share. */

#ifndef OTTLA_SOCKETS_H
#define OTTLA_SOCKETS_H

#include "measure.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

static int64_t big_endian(const unsigned char *at, int bytes) {
    int64_t number = (int8_t)at[0];
    for (int i = 1; i < bytes; i++) number = number * 256 + at[i];
    return number;
}

static int connect_to(const char *host, int port) {
    int fd = socket(AF_INET, SOCK_STREAM, 0), yes = 1;
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
    if (inet_pton(AF_INET, host, &address.sin_addr) != 1) fail("host=%s is no address", host);
    if (connect(fd, (struct sockaddr *)&address, sizeof address))
        fail("no connection to %s:%d: %s", host, port, strerror(errno));
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
    return fd;
}

#endif

/* A server that does nothing but one read and one write for each request: what the machine itself
 * loses with many connections. It prints its port, and serves until it is killed.
 *
 *   serve    answers whatever comes with answer= bytes, a size field and zeros: an error code of 0 */

#include "sockets.h"

#define EVENTS 128
#define MOST_ANSWER 512
#define READ_BYTES (64u << 10)

static int listening_socket(void) {
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    struct sockaddr_in address = {.sin_family = AF_INET};
    socklen_t length = sizeof address;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (bind(fd, (struct sockaddr *)&address, sizeof address) || listen(fd, 4096) ||
        getsockname(fd, (struct sockaddr *)&address, &length))
        fail("cannot listen: %s", strerror(errno));
    printf("%d\n", ntohs(address.sin_port));
    fflush(stdout);
    return fd;
}

static void poll_for(int poller, int fd) {
    struct epoll_event event = {.events = EPOLLIN, .data.fd = fd};
    if (epoll_ctl(poller, EPOLL_CTL_ADD, fd, &event)) fail("epoll: %s", strerror(errno));
}

static void accept_one(int poller, int listening) {
    int fd = accept(listening, NULL, NULL), yes = 1;
    if (fd < 0) return;
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
    poll_for(poller, fd);
}

int main(int count, char **words) {
    if (count < 2 || strcmp(words[1], "serve")) fail("there is one mode: serve");
    take_options(count - 2, words + 2);
    size_t answer_bytes = (size_t)number_option("answer", NULL);
    refuse_other_options();
    if (answer_bytes < 4 || answer_bytes > MOST_ANSWER) fail("answer= is 4 to %d", MOST_ANSWER);
    unsigned char answer[MOST_ANSWER] = {0};
    answer[2] = (unsigned char)((answer_bytes - 4) >> 8);
    answer[3] = (unsigned char)(answer_bytes - 4);
    static char received[READ_BYTES];
    struct epoll_event events[EVENTS];
    int listening = listening_socket(), poller = epoll_create1(0);
    poll_for(poller, listening);
    for (;;) {
        int ready = epoll_wait(poller, events, EVENTS, -1);
        for (int i = 0; i < ready; i++) {
            int fd = events[i].data.fd;
            if (fd == listening)
                accept_one(poller, listening);
            else if (read(fd, received, sizeof received) <= 0 ||
                     write(fd, answer, answer_bytes) != (ssize_t)answer_bytes)
                close(fd);
        }
    }
}

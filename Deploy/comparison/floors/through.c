// The floor of passing on: each client's bytes to a connection of its own to the origin, and the origin's to the client, unread.
//
//   through ORIGIN-PORT      prints "port N"
#define PROGRAM "through"
#include "floor.h"

enum { MOST = 65536, STEP = 65536 };
static char step[STEP];
static int port, other[MOST];

static void drop(int fd) {
  close(other[fd]);
  close(fd);
}

// Nothing larger than a socket's buffer goes through here, so that all is sent at once.
static void serve(int fd, uint32_t events) {
  (void)events;
  ssize_t got = recv(fd, step, STEP, 0);
  if (got < 0 && errno == EAGAIN) return;
  if (got <= 0 || send(other[fd], step, got, MSG_NOSIGNAL) != got) drop(fd);
}

static int begin(int fd) {
  int origin = socket(AF_INET, SOCK_STREAM, 0);
  if (origin < 0 || origin >= MOST || fd >= MOST) return 0;
  dial(origin, port);
  fcntl(origin, F_SETFL, O_NONBLOCK);
  struct epoll_event event = {.events = EPOLLIN, .data.fd = origin};
  epoll_ctl(epoll, EPOLL_CTL_ADD, origin, &event);
  other[fd] = origin, other[origin] = fd;
  return 1;
}

int main(int count, char **words) {
  signal(SIGPIPE, SIG_IGN);
  if (count != 2) return 64;
  port = atoi(words[1]);
  serve_all(begin, serve);
}

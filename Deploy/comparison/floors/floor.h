// What the floors have in common. A program says its name before it includes this: #define PROGRAM "load".
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static int epoll;

static inline double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec + t.tv_nsec / 1e9;
}

// more: NULL stands for what errno says.
static inline void fail(const char *why, const char *more) {
  fprintf(stderr, PROGRAM ": %s %s\n", why, more ? more : strerror(errno));
  exit(1);
}

// Where in the content the body of a site's object begins, so that no object looks like another.
static inline long long beginning(uint64_t object, long long period) {
  return object * 1000003 % period;
}

static inline int opened(const char *path, long long *size) {
  struct stat about;
  int file = open(path, O_RDONLY);
  if (file < 0 || fstat(file, &about)) fail("no file", path);
  *size = about.st_size;
  return file;
}

static inline struct sockaddr_in loopback(int port) {
  return (struct sockaddr_in){.sin_family = AF_INET, .sin_port = htons(port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
}

static inline void send_at_once(int fd) {
  int one = 1;
  setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
}

static inline void dial(int fd, int port) {
  struct sockaddr_in address = loopback(port);
  if (connect(fd, (void *)&address, sizeof address)) fail("no connection:", NULL);
  send_at_once(fd);
}

// A listener on a port that the kernel chooses, which is printed. flags: of socket(2).
static inline int listening(int flags) {
  int listener = socket(AF_INET, SOCK_STREAM | flags, 0);
  struct sockaddr_in address = loopback(0);
  socklen_t size = sizeof address;
  if (bind(listener, (void *)&address, sizeof address) || listen(listener, 4096) || getsockname(listener, (void *)&address, &size)) fail("no listener:", NULL);
  printf("port %d\n", ntohs(address.sin_port));
  fflush(stdout);
  return listener;
}

static inline void watch(int fd, uint32_t events) {
  struct epoll_event event = {.events = events, .data.fd = fd};
  epoll_ctl(epoll, EPOLL_CTL_MOD, fd, &event);
}

// For ever: begin says whether a new connection is served, serve is called whenever something happens on one.
static inline void serve_all(int (*begin)(int fd), void (*serve)(int fd, uint32_t events)) {
  int listener = listening(SOCK_NONBLOCK);
  epoll = epoll_create1(0);
  struct epoll_event event = {.events = EPOLLIN, .data.fd = listener}, events[256];
  epoll_ctl(epoll, EPOLL_CTL_ADD, listener, &event);
  for (;;) {
    int ready = epoll_wait(epoll, events, 256, -1);
    for (int i = 0; i < ready; i++) {
      int fd = events[i].data.fd;
      if (fd != listener) {
        serve(fd, events[i].events);
        continue;
      }
      while ((fd = accept4(listener, NULL, NULL, SOCK_NONBLOCK)) >= 0) {
        if (!begin(fd)) {
          close(fd);
          continue;
        }
        send_at_once(fd);
        event = (struct epoll_event){.events = EPOLLIN, .data.fd = fd};
        epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event);
      }
    }
  }
}

// Uploads over HTTP/1.1, from the page cache with sendfile, on many connections at once.
//
//   uploader --port N --head TEXT --length OCTETS --file CONTENT --count N [--connections N] [--status CODE]
//
// It opens the connections, prints "ready", waits for a line, sends so many uploads (TEXT with "\n" for a line's end, then that many bytes of
// the repeated file), and prints uploads, bytes, seconds. Interim answers are passed over; any other answer ends it with 1.
#define PROGRAM "uploader"
#include "floor.h"
#include <getopt.h>
#include <strings.h>
#include <sys/sendfile.h>

struct connection {
  int fd, busy, writing;
  size_t head_at, held;
  long long at;
  char answer[8192];
};

static int port, connections = 1, file, status = 201, outstanding;
static long long length, count, begun, over, period;
static char request[4096];
static size_t request_size;

static void watch_room(struct connection *c, int writing) {
  if (c->writing == writing) return;
  c->writing = writing;
  struct epoll_event event = {.events = EPOLLIN | (writing ? EPOLLOUT : 0), .data.ptr = c};
  epoll_ctl(epoll, EPOLL_CTL_MOD, c->fd, &event);
}

static void push(struct connection *c) {
  while (c->head_at < request_size) {
    ssize_t done = send(c->fd, request + c->head_at, request_size - c->head_at, MSG_NOSIGNAL | MSG_MORE);
    if (done < 0 && errno == EAGAIN) return watch_room(c, 1);
    if (done <= 0) fail("a head could not be sent", NULL);
    c->head_at += done;
  }
  while (c->at < length) {
    off_t offset = c->at % period;
    long long most = length - c->at < period - offset ? length - c->at : period - offset;
    ssize_t done = sendfile(c->fd, file, &offset, most < 1 << 20 ? most : 1 << 20);
    if (done < 0 && errno == EAGAIN) return watch_room(c, 1);
    if (done <= 0) fail("a body could not be sent", NULL);
    c->at += done;
  }
  watch_room(c, 0);
}

static void upload(struct connection *c) {
  if (begun == count) return;
  begun++, outstanding++;
  c->busy = 1;
  c->head_at = c->held = 0;
  c->at = 0;
  push(c);
}

static void pull(struct connection *c) {
  ssize_t got = recv(c->fd, c->answer + c->held, sizeof c->answer - 1 - c->held, 0);
  if (got < 0 && errno == EAGAIN) return;
  if (got <= 0) fail("a connection broke", c->busy ? "in an upload" : "between uploads");
  c->held += got;
  for (;;) {
    c->answer[c->held] = 0;
    char *end = strstr(c->answer, "\r\n\r\n");
    if (!end) return;
    int code = atoi(c->answer + 9);
    size_t used = end + 4 - c->answer;
    char *size = strcasestr(c->answer, "\r\ncontent-length:");
    if (code >= 200) {
      if (code != status) fail("unexpected answer:", c->answer);
      used += size && size < end ? atoll(size + 17) : 0;
      if (!size && !strstr(c->answer, "204")) fail("an answer without a length:", c->answer);
      if (used > c->held) return;
      if (c->at < length) fail("an answer before the end of the upload:", c->answer);
    }
    memmove(c->answer, c->answer + used, c->held - used);
    c->held -= used;
    if (code < 200) continue;
    c->busy = 0;
    over++, outstanding--;
    return upload(c);
  }
}

int main(int number, char **word) {
  static struct option known[] = {{"port", 1, 0, 'p'}, {"head", 1, 0, 'h'}, {"length", 1, 0, 'l'}, {"connections", 1, 0, 'c'},
                                  {"count", 1, 0, 'n'}, {"file", 1, 0, 'f'}, {"status", 1, 0, 's'}, {0, 0, 0, 0}};
  signal(SIGPIPE, SIG_IGN);
  for (int got; (got = getopt_long(number, word, "", known, NULL)) >= 0;) {
    switch (got) {
    case 'p': port = atoi(optarg); break;
    case 'h':
      for (const char *at = optarg; *at && request_size < sizeof request - 2; at++) {
        if (*at == '\n') request[request_size++] = '\r';
        request[request_size++] = *at;
      }
      break;
    case 'l': length = atoll(optarg); break;
    case 'c': connections = atoi(optarg); break;
    case 'n': count = atoll(optarg); break;
    case 's': status = atoi(optarg); break;
    case 'f': file = opened(optarg, &period); break;
    default: return 64;
    }
  }
  epoll = epoll_create1(0);
  struct connection *all = calloc(connections, sizeof *all);
  for (int i = 0; i < connections; i++) {
    struct connection *c = &all[i];
    c->fd = socket(AF_INET, SOCK_STREAM, 0);
    dial(c->fd, port);
    fcntl(c->fd, F_SETFL, O_NONBLOCK);
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = c};
    epoll_ctl(epoll, EPOLL_CTL_ADD, c->fd, &event);
  }
  printf("ready\n");
  fflush(stdout);
  if (getchar() == EOF) return 1;
  double start = now();
  for (int i = 0; i < connections; i++) upload(&all[i]);
  struct epoll_event events[256];
  while (outstanding) {
    int ready = epoll_wait(epoll, events, 256, 60000);
    if (!ready) fail("nothing happened for 60 s", "");
    for (int i = 0; i < ready; i++) {
      struct connection *c = events[i].data.ptr;
      if (events[i].events & (EPOLLIN | EPOLLHUP | EPOLLERR)) pull(c);
      if (events[i].events & EPOLLOUT && c->writing) push(c);
    }
  }
  printf("%lld %lld %.6f\n", over, over * length, now() - start);
}

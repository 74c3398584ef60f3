// The floor of a cached hit: a loop of epoll, one read, and one write of a head and a body that are there already, or send and sendfile.
//
//   hit CONTENT-FILE write|sendfile      prints "port N"; GET /bytes/SIZE/NAME answers with the first SIZE bytes of the repeated file
#define PROGRAM "hit"
#include "floor.h"
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/uio.h>

enum { MOST = 65536 };

struct connection {
  char head[256];
  int head_size, head_at, active;
  long long at, end;
};

static struct connection *connections[MOST];
static int content, with_sendfile;
static char *bytes;
static long long period;

// 1: all is sent; 0: wait; -1: the connection is over.
static int go_on(int fd, struct connection *c) {
  while (c->head_at < c->head_size || c->at < c->end) {
    off_t offset = c->at % period;
    long long most = c->end - c->at < period - offset ? c->end - c->at : period - offset;
    ssize_t done;
    if (with_sendfile && c->head_at == c->head_size) {
      done = sendfile(fd, content, &offset, most < 2 << 20 ? most : 2 << 20);
    } else if (with_sendfile) {
      done = send(fd, c->head + c->head_at, c->head_size - c->head_at, MSG_MORE | MSG_NOSIGNAL);
    } else {
      struct iovec parts[2] = {{c->head + c->head_at, c->head_size - c->head_at}, {bytes + offset, most}};
      done = writev(fd, parts, 2);
    }
    if (done <= 0) return done < 0 && errno == EAGAIN ? 0 : -1;
    int of_head = done < c->head_size - c->head_at ? done : c->head_size - c->head_at;
    c->head_at += of_head;
    c->at += done - of_head;
  }
  return 1;
}

static void drop(int fd) {
  close(fd);
  free(connections[fd]);
  connections[fd] = NULL;
}

static void serve(int fd, uint32_t events) {
  struct connection *c = connections[fd];
  if (!(c->active && events & EPOLLOUT)) {
    char request[2048];
    ssize_t got = recv(fd, request, sizeof request - 1, 0);
    if (got < 0 && errno == EAGAIN) return;
    if (got < 20) return drop(fd);
    request[got] = 0;
    long long size = atoll(strchr(request + 5, '/') + 1);
    c->head_size = snprintf(c->head, sizeof c->head, "HTTP/1.1 200 OK\r\nContent-Type: application/octet-stream\r\nContent-Length: %lld\r\nETag: \"b\"\r\n\r\n", size);
    c->head_at = 0, c->at = 0, c->end = *request == 'H' ? 0 : size;
  }
  int over = go_on(fd, c);
  if (over < 0) return drop(fd);
  if (over == c->active) {
    c->active = !over;
    watch(fd, over ? EPOLLIN : EPOLLOUT);
  }
}

static int begin(int fd) { return fd < MOST && (connections[fd] = calloc(1, sizeof(struct connection))); }

int main(int count, char **words) {
  signal(SIGPIPE, SIG_IGN);
  if (count != 3) return 64;
  with_sendfile = !strcmp(words[2], "sendfile");
  content = opened(words[1], &period);
  bytes = mmap(NULL, period, PROT_READ, MAP_SHARED | MAP_POPULATE, content, 0);
  serve_all(begin, serve);
}

// The origin that every server of a comparison stands before: as little work as can be, on the load's core.
//
//   origin CONTENT-FILE       prints "port N"
//
//   GET /bytes/SIZE/NAME      SIZE bytes: byte i is byte i modulo its length of the content file; strong ETag, Last-Modified, single ranges
//   GET /site/SIZE/NUMBER     the same, beginning elsewhere in the content for each number
//   GET /pass/SIZE/NAME       the same, with Cache-Control: no-store
//   PUT or POST /drop         takes a body, answers 201 with the bytes it had
//   PUT or POST /verify       the same, and compares them with the content file: 409 where they differ
//   GET /break                resets every connection on which a body is being sent
//   GET /count                requests so far (without these), bytes of bodies sent, bytes of bodies received
#define PROGRAM "origin"
#include "floor.h"
#include <strings.h>
#include <sys/mman.h>
#include <sys/sendfile.h>

enum { HEAD = 16384, MOST = 65536 };

struct connection {
  char head[HEAD + 1];
  size_t held;                   // bytes of the head buffer in use
  char answer[1024];
  size_t answer_size, answer_at; // the head of the answer, and how much of it is sent
  long long at, end;             // the body being sent
  long long wanted, had;         // the body being received; wanted < 0: chunked
  int chunk_state;               // 0 size line, 1 data, 2 end of data, 3 trailer
  long long chunk_left;
  int line;                      // bytes of the line of a chunked body being read
  char size_line[24];
  int receiving, verify, wrong, waiting, last;
};

static struct connection *connections[MOST];
static int content;
static const char *bytes;
static long long period, requests, sent, received;

static void drop(int fd) {
  close(fd);
  free(connections[fd]);
  connections[fd] = NULL;
}

static const char *field(const char *head, const char *name) {
  size_t size = strlen(name);
  for (const char *line = strstr(head, "\r\n"); line && line[2] != '\r'; line = strstr(line + 2, "\r\n"))
    if (!strncasecmp(line + 2, name, size) && line[2 + size] == ':') return line + 3 + size + strspn(line + 3 + size, " ");
  return NULL;
}

static void say(struct connection *c, const char *status, const char *body) {
  c->answer_size = snprintf(c->answer, sizeof c->answer, "HTTP/1.1 %s\r\nContent-Type: text/plain\r\nContent-Length: %zu\r\n\r\n%s", status, strlen(body), body);
  c->answer_at = 0;
  c->at = c->end = 0;
}

static void break_off(void) {
  struct linger at_once = {1, 0};
  for (int fd = 0; fd < MOST; fd++)
    if (connections[fd] && connections[fd]->at < connections[fd]->end) {
      setsockopt(fd, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
      drop(fd);
    }
}

static void get(struct connection *c) {
  char *path = strchr(c->head, ' ') + 1;
  if (!strncmp(path, "/break", 6)) {
    break_off();
    return say(c, "200 OK", "broken\n");
  }
  if (!strncmp(path, "/count", 6)) {
    char text[100];
    snprintf(text, sizeof text, "%lld %lld %lld\n", requests, sent, received);
    return say(c, "200 OK", text);
  }
  requests++;
  long long size;
  int of_site = !strncmp(path, "/site/", 6);
  if (strncmp(path, "/bytes/", 7) && strncmp(path, "/pass/", 6) && !of_site) return say(c, "404 Not Found", "");
  char *name;
  size = strtoll(strchr(path + 1, '/') + 1, &name, 10);
  long long object = of_site ? atoll(name + 1) : 0, start = of_site ? beginning(object, period) : 0;
  long long first = 0, last = size - 1;
  const char *range = field(c->head, "Range");
  const char *keep = strncmp(path, "/pass/", 6) ? "max-age=86400" : "no-store";
  char part[80] = "";
  if (range && !strncmp(range, "bytes=", 6) && range[6] >= '0' && range[6] <= '9') {
    first = atoll(range + 6);
    const char *dash = strchr(range, '-');
    if (dash && dash[1] >= '0' && dash[1] <= '9' && atoll(dash + 1) < last) last = atoll(dash + 1);
    if (first >= size) return say(c, "416 Range Not Satisfiable", "");
    snprintf(part, sizeof part, "Content-Range: bytes %lld-%lld/%lld\r\n", first, last, size);
  }
  c->answer_size = snprintf(c->answer, sizeof c->answer,
      "HTTP/1.1 %s\r\nContent-Type: application/octet-stream\r\nContent-Length: %lld\r\n%sCache-Control: %s\r\n"
      "ETag: \"b%lld-%lld\"\r\nLast-Modified: Thu, 01 Jan 2015 00:00:00 GMT\r\nAccept-Ranges: bytes\r\n\r\n",
      *part ? "206 Partial Content" : "200 OK", last - first + 1, part, keep, size, object);
  c->answer_at = 0;
  c->at = start + first, c->end = start + last + 1;
  if (*c->head == 'H') c->end = c->at;
  // A small body goes out with its head.
  if (c->end > c->at && c->end - c->at + c->answer_size <= sizeof c->answer && c->at % period + (c->end - c->at) <= period) {
    memcpy(c->answer + c->answer_size, bytes + c->at % period, c->end - c->at);
    c->answer_size += c->end - c->at, sent += c->end - c->at;
    c->at = c->end;
  }
}

// 1: all is sent; 0: wait; -1: the connection is over.
static int send_answer(int fd, struct connection *c) {
  while (c->answer_at < c->answer_size) {
    ssize_t done = send(fd, c->answer + c->answer_at, c->answer_size - c->answer_at, MSG_NOSIGNAL | (c->at < c->end ? MSG_MORE : 0));
    if (done < 0) return errno == EAGAIN ? 0 : -1;
    c->answer_at += done;
  }
  while (c->at < c->end) {
    off_t offset = c->at % period;
    long long most = c->end - c->at < period - offset ? c->end - c->at : period - offset;
    ssize_t done = sendfile(fd, content, &offset, most);
    if (done <= 0) return done < 0 && errno == EAGAIN ? 0 : -1;
    c->at += done, sent += done;
  }
  return c->at == c->end;
}

static void compare(struct connection *c, const char *data, size_t size) {
  for (size_t done = 0; done < size && c->verify;) {
    long long offset = (c->had + done) % period, most = size - done < (size_t)(period - offset) ? (long long)(size - done) : period - offset;
    if (memcmp(data + done, bytes + offset, most)) c->wrong = 1;
    done += most;
  }
  c->had += size, received += size;
}

// Takes bytes of a chunked body; how many it took. Sets wanted = had at the end.
static size_t take_chunked(struct connection *c, const char *data, size_t size) {
  size_t at = 0;
  while (at < size && c->wanted < 0) {
    if (c->chunk_state == 1) {
      size_t most = size - at < (size_t)c->chunk_left ? size - at : (size_t)c->chunk_left;
      compare(c, data + at, most);
      at += most, c->chunk_left -= most;
      if (!c->chunk_left) c->chunk_state = 2, c->line = 0;
      continue;
    }
    char octet = data[at++];
    if (octet != '\n') {
      if (c->line < 20 && octet != '\r') c->size_line[c->line++] = octet;
      continue;
    }
    c->size_line[c->line] = 0;
    if (c->chunk_state == 0) {
      c->chunk_left = strtoll(c->size_line, NULL, 16);
      c->chunk_state = c->chunk_left ? 1 : 3;
    } else if (c->chunk_state == 2) c->chunk_state = 0;
    else if (c->line == 0) c->wanted = c->had;
    c->line = 0;
  }
  return at;
}

static char scratch[262144];

// What has come of a body; 1: it is complete.
static int receive(int fd, struct connection *c) {
  if (c->held) {
    size_t taken = c->held;
    if (c->wanted < 0) taken = take_chunked(c, c->head, c->held);
    else {
      if ((long long)taken > c->wanted - c->had) taken = c->wanted - c->had;
      compare(c, c->head, taken);
    }
    memmove(c->head, c->head + taken, c->held - taken);
    c->held -= taken;
  }
  while (c->had != c->wanted) {
    size_t most = c->wanted < 0 || c->wanted - c->had > (long long)sizeof scratch ? sizeof scratch : (size_t)(c->wanted - c->had);
    ssize_t got = recv(fd, scratch, most, c->verify || c->wanted < 0 ? 0 : MSG_TRUNC);
    if (got <= 0) return got < 0 && errno == EAGAIN ? 0 : -1;
    if (c->wanted < 0) {
      size_t taken = take_chunked(c, scratch, got);
      if (c->wanted >= 0) {
        memcpy(c->head, scratch + taken, got - taken);
        c->held = got - taken;
      }
    } else compare(c, scratch, got);
  }
  char text[32];
  snprintf(text, sizeof text, "%lld\n", c->had);
  say(c, c->wrong ? "409 Conflict" : "201 Created", text);
  return 1;
}

// One step for a connection that can be read or written.
static void serve(int fd, uint32_t events) {
  struct connection *c = connections[fd];
  if (!c) return; // broken off a moment ago
  for (;;) {
    if (c->waiting) {
      int over = send_answer(fd, c);
      if (over < 0) return drop(fd);
      if (!over) return watch(fd, EPOLLOUT);
      c->waiting = 0;
      if (c->last) return drop(fd);
      watch(fd, EPOLLIN);
    }
    if (c->receiving) {
      int over = receive(fd, c);
      if (over < 0) return drop(fd);
      if (!over) return;
      c->receiving = 0, c->waiting = 1;
      continue;
    }
    char *end = c->held ? memmem(c->head, c->held, "\r\n\r\n", 4) : NULL;
    if (!end) {
      ssize_t got = recv(fd, c->head + c->held, HEAD - c->held, 0);
      if (got < 0 && errno == EAGAIN) return;
      if (got <= 0) return drop(fd);
      c->held += got;
      c->head[c->held] = 0;
      continue;
    }
    end[2] = 0;
    size_t used = end + 4 - c->head;
    int body = *c->head == 'P';
    const char *close_it = field(c->head, "Connection");
    c->last = (close_it && !strncasecmp(close_it, "close", 5)) || strstr(c->head, " HTTP/1.0\r\n") != NULL;
    if (body) {
      requests++;
      const char *length = field(c->head, "Content-Length");
      c->wanted = length ? atoll(length) : field(c->head, "Transfer-Encoding") ? -1 : 0;
      c->had = c->wrong = c->chunk_state = c->line = 0;
      c->verify = strstr(c->head, " /verify") != NULL;
      c->receiving = 1;
      const char *expect = field(c->head, "Expect");
      if (expect) send(fd, "HTTP/1.1 100 Continue\r\n\r\n", 25, MSG_NOSIGNAL);
    } else {
      get(c);
      c->waiting = 1;
    }
    memmove(c->head, c->head + used, c->held - used);
    c->held -= used;
    c->head[c->held] = 0;
  }
}

static int begin(int fd) { return fd < MOST && (connections[fd] = calloc(1, sizeof(struct connection))); }

int main(int count, char **words) {
  signal(SIGPIPE, SIG_IGN);
  if (count != 2) return 64;
  content = opened(words[1], &period);
  bytes = mmap(NULL, period, PROT_READ, MAP_SHARED, content, 0);
  serve_all(begin, serve);
}

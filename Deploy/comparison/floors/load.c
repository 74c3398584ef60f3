// A load over HTTP/1.1, in clear or over TLS: every connection asks again as soon as its answer is there. Bodies are thrown away in the
// kernel (MSG_TRUNC) where they are not decrypted, so that the load is not what is measured.
//
//   load [--tls] --port N --path PATH --status CODE --length OCTETS [--connections N] [--seconds S | --count N]
//        [--ranges TOTAL] [--file CONTENT] [--seed N] [--rate N]
//
// --length: of each body. --ranges: ask for random ranges of --length bytes, at multiples of it, of TOTAL. --file: what came with a head, and all
// that is decrypted, is compared with it. It opens the connections, asks once on each, prints "ready", waits for a line, and goes on for so
// long; then it prints answers, bytes of bodies, seconds, and milliseconds until the first byte of the last body came. Anything that is not
// the answer expected ends it with 1. --rate: requests are due so many a second whether or not others have ended (open loop), go out on the first
// connection that is free, and take from when they were due; then the 50th, 90th, 99th and 99.9th percentile and the worst, in microseconds, follow.
#define PROGRAM "load"
#include "floor.h"
#include <getopt.h>
#include <openssl/ssl.h>
#include <strings.h>
#include <sys/mman.h>
#include <sys/prctl.h>

enum { ROOM = 32768, LARGE = 1 << 20 };

struct connection {
  int fd, writing;
  SSL *tls;
  char head[ROOM];
  size_t held;
  long long left, first, done; // of the body: still to come, its first byte in the content, bytes so far
  int inside;
  double asked, begun, due;
};

static int port, status = 200, connections = 64, secure, outstanding;
static long long length, total, count, limit, answers, octets, period, asked;
static const char *path = "/", *bytes;
static double seconds = 1, end_at, first_octet, rate;
static float *took;
static struct connection **idle;
static int idle_count;
static uint64_t seed = 1;
static char *large, request_text[1024];
static SSL_CTX *context;

static uint64_t any(void) {
  seed ^= seed << 13, seed ^= seed >> 7, seed ^= seed << 17;
  return seed;
}

static void ask(struct connection *c) {
  size_t size;
  c->held = c->inside = 0;
  c->first = 0;
  if (total) {
    c->first = any() % (total / length) * length;
    size = snprintf(request_text, sizeof request_text, "GET %s HTTP/1.1\r\nHost: 127.0.0.1:%d\r\nRange: bytes=%lld-%lld\r\n\r\n", path, port, c->first, c->first + length - 1);
  } else size = strlen(request_text);
  c->asked = now();
  asked++, outstanding++;
  long done = secure ? SSL_write(c->tls, request_text, size) : send(c->fd, request_text, size, MSG_NOSIGNAL);
  if (done != (long)size) fail("a request could not be sent", NULL);
}

static void check(struct connection *c, const char *data, size_t size) {
  for (size_t at = 0; bytes && at < size;) {
    long long offset = (c->first + c->done + at) % period, most = period - offset < (long long)(size - at) ? period - offset : (long long)(size - at);
    if (memcmp(data + at, bytes + offset, most)) fail("wrong bytes in a body of", path);
    at += most;
  }
}

static void body(struct connection *c, const char *data, size_t size) {
  if (data) check(c, data, size);
  c->left -= size, c->done += size;
  if (c->left) return;
  answers++, octets += c->done, outstanding--;
  first_octet = (c->begun - c->asked) * 1e3;
  if (rate && took) {
    took[answers - 1] = (now() - c->due) * 1e6;
    idle[idle_count++] = c;
  } else if (limit ? asked < limit : now() < end_at) ask(c);
}

// Without the body, which is not text.
static void refuse(struct connection *c, char *end, const char *why) {
  *end = 0;
  fail(why, c->head);
}

static void head(struct connection *c) {
  c->head[c->held] = 0;
  char *end = memmem(c->head, c->held, "\r\n\r\n", 4);
  if (!end) {
    if (c->held == ROOM - 1) fail("a head too long", "");
    return;
  }
  if (c->held < 12 || atoi(c->head + 9) != status) refuse(c, end, "unexpected answer:");
  char *line = c->head;
  c->left = -1;
  while (line < end && c->left < 0) {
    if (!strncasecmp(line, "content-length:", 15)) c->left = atoll(line + 15);
    line = memmem(line, end + 2 - line, "\r\n", 2) + 2;
  }
  if (c->left != length) refuse(c, end, "unexpected length:");
  c->inside = 1, c->done = 0, c->begun = now();
  size_t more = c->held - (end + 4 - c->head);
  if ((long long)more > length) fail("more than was asked for:", path);
  if (more || !length) body(c, end + 4, more);
}

static void step(struct connection *c) {
  for (;;) {
    int took_part;
    if (secure) {
      char *to = c->inside ? large : c->head + c->held;
      int most = c->inside ? (c->left < LARGE ? c->left : LARGE) : (int)(ROOM - 1 - c->held);
      int got = SSL_read(c->tls, to, most);
      if (got <= 0) {
        int why = SSL_get_error(c->tls, got);
        if (why == SSL_ERROR_WANT_READ) return;
        fail("a connection broke:", path);
      }
      took_part = 0;
      if (c->inside) body(c, to, got);
      else c->held += got, head(c);
    } else if (c->inside) {
      size_t most = c->left < LARGE ? c->left : LARGE;
      ssize_t got = recv(c->fd, large, most, MSG_TRUNC);
      if (got < 0 && errno == EAGAIN) return;
      if (got <= 0) fail("a connection broke:", path);
      took_part = (size_t)got < most;
      body(c, NULL, got);
    } else {
      ssize_t got = recv(c->fd, c->head + c->held, ROOM - 1 - c->held, 0);
      if (got < 0 && errno == EAGAIN) return;
      if (got <= 0) fail("a connection broke:", path);
      took_part = (size_t)got < ROOM - 1 - c->held;
      c->held += got;
      head(c);
    }
    if (took_part) return;
    if (!outstanding) return;
  }
}

static struct connection *connection(void) {
  struct connection *c = calloc(1, sizeof *c);
  int buffer = 4 << 20;
  c->fd = socket(AF_INET, SOCK_STREAM, 0);
  if (length >= 65536 && !secure) setsockopt(c->fd, SOL_SOCKET, SO_RCVBUF, &buffer, sizeof buffer);
  dial(c->fd, port);
  if (secure) {
    c->tls = SSL_new(context);
    SSL_set_fd(c->tls, c->fd);
    if (SSL_connect(c->tls) != 1) fail("no TLS", "");
  }
  fcntl(c->fd, F_SETFL, O_NONBLOCK);
  struct epoll_event event = {.events = EPOLLIN, .data.ptr = c};
  epoll_ctl(epoll, EPOLL_CTL_ADD, c->fd, &event);
  return c;
}

static void words(int number, char **word) {
  static struct option known[] = {{"tls", 0, 0, 't'}, {"port", 1, 0, 'p'}, {"path", 1, 0, 'u'}, {"status", 1, 0, 's'}, {"length", 1, 0, 'l'}, {"connections", 1, 0, 'c'},
                                  {"seconds", 1, 0, 'd'}, {"count", 1, 0, 'n'}, {"ranges", 1, 0, 'r'}, {"file", 1, 0, 'f'}, {"seed", 1, 0, 'e'}, {"rate", 1, 0, 'a'}, {0, 0, 0, 0}};
  for (int got; (got = getopt_long(number, word, "", known, NULL)) >= 0;) {
    int file;
    switch (got) {
    case 't': secure = 1; break;
    case 'p': port = atoi(optarg); break;
    case 'u': path = optarg; break;
    case 's': status = atoi(optarg); break;
    case 'l': length = atoll(optarg); break;
    case 'c': connections = atoi(optarg); break;
    case 'd': seconds = atof(optarg); break;
    case 'n': count = atoll(optarg); break;
    case 'r': total = atoll(optarg); break;
    case 'a': rate = atof(optarg); break;
    case 'e': seed = atoll(optarg) * 0x9E3779B97F4A7C15u | 1; break;
    case 'f':
      file = opened(optarg, &period);
      bytes = mmap(NULL, period, PROT_READ, MAP_SHARED, file, 0);
      break;
    default: exit(64);
    }
  }
}

// Open loop: what is due goes out, what comes is read, and in between it sleeps until the next is due.
static void open_loop(struct connection **all, double begun) {
  long long wanted = rate * seconds, next = 0;
  took = calloc(wanted + 1, sizeof *took);
  idle = calloc(connections, sizeof *idle);
  for (int i = 0; i < connections; i++) idle[idle_count++] = all[i];
  struct epoll_event events[256];
  prctl(PR_SET_TIMERSLACK, 1);
  while (answers < wanted) {
    double time = now();
    while (next < wanted && idle_count && begun + next / rate <= time) {
      struct connection *c = idle[--idle_count];
      c->due = begun + next++ / rate;
      ask(c);
    }
    double pause = next < wanted && idle_count ? begun + next / rate - now() : 10;
    if (pause < 0) pause = 0;
    struct timespec sleep = {pause, (pause - (long)pause) * 1e9};
    int ready = epoll_pwait2(epoll, events, 256, &sleep, NULL);
    if (!ready && pause == 10) fail("nothing came for 10 s:", path);
    for (int i = 0; i < ready; i++) step(events[i].data.ptr);
  }
  double over = now() - begun;
  printf("%lld %lld %.6f %.3f", answers, octets, over, first_octet);
  print_percentiles(took, answers);
}

int main(int number, char **word) {
  signal(SIGPIPE, SIG_IGN);
  words(number, word);
  large = malloc(LARGE);
  epoll = epoll_create1(0);
  if (secure) {
    context = SSL_CTX_new(TLS_client_method());
    SSL_CTX_set_min_proto_version(context, TLS1_3_VERSION);
    SSL_CTX_set_read_ahead(context, 1);
  }
  snprintf(request_text, sizeof request_text, "GET %s HTTP/1.1\r\nHost: 127.0.0.1:%d\r\n\r\n", path, port);
  struct connection *all[connections];
  for (int i = 0; i < connections; i++) all[i] = connection();
  struct epoll_event events[256];
  if (length <= 1 << 20) { // a large body is asked for after "ready" only
    limit = 1; // one answer on each, no more
    for (int i = 0; i < connections; i++) ask(all[i]);
  }
  while (outstanding) {
    int ready = epoll_wait(epoll, events, 256, 20000);
    if (!ready) fail("nothing came for 20 s:", path);
    for (int i = 0; i < ready; i++) step(events[i].data.ptr);
  }
  printf("ready\n");
  fflush(stdout);
  if (getchar() == EOF) return 1;
  answers = octets = asked = 0;
  limit = count;
  double begun = now();
  end_at = begun + seconds;
  if (rate) {
    open_loop(all, begun);
    return 0;
  }
  for (int i = 0; i < connections && (!limit || asked < limit); i++) ask(all[i]);
  while (outstanding) {
    int ready = epoll_wait(epoll, events, 256, 60000);
    if (!ready) fail("nothing came for 60 s:", path);
    for (int i = 0; i < ready; i++) step(events[i].data.ptr);
  }
  printf("%lld %lld %.6f %.3f\n", answers, octets, now() - begun, first_octet);
}

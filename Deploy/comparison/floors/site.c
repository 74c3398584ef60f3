// A load of many objects over HTTP/1.1, in clear or over TLS: every connection asks for the next object as soon as its answer is there.
//
//   site --port N --objects N --sizes LOW-HIGH --file CONTENT [--zipf EXPONENT] [--connections N] [--count N | --seconds S]
//        [--close] [--tls full|resumed] [--seed N]
//
// Object i is /site/SIZE/i of the origin; its size lies log-uniform between LOW and HIGH, a pure function of i. With --zipf the object of rank i is
// asked for in proportion to 1 / i^EXPONENT; otherwise each in turn, and again from the beginning. --close: a new connection for each request.
// --tls: over TLS 1.3, every handshake full, or every one resumed with the ticket of the connection before. What comes with a head, and all that is
// decrypted, is compared with the content; the rest is counted and thrown away in the kernel (MSG_TRUNC).
//
// It prints "ready", waits for a line, and works; then it prints answers, bytes of bodies, seconds, and the 50th, 90th, 99th and 99.9th percentile
// and the worst of the microseconds from asking (with --close: from connecting) to the last byte. Anything unexpected ends it with 1.
#define PROGRAM "site"
#include "floor.h"
#include <getopt.h>
#include <math.h>
#include <openssl/ssl.h>
#include <strings.h>
#include <sys/mman.h>

enum { ROOM = 16384, LARGE = 1 << 20, SOURCES = 16 };

struct connection {
  int fd, number, inside, over; // inside: its head is there; over: its body, too
  SSL *tls;
  SSL_SESSION *ticket;
  char head[ROOM];
  size_t held;
  long long object, size, done; // done: bytes of the body so far
  double asked;
};

static int port, connections = 64, closing, outstanding, has_zipf;
static enum { CLEAR, FULL, RESUMED } tls;
static long long objects = 1, count, answers, asked, octets, period, room;
static double low = 1024, high = 1024, exponent, seconds = 1, end_at, *heaviest;
static const char *bytes;
static float *took;
static uint64_t seed = 1;
static char *large;
static SSL_CTX *context;

// splitmix64
static uint64_t mixed(uint64_t x) {
  x += 0x9E3779B97F4A7C15u;
  x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9u;
  x = (x ^ x >> 27) * 0x94D049BB133111EBu;
  return x ^ x >> 31;
}

static double share(uint64_t x) { return (mixed(x) >> 11) * 0x1p-53; }

static long long size_of(long long object) { return low * pow(high / low, share(object)); }

// heaviest[i]: the share of all requests that go to the objects 0 to i.
static void weigh(void) {
  double sum = 0;
  heaviest = malloc(objects * sizeof *heaviest);
  for (long long i = 0; i < objects; i++) heaviest[i] = sum += 1 / pow(i + 1, exponent);
  for (long long i = 0; i < objects; i++) heaviest[i] /= sum;
}

static long long chosen(void) {
  if (!has_zipf) return asked % objects;
  double wanted = share(seed++);
  long long from = 0, to = objects - 1;
  while (from < to) {
    long long middle = (from + to) / 2;
    if (heaviest[middle] < wanted) from = middle + 1;
    else to = middle;
  }
  return from;
}

static int more_wanted(void) { return count ? asked < count : now() < end_at; }

// From several addresses, so that ports do not run short.
static void open_connection(struct connection *c) {
  struct sockaddr_in from = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK + 1 + c->number % SOURCES)};
  c->fd = socket(AF_INET, SOCK_STREAM, 0);
  setsockopt(c->fd, IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT, &(int){1}, sizeof(int));
  if (bind(c->fd, (void *)&from, sizeof from)) fail("no address:", NULL);
  dial(c->fd, port);
  if (tls) {
    c->tls = SSL_new(context);
    SSL_set_app_data(c->tls, c);
    SSL_set_fd(c->tls, c->fd);
    if (c->ticket) SSL_set_session(c->tls, c->ticket);
    SSL_set_connect_state(c->tls);
  }
  fcntl(c->fd, F_SETFL, O_NONBLOCK);
  struct epoll_event event = {.events = EPOLLIN, .data.ptr = c};
  epoll_ctl(epoll, EPOLL_CTL_ADD, c->fd, &event);
}

static void close_connection(struct connection *c) {
  if (tls) {
    SSL_set_shutdown(c->tls, SSL_SENT_SHUTDOWN | SSL_RECEIVED_SHUTDOWN); // else its ticket is good for nothing
    SSL_free(c->tls);
  }
  close(c->fd);
  c->tls = NULL, c->fd = -1;
}

static void request(struct connection *c) {
  char text[256];
  int size = snprintf(text, sizeof text, "GET /site/%lld/%lld HTTP/1.1\r\nHost: localhost\r\n%s\r\n", c->size, c->object, closing ? "Connection: close\r\n" : "");
  long done = tls ? SSL_write(c->tls, text, size) : send(c->fd, text, size, MSG_NOSIGNAL);
  if (done != size) fail("a request could not be sent", NULL);
}

// 1: the handshake is done and the request sent; 0: it waits for the server.
static int handshake(struct connection *c) {
  int done = SSL_do_handshake(c->tls);
  if (done != 1) {
    if (SSL_get_error(c->tls, done) == SSL_ERROR_WANT_READ) return 0;
    fail("no TLS", "");
  }
  if (!!c->ticket != SSL_session_reused(c->tls)) fail("a handshake was", c->ticket ? "not resumed" : "resumed");
  request(c);
  return 1;
}

static void ask(struct connection *c) {
  c->object = chosen();
  c->size = size_of(c->object);
  c->held = c->inside = c->over = 0;
  c->done = 0;
  c->asked = now();
  asked++, outstanding++;
  if (c->fd < 0) open_connection(c);
  if (!tls || SSL_is_init_finished(c->tls)) request(c);
  else handshake(c);
}

static void finished(struct connection *c) {
  if (answers == room) took = realloc(took, (room = room ? 2 * room : 1 << 16) * sizeof *took);
  took[answers++] = (now() - c->asked) * 1e6;
  octets += c->size;
  outstanding--;
  c->over = 1;
  if (!closing && more_wanted()) ask(c);
}

static void body(struct connection *c, const char *data, size_t size) {
  if ((long long)size > c->size - c->done) fail("more than was asked for", "");
  for (size_t at = 0; data && at < size;) {
    long long offset = (beginning(c->object, period) + c->done + at) % period, most = period - offset < (long long)(size - at) ? period - offset : (long long)(size - at);
    if (memcmp(data + at, bytes + offset, most)) fail("wrong bytes in a body", "");
    at += most;
  }
  c->done += size;
  if (c->done == c->size) finished(c);
}

static void head(struct connection *c) {
  c->head[c->held] = 0;
  char *end = memmem(c->head, c->held, "\r\n\r\n", 4);
  if (!end) {
    if (c->held == ROOM - 1) fail("a head too long", "");
    return;
  }
  size_t more = c->held - (end + 4 - c->head);
  *end = 0;
  if (c->held < 12 || atoi(c->head + 9) != 200) fail("unexpected answer:", c->head);
  char *length = strcasestr(c->head, "\r\ncontent-length:");
  if (!length || atoll(length + 17) != c->size) fail("unexpected length:", c->head);
  c->inside = 1;
  if (more) body(c, end + 4, more);
}

// What one read says: 1: bytes came; 0: nothing yet; -1: the end.
static int received(struct connection *c) {
  char *to = c->inside ? large : c->head + c->held;
  size_t left = c->size - c->done, most = c->over ? 1 : !c->inside ? ROOM - 1 - c->held : left < LARGE ? left : LARGE;
  ssize_t got;
  if (tls) {
    got = SSL_read(c->tls, to, most);
    int why = got > 0 ? 0 : SSL_get_error(c->tls, got);
    if (why == SSL_ERROR_WANT_READ) return 0;
    if (why) got = why == SSL_ERROR_ZERO_RETURN ? 0 : -1;
  } else {
    got = recv(c->fd, to, most, c->inside ? MSG_TRUNC : 0);
    if (got < 0 && errno == EAGAIN) return 0;
  }
  if (c->over) {
    if (got > 0) fail("more than was asked for", "");
    return -1;
  }
  if (got <= 0) fail("a connection broke", c->inside ? "inside of a body" : "before an answer");
  if (c->inside) body(c, tls ? to : NULL, got);
  else c->held += got, head(c);
  return 1;
}

static void step(struct connection *c) {
  if (tls && !SSL_is_init_finished(c->tls) && !handshake(c)) return;
  long long before = answers;
  int got;
  do got = received(c);
  while (got > 0 && (answers == before || c->over));
  if (got >= 0) return;
  close_connection(c); // the server has closed it, as it was asked to
  if (more_wanted()) ask(c);
}

// The last one counts; the one before is given back.
static int keep_ticket(SSL *one, SSL_SESSION *ticket) {
  struct connection *c = SSL_get_app_data(one);
  if (c->ticket) SSL_SESSION_free(c->ticket);
  c->ticket = ticket;
  return 1;
}

static void words(int number, char **word) {
  static struct option known[] = {{"port", 1, 0, 'p'}, {"objects", 1, 0, 'o'}, {"sizes", 1, 0, 's'}, {"file", 1, 0, 'f'}, {"zipf", 1, 0, 'z'}, {"connections", 1, 0, 'c'},
                                  {"count", 1, 0, 'n'}, {"seconds", 1, 0, 'd'}, {"close", 0, 0, 'x'}, {"tls", 1, 0, 't'}, {"seed", 1, 0, 'e'}, {0, 0, 0, 0}};
  for (int got; (got = getopt_long(number, word, "", known, NULL)) >= 0;) {
    int file;
    switch (got) {
    case 'p': port = atoi(optarg); break;
    case 'o': objects = atoll(optarg); break;
    case 's': if (sscanf(optarg, "%lf-%lf", &low, &high) != 2 || low < 1 || high < low) exit(64); break;
    case 'z': exponent = atof(optarg), has_zipf = 1; break;
    case 'c': connections = atoi(optarg); break;
    case 'n': count = atoll(optarg); break;
    case 'd': seconds = atof(optarg); break;
    case 'x': closing = 1; break;
    case 't': tls = !strcmp(optarg, "resumed") ? RESUMED : FULL; break;
    case 'e': seed = mixed(atoll(optarg)); break;
    case 'f':
      file = opened(optarg, &period);
      bytes = mmap(NULL, period, PROT_READ, MAP_SHARED | MAP_POPULATE, file, 0);
      break;
    default: exit(64);
    }
  }
  if (!bytes || objects < 1 || connections < 1) exit(64);
}

// Until nothing is outstanding and, with a connection for each request, the server has closed every one.
static void run(struct connection *all) {
  struct epoll_event events[256];
  for (;;) {
    int open = outstanding;
    for (int i = 0; closing && !open && i < connections; i++) open += all[i].fd >= 0;
    if (!open) return;
    int ready = epoll_wait(epoll, events, 256, 60000);
    if (!ready) fail("nothing came for 60 s", "");
    for (int i = 0; i < ready; i++) step(events[i].data.ptr);
  }
}

static void get_tickets(struct connection *all) {
  long long wanted = count;
  count = connections;
  for (int i = 0; i < connections; i++) ask(&all[i]);
  run(all);
  for (int i = 0; i < connections; i++)
    if (!all[i].ticket) fail("no ticket was given", "");
  answers = asked = octets = 0;
  count = wanted;
}

static void use_tls(void) {
  context = SSL_CTX_new(TLS_client_method());
  SSL_CTX_set_min_proto_version(context, TLS1_3_VERSION);
  SSL_CTX_set_options(context, SSL_OP_IGNORE_UNEXPECTED_EOF);
  SSL_CTX_set_read_ahead(context, 1);
  if (tls != RESUMED) return;
  SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_CLIENT | SSL_SESS_CACHE_NO_INTERNAL);
  SSL_CTX_sess_set_new_cb(context, keep_ticket);
}

int main(int number, char **word) {
  signal(SIGPIPE, SIG_IGN);
  words(number, word);
  if (has_zipf) weigh();
  if (tls) use_tls();
  large = malloc(LARGE);
  epoll = epoll_create1(0);
  struct connection *all = calloc(connections, sizeof *all);
  for (int i = 0; i < connections; i++) {
    all[i].number = i, all[i].fd = -1;
    if (!closing) open_connection(&all[i]);
  }
  if (tls == RESUMED) get_tickets(all);
  printf("ready\n");
  fflush(stdout);
  if (getchar() == EOF) return 1;
  double begun = now();
  end_at = begun + seconds;
  for (int i = 0; i < connections && more_wanted(); i++) ask(&all[i]);
  run(all);
  double over = now() - begun;
  printf("%lld %lld %.6f", answers, octets, over);
  print_percentiles(took, answers);
}

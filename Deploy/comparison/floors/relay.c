// The floor of a cold fill and of a spooled upload, with blocking calls and one connection at a time.
//
//   relay ORIGIN-PORT FILE      prints "port N"
//
//   GET    is asked of the origin; what comes is received, written to the file and sent, 256 KiB at a time
//   PUT or POST with Content-Length: the body is received and written to the file, then sent to the origin from there with sendfile
#define PROGRAM "relay"
#include "floor.h"
#include <strings.h>
#include <sys/sendfile.h>

enum { STEP = 262144 };
static char step[STEP], line[8192], answer[8192];
static int origin;

static int whole(int fd, const char *data, size_t size, int flags) {
  while (size) {
    ssize_t done = send(fd, data, size, MSG_NOSIGNAL | flags);
    if (done <= 0) return 0;
    data += done, size -= done;
  }
  return 1;
}

// Reads until a head is complete: bytes read, 0 at the end; *after is where its body begins.
static size_t head(int fd, char *room, size_t size, size_t *after) {
  size_t held = 0;
  while (held < size - 1) {
    ssize_t got = recv(fd, room + held, size - 1 - held, 0);
    if (got <= 0) return 0;
    held += got;
    room[held] = 0;
    char *end = strstr(room, "\r\n\r\n");
    if (end) {
      *after = end + 4 - room;
      return held;
    }
  }
  return 0;
}

static long long length(const char *room) {
  const char *found = strcasestr(room, "\r\ncontent-length:");
  return found ? atoll(found + 17) : 0;
}

static int fill(int fd, int file, size_t asked) {
  size_t after;
  if (!whole(origin, line, asked, 0)) return 0;
  size_t held = head(origin, answer, sizeof answer, &after);
  if (!held) return 0;
  long long size = length(answer), at = held - after;
  if (at && pwrite(file, answer + after, at, 0) != at) return 0;
  if (!whole(fd, answer, held, 0)) return 0;
  while (at < size) {
    ssize_t got = recv(origin, step, size - at < STEP ? size - at : STEP, 0);
    if (got <= 0 || pwrite(file, step, got, at) != got || !whole(fd, step, got, 0)) return 0;
    at += got;
  }
  return 1;
}

static int spool(int fd, int file, size_t held, size_t after) {
  long long size = length(line), at = held - after;
  if (at && pwrite(file, line + after, at, 0) != at) return 0;
  while (at < size) {
    ssize_t got = recv(fd, step, size - at < STEP ? size - at : STEP, 0);
    if (got <= 0 || pwrite(file, step, got, at) != got) return 0;
    at += got;
  }
  if (!whole(origin, line, after, MSG_MORE)) return 0;
  for (off_t sent = 0; sent < size;)
    if (sendfile(origin, file, &sent, size - sent) <= 0) return 0;
  held = head(origin, answer, sizeof answer, &after);
  return held && whole(fd, answer, held, 0);
}

int main(int count, char **words) {
  signal(SIGPIPE, SIG_IGN);
  if (count != 3) return 64;
  int listener = listening(0);
  origin = socket(AF_INET, SOCK_STREAM, 0);
  dial(origin, atoi(words[1]));
  long long number = 0;
  for (int fd; (fd = accept(listener, NULL, NULL)) >= 0; close(fd)) {
    send_at_once(fd);
    size_t held, after;
    while ((held = head(fd, line, sizeof line, &after))) {
      // a new file each time: its pages are touched for the first time; that of an upload goes with it
      char name[4096];
      snprintf(name, sizeof name, "%s-%lld", words[2], number++);
      int file = open(name, O_CREAT | O_RDWR, 0600);
      if (*line == 'P') unlink(name);
      int good = *line == 'P' ? spool(fd, file, held, after) : fill(fd, file, held);
      close(file);
      if (!good) break;
    }
  }
}

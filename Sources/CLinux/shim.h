#ifndef _GNU_SOURCE
#define _GNU_SOURCE 1
#endif
#include <arpa/inet.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <limits.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/// `accept4(2)` with `SOCK_NONBLOCK | SOCK_CLOEXEC`, the flags every pawl socket has.
static inline int pawl_accept(int listener, struct sockaddr *address, socklen_t *length) {
  return accept4(listener, address, length, SOCK_NONBLOCK | SOCK_CLOEXEC);
}
/// `open(2)` is variadic in C and so out of Swift's reach.
static inline int pawl_open(const char *path, int flags, mode_t mode) { return open(path, flags | O_CLOEXEC, mode); }
static inline int pawl_fcntl(int fd, int command, int argument) { return fcntl(fd, command, argument); }
/// Reads what is in the page cache; `EAGAIN` where the disk would have to be asked.
static inline ssize_t pawl_pread_nowait(int fd, void *buffer, size_t count, off_t offset) {
  struct iovec piece = {buffer, count};
  return preadv2(fd, &piece, 1, offset, RWF_NOWAIT);
}
static inline int pawl_errno(void) { return errno; }
static inline void pawl_set_errno(int value) { errno = value; }
/// Reserves blocks without changing the file's size.
static inline int pawl_fallocate_keep_size(int fd, off_t offset, off_t length) {
  return fallocate(fd, FALLOC_FL_KEEP_SIZE, offset, length);
}
static inline int pawl_punch_hole(int fd, off_t offset, off_t length) {
  return fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, offset, length);
}
static inline int pawl_rename_noreplace(const char *from, const char *to) {
  return renameat2(AT_FDCWD, from, AT_FDCWD, to, RENAME_NOREPLACE);
}

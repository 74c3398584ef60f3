#ifndef _GNU_SOURCE
#define _GNU_SOURCE 1
#endif
#include <arpa/inet.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <grp.h>
#include <limits.h>
#include <linux/sockios.h>
#include <malloc.h>
#include <net/if.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <pthread.h>
#include <pwd.h>
#include <signal.h>
#include <spawn.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/time.h>
#include <sys/timerfd.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/vfs.h>
#include <sys/wait.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

/// `accept4(2)` with `SOCK_NONBLOCK | SOCK_CLOEXEC`, the flags that all sockets of pawl have.
static inline int pawl_accept(int listener, struct sockaddr *address, socklen_t *length) {
  return accept4(listener, address, length, SOCK_NONBLOCK | SOCK_CLOEXEC);
}
/// `open(2)`, which Swift does not import because it is variadic in C. The descriptor has `O_CLOEXEC`.
static inline int pawl_open(const char *path, int flags, mode_t mode) { return open(path, flags | O_CLOEXEC, mode); }
static inline int pawl_fcntl(int fd, int command, int argument) { return fcntl(fd, command, argument); }
/// Reads bytes that are in the page cache; fails with `EAGAIN` if the disk would have to be read.
static inline ssize_t pawl_pread_nowait(int fd, void *buffer, size_t count, off_t offset) {
  struct iovec piece = {buffer, count};
  return preadv2(fd, &piece, 1, offset, RWF_NOWAIT);
}
static inline int pawl_errno(void) { return errno; }
static inline void pawl_set_errno(int value) { errno = value; }
static inline int pawl_punch_hole(int fd, off_t offset, off_t length) {
  return fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, offset, length);
}
static inline int pawl_rename_noreplace(const char *from, const char *to) {
  return renameat2(AT_FDCWD, from, AT_FDCWD, to, RENAME_NOREPLACE);
}
/// Returns the bytes that the peer has not acknowledged yet; -1 and `errno` on failure. Swift does not import `ioctl(2)`, which is variadic.
static inline int pawl_bytes_unsent(int fd) {
  int count = 0;
  return ioctl(fd, SIOCOUTQ, &count) == 0 ? count : -1;
}
/// Returns the received bytes that were not read; -1 and `errno` on failure.
static inline int pawl_bytes_unread(int fd) {
  int count = 0;
  return ioctl(fd, FIONREAD, &count) == 0 ? count : -1;
}
/// Ignores a signal. Swift does not import `SIG_IGN`, which casts an integer to a function pointer.
static inline int pawl_ignore_signal(int number) { return signal(number, SIG_IGN) == SIG_ERR ? -1 : 0; }
/// The offset of `sun_path`, for the length of an address with an abstract name.
static inline size_t pawl_sun_path_offset(void) { return offsetof(struct sockaddr_un, sun_path); }
/// Atomic operations for PawlLoop. The module `Synchronization` is not used: it imports Glibc with other feature macros than this
/// module, and a clean debug build then fails.
static inline uintptr_t pawl_atomic_load(const uintptr_t *cell) { return __atomic_load_n(cell, __ATOMIC_ACQUIRE); }
static inline void pawl_atomic_store(uintptr_t *cell, uintptr_t value) { __atomic_store_n(cell, value, __ATOMIC_RELEASE); }
static inline uintptr_t pawl_atomic_exchange(uintptr_t *cell, uintptr_t value) {
  return __atomic_exchange_n(cell, value, __ATOMIC_ACQ_REL);
}
static inline uintptr_t pawl_atomic_add(uintptr_t *cell, uintptr_t value) { return __atomic_add_fetch(cell, value, __ATOMIC_ACQ_REL); }
static inline int pawl_atomic_compare_exchange(uintptr_t *cell, uintptr_t *expected, uintptr_t value) {
  return __atomic_compare_exchange_n(cell, expected, value, 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);
}
/// A counter that one thread writes and any thread reads. Nothing else is ordered by it, so no instruction locks the bus.
static inline uintptr_t pawl_counter_load(const uintptr_t *cell) { return __atomic_load_n(cell, __ATOMIC_RELAXED); }
static inline void pawl_counter_store(uintptr_t *cell, uintptr_t value) { __atomic_store_n(cell, value, __ATOMIC_RELAXED); }
static inline void pawl_counter_add(uintptr_t *cell, uintptr_t value) {
  __atomic_store_n(cell, __atomic_load_n(cell, __ATOMIC_RELAXED) + value, __ATOMIC_RELAXED);
}
/// These calls take a `struct sockaddr *`. With `_GNU_SOURCE` those of glibc take a transparent union instead.
static inline int pawl_bind(int fd, const struct sockaddr *address, socklen_t length) { return bind(fd, address, length); }
static inline int pawl_connect(int fd, const struct sockaddr *address, socklen_t length) { return connect(fd, address, length); }
static inline int pawl_getsockname(int fd, struct sockaddr *address, socklen_t *length) { return getsockname(fd, address, length); }
static inline int pawl_getpeername(int fd, struct sockaddr *address, socklen_t *length) { return getpeername(fd, address, length); }
static inline ssize_t pawl_sendto(int fd, const void *bytes, size_t count, int flags, const struct sockaddr *address, socklen_t length) {
  return sendto(fd, bytes, count, flags, address, length);
}
/// Members of anonymous enums, as constants: Swift sees the members in only one of the C modules that include them.
static const int pawl_MSG_NOSIGNAL = MSG_NOSIGNAL;
static const int pawl_MSG_MORE = MSG_MORE;
static const int pawl_SHUT_WR = SHUT_WR;
static const int pawl_MSG_PEEK = MSG_PEEK;
/// A constant for `O_TMPFILE`, which Swift does not import because it is no plain literal.
static const int pawl_O_TMPFILE = O_TMPFILE;
/// The size of a terminal (ioctl_tty(2)), since Swift cannot call `ioctl`.
static inline int pawl_window_size(int terminal, struct winsize *size) { return ioctl(terminal, TIOCGWINSZ, size); }
/// `pidfd_open(2)`, for which the C library of Debian 12 has no header.
static inline int pawl_pidfd_open(pid_t process) { return (int)syscall(SYS_pidfd_open, process, 0); }
/// Writes out what was printed to standard output. Returns 0, or the reason (`errno`) why some of it was not written; -1 if it is not
/// known any more.
static inline int pawl_flush_output(void) {
    errno = 0;
    if (fflush(stdout) != 0) return errno ? errno : -1;
    return ferror(stdout) ? -1 : 0;
}
/// Forgets that something could not be written to standard output.
static inline void pawl_clear_output(void) { clearerr(stdout); }
/// Returns the process at the other end of a local socket, or that made the pair; -1: it is not known.
static inline pid_t pawl_peer_process(int socket) {
    struct ucred peer;
    socklen_t size = sizeof peer;
    return getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 ? peer.pid : -1;
}
/// `accept4(2)` for a blocking socket, without the peer's address.
static inline int pawl_accept_blocking(int listener) { return accept4(listener, NULL, NULL, SOCK_CLOEXEC); }
/// Makes an anonymous file in memory that can be sealed; -1 and `errno` on failure.
static inline int pawl_memfd(const char *name) { return memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING); }
/// Seals an anonymous file, so that its reader may map it without fear of changes.
static inline int pawl_seal(int fd) { return fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE | F_SEAL_SEAL); }
/// Sends an empty message with one descriptor over a connected local socket, without waiting; -1 and `errno` on failure.
static inline ssize_t pawl_send_descriptor(int fd, int passed) {
  union { struct cmsghdr head; char room[CMSG_SPACE(sizeof(int))]; } control = {0};
  struct msghdr message = {.msg_control = &control, .msg_controllen = sizeof control.room};
  control.head.cmsg_level = SOL_SOCKET;
  control.head.cmsg_type = SCM_RIGHTS;
  control.head.cmsg_len = CMSG_LEN(sizeof(int));
  memcpy(CMSG_DATA(&control.head), &passed, sizeof passed);
  return sendmsg(fd, &message, MSG_NOSIGNAL | MSG_DONTWAIT);
}
/// The type of a local socket for whole messages, not inherited by child processes.
static const int pawl_datagramSocket = SOCK_DGRAM | SOCK_CLOEXEC;
static const int pawl_MSG_DONTWAIT = MSG_DONTWAIT;
/// Keeps the process from getting privileges by a program that it starts, and other processes of the same user from reading its
/// memory, which holds private keys. Swift does not import `prctl(2)`, which is variadic.
static inline int pawl_give_up_privileges(void) {
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return -1;
  return prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
}
/// Makes a copy of the process, of its calling thread alone: only for a process that has no others yet. Swift does not import fork(2).
static inline pid_t pawl_fork(void) { return fork(); }
/// Sets the signal that the process gets when its parent ends; 0: none.
static inline int pawl_parent_end_signal(int number) { return prctl(PR_SET_PDEATHSIG, (unsigned long)number, 0, 0, 0); }
/// Starts a program with these descriptors as `first` and the numbers after it, and none but those and 0 to 2. All signals have their
/// default effect again. Returns 0 or an error number.
static inline int pawl_spawn(
    pid_t *pid, const char *program, char *const arguments[], char *const environment[], const int *descriptors, int count,
    int first) {
  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;
  sigset_t none, all;
  int code = posix_spawn_file_actions_init(&actions);
  if (code != 0) return code;
  code = posix_spawnattr_init(&attributes);
  if (code != 0) {
    posix_spawn_file_actions_destroy(&actions);
    return code;
  }
  sigemptyset(&none);
  sigfillset(&all);
  code = posix_spawnattr_setsigmask(&attributes, &none);
  if (code == 0) code = posix_spawnattr_setsigdefault(&attributes, &all);
  if (code == 0) code = posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  for (int index = 0; code == 0 && index < count; index++)
    code = posix_spawn_file_actions_adddup2(&actions, descriptors[index], first + index);
  if (code == 0) code = posix_spawn_file_actions_addclosefrom_np(&actions, first + count);
  if (code == 0) code = posix_spawnp(pid, program, &actions, &attributes, arguments, environment);
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  return code;
}
/// Returns the entry of the environment with this number; NULL after the last one.
static inline const char *pawl_environment(long index) { return environ[index]; }
/// Returns the type of the file system of a path (statfs(2)); -1 on failure.
static inline long pawl_file_system_type(const char *path) {
  struct statfs status;
  return statfs(path, &status) == 0 ? (long)status.f_type : -1;
}
/// Gives the calling thread, and no other, a user's rights to files. 0, or -1 and `errno`. Not through the functions of the C
/// library, which change all threads.
static inline int pawl_use_files_as(uid_t user, gid_t group, size_t count, const gid_t *groups) {
  if (syscall(SYS_setgroups, count, groups) != 0) return -1;
  syscall(SYS_setfsgid, group);
  syscall(SYS_setfsuid, user);
  return (uid_t)syscall(SYS_setfsuid, -1) == user ? 0 : -1;
}

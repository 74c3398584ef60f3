#ifndef _GNU_SOURCE
#define _GNU_SOURCE 1
#endif
#include <zlib.h>

/// Begins a gzip stream (RFC 1952), whose header has neither name nor time. A function for a macro, which Swift does not import.
static inline int pawl_gzip_init(z_streamp stream, int level) {
  return deflateInit2(stream, level, Z_DEFLATED, MAX_WBITS + 16, 8, Z_DEFAULT_STRATEGY);
}
static inline int pawl_gunzip_init(z_streamp stream) { return inflateInit2(stream, MAX_WBITS + 16); }

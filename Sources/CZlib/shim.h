#ifndef _GNU_SOURCE
#define _GNU_SOURCE 1
#endif
#include <zlib.h>

/// Macros of zlib, out of Swift's reach. A stream of gzip (RFC 1952), whose header tells no name and no time.
static inline int pawl_gzip_init(z_streamp stream, int level) {
  return deflateInit2(stream, level, Z_DEFLATED, MAX_WBITS + 16, 8, Z_DEFAULT_STRATEGY);
}
static inline int pawl_gunzip_init(z_streamp stream) { return inflateInit2(stream, MAX_WBITS + 16); }

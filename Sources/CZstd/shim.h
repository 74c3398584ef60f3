#ifndef _GNU_SOURCE
#define _GNU_SOURCE 1
#endif
#include <zstd.h>

#ifndef _GNU_SOURCE
#define _GNU_SOURCE 1
#endif
#include <event2/event.h>
#include <event2/event_struct.h>
#include <event2/util.h>

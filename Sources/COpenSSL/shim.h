#ifndef _GNU_SOURCE
#define _GNU_SOURCE 1
#endif
#include <openssl/evp.h>
#include <openssl/rand.h>
#include <openssl/crypto.h>
#include <openssl/opensslv.h>

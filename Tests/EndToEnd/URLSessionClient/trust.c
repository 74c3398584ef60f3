// Preloaded into programs that use URLSession on Linux: its libcurl trusts the authority in PAWL_CHECK_CA, too, which Foundation has no word for.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>

void *curl_easy_init(void) {
  void *(*begin)(void) = (void *(*)(void))dlsym(RTLD_NEXT, "curl_easy_init");
  int (*set)(void *, int, ...) = (int (*)(void *, int, ...))dlsym(RTLD_NEXT, "curl_easy_setopt");
  void *handle = begin();
  const char *file = getenv("PAWL_CHECK_CA");
  if (handle && file) set(handle, 10065 /* CURLOPT_CAINFO */, file);
  return handle;
}

#ifndef _GNU_SOURCE
#define _GNU_SOURCE 1
#endif
#include <openssl/bio.h>
#include <openssl/core_names.h>
#include <openssl/crypto.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/ocsp.h>
#include <openssl/opensslv.h>
#include <openssl/params.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>
#include <openssl/x509_vfy.h>
#include <openssl/x509v3.h>
#include <openssl/tls1.h>

/// Functions for macros and flags of OpenSSL, which Swift does not import.
static inline int pawl_ssl_ctx_set_min_version(SSL_CTX *context, int version) {
  return (int)SSL_CTX_set_min_proto_version(context, version);
}
static inline int pawl_ssl_ctx_set_max_version(SSL_CTX *context, int version) {
  return (int)SSL_CTX_set_max_proto_version(context, version);
}
static inline int pawl_ssl_set_min_version(SSL *ssl, int version) { return (int)SSL_set_min_proto_version(ssl, version); }
static inline void pawl_ssl_ctx_set_modes(SSL_CTX *context) {
  SSL_CTX_set_mode(context, SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
}
static inline void pawl_ssl_release_buffers(SSL *ssl) { SSL_set_mode(ssl, SSL_MODE_RELEASE_BUFFERS); }
static inline void pawl_ssl_ctx_set_read_ahead(SSL_CTX *context, size_t bytes) {
  SSL_CTX_set_read_ahead(context, 1);
  SSL_CTX_set_default_read_buffer_len(context, bytes);
}
static inline void pawl_ssl_ctx_set_common_options(SSL_CTX *context) {
  SSL_CTX_set_options(context, SSL_OP_NO_COMPRESSION | SSL_OP_NO_RENEGOTIATION);
}
static inline void pawl_ssl_ctx_set_server_options(SSL_CTX *context) {
  SSL_CTX_set_options(context, SSL_OP_CIPHER_SERVER_PREFERENCE | SSL_OP_PRIORITIZE_CHACHA);
  SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
  SSL_CTX_set_num_tickets(context, 1);
}
static inline void pawl_ssl_ctx_keep_client_sessions(SSL_CTX *context) {
  SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_CLIENT | SSL_SESS_CACHE_NO_INTERNAL);
}
static inline int pawl_ssl_ctx_set_groups(SSL_CTX *context, const char *list) {
  return (int)SSL_CTX_set1_groups_list(context, list);
}
static inline int pawl_ssl_ctx_set_verify_store(SSL_CTX *context, X509_STORE *store) {
  return (int)SSL_CTX_set1_verify_cert_store(context, store);
}
static inline void pawl_ssl_ctx_set_status_callback(SSL_CTX *context, int (*callback)(SSL *, void *)) {
  SSL_CTX_set_tlsext_status_cb(context, callback);
}
/// Sets the OCSP response and takes over its memory, which was allocated by OpenSSL.
static inline void pawl_ssl_set_ocsp_response(SSL *ssl, void *response, long count) {
  SSL_set_tlsext_status_ocsp_resp(ssl, (unsigned char *)response, count);
}
static inline int pawl_ssl_set_server_name(SSL *ssl, const char *name) { return (int)SSL_set_tlsext_host_name(ssl, name); }
static inline void *pawl_openssl_copy(const void *bytes, size_t count) { return OPENSSL_memdup(bytes, count); }
static inline void pawl_openssl_free(void *pointer) { OPENSSL_free(pointer); }
static inline void pawl_bio_retry_read(BIO *bio) { BIO_set_retry_read(bio); }
static inline void pawl_bio_clear_retry(BIO *bio) { BIO_clear_retry_flags(bio); }
static inline long pawl_bio_memory(BIO *bio, char **bytes) { return BIO_get_mem_data(bio, bytes); }
static inline int pawl_bio_ktls_sends(BIO *bio) { return BIO_get_ktls_send(bio) != 0; }
static inline void pawl_ssl_enable_ktls(SSL *ssl) {
#ifdef SSL_OP_ENABLE_KTLS
  SSL_set_options(ssl, SSL_OP_ENABLE_KTLS);
#endif
}
static inline void pawl_ssl_ctx_set_server_name_callback(SSL_CTX *context, int (*callback)(SSL *, int *, void *)) {
  SSL_CTX_set_tlsext_servername_callback(context, callback);
}
/// Begins an HMAC-SHA-256 with this key.
static inline int pawl_mac_init(EVP_MAC_CTX *context, const void *key, size_t count) {
  OSSL_PARAM parameters[2] = {
    OSSL_PARAM_construct_utf8_string(OSSL_MAC_PARAM_DIGEST, (char *)"SHA256", 0), OSSL_PARAM_construct_end(),
  };
  return EVP_MAC_init(context, (const unsigned char *)key, count, parameters);
}
/// Writes a name in the form of RFC 2253, in UTF-8.
static inline int pawl_print_name(BIO *bio, const X509_NAME *name) {
  return X509_NAME_print_ex(bio, name, 0, XN_FLAG_RFC2253 & ~ASN1_STRFLGS_ESC_MSB);
}
/// Reads the parts of the certificate ID in a response: the hashes of name and key, the hash algorithm and the serial number.
static inline int pawl_ocsp_id(const OCSP_SINGLERESP *single, ASN1_OCTET_STRING **name, ASN1_OBJECT **algorithm,
                               ASN1_OCTET_STRING **key, ASN1_INTEGER **serial) {
  const OCSP_CERTID *id = OCSP_SINGLERESP_get0_id(single);
  return id != NULL && OCSP_id_get0_info(name, algorithm, key, serial, (OCSP_CERTID *)id) == 1;
}
/// Makes a new key: type `RSA` with bits, `EC` with a curve, or `ED25519`. NULL on failure.
static inline EVP_PKEY *pawl_make_key(const char *type, const char *curve, size_t bits) {
  if (bits > 0) return EVP_PKEY_Q_keygen(NULL, NULL, type, bits);
  return curve != NULL ? EVP_PKEY_Q_keygen(NULL, NULL, type, curve) : EVP_PKEY_Q_keygen(NULL, NULL, type);
}
static inline int pawl_ssl_set_signatures(SSL *ssl, const char *list) { return (int)SSL_set1_sigalgs_list(ssl, list); }
/// Allows this version only.
static inline void pawl_ssl_set_versions(SSL *ssl, int version) {
  SSL_set_min_proto_version(ssl, version);
  SSL_set_max_proto_version(ssl, version);
}
/// On the client: the first function asks for a stapled OCSP response, the second one returns it.
static inline void pawl_ssl_ask_status(SSL *ssl) { SSL_set_tlsext_status_type(ssl, TLSEXT_STATUSTYPE_ocsp); }
static inline long pawl_ssl_get_status(SSL *ssl, unsigned char **bytes) { return SSL_get_tlsext_status_ocsp_resp(ssl, bytes); }
static inline int pawl_ssl_set_groups(SSL *ssl, const char *list) { return (int)SSL_set1_groups_list(ssl, list); }

import CLinux
import COpenSSL

/// An error from this thread's error queue of OpenSSL.
struct OpenSSLError {
  let code: UInt
  let reason: String

  static func take() -> OpenSSLError {
    let code = ERR_get_error()
    ERR_clear_error()
    guard code != 0 else { return OpenSSLError(code: 0, reason: "unknown error") }
    if let text = ERR_reason_error_string(code) { return OpenSSLError(code: code, reason: String(cString: text)) }
    return OpenSSLError(code: code, reason: "OpenSSL error \(code)")
  }

  /// Empties the error queue, so that an earlier error does not look like an error of the next call. Checks first, because
  /// emptying costs more than encrypting a small record, and the queue is almost always empty.
  static func forgetOld() {
    if ERR_peek_error() != 0 { ERR_clear_error() }
  }

  /// `ERR_GET_REASON`, for errors of libssl.
  var sslReason: Int? {
    // Errors of the system have bit 31 set; the number of the library is above the 23 bits of the reason.
    guard code & (1 << 31) == 0, (code >> 23) & 0xff == UInt(ERR_LIB_SSL) else { return nil }
    return Int(code & 0x7f_ffff)
  }

  /// The alert that the peer sent, if that is the error.
  var peerAlert: UInt8? { sslReason.flatMap { UInt8(exactly: $0 - Int(SSL_AD_REASON_OFFSET)) } }

  /// Whether the peer sent HTTP in clear.
  var isClearRequest: Bool {
    guard let sslReason else { return false }
    return sslReason == Int(SSL_R_HTTP_REQUEST) || sslReason == Int(SSL_R_HTTPS_PROXY_REQUEST)
  }
}

/// The system's text for an `errno`, always in English, even if the locale has another language.
func systemText(_ code: CInt) -> String {
  guard let text = strerrordesc_np(code) else { return "error \(code)" }
  return String(cString: text)
}

/// The time of the wall clock, in seconds since 1970.
func wallSeconds() -> Int64 {
  var time = timespec()
  clock_gettime(CLOCK_REALTIME, &time)
  return Int64(time.tv_sec)
}

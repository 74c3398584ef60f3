import CLinux
import COpenSSL

/// The oldest error in this thread's queue of OpenSSL, which is emptied.
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

  /// Empties the queue, in which an earlier error would be taken for the next call's. Looks first: emptying it costs more than
  /// a small record's encryption, and there is hardly ever anything in it.
  static func forgetOld() {
    if ERR_peek_error() != 0 { ERR_clear_error() }
  }

  /// `ERR_GET_REASON`, for errors of libssl.
  var sslReason: Int? {
    // A system's error has its highest bit of 32 set; the library's number stands above the reason's 23 bits.
    guard code & (1 << 31) == 0, (code >> 23) & 0xff == UInt(ERR_LIB_SSL) else { return nil }
    return Int(code & 0x7f_ffff)
  }

  /// The alert that the peer sent, when that is what happened.
  var peerAlert: UInt8? { sslReason.flatMap { UInt8(exactly: $0 - Int(SSL_AD_REASON_OFFSET)) } }

  /// What was read is HTTP in clear.
  var isClearRequest: Bool {
    guard let sslReason else { return false }
    return sslReason == Int(SSL_R_HTTP_REQUEST) || sslReason == Int(SSL_R_HTTPS_PROXY_REQUEST)
  }
}

/// The system's words for an `errno`, in English whatever the locale.
func systemText(_ code: CInt) -> String {
  guard let text = strerrordesc_np(code) else { return "error \(code)" }
  return String(cString: text)
}

/// Seconds since 1970.
func wallSeconds() -> Int64 {
  var time = timespec()
  clock_gettime(CLOCK_REALTIME, &time)
  return Int64(time.tv_sec)
}

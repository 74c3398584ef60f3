import COpenSSL

/// The callbacks of OpenSSL during a handshake with a client. Each call comes from within a call of the connection's engine,
/// which keeps the ``TLSServerContext`` alive.
enum ServerCallbacks {
  static func install(in context: OpaquePointer) {
    SSL_CTX_set_client_hello_cb(context, onClientHello, nil)
    SSL_CTX_set_alpn_select_cb(context, onProtocols, nil)
    SSL_CTX_set_tlsext_ticket_key_evp_cb(context, onTicket)
    SSL_CTX_set_session_ticket_cb(context, onTicketMade, onTicketOpened, nil)
    pawl_ssl_ctx_set_server_name_callback(context, onServerName)
    pawl_ssl_ctx_set_status_callback(context, onStatus)
  }

  /// The host name in the server_name extension (RFC 6066 §3), in lower case; `nil` where there is none.
  static func serverName(_ extensionContent: UnsafeRawBufferPointer) -> [UInt8]? {
    func number(_ at: Int) -> Int { Int(extensionContent[at]) << 8 | Int(extensionContent[at + 1]) }
    guard extensionContent.count > 5, number(0) == extensionContent.count - 2, extensionContent[2] == 0 else {
      return nil
    }
    let count = number(3)
    guard count > 0, count <= 255, 5 + count <= extensionContent.count else { return nil }
    var name = extensionContent[5..<(5 + count)].map { (0x41...0x5a).contains($0) ? $0 | 0x20 : $0 }
    guard !name.contains(0) else { return nil }
    if name.count > 1, name.last == UInt8(ascii: ".") { name.removeLast() }
    return name
  }

  /// The range of the chosen protocol in a client's ALPN list (RFC 7301 §3.1), by the preference of pawl; `nil` when pawl speaks
  /// none of the protocols.
  static func choose(from list: UnsafeRawBufferPointer, offersHTTP2: Bool) -> Range<Int>? {
    let known = offersHTTP2 ? ["h2", "http/1.1", "http/1.0"] : ["http/1.1", "http/1.0"]
    for name in known {
      var at = 0
      while at < list.count {
        let end = at + 1 + Int(list[at])
        guard end <= list.count else { return nil }
        if list[(at + 1)..<end].elementsEqual(name.utf8) { return (at + 1)..<end }
        at = end
      }
    }
    return nil
  }
}

private func onClientHello(
  _ ssl: OpaquePointer?, _: UnsafeMutablePointer<CInt>?, _: UnsafeMutableRawPointer?
) -> CInt {
  guard let ssl, let engine = TLSEngine.of(ssl), let server = engine.server else { return SSL_CLIENT_HELLO_ERROR }
  var bytes: UnsafePointer<UInt8>?
  var count = 0
  guard SSL_client_hello_get0_ext(ssl, UInt32(TLSEXT_TYPE_server_name), &bytes, &count) == 1 else {
    return SSL_CLIENT_HELLO_SUCCESS
  }
  guard let name = ServerCallbacks.serverName(UnsafeRawBufferPointer(start: bytes, count: count)) else {
    return SSL_CLIENT_HELLO_SUCCESS
  }
  engine.serverName = name
  let identity = server.identity(for: name)
  engine.identity = identity
  identity.apply(to: ssl)
  return SSL_CLIENT_HELLO_SUCCESS
}

/// Confirms to the client that the name it sent by SNI was used.
private func onServerName(
  _: OpaquePointer?, _: UnsafeMutablePointer<CInt>?, _: UnsafeMutableRawPointer?
) -> CInt { SSL_TLSEXT_ERR_OK }

private func onProtocols(
  _ ssl: OpaquePointer?, _ chosen: UnsafeMutablePointer<UnsafePointer<UInt8>?>?,
  _ chosenCount: UnsafeMutablePointer<UInt8>?, _ list: UnsafePointer<UInt8>?, _ count: UInt32,
  _: UnsafeMutableRawPointer?
) -> CInt {
  guard let server = TLSEngine.of(ssl)?.server, let chosen, let chosenCount, let list,
    let range = ServerCallbacks.choose(
      from: UnsafeRawBufferPointer(start: list, count: Int(count)), offersHTTP2: server.offersHTTP2)
  else { return SSL_TLSEXT_ERR_ALERT_FATAL }
  chosen.pointee = list + range.lowerBound
  chosenCount.pointee = UInt8(range.count)
  return SSL_TLSEXT_ERR_OK
}

private func onStatus(_ ssl: OpaquePointer?, _: UnsafeMutableRawPointer?) -> CInt {
  guard let ssl, let identity = TLSEngine.of(ssl)?.identity, let certificate = SSL_get_certificate(ssl),
    let staple = identity.staple(for: certificate), staple.until > wallSeconds(),
    let copy = pawl_openssl_copy(staple.response, staple.response.count)
  else { return SSL_TLSEXT_ERR_NOACK }
  pawl_ssl_set_ocsp_response(ssl, copy, staple.response.count)
  return SSL_TLSEXT_ERR_OK
}

/// Sets the keys to encrypt (`isNew`) or decrypt a ticket. Returns 0: no ticket; 1: done; 2: done, and the ticket is to be
/// renewed; -1: the handshake fails.
private func onTicket(
  _ ssl: OpaquePointer?, _ name: UnsafeMutablePointer<UInt8>?, _ vector: UnsafeMutablePointer<UInt8>?,
  _ cipher: OpaquePointer?, _ mac: OpaquePointer?, _ isNew: CInt
) -> CInt {
  guard let keys = TLSEngine.of(ssl)?.server?.tickets, let name, let vector, let cipher, let mac else { return -1 }
  if isNew == 1 {
    guard let key = keys.current(), RAND_bytes(vector, 16) == 1 else { return -1 }
    UnsafeMutableRawPointer(name).copyMemory(from: key.name, byteCount: 16)
    guard EVP_EncryptInit_ex(cipher, TicketCipher.raw, nil, key.cipher, vector) == 1, setMAC(mac, key) else {
      return -1
    }
    return 1
  }
  guard let (key, isCurrent) = keys.find(UnsafeRawBufferPointer(start: name, count: 16)) else { return 0 }
  guard setMAC(mac, key), EVP_DecryptInit_ex(cipher, TicketCipher.raw, nil, key.cipher, vector) == 1 else { return -1 }
  // In TLS 1.3 each ticket is for one resumption, and is renewed.
  return isCurrent && SSL_version(ssl) != TLS1_3_VERSION ? 1 : 2
}

/// The cipher of tickets, looked up once: `EVP_aes_256_cbc` would make OpenSSL look it up for each ticket.
private enum TicketCipher {
  // Safe: made once, never changed, and never freed.
  nonisolated(unsafe) static let raw = EVP_CIPHER_fetch(nil, "AES-256-CBC", nil)
}

/// Writes the time of the full handshake into the ticket, because a resumption makes new tickets without verifying the client's
/// certificate again.
private func onTicketMade(_ ssl: OpaquePointer?, _: UnsafeMutableRawPointer?) -> CInt {
  guard let ssl, let server = TLSEngine.of(ssl)?.server, let session = SSL_get_session(ssl),
    TicketAge.began(session) == nil
  else { return 1 }
  var began = server.tickets.now
  return SSL_SESSION_set1_ticket_appdata(session, &began, MemoryLayout<Int64>.size)
}

private func onTicketOpened(
  _ ssl: OpaquePointer?, _ session: OpaquePointer?, _: UnsafePointer<UInt8>?, _: Int, _ status: SSL_TICKET_STATUS,
  _: UnsafeMutableRawPointer?
) -> SSL_TICKET_RETURN {
  switch status {
  case SSL_TICKET_SUCCESS, SSL_TICKET_SUCCESS_RENEW:
    guard let session, let server = TLSEngine.of(ssl)?.server, TicketAge.isGood(session, now: server.tickets.now) else {
      return SSL_TICKET_RETURN(SSL_TICKET_RETURN_IGNORE_RENEW)
    }
    let isRenewed = status == SSL_TICKET_SUCCESS_RENEW
    return SSL_TICKET_RETURN(isRenewed ? SSL_TICKET_RETURN_USE_RENEW : SSL_TICKET_RETURN_USE)
  case SSL_TICKET_EMPTY, SSL_TICKET_NO_DECRYPT: return SSL_TICKET_RETURN(SSL_TICKET_RETURN_IGNORE_RENEW)
  default: return SSL_TICKET_RETURN(SSL_TICKET_RETURN_ABORT)
  }
}

/// How long a verified client certificate is accepted without a full handshake.
enum TicketAge {
  /// The limit since the full handshake, in seconds.
  static let limit = TicketKeys.rotation + TicketKeys.grace

  /// The time of the full handshake, from the ticket; `nil` in a session without it.
  static func began(_ session: OpaquePointer) -> Int64? {
    var bytes: UnsafeMutableRawPointer?
    var count = 0
    guard SSL_SESSION_get0_ticket_appdata(session, &bytes, &count) == 1, count == 8, let bytes else { return nil }
    return bytes.loadUnaligned(as: Int64.self)
  }

  static func isGood(_ session: OpaquePointer, now: Int64) -> Bool {
    guard let began = began(session), (-TicketKeys.rotation..<limit).contains(now - began) else { return false }
    guard let peer = SSL_SESSION_get0_peer(session) else { return true }
    return now < seconds(X509_get0_notAfter(peer))
  }
}

private func setMAC(_ mac: OpaquePointer, _ key: TicketKeys.Key) -> Bool {
  key.mac.withUnsafeBytes { secret in pawl_mac_init(mac, secret.baseAddress, secret.count) == 1 }
}

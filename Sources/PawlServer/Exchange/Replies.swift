import PawlHTTP
import PawlWire

/// Responses that pawl makes itself: a status, a sentence for people, and `Proxy-Status` (RFC 9209) for programs.
enum Replies {
  struct Reply {
    var head: ResponseHead
    var body: [UInt8]

    /// Returns the complete message, for connections that end after the message.
    func bytes(date: [UInt8]) -> [UInt8] {
      var head = head
      head.addOrigin(date: date)
      var output: [UInt8] = []
      HeadWriter.write(head, framing: .length(UInt64(body.count)), connection: .close, into: &output)
      return output + body
    }
  }

  static func plain(status: Int, sentence: String) -> Reply {
    var head = ResponseHead(status: status, reason: Bytes(String(describing: reasonPhrase(status))))
    head.fields.append(.contentType, "text/plain; charset=utf-8")
    head.fields.append(.cacheControl, "no-store")
    let body = Array("\(status) \(String(describing: reasonPhrase(status)))\n\n\(sentence)\n".utf8)
    return Reply(head: head, body: body)
  }

  /// The reply to a probe that asks whether requests should be sent here.
  static func health(isDraining: Bool) -> Reply {
    guard !isDraining else { return plain(status: 503, sentence: "This server is ending.") }
    var reply = plain(status: 200, sentence: "")
    reply.body = Array("ok\n".utf8)
    return reply
  }

  /// The reply to a request that cannot be parsed or accepted.
  static func refusal(status: Int, reason: StaticString) -> Reply {
    var reply = plain(status: status, sentence: String(describing: reason))
    reply.head.fields.append(.proxyStatus, "pawl; error=http_request_error; details=\"\(reason)\"")
    return reply
  }

  /// The reply if the origin could not be reached or gave no valid response.
  /// - Parameter upstream: the name of the upstream, for a trusted proxy in front of pawl, which gets the details of the error, too;
  ///   `nil`: the client may not see names and addresses of the inside, and gets the kind of the error only.
  static func failure(_ error: ProxyError, upstream: String?, requestID: [UInt8]) -> Reply {
    let id = String(decoding: requestID, as: UTF8.self)
    let place = upstream.map { "upstream \($0), " } ?? ""
    var reply = plain(
      status: error.status, sentence: "\(sentence(for: error)) (\(error.kind.rawValue), \(place)request \(id))")
    var told = error
    if upstream == nil { told.details = nil }
    reply.head.fields.append(.proxyStatus, told.fieldValue)
    if error.status == 503 { reply.head.fields.append(.retryAfter, "5") }
    return reply
  }

  /// The 412 to a condition that does not hold, or whose minted tag pawl no longer knows.
  static func preconditionFailed() -> Reply {
    plain(status: 412, sentence: "The condition of this request does not hold, or cannot be judged any more.")
  }

  static func noSite(_ authority: Bytes) -> Reply {
    plain(
      status: 404,
      sentence: "No site here answers for the host \(authority.isEmpty ? "that was not named" : authority.text).")
  }

  /// The reply to an upload's URL in a percent-encoding that pawl never uses.
  static func noUpload() -> Reply { plain(status: 404, sentence: "There is no such upload.") }

  /// The 421 to a request on a connection that was made for another host. That host may admit other clients than this one (RFC
  /// 9110 §15.5.20).
  static func misdirected() -> Reply {
    plain(
      status: 421, sentence: "This connection is for another host: please ask this one over a connection of its own.")
  }

  /// The answer to `OPTIONS *`, which is about the server itself (RFC 9110 §9.3.7).
  static func options() -> Reply {
    var head = ResponseHead(status: 200)
    head.fields.append(.allow, "GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS")
    return Reply(head: head, body: [])
  }

  /// The 405 to a TRACE that is not forwarded: pawl does not send the request back, as it may hold credentials (RFC 9110 §9.3.8).
  static func noTrace() -> Reply {
    var reply = plain(status: 405, sentence: "TRACE is not supported.")
    reply.head.fields.append(.allow, "GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS")
    return reply
  }

  private static func sentence(for error: ProxyError) -> String {
    switch error.kind {
    case .dnsError, .dnsTimeout: "The name of the server behind this proxy could not be resolved."
    case .connectionRefused: "The server behind this proxy refuses connections."
    case .connectionTimeout, .destinationIPUnroutable, .destinationUnavailable:
      "The server behind this proxy could not be reached."
    case .connectionLimitReached: "The server behind this proxy is busy; please try again shortly."
    case .httpResponseTimeout, .connectionReadTimeout: "The server behind this proxy took too long to answer."
    case .connectionTerminated, .httpResponseIncomplete:
      "The server behind this proxy closed the connection before it had answered."
    case .proxyLoopDetected: "This request loops between proxies."
    default: "The server behind this proxy did not give a usable answer."
    }
  }
}

import PawlBase
import PawlHTTP
import PawlWire

/// An answer of the admin interface that is complete in memory. Any thread.
struct AdminReply: Sendable {
  static let json = "application/json"
  static let problem = "application/problem+json"
  static let plain = "text/plain; charset=utf-8"

  var status = 200
  var mediaType: String
  var content: [UInt8]
  /// Further fields of the head.
  var fields: [(name: String, value: String)] = []

  init(status: Int = 200, _ mediaType: String, _ content: [UInt8]) {
    (self.status, self.mediaType, self.content) = (status, mediaType, content)
  }

  static func text(_ text: String) -> AdminReply { AdminReply(plain, Array(text.utf8)) }

  /// Makes an error response (RFC 9457).
  /// - Parameter detail: what went wrong, and what to do.
  static func problem(_ status: Int, _ detail: String) -> AdminReply {
    var json = JSONWriter()
    json.object {
      $0.member("type", "about:blank")
      $0.member("title", "\(reasonPhrase(status))")
      $0.member("status", status)
      $0.member("detail", detail)
    }
    return AdminReply(status: status, problem, json.line)
  }

  /// Makes a response with a JSON object.
  static func object(status: Int = 200, _ members: (inout JSONWriter) -> Void) -> AdminReply {
    var json = JSONWriter()
    json.object(members)
    return AdminReply(status: status, Self.json, json.line)
  }

  func with(_ name: String, _ value: String) -> AdminReply {
    var reply = self
    reply.fields.append((name, value))
    return reply
  }

  /// The head, with the fields that each response of the admin interface has: nothing is stored, and no browser guesses what it
  /// is.
  var head: ResponseHead {
    var head = ResponseHead(status: status, reason: Bytes(String(describing: reasonPhrase(status))))
    head.fields.append(.contentType, mediaType)
    head.fields.append(.cacheControl, "no-store")
    head.fields.append(named: "X-Content-Type-Options".utf8, "nosniff".utf8)
    for field in fields { head.fields.append(named: field.name.utf8, field.value.utf8) }
    return head
  }
}

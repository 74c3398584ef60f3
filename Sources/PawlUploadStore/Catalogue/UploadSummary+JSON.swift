package import PawlBase

extension UploadSummary {
  /// Writes the upload as a JSON object, the same at the command line and at the admin interface.
  /// - Parameter spool: the spool's directory.
  package func write(to json: inout JSONWriter, spool: String) {
    json.object {
      $0.member("id", id.hex)
      $0.member("state", "\(phase)")
      $0.member("offset", offset)
      $0.member("length", length)
      $0.member("protocol", isTus ? "tus" : "ietf")
      $0.member("method", Self.text(method))
      $0.member("scheme", Self.text(scheme))
      $0.member("host", Self.text(authority))
      $0.member("target", Self.text(target))
      $0.member("client", Self.text(clientAddress))
      $0.member("created", createdAt)
      $0.member("last_byte", lastByteAt)
      $0.member("expires", expires)
      $0.member("attempts", attempts)
      $0.member("next_attempt", nextAttempt)
      $0.member("last_error", lastError)
      $0.member("origin_status", originStatus)
      $0.member("answer_delivered", isAnswerDelivered)
      $0.member("spool", spool)
    }
  }

  /// Returns text that a client sent, with `?` for bytes that are not safe on a terminal.
  package static func text(_ bytes: [UInt8]) -> String {
    String(decoding: bytes.map { $0 > 0x20 && $0 < 0x7f ? $0 : 0x3f }, as: UTF8.self)
  }
}

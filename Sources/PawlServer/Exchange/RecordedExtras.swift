import PawlBase
import PawlHTTP
import PawlLoop
import PawlObserve
import PawlUpstream

/// Values of a request that are collected while it is answered, for formats of the access log that show them.
final class RecordedExtras {
  /// The values of ``AccessFormat/responseFields``.
  var responseFields: [Bytes?] = []
  /// The last answer of an origin.
  var origin: AccessExtras.Origin?

  /// Returns the value of a field in a head of HTTP/1.1 that pawl has written; `nil` if there is none.
  static func value(of name: String, in head: Bytes) -> Bytes? {
    var start = head.startIndex
    while start < head.endIndex {
      let line = head[start...].prefix { $0 != 0x0d }
      if let colon = line.firstIndex(of: 0x3a), line[..<colon].equalsIgnoringCase(name.utf8) {
        return line[(colon + 1)...].drop { $0 == 0x20 }
      }
      start = line.endIndex + 2
    }
    return nil
  }
}

extension IncomingRequest {
  /// The format of the access log, if it shows values that have to be collected.
  private var collectingFormat: AccessFormat? {
    guard let log = loop.accessLog, log.hasExtras else { return nil }
    return log.extras
  }

  private var collected: RecordedExtras {
    let extras = record.extras ?? RecordedExtras()
    record.extras = extras
    return extras
  }

  /// Collects the fields of the response that the format shows.
  /// - Parameters:
  ///   - length: the announced length of the content; `nil`: none.
  ///   - written: the head as it was written over HTTP/1.1, with the fields that belong to the connection.
  func collect(_ head: ResponseHead, length: UInt64? = nil, written: @autoclosure () -> Bytes = []) {
    record.takesRanges = head.fields.first(.acceptRanges)?.equalsIgnoringCase("bytes") ?? false
    guard let format = collectingFormat, !format.responseFields.isEmpty else { return }
    let text = written()
    collected.responseFields = format.responseFields.map { name in
      if text.isEmpty, name == "content-length" { return length.map { Bytes("\($0)") } }
      return (head.fields.combined(named: name.utf8) ?? RecordedExtras.value(of: name, in: text)).map(shown)
    }
  }

  /// Collects what the format shows of an exchange with an origin.
  /// - Parameter status: of the response; 0: none came.
  func collect(_ exchange: OriginExchange, status: Int) {
    guard collectingFormat != nil else { return }
    collected.origin = AccessExtras.Origin(address: exchange.peer, status: status, micros: exchange.microseconds)
  }

  /// Collects how long the exchange with the origin has taken.
  func collectEnd(_ exchange: OriginExchange) {
    guard let extras = record.extras, extras.origin != nil else { return }
    extras.origin?.micros = exchange.microseconds
  }

  /// The values that the format shows beside those of ``AccessRecord``; `nil` if it shows none.
  func accessExtras() -> AccessExtras? {
    guard let format = collectingFormat else { return nil }
    return AccessExtras(
      isSecure: facts.isSecure, serverPort: facts.port, remotePort: facts.client?.port ?? 0,
      requestLength: record.requestLength,
      headLength: record.headLength, origin: record.extras?.origin,
      requestFields: format.requestFields.map { head.fields.combined(named: $0.utf8).map(shown) },
      responseFields: record.extras?.responseFields ?? format.responseFields.map { _ in nil })
  }
}

import CLinux
import PawlBase

/// Writes a record in the operator's own format (``AccessFormat``).
extension [UInt8] {
  /// - Parameter times: the texts of the record's second.
  mutating func append(custom format: AccessFormat, _ record: AccessRecord, times: Locked<LocalTimeText>) {
    var line = CustomLine(format: format, record: record, times: times, output: [])
    swap(&line.output, &self)
    line.append()
    swap(&line.output, &self)
  }
}

/// One line while it is being written.
private struct CustomLine {
  let format: AccessFormat
  let record: AccessRecord
  let times: Locked<LocalTimeText>
  var output: [UInt8]

  mutating func append() {
    for piece in format.pieces {
      switch piece {
      case .text(let range): output.append(contentsOf: format.text[range])
      case .variable(let variable): append(variable)
      case .requestField(let index): append(record.extras?.requestFields[index])
      case .responseField(let index): append(record.extras?.responseFields[index])
      }
    }
  }

  // MARK: - Values

  private mutating func append(_ bytes: ArraySlice<UInt8>?) {
    switch format.escaping {
    case .plain: output.append(nginx: bytes)
    case .json: if let bytes { output.append(jsonBytes: bytes) }
    case .none: if let bytes { output.append(visible: bytes) }
    }
  }

  private mutating func append(text: String?) {
    switch format.escaping {
    case .plain:
      guard let text, !text.isEmpty else { return output.append(0x2d) }
      for byte in text.utf8 { output.append(nginxByte: byte) }
    case .json: if let text { output.append(jsonBytes: text.utf8) }
    case .none: if let text { output.append(visible: Array(text.utf8)[...]) }
    }
  }

  private mutating func append(word: StaticString?) {
    if let word { output.append(text: word) } else { appendMissing() }
  }

  private mutating func appendMissing() { if format.escaping == .plain { output.append(0x2d) } }

  /// Appends a number of milliseconds as seconds: `0.123`.
  private mutating func append(milliseconds: UInt64) {
    output.append(decimal: milliseconds / 1000)
    output.append(0x2e)
    output.append(decimal: milliseconds % 1000, width: 3)
  }

  private mutating func append(_ variable: AccessVariable) {
    switch variable {
    case .remoteAddress: append(record.remote)
    case .remoteUser: append(record.user)
    case .timeLocal, .timeISO8601, .seconds, .requestTime, .pawlDuration: appendTime(variable)
    case .request, .requestMethod, .requestURI, .uri, .arguments, .query, .isArguments, .serverProtocol, .scheme, .host,
      .httpReferer, .httpUserAgent, .httpHost, .requestLength, .requestID:
      appendRequest(variable)
    case .status: output.append(decimal: UInt64(clamping: record.statusForNginx), width: 3)
    case .bodyBytesSent: output.append(decimal: record.bytes)
    case .bytesSent: output.append(decimal: record.bytes + (record.extras?.headLength ?? 0))
    case .serverName: append(text: record.site)
    case .serverPort: output.append(decimal: UInt64(record.extras?.serverPort ?? 0))
    case .remotePort: output.append(decimal: UInt64(record.extras?.remotePort ?? 0))
    case .upstreamAddress, .upstreamStatus, .upstreamResponseTime, .upstreamCacheStatus: appendUpstream(variable)
    case .tlsProtocol: append(word: record.tlsVersion)
    case .tlsCipher: append(text: record.tlsCipher)
    case .clientSubject: append(text: record.clientSubject)
    case .process: output.append(decimal: UInt64(Swift.max(getpid(), 0)))
    case .pawlSite, .pawlUpstream, .pawlCache, .pawlBytesFromCache, .pawlBytesFromOrigin, .pawlBytesResumed,
      .pawlBytesReplayed, .pawlOriginResumes, .pawlEndedBy, .pawlEndReason:
      appendOwn(variable)
    }
  }

  private mutating func appendTime(_ variable: AccessVariable) {
    let second = record.time.dividedDown(by: 1000)
    switch variable {
    case .timeLocal: output.append(contentsOf: times.withLock { $0.text(ofSecond: second) })
    case .timeISO8601: output.append(contentsOf: times.withLock { $0.iso(ofSecond: second) })
    case .seconds: append(milliseconds: UInt64(clamping: record.time))
    case .requestTime: append(milliseconds: record.durationMicros / 1000)
    default: output.append(decimal: record.durationMicros)
    }
  }

  private mutating func appendRequest(_ variable: AccessVariable) {
    switch variable {
    case .request: appendRequestLine()
    case .requestMethod: append(record.method.isEmpty ? nil : record.method)
    case .requestURI: append(record.method.isEmpty ? nil : record.target)
    case .uri: append(record.method.isEmpty ? nil : record.path)
    case .arguments, .query: append(record.query)
    case .isArguments: if record.query != nil { output.append(0x3f) }
    case .serverProtocol where record.requestLine != nil: append(record.sentVersion.isEmpty ? nil : record.sentVersion)
    case .serverProtocol: append(word: record.method.isEmpty ? nil : record.version)
    case .scheme: append(word: record.extras?.isSecure == true ? "https" : "http")
    case .host: append(record.host.isEmpty ? nil : record.hostName)
    case .httpHost: append(record.host.isEmpty ? nil : record.host)
    case .httpReferer: append(record.referer)
    case .httpUserAgent: append(record.userAgent)
    case .requestLength: output.append(decimal: record.extras?.requestLength ?? 0)
    default: append(record.requestID.isEmpty ? nil : record.requestID)
    }
  }

  private mutating func appendRequestLine() {
    if let line = record.requestLine { return append(line) }
    guard !record.method.isEmpty else { return appendMissing() }
    append(record.method)
    output.append(0x20)
    append(record.target)
    output.append(0x20)
    output.append(text: record.version)
  }

  private mutating func appendUpstream(_ variable: AccessVariable) {
    if variable == .upstreamCacheStatus { return append(word: record.nginxCacheStatus) }
    guard let origin = record.extras?.origin else { return appendMissing() }
    switch variable {
    case .upstreamAddress: append(text: origin.address)
    // nginx writes the status that it makes itself when none came.
    case .upstreamStatus: output.append(decimal: UInt64(clamping: origin.status == 0 ? record.status : origin.status))
    default: append(milliseconds: origin.micros / 1000)
    }
  }

  private mutating func appendOwn(_ variable: AccessVariable) {
    switch variable {
    case .pawlSite: append(text: record.site)
    case .pawlUpstream: append(text: record.upstream)
    case .pawlCache: append(text: record.cacheOutcome)
    case .pawlBytesFromCache: output.append(decimal: record.bytesFromCache)
    case .pawlBytesFromOrigin: output.append(decimal: record.bytesFromOrigin)
    case .pawlBytesResumed: output.append(decimal: record.bytesResumed)
    case .pawlBytesReplayed: output.append(decimal: record.bytesReplayed)
    case .pawlOriginResumes: output.append(decimal: UInt64(clamping: record.originResumes))
    case .pawlEndedBy: append(text: record.endedBy.rawValue)
    default: append(text: record.endReason)
    }
  }
}

extension AccessRecord {
  /// The status that nginx logs: 499 if the client left before any response.
  var statusForNginx: Int { status == 0 && endedBy == .client ? 499 : status }

  fileprivate var path: ArraySlice<UInt8> { target.prefix { $0 != 0x3f } }

  /// The query; `nil` if there is none, or an empty one, as nginx has it.
  fileprivate var query: ArraySlice<UInt8>? {
    target.firstIndex(of: 0x3f).map { target[($0 + 1)...] }.flatMap { $0.isEmpty ? nil : $0 }
  }

  /// The host without its port.
  fileprivate var hostName: ArraySlice<UInt8> {
    let literal = host.first == 0x5b ? host.firstIndex(of: 0x5d) : nil
    guard let colon = host[(literal ?? host.startIndex)...].lastIndex(of: 0x3a) else { return host }
    return host[..<colon]
  }

  /// The word that nginx has for what the cache did.
  fileprivate var nginxCacheStatus: StaticString? {
    switch cacheOutcome {
    case "hit", "collapsed": "HIT"
    case "partial", "miss": "MISS"
    case "revalidated": "REVALIDATED"
    case "stale": "STALE"
    case "bypass": "BYPASS"
    default: nil
    }
  }
}

/// Who ended a transfer.
package enum TransferEnd: String, CaseIterable, Hashable, Sendable {
  /// Nobody: it is complete.
  case done
  /// The client left.
  case client
  /// The origin broke off, or its content changed, and pawl could not go on.
  case origin
  /// pawl: a limit, a timeout, its own end.
  case pawl
}

/// What the access log tells of one request. Bytes come as they stood on the wire; the log escapes them.
package struct AccessRecord: Sendable {
  /// When the request was complete: wall clock, milliseconds since 1970.
  package var time: Int64
  /// The client's address without its port.
  package var remote: ArraySlice<UInt8>
  /// The user name of Basic credentials; `nil` when there was none.
  package var user: ArraySlice<UInt8>?
  /// Empty when no request line could be read.
  package var method: ArraySlice<UInt8> = []
  package var target: ArraySlice<UInt8> = []
  /// As on the wire: `HTTP/1.1`.
  package var version: StaticString = "HTTP/1.1"
  /// 0 when nothing was answered.
  package var status: Int = 0
  /// Content bytes sent to the client, without the head and chunk sizes.
  package var bytes: UInt64 = 0
  package var referer: ArraySlice<UInt8>?
  package var userAgent: ArraySlice<UInt8>?
  /// From the first byte of the request to the last of the answer.
  package var durationMicros: UInt64 = 0
  package var requestID: ArraySlice<UInt8> = []
  package var host: ArraySlice<UInt8> = []
  package var site: String = ""
  package var upstream: String = ""
  /// The word of the cache outcome, `hit` for instance; `nil` when no cache was asked.
  package var cacheOutcome: String?
  /// Of ``bytes``, those that were held before the request came.
  package var bytesFromCache: UInt64 = 0
  /// Content bytes the origin sent for this transfer.
  package var bytesFromOrigin: UInt64 = 0
  /// Of ``bytesFromOrigin``, those that came after a resumption and were new.
  package var bytesResumed: UInt64 = 0
  /// Of ``bytesFromOrigin``, those that only repeated what was held, compared and dropped.
  package var bytesReplayed: UInt64 = 0
  /// How often the fetch from the origin was taken up again.
  package var originResumes: Int = 0
  package var endedBy: TransferEnd = .done
  /// Why, when it is not ``TransferEnd/done``; the word of the event log.
  package var endReason: String?

  /// `TLSv1.3`; `nil` in clear.
  package var tlsVersion: StaticString?
  /// As OpenSSL calls it.
  package var tlsCipher: String?
  /// Of the certificate that the client proved to have.
  package var clientSubject: String?

  package init(time: Int64, remote: ArraySlice<UInt8>) { (self.time, self.remote) = (time, remote) }
}

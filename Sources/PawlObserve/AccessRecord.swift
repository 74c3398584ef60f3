/// The side that ended a transfer.
package enum TransferEnd: String, CaseIterable, Hashable, Sendable {
  /// The transfer is complete.
  case done
  /// The client left.
  case client
  /// The origin broke off, or its content changed, and pawl could not go on.
  case origin
  /// pawl ended the transfer because of a limit, a timeout, or the end of the process.
  case pawl
}

/// The facts of one request for the access log. Texts are the bytes on the wire; the log escapes them.
package struct AccessRecord: Sendable {
  /// The time when the request was complete: wall clock, milliseconds since 1970.
  package var time: Int64
  /// The client's address without its port.
  package var remote: ArraySlice<UInt8>
  /// The user name of Basic credentials; `nil` without them.
  package var user: ArraySlice<UInt8>?
  /// The method; empty if the request line could not be read.
  package var method: ArraySlice<UInt8> = []
  package var target: ArraySlice<UInt8> = []
  /// The version as on the wire: `HTTP/1.1`.
  package var version: StaticString = "HTTP/1.1"
  /// The request line as the client sent it, if the request was refused before it was one; otherwise `nil`.
  package var requestLine: ArraySlice<UInt8>?
  /// The version that the client named in such a line; empty if it named none.
  package var sentVersion: ArraySlice<UInt8> = []
  /// The status of the response; 0 if there was none.
  package var status: Int = 0
  /// Content bytes sent to the client, without the head and chunk sizes.
  package var bytes: UInt64 = 0
  package var referer: ArraySlice<UInt8>?
  package var userAgent: ArraySlice<UInt8>?
  /// The time from the first byte of the request to the last byte of the response, in microseconds.
  package var durationMicros: UInt64 = 0
  package var requestID: ArraySlice<UInt8> = []
  package var host: ArraySlice<UInt8> = []
  package var site: String = ""
  package var upstream: String = ""
  /// The cache outcome, for instance `hit`; `nil` if no cache was used.
  package var cacheOutcome: String?
  /// The part of ``bytes`` that was stored before the request came.
  package var bytesFromCache: UInt64 = 0
  /// Content bytes that the origin sent for this transfer.
  package var bytesFromOrigin: UInt64 = 0
  /// The part of ``bytesFromOrigin`` that came after a resumption and was new.
  package var bytesResumed: UInt64 = 0
  /// The part of ``bytesFromOrigin`` that repeated stored bytes. It was compared with them and dropped.
  package var bytesReplayed: UInt64 = 0
  /// The number of times that the fetch from the origin was resumed.
  package var originResumes: Int = 0
  package var endedBy: TransferEnd = .done
  /// The reason, if ``endedBy`` is not ``TransferEnd/done``. It is a word that the event log also uses.
  package var endReason: String?

  /// The version of TLS, such as `TLSv1.3`; `nil` in clear.
  package var tlsVersion: StaticString?
  /// The cipher suite, by OpenSSL's name.
  package var tlsCipher: String?
  /// The subject of the client's certificate. The handshake has shown that the client has the private key.
  package var clientSubject: String?

  /// The values that only some formats show; `nil` unless the format has one of them.
  package var extras: AccessExtras?

  package init(time: Int64, remote: ArraySlice<UInt8>) { (self.time, self.remote) = (time, remote) }
}

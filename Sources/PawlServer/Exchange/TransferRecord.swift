import PawlHTTP
import PawlLoop
import PawlObserve

/// The values of one request for the access log; filled in while the request is answered.
struct TransferRecord {
  var began: Monotonic
  var cacheOutcome = CacheOutcome.none
  var status = 0
  /// Content bytes written to the client's socket.
  var bytesSent: UInt64 = 0
  /// Those of ``bytesSent`` that were in the cache before the request. The others were received from the origin during the
  /// request.
  var bytesFromCache: UInt64 = 0
  /// Content bytes received from the origin for this request; and the part of them that was requested after a break.
  var bytesFromOrigin: UInt64 = 0
  var bytesResumed: UInt64 = 0
  /// Bytes received again to be compared (replay).
  var bytesReplayed: UInt64 = 0
  var originResumes = 0
  var end: BodyEnd?
  /// The announced length of the response's content; `nil`: unknown, or no response yet.
  var announced: UInt64?
  /// Whether the response offers ranges.
  var takesRanges = false
  /// Bytes of the response's head; counted over HTTP/1 only.
  var headLength: UInt64 = 0
  /// Bytes of the request's head, over HTTP/1 only; and of its content, as far as it has come.
  var requestHeadLength: UInt64 = 0
  var contentReceived: UInt64 = 0
  var requestLength: UInt64 { requestHeadLength + contentReceived }
  /// What `log-level = debug` says of the request; `nil` at other levels.
  var notes: RequestNotes?
  /// What is collected for formats of the access log that show it; `nil` for others.
  var extras: RecordedExtras?
  var upstream = "-"
  /// When the head of the final response was given to the connection.
  var answeredAt: Monotonic?
  var sample = TransferSample()
  /// Those of ``bytesSent`` that the metrics count already, and those of them that were in the cache.
  var countedBytes: UInt64 = 0
  var countedFromCache: UInt64 = 0

  /// Forgets an answer that did not reach the client.
  mutating func forgetAnswer() {
    (status, bytesSent, bytesFromCache, answeredAt) = (0, 0, 0, nil)
  }
}

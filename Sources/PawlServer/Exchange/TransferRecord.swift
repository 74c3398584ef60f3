import PawlHTTP
import PawlLoop

/// The values of one request for the access log; filled in along the way.
struct TransferRecord {
  var began: Monotonic
  var cacheOutcome = "-"
  var status = 0
  /// Content bytes written to the client's socket.
  var bytesSent: UInt64 = 0
  /// Of those: the bytes that were in the cache before the request. The others had just been received from the origin.
  var bytesFromCache: UInt64 = 0
  /// Content bytes received from the origin for this request, and those of them that were requested after a break.
  var bytesFromOrigin: UInt64 = 0
  var bytesResumed: UInt64 = 0
  /// Bytes received again to be compared (replay).
  var bytesReplayed: UInt64 = 0
  var originResumes = 0
  var end: BodyEnd?
  var upstream = "-"
}

import PawlHTTP
import PawlLoop

/// What the access log says about one transfer; filled in along the way.
struct TransferRecord {
  var began: Monotonic
  var cacheOutcome = "-"
  var status = 0
  /// Content bytes handed to the client's socket.
  var bytesSent: UInt64 = 0
  /// Of those: from disk or memory, and just received from the origin.
  var bytesFromCache: UInt64 = 0
  /// Content bytes received from the origin for this request, and those of them that were asked for after a break.
  var bytesFromOrigin: UInt64 = 0
  var bytesResumed: UInt64 = 0
  /// Bytes received again only to be compared.
  var bytesReplayed: UInt64 = 0
  var originResumes = 0
  var end: BodyEnd?
  var upstream = "-"
}

/// Counts the bytes that the fetches for one request received, for the access log's fields `origin`, `resumed` and `replayed`.
struct FetchTally {
  var received: UInt64 = 0
  var resumed: UInt64 = 0
  var replayed: UInt64 = 0
  var resumes = 0
  /// Why the fetch last broke off, in a word of the event log; `nil`: it did not.
  var lastBreak: String?
}

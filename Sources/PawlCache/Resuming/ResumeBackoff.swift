/// The time to wait before a resumption.
///
/// Zero before the first attempt, then 100 ms, doubling up to 5 s. Up to a quarter is subtracted at random, so that transfers
/// that broke off together are not resumed together.
/// - Parameters:
///   - attempt: attempts made since the last progress; 0 for the first.
///   - jitter: 64 random bits.
package func backoff(attempt: Int, jitter: UInt64) -> Duration {
  guard attempt > 0 else { return .zero }
  let step = min(Int64(100) << min(attempt - 1, 6), 5000)
  let less = Int64(jitter % UInt64(step / 4 + 1))
  return .milliseconds(step - less)
}

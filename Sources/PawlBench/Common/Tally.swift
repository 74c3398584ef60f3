/// The counts of one worker since they were last taken.
struct Tally: Sendable {
  var completed: UInt64 = 0
  var failures: [Failure: UInt64] = [:]
  var connections: UInt64 = 0
  var received: UInt64 = 0
  var sent: UInt64 = 0
  var interruptions: UInt64 = 0
  var verified: UInt64 = 0
  /// HTTP requests on the wire.
  var exchanges: UInt64 = 0
  /// Bytes of content that were transferred again although the receiver had them.
  var again: UInt64 = 0
  /// Broken connections that this tool did not cause, and after which the operation went on.
  var survived: UInt64 = 0
  /// Operations that began again from the first byte.
  var restarts: UInt64 = 0
  /// Operations that were due while no connection was free.
  var backlog: UInt64 = 0
  /// Connections that the server closed while no request was running on them.
  var dropped: UInt64 = 0
  var latency = LatencyCounts()
  var firstByte = LatencyCounts()

  var failed: UInt64 { failures.values.reduce(0, +) }

  mutating func fail(_ failure: Failure) { failures[failure, default: 0] += 1 }

  mutating func add(_ other: Tally) {
    completed += other.completed
    failures.merge(other.failures, uniquingKeysWith: +)
    connections += other.connections
    received += other.received
    sent += other.sent
    interruptions += other.interruptions
    verified += other.verified
    exchanges += other.exchanges
    again += other.again
    survived += other.survived
    restarts += other.restarts
    backlog += other.backlog
    dropped += other.dropped
    latency.add(other.latency)
    firstByte.add(other.firstByte)
  }
}

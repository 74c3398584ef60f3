package import PawlLoop

/// The confirmations that the origin gave in the last seconds: which clients may get which response of one resource.
package struct Confirmations {
  /// The time for which a client can get another range without a new request to the origin.
  package static let time = Duration.seconds(5)
  /// The most clients that are remembered. If there are more, the oldest is forgotten.
  package static let limit = 64

  private struct Entry {
    let asker: [UInt8]
    let response: StoredResponse
    let until: Monotonic
  }

  /// The confirmations, the latest first.
  private var entries: [Entry] = []

  package init() {}

  package var isEmpty: Bool { entries.isEmpty }

  /// Returns the response that is confirmed for a client.
  /// - Parameter asker: identifies a client by all the credentials that it sends.
  package func response(for asker: [UInt8], at now: Monotonic) -> StoredResponse? {
    entries.first { $0.until > now && $0.asker == asker }?.response
  }

  package mutating func note(_ response: StoredResponse, for asker: [UInt8], at now: Monotonic) {
    entries.removeAll { $0.until <= now || $0.asker == asker }
    entries.insert(Entry(asker: asker, response: response, until: now.advanced(by: Self.time)), at: 0)
    entries.removeLast(max(0, entries.count - Self.limit))
  }

  package mutating func removeAll() { entries = [] }
}

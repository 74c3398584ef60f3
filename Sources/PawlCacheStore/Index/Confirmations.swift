package import PawlLoop

/// What the origin has said of one resource to single clients within the last seconds: that certain bytes are theirs, and still right.
package struct Confirmations {
  /// So long another range of it needs no question.
  package static let time = Duration.seconds(5)
  /// Clients that are remembered; of more, the one that was told first is forgotten.
  package static let limit = 64

  private struct Entry {
    let asker: [UInt8]
    let response: StoredResponse
    let until: Monotonic
  }

  /// The latest first.
  private var entries: [Entry] = []

  package init() {}

  package var isEmpty: Bool { entries.isEmpty }

  /// - Parameter asker: tells one client from others, with all that it shows.
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

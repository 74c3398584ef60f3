package import PawlCache

/// The current responses of one resource. Up to ``scanLimit`` responses are scanned, the newest first. If there are more, they
/// are found through an index by the values that select them, so that a look-up among thousands costs no more than among ten. If
/// there are too many, the one that was unused for the longest time is removed.
package struct Variants: RandomAccessCollection {
  /// The most responses of one resource. Each takes about 4 KiB of memory, and a file or space in a pack.
  package static let limit = 4096
  /// The most selectors among the responses (different `Vary` fields, different implicit keys). Each selector is looked up
  /// separately.
  package static let selectorLimit = 32
  /// The most responses that are scanned without an index.
  static let scanLimit = 8

  /// The responses, the newest first; in no order once there is an index.
  @usableFromInline private(set) var entries: [StoredResponse] = []
  private var index: Lookup?
  /// The index at which the clock hand (as in ``MemoryBodies``) looks for the next response to remove.
  private var hand = 0

  private struct Lookup {
    var places: [Int64: Int] = [:]
    var groups: [VariantSelector: [[UInt8]: [Int64]]] = [:]
  }

  init() {}

  @inlinable package var startIndex: Int { 0 }
  @inlinable package var endIndex: Int { entries.count }
  @inlinable package subscript(position: Int) -> StoredResponse { entries[position] }

  /// The only response; `nil` if there are more, or none.
  @inlinable package var only: StoredResponse? { entries.count == 1 ? entries[0] : nil }

  func response(number: Int64) -> StoredResponse? {
    guard let index else { return entries.first { $0.body.number == number } }
    return index.places[number].map { entries[$0] }
  }

  /// The response with this body.
  package func response(of body: StoredBody) -> StoredResponse? { response(number: body.number) }

  /// Returns the newest response that a request selects.
  /// - Parameters:
  ///   - values: returns the request's values for a selector.
  ///   - isSelected: whether the request selects a response.
  package func selected(
    by values: (VariantSelector) -> [UInt8], where isSelected: (StoredResponse) -> Bool
  ) -> StoredResponse? {
    guard index != nil else { return entries.first(where: isSelected) }
    return candidates(values).filter(isSelected).max { $0.body.number < $1.body.number }
  }

  /// Returns all responses that a request selects, the newest first.
  package func allSelected(
    by values: (VariantSelector) -> [UInt8], where isSelected: (StoredResponse) -> Bool
  ) -> [StoredResponse] {
    guard index != nil else { return entries.filter(isSelected) }
    return candidates(values).filter(isSelected).sorted { $0.body.number > $1.body.number }
  }

  /// Returns at most `limit` responses for which `isMeant` is true, among those that came last.
  package func newest(_ limit: Int, where isMeant: (StoredResponse) -> Bool) -> [StoredResponse] {
    let latest = index == nil ? entries[...] : ArraySlice(entries.suffix(Self.lookedAt).reversed())
    return Array(latest.lazy.filter(isMeant).prefix(limit))
  }

  /// The number of responses that ``newest(_:where:)`` looks at once there is an index.
  static let lookedAt = 64

  private func candidates(_ values: (VariantSelector) -> [UInt8]) -> [StoredResponse] {
    guard let index else { return entries }
    var found: [StoredResponse] = []
    for (selector, group) in index.groups {
      for number in group[values(selector)] ?? [] {
        if let place = index.places[number] { found.append(entries[place]) }
      }
    }
    return found
  }

  // MARK: Changes

  /// Adds a response as the newest.
  /// - Returns: the responses that are removed because there are too many.
  mutating func insert(_ response: StoredResponse) -> [StoredResponse] {
    if index == nil {
      entries.insert(response, at: 0)
      if entries.count > Self.scanLimit { makeIndex() }
      return []
    }
    var gone: [StoredResponse] = []
    var place = entries.count
    if place < Self.limit {
      entries.append(response)
    } else {
      place = victim()
      gone.append(entries[place])
      leaveIndex(entries[place])
      // The hand has just passed this index, so it comes to the new response last.
      entries[place] = response
    }
    enterIndex(response, at: place)
    return gone + removeOldestGroup()
  }

  /// Adds a response that was recorded before the start of the process. It is placed after the newer ones.
  mutating func append(_ response: StoredResponse) -> [StoredResponse] {
    if index == nil, entries.count < Self.scanLimit {
      entries.append(response)
      return []
    }
    return insert(response)
  }

  mutating func remove(_ body: StoredBody) {
    guard index != nil else { return entries.removeAll { $0.body.number == body.number } }
    guard let place = index?.places[body.number] else { return }
    leaveIndex(entries[place])
    let last = entries.removeLast()
    if place < entries.count {
      entries[place] = last
      index?.places[last.body.number] = place
    }
    if hand >= entries.count { hand = 0 }
    if entries.isEmpty { index = nil }
  }

  /// Replaces the response with the same body by one with another head, which may be selected by other requests.
  mutating func replace(_ response: StoredResponse) {
    guard index != nil else {
      for place in entries.indices where entries[place].body.number == response.body.number {
        entries[place] = response
      }
      return
    }
    guard let place = index?.places[response.body.number] else { return }
    leaveIndex(entries[place])
    entries[place] = response
    enterIndex(response, at: place)
  }

  // MARK: The index

  private mutating func makeIndex() {
    index = Lookup()
    for (place, response) in entries.enumerated() { enterIndex(response, at: place) }
  }

  private mutating func enterIndex(_ response: StoredResponse, at place: Int) {
    let (selector, values) = response.head.selector
    index?.places[response.body.number] = place
    index?.groups[selector, default: [:]][values, default: []].append(response.body.number)
  }

  private mutating func leaveIndex(_ response: StoredResponse) {
    let (selector, values) = response.head.selector
    index?.places[response.body.number] = nil
    index?.groups[selector]?[values]?.removeAll { $0 == response.body.number }
    if index?.groups[selector]?[values]?.isEmpty == true { index?.groups[selector]?[values] = nil }
    if index?.groups[selector]?.isEmpty == true { index?.groups[selector] = nil }
  }

  /// Returns the index of the first response that was not used since the hand last passed it. If two rounds find none, it is the
  /// response at the hand. Then the hand moves to the next response.
  private mutating func victim() -> Int {
    var patience = 2 * entries.count
    while true {
      if hand >= entries.count { hand = 0 }
      patience -= 1
      if entries[hand].body.isUnusedVariant() || patience <= 0 { break }
      hand += 1
    }
    defer { hand = (hand + 1) % entries.count }
    return hand
  }

  /// If there are too many selectors, removes one of them with all its responses: the one that has got no new response for the
  /// longest time.
  private mutating func removeOldestGroup() -> [StoredResponse] {
    guard let index, index.groups.count > Self.selectorLimit else { return [] }
    let newest = index.groups.mapValues { $0.values.lazy.flatMap(\.self).max() ?? 0 }
    guard let oldest = newest.min(by: { $0.value < $1.value })?.key else { return [] }
    let gone = (index.groups[oldest] ?? [:]).values.flatMap(\.self).compactMap { response(number: $0) }
    for response in gone { remove(response.body) }
    return gone
  }
}

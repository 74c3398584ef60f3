import PawlCache
import PawlCacheStore
import PawlHTTP
import PawlLoop

/// Compares a body that the origin has just begun to give to one request with a body that is kept for another request. The bytes are
/// compared in the pool, while the new body is filled. The comparison ends when both bodies are complete and equal, when they differ, or
/// when neither can be found out any more. It belongs to one loop, which keeps it until then.
final class PrivateComparison: DownloadJob {
  enum State: Hashable {
    case comparing, equal, different
    /// All that is held of the kept body equals the beginning of the new one, and no more of the kept body will come.
    case covered
  }

  private static let piece = 1 << 20

  let kept: StoredResponse
  let new: StoredResponse
  private let downloads: LoopDownloads
  /// The coordinators of both bodies, where the comparison is registered as a reader. So neither body is evicted and neither fill pauses.
  private let seats: [FillCoordinator]
  private(set) var state = State.comparing
  /// The number of bytes, from the start of both bodies, that were found equal.
  private(set) var compared: UInt64 = 0
  /// Whether the outcome is of use even after the client has left.
  private let goesOnAlone: Bool
  /// Called whenever more bytes were found equal, for the answer that waits for them. `nil` after the client has left.
  var progressed: (() -> Void)?
  private var decided: ((State) -> Void)?

  /// - Parameter decided: called once with the outcome, unless ``stop()`` comes before.
  init(
    _ kept: StoredResponse, with new: StoredResponse, on downloads: LoopDownloads, goesOnAlone: Bool,
    decided: @escaping (State) -> Void
  ) {
    (self.kept, self.new, self.downloads, self.goesOnAlone, self.decided) = (kept, new, downloads, goesOnAlone, decided)
    let seat = SeatToken()
    token = seat
    seats = [kept, new].map { response in
      response.body.readerMoved(token: ObjectIdentifier(seat), position: 0)
      return FillCoordinator.join(ObjectIdentifier(seat), response).coordinator
    }
  }

  private final class SeatToken {}
  private let token: SeatToken
  private var id: ObjectIdentifier { ObjectIdentifier(token) }

  func start() {
    downloads.comparisons[id] = self
    downloads.loop.nextTurn { [self] in step() }
  }

  /// Notes that the client has left. Ends the comparison, if its outcome is then of no use.
  func clientLeft() {
    progressed = nil
    guard state == .comparing, !goesOnAlone else { return }
    // The client may have left after the last byte; then the bodies are equal.
    decide(compared == kept.body.total && compared == new.body.total ? .equal : .different)
  }

  // MARK: - Comparing

  private func step() {
    guard state == .comparing else { return }
    let (a, b) = (kept.body, new.body)
    if let whole = a.total, let other = b.total, whole != other { return decide(.different) }
    // Bytes that do not go to the disk cannot be compared later.
    if a.failure != nil || b.failure != nil || a.isStreaming || b.isStreaming { return decide(.different) }
    if compared == a.total {
      if b.total == compared { return decide(.equal) }
      // The new body must not be longer than the kept one.
      return b.held.contiguousEnd(from: compared) > compared ? decide(.different) : wait(for: new)
    }
    switch a.availability(at: compared) {
    case .bytes(let until): compareNext(through: until)
    case .missing: wait(for: kept)
    case .checking:
      a.check(at: compared, on: downloads.loop) { [weak self] outcome in
        if case .unavailable = outcome { self?.decide(.different) } else { self?.step() }
      }
    case .ended, .failed: decide(.different)
    }
  }

  private func compareNext(through limit: UInt64) {
    let end = min(limit, new.body.held.contiguousEnd(from: compared), compared + UInt64(Self.piece))
    guard end > compared else { return new.body.isComplete ? decide(.different) : wait(for: new) }
    let (a, b, range) = (kept.body, new.body, compared..<end)
    downloads.pool.run({ Self.countEqual(a, b, range) }, then: downloads.loop) { [weak self] count in
      guard let self, self.state == .comparing else { return }
      if count > 0 { self.moved(to: range.lowerBound + count) }
      self.compared == end ? self.step() : self.decide(.different)
    }
  }

  /// Counts the equal bytes of both bodies, from the start of the range to the first difference. Blocking, in the pool.
  private static func countEqual(_ a: StoredBody, _ b: StoredBody, _ range: Range<UInt64>) -> UInt64 {
    let count = Int(range.upperBound - range.lowerBound)
    var (left, right) = ([UInt8](repeating: 0, count: count), [UInt8](repeating: 0, count: count))
    let read = min(
      left.withUnsafeMutableBytes { a.read(range, into: $0) }, right.withUnsafeMutableBytes { b.read(range, into: $0) })
    if read == count, left == right { return UInt64(count) }
    return UInt64((0..<max(0, read)).first { left[$0] != right[$0] } ?? max(0, read))
  }

  private func moved(to end: UInt64) {
    compared = end
    for body in [kept.body, new.body] { body.readerMoved(token: id, position: end) }
    for seat in seats { seat.moved(id) }
    progressed?()
  }

  /// Waits until more bytes of a body have come. If its fill has ended without the rest, only the compared bytes are proven.
  private func wait(for response: StoredResponse) {
    guard FillCoordinator.isFilling(response) || response.body.isComplete else {
      return decide(response === kept && compared > 0 ? .covered : .different)
    }
    response.body.wait(at: compared, token: id, on: downloads.loop) { [weak self] in self?.step() }
  }

  private func decide(_ outcome: State) {
    guard state == .comparing else { return }
    state = outcome
    downloads.events.log(
      .info, "private-compared",
      [
        "kept": kept.body.id.hex, "new": new.body.id.hex, "equal": "\(outcome != .different)",
        "compared": "\(compared)",
      ])
    decided?(outcome)
    // A reader that goes on with one of the bodies registers during this call, before the comparison leaves both bodies.
    progressed?()
    letGo()
  }

  /// Ends the comparison without an outcome; nothing is called.
  func stop() {
    guard state == .comparing else { return }
    state = .different
    letGo()
  }

  private func letGo() {
    (decided, progressed) = (nil, nil)
    for body in [kept.body, new.body] { body.readerLeft(token: id) }
    for seat in seats { seat.left(id) }
    downloads.comparisons[id] = nil
  }
}

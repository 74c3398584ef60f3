import CLinux
import PawlLoop
import PawlUpstream

/// Sends a range of a file to an origin, some MiB at a time. Pages that are not in the page cache are read in the pool first, so
/// that `sendfile` never makes the loop wait for the disk.
final class FileFeed {
  /// Bytes checked and handed over at a time.
  static let window: UInt64 = 4 << 20
  /// The distance in bytes between the probes that show whether a window is in the page cache: the kernel reads and drops pages
  /// in runs of this size.
  private static let stride: UInt64 = 64 << 10

  private let descriptor: CInt
  private let keeper: any AnyObject & Sendable
  private let end: UInt64
  private let loop: EventLoop
  private let pool: WorkerPool
  private var position: UInt64
  private var isReading = false
  /// The end of what the pool has just read. It is not probed again, since some kernels cannot report what is in the page cache.
  private var readUntil: UInt64 = 0

  /// - Parameter keeper: keeps the descriptor open.
  init(
    _ descriptor: CInt, _ range: Range<UInt64>, keeping keeper: any AnyObject & Sendable, on loop: EventLoop,
    pool: WorkerPool
  ) {
    (self.descriptor, self.keeper, self.loop, self.pool) = (descriptor, keeper, loop, pool)
    (position, end) = (range.lowerBound, range.upperBound)
  }

  /// Whether all has been handed to the exchange.
  var isDone: Bool { position == end }

  /// Hands over the next window. Call again when the exchange takes more.
  /// - Parameter more: called in a later turn of the loop, if there is more to send and the exchange will not ask for it.
  /// - Returns: whether all is handed over and the exchange takes more.
  func send(to exchange: OriginExchange, more: @escaping () -> Void) -> Bool {
    guard !isReading else { return false }
    guard position < end else { return true }
    let window = position..<(position + min(Self.window, end - position))
    guard isInMemory(window) else {
      read(window, then: more)
      return false
    }
    position = window.upperBound
    let takesMore = exchange.sendFile(
      descriptor, at: window.lowerBound, count: window.upperBound - window.lowerBound, keeping: keeper)
    guard takesMore, position < end else { return takesMore }
    // The next window waits for the next turn, so that a fast origin leaves time to other connections.
    loop.nextTurn(more)
    return false
  }

  private func isInMemory(_ range: Range<UInt64>) -> Bool {
    guard range.upperBound > readUntil else { return true }
    var byte: UInt8 = 0
    var at = range.lowerBound
    while at < range.upperBound {
      guard pawl_pread_nowait(descriptor, &byte, 1, off_t(at)) == 1 else { return false }
      at += Self.stride
    }
    return pawl_pread_nowait(descriptor, &byte, 1, off_t(range.upperBound - 1)) == 1
  }

  private func read(_ range: Range<UInt64>, then more: @escaping () -> Void) {
    isReading = true
    let (descriptor, keeper) = (descriptor, keeper)
    let isQueued = pool.run({ Self.readIn(descriptor, range, keeper) }, then: loop) { [weak self] in
      guard let self else { return }
      self.isReading = false
      self.readUntil = range.upperBound
      more()
    }
    if !isQueued { isReading = false }
  }

  /// Reads the range into the page cache; blocking. Errors are ignored, since `sendfile` will fail with the same error.
  private static func readIn(_ descriptor: CInt, _ range: Range<UInt64>, _ keeper: any AnyObject & Sendable) {
    var buffer = [UInt8](repeating: 0, count: 256 << 10)
    var at = range.lowerBound
    while at < range.upperBound {
      let count = pread(descriptor, &buffer, min(buffer.count, Int(range.upperBound - at)), off_t(at))
      guard count > 0 else { break }
      at += UInt64(count)
    }
    withExtendedLifetime(keeper) {}
  }
}

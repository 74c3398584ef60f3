import CLinux
import PawlHTTP
import PawlLoop
import PawlUploadStore

/// Bytes that one side brings faster than the other takes them, first in, first out: in a file without a name, encrypted, and counted
/// for the client. Of one loop, which it never keeps waiting for the disk.
final class Overflow {
  enum Supply {
    case bytes([UInt8])
    /// They are being read, or written: `changed` is called.
    case later
    /// There are none.
    case nothing
    /// They cannot be read any more.
    case failed
  }

  /// Bytes that wait in memory while those before them are written.
  static let memoryLimit = 256 << 10
  /// Bytes of them that count for nobody.
  static let free = 16 << 10
  /// Bytes read, or written, at a time.
  private static let piece = 64 << 10

  private let loop: LoopServices
  let file: TemporaryFile
  private let room: BufferRoom
  private let cipher: BufferCipher
  private let limit: UInt64
  /// Something has changed that the pool was to do. Set by whoever holds this.
  var changed: (() -> Void)?

  /// Behind those in the file.
  private var tail = ChunkQueue()
  private var memory = TransferMemory()
  private let who: () -> UInt64
  private var read: UInt64 = 0
  private var written: UInt64 = 0
  /// The pool writes, or reads. No ``WriteFlow``: one piece at a time of both, and what waits for it knows no end.
  private var isBusy = false
  private var isFull = false
  private var isBroken = false
  /// Those that found no room on the disk, behind what is in the file.
  private var stuck: [UInt8] = []
  /// Read in the pool, still as they are in the file.
  private var fetched: [UInt8]?

  /// - Parameter limit: bytes that the file may have.
  /// - Returns: `nil` where there is no file to be had.
  /// - Parameter who: the client's mark, for what waits in memory.
  init?(
    _ space: BufferSpace, for client: [UInt8], limit: UInt64, on loop: LoopServices, who: @escaping () -> UInt64 = { 0 }
  ) {
    guard limit > 0, let cipher = BufferCipher(), let file = space.makeFile() else { return nil }
    (self.loop, self.file, self.cipher, self.limit, self.who) = (loop, file, cipher, limit, who)
    room = space.budget.makeRoom(for: client)
  }

  deinit { memory.giveBack(on: loop) }

  /// Counted for the request's client. `nil`, too, where its route has no space for such files.
  convenience init?(for request: IncomingRequest, limit: UInt64) {
    guard let space = request.route.bufferSpace else { return nil }
    let client = UploadClient.counted(request.clientAddress)
    self.init(space, for: client, limit: limit, on: request.loop) { PlaceAccount.client(of: request) }
  }

  var isEmpty: Bool { read == written && stuck.isEmpty && tail.isEmpty && !isBusy && fetched == nil }
  /// Bytes that are in the file, or were.
  var count: UInt64 { written }
  /// Whether there is room for more: after a no from ``append(_:)`` worth looking at whenever something was taken or has changed.
  var takesMore: Bool { !isFull && !isBroken && tail.count < Self.memoryLimit && !memory.isDenied }
  /// Whether no more will be taken before this is empty.
  var isAtLimit: Bool { isFull || isBroken }

  /// Takes all of it. `false`: no more for now.
  func append(_ bytes: UnsafeRawBufferPointer) -> Bool {
    tail.append(bytes)
    writeOut()
    if tail.count > Self.free, !memory.hold(tail.count - Self.free, on: loop, who) { memory.holdsMore(on: loop) }
    return takesMore
  }

  /// Writes what waits, as far as the limits allow.
  private func writeOut() {
    defer { if tail.count <= Self.free, !memory.isEmpty { memory.giveBack(on: loop) } }
    while !isBusy, !isFull, !isBroken, !tail.isEmpty {
      let count = min(tail.count, Self.piece)
      guard UInt64(count) <= limit - min(limit, written), room.grow(by: UInt64(count)) else { return isFull = true }
      var content: [UInt8] = []
      content.reserveCapacity(count)
      while content.count < count, let (bytes, range) = tail.next(limit: count - content.count) {
        content.append(contentsOf: bytes[range])
      }
      guard let sealed = content.withUnsafeBytes({ cipher.seal($0) }) else { return isBroken = true }
      write(sealed, of: content)
    }
  }

  private func write(_ sealed: [UInt8], of bytes: [UInt8]) {
    let (file, at, clock) = (file, written, loop.loop.clock)
    let work: @Sendable () -> Duration? = {
      let began = clock.now()
      return sealed.withUnsafeBytes { file.write($0, at: at) } ? clock.now() - began : nil
    }
    if loop.expectsSlowWrites {
      isBusy = loop.pool.run(work, then: loop.loop) { [self] took in
        isBusy = false
        wrote(took, bytes)
        writeOut()
        changed?()
      }
      if isBusy { return }
    }
    wrote(work(), bytes)
  }

  private func wrote(_ took: Duration?, _ bytes: [UInt8]) {
    guard let took else {
      // The disk is full: they stay in memory, and nothing more is written.
      (stuck, isFull) = (bytes, true)
      return
    }
    loop.noteWrite(took)
    written += UInt64(bytes.count)
  }

  /// The next bytes, at most `limit` of them.
  func next(limit: Int) -> Supply {
    if isBusy { return .later }
    if let bytes = fetched {
      fetched = nil
      return opened(bytes)
    }
    if read < written { return readOn(Int(min(written - read, UInt64(min(limit, Self.piece))))) }
    if isBroken { return .failed }
    if !stuck.isEmpty {
      defer { stuck = [] }
      return .bytes(stuck)
    }
    guard let (bytes, range) = tail.next(limit: limit) else { return .nothing }
    if tail.isEmpty, !memory.isEmpty { memory.giveBack(on: loop) }
    return .bytes(Array(bytes[range]))
  }

  private func readOn(_ count: Int) -> Supply {
    let bytes = Self.read(file.descriptor, read, count, waits: false)
    if bytes.count == count { return opened(bytes) }
    let (file, at) = (file, read)
    isBusy = loop.pool.run({ Self.read(file.descriptor, at, count, waits: true) }, then: loop.loop) { [self] bytes in
      isBusy = false
      if bytes.count == count { fetched = bytes } else { (isBroken, read) = (true, written) }
      writeOut()
      changed?()
    }
    return isBusy ? .later : .failed
  }

  private func opened(_ bytes: [UInt8]) -> Supply {
    read += UInt64(bytes.count)
    guard let plain = bytes.withUnsafeBytes({ cipher.open($0) }) else { return .failed }
    return .bytes(plain)
  }

  /// - Parameter waits: for the disk, too.
  private static func read(_ descriptor: CInt, _ offset: UInt64, _ count: Int, waits: Bool) -> [UInt8] {
    [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
      filled = 0
      while filled < count {
        let start = buffer.baseAddress.map { $0 + filled }
        let at = off_t(clamping: offset + UInt64(filled))
        let got =
          waits
          ? pread(descriptor, start, count - filled, at) : pawl_pread_nowait(descriptor, start, count - filled, at)
        if got < 0, pawl_errno() == EINTR { continue }
        guard got > 0 else { return }
        filled += got
      }
    }
  }
}

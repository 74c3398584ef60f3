import CLinux
import PawlHTTP
import PawlLoop
import PawlUploadStore

/// A first in, first out buffer in an encrypted file without a name, for bytes that come faster than they are taken. The bytes in
/// the file count against the client's share. Belongs to one loop, which does not wait for the disk: slow reads and writes are
/// done in the pool.
final class Overflow {
  enum Supply {
    case bytes([UInt8])
    /// Bytes are being read or written: `changed` is called afterwards.
    case later
    /// There are no bytes.
    case nothing
    /// The bytes cannot be read back.
    case failed
  }

  /// The most bytes that wait in memory while earlier bytes are written.
  static let memoryLimit = 256 << 10
  /// The number of bytes in memory that do not count against the client's share.
  static let free = 16 << 10
  /// The most bytes read or written at a time.
  private static let piece = 64 << 10

  private let loop: LoopServices
  let file: TemporaryFile
  private let room: BufferRoom
  private let cipher: BufferCipher
  private let limit: UInt64
  /// Called when work in the pool has ended. Set by the holder of this object.
  var changed: (() -> Void)?

  /// Bytes in memory, which come after those in the file.
  private var tail = ChunkQueue()
  private var memory = TransferMemory()
  private let who: () -> UInt64
  private var read: UInt64 = 0
  private var written: UInt64 = 0
  /// Whether the pool writes or reads, one piece at a time. ``WriteFlow`` does not fit here: it has no reads, and it has an end,
  /// which this buffer does not have.
  private var isBusy = false
  private var isFull = false
  private var isBroken = false
  /// Bytes that could not be written, for instance because the disk is full. They come after those in the file.
  private var stuck: [UInt8] = []
  /// Bytes that the pool has read, still encrypted.
  private var fetched: [UInt8]?

  /// Makes the file. `nil`: no file could be made.
  /// - Parameter limit: the most bytes in the file.
  /// - Parameter who: returns the client's mark (``PlaceMarks``), for the bytes that wait in memory.
  init?(
    _ space: BufferSpace, for client: [UInt8], limit: UInt64, on loop: LoopServices, who: @escaping () -> UInt64 = { 0 }
  ) {
    guard limit > 0, let cipher = BufferCipher(), let file = space.makeFile() else { return nil }
    (self.loop, self.file, self.cipher, self.limit, self.who) = (loop, file, cipher, limit, who)
    room = space.budget.makeRoom(for: client)
  }

  deinit { memory.giveBack(on: loop) }

  /// Makes a file whose bytes count for the request's client. `nil`: no file could be made, or the request's route has no space
  /// for such files.
  convenience init?(for request: IncomingRequest, limit: UInt64) {
    guard let space = request.route.bufferSpace else { return nil }
    let client = UploadClient.counted(request.clientAddress)
    self.init(space, for: client, limit: limit, on: request.loop) { PlaceMarks.client(of: request) }
  }

  var isEmpty: Bool { read == written && stuck.isEmpty && tail.isEmpty && !isBusy && fetched == nil }
  /// The number of bytes written to the file, including those read since.
  var count: UInt64 { written }
  /// Whether the caller may append more bytes. After ``append(_:)`` returned `false`, the caller reads this again whenever bytes
  /// were taken or `changed` was called.
  var takesMore: Bool { !isFull && !isBroken && tail.count < Self.memoryLimit && !memory.isDenied }
  /// Whether no more bytes are written to the file, because it is full or broken.
  var isAtLimit: Bool { isFull || isBroken }

  /// Takes all the bytes. `false`: the caller has to wait before it appends more bytes (``takesMore``).
  func append(_ bytes: UnsafeRawBufferPointer) -> Bool {
    tail.append(bytes)
    writeOut()
    if tail.count > Self.free, !memory.hold(tail.count - Self.free, on: loop, who) { memory.holdsMore(on: loop) }
    return takesMore
  }

  /// Writes as many of the waiting bytes as the limits allow.
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
      // The write failed, so these bytes stay in memory, and no more are written.
      (stuck, isFull) = (bytes, true)
      return
    }
    loop.noteWrite(took)
    written += UInt64(bytes.count)
  }

  /// Returns the next bytes, at most `limit` of them.
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

  /// - Parameter waits: whether to wait for the disk; else only the page cache is read.
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

import PawlBase
import PawlDisk
import PawlLoop

/// The disk space for uploads: the budget of the spool, and each client's share of it. It counts received bytes, and bytes that
/// are promised (reserved) for running transfers. A declared length alone reserves nothing.
final class UploadBudget: Sendable {
  private struct Use {
    var openCount = 0
    var wholePartCount = 0
    /// Received and promised bytes.
    var bytes: UInt64 = 0
  }
  /// The kind of an upload, by which it counts against the limits of its client.
  enum Place {
    case none, open
    /// A part of a concatenation that has all its bytes, and waits for the concatenation.
    case wholePart
  }

  let disk: DiskBudget
  /// The part of ``disk`` that is used for the records of uploads (``UploadRecord``).
  private let keptBytes = Locked<UInt64>(0)
  private struct Limits {
    var share: UInt64
    var openLimit: Int

    init(maxSize: UInt64, sharePercent: Int, openLimit: Int) {
      let percent = UInt64(clamping: max(1, min(100, sharePercent)))
      share = percent == 100 ? maxSize : maxSize / 100 * percent
      self.openLimit = openLimit
    }
  }
  private let limits: Locked<Limits>
  /// The most bytes of one client.
  var share: UInt64 { limits.withLock { $0.share } }
  private var openLimit: Int { limits.withLock { $0.openLimit } }
  private let clients = Locked([[UInt8]: Use]())

  /// Bytes promised to a writer when it begins.
  static let leastStep: UInt64 = 256 << 10
  /// The most bytes promised to one writer.
  static let step: UInt64 = 64 << 20
  /// How many complete parts a client may have for each open upload that it may have.
  static let wholePartsPerOpen = 10

  init(_ disk: DiskBudget, sharePercent: Int, openLimit: Int) {
    self.disk = disk
    limits = Locked(Limits(maxSize: disk.maxSize, sharePercent: sharePercent, openLimit: openLimit))
  }

  /// Uses other limits for all uploads from now on. Nothing that was received or promised is taken back.
  func setLimits(maxSize: UInt64, minFree: UInt64, sharePercent: Int, openLimit: Int) {
    disk.setLimits(maxSize: maxSize, minFree: minFree)
    limits.withLock { $0 = Limits(maxSize: maxSize, sharePercent: sharePercent, openLimit: openLimit) }
  }

  /// Counts a new upload of this client; returns `nil`, or why it is refused. A client with an empty name has no limits of its
  /// own, only those of the spool.
  /// - Parameter record: the size of its record (``UploadRecord``).
  func admit(
    _ client: [UInt8], length: UInt64?, isPart: Bool = false, record: UInt64 = 0
  ) -> UploadStoreRefusal? {
    let wanted = length ?? 1
    if wanted > (client.isEmpty ? disk.maxSize : share) { return .tooLarge }
    let (whole, overflows) = wanted.addingReportingOverflow(record)
    if overflows || disk.shortfall(whole) != 0 { return .full }
    let refusal = client.isEmpty ? nil : count(client, whole, isPart: isPart, record: record)
    if refusal == nil { noteKept(from: 0, to: record) }
    return refusal
  }

  private func count(_ client: [UInt8], _ wanted: UInt64, isPart: Bool, record: UInt64) -> UploadStoreRefusal? {
    clients.withLock { clients in
      var use = clients[client] ?? Use()
      let openLimit = openLimit
      if use.openCount >= openLimit { return .tooManyUploads }
      if isPart && use.wholePartCount / Self.wholePartsPerOpen >= openLimit { return .tooManyUploads }
      let share = share
      if wanted > share - min(share, use.bytes) { return .clientShare }
      use.openCount += 1
      use.bytes += record
      clients[client] = use
      return nil
    }
  }

  // MARK: Records

  /// Bytes of the records of all uploads together.
  var kept: UInt64 { keptBytes.withLock { $0 } }

  /// Notes the new size of the record of an upload. A larger record is never refused, but leaves less space for new uploads.
  func keep(_ client: [UInt8], from old: UInt64, to new: UInt64) {
    guard old != new else { return }
    noteKept(from: old, to: new)
    change(client) { $0.bytes = $0.bytes - min(old, $0.bytes) + new }
  }

  /// Whether there is space for `bytes` more bytes in records of this client.
  func hasRoom(_ client: [UInt8], _ bytes: UInt64) -> Bool {
    guard disk.shortfall(bytes) == 0 else { return false }
    guard !client.isEmpty else { return true }
    let share = share
    return bytes <= share - min(share, clients.withLock { $0[client]?.bytes ?? 0 })
  }

  private func noteKept(from old: UInt64, to new: UInt64) {
    new > old ? disk.charge(new - old) : disk.uncharge(old - new)
    keptBytes.withLock { $0 = $0 - min(old, $0) + new }
  }

  // MARK: Bytes

  /// Counts a concatenation, and reserves its bytes. A concatenation is complete when it is created, so it never counts as open.
  /// `replaced` is the number of bytes of its parts that count for this client. The parts are removed soon after the answer, so
  /// their bytes do not count against the share here.
  func admitWhole(
    _ client: [UInt8], length: UInt64, replacing replaced: UInt64, record: UInt64 = 0
  ) -> UploadStoreRefusal? {
    if length > (client.isEmpty ? disk.maxSize : share) { return .tooLarge }
    guard client.isEmpty else { return countWhole(client, length, replaced, record) }
    guard disk.reserve(length) else { return .full }
    noteKept(from: 0, to: record)
    return nil
  }

  private func countWhole(
    _ client: [UInt8], _ length: UInt64, _ replaced: UInt64, _ record: UInt64
  ) -> UploadStoreRefusal? {
    clients.withLock { clients in
      var use = clients[client] ?? Use()
      let others = use.bytes - min(use.bytes, replaced)
      let share = share
      if length > share - min(share, others) { return .clientShare }
      guard disk.reserve(length) else { return .full }
      noteKept(from: 0, to: record)
      use.bytes += length + record
      clients[client] = use
      return nil
    }
  }

  /// Counts an upload that pawl found when it started.
  func recover(_ client: [UInt8], bytes: UInt64, as place: Place) {
    disk.charge(bytes)
    change(client) { $0.bytes += bytes }
    move(client, from: .none, to: place)
  }

  /// Notes that an upload is not open any more.
  func leave(_ client: [UInt8]) { move(client, from: .open, to: .none) }

  func move(_ client: [UInt8], from old: Place, to new: Place) {
    guard old != new else { return }
    change(client) { use in
      for (place, step) in [(old, -1), (new, 1)] {
        switch place {
        case .none: break
        case .open: use.openCount += step
        case .wholePart: use.wholePartCount += step
        }
      }
    }
  }

  /// Reserves `wanted` bytes. If the spool or the client's share has less space, reserves all of that space. Returns the reserved
  /// number.
  func promise(_ client: [UInt8], upTo wanted: UInt64) -> UInt64 {
    guard !client.isEmpty else { return disk.reserve(upTo: wanted) }
    return clients.withLock { clients in
      var use = clients[client] ?? Use()
      let share = share
      let granted = disk.reserve(upTo: min(wanted, share - min(share, use.bytes)))
      use.bytes += granted
      clients[client] = use
      return granted
    }
  }

  /// Reserves `bytes` bytes for this client, or nothing. Returns `nil`, or why there is not enough space.
  func take(_ client: [UInt8], _ bytes: UInt64) -> UploadStoreRefusal? {
    let granted = promise(client, upTo: bytes)
    guard granted < bytes else { return nil }
    giveBack(client, granted)
    return disk.shortfall(bytes) == 0 ? .clientShare : .full
  }

  /// Gives back promised space that was not used.
  func giveBack(_ client: [UInt8], _ bytes: UInt64) {
    guard bytes > 0 else { return }
    disk.release(bytes)
    forget(client, bytes)
  }

  /// Subtracts received bytes from the client; ``disk`` counts them separately.
  func forget(_ client: [UInt8], _ bytes: UInt64) { change(client) { $0.bytes -= min(bytes, $0.bytes) } }

  private func change(_ client: [UInt8], _ body: (inout Use) -> Void) {
    guard !client.isEmpty else { return }
    clients.withLock { clients in
      var use = clients[client] ?? Use()
      body(&use)
      clients[client] = use.openCount == 0 && use.wholePartCount == 0 && use.bytes == 0 ? nil : use
    }
  }
}

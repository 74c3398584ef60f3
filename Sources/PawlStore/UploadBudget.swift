import PawlLoop

/// What uploads may occupy: the spool's own budget, and of it each client's share. Received bytes count, and of a
/// transfer under way what is promised to it; a declared length alone locks nothing.
final class UploadBudget: Sendable {
  private struct Use {
    var openCount = 0
    /// Received and promised.
    var bytes: UInt64 = 0
  }
  let disk: DiskBudget
  /// The most bytes of one client.
  let share: UInt64
  private let openLimit: Int
  private let clients = Locked([[UInt8]: Use]())

  /// Promised to a writer at the beginning, bytes.
  static let leastStep: UInt64 = 256 << 10
  /// Promised to one writer at the most, bytes.
  static let step: UInt64 = 64 << 20

  init(_ disk: DiskBudget, sharePercent: Int, openLimit: Int) {
    (self.disk, self.openLimit) = (disk, openLimit)
    let percent = UInt64(clamping: max(1, min(100, sharePercent)))
    share = percent == 100 ? disk.maxSize : disk.maxSize / 100 * percent
  }

  /// Counts a new upload of this client, or says why not. A client without a name has no share.
  func admit(_ client: [UInt8], length: UInt64?) -> UploadStoreRefusal? {
    let wanted = length ?? 1
    if wanted > (client.isEmpty ? disk.maxSize : share) { return .tooLarge }
    if disk.shortfall(wanted) != 0 { return .full }
    if client.isEmpty { return nil }
    return clients.withLock { clients in
      var use = clients[client] ?? Use()
      if use.openCount >= openLimit { return .tooManyUploads }
      if wanted > share - min(share, use.bytes) { return .clientShare }
      use.openCount += 1
      clients[client] = use
      return nil
    }
  }

  /// An upload that was there at the start.
  func recover(_ client: [UInt8], bytes: UInt64, isOpen: Bool) {
    disk.charge(bytes)
    change(client) { use in
      use.bytes += bytes
      if isOpen { use.openCount += 1 }
    }
  }

  /// An upload is not open any more.
  func leave(_ client: [UInt8]) { change(client) { $0.openCount -= 1 } }

  /// As much of `wanted` as the spool and the client's share have room for.
  func promise(_ client: [UInt8], upTo wanted: UInt64) -> UInt64 {
    guard !client.isEmpty else { return disk.reserve(upTo: wanted) }
    return clients.withLock { clients in
      var use = clients[client] ?? Use()
      let granted = disk.reserve(upTo: min(wanted, share - min(share, use.bytes)))
      use.bytes += granted
      clients[client] = use
      return granted
    }
  }

  /// A promise ends without bytes.
  func giveBack(_ client: [UInt8], _ bytes: UInt64) {
    guard bytes > 0 else { return }
    disk.release(bytes)
    forget(client, bytes)
  }

  /// Received bytes do not count for the client any more; the disk has its own account of them.
  func forget(_ client: [UInt8], _ bytes: UInt64) { change(client) { $0.bytes -= min(bytes, $0.bytes) } }

  private func change(_ client: [UInt8], _ body: (inout Use) -> Void) {
    guard !client.isEmpty else { return }
    clients.withLock { clients in
      var use = clients[client] ?? Use()
      body(&use)
      clients[client] = use.openCount == 0 && use.bytes == 0 ? nil : use
    }
  }
}

import CLinux
import PawlDisk
import PawlLoop

/// The files under `bodies/`: `ab/` and 32 hexadecimal digits, 0600.
enum BodyFile {
  /// Makes a new one. Blocking. Its blocks come with its bytes: to take them ahead keeps the first byte of a large body
  /// waiting (1 ms a GiB on ext4), and file systems that allocate late lay out one that is written in order just as well.
  static func create(_ id: ObjectID, _ core: BodyCore, _ charge: DiskCharge) throws(StoreError) -> BodyDescriptor {
    BodyDescriptor(adopting: try create(id, core), pool: core.pool, charge: charge)
  }

  /// The same, of which nobody is the owner yet.
  static func create(_ id: ObjectID, _ core: BodyCore) throws(StoreError) -> CInt {
    try Files.open(core.path(of: id), O_RDWR | O_CREAT | O_EXCL)
  }

  /// Opens the file of a body again that was closed for want of use; `nil`, logged, when it cannot be.
  static func reopen(_ body: StoredBody) -> BodyDescriptor? {
    let path = body.core.path(of: body.id)
    do throws(StoreError) {
      let descriptor = BodyDescriptor(
        adopting: try Files.open(path, O_RDWR | O_NOFOLLOW), pool: body.core.pool, charge: body.charge)
      return body.adopt(descriptor)
    } catch {
      body.core.events.log(.error, "body-open-failed", ["body": body.id.hex, "why": "\(error)"])
      return nil
    }
  }

  /// Unlinks the file, in the pool or, where that has stopped, here; its bytes are free when it is closed, too.
  static func remove(_ id: ObjectID, _ core: BodyCore, _ charge: DiskCharge) {
    charge.drop()
    let remove: @Sendable () -> Void = {
      unlink(id, core)
      _ = core.unrecorded.withLock { $0.remove(id) }
      withExtendedLifetime(charge) {}
    }
    if !core.pool.run(remove) { remove() }
  }

  /// Blocking.
  static func unlink(_ id: ObjectID, _ core: BodyCore) {
    do throws(StoreError) {
      try Files.unlink(core.path(of: id))
    } catch {
      core.events.log(.error, "body-unlink-failed", ["body": id.hex, "why": "\(error)"])
    }
  }
}

extension StoredBody {
  /// Takes a descriptor over unless another was faster; the one that counts. It may be another file by now.
  func adopt(_ descriptor: BodyDescriptor) -> BodyDescriptor {
    let now = core.openBodies.now()
    let (chosen, isNew) = state.withLock { state -> (BodyDescriptor, Bool) in
      state.lastTouch = now
      if let known = state.descriptor { return (known, false) }
      state.descriptor = descriptor
      return (descriptor, true)
    }
    if isNew {
      core.openBodies.add(self)
      look(at: descriptor)
    }
    return chosen
  }
}

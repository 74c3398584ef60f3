import CLinux
import PawlDisk
import PawlLoop

/// Makes, opens and removes the files under `bodies/`. A file is named by the 32 hexadecimal digits of its body's id, in a
/// directory named by the first two of them. Its mode is 0600.
enum BodyFile {
  /// Makes a new file. Blocking. Its blocks are allocated when the bytes are written, because preallocation would delay the first
  /// byte of a large body (1 ms for each GiB on ext4). If a file is written in order, file systems with delayed allocation lay it
  /// out as well as a preallocated file.
  static func create(_ id: ObjectID, _ core: BodyCore, _ charge: DiskCharge) throws(StoreError) -> BodyDescriptor {
    BodyDescriptor(adopting: try create(id, core), pool: core.pool, charge: charge)
  }

  /// Makes a new file. The caller has to close the descriptor.
  static func create(_ id: ObjectID, _ core: BodyCore) throws(StoreError) -> CInt {
    if core.isHandedOver { throw .dropped }
    return try Files.open(core.path(of: id), O_RDWR | O_CREAT | O_EXCL)
  }

  /// Opens the file of a body again after it was closed because the body was idle. Returns `nil`, and logs the error, if that
  /// fails.
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

  /// Unlinks the file in the pool, or on this thread if the pool has stopped. The disk space is free as soon as the file is also
  /// closed.
  static func remove(_ id: ObjectID, _ core: BodyCore, _ charge: DiskCharge) {
    charge.drop()
    let remove: @Sendable () -> Void = {
      unlink(id, core)
      _ = core.unrecorded.withLock { $0.remove(id) }
      withExtendedLifetime(charge) {}
    }
    if !core.pool.run(remove) { remove() }
  }

  /// Unlinks the file on this thread. Blocking.
  static func unlink(_ id: ObjectID, _ core: BodyCore) {
    if core.isHandedOver { return }
    do throws(StoreError) {
      try Files.unlink(core.path(of: id))
    } catch {
      core.events.log(.error, "body-unlink-failed", ["body": id.hex, "why": "\(error)"])
    }
  }
}

extension StoredBody {
  /// Stores the descriptor unless another thread has already stored one. Then checks whether the file was changed while it was
  /// closed.
  /// - Returns: the descriptor that is stored.
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

import CLinux
import COpenSSL

extension TLSEngine {
  /// The ciphertext that the kernel has not accepted yet, in bytes; plus 1 while `close_notify` is still to be sent.
  package var pendingCount: Int { pendingLength + (writing == .owing ? 1 : 0) }

  /// Encrypts both pieces, in this order, and sends them until the socket accepts no more.
  /// - Parameters:
  ///   - more: whether more bytes follow at once. If so, records that are together shorter than a full record may be kept until
  ///     these bytes come, or until ``flush()``.
  ///   - now: monotonic, in nanoseconds.
  package func write(
    _ first: UnsafeRawBufferPointer, _ second: UnsafeRawBufferPointer, more: Bool, now: UInt64
  ) -> Step {
    if let step = beginWriting(now) { return step }
    if kernelSends { return kernelWrite(first, second, more) }
    var sent = 0
    if first.count > 0, first.count < RecordSizer.full, second.count > 0, let content = scratch?.content {
      // A head and the content after it share a record.
      let share = min(second.count, RecordSizer.full - first.count)
      content.copyMemory(from: first)
      UnsafeMutableRawBufferPointer(rebasing: content[first.count...]).copyMemory(
        from: .init(rebasing: second[..<share]))
      sent = encrypt(.init(rebasing: content[..<(first.count + share)]))
      if sent == first.count + share { sent += encrypt(.init(rebasing: second[share...])) }
    } else {
      sent = encrypt(first)
      if sent == first.count { sent += encrypt(second) }
    }
    sendRecords(more: more)
    if let writeFailure { return .failed(writeFailure) }
    return sent > 0 ? .bytes(sent) : .wouldBlock
  }

  /// Encrypts and sends bytes of a file. Blocks where they are not in the page cache.
  package func sendFile(_ file: CInt, offset: UInt64, count: Int, now: UInt64) -> Step {
    if let step = beginWriting(now) { return step }
    if kernelSends { return kernelSendFile(file, offset, count) }
    guard let content = scratch?.content else { return .failed(ENOTCONN) }
    var sent = 0
    var trouble: Step?
    while sent < count, !isBlocked, trouble == nil, writeFailure == nil {
      guard let position = off_t(exactly: offset + UInt64(sent)) else {
        trouble = .end
        break
      }
      let got = pread(file, content.baseAddress, min(content.count, count - sent), position)
      if got > 0 {
        let taken = encrypt(.init(rebasing: content[..<got]))
        sent += taken
        if taken < got { break }
      } else if got == 0 || pawl_errno() != EINTR {
        trouble = got == 0 ? .end : .failed(pawl_errno())
      }
    }
    sendRecords(more: false)
    if let writeFailure { return .failed(writeFailure) }
    if sent > 0 { return .bytes(sent) }
    return trouble ?? .wouldBlock
  }

  /// Sends the kept ciphertext. `true` when no ciphertext is kept any more: the kernel has accepted it, or the connection is
  /// broken.
  @discardableResult
  package func flush() -> Bool {
    isBlocked = false
    if writing == .owing { kernelEnd() }
    sendRecords(more: false)
    return pendingCount == 0
  }

  /// Sends `close_notify` after all that was written, unless the connection is broken. Reading goes on. If the socket accepts all
  /// bytes, the FIN that the caller then sends goes into the same packet.
  package func endWriting() {
    guard writing.end() else { return }
    guard facts != nil, writeFailure == nil, !reading.isBroken else { return }
    if kernelSends { return kernelEnd() }
    reclaimHeld()
    _ = SSL_shutdown(ssl)
    OpenSSLError.forgetOld()
    sendRecords(more: false, isLast: true)
  }

  /// Prepares writing; `nil` when the caller may write.
  private func beginWriting(_ now: UInt64) -> Step? {
    if let writeFailure { return .failed(writeFailure) }
    guard writing == .open else { return .failed(EPIPE) }
    guard facts != nil else { return .failed(ENOTCONN) }
    guard !isBlocked else { return .wouldBlock }
    reclaimHeld()
    sizer.begin(at: now)
    return nil
  }

  /// Takes the records that were kept earlier, and puts them before the records that are gathered now.
  private func reclaimHeld() {
    guard !isBlocked, pendingLength > 0 else { return }
    let held = pending.suffix(pendingLength)
    dropPending()
    held.withUnsafeBytes { gather($0) }
  }

  /// Encrypts bytes into records, and sends them whenever the buffer is full. Returns the number of bytes that are in records:
  /// fewer than were given if the socket accepts no more.
  private func encrypt(_ bytes: UnsafeRawBufferPointer) -> Int {
    guard let base = bytes.baseAddress, let scratch else { return 0 }
    var taken = 0
    while taken < bytes.count {
      if !scratch.hasRoom {
        sendRecords(more: true)
        if isBlocked || writeFailure != nil { break }
      }
      var size = sizer.next(bytes.count - taken)
      if size == RecordSizer.full {
        // Passes several full records in one call: OpenSSL makes and frees its buffer once for each call, not for each record.
        let room = max(1, (RecordScratch.gatherSize - scratch.filled) / (RecordSizer.full + 256))
        size = min(bytes.count - taken, room * RecordSizer.full)
      }
      var count = 0
      guard SSL_write_ex(ssl, base + taken, size, &count) == 1 else {
        ERR_clear_error()
        writeFailure = EPROTO
        break
      }
      taken += count
    }
    return taken
  }

  /// Takes from OpenSSL a record that is to be sent, and adds it to the gathered records.
  func gather(_ record: UnsafeRawBufferPointer) {
    guard let scratch else { return }
    if scratch.filled + record.count > scratch.records.count { sendRecords(more: true) }
    guard scratch.filled + record.count <= scratch.records.count else {
      keep(record)
      isBlocked = true
      return
    }
    UnsafeMutableRawBufferPointer(rebasing: scratch.records[scratch.filled...]).copyMemory(from: record)
    scratch.filled += record.count
  }

  /// Sends the gathered records, and keeps what the kernel does not accept.
  /// - Parameters:
  ///   - more: whether more bytes follow. If so, records that are together shorter than a full record may be kept until then.
  ///   - isLast: whether FIN follows now.
  func sendRecords(more: Bool, isLast: Bool = false) {
    guard let scratch, scratch.filled > 0 || (pendingCount > 0 && !isBlocked) else { return }
    let gathered = UnsafeRawBufferPointer(rebasing: scratch.records[..<scratch.filled])
    scratch.filled = 0
    if writeFailure != nil {
      // The connection is broken: nothing more is sent.
    } else if isBlocked || (more && pendingCount + gathered.count < RecordSizer.full) {
      keep(gathered)
    } else if pendingCount > 0 {
      keep(gathered)
      sendPending(more || isLast)
    } else {
      let sent = send(gathered, more || isLast)
      if sent < gathered.count { keep(.init(rebasing: gathered[sent...])) }
    }
    if writeFailure != nil { dropPending() }
  }

  private func sendPending(_ more: Bool) {
    let sent = pending.suffix(pendingLength).withUnsafeBytes { send($0, more) }
    pendingLength -= sent
    if pendingLength == 0 { dropPending() }
  }

  private func dropPending() { (pending, pendingLength) = ([], 0) }

  private func keep(_ bytes: UnsafeRawBufferPointer) {
    guard bytes.count > 0 else { return }
    guard pendingCount + bytes.count <= Self.pendingLimit else {
      writeFailure = ENOBUFS
      return
    }
    pending.removeFirst(pending.count - pendingLength)
    pending.append(contentsOf: bytes)
    pendingLength += bytes.count
  }

  /// Returns how many bytes the kernel accepted; the rest waits for the socket, or is lost with it.
  private func send(_ bytes: UnsafeRawBufferPointer, _ more: Bool) -> Int {
    let flags = pawl_MSG_NOSIGNAL | (more ? pawl_MSG_MORE : 0)
    var sent = 0
    while sent < bytes.count, let base = bytes.baseAddress {
      let count = CLinux.send(descriptor, base + sent, bytes.count - sent, flags)
      if count >= 0 {
        sent += count
        guard count > 0, sent < bytes.count else { break }
        // The kernel accepted fewer bytes, so the socket is full.
        isBlocked = true
        break
      }
      switch pawl_errno() {
      case EINTR: continue
      case EAGAIN: isBlocked = true
      case let code: writeFailure = code
      }
      break
    }
    return sent
  }
}

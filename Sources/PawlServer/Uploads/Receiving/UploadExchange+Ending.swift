import PawlHTTP
import PawlLoop
import PawlUpload
import PawlUploadStore

/// The end of an upload whose content still comes when the server drains. What arrived is synced, and the client goes on from there
/// at the next process: no synced byte is sent again.
extension UploadExchange {
  /// Whether no upload goes on in this process.
  var isReplacedOrEnding: Bool { loop.isEnding || loop.isHandingOver }

  func endEarly() {
    if let wait = state.wait, loop.isHandingOver {
      // A delivery that runs goes on here, and the client waits for it.
      guard let phase = upload?.status.phase, isMoved(phase) else { return }
      return endWait(wait)
    }
    // A write in the pool ends first, so that the offset that the client is told has its bytes.
    guard state.isReceiving, state.mayWrite else { return }
    // Content with a digest counts only once all of it is verified.
    guard check == nil else { return spoiled(.ending) }
    stopTaking()
    upload?.sync(on: loop.loop) { [weak self] result in
      guard let self, !self.state.isOver else { return }
      if case .failure = result { self.refuse(.storage) } else { self.tellEnd() }
    }
  }

  /// Tells the client in its protocol that the request ends before its content does, and where to go on.
  ///
  /// - The drafts since interop version 9: 503 with `Upload-Complete: ?0` and the offset; the client asks for the offset and goes
  ///   on. In earlier versions the connection or stream is cut after a 104 with the offset: a client goes on by itself after a
  ///   connection that broke, but may take a 503 as the answer of the application.
  /// - tus: 201 with URL and offset for a creation, because only this response tells the URL; else 503, which all clients try again.
  private func tellEnd() {
    note("upload-ended-early")
    if let version, !version.goesOnAfterStatus { return cutAfterOffset(version) }
    if dialect == .tus, isCreation { return replyStored() }
    refuse(.ending)
  }

  /// Whether the client has to ask another process for the answer to an upload in this phase.
  func isMoved(_ phase: UploadPhase) -> Bool {
    guard loop.isHandingOver else { return false }
    switch phase {
    case .open, .complete: return true
    case .forwarding, .sent: return loop.hasLostDeliveries
    case .answered, .unknown, .invalid, .removed: return false
    }
  }

  /// Ends a request that waits for the application's answer. The delivery begins in the new process, where the client asks for the
  /// answer; or it began here and cannot end here, because the new process has ended.
  private func endWait(_ wait: ResponseWait) {
    wait.cancel()
    tellMoved()
  }

  /// Tells the client to ask again for the answer.
  func tellMoved() {
    note("upload-ended-early")
    if let version, !version.goesOnAfterStatus { return cutAfterOffset(version) }
    replyUndecided()
  }

  private func cutAfterOffset(_ version: InteropVersion) {
    if request.head.version.takesInterim, let offset = status?.offset,
      let head = UploadReplies.progress(version, offset: offset)
    {
      channel.interim(head)
    }
    letGo()
    channel.abandon(BodyEnd(party: .pawl, reason: "shutdown"))
  }
}

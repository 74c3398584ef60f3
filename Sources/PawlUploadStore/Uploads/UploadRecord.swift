import PawlDisk
package import PawlLoop
import PawlUpload

/// The size of the record of an upload. The record is everything that is kept besides the bytes: the row, the request, the answer.
/// It counts against the limits of the client and the spool, as the bytes do. Otherwise many small uploads could fill a disk
/// without reaching a limit.
enum UploadRecord {
  /// Bytes for each upload that is remembered: its row and the entries of indexes.
  static let row: UInt64 = 512
  /// Bytes for each upload with a file: the unused rest of its last block.
  static let file: UInt64 = 4096

  /// Returns the size for a new upload.
  static func size(of origin: UploadOrigin) -> UInt64 { row + file + UInt64(origin.serialize().count) }

  /// Returns the size for an upload with this row.
  /// - Parameters:
  ///   - origin: the origin as it is now, without the fields of the request if the upload is answered or invalid.
  ///   - answer: the size of the answer; 0: there is none.
  static func size(of origin: UploadOrigin, _ row: UploadRow, answer: UInt64) -> UInt64 {
    switch row.phase {
    case .removed: 0
    case .answered, .invalid: Self.row + UInt64(origin.serialize().count + (row.credentials?.count ?? 0)) + answer
    case .open, .complete, .forwarding, .sent, .unknown:
      size(of: origin) + UInt64(row.credentials?.count ?? 0)
    }
  }

  static func size(of answer: UploadAnswer) -> UInt64 {
    UInt64(answer.body.count + answer.reason.count + FieldsCoding.serialize(answer.fields).count)
  }
}

extension SpooledUpload {
  /// Counts the present size of the upload's record.
  func recount() {
    guard core.settings.countsRecords else { return }
    let origin = origin
    let (before, now) = state.withLock { state in
      let before = state.kept
      state.kept = UploadRecord.size(of: origin, state.row, answer: state.answerSize)
      return (before, state.kept)
    }
    core.budget.keep(client, from: before, to: now)
  }

  /// Counts the upload's record as removed.
  func forgetRecord() {
    let before = state.withLock { state in
      defer { state.kept = 0 }
      return state.kept
    }
    core.budget.keep(client, from: before, to: 0)
  }
}

extension SpooledUpload {
  /// The origin's final response. If it is not in memory any more, it is read from the catalogue, which blocks for some
  /// milliseconds.
  package var answer: UploadAnswer? {
    let (kept, phase) = state.withLock { ($0.answer, $0.row.phase) }
    guard kept == nil, phase == .answered else { return kept }
    do throws(StoreError) {
      return try core.reader.withLock { (database) throws(StoreError) in try UploadCatalogue.answer(database, id) }
    } catch {
      core.events.log(.error, "upload-answer-lost", ["upload": id.hex, "why": "\(error)"])
      return nil
    }
  }

  /// Returns ``answer``, read in the pool if necessary.
  package func loadAnswer(on loop: EventLoop, then: @escaping (UploadAnswer?) -> Void) {
    let reply = LoopReply(on: loop, then)
    if let kept = state.withLock({ $0.answer }) { return reply.send(kept) }
    if !core.pool.run({ [self] in reply.send(answer) }) { reply.send(nil) }
  }
}

extension UploadOrigin {
  /// Returns a copy without what is only needed for the delivery.
  func slimmed() -> UploadOrigin {
    var slim = self
    slim.head.fields = .init()
    slim.head.target = Array(head.target)[...]
    slim.head.authority = Array(head.authority)[...]
    (slim.clientAddress, slim.parts) = ([], [])
    return slim
  }
}

extension SpoolCore {
  /// Removes the oldest answered uploads while the records of all such uploads take more than half of their client's share, more
  /// than half of the spool, or more memory than allowed (``UploadStoreSettings/maxAnsweredMemory``). New uploads need that space.
  /// - Parameter answered: the answered uploads, in the order in which they are to be removed.
  func trimRecords(_ answered: [SpooledUpload]) {
    guard settings.countsRecords else { return }
    let (own, all) = (budget.share / 2, budget.disk.maxSize / 2)
    let (ownMemory, allMemory) = (settings.maxAnsweredMemory / 4, settings.maxAnsweredMemory)
    var byClient: [[UInt8]: (kept: UInt64, memory: UInt64)] = [:]
    var total: (kept: UInt64, memory: UInt64) = (0, 0)
    let sizes = answered.map { upload -> (kept: UInt64, memory: UInt64) in
      let (kept, answer) = upload.state.withLock { ($0.kept, $0.answerSize) }
      let memory = kept - min(kept, answer)
      byClient[upload.client, default: (0, 0)].kept += kept
      byClient[upload.client, default: (0, 0)].memory += memory
      total = (total.kept + kept, total.memory + memory)
      return (kept, memory)
    }
    for (upload, size) in zip(answered, sizes) {
      guard let use = byClient[upload.client] else { continue }
      let isOwn = !upload.client.isEmpty && (use.kept > own || use.memory > ownMemory)
      guard isOwn || total.kept > all || total.memory > allMemory else { continue }
      byClient[upload.client] = (use.kept - size.kept, use.memory - size.memory)
      total = (total.kept - size.kept, total.memory - size.memory)
      upload.remove(.crowdedOut, why: "the room is needed for newer uploads")
    }
  }
}

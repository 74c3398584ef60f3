package import PawlLoop
package import PawlObserve

/// A spool directory: uploads, their journal and their bytes. Every method may be called on any thread unless it says
/// otherwise; completions run on the loop that was given, never within the call.
package final class UploadStore: Sendable {
  private let order = Locked<(@Sendable (UploadOrder, SpooledUpload) -> Void)?>(nil)

  /// Opens the spool and recovers what is in it, blocking: before the loops start.
  package init(
    _ settings: UploadStoreSettings, pool: WorkerPool, events: EventLog, clock: any LoopClock = SystemClock()
  ) throws(StoreError) {}

  /// Bytes all uploads together may take.
  package var capacity: UInt64 { 0 }
  /// Bytes of the largest upload that one client can bring.
  package var largestUpload: UInt64 { 0 }

  /// Makes an upload without bytes.
  /// - Parameters:
  ///   - finalAt: the creation request completes the upload when so many bytes have come.
  ///   - durably: `false`: it survives `kill -9` when `then` runs (enough for a 104); `true`: a power cut (a 201).
  package func create(
    _ id: UploadID, _ origin: UploadOrigin, length: UInt64?, finalAt: UInt64?, durably: Bool, on loop: EventLoop,
    then: @escaping (Result<SpooledUpload, UploadStoreRefusal>) -> Void
  ) { loop.nextTurn { then(.failure(.full)) } }

  /// Makes an upload of the bytes of others, complete and durable (tus concatenation). The parts stay.
  package func concatenate(
    _ id: UploadID, _ origin: UploadOrigin, parts: [SpooledUpload], on loop: EventLoop,
    then: @escaping (Result<SpooledUpload, UploadStoreRefusal>) -> Void
  ) { loop.nextTurn { then(.failure(.full)) } }

  package func find(_ id: UploadID) -> SpooledUpload? { nil }
  /// Whether there was such an upload within the last day.
  package func isTombstone(_ id: UploadID) -> Bool { false }
  /// All that are live.
  package var uploads: [SpooledUpload] { [] }
  /// Makes everything durable and closes the catalogue, blocking.
  package func close() {}
  /// Runs on a thread of the store after an order of the operator was recorded: after
  /// ``UploadOrder/Kind/resend`` the upload is complete and somebody has to deliver it.
  package var onOrder: (@Sendable (UploadOrder, SpooledUpload) -> Void)? {
    get { order.withLock { $0 } }
    set { order.withLock { $0 = newValue } }
  }
}

import PawlBase
import PawlHTTP
import PawlLoop
import PawlObserve
import PawlTestKit
import PawlUpload
import PawlUploadStore
import Testing

@testable import PawlServer

@Suite("A client's wait for the answer to an upload", .timeLimit(.minutes(1))) struct ResponseWaitTests {
  /// A complete upload in a store of its own, and a wait for its answer.
  private final class Bench {
    let folder: TemporaryFolder
    let pool = WorkerPool(threads: 1)
    let clock = ManualClock()
    let loop: EventLoop
    let store: UploadStore
    let upload: SpooledUpload
    var moved: Set<UploadPhase> = []
    var outcomes: [String] = []
    private var wait: ResponseWait?

    init() throws {
      folder = try TemporaryFolder()
      let loop = try EventLoop(index: 9, clock: clock)
      let store = try UploadStore(
        UploadStoreSettings(name: "default", path: folder.path + "/spool", minFree: 0), pool: pool,
        events: EventLog { _ in }, clock: clock)
      let origin = UploadOrigin(head: RequestHead(method: .put, target: Bytes("/f"), authority: Bytes("site")))
      func get<Value>(_ start: (@escaping (Value) -> Void) -> Void) throws -> Value {
        var value: Value?
        start { value = $0 }
        loop.turn { value == nil }
        return try #require(value)
      }
      let made: Result<SpooledUpload, UploadStoreRefusal> = try get {
        store.create(.make(), origin, length: 0, finalAt: nil, durably: true, on: loop, then: $0)
      }
      let upload = try made.get()
      let isComplete: Bool = try get { upload.complete(on: loop, then: $0) }
      #expect(isComplete)
      (self.loop, self.store, self.upload) = (loop, store, upload)
    }

    deinit {
      store.close()
      pool.stop()
    }

    func start(since baseline: Int = 0, isBounded: Bool = false) {
      let wait = ResponseWait(
        upload, on: loop, since: baseline, patience: .seconds(30), isBounded: isBounded, isRepeatable: false,
        isMoved: { [unowned self] in moved.contains($0) })
      self.wait = wait
      wait.start(keepAlive: {}) { [unowned self] in
        switch $0 {
        case .answered: outcomes.append("answered")
        case .refused(let answer): outcomes.append("refused \(answer.status)")
        case .undecided: outcomes.append("undecided")
        case .moved: outcomes.append("moved")
        case .unknown, .mismatch, .lost: outcomes.append("other")
        }
      }
    }

    /// Lets the wait see what has happened.
    func turn() {
      upload.notify()
      let isOver = Locked(false)
      loop.run { isOver.withLock { $0 = true } }
      loop.turn { !isOver.withLock { $0 } }
    }
  }

  @Test("ends when another process delivers the upload, in the phases where it does")
  func moves() throws {
    let bench = try Bench()
    bench.moved = [.complete]
    #expect(bench.upload.beginForward())
    bench.start()
    bench.turn()
    #expect(bench.outcomes == [])
    bench.moved = [.complete, .forwarding]
    bench.turn()
    #expect(bench.outcomes == ["moved"])
  }

  @Test("a refusal is told before that")
  func refused() throws {
    let bench = try Bench()
    bench.moved = [.complete]
    #expect(bench.upload.beginForward())
    bench.start()
    bench.upload.lastRefusal = UploadLastRefusal(attempt: 1, answer: UploadAnswer(status: 401, at: 0))
    bench.upload.noteAttempt(failed: "401", nextAt: nil)
    bench.turn()
    #expect(bench.outcomes == ["refused 401"])
    // The next wait is not about that attempt.
    bench.start(since: 1)
    bench.turn()
    #expect(bench.outcomes == ["refused 401", "moved"])
  }

  @Test("ends undecided after the patience, while the origin works only if it is bounded", arguments: [false, true])
  func patience(isBounded: Bool) throws {
    let bench = try Bench()
    #expect(bench.upload.beginForward())
    bench.start(isBounded: isBounded)
    bench.clock.advance(by: .seconds(29))
    bench.turn()
    #expect(bench.outcomes == [])
    bench.clock.advance(by: .seconds(1))
    bench.turn()
    #expect(bench.outcomes == (isBounded ? ["undecided"] : []))
    bench.upload.noteAttempt(failed: "busy", nextAt: nil)
    bench.turn()
    #expect(bench.outcomes == ["undecided"])
  }
}

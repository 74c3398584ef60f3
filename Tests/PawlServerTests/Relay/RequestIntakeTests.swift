import PawlHTTP
import PawlLoop
import PawlTestKit
import Testing

@testable import PawlServer

@Suite("Content of a request that has no place yet") struct RequestIntakeTests {
  private func append(_ count: Int, to intake: RequestIntake) -> Bool {
    intake.measure(count)
    return [UInt8](repeating: 7, count: count).withUnsafeBytes { intake.append($0) }
  }

  private func drain(_ intake: RequestIntake) -> Int {
    var count = 0
    while case .bytes(_, let range) = intake.next() { count += range.count }
    return count
  }

  @Test("what is announced whole is waited for; what the origin may answer or keep while it comes is not")
  func waits() {
    func head(_ framing: BodyFraming, _ fields: [(FieldName, String)] = []) -> RequestHead {
      RequestHead(method: .post, target: Bytes("/"), fields: Fields(fields), framing: framing)
    }
    #expect(RequestIntake.waits(head(.length(1))) && RequestIntake.waits(head(.length(1), [(.cookie, "a")])))
    for framing in [BodyFraming.none, .length(0), .chunked] { #expect(!RequestIntake.waits(head(framing))) }
    let streams: [(FieldName, String)] = [
      (.expect, "100-continue"), (.incremental, "?1"), (.contentType, "application/grpc"), (.upgrade, "x"),
      (.tusResumable, "1.0.0"), (.uploadOffset, "0"), (.uploadComplete, "?1"), (.uploadDraftInteropVersion, "6"),
      (.uploadIncomplete, "?0"), (.contentRange, "bytes 0-1/2"),
    ]
    for field in streams { #expect(!RequestIntake.waits(head(.length(1), [field])), "\(field)") }
  }

  @Test("128 KiB within 32 ms are fast, and not later", arguments: [(32, true), (33, false)])
  func fast(_ milliseconds: Int, _ isFast: Bool) throws {
    let bench = try ServerBench()
    let intake = RequestIntake(for: bench.request(.post, framing: .length(1 << 20)), spills: true)
    #expect(append((128 << 10) - 1, to: intake) && !intake.isFast)
    bench.pass(.milliseconds(milliseconds))
    _ = append(1, to: intake)
    #expect(intake.isFast == isFast && intake.spills)
  }

  @Test("beyond 256 KiB it goes to a file, up to max-request-buffer")
  func spilled() throws {
    let bench = try ServerBench { $0.site = "max-request-buffer = 1000" }
    let intake = RequestIntake(for: bench.request(.post, framing: .length(1 << 20)), spills: true)
    bench.pass(.seconds(1))
    #expect(append(RequestIntake.memoryLimit, to: intake) && intake.takesMore && !intake.isAtLimit)
    let space = try #require(bench.route.bufferSpace)
    #expect(space.budget.usedBytes == 0)
    #expect(append(1000, to: intake) && space.budget.usedBytes == 1000)
    #expect(!append(1, to: intake) && intake.isAtLimit)
    #expect(drain(intake) == RequestIntake.memoryLimit + 1001)
    #expect(intake.isEmpty && space.budget.usedBytes == 0)
  }

  @Test("without a file, 256 KiB are all")
  func inMemory() throws {
    let bench = try ServerBench { $0.site = "max-request-buffer = 0" }
    let intake = RequestIntake(for: bench.request(.post, framing: .length(1 << 20)), spills: true)
    bench.pass(.seconds(1))
    #expect(append(RequestIntake.memoryLimit - 1, to: intake))
    #expect(!append(1, to: intake) && intake.isAtLimit)
    #expect(drain(intake) == RequestIntake.memoryLimit)
  }

  private func intake(_ bench: ServerBench, spills: Bool = true) -> RequestIntake {
    RequestIntake(for: bench.request(.post, framing: .length(1 << 20)), spills: spills)
  }

  @Test("where memory has no room, 16 KiB wait there, and the next byte in a file")
  func scarce() throws {
    let bench = try ServerBench()
    bench.exhaustMemory()
    bench.pass(.seconds(1))
    let (intake, free) = (intake(bench), RequestIntake.free.connection)
    let space = try #require(bench.route.bufferSpace)
    #expect(append(free, to: intake) && intake.takesMore && space.budget.usedBytes == 0)
    #expect(append(1, to: intake) && intake.takesMore && space.budget.usedBytes == 1)
    #expect(bench.loop.readLimit == EventLoop.readBufferSize)
    #expect(drain(intake) == free + 1 && space.budget.usedBytes == 0)
  }

  @Test("where there is no file either, the client waits, and the request asks for its place")
  func scarceWithoutFile() throws {
    let bench = try ServerBench { $0.site = "max-request-buffer = 0" }
    bench.exhaustMemory()
    bench.pass(.seconds(1))
    let (intake, free) = (intake(bench), RequestIntake.free.connection)
    #expect(append(free, to: intake) && !intake.isAtLimit)
    #expect(!append(1, to: intake) && intake.isAtLimit && bench.loop.readLimit == LoopServices.scarceRead)
    #expect(drain(intake) == free + 1 && bench.loop.readLimit == EventLoop.readBufferSize)
    #expect(append(1, to: intake) && !intake.isAtLimit)
  }

  @Test("what came fast waits for its place without a file, and goes to one when it waits long")
  func scarceAndFast() throws {
    let bench = try ServerBench()
    bench.exhaustMemory()
    let intake = intake(bench)
    // It asks for its place before it is gathered.
    intake.measure(RequestIntake.proof)
    #expect(intake.isFast)
    intake.spills = false
    #expect(!append(RequestIntake.proof, to: intake) && !intake.isAtLimit)
    let space = try #require(bench.route.bufferSpace)
    #expect(space.budget.usedBytes == 0 && bench.loop.readLimit == LoopServices.scarceRead)
    intake.spills = true
    #expect(intake.takesMore && space.budget.usedBytes == UInt64(RequestIntake.proof))
    #expect(bench.loop.readLimit == EventLoop.readBufferSize && drain(intake) == RequestIntake.proof)
  }

  @Test("what it holds of memory comes back when it is taken, forgotten or gone", arguments: [0, 1, 2])
  func givesBack(_ how: Int) throws {
    let bench = try ServerBench()
    bench.pass(.seconds(1))
    var intake: RequestIntake? = intake(bench)
    #expect(intake.map { append(RequestIntake.free.connection + 1, to: $0) } == true)
    #expect(bench.services.memory.allowance == BufferMemory.allowance - TransferMemory.step)
    switch how {
    case 0: _ = intake.map { drain($0) }
    case 1: intake?.removeAll()
    default: intake = nil
    }
    #expect(bench.services.memory.allowance == BufferMemory.allowance)
  }
}

import PawlTestKit
import Testing

@testable import PawlWire

@Suite("Floods over HTTP/2 (RFC 9113 §10.5)") struct HTTP2FloodWatchTests {
  private static let preface = HTTP2Session.preface.withUTF8Buffer { Array($0) }
  private static let padded = HTTP2Frame(kind: 0, flags: 8, stream: 1, payload: [3, 0, 0, 0])
  private static let paddedContent = HTTP2Frame(kind: 0, flags: 8, stream: 1, payload: [3, 7, 0, 0, 0])

  private static var settings: HTTP2Settings {
    var settings = HTTP2Settings()
    settings.head.maxHead = 100
    let rate = HTTP2Rate(burst: 4, perSecond: 2)
    settings.floods.resets = rate
    settings.floods.settings = rate
    settings.floods.pings = rate
    settings.floods.priorities = rate
    settings.floods.windowUpdates = rate
    settings.floods.emptyFrames = rate
    settings.floods.unknownFrames = rate
    settings.floods.continuations = 4
    return settings
  }

  @Test(
    "are seen one past the limit, and again when time has given something back",
    arguments: [
      (HTTP2Frame.reset(1), HTTP2Session.EndReason.resetFlood),
      (HTTP2Frame.settings(), .settingsFlood),
      (HTTP2Frame.ping(), .pingFlood),
      (HTTP2Frame.ping(1), .pingFlood),
      (HTTP2Frame(kind: 2, stream: 1, payload: [0, 0, 0, 0, 0]), .priorityFlood),
      (HTTP2Frame.priorityUpdate(1, "u=1"), .priorityFlood),
      (HTTP2Frame.window(0, 1), .windowUpdateFlood),
      (HTTP2Frame.data(1, []), .emptyFrameFlood),
      (padded, .emptyFrameFlood),
      (HTTP2Frame(kind: 0, flags: 8, stream: 1), .emptyFrameFlood),
      (HTTP2Frame(kind: 77, stream: 1, payload: [1]), .unknownFrameFlood),
      (HTTP2Frame(kind: 7, payload: [0, 0, 0, 0, 0, 0, 0, 0]), .unknownFrameFlood),
    ])
  func limits(_ frame: HTTP2Frame, _ reason: HTTP2Session.EndReason) {
    for piece in [Int.max, 1, 3] {
      var watch = HTTP2FloodWatch(Self.settings)
      func take(_ bytes: [UInt8], at now: Int64) -> HTTP2Breach? {
        for part in bytes.pieces(piece) { if let breach = watch.take(part.span, at: now) { return breach } }
        return nil
      }
      #expect(take(Self.preface + HTTP2Frame.get(1, end: false).bytes, at: 0) == nil)
      for _ in 0..<4 { #expect(take(frame.bytes, at: 0) == nil) }
      // Two more come back in a second.
      for _ in 0..<2 { #expect(take(frame.bytes, at: 1_000_000_000) == nil) }
      #expect(take(frame.bytes, at: 1_000_000_000) == .flood(reason))
    }
  }

  @Test(
    "are not what moves a connection on",
    arguments: [
      HTTP2Frame.data(1, [1]), paddedContent, HTTP2Frame.settingsAcknowledgement,
    ])
  func harmless(_ frame: HTTP2Frame) {
    var watch = HTTP2FloodWatch(Self.settings)
    let bytes = Self.preface + HTTP2Frame.get(1, end: false).bytes + (0..<1000).flatMap { _ in frame.bytes }
    #expect(watch.take(bytes.span, at: 0) == nil)
  }

  @Test("count acknowledgements of pawl's own PINGs as none, and WINDOW_UPDATE against what was sent")
  func expected() {
    var watch = HTTP2FloodWatch(Self.settings)
    _ = watch.take(Self.preface.span, at: 0)
    for _ in 0..<10 { watch.sentPing() }
    let answers = (0..<14).flatMap { _ in HTTP2Frame.ping(1).bytes }
    #expect(watch.take(answers.span, at: 0) == nil)
    #expect(watch.take(HTTP2Frame.ping(1).bytes.span, at: 0) == .flood(.pingFlood))
    watch = HTTP2FloodWatch(Self.settings)
    _ = watch.take(Self.preface.span, at: 0)
    for _ in 0..<3 { watch.sentData() }
    let updates = (0..<16).flatMap { _ in HTTP2Frame.window(1, 1).bytes }
    #expect(watch.take(updates.span, at: 0) == nil)
    #expect(watch.take(HTTP2Frame.window(1, 1).bytes.span, at: 0) == .flood(.windowUpdateFlood))
  }

  @Test("in one header block: CONTINUATION frames, and bytes")
  func blocks() {
    func verdict(_ first: Int, _ rest: [Int]) -> HTTP2Breach? {
      var watch = HTTP2FloodWatch(Self.settings)
      let frames =
        [HTTP2Frame(kind: 1, stream: 1, payload: [UInt8](repeating: 0, count: first))]
        + rest.map { HTTP2Frame(kind: 9, stream: 1, payload: [UInt8](repeating: 0, count: $0)) }
      let bytes = Self.preface + frames.flatMap(\.bytes)
      return watch.take(bytes.span, at: 0)
    }
    #expect(verdict(0, [0, 0, 0, 0]) == nil)
    #expect(verdict(0, [0, 0, 0, 0, 0]) == .flood(.continuationFlood))
    #expect(verdict(400, []) == nil)
    #expect(verdict(401, []) == .flood(.continuationFlood))
    #expect(verdict(200, [100, 100]) == nil)
    #expect(verdict(200, [100, 101]) == .flood(.continuationFlood))
  }

  @Test(
    "see what breaks the rules of streams, however it is cut",
    arguments: [
      (HTTP2Frame(kind: 2, payload: [0, 0, 0, 1, 0]), HTTP2ErrorCode.protocolError),
      (HTTP2Frame(kind: 2, stream: 3, payload: [0x80, 0, 0, 3, 0]), .protocolError),
      (HTTP2Frame.data(1, [1]), .streamClosed), (HTTP2Frame.get(1), .streamClosed),
    ])
  func breaches(_ frame: HTTP2Frame, _ code: HTTP2ErrorCode) {
    for piece in [Int.max, 1, 3] {
      var watch = HTTP2FloodWatch(HTTP2Settings())
      var breach: HTTP2Breach?
      let bytes = Self.preface + HTTP2Frame.get(1).bytes + frame.bytes
      for part in bytes.pieces(piece) where breach == nil { breach = watch.take(part.span, at: 0) }
      #expect(breach == .breach(code))
    }
  }

  @Test("a stream that the client makes pawl reset counts as one that it reset")
  func faults() {
    var watch = HTTP2FloodWatch(Self.settings)
    let resets = Self.preface + HTTP2Frame.reset(1).bytes + HTTP2Frame.reset(3).bytes
    #expect(watch.take(resets.span, at: 0) == nil)
    #expect(watch.resetByFault(at: 0) == nil)
    #expect(watch.resetByFault(at: 0) == nil)
    #expect(watch.resetByFault(at: 0) == .flood(.resetFlood))
  }
}

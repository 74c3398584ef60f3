import PawlHTTP
import PawlWire
import Testing

@testable import PawlServer

@Suite("Content of a request on its way") struct IncomingContentTests {
  private enum State: String, CaseIterable { case none, arriving, ended, heldBack, endedHeldBack }
  private enum Event: CaseIterable { case bytes, end, holdBack, goOn }

  /// After each event, by the state before; `nil`: impossible, and nothing changes.
  private static let next: [Event: [State?]] = [
    .bytes: [nil, .ended, .ended, nil, nil],
    .end: [State](repeating: .none, count: 5),
    .holdBack: [nil, .heldBack, .endedHeldBack, nil, nil],
    .goOn: [nil, nil, nil, .arriving, .ended],
  ]

  @Test("by what happens")
  func table() {
    for event in Event.allCases {
      for (index, state) in State.allCases.enumerated() {
        var content = Self.content(in: state)
        #expect(Self.state(of: content) == state)
        let expected = Self.next[event].flatMap { $0[index] }
        var isPossible = true
        switch event {
        case .bytes: isPossible = content.next([0x61, 0x62], 0..<2) != nil
        case .end: _ = content.end()
        case .holdBack: isPossible = content.holdBack()
        case .goOn: isPossible = content.goOn()
        }
        #expect(isPossible == (expected != nil), "\(state) \(event)")
        #expect(Self.state(of: content) == expected ?? state, "\(state) \(event)")
      }
    }
  }

  @Test("bytes are content until its end, and none while it is held back")
  func bytes() {
    var content = IncomingContent.arriving(BodyDecoder(.length(3)))
    let bytes: [UInt8] = [0x61, 0x62, 0x63, 0x64]
    #expect(content.remaining == 3)
    var event = content.next(bytes, 0..<2)
    #expect(event == .data(0..<2, consumed: 2) && content.remaining == 1)
    _ = content.holdBack()
    event = content.next(bytes, 2..<4)
    #expect(event == nil && content.remaining == 1)
    content.goOn()
    event = content.next(bytes, 2..<4)
    #expect(event == .data(2..<3, consumed: 1) && content.isEndUntold)
    event = content.next(bytes, 3..<4)
    #expect(event == .end(consumed: 0))
    let trailers = content.end()
    #expect(trailers.count == 0 && content.isNone)
  }

  private static func content(in state: State) -> IncomingContent {
    switch state {
    case .none: .none
    case .arriving: .arriving(BodyDecoder(.length(2)))
    case .ended: .arriving(BodyDecoder(.length(0)))
    case .heldBack: .heldBack(BodyDecoder(.length(2)))
    case .endedHeldBack: .heldBack(BodyDecoder(.length(0)))
    }
  }

  private static func state(of content: IncomingContent) -> State {
    if content.isNone { return .none }
    #expect(content.isUnended != content.isEndUntold)
    if content.isHeldBack { return content.isUnended ? .heldBack : .endedHeldBack }
    return content.isUnended ? .arriving : .ended
  }
}

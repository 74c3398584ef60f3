import Testing

@testable import PawlServer

@Suite("Where a collapsed fetch is") struct CollapsedFetchStateTests {
  @Test(
    "it leaves its resource once, whatever comes, and what has been told stays told",
    arguments: [
      (.asking, .leave, .concluded, .leave, .stopped), (.concluded, .nothing, .concluded, .nothing, .concluded),
      (.stopped, .nothing, .concluded, .nothing, .stopped),
    ]
      as [(
        CollapsedFetchState, CollapsedFetchState.Action, CollapsedFetchState, CollapsedFetchState.Action,
        CollapsedFetchState
      )])
  func events(
    _ from: CollapsedFetchState, _ concluding: CollapsedFetchState.Action, _ concluded: CollapsedFetchState,
    _ stopping: CollapsedFetchState.Action, _ stopped: CollapsedFetchState
  ) {
    var (first, second) = (from, from)
    #expect(first.concludes() == concluding && first == concluded)
    #expect(second.stops() == stopping && second == stopped)
  }
}

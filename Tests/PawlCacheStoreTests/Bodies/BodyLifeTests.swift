import Testing

@testable import PawlCacheStore

@Suite("The life of a body") struct BodyLifeTests {
  @Test("what has come: complete until bytes are found lost, recorded after that, and failed for good")
  func content() {
    let (first, second) = (BodyFailure.notKept, BodyFailure.removed)
    let (empty, whole) = (BodyContent.failed(first, wasComplete: false), BodyContent.failed(first, wasComplete: true))
    typealias Row = (
      BodyContent, isWhole: Bool, isComplete: Bool, completed: BodyContent, recorded: BodyContent, cut: BodyContent,
      failed: BodyContent
    )
    let table: [Row] = [
      (.filling, false, false, .complete, .filling, .filling, .failed(second, wasComplete: false)),
      (.complete, true, true, .complete, .recorded, .filling, .failed(second, wasComplete: true)),
      (.recorded, true, true, .recorded, .recorded, .filling, .failed(second, wasComplete: true)),
      (empty, false, false, empty, empty, empty, empty),
      (whole, false, true, whole, whole, empty, whole),
    ]
    for row in table {
      var (done, recorded, cut, failed) = (row.0, row.0, row.0, row.0)
      #expect(row.0.isWhole == row.isWhole && row.0.isComplete == row.isComplete)
      let hasFailed = row.0.failure != nil
      #expect(done.completed() == !hasFailed && done == row.completed)
      recorded.wasRecorded()
      cut.wasCut()
      #expect(recorded == row.recorded && cut == row.cut)
      #expect(failed.failed(second) == !hasFailed && failed == row.failed)
    }
  }

  @Test("what was taken out is never found again, and is taken out once")
  func standing() {
    let table: [(BodyPublication, isPublished: Bool, published: BodyPublication, former: BodyPublication?)] = [
      (.unpublished, true, .published, .unpublished), (.published, true, .published, .published),
      (.doomed, false, .doomed, nil),
    ]
    for (state, isPublished, published, former) in table {
      var (first, second) = (state, state)
      #expect(first.wasPublished() == isPublished && first == published)
      #expect(second.wasDoomed() == former && second == .doomed)
    }
  }

  @Test("the catalogue is told of changes once, and once more when they become many")
  func report() {
    typealias Telling = BodyReport.Telling
    let table: [(BodyReport, isDue: Bool, isLarge: Bool, Telling, BodyReport)] = [
      (.clean, false, false, .nothing, .clean), (.clean, false, true, .nothing, .clean),
      (.clean, true, false, .dirty, .dirty), (.clean, true, true, .dirtySoon, .dirty),
      (.dirty, false, false, .nothing, .dirty), (.dirty, true, false, .nothing, .dirty),
      (.dirty, false, true, .hurry, .hurried), (.dirty, true, true, .hurry, .hurried),
      (.hurried, true, true, .nothing, .hurried), (.hurried, false, false, .nothing, .hurried),
    ]
    for (state, isDue, isLarge, telling, after) in table {
      var report = state
      #expect(report.told(isDue: isDue, isLarge: isLarge) == telling && report == after)
      report.wasTaken()
      #expect(report == .clean)
    }
  }

  @Test("one sync at a time; the name is there after the first that succeeds")
  func sync() {
    typealias Row = (BodySync, began: BodySync?, ended: BodySync?, failed: BodySync?, isNameSynced: Bool)
    let table: [Row] = [
      (.never, .first, nil, nil, false), (.first, nil, .idle, .never, false), (.idle, .again, nil, nil, true),
      (.again, nil, .idle, .idle, true),
    ]
    for (state, began, ended, failed, isNameSynced) in table {
      var (first, second, third) = (state, state, state)
      #expect(first.began() == (began != nil) && first == began ?? state)
      #expect(second.ended() == (ended != nil) && second == ended ?? state)
      #expect(third.failed() == (failed != nil) && third == failed ?? state)
      #expect(state.isNameSynced == isNameSynced && state.isRunning == (ended != nil))
    }
  }

  @Test("a copy in memory is made once, is spared once by the clock hand where it was used, and then goes")
  func memory() {
    typealias Row = (
      BodyMemory, began: BodyMemory?, failed: BodyMemory, dropped: BodyMemory, isSpared: Bool, passed: BodyMemory
    )
    let table: [Row] = [
      (.none, .promoting, .none, .none, false, .none), (.promoting, nil, .none, .promoting, false, .promoting),
      (.kept, nil, .kept, .none, false, .kept), (.used, nil, .used, .none, true, .kept),
    ]
    for row in table {
      var (first, second, third, fourth) = (row.0, row.0, row.0, row.0)
      #expect(first.promotionBegan() == (row.began != nil) && first == row.began ?? row.0)
      second.promotionFailed()
      third.wasDropped()
      #expect(second == row.failed && third == row.dropped)
      #expect(fourth.wasPassed() == row.isSpared && fourth == row.passed)
    }
  }

  @Test("room that a fill asked for which has paused since is nobody's")
  func growth() {
    let table: [(BodyGrowth, paused: BodyGrowth, isWanted: Bool)] = [
      (.idle, .idle, false), (.asked, .late, true), (.late, .late, false),
    ]
    for (state, paused, isWanted) in table {
      var (first, second) = (state, state)
      first.paused()
      #expect(first == paused)
      #expect(second.wasAnswered() == isWanted && second == .idle)
    }
  }
}

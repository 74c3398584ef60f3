import PawlHTTP
import Testing

@testable import PawlServer

@Suite("Where a download is") struct DownloadStateTests {
  private typealias Wait = DownloadState.Wait
  private typealias Place = DownloadState.Place
  private typealias Event = DownloadState.Event

  private static let places: [Place] =
    [.deciding, .leading, .joined, .resuming] + Wait.allCases.map { .waiting(for: $0) } + [.forwarded, .over]
  private static let events: [Event] =
    [.loaded, .outcome, .told, .joinedTooLong, .patienceIsOver] + Wait.allCases.map { .came($0) }

  @Test("an event is heard where it is waited for, and nowhere else")
  func everyEventEverywhere() {
    // All that is not in a row comes too late, or cannot come.
    let rows: [Place: Set<Event>] = [
      .deciding: [.loaded],
      .leading: [.outcome],
      .joined: [.told, .joinedTooLong],
      .resuming: [.outcome],
      .waiting(for: .total): [.came(.total), .patienceIsOver],
      .waiting(for: .twin): [.came(.twin), .patienceIsOver],
      .waiting(for: .name): [.came(.name), .patienceIsOver],
      .waiting(for: .bytes): [.came(.bytes), .patienceIsOver],
      .waiting(for: .confirmation): [.came(.confirmation), .patienceIsOver],
      .waiting(for: .continuation): [.came(.continuation), .patienceIsOver],
      .waiting(for: .form): [.came(.form), .patienceIsOver],
      .forwarded: [],
      .over: [],
    ]
    #expect(Set(rows.keys) == Set(Self.places))
    for place in Self.places {
      let heard = Self.events.filter { DownloadState.hears($0, at: place) }
      #expect(Set(heard) == rows[place], "\(place)")
    }
  }

  @Test("what comes of another response than the one that is waited for is not heard")
  func otherResponse() throws {
    let (one, other) = (try StoredResponseBox([]), try StoredResponseBox([]))
    for wait in Wait.allCases {
      let state = DownloadState.waiting(for: wait, of: one.response, nil)
      #expect(state.hears(.came(wait), of: one.response) && !state.hears(.came(wait), of: other.response))
    }
    #expect(!DownloadState.deciding.hears(.loaded, of: one.response))
  }

  @Test("it is open until the origin has the request as it stands, or all is over")
  func open() throws {
    let stored = try StoredResponseBox([])
    let waiting = Wait.allCases.map { DownloadState.waiting(for: $0, of: stored.response, nil) }
    for state in [.deciding, .resuming] + waiting {
      #expect(state.isOpen && !state.isOver && state.forward == nil, "\(state.place)")
    }
    let over = DownloadState.over(nil)
    #expect(!over.isOpen && over.isOver && over.forward == nil)
  }
}

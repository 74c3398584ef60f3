import Testing

@testable import PawlWire

@Suite("Receive windows (RFC 9113 §5.2)") struct HTTP2ReceiveWindowTests {
  @Test(
    "give credit in eighths, for what is done with",
    arguments: [
      (0, 0, 0), (99, 0, 0), (100, 0, 100), (800, 0, 800), (800, 800, 0), (800, 701, 99), (800, 700, 100),
      (100, 200, 0),
      (700, 601, 0), (701, 602, 99), (701, 701, 0),
    ])
  func credit(_ spent: Int, _ held: Int, _ expected: Int) {
    var window = HTTP2ReceiveWindow(size: 800)
    window.arrive(held)
    #expect(window.credit(spent: spent) == expected)
  }

  @Test("never give back more than came")
  func release() {
    var window = HTTP2ReceiveWindow(size: 800)
    window.arrive(10)
    window.release(4)
    #expect(window.held == 6)
    window.release(100)
    #expect(window.held == 0)
  }

  @Test(
    "double when two thirds came within a round trip, up to the limit, unless half is held",
    arguments: [
      (599, 0, 10_000, 900), (600, 0, 10_000, 1800), (600, 0, 1000, 1000), (600, 0, 900, 900), (600, 449, 10_000, 1800),
      (600, 450, 10_000, 900),
    ])
  func growth(_ arrived: Int, _ held: Int, _ limit: Int, _ expected: Int) {
    var window = HTTP2ReceiveWindow(size: 900)
    window.arrive(arrived)
    window.release(arrived - held)
    #expect(window.grow(upTo: limit) == (expected > 900))
    #expect(window.size == expected)
    window.restart()
    #expect(window.arrived == 0 && window.held == held)
  }

  @Test("make room when half is held")
  func room() {
    var window = HTTP2ReceiveWindow(size: 100)
    window.arrive(49)
    #expect(window.makeRoom(upTo: 1000) == false)
    window.arrive(1)
    #expect(window.makeRoom(upTo: 1000) && window.size == 200)
    window.arrive(50)
    #expect(window.makeRoom(upTo: 300) && window.size == 300)
    window.arrive(150)
    #expect(window.makeRoom(upTo: 300) == false)
  }

  @Test("a round trip is measured one at a time, and the rarer the longer nothing grew")
  func pacing() {
    let millisecond: Int64 = 1_000_000
    var trip = HTTP2RoundTrip()
    #expect(trip.ends(at: 0) == false)
    #expect(trip.begins(at: 0) == true)
    #expect(trip.begins(at: 5 * millisecond) == false)
    #expect(trip.ends(at: 5 * millisecond) == true)
    trip.rest(grew: false)
    #expect(trip.begins(at: 24 * millisecond) == false)
    #expect(trip.begins(at: 25 * millisecond) == true)
    #expect(trip.ends(at: 30 * millisecond) == true)
    trip.rest(grew: true)
    #expect(trip.begins(at: 30 * millisecond) == true)
    for _ in 0..<10 {
      #expect(trip.ends(at: 40 * millisecond) == true)
      trip.rest(grew: false)
      _ = trip.begins(at: 1000 * millisecond)
    }
    _ = trip.ends(at: 1000 * millisecond)
    trip.rest(grew: false)
    #expect(trip.begins(at: 1199 * millisecond) == false)
    #expect(trip.begins(at: 1200 * millisecond) == true)
  }
}

/// A client that sends content of one stream as fast as a line of 25 MB/s and the session's windows let it, 50 ms away.
private final class FarClient {
  let serving: HTTP2Serving
  private let oneWay: Int
  private let perTick: Int
  private var toServer = Line<[UInt8]>()
  private var toClient = Line<[HTTP2Frame]>()
  private var line: [UInt8] = []
  private(set) var connection = 65_535
  private(set) var streams: [Int32: Int] = [:]
  private(set) var sent = 0, promised = 0, granted = 65_535, pings = 0

  init(_ serving: HTTP2Serving, streams ids: [Int32], oneWay: Int = 50, perTick: Int = 25_000) {
    (self.serving, self.oneWay, self.perTick) = (serving, oneWay, perTick)
    serving.receive(HTTP2Serving.opening)
    take(serving.frames())
    for id in ids {
      streams[id] = 1 << 20
      serving.receive(HTTP2Frame.headers(id, HTTP2Frame.request("PUT", "/"), end: false))
    }
  }

  /// One millisecond.
  func tick(_ time: Int) {
    serving.now = Int64(time) * 1_000_000
    for frames in toClient.take(until: time) { take(frames) }
    send()
    let part = Array(line.prefix(perTick))
    line.removeFirst(part.count)
    if !part.isEmpty { toServer.put(part, at: time + oneWay) }
    for bytes in toServer.take(until: time) { serving.receive(bytes) }
    let frames = serving.frames()
    if !frames.isEmpty { toClient.put(frames, at: time + oneWay) }
    promised = max(promised, granted - serving.received.values.reduce(0) { $0 + $1.count })
  }

  private func take(_ frames: [HTTP2Frame]) {
    for frame in frames {
      switch frame.kind {
      case HTTP2Frame.Kind.windowUpdate:
        let count = Int(frame.word())
        if frame.stream == 0 { connection += count } else { streams[frame.stream]? += count }
        if frame.stream == 0 { granted += count }
      case HTTP2Frame.Kind.ping where frame.flags == 0:
        pings += 1
        line += HTTP2Frame.ping(1, frame.payload).bytes
      default: break
      }
    }
  }

  private func send() {
    for id in streams.keys.sorted() {
      while line.count < 2 * perTick, let room = streams[id] {
        let count = min(connection, room, 16_384)
        guard count > 0 else { break }
        line += HTTP2Frame.data(id, [UInt8](repeating: 0, count: count)).bytes
        (connection, streams[id], sent) = (connection - count, room - count, sent + count)
      }
    }
  }
}

/// What is on its way, and when it is there.
private struct Line<Load> {
  private var loads: [(at: Int, load: Load)] = []
  mutating func put(_ load: Load, at time: Int) { loads.append((time, load)) }
  mutating func take(until time: Int) -> [Load] {
    let count = loads.prefix { $0.at <= time }.count
    defer { loads.removeFirst(count) }
    return loads.prefix(count).map(\.load)
  }
}

@Suite("Receive windows of a session") struct HTTP2FlowTests {
  @Test("over 200 Mbit/s and 100 ms the line is full soon after the start, within 16 MiB")
  func longWay() {
    let serving = HTTP2Serving()
    let client = FarClient(serving, streams: [1])
    var marks: [Int] = []
    for time in 0..<4000 {
      client.tick(time)
      if time % 1000 == 999 { marks.append(serving.received[1]?.count ?? 0) }
      serving.events = []
    }
    #expect(marks[1] - marks[0] >= 23_750_000, "\(marks)")
    #expect(marks[2] - marks[1] >= 23_750_000)
    #expect(marks[3] - marks[2] >= 23_750_000)
    #expect(client.promised <= 16 << 20)
    #expect(client.pings <= 40)
  }

  @Test("content that is not taken gets no credit; when it is taken, credit comes")
  func held() {
    let serving = HTTP2Serving()
    serving.consumes = false
    let client = FarClient(serving, streams: [1], oneWay: 1)
    for time in 0..<300 { client.tick(time) }
    #expect(serving.received[1]?.count == 1 << 20)
    serving.consumes = true
    serving.session.consumed(1 << 20, of: 1)
    for time in 300..<400 { client.tick(time) }
    #expect((serving.received[1]?.count ?? 0) > 2 << 20)
  }

  @Test("streams whose content is not taken leave room for one whose content is, up to the most for a connection")
  func room() {
    let serving = HTTP2Serving()
    serving.consumes = false
    let stuck = (0..<14).map { Int32(2 * $0 + 1) }
    let client = FarClient(serving, streams: stuck + [99], oneWay: 1, perTick: 100_000)
    for time in 0..<1000 {
      client.tick(time)
      let fresh = serving.events.filter { $0.hasPrefix("content 99 ") }.compactMap { Int($0.dropFirst(11)) }
      serving.session.consumed(fresh.reduce(0, +), of: 99)
      serving.events = []
    }
    #expect(stuck.allSatisfy { serving.received[$0]?.count == 1 << 20 })
    #expect((serving.received[99]?.count ?? 0) > 40 << 20)
    #expect(client.granted - (serving.received[99]?.count ?? 0) <= 16 << 20)
  }

  @Test("content for a stream that is gone, and padding, are credited to the connection, and to nobody twice")
  func ignored() {
    let serving = HTTP2Serving()
    serving.consumes = false
    serving.receive(HTTP2Serving.opening)
    serving.receive(HTTP2Frame.headers(1, HTTP2Frame.request("PUT", "/"), end: false))
    _ = serving.frames()
    var credit = 0
    func count() {
      credit += serving.frames().filter { $0.kind == 8 && $0.stream == 0 }.reduce(0) { $0 + Int($1.word()) }
    }
    serving.receive(HTTP2Frame.data(1, [UInt8](repeating: 0, count: 16_000)))
    serving.session.reset(1, .cancel)
    count()
    for _ in 0..<400 {
      serving.receive(HTTP2Frame.data(1, [UInt8](repeating: 0, count: 16_000)))
      count()
    }
    #expect(credit > 401 * 16_000 - 1 << 19 && credit <= 401 * 16_000)
    serving.receive(HTTP2Frame.headers(3, HTTP2Frame.request("PUT", "/"), end: false))
    for _ in 0..<4000 {
      serving.receive(HTTP2Frame(kind: 0, flags: 8, stream: 3, payload: [255] + [UInt8](repeating: 0, count: 300)))
      count()
    }
    // 45 bytes of each frame are held.
    #expect(credit <= 401 * 16_000 + 4000 * 256)
    #expect(credit > 401 * 16_000 + 4000 * 256 - 1 << 19)
  }
}

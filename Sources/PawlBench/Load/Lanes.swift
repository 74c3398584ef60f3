/// Makes the connections of a worker, and their lanes.
enum Lanes {
  /// - Parameter makeScript: makes the script of the lane with this number.
  static func build(_ worker: Worker, connections: Int, makeScript: (Int) -> any Script) {
    var lanes: [Lane] = []
    var transports: [any Transport] = []
    let streams = worker.settings.lanesEach
    for index in 0..<connections {
      let own = (0..<streams).map { Lane(worker, makeScript(index * streams + $0)) }
      let transport = worker.settings.isHTTP2 ? carry(worker, own) : HTTP1Connection(worker, own[0])
      for lane in own {
        lane.attach(transport)
        lane.script.attached(lane)
      }
      lanes += own
      transports.append(transport)
    }
    worker.add(lanes, transports)
  }

  private static func carry(_ worker: Worker, _ lanes: [Lane]) -> any Transport {
    let connection = HTTP2Connection(worker)
    for lane in lanes { connection.add(lane) }
    return connection
  }

  /// Makes the lanes for the run's scenario.
  static func build(_ worker: Worker, connections: Int, before: Int) {
    let maker = RequestMaker(worker.settings)
    // If the scenario needs a reference, there is one. The run does not begin without it.
    let reference = worker.reference ?? Reference([])
    switch worker.settings.scenario {
    case .hit: build(worker, connections: connections) { _ in HitScript(worker, maker) }
    case .ranges(let size, let parts):
      build(worker, connections: connections) { _ in
        RangesScript(worker, maker, reference, size: size, parts: parts)
      }
    case .resume(let interruptions):
      build(worker, connections: connections) { _ in
        ResumeScript(worker, maker, reference, interruptions: interruptions)
      }
    case .fill(let first, let readers):
      buildFill(worker, maker, connections, first: first, before: before, readers: readers)
    case .idle: build(worker, connections: connections) { _ in IdleScript(maker) }
    case .upload(let plan): build(worker, connections: connections) { _ in UploadScript(worker, maker, plan) }
    }
  }

  private static func buildFill(
    _ worker: Worker, _ maker: RequestMaker, _ connections: Int, first: UInt64, before: Int, readers: Int
  ) {
    let each = worker.settings.lanesEach
    let step = UInt64(worker.settings.connections * each / readers)
    let first = first + UInt64(before * each / readers)
    var group = FillGroup(first: first, step: step, readers: readers)
    build(worker, connections: connections) { index in
      if index > 0, index % readers == 0 {
        group = FillGroup(first: first + UInt64(index / readers), step: step, readers: readers)
      }
      return FillScript(worker, maker, group)
    }
  }
}

/// Gives a worker its connections, and each of them its lanes.
enum Lanes {
  /// - Parameter makeScript: for the lane with that number.
  static func build(_ worker: Worker, connections: Int, makeScript: (Int) -> any Script) {
    var lanes: [Lane] = []
    var transports: [any Transport] = []
    for index in 0..<connections {
      let lane = Lane(worker, makeScript(index))
      let connection = HTTP1Connection(worker, lane)
      lane.attach(connection)
      (lane.script as? FillScript)?.lane = lane
      lanes.append(lane)
      transports.append(connection)
    }
    worker.add(lanes, transports)
  }

  /// The lanes of a run's scenario.
  static func build(_ worker: Worker, connections: Int, before: Int) {
    let maker = RequestMaker(worker.settings)
    // What needs a reference has one, or the run would not have begun.
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
      buildFill(worker, maker, connections, first: first + UInt64(before / readers), readers)
    case .idle: build(worker, connections: connections) { _ in IdleScript(maker) }
    case .upload: build(worker, connections: connections) { _ in HitScript(worker, maker) }
    }
  }

  private static func buildFill(
    _ worker: Worker, _ maker: RequestMaker, _ connections: Int, first: UInt64, _ readers: Int
  ) {
    let step = UInt64(worker.settings.connections / readers)
    var group = FillGroup(first: first, step: step, readers: readers)
    build(worker, connections: connections) { index in
      if index > 0, index % readers == 0 {
        group = FillGroup(first: first + UInt64(index / readers), step: step, readers: readers)
      }
      return FillScript(worker, maker, group)
    }
  }
}

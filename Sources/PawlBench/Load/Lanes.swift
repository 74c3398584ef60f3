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
      lanes.append(lane)
      transports.append(connection)
    }
    worker.add(lanes, transports)
  }

  /// The scripts of a run's scenario.
  static func build(_ worker: Worker, connections: Int) {
    let maker = RequestMaker(worker.settings)
    build(worker, connections: connections) { _ in HitScript(worker, maker) }
  }
}

import PawlHTTP
import PawlLoop
import PawlTestKit
import Testing

@testable import PawlBench

/// One worker on the test's own thread, against a scripted server.
enum Performing {
  static func settings(_ scenario: RunSettings.Scenario, connections: Int = 1) throws -> RunSettings {
    var settings = RunSettings(scenario: scenario, target: try Target("http://a.example/x"))
    settings.connections = connections
    return settings
  }

  /// What was counted when so many operations are over.
  static func run(
    _ settings: RunSettings, _ server: ScriptedOrigin, reference: [UInt8]? = nil, body: UploadBody? = nil,
    operations: UInt64 = 1, dueSince: UInt64 = 0
  ) throws -> Tally {
    let address = try #require(SocketAddress.parse("127.0.0.1:\(server.port)"))
    return try run(settings, address, reference: reference, body: body, operations: operations, dueSince: dueSince)
  }

  /// - Parameter dueSince: how long ago the first operation was due, in nanoseconds (open loop).
  static func run(
    _ settings: RunSettings, _ address: SocketAddress, reference: [UInt8]? = nil, body: UploadBody? = nil,
    operations: UInt64 = 1, dueSince: UInt64 = 0
  ) throws -> Tally {
    let loop = try EventLoop(index: 0)
    var isOver = false
    let worker = Worker(
      loop, index: 0, settings: settings, server: ServerPlace(address: address),
      reference: reference.map { Reference($0) }, body: body, exhausted: { isOver = true })
    Lanes.build(worker, connections: settings.connections, before: 0)
    try worker.start(operations: operations, at: worker.now - dueSince)
    loop.turn { !isOver }
    worker.stop()
    return worker.takeTally()
  }

  static let request = "GET /x HTTP/1.1\r\nHost: a.example\r\n\r\n"

  static func answer(_ content: String, fields: String = "") -> String {
    "HTTP/1.1 200 OK\r\n\(fields)Content-Length: \(content.utf8.count)\r\n\r\n\(content)"
  }
}

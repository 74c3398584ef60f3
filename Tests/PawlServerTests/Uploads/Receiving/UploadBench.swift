import PawlHTTP
import PawlLoop
import PawlTestKit
import Testing

@testable import PawlDisk
@testable import PawlServer
@testable import PawlUploadStore

/// A spool with completed uploads, and an origin for them, on a loop that turns on the test's thread.
final class UploadBench {
  let bench: ServerBench
  let origin: ScriptedOrigin?
  private let uploads: UploadRoute
  private var number: UInt64 = 0

  init(_ origin: ScriptedOrigin?, site: String = "", upstream: String = "") throws {
    self.origin = origin
    bench = try ServerBench(url: "http://127.0.0.1:\(origin?.port ?? 1)") { changes in
      changes.site = site
      changes.upstream = upstream
      changes.more = "[spool:default]\nmax-size = 1G\ndurability = none"
    }
    uploads = try #require(bench.route.uploads)
  }

  var store: UploadStore { uploads.store }
  var clock: ManualClock { bench.running.clock }

  /// All bytes are there.
  func complete(
    _ bytes: [UInt8], _ fields: [(FieldName, String)] = [], method: PawlHTTP.Method = .post, target: String = "/f",
    metadata: String? = nil
  ) throws -> SpooledUpload {
    number += 1
    let head = RequestHead(
      method: method, target: Bytes(target), authority: Bytes("site"), fields: Fields(fields), framing: .chunked)
    let origin = UploadOrigin(
      head: head, clientAddress: Array("192.0.2.9".utf8), port: 8080, isTus: metadata != nil,
      metadata: metadata.map { Array($0.utf8) })
    var made: Result<SpooledUpload, UploadStoreRefusal>?
    store.create(
      UploadID(high: 7, low: number), origin, length: UInt64(bytes.count), finalAt: nil, durably: true, on: bench.loop
    ) { made = $0 }
    bench.turn { made != nil }
    let upload = try #require(try made?.get())
    var writer: UploadWriter?
    upload.takeOver(on: bench.loop, displaced: {}) { writer = $0 }
    bench.turn { writer != nil }
    let result = bytes.withUnsafeBytes { writer?.write($0) }
    if case .written? = result {} else { Issue.record("\(String(describing: result))") }
    var isComplete: Bool?
    upload.complete(on: bench.loop) { isComplete = $0 }
    bench.turn { isComplete != nil }
    #expect(isComplete == true)
    return upload
  }

  func deliver(_ upload: SpooledUpload) {
    bench.loop.nextTurn { [bench] in DeliveryAttempt.deliver(upload, route: bench.route, on: bench.serverLoop.uploads) }
  }

  /// Delivers, and waits until the attempt is over.
  func attempt(_ upload: SpooledUpload) {
    let before = upload.attempts
    deliver(upload)
    settle(upload, after: before)
  }

  /// Waits until an attempt is over.
  func settle(_ upload: SpooledUpload, after attempts: Int, sourceLocation: SourceLocation = #_sourceLocation) {
    bench.turn(
      until: {
        switch upload.status.phase {
        case .complete: upload.attempts > attempts && bench.serverLoop.uploads.queue.running.isEmpty
        case .forwarding, .sent: false
        case .open, .answered, .unknown, .invalid, .removed: bench.serverLoop.uploads.queue.running.isEmpty
        }
      }, sourceLocation: sourceLocation)
  }

  /// As with a full disk: nothing can be recorded until the catalogue that was there is set again.
  static func breakCatalogue(_ store: UploadStore) -> Catalogue? {
    defer { store.core.catalogue = nil }
    return store.core.catalogue
  }

  /// Nothing that is to be recorded from now on is before the gate opens.
  func holdJournal(until gate: Gate) { store.core.catalogue?.submit(nil) { _ in _ = gate.wait() } }

  func repair(_ catalogue: Catalogue?) { store.core.catalogue = catalogue }

  /// Waits until the log tells of `event`.
  func waitFor(_ event: String, sourceLocation: SourceLocation = #_sourceLocation) {
    bench.turn(until: { !bench.running.events(event).isEmpty }, sourceLocation: sourceLocation)
  }

  /// Lets happen what can happen now.
  func turnSome() {
    var left = 20
    bench.turn {
      left -= 1
      return left < 0
    }
  }

  /// What the origin's script did not like, and what came over its connections.
  func finish() -> [String] {
    bench.serverLoop.closeOrigins()
    return origin?.finish() ?? []
  }

  func head(_ connection: Int = 0) -> [String] {
    guard let origin, origin.received.count > connection else { return [] }
    let bytes = origin.received[connection]
    guard let end = bytes[...].firstRange(of: Array("\r\n\r\n".utf8)[...]) else { return [] }
    return String(decoding: bytes[..<end.lowerBound], as: UTF8.self).replacing("\r\n", with: "\n")
      .split(separator: "\n").map(String.init)
  }

  func body(_ connection: Int = 0) -> [UInt8] {
    guard let origin, origin.received.count > connection else { return [] }
    let bytes = origin.received[connection]
    guard let end = bytes[...].firstRange(of: Array("\r\n\r\n".utf8)[...]) else { return [] }
    return Array(bytes[end.upperBound...])
  }
}

extension SpooledUpload {
  /// What the catalogue has of an answer, whether it counts or not.
  var keptAnswer: UploadAnswer? {
    do throws(StoreError) {
      return try core.reader.withLock { (database) throws(StoreError) in try UploadCatalogue.answer(database, id) }
    } catch {
      Issue.record("\(error)")
      return nil
    }
  }

  /// A step of its story is on its way to the catalogue.
  var isBeingRecorded: Bool { state.withLock { $0.transition != nil } }
}

let created = "HTTP/1.1 201 Created\r\nContent-Type: a/b\r\nContent-Length: 2\r\n\r\nok"

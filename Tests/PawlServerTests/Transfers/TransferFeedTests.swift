import PawlObserve
import Testing

@testable import PawlServer

@Suite("The list of transfers as text") struct TransferFeedTests {
  private func row(_ number: UInt64, done: UInt64 = 0, _ kind: TransferKind = .download) -> TransferRow {
    TransferRow(
      key: 1 << 32 | number, kind: kind, id: Array("r\(number)".utf8), upstream: "app", done: done, age: 7,
      state: .sending)
  }

  private func text(_ bytes: [UInt8]) -> String { String(decoding: bytes, as: UTF8.self) }

  @Test("a transfer is a JSON object, whatever bytes its client sent")
  func object() {
    var row = row(2, done: 10)
    (row.client, row.target, row.site) = (Array("192.0.2.1".utf8), [0x2f, 0x22, 0x5c, 0xe9, 0x0a], "default")
    (row.total, row.rate, row.lastBreak, row.resumes, row.version) = (20, 3, "connection_terminated", 1, "HTTP/2.0")
    var bytes: [UInt8] = []
    bytes.append(json: row)
    #expect(
      text(bytes) == #"{"key":"1-2","kind":"download","id":"r2","client":"192.0.2.1","target":"/\"\\\u00e9\u000a","#
        + #""site":"default","upstream":"app","protocol":"HTTP/2.0","state":"sending","done":10,"total":20,"rate":3,"#
        + #""age_ms":7,"last_break":"connection_terminated","resumes":1}"#)
  }

  private let first =
    #"{"key":"1-1","kind":"fill","id":"r1","client":null,"target":null,"site":null,"upstream":"app","#
    + #""protocol":"HTTP/1.1","state":"sending","done":0,"total":null,"rate":0,"age_ms":7,"last_break":null,"resumes":0}"#

  @Test("a page says how many there are")
  func page() {
    var (page, outcome) = (TransferPage(), TransferGathering.Outcome())
    page.end(outcome)
    #expect(text(page.bytes) == #"{"transfers":[],"shown":0,"total":0,"complete":true}"#)
    page = TransferPage()
    page.add([row(1, .fill)])
    page.add([row(1, .fill)])
    (outcome.shown, outcome.total, outcome.isComplete) = (2, 9, false)
    page.end(outcome)
    #expect(text(page.bytes) == #"{"transfers":[\#(first),\#(first)],"shown":2,"total":9,"complete":false}"#)
  }

  @Test("a change tells what began, moved and ended, to each subscriber what it asked for")
  func changes() {
    let old: [UInt64: TransferRow] = [1: row(1), 2: row(2), 3: row(3)]
    let new: [UInt64: TransferRow] = [2: row(2), 3: row(3, done: 5), 4: row(1, .fill)]
    let changes = TransferChanges(from: old, to: new)
    #expect(
      text(changes.event(for: TransferQuery())) == "event: changes\ndata: {\"began\":[\(first)],"
        + #""moved":[{"key":"1-3","state":"sending","done":5,"total":null,"rate":0}],"ended":[{"key":"1-1"}]}"# + "\n\n"
    )
    var query = TransferQuery()
    query.kinds = [.upload]
    #expect(text(changes.event(for: query)) == "event: changes\ndata: {\"began\":[],\"moved\":[],\"ended\":[]}\n\n")
  }

  @Test("a snapshot has what a subscriber asked for, up to its limit")
  func snapshot() {
    var query = TransferQuery()
    query.kinds = [.fill]
    let rows: [UInt64: TransferRow] = [1: row(1, .fill), 2: row(1, .fill), 3: row(3)]
    query.limit = 1
    #expect(
      text(TransferChanges.snapshot(rows, for: query))
        == "event: snapshot\ndata: {\"transfers\":[\(first)],\"shown\":1,\"total\":2,\"complete\":true}\n\n")
  }
}

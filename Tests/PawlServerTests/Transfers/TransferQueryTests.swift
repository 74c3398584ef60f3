import PawlHTTP
import PawlObserve
import Testing

@testable import PawlServer

@Suite("What is asked of the list of transfers") struct TransferQueryTests {
  private func query(_ target: String) throws(TransferQuery.Fault) -> TransferQuery {
    try TransferQuery(target: Bytes(target))
  }

  @Test("kinds, an upstream, a limit; without them everything")
  func members() throws {
    #expect(try query("/transfers") == TransferQuery() && query("/transfers?") == TransferQuery())
    var wanted = TransferQuery()
    (wanted.kinds, wanted.upstream, wanted.limit) = ([.fill, .upload], "app", 5)
    #expect(try query("/transfers?kind=fill,upload&upstream=app&limit=5") == wanted)
    #expect(try query("/transfers?kind=fill&kind=upload&limit=5&upstream=app") == wanted)
    #expect(wanted.takes(.fill, "app") && !wanted.takes(.fill, "b") && !wanted.takes(.download, "app"))
  }

  @Test("the largest limit is taken, one past it is not")
  func limit() throws {
    #expect(try query("/t?limit=\(TransferQuery.largestLimit)").limit == TransferQuery.largestLimit)
    for wrong in ["\(TransferQuery.largestLimit + 1)", "0", "-1", "x", ""] {
      #expect(throws: TransferQuery.Fault(reason: "limit: a number from 1 to 20000 is expected")) {
        try query("/t?limit=\(wrong)")
      }
    }
  }

  @Test("what is unknown is refused, not ignored")
  func unknown() {
    #expect(throws: TransferQuery.Fault(reason: "kind: x is none of download, fill, upload, delivery, tunnel")) {
      try query("/t?kind=x")
    }
    #expect(throws: TransferQuery.Fault(reason: "q is none of kind, upstream, limit")) { try query("/t?q=1") }
  }
}

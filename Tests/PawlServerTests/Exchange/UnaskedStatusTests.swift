import PawlHTTP
import Testing

@testable import PawlServer

@Suite("A 206 or 304 that nobody asked for") struct UnaskedStatusTests {
  @Test("is an error of the origin's, whichever way the request went")
  func statuses() {
    let rows: [(status: Int, method: PawlHTTP.Method, fields: Set<FieldName>, isUnasked: Bool)] = [
      (206, .get, [], true), (206, .get, [.range], false), (206, .get, [.ifRange], true), (206, .head, [], true),
      (206, .head, [.range], false), (206, .get, [.ifNoneMatch], true), (206, .post, [], false),
      (304, .get, [], true), (304, .get, [.ifNoneMatch], false), (304, .get, [.ifModifiedSince], false),
      (304, .get, [.range], true), (304, .get, [.ifMatch, .ifUnmodifiedSince], true), (304, .head, [], true),
      (304, .put, [], false), (200, .get, [], false), (416, .get, [], false), (412, .get, [], false),
    ]
    for (index, row) in rows.enumerated() {
      let error = ProxyError.unasked(row.status, to: row.method, asks: row.fields.contains)
      #expect((error != nil) == row.isUnasked, "row \(index)")
      if let error {
        #expect(error == ProxyError(.httpProtocolError, receivedStatus: row.status), "row \(index)")
      }
    }
  }
}

import PawlCache
import PawlHTTP
import Testing

@testable import PawlServer

@Suite("Stale bytes for those who hold a part of them (resume-ttl)") struct ResumeTTLTests {
  @Test("with resume-ttl-no-cache also where each use is to be validated, and cannot be")
  func noCache() throws {
    let bench = try ServerBench()
    let policy = CachePolicy(resumeTTL: 60, resumeTTLNoCache: true)
    let rows: [(fields: [(FieldName, String)], stays: Bool)] = [
      ([(.cacheControl, "no-cache")], true), ([(.cacheControl, "must-revalidate, max-age=0")], true),
      ([(.cacheControl, "no-cache, no-store")], false), ([(.cacheControl, "no-cache"), (.etag, "W/\"v\"")], false),
    ]
    for row in rows {
      let stored = try bench.stored(status: 200, row.fields)
      #expect(ResumeTTL.answersFromStore(stored, policy: policy, now: stored.storedAt + 60) == row.stays, "\(row)")
      #expect(!ResumeTTL.answersFromStore(stored, policy: policy, now: stored.storedAt + 61), "\(row)")
    }
  }

  @Test("are given only where the origin cannot tell by itself, and did not forbid it")
  func stays() throws {
    let bench = try ServerBench()
    let rows: [(fields: [(FieldName, String)], status: Int, resumeTTL: Int64, stays: Bool)] = [
      ([], 200, 60, true), ([], 200, 0, false), ([], 404, 60, false),
      ([(.etag, "\"v\"")], 200, 60, false), ([(.etag, "W/\"v\"")], 200, 60, false),
      ([(.lastModified, "Mon, 13 Nov 2023 00:00:00 GMT")], 200, 60, false),
      ([(.cacheControl, "max-age=1")], 200, 60, true), ([(.cacheControl, "no-cache")], 200, 60, false),
      ([(.cacheControl, "no-store")], 200, 60, false), ([(.cacheControl, "must-revalidate")], 200, 60, false),
    ]
    for (index, row) in rows.enumerated() {
      let stored = try bench.stored(status: row.status, row.fields)
      let policy = CachePolicy(resumeTTL: row.resumeTTL)
      #expect(ResumeTTL.staysForResumption(stored, policy: policy) == row.stays, "row \(index)")
      let now = stored.storedAt
      #expect(
        ResumeTTL.answersFromStore(stored, policy: policy, now: now + row.resumeTTL) == row.stays, "row \(index)")
      #expect(!ResumeTTL.answersFromStore(stored, policy: policy, now: now + row.resumeTTL + 1), "row \(index)")
    }
  }
}

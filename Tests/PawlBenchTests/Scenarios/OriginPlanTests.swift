import Testing

@testable import PawlBench

@Suite("What the test origin answers") struct OriginPlanTests {
  private func answer(_ target: String, _ fields: String = "", method: String = "GET") throws -> (String, Range<UInt64>)
  {
    let bytes = Array("\(method) \(target) HTTP/1.1\r\nHost: a\r\n\(fields)\r\n".utf8)
    let (found, planned) = (OriginRequest(bytes.span), OriginPlan(target))
    let (request, plan) = (try #require(found), try #require(planned))
    let (head, content) = plan.answer(request, bytes.span)
    return (String(decoding: head, as: UTF8.self), content)
  }

  @Test("the whole body, with what makes it resumable")
  func whole() throws {
    let (head, content) = try answer("/bytes/1K/name")
    #expect(
      head
        == "HTTP/1.1 200 OK\r\nContent-Length: 1024\r\nContent-Type: application/octet-stream\r\nETag: \"bench-1024\"\r\n"
        + "Last-Modified: Sat, 01 Aug 2026 00:00:00 GMT\r\nAccept-Ranges: bytes\r\nCache-Control: max-age=3600\r\n\r\n")
    #expect(content == 0..<1024)
  }

  @Test("without validators, ranges and cache where the URL says so")
  func bare() throws {
    let (head, content) = try answer("/bytes/10?validators=none&ranges=no&cache=no", "Range: bytes=1-2\r\n")
    #expect(
      head
        == "HTTP/1.1 200 OK\r\nContent-Length: 10\r\nContent-Type: application/octet-stream\r\nCache-Control: no-store\r\n\r\n"
    )
    #expect(content == 0..<10)
  }

  @Test(
    "ranges (RFC 9110 §14)",
    arguments: [
      ("bytes=1-2", "206 bytes 1-2/10"), ("bytes=8-", "206 bytes 8-9/10"), ("bytes=8-99", "206 bytes 8-9/10"),
      ("bytes=-3", "206 bytes 7-9/10"), ("bytes=-30", "206 bytes 0-9/10"), ("bytes=10-", "416 bytes */10"),
      ("bytes=-0", "416 bytes */10"), ("bytes=2-1", "200"), ("bytes=0-1,4-5", "200"), ("lines=1-2", "200"),
      ("bytes=", "200"),
    ])
  func ranges(_ value: String, _ wanted: String) throws {
    let (head, content) = try answer("/bytes/10", "Range: \(value)\r\n")
    let lines = head.split(separator: "\r\n")
    let status = lines[0].split(separator: " ")[1]
    let range = lines.first { $0.hasPrefix("Content-Range: ") }.map { " " + $0.dropFirst(15) } ?? ""
    #expect(status + range == wanted)
    #expect(lines.contains { $0 == "Content-Length: \(content.count)" })
  }

  @Test("conditions: If-Range decides whether a range is one, If-None-Match whether anything comes")
  func conditions() throws {
    func status(_ fields: String) throws -> Substring { try answer("/bytes/10", fields).0.split(separator: " ")[1] }
    let range = "Range: bytes=1-2\r\n"
    #expect(try status(range + "If-Range: \"bench-10\"\r\n") == "206")
    #expect(try status(range + "If-Range: \"bench-11\"\r\n") == "200")
    #expect(try status(range + "If-Range: \(OriginPlan.date)\r\n") == "206")
    #expect(try status("If-None-Match: \"x\", \"bench-10\"\r\n") == "304")
    #expect(try status("If-None-Match: \"x\"\r\n") == "200")
  }

  @Test("other paths, and what cannot be read, are none")
  func others() {
    for target in ["/", "/bytes", "/bytes/", "/bytes/x", "/bytes/1T", "/bytes/-1", "/byte/1", "bytes/1"] {
      #expect(OriginPlan(target) == nil, "\(target)")
    }
    #expect(OriginPlan("/bytes/2G")?.size == 2 << 30)
    #expect(OriginPlan("/bytes/1?cut=1K&delay=20&x=y&z").map { [$0.cut, $0.delay] } == [1024, 20])
  }
}

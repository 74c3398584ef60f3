import CLinux
import PawlTestKit
import Testing

@testable import PawlServer

@Suite("What the admin interface can be asked") struct AdminRoutesTests {
  /// The rows of the table in `Config/admin.md`: method, path, who.
  private static func documented() throws -> Set<String> {
    let folder = #filePath.split(separator: "/").dropLast(4).joined(separator: "/")
    let file = try #require(fopen("/\(folder)/Config/admin.md", "r"))
    defer { fclose(file) }
    var (rows, line) = (Set<String>(), [CChar](repeating: 0, count: 4096))
    while fgets(&line, CInt(line.count), file) != nil {
      let text = String(decoding: line.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
      guard text.hasPrefix("| GET") || text.hasPrefix("| POST") else { continue }
      let cells = text.split(separator: "|").map { $0.filter { $0 != " " } }
      for path in cells[1].split(separator: ",") { rows.insert("\(cells[0]) \(path.filter { $0 != "`" }) \(cells[2])") }
    }
    return rows
  }

  @Test("is what the manual says, path by path")
  func documents() throws {
    let routes = AdminRoutes.all.map { route in
      "\(route.kind == .asks ? "GET" : "POST") \(route.path) \(route.isForAnyone ? "anyone" : "operator")"
    }
    #expect(Set(routes).count == routes.count)
    #expect(Set(routes) == (try Self.documented()))
  }

  @Test("a path has one route for a question and one for a change")
  func methods() {
    #expect(AdminRoutes.find(Array("/v1/log-level".utf8)[...]).map(\.allowed) == ["GET, HEAD", "POST"])
    #expect(AdminRoutes.find(Array("/v1/status/".utf8)[...]).isEmpty)
  }
}

import PawlHTTP
import Testing

@testable import PawlServer

@Suite("Queries and orders") struct AdminQueryTests {
  @Test("pairs are read, and a count is a whole number up to its limit")
  func query() {
    let query = AdminQuery(Bytes("/v1/uploads?state=open&limit=7&x&most=99999999999999999999&zero=0&word=a"))
    #expect(query["state"] == "open" && query["x"] == "" && query["none"] == nil)
    #expect(query.count("limit", usually: 5, atMost: 10) == 7)
    #expect(query.count("limit", usually: 5, atMost: 6) == 6)
    #expect(query.count("none", usually: 5, atMost: 6) == 5)
    for name in ["zero", "word", "x", "most"] { #expect(query.count(name, usually: 5, atMost: 6) == nil) }
    #expect(AdminQuery(Bytes("/v1/uploads"))["state"] == nil)
  }

  @Test("a page of uploads has a known state and a limit")
  func page() {
    let page = AdminUploads.Page(AdminQuery(Bytes("/v1/uploads")))
    #expect(page?.limit == AdminUploads.usualLimit && page?.state == nil && page?.cursor == nil)
    #expect(AdminUploads.Page(AdminQuery(Bytes("/?limit=1000000")))?.limit == AdminUploads.mostLimit)
    #expect(AdminUploads.Page(AdminQuery(Bytes("/?state=unknown&cursor=a")))?.cursor == "a")
    #expect(AdminUploads.Page(AdminQuery(Bytes("/?state=lost"))) == nil)
    #expect(AdminUploads.Page(AdminQuery(Bytes("/?limit=-1"))) == nil)
  }
}

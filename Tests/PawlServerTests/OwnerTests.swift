import PawlHTTP
import Testing

@testable import PawlServer

@Suite("Who an upload belongs to") struct OwnerTests {
  typealias Line = (FieldName, String)

  @Test("an upload belongs to who created it, whatever URL it is asked for by")
  func uploads() throws {
    let bench = try ServerBench {
      $0.site = "auth-request = /may\nowner = authorization, cookie:sid, auth-request:X-User"
    }
    let both: [Line] = [(.authorization, "Basic eA"), (.cookie, "a=1; sid=x")]
    var user = Fields()
    user.append(named: Bytes("x-user"), Bytes("anna"))
    let binding = Owner.ofUpload(bench.request(.post, "/f", both), allowed: user)
    #expect(binding.count == 96 && Owner.ofUpload(bench.request(.post, "/f")).isEmpty)
    #expect(Owner.owns(binding, bench.request(.head, "/g", both), allowed: user))
    #expect(!Owner.owns(binding, bench.request(.head, "/g", both)))
    #expect(!Owner.owns(binding, bench.request(.head, "/g", [(.authorization, "Basic eA")]), allowed: user))
    #expect(!Owner.owns(Array(binding.dropLast()), bench.request(.head, "/g", both), allowed: user))
    #expect(Owner.owns([], bench.request(.head, "/g", both)))
    #expect(Owner.needsAuthRequest(bench.route))
  }

  @Test("a token that claims to be the owner's is known by its octets only: those of the creation, or of the delivery")
  func known() throws {
    let bench = try ServerBench { $0.site = "owner = authorization, cookie:sid" }
    func token(_ issue: Int) -> [Line] { [(.authorization, "Bearer e30.eyJzdWIiOiJzIn0.\(issue)")] }
    func isKnown(_ asker: [Line], _ creation: [Line], delivered: [Line]? = nil) -> Bool {
      let tokens = Owner.tokens(bench.route, creation: Fields(creation), delivered: delivered.map { Fields($0) })
      return Owner.isKnown(bench.request(.get, "/f", asker), among: tokens)
    }
    #expect(isKnown(token(1), token(1)) && isKnown(token(2), token(1), delivered: token(2)))
    #expect(isKnown(token(1), token(1), delivered: token(2)) && isKnown(token(1), token(1), delivered: []))
    #expect(!isKnown(token(2), token(1)) && !isKnown(token(3), token(1), delivered: token(2)))
    #expect(!isKnown([], token(1)) && !isKnown(token(1) + token(1), token(1)))
    #expect(isKnown([(.authorization, " Bearer e30.eyJzdWIiOiJzIn0.1 ")], token(1)), "blanks around it")
    // What binds by its whole value, or by something else, was looked at whole.
    let sid: [Line] = [(.cookie, "sid=x")]
    #expect(isKnown([(.authorization, "Basic eB")], [(.authorization, "Basic eA")]))
    #expect(isKnown(sid + token(2), sid) && isKnown(sid, sid))
    let other = try ServerBench { $0.site = "owner = cookie:sid" }
    #expect(Owner.tokens(other.route, creation: Fields(token(1)), delivered: nil).isEmpty)
  }

  @Test("of a cookie that comes twice both values count: which of them the application takes, nobody knows")
  func cookies() throws {
    let bench = try ServerBench { $0.site = "owner = cookie:sid" }
    let rows: [(creator: [Line], asker: [Line], owns: Bool)] = [
      ([(.cookie, "sid=x")], [(.cookie, "a=1;sid=x ; b")], true),
      ([(.cookie, "sid=x")], [(.cookie, "sid=x; sid=y")], false),
      ([(.cookie, "sid=x; sid=y")], [(.cookie, "sid=x"), (.cookie, "sid=y")], true),
      ([(.cookie, "sid=x; sid=y")], [(.cookie, "sid=y; sid=x")], false),
      ([(.cookie, "sid=x; sid=y")], [(.cookie, "sid=x")], false),
    ]
    for row in rows {
      let binding = Owner.ofUpload(bench.request(.post, "/f", row.creator))
      #expect(Owner.owns(binding, bench.request(.head, "/f", row.asker)) == row.owns, "\(row)")
    }
  }
}

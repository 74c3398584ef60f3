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

  @Test("a token that claims to be the owner's is known by its bytes only: those of the creation, or of the delivery")
  func known() throws {
    let bench = try ServerBench { $0.site = "owner = authorization, cookie:sid" }
    func token(_ issue: Int) -> [Line] { [(.authorization, "Bearer e30.eyJzdWIiOiJzIn0.\(issue)")] }
    func isKnown(_ asker: [Line], _ creation: [Line], delivered: [Line]? = nil) -> Bool {
      let binding = Owner.ofUpload(bench.request(.post, "/f", creation))
      let tokens = Owner.tokens(binding, creation: Fields(creation), delivered: delivered.map { Fields($0) })
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
    let unbound = Owner.ofUpload(other.request(.post, "/f", token(1) + sid))
    #expect(unbound.count == 32 && Owner.tokens(unbound, creation: Fields(token(1)), delivered: nil).isEmpty)
    #expect(Owner.tokens([], creation: Fields(token(1)), delivered: nil).isEmpty)
  }

  @Test("what `owner` named when the upload began binds it still, and is found when the list names something else")
  func formerRules() throws {
    let old = try ServerBench {
      $0.site = "auth-request = /may\nowner = authorization, cookie:sid, auth-request:X-User"
    }
    var user = Fields()
    user.append(named: Bytes("X-USER"), Bytes("anna"))
    let (token, cookie): ([Line], [Line]) = ([(.authorization, "Basic eA")], [(.cookie, "a=1; sid=x; sid=y")])
    let binding = Owner.ofUpload(old.request(.post, "/f", token + cookie), allowed: user)
    for owner in ["none", "authorization", "cookie:a", "client-certificate, cookie:sid", "auth-request:X-Group"] {
      let now = try ServerBench { $0.site = "auth-request = /may\nowner = \(owner)" }
      func owns(_ lines: [Line], _ allowed: Fields) -> Bool {
        Owner.owns(binding, now.request(.head, "/f", lines), allowed: allowed)
      }
      #expect(owns(token + cookie, user), "\(owner)")
      #expect(!owns(token, user) && !owns(cookie, user) && !owns(token + cookie, Fields()), "\(owner)")
      #expect(!owns(token + [(.cookie, "sid=x")], user) && !owns([(.authorization, "Basic eB")] + cookie, user))
      #expect(!owns(token + [(.cookie, "x=x; SID=x; SID=y")], user), "another cookie")
      let asks = Owner.mayNeedAuthRequest(binding, now.request(.head, "/f", token + cookie))
      #expect(asks == !owner.hasPrefix("auth-request"))
    }
  }

  @Test("so many cookies of a request are held against a rule of before, and not one more")
  func formerLimit() throws {
    let old = try ServerBench { $0.site = "owner = cookie:sid" }
    let now = try ServerBench { $0.site = "owner = none" }
    let binding = Owner.ofUpload(old.request(.post, "/f", [(.cookie, "sid=x")]))
    for others in [Owner.formerLimit - 1, Owner.formerLimit] {
      let cookies = (0..<others).map { "c\($0)=1; c\($0)=2; " }.joined() + "sid=x"
      #expect(Owner.owns(binding, now.request(.head, "/f", [(.cookie, cookies)])) == (others < Owner.formerLimit))
      #expect(Owner.owns(binding, old.request(.head, "/f", [(.cookie, cookies)])), "the list's own rule has no limit")
    }
  }

  @Test("two requests have one owner where the cookie that owner names is there, and the same in both")
  func sameOwner() throws {
    let rows: [(rules: String, asker: [Line], other: String, isSame: Bool)] = [
      ("cookie:sid", [(.cookie, "a=1; sid=x")], "sid=x; a=2", true),
      ("cookie:sid", [(.cookie, "sid=x")], "sid=y", false),
      ("cookie:sid", [(.cookie, "a=1")], "a=1", false), ("cookie:sid", [(.cookie, "sid=")], "sid=", false),
      ("cookie:sid", [(.cookie, "sid=x; sid=y")], "sid=x", false), ("cookie:sid", [], "", false),
      ("none", [(.cookie, "sid=x")], "sid=x", false), ("authorization", [(.cookie, "sid=x")], "sid=x", false),
      ("authorization, cookie:sid", [(.cookie, "sid=x")], "sid=x", true),
      ("authorization, cookie:sid", [(.cookie, "sid=x"), (.authorization, "a")], "sid=x", false),
      ("cookie:sid, cookie:org", [(.cookie, "sid=x; org=1")], "sid=x", false),
      ("cookie:sid, cookie:org", [(.cookie, "sid=x; org=1")], "org=1; sid=x", true),
      ("cookie:sid, cookie:org", [(.cookie, "sid=x")], "sid=x", true),
    ]
    for row in rows {
      let bench = try ServerBench { $0.site = "owner = \(row.rules)" }
      let request = bench.request(.get, "/f", row.asker)
      #expect(Owner.isSame(request, asWithCookies: Bytes(row.other)) == row.isSame, "\(row)")
    }
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

import PawlHTTP
import Testing

@testable import PawlServer

@Suite("Who a private response belongs to") struct OwnerTests {
  typealias Line = (FieldName, String)

  @Test("only what the creator sent binds, and to the same URL")
  func binding() throws {
    let bench = try ServerBench { $0.site = "resume-private = 10m\nowner = authorization, cookie:sid" }
    let both: [Line] = [(.authorization, "Basic eA"), (.cookie, "a=1; sid=x")]
    let rows: [(creator: [Line], asker: [Line], matches: Bool)] = [
      ([], [], true), ([], both, true),
      (both, both, true), (both, [], false),
      (both, [(.authorization, "Basic eA")], false),
      (both, [(.authorization, "Basic eB"), (.cookie, "sid=x")], false),
      (both, [(.authorization, "Basic eA"), (.cookie, "sid=x")], true),
      (both, [(.authorization, "Basic eA"), (.cookie, "b=2"), (.cookie, "sid=x")], true),
      (both, [(.authorization, "Basic eA"), (.cookie, "sid=y")], false),
      (both, [(.authorization, "Basic eA"), (.cookie, "xsid=x")], false),
      ([(.cookie, "sid=x")], [(.cookie, "sid=x")], true),
      ([(.cookie, "sid=x")], [(.authorization, "x"), (.cookie, "sid=x")], true),
      ([(.cookie, "sid=")], [(.cookie, "sid=")], true),
      ([(.cookie, "sid=")], [(.cookie, "other=")], false),
    ]
    for (index, row) in rows.enumerated() {
      let binding = Owner.binding(bench.request(.get, "/f", row.creator))
      #expect(Owner.matches(binding, bench.request(.get, "/f", row.asker)) == row.matches, "row \(index)")
      #expect(!Owner.matches(binding, bench.request(.get, "/g", row.asker)))
      #expect(!Owner.matches(binding, bench.request(.get, "/f", row.asker, authority: "other")))
    }
  }

  @Test("a binding that was damaged on disk binds to nobody")
  func damaged() throws {
    let bench = try ServerBench { $0.site = "resume-private = 10m\nowner = authorization" }
    let request = bench.request(.get, "/f", [(.authorization, "Basic eA")])
    let binding = Owner.binding(request)
    #expect(binding.count == 65)
    #expect(Owner.matches(binding, request))
    for length in 0..<binding.count where length != 32 {
      #expect(!Owner.matches(Array(binding.prefix(length)), request), "\(length) octets")
    }
    var other = binding
    other[32] = 9
    #expect(!Owner.matches(other, request), "a rule that is not configured any more")
  }

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
}

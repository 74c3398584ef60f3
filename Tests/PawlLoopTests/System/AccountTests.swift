import CLinux
import Testing

@testable import PawlLoop

@Suite("The account that pawl becomes") struct AccountTests {
  @Test("is looked up by name; the group is the user's where none is named")
  func lookUp() throws {
    let root = try Account(user: "root", group: nil)
    #expect((root.user, root.group, root.name) == (0, 0, "root"))
    let own = try Account(user: nil, group: nil)
    #expect(own.isCurrent && own.user == geteuid())
    try own.become()
  }

  @Test("names that do not exist are named")
  func missing() {
    #expect(throws: Account.Failure.noUser("no-such-user")) { try Account(user: "no-such-user", group: nil) }
    #expect(throws: Account.Failure.noGroup("no-such-group")) { try Account(user: nil, group: "no-such-group") }
    #expect("\(Account.Failure.noUser("x"))" == "there is no user \"x\" on this system")
    #expect(
      "\(Account.Failure.notRoot("x"))"
        == "only root can become x: start pawl as root, or as x, or leave the key out")
  }
}

import CLinux
import PawlConfig
import PawlDisk
import PawlLoop
import PawlTestKit
import Testing

@testable import PawlServer

@Suite("What pawl check tries of the machine") struct MachineCheckTests {
  /// A configuration whose directories are in `folder`; `more` stands behind it.
  private func configuration(in folder: TemporaryFolder, _ more: String = "", pawl: String = "") throws -> Configuration
  {
    let text = """
      [pawl]
      state-dir = \(folder.path)/state
      access-log = \(folder.path)/access.log
      \(pawl)
      [listen:web]
      address = 127.0.0.1:0
      [upstream:app]
      url = http://app.example:9000
      [site:default]
      upstream = app
      [cache:default]
      min-free = 1M
      \(more)
      """
    let surroundings = Surroundings(
      environment: { _ in nil }, readFile: { _ in .success(Array(text.utf8)) }, listFiles: { _ in [] }, isRoot: true)
    return try ConfigurationLoader.load(path: "pawl.ini", surroundings: surroundings)
  }

  private func check(_ configuration: Configuration, descriptors: UInt64 = 1024) throws -> MachineCheck {
    let address = try #require(SocketAddress.parse("127.0.0.1:1"))
    return MachineCheck(configuration, user: .own, descriptors: descriptors) { name in
      name == "app.example" ? .success([address]) : .failure(.notFound)
    }
  }

  /// The issues that do not depend on the file system that the tests run on.
  private func said(_ check: MachineCheck) -> [String] {
    check.issues.map(\.description).filter { !$0.contains("tmpfs") && !$0.contains("uploads are refused") }
  }

  @Test("where all can be made, nothing is said, and nothing is made")
  func nothing() throws {
    let folder = try TemporaryFolder()
    let check = try check(configuration(in: folder))
    #expect(said(check) == [])
    #expect(check.lines == [])
    #expect(!check.hasErrors)
    #expect(try Files.names(in: folder.path) == [])
  }

  @Test("each thing that stands in the way is named with its line")
  func errors() throws {
    let folder = try TemporaryFolder()
    close(try Files.open("\(folder.path)/state", O_RDWR | O_CREAT))
    let path = folder.path
    let configuration = try configuration(
      in: folder,
      """
      [cache:media]
      path = \(path)/state
      [spool:default]
      path = \(path)/none/access.log
      [upstream:other]
      url = http://127.0.0.1
      url = http://none.example weight=2
      [listen:unix]
      address = unix:\(path)/none/x.sock, 192.0.2.1:8080
      """, pawl: "max-connections = 1025")
    let check = try check(configuration)
    #expect(
      said(check) == [
        "pawl.ini:2: [pawl] state-dir: \(path)/state is not a directory",
        "pawl.ini:11: [cache:default] path: \(path)/state/cache: Not a directory",
        "pawl.ini:21: [listen:unix] address: unix:\(path)/none/x.sock: the directory \(path)/none does not exist",
        "pawl.ini:21: [listen:unix] address: 192.0.2.1:8080 is not an address of this machine",
        "pawl.ini:4: [pawl] max-connections: 1025 is more than the 1024 files that may be open here; LimitNOFILE or ulimit -n raises that (warning)",
        "pawl.ini:19: [upstream:other] url: none.example does not resolve now: no such host (warning)",
      ])
    #expect(check.hasErrors)
  }

  @Test("as many connections as files may be open are no more than that")
  func descriptors() throws {
    let folder = try TemporaryFolder()
    let configuration = try configuration(in: folder, pawl: "max-connections = 1024")
    #expect(said(try check(configuration, descriptors: 1024)) == [])
    #expect(said(try check(configuration, descriptors: 1023)).count == 1)
  }

  @Test("a name that is this machine's, with a port that pawl listens on, is a circle")
  func circle() throws {
    let folder = try TemporaryFolder()
    var configuration = try configuration(in: folder)
    let expected = [
      "pawl.ini:8: [upstream:app] url: http://app.example:9000 is 127.0.0.1, pawl's own [listen:web]: requests would go round in a circle (warning)"
    ]
    func circles(_ address: ListenAddress) throws -> [String] {
      configuration.listeners[0].addresses = [address]
      return said(try check(configuration)).filter { $0.contains("circle") }
    }
    #expect(try circles(.internet(host: "127.0.0.1", port: 9000)) == expected)
    #expect(try circles(.internet(host: "0.0.0.0", port: 9000)) == expected)
    #expect(try circles(.internet(host: "127.0.0.1", port: 9001)) == [])
    #expect(try circles(.internet(host: "127.0.0.2", port: 9000)) == [])
    #expect(try circles(.internet(host: "::", port: 9000)) == [])
  }

  @Test("a cache without room is a warning")
  func room() throws {
    let folder = try TemporaryFolder()
    var configuration = try configuration(in: folder)
    configuration.caches[0].minFree = 1 << 60
    let check = try check(configuration)
    let issue = try #require(said(check).first)
    #expect(issue.hasPrefix("pawl.ini:12: [cache:default] min-free: the file system of \(folder.path) has "))
    #expect(issue.hasSuffix(" free, less than min-free (1048576T): nothing is kept (warning)"))
    #expect(!check.hasErrors)
  }

  @Test("an address in use is an error, but beside a running pawl of the same directories it is its own")
  func running() throws {
    let folder = try TemporaryFolder()
    let origin = ScriptedOrigin(.tcp, [.readToEnd])
    var configuration = try configuration(in: folder)
    configuration.listeners[0].addresses = [.internet(host: "127.0.0.1", port: UInt16(origin.port))]
    let address = "127.0.0.1:\(origin.port)"
    let parsed = try #require(SocketAddress.parse(address))
    let program = try #require(SocketHolder.find(parsed)).name
    #expect(
      said(try check(configuration)) == [
        "pawl.ini:5: [listen:web] address: \(address) is already in use: by process \(getpid()) (\(program))"
      ])
    let lock = try DirectoryLock("\(folder.path)/state/cache")
    defer { lock.release() }
    let beside = try check(configuration)
    #expect(said(beside) == [])
    #expect(
      beside.lines == [
        "[cache:default] \(folder.path)/state/cache: in use by a running pawl",
        "[listen:web] \(address): in use, by the running pawl as far as can be seen",
      ])
  }

  @Test("a store that a pawl of another configuration has open is an error")
  func stranger() throws {
    let folder = try TemporaryFolder()
    let path = "\(folder.path)/state/spool"
    let lock = try DirectoryLock(path)
    defer { lock.release() }
    let check = try check(configuration(in: folder))
    let name = ProcessFiles.text(of: "/proc/self/comm").prefix { $0 != "\n" }
    #expect(
      said(check) == [
        "built-in default: [spool:default] path: cannot use \(path): \(path) is used by another process: process \(getpid()) (\(name))"
      ])
    #expect(check.lines == [])
  }

  @Test("logs that cannot be opened, a link to another store's directory, and sockets that nobody passed")
  func others() throws {
    let folder = try TemporaryFolder()
    let path = folder.path
    folder.make("held")
    #expect(symlink("\(path)/held", "\(path)/link") == 0 && mkfifo("\(path)/pipe", 0o600) == 0)
    let more = """
      path = \(path)/held
      [spool:default]
      path = \(path)/link
      [listen:unit]
      address = systemd:web
      """
    var configuration = try configuration(in: folder, more, pawl: "log = \(path)/pipe")
    #expect(
      said(try check(configuration)) == [
        "pawl.ini:15: [spool:default] path: cannot use \(path)/link: it is the directory of [cache:default], too: a link leads there",
        "pawl.ini:4: [pawl] log: cannot open the log \(path)/pipe: No such device or address",
        "pawl.ini:17: [listen:unit] address: systemd:web: no socket of this name was passed to pawl (FileDescriptorName= of the socket unit): serve works as that service only (warning)",
      ])
    configuration.process.log = .syslog(path: "\(path)/none")
    configuration.process.accessLog = .journal(path: "\(path)/held")
    let logs = said(try check(configuration)).filter { $0.contains("cannot open the log") }
    #expect(
      logs == [
        "pawl.ini:4: [pawl] log: cannot open the log \(path)/none: No such file or directory",
        "pawl.ini:3: [pawl] access-log: cannot open the log \(path)/held: Connection refused",
      ])
  }

  @Test(
    "what root makes before it becomes another user is judged as root's", .enabled(if: FileTrialTests.nobody != nil))
  func user() throws {
    let user = try #require(FileTrialTests.nobody)
    let folder = try TemporaryFolder()
    #expect(chmod(folder.path, 0o755) == 0)
    var configuration = try configuration(in: folder)
    configuration.process.accessLog = .off
    let address = try #require(SocketAddress.parse("127.0.0.1:1"))
    func said() -> [String] { self.said(MachineCheck(configuration, user: user) { _ in .success([address]) }) }
    #expect(said() == [])
    // Root's own, but nothing in it has to be made by the user: the stores have directories of their own.
    folder.make("state")
    let path = "\(folder.path)/state"
    #expect(chmod(path, 0o755) == 0)
    #expect(said() == ["pawl.ini:2: [pawl] state-dir: \(path): Permission denied (for nobody) (warning)"])
    folder.make("state/cache")
    #expect(
      said().last == "pawl.ini:11: [cache:default] path: \(path)/cache: Permission denied (for nobody)")
    #expect(chmod(path, 0o700) == 0)
    #expect(
      said().contains("built-in default: [spool:default] path: cannot be made: \(path): Permission denied (for nobody)")
    )
  }

  @Test("a user and a group that do not exist are errors")
  func accounts() throws {
    let folder = try TemporaryFolder()
    #expect(
      said(try check(configuration(in: folder, pawl: "user = no-such-user"))) == [
        "pawl.ini:4: [pawl] user: there is no user \"no-such-user\" on this system"
      ])
    #expect(
      said(try check(configuration(in: folder, pawl: "group = no-such-group"))) == [
        "pawl.ini:4: [pawl] group: there is no group \"no-such-group\" on this system"
      ])
    let own = try Account(user: nil, group: nil).name
    #expect(said(try check(configuration(in: folder, pawl: "user = \(own)"))) == [])
  }

  @Test("a key that every user can read is a warning; one that pawl's user cannot read is an error")
  func keys() throws {
    let folder = try TemporaryFolder()
    let path = folder.path
    let configuration = try configuration(
      in: folder, "[tls:web]\ncertificate = \(path)/c.pem\nkey = \(path)/k.pem")
    for name in ["c.pem", "k.pem"] { close(try Files.open("\(path)/\(name)", O_RDWR | O_CREAT)) }
    #expect(chmod(path, 0o777) == 0 && chmod("\(path)/c.pem", 0o644) == 0)
    #expect(said(try check(configuration)) == [])
    if let user = FileUser(named: "nobody", group: nil) {
      let check = MachineCheck(configuration, user: user) { _ in .failure(.notFound) }
      #expect(
        said(check).filter { $0.contains("tls") } == [
          "pawl.ini:15: [tls:web] key: \(path)/k.pem: cannot be read: Permission denied (for nobody)"
        ])
    }
    #expect(chmod("\(path)/k.pem", 0o644) == 0)
    #expect(
      said(try check(configuration)) == [
        "pawl.ini:15: [tls:web] key: \(path)/k.pem: every user of this machine can read it; chmod o-r mends that (warning)"
      ])
  }
}

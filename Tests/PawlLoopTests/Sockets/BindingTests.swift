import CLinux
import Testing

@testable import PawlLoop

@Suite("Binding of unix sockets", .timeLimit(.minutes(1))) struct BindingTests {
  @Test("replaces a socket's file that nobody listens on, and removes its own at the end")
  func replacesStaleSocket() throws {
    let folder = try TemporaryFolder()
    let path = "\(folder.path)/socket"
    let address = try #require(SocketAddress.unix(path: path))
    do { _ = try bindSocket(address) }
    #expect(access(path, F_OK) == 0)
    let loop = try EventLoop(index: 0)
    let listener = try Listener(address: address, loop: loop)
    #expect(listener.boundAddress == address)
    listener.close()
    #expect(access(path, F_OK) != 0)
  }

  @Test("gives the file the permissions that are asked for, whatever the umask is", arguments: [0o600, 0o666, 0o660])
  func mode(_ mode: mode_t) throws {
    let folder = try TemporaryFolder()
    let path = "\(folder.path)/socket"
    let address = try #require(SocketAddress.unix(path: path))
    let loop = try EventLoop(index: 0)
    let listener = try Listener(address: address, loop: loop, mode: mode)
    var status = stat()
    #expect(lstat(path, &status) == 0 && status.st_mode & 0o777 == mode)
    listener.close()
  }

  @Test("leaves a socket alone that somebody listens on")
  func leavesLiveSocket() throws {
    let folder = try TemporaryFolder()
    let address = try #require(SocketAddress.unix(path: "\(folder.path)/socket"))
    let loop = try EventLoop(index: 0)
    let listener = try Listener(address: address, loop: loop)
    #expect(throws: LoopError.addressInUse(address)) { try Listener(address: address, loop: loop) }
    listener.close()
  }

  @Test("leaves a plain file alone")
  func leavesFiles() throws {
    let folder = try TemporaryFolder()
    let path = "\(folder.path)/file"
    let file = OwnedDescriptor(adopting: pawl_open(path, O_CREAT | O_WRONLY, 0o600))
    let address = try #require(SocketAddress.unix(path: path))
    #expect(throws: LoopError.addressInUse(address)) { _ = try bindSocket(address) }
    #expect(file.raw >= 0 && access(path, F_OK) == 0)
  }

  @Test("leaves at its end what another process has put in its place")
  func leavesSuccessor() throws {
    let folder = try TemporaryFolder()
    let path = "\(folder.path)/socket"
    let address = try #require(SocketAddress.unix(path: path))
    let loop = try EventLoop(index: 0)
    let old = try Listener(address: address, loop: loop)
    rename(path, "\(folder.path)/file")
    let new = try Listener(address: address, loop: loop)
    old.close()
    #expect(access(path, F_OK) == 0)
    new.close()
    #expect(access(path, F_OK) != 0)
  }

  @Test("listens on an abstract name, and says which folder it may not write")
  func bindsAbstractNames() throws {
    let loop = try EventLoop(index: 0)
    let name = try #require(SocketAddress.unix(path: "@pawl-\(Randomness.uint64())"))
    let listener = try Listener(address: name, loop: loop)
    #expect(listener.boundAddress == name)
    let missing = try #require(SocketAddress.unix(path: "/nonexistent/socket"))
    #expect(throws: LoopError.system(call: "bind unix:/nonexistent/socket", code: ENOENT)) {
      try Listener(address: missing, loop: loop)
    }
  }
}

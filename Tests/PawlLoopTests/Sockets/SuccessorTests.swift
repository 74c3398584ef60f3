import CLinux
import Testing

@testable import PawlLoop

@Suite("A new process that takes over", .timeLimit(.minutes(1))) struct SuccessorTests {
  private func shell(_ script: String, sockets: [(name: String, descriptor: CInt)] = []) throws -> Successor {
    try Successor.start("/bin/bash", ["bash", "-c", script], sockets: sockets)
  }

  private func text(_ path: String) -> String {
    let file = OwnedDescriptor(adopting: pawl_open(path, O_RDONLY, 0))
    var bytes = [UInt8](repeating: 0, count: 4096)
    let count = read(file.raw, &bytes, bytes.count)
    return String(decoding: bytes.prefix(max(0, count)), as: UTF8.self)
  }

  @Test("inherits the sockets as descriptors 3 and up with their names, then the line; and nothing else")
  func inherits() throws {
    let folder = try TemporaryFolder()
    let pairs = try [socketPair(), socketPair()]
    let other = pawl_open("/dev/null", O_RDONLY, 0)
    let script = """
      echo "$PAWL_HANDED_SOCKETS" > \(folder.path)/names; echo $PAWL_HANDED_LINE > \(folder.path)/line
      (cd /proc/$$/fd; ls) | tr '\\n' ' ' > \(folder.path)/open
      echo one >&3; echo two >&4; echo prepared >&5; read -u 5 word; echo serving >&5; exec sleep 60
      """
    let successor = try shell(script, sockets: [("a", pairs[0].0), ("b c", pairs[1].0)])
    try successor.await(.prepared, within: .seconds(30))
    for (pair, text) in zip(pairs, ["one\n", "two\n"]) {
      var bytes = [UInt8](repeating: 0, count: 4)
      #expect(read(pair.1, &bytes, 4) == 4 && String(decoding: bytes, as: UTF8.self) == text)
    }
    successor.say(.yours)
    try successor.await(.serving, within: .seconds(30))
    #expect(text(folder.path + "/names") == "a\nb c\n" && text(folder.path + "/line") == "5\n")
    #expect(text(folder.path + "/open") == "0 1 2 3 4 5 ")
    #expect(other > 5)
    #expect(successor.end() == "signal 9")
    close(other)
    for pair in pairs {
      close(pair.0)
      close(pair.1)
    }
  }

  @Test("that ends, is late or says something else is known by that")
  func fails() throws {
    let ended = try shell("exit 3")
    #expect(throws: Successor.Silence.ended) { try ended.await(.prepared, within: .seconds(30)) }
    let late = try shell("exec sleep 60")
    #expect(throws: Successor.Silence.late) { try late.await(.prepared, within: .milliseconds(50)) }
    #expect(late.end() == "signal 9")
    let odd = try shell("head -c 64 /dev/zero >&3; exec sleep 60")
    #expect(throws: Successor.Silence.ended) { try odd.await(.prepared, within: .seconds(30)) }
    _ = odd.end()
    _ = ended.end()
    #expect(throws: LoopError.self) { try Successor.start("/no/such/program", ["x"], sockets: []) }
  }
}

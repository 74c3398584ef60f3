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
    _ = try successor.awaitPrepared(within: .seconds(30))
    for (pair, text) in zip(pairs, ["one\n", "two\n"]) {
      var bytes = [UInt8](repeating: 0, count: 4)
      #expect(read(pair.1, &bytes, 4) == 4 && String(decoding: bytes, as: UTF8.self) == text)
    }
    successor.say(.yours)
    _ = try successor.awaitServing(within: .seconds(30))
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

  @Test("says why it fails: one line, as long as it may be, before it is ready and before it serves")
  func saysWhy() throws {
    let long = String(repeating: "x", count: Successor.longestReason)
    for (said, heard) in [("no file: a\tb", "no file: a b"), (long, long), (long + "y", long)] {
      let pair = try socketPair()
      let (old, new) = (Successor(testing: pair.0), Predecessor(pair.1, versions: "1"))
      new.saysFailed(said)
      #expect(throws: Successor.Silence.failed(heard)) { _ = try old.awaitPrepared(within: .seconds(30)) }
    }
    let successor = try shell("echo prepared >&3; read -u 3 word; echo failed no room >&3; exit 7")
    _ = try successor.awaitPrepared(within: .seconds(30))
    successor.say(.yours)
    #expect(throws: Successor.Silence.failed("no room")) { try successor.awaitServing(within: .seconds(30)) }
    #expect(successor.end(patience: .seconds(30)) == "exit status 7")
    let endless = try shell("head -c 2000 /dev/zero | tr '\\0' a >&3; exec sleep 60")
    #expect(throws: Successor.Silence.ended) { _ = try endless.awaitPrepared(within: .seconds(30)) }
    #expect(endless.end() == "signal 9")
  }

  @Test("the old process is known as long as it lives")
  func draining() throws {
    let pair = try socketPair()
    let new = Predecessor(pair.1, versions: "1")
    #expect(new.drainingProcess == getpid())
    close(pair.0)
  }

  @Test(
    "can borrow only if both know the same version of the messages",
    arguments: [("1", true), ("2 1", true), ("2", false), ("11", false), ("", false)])
  func borrows(_ versions: String, _ canBorrow: Bool) throws {
    let pair = try socketPair()
    let old = OwnedDescriptor(adopting: pair.0)
    let new = Predecessor(pair.1, versions: versions)
    let list: [UInt8] = [1, 2, 3]
    let words = Array("yours\n".utf8) + (canBorrow ? [0, 0, 0, 0, 0, 0, 0, 3] + list : [])
    #expect(write(old.raw, words, words.count) == words.count)
    #expect(try new.awaitStores() == (canBorrow ? list : nil))
    var bytes = [UInt8](repeating: 0, count: 64)
    let count = read(old.raw, &bytes, bytes.count)
    let said = canBorrow ? "prepared borrowing=1\n" : "prepared\n"
    #expect(String(decoding: bytes.prefix(max(0, count)), as: UTF8.self) == said)
    // Without messages the socket only says words.
    let line = new.takeLine()
    #expect((line != nil) == canBorrow && new.takeLine() == nil)
    if let line { close(line) }
  }

  @Test(
    "the list of what is lent: at the limit it is read, one past it is an error, and cut off it is the end of the old process"
  )
  func lists() throws {
    for (length, sent, isRead) in [
      (Predecessor.largestList, Predecessor.largestList, true), (Predecessor.largestList + 1, 0, false), (8, 7, true),
    ] {
      let pair = try socketPair()
      let new = Predecessor(pair.1, versions: "1")
      let bytes = Array("yours\n".utf8) + ProcessLine.header(length) + [UInt8](repeating: 7, count: sent)
      let old = pair.0
      let writer = try LoopThread(name: "old") {
        var done = 0
        while done < bytes.count {
          let count = bytes.withUnsafeBytes { write(old, $0.baseAddress.map { $0 + done }, bytes.count - done) }
          guard count > 0 else { break }
          done += count
        }
        close(old)
      }
      if isRead {
        let wanted = sent == length ? [UInt8](repeating: 7, count: length) : nil
        #expect(try new.awaitStores() == wanted)
      } else {
        #expect(throws: LoopError.system(call: "receive", code: EMSGSIZE)) { try new.awaitStores() }
      }
      writer.join()
    }
  }

  @Test(
    "says whether it can borrow, gets the list after `yours`, and its socket is left for messages",
    arguments: [true, false])
  func lends(_ canBorrow: Bool) throws {
    let folder = try TemporaryFolder()
    let word = canBorrow ? "prepared borrowing=1" : "prepared"
    let script = """
      echo "$PAWL_HANDED_LENDING" > \(folder.path)/versions; echo "\(word)" >&3
      read -u 3 word; head -c 11 <&3 > \(folder.path)/list; echo serving >&3; echo more >&3; exec sleep 60
      """
    let successor = try shell(script)
    #expect(try successor.awaitPrepared(within: .seconds(30)) == canBorrow)
    successor.sayYours(lending: [1, 2, 3])
    _ = try successor.awaitServing(within: .seconds(30))
    #expect(text(folder.path + "/versions") == "1\n")
    #expect(Array(text(folder.path + "/list").utf8) == [0, 0, 0, 0, 0, 0, 0, 3, 1, 2, 3])
    let line = OwnedDescriptor(adopting: try #require(successor.takeLine()))
    var bytes = [UInt8](repeating: 0, count: 5)
    #expect(read(line.raw, &bytes, 5) == 5 && bytes == Array("more\n".utf8))
    _ = successor.end()
    #expect(read(line.raw, &bytes, 5) == 0)
  }

  @Test("that has stepped aside names the process that serves; the one between is gone then")
  func stepsAside() throws {
    let successor = try shell("sleep 60 <&- & echo serving $! >&3; kill -9 $$")
    let serving = try successor.awaitServing(within: .seconds(30))
    #expect(serving != successor.pid && kill(serving, 0) == 0)
    var status: CInt = 0
    #expect(waitpid(successor.pid, &status, 0) == -1 && pawl_errno() == ECHILD)
    #expect(kill(serving, SIGKILL) == 0)
    let direct = try shell("echo serving >&3; exec sleep 60")
    #expect(try direct.awaitServing(within: .seconds(30)) == direct.pid)
    _ = direct.end()
  }

  @Test("that ends, is late or says something else is known by that")
  func fails() throws {
    let ended = try shell("exit 3")
    #expect(throws: Successor.Silence.ended) { _ = try ended.awaitPrepared(within: .seconds(30)) }
    let late = try shell("exec sleep 60")
    #expect(throws: Successor.Silence.late) { _ = try late.awaitPrepared(within: .milliseconds(50)) }
    #expect(late.end() == "signal 9")
    let odd = try shell("head -c 64 /dev/zero >&3; exec sleep 60")
    #expect(throws: Successor.Silence.ended) { _ = try odd.awaitPrepared(within: .seconds(30)) }
    _ = odd.end()
    _ = ended.end()
    #expect(throws: LoopError.self) { try Successor.start("/no/such/program", ["x"], sockets: []) }
  }
}

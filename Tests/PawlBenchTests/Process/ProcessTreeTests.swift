import CLinux
import Testing

@testable import PawlBench

@Suite("A process and its children") struct ProcessTreeTests {
  @Test("CPU and memory of all of them are summed up")
  func sums() throws {
    let fake = try FakeProcesses()
    fake.set(5, .init(user: 1, system: 2, nanoseconds: 31_000_000, share: 4, children: [6, 7]))
    fake.set(6, .init(parent: 5, user: 10, system: 20, nanoseconds: 305_000_000, share: 8, children: [8]))
    fake.set(7, .init(parent: 5, system: 3, nanoseconds: 39_000_000, share: 16))
    fake.set(8, .init(parent: 6, user: 7, share: 32))
    fake.set(9, .init(parent: 1, user: 1000, share: 64))
    let tree = try ProcessTree(pid: 5, folder: fake.folder)
    #expect(tree.read() == ProcessReading(processes: 4, user: 0.195, system: 0.25, memory: 60 * 1024))
  }

  @Test("a process that does not exist is refused by its number", arguments: [0, -1, 6] as [Int32])
  func absent(_ pid: Int32) throws {
    let fake = try FakeProcesses()
    fake.set(5, .init())
    #expect(throws: ProcessError.noSuchProcess(pid: pid)) { _ = try ProcessTree(pid: pid, folder: fake.folder) }
    #expect(ProcessError.noSuchProcess(pid: pid).message == "there is no process \(pid)")
  }

  @Test("what a child had spent that its parent waited for counts once, with what it spent after the last reading")
  func reaped() throws {
    let fake = try FakeProcesses()
    fake.set(5, .init(user: 10, children: [6]))
    fake.set(6, .init(parent: 5, user: 40, system: 10, nanoseconds: 503_000_000))
    let tree = try ProcessTree(pid: 5, folder: fake.folder)
    #expect(tree.read() == ProcessReading(processes: 2, user: 0.503, system: 0.1, memory: 80 << 10))
    fake.end(6)
    fake.set(5, .init(user: 11, reapedUser: 60, reapedSystem: 20))
    #expect(tree.read() == ProcessReading(processes: 1, user: 0.71, system: 0.2, memory: 40 << 10))
  }

  @Test("a child that has ended goes on counting until its parent has waited for it, and where it never does")
  func unreaped() throws {
    let fake = try FakeProcesses()
    fake.set(5, .init(user: 10, reapedUser: 100, children: [6]))
    fake.set(6, .init(parent: 5, user: 50, nanoseconds: 509_000_000))
    let tree = try ProcessTree(pid: 5, folder: fake.folder)
    #expect(tree.read()?.user == 1.609)
    fake.end(6)
    fake.set(5, .init(user: 10, reapedUser: 100))
    #expect(tree.read()?.user == 1.609)
    // The kernel counts in hundredths: the sum does not fall by what they cut off.
    fake.set(5, .init(user: 10, reapedUser: 150))
    #expect(tree.read()?.user == 1.609)
    fake.set(5, .init(user: 10, reapedUser: 160))
    #expect(tree.read()?.user == 1.7)
  }

  @Test("a child that came and went between two readings counts")
  func unseen() throws {
    let fake = try FakeProcesses()
    fake.set(5, .init(user: 10))
    let tree = try ProcessTree(pid: 5, folder: fake.folder)
    fake.set(5, .init(user: 10, reapedUser: 3, reapedSystem: 4))
    #expect(tree.read() == ProcessReading(processes: 1, user: 0.13, system: 0.04, memory: 40 << 10))
  }

  @Test("a grandchild whose parent has ended still belongs to the process")
  func orphan() throws {
    let fake = try FakeProcesses()
    fake.set(5, .init(user: 10, children: [6]))
    fake.set(6, .init(parent: 5, user: 20, children: [7]))
    fake.set(7, .init(parent: 6, user: 30))
    let tree = try ProcessTree(pid: 5, folder: fake.folder)
    fake.end(6)
    fake.set(5, .init(user: 10, reapedUser: 20))
    fake.set(7, .init(parent: 1, user: 35))
    #expect(tree.read()?.user == 0.65)
    fake.end(7)
    #expect(tree.read()?.user == 0.65)
    #expect(tree.read()?.processes == 1)
  }

  @Test("a whole branch that ends is answered for by the nearest that is left")
  func branch() throws {
    let fake = try FakeProcesses()
    fake.set(5, .init(user: 10, children: [6]))
    fake.set(6, .init(parent: 5, user: 20, reapedUser: 5, children: [7]))
    fake.set(7, .init(parent: 6, user: 30))
    let tree = try ProcessTree(pid: 5, folder: fake.folder)
    fake.end(6)
    fake.end(7)
    fake.set(5, .init(user: 10, reapedUser: 55))
    #expect(tree.read()?.user == 0.65)
  }

  @Test("another process that has taken a child's number does not count")
  func reusedNumber() throws {
    let fake = try FakeProcesses()
    fake.set(5, .init(user: 10, children: [6]))
    fake.set(6, .init(parent: 5, user: 20))
    let tree = try ProcessTree(pid: 5, folder: fake.folder)
    fake.set(5, .init(user: 10, reapedUser: 20))
    fake.set(6, .init(parent: 1, user: 5000, started: 200))
    #expect(tree.read() == ProcessReading(processes: 1, user: 0.3, system: 0, memory: 40 << 10))
  }

  @Test("once the process has ended there is nothing to read, also when another one has its number")
  func ended() throws {
    let fake = try FakeProcesses()
    fake.set(5, .init(user: 10))
    let tree = try ProcessTree(pid: 5, folder: fake.folder)
    fake.set(5, .init(user: 10, started: 200))
    #expect(tree.read() == nil)
    fake.end(5)
    #expect(tree.read() == nil)
  }

  @Test("this process has spent more after it has worked")
  func itself() throws {
    let tree = try ProcessTree(pid: getpid())
    let before = try #require(tree.read())
    var sum: UInt64 = 0
    repeat {
      for number in 0..<100_000 as Range<UInt64> { sum &+= number &* sum | 1 }
    } while tree.read()?.user == before.user
    #expect(try #require(tree.read()).user > before.user && sum != 0)
  }
}

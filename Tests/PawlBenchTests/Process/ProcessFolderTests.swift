import CLinux
import Testing

@testable import PawlBench

@Suite("What /proc says of processes") struct ProcessFolderTests {
  @Test("memory is the proportional share, and the resident size where the kernel does not tell that")
  func memory() throws {
    let fake = try FakeProcesses()
    fake.set(5, .init(pages: 3, share: 7))
    fake.set(6, .init(pages: 3))
    let (five, six) = (try #require(try fake.folder.status(of: 5)), try #require(try fake.folder.status(of: 6)))
    #expect(fake.folder.memory(of: 5, five) == 7 * 1024)
    #expect(fake.folder.memory(of: 6, six) == 3 * UInt64(sysconf(CInt(_SC_PAGESIZE))))
  }

  @Test("CPU is what the kernel's clock says, and the ticks where it says less or nothing")
  func cpu() throws {
    let fake = try FakeProcesses()
    fake.set(5, .init(user: 10, system: 5, nanoseconds: 157_654_321))
    fake.set(6, .init(user: 10, system: 5))
    let status = try #require(try fake.folder.status(of: 5))
    #expect(fake.folder.cpu(of: 5, status) == 157_654_321)
    #expect(fake.folder.cpu(of: 6, status) == 150_000_000)
  }

  @Test("a process that does not exist has no status; a line that is none of the kernel's is an error with its path")
  func absent() throws {
    let fake = try FakeProcesses()
    #expect(try fake.folder.status(of: 5) == nil)
    fake.set(5, .init())
    fake.spoil(5)
    let path = "\(fake.top.path)/5/stat"
    #expect(throws: ProcessError.unreadable(path: path, reason: "is not what the kernel writes")) {
      try fake.folder.status(of: 5)
    }
  }

  @Test("children of all threads are found")
  func children() throws {
    let fake = try FakeProcesses()
    fake.set(5, .init(children: [8, 9]))
    fake.top.make("5/task/77")
    fake.top.write("5/task/77/children", "12 ")
    #expect(fake.folder.children(of: 5).sorted() == [8, 9, 12])
    #expect(fake.folder.children(of: 6) == [])
  }

  @Test("this process is found with its CPU and its memory")
  func itself() throws {
    let folder = ProcessFolder()
    let status = try #require(try folder.status(of: getpid()))
    #expect(status.parent == getppid() && status.started > 0)
    #expect(folder.cpu(of: getpid(), status) > 0)
    #expect(folder.memory(of: getpid(), status) > 1 << 20)
  }
}

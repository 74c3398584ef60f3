import CLinux
import PawlLoop
import PawlTestKit
import Testing

@testable import PawlServer

@Suite("Temporary files") struct TemporaryFileTests {
  @Test("one that is let go of is emptied, and the next one is made of it") func reused() throws {
    let folder = try TemporaryFolder()
    let pool = WorkerPool(threads: 1)
    let spares = TemporaryFileSpares()
    var file = TemporaryFile(in: folder.path, pool: pool, spares: spares)
    let first = try #require(file?.descriptor)
    #expect(file.map { $0.write(rawBytes("secret"), at: 0) } == true)
    file = nil
    // What is let go of goes through the pool.
    pool.stop()
    let later = WorkerPool(threads: 1)
    let next = try #require(TemporaryFile(in: folder.path, pool: later, spares: spares))
    #expect(next.descriptor == first)
    #expect(lseek(next.descriptor, 0, SEEK_END) == 0)
    #expect(spares.take() == nil)
    later.stop()
  }

  @Test("no more are kept than may be") func limit() throws {
    let folder = try TemporaryFolder()
    let spares = TemporaryFileSpares()
    for _ in 0...TemporaryFileSpares.limit {
      spares.give(pawl_open(folder.path, O_RDWR | pawl_O_TMPFILE, 0o600))
    }
    var taken: [CInt] = []
    while let descriptor = spares.take() { taken.append(descriptor) }
    #expect(taken.count == TemporaryFileSpares.limit)
    for descriptor in taken { close(descriptor) }
  }

  private func rawBytes(_ text: StaticString) -> UnsafeRawBufferPointer {
    UnsafeRawBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount)
  }
}

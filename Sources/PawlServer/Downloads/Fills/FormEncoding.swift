import CLinux
import PawlCacheStore
import PawlCoding
import PawlDisk
import PawlHTTP

/// Compresses one content into its coded form, in the pool. If a part of the form is already held, that part is made again and compared. So
/// bytes of two different encodings of one content are never put together.
final class FormEncoding: @unchecked Sendable {
  // Safe: only one job at a time uses this object. It is handed over through the queues of the pool and the loop.
  private let encoder: ContentEncoder
  private let form: StoredBody
  /// The number of content bytes that the encoder has taken.
  private(set) var consumed: UInt64 = 0
  /// The number of bytes of the form that the encoder has given out.
  private(set) var written: UInt64 = 0
  /// Whether the encoder has taken content since it was last flushed.
  private(set) var holdsBack = false
  /// The offsets of the content at which the encoder has to be flushed again, if a part of the form was made before.
  private var flushes: ArraySlice<UInt64>
  private var output: [UInt8] = []

  enum Failure: Error, Hashable, Sendable {
    case coding(CodingError)
    case store(StoreError)
    /// The held part of the form differs from what the encoder makes of the content now.
    case differs
  }

  init(_ coding: ContentCoding, into form: StoredBody) throws(CodingError) {
    encoder = try ContentEncoder(coding, effort: .stored)
    self.form = form
    flushes = form.flushes[...]
  }

  /// Takes the next bytes of the content. Blocking.
  func take(_ input: UnsafeRawBufferPointer) throws(Failure) {
    var rest = input
    while let place = flushes.first, place <= consumed + UInt64(rest.count) {
      let count = Int(place - consumed)
      try encode(UnsafeRawBufferPointer(rebasing: rest[..<count]))
      rest = UnsafeRawBufferPointer(rebasing: rest[count...])
      try giveOut()
      flushes.removeFirst()
    }
    try encode(rest)
    try put()
  }

  /// Flushes the encoder, so that all content that has come can be decoded. Used when no more content comes for a while. Blocking.
  func flush() throws(Failure) {
    // If bytes after this point are held, they were made without a flush here. After a flush the new bytes would differ from them.
    guard holdsBack, flushes.isEmpty, form.held.contiguousEnd(from: written) <= written,
      form.noteFlush(at: consumed)
    else { return }
    try giveOut()
  }

  /// Ends the form, because the content is at its end. Blocking.
  func finish() throws(Failure) {
    do throws(CodingError) { try encoder.finish(into: &output) } catch { throw .coding(error) }
    try put()
  }

  private func encode(_ input: UnsafeRawBufferPointer) throws(Failure) {
    guard !input.isEmpty else { return }
    do throws(CodingError) { try encoder.encode(input, into: &output) } catch { throw .coding(error) }
    consumed += UInt64(input.count)
    holdsBack = true
  }

  private func giveOut() throws(Failure) {
    do throws(CodingError) { try encoder.flush(into: &output) } catch { throw .coding(error) }
    holdsBack = false
    try put()
  }

  private func put() throws(Failure) {
    guard !output.isEmpty else { return }
    defer { output.removeAll(keepingCapacity: true) }
    var failure: Failure?
    output.withUnsafeBytes { bytes in
      do throws(Failure) { try put(bytes) } catch { failure = error }
    }
    if let failure { throw failure }
    written += UInt64(output.count)
  }

  private func put(_ bytes: UnsafeRawBufferPointer) throws(Failure) {
    guard agrees(bytes) else { throw .differs }
    do throws(StoreError) {
      try form.write(bytes, at: written)
    } catch .differs {
      throw .differs
    } catch {
      // There is no space on disk, so the rest goes through memory.
      guard form.beginStreaming() else { throw .store(error) }
      do throws(StoreError) { try form.write(bytes, at: written) } catch { throw .store(error) }
    }
  }

  /// Whether the bytes equal the bytes that the form holds at these offsets. Bytes that the form does not hold are not compared.
  private func agrees(_ bytes: UnsafeRawBufferPointer) -> Bool {
    let end = min(form.held.contiguousEnd(from: written), written + UInt64(bytes.count))
    guard end > written else { return true }
    let count = Int(end - written)
    var held = [UInt8](repeating: 0, count: count)
    return held.withUnsafeMutableBytes { held in
      guard form.readUnverified(written..<end, into: held) == count, let a = held.baseAddress,
        let b = bytes.baseAddress
      else { return false }
      return memcmp(a, b, count) == 0
    }
  }
}

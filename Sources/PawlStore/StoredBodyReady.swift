/// Bytes of a body that can be sent without asking anybody.
package enum ReadyBytes {
  /// The whole body.
  case memory([UInt8])
  /// The run that was asked for.
  case file(FileSlice)
}

extension StoredBody {
  /// `range` of a complete body, when it is in memory, or verified and its file open; else `nil`. For sending at once and
  /// whole: it takes no reader's seat.
  package func ready(_ range: Range<UInt64>) -> ReadyBytes? {
    let now = core.openBodies.lately
    return state.withLock { state in
      guard state.failure == nil, state.isComplete else { return nil }
      if let memory = state.memory {
        state.wasMemoryUsed = true
        return .memory(memory)
      }
      guard let descriptor = state.descriptor, state.verified.contiguousEnd(from: range.lowerBound) >= range.upperBound
      else { return nil }
      state.lastTouch = now
      return .file(
        FileSlice(
          fd: descriptor.raw, offset: range.lowerBound, count: Int(range.upperBound - range.lowerBound),
          owner: descriptor))
    }
  }
}

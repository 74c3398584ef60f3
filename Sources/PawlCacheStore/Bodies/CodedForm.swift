import PawlDisk
package import PawlHTTP

/// The same content in a content coding that pawl has applied itself: a body of its own beside the one it was made of, with a tag of
/// its own. It goes with that one.
package struct CodedForm: Sendable {
  package let coding: ContentCoding
  package let body: StoredBody

  package init(coding: ContentCoding, body: StoredBody) { (self.coding, self.body) = (coding, body) }

  /// What a body's row says of the one that it was made of.
  struct Origin: Hashable, Sendable {
    let base: ObjectID
    let coding: ContentCoding
    /// ``StoredBody/isSteady``.
    let isSteady: Bool

    init(base: ObjectID, coding: ContentCoding, isSteady: Bool) {
      (self.base, self.coding, self.isSteady) = (base, coding, isSteady)
    }

    /// - Returns: `nil` for bytes that no form's row has.
    init?(bytes: [UInt8]) {
      guard let last = bytes.last, last <= 1,
        let coding = bytes.dropLast().last.flatMap(ContentCoding.init(rawValue:)),
        let base = ObjectID(bytes: Array(bytes.dropLast(2)))
      else { return nil }
      self.init(base: base, coding: coding, isSteady: last == 1)
    }

    var bytes: [UInt8] { base.bytes + [coding.rawValue, isSteady ? 1 : 0] }
  }
}

/// The coded forms of a body, and of what it is one itself. From any thread.
extension StoredBody {
  /// Whether it was made by pawl from another one: no origin has it, and nothing of it is ever asked for there.
  package var isForm: Bool { state.withLock { $0.base != nil } }

  package var forms: [CodedForm] { state.withLock { $0.forms } }

  package func form(in coding: ContentCoding) -> StoredBody? {
    state.withLock { state in state.forms.first { $0.coding == coding }?.body }
  }

  /// The form that a strong tag names, and how far (``tagLimit(_:)``).
  package func form(namedBy opaque: [UInt8]) -> (form: CodedForm, limit: UInt64)? {
    for form in forms {
      if let limit = form.body.tagLimit(opaque) { return (form, limit) }
    }
    return nil
  }

  /// Takes one in, unless there is one of that coding or this body is on its way out.
  /// - Returns: whether it was taken in.
  func addForm(_ form: CodedForm) -> Bool {
    // Before anybody finds it.
    form.body.state.withLock { $0.base = WeakStoredBody(body: self) }
    return state.withLock { state in
      guard state.failure == nil, !state.isDoomed, !state.forms.contains(where: { $0.coding == form.coding }) else {
        return false
      }
      state.forms.append(form)
      return true
    }
  }

  func removeForm(_ body: StoredBody) { state.withLock { $0.forms.removeAll { $0.body === body } } }

  /// Those leave with it.
  func takeForms() -> [CodedForm] {
    state.withLock { state in
      defer { state.forms = [] }
      return state.forms
    }
  }

  /// It is found no more beside the body that it was made of.
  func leaveBase() { state.withLock({ $0.base?.body })?.removeForm(self) }

  // MARK: Flushes

  /// Bytes of the content at which the encoder was made to give out what it had: whoever makes the form again has to do the same, or
  /// the bytes are others. At most ``flushLimit``, in memory only.
  package var flushes: [UInt64] { state.withLock { $0.flushes } }

  /// Whether it is made without such places, of content that was here whole: then whoever makes it again, also after the process has
  /// ended, makes the same bytes.
  package var isSteady: Bool { state.withLock { $0.isSteady } }

  package static let flushLimit = 1024

  /// - Returns: `false` where there are too many, or there is to be none.
  package func noteFlush(at offset: UInt64) -> Bool {
    state.withLock { state in
      guard !state.isSteady, state.flushes.count < Self.flushLimit else { return false }
      state.flushes.append(offset)
      return true
    }
  }
}

/// A body that goes when nobody else has it.
struct WeakStoredBody: Sendable { weak var body: StoredBody? }

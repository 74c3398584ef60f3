/// One occurrence of a key in a section.
struct Entry: Hashable, Sendable {
  var key: String
  var value: String
  var origin: ValueOrigin
  /// The directory that a relative path is resolved against.
  var directory: String
  /// The texts that came from files (`${file:PATH}`): they may be secrets.
  var fromFiles: [String] = []
  /// Whether a part of the value came from a file or from the environment, and no message may show it.
  var isInserted = false
}

/// A key of a section: its name, how its text is read into `Model`, and how its value is shown.
struct Key<Model> {
  let name: String
  let isList: Bool
  let isRequired: Bool
  /// Whether quotes around the value may be meant, as in a format of log lines.
  var mayHaveQuotes: Bool { name == "access-log-format" }
  /// Empties a list before its first entry is read.
  let clear: (inout Model) -> Void
  /// Reads one entry and returns the number of elements that the list gained (1 for a scalar).
  let read: (inout Model, Entry) throws(BadValue) -> Int
  /// Returns the value, or the elements of a list, as they would be written in a configuration.
  let show: (Model) -> [String]

  static func scalar<Value>(
    _ name: String, _ path: WritableKeyPath<Model, Value>, _ format: ValueFormat<Value>, isRequired: Bool = false
  ) -> Key {
    Key(
      name: name, isList: false, isRequired: isRequired, clear: { _ in },
      read: { (model: inout Model, entry: Entry) throws(BadValue) -> Int in
        model[keyPath: path] = try format.read(entry.value, entry.directory)
        return 1
      },
      show: { [format.show($0[keyPath: path])] })
  }

  /// Makes a key that may be written several times; each entry adds to the list. Elements are separated by spaces or tabs and,
  /// with `commas`, also by commas. An empty value, or the word `empty`, empties the list.
  static func list<Value>(
    _ name: String, _ path: WritableKeyPath<Model, [Value]>, _ format: ValueFormat<Value>, empty: String?,
    commas: Bool, isRequired: Bool = false
  ) -> Key {
    Key(
      name: name, isList: true, isRequired: isRequired, clear: { $0[keyPath: path] = [] },
      read: { (model: inout Model, entry: Entry) throws(BadValue) -> Int in
        let words = entry.value.split { $0 == " " || $0 == "\t" || (commas && $0 == ",") }
        if words.isEmpty, entry.value.isEmpty, empty != nil { return 0 }
        if words.isEmpty { throw BadValue(expected: format.expected, found: entry.value) }
        if let empty, words.count == 1, words[0].lowercased() == empty { return 0 }
        var elements = [Value]()
        for word in words {
          if let empty, word.lowercased() == empty {
            throw BadValue(expected: "\(empty) by itself, or others without it", found: entry.value)
          }
          elements.append(try format.read(String(word), entry.directory))
        }
        model[keyPath: path] += elements
        return elements.count
      },
      show: { model in
        let elements = model[keyPath: path]
        return elements.isEmpty ? [empty ?? ""] : elements.map(format.show)
      })
  }

  /// Makes a list key in which each entry is one element, which may contain spaces.
  /// - Parameter splitting: splits an entry into several elements.
  static func entries<Value>(
    _ name: String, _ path: WritableKeyPath<Model, [Value]>, _ format: ValueFormat<Value>, empty: String?,
    isRequired: Bool = false, splitting: @escaping (String) -> [String] = { [$0] }
  ) -> Key {
    Key(
      name: name, isList: true, isRequired: isRequired, clear: { $0[keyPath: path] = [] },
      read: { (model: inout Model, entry: Entry) throws(BadValue) -> Int in
        if let empty, entry.value.isEmpty || entry.value.lowercased() == empty { return 0 }
        var elements = [Value]()
        for element in splitting(entry.value) { elements.append(try format.read(element, entry.directory)) }
        model[keyPath: path] += elements
        return elements.count
      },
      show: { model in
        let elements = model[keyPath: path]
        return elements.isEmpty ? [empty ?? ""] : elements.map(format.show)
      })
  }

  /// Returns the same key for a larger model that contains `Model`.
  func lifted<Whole>(through path: WritableKeyPath<Whole, Model>) -> Key<Whole> {
    Key<Whole>(
      name: name, isList: isList, isRequired: isRequired, clear: { clear(&$0[keyPath: path]) },
      read: { (whole: inout Whole, entry: Entry) throws(BadValue) -> Int in try read(&whole[keyPath: path], entry) },
      show: { show($0[keyPath: path]) })
  }
}

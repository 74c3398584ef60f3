import PawlBase
import PawlConfig

/// `/v1/config`: the configuration in force, each value with where it comes from, without secrets.
enum AdminConfiguration {
  static func reply(_ picture: ServerPicture) -> AdminReply {
    AdminReply.object { json in
      json.member("generation", picture.generation)
      json.member(
        "sections",
        array: { array in
          for section in picture.configuration.effective { write(section, to: &array) }
        })
    }
  }

  private static func write(_ section: EffectiveSection, to array: inout JSONWriter) {
    array.object { json in
      json.member("section", section.label)
      json.member(
        "values",
        array: { array in
          for value in section.values {
            array.object {
              $0.member("key", value.key)
              $0.member("value", value.isSecret ? Secret.shown : value.text)
              $0.member("origin", "\(value.origin)")
            }
          }
        })
    }
  }
}

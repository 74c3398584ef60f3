import PawlBase
import PawlConfig

/// `/v1/config`: the configuration in force, each value with where it comes from, without secrets.
enum AdminConfiguration {
  static func reply(_ picture: ServerPicture) -> AdminReply {
    AdminReply.object { json in
      json.member("generation", picture.generation)
      json.member("file", picture.configuration.file)
      ConfigurationReport.write(picture.configuration, to: &json)
    }
  }
}

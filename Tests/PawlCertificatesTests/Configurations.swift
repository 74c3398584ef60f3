import PawlConfig

extension Configuration {
  /// One that is `/t.ini`. Lines 1 to 4 are an upstream and a site, to which `site` adds.
  init(site: String, _ sections: String) throws {
    let all = "[upstream:app]\nurl = http://a\n[site:default]\nupstream = app\(site)\n\(sections)"
    let surroundings = Surroundings(
      environment: { _ in nil }, readFile: { _ in .success(Array(all.utf8)) }, listFiles: { _ in [] }, isRoot: false)
    self = try ConfigurationLoader.load(path: "/t.ini", surroundings: surroundings)
  }
}

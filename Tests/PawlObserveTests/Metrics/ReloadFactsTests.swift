import Testing

@testable import PawlObserve

@Suite("Facts of reloads") struct ReloadFactsTests {
  @Test("a refused one leaves the time of the last one that was applied")
  func refused() {
    let facts = ReloadFacts(startedAt: 100)
    #expect(text(facts).contains("pawl_config_last_reload_successful 1\n"))
    facts.note(isApplied: true, at: 150)
    facts.note(isApplied: false, at: 200)
    let text = text(facts)
    #expect(text.contains("pawl_config_reloads_total{result=\"applied\"} 1\n"))
    #expect(text.contains("pawl_config_reloads_total{result=\"refused\"} 1\n"))
    #expect(text.contains("pawl_config_last_reload_successful 0\n"))
    #expect(text.contains("pawl_config_last_reload_success_timestamp_seconds 150\n"))
  }

  private func text(_ facts: ReloadFacts) -> String {
    var snapshot = MetricsSnapshot()
    facts.add(to: &snapshot)
    return String(decoding: snapshot.text(.openMetrics), as: UTF8.self)
  }
}

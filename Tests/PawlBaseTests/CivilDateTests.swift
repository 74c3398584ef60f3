import Testing

@testable import PawlBase

@Suite("Days of the calendar") struct CivilDateTests {
  @Test(
    "are counted from 1970",
    arguments: [
      (0, 1970, 1, 1), (-1, 1969, 12, 31), (11_016, 2000, 2, 29), (11_017, 2000, 3, 1), (19_675, 2023, 11, 14),
      (-719_528, 0, 1, 1), (2_932_896, 9999, 12, 31), (-25_509, 1900, 2, 28), (-25_508, 1900, 3, 1),
    ] as [(Int64, Int64, Int64, Int64)])
  func dates(_ days: Int64, _ year: Int64, _ month: Int64, _ day: Int64) {
    let date = CivilDate(daysSince1970: days)
    #expect(date == CivilDate(year: year, month: month, day: day) && date.daysSince1970 == days)
  }

  @Test("follow each other, and each comes back")
  func all() {
    var last = CivilDate(daysSince1970: -800_001)
    for days in Int64(-800_000)...800_000 {
      let date = CivilDate(daysSince1970: days)
      let isNext =
        date.day == last.day + 1 && date.month == last.month
        || date.day == 1 && (date.month == last.month + 1 || date.month == 1 && last.month == 12)
      if !isNext || date.daysSince1970 != days { return #expect(Bool(false), "day \(days)") }
      last = date
    }
  }

  @Test("division rounds down", arguments: [(7, 2, 1), (-7, -3, 2), (-9, -3, 0), (0, 0, 0)])
  func division(_ value: Int, _ quotient: Int, _ rest: Int) {
    #expect(value.dividedDown(by: 3) == quotient && value.restDown(by: 3) == rest)
  }
}

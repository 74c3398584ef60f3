/// A day of the proleptic Gregorian calendar. The conversions count in eras of 400 years that begin on 1 March (H. Hinnant,
/// "chrono-compatible low-level date algorithms").
package struct CivilDate: Hashable, Sendable {
  package let year: Int64
  /// The month, from 1 to 12.
  package let month: Int64
  package let day: Int64

  package init(year: Int64, month: Int64, day: Int64) { (self.year, self.month, self.day) = (year, month, day) }

  package init(daysSince1970 days: Int64) {
    let days = days + 719_468
    let era = days.dividedDown(by: 146_097)
    let dayOfEra = days - era * 146_097
    let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
    let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
    let shifted = (5 * dayOfYear + 2) / 153
    month = shifted < 10 ? shifted + 3 : shifted - 9
    day = dayOfYear - (153 * shifted + 2) / 5 + 1
    year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
  }

  package var daysSince1970: Int64 {
    let year = month <= 2 ? year - 1 : year
    let era = year.dividedDown(by: 400)
    let yearOfEra = year - era * 400
    let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
    return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
  }
}

extension SignedInteger {
  /// Division that rounds towards negative infinity.
  /// - Parameter divisor: must be positive.
  @inlinable package func dividedDown(by divisor: Self) -> Self { self / divisor - (self % divisor < 0 ? 1 : 0) }

  /// The remainder of ``dividedDown(by:)``, which is never negative.
  @inlinable package func restDown(by divisor: Self) -> Self { self % divisor + (self % divisor < 0 ? divisor : 0) }
}

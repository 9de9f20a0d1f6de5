// The words for the state of a case. The declaration is `proctor/reports/content/case_words.py`; a test compares both.

/** The outcome of a case or a trial. */
export const OUTCOME_WORDS = {
  passed: "passed",
  failed: "failed",
  not_applicable: "not applicable",
  error: "error",
  informational: "informational",
  skipped: "skipped",
  not_run: "not run",
  inconclusive: "inconclusive",
} as const;

/** What happened to a case between two runs: for one case, and behind a number above 1. */
export const CHANGE_WORDS = {
  now_fails: ["now fails", "now fail"],
  missing: ["has missing verdicts", "have missing verdicts"],
  now_in_error: ["now in error", "now in error"],
  now_passes: ["now passes", "now pass"],
  no_longer_in_error: ["no longer in error", "no longer in error"],
  fewer_pass: ["fewer trials pass", "pass fewer trials"],
  more_pass: ["more trials pass", "pass more trials"],
  within_noise: ["changed within noise", "changed within noise"],
} as const;

/** The state of a case over its runs: for one case, and behind a number above 1. */
export const COURSE_WORDS = {
  broke: ["now fails", "now fail"],
  failing: ["failed", "failed"],
  undecided: ["has missing verdicts", "have missing verdicts"],
  flaky: ["flaky", "flaky"],
  fixed: ["now passes", "now pass"],
  steady: ["passed", "passed"],
} as const;

/** A word at the beginning of a line: `Now fails`. */
export function capital(word: string): string {
  return word.charAt(0).toUpperCase() + word.slice(1);
}

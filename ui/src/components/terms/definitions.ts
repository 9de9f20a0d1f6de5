/** What each statistic on the page means, in one sentence. */
export const DEFINITIONS = {
  passRate: "The share of cases that passed, skipped ones left out; as long as cases are not run there are only counts.",
  trialRate: "The share of trials that passed, of those that were scored; a trial in error is left out here, whereas the rate of a single case is of all its trials.",
  confidenceInterval:
    "A confidence interval (CI) is a range computed so that, over many repetitions of the measurement, it contains the true value in the stated percentage of them; more cases or trials make it narrower.",
  passHatK: "pass^k estimates how likely it is that k trials of the same case all pass, averaged over the cases; a trial in error counts as a failure.",
  meanScore: "The mean score over the cases, ± its standard error: how far the mean typically varies with the choice of cases.",
  scoreChange: "The mean change of the scores of the cases that both runs share; in colour if its 95 % confidence interval excludes 0.",
  p95Turn: "The 95th percentile over all turns of all trials: 95 % of them took at most this long.",
  cost: "The cost of all model calls of the run, as far as usage and prices are known.",
  duration: "The time from the start of the run to its end.",
  trials: "The outcome of each trial (each attempt at the case), in order; a case whose trials differ is flaky.",
  trend: "The share of cases passed in the latest runs of this agent and these eval sets, oldest first; runs of chosen cases are left out.",
  difference: "Candidate minus baseline, averaged over the cases that both runs share; an interval that excludes 0 is a significant difference at the level of this metric.",
  pValue: "The probability of a difference at least this large if baseline and candidate do not really differ.",
  onTheseCases: "The question whether the candidate got worse on exactly these cases: the cases are fixed, and their trials are the sample.",
  inGeneral: "The question whether other cases like these would get worse, too: the cases themselves are a sample.",
  pairs: "The number of cases that both runs scored with this metric; “7 of 11”: of 11 pairs, 7 have all their values, and the means are of these.",
  margin: "The largest drop of the pass rate that is still acceptable: no regression means that the confidence interval rules out a larger drop.",
  kappa: "Cohen's kappa is the agreement of the judge with human labels beyond chance: 1 is perfect agreement, 0 is chance.",
  kappaOfPeople: "Cohen's kappa is the agreement of two people on the same verdicts beyond chance: 1 is perfect agreement, 0 is chance.",
  truePositiveRate: "Of the answers that people passed, the share that the judge passed.",
  trueNegativeRate: "Of the answers that people failed, the share that the judge failed.",
  labels: "The number of human labels that the calibration used.",
  votes: "The number of times that the judge answered the same question; the majority decides.",
  estimate: "An estimate from the cases of an earlier run; the prediction interval (PI) is the range in which the value of this run is expected.",
} as const;

export type TermName = keyof typeof DEFINITIONS;

/**
 * Every action that has a key: the key and, for the help, what it does. A key has one meaning on all screens. Two keys in a row
 * (`g r`) lead to other pages and are in `routes.tsx`.
 */
export const ACTIONS = {
  next: ["j", "next row"],
  previous: ["k", "previous row"],
  attention: ["n", "next row that needs attention"],
  attentionBack: ["N", "previous difference"],
  open: ["Enter", "open the row"],
  choose: ["x", "choose the row"],
  up: ["u", "up"],
  nextPart: ["]", "next trial"],
  previousPart: ["[", "previous trial"],
  filter: ["/", "filter"],
  view: ["t", "next view"],
  order: ["O", "the worst first"],
  columns: ["C", "choose the columns"],
  differ: ["d", "only cases that differ"],
  join: ["J", "all agents as one"],
  older: [">", "older"],
  newest: ["<", "newest"],

  runAgain: ["r", "run again"],
  runFailures: ["F", "run failures again"],
  resume: ["R", "resume the run"],
  cancel: ["X", "cancel"],
  compare: ["c", "compare"],
  swap: ["w", "swap the two runs"],
  history: ["h", "history"],
  edit: ["e", "edit"],
  bless: ["b", "bless (accept)"],
  tick: ["A", "tick all whose trials agree"],
  untick: ["U", "untick all"],
  write: ["W", "write"],
  star: ["s", "star this run"],
  name: ["m", "name this run"],
  note: ["M", "note on this run"],
  baseline: ["B", "set as baseline"],
  remove: ["D", "delete"],

  labelNext: ["l", "label 20 next"],
  labelPass: ["p", "label: pass"],
  labelFail: ["f", "label: fail"],
  judgeVerdict: ["v", "show the judge’s verdict"],
  calibrate: ["K", "calibrate"],

  add: ["a", "add"],
  duplicate: ["P", "duplicate"],
  save: ["S", "save"],
  undo: ["Z", "undo"],
  discard: ["Q", "discard"],
  changes: ["V", "show changes"],
  migrate: ["G", "convert to the current format"],

  markdown: ["y", "copy as Markdown"],
  command: ["Y", "copy the command"],
  id: ["i", "copy the id"],
  numbers: ["I", "copy the numbers"],
  transcript: ["T", "copy the transcript"],
  export: ["E", "export: a run, or the evidence of a trial"],

  retry: ["!", "try again"],
  showAll: ["*", "show all"],
  part: [".", "next part that opens; Enter opens or closes it"],
  partBack: [",", "previous part that opens"],
  control: [";", "next button, link or list without a key; Enter presses it"],
  controlBack: [":", "previous one"],
  fold: ["o", "open all turns, or fold those as expected"],
  zoomIn: ["+", "zoom in"],
  zoomOut: ["-", "zoom out"],
  zoomWhole: ["0", "show the whole trial"],
  zoomSpan: ["z", "zoom to the span that has the focus or is open"],
  earlier: ["ArrowLeft", "move to an earlier time"],
  later: ["ArrowRight", "move to a later time"],

  chip1: ["1", "filter 1"],
  chip2: ["2", "filter 2"],
  chip3: ["3", "filter 3"],
  chip4: ["4", "filter 4"],
  chip5: ["5", "filter 5"],
  chip6: ["6", "filter 6"],
  chip7: ["7", "filter 7"],
  chip8: ["8", "filter 8"],
  chip9: ["9", "filter 9"],

  colours: ["L", "light or dark"],
  help: ["?", "this help"],
} as const satisfies Record<string, readonly [keys: string, does: string]>;

export type ActionName = keyof typeof ACTIONS;

/** The action of a chip by its place in its row; only the first nine have a key. */
export function chipAction(index: number): ActionName | undefined {
  return index < 9 ? (`chip${index + 1}` as ActionName) : undefined;
}

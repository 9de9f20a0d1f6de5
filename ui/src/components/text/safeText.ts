// What a reader could not see, or what would change how the text around it reads, as a visible escape. The same
// characters as `proctor.common.safe_text` in the terminal: controls, direction marks, separators, characters without width; but a
// joiner that is a part of how a language is written, or of one emoji, does its work in a browser and stays.

const UNSAFE =
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164\ufe00-\ufe0d\ufeff\uffa0\ufff9-\ufffb]|[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]|\udb40[\udc00-\udfff]/g;

/** `text` with everything unsafe as `\u202e`; newlines and tabs stay. */
export function safeText(text: string): string {
  return text.replace(UNSAFE, escapeMatch);
}

const NAMED: Readonly<Record<string, string>> = { " ": "\\x20", "\t": "\\t", "\n": "\\n" };

/** `text` with each tab, line break, and space that readers could overlook (at its ends, and behind another space) as an escape: `\x20`. */
export function showSpaces(text: string): string {
  return text.replace(/^ | $|(?<= ) |[\t\n]/g, (space) => NAMED[space] ?? space);
}

const EMOJI_ENDS = /\p{Extended_Pictographic}[\ufe0f\u{1f3fb}-\u{1f3ff}]?$/u;
const EMOJI = /^\p{Extended_Pictographic}/u;
const SCRIPTS = ["Arabic", "Syriac", "Mongolian", "Devanagari", "Bengali", "Gurmukhi", "Gujarati", "Oriya", "Tamil", "Telugu", "Kannada", "Malayalam", "Sinhala", "Khmer"];
const JOINING = `[${SCRIPTS.map((name) => `\\p{Script=${name}}`).join("")}]`;
const LETTER_ENDS = new RegExp(`${JOINING}\\p{M}?$`, "u");
const LETTER = new RegExp(`^${JOINING}`, "u");

/** Whether the joiner at `at` holds an emoji together (a family), or letters together or apart, as Persian and Hindi are written. */
function isJoiner(text: string, at: number): boolean {
  const before = text.slice(Math.max(0, at - 4), at);
  const after = text.slice(at + 1, at + 3);
  return (text[at] === "\u200d" && EMOJI_ENDS.test(before) && EMOJI.test(after)) || (LETTER_ENDS.test(before) && LETTER.test(after));
}

function escapeMatch(match: string, at: number, text: string): string {
  if ((match === "\u200c" || match === "\u200d") && isJoiner(text, at)) return match;
  const code = match.codePointAt(0) ?? 0;
  if (code < 0x100) return `\\x${code.toString(16).padStart(2, "0")}`;
  return code < 0x10000 ? `\\u${code.toString(16).padStart(4, "0")}` : `\\U${code.toString(16).padStart(8, "0")}`;
}

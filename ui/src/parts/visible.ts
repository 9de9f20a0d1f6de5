// What a reader could not see, or what would change how the text around it reads, as a visible escape. The same
// characters as `proctor.sanitize` in the terminal: controls, direction marks, separators, characters without width.

const UNSAFE =
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164\ufe00-\ufe0d\ufeff\uffa0\ufff9-\ufffb]|[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]|\udb40[\udc00-\udfff]/g;

/** `text` with everything unsafe as `\u202e`; newlines and tabs stay. */
export function visible(text: string): string {
  return text.replace(UNSAFE, escaped);
}

function escaped(found: string): string {
  const code = found.codePointAt(0) ?? 0;
  if (code < 0x100) return `\\x${code.toString(16).padStart(2, "0")}`;
  return code < 0x10000 ? `\\u${code.toString(16).padStart(4, "0")}` : `\\U${code.toString(16).padStart(8, "0")}`;
}

import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";

const FILES = readdirSync("src", { recursive: true, encoding: "utf8" });
const read = (pattern: RegExp): Record<string, string> =>
  Object.fromEntries(FILES.filter((name) => pattern.test(name)).map((name) => [name, readFileSync(join("src", name), "utf8")]));

const SOURCES = read(/(?<!\.test|\.gen)\.tsx?$/);
const STYLES = read(/\.css$/);

// Text of agents, models and files is text: nothing here may turn it into markup, a link or an image.
const FORBIDDEN: readonly (readonly [what: string, pattern: RegExp])[] = [
  ["markup from text", /dangerouslySetInnerHTML|innerHTML|outerHTML|insertAdjacentHTML|document\.write|DOMParser|srcDoc/],
  ["code from text", /\beval\(|new Function\(/],
  ["an image, a frame or a style that could load or be refused by the CSP", /<(img|iframe|object|embed|style|video|audio|base)\b/],
  ["an address outside the page", /<a\s[^>]*href=\{(?!hrefs?\(|pathOf\(`\/api\/)/],
  ["an address of somewhere else", /["'`](https?:)?\/\/[a-z]/i],
];

describe("the sources of the page", () => {
  it.each(FORBIDDEN)("have no place for %s", (_, pattern) => {
    const found = Object.entries(SOURCES).filter(([, text]) => pattern.test(withoutComments(text)));
    expect(found.map(([path]) => path)).toEqual([]);
  });

  it("are there", () => {
    expect(Object.keys(SOURCES).length).toBeGreaterThan(30);
  });

  it("format numbers in one place, so that all have a separator of thousands", () => {
    const found = Object.entries(SOURCES).filter(([path, text]) => path !== join("components", "text", "numberFormats.ts") && /toLocaleString|NumberFormat\(/.test(text));
    expect(found.map(([path]) => path)).toEqual([]);
  });

  it("take no font, image or style from elsewhere", () => {
    const found = Object.entries(STYLES).filter(([, text]) => /@import|url\(/.test(text));
    expect(found.map(([path]) => path)).toEqual([]);
  });

  it("name colours only among the tokens, so that light and dark both have them", () => {
    const own = Object.entries(STYLES).filter(([path]) => !/tokens|print|base/.test(path));
    const found = own.filter(([, text]) => /:[^;{]*#[0-9a-f]{3,8}\b/i.test(text));
    expect(found.map(([path]) => path)).toEqual([]);
  });
});

function withoutComments(text: string): string {
  return text.replace(/\/\*[\s\S]*?\*\//g, "").replace(/^\s*\/\/.*$/gm, "");
}

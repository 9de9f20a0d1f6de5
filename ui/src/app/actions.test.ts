import { describe, expect, it } from "vitest";
import { ACTIONS, chipAction } from "./actions";
import { NAV } from "./routes";

const SOURCES = Object.entries(import.meta.glob<string>("../**/*.{ts,tsx}", { query: "?raw", import: "default", eager: true })).filter(
  ([path]) => !/\.test\.|\/actions\.ts$|api\.gen/.test(path),
);
const CONTROLS = /\baction="(\w+)"|\baction: "(\w+)"|\bbind\("(\w+)"|\baction = "(\w+)"/g;
const bound = new Set(SOURCES.flatMap(([, text]) => [...text.matchAll(CONTROLS)].map((found) => found.slice(1).find(Boolean))));
const CHIPS = Array.from({ length: 9 }, (_, index) => chipAction(index));
const MANAGED = ["name", "note", "baseline", "remove"]; // `PARTS` of ManageRun

describe("the keys", () => {
  it("are one for every action, and none means two things", () => {
    const keys = [...Object.values(ACTIONS).map(([key]) => key), ...NAV.map(({ key }) => `g ${key}`)];
    expect(keys.filter((key) => !key)).toEqual([]);
    expect(keys.filter((key, index) => keys.indexOf(key) !== index)).toEqual([]);
    expect(keys.filter((key) => key === "g" || key === " " || key === "Tab")).toEqual([]); // the first of two keys, and the browser's
  });

  it("are all declared in one place, and each does something", () => {
    const undeclared = SOURCES.filter(([path, text]) => !path.endsWith("/routes.tsx") && /\bkeys: ["`']|\bkeys="/.test(text)).map(([path]) => path);
    expect(undeclared).toEqual(["./Shell.tsx"]); // `g r` and the like, from routes.tsx
    expect(Object.keys(ACTIONS).filter((name) => ![...bound, ...CHIPS, ...MANAGED].includes(name))).toEqual([]);
  });
});

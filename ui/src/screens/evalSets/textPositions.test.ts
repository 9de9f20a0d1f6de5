import { describe, expect, test } from "vitest";
import { lineCount, offsetOf, placeOf } from "./textPositions";

const TEXT = 'a: "é😀x"\n\n  b: 1\nlast';

describe("a place and its offset", () => {
  test.each([
    [1, 1, 0],
    [1, 5, 4],
    [1, 6, 5],
    [1, 7, 7], // behind 😀, which is two units of UTF-16 and one character
    [2, 1, 10],
    [3, 3, 13],
    [4, 5, 22],
  ])("line %i, column %i", (line, column, offset) => {
    expect(offsetOf(TEXT, line, column)).toBe(offset);
    expect(placeOf(TEXT, offset)).toEqual({ line, column });
  });

  test("what is behind an end is that end", () => {
    expect(offsetOf(TEXT, 2, 99)).toBe(10);
    expect(offsetOf(TEXT, 99, 1)).toBe(18);
    expect(offsetOf("", 1, 1)).toBe(0);
  });
});

test("lines are counted as editors do", () => expect([lineCount(""), lineCount("a\n"), lineCount(TEXT)]).toEqual([1, 2, 4]));

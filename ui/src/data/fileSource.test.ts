// @vitest-environment node
import { gzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import { FileSource, readFileHead, parsePaging } from "./fileSource";

const pack = (value: unknown) => gzipSync(JSON.stringify(value)).toString("base64");

const CASES = Array.from({ length: 25 }, (_, position) => ({ position }));
const CHUNKS: Record<string, string> = {
  "proctor-file": JSON.stringify({ start: "/runs/r1", chunks: 8 }),
  "proctor-chunk-0": pack({
    documents: { "/api/runs/r1": { run_id: "r1" }, "/api/runs/r1/cases": { items: CASES, total: 25 } },
    where: Object.fromEntries(CASES.map(({ position }) => [`/api/runs/r1/cases/${position}`, 1 + (position % 7)])),
  }),
};
for (let chunk = 1; chunk < 8; chunk += 1) {
  const here = CASES.filter(({ position }) => 1 + (position % 7) === chunk);
  CHUNKS[`proctor-chunk-${chunk}`] = pack(
    Object.fromEntries(here.map(({ position }) => [`/api/runs/r1/cases/${position}`, { eval_id: `ünïcode ${position}` }])),
  );
}

function source(texts: Record<string, string> = CHUNKS) {
  const read: string[] = [];
  return { read, file: new FileSource((id) => (read.push(id), texts[id] ?? null)) };
}

describe("the data of a one-file report", () => {
  it("names its first page", () => {
    expect(readFileHead((id) => CHUNKS[id] ?? null)).toEqual({ start: "/runs/r1", chunks: 8 });
    expect(readFileHead(() => null)).toBeNull();
  });

  it("answers from its first chunk, opened once", async () => {
    const { file, read } = source();
    const answers = await Promise.all([file.get("/api/runs/r1"), file.get("/api/runs/r1")]);
    expect(answers.map(({ body }) => body)).toEqual([{ run_id: "r1" }, { run_id: "r1" }]);
    expect(read).toEqual(["proctor-chunk-0"]);
  });

  it.each(CASES)("answers from the chunk that has case $position", async ({ position }) => {
    const { body } = await source().file.get(`/api/runs/r1/cases/${position}`);
    expect(body).toEqual({ eval_id: `ünïcode ${position}` });
  });

  it("keeps only a few chunks open, the last ones used", async () => {
    const { file, read } = source();
    for (const position of [0, 1, 2, 3, 0, 4]) await file.get(`/api/runs/r1/cases/${position}`);
    read.length = 0;
    await file.get("/api/runs/r1/cases/0");
    expect(read).toEqual([]);
    await file.get("/api/runs/r1/cases/1");
    expect(read).toEqual(["proctor-chunk-2"]);
  });

  it("gives the rows that a page asks for", async () => {
    const { body } = await source().file.get<{ items: unknown[]; total: number }>("/api/runs/r1/cases?offset=20&limit=10");
    expect(body).toEqual({ items: CASES.slice(20), total: 25 });
  });

  it.each([
    ["/api/runs?limit=100", "/api/runs", 0, 100],
    ["/api/runs/r/cases?judging=2&offset=10&limit=5", "/api/runs/r/cases?judging=2", 10, 5],
    ["/api/runs", "/api/runs", 0, Infinity],
  ])("knows which rows %s asks for", (path, whole, offset, limit) => {
    expect(parsePaging(path)).toEqual({ whole, offset, limit });
  });

  it.each([
    ["what it does not have", "/api/runs/r2", CHUNKS, 404, "This file does not have /runs/r2"],
    ["a filter that it was not asked for when it was made", "/api/runs?outcome=failed", CHUNKS, 404, "does not have"],
    ["names that every object has", "/api/constructor", CHUNKS, 404, "does not have"],
    ["a part that is missing", "/api/runs/r1/cases/3", { ...CHUNKS, "proctor-chunk-4": undefined }, 404, "part 4 is missing"],
    ["a part that is damaged", "/api/runs/r1/cases/3", { ...CHUNKS, "proctor-chunk-4": "AAAA" }, 500, "part 4 cannot be read"],
  ])("reports %s", async (_, path, texts, status, words) => {
    const answer = source(texts as Record<string, string>).file.get(path);
    await expect(answer).rejects.toMatchObject({ status, message: expect.stringContaining(words) });
  });

  it("takes no change", async () => {
    await expect(source().file.send()).rejects.toMatchObject({ status: 405 });
  });
});

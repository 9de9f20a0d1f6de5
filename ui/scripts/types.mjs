// Writes src/data/api.gen.ts from the server's OpenAPI description; `--check` only tells whether it is up to date.
// Needs the repository's Python environment.
import { execFileSync } from "node:child_process";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { resolve } from "node:path";
import { fileURLToPath } from "node:url";
import openapi, { astToString } from "openapi-typescript";

const root = fileURLToPath(new URL("../..", import.meta.url));
const own = `${root}.venv/bin/python`;
const given = process.env.PYTHON; // a name on the path, or a file
const python = given ? (given.includes("/") ? resolve(given) : given) : existsSync(own) ? own : "python3";
const target = fileURLToPath(new URL("../src/data/api.gen.ts", import.meta.url));

const described = execFileSync(python, ["-m", "proctor.web.server.app"], { cwd: root, maxBuffer: 64 * 1024 * 1024 });
const head = "// Made by `npm run types` from the server's OpenAPI description. Not to be edited.\n\n";
const made = head + astToString(await openapi(JSON.parse(described.toString())));

if (!process.argv.includes("--check")) writeFileSync(target, made);
else if (readFileSync(target, "utf8") !== made) {
  console.error("src/data/api.gen.ts is not what the server says any more: npm run types");
  process.exit(1);
}

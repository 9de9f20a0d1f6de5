// Fails when the built page is heavier than it may be: all of its scripts and styles, gzipped.
import { readFileSync, readdirSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";

const MOST = 300 * 1000;
const folder = process.argv[2] ?? fileURLToPath(new URL("../../src/proctor/page/assets", import.meta.url));

let total = 0;
for (const name of readdirSync(folder).filter((one) => /\.(js|css)$/.test(one))) {
  const size = gzipSync(readFileSync(`${folder}/${name}`), { level: 9 }).length;
  total += size;
  console.log(`${(size / 1000).toFixed(1).padStart(7)} kB  ${name}`);
}
console.log(`${(total / 1000).toFixed(1).padStart(7)} kB  gzipped, of ${MOST / 1000} kB`);
if (total === 0 || total > MOST) {
  console.error(total ? "too heavy" : `nothing is built in ${folder}: npm run build`);
  process.exit(1);
}

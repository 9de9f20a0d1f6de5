import { readFileSync } from "node:fs";
import { createInterface } from "node:readline";

const script = JSON.parse(readFileSync(process.argv[2], "utf8"));

for await (const line of createInterface({ input: process.stdin })) {
  const request = JSON.parse(line);
  if (request.type !== "turn") continue;
  const key = `${request.text}\n${JSON.stringify(request.session.state)}`;
  for (const answer of script[key]) console.log(JSON.stringify(answer));
}

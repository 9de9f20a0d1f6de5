// Short names of what the API answers with; the shapes come from `api.gen.ts` (`npm run types`).
import type { components } from "./api.gen";

type Schemas = components["schemas"];

export type AboutPage = Schemas["AboutPage"];
export type RunRow = Schemas["RunRow"];
export type RunsPage = Schemas["RunsPage"];
export type Share = Schemas["Share"];

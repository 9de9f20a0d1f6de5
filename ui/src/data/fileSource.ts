// The one-file report: what the API would answer, embedded in the page, in gzipped chunks that are opened when needed.

import { type Answer, type Source, SourceError } from "./source";

/** The content of the element `proctor-file`. */
interface FileHead {
  /** The page to begin with: `/runs/RUN`. */
  start: string;
  /** How many elements `proctor-chunk-K` there are. */
  chunks: number;
  /** The first address of each screen besides the runs: `/history` → `/history?set=booking`. */
  places?: Readonly<Record<string, string>>;
}

interface Index {
  /** What is needed at once: answers by path. */
  documents: Record<string, unknown>;
  /** Which chunk has the answer to a path. */
  where: Record<string, number>;
}

type TextReader = (id: string) => string | null;

const MAX_OPEN_CHUNKS = 4; // chunks that stay open, besides the first

/** The text of an element of this page. */
export function textOf(id: string): string | null {
  return document.getElementById(id)?.textContent ?? null;
}

/** The data that this page contains; `null` if a server provides it. */
export function readFileHead(texts: TextReader = textOf): FileHead | null {
  const text = texts("proctor-file");
  return text === null ? null : (JSON.parse(text) as FileHead);
}

export class FileSource implements Source {
  readonly live = false;
  private readonly texts: TextReader;
  private readonly opened = new Map<number, Promise<unknown>>();
  private index: Promise<Index> | null = null;

  constructor(texts: TextReader = textOf) {
    this.texts = texts;
  }

  async get<T>(path: string): Promise<Answer<T>> {
    this.index ??= this.open(0) as Promise<Index>;
    const index = await this.index;
    const exact = await this.find(index, path);
    if (exact !== undefined) return { body: exact as T, etag: null };
    const { whole, offset, limit } = parsePaging(path);
    const list = await this.find(index, whole);
    if (list === undefined) throw new SourceError(404, missingMessage(path));
    return { body: pageOf(list, offset, limit) as T, etag: null };
  }

  async paths(): Promise<ReadonlySet<string>> {
    this.index ??= this.open(0) as Promise<Index>;
    const { documents, where } = await this.index;
    return new Set([...Object.keys(documents), ...Object.keys(where)]);
  }

  send<T>(): Promise<Answer<T>> {
    return Promise.reject(new SourceError(405, "A file cannot be changed; open the run with `proctor web`."));
  }

  private async find(index: Index, path: string): Promise<unknown> {
    if (Object.hasOwn(index.documents, path)) return index.documents[path];
    if (!Object.hasOwn(index.where, path)) return undefined;
    const chunk = (await this.chunk(index.where[path] ?? 0)) as Record<string, unknown>;
    return Object.hasOwn(chunk, path) ? chunk[path] : undefined;
  }

  private chunk(number: number): Promise<unknown> {
    const known = this.opened.get(number) ?? this.open(number);
    this.opened.delete(number); // to the end: the one that was used last goes last
    this.opened.set(number, known);
    const [oldest] = this.opened.keys();
    if (this.opened.size > MAX_OPEN_CHUNKS && oldest !== undefined) this.opened.delete(oldest);
    return known;
  }

  private async open(number: number): Promise<unknown> {
    const text = this.texts(`proctor-chunk-${number}`);
    if (text === null) throw new SourceError(404, `This report is incomplete: part ${number} is missing. Create the report again.`);
    try {
      return JSON.parse(await inflate(text.trim()));
    } catch {
      throw new SourceError(500, `This report is damaged: part ${number} cannot be read. Create the report again.`);
    }
  }
}

async function inflate(base64: string): Promise<string> {
  const binary = atob(base64);
  const bytes = new Uint8Array(binary.length);
  for (let at = 0; at < binary.length; at += 1) bytes[at] = binary.charCodeAt(at);
  return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"))).text();
}

function missingMessage(path: string): string {
  return `This file does not have ${path.replace(/^\/api/, "")}. Open the run with \`proctor web\` to see it.`;
}

interface Paging {
  whole: string;
  offset: number;
  limit: number;
}

/** A path without the part of its query that only selects rows: the file has all of them. */
export function parsePaging(path: string): Paging {
  const [bare = "", search = ""] = path.split("?");
  const parts = search.split("&").filter(Boolean);
  const query = new URLSearchParams(search);
  const rest = parts.filter((part) => !/^(offset|limit)=/.test(part)).join("&");
  return {
    whole: rest ? `${bare}?${rest}` : bare,
    offset: Number(query.get("offset") ?? 0),
    limit: Number(query.get("limit") ?? Infinity),
  };
}

/** The requested rows of a document that has `items`; any other document unchanged. */
function pageOf(document: unknown, offset: number, limit: number): unknown {
  const { items } = document as { items?: unknown };
  if (!Array.isArray(items)) return document;
  return { ...(document as object), items: items.slice(offset, offset + limit) };
}
